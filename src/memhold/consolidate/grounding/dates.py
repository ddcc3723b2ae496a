"""Whether lines have the days, months and weekdays of a claim. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from memhold.consolidate.grounding.claims import Line
from memhold.consolidate.grounding.words import clauses_of
from memhold.text.negation import negates
from memhold.text.quantities import quantities
from memhold.text.times import calendar_names, calendar_words
from memhold.text.when import Days, days_of

__all__ = ["ON_DAYS", "calendar_stands", "day_stands", "day_told", "month_named"]


def day_told(moment: datetime | None, places: Sequence[int], lines: Sequence[Line]) -> bool:
    """Whether a line speaks of the day from which a fact is to hold, or of days to come up to it."""
    if moment is None:
        return True
    days = [(line.at, one) for line in lines if line.place in places for one in days_of(line.text, line.at)]
    return any(start <= moment < end or (start > said and said < moment < end) for said, (start, end) in days)


def day_stands(days: Days, lines: Sequence[Line]) -> bool:
    """Whether a line speaks of these days, or of a time within them: a claim may be less exact, never more."""
    if any(days[0] <= start and end <= days[1] for line in lines for start, end in days_of(line.text, line.at)):
        return True
    # "Built 1994": a number alone is that year where the claim says the year as one.
    year = Decimal(days[0].year)
    whole = days[0].timetuple().tm_yday == 1 and (days[1] - days[0]).days in {365, 366}
    return whole and any(one.unit is None and year in one.values for line in lines for one in quantities(line.text))


def month_named(days: Days, span: str, lines: Sequence[Line]) -> bool:
    """Whether a span names a month or a weekday and nothing more, and a line has it: "in August" of its second week.

    A month may have its year too, where the line is of the same twelve months and names none: "June 2026" of "by June".
    """
    names, digits = calendar_words(span), _DIGITS.findall(span)
    if not names or digits not in ([], [str(days[0].year)]):
        return False
    return any(
        names <= calendar_words(clause)
        and not negates(clause)
        and (not digits or (abs(days[0] - line.at) <= _A_YEAR and not _YEAR.search(clause)))
        for line, clause in clauses_of(lines)
    )


_A_YEAR = timedelta(days=366)

_DIGITS = re.compile(r"\d+")

_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")

ON_DAYS = re.compile(r"(?i)\b(\w+tag|mittwoch|sonnabend)s\b")
"""German says "dienstags" for what happens on Tuesdays."""


def calendar_stands(word: str, lines: Sequence[Line]) -> bool:
    """Whether a line names that month or weekday, or speaks of a day in it."""
    if any(word in calendar_words(ON_DAYS.sub(r"\1", line.text)) for line in lines):
        return True
    # The day on which a line was said counts where no line names another month or weekday.
    first = int(any(calendar_words(line.text) for line in lines))
    days = [days for line in lines for days in days_of(line.text, line.at)[first:]]
    return any(word in calendar_names(start) for start, end in days if (end - start).days <= 31)
