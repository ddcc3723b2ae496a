"""What each method of the protocol answers, as plain JSON: the same over HTTP and on standard input and output."""

from __future__ import annotations

import logging
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memhold._version import __version__
from memhold.faces.mcp.prompts import INSTRUCTIONS, PROMPTS, use_memory
from memhold.faces.mcp.resources import HISTORY, ITEM, PROFILE, RESOURCES, read_resource
from memhold.values.errors import InvalidScope, MemholdError, NotFound, WrongKind
from memhold.values.names import checked_name

if TYPE_CHECKING:
    from memhold.faces.mcp.listing import Listing
    from memhold.faces.mcp.progress import Tell
    from memhold.faces.mcp.tools import Caller, ToolSpec
    from memhold.values.principal import Principal, Right

__all__ = [
    "CAPABILITIES",
    "INSTRUCTIONS",
    "INTERNAL_ERROR",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "SERVER",
    "Asked",
    "MethodError",
    "Methods",
]

logger = logging.getLogger(__name__)

INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002
"""What revisions before 2026-07-28 call an unknown resource; from then on it is invalid parameters."""

SERVER: Mapping[str, str] = {
    "name": "memhold",
    "title": "Memhold memory",
    "version": __version__,
    "description": "Durable memory for AI agents.",
}
CAPABILITIES: Mapping[str, Any] = {
    "prompts": {"listChanged": False},
    "resources": {"subscribe": False, "listChanged": False},
    "tools": {"listChanged": False},
}


class MethodError(Exception):
    """A request that is answered with an error of the protocol."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Of one request: for whom it is, how the open store is reached, and which revision is spoken.

    `tell` sends progress, where the client asked for it.
    """

    principal: Principal
    caller: Callable[[], Awaitable[Caller]]
    revision: str
    tell: Tell | None = None

    def may(self, right: Right) -> bool:
        """Whether the principal has a right."""
        return right in self.principal.rights

    def need_read(self) -> None:
        """Refuse who may not read.

        Raises:
            MethodError: the principal may not.
        """
        if not self.may("read"):
            raise MethodError(INVALID_REQUEST, "this connection may not read")


class Methods:
    """The methods over some tools; parameters come checked against the protocol's types.

    Tools that the principal has no right to are not listed, and refused when they are called.
    """

    def __init__(
        self,
        listing: Listing,
        specs: Callable[[], Mapping[str, ToolSpec]],
        *,
        instructions: str = INSTRUCTIONS,
    ) -> None:
        self._listing = listing
        self._specs = specs
        self.instructions = instructions

    async def list_tools(self, asked: Asked) -> dict[str, Any]:
        """`tools/list`."""
        return {"tools": [one["tool"] for one in self._listing.values() if asked.may(one["needs"])]}

    async def call_tool(self, asked: Asked, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """`tools/call`: one text; what cannot be done is an answer too, and says what to do.

        Where it is cancelled, what it does ends too; a write that has begun may still be done.

        Raises:
            MethodError: there is no such tool.
        """
        if name not in self._listing:
            raise MethodError(INVALID_PARAMS, f"Unknown tool: {name:.80}; known are {', '.join(self._listing)}")
        from memhold.faces.mcp.calls import run_tool  # late: it loads much of Memhold
        from memhold.faces.mcp.progress import told_while
        from memhold.faces.mcp.tools import Refused

        spec = self._specs()[name]
        try:
            work = run_tool(spec, arguments, asked.caller)
            text = await (work if asked.tell is None else told_while(work, asked.tell, name))
        except Refused as refused:
            return _said(str(refused), failed=True)
        except Exception:  # noqa: BLE001 - the edge: a model gets an answer, the log gets the place
            return _said(_unexpected(spec), failed=True)
        return _said(text, failed=False)

    async def list_resources(self, asked: Asked) -> dict[str, Any]:
        """`resources/list`."""
        found = RESOURCES.values() if asked.may("read") else ()
        return {
            "resources": [
                {
                    "uri": one.uri,
                    "name": one.name,
                    "title": one.title,
                    "description": one.description,
                    "mimeType": "text/plain",
                }
                for one in found
            ]
        }

    async def list_resource_templates(self, asked: Asked) -> dict[str, Any]:
        """`resources/templates/list`."""
        template = {
            "uriTemplate": ITEM,
            "name": "item",
            "title": "One memory or message",
            "description": "A memory or message as a whole, by the id that recall gave.",
            "mimeType": "text/plain",
        }
        return {"resourceTemplates": [template] if asked.may("read") else []}

    async def read_resource(self, asked: Asked, uri: str) -> dict[str, Any]:
        """`resources/read`.

        Raises:
            MethodError: there is none, it may not be read, or the store could not do it.
        """
        asked.need_read()
        try:
            text = await read_resource(await asked.caller(), uri)
        except (NotFound, WrongKind):
            code = RESOURCE_NOT_FOUND if asked.revision < "2026-07-28" else INVALID_PARAMS
            raise MethodError(code, "Resource not found", {"uri": uri}) from None
        except MemholdError as error:
            raise _store_failed(error) from None
        return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": text}]}

    async def list_prompts(self, _: Asked) -> dict[str, Any]:
        """`prompts/list`."""
        return {
            "prompts": [
                {
                    "name": spec.name,
                    "title": spec.title,
                    "description": spec.description,
                    "arguments": [
                        {"name": name, "description": about, "required": False}
                        for name, about in spec.arguments.items()
                    ],
                }
                for spec in PROMPTS.values()
            ]
        }

    async def get_prompt(self, asked: Asked, name: str, arguments: Mapping[str, str]) -> dict[str, Any]:
        """`prompts/get`.

        Raises:
            MethodError: there is none, or it has no such argument; or the store could not do it.
        """
        spec = PROMPTS.get(name)
        if spec is None:
            raise MethodError(INVALID_PARAMS, f"Unknown prompt: {name:.80}; known are {', '.join(PROMPTS)}")
        if unknown := arguments.keys() - spec.arguments.keys():
            raise MethodError(INVALID_PARAMS, f"{spec.name} has no argument {min(unknown):.80}")
        text = _how_to_use(arguments.get("session")) if spec.name == "use_memory" else await _what_you_know(asked)
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return {"description": spec.description, "messages": [message]}


def _how_to_use(session: str | None) -> str:
    """The prompt; the session's name is one line of it and no more.

    Raises:
        MethodError: it is no name.
    """
    try:
        return use_memory(None if session is None else checked_name(session, "session"))
    except InvalidScope as error:
        raise MethodError(INVALID_PARAMS, str(error)) from None


def _said(text: str, *, failed: bool) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def _unexpected(spec: ToolSpec) -> str:
    # The type and the place of what went wrong; its message might hold content.
    logger.error("%s failed", spec.name, exc_info=_bare())
    again = "" if spec.read_only else " It may or may not be written: with an idempotency_key you can send it again."
    return f"{spec.name} failed inside the server, which is not your fault.{again} Tell the user to look at the log."


def _bare() -> Any:
    kind, error, trace = sys.exc_info()
    if kind is None or error is None:
        return None
    return Exception, Exception(kind.__name__), trace


def _store_failed(error: MemholdError) -> MethodError:
    return MethodError(INTERNAL_ERROR, f"the store could not do it ({type(error).__name__})")


async def _what_you_know(asked: Asked) -> str:
    asked.need_read()
    try:
        caller = await asked.caller()
        profile, history = await read_resource(caller, PROFILE), await read_resource(caller, HISTORY)
    except MemholdError as error:
        raise _store_failed(error) from None
    return f"What do you know about me? Here is what your memory holds.\n\n{profile}\n\n{history}"
