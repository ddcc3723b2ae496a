"""Restoring a backup: all or nothing, and never bringing back what was forgotten since."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

from memhold.ports.durable_files import make_folder, sync_folder
from memhold.ports.maintenance import Lost, Restoration
from memhold.ports.unfinished import noted
from memhold.storage.sqlite.backup import COPY, hash_file, sound, verify
from memhold.storage.sqlite.connection import connect, translated, unlocked
from memhold.storage.sqlite.ledger import KEEPING, identity, read_ledger, reconcile, scope_mark
from memhold.storage.sqlite.reading import QUERIES
from memhold.values.errors import BackupDamaged, InvalidInput, StoreBusy, StoreError, StoreFull, StoreReadOnly
from memhold.values.records import Scope

__all__ = ["restore_backup"]

_BUSY_SECONDS = 5.0


def restore_backup(
    backup: Path, target: str, *, force: bool, forget_again: Callable[[str, tuple[Lost, ...]], int], key: str = ""
) -> Restoration:
    """Put a backup in a store's place.

    The backup is verified, copied beside the target, told to forget what the target's ledger says was forgotten
    (`forget_again` does it to the copy), verified again, and only then renamed over the target. Whatever fails before
    that leaves the target as it was. The store that stood there is kept aside until the new one was read back.

    Raises:
        BackupDamaged: the backup does not agree with its manifest.
        InvalidInput: there is a store at the target and `force` was not given.
        StoreBusy: a process has the store at the target open.
        StoreFull, StoreReadOnly: the copy cannot be written.
    """
    manifest = verify(backup, key=key)
    place = Path(target)
    replaces = place.exists()
    if replaces and not force:
        raise InvalidInput(f"{target} is there already; pass --force (force=True) to put the backup in its place")
    part = place.with_name(f"{place.name}.restore-{secrets.token_hex(4)}")
    aside = place.with_name(f"{place.name}.before-{secrets.token_hex(4)}")
    try:
        make_folder(place.parent, mode=0o700)
        with noted(place, part, aside):
            try:
                revoked: tuple[tuple[str, int], ...] = ()
                if replaces:
                    _quiet(target, key)
                    revoked = _revoked(target, key)
                _copy_file(backup / COPY, part)
                if hash_file(part) != manifest.sha256:
                    raise BackupDamaged(
                        f"the copy of {backup} changed while it was read; nothing was restored", path=target
                    )
                lost = _lost(str(part), target, manifest.store, key)
                forgotten = forget_again(str(part), lost) if lost else 0
                _revoke_again(str(part), revoked, key)
                _check(part, key)
                _swap(part, place, aside if replaces else None, key=key)
            finally:
                for rest in (part, *_beside(part)):
                    with contextlib.suppress(OSError):
                        rest.unlink(missing_ok=True)
    except OSError as error:
        kind = StoreFull if error.errno in {errno.ENOSPC, errno.EDQUOT} else StoreReadOnly
        raise kind(f"{target} cannot be restored: {error.strerror}; it was left as it was") from error
    with translated(target):
        connection = connect(target, busy_timeout=_BUSY_SECONDS, key=key)
        try:
            reconcile(connection, target)
        finally:
            connection.close()
    return Restoration(manifest=manifest, target=target, forgotten=forgotten, replaced=replaces)


def _beside(path: Path) -> tuple[Path, ...]:
    return tuple(path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal"))


def _quiet(target: str, key: str) -> None:
    """Bring the ledger up to date and fold the write-ahead log into the file: nobody else may have it open.

    A store that is damaged is taken as it is: a restore is what it needs.
    """
    try:
        connection = connect(target, busy_timeout=_BUSY_SECONDS, key=key)
    except apsw.Error:
        return
    try:
        reconcile(connection, target)
        if connection.pragma("journal_mode", "delete") != "delete":
            raise StoreBusy(f"{target} is open in another process; close it there, then restore")
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StoreBusy(f"{target} is open in another process; close it there, then restore") from error
    except apsw.Error:
        return
    finally:
        connection.close()


def _revoked(target: str, key: str) -> tuple[tuple[str, int], ...]:
    """Tokens that were revoked in the store that stands there, and when; none where it is damaged."""
    try:
        connection = connect(target, busy_timeout=_BUSY_SECONDS, key=key)
    except apsw.Error:
        return ()
    try:
        rows: list[Any] = connection.execute(KEEPING["revoked_tokens"]).fetchall()
        return tuple((token, at) for token, at in rows)
    except apsw.Error:
        return ()
    finally:
        connection.close()


def _revoke_again(copy: str, revoked: tuple[tuple[str, int], ...], key: str) -> None:
    """A backup made before a token was revoked must not let it in again."""
    if not revoked:
        return
    connection = connect(copy, busy_timeout=_BUSY_SECONDS, key=key)
    try:
        connection.executemany(QUERIES["revoke_token"], [{"id": token, "at": at} for token, at in revoked])
        connection.pragma("journal_mode", "delete")
    finally:
        connection.close()


def _copy_file(source: Path, goal: Path) -> None:
    with (
        source.open("rb") as reading,
        os.fdopen(os.open(goal, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as writing,
    ):
        shutil.copyfileobj(reading, writing, 1024 * 1024)
        writing.flush()
        os.fsync(writing.fileno())


def _lost(copy: str, target: str, store: str, key: str) -> tuple[Lost, ...]:
    """What the ledger says was forgotten, by the scopes of the copy."""
    entries = read_ledger(target, store)
    if not entries:
        return ()
    connection = connect(copy, busy_timeout=_BUSY_SECONDS, key=key)
    try:
        secret = identity(connection).secret
        owners: list[Any] = connection.execute(KEEPING["all_owners"]).fetchall()
    finally:
        connection.close()
    found = []
    for namespace, user in owners:
        mark = scope_mark(secret, namespace, user)
        mine = tuple(entry.tombstone for entry in entries if entry.scope == mark)
        if mine:
            found.append(Lost(scope=Scope(namespace=namespace, user=user or None), tombstones=mine))
    return tuple(found)


def _check(part: Path, key: str) -> None:
    """What will be the store must be one sound file: nothing of it may stand in a log beside it."""
    connection = unlocked(apsw.Connection(str(part)), key)
    try:
        wrong = sound(connection)
        if wrong is None and connection.pragma("journal_mode", "delete") != "delete":
            wrong = "its write-ahead log cannot be folded in"
    finally:
        connection.close()
    if wrong is not None:
        raise StoreError(f"the restored copy is not sound ({wrong}); the store was left as it was, use another backup")
    with part.open("rb") as file:
        os.fsync(file.fileno())


def _swap(part: Path, place: Path, aside: Path | None, *, key: str) -> None:
    """Rename the copy over the store, and put the store back when the result cannot be read."""
    stale = (
        []
        if aside is None
        else [(rest, aside.with_name(aside.name + rest.name[len(place.name) :])) for rest in _beside(place)]
    )
    if aside is not None:
        os.link(place, aside)
        sync_folder(place.parent)
        # A log of the old file, left by damage, would be played into the new one.
        for rest, kept in stale:
            with contextlib.suppress(FileNotFoundError):
                rest.rename(kept)
    part.replace(place)
    sync_folder(place.parent)
    connection = unlocked(apsw.Connection(str(place), flags=apsw.SQLITE_OPEN_READWRITE), key)
    try:
        wrong = sound(connection)
    finally:
        connection.close()
    if wrong is not None:
        if aside is not None:
            aside.replace(place)
            for rest, kept in stale:
                with contextlib.suppress(FileNotFoundError):
                    kept.rename(rest)
            sync_folder(place.parent)
        raise StoreError(f"the restored store cannot be read ({wrong}); the one before is back in its place")
    for rest in (*([] if aside is None else [aside]), *(kept for _, kept in stale)):
        rest.unlink(missing_ok=True)
