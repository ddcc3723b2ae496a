"""Stated, doubtful with a reason in plain words, or unfounded."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.fidelity import fidelity_rows, labelled
from memhold.fidelity.values import Line, Statement, Weight, WrittenBy
from memhold.fidelity.weigh import RULES, weigh

AT = datetime(2026, 3, 4, 9, 15, tzinfo=UTC)
HERE = Path(__file__).parent


def said(text: str, by: WrittenBy = "user", speaker: str = "") -> Line:
    return Line(text=text, written_by=by, at=AT, speaker=speaker)


def weight(statement: Statement, quote: str, *lines: Line, supplied: bool = False) -> Weight:
    return weigh(statement, (quote,), lines, cited=(len(lines) - 1,), supplied=supplied)


def of_user(text: str, attribute: str = "") -> Statement:
    return Statement(text=text, subject="user", attribute=attribute)


def test_what_the_line_says_is_stated() -> None:
    assert weight(of_user("low", "iron level"), "my iron is low", said("My doctor said my iron is low")) == Weight(
        standing="stated"
    )
    assert weight(
        of_user("hazelnuts", "allergy"),
        "Only hazelnuts.",
        said("Do you have any allergies?", "assistant"),
        said("Only hazelnuts."),
    ) == Weight(standing="stated")
    found = said("I checked: logrotate has no entry for shopd", "assistant")
    assert (
        weight(
            Statement(text="no entry for shopd", subject="logrotate"), "logrotate has no entry for shopd", found
        ).standing
        == "stated"
    )


def test_what_no_line_has_is_unfounded() -> None:
    found = weight(of_user("vegetarian"), "I eat no meat", said("I live in Ulm"))
    assert found == Weight(standing="unfounded", reasons=("no line has the words that it quotes",))


def test_a_detail_that_contradicts_the_quote_is_unfounded() -> None:
    found = weight(
        of_user("Thursday, March 12, 2026", "dentist"), "next wednesday", said("the dentist is next wednesday")
    )
    assert found.standing == "unfounded"
    assert "another date" in found.reasons[0]


def test_a_detail_that_nobody_understands_is_a_doubt() -> None:
    found = weight(of_user("back on 5 April 2026"), "back at easter", said("I am back at easter"))
    assert found == Weight(standing="doubtful", reasons=("“5 april 2026” stands in no line",))


@pytest.mark.parametrize(
    ("statement", "quote", "line", "reason"),
    [
        (of_user("19", "age"), "she's 19", said("Petra does the keirin, she's 19"), "the line may speak of somebody else"),
        (
            Statement(text="vegan", subject="Nadia", attribute="diet"), "I'm vegan now", said("I'm vegan now", "participant", "Lena"),
            "whoever wrote the line may speak of themselves",
        ),
        (of_user("one long film night", "plan"), "one long film night", said("Do one long film night", "assistant"), "only the assistant says it"),
        (Statement(text="oak", subject="worktop"), "I would suggest the oak", said("I would suggest the oak", "assistant"), "the assistant only proposes it"),
        (Statement(text="The project uses black."), "we always use ruff, not black", said("we always use ruff, not black"), "the line says no to “black”"),
        (of_user("peanuts", "allergy"), "I am not allergic to peanuts", said("I am not allergic to peanuts"), "the line says no to “peanuts”"),
        (of_user("has stopped smoking"), "I haven't stopped smoking", said("I haven't stopped smoking"), "the line says no to “smoking”"),
        (of_user("takes the liquid"), "if it makes me sick i'll take the liquid", said("if it makes me sick i'll take the liquid"), "the line only supposes it"),
        (of_user("always late"), "i was late", said("i was late"), "the line does not say “always” or “all”"),
        (
            Statement(text="31 fps with 9 wasps", subject="game"), "had 31 wasps on screen and it ran at 9 fps",
            said("Imke had 31 wasps on screen and it ran at 9 fps"), "a number stands beside another word in the line",
        ),
    ],
)  # fmt: skip
def test_what_speaks_against_it_is_a_doubt(statement: Statement, quote: str, line: Line, reason: str) -> None:
    lines = [line, said("hello", "participant", "Nadia")] if line.speaker else [line]
    assert weigh(statement, (quote,), lines, cited=(0,)) == Weight(standing="doubtful", reasons=(reason,))
    without = [
        weigh(statement, (quote,), lines, cited=(0,), rules=[one for one in RULES if one is not rule]) for rule in RULES
    ]
    assert [one.standing for one in without].count("stated") == 1, "one rule says it, and no other"


def test_a_word_of_refusal_says_the_no_of_its_line() -> None:
    for text in ("I can't eat peanuts", "I am no longer allergic to cats, but to peanuts"):
        assert weight(of_user("peanuts", "allergy"), text, said(text)).standing == "stated"


def test_a_quote_that_the_product_supplied_supports_its_own_words() -> None:
    line = said("I moved to Ulm")
    assert weight(of_user("moved to Ulm"), "I moved to Ulm", line, supplied=True).standing == "stated"
    assert weight(of_user("moved to Ulm for love"), "I moved to Ulm", line, supplied=True).reasons == (
        "it says more than the line",
    )
    assert weight(of_user("moved to Ulm for love"), "I moved to Ulm", line).standing == "stated"


def test_a_sentence_without_a_quote_is_looked_at_for_its_details() -> None:
    lines = [said("the box only has 4 gigs")]
    assert weigh(Statement(text="2026-03-04 09:15: The machine has 4 GB."), (), lines).standing == "stated"
    assert weigh(Statement(text="The machine has 8 GB."), (), lines).standing == "unfounded"


def test_a_language_without_a_file_stands_by_quotes_and_digits() -> None:
    line = said("Ngày mai gặp bác sĩ lúc 14:30, phòng DX-4")
    assert weight(of_user("14:30, DX-4"), "lúc 14:30, phòng DX-4", line).standing == "stated"
    assert weight(of_user("15:30, DX-4"), "lúc 14:30, phòng DX-4", line).standing == "unfounded"


def test_the_talks_that_the_rules_were_made_on_keep_their_bars() -> None:
    """Written with the rules; `talks_first_sight` was written before them and looked at once, at .968, .016 and .842."""
    rows = [row for row in fidelity_rows(HERE, ablate=False) if row.bar is not None]
    assert len(rows) == 8
    assert [row.name for row in rows if not row.holds] == []
    assert len({one.lang for one in labelled(HERE)}) == 6
