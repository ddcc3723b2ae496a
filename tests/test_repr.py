"""What a REPL shows of an answer: one short line that says what it is, and never a page of fields."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhold import Memhold
from memhold.values.answers import Changes, Erasure, Receipt
from memhold.values.repr_parts import opening

LONG = "I moved to Lisbon,\nto a flat by the river, which is \x1b[31mlarge\x1b[0m. " * 40
LONGEST = 200


@pytest.fixture
def alice():
    with Memhold.open("memory://", embedding="none", worker=False) as mem:
        yield mem.scope(user="alice", session="s")


def test_a_hit_says_its_kind_its_score_and_its_first_words(alice):
    alice.remember(attribute="favorite food", value="ramen")
    hit = alice.recall("favorite food").hits[0]
    assert repr(hit) == f"<Hit fact {hit.score:.3f} 'favorite food: ramen' {hit.id}>"
    assert repr(replace(hit, state="superseded")).startswith("<Hit fact superseded ")


def test_a_recall_says_how_much_was_found_and_what_could_not_be_asked(alice):
    assert repr(alice.recall("anything at all")).startswith("<Recall 0 hits of 0")
    alice.remember("Prefers window seats")
    found = alice.recall("window seats")
    assert repr(found) == f"<Recall 1 hit of 1; confidence {found.confidence:.2f}>"
    assert "; degraded: meaning, key>" in repr(replace(found, degraded=("meaning", "key")))


def test_a_memory_says_its_kind_its_state_and_its_text(alice):
    memory = alice.remember("Prefers window seats").memory
    assert repr(memory) == f"<Memory note active 'Prefers window seats' {memory.id}>"


def test_a_receipt_says_its_ids(alice):
    sent = [{"role": "user", "content": f"line {n}"} for n in range(5)]
    receipt = alice.add(sent, idempotency_key="k")
    assert repr(receipt) == f"<Receipt {', '.join(receipt.ids[:3])}, and 2 more>"
    assert repr(alice.add(sent, idempotency_key="k")).endswith("; replayed>")
    assert repr(Receipt(ids=(), redacted=2)) == "<Receipt no ids; 2 redacted>"


def test_what_else_comes_back_is_one_line(alice):
    alice.add([{"role": "user", "content": LONG}, {"role": "user", "content": LONG}])
    memory = alice.remember("Prefers window seats").memory
    message = alice.messages()[0]
    change = alice.history(memory.id)[0]
    context = alice.context(budget=600)
    assert repr(message).startswith("<Message user 'I moved to Lisbon, to a flat by the river")
    assert repr(change) == f"<Change remember by user; 1 effect; {change.id}>"
    assert repr(alice.list()) == "<Page 1 memory>"
    assert repr(context).startswith(f"<Context 1 message of the openai shape; {context.used} of 600")
    assert repr(Changes(items=(change,), cursor=7, more=True)) == "<Changes 1 change; cursor 7; more>"
    would, gone = alice.forget(memory.id, dry_run=True), alice.forget(memory.id)
    assert repr(would) == "<Erasure 1 memory; dry run>"
    assert repr(gone) == "<Erasure 1 memory; erased>"
    assert repr(Erasure()) == "<Erasure nothing>"
    for shown in (message, change, context, would, gone):
        assert len(repr(shown)) < LONGEST, repr(shown)


@given(st.text())
def test_any_text_opens_on_one_short_printable_line(text):
    shown = opening(text)
    assert shown.isprintable()
    assert len(eval(shown)) <= 60  # noqa: S307 - it is a literal
    assert "\n" not in shown
