"""How well keys are told apart on pairs that somebody labelled: counts, and each mistake with its reason. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from memhold.facts.keys.compare import Key, Verdict, canonical, compare
from memhold.values.errors import UnreadableImport

__all__ = ["Judged", "Pair", "Report", "SafeThreshold", "lowest_safe_threshold", "measure", "pairs_from"]

_MARGIN = 0.01
"""How far a safe threshold stays above the likest pair of different keys."""

_FLOOR = 0.60
"""A threshold is never set lower: a file with few hard pairs would prove nothing about the next ones."""

_UNGUARDED = frozenset({"substitution", "unlike"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two keys and whether they are one concept; `language` is only for the report."""

    a: Key
    b: Key
    label: Literal["same", "different"]
    language: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A pair with the verdict on it."""

    pair: Pair
    verdict: Verdict

    def as_json(self) -> dict[str, Any]:
        """The pair, the rule and the reason as plain data."""
        return {
            "a": _shown(self.pair.a),
            "b": _shown(self.pair.b),
            "lang": self.pair.language,
            "verdict": self.verdict.same,
            "rule": self.verdict.rule,
            "reason": self.verdict.reason,
            "similarity": self.verdict.similarity,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a file of pairs gave. A false merge is a pair labelled different that was judged the same: data loss."""

    judged: tuple[Judged, ...]

    @property
    def same(self) -> int:
        """Pairs labelled the same."""
        return sum(j.pair.label == "same" for j in self.judged)

    @property
    def different(self) -> int:
        """Pairs labelled different."""
        return len(self.judged) - self.same

    @property
    def recognised(self) -> int:
        """Pairs labelled the same that were judged the same."""
        return self.same - len(self.missed)

    @property
    def share(self) -> float:
        """The share of same-concept pairs that were recognised, from 0 to 1; 1 where there were none."""
        return self.recognised / self.same if self.same else 1.0

    @property
    def false_merges(self) -> tuple[Judged, ...]:
        """Different keys judged the same."""
        return tuple(j for j in self.judged if j.pair.label == "different" and j.verdict.same == "same")

    @property
    def missed(self) -> tuple[Judged, ...]:
        """Same keys not judged the same."""
        return tuple(j for j in self.judged if j.pair.label == "same" and j.verdict.same != "same")

    @property
    def unsure(self) -> int:
        """Pairs of either label that a person or an adjudicating model would be asked about."""
        return sum(j.verdict.same == "unsure" for j in self.judged)

    def as_json(self) -> dict[str, Any]:
        """One plain object: counts, the false merges and the missed pairs, each with its reason."""
        return {
            "pairs": len(self.judged),
            "same": self.same,
            "different": self.different,
            "recognised": self.recognised,
            "recognised_share": round(self.share, 4),
            "unsure": self.unsure,
            "false_merges": [j.as_json() for j in self.false_merges],
            "missed": [j.as_json() for j in self.missed],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SafeThreshold:
    """The lowest threshold without a false merge.

    It holds for the measured pairs; `value` is None where no threshold separates
    them.

    `hardest` is the likest pair of different keys that no rule guards, with its similarity; `measured` counts such
    pairs.
    """

    value: float | None
    hardest: Pair | None
    similarity: float
    measured: int


def _shown(key: Key) -> str:
    return f"{key.subject}: {key.attribute}" if key.subject else key.attribute


def _key(side: Any, line: int) -> Key:
    match side:
        case str():
            return canonical(None, side)
        case {"attribute": str(attribute)}:
            subject = side.get("subject")
            return canonical(subject if isinstance(subject, str) else None, attribute)
        case [str() | None as subject, str(attribute)]:
            return canonical(subject, attribute)
        case _:
            raise UnreadableImport(
                f"line {line}: a key is a string, [subject, attribute] or an object with both", path="", line=line
            )


def pairs_from(lines: Iterable[str]) -> list[Pair]:
    """The pairs of a JSON Lines file: objects with `a`, `b`, `label` (same or different) and, if wished, `lang`.

    Raises:
        UnreadableImport: a line is no such object; `line` says which (from 1).
    """
    pairs: list[Pair] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise UnreadableImport(f"line {number} is not JSON", path="", line=number) from error
        if not isinstance(row, dict) or row.get("label") not in {"same", "different"} or not {"a", "b"} <= row.keys():
            raise UnreadableImport(f"line {number} needs a, b and a label (same or different)", path="", line=number)
        pairs.append(
            Pair(
                a=_key(row["a"], number),
                b=_key(row["b"], number),
                label=row["label"],
                language=str(row.get("lang", "")),
            )
        )
    return pairs


def measure(pairs: Sequence[Pair], judge: Callable[[Key, Key], Verdict] = compare) -> Report:
    """Each pair judged once, in order. `judge` is `compare`, closed over similarities where there are any."""
    return Report(judged=tuple(Judged(pair=pair, verdict=judge(pair.a, pair.b)) for pair in pairs))


def lowest_safe_threshold(pairs: Sequence[Pair], similarity: Callable[[Key, Key], float]) -> SafeThreshold:
    """Where the threshold of an embedding generation must lie so that no pair labelled different is lifted.

    It looks at every different pair that no veto decides, also at those that `compare` would not lift: the wider set
    stands for the keys that nobody has labelled yet. Store the result beside the generation's fingerprint.
    """
    guardless = [p for p in pairs if p.label == "different" and compare(p.a, p.b).rule in _UNGUARDED]
    scored = [(similarity(p.a, p.b), p) for p in guardless]
    if not scored:
        return SafeThreshold(value=None, hardest=None, similarity=0.0, measured=0)
    top, hardest = max(scored, key=lambda item: item[0])
    value = max(_FLOOR, top + _MARGIN)
    return SafeThreshold(
        value=round(value, 4) if value <= 1.0 else None, hardest=hardest, similarity=top, measured=len(scored)
    )
