"""Store suite: the words index: appended to, flagged and emptied as a brute-force model of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhold.ports.postings import DocumentKind, DocumentRecord, DocumentRole, Entry, read_record, term_key
from memhold.ports.stores import Store
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.testing.clock import FakeClock
from memhold.testing.ids import SeededIds
from memhold.testing.store_suite_rows import ALICE, BOB, OpenStore
from memhold.testing.store_suite_time import exhaustive
from memhold.values.errors import StoreCorrupt

__all__ = ["WordsCases"]

_WORDS = ("tea", "coffee", "寿司", "sushi", "a b", "ß")


@dataclass(frozen=True)
class _Append:
    """Index documents with these terms, some numbers after the last one."""

    gap: int
    documents: tuple[dict[str, int], ...]


@dataclass(frozen=True)
class _Remove:
    """Take out the documents at these places of everything ever indexed, and a few that are not there."""

    places: tuple[int, ...]


@dataclass(frozen=True)
class _Flag:
    """Set documents at these places active or not."""

    places: dict[int, bool]


_TERMS = st.dictionaries(st.sampled_from(_WORDS), st.integers(1, 300), max_size=4)
_PLACES = st.integers(0, 40)
_STEPS = st.lists(
    st.builds(_Append, gap=st.integers(0, 3), documents=st.lists(_TERMS, max_size=6).map(tuple))
    | st.builds(_Remove, places=st.lists(_PLACES, max_size=4).map(tuple))
    | st.builds(_Flag, places=st.dictionaries(_PLACES, st.booleans(), max_size=4)),
    max_size=10,
)


@dataclass
class _Model:
    """What the index must hold: by number, the record and the terms with their saturated frequencies."""

    records: dict[int, DocumentRecord] = field(default_factory=dict)
    terms: dict[int, dict[int, int]] = field(default_factory=dict)
    following: int = 0

    def append(self, step: _Append) -> list[Entry]:
        self.following += step.gap
        entries = []
        for terms in step.documents:
            record = _record(self.following, sum(terms.values()))
            entries.append(Entry(number=self.following, record=record, terms=terms))
            self.records[self.following] = record
            self.terms[self.following] = {term_key(term): min(count, 255) for term, count in terms.items()}
            self.following += 1
        return entries

    def remove(self, numbers: tuple[int, ...]) -> None:
        for number in set(numbers) & set(self.records):
            kind = self.records[number].kind
            self.records[number] = DocumentRecord(kind=kind, active=False, removed=True)
            self.terms[number] = {}

    def flag(self, numbers: dict[int, bool]) -> None:
        for number, active in numbers.items():
            record = self.records.get(number)
            if record is not None and not record.removed:
                self.records[number] = _record(number, record.length, active=active)


def _record(number: int, length: int, *, active: bool = True) -> DocumentRecord:
    return DocumentRecord(
        kind=DocumentKind(1 + number % 6),
        role=DocumentRole(number % 6),
        length=length,
        session=number % 7,
        seq=number + 1,
        event_time=number * 1_000_003 - 5_000_000,
        agent=number % 3,
        active=active,
    )


def _stored(tx: ReadTx) -> tuple[dict[int, DocumentRecord], dict[int, dict[int, int]]]:
    records: dict[int, DocumentRecord] = {}
    terms: dict[int, dict[int, int]] = {}
    last = -1
    for block in tx.blocks():
        assert block.first > last, "blocks in order, without overlap"
        for number in range(block.first, block.first + block.documents):
            records[number] = read_record(block, number)
            terms[number] = {}
        for at in range(0, len(block.entries), 8):
            value = int.from_bytes(block.entries[at : at + 8], "little")
            terms[block.first + (value >> 8 & 255)][value >> 16] = value & 255
        last = block.first + block.documents - 1
    return records, terms


@pytest.mark.asyncio
class WordsCases:
    """The index holds exactly what was put, by scope."""

    @exhaustive
    @given(steps=_STEPS)
    async def test_the_index_is_what_a_model_of_it_says(self, open_store: OpenStore, steps: list[Any]) -> None:
        store = await open_store(FakeClock(), SeededIds())
        model = _Model()
        await store.write(BOB, lambda tx: tx.index([Entry(number=0, record=_record(0, 1), terms={"tea": 1})]))
        for step in steps:
            match step:
                case _Append():
                    entries = model.append(step)
                    await store.write(ALICE, lambda tx, e=entries: tx.index(e))  # type: ignore[misc]
                case _Remove(places=places):
                    model.remove(places)
                    await store.write(ALICE, lambda tx, p=places: tx.unindex(p))  # type: ignore[misc]
                case _Flag(places=flags):
                    model.flag(flags)
                    await store.write(ALICE, lambda tx, p=flags: tx.flag(p))  # type: ignore[misc]
            assert await store.read(ALICE, _stored) == (model.records, model.terms)
        await store.close()

    async def test_many_documents_fill_many_blocks(self, store: Store) -> None:
        model = _Model()
        wide = tuple({f"term {n} {m}": 1 for m in range(100)} for n in range(40))
        narrow: tuple[dict[str, int], ...] = ({"tea": 1},) * 150
        for documents in (narrow, wide, ({},), narrow):
            entries = model.append(_Append(gap=0, documents=documents))
            await store.write(ALICE, lambda tx, e=entries: tx.index(e))  # type: ignore[misc]
        assert await store.read(ALICE, _stored) == (model.records, model.terms)
        assert await store.read(ALICE, lambda tx: len(tx.blocks())) > 4
        every = tuple(range(0, model.following, 3))
        model.remove(every)
        await store.write(ALICE, lambda tx: tx.unindex(every))
        assert await store.read(ALICE, _stored) == (model.records, model.terms)

    async def test_the_same_documents_give_the_same_blocks_however_they_come(
        self, open_store: OpenStore, clock: FakeClock
    ) -> None:
        documents = tuple(dict.fromkeys(_WORDS[: n % 5], n + 1) for n in range(200))
        entries = _Model().append(_Append(gap=0, documents=documents))
        found = []
        for size in (1, 7, 200):
            store = await open_store(clock, SeededIds(size))
            for at in range(0, 200, size):
                part = entries[at : at + size]
                await store.write(ALICE, lambda tx, p=part: tx.index(p))  # type: ignore[misc]
            found.append(await store.read(ALICE, lambda tx: tx.blocks()))
        assert found[0] == found[1] == found[2]

    async def test_one_unit_appends_removes_and_flags(self, store: Store) -> None:
        model = _Model()

        def work(tx: WriteTx) -> None:
            tx.index(model.append(_Append(gap=0, documents=({"tea": 2}, {"tea": 1, "coffee": 3}))))
            tx.unindex([0])
            tx.index(model.append(_Append(gap=0, documents=({"sushi": 1},))))
            tx.flag({2: False})

        await store.write(ALICE, work)
        model.remove((0,))
        model.flag({2: False})
        assert await store.read(ALICE, _stored) == (model.records, model.terms)

    async def test_a_number_that_is_there_is_not_taken_again(self, store: Store) -> None:
        model = _Model()
        entries = model.append(_Append(gap=0, documents=({"tea": 1}, {"tea": 1})))
        await store.write(ALICE, lambda tx: tx.index(entries))
        with pytest.raises(StoreCorrupt, match="1"):
            await store.write(ALICE, lambda tx: tx.index(entries[1:]))
        assert await store.read(ALICE, _stored) == (model.records, model.terms)

    async def test_an_emptied_index_can_be_built_again_with_gaps(self, store: Store) -> None:
        model = _Model()
        entries = model.append(_Append(gap=0, documents=tuple({"tea": 1} for _ in range(300))))
        await store.write(ALICE, lambda tx: tx.index(entries))
        await store.write(BOB, lambda tx: tx.index(entries[:1]))
        await store.write(ALICE, lambda tx: tx.clear_index())
        assert await store.read(ALICE, lambda tx: tx.blocks()) == []
        assert len(await store.read(BOB, lambda tx: tx.blocks())) == 1
        kept = [entry for entry in entries if entry.number % 5]
        for part in (kept[:100], kept[100:]):
            await store.write(ALICE, lambda tx, p=part: tx.index(p))  # type: ignore[misc]
        records, terms = await store.read(ALICE, _stored)
        assert records == {entry.number: entry.record for entry in kept}
        assert set(terms) == set(records)

    async def test_agents_are_numbered_from_one(self, store: Store) -> None:
        assert await store.read(ALICE, lambda tx: dict(tx.agents())) == {}
        taken = [
            await store.write(ALICE, lambda tx, a=agent: tx.agent_number(a))  # type: ignore[misc]
            for agent in ("planner", None, "writer", "planner")
        ]
        assert taken == [1, 0, 2, 1]
        assert await store.read(ALICE, lambda tx: dict(tx.agents())) == {"planner": 1, "writer": 2}
        assert await store.write(BOB, lambda tx: tx.agent_number("writer")) == 1
