"""Quality of recall on data that the caller brings: questions with the messages that answer them, through the verbs.

Measures are the usual ones: R@k, the share of a question's evidence among the first k hits, and NDCG@10 (Järvelin and
Kekäläinen 2002) with evidence worth 1, both averaged over the questions that have evidence.
"""

from __future__ import annotations

import hashlib
import json
import math
import resource
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from benchmarks.measure import PATIENT
from memhold.errors import UnreadableImport
from memhold.faces.python.open import AsyncMemhold
from memhold.recall.confidence import THRESHOLD
from memhold.values.answers import Query
from memhold.values.records import from_micros, micros
from memhold.verbs.scope import AsyncScope

__all__ = [
    "AT",
    "RANKINGS",
    "Asked",
    "Half",
    "MovableClock",
    "Outcome",
    "Quality",
    "Rankings",
    "asked",
    "at_ten",
    "half_of",
    "measured",
    "recall_quality",
    "sureness",
    "table",
]

AT = (1, 5, 10, 20)
_DEPTH = 100
_BINS = 10
Half = Literal["first", "second"]
Rankings = Mapping[str, tuple[str, ...] | None]
"""Rankings to measure by name: the signals that are asked, None for all."""
RANKINGS: Rankings = {"fused": None, "words": ("words",), "meaning": ("meaning",)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, what answers it (source ids of messages, or names of sessions), and its category.

    `conversation` are the turns before it, each with whose it is, where it is asked with them.
    """

    text: str
    evidence: frozenset[str]
    category: str = "all"
    conversation: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One question's measures, and how sure the answer was."""

    category: str
    recall: tuple[float, ...]
    ndcg: float
    confidence: float | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """What a benchmark found: outcomes by ranking (`fused`, `words`, `meaning`), and what it took."""

    name: str
    embedding: str
    outcomes: Mapping[str, Sequence[Outcome]]
    messages: int
    seconds: float
    peak_mb: float
    notes: Mapping[str, Any] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """The same as JSON values: means by ranking and category, percentiles of one recall."""
        told = (name for name in self.outcomes if name != "meaning" or self.embedding != "none")
        rankings = {name: _by_category(self.outcomes[name]) for name in told}
        times = sorted(one.seconds for one in self.outcomes["fused"])
        return {
            "benchmark": self.name,
            "embedding": self.embedding,
            "questions": len(self.outcomes["fused"]),
            "messages": self.messages,
            "rankings": rankings,
            "seconds": round(self.seconds, 2),
            "recall_ms": {"p50": _ms(times, 0.5), "p95": _ms(times, 0.95)},
            "peak_mb": round(self.peak_mb, 1),
            **self.notes,
        }


class MovableClock:
    """A clock that stands where it is put: data of another time is asked in its own time."""

    def __init__(self, moment: datetime) -> None:
        self._at = micros(moment)

    def now(self) -> datetime:
        """The time that was set last, aware UTC."""
        return from_micros(self._at)

    def set(self, moment: datetime) -> None:
        """Move to a time; never back."""
        self._at = max(self._at, micros(moment))

    async def sleep(self, seconds: float) -> None:
        """Pass that many seconds at once."""
        self._at += round(seconds * 1_000_000)


def half_of(conversation: str) -> Half:
    """Which half a conversation is in: the first where the SHA-256 of its name begins with an even byte.

    Weights are set on the first half and reported on the second; a name is in the same half whatever else is asked.
    """
    return "second" if hashlib.sha256(conversation.encode()).digest()[0] % 2 else "first"


def sureness(told: Mapping[str, Sequence[float]], *, answerable: str = "answerable") -> dict[str, float]:
    """The share of each kind of question whose confidence is below the threshold, and how well it is calibrated.

    `ece` is the expected calibration error in ten bins of equal width (Naeini, Cooper and Hauskrecht 2015): the mean
    distance between confidence and the share of `answerable` questions, weighted by how many are in the bin.
    """
    shares = {
        f"{name}_below": round(sum(one < THRESHOLD for one in found) / len(found), 4)
        for name, found in told.items()
        if found
    }
    bins: dict[int, list[tuple[float, bool]]] = {}
    for name, found in told.items():
        for one in found:
            bins.setdefault(min(int(one * _BINS), _BINS - 1), []).append((one, name == answerable))
    every = sum(map(len, told.values()))
    gaps = (abs(sum(sure - there for sure, there in held)) for held in bins.values())
    return {**shares, "ece": round(sum(gaps) / max(every, 1), 4)}


def at_ten(found: Sequence[Outcome]) -> dict[str, float]:
    """How many questions, and their R@10 and NDCG@10."""
    means = _means(found)
    return {name: means[name] for name in ("questions", "R@10", "NDCG@10")}


def measured(found: Sequence[str], evidence: frozenset[str]) -> tuple[tuple[float, ...], float]:
    """R@1, 5, 10, 20 and NDCG@10 of a ranking; what stands in it twice counts once.

    Raises:
        ZeroDivisionError: there is no evidence; such a question measures nothing.
    """
    places = [name in evidence for name in dict.fromkeys(found)]
    recall = tuple(sum(places[:k]) / len(evidence) for k in AT)
    gain = sum(1 / math.log2(place + 2) for place, hit in enumerate(places[:10]) if hit)
    ideal = sum(1 / math.log2(place + 2) for place in range(min(10, len(evidence))))
    return recall, gain / ideal


async def asked(
    scope: AsyncScope, question: Asked, *, by_session: bool = False, rankings: Rankings = RANKINGS
) -> dict[str, Outcome]:
    """Ask one question with every ranking; a hit stands for its message and for those that were folded into it."""
    found = {}
    for name, signals in rankings.items():
        began = time.perf_counter()
        query = Query(text=question.text, conversation=question.conversation, limit=_DEPTH, signals=signals)
        answer = await scope.recall(query)
        seconds = time.perf_counter() - began
        names: list[str] = []
        for hit in answer.hits:
            if by_session:
                names.append(hit.session or "")
                continue
            names.append(str(hit.metadata.get("source_id", hit.id)))
            folded = [await scope.get(other) for other in hit.sources]
            names += [str(other.metadata.get("source_id", other.id)) for other in folded]
        recall, ndcg = measured(names, question.evidence)
        found[name] = Outcome(
            category=question.category, recall=recall, ndcg=ndcg, confidence=answer.confidence, seconds=seconds
        )
    return found


def table(quality: Quality) -> list[tuple[str, ...]]:
    """The result as rows of text: a header, then a line for each ranking and category."""
    rows = [("ranking", "category", "questions", *(f"R@{k}" for k in AT), "NDCG@10")]
    for ranking, categories in quality.plain()["rankings"].items():
        for category, line in categories.items():
            cells = (f"{line[f'R@{k}']:.3f}" for k in AT)
            rows.append((ranking, category, str(line["questions"]), *cells, f"{line['NDCG@10']:.3f}"))
    return rows


def _by_category(found: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    categories = sorted({one.category for one in found})
    named = {"all": list(found)} | {name: [one for one in found if one.category == name] for name in categories}
    return {name: _means(part) for name, part in named.items() if part}


def _means(found: Sequence[Outcome]) -> dict[str, float]:
    means = {f"R@{k}": sum(one.recall[at] for one in found) / len(found) for at, k in enumerate(AT)}
    means["NDCG@10"] = sum(one.ndcg for one in found) / len(found)
    return {"questions": len(found), **{name: round(value, 4) for name, value in means.items()}}


def _ms(times: Sequence[float], share: float) -> float:
    return round(times[min(len(times) - 1, int(share * len(times)))] * 1e3, 2) if times else 0.0


def peak_mb() -> float:
    """The most memory this process has held, in MB."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / (1024 * 1024 if sys.platform == "darwin" else 1024)


def _lines(path: Path, *needed: str) -> list[dict[str, Any]]:
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise UnreadableImport(f"{path}, line {number}: not JSON: {error}", path=str(path), line=number) from None
        missing = [name for name in needed if not isinstance(row, dict) or name not in row]
        if missing:
            message = f"{path}, line {number}: {', '.join(missing)} is missing"
            raise UnreadableImport(message, path=str(path), line=number)
        rows.append(row)
    return rows


async def recall_quality(messages: Path, questions: Path, *, embedding: str = "builtin") -> Quality:
    """Measure recall on JSONL: messages (`id, session, role, text, time`) and questions (`question, evidence`).

    `evidence` lists message ids; `category` may stand beside it. A `time` is ISO-8601 with a zone, and may be absent.

    Raises:
        UnreadableImport: a line is not of that form.
    """
    began = time.perf_counter()
    rows = _lines(messages, "id", "session", "role", "text")
    wanted = [
        Asked(
            text=row["question"],
            evidence=frozenset(map(str, row["evidence"])),
            category=str(row.get("category", "all")),
        )
        for row in _lines(questions, "question", "evidence")
        if row["evidence"]
    ]
    clock = MovableClock(datetime.now(UTC))
    outcomes: dict[str, list[Outcome]] = {name: [] for name in RANKINGS}
    with tempfile.TemporaryDirectory(prefix="memhold-bench-") as folder:
        async with AsyncMemhold.open(
            f"{folder}/recall.db", worker=False, embedding=embedding, clock=clock, **PATIENT
        ) as memhold:
            await _add_rows(memhold, rows, clock)
            await memhold.settle(timeout=600)
            scope = memhold.scope(user="bench")
            for question in wanted:
                for name, outcome in (await asked(scope, question)).items():
                    outcomes[name].append(outcome)
    return Quality(
        name="recall",
        embedding=embedding,
        outcomes=outcomes,
        messages=len(rows),
        seconds=time.perf_counter() - began,
        peak_mb=peak_mb(),
    )


async def _add_rows(memhold: AsyncMemhold, rows: Sequence[Mapping[str, Any]], clock: MovableClock) -> None:
    sessions: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        message = {"role": row["role"], "content": row["text"], "metadata": {"source_id": str(row["id"])}}
        if row.get("time"):
            message["event_time"] = row["time"]
            clock.set(datetime.fromisoformat(row["time"]))
        sessions.setdefault(str(row["session"]), []).append(message)
    for name, messages in sessions.items():
        for start in range(0, len(messages), 1000):
            await memhold.scope(user="bench", session=name).add(messages[start : start + 1000])


def renamed(quality: Quality, name: str) -> Quality:
    """The same result under another name."""
    return replace(quality, name=name)
