"""Taking transcripts in: what the notes of hooks name goes to the store, each line once."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memhold.faces.agents.spool import Due, alone, due_in, settle_note, spool_of
from memhold.values.errors import MemholdError, UnreadableImport

if TYPE_CHECKING:
    from memhold.faces.python.sync import SyncStore
    from memhold.verbs.store_protocols import AsyncStore

__all__ = ["take_in", "take_in_now"]

logger = logging.getLogger(__name__)
_SKIP: Final = "skip"
"""A transcript that is being written ends in half a line; it is read again when it has grown."""


async def take_in(store: AsyncStore, location: str) -> int:
    """Bring in what the notes beside a store name; how many messages were new.

    A line comes in once, whoever reads it and however often: imports keep the key of each for ever. Where another
    process is at it, nothing is done. A transcript that cannot be read is left, and tried again when it changes; where
    the store cannot take it, all is left for the next time. Neither raises.
    """
    added = 0
    with alone(spool := spool_of(location)) as mine:
        for due in due_in(spool) if mine else ():
            note = due.note
            scope = store.scope(namespace=note.namespace, user=note.user, agent=note.agent)
            try:
                added += (await scope.import_file(_path(due), on_error=_SKIP)).added
            except MemholdError as error:
                if not _given_up(error):
                    break
            settle_note(due)
    return added


def take_in_now(store: SyncStore, location: str) -> int:
    """The same, for code that is not async."""
    added = 0
    with alone(spool := spool_of(location)) as mine:
        for due in due_in(spool) if mine else ():
            note = due.note
            scope = store.scope(namespace=note.namespace, user=note.user, agent=note.agent)
            try:
                added += scope.import_file(_path(due), on_error=_SKIP).added
            except MemholdError as error:
                if not _given_up(error):
                    break
            settle_note(due)
    return added


def _path(due: Due) -> Path:
    return Path(due.note.transcript)


def _given_up(error: MemholdError) -> bool:
    """Whether the transcript itself is at fault: it waits until it changes. Otherwise the store is, and all wait."""
    logger.warning("a transcript could not be taken in (%s)", type(error).__name__)
    return isinstance(error, UnreadableImport)
