"""What moves hits beside their scores: the newer above the older, what was given up behind.

The words index keeps which messages of the user's have a word of change (`memhold.index.documents`). That puts nothing
aside and calls nothing superseded: it orders what the question found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from memhold.index.documents import CHANGED, GIVEN_UP, KIND_OF, ROLE_OF
from memhold.ports.postings import term_key
from memhold.recall.fusion import Signal
from memhold.recall.signals import Question, two_people
from memhold.text.change import asks_past

if TYPE_CHECKING:
    from memhold.index.postings_arrays import DecodedIndex
    from memhold.values.arrays import Floats, Mask

__all__ = ["change_signal", "lift_newer", "sink_given_up"]

LOOKED_AT = 3
"""How many later messages are tried."""


def change_signal(question: Question, index: DecodedIndex, about: Floats, said: float) -> Signal | None:
    """Short messages in which the user tells of a change: what people ask for is mostly how it is now.

    The newer statement seldom names what it is about ("we've got it at 73.8 now"), so it counts whole where words
    answer the question (`said`, 0 to 1); where they do not, only as far as each is `about` it: there is nothing then
    that the change would be of.

    None where the question asks for what was before, where it goes on with a conversation (its own sentences say what
    is the case now), and where two people with names talk.
    """
    import numpy as np

    if question.goes_on or two_people(index) or asks_past(question.text):
        return None
    told = _told(index)
    if not told.any():
        return None
    score = told * np.maximum(about, np.float32(said))
    return Signal(name="change", score=score.astype(np.float32), found=np.zeros(len(index), dtype=np.bool_))


def lift_newer(
    question: Question,
    index: DecodedIndex,
    score: Floats,
    found: Mask,
    *,
    about: Callable[[int], bool],
    as_much: Callable[[int, int], bool],
) -> None:
    """Put the later message that tells of a change in short right above the best message of the user's.

    That is the second best, if it is itself `about` what is asked, or one that itself says about `as_much` of it as the
    best. A message that shares a word with the question is no newer answer (decision 0003). Nothing moves where the
    question names a time, asks for what was before, or goes on with what was told lately.
    """
    import numpy as np

    if question.goes_on or question.times or two_people(index) or asks_past(question.text):
        return
    own = found & (index.columns["role"] == ROLE_OF["user"]) & (index.columns["kind"] == KIND_OF["message"])
    rows = np.flatnonzero(own)
    if len(rows) < 2:
        return
    best, second = rows[np.argsort(-score[rows], kind="stable")[:2]].tolist()
    at = index.columns["event_time"]
    later = (at[rows] > at[best]) | ((at[rows] == at[best]) & (rows > best))
    told = rows[later & _told(index)[rows]]
    likely = told[np.argsort(-score[told], kind="stable")[:LOOKED_AT]].tolist()
    newer = next((row for row in likely if (row == second and about(row)) or as_much(row, best)), None)
    if newer is not None:
        score[newer] = np.nextafter(score[best], np.float32(np.inf))


def _told(index: DecodedIndex) -> Mask:
    """By row whether the user tells of a change in short."""
    import numpy as np

    held: Mask | None = index.memo.get("changed")
    if held is None:
        held = np.zeros(len(index), dtype=np.bool_)
        found = index.find(np.array([term_key(CHANGED)], dtype=np.uint64))
        held[found.row] = found.frequency > 1
        index.memo["changed"] = held
    return held


_LEFT = 0.5
"""What is left of the score of such a message: of two that say as much the one that holds stands first."""


def sink_given_up(index: DecodedIndex, score: Floats, found: Mask) -> None:
    """Lower what was given up, as the transcripts say that were imported."""
    import numpy as np

    rows = index.find(np.array([term_key(GIVEN_UP)], dtype=np.uint64)).row
    rows = rows[found[rows]]
    score[rows] -= np.abs(score[rows]) * np.float32(1 - _LEFT)
