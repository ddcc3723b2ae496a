"""What the routes share: the caller's scope and rights, headers, answers as JSON, and what OpenAPI says of problems."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from fastapi import Depends, FastAPI, Header, Query, Request, Response
from fastapi.routing import APIRoute

from memhold.faces.bodies import Plain
from memhold.faces.problems import MEDIA_TYPE
from memhold.faces.remote.wire import ACTOR
from memhold.ports.idempotency import checked_key
from memhold.values.errors import InvalidInput, RevisionConflict, ScopeDenied
from memhold.values.hints import did_you_mean
from memhold.values.jsonable import body_json, to_jsonable
from memhold.values.origins import acting
from memhold.values.principal import PRINCIPAL, Principal, Right, acting_for, principal_of
from memhold.values.records import MAX_NAME
from memhold.verbs.beside_loop import beside
from memhold.verbs.declaration import Http, Verb
from memhold.verbs.scope import AsyncScope
from memhold.verbs.store_protocols import AsyncStore

__all__ = [
    "IdempotencyKey",
    "IfMatch",
    "Routes",
    "SessionName",
    "caller",
    "etag",
    "example",
    "given_key",
    "given_rev",
    "json_response",
    "keeper",
    "listed",
    "scope_for",
    "stand_for",
]

_SAYS = {
    400: "It cannot be read.",
    401: "No token, or one that does not count.",
    403: "The token lacks the right.",
    404: "No such id in this scope.",
    409: "The world is not as the call assumed.",
    410: "It was forgotten for good.",
    412: "The memory has changed since that revision.",
    413: "Over a limit.",
    422: "It cannot be carried out as it was written.",
    429: "Too many calls.",
    502: "A model failed.",
    503: "The store could not do its work; nothing was acknowledged.",
    507: "No room on the disk.",
}
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"description": line, "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}}}
    for status, line in _SAYS.items()
}
F = TypeVar("F", bound=Callable[..., Any])

SessionName = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=MAX_NAME,
        description="Where writes go, and whose window is continued; absent: the unnamed session.",
    ),
]
IdempotencyKey = Annotated[
    str | None, Header(description="The same write sent twice with one key is one write.", max_length=2048)
]
IfMatch = Annotated[
    str | None, Header(description='The ETag that was read, such as "3": change it only if it is still that.')
]


@dataclass(frozen=True, slots=True)
class Routes:
    """Where operations are added to an application, under `/v1`, with the problems that any of them may answer.

    What an operation answers is only said here, and read when somebody asks for the OpenAPI: the answers are the
    library's own values, written by `json_response`, and building a model of each would triple the time to start.
    """

    app: FastAPI
    tag: str
    answers: dict[tuple[str, str], tuple[Any, int]] = field(default_factory=dict)
    operations: dict[tuple[str, str], tuple[Verb, Http]] = field(default_factory=dict)

    def tagged(self, tag: str) -> Routes:
        """The same application, under another tag."""
        return Routes(self.app, tag, self.answers, self.operations)

    def get(self, path: str, *, answer: Any, **said: Any) -> Callable[[F], F]:
        """An operation that reads; `answer` is the type of the value that it gives."""
        return self._route("GET", path, answer, said)

    def post(self, path: str, *, answer: Any, **said: Any) -> Callable[[F], F]:
        """An operation with a body, or that changes something."""
        return self._route("POST", path, answer, said)

    def delete(self, path: str, *, answer: Any, **said: Any) -> Callable[[F], F]:
        """An operation that forgets."""
        return self._route("DELETE", path, answer, said)

    def declared(
        self, verb: Verb, http: Http, run: Callable[[Request], Awaitable[Response]], answer: Any = None
    ) -> None:
        """The operation of a declared verb; what OpenAPI says of it follows from the declaration.

        `answer` is the type of what it gives, where that is not the verb's own.
        """
        where = f"/v1{http.path}"
        self.operations[where, http.method.lower()] = (verb, http)
        self.answers[where, http.method.lower()] = (answer or verb, http.status)
        self.app.router.add_api_route(
            where, run, methods=[http.method], tags=[http.tag], responses=_PROBLEMS, response_model=None,
            status_code=http.status, operation_id=http.operation or verb.name, route_class_override=Plain,
        )  # fmt: skip

    def _route(self, method: str, path: str, answer: Any, said: dict[str, Any]) -> Callable[[F], F]:
        status = said.get("status_code", 200)
        where = f"/v1{path}"
        if answer is not None:
            self.answers[where, method.lower()] = (answer, status)
        responses = {**_PROBLEMS, **said.pop("responses", {})}

        names: set[str] = set()
        bodiless: list[str] = []
        reads = said.pop("reads", False) or "openapi_extra" in said

        def added(run: F) -> F:
            self.app.add_api_route(
                where, run, methods=[method], tags=[self.tag], responses=responses, response_model=None,
                dependencies=[Depends(_only(names, bodiless))], **said
            )  # fmt: skip
            route = self.app.routes[-1]
            assert isinstance(route, APIRoute)  # noqa: S101 - the one just added
            names.update(one.alias for one in route.dependant.query_params)
            if route.body_field is None and not reads:
                bodiless.append(where)
            return run

        return added


def _only(names: set[str], bodiless: list[str]) -> Callable[[Request], Awaitable[None]]:
    """Refuses what a query says beyond these names, and what a body says where none is read.

    A filter that is passed over widens what is answered or erased, and a `user` would be taken for another.
    """

    async def check(request: Request) -> None:
        if unknown := request.query_params.keys() - names:
            known, hint = ", ".join(sorted(names)) or "none", did_you_mean(min(unknown), names)
            raise InvalidInput(f"the parameter {min(unknown)!r:.60} is not known here{hint}; known are: {known}")
        if bodiless and (await request.body()).strip() not in {b"", b"{}"}:
            raise InvalidInput("this takes no body; leave it out, and name a user in the header X-Memhold-User")

    return check


def caller(request: Request, right: Right) -> Principal:
    """Who asks, where it may.

    Raises:
        ScopeDenied: its token does not carry the right.
    """
    principal = principal_of(request.scope)
    if right not in principal.rights:
        raise ScopeDenied(f"this token may not {right}; use one that was made with --can {right}", right=right)
    return principal


def keeper(request: Request, instead: str) -> Principal:
    """Who asks, where it is whoever runs the store: what is asked is of every namespace, and a token is of one.

    Raises:
        ScopeDenied: it holds a token, or may not look after the store; `instead` says what to run where the store is.
    """
    principal = caller(request, "admin")
    if not principal.runs_store:
        raise ScopeDenied(
            f"this is of every namespace, and a token is of one: run '{instead}' where the store is", right="admin"
        )
    return principal


def scope_for(memhold: AsyncStore, request: Request, right: Right, session: str | None = None) -> AsyncScope:
    """The verbs of the caller's scope, where it has the right.

    Raises:
        ScopeDenied: it has not, or it names an actor that is more than its token's (the header `Memhold-Actor`).
        InvalidScope: the session is no name, or the actor is none; or it is a service's, and names no user.
    """
    principal = caller(request, right)
    own, asked = principal.whose, _header_text(request.headers.get(ACTOR))
    if asked is not None and own.actor == "user" and asked.startswith("user:") and "act" not in principal.rights:
        raise ScopeDenied("a name behind 'user' is a service's; leave it out, or make the token with that actor")
    actor = acting(own.actor, asked)
    return memhold.scope(namespace=own.namespace, user=own.user, agent=own.agent, session=session, actor=actor)


def stand_for(request: Request, user: object) -> None:
    """Let the request act for a user that its body names.

    Raises:
        InvalidScope, ScopeDenied, TwoUsers: see `acting_for`.
    """
    request.scope[PRINCIPAL] = acting_for(principal_of(request.scope), user)


def _header_text(given: str | None) -> str | None:
    """A header that carries UTF-8.

    Raises:
        InvalidInput: it is not UTF-8.
    """
    try:
        return None if given is None else given.encode("latin-1").decode("utf-8")
    except UnicodeError:
        raise InvalidInput(f"{ACTOR} is not UTF-8; send ASCII or UTF-8") from None


async def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A value of the library as its plain JSON; whatever text it holds, the bytes are valid UTF-8.

    A long one is written on a thread, in pieces: writing it whole would let nothing else run.
    """
    body = await beside(lambda: b"".join(_pieces(to_jsonable(value), 2)), value)
    return Response(
        body, status, headers={"cache-control": "no-store", **(headers or {})}, media_type="application/json"
    )


def _pieces(plain: Any, depth: int) -> Iterator[bytes]:
    """The JSON of plain values; to that depth each value of an object or a list is a piece of its own."""
    if not depth or not plain or not isinstance(plain, dict | list):
        yield body_json(plain).encode()
        return
    named = isinstance(plain, dict)
    mark, end = (b"{", b"}") if named else (b"[", b"]")
    for one in plain:
        yield mark + (body_json({one: 0})[1:-2].encode() if named else b"")
        yield from _pieces(plain[one] if named else one, depth - 1)
        mark = b","
    yield end


def etag(rev: int) -> dict[str, str]:
    """The header that names a memory's revision."""
    return {"etag": f'"{rev}"'}


def given_rev(if_match: str | None) -> int | None:
    """The revision that an `If-Match` asks for; None where any will do.

    Raises:
        RevisionConflict: it is weak: it never matches (RFC 9110, section 13.1.1).
        InvalidInput: it is no ETag of ours.
    """
    if if_match is None or if_match.strip() == "*":
        return None
    text = if_match.strip()
    bare = text.removeprefix("W/").strip('"')
    if not (bare.isascii() and bare.isdecimal() and len(bare) < 100 and text.endswith('"')):
        raise InvalidInput('If-Match is no ETag of a memory; pass the one that was read, such as "3"')
    if text.startswith("W/"):
        raise RevisionConflict("a weak ETag never matches; pass it as it was given", expected=int(bare), actual=0)
    return int(bare)


def given_key(header: str | None) -> str | None:
    """The idempotency key of a header, which carries UTF-8.

    Raises:
        InvalidInput: it is not UTF-8, empty, or longer than 512 characters.
    """
    if header is None:
        return None
    try:
        return checked_key(header.encode("latin-1").decode("utf-8"))
    except UnicodeError:
        raise InvalidInput("the Idempotency-Key is not UTF-8; send ASCII or UTF-8") from None


def example(**examples: Any) -> dict[str, Any]:
    """Examples of a body for OpenAPI, by name."""
    return {name: {"summary": name.replace("_", " "), "value": value} for name, value in examples.items()}


def listed(text: str | None, allowed: Sequence[str], name: str) -> tuple[str, ...] | None:
    """A list in a query: names with commas between; empty is an empty list."""
    if text is None:
        return None
    found = tuple(part for part in text.split(",") if part)
    if unknown := set(found) - set(allowed):
        raise InvalidInput(f"{name} has {min(unknown)!r:.40}; known are {', '.join(allowed)}")
    return found
