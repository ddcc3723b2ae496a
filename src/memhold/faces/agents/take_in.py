"""Taking transcripts in: what the notes of hooks name goes to the store, each line once, in its role."""

from __future__ import annotations

import asyncio
import errno
import logging
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memhold.faces.agents.former import sessions_of
from memhold.faces.agents.spool import Due, Note, alone, due_in, settle_note, spool_of
from memhold.values.errors import MemholdError, UnreadableImport

if TYPE_CHECKING:
    from memhold.faces.python.sync import SyncStore
    from memhold.verbs.files import Report
    from memhold.verbs.store_protocols import AsyncStore

__all__ = ["TAKEN_IN_EVERY", "began_in", "keep_taking_in", "session_in_store", "take_in", "take_in_now"]

TAKEN_IN_EVERY = 5.0
"""How often a process that serves looks at the notes of hooks, in seconds."""
logger = logging.getLogger(__name__)
_PASSING: Final = frozenset({errno.EIO, errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN})
_HOW: Final[dict[str, Any]] = {"on_error": "skip", "live": True}
"""A transcript that is being written ends in half a line; it is read again when it has grown."""


async def take_in(store: AsyncStore, location: str) -> int:
    """Bring in what the notes beside a store name; how many messages were new.

    A line comes in once, whoever reads it and however often: imports keep the key of each for ever. It has the origin
    of its role, and no secret that can be known. Where the session ended or its client is about to compact it, its
    window is closed: kept whole, and due for the models that consolidate. Where another process is at it, nothing is
    done. A transcript that cannot be read is left, and tried again when it changes; where the store cannot take it, all
    is left for the next time. Neither raises.

    Raises:
        OSError: the folder of the notes cannot be used; nothing was done.
    """
    added = 0
    with alone(spool := spool_of(location)) as mine:
        for due in due_in(spool) if mine else ():
            note = due.note
            read = True
            try:
                whose = await _whose(store, note)
                report = await store.scope(**whose).import_file(Path(note.transcript), **_HOW)
                added += report.added
                if (closed := _closed(due, report)) is not None:
                    await store.scope(**whose, session=closed).end_session()
            except (MemholdError, OSError) as error:
                if _passes(error):
                    continue  # its disk says no: the next time, and the others now
                if not _given_up(error):
                    break
                read = False
            with suppress(OSError):  # a full disk, say: it is read again, where each line comes once
                settle_note(due, read=read)
    return added


async def keep_taking_in(store: AsyncStore, location: str) -> None:
    """Do so again and again, until cancelled: a turn is in the journal soon after it has ended."""
    while True:
        await asyncio.sleep(TAKEN_IN_EVERY)
        with suppress(OSError):
            await take_in(store, location)


def take_in_now(store: SyncStore, location: str, *, seconds: float = 0.0) -> int:
    """The same, for code that is not async; it waits so many seconds for another process that is at it."""
    added = 0
    with alone(spool := spool_of(location), seconds=seconds) as mine:
        for due in due_in(spool) if mine else ():
            note = due.note
            read = True
            try:
                whose = _whose_now(store, note)
                report = store.scope(**whose).import_file(Path(note.transcript), **_HOW)
                added += report.added
                if (closed := _closed(due, report)) is not None:
                    store.scope(**whose, session=closed).end_session()
            except (MemholdError, OSError) as error:
                if _passes(error):
                    continue  # its disk says no: the next time, and the others now
                if not _given_up(error):
                    break
                read = False
            with suppress(OSError):  # a full disk, say: it is read again, where each line comes once
                settle_note(due, read=read)
    return added


async def _whose(store: AsyncStore, note: Note) -> dict[str, Any]:
    """The scope that a session's lines go to: where it began, also if its repository got a remote since."""
    place = await _began_in(store, note.transcript, note.namespace, former=note.former, user=note.user)
    return {"namespace": place, "user": note.user, "agent": note.agent}


async def _began_in(store: AsyncStore, transcript: str, namespace: str, *, former: str | None, user: str | None) -> str:
    """See `began_in`."""
    if former is None:
        return namespace
    names, before = sessions_of(transcript), store.scope(namespace=former, user=user)
    for scope, place in ((before, former), (store.scope(namespace=namespace, user=user), namespace)):
        for name in names:
            if any(one.name == name for one in (await scope.sessions(prefix=name)).items):
                return place
    return former if (await before.import_file(Path(transcript), **_HOW, dry_run=True)).known else namespace


def _whose_now(store: SyncStore, note: Note) -> dict[str, Any]:
    return {
        "namespace": began_in(store, note.transcript, note.namespace, former=note.former, user=note.user),
        "user": note.user,
        "agent": note.agent,
    }


def began_in(store: SyncStore, transcript: str, namespace: str, *, former: str | None, user: str | None) -> str:
    """The namespace in which a session began.

    That is the former one of its project where the session stands there, and where it stands nowhere and a line of it
    was there: forgotten lines are known by their keys alone.
    """
    if former is None:
        return namespace
    names, before = sessions_of(transcript), store.scope(namespace=former, user=user)
    for scope, place in ((before, former), (store.scope(namespace=namespace, user=user), namespace)):
        if any(one.name == name for name in names for one in scope.sessions(prefix=name).items):
            return place
    return former if before.import_file(Path(transcript), **_HOW, dry_run=True).known else namespace


def session_in_store(kind: str, session: str) -> str:
    """What a client's session is called in the store, by the format of its transcript."""
    from memhold.transfer.items import session_name

    return session_name(kind, session)


def _closed(due: Due, report: Report) -> str | None:
    """The session whose window is to be closed, now that its lines are in; None where none is."""
    if due.note.session is None or due.closing is None:
        return None
    return session_in_store(report.format, due.note.session)


def _passes(error: Exception) -> bool:
    """Whether the system could not read a transcript now, which says nothing of the transcript."""
    cause = error if isinstance(error, OSError) else error.__cause__
    return isinstance(cause, OSError) and isinstance(error, OSError | UnreadableImport) and cause.errno in _PASSING


def _given_up(error: Exception) -> bool:
    """Whether the transcript itself is at fault: it waits until it changes. Otherwise the store is, and all wait."""
    logger.warning("a transcript could not be taken in (%s)", type(error).__name__)
    return isinstance(error, UnreadableImport | OSError)
