"""What `context` reads: the slots side by side, each with its own deadline, and one look at what is current."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from time import monotonic
from typing import Any, get_args

from memhold.consolidate.requests import ask_ahead
from memhold.context import gather
from memhold.context.answer import Context
from memhold.context.build import built
from memhold.context.plan import RESERVED, ContextQuery, Elsewhere, Inputs, Request
from memhold.context.strategies import check_strategy, least_share
from memhold.context.window_messages import is_person, only_recalled, words_of
from memhold.documents.paths import checked_path
from memhold.documents.read import standing_numbers
from memhold.facts.users_word import reworded
from memhold.messages.fences import keep_shown, unquoted
from memhold.messages.records import records_of, typed
from memhold.messages.shapes import listed_messages
from memhold.messages.window import entries_of, is_system
from memhold.ports.transaction import ReadTx
from memhold.recall.conversation import TURNS, asked_with, asker_of, last_turns, points_back, turn_of
from memhold.recall.excerpt import asked_of
from memhold.recall.people import People
from memhold.recall.recall import Meaning, checked, related, said_in
from memhold.text.stretches import both_ends
from memhold.text.token_estimate import Counted
from memhold.values.answers import DAMAGED, Query
from memhold.values.errors import InvalidInput
from memhold.values.records import HitKind, Memory, Message, Shape
from memhold.verbs.beside_loop import beside
from memhold.verbs.transactions import Transactions, named_scopes

__all__ = ["ContextSlots", "context"]

MEMORIES: tuple[HitKind, ...] = ("fact", "note", "summary")
TOLD = ("corrections", "instructions", "profile")
"""The slots that hold what people told for good."""
MEMORY_HITS = DOCUMENT_HITS = 30
LEAST_HITS, MOST_HITS, SHORTEST = 15, 400, 16
"""Earlier messages that are looked at: as many as would fill the budget if each took sixteen tokens."""

RETURNED = 8
"""Of what tools returned, and what was attached, one of so many is looked at."""
SLOT_SECONDS = 5.0
"""How long a slot may take before it is left out and named: longer than any read may run."""
TAIL = 2
"""Messages before the newest user's that `memory_first` keeps: the question and the answer that it goes on from."""


class ContextSlots:
    """The slots of one call of `context`."""

    def __init__(self, transactions: Transactions) -> None:
        self._tx = transactions
        self._runtime = transactions.runtime
        self._scope = transactions.scope

    async def counted(self, request: Request, model: str | None) -> Request:
        """The request with the count of the model's family, if it is known; of None that of the conversation chain."""
        if not isinstance(model, str | None):
            raise InvalidInput(f"model is {model!r:.40}; pass a model's name")
        find, counts = self._runtime.tokenizer, self._runtime.counts
        found = await asyncio.to_thread(find, model) if model != "" and find is not None else None
        name, count = (request.tokenizer, request.count) if found is None else found
        return replace(request, tokenizer=name, count=counts.setdefault(name, Counted(count)))

    async def inputs(
        self,
        given: Sequence[Mapping[str, Any]],
        request: Request,
        query: str | None,
        asker: str | None = None,
        *,
        others: Sequence[ContextSlots] = (),
    ) -> list[Inputs]:
        """Everything that a context is built from, each scope's of one moment; what failed or was late is named.

        This scope's first, then the memory of the others, which have no window. `asker` is the name of whoever asks,
        where the newest message of a person does not say it.
        """
        session, settings = self._scope.session or "", self._runtime.settings
        secret = self._runtime.store.facts.secret
        new_turns = sum(is_person(body, "anthropic") and not only_recalled(body, secret) for body in given)
        plan = gather.WindowPlan(
            strategy=request.strategy,
            tokens=request.available,
            threshold=request.threshold,
            tail=request.tail or 0,
            new_turns=new_turns,
            given=sum(not is_system(body) for body in given),
            person=lambda message: is_person(message.body, message.shape),
            ahead=int(share * request.available) if (share := settings.context_consolidate_share) else None,
            when=settings.when,
            count=request.count,
        )
        asked = query if query is not None else words_of(given, secret)
        window = asyncio.ensure_future(self._tx.read(lambda tx: gather.read_window(tx, session, plan)))

        async def asking_is() -> str | None:
            said = [body for body in given if not only_recalled(body, secret)]
            name = asker if asker is not None else asker_of(said, secret)
            alone = name is None and not words_of(said, secret)
            return _newest_name((await asyncio.shield(window)).messages) if alone else name

        whose = asyncio.ensure_future(asking_is())

        async def asking() -> tuple[Query, Meaning]:
            text = both_ends(asked or _newest_words((await asyncio.shield(window)).messages))
            turns: tuple[str, ...] = ()
            if points_back(text):
                turns = last_turns(given, self._runtime.store.facts.secret)
                turns = turns if len(turns) > 1 else (*_turns((await asyncio.shield(window)).messages), *turns)
                turns = tuple(turn for turn in turns if turn.partition(": ")[2] != text)
            question = Query(text=text, conversation=turns, asker=await asyncio.shield(whose))
            return question, await self._tx.meaning(asked_with(question))

        question = asyncio.ensure_future(asking())
        reading = [
            self.memory(question, request, whose, window=window),
            *(one.memory(question, replace(request, documents=()), whose) for one in others),
        ]
        tasks = [asyncio.ensure_future(one) for one in reading]
        try:
            first, *rest = await asyncio.gather(*tasks)
        finally:
            for task in (question, whose, *tasks):  # also where whoever asked went away
                task.cancel()
                task.add_done_callback(_heard)
        return [replace(first, given=given), *rest]

    async def memory(
        self,
        question: asyncio.Future[tuple[Query, Meaning]],
        request: Request,
        whose: asyncio.Future[str | None],
        *,
        window: asyncio.Future[gather.WindowRead] | None = None,
    ) -> Inputs:
        """What this scope remembers of the question, and the session's window where it is to go on."""
        agent, session = self._scope.agent, None if window is None else self._scope.session or ""
        # One ranking for both kinds of hits.
        ranked = asyncio.ensure_future(self._ranked(question, request))
        try:
            found, degraded = await self._side_by_side(
                {
                    **({} if window is None else {"window": window}),
                    "corrections": self._slot(lambda tx: gather.corrections(tx, agent)),
                    "instructions": self._slot(lambda tx: gather.instructions(tx, agent, tokens=request.available)),
                    "profile": self._slot(lambda tx: gather.profile(tx, agent, tokens=request.available)),
                    "summaries": self._slot(lambda tx: gather.summaries(tx, agent, session), marked=True),
                    "memories": _of(ranked, lambda one: isinstance(one, Memory) and not _is_document(one)),
                    **({"documents": _of(ranked, _is_document)} if request.documents else {}),
                    "messages": _of(ranked, lambda one: isinstance(one, Message)),
                }
            )
        finally:
            ranked.cancel()
            ranked.add_done_callback(_heard)
        read = found.pop("window", gather.WindowRead())
        signals = ranked.result().degraded if {"memories", "documents", "messages"} & found.keys() else ()
        current, unsure = await self._confirmed(found)
        of_others, unknown = await self._of_others(found, whose)

        damaged = dict.fromkeys(one for slot in (read, *found.values()) for one in slot.damaged)
        missing = tuple(dict.fromkeys([*degraded, *unsure, *unknown, *signals, *([DAMAGED] if damaged else ())]))
        missing = self._runtime.degraded(missing)
        inputs = _inputs(read, found, current, missing, _said(question))
        return replace(inputs, damaged=tuple(damaged), of_others=of_others)

    async def _slot(self, work: Callable[[ReadTx], Sequence[Memory]], *, marked: bool = False) -> gather.Seen:
        caches = self._runtime.caches

        def seen(tx: ReadTx) -> gather.Seen:
            items = tuple(work(tx))
            past = caches.outdated(tx) if marked else {}
            return gather.Seen(
                rev=tx.index_rev(),
                at=tx.now,
                items=items,
                outdated=past,
                reworded=reworded(tx, items),
                damaged=tuple(tx.damaged),
            )

        return await self._tx.read(seen)

    async def _ranked(self, question: asyncio.Future[tuple[Query, Meaning]], request: Request) -> gather.Seen:
        """What the question finds. It is evidence of nothing: what is put into a prompt was not asked for."""
        asked, meaning = await asyncio.shield(question)  # other scopes ask it too
        if not asked.text.strip():
            return gather.Seen()
        caches, timeout = self._runtime.caches, self._runtime.settings.recall_timeout
        most, paths = _most(request.available), request.documents
        queries = [
            checked(replace(asked, kinds=MEMORIES, limit=MEMORY_HITS)),
            checked(replace(asked, kinds=("message",), roles=("user", "participant", "assistant"), limit=most)),
            # What nobody said stands behind it, and never takes its place.
            checked(replace(asked, kinds=("message",), roles=("tool", "attachment"), limit=most // RETURNED)),
            *([checked(replace(asked, kinds=("document",), limit=DOCUMENT_HITS))] if paths else ()),
        ]

        def work(tx: ReadTx) -> gather.Seen:
            until = monotonic() + timeout
            named = None if () in paths else [one for path in paths for one in standing_numbers(tx, path)]
            in_time = lambda: monotonic() < until  # noqa: E731 - of this call
            one = related(tx, queries, caches, meaning, in_time, documents=named, least=request.least)
            told, full = len(one.found[1]), len(one.found[1]) == most
            return gather.Seen(
                rev=tx.index_rev(),
                at=tx.now,
                items=tuple(chain(*one.found)),
                outdated=one.outdated,
                then=one.then,
                degraded=one.degraded,
                unread=max(0, said_in(tx, caches) - told) if full or request.least else 0,
                nearest=None if one.sentences is None else one.sentences.nearest,
                questions=gather.questions(tx, one.found[1]),
                damaged=tuple(tx.damaged),
            )

        return await self._tx.look(work)

    async def _confirmed(
        self, found: Mapping[str, gather.Seen]
    ) -> tuple[Mapping[int, Memory | Message], Sequence[str]]:
        """By document number what is current in one snapshot, and the slots of which nobody knows it.

        Where the index of the scope did not change between the slots' reads, they were of one snapshot.
        """
        items = [item for seen in found.values() for item in seen.items]
        then = frozenset(chain(*(seen.then for seen in found.values())))
        if len({seen.rev for seen in found.values()} - {None}) < 2:
            times = [seen.at for seen in found.values() if seen.at is not None]
            return gather.current(items, max(times), then) if times else {}, ()
        wanted = [item.number for item in items]
        again, unsure = await self._side_by_side(
            {"current": self._tx.read(lambda tx: gather.confirm(tx, wanted, then))}
        )
        return again.get("current", {}), [name for name, seen in found.items() if unsure and seen.items]

    async def _of_others(
        self, found: Mapping[str, gather.Seen], whose: asyncio.Future[str | None]
    ) -> tuple[frozenset[str], Sequence[str]]:
        """The ids of what other people than whoever asks told, and what could not be asked for that."""
        asker = whose.result() if whose.done() and not whose.cancelled() and whose.exception() is None else None
        told = [item for name in TOLD if name in found for item in found[name].items if isinstance(item, Memory)]
        if asker is None and not any(one.speaker for one in told):
            return frozenset(), ()

        def work(tx: ReadTx) -> frozenset[str]:
            people = People(index=self._runtime.caches.indexes.index(tx), user=tx.scope.user)
            return frozenset(one.id for one in told if not people.owns(asker, one))

        known, missing = await self._side_by_side({"people": self._tx.read(work)})
        return known.get("people", frozenset(one.id for one in told if one.speaker)), missing

    async def _side_by_side(self, slots: Mapping[str, Awaitable[Any]]) -> tuple[dict[str, Any], list[str]]:
        """What each slot gave, and the names of those that failed or were late by this store's clock."""
        tasks = {name: _named(name, slot) for name, slot in slots.items()}
        late = asyncio.ensure_future(self._runtime.clock.sleep(SLOT_SECONDS))
        waiting = set(tasks.values())
        try:
            while waiting and not late.done():
                await asyncio.wait({*waiting, late}, return_when=asyncio.FIRST_COMPLETED)
                waiting = {task for task in waiting if not task.done()}
        finally:
            late.cancel()
            for task in waiting:
                task.cancel()
                task.add_done_callback(_heard)
        failed = [
            name for name, task in tasks.items() if task in waiting or task.cancelled() or task.exception() is not None
        ]
        return {name: task.result() for name, task in tasks.items() if name not in failed}, failed


def _said(question: asyncio.Future[tuple[Query, Meaning]]) -> str:
    return question.result()[0].text if question.done() and not question.cancelled() else ""


def _inputs(
    window: gather.WindowRead,
    found: Mapping[str, gather.Seen],
    current: Mapping[int, Memory | Message],
    degraded: tuple[str, ...],
    question: str,
) -> Inputs:
    """What the slots found and still holds."""

    def held(name: str) -> list[Memory]:
        items = (current.get(item.number) for item in found.get(name, gather.Seen()).items)
        return [item for item in items if isinstance(item, Memory)]

    earlier = found.get("messages", gather.Seen())
    said = (current.get(item.number) for item in earlier.items)
    messages = [one for one in said if isinstance(one, Message) and unquoted(one).strip()]
    return Inputs(
        window=window,
        corrections=held("corrections"),
        instructions=held("instructions"),
        profile=held("profile"),
        summaries=gather.history(held("summaries")),
        memories=held("memories"),
        documents=held("documents"),
        outdated=dict(chain(*(seen.outdated.items() for seen in found.values()))),
        messages=messages,
        unread=earlier.unread,
        reworded=frozenset(chain(*(seen.reworded for seen in found.values()))),
        asked=asked_of(question, messages, earlier.nearest),
        questions=earlier.questions,
        degraded=degraded,
    )


async def _of(ranked: asyncio.Future[gather.Seen], takes: Callable[[Memory | Message], bool]) -> gather.Seen:
    found = await asyncio.shield(ranked)
    return replace(found, items=tuple(filter(takes, found.items)))


def _is_document(item: Memory | Message) -> bool:
    return isinstance(item, Memory) and item.kind == "document"


def _named(name: str, slot: Awaitable[Any]) -> asyncio.Future[Any]:
    task = asyncio.ensure_future(slot)
    if isinstance(task, asyncio.Task):
        task.set_name(f"context-{name}")
    return task


def _heard(task: asyncio.Future[Any]) -> None:
    """What a slot says after its deadline is of no more use."""
    if not task.cancelled():
        task.exception()


def _request(asked: ContextQuery) -> Request:
    """The checked request.

    Raises:
        InvalidInput: the reserve leaves nothing, or the shape, the strategy, the fill or a path cannot be used.
    """
    kept = asked.budget // RESERVED if asked.reserve is None else asked.reserve
    if kept >= asked.budget:
        raise InvalidInput(f"the reserve of {kept} tokens leaves nothing of the budget of {asked.budget}")
    if asked.shape not in get_args(Shape):
        raise InvalidInput(f"the shape is {asked.shape!r:.40}; use one of {', '.join(get_args(Shape))}")
    check_strategy(asked.strategy)
    return Request(
        budget=asked.budget,
        reserve=kept,
        strategy=asked.strategy,
        shape=asked.shape,
        threshold=asked.crossover_turn_threshold or 0,
        tail=TAIL if asked.tail is None else asked.tail,
        by_default=asked.reserve is None,
        documents=[checked_path(path, "a path of documents", least=0) for path in asked.documents],
        least=least_share(asked.fill),
    )


async def context(
    here: Transactions,
    asked: ContextQuery,
    *,
    messages: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None,
) -> Context:
    """The messages to send; what was shown of memory is remembered behind the answer."""
    runtime, scope = here.runtime, here.scope
    request = _request(asked)
    given = await beside(lambda: _listed(messages), messages)
    runtime.guard()
    slots = ContextSlots(here)
    model = (runtime.settings.context_model or None) if asked.model is None else asked.model
    request = await slots.counted(request, model)
    named = named_scopes(scope, asked.also)
    others = [ContextSlots(Transactions(runtime, one)) for one in named]
    inputs, *more = await slots.inputs(given, request, asked.query, asked.asker, others=others)
    last = inputs.window.ahead
    if last:
        runtime.after_answer.soon(scope, lambda tx: ask_ahead(tx, here.session, last))
    elsewhere = [
        Elsewhere(
            scope=replace(one, actor="user"), inputs=held, same_user=one.user is not None and one.user == scope.user
        )
        for one, held in zip(named, more, strict=True)
    ]
    secret = runtime.store.facts.secret
    built_of, fences = await asyncio.to_thread(built, inputs, request, secret=secret, elsewhere=elsewhere)
    if fences:
        runtime.after_answer.soon(scope, lambda tx: keep_shown(tx, fences))
    return built_of


def _most(available: int) -> int:
    return max(LEAST_HITS, min(MOST_HITS, available // SHORTEST))


def _listed(messages: Any) -> Sequence[Mapping[str, Any]]:
    """The caller's messages as a list.

    Raises:
        InvalidInput, InvalidMessage: they are no messages; `index` says which.
    """
    if messages is None:
        return ()
    if isinstance(messages, str):
        messages = {"role": "user", "content": messages}
    found: Any = listed_messages(messages)
    entries_of(found, "openai")  # its roles hold those of the other shape too
    return tuple(found)


def _turns(messages: Sequence[Message]) -> tuple[str, ...]:
    """What the last turns of a window say, as `last_turns` gives them."""
    said = (turn_of(one.written_by, unquoted(one)) for message in messages for one in records_of(message))
    return tuple(filter(None, said))[-TURNS:]


def _newest_name(messages: Sequence[Message]) -> str | None:
    newest = next((one for one in reversed(messages) if one.typed), None)
    return None if newest is None else newest.speaker


def _newest_words(messages: Sequence[Message]) -> str:
    said = (unquoted(one) for message in reversed(messages) for one in typed([message]))
    return next(filter(str.strip, said), "")
