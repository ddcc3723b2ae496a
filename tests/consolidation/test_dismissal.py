"""A person's no to what a model said and no line does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from memhold import AsyncMemhold
from memhold.ports.models import ChatReply, ChatRequest
from memhold.testing import FakeClock
from memhold.testing.scripted import ScriptedChat
from memhold.values.errors import InvalidInput, MemholdError, NotFound, ScopeDenied, UndoConflict, WrongKind
from tests.compaction.worlds import call, shown, united
from tests.inventing import invents, left_out


@pytest.fixture
async def mem() -> AsyncIterator[AsyncMemhold]:
    chat = ScriptedChat(otherwise=invents)
    async with AsyncMemhold.open("memory://", worker=False, consolidation=chat, embedding="none") as opened:
        yield opened


async def test_a_no_is_told_once_by_the_history_of_the_window_and_can_be_undone(mem: AsyncMemhold) -> None:
    alice = mem.scope(user="alice")
    summary, change = await left_out(mem)
    before = await alice.get(summary)
    receipt = await alice.dismiss(change.id, 1, idempotency_key="no")
    assert (await alice.dismiss(change.id, 1, idempotency_key="no")).change_ids == receipt.change_ids
    assert (await alice.dismiss(change.id, 1)).change_ids == (), "said already"
    told = (await alice.history(summary))[-1]
    assert (told.id, told.verb, told.by.origin) == (*receipt.change_ids, "dismiss", "user")
    assert "pizza" not in repr(told.detail)
    assert "forty" not in repr(told.detail), "nothing that was said"
    assert [one.id for one in (await alice.changes(verb="dismiss")).items] == [told.id]
    await alice.undo(told.id)
    [again] = (await alice.dismiss(change.id, 1)).change_ids
    assert again != told.id
    [taken_back] = (await alice.undo(again)).change_ids
    await alice.undo(taken_back)
    assert (await alice.dismiss(change.id, 1)).change_ids == (), "the undo was undone"
    assert (await alice.dismiss(change.id, 0)).change_ids, "the other one is another"
    assert await alice.get(summary) == before, "nothing is believed or erased by it"
    assert (await alice.list(["fact", "note"], None)).items == ()


async def test_it_stands_in_the_way_of_nothing(mem: AsyncMemhold) -> None:
    alice = mem.scope(user="alice")
    summary, change = await left_out(mem)
    [no] = (await alice.dismiss(change.id, 0)).change_ids
    await alice.undo(change.id)
    assert (await alice.get(summary)).state == "retracted"
    await alice.undo(no)
    with pytest.raises(UndoConflict):
        await alice.undo(no)


async def test_it_holds_for_the_same_of_every_window_also_one_that_is_read_again(mem: AsyncMemhold) -> None:
    alice = mem.scope(user="alice", session="s")
    _, change = await left_out(mem)
    [no] = (await alice.dismiss(change.id, 0)).change_ids
    await alice.undo(change.id, redo=True)
    [again] = (await alice.consolidate()).summaries
    anew = (await alice.history(again))[-1]
    assert [one["value"] for one in anew.detail["ungrounded"]] == [one["value"] for one in change.detail["ungrounded"]]
    assert (await alice.dismiss(anew.id, 0)).change_ids == (), "said already"
    assert (await alice.dismiss(anew.id, 1)).change_ids
    await alice.undo(no)
    assert (await alice.dismiss(anew.id, 0)).change_ids


async def test_what_a_hidden_window_left_out_is_not_there_until_it_shows_again(mem: AsyncMemhold) -> None:
    alice = mem.scope(user="alice", session="s")
    _, change = await left_out(mem)
    hidden = await alice.forget((await alice.messages())[0].id, hard=False)
    with pytest.raises(NotFound, match="hidden"):
        await alice.dismiss(change.id, 0)
    assert [one.detail for one in (await alice.changes(verb="consolidate")).items] == [{}]
    await alice.undo(hidden.change_id or "")
    assert [one.detail for one in (await alice.changes(verb="consolidate")).items] == [change.detail]
    assert (await alice.dismiss(change.id, 0)).ids, "the window's history tells of it"


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (("chg_0198c2f0", 0), NotFound),
        (("mem_0198c2f0", 0), WrongKind),
        ((None, 2), NotFound),
        ((None, -1), InvalidInput),
        ((None, True), InvalidInput),
        ((None, 0.0), InvalidInput),
    ],
)
async def test_what_is_not_there_cannot_be_dismissed(
    mem: AsyncMemhold, given: tuple[str | None, int], error: type[MemholdError]
) -> None:
    _, change = await left_out(mem)
    seq = (await mem.scope(user="alice").changes(limit=1000)).items[-1].seq
    with pytest.raises(error):
        await mem.scope(user="alice").dismiss(given[0] or change.id, given[1])
    assert (await mem.scope(user="alice").changes(limit=1000)).items[-1].seq == seq


async def test_it_is_a_persons_to_say_and_of_their_own_memory(mem: AsyncMemhold) -> None:
    _, change = await left_out(mem)
    with pytest.raises(ScopeDenied):
        await mem.scope(user="alice", actor="agent:cursor").dismiss(change.id, 0)
    with pytest.raises(NotFound):
        await mem.scope(user="bob").dismiss(change.id, 0)


async def test_what_was_forgotten_with_the_window_is_not_there(mem: AsyncMemhold) -> None:
    alice = mem.scope(user="alice", session="s")
    _, change = await left_out(mem)
    await alice.dismiss(change.id, 1)
    await alice.forget((await alice.messages())[0].id)
    [no] = (await alice.changes(verb="dismiss")).items
    assert no.detail == {}, "nor is the digest of what it said"
    with pytest.raises(NotFound, match="was forgotten"):
        await alice.dismiss(change.id, 0)


def tells(request: ChatRequest) -> ChatReply:
    """A roll-up in the words of all that it tells of."""
    assert request.tool is not None
    return call({"text": united(shown(request))}, name=request.tool.name)


async def test_it_holds_where_the_windows_were_rolled_up_since_on_every_store(location: str) -> None:
    clock = FakeClock()
    models = {"consolidation": ScriptedChat(otherwise=invents), "compaction": ScriptedChat(otherwise=tells)}
    async with AsyncMemhold.open(location, clock=clock, worker=False, embedding="none", **models) as mem:
        alice = mem.scope(user="alice")
        first, change = await left_out(mem, "a")
        second, later = await left_out(mem, "b")
        [no] = (await alice.dismiss(change.id, 0)).change_ids
        clock.advance(timedelta(days=50))
        assert (await alice.compact()).counts["rolled_up"], "their day is told as one"
        assert {hit.id for hit in (await alice.summaries()).hits} == {first, second}, "the page reads them all the same"
        assert (await alice.dismiss(later.id, 0)).change_ids == (), "said already"
        [other] = (await alice.dismiss(later.id, 1)).change_ids
        assert (await alice.history(second))[-1].id == other
        assert (await alice.dismiss(change.id, 1)).change_ids == ()
        await alice.undo(other)
        assert (await alice.dismiss(change.id, 1)).change_ids
        await mem.scope(user="alice", session="a").forget((await mem.scope(user="alice", session="a").messages())[0].id)
        assert {one.id: one.detail for one in (await alice.changes(verb="dismiss")).items}[no] == {}
        assert (await alice.dismiss(later.id, 0)).change_ids, "nothing of the window that it was said of is left"


async def test_an_export_brings_neither_what_was_not_kept_nor_the_no(mem: AsyncMemhold, tmp_path: Path) -> None:
    alice = mem.scope(user="alice")
    _, change = await left_out(mem)
    await alice.dismiss(change.id, 0)
    await alice.export(tmp_path / "alice.jsonl")
    chat = ScriptedChat(otherwise=invents)
    async with AsyncMemhold.open("memory://", worker=False, consolidation=chat, embedding="none") as other:
        moved = other.scope(user="alice", session="s")
        report = await moved.import_file(tmp_path / "alice.jsonl")
        assert any("changes" in one for one in report.left_out)
        [window] = (await moved.summaries()).hits
        told = await moved.history(window.id)
        assert [one.detail.get("ungrounded") for one in told] == [None] * len(told), "nothing is asked again"
        assert (await moved.changes(verb="dismiss")).items == ()
        _, anew = await left_out(other, "t")
        assert (await moved.dismiss(anew.id, 0)).change_ids, "said again of a new window, it is asked again"
