"""Say what the suites ran and what they skipped, and fail on a skip that nobody has allowed.

    python scripts/suite_report.py build/tests.xml build/reality.xml

It reads what pytest writes with `--junitxml`, and `.ci/skips.toml`: each allowed skip is the pattern of a test's name,
a part of the reason that it gives, why that is allowed, and since when. The last line counts all suites together.
"""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree as ET

ROOT = Path(__file__).parents[1]
ALLOWED = ROOT / ".ci" / "skips.toml"
Outcome = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One test of a suite, how it ended, and the reason of a skip."""

    name: str
    outcome: Outcome
    reason: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """A skip that may be: which tests, a part of their reason, why it is allowed, and since when."""

    test: str
    reason: str
    because: str
    since: date

    def covers(self, case: Case) -> bool:
        """Whether this skip is one of these."""
        return fnmatchcase(case.name, self.test) and self.reason in case.reason


def read_suite(path: Path) -> list[Case]:
    """The tests of one suite, as pytest's JUnit file has them; a test that was expected to fail and did has passed."""
    return [_case(element) for element in ET.parse(path).getroot().iter("testcase")]  # noqa: S314 - pytest wrote it


def _case(element: ET.Element) -> Case:
    name = f"{element.get('classname', '').replace('.', '/')}::{element.get('name', '')}"
    seconds = float(element.get("time", 0))
    if element.find("failure") is not None or element.find("error") is not None:
        return Case(name=name, outcome="failed", seconds=seconds)
    skipped = element.find("skipped")
    if skipped is None or skipped.get("type") == "pytest.xfail":
        return Case(name=name, outcome="passed", seconds=seconds)
    return Case(name=name, outcome="skipped", reason=skipped.get("message", ""), seconds=seconds)


def read_allowed(path: Path) -> list[Allowed]:
    """The skips that are allowed; each entry has all four fields, and none is empty."""
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("skip", [])
    return [Allowed(**entry) for entry in entries]


def report(suites: Sequence[tuple[str, Sequence[Case] | None]], allowed: Iterable[Allowed]) -> tuple[list[str], bool]:
    """What to print, and whether all is well: each suite ran something, nothing failed, each skip is allowed.

    A suite is None where it wrote nothing: it did not come so far.
    """
    allowed = list(allowed)
    lines: list[str] = []
    total: Counter[Outcome] = Counter()
    well = True
    used: set[Allowed] = set()
    for name, cases in suites:
        counts = Counter(case.outcome for case in cases or ())
        total += counts
        if not counts["passed"] + counts["failed"]:
            lines.append(f"{name}: ran no test")
            well = False
            continue
        took = sum(case.seconds for case in cases or ())
        lines.append(f"{name}: {counted(counts)} ({took:.0f} s of tests)")
        for case in cases or ():
            if case.outcome == "skipped":
                found = next((one for one in allowed if one.covers(case)), None)
                used |= {found} if found else set()
                told = f"allowed since {found.since}: {found.because}" if found else "NOT ALLOWED by .ci/skips.toml"
                lines.append(f"  skipped {case.name}: {case.reason} [{told}]")
                well = well and found is not None
    lines += [f"not needed on this machine: {one.test} ({one.reason})" for one in allowed if one not in used]
    return [*lines, counted(total)], well and not total["failed"]


def counted(counts: Counter[Outcome]) -> str:
    """The closing line that runners print."""
    return f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped"


def main(paths: Sequence[str]) -> int:
    """Print the report of these suites; 1 where something is not well."""
    suites = [(Path(path).stem, read_suite(Path(path)) if Path(path).exists() else None) for path in paths]
    lines, well = report(suites, read_allowed(ALLOWED))
    print("\n".join(lines))
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
