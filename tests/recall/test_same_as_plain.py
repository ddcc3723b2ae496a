"""The fast ways of recall give what the plain ways give, to the last bit: order, folding, windows, postings."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memhold.index.kept_scopes import IndexCache, KeptScopes
from memhold.index.postings_arrays import DecodedIndex, decode
from memhold.index.repeats import leading, repeats_of
from memhold.index.turns import SCORING, Turns
from memhold.index.words import best_first, score_words
from memhold.ports.postings import Block, DocumentKind, DocumentRecord, Entry, append, remove, set_active, term_key
from memhold.storage.inmemory.store import InMemoryStore
from memhold.testing.clock import FakeClock
from memhold.text.analysis import analyse, analyse_query
from memhold.values.errors import CorruptIndex
from memhold.values.records import Scope
from memhold.wiring.system import TimeOrderedIds

TEXTS = ("tea", "green tea", "the dog walks", "the dog walks home", "rain", "", "tea tea", "a bridge in the rain")
SCORES = st.sampled_from([0.0, 0.25, 0.5, 0.5000001, 1.0, 3.5])


def index_of(texts: list[str], *, sessions: int = 3, notes: bool = True) -> DecodedIndex:
    blocks: dict[int, Block] = {}
    tail = None
    for number, text in enumerate(texts):
        terms = analyse(text)
        kind = DocumentKind.NOTE if notes and number % 5 == 4 else DocumentKind.MESSAGE
        record = DocumentRecord(kind=kind, length=terms.length, session=1 + number % sessions, seq=number + 1)
        tail = append(tail, Entry(number=number, record=record, terms=terms.counts))
        blocks[tail.first] = tail
    return decode(blocks.values())


def plain_order(score: np.ndarray, rows: list[int]) -> list[int]:
    return sorted(rows, key=lambda row: (-max(float(score[row]), 0.0), -row))


def plain_leading(score: np.ndarray, hit: np.ndarray, index: DecodedIndex) -> list[int]:
    seen: set[tuple[object, ...]] = set()
    kept = []
    for row in plain_order(score, np.flatnonzero(hit).tolist()):
        same = (int(index.signatures[row]), int(index.columns["kind"][row]), int(index.columns["role"][row]))
        if same not in seen:
            seen.add(same)
            kept.append(row)
    return kept


@given(st.lists(st.tuples(SCORES, st.booleans(), st.sampled_from(TEXTS)), max_size=60), st.integers(1, 70))
@settings(max_examples=80, deadline=None, derandomize=True)
def test_the_beginning_of_the_order_is_that_of_the_whole(rows: list[tuple[float, bool, str]], most: int) -> None:
    index = index_of([text for *_, text in rows])
    score = np.array([one for one, *_ in rows], np.float32)
    hit = np.array([one for _, one, _ in rows], np.bool_)
    chosen = np.flatnonzero(hit)
    assert best_first(score, chosen, most).tolist() == plain_order(score, chosen.tolist())[:most]
    plain, repeats = plain_leading(score, hit, index), repeats_of(index)
    assert leading(score, hit, repeats).tolist() == plain
    assert leading(score, hit, repeats, most).tolist()[:most] == plain[:most]
    assert repeats.count(hit) == len(plain)


@given(st.integers(1, 200), st.integers(1, 4), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_a_word_spread_turn_by_turn_is_the_same_as_spread_at_once(size: int, sessions: int, random: Random) -> None:
    index = index_of([random.choice(TEXTS) for _ in range(size)], sessions=sessions)
    turns = Turns(index, SCORING)
    at = np.array(sorted(random.sample(range(turns.size), turns.size // 30 + (turns.size > 0))), np.int64)
    counts = np.array([random.randint(1, 9) for _ in at], np.float32)
    whole = np.zeros(turns.size, np.float32)
    whole[at] = counts
    assert turns.window_of(at, counts).tobytes() == turns.window(whole).tobytes()


def test_sorted_postings_find_what_a_pass_over_the_entries_finds() -> None:
    texts = [TEXTS[at % len(TEXTS)] + f" word{at % 37}" for at in range(700)]
    query = analyse_query("green tea, the dog and word12 or word36 but no such thing")
    index, fresh = index_of(texts), index_of(texts)
    first = score_words(query, fresh)
    for _ in range(7):
        again = score_words(query, index)
    assert "postings" in index.memo
    assert "postings" not in fresh.memo
    assert again.hits() == first.hits()
    assert len(first) > 100


@pytest.mark.parametrize("turn", [1, 7])
def test_a_damaged_entry_is_an_error_only_where_it_matches(turn: int) -> None:
    terms = analyse("green tea")
    record = DocumentRecord(kind=DocumentKind.NOTE, length=2)
    block = append(None, Entry(number=0, record=record, terms=terms.counts))
    entries = bytearray(block.entries)
    entries[1] = 99  # the place of the first entry: no such document
    index = decode([Block(first=0, records=block.records, entries=bytes(entries))])
    keys = np.sort(np.array([int.from_bytes(entries[at + 2 : at + 8], "little") for at in (0, 8)], np.uint64))
    bad = int.from_bytes(entries[2:8], "little")
    good = np.array([key for key in keys.tolist() if key != bad], np.uint64)
    for _ in range(turn):
        assert index.find(good).row.tolist() == [0]
    with pytest.raises(CorruptIndex):
        index.find(keys)


@pytest.mark.asyncio
async def test_a_scope_that_is_larger_than_the_cache_is_decoded_once() -> None:
    store, cache = InMemoryStore(FakeClock(), TimeOrderedIds()), IndexCache(KeptScopes(1))
    try:
        scope = Scope(user="alice")
        one = await store.read(scope, cache.index)
        assert await store.read(scope, cache.index) is one
    finally:
        await store.close()


@pytest.mark.parametrize("copies", [1, 3, 40])
def test_the_page_is_full_although_its_best_are_copies_of_one_text(copies: int) -> None:
    random = Random(copies)
    texts = ["tea"] * 60 * copies + [f"word{at} tea" for at in range(100) for _ in range(copies)]
    random.shuffle(texts)
    index = index_of(texts, notes=False)
    score = np.array([1.0 if text == "tea" else random.random() / 2 for text in texts], np.float32)
    hit = np.ones(len(texts), np.bool_)
    plain = plain_leading(score, hit, index)
    for most in (1, 5, 30):
        assert leading(score, hit, repeats_of(index), most).tolist()[:most] == plain[:most]


@given(
    st.lists(
        st.lists(
            st.tuples(
                st.sampled_from(["append"] * 6 + ["hide", "forget"]), st.integers(0, 10**6), st.sampled_from(TEXTS)
            ),
            max_size=60,
        ),
        min_size=2,
        max_size=5,
    )
)
@settings(max_examples=30, deadline=None, derandomize=True)
def test_an_index_that_follows_another_is_as_if_it_were_read_anew(rounds: list[list[tuple[str, int, str]]]) -> None:
    blocks: dict[int, Block] = {}
    tail: Block | None = None
    number = 0
    keys = np.array(sorted({term_key(term) for text in TEXTS for term in analyse(text).counts}), np.uint64)
    held: DecodedIndex | None = None
    begun = [("append", 0, TEXTS[at % len(TEXTS)]) for at in range(700)]
    for round_ in [begun, *rounds]:
        for what, pick, text in round_:
            if what == "append" or not number:
                terms = analyse(text)
                record = DocumentRecord(kind=DocumentKind.MESSAGE, length=terms.length, session=1, seq=number + 1)
                tail = append(tail, Entry(number=number, record=record, terms=terms.counts))
                blocks[tail.first] = tail
                number += 1
                continue
            one = pick % number
            first = max(at for at in blocks if at <= one)
            change = remove(blocks[first], one) if what == "forget" else set_active(blocks[first], one, active=False)
            blocks[first] = change
            tail = blocks[max(blocks)]
        fresh, mine = decode(blocks.values()), decode(blocks.values())
        mine = mine if held is None else mine.following(held)
        for _ in range(7):
            found = mine.find(keys)
        plain = decode(blocks.values()).find(keys)
        for name in ("row", "key", "frequency"):
            assert getattr(found, name).tolist() == getattr(plain, name).tolist(), name
        assert mine.signatures.tolist() == fresh.signatures.tolist()
        assert [part.tolist() for part in mine.by_content()] == [part.tolist() for part in fresh.by_content()]
        held = mine


def test_what_one_forgotten_line_changes_is_mended_and_nothing_is_sorted_anew() -> None:
    blocks: dict[int, Block] = {}
    tail: Block | None = None
    for number in range(700):
        terms = analyse(TEXTS[number % len(TEXTS)])
        record = DocumentRecord(kind=DocumentKind.MESSAGE, length=terms.length, session=1, seq=number + 1)
        tail = append(tail, Entry(number=number, record=record, terms=terms.counts))
        blocks[tail.first] = tail
    before = decode(blocks.values())
    keys = np.array(sorted(term_key(term) for term in analyse(TEXTS[0]).counts), np.uint64)
    for _ in range(7):
        before.find(keys)
    before.by_content()
    blocks[0] = remove(blocks[0], len(TEXTS))
    after = decode(blocks.values()).following(before)
    assert after.memo["postings"][0] is before.memo["postings"][0]
    assert "content" in after.memo
    assert [part.tolist() for part in after.by_content()] == [
        part.tolist() for part in decode(blocks.values()).by_content()
    ]
    assert after.find(keys).row.tolist() == decode(blocks.values()).find(keys).row.tolist()
    assert len(TEXTS) in before.find(keys).row
    assert len(TEXTS) not in after.find(keys).row
