"""What the check is given: the memories that a text is to stand for, the text, and why it may not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from memhold.text.details import capitalises_nouns

__all__ = ["Case", "Refusal", "Rule", "Source"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One memory that a text is to stand for. `replaced`: a newer one of them says otherwise, and what it says may go.

    `labels` are entities that count as names where they stand in the text.
    """

    text: str
    at: datetime
    labels: tuple[str, ...] = ()
    replaced: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a text may not stand: `rule` is a shape without content, `shown` says it to the model that wrote it.

    `wording` is false where no other words would help.
    """

    rule: str
    shown: str
    wording: bool = True


@dataclass(frozen=True, slots=True)
class Case:
    """A text and its sources, with what is read once."""

    sources: tuple[Source, ...]
    text: str
    language: str

    @property
    def kept(self) -> tuple[Source, ...]:
        """The sources that hold."""
        return tuple(source for source in self.sources if not source.replaced)

    @property
    def gone(self) -> tuple[Source, ...]:
        """The sources that a newer one replaced."""
        return tuple(source for source in self.sources if source.replaced)

    @property
    def nouns(self) -> bool:
        """Whether a capital says no more than that a word is a noun."""
        return self.language == "german" or capitalises_nouns(self.within)

    @property
    def within(self) -> str:
        """All that the sources say, in one text."""
        return " ".join(source.text for source in self.sources)


Rule = Callable[[Case], "str | None"]
