"""Whether a memory tells that something changed, ended or began: then it may replace what was told before it."""

from __future__ import annotations

import re
from typing import Final

from memhold.text.change import changes

# ruff: noqa: RUF001 - words of every script

__all__ = ["tells_of_change"]


def tells_of_change(text: str) -> bool:
    """Whether a text has a word of change, of an end or of a beginning."""
    return changes(text) or _ENDED.search(text) is not None


_ENDED: Final = re.compile(
    r"(?i)(?<!\w)(?:off|over|done|finished|gone|left|went over|took over|outgr\w+|since|again|for now"
    r"|for the time being|at last|finally"
    r"|from now on|seit|wieder|vorerst|endlich|weg|depuis|de nouveau|enfin|desde|de nuevo|otra vez|por fin|dal"
    r"|di nuovo|finalmente"
    r"|de novo|enfim|снова|наконец|уже)(?!\w)|부터|드디어|다시|から|ようやく|また|终于|又|了[，。]?\Z"
)
"""Words of an end and of a beginning, beside those of change."""
