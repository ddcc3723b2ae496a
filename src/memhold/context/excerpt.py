"""The sentences of a long message that most likely answer: what is shown of it where there is no room for the whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass

from memhold.index.marks import QUESTION_MARKS
from memhold.text.analysis import QueryWord, analyse, analyse_query
from memhold.text.change import word_count
from memhold.text.person import person_of
from memhold.text.sentences import Span, sampled, sentences
from memhold.text.token_estimate import Count
from memhold.values.records import Message, WrittenBy

# ruff: noqa: RUF001 - quotation marks of every script

__all__ = ["GAP", "Asked", "asked_of", "excerpt", "tells"]

GAP = " … "
"""Stands where sentences are left out."""
WEAK = 0.2
"""What a function word counts beside another word, as in recall."""
LOOKED_AT = 256
"""Sentences of one text that are looked at: a pasted book costs no more than a long letter."""
PASSING = 15
"""Words up to which a question of a message is asked in passing: a longer one tells something as well."""
NEAREST = 1.5
"""What it counts that a sentence is the message's nearest in meaning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a context's memory was asked for: its words, the writer whose words it is about, None where people talk.

    `nearest` gives of a message, by its number and the pieces of its text, the one that is nearest in meaning.
    """

    words: Sequence[QueryWord] = ()
    writer: WrittenBy | None = "user"
    nearest: Callable[[int, Sequence[Span]], Span | None] | None = None


def excerpt(text: str, limit: int, asked: Asked, *, number: int, count: Count) -> str:
    """The text in about `limit` tokens: the sentences that have most of what is asked, in their order.

    A text that fits comes back as it is. The best sentence is there whatever it costs, shorter ones beside it as far as
    there is room, those nearest to the best first where nothing else tells. Of a text of very many sentences
    `LOOKED_AT` from end to end are looked at, and the nearest in meaning.
    """
    if count(text) <= limit:
        return text
    spans = sentences(text)
    if not spans:
        return text
    nearest = None if asked.nearest is None else asked.nearest(number, sampled(spans))
    if len(spans) > LOOKED_AT:
        step = len(spans) / LOOKED_AT
        kept_spans = {spans[int(at * step)] for at in range(LOOKED_AT)} | ({nearest} if nearest else set())
        spans = sorted(kept_spans, key=lambda one: one.start)
    worth = [_worth(one, text, asked, nearest) for one in spans]
    best = max(range(len(spans)), key=lambda at: (worth[at], -at))
    kept, left = {best}, limit - count(spans[best].of(text))
    for at in sorted(range(len(spans)), key=lambda at: (-worth[at], abs(at - best), at)):
        cost = count(spans[at].of(text))
        if at not in kept and cost <= left:
            kept.add(at)
            left -= cost
    return _joined(text, spans, sorted(kept))


def tells(text: str, asked: Asked) -> str:
    """The text without what it only asks in passing: short questions that share no word with what is asked.

    Where everything is a question, or two people talk, it comes back as it is.
    """
    if asked.writer is None or QUESTION_MARKS.isdisjoint(text):
        return text
    spans = sentences(text)
    words = {term for word in asked.words if not word.weak for term in word.terms}
    kept = [at for at, one in enumerate(spans) if not _in_passing(one.of(text), words, code=one.code)]
    says = any(char.isalnum() for at in kept for char in spans[at].of(text))
    return _joined(text, spans, kept) if says and len(kept) < len(spans) else text


def _in_passing(sentence: str, words: Set[str], *, code: bool) -> bool:
    asks = not code and sentence.rstrip("\"'”’)]» ")[-1:] in QUESTION_MARKS
    return asks and word_count(sentence) <= PASSING and words.isdisjoint(analyse(sentence).counts)


def _worth(span: Span, text: str, asked: Asked, nearest: Span | None) -> float:
    terms = analyse(span.of(text)).counts
    words = sum(WEAK if word.weak else 1.0 for word in asked.words if any(term in terms for term in word.terms))
    near = nearest is not None and span.start < nearest.end and nearest.start < span.end
    return words + NEAREST * near


def _joined(text: str, spans: Sequence[Span], kept: Sequence[int]) -> str:
    parts: list[str] = []
    last = -1
    for at in kept:
        gap = at != last + 1
        if parts and not gap:
            parts.append(text[spans[last].end : spans[at].start])
        elif gap:
            parts.append(GAP if parts else GAP.lstrip())
        parts.append(spans[at].of(text))
        last = at
    if last < len(spans) - 1:
        parts.append(GAP.rstrip())
    return "".join(parts)


def asked_of(
    text: str, found: Sequence[Message], nearest: Callable[[int, Sequence[Span]], Span | None] | None = None
) -> Asked:
    """A question, read for the messages that it found; `nearest` as in `Asked`."""
    people = any(message.written_by == "participant" for message in found)
    writer: WrittenBy | None = None if people else "assistant" if person_of(text).second else "user"
    return Asked(words=analyse_query(text), writer=writer, nearest=nearest)
