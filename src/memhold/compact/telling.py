"""Whether a memory tells that something changed, ended or began, or goes on: what it may replace was told before it."""

from __future__ import annotations

import re
from typing import Final

from memhold.text.change import changes

# ruff: noqa: RUF001 - words of every script

__all__ = ["may_replace", "tells_of_change"]


def tells_of_change(text: str) -> bool:
    """Whether a text has a word of change, of an end or of a beginning: what it replaces is looked for far and wide."""
    return changes(text) or _ENDED.search(text) is not None


def may_replace(text: str) -> bool:
    """Whether a text is believed to replace another where a judge says so: also one that tells since when, or again.

    Such words alone are no reason to look for what it replaces: they tell as often of what goes on.
    """
    return tells_of_change(text) or _GOES_ON.search(text) is not None


_LEFT: Final = r"(?<!the )(?<!his )(?<!her )(?<!my )(?<!your )(?<!their )(?<!['’]s )(?<!to )(?<!on )left(?!-)"
_ENDED: Final = re.compile(
    rf"(?i)(?<!\w)(?:done|finished|gone|{_LEFT}|went over|took over|outgr\w+|for now|for the time being|at last"
    r"|finally|from now on|vorerst|endlich|enfin|por fin|finalmente|enfim|наконец)(?!\w)"
    r"|드디어|ようやく|终于|了[，。]?\Z"
)
"""Words of an end and of a beginning, beside those of change."""
_GOES_ON: Final = re.compile(
    r"(?i)(?<!\w)(?:(?:off|over)(?=\s*(?:[.,;:!)]|\Z|(?:and|but|for|now|so)\b))"
    r"|since|again|seit|wieder|weg|depuis|de nouveau|desde|de nuevo|otra vez|dal|di nuovo"
    r"|de novo|снова|уже)(?!\w)|부터|다시|から|また|又"
)
"""Words of what began, ended or is so again, and as often of none of these: "since 2015", "over 40"."""
