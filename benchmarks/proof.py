"""Run every proof in full and write docs/proof.md; stopped in the middle, it goes on where it was.

A proof is a test marked `proof`. It is done once for a state of the source: what passed is kept in `.proof/`, under a
hash of `src/`, `tests/proofs` and `reality/`, and is not run again until one of them changes. All of them take about
three hours on two quiet cores (reckoned from the small counts): one for the soak, most of one for the thousand kills.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

ROOT = Path(__file__).parents[1]
HEAD = """# What the proofs found

`make proof` wrote this page: every fault-injection proof in full, on {machine}, of the source at commit
{commit}. A run is one seeded history with one fault; a proof passes only when every run does. `make test` runs a small
number of each.

| proof | runs | seconds | result |
|---|---:|---:|---|
"""


def state() -> str:
    """A hash of everything that a proof depends on."""
    digest = hashlib.sha256()
    for folder in ("src", "tests/proofs", "reality"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".py", ".sql", ".ts"}:
                digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def proofs() -> list[str]:
    """The ids of all proofs."""
    listed = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "proof", "tests", "reality"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [line for line in listed.stdout.splitlines() if "::" in line]


def prove(proof: str, out: Path) -> str:
    """Run one proof in full; returns what the page says where it did not pass, empty where it did.

    What it did is written to `out`: by its own fixture, or here for one that has nothing to count.
    """
    environment = {**os.environ, "MEMHOLD_PROOF": "full", "MEMHOLD_PROOF_OUT": str(out)}
    name, told = proof.rpartition("::")[2], out / "pytest.xml"
    command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={told}", proof]
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
    found = outcome(told.read_text(encoding="utf-8")) if told.exists() else "failed"
    told.unlink(missing_ok=True)
    if done.returncode or isinstance(found, str):
        return found if isinstance(found, str) else "failed"
    kept = out / f"{name}.json"
    if not kept.exists():
        kept.write_text(json.dumps({"proof": name, "runs": 1, "seconds": round(found, 1)}))
    return ""


def outcome(report: str) -> str | float:
    """What a report of pytest (JUnit's XML) says of a test: why it was not run or that it failed, else its seconds."""
    case = ET.fromstring(report).find(".//testcase")  # noqa: S314 - pytest wrote it
    if case is None or case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    skipped = case.find("skipped")
    return float(case.get("time", "0")) if skipped is None else f"not run: {skipped.get('message', '')}"


def said(row: dict[str, Any]) -> str:
    """What a proof measured, behind its result."""
    note = row.get("note")
    return "" if not note else ": " + ", ".join(f"{name} {value:,}" for name, value in note.items())


def commit() -> str:
    """Which source it was; with a word where what a proof depends on was changed since."""
    changed = _git("status", "--porcelain", "--", "src", "tests/proofs", "reality")
    return _git("rev-parse", "--short", "HEAD") + (" with uncommitted changes" if changed else "")


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def page(out: Path, failed: Mapping[str, str], left: int) -> str:
    """What is done until now, as the page says it; `failed` says of those that did not pass why."""
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"
    rows = [json.loads(path.read_text()) for path in sorted(out.glob("*.json"))]
    lines = [f"| {row['proof']} | {row['runs']:,} | {row['seconds']:,.0f} | passed{said(row)} |" for row in rows]
    lines += [f"| {name} | | | **{why.replace('|', '/')}** |" for name, why in failed.items()]
    lines += ["", f"{left} more proofs are to be run: `make proof` goes on with them."] if left else []
    return HEAD.format(machine=machine, commit=commit()) + "\n".join(lines) + "\n"


def main() -> int:
    """Run what is not done yet; the page is written after each, so that a run that is stopped has told what it did."""
    argparse.ArgumentParser(prog="python -m benchmarks.proof", description=__doc__).parse_args()
    out = ROOT / ".proof" / state()
    out.mkdir(parents=True, exist_ok=True)
    failed: dict[str, str] = {}
    wanted = proofs()
    for place, proof in enumerate(wanted, start=1):
        name = proof.split("::")[-1]
        if not (out / f"{name}.json").exists():
            print(f"[{place}/{len(wanted)}] {proof}", flush=True)
            if why := prove(proof, out):
                failed[name] = why
        (ROOT / "docs" / "proof.md").write_text(page(out, failed, len(wanted) - place))
    print(page(out, failed, 0))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
