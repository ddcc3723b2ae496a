"""Write what the TypeScript client takes from the server: `python scripts/generate_typescript.py`.

A test fails where it is behind.

`generated/api.ts` has the values that cross, the arguments of each operation and how it is sent: the OpenAPI, and the
declarations of the verbs; `generated/errors.ts` has the tree of errors. The rest of the client is written by hand.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from memhold.faces.rest.app import rest_app
from memhold.faces.rest.openapi import HEADERS
from memhold.values import errors
from memhold.verbs.declaration import Verb, verbs_of
from memhold.verbs.documents import AsyncDocuments
from memhold.verbs.scope import AsyncScope

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "clients" / "typescript" / "src" / "generated"
HEAD = "// Generated from the server's declarations by scripts/generate_typescript.py: change those, and run it.\n"
WIDTH = 116
VERBS: dict[str, Verb] = {
    verb.http.operation or verb.name: verb
    for home in (AsyncScope, AsyncDocuments)
    for verb in verbs_of(home).values()
    if verb.http is not None
}
BY_HAND = {"messages": "Messages", "also": "readonly AlsoScope[]"}
"""Arguments whose type says more than their schema; `arguments.ts` has them."""
AGAIN = frozenset({"exchange_token", "import_file", "reindex", "revoke_token", "settle"})
"""Operations that no declaration tells of, and whose second arrival changes nothing."""
LOCAL = frozenset({"ForkedProcess", "WrongLoop"})
"""Errors of a Python process, which no server answers with."""


def generated() -> dict[str, str]:
    """The text of each generated file, by its name."""
    made = asyncio.run(_openapi())
    return {"api.ts": _api(made), "errors.ts": _errors()}


async def _openapi() -> dict[str, Any]:
    from memhold import AsyncMemhold

    async with AsyncMemhold.open("memory://", worker=False) as mem:
        return rest_app(mem).openapi()


def _api(made: Mapping[str, Any]) -> str:
    schemas = made["components"]["schemas"]
    operations = {
        operation["operationId"]: (path, method, operation)
        for path, methods in made["paths"].items()
        for method, operation in methods.items()
    }
    parts = [HEAD, 'import type { AlsoScope, Messages, Time } from "../arguments.js";\n']
    parts += [_interface(name, schema) for name, schema in sorted(schemas.items()) if not name.endswith("Body")]
    parts += [_arguments(name, *found, schemas) for name, found in operations.items()]
    parts.append(_table(operations))
    parts.append(
        _map("Arguments", "The arguments of each operation.", {name: _arguments_name(name) for name in operations})
    )
    parts.append(
        _map("Answers", "What each operation answers.", {name: _answer(found[2]) for name, found in operations.items()})
    )
    return "\n".join(parts)


# ------------------------------------------------------------------------------------------------ types


def _type(schema: Mapping[str, Any], *, given: bool) -> str:
    """A schema as a type; `given` where it is the caller's, who may pass a date as one and never sees it changed."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[1]
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(one) for one in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(one, given=given) for one in schema["anyOf"]))
    match schema.get("type"):
        case "string":
            return "Time" if given and schema.get("format") == "date-time" else "string"
        case "integer" | "number":
            return "number"
        case "boolean":
            return "boolean"
        case "null":
            return "null"
        case "array":
            inner = _type(schema.get("items", {}), given=given)
            nested = "|" in inner or inner.startswith("readonly")
            return f"{'readonly ' if given else ''}{f'({inner})' if nested else inner}[]"
        case "object":
            values = schema.get("additionalProperties")
            inner = _type(values, given=given) if isinstance(values, Mapping) else "unknown"
            return f"Readonly<Record<string, {inner}>>" if given else f"Record<string, {inner}>"
        case None:
            return "unknown"
        case unknown:
            raise ValueError(f"the type {unknown!r} has no counterpart yet; write it here")


def _interface(name: str, schema: Mapping[str, Any]) -> str:
    """A value that the server answers with: every field is there, also those that have their default."""
    lines = [*_doc(schema.get("description", "")), f"export interface {name} {{"]
    optional = {"values"} if name == "ProblemDetails" else set()
    for field, inner in schema["properties"].items():
        lines += _doc(inner.get("description", ""), 2)
        lines.append(f"  {field}{'?' if field in optional else ''}: {_type(inner, given=False)};")
    return "\n".join([*lines, "}\n"])


def _arguments_name(operation: str) -> str:
    return "".join(part.capitalize() for part in operation.split("_")) + "Arguments"


def _arguments(name: str, path: str, _method: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    lines = [*_doc(f"What `{name}` takes."), f"export interface {_arguments_name(name)} {{"]
    for field, (schema, required, doc) in _fields(name, path, operation, schemas).items():
        default = schema.get("default")
        said = doc.replace(" With commas between.", "").replace(" (as text: any)", "")
        lines += _doc(said if default in (None, "") or required else f"{said} Default: {json.dumps(default)}.", 2)
        told = _type(schema, given=True)
        if field in BY_HAND:
            told = BY_HAND[field] + (" | null" if told.endswith("| null") else "")
        lines.append(f"  {field}: {told};" if required else f"  {field}?: {told} | undefined;")
    return "\n".join([*lines, "}\n"])


def _fields(
    name: str, path: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]
) -> dict[str, tuple[Mapping[str, Any], bool, str]]:
    """The arguments of an operation, wherever they stand: schema, whether each must be there, and its words."""
    verb = VERBS.get(name)
    found: dict[str, tuple[Mapping[str, Any], bool, str]] = {}
    for one in operation.get("parameters", ()):
        if one["in"] == "header" or (
            verb is not None and verb.http and verb.http.in_session and one["name"] == "session"
        ):
            continue
        required = f"{{{one['name']}}}" in path
        schema = one["schema"]
        if verb is not None and _may_be_nothing(verb, one["name"]):
            schema = {"anyOf": [schema, {"type": "null"}]}
        found[one["name"]] = (schema, required, one.get("description", ""))
    for content in operation.get("requestBody", {}).get("content", {}).values():
        body = content["schema"]
        for choice in body.get("anyOf", [body]):
            whole = schemas[choice["$ref"].rsplit("/", 1)[1]] if "$ref" in choice else choice
            for field, schema in whole.get("properties", {}).items():
                if field != "user" or verb is None:
                    found[field] = (schema, field in whole.get("required", ()), schema.get("description", ""))
    told = {one["name"].lower() for one in operation.get("parameters", ()) if one["in"] == "header"}
    if "idempotency-key" in told:
        doc = "Any text unique to this write; sent twice with one key, it is one write. Left out, the client makes one."
        found["idempotency_key"] = ({"type": "string"}, False, doc)
    if "if-match" in told:
        found["rev"] = ({"type": "integer"}, False, "Only if it is still at this revision.")
    return found


def _may_be_nothing(verb: Verb, name: str) -> bool:
    """Whether None says something else than leaving it out."""
    parameter = verb.parameters.get(name)
    return parameter is not None and parameter.default is not None and type(None) in get_args(verb.types[name])


def _answer(operation: Mapping[str, Any]) -> str:
    content = operation["responses"].get("200", operation["responses"].get("201", {})).get("content", {})
    return _type(content["application/json"]["schema"], given=False)


# ------------------------------------------------------------------------------------------------ operations


def _table(operations: Mapping[str, tuple[str, str, Mapping[str, Any]]]) -> str:
    lines = [
        *_doc(
            "How an operation is sent: `session` where the scope's session says where it goes, `again` where a second"
            " arrival changes nothing, `keyed` where an idempotency key makes it so."
        ),
        "export interface Operation {",
        '  readonly method: "GET" | "POST" | "DELETE";',
        "  readonly path: string;",
        "  readonly session: boolean;",
        "  readonly again: boolean;",
        "  readonly keyed: boolean;",
        "}\n",
        "/** Every operation of the server, by its id. */",
        "export const OPERATIONS = {",
    ]
    for name, (path, method, operation) in operations.items():
        verb = VERBS.get(name)
        keyed = any(
            one["name"].lower() == HEADERS["idempotency_key"].lower() for one in operation.get("parameters", ())
        )
        session = verb is not None and verb.http is not None and verb.http.in_session
        again = name in AGAIN or (verb.needs == "read" if verb is not None else method == "get")
        values = {"method": method.upper(), "path": path, "session": session, "again": again, "keyed": keyed}
        said = ", ".join(f"{field}: {json.dumps(value)}" for field, value in values.items())
        lines.append(f"  {name}: {{ {said} }},")
    return "\n".join(
        [
            *lines,
            "} as const satisfies Record<string, Operation>;\n",
            "export type OperationId = keyof typeof OPERATIONS;\n",
        ]
    )


def _map(name: str, doc: str, entries: Mapping[str, str]) -> str:
    return "\n".join(
        [*_doc(doc), f"export interface {name} {{", *(f"  {key}: {value};" for key, value in entries.items()), "}\n"]
    )


# ------------------------------------------------------------------------------------------------ errors


def _errors() -> str:
    lines = [HEAD, 'import { MemholdError, named } from "../error.js";\n']
    classes = [one for one in _tree(errors.MemholdError) if one.__name__ not in LOCAL]
    for one in classes:
        parent = next(base for base in one.__mro__[1:] if issubclass(base, errors.MemholdError))
        lines += [*_doc(inspect.getdoc(one) or ""), f"export class {one.__name__} extends {parent.__name__} {{"]
        told = {field: said for field, said in inspect.get_annotations(one).items() if field != "name"}
        lines += [f"  declare readonly {field}: {_annotated(said)};" for field, said in told.items()]
        lines += ["  static {", f'    named(this, "{one.__name__}");', "  }", "}\n"]
    lines += [
        "/** The class of each problem that a server answers with, by the end of its type. */",
        "export const ERRORS: Readonly<Record<string, typeof MemholdError>> = {",
        *(f"  {one.__name__}," for one in classes),
        "};\n",
    ]
    return "\n".join(lines)


def _tree(root: type[errors.MemholdError]) -> Iterator[type[errors.MemholdError]]:
    """The classes below a root, each behind its parent, in the order in which the module has them."""
    for one in vars(errors).values():
        if isinstance(one, type) and root in one.__bases__:
            yield one
            yield from _tree(one)


def _annotated(annotation: str) -> str:
    plain = {"int": "number", "float": "number", "bool": "boolean", "str": "string", "None": "null"}
    parts = [part.strip() for part in annotation.split(" = ", maxsplit=1)[0].split("|")]
    return " | ".join(plain.get(part) or _listed(part) for part in parts)


def _listed(part: str) -> str:
    if part == "FailureClass" or part.startswith("Literal["):
        return "string"
    return "readonly string[]" if part == "Sequence[str]" else "readonly Record<string, unknown>[]"


# ------------------------------------------------------------------------------------------------ words


def _doc(text: str, indent: int = 0) -> list[str]:
    """A comment of JSDoc, in the words of JavaScript."""
    said = re.sub(r"\bNone\b", "null", text.replace("*/", "* /").strip())
    said = re.sub(r"\bTrue\b", "true", re.sub(r"\bFalse\b", "false", said))
    if not said:
        return []
    pad = " " * indent
    paragraphs = [textwrap.wrap(" ".join(one.split()), WIDTH - indent - 3) for one in said.split("\n\n")]
    lines = [line for number, one in enumerate(paragraphs) for line in ([""] if number else []) + one]
    if len(lines) == 1 and len(lines[0]) < WIDTH - indent - 7:
        return [f"{pad}/** {lines[0]} */"]
    return [f"{pad}/**", *(f"{pad} * {line}".rstrip() for line in lines), f"{pad} */"]


if __name__ == "__main__":
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, text in generated().items():
        (TARGET / name).write_text(text, encoding="utf-8")
