"""What is checked, what it is checked against, and what comes back. Values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memhold.consolidate.contract import Standing

# ruff: noqa: RUF001 - signs and letters of every script

__all__ = ["ROLES", "THE_USER", "Claim", "Finding", "Line", "with_articles"]

_ARTICLES: Final = {
    "user": "the user",
    "assistant": "the assistant",
    "nutzer": "der nutzer",
    "nutzerin": "die nutzerin",
    "benutzer": "der benutzer",
    "benutzerin": "die benutzerin",
    "assistent": "der assistent",
    "utilisateur": "l'utilisateur",
    "utilisatrice": "l'utilisatrice",
    "usuario": "el usuario",
    "usuaria": "la usuaria",
    "asistente": "el asistente",
    "utente": "l'utente",
    "usuário": "o usuário",
    "usuária": "a usuária",
    "gebruiker": "de gebruiker",
    "användare": "användaren",
    "bruker": "brukeren",
    "bruger": "brugeren",
}
_DEFINITE: Final = (
    "användaren",
    "brukeren",
    "brugeren",
    "assistenten",
    "пользователь",
    "пользовательница",
    "ассистент",
)
"""As the languages say it that have no article before a noun."""
ROLES: Final = frozenset({*_ARTICLES, *_DEFINITE, "tool", "system", "ユーザー", "사용자", "用户", "用戶"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the window as the model saw it. `own`: the user speaks; `speaker`: their name, if given."""

    place: int
    text: str
    at: datetime
    own: bool = True
    speaker: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What is checked: `core` must stand in the lines, `about` is whom it is of (empty: the user), `frame` names it.

    `known`: it changes a fact that was known, whose attribute a line need not name again ("pizza now"). `before` are
    the words of the values that are known under its attribute.
    """

    core: str
    frame: str = ""
    about: str = ""
    value: bool = False
    cited: tuple[int, ...] = ()
    language: str = "english"
    known: bool = False
    before: frozenset[str] = frozenset()

    @property
    def told(self) -> str:
        """What it says, without what a model calls the user."""
        return self.core if self.value else THE_USER.sub("", self.core)

    @property
    def whole(self) -> str:
        """All that it says."""
        return " ".join(part for part in (self.about, self.frame, self.core) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """How a claim stands: None where it is left out, for `reason`; else on which lines."""

    standing: Standing | None
    places: tuple[int, ...] = ()
    reason: str = ""


THE_USER = re.compile(
    r"(?i)\A\W*(?:(?:the user|der (?:nutzer|benutzer)|die (?:nutzerin|benutzerin)|l['’]utilisat(?:eur|rice)"
    r"|el usuario"
    r"|la usuaria|l['’]utente|o usuário|a usuária|de gebruiker|användaren|brukeren|brugeren|пользователь(?:ница)?)\b|"
    r"用户|用戶|ユーザーは?|사용자[는가]?)"
)
"""What a model calls the user, in the language of the entry."""

_BARE_ROLE = re.compile(
    rf"(?i)(?P<before>\A\W*|[.!?;]\s+|,?\s(?:and|und|et|y|e|en|och|og)\s)(?P<who>{'|'.join(_ARTICLES)})(?=(?:['’]s)?[\s:,])"
)


def with_articles(text: str) -> str:
    """A text in which the user and the assistant have the article of their language: "User moved" is "the user moved".

    Many models leave it out at the beginning of a sentence, where the word then looks like somebody's name.
    """
    return _BARE_ROLE.sub(lambda found: f"{found['before']}{_ARTICLES[found['who'].casefold()]}", text)
