"""What all tests may ask for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.postgres_server import Databases, Server


@pytest.fixture(scope="session")
def databases() -> Iterator[Databases]:
    """Empty databases on a real PostgreSQL that this session starts and ends."""
    server = Server()
    try:
        yield Databases(server)
    finally:
        server.stop()


@pytest.fixture
def database(databases: Databases) -> Iterator[str]:
    """The URL of one empty database."""
    url = databases.take()
    yield url
    databases.give_back(url)
