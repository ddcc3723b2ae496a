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
    r"(?i)(?<!\w)(?:done|finished|gone|left(?!-)|went over|took over|outgr\w+|for now|for the time being|at last"
    r"|finally|from now on|vorerst|endlich|enfin|por fin|finalmente|enfim|наконец)(?!\w)"
    r"|드디어|ようやく|终于|了[，。]?\Z"
)
"""Words of an end and of a beginning, beside those of change; "since 2015" and "again" tell of what goes on."""
