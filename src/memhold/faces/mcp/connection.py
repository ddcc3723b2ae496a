"""One connection, without the SDK: which revision of the protocol it speaks, and what each line is answered.

It follows the SDK (2.3) in both eras of the protocol, and a test holds each answer against the SDK's own. An
`initialize` opens a connection of the revisions before 2026-07-28; a request that carries that revision's envelope in
`_meta` opens one of those from then on, where each request stands for itself. The first request decides for good.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from memhold.faces.mcp.methods import (
    CAPABILITIES,
    INVALID_PARAMS,
    INVALID_REQUEST,
    SERVER,
    Asked,
    MethodError,
    Methods,
)

if TYPE_CHECKING:
    from memhold.faces.mcp.progress import Tell
    from memhold.faces.mcp.tools import Caller
    from memhold.values.principal import Principal

__all__ = ["Connection", "is_request"]

METHOD_NOT_FOUND = -32601
UNSUPPORTED_REVISION = -32022
HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = ("2026-07-28",)
_REVISION = "io.modelcontextprotocol/protocolVersion"
_CLIENT = "io.modelcontextprotocol/clientCapabilities"
_WHO = "io.modelcontextprotocol/clientInfo"
_CACHED = frozenset({
    "server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read", "prompts/list",
})  # fmt: skip

Params = Mapping[str, Any]


def is_request(message: object) -> bool:
    """Whether a line asks for an answer; anything else that is no notification is let fall, as the SDK does."""
    return (
        isinstance(message, dict)
        and message.get("jsonrpc") == "2.0"
        and isinstance(message.get("method"), str)
        and isinstance(message.get("id"), str | int)
        and not isinstance(message.get("id"), bool)
        and isinstance(message.get("params", {}), dict)
    )


class Connection:
    """What one client has agreed with us, and the answer to each of its requests; `say` sends it notifications."""

    def __init__(
        self,
        methods: Methods,
        principal: Principal,
        caller: Callable[[str | None], Awaitable[Caller]],
        say: Callable[[Mapping[str, Any]], None] | None = None,
    ) -> None:
        self._say = say
        self._principal = principal
        self._caller = caller
        self._instructions = methods.instructions
        self._client: str | None = None
        self._era: Literal["handshake", "modern"] | None = None
        self._revision: str | None = None
        self._methods: Mapping[str, Callable[[Asked, Params], Awaitable[dict[str, Any]]]] = {
            "tools/list": _page(methods.list_tools),
            "tools/call": lambda asked, given: methods.call_tool(
                asked, _text(given, "name"), _object(given, "arguments")
            ),
            "resources/list": _page(methods.list_resources),
            "resources/templates/list": _page(methods.list_resource_templates),
            "resources/read": lambda asked, given: methods.read_resource(asked, _text(given, "uri")),
            "prompts/list": _page(methods.list_prompts),
            "prompts/get": lambda asked, given: methods.get_prompt(
                asked, _text(given, "name"), _texts(given, "arguments")
            ),
        }

    async def answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """The line that answers a request."""
        head = {"jsonrpc": "2.0", "id": message["id"]}
        method, params = message["method"], message.get("params", {})
        if self._era is None:
            modern = method != "initialize" and isinstance(_meta(params).get(_REVISION), str)
            self._era = "modern" if modern else "handshake"
        try:
            ask = self._modern if self._era == "modern" else self._by_handshake
            return {**head, "result": await ask(method, params)}
        except MethodError as error:
            data = {} if error.data is None else {"data": error.data}
            return {**head, "error": {"code": error.code, "message": error.message, **data}}

    async def _by_handshake(self, method: str, params: Params) -> dict[str, Any]:
        if method == "initialize":
            return self._initialized(params)
        if isinstance(_meta(params).get(_REVISION), str):
            raise MethodError(
                INVALID_REQUEST,
                "this connection serves the handshake protocol era;"
                " requests carrying the 2026-07-28 envelope are not accepted on it",
            )
        if method == "ping":
            return {}
        found = self._method(method)
        if self._revision is None:
            raise _invalid()
        return await found(self._asked(self._revision, self._client, params), params)

    def _initialized(self, params: Params) -> dict[str, Any]:
        wanted = _text(params, "protocolVersion")
        client = _object(params, "clientInfo", needed=True)
        _object(params, "capabilities", needed=True)
        self._client = _text(client, "name")
        _text(client, "version")
        self._revision = wanted if wanted in HANDSHAKES else HANDSHAKES[-1]
        return {
            "protocolVersion": self._revision,
            "capabilities": CAPABILITIES,
            "serverInfo": SERVER,
            "instructions": self._instructions,
        }

    async def _modern(self, method: str, params: Params) -> dict[str, Any]:
        if method == "initialize":
            said = "connection is serving the 2026-07-28 protocol; the initialize handshake is not accepted"
            raise MethodError(UNSUPPORTED_REVISION, said, _supported(params.get("protocolVersion")))
        revision = _enveloped(params)
        if method == "server/discover":
            answer: dict[str, Any] = {
                "supportedVersions": [*MODERN],
                "capabilities": CAPABILITIES,
                "instructions": self._instructions,
            }
        else:
            answer = await self._method(method)(self._asked(revision, _named(params), params), params)
        kept = {"ttlMs": 0, "cacheScope": "private"} if method in _CACHED else {}
        return {**kept, "resultType": "complete", **answer, "_meta": {"io.modelcontextprotocol/serverInfo": SERVER}}

    def _method(self, name: str) -> Callable[[Asked, Params], Awaitable[dict[str, Any]]]:
        found = self._methods.get(name)
        if found is None:
            raise MethodError(METHOD_NOT_FOUND, "Method not found", name)
        return found

    def _asked(self, revision: str, client: str | None, params: Params) -> Asked:
        return Asked(
            principal=self._principal,
            caller=lambda: self._caller(client),
            revision=revision,
            tell=_teller(_meta(params).get("progressToken"), self._say),
        )


def _teller(token: object, say: Callable[[Mapping[str, Any]], None] | None) -> Tell | None:
    """What sends progress under the token of a request; None where it has none, or nobody hears it."""
    if say is None or not isinstance(token, str | int) or isinstance(token, bool):
        return None

    async def tell(progress: float, message: str) -> None:
        told = {"progressToken": token, "progress": progress, "message": message}
        say({"jsonrpc": "2.0", "method": "notifications/progress", "params": told})

    return tell


def _named(params: Params) -> str | None:
    """What the client of a request calls itself, where it says so."""
    said = _meta(params).get(_WHO)
    name = said.get("name") if isinstance(said, dict) else None
    return name if isinstance(name, str) else None


def _enveloped(params: Params) -> str:
    """The revision that a request's envelope names.

    Raises:
        MethodError: it has none, it lacks a key, or it names a revision that is not spoken here.
    """
    meta = _meta(params)
    missing = [name for name in (_REVISION, _CLIENT) if name not in meta]
    if len(missing) == 2:
        raise MethodError(
            INVALID_PARAMS,
            f"params._meta must be an object carrying the required '{_REVISION}' and '{_CLIENT}' envelope keys",
        )
    if missing:
        raise MethodError(INVALID_PARAMS, f"params._meta is missing the required envelope key(s): {', '.join(missing)}")
    if meta[_REVISION] not in MODERN:
        raise MethodError(UNSUPPORTED_REVISION, "Unsupported protocol version", _supported(meta[_REVISION]))
    found: str = meta[_REVISION]
    return found


def _supported(wanted: object) -> dict[str, Any]:
    return {"supported": [*MODERN], "requested": wanted if isinstance(wanted, str) else ""}


def _meta(params: Params) -> Params:
    found = params.get("_meta")
    return found if isinstance(found, dict) else {}


def _page(listed: Callable[[Asked], Awaitable[dict[str, Any]]]) -> Callable[[Asked, Params], Awaitable[dict[str, Any]]]:
    async def answered(asked: Asked, given: Params) -> dict[str, Any]:
        if not isinstance(given.get("cursor"), str | None):
            raise _invalid()
        return await listed(asked)

    return answered


def _invalid() -> MethodError:
    return MethodError(INVALID_PARAMS, "Invalid request parameters", "")


def _text(given: Params, name: str) -> str:
    found = given.get(name)
    if not isinstance(found, str):
        raise _invalid()
    return found


def _object(given: Params, name: str, *, needed: bool = False) -> Params:
    found = given.get(name)
    if found is None and not needed:
        return {}
    if not isinstance(found, dict):
        raise _invalid()
    return found


def _texts(given: Params, name: str) -> Mapping[str, str]:
    found = _object(given, name)
    if not all(isinstance(one, str) for one in found.values()):
        raise _invalid()
    return found
