"""Working memories of `agent-memory-client` on Memhold's verbs: a session's messages, and what the client keeps beside.

Messages stand in the journal. `data`, `context`, the time to live and which memories the client put into a working
memory stand in the session's metadata under one name (`STATE`), so no question finds them and no model reads them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final
from weakref import WeakValueDictionary

from memhold.faces.compat.ams_memories import check_records, record_held, store_record
from memhold.faces.compat.ams_values import (
    COMPAT,
    MessageIn,
    RecordIn,
    Window,
    WorkingBody,
    client_namespace,
    message_out,
    not_mapped,
    record_out,
)
from memhold.text.token_estimate import estimate_tokens
from memhold.values.bounds import MAX_PAGE
from memhold.values.jsonable import iso, parse_time
from memhold.values.names import checked_name
from memhold.values.records import Message, Scope
from memhold.verbs.scope import AsyncScope

__all__ = ["STATE", "Turns", "delete_session", "live_sessions", "put_session", "session_out"]

STATE: Final = "ams"
_PAGE: Final = 1000
_AT_ONCE: Final = 50
"""Sessions that are looked at together when they are listed."""
_SUMMARIZED_AT: Final = 0.7
"""The share of its window at which that server begins to summarize."""


class Turns:
    """The puts and deletions of one session come one after the other: each reads what is there before it writes."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Scope, asyncio.Lock] = WeakValueDictionary()

    def of(self, scope: Scope) -> asyncio.Lock:
        """The turn of a session; whoever holds it is alone."""
        return self._locks.setdefault(scope, asyncio.Lock())


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """What the client keeps beside the messages: nothing yet where not `there`, or until a time that is `over`."""

    there: bool = False
    over: bool = False
    data: Mapping[str, Any] | None = None
    context: str | None = None
    ttl_seconds: int | None = None
    until: datetime | None = None
    memories: tuple[str, ...] = field(default=())


async def _state(scope: AsyncScope, *, now: datetime) -> _State:
    """What is kept of the session; what somebody else put under our name is nothing of ours."""
    kept = (await scope.session_metadata()).get(STATE)
    if not isinstance(kept, Mapping):
        return _State()
    until = None if kept.get("until") is None else parse_time(kept["until"])
    return _State(
        there=True,
        over=until is not None and until <= now,
        data=kept.get("data"),
        context=kept.get("context"),
        ttl_seconds=kept.get("ttl_seconds"),
        until=until,
        memories=tuple(kept.get("memories", ())),
    )


async def _live(scope: AsyncScope, turns: Turns, *, now: datetime) -> _State:
    """What is kept of the session now: one whose time is over is deleted first, and never while another is put."""
    state = await _state(scope, now=now)
    if not state.over:
        return state
    async with turns.of(scope.scope):
        if (await _state(scope, now=now)).over:
            await delete_session(scope)
    return await _state(scope, now=now)


async def _keep(scope: AsyncScope, state: _State) -> None:
    kept = {
        "data": state.data,
        "context": state.context,
        "ttl_seconds": state.ttl_seconds,
        "until": None if state.until is None else iso(state.until),
        "memories": list(state.memories),
    }
    others = {name: value for name, value in (await scope.session_metadata()).items() if name != STATE}
    if not state.there:
        await scope.set_session_metadata(others)
        return
    await scope.set_session_metadata({**others, STATE: {name: one for name, one in kept.items() if one}})


async def put_session(scope: AsyncScope, body: WorkingBody, *, now: datetime) -> bool:
    """Take a working memory as the client puts it; whether the session is new.

    Messages that are there stay and those that are new are added: another writer may have been quicker. All else stands
    as it was put.

    Raises:
        InvalidInput: a message that is there has other content now, or a memory is said to be another's.
    """
    for record in body.memories:
        _owned(record, scope.scope)
    state = await _state(scope, now=now)
    check_records(body.memories)
    if state.over:
        await delete_session(scope)
        state = _State()
    said = {one["id"]: (one["role"], one["content"]) for one in map(message_out, await _turns(scope))}
    new = not said and not state.there
    fresh: dict[str, MessageIn] = {}
    for one in body.messages:
        told = (one.role, one.content)
        if one.id not in said:
            fresh[one.id] = one
        if said.setdefault(one.id, told) != told:
            raise not_mapped(f"message {one.id!r:.80} is there with other content; the journal only grows")
    for record in body.memories:
        await store_record(scope, record, now=now)
    if fresh:
        parts = ("put", scope.scope.session or "", "\n".join(fresh))
        key = f"{COMPAT}:{sha256(chr(0).join(parts).encode()).hexdigest()}"
        await scope.add([one.message() for one in fresh.values()], idempotency_key=key)
    until = None if body.ttl_seconds is None else now + timedelta(seconds=body.ttl_seconds)
    ids = tuple(dict.fromkeys(record.id for record in body.memories))
    await _keep(
        scope,
        _State(
            there=True, data=body.data, context=body.context, ttl_seconds=body.ttl_seconds, until=until, memories=ids
        ),
    )
    return new


def _owned(record: RecordIn, own: Scope) -> None:
    """Refuse a memory that names another owner than the working memory that it stands in."""
    for named, held, what in (
        (record.user_id, own.user, "user_id"),
        (record.namespace, client_namespace(own.namespace), "namespace"),
    ):
        if named is not None and checked_name(named, what) != held:
            raise not_mapped(
                f"memory {record.id!r:.80} has another {what} than the working memory; put it there by itself"
            )


async def delete_session(scope: AsyncScope) -> None:
    """Forget a session: its messages, what was derived from them, what is kept beside. Long-term memories stay."""
    await _keep(scope, _State())
    for message in await _messages(scope):
        await scope.forget(message.id, wait=0.0)


async def live_sessions(
    scope: AsyncScope, within: Callable[[str], AsyncScope], *, turns: Turns, now: datetime
) -> list[str]:
    """The names of the sessions that hold a message, or that the client put, in the order in which they began."""
    page = await scope.sessions(limit=MAX_PAGE)
    names = [one.name for one in page.items if one.name]
    while page.cursor is not None:
        page = await scope.sessions(limit=MAX_PAGE, cursor=page.cursor)
        names += [one.name for one in page.items if one.name]

    async def live(name: str) -> bool:
        own = within(name)
        return (await _live(own, turns, now=now)).there or bool(await own.messages(limit=1))

    found: list[str] = []
    for first in range(0, len(names), _AT_ONCE):
        some = names[first : first + _AT_ONCE]
        kept = await asyncio.gather(*(live(name) for name in some))
        found += [name for name, there in zip(some, kept, strict=True) if there]
    return found


async def session_out(scope: AsyncScope, window: Window, *, turns: Turns, now: datetime) -> dict[str, Any]:
    """A session as the client knows it; one that is not there is empty and `unsaved`."""
    own, state = scope.scope, await _live(scope, turns, now=now)
    messages, tokens = await asyncio.to_thread(_told, await _turns(scope), state.context or "")
    held = [await record_held(scope, one) for one in state.memories]
    used = None if window.tokens is None else min(100.0, round(100 * tokens / window.tokens, 2))
    left = None if used is None else min(100.0, round(used / _SUMMARIZED_AT, 2))
    there = state.there or bool(messages)
    return {
        "messages": messages,
        "memories": [record_out(memory, own, None) for memory in held if memory is not None],
        "data": state.data,
        "context": state.context,
        "ttl_seconds": state.ttl_seconds,
        "session_id": own.session,
        "user_id": own.user,
        "namespace": client_namespace(own.namespace),
        "tokens": tokens,
        "context_percentage_total_used": used,
        "context_percentage_until_summarization": left,
        "new_session": not there,
        "unsaved": None if there else True,
    }


def _told(turns: Sequence[Message], context: str) -> tuple[list[dict[str, Any]], int]:
    """The messages as the client knows them, and what they and the context cost: of a long session a second's work."""
    messages = [message_out(message) for message in turns]
    return messages, sum(estimate_tokens(one["content"]) for one in messages) + estimate_tokens(context)


async def _turns(scope: AsyncScope) -> list[Message]:
    """What the client knows as messages: not items that other applications keep in a session."""
    return [message for message in await _messages(scope) if not message.opaque]


async def _messages(scope: AsyncScope) -> list[Message]:
    every: list[Message] = []
    while page := await scope.messages(after=every[-1].seq if every else 0, limit=_PAGE):
        every += page
    return every
