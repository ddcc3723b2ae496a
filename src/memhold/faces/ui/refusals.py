"""What a person is told where something cannot be done: what happened, and what to do, in the page's words.

REST's problems keep their own titles, which programs read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from memhold.faces.problems import PREFIX, Problem, problem_of
from memhold.values import errors
from memhold.values.errors import MemholdError

__all__ = ["SAID", "STALE_PAGE", "in_words", "problem_told"]

_AGAIN: Final = "Load the page again to see what stands now."
_DOCTOR: Final = "Nothing was changed. 'memhold doctor' says what is damaged and what to do."

SAID: Final[Mapping[type[MemholdError], tuple[str, str | None]]] = {
    errors.MemholdError: ("That did not work.", "Nothing was changed; try again."),
    errors.InvalidInput: ("That cannot be taken as it stands; nothing was changed.", None),
    errors.WrongKind: ("That address names no memory.", "Open it from Now, or find it under Recall."),
    errors.TooLarge: ("That is too much at once; nothing was kept.", None),
    errors.SecretFound: ("There is a secret in it, and this memory takes none. Nothing was kept.", None),
    errors.NotFound: ("There is no such memory.", "It was forgotten, or it is in another person's memory."),
    errors.Conflict: ("It has changed since this page was made; nothing was done.", _AGAIN),
    errors.IdempotencyConflict: ("This form was sent before, with something else in it; nothing was done.", _AGAIN),
    errors.UndoConflict: (
        "That cannot be taken back as things stand; nothing was done.",
        "It is taken back already, or something later stands on it: undo that first, on its timeline.",
    ),
    errors.Forgotten: (
        "It was forgotten since, and cannot be brought back.",
        "Tell it anew under Now, where it should be known again.",
    ),
    errors.Unauthenticated: ("You are not let in, or no more.", "Come in again with a token that counts."),
    errors.ScopeDenied: ("You may not do this here; nothing was done.", None),
    errors.RateLimited: ("That was too much in a short time.", "Wait a moment, then try again."),
    errors.StoreError: ("The memory could not do its work.", "Nothing was changed. 'memhold doctor' looks at it."),
    errors.StoreBusy: ("The memory is busy.", "Another program holds it. Nothing was changed; try again in a moment."),
    errors.StoreClosed: ("The memory was closed.", "Start Memhold again, then load this page."),
    errors.StoreFull: ("The disk is full.", "Nothing was changed, and nothing is lost. Make room, then try again."),
    errors.StoreReadOnly: ("This memory cannot be written.", "Its file or folder is read-only; nothing was changed."),
    errors.StoreCorrupt: ("Something is damaged on the disk.", _DOCTOR),
    errors.CorruptIndex: (
        "The index of words is damaged.",
        "Nothing that was said is lost: 'memhold reindex' builds it anew.",
    ),
    errors.StoreUnreachable: ("The database cannot be reached.", "Nothing was changed. Is it running?"),
    errors.ServerUnreachable: ("The server behind this page cannot be reached.", f"Is it running? {_AGAIN}"),
    errors.OutcomeUnknown: (
        "The connection was lost in the middle, and nothing tells whether it was done.",
        f"{_AGAIN} Where it is not there, do it again.",
    ),
    errors.ReadTimeout: ("That took too long, and was stopped.", "Ask for less: fewer words, or a shorter time."),
    errors.ModelError: ("A model gave no answer.", "Nothing was lost. Health says which one, and since when."),
}
"""The words for each kind of failure that a person may meet; None where the error's own say what to do."""

STALE_PAGE: Final = Problem(
    type="about:blank",
    title="This page was made for another person's memory, or before you came in; nothing was done.",
    status=409,
    detail="Load it again, and look whose memory it is.",
)


def problem_told(error: MemholdError) -> Problem:
    """The problem of an error with its status, in words for a person: those of its kind, or of the kind above."""
    return _said(problem_of(error), type(error))


def in_words(problem: Problem) -> Problem:
    """A problem as it crossed, in words for a person; one that is of no kind of ours is left as it is."""
    kind = getattr(errors, problem.type.removeprefix(PREFIX), None)
    return problem if kind is None else _said(problem, kind)


def _said(problem: Problem, kind: type[MemholdError]) -> Problem:
    title, detail = next(SAID[one] for one in kind.__mro__ if one in SAID)
    return replace(problem, title=title, detail=problem.detail if detail is None else detail)
