"""How long a provider asks to wait: headers, fields and words, in the forms that providers use. Pure and total."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, Protocol

__all__ = ["MOST_DELAY", "ErrorWords", "asked_delay", "bounded_delay", "seconds_of"]

MOST_DELAY: Final = 31 * 86_400.0
"""Seconds that are waited for at most: monthly quotas are the longest that providers name."""


class ErrorWords(Protocol):
    """What of an error document can name a delay: a field, in seconds, or its words in lower case."""

    @property
    def words(self) -> str:
        """The words."""
        ...

    @property
    def delay(self) -> float | None:
        """The field."""
        ...


_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_SPAN = re.compile(
    r"(?<!\d)(\d++(?:\.\d++)?+)\s*+(milliseconds?|millis|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![a-z])",
    re.IGNORECASE,
)
_AGAIN = re.compile(
    r"(?:try again|retry|retrying|available again|resets?|wait(?:ing)?|come back)(?:after|in|for|at least|again in|"
    r"about|approximately|\s)*+((?:\d++(?:\.\d++)?+\s*+(?:milliseconds?|millis|ms|seconds?|secs?|s|minutes?|mins?|m|hours?"
    r"|hrs?|h|days?|d)(?![a-z])[\s,]*+(?:and\s++)?)+)",
    re.IGNORECASE,
)


def seconds_of(text: str, *, unit: float = 1.0) -> float | None:
    """Seconds from `7`, `7.66s`, `1m30s`, `120ms`, `2 minutes`; None where it is none of them or not finite."""
    text = text.strip()
    try:
        value = float(text) * unit
    except (ValueError, OverflowError):
        spans = _SPAN.findall(text)
        if not spans or _SPAN.sub("", text).strip(" ,and") != "":
            return None
        value = sum(float(number) * _UNITS[_unit(name)] for number, name in spans)
    return max(0.0, value) if math.isfinite(value) else None


def _unit(name: str) -> str:
    lowered = name.lower()
    return "ms" if lowered.startswith("mil") or lowered == "ms" else lowered[0]


def _until(text: str, now: datetime | None) -> float | None:
    """Seconds until an HTTP date (RFC 9110) or an RFC 3339 time; None without a clock to compare with."""
    at: datetime | None = None
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        try:
            at = datetime.fromisoformat(text.strip())
        except ValueError:
            return None
    if now is None:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    try:
        return max(0.0, (at - now).total_seconds())
    except (OverflowError, ValueError):
        return None


def _moment(text: str, now: datetime | None) -> float | None:
    """A reset header: a span, an epoch in seconds or milliseconds (told by its size), or a date."""
    value = seconds_of(text)
    if value is None:
        return _until(text, now)
    if value < 1e9:
        return value
    epoch = value / 1000 if value > 1e11 else value
    return max(0.0, epoch - now.timestamp()) if now is not None else None


def bounded_delay(seconds: float | None) -> float | None:
    """A delay from outside, from 0 to 31 days; None for none, and for what is no number."""
    if seconds is None or math.isnan(seconds):
        return None
    return min(max(0.0, seconds), MOST_DELAY)


def asked_delay(headers: Mapping[str, str], documents: Iterable[ErrorWords], now: datetime | None) -> float | None:
    """The seconds that the provider asked to wait, from the most to the least explicit place; None if it did not.

    Never more than 31 days.

    `retry-after-ms` (Azure, OpenAI), `retry-after` (RFC 9110: seconds or a date; the answer's own `date` is the clock
    where there is one), a field of the body (Gemini's RetryInfo), its words ("try again in 7.66s"), reset headers.
    """
    return bounded_delay(_asked(headers, tuple(documents), now))


def _asked(headers: Mapping[str, str], documents: Sequence[ErrorWords], now: datetime | None) -> float | None:
    if "date" in headers:
        try:
            now = parsedate_to_datetime(headers["date"])
            now = now if now.tzinfo else now.replace(tzinfo=UTC)
        except (ValueError, TypeError, IndexError, OverflowError):
            pass
    for name in ("retry-after-ms", "x-ms-retry-after-ms"):
        if (delay := seconds_of(headers.get(name, ""), unit=0.001)) is not None:
            return delay
    for name in ("retry-after", "x-retry-after", "x-ratelimit-reset-after"):
        if name in headers and (delay := _moment(headers[name], now)) is not None:
            return delay
    for document in documents:
        if document.delay is not None:
            return document.delay
    for document in documents:
        if found := _AGAIN.search(document.words):
            return sum(float(number) * _UNITS[_unit(name)] for number, name in _SPAN.findall(found[1]))
    return _reset(headers, now)


def _reset(headers: Mapping[str, str], now: datetime | None) -> float | None:
    """Reset headers: those whose `remaining` is 0 bind (the longest of them); with none at 0, the soonest."""
    spent: list[float] = []
    others: list[float] = []
    for name, value in headers.items():
        if "ratelimit" not in name.replace("-", "") or "reset" not in name:
            continue
        delay = _moment(value, now)
        if delay is not None:
            remaining = headers.get(name.replace("reset", "remaining"), "")
            (spent if remaining.strip() in {"0", "0.0"} else others).append(delay)
    return max(spent) if spent else min(others, default=None)
