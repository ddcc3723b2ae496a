"""The verbs of a scope whose store a server keeps: the same calls, answers and errors as those of a local one.

What the declarations say of a verb is enough to send it; what is irregular on the wire is written here by hand.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC
from pathlib import Path
from typing import Any, cast, get_args, get_origin
from uuid import uuid4

from memhold.faces.remote.transport import Call, Sends
from memhold.faces.remote.wire import key_header, sent_messages
from memhold.journal.visibility import checked_id
from memhold.values.answers import Messages, Query, Residue
from memhold.values.errors import NotFound, WrongKind
from memhold.values.hints import Hinting
from memhold.values.jsonable import from_jsonable
from memhold.values.records import Memory, Message, Scope
from memhold.verbs.arguments import to_json
from memhold.verbs.checking import judging
from memhold.verbs.declaration import Verb, verbs_of
from memhold.verbs.documents import AsyncDocuments
from memhold.verbs.files import Exported, ExportFormat, Report
from memhold.verbs.scope import AsyncScope

__all__ = ["CALL_SECONDS", "RemoteDocuments", "RemoteScope", "remote_scope"]

CALL_SECONDS = 120.0
"""What a call may take whose work waits for models: more than a server waits for them."""
_ID = re.compile(r"[A-Za-z0-9_-]{1,200}")
_TAKES = {"memory_id": ("memory", "mem_"), "change_id": ("change", "chg_")}
"""Of arguments that stand in a path: the one kind whose ids they take, and how these begin."""
_LONGEST_WAIT = 30.0
"""Seconds that a server waits for a reader that holds forgotten bytes."""
_WAITING = ("compact", "consolidate")
"""Verbs that wait for models. Without a key they are sent once: a second run would not tell what the first one did."""


def remote_scope(transport: Sends, scope: Scope) -> AsyncScope:
    """The verbs of a scope behind a transport."""
    return cast("AsyncScope", RemoteScope(transport, scope))


class RemoteScope(Hinting):
    """The verbs of one scope over HTTP.

    What is written without an idempotency key gets one, so that a call whose answer was lost can be sent again.
    """

    def __init__(self, transport: Sends, scope: Scope) -> None:
        self._transport = transport
        self._scope = scope

    @property
    def scope(self) -> Scope:
        """Whose memory this is."""
        return self._scope

    @property
    def documents(self) -> AsyncDocuments:
        """The verbs of documents by name."""
        return cast("AsyncDocuments", RemoteDocuments(self))

    @property
    def _session(self) -> dict[str, Any]:
        return {} if self._scope.session is None else {"session": self._scope.session}

    async def _ask(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        return (await self._transport.send(Call(method="GET", path=path, query=query or {}, again=True))).data

    async def send(self, verb: Verb, given: Mapping[str, Any]) -> Any:
        """Send a verb by its declaration, and read its answer."""
        if verb.name == "import_file":
            return await self._imported(**given)
        assert verb.http is not None  # noqa: S101 - asked for before
        http, left = verb.http, dict(_expanded(given))
        key, rev = left.pop("idempotency_key", None), left.pop("rev", None)
        for name in [name for name in left if f"{{{name}}}" in http.path]:
            left[name] = _in_path(left[name], _TAKES.get(name))
        path = f"/v1{http.path}".format_map(left)
        rest = {name: value for name, value in left.items() if f"{{{name}}}" not in http.path}
        body = _body(verb, rest)
        query = dict(self._session) if http.in_session else {}
        headers = {} if rev is None else {"if-match": f'"{rev}"'.encode()}
        once = verb.idempotent and rest.get("dry_run") is not True
        if once:
            headers["idempotency-key"] = key_header(uuid4().hex if key is None else key)
        if http.method == "GET":
            query |= {name: _as_text(value) for name, value in body.items()}
        call = Call(
            method=http.method,
            path=path,
            query=query,
            body=None if http.method == "GET" else body,
            headers=headers,
            again=once or verb.needs == "read" or rest.get("dry_run") is True,
            timeout=CALL_SECONDS if verb.name in {*_WAITING, "retain"} else None,
        )
        return _read(verb.types["return"], (await self._transport.send(call)).data)

    # ------------------------------------------------------------------------------------------------ irregular

    async def get(self, item_id: str) -> Message | Memory:
        """See `AsyncScope.get`."""
        item = _in_path(item_id)
        if item.startswith("msg_"):
            return from_jsonable(Message, await self._ask(f"/v1/messages/{item}"))
        return from_jsonable(Memory, await self._ask(f"/v1/memories/{item}"))

    async def messages(
        self, *, after: int = 0, before: int | None = None, newest: bool = False, limit: int = 1000
    ) -> Messages:
        """See `AsyncScope.messages`; a long stretch comes in several calls."""
        found: list[Message] = []
        damaged: dict[str, None] = {}
        query: dict[str, Any] = {**self._session, "after": after}
        query |= {} if before is None else {"before": before}
        query |= {"newest": "true"} if newest else {}
        while True:
            page = await self._ask("/v1/messages", {**query, "limit": limit - len(found)})
            items = [from_jsonable(Message, one) for one in page["items"]]
            found = [*items, *found] if newest else [*found, *items]
            damaged |= dict.fromkeys(page.get("damaged", ()))
            if page["cursor"] is None or len(found) >= limit:
                return Messages(found, damaged)
            query["before" if newest else "after"] = page["cursor"]

    async def read_message(self, message_id: str, *, offset: int = 0, limit: int = 100_000) -> str:
        """See `AsyncScope.read_message`."""
        query = {"offset": offset, "limit": limit}
        text: str = (await self._ask(f"/v1/messages/{_in_path(message_id)}/text", query))["text"]
        return text

    async def residue(self, text: str) -> Residue:
        """See `AsyncScope.residue`; for whoever runs the server, with no token: its files hold others' memory too.

        Raises:
            ScopeDenied: it was opened with a token: that is of one namespace.
        """
        call = Call(method="POST", path="/v1/admin/residue", body={"text": text}, again=True, timeout=600.0)
        return from_jsonable(Residue, (await self._transport.send(call)).data)

    async def _imported(self, path: str | Path, **given: Any) -> Report:
        """Send a file; `progress` tells how much was sent."""
        from memhold.faces.remote.files import upload

        zone, progress = given.pop("zone", UTC), given.pop("progress", None)
        query = {name: "true" if value is True else value for name, value in given.items() if value is not False}
        return await upload(self._transport, path, query, zone=zone, progress=progress)

    async def export(self, path: str | Path, *, format: ExportFormat = "jsonl") -> Exported:
        """See `AsyncScope.export`; the files are written here."""
        from memhold.faces.remote.files import download

        return await download(self._transport, path, self._session, format_name=format)


class RemoteDocuments:
    """The verbs of documents over HTTP, as `RemoteScope` sends its own."""

    def __init__(self, scope: RemoteScope) -> None:
        self.send = scope.send


def _sending(verb: Verb) -> Callable[..., Awaitable[Any]]:
    signature = inspect.signature(verb.source)

    @functools.wraps(verb.source)
    async def sent(self: RemoteScope | RemoteDocuments, *args: Any, **named: Any) -> Any:
        given = signature.bind(self, *args, **named).arguments
        return await self.send(verb, {name: value for name, value in given.items() if name != "self"})

    return sent


for _home, _face in ((AsyncScope, RemoteScope), (AsyncDocuments, RemoteDocuments)):
    for _verb in verbs_of(_home).values():
        if _verb.name not in vars(_face):
            setattr(_face, _verb.name, _sending(_verb))
    judging(_home, _face)


def _expanded(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Arguments with one that is a whole question as its parts."""
    query = given.get("query")
    if not isinstance(query, Query):
        return given
    asked = verbs_of(AsyncScope)["recall"].parameters.keys() - {"messages", "query"}
    parts = {name: getattr(query, name) for name in asked}
    if query.conversation:
        turns = (turn.partition(": ") for turn in query.conversation)  # each says whose it is
        parts["messages"] = [{"role": role, "content": text} for role, _, text in turns]
    return {**parts, **{name: value for name, value in given.items() if name != "query"}, "query": query.text}


def _body(verb: Verb, given: Mapping[str, Any]) -> dict[str, Any]:
    left = dict(given)
    messages = left.pop("messages", None)
    says = "messages" in given and (messages is not None or verb.parameters["messages"].required)
    if "wait" in left:
        left["wait"] = min(left["wait"], _LONGEST_WAIT)
    for name in ("session", "item_id"):
        if isinstance(left.get(name), str):
            _crossing(name, left[name])
    body = to_json(verb, left)
    return {"messages": sent_messages(messages), **body} if says else body


def _crossing(name: str, value: str) -> None:
    """Refuse what half a surrogate pair makes unsendable, in the words of a local store.

    Raises:
        InvalidScope, NotFound, WrongKind: it cannot be such a name or id.
    """
    if name == "item_id":
        checked_id(value)
    elif not value.isascii() and any(0xD800 <= ord(c) <= 0xDFFF for c in value):
        Scope(session=value)


def _as_text(value: Any) -> Any:
    if value is None:
        return "any"
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else value


def _read(declared: Any, data: Any) -> Any:
    if get_origin(declared) is tuple:
        inner = get_args(declared)[0]
        return tuple(one if inner is str else from_jsonable(inner, one) for one in data)
    return data if declared in {str, bool, int} else from_jsonable(declared, data)


def _in_path(item_id: str, takes: tuple[str, str] | None = None) -> str:
    """An id that can stand in a path, where the verb takes ids of one kind, that begin so.

    Raises:
        NotFound, WrongKind: no id looks like that.
    """
    if not _ID.fullmatch(checked_id(item_id)):
        if takes is not None and not item_id.startswith(takes[1]):
            raise WrongKind(f"{item_id!r:.80} is not the id of a {takes[0]}; pass one ({takes[1]}…)", id=item_id)
        raise NotFound(f"nothing with the id {item_id!r:.80} in this scope", id=item_id)
    return item_id
