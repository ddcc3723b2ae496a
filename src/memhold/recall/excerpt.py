"""The sentences of a long text that most likely answer: what is shown of it where there is no room for the whole."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from math import log

from memhold.text.analysis import QueryWord, analyse, analyse_query
from memhold.text.person import person_of
from memhold.text.sentences import Span, sampled, sentences
from memhold.text.token_estimate import Count
from memhold.values.records import Message, WrittenBy

__all__ = ["EXCERPT_CHARS", "GAP", "Asked", "asked_of", "excerpt"]

GAP = " … "
"""Stands where something is left out."""
EXCERPT_CHARS = 600
"""Characters of a longer text that a hit shows by itself."""
WEAK = 0.2
"""What a function word counts beside another word, as in recall."""
LOOKED_AT = 256
"""Sentences of one text that are looked at: a pasted book costs no more than a long letter."""
NEAREST = 1.5
"""What it counts that a sentence is the text's nearest in meaning."""
WORD = 40
"""Characters of a word or of the marks between two sentences; what is longer may be cut anywhere, or left out."""
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What memory was asked for: its words, the writer whose words it is about, None where people talk.

    `nearest` gives of a message, by its number and the pieces of its text, the one that is nearest in meaning.
    """

    words: Sequence[QueryWord] = ()
    writer: WrittenBy | None = "user"
    nearest: Callable[[int, Sequence[Span]], Span | None] | None = None

    @cached_property
    def places(self) -> Mapping[str, int]:
        """By term the place of the word that it stands for."""
        return {term: at for at, word in enumerate(self.words) for term in word.terms}

    @cached_property
    def begins(self) -> re.Pattern[str] | None:
        """Where a word may begin that says something of what is asked; None where nothing is."""
        words = {form for word in self.words if not word.weak for form in (word.word, *word.terms)}
        stems = {re.escape(form[: max(3, len(form) - 3)]) for form in words}
        return re.compile("|".join(sorted(stems)), re.IGNORECASE) if stems else None


def excerpt(text: str, limit: int, asked: Asked, *, number: int, count: Count) -> str:
    """The text in about `limit` tokens: the sentences that have most of what is asked, in their order.

    A text that fits comes back as it is. A sentence that does not fit is cut around its first word that was asked for,
    where less than half of the limit is used yet. What a smaller limit shows, a larger one shows too.
    """
    if len(text) * 4 < limit or count(text) <= limit:
        return text
    spans = sentences(text)
    if not spans:
        return text.strip()
    shown: list[Span] = []
    left = limit
    for span in _best_first(text, spans, asked, number):
        cost = count(span.of(text))
        if cost > left:
            if left > limit / 2:
                shown.append(_around(text, span, left, asked, count))
            break
        shown.append(span)
        left -= cost
    return _joined(text, sorted(shown, key=lambda one: one.start))


def _best_first(text: str, spans: Sequence[Span], asked: Asked, number: int) -> Iterator[Span]:
    """The sentences by what they have of what is asked, then those nearest to the best.

    A word counts the less the more of the sentences have it.
    """
    nearest = None if asked.nearest is None else asked.nearest(number, sampled(spans))
    looked = spans if len(spans) <= LOOKED_AT else _looked_at(text, spans, asked, nearest)
    words = [
        {asked.places[term] for term in asked.places.keys() & analyse(one.of(text)).counts.keys()} for one in looked
    ]
    often = Counter(word for each in words for word in each)

    def worth(at: int) -> float:
        near = nearest is not None and looked[at].start < nearest.end and nearest.start < looked[at].end
        said = sum((WEAK if asked.words[word].weak else 1.0) / (1 + log(often[word])) for word in words[at])
        return said + NEAREST * near

    worths = [worth(at) for at in range(len(looked))]
    best = max(range(len(looked)), key=lambda at: (worths[at], -at))
    for at in sorted(range(len(looked)), key=lambda at: (-worths[at], abs(at - best), at)):
        yield looked[at]


def _looked_at(text: str, spans: Sequence[Span], asked: Asked, nearest: Span | None) -> list[Span]:
    """Of very many sentences those that may have most of what is asked, and some from end to end."""
    starts = [one.start for one in spans]
    found: dict[int, Set[str]] = {}
    for match in asked.begins.finditer(text) if asked.begins else ():
        at = bisect_right(starts, match.start()) - 1
        found[at] = found.get(at, frozenset()) | {match[0].casefold()}
    often = Counter(stem for stems in found.values() for stem in stems)
    by_worth = sorted(found, key=lambda at: (-sum(1 / often[stem] for stem in found[at]), at))
    kept = {*by_worth[: LOOKED_AT // 2]}
    step = len(spans) / (LOOKED_AT - len(kept))
    kept |= {int(place * step) for place in range(LOOKED_AT - len(kept))}
    if nearest is not None:
        kept.add(max(0, bisect_right(starts, nearest.start) - 1))
    return [spans[at] for at in sorted(kept)]


def _around(text: str, span: Span, limit: int, asked: Asked, count: Count) -> Span:
    """The words of one long sentence on both sides of the first that was asked for, in about `limit` tokens."""
    words: list[tuple[int, int]] = []
    for one in _WORD.finditer(text, span.start, span.end):
        long = one.end() - one.start() > WORD  # a script without spaces, or no word at all
        words += [(at, at + 1) for at in range(*one.span())] if long else [one.span()]
    match = asked.begins.search(text, span.start, span.end) if asked.begins else None
    middle = bisect_right(words, (match.start(), span.end)) - 1 if match else 0
    first = last = max(0, middle)
    low, high = 0, len(words)
    while low < high:  # the widest stretch that fits
        wide = (low + high + 1) // 2
        start, end = words[max(0, middle - wide)][0], words[min(len(words) - 1, middle + wide)][1]
        if count(text[start:end]) <= limit:
            low, first, last = wide, max(0, middle - wide), min(len(words) - 1, middle + wide)
        else:
            high = wide - 1
    return Span(words[first][0], words[last][1], span.code)


def _joined(text: str, shown: Sequence[Span]) -> str:
    """The spans with a mark between those that do not follow on each other, and at the ends of a text that goes on."""
    parts: list[str] = []
    end = 0
    for span in shown:
        parts += [_between(text[end : span.start]), span.of(text)]
        end = span.end
    return "".join([*parts, _between(text[end:])]).strip()


def _between(text: str) -> str:
    """A few blanks and marks as they are, or that something is left out."""
    return GAP if len(text) > WORD or any(map(str.isalnum, text)) else text


def asked_of(
    text: str, found: Sequence[Message], nearest: Callable[[int, Sequence[Span]], Span | None] | None = None
) -> Asked:
    """A question, read for the messages that it found; `nearest` as in `Asked`."""
    people = any(message.written_by == "participant" for message in found)
    writer: WrittenBy | None = None if people else "assistant" if person_of(text).second else "user"
    return Asked(words=analyse_query(text), writer=writer, nearest=nearest)
