"""The verbs of a scope whose store a server keeps: the same calls, answers and errors as those of a local one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from uuid import uuid4

from memhold.context.answer import Context
from memhold.faces.remote.scope_compact import CALL_SECONDS, RemoteCompact
from memhold.faces.remote.transport import Answer, Call
from memhold.faces.remote.wire import key_header, sent_messages, sent_time
from memhold.history.forget import Sources
from memhold.journal.visibility import checked_id
from memhold.values.answers import (
    Changes,
    Consolidated,
    Erasure,
    OpenSuspicion,
    Page,
    Query,
    Recall,
    Receipt,
    Remembered,
    Status,
)
from memhold.values.answers import Residue as ResidueOf
from memhold.values.errors import InvalidInput, NotFound, WrongKind
from memhold.values.jsonable import from_jsonable, json_copy, to_jsonable
from memhold.values.records import Change, HitKind, Importance, Kind, Memory, Message, Scope, Shape, State, Tier
from memhold.verbs.scope_reads import as_tuple

if TYPE_CHECKING:
    from memhold.verbs.files import Exported, ExportFormat, Progress, Report

__all__ = ["RemoteScope"]

T = TypeVar("T")
_ID = re.compile(r"[A-Za-z0-9_-]{1,200}")
_LONGEST_WAIT = 30.0


class RemoteScope(RemoteCompact):
    """The verbs of one scope over HTTP.

    What is written without an idempotency key gets one, so that a call whose answer was lost can be sent again.
    """

    # ------------------------------------------------------------------------------------------------ calls

    async def _ask(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        answer = await self._transport.send(Call(method="GET", path=path, query=query or {}, again=True))
        return answer.data

    async def _post(self, path: str, body: Any = None, *, again: bool, query: Mapping[str, Any] | None = None) -> Any:
        call = Call(method="POST", path=path, body=body, query=query or {}, again=again)
        return (await self._transport.send(call)).data

    async def _once_sent(
        self, path: str, body: Any, key: str | None, *, rev: int | None = None, session: bool = True
    ) -> Answer:
        headers = {"idempotency-key": key_header(uuid4().hex if key is None else key)}
        if rev is not None:
            if type(rev) is not int:
                raise InvalidInput(f"rev is {rev!r:.40}; pass the whole number that the memory has")
            headers["if-match"] = f'"{rev}"'.encode()
        query = self._session if session else {}
        return await self._transport.send(
            Call(method="POST", path=path, body=body, headers=headers, query=query, again=True)
        )

    # ------------------------------------------------------------------------------------------------ writing

    async def add(
        self, messages: Mapping[str, Any] | Sequence[Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> Receipt:
        """See `AsyncScope.add`."""
        body = {"messages": sent_messages(messages)}
        return from_jsonable(Receipt, (await self._once_sent("/v1/messages", body, idempotency_key)).data)

    async def remember(
        self,
        text: str | None = None,
        *,
        attribute: str | None = None,
        value: str | None = None,
        subject: str = "user",
        operation: Literal["set", "add", "remove"] | None = None,
        event_time: datetime | None = None,
        importance: Importance = "mid",
        pinned: bool = False,
        expires_at: datetime | None = None,
        topics: Sequence[str] = (),
        entities: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> Remembered:
        """See `AsyncScope.remember`."""
        body = {
            "text": text,
            "attribute": attribute,
            "value": value,
            "subject": subject,
            "operation": operation,
            "event_time": sent_time(event_time),
            "importance": importance,
            "pinned": pinned,
            "expires_at": sent_time(expires_at),
            "topics": topics,
            "entities": entities,
            "metadata": {} if metadata is None else metadata,
        }
        return await self._remembered("/v1/memories", json_copy(body), idempotency_key)

    async def _remembered(self, path: str, body: Any, key: str | None, rev: int | None = None) -> Remembered:
        return from_jsonable(Remembered, (await self._once_sent(path, body, key, rev=rev)).data)

    async def correct(
        self, memory_id: str, value: str, *, rev: int | None = None, idempotency_key: str | None = None
    ) -> Remembered:
        """See `AsyncScope.correct`."""
        body = json_copy({"value": value})
        return await self._remembered(f"/v1/memories/{_in_path(memory_id, 'mem_')}/correct", body, idempotency_key, rev)

    async def pin(self, memory_id: str, *, rev: int | None = None, idempotency_key: str | None = None) -> Remembered:
        """See `AsyncScope.pin`."""
        return await self._remembered(f"/v1/memories/{_in_path(memory_id, 'mem_')}/pin", None, idempotency_key, rev)

    async def unpin(self, memory_id: str, *, rev: int | None = None, idempotency_key: str | None = None) -> Remembered:
        """See `AsyncScope.unpin`."""
        return await self._remembered(f"/v1/memories/{_in_path(memory_id, 'mem_')}/unpin", None, idempotency_key, rev)

    async def settle_suspicion(
        self, suspicion_id: str, verdict: Literal["same", "different"], *, idempotency_key: str | None = None
    ) -> Receipt:
        """See `AsyncScope.settle_suspicion`."""
        path = f"/v1/suspicions/{_in_path(suspicion_id)}/settle"
        body = json_copy({"verdict": verdict})
        return from_jsonable(Receipt, (await self._once_sent(path, body, idempotency_key)).data)

    async def undo(
        self, change_id: str, *, cascade: bool = False, redo: bool = False, idempotency_key: str | None = None
    ) -> Receipt:
        """See `AsyncScope.undo`."""
        path, body = f"/v1/changes/{_in_path(change_id, 'chg_')}/undo", json_copy({"cascade": cascade, "redo": redo})
        return from_jsonable(Receipt, (await self._once_sent(path, body, idempotency_key, session=False)).data)

    async def forget(
        self,
        item_id: str | None = None,
        *,
        session: str | None = None,
        kinds: Sequence[Kind] | None = None,
        topics: Sequence[str] = (),
        entities: Sequence[str] = (),
        before: datetime | None = None,
        after: datetime | None = None,
        everything: bool = False,
        hard: bool = True,
        sources: Sources = "erase",
        dry_run: bool = False,
        wait: float = 1.0,
        idempotency_key: str | None = None,
    ) -> Erasure:
        """See `AsyncScope.forget`; a server waits for readers 30 seconds at most."""
        body = {
            "item_id": None if item_id is None else checked_id(item_id),
            "session": _named(session),
            "kinds": kinds,
            "topics": topics,
            "entities": entities,
            "before": sent_time(before),
            "after": sent_time(after),
            "everything": everything,
            "hard": hard,
            "sources": sources,
            "dry_run": dry_run,
            "wait": _bounded(wait),
        }
        answer = await self._once_sent("/v1/forget", json_copy(body), idempotency_key, session=False)
        return from_jsonable(Erasure, answer.data)

    async def end_session(self, *, idempotency_key: str | None = None) -> Receipt:
        """See `AsyncScope.end_session`."""
        return from_jsonable(Receipt, (await self._once_sent("/v1/sessions/end", None, idempotency_key)).data)

    async def consolidate(self) -> Consolidated:
        """See `AsyncScope.consolidate`; where models take longer than a server waits, it says so in `last_error`."""
        path = "/v1/sessions/consolidate"
        call = Call(method="POST", path=path, query=self._session, timeout=CALL_SECONDS)
        return from_jsonable(Consolidated, (await self._transport.send(call)).data)

    # ------------------------------------------------------------------------------------------------ reading

    async def recall(
        self,
        query: str | Query = "",
        *,
        limit: int = 10,
        offset: int = 0,
        kinds: Sequence[HitKind] | None = None,
        states: Sequence[State] | None = None,
        tiers: Sequence[Tier] | None = None,
        roles: Sequence[str] | None = None,
        session: str | None = None,
        topics: Sequence[str] = (),
        entities: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        include_superseded: bool = False,
        neighbours: int = 0,
        explain: bool = False,
        snapshot: str | None = None,
        cursor: str | None = None,
    ) -> Recall:
        """See `AsyncScope.recall`."""
        if isinstance(query, Query):
            body = to_jsonable(query)
        else:
            body = {
                "text": query,
                "limit": limit,
                "offset": offset,
                "kinds": kinds,
                "states": states,
                "tiers": tiers,
                "roles": roles,
                "session": _named(session),
                "topics": topics,
                "entities": entities,
                "metadata": {} if metadata is None else metadata,
                "since": sent_time(since),
                "until": sent_time(until),
                "as_of": sent_time(as_of),
                "known_at": sent_time(known_at),
                "include_superseded": include_superseded,
                "neighbours": neighbours,
                "explain": explain,
                "snapshot": snapshot,
                "cursor": cursor,
            }
        return from_jsonable(Recall, await self._post("/v1/recall", json_copy(body), again=True, query=self._session))

    async def context(
        self,
        messages: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        *,
        budget: int = 8000,
        strategy: str = "adaptive",
        shape: Shape = "openai",
        reserve: int | None = None,
        query: str | None = None,
        tail: int | None = None,
        crossover_turn_threshold: int | None = None,
        model: str | None = None,
    ) -> Context:
        """See `ScopeContext.context`."""
        body = {
            "messages": None if messages is None else sent_messages(messages),
            "budget": budget,
            "strategy": strategy,
            "shape": shape,
            "reserve": reserve,
            "query": query,
            "tail": tail,
            "crossover_turn_threshold": crossover_turn_threshold,
            "model": model,
        }
        return from_jsonable(Context, await self._post("/v1/context", json_copy(body), again=True, query=self._session))

    async def get(self, item_id: str) -> Message | Memory:
        """See `AsyncScope.get`."""
        item = _in_path(item_id)
        if item.startswith("msg_"):
            return from_jsonable(Message, await self._ask(f"/v1/messages/{item}"))
        return from_jsonable(Memory, await self._ask(f"/v1/memories/{item}"))

    async def list(
        self,
        kinds: Sequence[Kind] | None = None,
        states: Sequence[State] | None = ("active",),
        *,
        session: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page:
        """See `AsyncScope.list`."""
        wanted, held = as_tuple(kinds), as_tuple(states)
        query = {
            "kinds": None if wanted is None else ",".join(map(str, wanted)),
            "states": "any" if held is None else ",".join(map(str, held)),
            "session": _named(session),
            "limit": limit,
            "cursor": cursor,
        }
        return from_jsonable(Page, await self._ask("/v1/memories", query))

    async def messages(self, *, after: int = 0, limit: int = 1000) -> tuple[Message, ...]:
        """See `AsyncScope.messages`; a long stretch comes in several calls."""
        found: list[Message] = []
        while True:
            query = {**self._session, "after": after, "limit": limit - len(found)}
            page = await self._ask("/v1/messages", query)
            found += [from_jsonable(Message, one) for one in page["items"]]
            if page["cursor"] is None or len(found) >= limit:
                return tuple(found)
            after = page["cursor"]

    async def read_message(self, message_id: str, *, offset: int = 0, limit: int = 100_000) -> str:
        """See `AsyncScope.read_message`."""
        query = {"offset": offset, "limit": limit}
        text: str = (await self._ask(f"/v1/messages/{_in_path(message_id)}/text", query))["text"]
        return text

    async def history(self, item_id: str) -> tuple[Change, ...]:
        """See `AsyncScope.history`."""
        found = await self._ask(f"/v1/memories/{_in_path(item_id)}/history")
        return tuple(from_jsonable(Change, one) for one in found)

    async def changes(self, *, after: int = 0, limit: int = 100) -> Changes:
        """See `AsyncScope.changes`."""
        return from_jsonable(Changes, await self._ask("/v1/changes", {"after": after, "limit": limit}))

    async def suspicions(self, *, settled: bool = False) -> tuple[OpenSuspicion, ...]:
        """See `AsyncScope.suspicions`."""
        found = await self._ask("/v1/suspicions", {"settled": bool(settled)})
        return tuple(from_jsonable(OpenSuspicion, one) for one in found)

    async def status(self) -> Status:
        """See `AsyncScope.status`."""
        return from_jsonable(Status, await self._ask("/v1/status"))

    async def residue(self, text: str) -> ResidueOf:
        """A server does not tell: its files hold others' memory too.

        Raises:
            InvalidInput: always.
        """
        raise InvalidInput(
            f"the {len(text)} characters are not looked for over HTTP: run 'memhold residue' where the store is"
        )

    # ------------------------------------------------------------------------------------------------ moving

    async def import_file(
        self,
        path: str | Path,
        *,
        format: str | None = None,
        zone: tzinfo = UTC,
        session_prefix: str = "",
        on_error: Literal["stop", "skip"] = "stop",
        batch: int = 128,
        progress: Callable[[Progress], None] | None = None,
    ) -> Report:
        """See `AsyncScope.import_file`; `progress` tells how much was sent."""
        from memhold.faces.remote.files import upload

        query = {"format": format, "session_prefix": session_prefix, "on_error": on_error, "batch": batch}
        return await upload(self._transport, path, query, zone=zone, progress=progress)

    async def export(self, path: str | Path, *, format: ExportFormat = "jsonl") -> Exported:
        """See `AsyncScope.export`; the files are written here."""
        from memhold.faces.remote.files import download

        return await download(self._transport, path, self._session, format_name=format)


def _bounded(wait: Any) -> Any:
    """Seconds to wait, as far as a server does; what is no number is left for it to refuse."""
    return _LONGEST_WAIT if isinstance(wait, int | float) and _LONGEST_WAIT < wait < math.inf else wait


def _named(session: Any) -> Any:
    """A session's name as a filter, as far as it can cross; whether there can be one of that name the server says.

    Raises:
        InvalidScope: it holds half a surrogate pair.
    """
    if isinstance(session, str) and not session.isascii() and any(0xD800 <= ord(c) <= 0xDFFF for c in session):
        Scope(session=session)
    return session


def _in_path(item_id: str, takes: str = "") -> str:
    """An id that can stand in a path, where the verb takes ids that begin so.

    Raises:
        InvalidInput: it is no text.
        NotFound, WrongKind: no id looks like that.
    """
    if not _ID.fullmatch(checked_id(item_id)):
        if not item_id.startswith(takes):
            raise WrongKind(f"{item_id!r:.80} is no id of that kind; pass {takes}…", id=item_id)
        raise NotFound(f"nothing with the id {item_id!r:.80} in this scope", id=item_id)
    return item_id
