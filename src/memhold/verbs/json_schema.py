"""The JSON schema of a declared type, as small as a person or a model likes to read it."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, get_args, get_origin

from memhold.values.bounds import Bounds
from memhold.verbs.declaration import Parameter, Verb

__all__ = ["property_of", "schema_of"]

_PLAIN: Mapping[Any, Mapping[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    datetime: {"type": "string", "format": "date-time"},
    timedelta: {"type": "number", "description": "Seconds."},
    type(None): {"type": "null"},
}


def schema_of(declared: Any) -> dict[str, Any]:
    """The schema of a type; of a union that holds values of ours, that of its plain members."""
    if declared in _PLAIN:
        return dict(_PLAIN[declared])
    origin, parts = get_origin(declared), get_args(declared)
    if origin in {typing.Union, types.UnionType}:
        plain = [one for one in parts if not (one is str and datetime in parts)]  # a time as text is shown once
        told = [schema_of(one) for one in plain if not hasattr(one, "__dataclass_fields__")]
        return told[0] if len(told) == 1 else {"anyOf": told}
    if origin is Literal:
        return {"type": "string", "enum": list(parts)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object"}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return {"type": "array", "items": schema_of(parts[0]) if parts else {}}
    return {}


def _bounded(schema: dict[str, Any], bounds: Bounds) -> dict[str, Any]:
    """The schema of a number with the least and the most that it may be."""
    if "anyOf" in schema:
        return {"anyOf": [one if one.get("type") == "null" else _bounded(one, bounds) for one in schema["anyOf"]]}
    least, most = bounds
    return {**schema, "minimum": least, **({} if most is None else {"maximum": most})}


def property_of(verb: Verb, parameter: Parameter, *, nullable: bool = True) -> dict[str, Any]:
    """A parameter as a property: its schema, its sentence, and its default where that says something.

    Without `nullable` a type that may be None is shown without it: what has no value is left out.
    """
    schema = schema_of(verb.types[parameter.name])
    if not nullable and "anyOf" in schema:
        told = [one for one in schema["anyOf"] if one.get("type") != "null"]
        schema = dict(told[0]) if len(told) == 1 else {"anyOf": told}
    if parameter.name in verb.bounds:
        schema = _bounded(schema, verb.bounds[parameter.name])
    said = " ".join(part for part in (parameter.doc, schema.pop("description", "")) if part)
    found = {**schema, "description": said} if said else schema
    if parameter.required or parameter.default is None:
        return found
    default = list(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
    return found if default in ([], {}) else {**found, "default": default}
