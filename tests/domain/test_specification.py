"""The specification read as it is: each JSON example of it is taken, and each table of it is a model.

It is no part of this repository. Where it is not beside the folder that AMOS_DATA names, the run says at
its end that these tests judged nothing; the other tests of payloads author their samples themselves.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, cast, get_args

import pytest
from pydantic import BaseModel

from amos_graph.api.envelope import AmosResponse
from amos_graph.domain.association import AssociationEdge
from amos_graph.domain.atoms import PAYLOADS, validate_payload
from amos_graph.domain.canonical import canonical_bytes
from amos_graph.domain.confidence import Confidence
from amos_graph.domain.dictionary import VOCABULARIES
from amos_graph.domain.entries import EntityRecord
from amos_graph.domain.envelope import check_atom
from amos_graph.domain.events import GENESIS, Draft, Stamp, Write, seal
from amos_graph.domain.evidence import SourceEvent, evidence_body
from amos_graph.domain.model import validate
from amos_graph.domain.scope import Scope
from amos_graph.errors import AmosError
from tests.coverage import NOT_JUDGED
from tests.domain.payloads import SAMPLES

SCOPE: Final = Scope(tenant_id="default", workspace_id="amos")


@pytest.fixture(scope="session")
def specification(data: Path) -> str | None:
    """The text of the contract, or None, which the run tells."""
    folder = data.parent / "spec"
    found = sorted(folder.glob("000_*.txt"))
    if not found:
        what = f"the specification's own examples and tables: {folder} holds no 000_*.txt (AMOS_DATA)"
        NOT_JUDGED.add(what)
        return None
    return found[0].read_text(encoding="utf-8")


# --- the examples ----------------------------------------------------------------------------


def examples(text: str) -> Iterator[dict[str, Any]]:
    """Every JSON object that begins a line, with its placeholders filled in."""
    decoder = json.JSONDecoder()
    start = 0
    while (found := re.compile(r"^\{", re.MULTILINE).search(text, start)) is not None:
        value, start = decoder.raw_decode(text, found.start())
        yield cast("dict[str, Any]", _filled(value))


def _filled(value: Any) -> Any:
    if isinstance(value, dict):
        return {_filled(key): _filled(member) for key, member in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_filled(item) for item in cast("list[Any]", value)]
    if not isinstance(value, str):
        return value
    return re.sub(r"<\w+>", "01", value.replace("<iso_timestamp>", "2026-01-02T03:04:05.000000Z"))


def _atom(value: dict[str, Any]) -> None:
    """A whole atom is taken; whatever was read differently from how it is spelled is warned of."""
    checked, warnings = check_atom(value, SCOPE)

    assert canonical_bytes(checked.payload_record) == canonical_bytes(value["payload"])
    assert all("read as" in warning or "taken from" in warning for warning in warnings)


def _payload(atom_type: str) -> Callable[[dict[str, Any]], None]:
    def check(value: dict[str, Any]) -> None:
        assert canonical_bytes(validate_payload(atom_type, value).record()) == canonical_bytes(value)

    return check


def _not_to_be_stored(value: dict[str, Any]) -> None:
    """What the specification says not to store is refused where it is a word and no relation."""
    with pytest.raises(AmosError) as refusal:
        validate_payload("belief", value)
    assert [fault.path for fault in refusal.value.faults] == ["payload.relation"]


def _part_of_a_belief(value: dict[str, Any]) -> None:
    _payload("belief")({"subject": "ent:store:main", **value})


def _entity(value: dict[str, Any]) -> None:
    assert validate(EntityRecord, value).labels == value["labels"]


def _part_of_an_envelope(value: dict[str, Any]) -> None:
    atom = {"type": "belief", "payload": SAMPLES["belief"], "confidence": {"level": "high"}, **value}
    assert check_atom(atom, SCOPE)[0].envelope.evidence_refs == value["evidence_refs"]


def _evidence(value: dict[str, Any]) -> None:
    """A stored record, which no caller sends: the event that it records gives one with all its fields."""
    sent = ("evidence_id", "source_type", "source_ref", "payload", "captured_at", "scope")
    event = validate(SourceEvent, {name: value[name] for name in sent})
    policed = event.model_copy(update={"access_policy": None})
    body = evidence_body(policed, value["evidence_id"], SCOPE, now=value["captured_at"], writer="svc:t")

    assert set(value) - {"access_policy"} <= set(body)
    assert {name: body[name] for name in sent[:-1]} == {name: value[name] for name in sent[:-1]}


def _edge(value: dict[str, Any]) -> None:
    assert validate(AssociationEdge, value).health_status == value["health_status"]


def _event(value: dict[str, Any]) -> None:
    """A journal entry, which the store writes itself: ours has every field of it."""
    write = Write("atom", "a", 1, {"id": "a"})
    stamp = Stamp(
        actor="svc:t",
        accepted_at=value["accepted_at"],
        occurred_at=value["occurred_at"],
        seed=b"s",
        command_id=uuid.UUID(int=1),
        idempotency_key=None,
        payload_digest="sha256:0",
        causal_parent_ids=(),
        expected_versions={},
        authorization_context={},
    )
    draft = Draft("atom_committed", "commit_atom", (write,), extra=value["payload"])
    (sealed,) = seal("t/w", [draft], stamp, 0, GENESIS)

    assert set(value) <= set(sealed.event)
    assert set(value["payload"]) <= set(sealed.event["payload"])


def _confidence(value: dict[str, Any]) -> None:
    assert validate(Confidence, value).record() == value


def _transport_failure(value: dict[str, Any]) -> None:
    """An older shape of a failure; here every answer has one shape, and says `retryable` in it too."""
    assert set(value) - set(AmosResponse.model_fields) == {"status", "error"}


#: What each example is, in the order in which they stand.
EXAMPLES: Final[tuple[Callable[[dict[str, Any]], None], ...]] = (
    _atom,
    _atom,
    *(_payload(name) for name in ("belief", "preference", "goal", "procedure", "episode")),
    _not_to_be_stored,
    _payload("belief"),
    _entity,
    _part_of_a_belief,
    _part_of_an_envelope,
    _evidence,
    _edge,
    _event,
    _confidence,
    _transport_failure,
    _event,
)


def test_every_example_of_the_specification_is_what_the_table_says(specification: str | None) -> None:
    """None is left out: a further one, or one at another place, would fail."""
    if specification is None:
        return
    for check, value in zip(EXAMPLES, examples(specification), strict=True):
        check(value)


def test_examples_are_found_in_prose_and_their_placeholders_filled() -> None:
    text = 'Text {"no": 1}\n{\n"a": ["<iso_timestamp>", "ses_<x>"]\n}More text\n{"b": {"<k>": 1}}'

    assert list(examples(text)) == [
        {"a": ["2026-01-02T03:04:05.000000Z", "ses_01"]},
        {"b": {"01": 1}},
    ]


# --- the tables ------------------------------------------------------------------------------

#: The line above each table → the type that it defines.
TABLES: Final = {
    "BeliefAtom payload": "belief",
    "PreferenceAtom payload": "preference",
    "Goal payload": "goal",
    "Commitment payload": "commitment",
    "ProcedureAtom payload": "procedure",
    "Episode payload": "episode",
    "SelfModelAtom payload": "self_model",
    "CapabilityAtom payload": "capability",
    "LimitationAtom payload": "limitation",
    "RuntimeStateSnapshot": "runtime_state",
    "SelfAssessmentRecord": "self_assessment",
    "AgenticTrace": "agentic_trace",
    "ActionOutcomeRecord": "action_outcome",
    "PrimalGuidance": "primal_guidance",
    "Covenant": "covenant",
    "Adjudication": "adjudication",
}
#: What the envelope of an action outcome says already.
OF_THE_ENVELOPE: Final = {("action_outcome", "scope"), ("action_outcome", "observed_at")}
_FIELD: Final = re.compile(r"([a-z_]+(?:/[a-z_]+)?)(?::(?: (.+))?)?")


def table(text: str, heading: str) -> list[tuple[str, list[str]]]:
    """The fields below a heading, each with its closed list of values if the table gives one."""
    lines = text[text.index(f"\n{heading}\n") :].splitlines()[2:]
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        field = _FIELD.fullmatch(line)
        if field is None:
            break
        values = (field[2] or "").split(" | ") if field[2] else []
        found += [(name, values) for name in field[1].split("/")]
    return found


def _fields(model: Any) -> Iterator[str]:
    """The fields of a model and of the models inside it."""
    if isinstance(model, type) and issubclass(model, BaseModel):
        for name, field in model.model_fields.items():
            yield name
            yield from _fields(field.annotation)
    for part in get_args(model):
        yield from _fields(part)


@pytest.mark.parametrize(("heading", "atom_type"), TABLES.items())
def test_a_model_has_every_field_and_value_of_its_table(
    specification: str | None, heading: str, atom_type: str
) -> None:
    """A name that the specification gives is a field of the model, or of a part of it."""
    if specification is None:
        return
    fields = set(_fields(PAYLOADS[atom_type]))
    listed = table(specification, heading)

    assert len(listed) >= 6
    for name, values in listed:
        assert name in fields or (atom_type, name) in OF_THE_ENVELOPE
        own = VOCABULARIES.get(f"{atom_type}_{name}") or VOCABULARIES.get(name)
        assert own is None or set(values) <= set(own)


def test_a_table_ends_where_the_prose_begins() -> None:
    text = "x\nThing\none\ntwo: a | b\nthree/four\nProse begins."

    assert table(text, "Thing") == [("one", []), ("two", ["a", "b"]), ("three", []), ("four", [])]
