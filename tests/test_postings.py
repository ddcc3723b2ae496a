"""The bytes of the words index: what goes in comes out, what was removed is gone, what is damaged is said."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhold.index.postings_arrays import decode
from memhold.index.postings_check import verify
from memhold.ports.postings import (
    BLOCK_DOCUMENTS,
    BLOCK_ENTRY_BYTES,
    ENTRY_BYTES,
    RECORD_BYTES,
    Block,
    DocumentKind,
    DocumentRecord,
    DocumentRole,
    Entry,
    append,
    encode,
    place,
    read_record,
    remove,
    replace,
    set_active,
    term_key,
)
from memhold.values.errors import CorruptIndex, StoreCorrupt

U32 = st.integers(0, 2**32 - 1)
TERMS = st.dictionaries(st.text(max_size=8), st.integers(1, 400), max_size=12)
RECORDS = st.builds(
    DocumentRecord,
    kind=st.sampled_from(DocumentKind),
    role=st.sampled_from(DocumentRole),
    length=U32,
    session=U32,
    seq=U32,
    event_time=st.integers(-(2**63), 2**63 - 1),
    agent=U32,
    active=st.booleans(),
)
DOCUMENTS = st.lists(st.tuples(RECORDS, TERMS), max_size=20)


def build(documents, first=0):
    blocks: dict[int, Block] = {}
    tail = None
    for number, (record, terms) in enumerate(documents, first):
        tail = append(tail, Entry(number=number, record=record, terms=terms))
        blocks[tail.first] = tail
    return list(blocks.values())


def message(seq=1, **values):
    return DocumentRecord(kind=DocumentKind.MESSAGE, session=1, seq=seq, **values)


def frequencies(blocks, terms):
    """What the index says of each term: {(term, document number): frequency}."""
    index = decode(blocks)
    by_key = {term_key(term): term for term in terms}
    keys = np.array(sorted(by_key), dtype=np.uint64)
    found = index.find(keys)
    return {
        (by_key[int(keys[key])], int(index.numbers[row])): int(count)
        for row, key, count in zip(found.row, found.key, found.frequency, strict=True)
    }


def expected(documents, first=0, without=()):
    return {
        (term, number): min(count, 255)
        for number, (_, terms) in enumerate(documents, first)
        if number not in without
        for term, count in terms.items()
    }


@given(DOCUMENTS, st.integers(0, 1000))
def test_what_is_appended_is_decoded(documents, first):
    blocks = build(documents, first)
    every = {term for _, terms in documents for term in terms}
    assert frequencies(blocks, every | {"never said"}) == expected(documents, first)
    index = decode(blocks)
    assert index.numbers.tolist() == list(range(first, first + len(documents)))
    for block in blocks:
        verify(block)
        for number in range(block.first, block.first + block.documents):
            assert read_record(block, number) == documents[number - first][0]
    for field in ("event_time", "session", "seq", "length", "agent", "kind", "role"):
        assert index.columns[field].tolist() == [getattr(record, field) for record, _ in documents]
    assert index.active.tolist() == [record.active for record, _ in documents]


@given(DOCUMENTS.filter(bool), st.data())
def test_a_removed_document_leaves_nothing_and_disturbs_nothing(documents, data):
    gone = data.draw(st.sets(st.integers(0, len(documents) - 1), min_size=1))
    blocks = build(documents)
    for number in gone:
        blocks = [
            remove(block, number) if block.first <= number < block.first + block.documents else block
            for block in blocks
        ]
    every = {term for _, terms in documents for term in terms}
    assert frequencies(blocks, every) == expected(documents, without=gone)
    kept = sum(len(terms) for number, (_, terms) in enumerate(documents) if number not in gone)
    assert sum(len(block.entries) for block in blocks) == kept * ENTRY_BYTES
    living = decode(blocks).living
    assert [number for number in range(len(documents)) if not living[number]] == sorted(gone)
    for block in blocks:
        verify(block)
        for number in gone & set(range(block.first, block.first + block.documents)):
            assert remove(block, number) == block
            assert read_record(block, number) == DocumentRecord(
                kind=documents[number][0].kind, active=False, removed=True
            )


@given(DOCUMENTS.filter(bool), RECORDS, TERMS, st.booleans())
def test_a_document_can_be_indexed_anew_in_its_place(documents, record, terms, removed_first):
    number = len(documents) // 2
    (before,) = build(documents)
    start = remove(before, number) if removed_first else before
    after = replace(start, Entry(number=number, record=record, terms=terms))
    verify(after)
    changed = [*documents[:number], (record, terms), *documents[number + 1 :]]
    every = {term for _, each in [*documents, (record, terms)] for term in each}
    assert frequencies([after], every) == expected(changed)
    assert read_record(after, number) == record


@given(DOCUMENTS.filter(bool), st.booleans())
def test_a_flag_changes_in_place_and_alone(documents, active):
    (block,) = build(documents)
    flagged = set_active(block, 0, active=active)
    assert len(flagged.records) == len(block.records)
    assert flagged.entries == block.entries
    assert read_record(flagged, 0).active is active
    assert set_active(flagged, 0, active=documents[0][0].active) == block
    assert not decode([set_active(remove(block, 0), 0, active=True)]).active[0]


def test_a_store_that_appends_bytes_gets_the_same_blocks_as_the_fold():
    documents = [(message(seq=n), {f"w{i}": 1 for i in range(n % 40)}) for n in range(500)]
    rows: list[list] = []
    for number, (record, terms) in enumerate(documents):
        tail = (rows[-1][0], len(rows[-1][1]), len(rows[-1][2])) if rows else None
        where = place(tail, number)
        records, entries = encode(where, Entry(number=number, record=record, terms=terms))
        if where.opens:
            rows.append([where.first, records, entries])
        else:
            rows[-1][1] += records
            rows[-1][2] += entries
    assert [Block(first=f, records=r, entries=e) for f, r, e in rows] == build(documents)
    assert len(rows) > 500 // BLOCK_DOCUMENTS


def test_a_block_closes_by_documents_and_by_bytes():
    small = build([(message(), {"a": 1})] * (BLOCK_DOCUMENTS + 1))
    assert [block.documents for block in small] == [BLOCK_DOCUMENTS, 1]
    wide = {f"w{i}": 1 for i in range(BLOCK_ENTRY_BYTES // ENTRY_BYTES)}
    assert [block.documents for block in build([(message(), wide)] * 3)] == [1, 1, 1]


def test_numbers_may_leave_gaps_between_blocks_but_never_go_back():
    first = append(None, Entry(number=5, record=message(), terms={"a": 1}))
    second = append(first, Entry(number=9, record=message(), terms={"a": 1}))
    assert (second.first, second.documents) == (9, 1)
    assert decode([first, second]).numbers.tolist() == [5, 9]
    assert decode([first, second]).rows_of([9, 7, 5]).tolist() == [1, 0]
    with pytest.raises(StoreCorrupt, match="not after 9"):
        append(second, Entry(number=9, record=message(), terms={}))
    with pytest.raises(IndexError):
        read_record(second, 5)


@pytest.mark.parametrize(
    "record",
    [message(seq=2**32), message(length=-1), message(event_time=2**63), message(removed=True)],
)
def test_a_record_that_does_not_fit_is_refused(record):
    with pytest.raises(ValueError, match=r"fit|removed"):
        append(None, Entry(number=0, record=record, terms={}))


GOOD = build([(message(seq=n), {"tea": 1, f"w{n}": 2}) for n in range(3)])[0]


@pytest.mark.parametrize(
    "damaged",
    [
        Block(first=0, records=GOOD.records[:-1], entries=GOOD.entries),
        Block(first=0, records=GOOD.records, entries=GOOD.entries[:-1]),
        Block(first=0, records=GOOD.records, entries=GOOD.entries[:-8]),
        Block(first=0, records=GOOD.records[:-RECORD_BYTES], entries=GOOD.entries),
        Block(first=0, records=b"", entries=GOOD.entries),
        Block(first=0, records=bytes(len(GOOD.records)), entries=GOOD.entries),
        Block(first=-1, records=GOOD.records, entries=GOOD.entries),
    ],
)
def test_a_damaged_block_is_an_error(damaged):
    with pytest.raises(CorruptIndex) as caught:
        decode([damaged])
    assert caught.value.first == damaged.first
    assert "reindex" in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301
    assert (again.first, again.reason) == (caught.value.first, caught.value.reason)


def test_an_entry_that_points_outside_its_block_is_an_error():
    values = np.frombuffer(GOOD.entries, dtype="<u8").copy()
    values[0] |= np.uint64(9 << 8)
    damaged = Block(first=0, records=GOOD.records, entries=values.tobytes())
    with pytest.raises(CorruptIndex):
        frequencies([damaged], ["tea"])
    with pytest.raises(CorruptIndex):
        verify(damaged)


@given(st.integers(0, len(GOOD.entries) - 1), st.integers(1, 255))
def test_doctor_sees_every_changed_byte_of_the_entries(at, change):
    entries = bytearray(GOOD.entries)
    entries[at] ^= change
    with pytest.raises(CorruptIndex):
        verify(Block(first=0, records=GOOD.records, entries=bytes(entries)))


def test_blocks_out_of_order_or_overlapping_are_an_error():
    other = Block(first=2, records=GOOD.records, entries=GOOD.entries)
    with pytest.raises(CorruptIndex):
        decode([GOOD, other])
    with pytest.raises(CorruptIndex):
        decode([Block(first=10, records=GOOD.records, entries=GOOD.entries), GOOD])


def test_terms_whose_keys_begin_alike_are_told_apart():
    seen: dict[int, str] = {}
    for word in (f"w{n}" for n in range(10_000)):
        other = seen.setdefault(term_key(word) >> 32, word)
        if other != word:
            break
    blocks = build([(message(), {word: 1}), (message(seq=2), {other: 2})])
    assert frequencies(blocks, [word]) == {(word, 0): 1}
    assert frequencies(blocks, [word, other]) == {(word, 0): 1, (other, 1): 2}


def test_keys_are_stable_and_take_any_string():
    assert term_key("tea") == 0x4C1D5591184B
    assert term_key("\ud800") != term_key("\ud801")
    assert term_key("") < 2**48


def test_an_empty_scope_decodes():
    index = decode([])
    assert len(index) == 0
    assert len(index.find(np.array([1], dtype=np.uint64)).row) == 0
    assert index.rows_of([1]).tolist() == []


def test_writing_needs_no_numpy():
    code = (
        "import sys, memhold.ports.postings as p;"
        "b = p.append(None, p.Entry(number=0, record=p.DocumentRecord(kind=p.DocumentKind.NOTE), terms={'a': 1}));"
        "p.remove(p.set_active(b, 0, active=False), 0);"
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
