"""Facts that stay true: ten stories, with exact keys, with the old rule (likeness, then containment), and with ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from holdfast.bench.measure import Row
from holdfast.pipeline.keys import Key, canonical, compare
from holdfast.providers.local.builtin import BuiltinEmbedding

__all__ = ["STORIES", "run", "score"]

Story = Sequence[tuple[str, str]]
"""What is told, in order: attribute and value. Where a story changes a value, only the last one may be current."""

STORIES: tuple[tuple[str, Story, frozenset[str]], ...] = (
    ("hobby", (("hobby", "hiking"), ("my current hobby", "pottery")), frozenset({"pottery"})),
    ("job", (("job", "teacher"), ("occupation", "programmer")), frozenset({"programmer"})),
    (
        "food",
        (("favorite food", "pizza"), ("most favourite food", "sushi"), ("Favourite_Food", "doenjang-jjigae")),
        frozenset({"doenjang-jjigae"}),
    ),
    ("hobby again", (("hobby", "yoga"), ("the user's hobby", "boxing")), frozenset({"boxing"})),
    ("address", (("address", "Seoul"), ("current address", "Busan")), frozenset({"Busan"})),
    ("pets", (("cat's name", "Nabi"), ("dog's name", "Choco")), frozenset({"Nabi", "Choco"})),
    ("blood type", (("blood type", "A"), ("bloodType", "AB")), frozenset({"AB"})),
    ("drink", (("favorite drink", "coffee"), ("favourite drink", "tea")), frozenset({"tea"})),
    ("season", (("favorite season", "summer"), ("favourite season", "autumn")), frozenset({"autumn"})),
    (
        "two at once",
        (
            ("favorite color", "red"),
            ("favorite number", "7"),
            ("favourite colour", "blue"),
            ("my favourite number", "13"),
        ),
        frozenset({"blue", "13"}),
    ),
)

Same = Callable[[Key, Key], bool]
LIKENESS = 0.9
CONTAINED = 0.6


def score(same: Same) -> int:
    """How many of the ten stories end with the right values current, one value a key."""
    return sum(_ends(story, same) == holds for _, story, holds in STORIES)


def _ends(story: Story, same: Same) -> frozenset[str]:
    held: list[tuple[Key, str]] = []
    for attribute, value in story:
        key = canonical(None, attribute)
        held = [(other, was) for other, was in held if not same(other, key)]
        held.append((key, value))
    return frozenset(value for _, value in held)


def _exact(a: Key, b: Key) -> bool:
    return a.attribute == b.attribute


def _old() -> Same:
    """The cosine of the keys at least .9, else at least 60 % of the shorter one's words in the other."""
    model = BuiltinEmbedding()

    def same(a: Key, b: Key) -> bool:
        one, other = model.vectors([a.attribute, b.attribute])
        if float(one @ other) >= LIKENESS:
            return True
        words = sorted((set(a.attribute.lower().split()), set(b.attribute.lower().split())), key=len)
        return len(words[0] & words[1]) >= CONTAINED * len(words[0])

    return same


def run() -> list[Row]:
    """A row for each rule."""
    ours = score(lambda a, b: compare(a, b).same == "same")
    rules = (("exact keys", score(_exact)), ("cosine .9, then containment 60 %", score(_old())), ("ours", ours))
    total = len(STORIES)
    return [
        Row(
            name=f"ten stories, {name}",
            value=f"{right} of {total}",
            ratio=right / total if name == "ours" else None,
            bar=1.0 if name == "ours" else None,
            at_most=False,
        )
        for name, right in rules
    ]
