"""The judge of a merge at work: one question to the chain, its answer checked, and its text embedded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import assert_never

from memhold.asking.prompts import Prompt
from memhold.compact.apply import RULES, TRUST, Ruling
from memhold.compact.asking import fits_pinned, merge_prompt, merge_request, sources_of
from memhold.compact.check import account
from memhold.compact.contract import Judgement, read_judgement
from memhold.compact.rollup.contract import read_rollup, rollup_prompt, rollup_request
from memhold.compact.rollup.plan import Wanted
from memhold.index.embedding import Embedding
from memhold.ports.models import Accepted, ChatReply, ChatRequest, ModelChain, Rejected, TaskFailed, UsageBook
from memhold.values.errors import InvalidInput, ModelError
from memhold.values.records import Author, Memory

__all__ = ["Judge", "Judged", "judged", "newest_of", "vector_of"]

Judged = tuple[Judgement, tuple[str, ...]]
"""A judgement that passed the check, and what the lineage of its text has lost by then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """The chain that is asked; `rules` are links that are no models, whose answers say nothing."""

    chain: ModelChain
    rules: frozenset[str] = frozenset()
    spent: Callable[[UsageBook], Awaitable[None]] | None = None

    async def rule(self, memories: Sequence[Memory]) -> Ruling | TaskFailed:
        """What the first model says whose answer passes the check; each model is asked at most once.

        Where models answered and none passed, the ruling is to keep the memories apart, by nobody's word. A
        `TaskFailed` says that they could not be asked.
        """
        return await self._ruling(merge_request(memories), lambda reply: judged(reply, memories), merge_prompt())

    async def roll_up(self, wanted: Wanted) -> Ruling | TaskFailed:
        """The roll-up of a period by the first model whose answer passes its check; else as `rule`."""

        def read(reply: ChatReply) -> Judged | Rejected:
            found = read_rollup(reply, wanted)
            return found if isinstance(found, Rejected) else (found, ())

        return await self._ruling(rollup_request(wanted), read, rollup_prompt())

    async def _ruling(
        self, request: ChatRequest, read: Callable[[ChatReply], Judged | Rejected], asked: Prompt
    ) -> Ruling | TaskFailed:
        outcome = await self.chain.ask(request, read)
        if isinstance(outcome, Accepted):
            judgement, lost = outcome.value
            name = outcome.attempts[-1].model if outcome.attempts else outcome.reply.model
            author = Author(origin="model", name=name, version=asked.version)
            return Ruling(judgement=judgement, author=author, reply=outcome.reply, attempts=outcome.attempts, lost=lost)
        if not self._answered(outcome):
            return outcome
        last = outcome.attempts[-1].reason if outcome.attempts else outcome.advice
        kept = Judgement(decision="keep_apart", reason=f"no model gave an answer that stands: {last}")
        return Ruling(judgement=kept, author=RULES, attempts=outcome.attempts)

    def _answered(self, failed: TaskFailed) -> bool:
        """Whether the models were there and these memories are the fault: asking again would give the same."""
        return failed.advice in {"poison", "refused", "shorten"} or failed.by_its_input(but=self.rules)


def judged(reply: ChatReply, memories: Sequence[Memory]) -> Judged | Rejected:
    """A reply as a judgement that stands, or why it does not: no call, or a merge that does not account for all."""
    judgement = read_judgement(reply, len(memories))
    if isinstance(judgement, Rejected):
        return judgement
    sources = sources_of(memories)
    text = judgement.text
    match judgement.decision:
        case "keep_apart":
            return judgement, ()
        case "supersede":
            newest = newest_of(memories)
            if newest is None or any(memory.pinned for memory in memories if memory is not newest):
                return Rejected(reason="there is no newest source, or a pinned one would go")
            if any(TRUST.index(memory.trust) > TRUST.index(newest.trust) for memory in memories):
                return Rejected(reason="a less trusted source would supersede a more trusted one")
            text = newest.text
        case "merge":
            if not fits_pinned(memories, text):
                return Rejected(reason="the text of a pinned memory was changed")
        case _:
            assert_never(judgement.decision)
    found = account(sources, text, judgement.dropped)
    return Rejected(reason=found) if isinstance(found, str) else (judgement, found.lost)


def newest_of(memories: Sequence[Memory]) -> Memory | None:
    """The memory whose time is after that of all others; None where two share it."""
    last = max(memory.event_time for memory in memories)
    found = [memory for memory in memories if memory.event_time == last]
    return found[0] if len(found) == 1 else None


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
