"""What is held to be so: beliefs and semantic knowledge."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from amos_graph.domain.atoms.compaction import ContextCompaction
from amos_graph.domain.atoms.payload import Dated, Learned, Payload, Refs, lift
from amos_graph.domain.captions import clip
from amos_graph.domain.ids import RelationId
from amos_graph.domain.value_kinds import fault
from amos_graph.domain.values import AtomValue, Statement, ValueRecord

#: `design_decision` is the value that the spec's own example uses beside its table.
Modality = Literal["observed", "inferred", "user_stated", "system_derived", "predicted", "design_decision"]


class Belief(Dated):
    """A claim that the system currently accepts as useful or likely true (spec, BeliefAtom)."""

    atom_type = "belief"
    label = "Belief"
    lifted = lift("subject", "relation", "object", "modality")
    slot = ("subject", "relation")
    role_text = "{subject} {relation} {object}"

    subject: AtomValue
    relation: RelationId
    object: AtomValue
    modality: Modality | None = None
    qualifiers: ValueRecord | None = None


class Semantic(Dated, Learned):
    """A piece of general knowledge: a statement, a triple, or both (design §7)."""

    atom_type = "semantic"
    label = "Semantic"
    lifted = lift("subject", "relation", "object", "topic")
    slot = ("subject", "relation")
    role_text = "{subject} {relation} {object}"
    apart = Payload.apart | {"context_compaction"}

    statement: Statement | None = None
    subject: AtomValue | None = None
    relation: RelationId | None = None
    object: AtomValue | None = None
    topic: AtomValue | None = None
    qualifiers: ValueRecord | None = None
    source_refs: Refs | None = None
    context_compaction: ContextCompaction | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Semantic:
        triple = {"subject": self.subject, "relation": self.relation, "object": self.object}
        missing = [name for name, value in triple.items() if value is None]
        if len(missing) == 3 and self.statement is None:
            raise fault("a statement, or subject, relation and object, say what is known", "statement")
        if self.context_compaction is not None and self.statement is None:
            raise fault("a summary of a conversation is said in words", "statement")
        if 0 < len(missing) < 3:
            raise fault("a triple has subject, relation and object", missing[0])
        return self

    def title(self) -> str:
        return super().title() if self.relation else clip(self.statement or "")
