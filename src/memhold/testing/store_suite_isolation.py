"""Store suite: nothing of one scope is reachable from another, by any method."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from memhold.ports.postings import DocumentKind, DocumentRecord, Entry
from memhold.ports.stores import Clock, Ids, Store
from memhold.ports.transaction import ReadTx, Replay, WriteTx
from memhold.testing.ids import SeededIds
from memhold.testing.store_suite_rows import (
    ALICE,
    OTHERS,
    OpenStore,
    add_change,
    add_fact,
    add_note,
    everything,
    later,
    say,
)
from memhold.values.answers import Receipt
from memhold.values.records import Evidence, Scope, Suspicion

__all__ = ["IsolationCases"]

_DIGEST = b"\x09" * 32


@pytest.mark.asyncio
class IsolationCases:
    """A canary in one scope is reachable from no other: not by id, source, number, term, key, change or due work."""

    @pytest.mark.parametrize("stranger", OTHERS, ids=lambda scope: f"{scope.namespace}-{scope.user}")
    async def test_a_stranger_sees_nothing(self, store: Store, ids: Ids, stranger: Scope) -> None:
        planted = await store.write(ALICE, lambda tx: _plant(tx, ids))
        own = await store.read(ALICE, lambda tx: everything(tx, ids=planted, digests=(_DIGEST,)))
        assert len(own) > 20
        assert await store.read(stranger, lambda tx: everything(tx, ids=planted, digests=(_DIGEST,))) == []
        assert await store.write(stranger, lambda tx: everything(tx, ids=planted, digests=(_DIGEST,))) == []

    @pytest.mark.parametrize("stranger", OTHERS, ids=lambda scope: f"{scope.namespace}-{scope.user}")
    async def test_a_stranger_changes_nothing(self, store: Store, ids: Ids, stranger: Scope) -> None:
        planted = await store.write(ALICE, lambda tx: _plant(tx, ids))
        before = await store.read(ALICE, lambda tx: everything(tx, ids=planted, digests=(_DIGEST,)))

        def meddle(tx: WriteTx) -> None:
            tx.mark_undone(planted[-1], "chg_stranger")
            tx.unindex(range(20))
            tx.flag(dict.fromkeys(range(20), False))
            tx.erase_messages(planted, "chg_stranger")
            tx.erase_memories(planted, "chg_stranger", digests=dict.fromkeys(planted, b"x"))
            tx.drop_sources(planted)
            tx.hide(planted, "chg_stranger")
            tx.reveal(planted[-1])
            tx.erase_session("s1")
            tx.clear_due("index", "canary")
            tx.clear_index()
            tx.put_key_vectors("stranger", {_DIGEST: b"stranger"})
            for memory_id in planted:
                tx.count_evidence(memory_id, evidence=9, expires_at=None)
                tx.move_use(memory_id, later(9))

        await store.write(stranger, meddle)
        assert await store.read(ALICE, lambda tx: everything(tx, ids=planted, digests=(_DIGEST,))) == before

    async def test_the_same_ids_in_two_scopes_are_two_things(self, open_store: OpenStore, clock: Clock) -> None:
        store = await open_store(clock, SeededIds(99))
        for scope in (ALICE, *OTHERS):
            await store.write(scope, lambda tx: _plant(tx, SeededIds(5)))
        planted = await store.write(Scope(namespace="fresh"), lambda tx: _plant(tx, SeededIds(5)))
        before = [await store.read(scope, lambda tx: everything(tx, ids=planted)) for scope in OTHERS]

        def ruin(tx: WriteTx) -> None:
            [note] = [memory for memory in tx.find_memories(planted) if memory.kind == "note"]
            tx.put_memory(replace(note, rev=2, state="retracted"))
            tx.erase_messages(planted, planted[-1])
            tx.erase_memories(planted[2:], planted[-1], digests={})
            tx.mark_undone(planted[-1], "chg_x")
            tx.unindex(range(20))
            tx.clear_due("index", "canary")

        await store.write(ALICE, ruin)
        assert [await store.read(scope, lambda tx: everything(tx, ids=planted)) for scope in OTHERS] == before

    async def test_counters_of_one_scope_do_not_show_another(self, store: Store, ids: Ids) -> None:
        fresh = await store.write(Scope(namespace="first"), lambda tx: _counters(tx, ids))
        for _ in range(3):
            await store.write(ALICE, lambda tx: _plant(tx, ids))
        assert await store.write(Scope(namespace="second"), lambda tx: _counters(tx, ids)) == fresh

    async def test_agent_and_session_of_a_scope_do_not_narrow_the_port(self, store: Store, ids: Ids) -> None:
        planted = await store.write(replace(ALICE, agent="planner", session="s1"), lambda tx: _plant(tx, ids))
        wide = await store.read(ALICE, lambda tx: everything(tx, ids=planted, digests=(_DIGEST,)))
        other = replace(ALICE, agent="writer", session="s2")
        assert await store.read(other, lambda tx: everything(tx, ids=planted, digests=(_DIGEST,))) == wide

    async def test_messages_of_a_session_are_those_that_the_agent_sees(self, store: Store, ids: Ids) -> None:
        said = {}
        for agent in ("planner", "writer", None, "planner", "writer"):
            scope = replace(ALICE, agent=agent)
            message = await store.write(scope, lambda tx: say(tx, ids, "tea", agent=tx.scope.agent)[0])
            said[message.seq] = message
        await store.write(ALICE, lambda tx: say(tx, ids, "tea", session="s2", agent="writer"))
        planner, nobody = replace(ALICE, agent="planner"), replace(ALICE, agent="nobody")

        def read(tx: ReadTx) -> tuple[list[int], ...]:
            pages = [tx.messages("s1"), tx.messages("s1", limit=2), tx.messages("s1", limit=2, newest=True)]
            pages += [tx.messages("s1", after=1, until=3), tx.messages("s1", every_agent=True), tx.messages("s2")]
            return tuple([[message.seq for message in page] for page in pages])

        assert await store.read(ALICE, read) == ([1, 2, 3, 4, 5], [1, 2], [4, 5], [2, 3], [1, 2, 3, 4, 5], [1])
        assert await store.read(planner, read) == ([1, 3, 4], [1, 3], [3, 4], [3], [1, 2, 3, 4, 5], [])
        assert await store.write(nobody, read) == ([3], [3], [3], [3], [1, 2, 3, 4, 5], [])
        last = [await store.read(scope, lambda tx: dict(tx.last_seen())) for scope in (ALICE, planner, nobody)]
        assert [sorted(one) for one in last] == [["s1", "s2"], ["s1"], ["s1"]]
        assert [one["s1"] for one in last] == [said[seq].recorded_at for seq in (5, 4, 3)]
        count = await store.read(planner, lambda tx: dict(tx.count_messages(["s1", "s2"])))
        assert count == {"s1": 3}


def _plant(tx: WriteTx, ids: Ids) -> tuple[str, ...]:
    """One of everything; the ids, the change last."""
    agent = tx.agent_number("planner")
    [message] = say(tx, ids, "canary")
    [unnamed] = say(tx, ids, "canary", session="")
    note = add_note(tx, ids, "canary", sources=(message.id,), digest=_DIGEST)
    fact = add_fact(tx, ids, "food", "canary", sources=(message.id, note.id))
    gone = add_note(tx, ids, "gone")
    change = add_change(tx, ids, note, fact, sources=(message.id,), detail={"reply": "canary"})
    tx.erase_memories([gone.id], change.id, digests={gone.id: _DIGEST})
    tx.add_evidence(Evidence(memory_id=fact.id, turn="canary", at=tx.now, operation="set", change_id=change.id))
    doubt: dict[str, Any] = {
        "memory_id": note.id,
        "other_id": fact.id,
        "rule": "canary",
        "at": tx.now,
        "change_id": change.id,
    }
    tx.put_suspicion(Suspicion(id=ids.new("sus"), kind="key", **doubt))
    tx.put_key_vectors("canary", {_DIGEST: b"canary"})
    tx.remember_key("add", _DIGEST, Replay(fingerprint=b"f", receipt=Receipt(ids=(message.id,)), expires_at=None))
    tx.put_due("index", "canary", tx.now)
    record = DocumentRecord(kind=DocumentKind.NOTE, length=1, agent=agent)
    tx.index([Entry(number=row.number, record=record, terms={"canary": 1}) for row in (message, note, fact)])
    session = tx.session("s1")
    assert session is not None
    return (message.id, unnamed.id, note.id, fact.id, gone.id, session.id, change.id)


def _counters(tx: WriteTx, ids: Ids) -> tuple[int, int, int, int]:
    change = add_change(tx, ids)
    return tx.take_numbers(1), tx.take_session_number(), tx.agent_number("someone"), change.seq
