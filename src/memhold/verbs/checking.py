"""Whether arguments are of the types that a verb declares: one judge, so that every face says the same words."""

from __future__ import annotations

import functools
import inspect
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, get_args, get_origin

from memhold.ports.stores import Clock
from memhold.values.bounds import Bounds
from memhold.values.errors import InvalidInput
from memhold.values.hints import did_you_mean
from memhold.values.shown import shown
from memhold.verbs.declaration import Verb, verbs_of

__all__ = ["check", "described", "fits", "judged", "judging", "known_names", "moments"]

F = TypeVar("F", bound=Callable[..., Any])

_NAMES: Mapping[Any, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    datetime: "a time (a datetime, or a text such as 2026-11-01, yesterday or 7d)",
    timedelta: "a span of time",
    tzinfo: "a zone",
    Path: "a path",
    type(None): "nothing",
}


def check(verb: Verb, given: Mapping[str, Any]) -> None:
    """Refuse arguments that are not of their declared types or bounds; what else one means is the verb's own to judge.

    Raises:
        InvalidInput: one of them is of another type or out of bounds; the message says what to pass.
    """
    for name, value in given.items():
        if name == "messages":
            continue  # read one by one where they enter: the error says which of them it is
        declared = verb.types[name]
        if not fits(value, declared):
            raise InvalidInput(f"{name} is {shown(value)}; pass {described(declared)}")
        if value is not None and name in verb.bounds:
            _bounded(name, value, verb.bounds[name])


def moments(verb: Verb, given: Mapping[str, Any], clock: Clock, zone: tzinfo | None) -> dict[str, datetime]:
    """The times among the arguments of a verb, as moments; see `read_moment`.

    Raises:
        InvalidInput, NaiveTime: one is none that is understood, or has no zone; the message names the argument.
    """
    asked = [name for name in _timed(verb) if given.get(name) is not None]
    if not asked:
        return {}
    from memhold.fidelity.moments import read_moment  # late: who names no time need not load the words of times

    return {name: read_moment(name, given[name], clock.now(), zone) for name in asked}


@cache
def _timed(verb: Verb) -> tuple[str, ...]:
    return tuple(name for name in verb.parameters if datetime in (verb.types[name], *get_args(verb.types[name])))


def _bounded(name: str, value: float, bounds: Bounds) -> None:
    least, most = bounds
    if value < least or (most is not None and value > most):
        wanted = f"at least {least}" if most is None else f"{least} to {most}"
        raise InvalidInput(f"{name} is {shown(value)}; it must be {wanted}")


def judged(verb: Verb, method: F) -> F:
    """The method, with its arguments checked first."""
    signature = inspect.signature(method)

    @functools.wraps(method)
    async def checked(*args: Any, **named: Any) -> Any:
        given = iter(signature.bind(*args, **named).arguments.items())
        next(given)  # the scope itself
        check(verb, dict(given))
        return await method(*args, **named)

    return cast("F", checked)


def judging(protocol: type, face: type) -> None:
    """Have a class that does the verbs of a Protocol check the arguments of each first."""
    for verb in verbs_of(protocol).values():
        setattr(face, verb.name, judged(verb, getattr(face, verb.name)))


def known_names(verb: Verb, given: Mapping[str, Any], *, known: Sequence[str]) -> None:
    """Refuse what the verb does not take, and the lack of what it must have.

    Raises:
        InvalidInput: a name is unknown (the message lists the known ones), or one that is needed is missing.
    """
    if unknown := [name for name in given if name not in known]:
        first, listed = min(map(str, unknown)), ", ".join(known) or "none"
        hint = did_you_mean(first, known)
        raise InvalidInput(f"{verb.name} does not know {first!r:.60}{hint}; known are: {listed}")
    needed = {name for name, one in verb.parameters.items() if one.required}
    missing = [name for name in known if name in needed and name not in given]
    if missing:
        raise InvalidInput(f"{verb.name} needs {' and '.join(missing)}; pass {'it' if len(missing) == 1 else 'them'}")


def fits(value: Any, declared: Any) -> bool:
    """Whether a value is of a declared type. A lone text is no list of texts, and true is no number."""
    return _judge(declared)(value)


@cache
def _judge(declared: Any) -> Callable[[Any], bool]:
    if declared is Any:
        return lambda _: True
    origin, parts = get_origin(declared), get_args(declared)
    if origin in {typing.Union, types.UnionType}:
        judges = [_judge(one) for one in parts]
        return lambda value: any(judge(value) for judge in judges)
    if origin is Literal:
        return lambda value: isinstance(value, str) and value in parts
    if origin is not None and issubclass(origin, Mapping):
        return lambda value: isinstance(value, Mapping)
    if origin in {tuple, list} or (origin is not None and issubclass(origin, Sequence)):
        inner = _judge(parts[0]) if parts else _judge(Any)
        return lambda value: isinstance(value, list | tuple) and all(map(inner, value))
    if origin is not None:
        return callable
    if declared is int:
        return lambda value: isinstance(value, int) and not isinstance(value, bool)
    if declared is float:
        return _is_number
    if declared is datetime:
        return lambda value: isinstance(value, datetime | str)
    return lambda value: isinstance(value, declared)


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)
    except OverflowError:  # a whole number that is larger than every float
        return False


def described(declared: Any) -> str:
    """A type as a person would say it."""
    origin, parts = get_origin(declared), get_args(declared)
    if origin in {typing.Union, types.UnionType}:
        told = [described(one) for one in parts if one is not type(None)]
        return " or ".join(dict.fromkeys(told))
    if origin is Literal:
        return f"one of {', '.join(map(repr, parts))}"
    if origin is not None and issubclass(origin, Mapping):
        return "an object with names and values"
    if origin is not None and issubclass(origin, Sequence):
        inner = described(parts[0]) if parts else "values"
        return f"a list of {inner.removeprefix('one of ')}" if "one of" in inner else f"a list of {inner}"
    return _NAMES.get(declared, getattr(declared, "__name__", str(declared)))
