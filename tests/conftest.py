"""What all tests may ask for."""

from __future__ import annotations

import gc
import threading
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.postgres_server import Databases, Server

# A machine that is busy is no fault of what is tested.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays to the end, so no search for garbage goes through it: that was a tenth of all tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def own_state_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Servers that a test starts keep their tokens in a folder of the tests, and processes that it starts look there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="module", autouse=True)
def threads_end() -> Iterator[None]:
    """Whoever leaves a thread behind takes processor and memory from all tests that come after it."""
    before = set(threading.enumerate())
    yield
    left = [thread for thread in threading.enumerate() if thread not in before]
    for thread in left:
        thread.join(timeout=60)
    assert not [thread for thread in left if thread.is_alive()]


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
    """The URL of one database that holds an empty store."""
    url = databases.store()
    yield url
    databases.give_back(url)


@pytest.fixture
def bare_database(databases: Databases) -> Iterator[str]:
    """The URL of one database with nothing in it, where a store is still to be made."""
    url = databases.take()
    yield url
    databases.give_back(url)


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The location of a new store: each test that asks for it runs on all of them."""
    return "memory://" if request.param == "memory" else _lasting(request, tmp_path)


@pytest.fixture(params=["sqlite", "postgresql"])
def lasting(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The location of a new store that is the same one when it is opened again."""
    return _lasting(request, tmp_path)


def _lasting(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "m.db")
    url: str = request.getfixturevalue("database")
    return url
