"""A change as it is noted: by whom, why, and what it did, at the time of its transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from memhold.ports.transaction import WriteTx
from memhold.values.records import Author, Change, Effect, Span

__all__ = ["KEPT_AGAIN", "UPKEEP", "Basis", "note_change"]

UPKEEP: Final = Author(origin="rules", name="upkeep")
"""By whom is what nobody asked for: work that has become due."""
KEPT_AGAIN: Final = "kept raw again: what held these messages was forgotten"


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What a change rests on: the ids that it is derived from, stretches of sessions, and what else is told of it."""

    sources: Iterable[str] = ()
    spans: Iterable[Span] = ()
    detail: Mapping[str, Any] = field(default_factory=dict)


_NOTHING: Final = Basis()


def note_change(
    tx: WriteTx,
    change_id: str,
    verb: str,
    reason: str,
    *,
    by: Author,
    effects: Iterable[Effect] = (),
    basis: Basis = _NOTHING,
) -> Change:
    """Add a change that was made now to the audit trail."""
    change = Change(
        id=change_id,
        seq=0,
        verb=verb,
        reason=reason,
        by=by,
        at=tx.now,
        sources=tuple(basis.sources),
        effects=tuple(effects),
        spans=tuple(basis.spans),
        detail=basis.detail,
    )
    tx.add_change(change)
    return change
