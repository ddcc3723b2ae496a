"""OpenAI's Agents SDK: a `Session` that outlives its process, and lets memory read its turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from memhold.documents.given_names import session_of
from memhold.faces.python.open import AsyncMemhold
from memhold.faces.python.sync import SyncStore
from memhold.integrations.framework import lacking
from memhold.integrations.reach import Reach
from memhold.integrations.record import Recorder, newest_messages
from memhold.messages.ingest import OWN_KEYS
from memhold.messages.shapes import read_message
from memhold.values.errors import InvalidMessage, NotFound
from memhold.values.records import Message
from memhold.verbs.scope import AsyncScope

try:
    from agents.items import TResponseInputItem
    from agents.memory import SessionSettings
    from agents.memory.session import SessionABC
    from agents.memory.session_settings import coerce_session_settings, resolve_session_limit
except ImportError as missing:
    raise lacking(__name__, "openai-agents", "0.20", missing) from missing

__all__ = ["MemholdSession"]

_KEPT = "memhold.kept"
"""The type of an item that holds one which cannot stand as it is: a role that is not known, a message without words."""
_BATCH = 500
"""Items of one write: far below the most that a store takes at once."""


class MemholdSession(SessionABC):
    """A session for `Runner.run(…, session=…)`: the session of that name in one user's memory.

    Messages are found by recall and may become memory; calls, their outputs and reasoning are kept as they are, in
    their place. Recording never ends a run: what the store cannot take waits in the process (see `integrations`), and
    is among what `get_items` gives. `pop_item` and `clear_session` hide, or with `erase=True` erase for good.
    """

    def __init__(
        self,
        session_id: str,
        store: SyncStore | AsyncMemhold,
        *,
        user: str | None = None,
        namespace: str = "default",
        agent: str | None = None,
        session_settings: SessionSettings | dict[str, Any] | None = None,
        erase: bool = False,
    ) -> None:
        self.session_id = session_id
        self.session_settings = (
            SessionSettings() if session_settings is None else coerce_session_settings(session_settings)
        )
        self._reach = Reach.within(store, namespace=namespace, user=user, agent=agent, session=session_id)
        self._recorder = Recorder(self._reach)
        self._erase = erase

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The items in their order, or the newest `limit` of them; only what waits where the store is gone."""
        most = resolve_session_limit(limit, self.session_settings)
        if most is not None and most <= 0:
            return []
        await self._recorder.record([])
        none: Sequence[Message] = ()
        held = await self._recorder.look(lambda scope: newest_messages(scope, most), otherwise=none)
        items = [*map(_item, held), *(_unkept(message) for message in self._recorder.waiting)]
        return cast("list[TResponseInputItem]", items if most is None else items[-most:])

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Append items; durable when it returns, but where the log says that memory is not there."""
        for batch in _batches([_message(cast("Mapping[str, Any]", item)) for item in items]):
            await self._recorder.record(batch)

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the newest item away and return it; None where there is none, or the store is gone."""

        async def popped(scope: AsyncScope) -> Message | None:
            while newest := await scope.messages(newest=True, limit=1):
                try:
                    await scope.forget(newest[0].id, hard=self._erase)
                except NotFound:
                    continue  # another took it meanwhile
                return newest[0]
            return None

        if not await self._recorder.record([]):
            return None
        taken = await self._recorder.look(popped, otherwise=None)
        return None if taken is None else cast("TResponseInputItem", _item(taken))

    async def clear_session(self) -> None:
        """Take all items away. Raises where the store is gone: what was to go is still there."""
        await self._reach.ask(lambda scope: scope.forget(session=session_of(self.session_id), hard=self._erase))


def _batches(messages: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """What is written at once: no more than a store takes, and no id of a message twice."""
    batch: list[Mapping[str, Any]] = []
    seen: set[Any] = set()
    for message in messages:
        ident = message.get("id")
        if len(batch) == _BATCH or (isinstance(ident, str) and ident in seen):
            yield batch
            batch, seen = [], set()
        batch.append(message)
        seen |= {ident} if isinstance(ident, str) else set()
    if batch:
        yield batch


def _message(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """An item as the journal keeps it: a message, an item without a role, or one that holds it."""
    if item.get("type") != _KEPT and not ("role" in item and OWN_KEYS & item.keys()):
        try:
            read_message(item)
        except InvalidMessage:
            pass
        else:
            return item
    return {"type": _KEPT, "item": dict(item)}


def _item(message: Message) -> Mapping[str, Any]:
    return _unkept(message.body)


def _unkept(body: Mapping[str, Any]) -> Mapping[str, Any]:
    return body["item"] if body.get("type") == _KEPT else body
