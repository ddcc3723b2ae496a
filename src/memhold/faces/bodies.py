"""What the models of request bodies share: however wrong a body is, few errors are built for it."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, FailFast, model_validator
from pydantic_core import PydanticCustomError

__all__ = ["Items", "KnownOnly"]

T = TypeVar("T")


class _AtFirst(FailFast):
    """pydantic's own mark, which Python 3.11 cannot put into a union: it asks for a hash."""

    def __hash__(self) -> int:
        return hash(self.fail_fast)


Items = Annotated[list[T], _AtFirst()]
"""A list that is refused at its first wrong item: an error for each of 100,000 takes longer than reading them."""


class KnownOnly(BaseModel):
    """A body that is refused where it has a field that nobody knows; the answer names one, and those that are known."""

    model_config = ConfigDict(extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _known(cls, given: Any) -> Any:
        known = cls.model_fields.keys()
        named = given if isinstance(given, dict) else ()
        if (unknown := next((name for name in named if name not in known), None)) is not None:
            said = "the field {field} is not known here; known are: {known}"
            values = {"field": repr(str(unknown)[:60]), "known": ", ".join(sorted(known))}
            raise PydanticCustomError("unknown_field", said, values)
        return given
