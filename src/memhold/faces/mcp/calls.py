"""What the MCP tools do: each calls its verb in the caller's scope and says what came of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from memhold.faces.mcp import arguments as takes
from memhold.faces.mcp.results import (
    Answer,
    context_answer,
    erasure_answer,
    history_answer,
    recall_answer,
    receipt_answer,
    remembered_answer,
    status_answer,
    wire_text,
)
from memhold.faces.mcp.tools import Caller, Refused, ToolSpec
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
from memhold.values.jsonable import parse_time
from memhold.values.principal import Principal

__all__ = ["RUNS", "run_tool"]

Run = Callable[[Caller, Any], Awaitable[Answer]]


def _time(text: str | None) -> datetime | None:
    return None if text is None else parse_time(text)


async def _remember(caller: Caller, given: takes.Remember) -> Answer:
    done = await caller.scope(given.session).remember(
        given.text,
        attribute=given.attribute,
        value=given.value,
        subject=given.subject,
        operation=given.operation,
        event_time=_time(given.event_time),
        importance=given.importance,
        pinned=given.pinned,
        expires_at=_time(given.expires_at),
        topics=given.topics,
        entities=given.entities,
        idempotency_key=given.idempotency_key,
    )
    return remembered_answer(done, "Remembered")


async def _recall(caller: Caller, given: takes.Recall) -> Answer:
    found = await caller.scope().recall(
        given.query,
        limit=given.limit,
        offset=given.offset,
        kinds=given.kinds,
        roles=given.roles,
        session=given.session,
        topics=given.topics,
        entities=given.entities,
        since=_time(given.since),
        until=_time(given.until),
        as_of=_time(given.as_of),
        known_at=_time(given.known_at),
        include_superseded=given.include_superseded,
        snapshot=given.snapshot,
        cursor=given.cursor,
    )
    return recall_answer(found, secret=caller.secret, asked=bool(given.query.strip()))


async def _forget(caller: Caller, given: takes.Forget) -> Answer:
    done = await caller.scope().forget(
        given.id,
        session=given.session,
        kinds=given.kinds,
        topics=given.topics,
        entities=given.entities,
        before=_time(given.before),
        after=_time(given.after),
        everything=given.everything,
        hard=not given.hide,
        sources="keep" if given.keep_sources else "erase",
        dry_run=given.dry_run,
        idempotency_key=given.idempotency_key,
    )
    return erasure_answer(done)


async def _correct(caller: Caller, given: takes.Correct) -> Answer:
    done = await caller.scope(given.session).correct(
        given.id, given.value, rev=given.rev, idempotency_key=given.idempotency_key
    )
    return remembered_answer(done, "Corrected")


async def _add_message(caller: Caller, given: takes.AddMessage) -> Answer:
    message: dict[str, Any] = {"role": given.role, "content": given.text, "embed": False}
    if given.event_time is not None:
        message["event_time"] = parse_time(given.event_time)
    receipt = await caller.scope(given.session).add(message, idempotency_key=given.idempotency_key)
    found = "it is found by its words and by recency at once, and never by meaning."
    return receipt_answer(receipt, f"Saved as {' '.join(receipt.ids)}; {found}")


async def _add_memory(caller: Caller, given: takes.AddMemory) -> Answer:
    said: dict[str, Any] = {"role": "user", "content": given.prompt}
    answered: dict[str, Any] = {"role": "assistant", "content": given.response}
    if given.thought is not None:
        answered["metadata"] = {"thought": given.thought}
    if given.event_time is not None:
        said["event_time"] = answered["event_time"] = parse_time(given.event_time)
    receipt = await caller.scope(given.session).add([said, answered], idempotency_key=given.idempotency_key)
    found = "the turn is found by its words and by recency at once, by meaning a little later."
    return receipt_answer(receipt, f"Saved as {' '.join(receipt.ids)}; {found}")


async def _get_context(caller: Caller, given: takes.GetContext) -> Answer:
    new = [] if given.message is None else [{"role": "user", "content": given.message}]
    found = await caller.scope(given.session).context(
        new, budget=given.budget, strategy=given.strategy, shape=given.shape, query=given.query
    )
    return context_answer(found, form=given.form)


async def _memory_history(caller: Caller, given: takes.MemoryHistory) -> Answer:
    changes = await caller.scope().history(given.id)
    return history_answer(given.id, changes, limit=given.limit, secret=caller.secret)


async def _end_session(caller: Caller, given: takes.EndSession) -> Answer:
    receipt = await caller.scope(given.session).end_session(idempotency_key=given.idempotency_key)
    return receipt_answer(receipt, "Ended; what was said is kept and searchable, and the next message begins anew.")


async def _memory_status(caller: Caller, _: takes.MemoryStatus) -> Answer:
    return status_answer(await caller.scope().status())


RUNS: Mapping[str, Run] = {
    "remember": _remember,
    "recall": _recall,
    "forget": _forget,
    "correct": _correct,
    "add_message": _add_message,
    "add_memory": _add_memory,
    "get_context": _get_context,
    "memory_history": _memory_history,
    "end_session": _end_session,
    "memory_status": _memory_status,
}
"""What each tool does, by its name."""


async def run_tool(spec: ToolSpec, given: Mapping[str, Any], caller: Callable[[], Awaitable[Caller]]) -> Answer:
    """Run a tool for a caller.

    Raises:
        Refused: it cannot be done; the message says why, and what to do.
    """
    try:
        arguments = spec.takes.model_validate(given)
    except ValidationError as error:
        raise Refused(wire_text(f"{spec.name} was not carried out: {takes.said_wrong(error)}")) from None
    try:
        who = await caller()
        _check_right(spec, who.principal)
        return await RUNS[spec.name](who, arguments)
    except MemholdError as error:
        raise Refused(wire_text(_advice(error))) from error


def _check_right(spec: ToolSpec, principal: Principal) -> None:
    if spec.right not in principal.rights:
        allowed = " and ".join(sorted(principal.rights)) or "nothing"
        raise Refused(
            f"{spec.name} needs the right to {spec.right}, and this connection may {allowed}."
            " Trying again will not help; tell the user."
        )


def _advice(error: MemholdError) -> str:
    """What happened and what to do about it. Of the store no more than its state: a message may name a path."""
    match error:
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
        case InvalidInput():
            return f"Not carried out: {error}"
        case StoreBusy():
            return "Another process holds the store. Nothing was written; try again in a moment, with the same key."
        case StoreFull():
            return "The disk is full: nothing was written. What was saved before is safe. Tell the user."
        case StoreError():
            told = (type(error).__doc__ or "").partition("\n")[0]
            return f"The store could not do it ({type(error).__name__}): {told} Tell the user; see the server's log."
        case _:
            return f"Not carried out: {error}"
