"""A verb's way is short: a file that only passes things on is one more place to look for what happens."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MOST = {"add": 48, "recall": 62, "context": 91, "consolidate": 95}
"""Files that a warm call enters, in its own turn and behind its answer; it falls, and does not rise."""


@pytest.fixture(scope="module")
def ways() -> dict[str, list[str]]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.short_ways"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("verb", MOST)
def test_a_verb_enters_few_files(verb: str, ways: dict[str, list[str]]) -> None:
    entered = ways[verb]
    print(f"{verb} enters {len(entered)}:", *entered, sep="\n  ")
    assert {"verbs/transactions.py", "storage/sqlite/store.py"} <= {*entered}, "the trace sees the way"
    assert len(entered) <= MOST[verb]
