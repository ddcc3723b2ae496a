"""Writes what the signs of a proof weigh, learned on the labelled items of the tests. Run where a sign changes.

A logistic regression of facts and one of statements. It prints what they tell apart on worlds that they did not learn
(ten parts, each judged by what was learned on the other nine): the shares that are not likely.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from memhold.text.analysis import language_of

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "src/memhold/consolidate/grounding/weights.py"
RIDGE = 1.0
PARTS = 10


def main() -> None:
    """Learn, print the shares of held-out parts, write the table."""
    sys.path.insert(0, str(ROOT))
    names, values, labels, seen = map(np.array, zip(*_items(), strict=True))
    part = {world: place % PARTS for place, world in enumerate(sorted(set(names)))}
    parts = np.array([part[name] for name in names])
    true = np.isin(labels, ["T", "I"]).astype(float)
    held_out = np.zeros(len(true))
    for kind in (True, False):
        for one in range(PARTS):
            learn, judge = (parts != one) & (values == kind), (parts == one) & (values == kind)
            held_out[judge] = _likely(_learned(seen[learn], true[learn]), seen[judge])
    _tell(held_out, labels, values)
    facts, statements = (_learned(seen[values == kind], true[values == kind]) for kind in (True, False))
    TABLE.write_text(_written(facts, statements), encoding="utf-8")


def _items() -> Iterator[tuple[str, bool, str, tuple[float, ...]]]:
    from memhold.consolidate.grounding.weight import signs
    from tests.consolidation.test_grounding import SETS, claim_of, lines_of

    for worlds in SETS.values():
        for name, (day, said, items) in worlds.items():
            lines = lines_of(said, day)
            language = language_of(" ".join(line.text for line in lines))
            for item in items:
                label, claim = claim_of(item)
                yield name, claim.value, label, signs(replace(claim, language=language), lines)


def _learned(seen: Any, true: Any) -> Any:
    """Newton's method on the likelihood, less the squares of the weights."""
    rows = np.c_[np.ones(len(seen)), seen]
    ridge = RIDGE * np.eye(rows.shape[1])
    ridge[0, 0] = 0
    weights = np.zeros(rows.shape[1])
    for _ in range(25):
        likely = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (likely - true) + ridge @ weights
        weights -= np.linalg.solve((rows * (likely * (1 - likely))[:, None]).T @ rows + ridge, slope)
    return weights


def _likely(weights: Any, seen: Any) -> Any:
    return 1 / (1 + np.exp(-(np.c_[np.ones(len(seen)), seen] @ weights)))


def _tell(held_out: Any, labels: Any, values: Any) -> None:
    from memhold.consolidate.grounding.weight import LIKELY

    for name, kind in (("facts", values), ("statements", ~values)):
        for label in "HOT":
            mine = held_out[kind & (labels == label)]
            print(f"{name:10} {label} of {len(mine):3}: not likely {(mine < LIKELY).mean():.3f}")


def _written(facts: Any, statements: Any) -> str:
    from memhold.consolidate.grounding.weight import SIGNS

    lines = [
        '"""What each sign of a proof weighs. Written by scripts/generate_grounding_weights.py."""',
        "",
        "from typing import Final",
        "",
        '__all__ = ["FACTS", "STATEMENTS"]',
    ]
    for name, weights in (("FACTS", facts), ("STATEMENTS", statements)):
        lines += ["", f"{name}: Final = ("]
        for sign, weight in zip(("before any sign", *SIGNS), weights, strict=True):
            lines.append(f"    {weight:.2f},  # {sign}")
        lines.append(")")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
