"""Values as plain JSON and back, without loss.

Two pairs live here. `to_jsonable` and `from_jsonable` turn the values of `values.records` into what JSON can hold and
back again, for `--json`, the export and the wire. `body_json` and `body_from_json` write a message's body as JSON
text and read it back equal, down to the order of its keys.
"""

from __future__ import annotations

import json
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from memhold.values.errors import InvalidInput, NaiveTime

__all__ = ["MAX_DEPTH", "body_from_json", "body_json", "from_jsonable", "iso", "json_copy", "parse_time", "to_jsonable"]

T = TypeVar("T")

MAX_DEPTH = 100
"""How deep a body or metadata may be nested: far over what providers send, far under where a parser gives up."""

_MAX_BITS = 12_900  # about 3,880 digits; Python reads at most 4,300 back (sys.int_info)
_SURROGATE = re.compile("[\ud800-\udfff]")


def compact_json(*, ascii_only: bool, allow_nan: bool = True) -> Callable[[Any], str]:
    """What writes JSON without spaces, for values that hold themselves nowhere.

    `json` sets up its encoder in C anew for each call, which costs more than a message does; this one is set up once.
    """
    plain = json.JSONEncoder(ensure_ascii=ascii_only, separators=(",", ":"), allow_nan=allow_nan)
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return plain.encode
    text = json.encoder.encode_basestring_ascii if ascii_only else json.encoder.encode_basestring
    pieces = make(None, plain.default, text, None, ":", ",", False, False, allow_nan)
    return lambda value: "".join(pieces(value, 0))


_UNESCAPED = compact_json(ascii_only=False, allow_nan=False)
_ESCAPED = compact_json(ascii_only=True, allow_nan=False)
_HALVES = re.compile("[\ud800-\udbff][\udc00-\udfff]")


# --------------------------------------------------------------------------------------------- JSON


def json_copy(value: object, *, depth: int = 0) -> Any:
    """A copy of a JSON value made of plain dicts, lists, strings, numbers, booleans and None.

    The copy is equal to the original, but for tuples, which become lists. Whatever `body_json` could not give back
    equal is refused here.

    Raises:
        InvalidInput: something in it is not JSON: another type, a key that is not text, NaN or an infinity, an
            integer of more than 12,900 bits, a surrogate pair written as two characters, or more than 100 levels.
    """
    if depth > MAX_DEPTH:
        raise InvalidInput(f"nested deeper than {MAX_DEPTH} levels; make it flatter")
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return value if type(value) is str and value.isascii() else _text(value)
    if isinstance(value, int):
        if value.bit_length() > _MAX_BITS:
            raise InvalidInput(f"an integer of {value.bit_length()} bits cannot be kept; pass it as text")
        return int(value)
    if isinstance(value, float):
        if value != value or value in {float("inf"), float("-inf")}:  # noqa: PLR0124
            raise InvalidInput(f"{value} is not JSON; pass it as text")
        return float(value)
    if type(value) is dict or isinstance(value, Mapping):
        return {_key(name): json_copy(item, depth=depth + 1) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_copy(item, depth=depth + 1) for item in value]
    raise InvalidInput(f"{type(value).__name__} is not JSON; pass text, numbers, lists and dicts")


def _text(value: str) -> str:
    text = value if type(value) is str else str.__str__(value)
    if not text.isascii() and (found := _HALVES.search(text)):
        raise InvalidInput(
            f"a surrogate pair stands as two characters at position {found.start()}; "
            "join it with s.encode('utf-16', 'surrogatepass').decode('utf-16')"
        )
    return text


def _key(name: object) -> str:
    if type(name) is str and name.isascii():
        return name
    if not isinstance(name, str):
        raise InvalidInput(f"the key {name!r:.40} is not text; pass text keys")
    return _text(name)


def body_json(body: Mapping[str, Any]) -> str:
    """JSON text of a body that `body_from_json` reads back equal, key order, floats and large integers included.

    The text itself can be kept anywhere: it holds no NUL and no lone surrogate, since both are written as escapes.
    Equal bodies with the same key order give the same text, byte for byte.

    Raises:
        ValueError: the body holds NaN or an infinity (`json_copy` refuses those before).
    """
    text = _UNESCAPED(body)
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return _ESCAPED(body)


def body_from_json(text: str) -> dict[str, Any]:
    """The body that `body_json` wrote."""
    return cast("dict[str, Any]", json.loads(text))


# --------------------------------------------------------------------------------------------- times


def iso(moment: datetime) -> str:
    """An aware time as ISO-8601 in UTC with microseconds and Z: the same length for every time, sortable as text.

    Raises:
        NaiveTime: the time has no zone.
    """
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise NaiveTime(f"{moment!r} has no time zone; pass an aware datetime, for example datetime.now(UTC)")
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def parse_time(value: object) -> datetime:
    """The aware UTC time of a datetime or of ISO-8601 text with a zone; digits past microseconds are dropped.

    Raises:
        NaiveTime: there is no zone.
        InvalidInput: it is neither, or lies outside the years 1 to 9999 in UTC.
    """
    moment = value
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            raise InvalidInput(f"{value!r:.60} is not a time; write ISO-8601 such as 2026-01-31T09:30:00Z") from None
    if not isinstance(moment, datetime):
        raise InvalidInput(f"a {type(value).__name__} is not a time; pass an aware datetime or ISO-8601 text")
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise NaiveTime(f"{value!s:.60} has no time zone; Memhold never guesses one: add Z, +09:00 or a tzinfo")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(f"{value!s:.60} lies outside the years 1 to 9999 in UTC; pass a time within") from None


# --------------------------------------------------------------------------------------------- values


def to_jsonable(value: Any) -> Any:
    """A value of `memhold.values.records` as JSON can hold it: dicts by field name, lists, times as `iso` writes them.

    Every field is there, also those with their default, in the order of the class.
    """
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, datetime):
        return iso(value)
    if is_dataclass(value):
        kind: Any = type(value)
        return {name: to_jsonable(getattr(value, name)) for name in _names(kind)}
    if isinstance(value, Mapping):
        return {name: to_jsonable(item) for name, item in value.items()}
    if isinstance(value, Sequence):
        return [to_jsonable(item) for item in value]
    raise InvalidInput(f"{type(value).__name__} has no plain form; pass values of memhold.values.records")


@cache
def _names(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls))


def from_jsonable(cls: type[T], data: Any) -> T:
    """The value of class `cls` that `to_jsonable` made `data` from.

    A field that has a default may be absent; a field that the class does not know is refused, so that nothing is lost
    in silence.

    Raises:
        InvalidInput: `data` does not fit the class; the message names the field.
        NaiveTime: a time has no zone.
    """
    return cast("T", _build(cls, data, cls.__name__))


@cache
def _shape(cls: type) -> tuple[dict[str, Any], frozenset[str]]:
    hints = get_type_hints(cls)
    known = [field for field in fields(cls) if field.init]
    required = frozenset(f.name for f in known if f.default is MISSING and f.default_factory is MISSING)
    return {field.name: hints[field.name] for field in known}, required


def _build(hint: Any, data: Any, where: str) -> Any:
    origin = get_origin(hint)
    if hint is Any:
        return data
    if origin in {Union, types.UnionType}:
        return _build_union(hint, data, where)
    if origin is Literal:
        if data not in get_args(hint):
            raise InvalidInput(f"{where} is {data!r:.40}; it must be one of {', '.join(map(repr, get_args(hint)))}")
        return data
    if origin is tuple or origin is Sequence:
        if not isinstance(data, list | tuple):
            raise InvalidInput(f"{where} must be a list")
        return tuple(_build(get_args(hint)[0], item, f"{where}[{i}]") for i, item in enumerate(data))
    if origin is Mapping:
        if not isinstance(data, Mapping):
            raise InvalidInput(f"{where} must be an object")
        return {name: _build(get_args(hint)[1], item, f"{where}.{name}") for name, item in data.items()}
    if hint is datetime:
        return parse_time(data)
    if is_dataclass(hint):
        return _build_dataclass(cast("type", hint), data, where)
    return _scalar(hint, data, where)


def _build_union(hint: Any, data: Any, where: str) -> Any:
    options = get_args(hint)
    if data is None and type(None) in options:
        return None
    first = next(option for option in options if option is not type(None))
    return _build(first, data, where)


def _build_dataclass(cls: type, data: Any, where: str) -> Any:
    if not isinstance(data, Mapping):
        raise InvalidInput(f"{where} must be an object")
    hints, required = _shape(cls)
    if unknown := data.keys() - hints.keys():
        raise InvalidInput(
            f"{where} has the unknown field {min(unknown)!r}; a newer Memhold may have written it, upgrade then"
        )
    if missing := required - data.keys():
        raise InvalidInput(f"{where} lacks the field {min(missing)!r}; add it")
    return cls(**{name: _build(hints[name], item, f"{where}.{name}") for name, item in data.items()})


def _scalar(hint: Any, data: Any, where: str) -> Any:
    if hint is float and type(data) is int:
        return float(data)
    if type(data) is not hint:
        raise InvalidInput(f"{where} must be {hint.__name__}, not {type(data).__name__}")
    return data
