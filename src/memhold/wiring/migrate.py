"""Moving a whole store from one location to another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from memhold.values.errors import InvalidInput, NotAStore
from memhold.wiring.postgres import is_postgres, postgres_is_there, shown
from memhold.wiring.settings import Settings, load_settings
from memhold.wiring.system import SystemClock, TimeOrderedIds

if TYPE_CHECKING:
    from memhold.ports.maintenance import Migrated
    from memhold.ports.transaction import ReadTx
    from memhold.storage.copying import Side

__all__ = ["migrate"]


async def migrate(source: str, target: str, *, progress: Callable[[int, int], None] | None = None) -> Migrated:
    """Make the store at `target` the same as the one at `source`; each is a file or a PostgreSQL database.

    The target is made where there is none. Others may write to the source meanwhile: what they change is copied by a
    further run. Ids, revisions, changes, idempotency keys, tombstones, indexes and access tokens are the same
    afterwards; a token that was revoked on one side stays revoked.

    Raises:
        NotAStore: there is nothing at the source.
        Conflict: the target is another store, or was written to since it was copied.
        InvalidInput: the two are the same, or one is in memory.
    """
    import asyncio

    settings = load_settings({"worker": False})
    await asyncio.to_thread(_need_source, source, target)
    for location in (source, target):
        await _current(location, settings)

    def run() -> Migrated:
        from memhold.storage.copying import copy_store

        with ExitStack() as stack:
            sides = [stack.enter_context(_side(location, settings)) for location in (source, target)]
            return copy_store(sides[0], sides[1], progress=progress)

    done = await asyncio.to_thread(run)
    if is_postgres(target):
        await _near_due(target, settings)
    return replace(done, tokens=await _move_tokens(source, target, settings))


async def _move_tokens(source: str, target: str, settings: Settings) -> int:
    """Let in at the target whom the source lets in, and nobody who was revoked at either; how many tokens there are.

    They are moved last: their digests are keyed with the store's secret, which the target has by now.
    """
    from memhold.wiring import open_store

    async with AsyncExitStack() as stack:
        ours, theirs = [
            await open_store(place, settings, SystemClock(), TimeOrderedIds()) for place in (source, target)
        ]
        for store in (ours, theirs):
            stack.push_async_callback(store.close)
        held = await ours.tokens.read()
        for stored in held:
            token, there = stored.token, await theirs.tokens.find(stored.token.id)
            if there is None:
                await theirs.tokens.add(stored)
            elif token.revoked_at is not None:
                await theirs.tokens.revoke(token.id, token.revoked_at)
            if there is not None and token.last_used is not None:
                await theirs.tokens.note_use(token.id, token.last_used)
        return len(held)


def _need_source(source: str, target: str) -> None:
    from pathlib import Path

    from memhold.wiring import sqlite_path

    if "memory://" in {source, target}:
        raise InvalidInput("a store in memory cannot be moved; export from it, or name a file or a database")
    there = postgres_is_there(source) if is_postgres(source) else Path(sqlite_path(source)).exists()
    if not there:
        raise NotAStore(f"there is no store at {shown(source)}; name the one to copy from", path=shown(source))
    same = (
        source == target if is_postgres(source) or is_postgres(target) else sqlite_path(source) == sqlite_path(target)
    )
    if same:
        raise InvalidInput("source and target are the same store; name another target")


async def _current(location: str, settings: Settings) -> None:
    """Bring a store to this release's schema; make it where there is none."""
    from memhold.wiring import open_store

    store = await open_store(location, settings, SystemClock(), TimeOrderedIds())
    await store.close()


async def _near_due(target: str, settings: Settings) -> None:
    """Have the index of nearest neighbours made for large scopes: it is not moved."""
    from memhold.index.pending_vectors import due_index
    from memhold.wiring import open_store

    def large(tx: ReadTx) -> bool:
        least = settings.postgres_hnsw_from
        return bool(least and tx.generations()) and tx.document_count() >= least

    store = await open_store(target, settings, SystemClock(), TimeOrderedIds())
    try:
        for scope in await store.upkeep.scopes():
            if await store.read(scope, large):
                await store.write(scope, due_index)
    finally:
        await store.close()


@contextmanager
def _side(location: str, settings: Settings) -> Iterator[Side]:
    from memhold.wiring import sqlite_path

    if is_postgres(location):
        from memhold.storage.postgres.connection import parsed
        from memhold.storage.postgres.copying import PostgresSide

        database = PostgresSide(parsed(location), busy_timeout=settings.busy_timeout)
        try:
            yield database
        finally:
            database.close()
        return
    from memhold.storage.sqlite.copying import SqliteSide

    file = SqliteSide(sqlite_path(location), busy_timeout=settings.busy_timeout, key=settings.key)
    try:
        yield file
    finally:
        file.close()
