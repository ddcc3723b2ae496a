"""What an application keeps beside a session: seen, hidden with what a change hides, and seen again.

What is hidden stays in the session's metadata under one name that nobody is shown, by the change that hid it. What was
seen again keeps the change that showed it, so that this can be undone too. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from memhold.values.records import Session

__all__ = ["HIDDEN", "has_all_of", "hidden", "revealed", "visible", "with_hidden"]

HIDDEN: Final = "memhold:hidden"
"""The name of the metadata that holds what is hidden; no application's metadata may have it."""


def visible(session: Session) -> Mapping[str, Any]:
    """What is shown of it."""
    return {name: value for name, value in session.metadata.items() if name != HIDDEN}


def with_hidden(session: Session, kept: Mapping[str, Any]) -> Session:
    """The session with other metadata; what is hidden of it stays so."""
    marks = _marks(session)
    return replace(session, metadata={**kept, **({HIDDEN: marks} if marks else {})})


def hidden(session: Session, by: str, *, again: str | None = None) -> Session:
    """The session with its metadata hidden by a change; with `again` only what that change showed."""
    shown = any(mark["by"] == again and "kept" not in mark for mark in _marks(session))
    marks = [mark for mark in _marks(session) if "kept" in mark]
    kept = visible(session)
    if not kept or (again is not None and not shown):
        return session
    return replace(session, metadata={HIDDEN: [*marks, {"by": by, "kept": dict(kept)}]})


def revealed(session: Session, hidden_by: str, by: str) -> Session:
    """The session with what a change hid of it, noted as shown by another; what was put since counts more."""
    marks = _marks(session)
    back = next((mark["kept"] for mark in marks if mark["by"] == hidden_by and "kept" in mark), None)
    if back is None:
        return session
    others = [mark for mark in marks if mark["by"] != hidden_by and "kept" in mark]
    return replace(session, metadata={**back, **visible(session), HIDDEN: [*others, {"by": by}]})


def has_all_of(session: Session, other: Session) -> bool:
    """Whether all that is kept beside the other, shown or hidden, is kept beside this one: as beside a copy of it."""
    held = _all(session)
    return all(kept in held for kept in _all(other))


def _all(session: Session) -> list[Mapping[str, Any]]:
    hidden = [mark["kept"] for mark in _marks(session) if "kept" in mark]
    return [kept for kept in (visible(session), *hidden) if kept]


def _marks(session: Session) -> list[dict[str, Any]]:
    held = session.metadata.get(HIDDEN)
    return list(held) if isinstance(held, list) else []
