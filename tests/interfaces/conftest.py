"""Running the command line in this process, and as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memhold.cli.main import main
from tests.command_line import forked


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.out.count("\n") == 1, self.out
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        return json.loads(self.err)["error"]


@dataclass(frozen=True)
class CommandLine:
    db: str
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str, stdin: str | None = None) -> Ran:
        import io

        given = io.StringIO(stdin or "")
        given.isatty = lambda: stdin is None  # type: ignore[method-assign]
        self.monkeypatch.setattr(sys, "stdin", given)
        code = main(list(arguments))
        out, err = self.capsys.readouterr()
        return Ran(code, out, err)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """The command line on a store of this test, as the user alice."""
    db = str(tmp_path / "memory.db")
    monkeypatch.setenv("MEMHOLD_DB", db)
    monkeypatch.setenv("MEMHOLD_USER", "alice")
    for name in ("MEMHOLD_NAMESPACE", "MEMHOLD_AGENT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return CommandLine(db, monkeypatch, capsys)


def process(*arguments: str, env: dict[str, str] | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run `memhold` as a process."""
    return subprocess.run(
        [*forked(), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **(env or {})},
        timeout=60,
        **options,
    )
