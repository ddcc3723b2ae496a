"""What all adapters share: verbs from anywhere, an agent's turn that no store can end, and what to install."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from memhold import AsyncMemhold, Memhold
from memhold.errors import InvalidMessage, OutcomeUnknown, StoreFull, WrongLoop
from memhold.integrations.framework import lacking
from memhold.integrations.reach import Reach
from memhold.integrations.record import REST, Recorder
from memhold.text.stretches import both_ends
from memhold.values.answers import Receipt
from memhold.verbs.scope import AsyncScope


@pytest.fixture
def mem() -> Iterator[Memhold]:
    with Memhold.open("memory://", worker=False) as opened:
        yield opened


def said(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


class Trouble:
    """A scope whose next writes fail, before or after they were carried out."""

    def __init__(self, scope: AsyncScope) -> None:
        self._scope = scope
        self.before: list[Exception] = []
        self.after: list[Exception] = []

    async def add(self, messages: Sequence[Mapping[str, Any]], *, idempotency_key: str | None = None) -> Receipt:
        if self.before:
            raise self.before.pop(0)
        done = await self._scope.add(messages, idempotency_key=idempotency_key)
        if self.after:
            raise self.after.pop(0)
        return done

    async def texts(self) -> list[str]:
        return [message.text for message in await self._scope.messages()]


class Troubled(Reach):
    """A reach whose verbs are those of `Trouble`."""

    def __init__(self, scope: Any) -> None:
        super().__init__(scope)
        self.trouble = Trouble(self._core)
        self._core = self.trouble  # type: ignore[assignment]


def test_a_store_opened_for_sync_code_is_reached_from_any_loop_and_from_none(mem: Memhold) -> None:
    reach = Reach.within(mem, user="alice", session="s1")

    async def told(text: str) -> int:
        await reach.ask(lambda scope: scope.add(said(text)))
        reach.run(lambda scope: scope.add(said("inside a running loop")))
        return len(await reach.ask(lambda scope: scope.messages()))

    assert [asyncio.run(told("one")), asyncio.run(told("two"))] == [2, 4]
    assert reach.scope.scope == mem.scope(user="alice", session="s1").scope


@pytest.mark.parametrize("given", ["chat 7", " edge ", "a\nb", "a\0b", "%41", "\ud800", ".."])
def test_the_id_that_a_framework_gives_a_session_ends_no_turn(mem: Memhold, given: str) -> None:
    one, other = (Reach.within(mem, user="alice", session=name) for name in (given, f"{given}2"))
    for reach in (one, Reach.within(mem, user="alice", session=given), other):
        reach.run(lambda scope: scope.add(said("hello")))
    assert [len(reach.run(lambda scope: scope.messages())) for reach in (one, other)] == [2, 1]
    composed, apart = (Reach.within(mem, session=name).scope.scope for name in ("jos\u00e9", "jose\u0301"))
    assert composed == apart


async def test_an_async_store_is_asked_on_its_own_loop_and_nowhere_else() -> None:
    async with AsyncMemhold.open("memory://", worker=False) as mem:
        reach = Reach(mem.scope(user="alice"))
        await reach.ask(lambda scope: scope.add(said("one")))
        with pytest.raises(WrongLoop, match=r"Memhold\.open"):
            reach.run(lambda scope: scope.messages())
        with pytest.raises(WrongLoop):
            await asyncio.to_thread(asyncio.run, reach.ask(lambda scope: scope.messages()))


async def test_what_a_store_cannot_take_waits_in_order_and_is_written_once(
    mem: Memhold, caplog: pytest.LogCaptureFixture
) -> None:
    reach = Troubled(mem.scope(user="alice"))
    recorder = Recorder(reach)
    reach.trouble.before = [StoreFull("no room"), StoreFull("no room")]
    assert not await recorder.record([said("one"), said("two")])
    assert not await recorder.record([said("three")])
    assert [message["content"] for message in recorder.waiting] == ["one", "two", "three"]
    assert await recorder.look(lambda _: asyncio.sleep(0, "a full disk is read from"), otherwise=None)
    assert len(caplog.records) == 1, "it is not there again before it takes what waits"
    reach.trouble.after = [OutcomeUnknown("the answer was lost")]
    assert not await recorder.record([])
    assert await recorder.record([said("four")])
    assert (recorder.waiting, await reach.ask(lambda _: reach.trouble.texts())) == ((), ["one", "two", "three", "four"])
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2
    assert "one" not in caplog.text


def test_a_store_that_is_closed_or_hangs_or_refuses_ends_no_turn(
    mem: Memhold, caplog: pytest.LogCaptureFixture
) -> None:
    reach = Troubled(mem.scope(user="alice"))
    now = [0.0]
    recorder = Recorder(reach, patience=3.0, most=2, seconds=lambda: now[0])
    reach.trouble.before = [InvalidMessage("a secret text of nobody's shape", index=0)]
    assert recorder.record_now([said("refused")])
    assert recorder.record_now([said("kept")])
    assert (recorder.waiting, reach.run(lambda _: reach.trouble.texts())) == ((), ["kept"])
    assert recorder.look_now(lambda _: asyncio.sleep(60, "late"), otherwise="without") == "without"
    assert recorder.look_now(lambda _: asyncio.sleep(0, "there"), otherwise="let alone") == "let alone"
    now[0] += REST
    assert recorder.look_now(lambda _: asyncio.sleep(0, "there"), otherwise="let alone") == "there"
    mem.close()
    assert [recorder.record_now([said(text)]) for text in ("a", "b", "c")] == [False] * 3
    assert [message["content"] for message in recorder.waiting] == ["b", "c"]
    assert "1 messages were left out" in caplog.text
    assert "secret text" not in caplog.text


def test_of_a_batch_only_the_message_that_is_refused_is_left_out(
    mem: Memhold, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = Recorder(Reach(mem.scope(user="alice")))
    call = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    turn = [
        said("one"),
        {"role": "nobody", "content": "of no role"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "two"},
        {"role": "user", "content": {1, 2}},
        said("three"),
    ]
    assert recorder.record_now(turn)
    assert [one.role for one in mem.scope(user="alice").messages()] == ["user", "assistant", "tool", "user"]
    assert [one.getMessage() for one in caplog.records] == [
        "a message was refused and left out: InvalidMessage",
        "a message was refused and left out: InvalidMessage",
    ]


def test_a_secret_that_is_refused_takes_no_other_message_with_it() -> None:
    with Memhold.open("memory://", worker=False, redaction="refuse") as mem:
        recorder = Recorder(Reach(mem.scope(user="alice")))
        secret = "my key is sk-ant-api03-" + "Ab3dEf7h" * 11 + "AA"
        assert recorder.record_now([said("one"), said(secret), said("two"), said("three")])
        assert [one.text for one in mem.scope(user="alice").messages()] == ["one", "two", "three"]


def test_a_framework_that_is_missing_or_too_old_is_named_with_the_line_that_installs_it() -> None:
    missing = lacking("memhold.integrations.none", "no-such-framework", "2.1", ImportError("no"))
    assert str(missing) == (
        "memhold.integrations.none needs no-such-framework 2.1 or newer, and it is not installed; "
        "run: pip install --upgrade 'no-such-framework>=2.1'"
    )
    old = lacking("memhold.integrations.none", "pytest", "999", ImportError("no", name="pytest.later"))
    assert "999 or newer, and pytest " in str(old)
    assert "is installed, which lacks what it uses (pytest.later)" in str(old)


def test_a_text_of_any_length_can_be_asked(mem: Memhold) -> None:
    """A framework asks with what the user wrote, which may be a whole file with a question at one of its ends."""
    alice = mem.scope(user="alice")
    alice.remember("The heron nests in the reeds")
    for text in (f"heron? {'x ' * 20_000}", f"{'x ' * 20_000} heron?", "heron?"):
        assert alice.recall(both_ends(text)).hits[0].text.startswith("The heron")
    assert both_ends("short") == "short"
