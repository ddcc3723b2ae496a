"""The OpenAPI of the REST face: operations as their verbs are declared, answers as JSON Schema, links between them."""

from __future__ import annotations

from typing import Any

from memhold.faces.rest.frame import Routes
from memhold.values.records import MAX_NAME
from memhold.verbs.arguments import sendable
from memhold.verbs.declaration import Http, Verb
from memhold.verbs.json_schema import property_of

__all__ = ["HEADERS", "openapi_of", "operation_of"]

_PROBLEM = {  # what an import found wrong in a file is a Problem too
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "description": "`urn:memhold:problem:` and the class that the library raises."},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What to do."},
        "values": {"type": "object", "description": "The error's attributes."},
    },
}


_MEMORY = (
    *(
        (f"{verb} /v1/memories/{{memory_id}}{rest}", "memory_id", "/memory/id")
        for verb, rest in (("get", ""), ("delete", ""), ("post", "/correct"), ("post", "/pin"))
    ),
    ("get /v1/memories/{item_id}/history", "item_id", "/memory/id"),
)
_MESSAGE = tuple(
    (f"{verb} /v1/messages/{{message_id}}{rest}", "message_id", "/ids/0")
    for verb, rest in (("get", ""), ("delete", ""), ("get", "/history"), ("get", "/text"))
)


_UNDO = "post /v1/changes/{change_id}/undo"


_LINKS = (
    ("/v1/memories", "post", (*_MEMORY, (_UNDO, "change_id", "/receipt/change_ids/0"))),
    ("/v1/messages", "post", (*_MESSAGE, (_UNDO, "change_id", "/change_ids/0"))),
    ("/v1/forget", "post", ((_UNDO, "change_id", "/change_id"),)),
    (_UNDO.split(" ")[1], "post", ((_UNDO, "change_id", "/change_ids/0"),)),
)
"""Which part of an answer is which parameter of which operation."""


_SUCCESS = {200: "It was there already, or nothing was new.", 201: "Written, and durable."}


def openapi_of(routes: Routes) -> dict[str, Any]:
    """The OpenAPI of the application, with the answers as JSON Schema."""
    from fastapi.openapi.utils import get_openapi
    from pydantic import TypeAdapter

    app = routes.app
    made: dict[str, Any] = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes, tags=app.openapi_tags
    )
    for (path, method), (verb, http) in routes.operations.items():
        made["paths"][path][method] |= operation_of(verb, http)
    for path, methods in made["paths"].items():
        for method, operation in methods.items():
            # What looks after the namespace asks for no user.
            if (path, method) not in routes.operations and "admin" not in operation["tags"]:
                operation.setdefault("parameters", []).extend([_ON_BEHALF, _NAMESPACE])
    answers = {
        place: answer.types["return"] if isinstance(answer, Verb) else answer
        for place, (answer, _) in routes.answers.items()
    }
    adapters: list[Any] = [(place, "serialization", TypeAdapter(answer)) for place, answer in answers.items()]
    refs, shared = TypeAdapter.json_schemas(adapters, ref_template="#/components/schemas/{model}")
    parts = made.setdefault("components", {}).setdefault("schemas", {})
    parts |= shared.get("$defs", {}) | {"ProblemDetails": _PROBLEM}
    for (path, method), (_, status) in routes.answers.items():
        operation = made["paths"][path][method]
        content = {"application/json": {"schema": refs[(path, method), "serialization"]}}
        for code in {status, 200} if status == 201 else {status}:
            spoken = operation["responses"].setdefault(str(code), {"description": _SUCCESS[code]})
            spoken["content"] = {
                **content,
                **{k: v for k, v in spoken.get("content", {}).items() if k != "application/json"},
            }
    made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    made["security"] = [{"token": []}]
    _link(made["paths"])
    return made


def _link(paths: dict[str, Any]) -> None:
    """Say which ids of an answer other operations take."""
    for path, method, taken in _LINKS:
        for code in ("200", "201"):
            answer = paths[path][method]["responses"].get(code)
            if answer is None:
                continue
            for target, name, expression in taken:
                verb, place = target.split(" ")
                operation = paths[place][verb]["operationId"]
                answer.setdefault("links", {})[operation] = {
                    "operationId": operation,
                    "parameters": {name: f"$response.body#{expression}"},
                }


HEADERS = {"idempotency_key": "Idempotency-Key", "rev": "If-Match"}


_SESSION = {
    "name": "session",
    "in": "query",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_NAME},
    "description": "Where writes go, and whose window is continued; absent: the unnamed session.",
}


_ON_BEHALF = {
    "name": "X-Memhold-User",
    "in": "header",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_NAME},
    "description": "For which user it is, where the token has the right `act`; any other token's own user.",
}


_NAMESPACE = {
    "name": "X-Memhold-Namespace",
    "in": "header",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_NAME},
    "description": "The memory of which project it is, as `project/…`, where the token has the right `projects`.",
}


_USER = {"type": "string", "minLength": 1, "maxLength": MAX_NAME, "description": "The same as X-Memhold-User."}


_ONE_MESSAGE = {
    "type": "object",
    "required": ["role"],
    "properties": {"role": {"enum": ["system", "developer", "user", "assistant", "tool", "function"]}},
}


_MESSAGES = {"type": "array", "items": _ONE_MESSAGE, "maxItems": 10_000}
_TURNS = {"type": "array", "items": _ONE_MESSAGE}
"""A conversation that a question is part of: its last turns are read, and the bytes of the body bound it."""


def operation_of(verb: Verb, http: Http) -> dict[str, Any]:
    """What OpenAPI says of the verb's route: its words, its parameters and its body."""
    in_path = [name for name in verb.parameters if f"{{{name}}}" in http.path]
    rest = [name for name in sendable(verb) if name not in in_path and name not in HEADERS]
    parameters: list[dict[str, Any]] = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string"},
            "description": verb.parameters[name].doc,
        }
        for name in in_path
    ]
    parameters += [
        {"name": HEADERS[name], "in": "header", "schema": {"type": "string", "minLength": 1, "maxLength": 512},
         "description": verb.parameters[name].doc if name != "rev" else 'The ETag that was read, such as "3".'}
        for name in verb.parameters if name in HEADERS
    ]  # fmt: skip
    parameters += [_ON_BEHALF, _NAMESPACE, *([_SESSION] if http.in_session else [])]
    said: dict[str, Any] = {
        "operationId": http.operation or verb.name,
        "summary": verb.summary.split(". ")[0].rstrip("."),
        "description": verb.doc,
        "tags": [http.tag],
    }
    if http.method == "GET":
        said["parameters"] = [*parameters, *(_in_query(verb, name) for name in rest)]
        return said
    return {**said, "parameters": parameters, **_request_body(verb, http, rest)}


def _in_query(verb: Verb, name: str) -> dict[str, Any]:
    schema = property_of(verb, verb.parameters[name], nullable=False)
    said = schema.pop("description", "")
    if schema.get("type") == "array":
        schema.pop("default", None)
        said = f"{said} With commas between."
        return {"name": name, "in": "query", "schema": schema, "style": "form", "explode": False, "description": said}
    return {
        "name": name,
        "in": "query",
        "required": verb.parameters[name].required,
        "schema": schema,
        "description": said,
    }


def _request_body(verb: Verb, http: Http, names: list[str]) -> dict[str, Any]:
    properties = {name: property_of(verb, verb.parameters[name]) for name in names}
    if "messages" in properties:
        may_lack = not verb.parameters["messages"].required
        several = _TURNS if verb.name == "recall" else _MESSAGES
        kinds = [_ONE_MESSAGE, several, *([{"type": "null"}] if may_lack else [])]
        properties["messages"] = {"anyOf": kinds, "description": verb.parameters["messages"].doc}
    properties["user"] = _USER
    required = [name for name in names if verb.parameters[name].required]
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    schema |= {"required": required} if required else {}
    content: dict[str, Any] = {"schema": schema}
    examples = http.examples or ({} if required else {"for_a_user": {"user": "alice"}})
    if examples:
        content["examples"] = {
            name: {"summary": name.replace("_", " "), "value": value} for name, value in examples.items()
        }
    return {"requestBody": {"required": bool(required), "content": {"application/json": content}}}
