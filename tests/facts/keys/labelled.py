"""The project's own labelled pairs: read as they are written, and their keys when a test asks for them.

Each worker that runs tests collects all of them, so nothing that takes seconds is worked out as a module is imported.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from memhold.facts.keys.measure import Pair, pairs_from

LINES = (Path(__file__).parent / "pairs.jsonl").read_text(encoding="utf-8").splitlines()


def lines(label: str) -> list[str]:
    """The lines of the pairs with one label."""
    return [line for line in LINES if line and json.loads(line)["label"] == label]


def pair(line: str) -> Pair:
    """The pair of one line."""
    [found] = pairs_from([line])
    return found


@cache
def pairs() -> list[Pair]:
    """All of them."""
    return pairs_from(LINES)
