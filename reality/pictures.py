"""Two pictures of the page with the demo's memory, for the README: `python -m reality.pictures` writes them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic, sleep

import pytest

from reality.outside import HERE, PYTHONS, python_with, run

__all__ = ["PICTURES", "START_SECONDS", "Program", "browser", "make_pictures"]

START_SECONDS = 300
PICTURES = ("now.png", "recall.png")
_FILL = """
import asyncio, sys
from memhold import AsyncMemhold
from memhold.faces.ui.demo_memory import put_demo
from memhold.values.records import Scope
async def main(path):
    async with AsyncMemhold.open(path, worker=False) as mem:
        await put_demo(mem, Scope())
        await mem.settle(60)
asyncio.run(main(sys.argv[1]))
"""


class Program:
    """One of our commands beside the test; what it says goes to a file, where its address is found."""

    def __init__(self, said: Path, *command: str) -> None:
        self._said = said
        self._command = [sys.executable, "-m", "memhold", *command]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *more: str) -> str:
        """Start it, and wait for the address that it tells."""
        with self._said.open("wb") as out:
            self._process = subprocess.Popen([*self._command, *more], stdout=out, stderr=out)
        end = monotonic() + START_SECONDS
        while (found := re.search(r"http://127\.0\.0\.1:\d+\S*", self._said.read_text(encoding="utf-8"))) is None:
            assert self._process.poll() is None, self._said.read_text(encoding="utf-8")
            assert monotonic() < end, "it did not start"
            sleep(0.05)
        return found[0]

    def kill(self) -> None:
        """As a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def browser() -> tuple[Path, str]:
    """A Python with playwright, and where Chromium is; skipped where there is none."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    return python_with(PYTHONS[0], "playwright", name="browser"), chromium


def make_pictures(into: Path) -> None:
    """Write the pictures into a folder that exists."""
    python, chromium = browser()
    with tempfile.TemporaryDirectory(prefix="memhold-") as folder:
        store = str(Path(folder) / "memory.db")
        filled = run([sys.executable, "-c", _FILL, store], seconds=START_SECONDS)
        assert filled.code == 0, filled.last
        page = Program(Path(folder) / "page.log", "ui", "--no-browser", "--db", store, "--user", "mina (demo)")
        try:
            link = page.start()
            asked = {"link": link, "base": link.partition("/ui/")[0], "chromium": chromium, "pictures": str(into),
                     "journeys": ["readme_pictures"]}  # fmt: skip
            done = run([python, HERE / "page_journeys.py"], seconds=START_SECONDS, given=json.dumps(asked))
        finally:
            page.kill()
    wrong = [one["wrong"] for one in map(json.loads, done.out.splitlines()) if one["wrong"]]
    assert (done.code, wrong) == (0, []), done.last


if __name__ == "__main__":
    folder = HERE.parent / "docs" / "pictures"
    folder.mkdir(exist_ok=True)
    make_pictures(folder)
    for each in PICTURES:
        print(folder / each)
