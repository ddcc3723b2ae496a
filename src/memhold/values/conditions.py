"""Conditions on the members of a JSON content, or of metadata. Pure.

A filter maps names of members to a value that the member equals, to a list that it equals or is one of, to an object of
operators (`{"$gt": 4}`), or to an object without operators, which is a filter of that member's own members. All
conditions must hold; `{"$or": [...]}` holds filters of which one must.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from memhold.values.errors import InvalidInput
from memhold.values.jsonable import json_copy

__all__ = ["OPERATORS", "Filter", "checked_filter", "passes"]

_ABSENT: Final = object()
OR: Final = "$or"

Filter = Mapping[str, Any]


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """A comparison of two numbers or of two texts; values of other kinds have no order."""

    def judged(value: Any, wanted: Any) -> bool:
        texts = isinstance(value, str) and isinstance(wanted, str)
        return (texts or (_number(value) and _number(wanted))) and compare(value, wanted)

    return judged


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _equal(value: Any, wanted: Any) -> bool:
    """Equality of JSON: 1 is 1.0 and is not true."""
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    if isinstance(value, list) and isinstance(wanted, list):
        return len(value) == len(wanted) and all(map(_equal, value, wanted))
    if isinstance(value, dict) and isinstance(wanted, dict):
        return value.keys() == wanted.keys() and all(_equal(value[name], wanted[name]) for name in wanted)
    return bool(value == wanted)


OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = MappingProxyType(
    {
        "$eq": _equal,
        "$ne": lambda value, wanted: not _equal(value, wanted),
        "$gt": _ordered(lambda value, wanted: value > wanted),
        "$gte": _ordered(lambda value, wanted: value >= wanted),
        "$lt": _ordered(lambda value, wanted: value < wanted),
        "$lte": _ordered(lambda value, wanted: value <= wanted),
        "$in": lambda value, wanted: any(_equal(value, one) for one in wanted),
        "$nin": lambda value, wanted: not any(_equal(value, one) for one in wanted),
        "$contains": lambda value, wanted: isinstance(value, list) and any(_equal(one, wanted) for one in value),
        "$exists": lambda value, wanted: (value is not _ABSENT) is wanted,
    }
)
"""What a condition can ask of a member; one that is not there equals nothing and is in nothing."""


def checked_filter(given: object, what: str = "filter") -> Filter:
    """A filter that can be asked, as a copy of its own.

    Raises:
        InvalidInput: it is no object, or has an operator that is not known or is not given what it takes; the message
            names it and lists those that are known.
    """
    if not isinstance(given, Mapping):
        raise InvalidInput(f"{what} is a {type(given).__name__}; pass an object, such as {{'status': 'open'}}")
    copy: dict[str, Any] = json_copy(given)
    _check(copy, what)
    return copy


def _check(asked: Mapping[str, Any], what: str) -> None:
    for name, wanted in asked.items():
        if name == OR:
            if not isinstance(wanted, list) or not all(isinstance(one, dict) for one in wanted):
                raise InvalidInput(f"{what}: {OR} takes a list of filters, such as [{{'status': 'open'}}]")
            for one in wanted:
                _check(one, f"{what} at {OR}")
            continue
        if name.startswith("$"):
            raise InvalidInput(f"{what} has the operator {name!r:.60} where a member belongs; name that before it")
        if not isinstance(wanted, dict):
            continue
        operators = [one for one in wanted if one.startswith("$")]
        if operators and len(operators) < len(wanted):
            raise InvalidInput(f"{what} mixes operators and members at {name!r:.60}; pass either")
        for one in operators:
            _check_operator(one, wanted[one], f"{what} at {name!r:.60}")
        if not operators:
            plain = [one for one, value in wanted.items() if f"${one}" in OPERATORS and not isinstance(value, dict)]
            if plain:
                raise InvalidInput(
                    f"{what} at {name!r:.60} has {plain[0]!r}; write ${plain[0]},"
                    f" or for a member of that name {{{plain[0]!r}: {{'$eq': …}}}}"
                )
            _check(wanted, f"{what} at {name!r:.60}")


def _check_operator(operator: str, wanted: Any, what: str) -> None:
    if operator not in OPERATORS:
        raise InvalidInput(f"{what} has the unknown operator {operator!r:.60}; known are {', '.join(OPERATORS)}")
    if operator in {"$in", "$nin"} and not isinstance(wanted, list):
        raise InvalidInput(f"{what}: {operator} takes a list of values")
    if operator == "$exists" and not isinstance(wanted, bool):
        raise InvalidInput(f"{what}: $exists takes true or false")


def passes(value: Any, asked: Filter) -> bool:
    """Whether a JSON value has members of which all conditions hold; text and lists have none."""
    if not asked:
        return True
    members = value if isinstance(value, Mapping) else {}
    return isinstance(value, Mapping) and all(
        any(passes(value, one) for one in wanted) if name == OR else _holds(members.get(name, _ABSENT), wanted)
        for name, wanted in asked.items()
    )


def _holds(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, list) and not isinstance(value, list):
        return any(_equal(value, one) for one in wanted)
    if not isinstance(wanted, dict) or not wanted:
        return _equal(value, wanted)
    if next(iter(wanted)).startswith("$"):
        return all(OPERATORS[operator](value, one) for operator, one in wanted.items())
    return passes(value, wanted)
