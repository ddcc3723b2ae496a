"""Whether a history entry has the form that was asked for: noted in the change, never a reason to lose it. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from memhold.fidelity.sentences import sentences
from memhold.languages.tables import spoken

__all__ = ["other_script", "scripts", "slips", "untimed"]

FEWEST, MOST = 2, 5
LETTERS = 20
"""Letters from which on a text has a script of its own; names and code do not decide."""
SHARE = 0.8
_SCRIPTS = ("LATIN", "HANGUL", "CYRILLIC", "GREEK", "ARABIC", "HEBREW", "DEVANAGARI", "THAI")
_EAST = ("CJK", "HIRAGANA", "KATAKANA")
_TIME = re.compile(r"\A\s*\[[^\]]{1,40}\]\s*")


def untimed(entry: str) -> str:
    """An entry without the time of its window in front."""
    return _TIME.sub("", entry)


def scripts(texts: Iterable[str]) -> Counter[str]:
    """How many letters of each script there are; Han and kana are one."""
    found: Counter[str] = Counter()
    for text in texts:
        found.update(_script(char) for char in text[:20_000] if char.isalpha())
    return found


def _main(found: Counter[str]) -> str | None:
    """The script that four fifths of the letters are of; None for few letters or a mixture."""
    if found.total() < LETTERS:
        return None
    script, count = found.most_common(1)[0]
    return script if count >= SHARE * found.total() else None


def _script(char: str) -> str:
    if char.isascii():
        return "latin"
    name = unicodedata.name(char, "")
    if name.startswith(_EAST):
        return "east asian"
    return next((script.lower() for script in _SCRIPTS if name.startswith(script)), "other")


def slips(entry: str, said: Iterable[str]) -> list[str]:
    """What the entry is not, of what was asked for: two to five sentences, in the script in which the user writes."""
    found: list[str] = []
    text = untimed(entry)
    count = sum(any(map(str.isalnum, one)) for one in sentences(text, spoken(text)))
    if not FEWEST <= count <= MOST:
        found.append(f"{count} sentences")
    other = other_script(entry, said)
    return found if other is None else [*found, other]


def other_script(entry: str, said: Iterable[str]) -> str | None:
    """That a text is in another script than the texts that it tells; None where it is not, or they have none."""
    asked = scripts(said)
    wanted, got = _main(asked), _main(scripts([untimed(entry)]))
    # Code and names are Latin in every language: they ask for nothing where another script stands beside them.
    if wanted is not None and got is not None and wanted != got and not (wanted == "latin" and asked[got]):
        return f"written in {got}, the user writes {wanted}"
    return None
