"""Words of letters: the quick way for ASCII finds what the pattern finds."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from memhold.text.letter_words import LETTER_WORD, letter_words

ASCII = st.text(st.characters(max_codepoint=127))


@given(st.one_of(ASCII, st.text()))
@example("don't stop_now, 3rd\x00Time\x7f\nC3PO")
@example("ca\u00f1a \u00b2nd na\u00efve")
@example("lone \ud800 surrogate")
def test_the_quick_way_finds_the_same_words(text: str) -> None:
    assert letter_words(text) == LETTER_WORD.findall(text)
