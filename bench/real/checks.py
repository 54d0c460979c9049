"""What the graph says about the history, held against what the files say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from amos_graph.commands.execution import Context
from amos_graph.commands.view import edges_of, read_records
from amos_graph.graph.transactions import Tx
from amos_graph.queries.get import get_atom
from amos_graph.queries.list import list_atoms
from bench.real.history import belief_ref, document_ref, entity_ref
from bench.real.oracle import Oracle, collapsed, went_back

#: Instants at which the status of every document is compared.
INSTANTS: Final = (
    "2000-07-13T12:00:00+00:00",
    "2001-06-01T00:00:00+00:00",
    "2004-11-30T10:00:00+00:00",
    "2009-04-03T00:00:00+00:00",
    "2014-03-16T12:00:00+00:00",
    "2018-07-12T00:00:00+00:00",
    "2022-10-08T00:00:00+00:00",
    "2026-01-01T00:00:00+00:00",
)
FIRST_OF_CHAIN: Final = 241
_PAGE: Final = 200
_EDGES_MAX: Final = 1_000


class CheckError(Exception):
    """The graph and the files disagree."""


def require(truth: bool, sentence: str) -> None:
    """Raise CheckError with the sentence unless it is true."""
    if not truth:
        raise CheckError(sentence)


def _listed(context: Context, **filters: Any) -> Iterator[dict[str, Any]]:
    cursor = None
    while True:
        page = list_atoms(context, {**filters, "limit": _PAGE, "cursor": cursor})
        require(not page["scan_truncated"], "a listing was cut")
        yield from page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return


def _pep(item: Mapping[str, Any]) -> int:
    return int(item["payload"]["subject"].rpartition(":")[2])


def _value(item: Mapping[str, Any]) -> str:
    return item["payload"]["object"]["value"]


def check_statuses(context: Context, oracle: Oracle) -> str:
    """Every document's status at every instant, by `valid_at`."""
    compared = 0
    for instant in INSTANTS:
        expected = oracle.status_at(instant)
        found: dict[int, str] = {}
        for item in _listed(context, types=["belief"], relation="rel:status", valid_at=instant):
            require(_pep(item) not in found, f"PEP {_pep(item)} has two statuses at {instant}")
            found[_pep(item)] = _value(item)
        differing = sorted(pep for pep in {*expected, *found} if expected.get(pep) != found.get(pep))
        require(not differing, f"at {instant} the status differs for PEPs {differing[:10]}")
        compared += len(expected)
    return f"{compared} statuses at {len(INSTANTS)} instants"


def check_one_document(context: Context, oracle: Oracle) -> str:
    """One document alone, asked by its subject, at an instant inside each of its statuses."""
    courses = oracle.courses()
    pep = max(courses, key=lambda pep: len(courses[pep]))
    moments = [since for since, _ in oracle.statuses(pep)]
    for moment in moments:
        instant = moment.isoformat()
        found = list(_listed(context, subject=entity_ref(pep), relation="rel:status", valid_at=instant))
        expected = [value for since, value in oracle.statuses(pep) if since <= moment][-1]
        require([_value(item) for item in found] == [expected], f"PEP {pep} at {instant} is not {expected!r}")
    return f"PEP {pep}: {' → '.join(courses[pep])}"


def check_courses(context: Context, oracle: Oracle) -> str:
    """The supersessions of each document form one line, and tell which documents went back."""
    items: dict[int, dict[str, dict[str, Any]]] = {}
    for item in _listed(context, types=["belief"], relation="rel:status"):
        items.setdefault(_pep(item), {})[item["atom_id"]] = item
    found = {pep: _course(pep, beliefs) for pep, beliefs in items.items()}
    expected = oracle.courses()
    differing = sorted(pep for pep in {*expected, *found} if expected.get(pep) != found.get(pep))
    require(not differing, f"the course of the status differs for PEPs {differing[:10]}")
    back = sorted(pep for pep, course in found.items() if went_back(course))
    require(back == sorted(p for p, c in expected.items() if went_back(c)), "other PEPs went back")
    return f"{len(back)} documents returned to an earlier status: {', '.join(map(str, back))}"


def _course(pep: int, beliefs: Mapping[str, dict[str, Any]]) -> list[str]:
    """The values from the first belief along the supersessions; each closes where the next one opens."""
    after: dict[str | None, dict[str, Any]] = {}
    for item in beliefs.values():
        before: list[str] = item["record"].get("supersedes", [])
        require(len(before) <= 1, f"a status of PEP {pep} supersedes two others")
        previous = before[0] if before else None
        require(previous not in after, f"two statuses of PEP {pep} supersede the same one")
        after[previous] = item
    values: list[str] = []
    place: str | None = None
    until: str | None = None
    while (item := after.get(place)) is not None:
        interval = item["payload"]["validity_interval"]
        require(place is None or interval["from"] == until, f"PEP {pep} has a gap before {item['atom_id']}")
        place, until = item["atom_id"], interval.get("until")
        require((until is not None) == (place in after), f"{place} is open or closed at the wrong end")
        require(item["state_key"] == ("superseded" if place in after else "live"), f"{place}: standing")
        values.append(_value(item))
    require(len(values) == len(beliefs), f"the statuses of PEP {pep} form no single line")
    require(values == collapsed(values), f"PEP {pep} holds the same status twice in a row")
    return values


def check_succession(context: Context, oracle: Oracle) -> str:
    """The chain of documents that took each other's place, and the evidence of each of its edges."""
    expected = oracle.succession(FIRST_OF_CHAIN) if FIRST_OF_CHAIN in oracle.documents else []
    if not expected:
        return f"PEP {FIRST_OF_CHAIN} lies outside this slice"
    chain, proofs = context.graph.read("bench", lambda tx: _chain(tx, context.scope.shard))
    require(chain == expected, f"the succession is {chain}, not {expected}")
    return " → ".join(map(str, chain)) + f", on {proofs} evidence records"


def _chain(tx: Tx, shard: str) -> tuple[list[int], int]:
    chain, proofs = [FIRST_OF_CHAIN], 0
    while True:
        here = document_ref(chain[-1])
        edges = edges_of(tx, shard, [here], ["active"], _EDGES_MAX)
        onward = [
            edge
            for edge in edges
            if edge.body["source_ref"] == here and edge.body["relation"] == "rel:replaced_by"
        ]
        if not onward:
            return chain, proofs
        require(len(onward) == 1, f"{here} has several successors")
        chain.append(int(onward[0].body["target_ref"].split("/")[1]))
        cited = read_records(tx, shard, onward[0].body["evidence_refs"])
        kinds = {record.body["source_type"] for record in cited}
        require(kinds == {"commit", "document"}, f"the edge from {here} rests on {sorted(kinds)} alone")
        for record in cited:
            require(record.body["payload"]["pep"] == chain[-2], f"evidence of another document at {here}")
        proofs += len(cited)


def check_two_clocks(context: Context, oracle: Oracle) -> str:
    """What was known before a change was recorded: the belief that it closed, still open."""
    pep = next(pep for pep, course in oracle.courses().items() if len(course) > 1)
    ref = belief_ref(pep, "status", 1)
    request = {"atom_id": ref, "include_superseded": True}
    now = get_atom(context, request)["item"]
    revisions = now["provenance"]["revision_history"]
    first = min(revision["graph_version"] for revision in revisions)
    # The readable version that holds the first one is the end of its command.
    closed = max(revision["graph_version"] for revision in revisions)
    then = get_atom(context, {**request, "as_of_version": closed - 1})
    require(first < closed, f"{ref} was never closed")
    require(then["found"], f"{ref} was not known before version {closed}")
    require("until" not in then["item"]["payload"]["validity_interval"], f"{ref} was closed too early")
    require(now["payload"]["validity_interval"]["until"] is not None, f"{ref} is still open")
    return f"{ref} open as known at version {closed - 1}, closed since {closed}"
