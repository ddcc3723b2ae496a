"""Verb suite: `forget` in all its forms: what goes, what stays, and that nothing brings it back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memhold.testing.verb_suite_base import Harness, Verbs, facts, texts, user
from memhold.values.errors import (
    Forgotten,
    IdempotencyConflict,
    InvalidInput,
    NaiveTime,
    NotFound,
    UndoConflict,
    WrongKind,
)

__all__ = ["ForgettingCases"]

DAY = timedelta(days=1)


async def _gone(scope: Verbs, item: str) -> None:
    for verb in (scope.get, scope.forget):
        with pytest.raises(NotFound):
            await verb(item)


@pytest.mark.asyncio
class ForgettingCases:
    """By id, by filters, a session, everything; hard and hidden; with and without the sources."""

    async def test_a_keyed_forget_forgets_once(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        told = await alice.remember("The code is 4711")
        target = told.memory.id
        first = await alice.forget(target, idempotency_key="k")
        again = await alice.forget(target, idempotency_key="k")
        assert (first.memories, first.replayed) == ((target,), False)
        assert (again.memories, again.change_id, again.replayed) == ((target,), first.change_id, True)
        other = await alice.remember("The code is 4712")
        with pytest.raises(IdempotencyConflict):
            await alice.forget(other.memory.id, idempotency_key="k")
        hidden = await alice.forget(other.memory.id, hard=False, idempotency_key="h")
        repeated = await alice.forget(other.memory.id, hard=False, idempotency_key="h")
        assert repeated.hidden == hidden.hidden == (other.memory.id,)
        assert (repeated.change_id, repeated.replayed) == (hidden.change_id, True)
        with pytest.raises(NotFound):
            await alice.forget(target)

    async def test_a_forgotten_message_waits_for_nothing(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        one, two, _ = (await alice.add([user("plain tea"), user("green tea"), user("black tea")])).ids
        assert (await alice.status()).pending == 3
        await alice.forget(one)
        hidden = await alice.forget(two, hard=False)
        assert (await alice.status()).pending == 1
        await alice.undo(hidden.change_id)
        assert (await alice.status()).pending == 2

    async def test_a_message_goes_with_what_came_of_it(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        one, two = (await alice.add([user("secret tea"), user("plain tea")])).ids
        [raw] = (await alice.end_session()).ids
        report = await alice.forget(one)
        assert (report.messages, report.memories, report.due_again) == ((one,), (raw,), ("s1",))
        assert (report.erased, report.waiting_for, report.hard) == (True, None, True)
        await _gone(alice, one)
        await _gone(alice, raw)
        assert texts(await alice.recall("tea")) == ["plain tea"]
        assert [message.id for message in await alice.messages()] == [two]
        await harness.settle()
        [again] = (await alice.list(["raw"])).items
        assert again.sources == (two,)
        assert "secret" not in again.text
        assert (await alice.status()).due == {}

    async def test_a_forgotten_value_is_in_no_time(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        old = await alice.remember(attribute="city", value="Porto")
        await harness.advance(DAY)
        new = await alice.remember(attribute="city", value="Lisbon")
        await alice.forget(new.memory.id)
        await _gone(alice, new.memory.id)
        assert await facts(alice) == []
        assert (await alice.recall("city", known_at=new.memory.recorded_at)).total == 0
        assert texts(await alice.recall("city", as_of=old.memory.valid_from)) == ["city: Porto"]
        story = await alice.history(new.memory.id)
        assert [change.verb for change in story] == ["remember", "forget"]
        assert all(effect.before is None and effect.after is None for change in story for effect in change.effects)
        told = [e for c in await alice.history(old.memory.id) for e in c.effects if e.memory_id == new.memory.id]
        assert all(effect.after is None for effect in told)

    async def test_a_memory_goes_with_its_sources_unless_they_are_kept(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        ids = (await alice.add([user("tea one"), user("tea two")])).ids
        [raw] = (await alice.end_session()).ids
        kept = await alice.forget(raw, sources="keep", dry_run=True)
        assert (kept.messages, kept.memories) == ((), (raw,))
        await alice.forget(raw, sources="keep")
        assert [message.id for message in await alice.messages()] == list(ids)
        await harness.settle()
        [again] = (await alice.list(["raw"])).items
        gone = await alice.forget(again.id)
        assert (set(gone.messages), gone.memories) == (set(ids), (again.id,))
        assert await alice.messages() == ()
        assert (await alice.recall()).total == 0

    async def test_several_go_as_one(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        ids = (await alice.add([user("tea one"), user("tea two"), user("tea three")])).ids
        [raw] = (await alice.end_session()).ids
        note = (await alice.remember("tea note")).memory.id
        named = {"ids": [ids[0], note, ids[1], ids[0]]}
        with pytest.raises(NotFound):
            await alice.forget(ids=[note, "mem_01980000000070008000000000000000"])
        with pytest.raises(WrongKind):
            await alice.forget(ids=[note, "chg_0198c2f0"])
        assert (await alice.get(note)).state == "active"
        hidden = await alice.forget(**named, hard=False)
        assert set(hidden.hidden) == {ids[0], ids[1], note, raw}
        assert texts(await alice.recall("tea")) == ["tea three"]
        await alice.undo(hidden.change_id)
        planned = await alice.forget(**named, dry_run=True)
        done = await alice.forget(**named, idempotency_key="k")
        assert (set(done.messages), set(done.memories)) == ({ids[0], ids[1]}, {raw, note})
        assert (planned.messages, planned.memories) == (done.messages, done.memories)
        again = await alice.forget(**named, idempotency_key="k")
        assert (again.replayed, again.change_id) == (True, done.change_id)
        for item in (*done.messages, *done.memories):
            await _gone(alice, item)

    async def test_a_dry_run_lists_exactly_what_would_go(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        ids = (await alice.add([user("tea one"), user("tea two")])).ids
        await alice.end_session()
        await alice.remember("tea note", topics=["x"])
        forms: list[dict[str, Any]] = [
            {"item_id": ids[0]}, {"session": "s1"}, {"everything": True}, {"topics": ["x"]}, {"kinds": ["raw"]},
            {"item_id": ids[1], "sources": "keep"}, {"item_id": ids[0], "hard": False},
        ]  # fmt: skip
        before = await alice.recall("tea")
        listed = [await alice.forget(**form, dry_run=True) for form in forms]
        assert await alice.recall("tea") == before
        for report in listed:
            assert (report.dry_run, report.erased, report.change_id) == (True, False, None)
        done = await alice.forget(**forms[0])
        assert (done.messages, done.memories, done.due_again) == (
            listed[0].messages,
            listed[0].memories,
            listed[0].due_again,
        )

    async def test_filters_only_narrow(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        start = (await alice.remember("tea a", topics=["Red"], entities=["Ann"])).memory.event_time
        await harness.advance(DAY)
        await alice.remember("tea b", topics=["blue"])
        await alice.remember(attribute="tea", value="c", topics=["red"])
        await alice.add(user("tea d"))
        other = harness.scope(user="alice", session="s2")
        await other.remember("tea e")
        cases: list[tuple[dict[str, Any], int]] = [
            ({"topics": ["red"]}, 2), ({"topics": ["RED"], "kinds": ["note"]}, 1), ({"entities": ["ann"]}, 1),
            ({"kinds": ["note"]}, 3), ({"session": "s2"}, 1), ({"session": "s1"}, 4), ({"before": start + DAY}, 1),
            ({"after": start}, 4), ({"after": start, "kinds": ["fact"]}, 1), ({"session": "none"}, 0), ({"everything": True}, 5),
            ({"session": "s1", "kinds": ["note"], "topics": ["blue"]}, 1),
        ]  # fmt: skip
        for asked, count in cases:
            report = await alice.forget(**asked, dry_run=True)
            assert len(report.messages) + len(report.memories) == count, asked
        await alice.forget(topics=["red"])
        assert {hit.text for hit in (await alice.recall("tea")).hits} == {"tea b", "tea d", "tea e"}

    async def test_a_target_must_be_said_clearly(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        told = await alice.remember("Likes tea")
        wrong: list[dict[str, Any]] = [
            {}, {"item_id": told.memory.id, "session": "s1"}, {"item_id": told.memory.id, "everything": True},
            {"everything": True, "session": "s"}, {"topics": []}, {"topics": "tea"}, {"kinds": "note"},
            {"ids": []}, {"ids": told.memory.id}, {"ids": [told.memory.id], "everything": True},
            {"ids": [told.memory.id], "item_id": told.memory.id}, {"ids": [told.memory.id] * 1001},
            {"kinds": ["nonsense"]}, {"kinds": ["message"]}, {"item_id": told.memory.id, "sources": "nonsense"},
        ]  # fmt: skip
        for asked in wrong:
            with pytest.raises(InvalidInput):
                await alice.forget(**asked)
        naive = told.memory.event_time.replace(tzinfo=None)
        for name in ("before", "after"):
            with pytest.raises(NaiveTime):
                await alice.forget(**{name: naive})
        assert (await alice.recall("tea")).total == 1

    async def test_a_session_goes_whole(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        await alice.add([user("tea one"), user("tea two")])
        await alice.end_session()
        await alice.add(user("tea three"))
        await alice.remember("tea note")
        other = harness.scope(user="alice", session="s2")
        await other.add(user("tea kept"))
        report = await alice.forget(session="s1")
        assert (len(report.messages), len(report.memories)) == (3, 2)
        assert texts(await alice.recall("tea")) == ["tea kept"]
        assert (await alice.status()).sessions == 1
        await alice.add(user("tea anew"))
        [message] = await alice.messages()
        assert message.seq == 1
        await harness.settle()
        assert (await alice.status()).due == {}

    async def test_everything_is_this_users_everything(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        bob = harness.scope(user="bob", session="s1")
        for scope in (alice, bob):
            await scope.add(user("tea said"))
            await scope.end_session()
            await scope.remember("tea note")
        await alice.forget(everything=True)
        status = await alice.status()
        assert (status.messages, status.sessions, status.memories) == (0, 0, {})
        assert (await alice.recall()).total == 0
        assert (await alice.list(states=None)).items == ()
        assert (await bob.recall()).total == 3
        again = await alice.remember("tea note")
        assert texts(await alice.recall("tea")) == [again.memory.text]

    async def test_everything_is_also_what_stands_in_namespaces_below(self, harness: Harness) -> None:
        own = harness.scope(namespace="acme", user="alice")
        shop = harness.scope(namespace="acme//shop", user="alice")
        others = [
            harness.scope(namespace="acme//shop", user="bob"),
            harness.scope(namespace="acme/shop", user="alice"),
            harness.scope(namespace="acmes//shop", user="alice"),
        ]
        await own.remember("Likes green tea")
        for scope in (shop, *others):
            await scope.remember("Likes black tea")
        assert (await own.forget(topics=["tea"])).memories == (), "a filter is about what stands here"
        planned = await own.forget(everything=True, dry_run=True)
        assert (len(planned.memories), planned.below) == (2, ("acme//shop",))
        hidden = await own.forget(everything=True, hard=False)
        assert (texts(await own.recall("tea")), texts(await shop.recall("tea"))) == ([], [])
        undone = await own.undo(hidden.change_id or "")
        assert texts(await shop.recall("tea")) == ["Likes black tea"]
        redone = await own.undo(undone.change_ids[0])
        assert texts(await shop.recall("tea")) == []
        await own.undo(redone.change_ids[0])
        assert texts(await own.recall("tea")) == ["Likes green tea"]
        # What is told anew stands in the way here: nothing is shown below either.
        twice = await own.forget(everything=True, hard=False)
        anew = await own.remember("Likes green tea")
        with pytest.raises(UndoConflict):
            await own.undo(twice.change_id or "")
        assert texts(await shop.recall("tea")) == []
        await own.forget(anew.memory.id)
        # A hide that was redone stands again: it is undone by its own id too, and what is sent again undoes no redo.
        for key in ("k", None):
            undone = await own.undo(twice.change_id or "", idempotency_key=key)
            assert [texts(await one.recall("tea")) for one in (own, shop)] == [["Likes green tea"], ["Likes black tea"]]
            await own.undo(undone.change_ids[0])
            await own.undo(twice.change_id or "", idempotency_key="k")
            assert [texts(await one.recall("tea")) for one in (own, shop)] == [[], []]
        await own.undo(twice.change_id or "")
        done = await own.forget(everything=True, idempotency_key="out")
        assert (set(done.memories), done.below, done.erased) == (set(planned.memories), planned.below, True)
        assert (texts(await own.recall("tea")), texts(await shop.recall("tea"))) == ([], [])
        assert [texts(await scope.recall("tea")) for scope in others] == [["Likes black tea"]] * 3
        # Sent again it tells what went, and takes nothing that came since.
        newer = harness.scope(namespace="acme//newer", user="alice")
        for scope in (shop, newer):
            await scope.remember("Likes white tea")
        again = await own.forget(everything=True, idempotency_key="out")
        assert (again.memories, again.replayed) == (done.memories, True)
        assert texts(await shop.recall("tea")) == texts(await newer.recall("tea")) == ["Likes white tea"]

    async def test_what_is_kept_beside_a_session_goes_and_hides_with_it(self, harness: Harness) -> None:
        chat, other = (harness.scope(user="alice", session=name) for name in ("chat", "other"))
        for scope in (chat, other):
            await scope.add([user("tea")])
            await scope.set_session_metadata({"title": "Allergies"})
        whole = harness.scope(user="alice")
        hidden = await whole.forget(session="chat", hard=False)
        assert (dict(await chat.session_metadata()), dict(await other.session_metadata())) == (
            {}, {"title": "Allergies"},
        )  # fmt: skip
        await chat.set_session_metadata({"colour": "red"})
        undone = await whole.undo(hidden.change_id or "")
        assert dict(await chat.session_metadata()) == {"title": "Allergies", "colour": "red"}
        await whole.undo(undone.change_ids[0])
        assert dict(await chat.session_metadata()) == {}
        await whole.forget(everything=True)
        assert (dict(await chat.session_metadata()), dict(await other.session_metadata())) == ({}, {})

    async def test_an_agents_forget_leaves_what_is_kept_beside_others_sessions(self, harness: Harness) -> None:
        for hard in (False, True):
            mine = harness.scope(user=f"alice-{hard}", agent="a", session="mine")
            shared = harness.scope(user=f"alice-{hard}", agent="b", session="shared")
            await mine.add([user("tea of a")])
            await shared.add([user("tea of b")])
            for scope in (mine, shared):
                await scope.set_session_metadata({"title": "tea"})
            await harness.scope(user=f"alice-{hard}", agent="a").forget(everything=True, hard=hard)
            assert (dict(await mine.session_metadata()), dict(await shared.session_metadata())) == (
                {}, {"title": "tea"},
            )  # fmt: skip

    async def test_with_an_agent_only_its_and_agentless_rows_go(self, harness: Harness) -> None:
        nobody, one, two = (harness.scope(user="alice", agent=name, session="s") for name in (None, "one", "two"))
        for scope in (nobody, one, two):
            await scope.add(user("tea said"))
            await scope.remember("tea note")
        await one.forget(everything=True)
        assert (await nobody.recall("tea")).total == 2
        assert (await two.recall("tea")).total == 2

    async def test_hidden_is_nowhere_until_undone(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        [item] = (await alice.add(user("tea said"))).ids
        told = await alice.remember(attribute="tea", value="green")
        before = await alice.recall("tea")
        hidden = [await alice.forget(one, hard=False) for one in (item, told.memory.id)]
        assert [report.hidden for report in hidden] == [(item,), (told.memory.id,)]
        assert not hidden[0].erased
        assert (await alice.recall("tea")).total == 0
        assert (await alice.recall("tea", include_superseded=True)).total == 0
        assert (await alice.recall("tea", as_of=told.memory.valid_from)).total == 0
        assert (await alice.recall("tea", known_at=told.memory.recorded_at)).total == 0
        assert await alice.messages() == ()
        assert (await alice.list(states=None)).items == ()
        with pytest.raises(NotFound):
            await alice.get(item)
        undone = []
        for report in hidden:
            undone += (await alice.undo(report.change_id)).change_ids
        assert await alice.recall("tea") == before
        await alice.undo(undone[0])
        assert (await alice.recall("tea")).total == 1

    async def test_showing_again_keeps_no_window_twice(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        one, two = (await alice.add([user("tea one"), user("tea two")])).ids
        await alice.end_session()
        hidden = await alice.forget(one, hard=False)
        await harness.settle()
        assert [raw.sources for raw in (await alice.list(kinds=["raw"])).items] == [(two,)]
        with pytest.raises(UndoConflict):
            await alice.undo(hidden.change_id)
        await alice.undo(hidden.change_id, cascade=True)
        await harness.settle()
        assert [raw.sources for raw in (await alice.list(kinds=["raw"])).items] == [(one, two)]

    async def test_what_is_shown_after_its_window_was_closed_is_kept_too(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        one, two = (await alice.add([user("tea one"), user("tea two")])).ids
        hidden = await alice.forget(one, hard=False)
        await alice.end_session()
        await alice.undo(hidden.change_id)
        await harness.settle()
        assert sorted(raw.sources for raw in (await alice.list(kinds=["raw"])).items) == sorted([(one,), (two,)])

    async def test_what_is_hidden_can_still_be_forgotten_for_good(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        one, two = (await alice.add([user("tea one"), user("tea two")])).ids
        hidden = await alice.forget(one, hard=False)
        gone = await alice.forget(one)
        assert gone.messages == (one,)
        await alice.forget(two, hard=False)
        report = await alice.forget(session="s1")
        assert report.messages == (two,)
        with pytest.raises(Forgotten):
            await alice.undo(hidden.change_id)
        assert (await alice.recall("tea")).total == 0
        note = await alice.remember("tea note")
        await alice.forget(note.memory.id, hard=False)
        assert (await alice.forget(everything=True)).memories == (note.memory.id,)
        assert (await alice.status()).sessions == 0

    async def test_showing_again_makes_no_second_current_value(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        old = await alice.remember(attribute="city", value="Porto")
        hidden = await alice.forget(old.memory.id, hard=False)
        await harness.advance(DAY)
        new = await alice.remember(attribute="city", value="Lisbon")
        with pytest.raises(UndoConflict) as caught:
            await alice.undo(hidden.change_id)
        assert list(caught.value.blocking) == list(new.receipt.change_ids)
        assert await facts(alice) == ["Lisbon"]

    async def test_a_hidden_row_blocks_an_undo_and_is_not_called_forgotten(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        told = await alice.remember("Likes tea")
        hidden = await alice.forget(told.memory.id, hard=False)
        with pytest.raises(UndoConflict) as caught:
            await alice.undo(told.receipt.change_ids[0])
        assert list(caught.value.blocking) == [hidden.change_id]

    async def test_forgotten_content_may_be_told_again(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        told = await alice.remember("Likes tea")
        await alice.forget(told.memory.id, sources="keep")
        again = await alice.remember("Likes tea")
        assert again.memory.id != told.memory.id
        assert texts(await alice.recall("tea")) == ["Likes tea"]
