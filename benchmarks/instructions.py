"""Standing instructions in what users write: how many are recognised, and how many of those a person called right."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.worlds import read_worlds
from memhold.errors import UnreadableImport
from memhold.text.instructions import instructions

__all__ = ["LABELS", "instructions_quality"]

LABELS = Path(__file__).with_name("instruction_labels.json")
"""What a reader said of 200 turns of BEAM 100K 1 to 10 and LoCoMo dev, by id, without their text: whether the user
states a standing instruction, a preference, or a state of health or diet in it. They are every turn in which one was
recognised when they were labelled, and 150 others, those with the least SHA-256 of their id."""


async def instructions_quality(
    worlds: Sequence[Path], *, locomo: Path | None = None, labels: Path = LABELS
) -> Mapping[str, Any]:
    """How many turns have one, how many of those are labelled and right, and which of the others were missed.

    Raises:
        UnreadableImport: a file has not the form of its set.
    """
    told: Mapping[str, bool] = json.loads(await asyncio.to_thread(labels.read_text, encoding="utf-8"))
    turns = {one: text for path in worlds for one, text in _of_worlds(path)} | dict(_of_locomo(locomo))
    recognised = [one for one, text in turns.items() if instructions(text)]
    read = [one for one in turns if one in told]
    judged = [one for one in recognised if one in told]
    right = [one for one in judged if told[one]]
    missed = [one for one in read if told[one] and one not in recognised]
    return {
        "benchmark": "instructions",
        "turns": len(turns),
        "labelled": len(read),
        "recognised": len(recognised),
        "precision": round(len(right) / len(judged), 3) if judged else None,
        "recall of the labelled": round(len(right) / (len(right) + len(missed)), 3) if right or missed else None,
        "wrong": [one for one in judged if not told[one]],
        "missed": missed,
        "not labelled": [one for one in recognised if one not in told],
    }


def _of_worlds(path: Path) -> Iterator[tuple[str, str]]:
    for world in read_worlds(path):
        for one in world.said:
            if one.role == "user":
                yield f"{world.name}:{one.id}", one.text


def _of_locomo(path: Path | None) -> Iterator[tuple[str, str]]:
    try:
        for sample in json.loads(path.read_text(encoding="utf-8")) if path is not None else ():
            for name, turns in sample["conversation"].items():
                if name.startswith("session_") and isinstance(turns, list):
                    for turn in turns:
                        yield f"locomo-{sample['sample_id']}:{turn['dia_id']}", turn["text"]
    except (ValueError, KeyError, TypeError) as error:
        why = f"{path}: not LoCoMo's file: {type(error).__name__}: {error}"
        raise UnreadableImport(why, path=str(path), line=None) from None
