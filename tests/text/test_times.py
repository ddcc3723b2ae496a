"""Which readers look at a text is a matter of speed: whatever it is, all of them would find the same."""

from __future__ import annotations

from datetime import UTC, datetime
from unittest.mock import patch

from hypothesis import example, given, settings
from hypothesis import strategies as st

from memhold.text import times as module
from memhold.text.times import calendar_words, times

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
EVERY = (*module._DATES, *module._IN_WORDS, *module._YEARS)
AROUND = "ago in since last this on am of de la le l' il y a hace vor letzten dernier pasado 전 前 3 12 1999 2024-03-05 moved"
WORDS = (
    *(module._MONTHS | module._SEASONS | module._NUMBERS | module._UNITS),
    *(module._WEEKDAYS | module._DAYS_BACK | module._LAST_WHOLE),
    *AROUND.split(),
)
TEXTS = st.lists(
    st.tuples(
        st.sampled_from(WORDS),
        st.sampled_from([str.lower, str.title, str.upper]),
        st.sampled_from([" ", "", ", ", "-"]),
    ),
    max_size=8,
).map(lambda parts: "".join(case(word) + end for word, case, end in parts))


@example("3tage전")
@example("last summer")
@settings(max_examples=500)
@given(TEXTS | st.text(max_size=40))
def test_the_readers_that_are_left_out_would_find_nothing(text: str) -> None:
    found = times(text, NOW)
    with patch.object(module, "_readers", lambda _: EVERY):
        assert times(text, NOW) == found


def test_calendar_words_stand_alone_but_where_no_spaces_are_written() -> None:
    said = "On MONDAY and in mid-März, not mondayish, may I march? 다음주 월요일에, 金曜に"
    assert calendar_words(said) == {"monday", "märz", "월요일", "金曜"}
