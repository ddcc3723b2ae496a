"""One session of a wrapped client: what of a request is new is kept, and what memory knows is asked once a turn."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from memhold.context.answer import Context
from memhold.integrations.reach import Call, Reach
from memhold.integrations.record import Recorder, newest_messages
from memhold.integrations.sdk.alignment import Mark, kept_of, marks, marks_of_said, stands_in
from memhold.integrations.sdk.api import Body, Known, Request
from memhold.messages.openai_pairs import user_wrote
from memhold.messages.window import is_system
from memhold.providers.vocabularies import count_of
from memhold.text.token_estimate import Count, estimate_message
from memhold.values.records import Message
from memhold.verbs.scope import AsyncScope

__all__ = ["Conversation", "Turn"]

_FENCE = "<memhold-recall "
_TAIL = 400
"""As many of the journal's last messages are looked at for what a request brings again."""
_MOST_KEPT = 4_000
_MOST_TURNS = 64
"""So many turns' additions are held, for a request that goes on with one of them."""

Asked = tuple[Known | None, Sequence[str]]
_NOT_ASKED: Asked = (None, ("context",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A request, read: its conversation, and the new messages of it."""

    said: tuple[Body, ...]
    new: tuple[Body, ...]
    names: tuple[bytes, ...]
    """For each message what tells the conversation up to it from any other."""
    asked: int
    """The position of the newest message that a person wrote; -1 where none did."""

    @property
    def goes_on(self) -> bool:
        """Whether calls and their results stand behind what the person wrote; else it is said now, perhaps again."""
        return 0 <= self.asked < len(self.said) - 1

    @property
    def alone(self) -> bool:
        """Whether the program sends no earlier turn with it."""
        return not any(one.get("role") == "assistant" for one in self.said)


class Conversation:
    """The session's messages that are known to be kept, and what memory added to its turns.

    Safe to share between threads and tasks. Nothing that it does ends the caller's request.
    """

    def __init__(self, reach: Reach, *, budget: int, model: str | None = None) -> None:
        self._recorder = Recorder(reach)
        self._budget = budget
        self._model = model
        self._kept: list[Mark] = []
        self._read = False
        self._known: OrderedDict[bytes, Known] = OrderedDict()
        self._lock = threading.Lock()
        self.degraded: tuple[str, ...] = ()

    @property
    def waiting(self) -> int:
        """How many messages are not durable yet."""
        return len(self._recorder.waiting)

    # ------------------------------------------------------------------------------------------- before the call

    async def before(self, request: Request) -> Known:
        """Keep what is new of a request, and say what memory adds to it."""
        return await self._told(request.said, lambda turn: _asking(request, turn, self._budget))

    async def beside(self, said: Sequence[Body], *, model: str | None = None) -> Known:
        """Keep what is new of a conversation whose older turns the program may have dropped, and say what is known.

        `model` is who is asked now, where that is not whom the conversation was made for.
        """
        return await self._told(said, lambda turn: _asking_beside(turn, self._budget, model or self._model))

    async def known(self, said: Sequence[Body], *, model: str | None = None) -> Known:
        """Say what is known beside a conversation that somebody else keeps."""
        turn = _turn_of(said, marks(said), len(said))
        if (known := self._held(turn)) is not None:
            return known
        asked = await self._recorder.look(
            _asking_beside(turn, self._budget, model or self._model), otherwise=_NOT_ASKED
        )
        return self._added(turn, *asked, durable=True)

    async def keep(self, said: Sequence[Body]) -> None:
        """Keep what is new of a conversation up to its end."""
        await self._new(said)

    async def keep_part(self, left: Sequence[Body]) -> None:
        """Keep what is new of messages that leave the program's window: any part of the conversation."""
        await self._new(left, part=True)

    async def _told(self, said: Sequence[Body], asking: Callable[[Turn], Call[Asked]]) -> Known:
        turn, durable = await self._new(said)
        if (known := self._held(turn)) is not None:
            return known
        asked = await self._recorder.look(asking(turn), otherwise=_NOT_ASKED)
        return self._added(turn, *asked, durable=durable)

    async def _new(self, said: Sequence[Body], *, part: bool = False) -> tuple[Turn, bool]:
        """The conversation, read, once what is new of it was recorded; and whether all is durable."""
        if not self._read:
            self._begin(await self._recorder.look(_tail, otherwise=None))
        turn = self._turn(said, part=part)
        return turn, await self._recorder.record(turn.new) if turn.new or self.waiting else True

    def before_now(self, request: Request) -> Known:
        """`before`, for code that is not async."""
        if not self._read:
            self._begin(self._recorder.look_now(_tail, otherwise=None))
        turn = self._turn(request.said)
        durable = self._recorder.record_now(turn.new) if turn.new or self.waiting else True
        if (known := self._held(turn)) is not None:
            return known
        asked = self._recorder.look_now(_asking(request, turn, self._budget), otherwise=_NOT_ASKED)
        return self._added(turn, *asked, durable=durable)

    def _begin(self, tail: Sequence[Message] | None) -> None:
        if tail is None:
            return
        with self._lock:
            if not self._read:
                kept = marks_of_said((one.role, one.text) for one in tail if not is_system(one.body))
                self._kept, self._read = [*kept, *self._kept], True

    def _turn(self, said: Sequence[Body], *, part: bool = False) -> Turn:
        """Read a conversation; what is new of it counts as kept from here on."""
        found = marks(said)
        with self._lock:
            known = len(found) if part and stands_in(self._kept, found) else kept_of(self._kept, found)
            if not self._read and known == 0:  # the journal cannot be read: only the newest turn is surely new
                known = max((at + 1 for at in range(len(said)) if said[at].get("role") == "assistant"), default=0)
            self._keep(found[known:])
        return _turn_of(said, found, known)

    def _keep(self, new: Sequence[Mark]) -> None:
        self._kept += new
        del self._kept[:-_MOST_KEPT]

    # -------------------------------------------------------------------------------------------- what is known

    def _held(self, turn: Turn) -> Known | None:
        """What was added to this turn before: a tool's result goes on with it, and its prefix stays as it was.

        The same words said again, as by a program that sends each question alone, are asked anew: what was known then
        may have been changed or forgotten since.
        """
        if turn.asked < 0:
            return Known()
        with self._lock:
            return self._known.get(turn.names[turn.asked]) if turn.goes_on else None

    def _added(self, turn: Turn, found: Known | None, missing: Sequence[str], *, durable: bool) -> Known:
        self.degraded = (*(() if durable else ("add",)), *missing)
        with self._lock:
            before = (self._known.get(turn.names[at]) for at in range(turn.asked - 1, -1, -1))
            earlier = next((one.earlier for one in before if one is not None), ())
            if found is None:
                return Known(earlier=earlier)
            known = self._known[turn.names[turn.asked]] = found if turn.alone else replace(found, earlier=earlier)
            while len(self._known) > _MOST_TURNS:
                self._known.popitem(last=False)
        return known

    # -------------------------------------------------------------------------------------------- after the call

    async def after(self, request: Request, reply: Body | None) -> None:
        """Keep a reply, whole or as far as it came."""
        if reply is not None:
            self._replied(request.said, reply)
            await self._recorder.record([reply])

    def after_now(self, request: Request, reply: Body | None) -> None:
        """`after`, for code that is not async."""
        if reply is not None:
            self._replied(request.said, reply)
            self._recorder.record_now([reply])

    def _replied(self, said: Sequence[Body], reply: Body) -> None:
        found = marks([*said, reply])
        with self._lock:
            self._keep(found[-1:])


def _turn_of(said: Sequence[Body], found: Sequence[Mark], known: int) -> Turn:
    asked = next((at for at in range(len(said) - 1, -1, -1) if user_wrote(said[at])), -1)
    return Turn(said=tuple(said), new=tuple(said[known:]), names=_names(found), asked=asked)


async def _tail(scope: AsyncScope) -> Sequence[Message] | None:
    return await newest_messages(scope, _TAIL)


def _names(found: Sequence[Mark]) -> tuple[bytes, ...]:
    told, names = blake2b(digest_size=16), []
    for mark in found:
        told.update(mark)
        names.append(told.copy().digest())
    return tuple(names)


def _asking(request: Request, turn: Turn, room: int) -> Call[Asked]:
    """Ask for what fits into the room beside what the program sends itself, which is not said again."""
    model = request.body.get("model")
    named = model if isinstance(model, str) else None
    alone = turn.alone and not any(request.body.get(field) for field in request.api.held_by)
    given = turn.said if alone else (turn.said[turn.asked],)

    async def ask(scope: AsyncScope) -> Asked:
        count = await asyncio.to_thread(count_of, named)
        own = room + _cost(given, count)
        if alone:
            context = await scope.context(given, budget=own, reserve=0, model=named)
            return _read(context, len(given)), context.degraded
        sent = _cost(turn.said, count) + count(request.api.instructions(request.body))
        context = await scope.context(given, budget=room + sent, reserve=0, strategy="full_history", model=named)
        known = _read(context, None)
        if _all(known, count) > room:
            # The session's window is shorter than what the program sends: then memory fills what the window leaves.
            context = await scope.context(given, budget=own, reserve=0, strategy="memory_first", model=named)
            known = _read(context, None)
        return known, context.degraded

    return ask


def _asking_beside(turn: Turn, room: int, model: str | None) -> Call[Asked]:
    """Ask for what fits into the room, of all but the turns that are sent: older ones of the session are found too."""

    async def ask(scope: AsyncScope) -> Asked:
        count, newest = await asyncio.to_thread(count_of, model), (turn.said[turn.asked],)

        async def within(sent: Sequence[Body]) -> Context:
            budget, tail = room + _cost(sent, count), turn.asked
            return await scope.context(
                newest, budget=budget, reserve=0, strategy="memory_first", tail=tail, model=model
            )

        context = await within(turn.said)
        if _all(_read(context, None), count) > room:
            # Beside a long conversation memory takes a part of what its turns would have.
            context = await within(newest)
        return _read(context, None), context.degraded

    return ask


def _all(known: Known, count: Count) -> int:
    return sum(map(count, known.texts))


def _cost(said: Sequence[Body], count: Count) -> int:
    return sum(estimate_message(one, count) for one in said)


def _read(context: Context, given: int | None) -> Known:
    """The fences of a context, and of its turns those before the caller's, where so many were `given`."""
    fences: list[tuple[int, str]] = []
    standing, spoken = "", list[Body]()
    for message in context.messages:
        content = message.get("content")
        if isinstance(content, str) and content.startswith(_FENCE):
            if is_system(message):
                standing = content
            else:
                fences.append((len(spoken), content))
        elif not is_system(message):
            spoken.append(message)
    newest = next((at for at in range(len(spoken) - 1, -1, -1) if user_wrote(spoken[at])), 0)
    return Known(
        standing=standing,
        noted=tuple(text for at, text in fences if at < newest),
        earlier=tuple(spoken[:-given]) if given else (),
        recalled=tuple(text for at, text in fences if at >= newest),
    )
