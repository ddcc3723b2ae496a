"""Whether a memory tells that something changed, ended or began: what it may replace was told before it."""

from __future__ import annotations

import re
from typing import Final

from memhold.text.change import changes

# ruff: noqa: RUF001 - words of every script

__all__ = ["tells_of_change"]


def tells_of_change(text: str) -> bool:
    """Whether a text has a word of change, of an end or of a beginning: what it replaces is looked for far and wide."""
    return changes(text) or _ENDED.search(text) is not None


_LEFT: Final = r"(?<!the )(?<!his )(?<!her )(?<!my )(?<!your )(?<!their )(?<!['’]s )(?<!to )(?<!on )left(?!-)"
_ENDED: Final = re.compile(
    rf"(?i)(?<!\w)(?:done|finished|gone|{_LEFT}|went over|took over|outgr\w+|for now|for the time being|at last"
    r"|finally|from now on|vorerst|endlich|enfin|por fin|finalmente|enfim|наконец)(?!\w)"
    r"|드디어|ようやく|终于|了[，。]?\Z"
)
"""Words of an end and of a beginning, beside those of change."""
