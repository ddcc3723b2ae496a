"""Compaction over HTTP, with a judge behind the server: the run, the preview, and one that takes too long."""

from __future__ import annotations

import asyncio

import pytest

from memhold.faces.rest import items as rest_items
from memhold.ports.models import ChatReply, ChatRequest
from tests.compaction.worlds import Judge, merged
from tests.rest.serving import live

ONE, TWO = "The staging server listens on port 8080", "The staging server uses port 8080 for http"
BOTH = "The staging server listens on port 8080 for http"


class Stuck:
    """A judge that never answers."""

    name = "stuck"

    async def chat(self, request: ChatRequest) -> ChatReply:
        assert request.tool is not None
        await asyncio.Event().wait()
        raise AssertionError


async def test_a_run_is_shown_then_done_and_can_be_undone() -> None:
    judge = Judge(lambda _: merged(BOTH))
    async with live(compaction=judge) as server:
        alice = (await server.opened(user="alice")).scope(user="alice")
        ids = {(await alice.remember(text)).memory.id for text in (ONE, TWO)}
        planned = await alice.compact(dry_run=True)
        assert (planned.dry_run, [set(group.sources) for group in planned.groups], judge.asked) == (True, [ids], [])
        done = await alice.compact()
        assert (done.merged, done.counts, done.judged) == (2, {"pair": 1}, True)
        [note] = (await alice.list(kinds=["note"])).items
        assert (note.text, set(note.sources), done.groups[0].memory) == (BOTH, ids, note.id)
        await alice.undo((await alice.history(note.id))[-1].id)
        assert {memory.id for memory in (await alice.list(kinds=["note"])).items} == ids


async def test_a_run_that_takes_too_long_is_said_and_stays_due(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest_items, "LONGEST_WAIT", 0.5)
    async with live(compaction=Stuck()) as server:
        token = await server.token(user="alice")
        alice = (await server.opened(user="alice")).scope(user="alice")
        ids = {(await alice.remember(text)).memory.id for text in (ONE, TWO)}
        async with server.client(token) as http:
            answer = await http.post("/v1/compact")
        assert (answer.status_code, answer.json()["more"]) == (202, True)
        assert "the rest is due" in answer.json()["last_error"]
        assert {memory.id for memory in (await alice.list(kinds=["note"])).items} == ids
        status = await alice.status()
        assert (status.leased, "compact" in {**status.due, **status.waiting}) == (0, True)
