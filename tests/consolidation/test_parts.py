"""A window asked part by part: what is poison is found by halves, whole messages and units only, in bounded calls."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

import pytest

from memhold.consolidate.parts import MAX_HALVINGS, Asking
from memhold.consolidate.snapshot import Snapshot
from memhold.journal.windows import When, units
from memhold.ports.models import Accepted, ChatReply, TaskFailed, ToolCall
from tests.consolidation.test_window import message, session, talk

POISON = "Zzyzx"


def quoting(request) -> ChatReply:
    """A reply that says what the first line says."""
    said = re.search(r"^\[m\d+ \w+\][^)]*\) (.{3,40})", request.turns[0].text, re.MULTILINE)
    arguments = {"history_entry": said[1]} if said else {"nothing_to_remember": "no words"}
    call = ToolCall(id="c", name=request.tool.name, arguments=arguments)
    return ChatReply(model="m", text="", tool_calls=(call,), finish="tool")


class Fussy:
    """A chain that takes no request in which a word stands, and ends with a failure after so many tasks."""

    models = ("m",)

    def __init__(self, window: int | None = None, *, advice: str = "poison", fails_after: int | None = None) -> None:
        self.window, self.advice, self.fails_after, self.asked = window, advice, fails_after, 0

    async def ask(self, request, accept, **_):
        self.asked += 1
        if self.fails_after is not None and self.asked > self.fails_after:
            return TaskFailed(advice="retry", attempts=())
        if POISON in request.turns[0].text:
            return TaskFailed(advice=self.advice, attempts=())
        reply = quoting(request)
        return Accepted(value=accept(reply), reply=reply, attempts=())


async def nothing() -> None:
    return None


def asking(messages, chain, *, whole=False) -> Asking:
    snapshot = Snapshot(session=session(len(messages)), messages=tuple(messages), known=())
    return Asking(snapshot=snapshot, chain=chain, when=When(tool_chars=10**9), ref="ses", whole=whole, spent=nothing)


def conversation(random: Random, poisoned: float) -> list:
    pattern = "".join(random.choice(("ua", "ucra", "ucrrcrcra", "u")) for _ in range(random.randrange(1, 40)))
    found = []
    for one in talk(pattern):
        text = random.choice(("I live in Oslo. ", "word " * 30, "x = 1\n" * 400)) * random.randrange(1, 4)
        if random.random() < poisoned:
            at = random.randrange(len(text))
            text = f"{text[:at]} {POISON} {text[at:]}"
        found.append(replace(one, text=text))
    return found


@pytest.mark.parametrize("seed", range(60))
async def test_what_no_model_takes_is_set_aside_and_all_else_is_answered(seed: int) -> None:
    random = Random(seed)
    messages = conversation(random, random.choice((0.0, 0.02, 0.1, 1.0)))
    fails_after = random.choice((None, None, random.randrange(12)))
    chain = Fussy(random.choice((None, 2400)), advice=random.choice(("poison", "refused")), fails_after=fails_after)
    result, failed = await asking(messages, chain, whole=random.random() < 0.5).run()
    answered = {number for one in result.answers for number in one.numbers}
    aside = [number for one in result.aside for number in one.numbers]
    assert len(aside) == len(set(aside)), "each once"
    assert answered.isdisjoint(aside)
    assert answered | set(aside) == set(range(1, result.last + 1)), "a prefix, nothing between left out"
    assert [m.seq for m in result.covered(messages)] == sorted(answered)
    assert not any(POISON in messages[number - 1].text for number in answered)
    begins = {position + 1 for position in units(messages)} | {len(messages) + 1}
    assert result.last + 1 in begins or result.last == 0, "calls stay with their results"
    poisoned = any(POISON in m.text for m in messages)
    if not poisoned and failed is None:
        assert not aside
    if failed is not None and failed.advice in {"poison", "refused"}:
        assert not result.answers
        assert aside


async def test_a_search_is_bounded() -> None:
    everywhere = [replace(m, text=POISON) for m in talk("ua" * 300)]
    chain = Fussy()
    result, failed = await asking(everywhere, chain).run()
    assert failed is not None
    assert chain.asked == 1 + 2 * MAX_HALVINGS
    assert result.last == 600


async def test_a_piece_of_a_message_takes_the_whole_message_with_it() -> None:
    long = " ".join(f"word{n}" for n in range(2500))
    middle = len(long) // 2
    messages = [
        message(1, "user", "I live in Oslo."),
        message(2, "assistant", "Noted."),
        message(3, "user", f"{long[:middle]} {POISON} {long[middle:]}"),
        message(4, "assistant", "I see."),
        message(5, "user", "I work at Acme."),
        message(6, "assistant", "Noted."),
    ]
    chain = Fussy(2400)
    result, failed = await asking(messages, chain).run()
    assert failed is None
    assert 3 in result.aside[0].numbers
    assert 1 in {number for one in result.answers for number in one.numbers}
    assert not any("word" in piece.text for one in result.answers for piece in one.part.pieces)
