"""What became of what was said: counts, from what was told and what is there. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.losses.said import Told

__all__ = ["Answer", "Outcome", "answered", "judged"]

RAW_LAYERS = frozenset({"message", "raw"})
"""Layers that hold what was said as it was said; every other is what was made of it."""

Answer = Mapping[str, Any]
"""What a child said to one request."""


@dataclass(slots=True, kw_only=True)
class Outcome:
    """The figures of one scenario. A figure that a scenario does not ask for is None.

    `acked`: the call came back without an error. `lost`: acknowledged, and nowhere afterwards. `refused`: the caller
    got an error; `kept_though_refused` of them are there. `hinted`: lost, and the answer listed nothing as kept, as it
    does where there is nothing worth keeping. `doubled`: there more than once in one layer. `made`: held by what was
    made of the messages, not only by the messages. `stale`: the old value first, or the new one absent. `unmarked`: the
    old value among the answers
    without a mark, wherever it stands. `leaked`: found by another user. `served`: forgotten,
    and still found. `left`: forgotten, and its bytes stand in a file.
    """

    said: int = 0
    acked: int = 0
    kept: int = 0
    lost: int = 0
    refused: int = 0
    kept_though_refused: int = 0
    hinted: int = 0
    doubled: int = 0
    made: int | None = None
    stale: int | None = None
    unmarked: int | None = None
    leaked: int | None = None
    served: int | None = None
    left: int | None = None
    told: dict[str, int] = field(default_factory=dict)
    note: str = ""

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)

    def add(self, other: Outcome) -> None:
        """Count another round of the same scenario in."""
        for name in ("said", "acked", "kept", "lost", "refused", "kept_though_refused", "hinted", "doubled"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.told = dict(Counter(self.told) + Counter(other.told))
        self.made = None if self.made is None and other.made is None else (self.made or 0) + (other.made or 0)
        self.note = self.note or other.note


def answered(answer: Answer) -> str | None:
    """The kind of error that an answer is; None where it is none."""
    error = answer.get("error")
    return None if error is None else str(error).partition(":")[0]


def judged(told: Sequence[tuple[Told, Answer]], entries: Sequence[Sequence[str]], note: str = "") -> Outcome:
    """What became of these, each sent once or more often, given all that is held in the end: (layer, text)."""
    found = Outcome(note=note)
    answers: dict[str, list[Answer]] = {}
    for one, answer in told:
        answers.setdefault(one.word, []).append(answer)
    errors = Counter(kind for _, answer in told if (kind := answered(answer)) is not None)
    made = 0
    for word, got in answers.items():
        layers = Counter(layer for layer, text in entries if word in text)
        good = [one for one in got if answered(one) is None]
        found.said += 1
        found.doubled += any(count > 1 for count in layers.values())
        made += any(layer not in RAW_LAYERS for layer in layers)
        if good:
            found.acked += 1
            found.kept += bool(layers)
            found.lost += not layers
            found.hinted += not layers and all(not one.get("kept") for one in good)
        else:
            found.refused += 1
            found.kept_though_refused += bool(layers)
    found.made = made
    found.told = dict(errors)
    return found
