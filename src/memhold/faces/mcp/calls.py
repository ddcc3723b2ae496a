"""What happens when a tool is called: its arguments are judged, its verb is called, and what came of it is told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from memhold.faces.mcp.answers import answer_of, rendered, wire_text
from memhold.faces.mcp.tools import DOCUMENT_TOOLS, Caller, Refused, ToolSpec
from memhold.faces.mcp.where import Place, asked_in, places_of
from memhold.values.errors import (
    Conflict,
    Forgotten,
    IdempotencyConflict,
    InvalidInput,
    MemholdError,
    NotFound,
    RevisionConflict,
    StoreBusy,
    StoreError,
    StoreFull,
)
from memhold.values.principal import Principal
from memhold.verbs.arguments import from_json
from memhold.verbs.checking import check, known_names

__all__ = ["run_tool"]

_TITLES: Mapping[Place, str] = {
    "project": "Project memory",
    "former": "Project memory under its other name",
    "personal": "Personal memory",
}
_CONNECTION = ("namespace", "user", "agent")


async def run_tool(spec: ToolSpec, given: Mapping[str, Any], caller: Callable[[], Awaitable[Caller]]) -> str:
    """Run a tool for a caller, and say what came of it.

    Raises:
        Refused: it cannot be done; the message says why, and what to do.
    """
    try:
        who = await caller()
        if who.project is not None:
            return await _in_two(spec, given, who)
        session, arguments = _read(spec, given)
        _check_right(spec, who.principal)
        scope = who.scope(session)
        answer = await getattr(spec.reach(scope), spec.verb.name)(**arguments)
        return await rendered(scope, answer_of(spec.verb.name, arguments, answer))
    except MemholdError as error:
        raise Refused(wire_text(_advice(error, spec.name in DOCUMENT_TOOLS))) from error


async def _in_two(spec: ToolSpec, given: Mapping[str, Any], who: Caller) -> str:
    """The same where a connection has a project's memory beside the person's: the answer says which is which."""
    places, left = places_of(spec.name, spec.verb.needs, given, former=who.former is not None)
    session, arguments = _read(spec, left)
    _check_right(spec, who.principal)

    async def ask(where: Place, told: Mapping[str, Any]) -> Any:
        return await getattr(spec.reach(who.scope(session, where)), spec.verb.name)(**told)

    parts = []
    for where, answer in await asked_in(places, arguments, ask, tool=spec.name):
        text = await rendered(who.scope(session, where), answer_of(spec.verb.name, arguments, answer))
        parts.append(f"{_TITLES[where]}:\n{text}")
    return "\n\n".join(parts)


def _read(spec: ToolSpec, given: Mapping[str, Any]) -> tuple[str | None, Mapping[str, Any]]:
    """The session that is meant, and the verb's arguments.

    Raises:
        InvalidInput, NaiveTime: they are not what the tool shows.
    """
    if foreign := [name for name in _CONNECTION if name in given]:
        raise InvalidInput(f"{foreign[0]}: whose memory this is comes from the connection; leave it out")
    known_names(spec.verb, given, known=spec.tool.shows)
    left = dict(given)
    session = left.pop("session", None) if spec.in_session else None
    if not isinstance(session, str | None):
        raise InvalidInput(f"session is {session!r:.40}; pass text")
    arguments = from_json(spec.verb, left)
    check(spec.verb, arguments)
    return session, arguments


def _check_right(spec: ToolSpec, principal: Principal) -> None:
    needed = spec.verb.needs
    if needed not in principal.rights:
        allowed = " and ".join(sorted(principal.rights)) or "nothing"
        raise Refused(
            f"{spec.name} needs the right to {needed}, and this connection may {allowed}."
            " Trying again will not help; tell the user."
        )


def _advice(error: MemholdError, of_documents: bool) -> str:  # noqa: FBT001 - which tools it speaks of
    """What happened and what to do about it. Of the store no more than its state: a message may name a path."""
    match error:
        case NotFound() if of_documents:
            return f"{error}. Use list_documents to see the paths."
        case RevisionConflict() if of_documents:
            return f"{error}. Nothing was changed."
        case NotFound():
            return f"{error}. Use recall to find the id; ids begin with mem_ or msg_."
        case Forgotten():
            return f"{error}. It cannot be brought back."
        case IdempotencyConflict():
            return f"{error}. Nothing was written; pass another idempotency_key for other content."
        case RevisionConflict():
            return f"{error}. Nothing was changed; look at memory_history and try again with its newest revision."
        case Conflict():
            return f"{error}. Nothing was changed."
        case StoreBusy():
            return "Another process holds the store. Nothing was written; try again in a moment, with the same key."
        case StoreFull():
            return "The disk is full: nothing was written. What was saved before is safe. Tell the user."
        case StoreError():
            said = (type(error).__doc__ or "").partition("\n")[0]
            return f"The store could not do it ({type(error).__name__}): {said} Tell the user; see the server's log."
        case _:
            return f"Not carried out: {error}"
