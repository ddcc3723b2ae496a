"""Deleting documents: hidden until it is undone, or erased for good, with all that stood at their paths."""

from __future__ import annotations

from dataclasses import dataclass

from memhold.documents.paths import Path, below, exactly
from memhold.documents.read import current, missing
from memhold.documents.write import check_rev
from memhold.facts.remember import Writer
from memhold.history.forget import EVERY, Target, forget
from memhold.history.history import former_contents
from memhold.journal.visibility import seen
from memhold.ports.transaction import WriteTx
from memhold.values.answers import Erasure
from memhold.values.records import Memory

__all__ = ["Deletion", "delete"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """What a delete is asked to take: a path, perhaps with what is below it, and whether for good."""

    path: Path
    below: bool
    hard: bool
    if_rev: int | None


def delete(tx: WriteTx, asked: Deletion, *, writer: Writer) -> Erasure:
    """Hide what stands at a path with what stood there before, or erase both for good; one change.

    Raises:
        NotFound: nothing stands there; of what was hidden before, a hard delete still erases everything.
        RevisionConflict: the document is not at that revision.
    """
    if asked.if_rev is not None:
        check_rev(asked.path, current(tx, asked.path, writer.secret), asked.if_rev)
    span = below(asked.path) if asked.below else exactly(asked.path)
    there = seen(tx, tx.at_paths(*span, limit=EVERY, former=True))
    if asked.hard:
        hidden = (one for one in tx.hidden() if isinstance(one, Memory) and span[0] <= (one.key or "") < span[1])
        there += [one for one in seen(tx, hidden) if one.kind == "document"]
        there += [former for one in there for former in former_contents(tx, one)]  # it may have stood elsewhere before
    if not there or not (asked.hard or any(one.state == "active" for one in there)):
        raise missing(asked.path)
    return forget(
        tx,
        Target(some=tuple(dict.fromkeys(one.id for one in there))),
        sources="keep",
        hard=asked.hard,
        writer=writer,
        reason="deleted for good" if asked.hard else "deleted until undone",
    )
