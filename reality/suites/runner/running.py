"""Runs a framework's tests in this process, and counts them: which failed, and which of these may."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest


class Counted:
    """A plug-in that remembers how each test ended, and has each module of tests made ready."""

    def __init__(self, made_ready: Callable[[Any], None]) -> None:
        self.ended: dict[str, bool] = {}
        self._made_ready = made_ready

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Make the modules ready."""
        for module in {item.module for item in items if isinstance(item, pytest.Function)}:
            self._made_ready(module)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how a test ended."""
        if report.when == "call" or not report.passed:
            self.ended[report.nodeid] = report.passed and self.ended.get(report.nodeid, True)


def run(
    folder: Path,
    files: Sequence[str],
    *,
    about_others: Mapping[str, str],
    made_ready: Callable[[Any], None] = lambda _: None,
    more: Sequence[str] = ("--noconftest",),
) -> bool:
    """Run these files of a distribution; whether nothing failed but what `about_others` names, with the reason."""
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    Path("suite.ini").write_text("[pytest]\nasyncio_mode = auto\n")
    counted = Counted(made_ready)
    quiet = ("-q", "--tb=short", "-p", "no:cacheprovider", "--rootdir", str(folder), "-c", "suite.ini")
    pytest.main([*quiet, *more, *files], plugins=[counted])
    failed = [name for name, passed in counted.ended.items() if not passed]
    reasons = {name: next((why for one, why in about_others.items() if re.search(one, name)), None) for name in failed}
    print(f"{folder.name}: {len(counted.ended) - len(failed)} of {len(counted.ended)}")
    for why in sorted(set(filter(None, reasons.values()))):
        print(f"  {sum(one == why for one in reasons.values())} are about {why}")
    ours = [name for name, why in reasons.items() if why is None]
    for name in ours:
        print(f"  FAILED {name}")
    return bool(counted.ended) and not ours
