"""Stores on PostgreSQL: whether a location names one, opening it, and looking at it from outside."""

from __future__ import annotations

import asyncio
import re
from contextlib import closing
from importlib.util import find_spec
from typing import TYPE_CHECKING

from memhold.ports.stores import Clock, Store
from memhold.values.errors import InvalidInput
from memhold.wiring.settings import Settings
from memhold.wiring.system import SystemClock

if TYPE_CHECKING:
    from memhold.ports.maintenance import Finding, Maintenance
    from memhold.values.answers import Residue

__all__ = [
    "examine_postgres",
    "is_postgres",
    "open_postgres",
    "postgres_is_there",
    "residue_of",
    "shown",
    "tells_secret",
]

_SCHEMES = ("postgresql://", "postgres://")
_PASSWORD = re.compile(r"^([A-Za-z][\w+.-]*://[^/?#:@]*):[^/?#]*@")


def is_postgres(location: str) -> bool:
    """Whether a location names a PostgreSQL database."""
    return location.startswith(_SCHEMES)


def shown(location: str) -> str:
    """A location as it may be shown: without a password."""
    if not is_postgres(location):
        return _PASSWORD.sub(r"\1:***@", location)
    _need_driver()
    from memhold.storage.postgres.connection import parsed

    return parsed(location).shown


def tells_secret(location: str) -> bool:
    """Whether a location of PostgreSQL holds a password, so that it must not be written down.

    Raises:
        InvalidInput: the driver is not installed, or the location cannot be read.
    """
    _need_driver()
    from memhold.storage.postgres.connection import parsed

    return is_postgres(location) and parsed(location).secret


def _need_driver() -> None:
    if find_spec("psycopg") is None:
        raise InvalidInput("PostgreSQL needs a driver that is not installed: pip install 'memhold[postgres]'")


async def open_postgres(location: str, settings: Settings, clock: Clock) -> tuple[Store, Maintenance]:
    """Open the store, made where the database is empty, and what looks after it.

    Raises:
        InvalidInput: the driver is not installed, or the location cannot be read.
        StoreUnreachable, NotAStore, NewerStore: the database cannot be used; it was left untouched.
    """
    _need_driver()
    from memhold.storage.postgres.connection import parsed, parsed_standby
    from memhold.storage.postgres.maintenance import PostgresMaintenance
    from memhold.storage.postgres.store import PostgresStore

    place = parsed(location)
    store = await PostgresStore.open(
        place,
        clock=clock,
        busy_timeout=settings.busy_timeout,
        read_timeout=settings.read_timeout,
        failover_timeout=settings.failover_timeout,
        threads=settings.postgres_connections,
        partitions=settings.postgres_partitions,
        listen=settings.worker,
        hnsw_from=settings.postgres_hnsw_from,
        standbys=[parsed_standby(one) for one in settings.read_urls.split()],
    )
    return store, PostgresMaintenance(place, clock=clock, busy_timeout=settings.busy_timeout)


def postgres_is_there(location: str) -> bool:
    """Whether the database holds a store.

    Raises:
        StoreUnreachable: it cannot be asked.
    """
    _need_driver()
    from memhold.storage.postgres.connection import connect, parsed, translated

    place = parsed(location)
    with translated(place.shown), closing(connect(place, lock_timeout=Settings().busy_timeout)) as connection:
        row = connection.execute(
            "SELECT to_regclass('migration') IS NOT NULL AND to_regclass('store') IS NOT NULL"
        ).fetchone()
        return row is not None and bool(row[0])


def examine_postgres(location: str) -> tuple[Finding, ...]:
    """What is wrong with a store's database, without opening it as a store."""
    _need_driver()
    from memhold.storage.postgres.connection import parsed
    from memhold.storage.postgres.maintenance import PostgresMaintenance

    return asyncio.run(PostgresMaintenance(parsed(location), clock=SystemClock()).examine())


def residue_of(location: str, text: str) -> Residue:
    """In how many values of which table of a store's database a text stands."""
    from memhold.storage.postgres.connection import connect, parsed, translated
    from memhold.storage.postgres.residue import residue_in_rows

    place = parsed(location)
    with translated(place.shown), closing(connect(place, lock_timeout=Settings().busy_timeout)) as connection:
        return residue_in_rows(connection, text)
