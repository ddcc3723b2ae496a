"""Scripts without spaces, and Korean: a word in the place of another, and who does what to whom.

There the places of words cannot be read as in other languages: the characters around them show them, or a particle.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memhold.compact.check.case import Case
from memhold.compact.check.terms import HANGUL
from memhold.text.analysis import unspaced

__all__ = ["characters_exchanged", "roles_exchanged"]

MOST_READ = 400
"""Characters of a text that are compared one by one: longer texts are seldom of two notes."""
LONGEST = 4
"""Characters of a word of Chinese or Japanese."""

_WORD: Final = r"[一-龥々ァ-ヶー]"
_SMALL: Final = re.compile(r"[的地得了着过是有在和与及或也都还就才很太最更被把给让向从到对为不没未无别]")
"""Characters of Chinese grammar: where one stands, more than a word may have been exchanged."""


def characters_exchanged(case: Case) -> str | None:
    """Of Chinese and Japanese: characters that no memory has stand between the same ones as others that are gone."""
    if not unspaced(case.within) or HANGUL.search(case.within) is not None or len(case.text) > MOST_READ:
        return None
    said = [_edged(source.text) for source in case.kept]
    for new, left, right in _strange(_edged(case.text), case.within):
        if not any(left in text and right in text for text in said):
            continue
        for old in (old for text in said for old in _between(text, left, right)):
            if old not in case.text and not _SMALL.search(old) and abs(len(old) - len(new)) <= 1:
                return f"{new!r} is in no memory, and stands in the place of {old!r}"
    return None


def _between(text: str, left: str, right: str) -> Iterator[str]:
    """What stands between two strings of a text wherever it is a word of at most four characters."""
    at = text.find(left)
    while at >= 0:
        begin = at + len(left)
        for end in range(begin + 1, begin + LONGEST + 1):
            if re.fullmatch(f"{_WORD}+", text[begin:end]) is None:
                break
            if text.startswith(right, end):
                yield text[begin:end]
                break
        at = text.find(left, at + 1)


def _edged(text: str) -> str:
    """A text with a sign at its beginning and its end, so that these are places too."""
    return f"^{text.strip('。.')}$"


def _strange(text: str, within: str) -> Iterator[tuple[str, str, str]]:
    """Characters of a text that the memories do not have, with what stands before and behind: three in all."""
    for start in range(1, len(text) - 1):
        for end in range(start + 1, min(start + LONGEST, len(text) - 1) + 1):
            new = text[start:end]
            if re.fullmatch(f"{_WORD}+", new) is None or _SMALL.search(new) or new[0] in within or new[-1] in within:
                continue
            for before, behind in ((1, 2), (2, 1)):
                left, right = text[max(0, start - before) : start], text[end : end + behind]
                if len(left) == before and len(right) == behind and re.search(r"\w", left + right):
                    yield new, left, right


_KOREAN: Final = r"(?P<korean>[\uac00-\ud7a3]{2,8}?)"
_JAPANESE: Final = r"(?P<japanese>[一-龥々ァ-ヶー]{1,8}(?:さん|くん|ちゃん)?)"
_SUBJECT: Final = re.compile(rf"{_KOREAN}(?:은|는|이|가)(?=\s)|{_JAPANESE}(?:は|が)")
_OBJECT: Final = re.compile(rf"{_KOREAN}(?:을|를|에게|한테|께)(?=\s)|{_JAPANESE}(?:を|に)")
_PARTICLES: Final = re.compile(r"[\u3040-\u30ff\uac00-\ud7a3]")


def roles_exchanged(case: Case) -> str | None:
    """Of Korean, Japanese and Chinese: who does it and to whom it is done have changed places."""
    if not unspaced(case.within):
        return None
    if _PARTICLES.search(case.within) is None:
        return _around_a_verb(case)
    who, whom = (_of_all(role, [source.text for source in case.kept]) for role in (_SUBJECT, _OBJECT))
    done_to = _of_all(_OBJECT, [case.text]) & (who - whom)
    for one in sorted(_of_all(_SUBJECT, [case.text]) & (whom - who)):
        if done_to - {one}:
            return f"{one!r} does what the memories say is done to it"
    return None


def _of_all(role: re.Pattern[str], texts: list[str]) -> frozenset[str]:
    """The words of these texts that have a particle of one role."""
    return frozenset(match["korean"] or match["japanese"] for text in texts for match in role.finditer(text))


def _around_a_verb(case: Case) -> str | None:
    """Of Chinese: the words in front of a verb and behind it stand the other way round in a memory."""
    said = " ".join(source.text for source in case.kept)
    if len(case.text) > MOST_READ:
        return None
    for one, does, other in _threes(case.text):
        back = f"{other}{does}{one}"
        if back in said and back not in case.text and f"{one}{does}{other}" not in said:
            return f"{one!r} does what the memories say is done to it"
    return None


def _threes(text: str) -> Iterator[tuple[str, str, str]]:
    """Two words of a Chinese text with a verb of one or two characters between them, however it may be parted."""
    for run in re.findall(r"[一-龥]{5,}", text):
        for start in range(len(run)):
            for first in range(2, LONGEST + 1):
                for verb in (1, 2):
                    middle = start + first
                    for end in range(middle + verb + 2, min(middle + verb + LONGEST, len(run)) + 1):
                        yield run[start:middle], run[middle : middle + verb], run[middle + verb : end]
