"""A route for each declared verb: the request as arguments, the verb, its answer as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from json import JSONDecodeError
from typing import Any

from fastapi import Request, Response

from memhold.faces.bodies import read_long_json
from memhold.faces.rest.frame import (
    Routes,
    caller,
    etag,
    given_key,
    given_rev,
    json_response,
    scope_for,
    stand_for,
)
from memhold.faces.rest.openapi import HEADERS
from memhold.values.answers import Receipt, Remembered
from memhold.values.errors import InvalidInput
from memhold.values.principal import only_readable, principal_of
from memhold.verbs.arguments import from_json, from_text, sendable
from memhold.verbs.checking import check, known_names
from memhold.verbs.declaration import Http, Verb, verbs_of
from memhold.verbs.documents import AsyncDocuments
from memhold.verbs.scope import AsyncScope
from memhold.verbs.store_protocols import AsyncStore
from memhold.verbs.transactions import named_scopes

__all__ = ["asked", "verb_routes"]


_HOMES: tuple[tuple[type, Callable[[AsyncScope], Any]], ...] = (
    (AsyncScope, lambda scope: scope),
    (AsyncDocuments, lambda scope: scope.documents),
)
"""The Protocols whose verbs are routes, and what has them as methods."""


def verb_routes(routes: Routes, memhold: AsyncStore) -> None:
    """The routes of every verb whose route follows from its declaration."""
    for home, reach in _HOMES:
        for verb in verbs_of(home).values():
            if verb.http is not None and verb.http.by_hand is None:
                _add(routes.tagged(verb.http.tag), memhold, verb, verb.http, reach)


def _add(routes: Routes, memhold: AsyncStore, verb: Verb, http: Http, reach: Callable[[AsyncScope], Any]) -> None:
    async def answered(request: Request) -> Response:
        scope, arguments = await asked(memhold, request, verb)
        return await _answer(await getattr(reach(scope), verb.name)(**arguments), http)

    routes.declared(verb, http, answered)


async def asked(memhold: AsyncStore, request: Request, verb: Verb) -> tuple[AsyncScope, dict[str, Any]]:
    """The scope that a call works in, and the verb's arguments: from the path, the query or the body, and the headers.

    The right is asked for before the body is read, in which `user` says for whom a service acts.

    Raises:
        ScopeDenied, InvalidScope, TwoUsers: it may not work there, or not read a scope that it names beside its own;
            see `scope_for`, `acting_for` and `only_readable`.
        InvalidInput: a name is not known, one is missing, or the body cannot be read.
    """
    http = verb.http
    assert http is not None  # noqa: S101 - a route of ours asks
    caller(request, verb.needs)
    in_path = dict(request.path_params)
    known = [name for name in sendable(verb) if name not in in_path and name not in HEADERS]
    query = [
        (name, value)
        for name, value in request.query_params.multi_items()
        if not (http.in_session and name == "session")
    ]
    if http.method == "GET":
        known_names(verb, dict(query), known=known)
        given = from_text(verb, dict(query))
    else:
        if query:
            raise InvalidInput(
                f"{verb.name} takes its arguments in the body, as JSON; the query names {query[0][0]!r:.60}"
            )
        body = dict(await _body(request))
        if "user" in body:
            stand_for(request, body.pop("user"))
        if http.in_session and "session" in body and "session" not in known:
            raise InvalidInput(f"{verb.name} takes the session in the query: {request.url.path}?session=NAME")
        known_names(verb, body, known=known)
        given = from_json(verb, body)
    arguments = {**in_path, **given}
    if "idempotency_key" in verb.parameters:
        arguments["idempotency_key"] = given_key(request.headers.get("idempotency-key"))
    if "rev" in verb.parameters:
        arguments["rev"] = given_rev(request.headers.get("if-match"))
    session = request.query_params.get("session") if http.in_session else None
    scope = scope_for(memhold, request, verb.needs, session)
    if "also" in verb.parameters:
        check(verb, {"also": arguments.get("also", ())})
        only_readable(principal_of(request.scope), named_scopes(scope.scope, arguments.get("also", ())))
    return scope, arguments


async def _body(request: Request) -> Mapping[str, Any]:
    raw = await request.body()
    if not raw.strip():
        return {}
    # What a page of another site can send without asking is never JSON by its content type.
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise InvalidInput("the body is not said to be JSON; send it with Content-Type: application/json")
    try:
        found = await read_long_json(raw)
    except JSONDecodeError as error:
        raise InvalidInput(
            f"the body cannot be read as JSON ({error.msg}); send UTF-8 JSON of moderate depth"
        ) from None
    if not isinstance(found, dict):
        raise InvalidInput("the body is no JSON object; send one, with a name for each argument")
    return found


async def _answer(answer: Any, http: Http) -> Response:
    headers: dict[str, str] = {}
    status = http.status
    if isinstance(answer, Remembered):
        headers = {} if answer.memory is None else etag(answer.memory.rev)
        new = bool(answer.receipt.change_ids) and not answer.receipt.replayed
        status = status if new else 200
    elif isinstance(answer, Receipt) and answer.replayed:
        status = 200
    return await json_response(answer, status, headers)
