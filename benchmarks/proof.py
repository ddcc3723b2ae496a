"""Run every proof in full and write docs/proof.md; stopped in the middle, it goes on where it was.

A proof is a test marked `proof`. It is done once for a state of the source: what passed is kept in `.proof/`, under a
hash of `src/`, `tests/proofs` and `reality/`, and is not run again until one of them changes.

With names only those are run; the others stay on the page as they were, each with the commit that it was run on.

They run side by side, one on each processor, those first that took longest the last time. What goes on for a time has a
lane of its own beside them, at a lower priority; what judges a ratio comes at the end, by itself.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import math
import os
import platform
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from types import MappingProxyType
from typing import Any
from xml.etree import ElementTree as ET

ROOT = Path(__file__).parents[1]
_NOTHING_FOUND = 5
"""What pytest exits with where no test carries the marks."""
NONE: Mapping[str, str] = MappingProxyType({})
_COLUMNS = 5
HEAD = """# What the proofs found

`make proof` wrote this page: every fault-injection proof in full, on {machine}, each of the
source at the commit that its row names. A run is one seeded history with one fault; a proof passes only when every run
does. `make test` runs a small number of each. Proofs ran side by side, so their seconds add up to more than it took.

| proof | runs | seconds | commit | result |
|---|---:|---:|---|---|
"""


def state() -> str:
    """A hash of everything that a proof depends on."""
    digest = hashlib.sha256()
    for folder in ("src", "tests/proofs", "reality"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".py", ".sql", ".ts"}:
                digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def proofs(marked: str = "proof") -> list[str]:
    """The ids of all proofs that carry these marks."""
    listed = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", marked, "tests", "reality"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode not in {0, _NOTHING_FOUND}:
        raise RuntimeError(f"pytest cannot list the proofs:\n{listed.stdout}{listed.stderr}")
    return [line for line in listed.stdout.splitlines() if "::" in line]


def name_of(proof: str) -> str:
    """What a proof is called in the page and in the file that keeps what it did."""
    return proof.rpartition("::")[2]


def longest_first(wanted: Iterable[str], took: Mapping[str, float]) -> list[str]:
    """The proofs by how long they took when they last passed; one of which that is not known may be the longest."""
    return sorted(wanted, key=lambda proof: -took.get(name_of(proof), math.inf))


def last_times(kept: Path) -> dict[str, float]:
    """How many seconds each proof took when it last passed, whatever the source was."""
    files = sorted(kept.glob("*/*.json"), key=lambda path: path.stat().st_mtime)
    return {row["proof"]: row["seconds"] for row in (json.loads(path.read_text()) for path in files)}


def run_lanes(lanes: Sequence[Sequence[str]], work: Callable[[str, int], None], *, side_by_side: int) -> None:
    """Do the work of each proof with its lane's number: the first lane in as many places side by side, another in one.

    Ends when all are done. Where one raises, or Ctrl-C is pressed, nothing more begins.
    """
    waiting = [deque(lane) for lane in lanes]
    stopped = threading.Event()

    def go(number: int) -> None:
        while waiting[number] and not stopped.is_set():
            with contextlib.suppress(IndexError):  # another place of the lane took the last
                work(waiting[number].popleft(), number)

    places = [0] * side_by_side + list(range(1, len(lanes)))
    with ThreadPoolExecutor(max_workers=len(places)) as pool:
        try:
            for done in as_completed([pool.submit(go, number) for number in places]):
                done.result()
        finally:
            stopped.set()


def prove(proof: str, out: Path, *, niceness: int = 0) -> str:
    """Run one proof in full; returns what the page says where it did not pass, empty where it did.

    What it did is written to `out`: by its own fixture, or here for one that has nothing to count. What pytest printed
    is shown where it did not pass.
    """
    environment = {**os.environ, "MEMHOLD_PROOF": "full", "MEMHOLD_PROOF_OUT": str(out)}
    name, begun = name_of(proof), commit()
    told = out / f"{hashlib.sha256(proof.encode()).hexdigest()[:16]}.xml"
    # The newer form of the report refuses what a proof records beside its result.
    report = ["-o", "junit_family=xunit1", f"--junitxml={told}"]
    command = ["nice", "-n", str(niceness), sys.executable, "-m", "pytest", "-q", *report, proof]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    found = outcome(told.read_text(encoding="utf-8")) if told.exists() else "failed"
    told.unlink(missing_ok=True)
    if done.returncode or isinstance(found, str):
        print(done.stdout, flush=True)
        return found if isinstance(found, str) else "failed"
    kept = out / f"{name}.json"
    row = json.loads(kept.read_text()) if kept.exists() else {"proof": name, "runs": 1, "seconds": round(found, 1)}
    kept.write_text(json.dumps({**row, "commit": begun}))
    return ""


def outcome(report: str) -> str | float:
    """What a report of pytest (JUnit's XML) says of a test: why it was not run or that it failed, else its seconds."""
    case = ET.fromstring(report).find(".//testcase")  # noqa: S314 - pytest wrote it
    if case is None or case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    skipped = case.find("skipped")
    return float(case.get("time", "0")) if skipped is None else f"not run: {skipped.get('message', '')}"


def said(row: dict[str, Any]) -> str:
    """What a proof measured, behind its result: figures, words, or several of them."""
    note = row.get("note")
    return "" if not note else ": " + ", ".join(f"{name} {_told(value)}" for name, value in note.items())


def _told(value: Any) -> str:
    if isinstance(value, list):
        return " and ".join(map(_told, value)) or "none"
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def commit() -> str:
    """Which source it was; with a word where what a proof depends on was changed since."""
    changed = _git("status", "--porcelain", "--", "src", "tests/proofs", "reality")
    return _git("rev-parse", "--short", "HEAD") + (" with uncommitted changes" if changed else "")


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def rows_of(written: str) -> dict[str, str]:
    """The rows of a page by proof; none of a page that names no commit for each."""
    rows = [line for line in written.splitlines() if line.startswith("| test_") and line.count(" | ") >= _COLUMNS - 1]
    return {line.split(" | ")[0].removeprefix("| "): line for line in rows}


def page(out: Path, failed: Mapping[str, str], left: int, before: Mapping[str, str] = NONE) -> str:
    """What is done until now, as the page says it; `failed` says of those that did not pass why.

    `before` are rows of proofs that were run on an earlier source; they stay where nothing newer is known.
    """
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"
    found, of = [json.loads(path.read_text()) for path in sorted(out.glob("*.json"))], commit()
    rows = dict(before)
    for row in found:
        done = f"{row['runs']:,} | {row['seconds']:,.0f} | {row.get('commit', of)} | passed{said(row)}"
        rows[row["proof"]] = f"| {row['proof']} | {done} |"
    rows |= {name: f"| {name} | - | - | {of} | **{why.replace('|', '/')}** |" for name, why in failed.items()}
    lines = [rows[name] for name in sorted(rows)]
    lines += ["", f"{left} more proofs are to be run: `make proof` goes on with them."] if left else []
    return HEAD.format(machine=machine) + "\n".join(lines) + "\n"


class Progress:
    """What is done and what failed, told after each proof: a run that is stopped has told what it did."""

    def __init__(self, out: Path, wanted: Sequence[str], before: Mapping[str, str] = NONE) -> None:
        self.failed: dict[str, str] = {}
        self._before = before
        self._out = out
        self._left = [proof for proof in wanted if not self._kept(proof).exists()]
        self._of = len(wanted)
        self._telling = threading.Lock()

    def _kept(self, proof: str) -> Path:
        return self._out / f"{name_of(proof)}.json"

    def left(self, among: Iterable[str]) -> list[str]:
        """Those of these that are to be run."""
        return [proof for proof in among if proof in self._left]

    def work(self, proof: str, lane: int) -> None:
        """Run one; beside the first lane at a lower priority."""
        print(f"begun: {proof}", flush=True)
        why = prove(proof, self._out, niceness=10 if lane else 0)
        with self._telling:
            self._left.remove(proof)
            if why:
                self.failed[name_of(proof)] = why
            print(f"[{self._of - len(self._left)}/{self._of}] {proof}: {why or 'passed'}", flush=True)
            self.write()

    def write(self) -> None:
        """Write the page as it is now."""
        (ROOT / "docs" / "proof.md").write_text(self.page())

    def page(self) -> str:
        """What is done until now."""
        return page(self._out, self.failed, len(self._left), self._before)


def main() -> int:
    """Run what is not done yet; the page is written after each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.proof", description=__doc__)
    parser.add_argument("names", nargs="*", help="the proofs to run; left out: all of them")
    names = parser.parse_args().names
    out = ROOT / ".proof" / state()
    out.mkdir(parents=True, exist_ok=True)
    known = longest_first(proofs(), last_times(out.parent))
    if unknown := {*names} - {*map(name_of, known)}:
        parser.error(f"no such proofs: {', '.join(sorted(unknown))}")
    wanted = [proof for proof in known if not names or name_of(proof) in names]
    alone, by_the_clock = proofs("proof and alone"), proofs("proof and by_the_clock")
    written = rows_of((ROOT / "docs" / "proof.md").read_text())
    progress = Progress(out, wanted, {name: written[name] for name in map(name_of, known) if name in written})
    beside = [proof for proof in wanted if proof not in {*alone, *by_the_clock}]
    timed, last = ([proof for proof in wanted if proof in some] for some in (by_the_clock, alone))
    lanes = [progress.left(beside), progress.left(timed)]
    run_lanes(lanes, progress.work, side_by_side=os.cpu_count() or 1)
    run_lanes([progress.left(last)], progress.work, side_by_side=1)
    progress.write()
    print(progress.page())
    return 1 if progress.failed else 0


if __name__ == "__main__":
    sys.exit(main())
