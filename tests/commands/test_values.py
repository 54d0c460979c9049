"""Hostile values through the commands: each is refused by name or comes back exactly as it was sent."""

from __future__ import annotations

import json
import unicodedata
from functools import partial
from typing import Any

import pytest

from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from amos_graph.domain.canonical import canonical_bytes
from amos_graph.errors import AmosError
from amos_graph.graph.transactions import Graph
from amos_graph.queries.get import get_atom
from tests.faults.crowd import attempt
from tests.faults.journal import checked_journal, contents, newest
from tests.samples import belief, source_event

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"


def _nested(depth: int) -> Any:
    value: Any = "end"
    for _ in range(depth):
        value = {"in": value}
    return value


KEPT = {
    "family emoji": FAMILY * 50,
    "emoji at the caption's cut": "x" * 78 + FAMILY,
    "combining marks": "e" + "\u0301" * 40,
    "right to left": "\u202eabc\u202c שלום مرحبا",
    "NUL": "before\x00after",
    "control characters": "\x01\x02\x1b[31m\x7f\x85",
    "noncharacters": "\ufffe\uffff\U0010ffff",
    "zero width": "a\u200bb\u200dc\ufeff",
    "newlines": "a\r\nb\u2028c",
    "NFC": unicodedata.normalize("NFC", "Ångström"),
    "NFD": unicodedata.normalize("NFD", "Ångström"),
    "a value longer than an index key": "\u6f22" * 9_000,
    "one word longer than an index term": "w" * 10_000,
    "looks like JSON": '{"a": NaN, "b": 1e400}',
    "backslashes": "\\u0000 \\ud800 \\\\",
}

REFUSED: dict[str, tuple[Any, str]] = {
    "lone surrogate": ("\ud800", "atoms[0].payload.object"),
    "lone surrogate in a key": (
        {"value_type": "record", "value": {"\ud800": 1}},
        "atoms[0].payload.object.value",
    ),
    "NaN": (float("nan"), "atoms[0].payload.object"),
    "infinity": (float("-inf"), "atoms[0].payload.object"),
    "2^53": (2**53, "atoms[0].payload.object"),
    "2^63": (2**63, "atoms[0].payload.object"),
    "a huge integer": (10**400, "atoms[0].payload.object"),
    "a whole float beyond 2^53": (1e17, "atoms[0].payload.object"),
    "empty text": ("", "atoms[0].payload.object"),
    "blank text": (" \t\u00a0", "atoms[0].payload.object"),
    "a literal too long": ("x" * 10_001, "atoms[0].payload.object"),
    "bytes": (b"x", "atoms[0].payload.object"),
    "a set": ({1}, "atoms[0].payload.object"),
    "null": (None, "atoms[0].payload.object"),
    "a bare list": ([1], "atoms[0].payload.object"),
}


@pytest.mark.case("C68")
@pytest.mark.reliability("T18")
@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_text_comes_back_exactly(context: Context, graph: Graph, tenant: str, text: str) -> None:
    """Text in a value, in prose, in evidence, in a list and as a key is read back byte for byte."""
    atom = belief(
        id="b1", payload={"object": text, "qualifiers": {"list": [text, 1, None], "key": {text[:200]: text}}}
    )
    said = {
        "type": "interaction_event",
        "payload": {"conversation_id": "c", "sequence": 1, "actor": "user", "role": "user", "content": text},
        "evidence_refs": ["evd_turn1"],
        "confidence": {"level": "high", "score": 0.9},
        "id": "said",
    }
    commit(context, {"events": [source_event(payload={"text": text})], "atoms": [atom, said]})

    record = get_atom(context, {"atom_id": "b1"})["item"]["record"]
    assert canonical_bytes(record["payload"]) == canonical_bytes(atom["payload"])
    bodies = newest(graph, f"{tenant}/w")
    assert bodies["said"]["payload"]["content"] == text
    source = bodies["evd_turn1"]["payload"]
    if source.get("archived"):
        source = json.loads(context.archive.get(f"{tenant}/w", source["sha256"]))
    assert source == {"text": text}
    checked_journal(graph, f"{tenant}/w")
    again = commit(context, {"atoms": [atom, said]}).record
    assert again["event_ids"] == [], "what was stored is what was sent"


@pytest.mark.case("C68")
@pytest.mark.reliability("T18")
@pytest.mark.parametrize(("value", "path"), REFUSED.values(), ids=REFUSED)
def test_a_value_that_json_cannot_carry_is_refused_with_its_path(
    context: Context, graph: Graph, tenant: str, value: Any, path: str
) -> None:
    """Refused as `schema_invalid` at the field, before anything reaches Neo4j."""
    atom = belief(id="b1", payload={"object": value})

    with pytest.raises(AmosError) as caught:
        commit(context, {"events": [source_event()], "atoms": [atom]})

    assert (caught.value.code, caught.value.status) == ("schema_invalid", 422)
    assert [fault.path for fault in caught.value.faults] == [path]
    caught.value.message.encode()
    assert contents(graph, f"{tenant}/w") == {}


@pytest.mark.reliability("T18")
@pytest.mark.parametrize("depth", [9, 100, 5_000])
def test_a_value_nested_too_deep_is_refused(context: Context, depth: int) -> None:
    """Depth is bounded in atoms and evidence alike, and no depth ends in a stack overflow."""
    with pytest.raises(AmosError, match="schema_invalid"):
        commit(
            context, {"events": [source_event()], "atoms": [belief(payload={"qualifiers": _nested(depth)})]}
        )


@pytest.mark.reliability("T18")
@pytest.mark.parametrize("depth", [200, 5_000, 100_000])
def test_evidence_of_any_depth_is_kept_or_refused(context: Context, depth: int) -> None:
    """A source event nested very deep is refused as `schema_invalid`, or captured; it is never a crash."""
    tried = attempt(partial(commit, context, {"events": [source_event(payload=_nested(depth))]}))

    assert tried.code in ("ok", "schema_invalid")


@pytest.mark.reliability("T18")
def test_a_list_and_a_record_have_a_limit(context: Context) -> None:
    """A thousand members and no more, with the place named."""
    for members in ([0] * 1_001, {f"k{n}": n for n in range(1_001)}):
        with pytest.raises(AmosError) as caught:
            commit(
                context,
                {"events": [source_event()], "atoms": [belief(payload={"qualifiers": {"m": members}})]},
            )
        assert [fault.path for fault in caught.value.faults] == ["atoms[0].payload.qualifiers.m"]


@pytest.mark.reliability("T18")
def test_the_longest_names_are_stored_and_longer_ones_refused(
    context: Context, graph: Graph, tenant: str
) -> None:
    """Ids of 200 characters and names of 200 wide ones fit every index; one more is refused."""
    entity = {"id": "ent:person:" + "a" * 189, "type": "person", "canonical_name": "\U0001f600" * 200}
    commit(
        context,
        {
            "events": [source_event("evd_" + "e" * 196, source_ref="r" * 2_000)],
            "entities": [entity],
            "atoms": [
                belief(
                    id="a" * 200,
                    payload={"subject": "\U0001f600" * 1_000, "object": "\U0001f600" * 10_000},
                    evidence_refs=["evd_" + "e" * 196],
                )
            ],
        },
    )
    assert {"a" * 200, entity["id"]} < newest(graph, f"{tenant}/w").keys()

    for request in (
        {"events": [source_event()], "atoms": [belief(id="a" * 201)]},
        {"entities": [{**entity, "id": "ent:person:" + "a" * 190}]},
        {"entities": [{**entity, "canonical_name": "\U0001f600" * 201}]},
        {"events": [source_event(source_ref="r" * 2_001)]},
    ):
        with pytest.raises(AmosError, match="schema_invalid"):
            commit(context, request)


@pytest.mark.reliability("T18")
def test_twins_in_normal_forms_stay_two(context: Context, graph: Graph, tenant: str) -> None:
    """NFC and NFD of one word are different data and two atoms; nothing is normalised silently."""
    atoms = [belief(payload={"object": KEPT[form]}) for form in ("NFC", "NFD")]

    refs = commit(context, {"events": [source_event()], "atoms": atoms}).record["atom_refs"]

    assert len(set(refs)) == 2
    assert contents(graph, f"{tenant}/w")["Atom"] == 2


@pytest.mark.reliability("T18")
def test_minus_zero_is_zero(context: Context) -> None:
    """Canonical JSON has one zero, so that −0 and 0 are one statement."""
    refs = commit(
        context,
        {"events": [source_event()], "atoms": [belief(payload={"object": zero}) for zero in (0, -0.0, 0.0)]},
    ).record["atom_refs"]

    assert len(set(refs)) == 1


@pytest.mark.reliability("T18")
@pytest.mark.parametrize(
    "key", ["k" * 10_000, "\ud800", "\x00", "clé"], ids=["long", "surrogate", "NUL", "wide"]
)
def test_any_idempotency_key_is_bound_or_refused(context: Context, key: str) -> None:
    """A key is hashed, so its length and letters reach no index; a lone surrogate is `schema_invalid`."""
    keyed = Context(context.graph, context.settings, context.archive, context.identity, context.scope, key)
    request = {"events": [source_event()]}
    if key == "\ud800":
        with pytest.raises(AmosError, match="schema_invalid"):
            commit(keyed, request)
    else:
        assert not commit(keyed, request).replayed
        assert commit(keyed, request).replayed
