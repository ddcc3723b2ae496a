"""What people see on a terminal, as wide as theirs is: run behind a pseudo-terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest

from memhold import Memhold

_COLOURS = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\r")
_SECONDS = 120


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    with Memhold.open(str(path), worker=False, embedding="none") as mem:
        alice = mem.scope(user="alice", session="trip")
        alice.add([{"role": "user", "content": "We talked about the trip to Lisbon and the window seats of the train"}])
        for place in range(12):
            alice.remember(f"Note {place}: prefers tea in the morning and coffee in the afternoon")
    return path


def seen(store: Path, *line: str, width: int, height: int = 200) -> list[str]:
    """The lines of what a command shows on a terminal of this size; the pager copies what it is given."""
    pager = store.with_name("paged")
    sizes = {"COLUMNS": str(width), "LINES": str(height), "TERM": "xterm", "PAGER": f"tee {pager}"}
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "memhold", *line, "--db", str(store), "--user", "alice"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, **sizes},
    ) as child:
        os.close(theirs)
        told = b""
        while select.select([ours], [], [], _SECONDS)[0]:
            try:
                piece = os.read(ours, 65_536)
            except OSError:  # Linux says so at the end
                break
            if not piece:
                break
            told += piece
        child.wait(_SECONDS)
    os.close(ours)
    return _COLOURS.sub("", told.decode()).splitlines()


@pytest.mark.parametrize(
    ("width", "line"),
    [(60, ("list",)), (120, ("list",)), (60, ("recall", "window seats")), (60, ("usage",)), (80, ("sessions",))],
)
def test_what_is_shown_fits_the_terminal_and_cuts_no_id(store: Path, width: int, line: tuple[str, ...]) -> None:
    lines = seen(store, *line, width=width)
    assert [one for one in lines if len(one) > width] == []
    text = "\n".join(lines)
    assert all(len(one) == 36 for one in re.findall(r"(?:mem|msg)_\w*", text))
    if line == ("list",):
        assert len(re.findall(r"mem_", text)) == 12


def test_where_there_is_no_store_yet_what_is_said_of_it_fits_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = seen(Path("new.db"), width=65)
    assert "new.db: there is no store yet;" in lines[1]
    assert [one for one in lines if len(one) > 65] == []


def test_a_list_that_is_longer_than_the_terminal_is_high_goes_through_the_pager(store: Path) -> None:
    paged = store.with_name("paged")
    seen(store, "list", "--limit", "3", width=80, height=30)
    assert not paged.exists()
    lines = seen(store, "list", width=80, height=10)
    assert paged.read_text().count("Note ") == 12
    assert sum("Note " in one for one in lines) == 12
