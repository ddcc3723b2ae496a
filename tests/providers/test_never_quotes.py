"""A model that never quotes its line: `models test` says so, and from then on it is asked turn by turn."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memhold import Memhold
from memhold.testing.chaos import ChaosServer
from memhold.testing.chaos.replies import Asked, Reply, answer_to
from memhold.wiring import models_view

LINES = ["My favorite food is sushi.", "My favorite color is green.", "My favorite drink is tea."]


def never_quotes(asked: Asked) -> Reply:
    """The sensible answer without a quote, as of a model that was never taught to give one."""
    return _with_quotes(answer_to(asked), None)


def quotes_another_line(asked: Asked) -> Reply:
    return _with_quotes(answer_to(asked), "I like sushi best")


def _with_quotes(reply: Reply, quote: str | None) -> Reply:
    """A reply, by a call or as JSON, with another quote everywhere; without any where that is None."""
    calls = tuple(replace(call, arguments=_quoting(call.arguments, quote)) for call in reply.calls)
    text = json.dumps(_quoting(json.loads(reply.text), quote)) if reply.text.startswith("{") else reply.text
    return replace(reply, calls=calls, text=text)


def _quoting(part: Any, quote: str | None) -> Any:
    if isinstance(part, dict):
        kept = {name: _quoting(value, quote) for name, value in part.items() if name != "quote"}
        return kept | ({"quote": quote} if "quote" in part and quote is not None else {})
    return [_quoting(one, quote) for one in part] if isinstance(part, list) else part


def _consolidated(path: Path, line: str, session: str) -> dict[str, tuple[str, str]]:
    with Memhold.open(path, worker=False, embedding="none", consolidation=line) as memory:
        scope = memory.scope(user="ana", session=session)
        scope.add([{"role": "user", "content": text} for text in LINES])
        scope.consolidate()
        return {one.value or "": (one.quote, one.standing) for one in scope.list(kinds=["fact"]).items}


@pytest.mark.parametrize(
    ("says", "turns"),
    [(None, False), (never_quotes, True), (quotes_another_line, True)],
    ids=["quotes", "never", "others"],
)
def test_a_model_is_asked_as_its_test_found(
    tmp_path: Path, says: Callable[[Asked], Reply] | None, *, turns: bool
) -> None:
    path = tmp_path / "memory.db"
    with ChaosServer() as server:
        server.say(says)
        line = f"{server.url}/v1#large"
        Memhold.open(path, worker=False).close()
        [row] = models_view(str(path)).test(line)
        assert (row["reachable"], row["tools"], row["class"]) == (True, True, None), row
        assert ("asked turn by turn" in row["text"]) == turns
        if says is quotes_another_line:
            server.say(never_quotes)
        before = len(server.requests)
        kept = _consolidated(path, line, "s")
        asked = len(server.requests) - before
        assert asked == (len(LINES) + 1 if turns else 1), "one for each line, and one for the entry"
        assert {value: quote for value, (quote, _) in kept.items()} == dict(
            zip(["sushi", "green", "tea"], LINES, strict=True)
        )


def test_one_that_learned_to_quote_is_asked_at_once_again(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with ChaosServer() as server:
        line = f"{server.url}/v1#large"
        Memhold.open(path, worker=False).close()
        for says in (never_quotes, None):
            server.say(says)
            models_view(str(path)).test(line)
        before = len(server.requests)
        _consolidated(path, line, "s")
        assert len(server.requests) - before == 1
