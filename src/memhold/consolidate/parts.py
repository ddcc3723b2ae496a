"""Asking models for one window, part by part: in smaller ones where it is too long, in halves where it holds poison."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, assert_never

from memhold.asking.room import PROMPT_TOKENS, SMALLEST_PART
from memhold.consolidate.apply import Answered, Result
from memhold.consolidate.asking import frame_of, lines_of, pieces_of, quoted_in, request
from memhold.consolidate.contract import Draft, read_reply
from memhold.consolidate.raw import Aside
from memhold.consolidate.snapshot import Snapshot
from memhold.consolidate.weighing import founded, misquoted, weighed
from memhold.journal.windows import MAX_PARTS, Part, When, halves, parts, units
from memhold.ports.models import Accepted, ChatReply, ModelChain, Rejected, TaskFailed
from memhold.values.errors import Attempt

__all__ = ["Asking"]

log = logging.getLogger("memhold.consolidation")

ANSWER_TOKENS = 4_096
MAX_HALVINGS = 8
"""How often the parts of a window are halved to find what no model takes: one turn among 256, in 16 more tasks."""


@dataclass(slots=True, kw_only=True)
class Asking:
    """One window on its way through the chain. `whole`: all of it is wanted, not the first parts of a long one."""

    snapshot: Snapshot
    chain: ModelChain
    when: When
    ref: str
    whole: bool
    rules: frozenset[str] = frozenset()
    spent: Callable[[], Awaitable[None]]
    _dealt: list[Answered | Aside] = field(default_factory=list)
    _attempts: list[Attempt] = field(default_factory=list)
    _waiting: list[Part] = field(default_factory=list)
    _behind: int = 0
    _budget: int = 0
    _halvings: int = 0

    async def run(self) -> tuple[Result, TaskFailed | None]:
        """What the models made of the window, one part after the other, and the failure that ended it, if one did.

        The result deals with whole units from the window's beginning on, perhaps with none.
        """
        self._budget = self._room()
        pieces = pieces_of(self.snapshot.messages, tool_chars=self.when.tool_chars)
        self._begin(list(parts(pieces, self._budget)))
        log.info("%s: consolidating %d messages in %d parts", self.ref, self._behind - 1, len(self._waiting))
        quoted = quoted_in(self.snapshot.messages)
        while self._waiting:
            outcome = await self._ask(self._waiting[0], quoted)
            self._attempts += outcome.attempts
            self._tell(outcome.attempts)
            await self.spent()
            failed = self._take(outcome)
            if failed is not None:
                return self._result(), failed
        result = self._result()
        facts = sum(len(answer.draft.facts) for answer in result.answers)
        models = ", ".join(dict.fromkeys(answer.model for answer in result.answers))
        log.info("%s: done by %s, %d facts", self.ref, models or "nobody", facts)
        return result, self._nobody(result)

    def _nobody(self, result: Result) -> TaskFailed | None:
        """A window of which no model took anything is the fault itself."""
        if result.answers or not result.aside:
            return None
        return TaskFailed(advice=result.aside[-1].advice, attempts=tuple(self._attempts))

    # ------------------------------------------------------------------------------------------------ one part

    async def _ask(self, part: Part, quoted: Sequence[str]) -> Accepted[Draft] | TaskFailed:
        known = self.snapshot.known
        frame = frame_of(part, known, quoted)
        lines = lines_of(part)
        poor: list[tuple[Draft, ChatReply]] = []

        def accept(reply: ChatReply) -> Draft | Rejected:
            draft = read_reply(reply, frame)
            if isinstance(draft, Rejected) or reply.model in self.rules:
                return draft
            found = founded(weighed(draft, lines, known))
            if isinstance(found, Draft) and misquoted(draft, lines):
                poor.append((found, reply))
                return Rejected(reason="no line has most of what it quotes")
            return found

        place = len(self._dealt) + 1
        asking = request(part, known, place=place, of=place - 1 + len(self._waiting))
        smaller = self._budget > SMALLEST_PART and len(part.pieces) > 1
        outcome = await self.chain.ask(asking, accept, can_shorten=smaller)
        if isinstance(outcome, TaskFailed) and poor:
            # No model did better: what stands in the lines is worth more than nothing.
            draft, reply = max(poor, key=lambda one: len(one[0].facts) + len(one[0].notes))
            return Accepted(value=draft, reply=reply, attempts=outcome.attempts)
        return outcome

    def _take(self, outcome: Accepted[Draft] | TaskFailed) -> TaskFailed | None:
        """Put an outcome where it belongs; a failure that ends the asking is returned."""
        if isinstance(outcome, Accepted):
            self._dealt.append(self._answered(self._waiting.pop(0), outcome))
            return None
        match outcome.advice:
            case "shorten" if self._budget > SMALLEST_PART:
                self._budget = max(SMALLEST_PART, self._budget // 2)
                self._waiting = [part for one in self._waiting for part in parts(one.pieces, self._budget)]
                log.info("%s: too long, asking in %d smaller parts", self.ref, len(self._waiting))
                return None
            case "poison" | "refused" as advice:
                self._halve(advice, outcome)
                return None
            case "shorten" | "retry" | "park":
                return outcome
            case _:
                assert_never(outcome.advice)

    def _halve(self, advice: Literal["poison", "refused"], outcome: TaskFailed) -> None:
        """Look for what no model takes in both halves of a part; where it has none, that part is set aside."""
        part = self._waiting.pop(0)
        found = halves(part) if self._halvings < MAX_HALVINGS else ()
        if found:
            self._halvings += 1
            log.info("%s: %s, asking in halves", self.ref, advice)
            self._waiting[:0] = found
            return
        numbers = frozenset(piece.number for piece in part.pieces)
        log.info("%s: %s, %d messages set aside", self.ref, advice, len(numbers))
        self._dealt.append(Aside(numbers=numbers, advice=advice, attempts=outcome.attempts))

    def _answered(self, part: Part, outcome: Accepted[Draft]) -> Answered:
        answered = [one.model for one in outcome.attempts if one.cls is None]
        name = answered[-1] if answered else outcome.reply.model
        usage = outcome.reply.usage
        return Answered(
            part=part,
            draft=outcome.value,
            model=name,
            origin="rules" if name in self.rules else "model",
            prompt=outcome.reply.prompt,
            input_tokens=usage.input_tokens or 0,
            output_tokens=usage.output_tokens or 0,
        )

    # ------------------------------------------------------------------------------------------------ the whole

    def _result(self) -> Result:
        """What is dealt with in front of the first unit that is not."""
        dealt = list(self._dealt)
        following = self._waiting[0].pieces[0].number if self._waiting else self._behind
        while dealt and not (following in self._begins and _last(dealt[-1]) < following):
            following = _first(dealt.pop())
        answers = [one for one in dealt if isinstance(one, Answered)]
        aside = [one for one in dealt if isinstance(one, Aside)]
        return Result(answers=tuple(answers), attempts=tuple(self._attempts), aside=tuple(aside)).closed()

    @property
    def _begins(self) -> frozenset[int]:
        """The places at which a unit begins, and the one behind the window."""
        messages = self.snapshot.messages
        return frozenset((*(position + 1 for position in units(messages)), len(messages) + 1))

    def _room(self) -> int:
        """Tokens of a part: the setting, or what the first model's window leaves beside prompt and answer."""
        window = self.chain.window
        limit = self.when.part_tokens
        if window is None:
            return limit
        room = window - min(ANSWER_TOKENS, window // 4) - min(PROMPT_TOKENS, window // 4)
        return max(SMALLEST_PART, min(limit, room))

    def _begin(self, found: Sequence[Part]) -> None:
        """Which parts are asked for now; the rest of a long window is the next one, from a whole unit on."""
        count = len(found) if self.whole else min(MAX_PARTS, len(found))
        begins = self._begins
        while count < len(found):
            first = found[count].pieces[0].number
            if first in begins and found[count - 1].pieces[-1].number < first:
                break
            count += 1
        self._waiting = list(found[:count])
        self._behind = found[count].pieces[0].number if count < len(found) else len(self.snapshot.messages) + 1

    def _tell(self, attempts: Sequence[Attempt]) -> None:
        """A line for each failed call: who, what was wrong, and who comes next. No content."""
        for place, one in enumerate(attempts, 1):
            if one.cls is None:
                continue
            following = attempts[place] if place < len(attempts) else None
            onward = "" if following is None or following.model == one.model else f"; falling back to {following.model}"
            status = f" {one.status}" if one.status else ""
            log.info("%s: %s %s%s: %s%s", self.ref, one.model, one.cls, status, one.reason, onward)


def _first(one: Answered | Aside) -> int:
    return min(one.numbers)


def _last(one: Answered | Aside) -> int:
    return max(one.numbers)
