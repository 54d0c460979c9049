"""What analysts drag into Neo4j Browser: favourites that draw, and the style that colours them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import neo4j
import pytest
from neo4j.graph import Path as Drawn

from amos_graph.analyst import MODELS
from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from amos_graph.domain.atoms import PAYLOADS
from amos_graph.domain.dictionary import EDGE_RELATIONS, STRUCTURAL_TYPES
from amos_graph.domain.ids import relationship_type
from amos_graph.graph.transactions import Graph
from amos_graph.queries.report import REPORTS, browser_params
from amos_graph.queries.verify import LABELS
from tests.conftest import ROOT
from tests.samples import belief

FAVOURITES = sorted((ROOT / "docs" / "browser").glob("*.cypher"))
_RULE = re.compile(r"(node|relationship)(?:\.(\w+))? \{((?:\n  [a-z-]+: [^;\n]+;)+)\n\}\n")


@pytest.fixture
def chain(story: Context) -> Context:
    """The story, and a belief that took the place of another one."""
    commit(story, {"atom": belief(id="belief:newer", supersedes=["belief:rests"], payload={"object": "tea"})})
    return story


def _params(text: str) -> dict[str, Any]:
    return json.loads(text.splitlines()[1].removeprefix("// :params "))


@pytest.mark.parametrize("path", FAVOURITES, ids=lambda path: path.stem)
def test_a_favourite_draws_and_changes_nothing(chain: Context, graph: Graph, path: Path) -> None:
    """It begins with its name and a sample, and gives paths of the one shard, a bounded number of them."""
    text = path.read_text(encoding="utf-8")
    here = {"shard": chain.scope.shard, "about": "ent:project:amos", "ref": "belief:newer"}
    params = {name: here[name] for name in _params(text)}
    with graph.driver.session(database=graph.database, default_access_mode=neo4j.READ_ACCESS) as session:  # pyright: ignore[reportUnknownMemberType]
        result = session.run(text, params)  # pyright: ignore[reportArgumentType] (a file of ours)
        drawn = [value for record in result for value in record.values() if value is not None]
        counters = result.consume().counters

    assert text.startswith("// ")
    assert re.search(r"\nLIMIT \d+\n$", text)
    assert drawn
    assert all(isinstance(value, Drawn) for value in drawn)
    assert {node["shard"] for path in drawn for node in path.nodes} == {chain.scope.shard}
    assert not counters.contains_updates


def test_the_style_names_what_exists() -> None:
    """Every rule is well formed, every label has one, and no rule is for what the store does not use."""
    text = (ROOT / "docs" / "amos.grass").read_text(encoding="utf-8")
    rules = [(match[1], match[2]) for match in _RULE.finditer(text)]
    types = {relationship_type(relation) for relation in EDGE_RELATIONS} | STRUCTURAL_TYPES

    assert _RULE.sub("", text).strip() == ""
    assert {name for kind, name in rules if kind == "node" and name} == set(LABELS)
    assert {name for kind, name in rules if kind == "relationship" and name} <= types
    assert len(rules) == len(set(rules))


def test_later_rules_win_so_live_comes_after_the_types() -> None:
    """Browser applies rules in order; what is live must stay large whatever its type."""
    text = (ROOT / "docs" / "amos.grass").read_text(encoding="utf-8")
    live = text.index("node.Live")

    assert all(text.index(f"node.{model.label} ") < live for model in PAYLOADS.values())


def _captions(text: str) -> dict[str, str]:
    return {
        match[1]: caption[1]
        for match in re.finditer(r"node\.(\w+) \{(.*?)\n\}", text, re.DOTALL)
        if (caption := re.search(r"caption: '\{(\w+)\}'", match[2]))
    }


def test_a_caption_is_a_property_that_the_node_has() -> None:
    """No node is drawn without a name: what its style captions it by is on its read model."""
    models: tuple[Any, ...] = MODELS
    known = {
        model.__label__: {
            found.get_db_property_name(name)
            for name, found in model.defined_properties(aliases=False, rels=False).items()
        }
        for model in models
    }
    captions = _captions((ROOT / "docs" / "amos.grass").read_text(encoding="utf-8"))

    assert known.keys() <= captions.keys()
    assert all(captions[label] in properties for label, properties in known.items())


@pytest.mark.parametrize("name", list(REPORTS))
def test_a_sample_is_flat_so_that_browser_takes_it(name: str) -> None:
    """Browser's `:params` reads a flat JSON object and no nested one."""
    sample = REPORTS[name].header.sample

    assert all(value is None or isinstance(value, (str, int, float)) for value in sample.values())
    assert json.loads(browser_params(REPORTS[name].header).removeprefix(":params ")) == sample
