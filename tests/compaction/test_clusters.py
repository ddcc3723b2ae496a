"""Clusters of notes with texts that stand for them well or badly: what a right verdict does with them.

The rates are of sets that were looked at while older rules were made; those of the first sight stand in decision 0018.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memhold.compact.contract import Group, Partition, Relation
from memhold.compact.verdict_steps import Folded, Linked, Merged, Step, Superseded, Suspected, settled
from memhold.values.records import Memory

HERE = Path(__file__).parent
FRESH = HERE.parent / "fidelity" / "merges_first_sight.jsonl"
RIGHT: dict[str, Relation] = {"same": "same", "newer_replaces": "replaces", "adds_detail": "adds"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Some notes, how they relate, and texts that would stand for them well, or without one of their hard details."""

    relation: str
    notes: tuple[Memory, ...]
    good: tuple[str, ...]
    lossy: tuple[str, ...]

    def steps(self, relation: Relation, text: str = "") -> tuple[Step, ...]:
        """What a verdict does to the notes."""
        group = Group(relation=relation, places=tuple(range(len(self.notes))), text=text)
        return settled(self.notes, Partition(groups=(group,))).steps

    def takes(self, text: str) -> bool:
        """Whether the right verdict puts a text in the place of the notes."""
        return any(isinstance(step, Merged) for step in self.steps(RIGHT[self.relation], text))


@cache
def clusters(file: Path) -> tuple[Cluster, ...]:
    return tuple(_cluster(json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines())


def _cluster(found: dict) -> Cluster:
    notes = tuple(
        note(number, one["text"], datetime.fromisoformat(one["time"]))
        for number, one in enumerate(sorted(found["notes"], key=lambda note: note["time"]))
    )
    lossy = tuple(one["text"] for one in found["bad_merges"] if isinstance(one, dict) and one.get("loses"))
    return Cluster(relation=found["relation"], notes=notes, good=tuple(found["good_merges"]), lossy=lossy)


def note(number: int, text: str, at: datetime, **more: object) -> Memory:
    times = {"event_time": at, "valid_from": at, "created_at": at, "recorded_at": at}
    return Memory(id=f"mem_{number}", number=number, kind="note", text=text, **times, **more)


@pytest.mark.parametrize(
    ("file", "least"), [(HERE / "clusters.jsonl", 0.93), (HERE / "more_clusters.jsonl", 0.9), (FRESH, 0.92)]
)
def test_good_texts_are_taken(file: Path, least: float) -> None:
    found = [one.takes(text) for one in clusters(file) if one.relation in RIGHT for text in one.good]
    assert len(found) >= 40
    assert sum(found) >= least * len(found)


def test_texts_that_lose_a_hard_detail_are_not() -> None:
    passed = [text for one in clusters(FRESH) for text in one.lossy if one.takes(text)]
    assert passed == ["CI builds run on a self-hosted runner and time out after 45 minutes."], "a name in small letters"


def test_a_verdict_without_a_text_hides_nothing_that_is_told_nowhere_else() -> None:
    for one in clusters(HERE / "clusters.jsonl"):
        for relation in ("same", "replaces", "adds", "contradicts"):
            hidden = {place for step in one.steps(relation) for place in _hidden(step)}
            assert hidden < set(range(len(one.notes))), "something stands for them"
            assert relation in {"same", "replaces"} or not hidden


def _hidden(step: Step) -> tuple[int, ...]:
    return step.places if isinstance(step, Folded | Superseded | Merged) else ()


def _written(step: Step) -> list[int]:
    """The notes of which a step writes a revision."""
    match step:
        case Folded(into=into, places=places, beside=beside):
            return [into, *places, *beside]
        case Merged(places=places) | Superseded(places=places) | Linked(places=places):
            return [*places]
        case Suspected():
            return []


SAID = ("The gate", "The gate is 12 m wide", "The gate opens at 9:30", "The gate, 12 m wide, opens at 9:30", "Ruth")


@given(
    st.lists(
        st.tuples(
            st.sampled_from(SAID), st.integers(0, 3), st.booleans(), st.sampled_from(("user", "assistant", "tool"))
        ),
        min_size=2,
        max_size=7,
    ),
    st.sampled_from(("same", "replaces", "adds", "contradicts")),
    st.sampled_from(("", *SAID)),
    st.integers(0, 6),
)
@example([(said, day, False, "user") for day, said in enumerate(SAID[:3])], "same", "", 6)
@example([(said, day, False, "user") for day, said in enumerate(SAID[:3])], "replaces", "", 6)
@example([(said, day, day == 0, "user") for day, said in enumerate((*SAID[:2], SAID[3]))], "replaces", "", 2)
def test_a_plan_writes_each_note_once(
    told: list[tuple[str, int, bool, str]], relation: Relation, text: str, current: int
) -> None:
    """Else the second write meets a revision that the first one made, for ever."""
    notes = [
        note(number, said, datetime.fromisoformat(f"2026-03-0{day + 1}T09:00:00+00:00"), pinned=pinned, trust=trust)
        for number, (said, day, pinned, trust) in enumerate(told)
    ]
    places = tuple(range(len(notes)))
    group = Group(relation=relation, places=places, text=text, current=current if current < len(notes) else None)
    written = [place for step in settled(notes, Partition(groups=(group,))).steps for place in _written(step)]
    assert len(written) == len(set(written))
