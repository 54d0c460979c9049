"""Places within payloads: which exist, and what is left when some are kept."""

from __future__ import annotations

from typing import Any

import pytest

from amos_graph.domain.atoms import payload_type
from amos_graph.domain.atoms.paths import has_path, kept

RECORD: dict[str, Any] = {
    "subject": "ent:project:amos",
    "object": {"value_type": "quantity", "value": 3, "unit": "days"},
    "validity_interval": {"from": "2026-01-01T00:00:00Z"},
    "graph_relations": [{"relation": "rel:supports", "target_ref": "a"}, {"relation": "rel:uses"}],
}


@pytest.mark.parametrize(
    ("atom_type", "path", "exists"),
    [
        ("belief", "subject", True),
        ("belief", "nothing", False),
        ("belief", "validity_interval.from", True),
        ("belief", "validity_interval.from_", False),
        ("belief", "validity_interval.since", False),
        ("belief", "modality.x", False),
        ("belief", "object.value", True),
        ("belief", "qualifiers.any.thing", True),
        ("belief", "graph_relations.relation", True),
        ("belief", "graph_relations.confidence.basis.source_type", True),
        ("belief", "graph_relations.nothing", False),
        ("procedure", "steps", True),
        ("procedure", "subject", False),
        ("episode", "raw_event_range.from", True),
        ("semantic", "context_compaction.coverage.through_ref", True),
        ("belief", "", False),
        ("belief", "object.", False),
        ("belief", ".object", False),
    ],
)
def test_a_place_exists_where_a_payload_of_the_type_can_have_it(
    atom_type: str, path: str, exists: bool
) -> None:
    """Models name their fields, by alias where they have one; below free-form records all is possible."""
    assert has_path(payload_type(atom_type), path) is exists


@pytest.mark.parametrize(
    ("paths", "left"),
    [
        ([], {}),
        (["subject"], {"subject": "ent:project:amos"}),
        (["object.value", "object.unit"], {"object": {"value": 3, "unit": "days"}}),
        (["object.value", "object"], {"object": RECORD["object"]}),
        (["subject.value"], {}),
        (["graph_relations.target_ref"], {"graph_relations": [{"target_ref": "a"}, {}]}),
        (["validity_interval.until"], {"validity_interval": {}}),
    ],
)
def test_what_is_kept_stays_where_it_was(paths: list[str], left: dict[str, Any]) -> None:
    """A whole wins over its parts, lists are passed through, and the record itself is untouched."""
    before = repr(RECORD)

    assert kept(RECORD, paths) == left
    assert repr(RECORD) == before
