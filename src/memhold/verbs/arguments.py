"""A verb's arguments as JSON and back, by their declared types.

What cannot be read as its type is passed on as it came: the verb refuses it in the words that it has for every face.
"""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin

from memhold.values.jsonable import iso, json_copy
from memhold.verbs.declaration import Parameter, Verb

__all__ = ["from_json", "from_text", "sendable", "to_json"]

_LONGEST_SECONDS = 86_399_999_999_999.0
"""The longest time span that there is, near enough (999,999,999 days)."""


def from_json(verb: Verb, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that JSON values stand for: spans from seconds, tuples from lists; the verb reads times itself."""
    return {name: _reader(verb.types[name])(value) for name, value in given.items()}


def from_text(verb: Verb, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that texts stand for, as in a query or on a command line.

    A list is one text with commas between, or a list of texts; "any" alone is None where that is allowed. An object is
    JSON, a span a number of seconds; numbers and truth are read by type.
    """
    return from_json(verb, {name: _from_text(verb.types[name], value) for name, value in given.items()})


def to_json(verb: Verb, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as JSON, but for those that are as the verb has them by default.

    Raises:
        NaiveTime: a time has no zone.
        InvalidInput: a value cannot be JSON.
    """
    said = {name: value for name, value in given.items() if _says(verb.parameters[name], value)}
    return {name: json_copy(_written(verb.types[name], value)) for name, value in said.items()}


@cache
def sendable(verb: Verb) -> tuple[str, ...]:
    """The parameters that can cross as JSON: all but callbacks, paths and zones."""
    crossing = {name: declared for name, declared in verb.types.items() if name in verb.parameters}
    return tuple(name for name in verb.parameters if not _stays(crossing[name]))


def _says(parameter: Parameter, value: Any) -> bool:
    """Whether a value says more than leaving the argument out: what must be there has no default, None included."""
    default = parameter.default
    return parameter.required or not (value is default or (type(value) is type(default) and value == default))


def _stays(declared: Any) -> bool:
    parts = get_args(declared) if get_origin(declared) in {typing.Union, types.UnionType} else (declared,)
    return any(one is Path or (get_origin(one) is not None and _is_callable(one)) for one in parts)


def _is_callable(declared: Any) -> bool:
    return get_origin(declared) is Callable or str(declared).startswith("collections.abc.Callable")


def _written(declared: Any, value: Any) -> Any:
    """A value of a declared type as JSON can carry it; what is JSON by its type is left as it came."""
    if declared is Any:
        return value
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, timedelta):
        return min(value.total_seconds(), _LONGEST_SECONDS)
    return value


@cache
def _reader(declared: Any) -> Callable[[Any], Any]:
    """How a JSON value of that type is read."""
    parts = get_args(declared) if get_origin(declared) in {typing.Union, types.UnionType} else (declared,)
    if timedelta in parts:
        return _span
    lists = [one for one in parts if _is_list(one)]
    if lists and not any(_holds_mappings(one) for one in lists):
        return lambda value: tuple(value) if isinstance(value, list) else value
    return lambda value: value


def _span(value: Any) -> Any:
    whole = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LONGEST_SECONDS
    return timedelta(seconds=value) if whole else value


def _is_list(declared: Any) -> bool:
    origin = get_origin(declared)
    return isinstance(origin, type) and issubclass(origin, Sequence)


def _holds_mappings(declared: Any) -> bool:
    inner = get_args(declared)
    return bool(inner) and _is_mapping(inner[0])


def _is_mapping(declared: Any) -> bool:
    origin = get_origin(declared)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _from_text(declared: Any, text: Any) -> Any:
    parts = get_args(declared) if get_origin(declared) in {typing.Union, types.UnionType} else (declared,)
    lists = [one for one in parts if _is_list(one)]
    if lists and isinstance(text, str | list | tuple):
        given = [part for part in text.split(",") if part] if isinstance(text, str) else [*text]
        if given == ["any"] and type(None) in parts:
            return None
        inner = (*get_args(lists[0]), Any)[0]
        return [_from_text(inner, one) for one in given]
    if not isinstance(text, str):
        return text
    for kind, read in ((bool, _truth), (int, _whole), (float, _number), (timedelta, _number)):
        if kind in parts:
            return read(text)
    return _object(text) if any(_is_mapping(one) for one in parts) else text


def _object(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _truth(text: str) -> Any:
    return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)


def _whole(text: str) -> Any:
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) < 20 else text


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text
