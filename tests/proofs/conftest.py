"""A proof runs a small, seeded number of times in `make test` and the full number in `make proof`."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.postgres_server import Databases, Server
from tests.proofs.networks import Link

FULL = os.environ.get("MEMHOLD_PROOF") == "full"
OUT = Path(os.environ.get("MEMHOLD_PROOF_OUT", ".proof"))


NOTES: dict[str, object] = {}
"""What a proof measured, by its name: it goes into the page beside the result."""


@pytest.fixture
def runs(request: pytest.FixtureRequest) -> Iterator[Callable[[int, int], range]]:
    """`runs(few, full)` is the seeds of this proof; in `make proof` what it did is written down when it passed."""
    asked: list[int] = []
    began = time.monotonic()

    def chosen(few: int, full: int) -> range:
        asked.append(full if FULL else few)
        return range(asked[-1])

    failed_before = request.session.testsfailed
    yield chosen
    if FULL and asked and request.session.testsfailed == failed_before:
        OUT.mkdir(parents=True, exist_ok=True)
        row = {"proof": request.node.name, "runs": asked[-1], "seconds": round(time.monotonic() - began, 1)}
        row |= {"note": NOTES[request.node.name]} if request.node.name in NOTES else {}
        (OUT / f"{request.node.name}.json").write_text(json.dumps(row))


@pytest.fixture
def reached(apart: list[Link]) -> Iterator[Databases]:
    """A database server that each of the networks `apart`, which the proof's module makes, reaches at its own address."""
    # A long run leaves dead rows behind as a long life does, and is vacuumed as that is.
    settings = {"autovacuum": "on", "autovacuum_naptime": "5s"} if FULL else {}
    server = Server(
        listens=[link.ours for link in apart], guests=apart[0].network if apart else None, settings=settings
    )
    try:
        yield Databases(server)
    finally:
        server.stop()
