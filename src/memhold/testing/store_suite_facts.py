"""Store suite: what facts stand on: their wordings, evidence, suspicions about them, and the vectors of their keys."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from memhold.ports.stores import Ids, Store
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.testing.store_suite_rows import ALICE, add_change, add_fact, add_note, later
from memhold.values.records import Evidence, FactKey, Memory, Scope, Suspicion

__all__ = ["FactCases"]

BOB = Scope(namespace=ALICE.namespace, user="bob")


def _heard(memory: Memory, turn: str, **fields: Any) -> Evidence:
    values: dict[str, Any] = {"memory_id": memory.id, "turn": turn, "at": later(5), "operation": "set"}
    return Evidence(**(values | fields))


def _doubt(ids: Ids, one: Memory, other: Memory, change_id: str, **fields: Any) -> Suspicion:
    values: dict[str, Any] = {"id": ids.new("sus"), "kind": "key", "rule": "substitution", "at": later(9)}
    return Suspicion(**(values | {"memory_id": one.id, "other_id": other.id, "change_id": change_id} | fields))


@pytest.mark.asyncio
class FactCases:
    """Wordings, evidence, suspicions and vectors of keys come back as documented, and go with what they speak of."""

    async def test_facts_are_of_one_subject_key_and_agent(self, store: Store, ids: Ids) -> None:
        def fill(tx: WriteTx) -> None:
            add_fact(tx, ids, "food", "third", valid_from=later(30))
            add_fact(tx, ids, "food", "first", valid_from=later(10), state="superseded")
            add_fact(tx, ids, "food", "second", valid_from=later(20), state="retracted")
            add_fact(tx, ids, "food", "hers", subject="ada")
            add_fact(tx, ids, "drink", "tea")
            add_fact(tx, ids, "food", "the agent's", agent="planner")
            add_note(tx, ids, "no fact", subject="user", attribute="food", value="x", key="food")

        await store.write(ALICE, fill)

        async def values(agent: str | None) -> list[str | None]:
            found = await store.read(ALICE, lambda tx: tx.facts(subject="user", key="food", agent=agent))
            return [fact.value for fact in found]

        assert await values(None) == ["first", "second", "third"]
        assert await values("planner") == ["the agent's"]
        assert await values("writer") == []

    async def test_facts_since_a_time_are_those_that_a_statement_of_then_can_meet(self, store: Store, ids: Ids) -> None:
        def fill(tx: WriteTx) -> None:
            for value, state, until in (
                ("before", "superseded", later(19)),
                ("until then", "superseded", later(20)),
                ("beyond", "superseded", later(30)),
                ("lasting", "active", None),
                ("over", "expired", later(12)),
                ("never so", "retracted", None),
            ):
                add_fact(tx, ids, "food", value, valid_from=later(10), valid_to=until, state=state)
            for value, operation, at in (
                ("beside", "add", 33),
                ("next", "set", 35),
                ("with it", "add", 35),
                ("after", "set", 36),
            ):
                add_fact(
                    tx,
                    ids,
                    "food",
                    value,
                    operation=operation,
                    state="superseded",
                    valid_from=later(at),
                    valid_to=later(40),
                )
            add_fact(tx, ids, "food", "never set", state="retracted", valid_from=later(34))
            add_fact(tx, ids, "drink", "tea", state="superseded", valid_from=later(34), valid_to=later(40))

        await store.write(ALICE, fill)

        async def values(since: datetime | None) -> set[str | None]:
            found = await store.read(ALICE, lambda tx: tx.facts(subject="user", key="food", agent=None, since=since))
            return {fact.value for fact in found}

        following = {"beside", "next", "with it"}
        assert await values(later(20)) == {"until then", "beyond", "lasting", "over"} | following
        assert await values(later(31)) == {"lasting", "over"} | following
        assert await values(later(35)) == {"lasting", "over"} | following | {"after"}
        assert await values(later(41)) == {"lasting", "over"}
        assert len(await values(None)) == 11

    async def test_fact_keys_are_each_wording_of_one_agent_oldest_first(self, store: Store, ids: Ids) -> None:
        def put(tx: WriteTx) -> None:
            for wording, value, state in (("job", "b", "active"), ("occupation", "c", "superseded")):
                fact = add_fact(tx, ids, wording, value, state=state)
                tx.put_memory(replace(fact, rev=2, key="job"))
            add_fact(tx, ids, "job", "d")
            add_fact(tx, ids, "job", "e", subject="ada")
            add_fact(tx, ids, "hobby", "f", agent="planner")

        await store.write(ALICE, put)
        wordings = await store.read(ALICE, lambda tx: tx.fact_keys(None))
        assert wordings == [
            FactKey(subject="user", attribute="job", key="job"),
            FactKey(subject="user", attribute="occupation", key="job"),
            FactKey(subject="ada", attribute="job", key="job"),
        ]
        asked = [
            *((one.subject, one.attribute, None) for one in wordings),
            ("user", "hobby", None),
            ("user", "job", "writer"),
        ]

        def look(tx: ReadTx) -> list[FactKey | None]:
            return [
                tx.fact_key(subject=subject, attribute=attribute, agent=agent) for subject, attribute, agent in asked
            ]

        assert await store.read(ALICE, look) == [*wordings, None, None]
        assert [one.attribute for one in await store.read(ALICE, lambda tx: tx.fact_keys("planner"))] == ["hobby"]
        assert await store.read(ALICE, lambda tx: tx.fact_keys("writer")) == []

    async def test_evidence_comes_in_its_order_once_and_not_of_undone_changes(self, store: Store, ids: Ids) -> None:
        def fill(tx: WriteTx) -> tuple[Memory, Memory, str]:
            one, other = (add_fact(tx, ids, key, "x") for key in ("food", "drink"))
            change = add_change(tx, ids, one)
            for turn in ("t2", "t1", "t2"):
                tx.add_evidence(_heard(one, turn))
            tx.add_evidence(_heard(one, "t2", operation="asked"))
            tx.add_evidence(_heard(one, "t3", change_id=change.id))
            tx.add_evidence(_heard(other, "t1", operation="remove", at=later(1)))
            return one, other, change.id

        one, other, change = await store.write(ALICE, fill)
        both = await store.read(ALICE, lambda tx: tx.evidence([other.id, one.id]))
        assert {row.memory_id for row in both} == {one.id, other.id}
        mine = await store.read(ALICE, lambda tx: tx.evidence([one.id]))
        assert [(row.turn, row.operation) for row in mine] == [
            ("t2", "set"),
            ("t1", "set"),
            ("t2", "asked"),
            ("t3", "set"),
        ]
        assert mine[0] == _heard(one, "t2")
        await store.write(ALICE, lambda tx: tx.mark_undone(change, "chg_later"))
        assert [row.turn for row in await store.read(ALICE, lambda tx: tx.evidence([one.id]))] == ["t2", "t1", "t2"]
        await store.write(ALICE, lambda tx: tx.mark_undone(change, None))
        assert len(await store.read(ALICE, lambda tx: tx.evidence([one.id]))) == 4
        await store.write(ALICE, lambda tx: tx.erase_memories([one.id], change, digests={}))
        left = await store.read(ALICE, lambda tx: tx.evidence([one.id, other.id]))
        assert [row.memory_id for row in left] == [other.id]

    async def test_the_last_use_is_moved_on_in_its_place(self, store: Store, ids: Ids) -> None:
        def fill(tx: WriteTx) -> list[Memory]:
            both = [add_fact(tx, ids, key, "x") for key in ("food", "drink")]
            for one in both:
                tx.add_evidence(_heard(one, "", operation="asked"))
                tx.add_evidence(_heard(one, "t1", operation="asked"))
            return both

        one, other = await store.write(ALICE, fill)
        await store.write(ALICE, lambda tx: tx.move_use(one.id, later(5)))
        found = await store.read(ALICE, lambda tx: tx.evidence([one.id, other.id]))
        assert found == [
            _heard(one, "", operation="asked", at=later(5)),
            _heard(one, "t1", operation="asked"),
            _heard(other, "", operation="asked"),
            _heard(other, "t1", operation="asked"),
        ]
        await store.write(ALICE, lambda tx: tx.move_use("mem_nothing", later(9)))
        assert await store.read(ALICE, lambda tx: tx.evidence([one.id, other.id])) == found

    async def test_counting_evidence_moves_no_revision(self, store: Store, ids: Ids) -> None:
        fact = await store.write(ALICE, lambda tx: add_fact(tx, ids, "food", "x", expires_at=later(70)))
        await store.write(ALICE, lambda tx: tx.count_evidence(fact.id, evidence=3, expires_at=later(90)))
        [kept] = await store.read(ALICE, lambda tx: tx.find_memories([fact.id]))
        assert kept == replace(fact, evidence=3, expires_at=later(90))
        assert await store.read(ALICE, lambda tx: tx.revisions(fact.id)) == [kept]
        await store.write(ALICE, lambda tx: tx.count_evidence(fact.id, evidence=4, expires_at=None))
        [kept] = await store.read(ALICE, lambda tx: tx.find_memories([fact.id]))
        assert (kept.evidence, kept.expires_at, kept.rev) == (4, None, 1)

    async def test_a_suspicion_follows_its_memories_and_its_changes(self, store: Store, ids: Ids) -> None:
        def fill(tx: WriteTx) -> tuple[list[Memory], list[Suspicion], str, str]:
            facts = [add_fact(tx, ids, key, "x") for key in ("job", "vocation", "trade")]
            raising = add_change(tx, ids, *facts).id
            settling = add_change(tx, ids, verb="settle").id
            doubts = [
                _doubt(ids, facts[1], facts[0], raising),
                _doubt(ids, facts[2], facts[0], raising, kind="contradiction", at=later(8)),
            ]
            for doubt in doubts:
                tx.put_suspicion(doubt)
            return facts, doubts, raising, settling

        facts, (first, second), raising, settling = await store.write(ALICE, fill)

        async def found() -> list[Suspicion]:
            return await store.read(ALICE, lambda tx: tx.suspicions())

        assert await found() == [second, first], "in the order of recording"
        looked = replace(first, looked="likeness")
        await store.write(ALICE, lambda tx: tx.put_suspicion(looked))
        assert await found() == [second, looked]
        settled = replace(first, settled="same", settled_by=settling, looked="decided")
        await store.write(ALICE, lambda tx: tx.put_suspicion(settled))
        assert await found() == [second, settled]
        await store.write(ALICE, lambda tx: tx.mark_undone(settling, "chg_later"))
        assert await found() == [second, replace(settled, settled=None, settled_by=None)]
        await store.write(ALICE, lambda tx: tx.mark_undone(settling, None))
        assert await found() == [second, settled]
        await store.write(ALICE, lambda tx: tx.hide([facts[2].id], "chg_hide"))
        assert await found() == [settled]
        await store.write(ALICE, lambda tx: tx.reveal("chg_hide"))
        await store.write(ALICE, lambda tx: tx.mark_undone(raising, "chg_later"))
        assert await found() == []
        await store.write(ALICE, lambda tx: tx.mark_undone(raising, None))
        await store.write(ALICE, lambda tx: tx.erase_memories([facts[1].id], raising, digests={}))
        assert await found() == [second]

    async def test_vectors_of_keys_are_of_one_generation_and_go_when_a_memory_is_erased(
        self, store: Store, ids: Ids
    ) -> None:
        first, second = b"\x01" * 32, b"\x02" * 32
        await store.write(ALICE, lambda tx: tx.put_key_vectors("old", {first: b"aaaa", second: b"bbbb"}))
        await store.write(BOB, lambda tx: tx.put_key_vectors("old", {first: b"cccc"}))
        assert await store.read(ALICE, lambda tx: dict(tx.key_vectors("old"))) == {first: b"aaaa", second: b"bbbb"}
        assert await store.read(ALICE, lambda tx: dict(tx.key_vectors("new"))) == {}
        await store.write(ALICE, lambda tx: tx.put_key_vectors("new", {second: b"dddd"}))
        assert await store.read(ALICE, lambda tx: dict(tx.key_vectors("new"))) == {second: b"dddd"}
        assert await store.read(ALICE, lambda tx: dict(tx.key_vectors("old"))) == {}
        await store.write(ALICE, lambda tx: tx.put_key_vectors("new", {second: b"eeee"}))
        fact = await store.write(ALICE, lambda tx: add_fact(tx, ids, "food", "x"))
        await store.write(ALICE, lambda tx: tx.erase_memories([fact.id], "chg_gone", digests={}))
        assert await store.read(ALICE, lambda tx: dict(tx.key_vectors("new"))) == {}
        assert await store.read(BOB, lambda tx: dict(tx.key_vectors("old"))) == {first: b"cccc"}
