"""Facts that stay true: ten stories, with exact keys, with the old rule (likeness, then containment), and with ours.

And what telling costs: embedding and model calls for 1,000 facts of 200 concepts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from benchmarks.measure import Row
from memhold.faces.python.open import AsyncMemhold
from memhold.facts.keys import Key, canonical, compare
from memhold.providers.embedding.builtin.model import BuiltinEmbedding
from memhold.testing import ScriptedChat

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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


class Counted:
    """The built-in embedding, counting the calls that embed keys."""

    def __init__(self) -> None:
        self._model = BuiltinEmbedding()
        self.calls = 0

    @property
    def fingerprint(self) -> str:
        """That of the embedding underneath."""
        return self._model.fingerprint

    @property
    def dimension(self) -> int:
        """That of the embedding underneath."""
        return self._model.dimension

    async def embed(self, texts: Sequence[str], *, purpose: Literal["document", "query"]) -> NDArray[np.float32]:
        """Vectors; a call counts where all its texts are keys: a fact's text has a colon, a sentence a capital."""
        self.calls += all(":" not in text and text == text.lower() for text in texts)
        return await self._model.embed(texts, purpose=purpose)


OWNERS = ("user", "wife", "son", "daughter", "mother", "father", "brother", "sister", "best friend", "boss")
ASKED = (
    ("job", "occupation"), ("birthday", "date of birth"), ("favorite food", "most favorite food"), ("hobby", "hobbies"),
    ("favorite color", "favourite colour"), ("blood type", "blood group"), ("email", "e-mail address"),
    ("phone number", "telephone number"), ("native language", "mother tongue"), ("vocation", "the vocation"),
    ("favorite movie", "favourite film"), ("address", "current address"), ("school", "the school"), ("city", "my city"),
    ("shoe size", "size of shoes"), ("favorite book", "preferred book"), ("car", "the car"), ("weight", "body weight"),
    ("favorite season", "preferred season"), ("calling", "the calling"),
)  # fmt: skip
TOLD = 1000


async def cost() -> tuple[int, int, int, int]:
    """Facts told, concepts among them, embedding calls for keys, and model calls, with both configured."""
    embedding, judge = Counted(), ScriptedChat(otherwise={"verdict": "different"})
    concepts = [(owner, wordings) for owner in OWNERS for wordings in ASKED]
    async with AsyncMemhold.open("memory://", worker=False, embedding=embedding, adjudication=judge) as memhold:
        scope = memhold.scope(user="bench")
        for number in range(TOLD):
            owner, wordings = concepts[number % len(concepts)]
            attribute = wordings[number // len(concepts) % 2]
            await scope.remember(subject=owner, attribute=attribute, value=f"value {number}")
            if number % 50 == 0:
                await memhold.settle()
        await memhold.settle()
    return TOLD, len(concepts), embedding.calls, len(judge.asked)


def run() -> list[Row]:
    """A row for each rule, and one for what telling costs."""
    ours = score(lambda a, b: compare(a, b).same == "same")
    rules = (("exact keys", score(_exact)), ("cosine .9, then containment 60 %", score(_old())), ("ours", ours))
    total = len(STORIES)
    told, concepts, embedded, asked = asyncio.run(cost())
    spent = Row(
        name=f"{told:,} facts, {concepts} concepts",
        value=f"{embedded} embedding calls for keys, {asked} model calls",
        ratio=embedded / concepts,
        bar=1.0,
        at_most=True,
    )
    rules_rows = [
        Row(
            name=f"ten stories, {name}",
            value=f"{right} of {total}",
            ratio=right / total if name == "ours" else None,
            bar=1.0 if name == "ours" else None,
            at_most=False,
        )
        for name, right in rules
    ]
    return [*rules_rows, spent]
