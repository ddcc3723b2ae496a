"""`settle` says that all is done when nothing is due, what waits for a reader of the file included."""

from __future__ import annotations

import logging
from pathlib import Path

import apsw
import pytest

from memhold import Memhold


@pytest.mark.parametrize("worker", [False, True])
def test_settle_is_not_done_while_a_reader_holds_what_was_forgotten(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, *, worker: bool
) -> None:
    caplog.set_level(logging.WARNING, "memhold")
    with Memhold.open(tmp_path / "m.db", worker=worker, embedding="none") as mem:
        alice = mem.scope(user="alice", session="s")
        said = alice.add([{"role": "user", "content": "the quokka sleeps"}]).ids[0]
        reader = apsw.Connection(str(tmp_path / "m.db"), flags=apsw.SQLITE_OPEN_READONLY)
        reader.execute("BEGIN; SELECT count(*) FROM message").fetchall()
        assert alice.forget(said, wait=0).waiting_for == "reader"
        # The first look puts the scrub off: from then on it is due later.
        assert not mem.settle(timeout=10)
        assert not mem.settle(timeout=10)
        assert "scrub" in caplog.text
        reader.close()
        assert mem.settle(timeout=10)
        assert not alice.residue("quokka").found
