"""Store suite: what is written comes back equal: journal, memories, changes, keys, erasure."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memhold.ports.stores import Ids, Store
from memhold.ports.transaction import Listing, ReadTx, Replay, WriteTx
from memhold.testing.clock import FakeClock
from memhold.testing.store_suite_rows import ALICE, ANYTHING, add_change, add_fact, add_note, later, need_session, say
from memhold.values.answers import Receipt, Visibility
from memhold.values.errors import RevisionConflict
from memhold.values.records import Change, Memory, Scope, Span

__all__ = ["ContentCases"]


@pytest.mark.asyncio
class ContentCases:
    """Each read method gives back what the write methods put, in the order that it documents."""

    async def test_sessions_come_back_in_order_of_creation(self, store: Store, ids: Ids, clock: FakeClock) -> None:
        for name in ("zeta", "", "alpha"):
            await store.write(ALICE, lambda tx, name=name: need_session(tx, ids, name))  # type: ignore[misc]
            clock.advance(1)
        made = await store.read(ALICE, lambda tx: tx.sessions())
        assert [session.name for session in made] == ["zeta", "", "alpha"]
        assert sorted(session.number for session in made) == [1, 2, 3]
        unnamed = made[1]
        assert await store.read(ALICE, lambda tx: (tx.session(""), tx.find_session(unnamed.id))) == (unnamed, unnamed)
        assert await store.read(ALICE, lambda tx: (tx.session("beta"), tx.find_session("ses_none"))) == (None, None)
        waiting = replace(
            unnamed,
            last_seq=7,
            cursor=3,
            window_start=5,
            asked=6,
            pending_tokens=9,
            torn=True,
            metadata={"ü": [1, {"a": None}]},
        )
        ended = replace(waiting, rev=2, last_at=later(50), ended_at=later(60))
        await store.write(ALICE, lambda tx: tx.put_session(ended))
        assert await store.read(ALICE, lambda tx: tx.session("")) == ended
        assert [session.name for session in await store.read(ALICE, lambda tx: tx.sessions())] == ["zeta", "", "alpha"]

    async def test_messages_come_back_equal(self, store: Store, ids: Ids, clock: FakeClock) -> None:
        body: dict[str, Any] = {
            "role": "assistant",
            "content": [{"type": "text", "text": "Grüße \x00 \U0001f600 漢字"}, {"type": "image", "n": 1.5, "x": None}],
            "tool_calls": [{"id": "call_0", "function": {"name": "f", "arguments": '{"a": [1, 2]}'}}],
        }
        clock.advance(0.123456)
        fields: dict[str, Any] = {
            "role": "assistant",
            "body": body,
            "shape": "anthropic",
            "event_time": later(-1e9 + 0.000001),
            "agent": "planner",
            "embed": False,
            "metadata": {"tags": ["a", "b"], "deep": {"k": [True, None]}},
        }
        [written] = await store.write(ALICE, lambda tx: say(tx, ids, "what is read \x00 漢字", **fields))
        for found in (
            await store.read(ALICE, lambda tx: tx.messages("s1")),
            await store.read(ALICE, lambda tx: tx.find_messages([written.id])),
            await store.read(ALICE, lambda tx: tx.find_numbers([written.number])),
        ):
            assert found == [written]

    async def test_nobody_can_change_what_is_stored_through_a_value(self, store: Store, ids: Ids) -> None:
        body: dict[str, Any] = {"role": "user", "content": ["as it was"]}
        metadata: dict[str, Any] = {"tags": ["kept"]}
        [message] = await store.write(ALICE, lambda tx: say(tx, ids, "x", body=body, metadata=metadata))
        note = await store.write(ALICE, lambda tx: add_note(tx, ids, "y", metadata=metadata))
        body["content"].append("changed by the writer")
        metadata["tags"].append("changed by the writer")
        for _ in range(2):
            [kept] = await store.read(ALICE, lambda tx: tx.find_messages([message.id]))
            [memory] = await store.read(ALICE, lambda tx: tx.find_memories([note.id]))
            assert (kept.body["content"], kept.metadata["tags"]) == (["as it was"], ["kept"])
            assert memory.metadata["tags"] == ["kept"]
            kept.body["content"].append("changed by a reader")
            kept.metadata["tags"].append("changed by a reader")
            memory.metadata["tags"].append("changed by a reader")

    async def test_messages_are_read_by_stretch(self, store: Store, ids: Ids) -> None:
        await store.write(ALICE, lambda tx: say(tx, ids, *(f"m{n}" for n in range(1, 11))))
        await store.write(ALICE, lambda tx: say(tx, ids, "elsewhere", session=""))

        async def seqs(**asked: Any) -> list[int]:
            return [message.seq for message in await store.read(ALICE, lambda tx: tx.messages("s1", **asked))]

        assert await seqs() == list(range(1, 11))
        assert await seqs(after=8) == [9, 10]
        assert await seqs(after=2, until=4) == [3, 4]
        assert await seqs(limit=3) == [1, 2, 3]
        assert await seqs(limit=3, newest=True) == [8, 9, 10]
        assert await seqs(limit=3, newest=True, until=5) == [3, 4, 5]
        assert await seqs(after=4, limit=2) == [5, 6]
        assert await seqs(limit=0) == await seqs(limit=0, newest=True) == await seqs(after=10) == []

    async def test_rows_come_in_the_order_of_the_asking(self, store: Store, ids: Ids) -> None:
        messages = await store.write(ALICE, lambda tx: say(tx, ids, "a", "b", "c"))
        notes = await store.write(ALICE, lambda tx: [add_note(tx, ids, text) for text in "def"])
        backwards = [row.id for row in reversed(messages)]
        found = await store.read(ALICE, lambda tx: tx.find_messages([backwards[0], "msg_none", *backwards[1:]]))
        assert [row.id for row in found] == backwards
        backwards = [row.id for row in reversed(notes)]
        found_notes = await store.read(ALICE, lambda tx: tx.find_memories([*backwards, "mem_none", messages[0].id]))
        assert [row.id for row in found_notes] == backwards
        asked = [notes[2].number, messages[1].number, 999, notes[0].number]
        mixed = await store.read(ALICE, lambda tx: tx.find_numbers(asked))
        assert mixed == [notes[2], messages[1], notes[0]]

    async def test_numbers_of_messages_and_memories_are_dense_together(self, store: Store, ids: Ids) -> None:
        taken: list[int] = []
        for size in (3, 1, 5):
            taken += [m.number for m in await store.write(ALICE, lambda tx, n=size: say(tx, ids, *"x" * n))]  # type: ignore[misc]
            taken.append((await store.write(ALICE, lambda tx: add_note(tx, ids, "y"))).number)
        assert taken == list(range(taken[0], taken[0] + len(taken)))
        assert taken[0] >= 0
        assert (await store.write(Scope(), lambda tx: add_note(tx, ids, "z"))).number == taken[0]

    async def test_memories_come_back_equal(self, store: Store, ids: Ids) -> None:
        fields: dict[str, Any] = {
            "state": "superseded",
            "tier": "long",
            "agent": "planner",
            "session": "s1",
            "topics": ("food", "美食"),
            "entities": ("Ada",),
            "operation": "add",
            "metadata": {"from": {"page": 3}},
            "importance": "high",
            "pinned": True,
            "origin": "model",
            "trust": "tool",
            "evidence": 4,
            "sources": ("msg_b", "msg_a"),
            "event_time": later(-5),
            "valid_from": later(-4.5),
            "valid_to": later(99),
            "expires_at": later(100),
            "superseded_by": "mem_other",
        }
        await store.write(ALICE, lambda tx: need_session(tx, ids))
        fact = await store.write(ALICE, lambda tx: add_fact(tx, ids, "food", "sushi", **fields))
        assert await store.read(ALICE, lambda tx: tx.find_memories([fact.id])) == [fact]
        for kind in ("note", "summary", "raw", "rollup"):
            row = await store.write(ALICE, lambda tx, k=kind: add_note(tx, ids, "text", kind=k))  # type: ignore[misc]
            assert await store.read(ALICE, lambda tx, r=row: tx.find_memories([r.id])) == [row]  # type: ignore[misc]

    async def test_every_state_of_a_memory_can_be_kept(self, store: Store, ids: Ids) -> None:
        for state in ("active", "superseded", "retracted", "merged", "expired"):
            row = await store.write(ALICE, lambda tx, s=state: add_note(tx, ids, "text", state=s))  # type: ignore[misc]
            assert await store.read(ALICE, lambda tx, r=row: tx.find_memories([r.id])) == [row]  # type: ignore[misc]

    async def test_a_listing_narrows_and_pages(self, store: Store, ids: Ids) -> None:
        def fill(tx: WriteTx) -> None:
            need_session(tx, ids)
            add_note(tx, ids, "plain")
            add_note(tx, ids, "of an agent", agent="planner", session="s1")
            add_note(tx, ids, "of another", agent="writer")
            add_fact(tx, ids, "food", "sushi")
            add_fact(tx, ids, "food", "pizza", state="superseded")
            add_note(tx, ids, "raw window", kind="raw", session="s1")

        await store.write(ALICE, fill)

        async def texts(**asked: Any) -> list[str]:
            found = await store.read(ALICE, lambda tx: tx.list_memories(Listing(**asked)))
            return [memory.text for memory in found]

        active = ["plain", "of an agent", "of another", "user food sushi", "raw window"]
        assert await texts() == active
        assert await texts(states=None) == [*active[:4], "user food pizza", "raw window"]
        assert await texts(states=("superseded",)) == ["user food pizza"]
        assert await texts(kinds=("fact", "raw")) == ["user food sushi", "raw window"]
        assert await texts(agent="planner") == ["plain", "of an agent", "user food sushi", "raw window"]
        assert await texts(session="s1") == ["of an agent", "raw window"]
        # What no statement of a store asks is asked of the rows, and a page is full all the same.
        assert await texts(session_prefix="s", limit=2) == ["of an agent", "raw window"]
        assert await texts(metadata={"none": 1}, limit=1) == []
        assert await texts(kinds=()) == await texts(states=()) == []
        numbers = [memory.number for memory in await store.read(ALICE, lambda tx: tx.list_memories(ANYTHING))]
        assert await texts(limit=2) == active[:2]
        assert await texts(limit=2, after=numbers[1]) == active[2:4]

    async def test_what_stands_at_paths_comes_by_key_and_in_pages(self, store: Store, ids: Ids) -> None:
        def fill(tx: WriteTx) -> list[Memory]:
            keys = [
                "b\x1f",
                "a\x1f",
                "a\x1fz\x1f",
                "a b\x1f",
                "a\x1f",
                "a\x1f" + "long" * 2000,
                "\U0001f600\x1f",
                "\uffee\x1f",
            ]
            made = [add_note(tx, ids, key, kind="document", key=key) for key in keys]
            tx.put_memory(replace(made[1], rev=2, state="superseded"))
            add_note(tx, ids, "no document", key="a\x1f")
            return made

        b, old, z, spaced, a, deep, emoji, wide = await store.write(ALICE, fill)

        async def found(first: str, until: str, **asked: Any) -> list[str]:
            return [one.id for one in await store.read(ALICE, lambda tx: tx.at_paths(first, until, **asked))]

        every = [one.id for one in (a, deep, z, spaced, b, wide, emoji)]
        assert await found("", "\U0010ffff", limit=100) == every
        assert await found("a\x1f", "a ", limit=100) == every[:3]
        assert await found("a\x1f", "a ", limit=100, former=True) == [old.id, *every[:3]]
        assert await found("a\x1f", "a ", after=old.number, limit=100, former=True) == every[:3]
        assert await found("", "\U0010ffff", limit=2) == every[:2]
        assert await found(deep.key or "", "\U0010ffff", after=deep.number, limit=2) == every[2:4]
        await store.write(ALICE, lambda tx: tx.hide([a.id], "chg_x"))
        assert await found("a\x1f", "a\x1f\x01", limit=100, former=True) == [old.id]
        assert await store.read(Scope(user="bob"), lambda tx: tx.at_paths("", "\U0010ffff", limit=9)) == []

    async def test_the_places_of_documents_are_those_that_stand_there(self, store: Store, ids: Ids) -> None:
        until = datetime(2030, 1, 2, tzinfo=UTC)

        def fill(tx: WriteTx) -> list[Memory]:
            made = [
                add_note(tx, ids, "of an agent", kind="document", key="a\x1fz\x1f", agent="writer"),
                add_note(tx, ids, "behind", kind="document", key="b\x1f"),
                add_note(tx, ids, "for a time", kind="document", key="a\x1f", expires_at=until),
                add_note(tx, ids, "hidden", kind="document", key="a\x1fh\x1f"),
                add_note(tx, ids, "replaced", kind="document", key="a\x1fr\x1f"),
                add_note(tx, ids, "deep", kind="document", key="a\x1f" + "long" * 2000),
            ]
            tx.put_memory(replace(made[4], rev=2, state="superseded"))
            tx.hide([made[3].id], "chg_x")
            add_note(tx, ids, "no document", key="a\x1f")
            return made

        mine, behind, timed, _, _, deep = await store.write(ALICE, fill)
        below = [
            (timed.number, "a\x1f", None, until),
            (deep.number, deep.key, None, None),
            (mine.number, "a\x1fz\x1f", "writer", None),
        ]
        assert await store.read(ALICE, lambda tx: tx.places("a\x1f", "a ")) == below
        assert await store.read(ALICE, lambda tx: tx.places("a\x1fz\x1f", "a\x1fz ")) == below[2:]
        every = await store.read(ALICE, lambda tx: tx.places("", "\U0010ffff"))
        assert every == [*below, (behind.number, "b\x1f", None, None)]
        assert await store.read(Scope(user="bob"), lambda tx: tx.places("", "\U0010ffff")) == []

    async def test_memories_read_together_have_their_own_sources(self, store: Store, ids: Ids) -> None:
        said = await store.write(ALICE, lambda tx: [one.id for one in say(tx, ids, *"abc")])
        wanted: list[tuple[str, ...]] = [(said[2], said[0]), (), (said[1],)]
        notes = await store.write(ALICE, lambda tx: [add_note(tx, ids, "n", sources=one) for one in wanted])
        again = replace(notes[0], rev=2, sources=(said[1],))
        await store.write(ALICE, lambda tx: tx.put_memory(again))

        def read(tx: ReadTx) -> list[tuple[str, ...]]:
            found = [*tx.find_memories([one.id for one in reversed(notes)]), *tx.revisions(notes[0].id)]
            return [memory.sources for memory in found]

        assert await store.read(ALICE, read) == [(said[1],), (), (said[1],), wanted[0], (said[1],)]

    async def test_same_content_is_active_and_of_one_kind_and_agent(self, store: Store, ids: Ids) -> None:
        digest = b"d" * 32
        note = await store.write(ALICE, lambda tx: add_note(tx, ids, "same", digest=digest))

        async def same(**asked: Any) -> str | None:
            values: dict[str, Any] = {"kind": "note", "digest": digest, "agent": None, **asked}
            found = await store.read(ALICE, lambda tx: tx.same_content(**values))
            return None if found is None else found.id

        assert await same() == note.id
        assert await same(kind="raw") is None
        assert await same(agent="planner") is None
        assert await same(digest=b"e" * 32) is None
        second = replace(note, rev=2, evidence=1)
        await store.write(ALICE, lambda tx: tx.put_memory(second))
        assert await same() == note.id, "the next revision keeps the digest"
        await store.write(ALICE, lambda tx: tx.put_memory(replace(note, rev=3, state="superseded")))
        assert await same() is None
        await store.write(ALICE, lambda tx: tx.put_memory(replace(note, rev=4)))
        assert await same() == note.id, "a value that returns is found again"

    async def test_revisions_are_kept_as_they_were_written(self, store: Store, ids: Ids, clock: FakeClock) -> None:
        first = await store.write(ALICE, lambda tx: add_note(tx, ids, "text", sources=("msg_a",), topics=("t",)))
        clock.advance(10)
        second = replace(first, rev=2, sources=("msg_a", "msg_b"), recorded_at=later(10), metadata={"n": 2})
        await store.write(ALICE, lambda tx: tx.put_memory(second))
        clock.advance(10)
        third = replace(first, rev=3, sources=("msg_c",), state="superseded", topics=(), recorded_at=later(20))
        await store.write(ALICE, lambda tx: tx.put_memory(third))
        kept = await store.read(ALICE, lambda tx: tx.revisions(first.id))
        assert kept == [replace(first, unrecorded_at=later(10)), replace(second, unrecorded_at=later(20)), third]
        assert await store.read(ALICE, lambda tx: tx.find_memories([first.id])) == [third]
        assert await store.read(ALICE, lambda tx: tx.find_numbers([first.number])) == [third]
        assert await store.read(ALICE, lambda tx: tx.revisions("mem_none")) == []

    @pytest.mark.parametrize(("stored", "written"), [(0, 2), (1, 1), (1, 3), (3, 3), (3, 1)])
    async def test_a_revision_is_swapped_only_for_the_one_before(
        self, store: Store, ids: Ids, stored: int, written: int
    ) -> None:
        note = await store.write(ALICE, lambda tx: add_note(tx, ids, "text"))
        for rev in range(2, stored + 1):
            await store.write(ALICE, lambda tx, r=rev: tx.put_memory(replace(note, rev=r)))  # type: ignore[misc]
        target = note if stored else replace(note, id=ids.new("mem"), number=note.number + 1)
        before = await store.read(ALICE, lambda tx: tx.revisions(target.id))
        with pytest.raises(RevisionConflict) as caught:
            await store.write(ALICE, lambda tx: tx.put_memory(replace(target, rev=written, text="lost")))
        assert (caught.value.expected, caught.value.actual) == (written - 1, stored)
        assert await store.read(ALICE, lambda tx: tx.revisions(target.id)) == before

    async def test_derived_are_the_memories_that_name_a_source(self, store: Store, ids: Ids) -> None:
        both = await store.write(ALICE, lambda tx: add_note(tx, ids, "both", sources=("msg_a", "msg_b")))
        one = await store.write(ALICE, lambda tx: add_note(tx, ids, "one", sources=("msg_b",), state="merged"))
        await store.write(ALICE, lambda tx: add_note(tx, ids, "like", sources=("msg_ab",)))

        async def derived(*sources: str) -> list[str]:
            return [memory.id for memory in await store.read(ALICE, lambda tx: tx.derived(sources))]

        assert await derived("msg_a") == [both.id]
        assert await derived("msg_b", "msg_a") == [both.id, one.id]
        assert await derived("msg_") == await derived() == []
        await store.write(ALICE, lambda tx: tx.put_memory(replace(both, rev=2, sources=("msg_c",))))
        assert await derived("msg_a", "msg_c") == [both.id]
        assert await derived("msg_a") == []

    async def test_changes_are_numbered_within_the_namespace(self, store: Store, ids: Ids) -> None:
        bob = Scope(namespace=ALICE.namespace, user="bob")
        made = [await store.write(scope, lambda tx: add_change(tx, ids)) for scope in (ALICE, bob, ALICE, bob)]
        seqs = [change.seq for change in made]
        assert seqs == list(range(seqs[0], seqs[0] + 4))
        assert seqs[0] >= 1, "`after=0` lists every change"
        assert await store.read(ALICE, lambda tx: [change.seq for change in tx.changes()]) == [seqs[0], seqs[2]]
        elsewhere = await store.write(Scope(namespace="other"), lambda tx: add_change(tx, ids))
        assert elsewhere.seq == seqs[0]

    async def test_a_change_that_touches_a_memory_twice_comes_back_once(self, store: Store, ids: Ids) -> None:
        def work(tx: WriteTx) -> tuple[Memory, Change]:
            note = add_note(tx, ids, "one")
            return note, add_change(tx, ids, note, note)

        note, twice = await store.write(ALICE, work)
        found = await store.read(ALICE, lambda tx: tx.changes(memory_id=note.id))
        assert [change.id for change in found] == [twice.id]
        assert [effect.memory_id for effect in found[0].effects] == [note.id, note.id]

    async def test_changes_come_back_without_content_in_effects(self, store: Store, ids: Ids) -> None:
        def work(tx: WriteTx) -> tuple[Any, ...]:
            first, second = add_note(tx, ids, "one"), add_note(tx, ids, "two")
            detail = {"reply": ["text", {"n": 1}]}
            spans = (Span(session="s1", first=1, last=4), Span(session="", first=2, last=2))
            both = add_change(tx, ids, first, second, sources=("msg_a",), spans=spans, detail=detail)
            only = add_change(tx, ids, second, undoes=both.id, reason="Grüße")
            return first, second, both, only

        first, second, both, only = await store.write(ALICE, work)
        [kept, last] = await store.read(ALICE, lambda tx: tx.changes())
        assert (kept.id, last.id, last.undoes, last.reason) == (both.id, only.id, both.id, "Grüße")
        assert [effect.memory_id for effect in kept.effects] == [first.id, second.id]
        assert all(effect.before is None and effect.after is None for effect in kept.effects)
        assert (kept.by, kept.at, kept.sources, kept.spans) == (both.by, both.at, ("msg_a",), both.spans)
        assert kept.detail == {"reply": ["text", {"n": 1}]}
        assert await store.read(ALICE, lambda tx: tx.find_change(both.id)) == kept
        assert await store.read(ALICE, lambda tx: tx.find_change("chg_none")) is None
        assert await store.read(ALICE, lambda tx: tx.changes(memory_id=first.id)) == [kept]
        assert await store.read(ALICE, lambda tx: tx.changes(memory_id=second.id, after=kept.seq)) == [last]
        assert await store.read(ALICE, lambda tx: tx.changes(memory_id=second.id, limit=1)) == [kept]
        assert await store.read(ALICE, lambda tx: tx.changes(verb=kept.verb)) == [kept, last]
        assert await store.read(ALICE, lambda tx: tx.changes(verb=kept.verb, after=kept.seq)) == [last]
        assert await store.read(ALICE, lambda tx: tx.changes(verb=kept.verb, limit=1)) == [kept]
        assert await store.read(ALICE, lambda tx: tx.changes(verb="another")) == []

    async def test_an_undo_is_noted_and_taken_back(self, store: Store, ids: Ids) -> None:
        change = await store.write(ALICE, lambda tx: add_change(tx, ids))
        for by in ("chg_undo", None, "chg_again"):
            await store.write(ALICE, lambda tx, b=by: tx.mark_undone(change.id, b))  # type: ignore[misc]
            kept = await store.read(ALICE, lambda tx: tx.find_change(change.id))
            assert kept == replace(change, undone_by=by)

    async def test_a_key_is_remembered_until_it_expires(self, store: Store, ids: Ids, clock: FakeClock) -> None:
        receipt = Receipt(
            ids=(ids.new("msg"), ids.new("msg")),
            change_ids=(ids.new("chg"),),
            visibility=Visibility(recent=True, words=False, meaning=None, consolidated=False),
            redacted=3,
        )
        key = b"k" * 32
        short = Replay(fingerprint=b"f" * 32, receipt=receipt, expires_at=later(30))
        for_ever = replace(short, expires_at=None)
        await store.write(ALICE, lambda tx: tx.remember_key("add", key, short))
        await store.write(ALICE, lambda tx: tx.remember_key("import", key, for_ever))
        clock.set(later(30) - timedelta(microseconds=1))
        assert await store.read(ALICE, lambda tx: tx.replay("add", key)) == short
        assert await store.read(ALICE, lambda tx: tx.replay("add", b"x" * 32)) is None
        assert await store.read(ALICE, lambda tx: tx.replay("remember", key)) is None, "a key is of one verb"
        clock.set(later(30))
        assert await store.read(ALICE, lambda tx: tx.replay("add", key)) is None
        assert await store.write(ALICE, lambda tx: tx.replay("add", key)) is None
        assert await store.read(ALICE, lambda tx: tx.replay("import", key)) == for_ever
        again = replace(short, fingerprint=b"g" * 32, expires_at=later(90))
        await store.write(ALICE, lambda tx: tx.remember_key("add", key, again))
        assert await store.read(ALICE, lambda tx: tx.replay("add", key)) == again

    async def test_counts_are_by_kind_tier_and_state(self, store: Store, ids: Ids) -> None:
        def fill(tx: WriteTx) -> None:
            say(tx, ids, "a", "b")
            say(tx, ids, "c", session="")
            note = add_note(tx, ids, "d")
            tx.put_memory(replace(note, rev=2, tier="long"))
            add_note(tx, ids, "e")
            add_fact(tx, ids, "food", "x", state="superseded")

        assert await store.read(ALICE, lambda tx: dict(tx.counts())) == {("message", "", "active"): 0}
        await store.write(ALICE, fill)
        assert await store.read(ALICE, lambda tx: dict(tx.counts())) == {
            ("message", "", "active"): 3,
            ("note", "long", "active"): 1,
            ("note", "mid", "active"): 1,
            ("fact", "mid", "superseded"): 1,
        }

    async def test_a_unit_of_work_reads_its_own_writes(self, store: Store, ids: Ids) -> None:
        def work(tx: WriteTx) -> None:
            [message] = say(tx, ids, "hello")
            note = add_note(tx, ids, "note", sources=(message.id,), digest=b"d")
            change = add_change(tx, ids, note)
            tx.put_due("index", "x", tx.now)
            assert tx.messages("s1") == tx.find_messages([message.id]) == [message]
            assert tx.derived([message.id]) == tx.find_memories([note.id]) == [note]
            assert tx.same_content(kind="note", digest=b"d", agent=None) == note
            assert [row.id for row in tx.changes(memory_id=note.id)] == [change.id]
            assert [due.ref for due in tx.due()] == ["x"]
            assert tx.scope == ALICE

        await store.write(ALICE, work)
