"""What of a message is quoted for a sentence of it: with what says whose it is and of whom. Pure.

A sentence alone may be somebody else's (a mail under "Tom wrote:"), speak of somebody who was named before it ("He has
twelve goats."), or end at a full stop that ends nothing ("on the 14. of May").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from memhold.consolidate.clause_subjects import THIRD
from memhold.text.mood import is_asked
from memhold.text.sentences import sentences

# ruff: noqa: RUF001 - letters and punctuation of every script

__all__ = ["Quotation", "quotations"]


@dataclass(frozen=True, slots=True)
class Quotation:
    """A sentence, and how it is quoted: the sentence as the last of what is needed to understand it."""

    sentence: str
    text: str


def quotations(message: str) -> list[Quotation]:
    """The sentences of a message that tell something, in their order: no code and no question.

    A sentence is quoted behind what introduces it: the line that ends in a colon above it, the sentence in which a
    quotation begins that goes on here, the one before it where it begins with "he", "it" or the like. An ellipsis
    stands for what is left out between them, and at the edge of a sentence that is cut since it is very long.
    """
    spans = list(_whole(message))
    leads, shown = _leads(message, spans), _shown(message, spans)
    found = []
    for at, (start, end) in enumerate(spans):
        sentence = " ".join(message[start:end].split())
        if not is_asked(sentence.rstrip("\"'”’»）) ")):
            found.append(Quotation(sentence, _quoted(shown, leads, at)))
    return found


_GOES_ON = re.compile(
    r"(?<!\w)(?:\d{1,2}|Dr|Prof|Mr|Mrs|Ms|St|Sr|Sra|Mme|Hr|Fr|Ing|Nr|No|núm|bzw|ca|approx|vs|ул|г)\.\Z", re.IGNORECASE
)
"""A full stop that ends no sentence: of a title, a short form, an ordinal ("am 14. Mai")."""
_LONGEST = 12
"""Characters at the end in which such a one stands whole."""


def _whole(message: str) -> Iterator[tuple[int, int]]:
    begun: int | None = None
    for span, after in pairwise([*sentences(message), None]):
        assert span is not None  # noqa: S101 - only the last of the pairs is None
        if span.code:
            continue
        start = span.start if begun is None else begun
        goes_on = after is not None and not after.code and "\n" not in message[span.end : after.start]
        begun = start if goes_on and _GOES_ON.search(message, max(start, span.end - _LONGEST), span.end) else None
        if begun is None:
            yield start, span.end


_MARKS = re.compile('["“”„«»「」『』]')
_TAKEN_UP = re.compile(
    r"(?i)\W*+(?:(?:it|this|that|these|those|es|das|dies\w*|ça|cela|esto|eso|questo|isso|isto|dit|det|это|هو|هي|هم|هذا|هذه)\b"
    r"|c['’]est\b|彼女?|[他她它](?:们|們)?|[这那這]|[こそ]れ|그(?:는|가|의|녀|들|건|게)|이(?:건|게)\s|걔)"
)
"""Who or what was spoken of before, where `THIRD` has no word for it."""


def _leads(message: str, spans: list[tuple[int, int]]) -> list[int | None]:
    """For each sentence the place of the one that introduces it."""
    found: list[int | None] = []
    opened: int | None = None
    head: int | None = None
    document = False
    for at, (start, end) in enumerate(spans):
        gap = message[spans[at - 1][1] if at else 0 : start]
        if gap.count("\n") > 1:
            opened, head = None, head if document else None
        said = message[start:end]
        taken_up = at > 0 and (THIRD.match(said) or _TAKEN_UP.match(said))
        found.append(opened if opened is not None else head if head is not None else at - 1 if taken_up else None)
        if len(_MARKS.findall(said)) % 2:
            opened = at if opened is None else None
        if said[-1] in ":：" and message[end : end + 1] in {"\n", "\r"}:
            # A blank line below it: all that follows is what it introduces.
            head, document = at, message[end : end + 4].count("\n") > 1
    return found


def _quoted(shown: list[str], leads: list[int | None], at: int) -> str:
    chain, before = [at], leads[at]
    while before is not None and len(chain) < _MOST:
        chain.insert(0, before)
        before = leads[before]
    told = shown[chain[0]]
    for one, after in pairwise(chain):
        told += (" " if after == one + 1 else " … ") + shown[after]
    return told


_MOST = 3
"""Sentences of one quotation."""
_MARK = re.compile(r"[ \t]*+>")


def _shown(message: str, spans: list[tuple[int, int]]) -> list[str]:
    """Each sentence in one line; what was cut has an ellipsis there, and a line that a mail quotes its mark."""
    found = []
    mark, before = _MARK.match(message), 0
    for at, (start, end) in enumerate(spans):
        if line := message.rfind("\n", before, start) + 1:
            mark = _MARK.match(message, line)
        told = " ".join(message[start:end].split())
        if mark is not None and mark.end() <= start:
            told = f"> {told}"
        found.append(
            ("… " if at and _cut(message, before, start) else "")
            + (f"{told} …" if at + 1 < len(spans) and _cut(message, end, spans[at + 1][0]) else told)
        )
        before = end
    return found


def _cut(message: str, end: int, start: int) -> bool:
    """Whether one piece ends and the next begins in the middle of a sentence."""
    return "\n" not in message[end:start] and message[end - 1] not in _ENDS


_ENDS = ".!?…。！？；\"'”’)]」』）"
