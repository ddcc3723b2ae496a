"""The one door of a server: who asks, whether the request is well addressed, and how much it may ask.

`Guard` stands in front of the whole application, REST, `/mcp` and everything that comes later, so no route can forget
it. Nothing passes without a principal but a few paths that tell nothing of anybody.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from hmac import compare_digest
from time import monotonic
from typing import Any, Final, Protocol
from uuid import uuid4

from memhold.faces.problems import PREFIX, Problem, problem_of, send_problem
from memhold.faces.rest.docs_pages import DOCS, FIRST
from memhold.faces.ui.browser import OPEN_UI_PATHS
from memhold.server.guard_rules import (
    WHOLE,
    BodyLimits,
    Failures,
    Rate,
    RateLimits,
    address_of,
    bearer_of,
    host_fault,
    is_loopback,
    origin_fault,
    request_id_of,
)
from memhold.server.request_cost import MOST_VALUES, Cost, JsonValues, metered
from memhold.server.resource import Resource
from memhold.server.shared_state import SharedState
from memhold.values.errors import (
    InvalidScope,
    MemholdError,
    RateLimited,
    ScopeDenied,
    ServerUnreachable,
    TwoUsers,
    Unauthenticated,
)
from memhold.values.principal import (
    NAMESPACE,
    NEIGHBOUR,
    ON_BEHALF,
    PRINCIPAL,
    STANDS,
    Principal,
    acting_for,
    in_namespace,
)

__all__ = ["OPEN_PATHS", "REQUEST_ID", "Authenticate", "Guard", "GuardRules"]

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

log = logging.getLogger("memhold.guard")

OPEN_PATHS: Final = frozenset({"/healthz", "/readyz", FIRST, DOCS}) | OPEN_UI_PATHS
"""Served to anybody, beside the metadata of RFC 9728: that a server is there, how to come in, nothing of anybody."""

REQUEST_ID: Final = "memhold.request_id"
"""The key of the ASGI scope under which the guard leaves the request's id."""

MIB: Final = 1024 * 1024
_CHARGED: Final = "memhold.charged"
"""The key under which the guard keeps whose budgets a request is taken from."""
_READ: Final = "memhold.headers"
"""The key under which the guard keeps the headers that it reads, by name in small letters."""
_ASK_FOR_ONE = "send a token: Authorization: Bearer mh_… (Memhold's own clients take it from MEMHOLD_TOKEN)"
_METRICS = "/metrics"
_FOR_A_FILE: Final = 10
"""How many times as long a file may take as another request."""
_SAFE_HEADERS: Final = {
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cache-control": b"no-store",
    b"cross-origin-resource-policy": b"same-origin",
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
}
_HSTS = (b"strict-transport-security", b"max-age=31536000")


class Authenticate(Protocol):
    """Turns a bearer token into a principal; None where it does not count, for whatever reason."""

    async def __call__(self, bearer: str) -> Principal | None:
        """The principal of a token.

        Raises:
            MemholdError: whether it counts could not be found out.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardRules:
    """What a guard lets in.

    Attributes:
        hosts: names that a `Host` header may have (`allowed_hosts`).
        origins: origins of browsers that are served beside the server's own, such as `https://app.example`.
        bodies: largest body of a request, whole or in chunks, by path.
        timeout: seconds until the answer must begin; a stream may then go on.
        rate: how much one token may ask.
        bytes_rate: how much one token may send, in MiB; the burst is what a pause allows.
        work_rate: how much processor time one token may take, in seconds.
        failures: how many tokens that do not count one address may try.
        tls: whether the server itself speaks TLS.
        behind_proxy: whether a proxy stands in front: its address is then nobody's.
        resource: what is told of the authorization servers (RFC 9728); None without OAuth.
        local: who asks on loopback where there are no tokens; None: nobody.
        local_token: what a request of the local principal must bring; empty: nothing.
    """

    hosts: frozenset[str]
    origins: frozenset[str] = frozenset()
    bodies: BodyLimits = field(default_factory=BodyLimits)
    timeout: float = 60.0
    rate: Rate = field(default_factory=Rate)
    bytes_rate: Rate = field(default_factory=lambda: Rate(per_second=16.0, burst=1024))
    work_rate: Rate = field(default_factory=lambda: Rate(per_second=0.5, burst=30))
    failures: Rate = field(default_factory=lambda: Rate(per_second=1.0, burst=20))
    tls: bool = False
    behind_proxy: bool = False
    resource: Resource | None = None
    local: Principal | None = None
    local_token: str = field(default="", repr=False)


@dataclass(eq=False)
class Guard:
    """ASGI middleware around the whole application; see `docs/identity.md` for what it refuses.

    What it lets through carries the `Principal` in the ASGI scope (`principal_of`) and the request's id under
    `REQUEST_ID`. Identity comes from the `Authorization` header and from nowhere else; for which user a service acts
    it says in `X-Memhold-User`. What it refuses is answered as a problem (RFC 9457). No token is ever logged. There is
    no CORS: no page of another site can read an answer. `stays_open` says whether requests without a token are still
    the local principal's;
    `refused` is told which budget was spent where a request is refused for one. With `state` the processes of a server
    share what they keep of callers.
    """

    app: App
    _: KW_ONLY
    rules: GuardRules
    authenticate: Authenticate
    stays_open: Callable[[], Awaitable[bool]] | None = None
    refused: Callable[[str], None] = lambda _: None
    state: SharedState | None = None
    clock: Callable[[], float] = monotonic
    new_id: Callable[[], str] = lambda: uuid4().hex

    def __post_init__(self) -> None:
        rules, clock = self.rules, self.clock
        self._state = SharedState.alone(clock) if self.state is None else self.state
        table = self._state.table
        self._limits = RateLimits(rules.rate, clock, table("requests"))
        self._bytes = RateLimits(rules.bytes_rate, clock, table("bytes"))
        self._work = RateLimits(rules.work_rate, clock, table("work"))
        self._failures = Failures(rules.failures, clock, table("failures"), table("good"))

    @property
    def open_to_this_machine(self) -> bool:
        """Whether the local principal's requests are served: there are no tokens yet."""
        return self.rules.local is not None and not self._state.shut

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve one connection: requests are guarded, start and stop pass, web sockets are refused."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self._serve(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _serve(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        scope[_READ] = _read(scope["headers"])
        request_id = request_id_of(_header(scope, b"x-request-id"), self.new_id)
        answer = _Answer(send, request_id, tls=self.rules.tls, scope=scope)
        try:
            problem = self._ill_addressed(scope) or await self._admit(scope)
        except ServerUnreachable as error:
            problem = _problem("ServerUnreachable", 503, "Tokens cannot be checked now.", str(error))
        except MemholdError as error:
            problem = problem_of(error)
        except Exception as error:
            log.exception("request %s failed: %s", request_id, type(error).__name__, exc_info=_shape(error))
            problem = _problem("MemholdError", 500, "The server failed.", "The server failed.")
        if problem is not None:
            log.info("request %s was refused: %s", request_id, problem.type.removeprefix(PREFIX))
            await answer.refuse(problem, self._challenge(scope, problem))
        elif self.rules.resource is not None and Resource.is_metadata(scope["path"]):
            await self._tell_metadata(scope, answer)
        else:
            scope[REQUEST_ID] = request_id
            await self._pass_on(scope, receive, answer)

    def _ill_addressed(self, scope: Mapping[str, Any]) -> Problem | None:
        hosts = _header(scope, b"host")
        if (fault := host_fault(hosts, self.rules.hosts)) is not None:
            return _problem("WrongHost", 421, "The request is not addressed to this server.", fault)
        fault = origin_fault(
            _header(scope, b"origin"),
            host=hosts[0],
            allowed=self.rules.origins,
            site=next(iter(_header(scope, b"sec-fetch-site")), None),
            navigates=scope["method"] == "GET" and "navigate" in _header(scope, b"sec-fetch-mode"),
        )
        if fault is not None:
            return _problem("WrongOrigin", 403, "The request comes from another site.", fault)
        lengths = _header(scope, b"content-length")
        if any(not length.isascii() or not length.isdigit() for length in lengths) or len(set(lengths)) > 1:
            return _problem("BadRequest", 400, "The request is malformed.", "Content-Length is not one number")
        if lengths and int(lengths[0]) > self._most(scope):
            return self._too_large(scope, int(lengths[0]))
        return None

    async def _admit(self, scope: MutableMapping[str, Any]) -> Problem | None:
        """Find the principal and put it into the ASGI scope, unless the path is open."""
        # What a client wrote never gets here under our key, whatever stands in front of us put into the scope.
        for name in (PRINCIPAL, STANDS, NEIGHBOUR, _CHARGED):
            scope.pop(name, None)
        path = scope["path"]
        scope[NEIGHBOUR] = self._is_neighbour(scope)
        if path in OPEN_PATHS or (self.rules.resource is not None and Resource.is_metadata(path)):
            return None
        if path == _METRICS and scope[NEIGHBOUR]:
            return None
        principal = await self._asking(scope)
        charged = [principal.budget]
        self._within_budget(principal.budget)

        def naming(acting: Principal) -> None:
            if acting.budget not in charged:
                self._within_budget(acting.budget)
                charged.append(acting.budget)

        if path == _METRICS and "admin" not in principal.rights:
            raise ScopeDenied("metrics are for tokens with the right 'admin'", right="admin")
        scope[PRINCIPAL] = replace(principal, naming=naming)
        scope[_CHARGED] = charged
        scope[STANDS] = partial(self._stands, scope, principal)
        return None

    async def _asking(self, scope: Mapping[str, Any]) -> Principal:
        """Who asks; an address that tried too many tokens which do not count is not looked at for a while."""
        presented = _header(scope, b"authorization")
        if not presented:
            return await self._principal(scope)
        client = (scope.get("client") or (None,))[0]
        forwarded = _header(scope, b"x-forwarded-for")
        address = address_of(client, forwarded, behind_proxy=self.rules.behind_proxy)
        if (wait := self._failures.wait(address, presented[0])) > 0:
            self.refused("failures")
            said = f"too many tokens that do not count came from this address; try again in {wait:.2f} seconds"
            raise RateLimited(said, retry_after=wait)
        try:
            principal = await self._principal(scope)
        except Unauthenticated:
            self._failures.failed(address, presented[0])
            raise
        self._failures.counted(presented[0])
        return principal

    def _within_budget(self, token: str) -> None:
        """Take a request from what a token may ask; what its requests cost is charged when it is known.

        Raises:
            RateLimited: there is nothing left.
        """
        for limits, budget, what in (
            (self._bytes, "bytes", "too many bytes"),
            (self._work, "work", "too much work"),
            (self._limits, "requests", "too many requests"),
        ):
            wait = limits.take(token) if limits is self._limits else limits.wait(token)
            if wait > 0:
                self.refused(budget)
                raise RateLimited(f"{what}; the next request may come in {wait:.2f} seconds", retry_after=wait)

    async def _stands(self, scope: Mapping[str, Any], principal: Principal) -> bool:
        # Whoever cannot be told now is let go of as well: a client comes back.
        try:
            return await self._principal(scope) == principal
        except MemholdError:
            return False

    def _is_neighbour(self, scope: Mapping[str, Any]) -> bool:
        # Behind a proxy everybody has the proxy's address.
        client = scope.get("client")
        return not self.rules.behind_proxy and client is not None and is_loopback(client[0])

    async def _principal(self, scope: Mapping[str, Any]) -> Principal:
        """Whose token it is, acting for the user and in the project that the request names."""
        named, principal = _named(scope, ON_BEHALF, "X-Memhold-User"), await self._token_holder(scope)
        principal = principal if named is None else acting_for(principal, named)
        place = _named(scope, NAMESPACE, "X-Memhold-Namespace")
        return principal if place is None else in_namespace(principal, place)

    async def _token_holder(self, scope: Mapping[str, Any]) -> Principal:
        try:
            bearer = bearer_of(_header(scope, b"authorization"))
        except ValueError as error:
            raise Unauthenticated(str(error)) from None
        local = self.rules.local_token
        if (bearer is None and not local) or (local and bearer is not None and compare_digest(bearer, local)):
            return await self._nobody()
        if bearer is None:
            raise Unauthenticated(_ASK_FOR_ONE)
        principal = await self.authenticate(bearer)
        if principal is None:
            raise Unauthenticated("the token does not count; ask whoever runs this server for another")
        return principal

    async def _nobody(self) -> Principal:
        """Who a request without a token is. A door that was shut stays shut: the first token ends it for good."""
        if self.rules.local is not None and self.stays_open is not None and not await self.stays_open():
            self._state.shut_the_door()
        if self.rules.local is None or self._state.shut:
            raise Unauthenticated(_ASK_FOR_ONE)
        return self.rules.local

    def _challenge(self, scope: Mapping[str, Any], problem: Problem) -> Mapping[str, str]:
        """RFC 6750 and RFC 9728: how a client that was refused finds out where to get a token."""
        if problem.status not in {401, 403} or problem.type == f"{PREFIX}WrongOrigin":
            return {}
        parts = ['realm="memhold"']
        if problem.status == 403:
            parts.append('error="insufficient_scope"')
        elif _header(scope, b"authorization"):
            parts.append('error="invalid_token"')
        if self.rules.resource is not None:
            parts.append(f'resource_metadata="{self.rules.resource.metadata_url(scope["path"])}"')
        return {"www-authenticate": "Bearer " + ", ".join(parts)}

    async def _tell_metadata(self, scope: Mapping[str, Any], answer: _Answer) -> None:
        resource = self.rules.resource
        assert resource is not None  # noqa: S101 - the caller looked
        body = json.dumps(resource.metadata(scope["path"])).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await answer.send({"type": "http.response.start", "status": 200, "headers": headers})
        await answer.send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    async def _pass_on(self, scope: MutableMapping[str, Any], receive: Receive, answer: _Answer) -> None:
        body = _Body(receive, self._most(scope), values=scope["path"] not in self.rules.bodies.files)
        cost = Cost()
        try:
            await metered(self._served(scope, body, answer), cost)
        finally:
            # What a body names counts for the service that sent it too: it was let in before anybody was named.
            for budget in scope.get(_CHARGED, ()):
                self._bytes.charge(budget, body.size / MIB)
                self._work.charge(budget, cost.seconds)

    async def _served(self, scope: MutableMapping[str, Any], body: _Body, answer: _Answer) -> None:
        def too_large() -> Problem:
            return self._too_many_values() if body.crowded else self._too_large(scope)

        # A file is taken in part by part, and nobody else waits for it.
        timeout = self.rules.timeout * (_FOR_A_FILE if scope["path"] in self.rules.bodies.files else 1)
        try:
            async with asyncio.timeout(timeout) as deadline:
                await self.app(scope, body.receive, answer.until(deadline, body, too_large))
        except TimeoutError:
            if answer.started:
                raise
            late = "the body did not arrive in time" if not body.whole else f"no answer within {timeout:g} seconds"
            status = 503 if body.whole else 408
            await answer.refuse(_problem("TooSlow", status, "The request took too long.", late))
        except Exception as error:
            if answer.started:
                raise
            if body.over:
                return await answer.refuse(too_large())
            log.exception("request %s failed: %s", answer.request_id, type(error).__name__, exc_info=_shape(error))
            await answer.refuse(_problem("MemholdError", 500, "The server failed.", "The server failed."))
        else:
            if body.over and not answer.started:
                await answer.refuse(too_large())

    def _most(self, scope: Mapping[str, Any]) -> int:
        return self.rules.bodies.of(scope["method"], scope["path"])

    def _too_many_values(self) -> Problem:
        detail = f"the body holds over {MOST_VALUES:,} JSON values; send it in several requests"
        title = "Something is over a documented limit."
        return _problem("TooLarge", 413, title, detail, size=MOST_VALUES + 1, limit=MOST_VALUES)

    def _too_large(self, scope: Mapping[str, Any], size: int | None = None) -> Problem:
        """`size` is what was announced; of a body in chunks only that it is more is known."""
        limit = self._most(scope)
        size = limit + 1 if size is None else size
        detail = f"the body is over the limit of {limit:,} bytes; send it in several requests"
        return _problem("TooLarge", 413, "Something is over a documented limit.", detail, size=size, limit=limit)


class _Body:
    """What a client sends, up to a limit; past it the application sees a client that has gone."""

    def __init__(self, receive: Receive, limit: int, *, values: bool) -> None:
        self._receive = receive
        self._limit = limit
        self._values = JsonValues() if values else None
        self.size = 0
        self.over = False
        self.whole = False

    @property
    def crowded(self) -> bool:
        """Whether it has more JSON values than are read at once, such as a million names."""
        return self._values is not None and self._values.count > MOST_VALUES

    async def receive(self) -> Message:
        if self.over:
            return {"type": "http.disconnect"}
        message = await self._receive()
        if message["type"] == "http.request":
            piece = message.get("body", b"")
            self.size += len(piece)
            self.whole = not message.get("more_body", False)
            if self._values is not None and self.size <= self._limit:
                self._values.add(piece)
            if self.size > self._limit or self.crowded:
                self.over = True
                return {"type": "http.disconnect"}
        return message


class _Answer:
    """What goes back: every answer carries the request's id and the headers that keep browsers safe.

    One that does not wait for the request's body says that the connection ends with it: nobody reads on.
    """

    def __init__(self, send: Send, request_id: str, *, tls: bool, scope: Mapping[str, Any]) -> None:
        self._send = send
        self._tls = tls
        self._scope = scope
        self.request_id = request_id
        self.started = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            headers = [(name, value) for name, value in message.get("headers", ()) if name.lower() != b"x-request-id"]
            there = {name.lower() for name, _ in headers}
            extra = [(name, value) for name, value in _SAFE_HEADERS.items() if name not in there]
            secure = [_HSTS] if self._tls else []
            if not self._scope.get(WHOLE, _is_whole)() and b"connection" not in there:
                extra.append((b"connection", b"close"))
            own = (b"x-request-id", self.request_id.encode("ascii"))
            message = {**message, "headers": [*headers, *extra, *secure, own]}
        await self._send(message)

    async def refuse(self, problem: Problem, headers: Mapping[str, str] | None = None) -> None:
        await send_problem(self.send, problem, {**(headers or {}), **_goodbye(self._scope)})

    def until(self, deadline: asyncio.Timeout, body: _Body, too_large: Callable[[], Problem]) -> Send:
        """The application's `send`: it ends the deadline, and gives way to a refusal where the body was over."""
        dropped = False

        async def send(message: Message) -> None:
            nonlocal dropped
            if dropped:
                return
            if message["type"] == "http.response.start":
                deadline.reschedule(None)
                if body.over:
                    dropped = True
                    await self.refuse(too_large())
                    return
            await self.send(message)

        return send


def _header(scope: Mapping[str, Any], name: bytes) -> Sequence[str]:
    read: Mapping[bytes, Sequence[str]] = scope[_READ]
    return read.get(name, ())


def _named(scope: Mapping[str, Any], header: str, shown: str) -> str | None:
    """The name that a header brings, where it is there."""
    found = _header(scope, header.encode())
    if len(found) > 1:
        raise TwoUsers(f"there must be one {shown} header")
    try:
        return found[0].strip(" \t").encode("latin-1").decode("utf-8") if found else None
    except UnicodeError:
        raise InvalidScope(f"{shown} is not UTF-8; send ASCII or UTF-8") from None


def _read(headers: Iterable[tuple[bytes, bytes]]) -> Mapping[bytes, Sequence[str]]:
    found: dict[bytes, list[str]] = {}
    for key, value in headers:
        found.setdefault(key.lower(), []).append(value.decode("latin-1"))
    return found


def _is_whole() -> bool:
    """Where the server does not say how much has come, an application that answers has read what it wanted."""
    return True


def _goodbye(scope: Mapping[str, Any]) -> Mapping[str, str]:
    """The connection ends where what was refused has a body that has not come: nobody reads on for it."""
    whole: Callable[[], bool] | None = scope.get(WHOLE)
    if whole is not None:
        return {} if whole() else {"connection": "close"}
    announced = any(length != "0" for length in _header(scope, b"content-length"))
    return {"connection": "close"} if announced or _header(scope, b"transfer-encoding") else {}


def _problem(kind: str, status: int, title: str, detail: str, **values: Any) -> Problem:
    return Problem(type=PREFIX + kind, title=title, status=status, detail=detail, values=values)


def _shape(error: BaseException) -> BaseException:
    """The error with its place and without its words, which may be somebody's."""
    return RuntimeError(type(error).__name__).with_traceback(error.__traceback__)
