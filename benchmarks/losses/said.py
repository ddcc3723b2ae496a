"""What is said to every memory alike: one thing a message, each with a value that stands nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

__all__ = ["Told", "told"]

_THINGS = (
    *("dentist", "piano", "bicycle", "landlord", "passport", "gym locker", "favorite bakery", "blood type", "cat"),
    *("first school", "ferry", "boiler", "insurance policy", "hiking group", "barber", "garden gate", "night train"),
    *("chess partner", "accountant", "tea shop", "sailing boat", "violin teacher", "radio station", "wine cellar"),
    *("mortgage", "running shoe", "printer", "orchard", "swimming pool", "tax adviser", "camera", "coffee grinder"),
    *("ski instructor", "holiday house", "bank", "choir", "dog walker", "electrician", "fountain pen", "greenhouse"),
)
_STARTS = ("ba", "ke", "lo", "mi", "nu", "pra", "sto", "tri", "vel", "zor", "gan", "hul", "jem", "wix", "fro", "dy")
_ENDS = ("lin", "dor", "mak", "pes", "ron", "tal", "vim", "zug", "bek", "cof", "dra", "fin", "gol", "hex", "jut", "kor")


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One thing that a user says. `word` is its value: it stands in this message and in no other."""

    user: str
    key: str
    thing: str
    word: str
    again: bool = False
    """Whether it replaces what was said of the thing before."""

    @property
    def text(self) -> str:
        """The message."""
        return f"My {self.thing} is {'now ' if self.again else ''}{self.word}."

    @property
    def question(self) -> str:
        """What is asked of it later."""
        return f"What is my {self.thing}?"

    def request(self) -> dict[str, Any]:
        """The message as a child is told to add it."""
        return {"user": self.user, "key": self.key, "messages": [{"role": "user", "content": self.text}]}


def told(count: int, *, user: str = "ann", seed: int = 0, again: bool = False) -> list[Told]:
    """So many things that a user says, the same for the same seed; at most as many as there are things (40)."""
    assert count <= len(_THINGS)
    dice = Random(f"{user}:{seed}:{again}")
    words: dict[str, None] = {}
    while len(words) < count:
        name = dice.choice(_STARTS) + dice.choice(_ENDS)
        words[f"{name.capitalize()}{dice.randrange(1000, 10_000)}"] = None
    mark = "again" if again else "told"
    return [
        Told(user=user, key=f"{user}-{mark}-{seed}-{place}", thing=_THINGS[place], word=word, again=again)
        for place, word in enumerate(words)
    ]
