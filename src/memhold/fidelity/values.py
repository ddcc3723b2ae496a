"""What is weighed, against what, and what comes of it. Values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

__all__ = ["Line", "Statement", "Weight", "WrittenBy"]

WrittenBy = Literal["user", "participant", "assistant", "tool", "harness", "attachment"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a conversation: who wrote it, the name of a participant, and when (aware UTC)."""

    text: str
    written_by: WrittenBy
    at: datetime
    speaker: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a model says: the text of a note, or a fact's value with its subject (`user`, or a name) and attribute."""

    text: str
    subject: str = ""
    attribute: str = ""

    @property
    def whole(self) -> str:
        """All that it says."""
        return " ".join(part for part in (self.subject, self.attribute.replace("_", " "), self.text) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """How a statement stands, and in plain words what speaks against it; unfounded ones are left out."""

    standing: Literal["stated", "doubtful", "unfounded"]
    reasons: tuple[str, ...] = ()
