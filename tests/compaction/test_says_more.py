"""A text says no more than its memories, and of a change each side as what it is (decision 125)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memhold.compact.check import both
from memhold.compact.check.all_rules import refused
from memhold.compact.check.both import instead_turned, side_by_side
from memhold.compact.check.case import Case, Refusal, Source
from memhold.compact.check.terms import terms_of
from memhold.compact.check.unspaced_words import MOST_READ, characters_exchanged, roles_exchanged
from memhold.compact.check.widened import widened
from tests.compaction.says_more import FAIR_CHANGES, FAIR_TOGETHER, FALSE_CHANGES, FALSE_TOGETHER

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
RULES = {
    "it was widened",
    "it was made certain",
    "both sides of a change hold",
    "an instead was turned round",
    "characters were exchanged",
    "roles were exchanged",
}


def checked(texts: list[str], text: str, *, replaced: bool, but: frozenset[str] = frozenset()) -> Refusal | None:
    sources = [
        Source(text=one, at=_BEGIN + timedelta(days=n), replaced=replaced and n == 0) for n, one in enumerate(texts)
    ]
    return refused(sources, text, but=but)


def test_what_says_more_is_refused() -> None:
    assert [text for texts, text in FALSE_TOGETHER if checked(texts, text, replaced=False) is None] == []


def test_what_says_as_much_is_taken() -> None:
    assert [(text, why) for texts, text in FAIR_TOGETHER if (why := checked(texts, text, replaced=False))] == []


def test_a_change_that_is_told_as_none_or_backwards_is_refused() -> None:
    assert [text for texts, text in FALSE_CHANGES if checked(texts, text, replaced=True) is None] == []


def test_a_change_that_is_told_as_it_was_is_taken() -> None:
    assert [(text, why) for texts, text in FAIR_CHANGES if (why := checked(texts, text, replaced=True))] == []


def test_each_rule_refuses_what_else_would_pass() -> None:
    for rule in RULES:
        passes = [
            text
            for cases, replaced in ((FALSE_TOGETHER, False), (FALSE_CHANGES, True))
            for texts, text in cases
            if checked(texts, text, replaced=replaced, but=frozenset({rule})) is None
        ]
        assert passes, rule


def test_only_short_texts_are_read_character_by_character() -> None:
    sources = (Source(text="奶奶对花生过敏", at=_BEGIN), Source(text="李老师照顾小明", at=_BEGIN))
    for text in ("奶奶对大豆过敏", "小明照顾李老师"):
        short, long = (Case(sources, one, "english") for one in (text, text + "。" * MOST_READ))
        assert characters_exchanged(short) or roles_exchanged(short)
        assert (characters_exchanged(long), roles_exchanged(long)) == (None, None)


def test_what_a_memory_says_of_all_the_text_may_say() -> None:
    words = [
        "everyone",
        "everybody",
        "everywhere",
        "all the time",
        "überall",
        "jederzeit",
        "partout",
        "tout le monde",
        "todo el mundo",
        "ovunque",
        "em toda parte",
        "overal",
        "iedereen",
        "везде",
        "어디서나",
        "どこでも",
        "到处",
        "永远",
    ]
    for word in words:
        told = (Source(text=f"A {word} b", at=_BEGIN), Source(text="c", at=_BEGIN))
        untold = (Source(text="A b", at=_BEGIN), Source(text="c", at=_BEGIN))
        assert widened(Case(told, f"c {word}", "english")) is None, word
        assert widened(Case(untold, f"c {word}", "english")) is not None, word


def test_each_word_of_a_text_is_read_as_often_however_many_stand_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(times: int) -> int:
        seen = 0

        def counted(text: str, language: str) -> frozenset[str]:
            nonlocal seen
            seen += 1
            return terms_of(text, language)

        monkeypatch.setattr(both, "terms_of", counted)
        sources = tuple(
            Source(text=text, at=_BEGIN, replaced=n == 0) for n, text in enumerate(("porridge", "a slice of rye"))
        )
        text = "bread and butter instead of eggs, not ham or " * times
        assert side_by_side(Case(sources, text, "english")) is None
        assert instead_turned(Case(sources, text, "english")) is None
        return seen

    assert read(200) < 2.5 * read(100)
