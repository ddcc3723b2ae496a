"""One broken rule of a provider, as its error tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Violation", "mappings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One broken rule: the provider's text, the parameter it names, and its code where it has one."""

    text: str
    param: str
    code: str | None = None


def mappings(values: Any) -> list[Mapping[str, Any]]:
    """Those of the values that are mappings; none where they are no list."""
    return [value for value in values if isinstance(value, Mapping)] if isinstance(values, list) else []
