"""Claude's Agent SDK: a `SessionStore` that keeps transcripts, subagents' too, and lets memory read their turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any
from urllib.parse import quote, unquote

from memhold.documents.given_names import name_of
from memhold.faces.python.open import AsyncMemhold
from memhold.faces.python.sync import SyncStore
from memhold.integrations.framework import lacking
from memhold.integrations.reach import Reach
from memhold.messages.shapes import read_message
from memhold.transfer.claude_lines import is_queued, turn_of
from memhold.values.bounds import MAX_MESSAGES, MAX_PAGE
from memhold.values.errors import InvalidMessage, NotFound, RevisionConflict
from memhold.values.jsonable import body_json
from memhold.values.records import Message
from memhold.verbs.scope import AsyncScope

try:
    from claude_agent_sdk import SessionKey, SessionStore, fold_session_summary
    from claude_agent_sdk.types import (
        SessionListSubkeysKey,
        SessionStoreEntry,
        SessionStoreListEntry,
        SessionSummaryEntry,
    )
except ImportError as missing:
    raise lacking(__name__, "claude-agent-sdk", "0.2.100", missing) from missing

__all__ = ["MemholdSessionStore"]

_FIRST = "claude/"
"""How the name of every session begins that this store keeps; project, session and subpath come behind it, quoted."""
_MAIN, _SUB = "main", "sub/"
_LONGEST = 128
"""Characters of a project in a session's name, behind which more stand: the SDK names a deep folder in some 210."""
_MARK = "%~"
"""In the name of a project that was shortened; no quoted text holds it."""
_SUMMARIES = ("claude", "session-summaries")
_ENTRY = "entry"
"""The name in a message's metadata under which its whole entry stands."""
_KEPT = "memhold.kept"
"""The type of an item that holds an entry which cannot stand as it is."""


class MemholdSessionStore(SessionStore):
    """A store for `ClaudeAgentOptions(session_store=…)`: each transcript is a session of one user.

    What a person and the agent said to each other is found by recall and may become memory, each passage as its
    writer's: what the client itself put in is not the person's. Every other entry, and all of a subagent's, is kept as
    it is and read by nobody. `append` raises where the store is gone: the SDK tries again,
    and the turn goes on. `delete` erases for good, with what was derived.
    """

    def __init__(
        self,
        store: SyncStore | AsyncMemhold,
        *,
        user: str | None = None,
        namespace: str = "default",
        agent: str | None = None,
    ) -> None:
        self._store = store
        self._whose: dict[str, Any] = {"namespace": namespace, "user": user, "agent": agent}

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        """Append entries in their order; a batch that comes again, with an id in it, is written once."""
        if not entries:
            return
        name = _session(key)
        plain: list[Mapping[str, Any]] = [dict(entry) for entry in entries]
        messages = [_message(entry, turns="subpath" not in key) for entry in plain]
        # A batch without any id may rightly come twice: titles and markers.
        named = any("uuid" in entry for entry in plain)
        once = sha256("\n".join([name, *map(body_json, plain)]).encode()).hexdigest() if named else None

        async def appended(scope: AsyncScope) -> None:
            done = await scope.add(messages, idempotency_key=once)
            if "subpath" not in key and not done.replayed:
                await _fold(scope, key, entries, through=done.ids[-1])

        await self._in(name).ask(appended)

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        """The entries of a transcript, each id once; None where there are none."""
        found: dict[str, Any] = {}
        for place, message in enumerate(await self._in(_session(key)).ask(_every)):
            entry = _entry(message)
            ident = entry.get("uuid")
            found.setdefault(ident if isinstance(ident, str) else f"\0{place}", entry)
        return list(found.values()) or None

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        """The sessions of a project, without subagents' transcripts."""
        prefix = _below(project_key)
        return [
            {"session_id": _unquoted(name.split("/")[-2]), "mtime": _millis(at)}
            for name, at in await self._named(prefix)
            if name.endswith(f"/{_MAIN}")
        ]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        """What the SDK folded of each session of a project."""
        at = _summaries(project_key)

        async def listed(scope: AsyncScope) -> list[SessionSummaryEntry]:
            found: list[SessionSummaryEntry] = []
            cursor: str | None = None
            while True:
                page = await scope.documents.list(at, content=True, limit=MAX_PAGE, cursor=cursor)
                found += [
                    {
                        "session_id": one.content["session_id"],
                        "mtime": _millis(one.updated_at),
                        "data": one.content["data"],
                    }
                    for one in page.items
                ]
                cursor = page.cursor
                if cursor is None:
                    return found

        return await self._in(None).ask(listed)

    async def delete(self, key: SessionKey) -> None:
        """Erase a transcript, and with a session's own all of its subagents'."""

        async def deleted(scope: AsyncScope) -> None:
            if "subpath" in key:
                await scope.forget(session=_session(key))
                return
            await scope.forget(session_prefix=_below(key["project_key"], key["session_id"]))
            try:
                await scope.documents.delete(_summary_path(key), hard=True)
            except NotFound:
                return

        await self._in(None).ask(deleted)

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        """The subpaths of a session's subagents."""
        prefix = _below(key["project_key"], key["session_id"]) + _SUB
        return [_unquoted(name.removeprefix(prefix)) for name, _ in await self._named(prefix)]

    async def _named(self, prefix: str) -> list[tuple[str, datetime]]:
        """The sessions that hold something and whose names begin so, with when something was last added."""

        async def listed(scope: AsyncScope) -> list[tuple[str, datetime]]:
            page = await scope.sessions(prefix, limit=MAX_PAGE)
            found = [*page.items]
            while page.cursor is not None:
                page = await scope.sessions(prefix, limit=MAX_PAGE, cursor=page.cursor)
                found += page.items
            return [(one.name, one.last_at) for one in found if one.messages]

        return await self._in(None).ask(listed)

    def _in(self, session: str | None) -> Reach:
        return Reach.within(self._store, session=session, **self._whose)


async def _every(scope: AsyncScope) -> list[Message]:
    found: list[Message] = []
    while page := await scope.messages(after=found[-1].seq if found else 0, limit=MAX_MESSAGES):
        found += page
    return found


async def _fold(scope: AsyncScope, key: SessionKey, entries: Sequence[SessionStoreEntry], *, through: str) -> None:
    """The SDK's own summary of a session, folded on: of writers that fold at once each folds what the other left."""
    path = _summary_path(key)
    while True:
        try:
            held = await scope.documents.read(path)
        except NotFound:
            held = None
        before: SessionSummaryEntry | None = None
        if held is not None:
            before = {"session_id": key["session_id"], "mtime": _millis(held.updated_at), "data": held.content["data"]}
        folded = fold_session_summary(before, key, list(entries))
        # `through` is another with every append, so that what is written is as new as the transcript.
        content = {"session_id": key["session_id"], "data": folded["data"], "through": through}
        try:
            await scope.documents.put(path, content, if_rev=0 if held is None else held.rev, index=False)
        except RevisionConflict:
            continue
        return


def _summary_path(key: SessionKey) -> tuple[str, ...]:
    return (*_summaries(key["project_key"]), name_of(key["session_id"]))


def _summaries(project: str) -> tuple[str, ...]:
    return (*_SUMMARIES, name_of(project) if len(project) <= _LONGEST else _project(_quoted(project)))


def _below(project: str, *names: str) -> str:
    return _FIRST + "".join(f"{name}/" for name in (_project(_quoted(project)), *map(_quoted, names)))


def _project(quoted: str) -> str:
    """The project in a session's name; nobody reads it back, and a long one is told from others by its digest."""
    if len(quoted) <= _LONGEST:
        return quoted
    return quoted[: _LONGEST // 2] + _MARK + sha256(quoted.encode()).hexdigest()[: _LONGEST // 4]


def _quoted(name: str) -> str:
    return quote(name, safe="", errors="surrogatepass")


def _unquoted(name: str) -> str:
    return unquote(name, errors="surrogatepass")


def _session(key: SessionKey) -> str:
    own = _below(key["project_key"], key["session_id"])
    return own + (_SUB + _quoted(key["subpath"]) if "subpath" in key else _MAIN)


def _message(entry: Mapping[str, Any], *, turns: bool) -> Mapping[str, Any]:
    """An entry as the journal keeps it: a turn with its entry beside it, an item, or what holds it."""
    said = _turn(entry) if turns else None
    if said is not None:
        try:
            read_message({"role": said["role"], "content": said["content"]})
        except InvalidMessage:
            pass
        else:
            return {**said, "metadata": {_ENTRY: dict(entry)}}
    if "role" not in entry and isinstance(kind := entry.get("type"), str) and kind.strip() and kind != _KEPT:
        return entry
    return {"type": _KEPT, "item": dict(entry)}


def _turn(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """What an entry says as a message, with who wrote it; None where it says nothing that anybody is to read."""
    said: Any = entry.get("message")
    if is_queued(entry):
        said = {"role": "user", "content": entry["attachment"]["prompt"]}
    elif entry.get("type") not in {"user", "assistant"} or not isinstance(said, Mapping) or entry.get("isMeta"):
        return None
    if entry.get("type") == "assistant":
        return {"role": said.get("role"), "content": said.get("content")}
    content, writers = turn_of(entry, said.get("content"))
    return {"role": said.get("role"), "content": content} | ({} if writers is None else {"written_by": writers})


def _entry(message: Message) -> Any:
    if not message.opaque:
        return message.metadata.get(_ENTRY, message.body)
    return message.body["item"] if message.body.get("type") == _KEPT else message.body


def _millis(at: datetime) -> int:
    return int(at.timestamp() * 1000)
