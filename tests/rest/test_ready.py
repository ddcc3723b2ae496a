"""Readiness on a disk that takes nothing more: said without a file's name, and over once there is room."""

from __future__ import annotations

from pathlib import Path

from memhold.faces.rest.changes import Streams
from memhold.server.metrics import Metrics
from memhold.server.routing import READY_SECONDS, PathRouter
from memhold.storage.sqlite.store import SqliteStore
from memhold.testing.disk import FaultyDisk
from memhold.verbs.local_admin import LocalAdmin
from memhold.wiring import Around, assemble
from memhold.wiring.settings import Settings
from memhold.wiring.system import SystemClock
from tests.identity.asgi import ask, echo


async def test_a_full_disk_is_not_ready_and_a_server_on_it_is_alive(tmp_path: Path) -> None:
    clock, disk, now = SystemClock(), FaultyDisk(volatile=False), [0.0]
    store = SqliteStore(str(tmp_path / "secret-name.db"), clock=clock, vfs=disk.name)
    runtime = assemble(store, Around(clock=clock, settings=Settings(worker=False)))
    front = PathRouter(
        rest=echo,
        mcp=echo,
        ui=echo,
        admin=lambda: LocalAdmin(runtime),
        metrics=Metrics(),
        streams=Streams(),
        clock=lambda: now[0],
    )
    assert (await ask(front, "/readyz")).status == 200
    disk.room = 0
    assert (await ask(front, "/readyz")).status == 200  # as it was a moment ago
    now[0] += READY_SECONDS
    answer = await ask(front, "/readyz")
    assert (answer.status, answer.json["error"]) == (503, "StoreFull")
    assert b"secret-name" not in answer.body
    assert b"memhold_store_takes_writes 0.0" in (await ask(front, "/metrics")).body
    assert (await ask(front, "/healthz")).status == 200
    disk.room = None
    now[0] += READY_SECONDS
    assert (await ask(front, "/readyz")).status == 200
    await store.close()
