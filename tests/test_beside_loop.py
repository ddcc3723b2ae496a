"""What is long is read, checked and written on a thread: the event loop turns while it lasts."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import pytest_asyncio

from memhold import AsyncMemhold
from memhold.faces.bodies import read_long_json
from memhold.faces.compat import ams_sessions
from memhold.faces.compat.ams_values import Window
from memhold.faces.rest.frame import json_response
from memhold.facts import matching
from memhold.values.answers import Receipt
from memhold.verbs.beside_loop import LONG_BYTES, is_long
from memhold.verbs.scope import AsyncScope


@pytest_asyncio.fixture
async def scope() -> AsyncIterator[AsyncScope]:
    async with AsyncMemhold.open("memory://", worker=False) as opened:
        yield opened.scope(user="u", session="s")


class Noted(list[Any]):
    """A list that notes on which threads somebody went through it."""

    def __init__(self, items: list[Any]) -> None:
        super().__init__(items)
        self.on: set[int] = set()

    def __iter__(self) -> Iterator[Any]:
        self.on.add(threading.get_ident())
        return super().__iter__()


def noted(work: Callable[..., Any], on: set[int]) -> Callable[..., Any]:
    """The same work, which notes on which thread it is done."""

    def done(*given: Any, **named: Any) -> Any:
        on.add(threading.get_ident())
        return work(*given, **named)

    return done


@pytest.mark.parametrize(
    ("given", "long"),
    [
        ({"role": "user", "content": "Hello"}, False),
        ([{"role": "user", "content": "word " * 30}] * 60, False),
        ([{"role": "user", "content": "x"}] * 1001, True),
        ({"content": "x" * (LONG_BYTES + 1024)}, True),
        ([{"content": "x" * 8192}] * 9, True),
        ({"metadata": {str(n): n for n in range(2000)}}, True),
        (Receipt(ids=("msg_1",) * 2000), True),
        (Receipt(ids=("msg_1",)), False),
        (None, False),
        (iter(["once"]), False),
    ],
)
def test_what_is_long(given: object, long: object) -> None:
    assert is_long(given) is long


def test_what_can_be_gone_through_once_only_is_not_gone_through() -> None:
    given = iter([1, 2])
    assert not is_long([given])
    assert list(given) == [1, 2]


async def test_many_messages_are_read_on_a_thread_and_few_at_once(scope: AsyncScope) -> None:
    here = threading.get_ident()
    many = Noted([{"role": "user", "content": "Hello"}] * 1001)
    await scope.add(many, idempotency_key="k")
    assert many.on
    assert here not in many.on
    given = Noted([{"role": "user", "content": "Hello"}] * 1001)
    await scope.context(given, budget=500)
    assert given.on
    assert here not in given.on
    few = Noted([{"role": "user", "content": "Hello"}])
    await scope.add(few)
    assert here in few.on


async def test_a_long_answer_is_written_on_a_thread_and_reads_the_same() -> None:
    rows = Noted([{"text": "half of a pair: \ud83d", "n": n, "to": [1, {}], "é": None} for n in range(1001)])
    answer = await json_response({"items": rows, "cursor": None, "none": [], "empty": {}})
    assert threading.get_ident() not in rows.on
    assert json.loads(bytes(answer.body)) == {"items": list(rows), "cursor": None, "none": [], "empty": {}}
    for small in ("text", [1, "é"], [], {}, {"a": {"b": [1, 2, {"c": 3}]}}, [[1], [2, []]], None, 3):
        assert json.loads(bytes((await json_response(small)).body)) == small


async def test_a_long_body_is_read_on_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    on: set[int] = set()
    monkeypatch.setattr("memhold.faces.bodies.read_json", noted(json.loads, on))
    assert await read_long_json(b'{"a": "' + b"x" * LONG_BYTES + b'"}') == {"a": "x" * LONG_BYTES}
    assert threading.get_ident() not in on


async def test_the_tokens_of_a_session_are_counted_on_a_thread(
    scope: AsyncScope, monkeypatch: pytest.MonkeyPatch
) -> None:
    await scope.add([{"role": "user", "content": "Hello"}] * 3)
    on: set[int] = set()
    monkeypatch.setattr(ams_sessions, "estimate_tokens", noted(len, on))
    told = await ams_sessions.session_out(scope, Window(), turns=ams_sessions.Turns(), now=datetime.now(UTC))
    assert told["tokens"] == 15
    assert threading.get_ident() not in on


async def test_the_words_of_a_new_key_are_read_on_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    on: set[int] = set()
    monkeypatch.setattr(matching, "_key", noted(matching._key, on))
    await matching.warm("user", "colour of the bicycle", [])
    assert on
    assert threading.get_ident() not in on


def test_a_server_has_loaded_what_verbs_need() -> None:
    program = "import sys, memhold.server.serving; sys.exit('memhold.verbs.local_scope' not in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
