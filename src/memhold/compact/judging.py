"""The judge at work: one question to the chain, its partition read, a second model asked of its texts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from memhold.asking.prompts import prompt
from memhold.compact.apply import RULES, Ruling
from memhold.compact.asking import merge_prompt, merge_request
from memhold.compact.contract import Judgement, Partition, read_partition
from memhold.compact.opinion import opinion_request, read_opinion
from memhold.compact.rollup.contract import read_rollup, rollup_prompt, rollup_request
from memhold.compact.rollup.plan import Wanted
from memhold.compact.rollup.retelling import Untold, read_telling, telling_request
from memhold.compact.verdict_steps import Merged, Settled, settled
from memhold.index.embedding import Embedding
from memhold.ports.models import Accepted, ChatReply, ModelChain, Rejected, TaskFailed, UsageBook
from memhold.values.errors import Attempt, InvalidInput, ModelError
from memhold.values.records import Author, Memory

__all__ = ["Judge", "Told", "Verdict", "vector_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the judge said, and what follows from it. `calls` are all that were made to come to it."""

    partition: Partition
    settled: Settled
    author: Author
    reply: ChatReply
    attempts: tuple[Attempt, ...]
    calls: int
    refused: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A summary told anew, by whom; without a text where no answer passed, and why."""

    reason: str
    by: Author
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """The chain that is asked; `rules` are links that are no models, whose answers say nothing.

    `second` is what follows the first model of the chain: it is asked what a text loses or adds, and counts.
    """

    chain: ModelChain
    rules: frozenset[str] = frozenset()
    second: ModelChain | None = None
    spent: Callable[[UsageBook], Awaitable[None]] | None = None

    async def settle(self, memories: Sequence[Memory], *, room: int | None = None) -> Verdict | TaskFailed:
        """What the first model says whose answer is a partition of these; each model is asked at most once.

        A text that is refused costs no further call: its memories stay, and are told together. `room` is the longest
        text, in characters, that the embedding takes. A `TaskFailed` says nothing of the memories: they wait, and are
        asked about again.
        """

        def read(reply: ChatReply) -> Partition | Rejected:
            return read_partition(reply, len(memories))

        outcome = await self.chain.ask(merge_request(memories), read)
        if not isinstance(outcome, Accepted):
            return outcome
        return await self._seconded(memories, await self._read(memories, outcome, room), room)

    async def _read(self, memories: Sequence[Memory], outcome: Accepted[Partition], room: int | None) -> Verdict:
        partition = outcome.value
        found = await _settled(memories, partition, room)
        name = outcome.attempts[-1].model if outcome.attempts else outcome.reply.model
        return Verdict(
            partition=partition,
            settled=found,
            author=Author(origin="model", name=name, version=merge_prompt().version),
            reply=outcome.reply,
            attempts=outcome.attempts,
            calls=len(outcome.attempts),
            refused=dict(found.refused),
        )

    async def _seconded(self, memories: Sequence[Memory], found: Verdict, room: int | None) -> Verdict:
        """Without the texts of which another model says that they lose or add something: their memories stay."""
        merged = [step for step in found.settled.steps if isinstance(step, Merged)]
        if self.second is None or not merged:
            return found
        calls, groups, refused = found.calls, list(found.partition.groups), dict(found.refused)
        attempts = found.attempts
        for step in merged:
            shown = [memories[place] for place in step.places]
            outcome = await self.second.ask(opinion_request(shown, step.group.text), read_opinion)
            calls, attempts = calls + len(outcome.attempts), (*attempts, *outcome.attempts)
            if isinstance(outcome, Accepted) and not outcome.value.fair:
                number = groups.index(step.group)
                groups[number] = replace(step.group, relation="adds", text="")
                refused[number] = "another model says that it loses or adds something"
        partition = replace(found.partition, groups=tuple(groups))
        again_settled = await _settled(memories, partition, room) if refused != found.refused else found.settled
        return replace(
            found, partition=partition, settled=again_settled, attempts=attempts, calls=calls, refused=refused
        )

    async def roll_up(self, wanted: Wanted) -> Ruling | TaskFailed:
        """The roll-up of a period by the first model whose answer passes its check; each model is asked at most once.

        Where models answered and none passed, the ruling is to keep the parts, by nobody's word. A `TaskFailed` says
        that they could not be asked.
        """
        outcome = await self.chain.ask(rollup_request(wanted), lambda reply: read_rollup(reply, wanted))
        if isinstance(outcome, Accepted):
            name = outcome.attempts[-1].model if outcome.attempts else outcome.reply.model
            author = Author(origin="model", name=name, version=rollup_prompt().version)
            return Ruling(judgement=outcome.value, author=author, reply=outcome.reply, attempts=outcome.attempts)
        if not self._answered(outcome):
            return outcome
        last = outcome.attempts[-1].reason if outcome.attempts else outcome.advice
        kept = Judgement(decision="keep_apart", reason=f"no model gave an answer that stands: {last}")
        return Ruling(judgement=kept, author=RULES, attempts=outcome.attempts)

    async def tell_anew(self, asked: Untold) -> Told | TaskFailed:
        """A summary without what no longer holds, by the first model whose answer passes its check; as `roll_up`."""
        outcome = await self.chain.ask(telling_request(asked), lambda reply: read_telling(reply, asked))
        if isinstance(outcome, Accepted):
            name = outcome.attempts[-1].model if outcome.attempts else outcome.reply.model
            by = Author(origin="model", name=name, version=prompt("tell_anew").version)
            return Told(text=outcome.value, reason="it said what no longer holds", by=by)
        if not self._answered(outcome):
            return outcome
        return Told(reason=outcome.attempts[-1].reason if outcome.attempts else outcome.advice, by=RULES)

    def _answered(self, failed: TaskFailed) -> bool:
        """Whether the models were there and these memories are the fault: asking again would give the same."""
        return failed.advice in {"poison", "refused", "shorten"} or failed.by_its_input(but=self.rules)


async def _settled(memories: Sequence[Memory], partition: Partition, room: int | None) -> Settled:
    """What follows from a partition; on a thread, since reading the details of long texts takes a while."""

    def fits(text: str) -> bool:
        return room is None or len(text) <= room

    return await asyncio.to_thread(settled, memories, partition, fits=fits)


async def vector_of(embedding: Embedding, text: str) -> bytes | None:
    """The vector of a merged text; None where the embedding is there and cannot take a text like this.

    Raises:
        MemholdError: the embedding failed; another time it may not.
    """
    if await _over(embedding, text):
        return None
    try:
        [vector] = await embedding.documents([text])
    except InvalidInput:
        return None
    except ModelError as error:
        if error.cls in {"shorten", "poison"}:
            return None
        raise
    # A provider that said "too long" got it in pieces; a merged memory has to fit as a whole.
    return None if await _over(embedding, text) else vector


async def _over(embedding: Embedding, text: str) -> bool:
    room = await embedding.room()
    return room is not None and len(text) > room
