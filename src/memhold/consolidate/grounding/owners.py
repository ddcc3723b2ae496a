"""Whether what is told as the user's, or as somebody's, is only somebody else's in the lines. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from memhold.consolidate.clause_subjects import MINE, names_in, people
from memhold.consolidate.grounding.claims import Claim, Line
from memhold.consolidate.grounding.names import own_names
from memhold.text.kin import kin_in

# ruff: noqa: RUF001 - apostrophes of every kind

__all__ = ["anothers"]


def anothers(claim: Claim, window: Sequence[Line]) -> bool:
    """Whether what a claim says the user has, or one whom it names, has another owner wherever the user speaks of it.

    "Ana's brother is a vet" says nothing of the user's brother, "the neighbours' house" nothing of theirs.
    """
    names, german = own_names(window), claim.language == "german"
    for noun, owner in _had(claim, names, names_in(line.text for line in window)):
        owners = [one for line in window if line.own for one in _owners(noun, line.text, german=german)]
        if owners and all(_another(one, owner, names) for one in owners):
            return True
    return False


def _had(claim: Claim, names: frozenset[str], known: frozenset[str]) -> Iterator[tuple[str, str]]:
    """What a claim says that somebody has, each with its owner: empty for the user."""
    if claim.value:
        noun = claim.about or claim.frame
        if re.fullmatch(r"[^\W\d_]{3,}", noun) and (kin_in(noun, claim.language) or noun.casefold() in people()):
            yield noun, ""
        return
    for match in _USERS.finditer(claim.core):
        yield next(filter(None, match.groups())), ""
    for match in _SOMEBODYS.finditer(claim.core):
        if match["name"].casefold() in known - names:
            yield match["noun"], match["name"].casefold()


def _owners(noun: str, text: str, *, german: bool) -> Iterator[str | None]:
    """Whose a noun is, wherever a text has it: a name or a pronoun of the third person, None where it says neither."""
    for match in re.finditer(rf"(?<![^\W_]){re.escape(noun)}(?![^\W_])", text, re.IGNORECASE):
        before = text[max(0, match.start() - _REACH) : match.start()]
        if _USERS_OWN.search(before):
            yield None  # "That's my brother", "ma sœur de Lyon"
            continue
        found = _BEFORE.search(before) or (_GENITIVE.search(before) if german else None)
        found = found or _BEHIND.match(text, match.end())
        owner = next((one for one in found.groups() if one), None) if found is not None else None
        yield None if found is not None and _IS.match(found[0]) else owner


def _another(owner: str | None, wanted: str, names: frozenset[str]) -> bool:
    """Whether an owner is none of the user, nor whom the claim names; a pronoun may be anybody that is named."""
    if owner is None or owner.casefold() in names:
        return False
    if not wanted:
        return True
    return owner[:1].isupper() and owner.casefold().removesuffix("s") != wanted.removesuffix("s")


_REACH: Final = 100
"""Characters before a noun in which its owner stands: all before it would be read anew for each noun."""
_THEIRS: Final = (
    r"his|her|their|sein(?:e[nmrs]?)?|ihr(?:e[nmrs]?)?|son|sa|ses|leurs?|su|sus|suo|sua|suoi|sue|zijn|haar|hun"
)
_BEFORE = re.compile(
    rf"(?:\b([^\W\d_]+)['’]s|\b([^\W\d_]+s)['’]|\b(?i:({_THEIRS})))"
    r"\s(?:(?!(?:the|an?)\s)[a-zà-ÿ]+\s)?\Z"
)
"""Whose something is, before it: "Ana's brother", "the neighbours' house", "her husband"."""
_GENITIVE = re.compile(r"\b([A-Z\u00c0-\u00de][^\W\d_]+)s\s(?:[a-zäöü]+e[nmrs]?\s)?\Z")
"""The same in German, without a sign."""
_IS = re.compile(
    r"(?i)(?:that|it|s?he|here|there|who|what|where|how)['’]s\s|(?:das|des|als|was|es|uns|bis|alles|dies|eines)\s"
)
"""What looks like an owner and is none: "How's mum", "das Kind"."""
_USERS_OWN = re.compile(rf"(?i)(?<!\w)(?:{MINE})\s(?:\w+\s)?\Z")
_BEHIND = re.compile(r"\s(?:of|von|de|di|van|av)\s([A-Z\u00c0-\u00de][^\W\d_]+)")
"""The same behind it: "le frère de Malo"."""
_USERS = re.compile(
    r"\b[Tt]he user['’]s\s(\w{3,})"
    r"|\b(?:[Dd]er|[Dd]ie|[Dd]as|[Ll][ea]|[EeIi]l|[Oo]|[Aa])\s([^\W\d_]{3,})\s"
    r"(?:de[sr] (?:Nutzer|Benutzer)(?:s|in)?|de l['’]utilisat(?:eur|rice)|del usuario|de la usuaria|dell['’]utente"
    r"|d[oa] usuári[oa]|van de gebruiker)\b"
)
_SOMEBODYS = re.compile(r"\b(?P<name>[A-Z\u00c0-\u00de][^\W\d_]+)['’]s\s(?P<noun>[^\W\d_]{3,})")
