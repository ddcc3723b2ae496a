"""Topics and entities of several memories as those of one: near-synonyms folded, and no more than fit. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from memhold.text.analysis import analyse
from memhold.text.compare import canonical_text

__all__ = ["MAX_ENTITIES", "MAX_TOPICS", "capped", "folded"]

MAX_TOPICS = 15
MAX_ENTITIES = 20
_JOINTS = re.compile(r"[\s_\-/.]+")


def folded(lists: Sequence[Sequence[str]], most: int, *, names: bool = False) -> tuple[str, ...]:
    """The labels of several lists as one of at most `most`: near-synonyms become one, then the frequent ones stay.

    Labels fold that are the same but for case, joints ("note-taking", "note taking") and word forms ("server",
    "servers"); topics also where one says another with more words ("python", "python programming"). Of those that fold
    the more frequent, then the shorter stays. `names` folds no label into a part of it: "Anna" may be another Anna.
    """
    counts: Counter[str] = Counter()
    shown: dict[str, str] = {}
    for labels in lists:
        for label in dict.fromkeys(canonical_text(label) for label in labels):
            if label:
                shown.setdefault(label.casefold(), label)
                counts[label.casefold()] += 1
    order = {key: place for place, key in enumerate(shown)}
    ranked = sorted(shown, key=lambda key: (-counts[key], len(key), order[key]))
    groups: list[tuple[str, frozenset[str]]] = []
    total: Counter[str] = Counter()
    for key in ranked:
        form = _form(key)
        at = next((head for head, held in groups if form == held or (not names and _says(form, held))), None)
        if at is None:
            groups.append((key, form))
        total[at or key] += counts[key]
    kept = sorted((head for head, _ in groups), key=lambda key: (-total[key], len(key), order[key]))[:most]
    return tuple(shown[key] for key in sorted(kept, key=order.__getitem__))


def capped(held: Sequence[str], more: Sequence[str], most: int) -> tuple[str, ...]:
    """What is there with what is added: never over `most` by adding, and nothing that is there goes for it."""
    found: dict[str, str] = {}
    for label in (*held, *more):
        found.setdefault(canonical_text(label).casefold(), canonical_text(label))
    return tuple(found.values())[: max(most, len(held))]


def _form(key: str) -> frozenset[str]:
    terms = frozenset(analyse(_JOINTS.sub(" ", key)).counts)
    return terms or frozenset({_JOINTS.sub("", key)})


def _says(form: frozenset[str], other: frozenset[str]) -> bool:
    """Whether one label is the other with more words, or fewer."""
    return form < other or other < form
