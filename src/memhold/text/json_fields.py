"""Members of JSON by fields: "title", "author.name", "chapters[*].text", "tags[-1]", "*". Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

__all__ = ["steps_of", "texts_at"]

_STEP = re.compile(r"\[(?P<place>\*|-?\d{1,9})\]|(?P<dot>\.?)(?P<name>[^.\[\]]+)")
_EVERY = "*"


def steps_of(field: str) -> tuple[str | int, ...] | None:
    """The names and places that a field goes by, from the outermost on; None where it is no field."""
    steps: list[str | int] = []
    at = 0
    while at < len(field):
        found = _STEP.match(field, at)
        if found is None or (found["name"] is not None and bool(found["dot"]) != bool(steps)):
            return None
        place = found["place"]
        steps.append(found["name"] if place is None else place if place == _EVERY else int(place))
        at = found.end()
    return tuple(steps) or None


def texts_at(value: Any, fields: Sequence[str], *, most: int) -> str:
    """The words of the members that the fields name, each on a line: texts as they are, all else as JSON.

    Fields that name one member twice repeat it: behind `most` characters no more is taken.
    """
    found: list[str] = []
    left = most
    for field in fields:
        for member in _members(value, steps_of(field) or ()):
            text = member if isinstance(member, str) else json.dumps(member, ensure_ascii=False)
            found.append(text)
            left -= len(text)
            if left <= 0:
                return "\n".join(found)
    return "\n".join(found)


def _members(value: Any, steps: Sequence[str | int]) -> Iterator[Any]:
    if not steps:
        if value is not None:
            yield value
        return
    step, rest = steps[0], steps[1:]
    if step == _EVERY and isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _members(one, rest)
    elif step in value if isinstance(value, dict) else _is_place(step, value):
        yield from _members(value[step], rest)


def _is_place(step: str | int, value: Any) -> bool:
    return isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value)
