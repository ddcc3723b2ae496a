"""Claims: a message is replaced only where a later one says so; what is asked, planned, quoted or of others says nothing."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhold.text.claim_reading import LONGEST, claims
from memhold.text.claims import about, replaces, same_claim, surely, what_it_replaces
from tests.recall.changed_facts import CHANGES, FILLER, SECOND, UNSEEN
from tests.recall.claim_pairs import AT_SECOND_SIGHT, BUILT_ON, HELD_BACK, IN_DOUBT, KNOWN_WRONG, TRAPS, Pair

OTHERS = [(earlier, later) for earlier, later, _ in (*CHANGES, *SECOND, *UNSEEN)]
SAID = [*(text for one in (*BUILT_ON, *HELD_BACK) for text in one[:2]), *(text for one in TRAPS for text in one)]
WORDS = st.sampled_from(
    [
        "I",
        "we",
        "my",
        "our",
        "the",
        "no",
        "longer",
        "not",
        "moved",
        "switched",
        "from",
        "to",
        "Oslo",
        "Acme",
        "is",
        "was",
        "now",
        "instead",
        "of",
        "dentist",
        "900",
        "euros",
        ".",
        ",",
        ":",
        "?",
        "'",
        "!",
        "-",
        "at",
        "on",
        "Tuesday",
        "9:30",
        "use",
        "Slack",
        "sold",
        "quit",
        "don't",
        "anymore",
        "new",
        "have",
        "a",
        "i've",
        "",
        "Dr.",
        "actually",
        "it",
    ]
)


def replaced(older: str, newer: str) -> bool:
    """Whether a later message says, without doubt, that an earlier one holds no longer."""
    return any(replaces(new, old) and surely(new, old) for new in claims(newer) for old in claims(older))


@pytest.mark.parametrize("pairs", [BUILT_ON, HELD_BACK], ids=["built on", "held back"])
def test_marks_are_right_and_most_of_what_was_replaced_is_found(pairs: tuple[Pair, ...]) -> None:
    marked = [one for one in pairs if replaced(one.older, one.newer)]
    assert [one for one in marked if not one.replaced] == []
    assert len(marked) >= 0.9 * sum(one.replaced for one in pairs)


@pytest.mark.parametrize(("older", "newer"), [*TRAPS, *AT_SECOND_SIGHT])
def test_both_hold(older: str, newer: str) -> None:
    assert not replaced(older, newer)


@pytest.mark.parametrize(("older", "newer"), IN_DOUBT)
def test_what_may_be_so_no_longer_is_in_doubt(older: str, newer: str) -> None:
    assert not replaced(older, newer)
    assert any(replaces(new, old) for new in claims(newer) for old in claims(older))


def test_what_is_known_to_be_marked_wrongly_still_is() -> None:
    # Whoever mends one of these moves it to the traps.
    assert [one for one in KNOWN_WRONG if not replaced(*one)] == []


def test_nothing_is_said_of_what_was_told_of_another_thing() -> None:
    pairs = [(old, new) for place, (old, _) in enumerate(OTHERS) for at, (_, new) in enumerate(OTHERS) if at != place]
    assert [one for one in pairs if replaced(*one)] == []
    assert [one for one in FILLER for old, _ in OTHERS if replaced(old, one)] == []


@pytest.mark.parametrize(
    "text",
    [
        "Ich wohne jetzt in Leipzig.",
        "J'habite maintenant \u00e0 Nantes.",
        "Ahora vivo en Sevilla.",
        "\uc774\uc81c \ubd80\uc0b0\uc5d0 \uc0b4\uc544\uc694",
        "I moved to Ghent last month. " * LONGEST,
        "I moved to Ghent, she said.",
        "```\nI moved to Ghent last month.\n```",
        "",
    ],
)
def test_what_is_not_read_claims_nothing(text: str) -> None:
    assert claims(text) == ()


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("I live in Oslo.", "I've moved back to Oslo."),
        ("I play tennis every Tuesday.", "I play tennis again."),
        ("My rent is 900 euros.", "My rent is 900.00 euros now."),
        ("My flight is at 3 pm.", "My flight is at 15:00."),
    ],
)
def test_what_is_said_again_is_the_same_claim(first: str, again: str) -> None:
    assert any(same_claim(one, other) for one in claims(first) for other in claims(again))


def test_what_replaces_another_is_found_by_what_both_are_about() -> None:
    every = {claim for text in SAID for claim in claims(text)}
    pairs = [(new, old) for new in every for old in every if replaces(new, old)]
    assert len(pairs) > 50
    assert [one for one in pairs if what_it_replaces(one[0]).isdisjoint(about(one[1]))] == []


@given(st.lists(WORDS, max_size=25).map(" ".join))
def test_whatever_is_written_no_message_replaces_itself(text: str) -> None:
    found = claims(text)
    assert claims(text) == found
    assert not any(replaces(one, one) for one in found if one.over is None)
    for new in found:
        for old in found:
            assert not replaces(new, old) or not what_it_replaces(new).isdisjoint(about(old))


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    assert len(claims(text)) <= len(text)


def test_no_long_text_stays_in_memory() -> None:
    """Each message that a recall looks at comes here; 4,096 of 8 MB would be all the memory that there is."""
    tracemalloc.start()
    try:
        for number in range(8):
            assert claims(f"I live in Oslo, at number {number}. " * 30_000) == ()
            assert claims(f"ana: I live in Oslo, at number {number}. " * 30_000, "ana") == ()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 1_000_000
