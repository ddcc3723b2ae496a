"""What the check of texts and verdicts is worth on clusters of notes of everyday life: shares, not single ones.

`clusters.jsonl` holds what decision 116 was measured with, `more_clusters.jsonl` that of 125. Nearly all were written before
the rules that mend what they showed, so their shares are better than what to expect of others: the decisions give those of the
first sight.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

import pytest

from memhold.compact.check.all_rules import RULES
from memhold.compact.contract import Group, Partition, Relation
from memhold.compact.verdict_steps import Folded, Linked, Merged, Step, Superseded, Suspected, settled
from memhold.values.records import Memory

HERE = Path(__file__).parent
RIGHT: dict[str, Relation] = {"same": "same", "newer_replaces": "replaces", "adds_detail": "adds"}
WRONG: dict[str, tuple[Relation, ...]] = {
    "newer_replaces": ("same",),
    "contradiction": ("same", "replaces"),
    "adds_detail": ("same", "replaces"),
    "different": ("same", "replaces"),
}
"""Verdicts that would hide what still holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Some notes, how they relate, and texts that would stand for them well or badly."""

    relation: str
    notes: tuple[Memory, ...]
    good: tuple[str, ...]
    bad: tuple[str, ...]

    def steps(self, relation: Relation, text: str = "") -> tuple[Step, ...]:
        """What a verdict does to the notes."""
        group = Group(relation=relation, places=tuple(range(len(self.notes))), text=text)
        return settled(self.notes, Partition(groups=(group,))).steps

    def takes(self, text: str) -> bool:
        """Whether the right verdict puts a text in the place of the notes."""
        return any(isinstance(step, Merged) for step in self.steps(RIGHT[self.relation], text))


@cache
def clusters(file: str = "clusters") -> tuple[Cluster, ...]:
    lines = (HERE / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(_cluster(json.loads(line)) for line in lines)


def _cluster(found: dict) -> Cluster:
    notes = []
    for number, one in enumerate(sorted(found["notes"], key=lambda note: note["time"])):
        at = datetime.fromisoformat(one["time"])
        times = {"event_time": at, "valid_from": at, "created_at": at, "recorded_at": at}
        notes.append(Memory(id=f"mem_{number}", number=number, kind="note", text=one["text"], **times))
    good, bad = tuple(found["good_merges"]), tuple(found["bad_merges"])
    return Cluster(relation=found["relation"], notes=tuple(notes), good=good, bad=bad)


def taken(file: str = "clusters", *, bad: bool) -> float:
    """The share of the good texts, or of the bad ones, that a right verdict puts in the place of the notes."""
    found = [
        one.takes(text) for one in clusters(file) if one.relation in RIGHT for text in (one.bad if bad else one.good)
    ]
    assert len(found) >= 80
    return sum(found) / len(found)


def test_good_texts_are_taken_and_bad_ones_are_not() -> None:
    assert taken(bad=False) >= 0.90
    assert taken(bad=True) <= 0.11
    assert taken("more_clusters", bad=False) >= 0.83
    assert taken("more_clusters", bad=True) <= 0.16


def test_each_kind_of_cluster_is_guarded() -> None:
    for relation in RIGHT:
        found = [one.takes(text) for one in clusters() if one.relation == relation for text in one.bad]
        assert sum(found) <= 0.18 * len(found), relation


def test_a_right_verdict_settles() -> None:
    found = [ends_well(one) for one in clusters() if one.relation != "different"]
    assert sum(found) >= 0.97 * len(found)


def ends_well(one: Cluster) -> bool:
    """Whether the right verdict, without a text, ends as it should."""
    match one.relation:
        case "same":
            return all(isinstance(step, Folded | Linked) for step in one.steps("same"))
        case "newer_replaces":
            return [step for step in one.steps("replaces") if isinstance(step, Superseded)] == list(
                one.steps("replaces")
            )
        case "contradiction":
            return isinstance(one.steps("contradicts")[0], Suspected)
        case _:
            return isinstance(one.steps("adds")[0], Linked)


def harms() -> Iterator[tuple[str, Relation, bool]]:
    for one in clusters():
        for relation in WRONG.get(one.relation, ()):
            hides = any(isinstance(step, Folded | Superseded | Merged) for step in one.steps(relation))
            yield one.relation, relation, hides


def test_a_wrong_verdict_hides_little() -> None:
    found = list(harms())
    assert len(found) >= 150
    assert sum(hides for _, _, hides in found) <= 0.10 * len(found)
    told_apart = [hides for kind, relation, hides in found if (kind, relation) == ("different", "replaces")]
    assert sum(told_apart) <= 0.25 * len(told_apart)


@pytest.mark.parametrize(
    "rule",
    [
        "two words were exchanged",
        "two clauses were exchanged",
        "a relative was lost",
        "a word between two was exchanged",
        "an old value holds",
        "a relation was turned round",
    ],
)
def test_without_a_rule_more_bad_texts_are_taken(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = taken(bad=True)
    monkeypatch.delitem(RULES, rule)
    assert taken(bad=True) > whole


@pytest.mark.parametrize(
    "rule",
    [
        "it was widened",
        "it was made certain",
        "both sides of a change hold",
        "an instead was turned round",
        "characters were exchanged",
        "roles were exchanged",
    ],
)
def test_without_a_rule_more_bad_texts_of_the_others_are_taken(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = taken("more_clusters", bad=True)
    monkeypatch.delitem(RULES, rule)
    assert taken("more_clusters", bad=True) > whole
