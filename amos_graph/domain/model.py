"""The one way a value becomes a typed record: strict, closed, frozen, with the path of every fault."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from amos_graph.domain.canonical import DEPTH_MAX, check_json, join
from amos_graph.errors import AmosError, Fault

#: How many faults one answer names; the first ones are enough to go on.
FAULTS_MAX = 20


class Strict(BaseModel):
    """A record that takes no unknown field and coerces nothing."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)

    def record(self) -> dict[str, Any]:
        """The record as JSON values, with unset optional fields left out."""
        return self.model_dump(mode="json", exclude_none=True, by_alias=True)


ModelT = TypeVar("ModelT", bound=BaseModel)


def validate(model: type[ModelT], value: Any, at: str = "", depth_max: int = DEPTH_MAX) -> ModelT:
    """The value as a `model`.

    Raises `schema_invalid` with one fault per field, each with its path below `at`.
    """
    check_json(value, at, depth_max)
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise from_validation(error, at) from error


def from_validation(error: ValidationError, at: str = "") -> AmosError:
    """A pydantic error as ours; input values are left out, since they may be private or huge."""
    faults = [
        Fault(join(at, entry["loc"]), entry["msg"].removeprefix("Value error, "))
        for entry in error.errors(include_url=False, include_input=False, include_context=False)[:FAULTS_MAX]
    ]
    first = faults[0]
    return AmosError("schema_invalid", f"{first.path or 'input'}: {first.message}", faults)
