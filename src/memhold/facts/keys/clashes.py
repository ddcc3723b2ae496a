"""What keeps two readings apart although their concepts are equal: how they are bound, not what they are."""

from __future__ import annotations

from memhold.facts.keys.key_reading import Reading
from memhold.facts.keys.lexicon import LANGUAGES, lexicon
from memhold.languages.tables import speech

__all__ = ["clash", "links_clash"]


def clash(a: Reading, b: Reading) -> tuple[str, str] | None:
    """The rule that keeps two readings of equal concepts apart, and why; None where none does."""
    if links_clash(a, b):
        return "relation", "one says of, the other for"
    if _articles_clash(a, b):
        return "article", "the articles name two genders"
    if _units_clash(a, b):
        return "unit", "they are in different units"
    if _names_clash(a, b):
        return "name", "one is a plural, the other a name"
    return None


def links_clash(a: Reading, b: Reading) -> bool:
    """Whether one says "of" where the other says "for" ("cat food", "food for the cat")."""
    return any(s.link and t.link and s.link != t.link for s, t in zip(a.tokens, b.tokens, strict=True))


def _articles_clash(a: Reading, b: Reading) -> bool:
    """Whether the article alone tells two nouns apart ("la poste", "le poste")."""
    he, she = (frozenset(speech(LANGUAGES).words("keys", name)) for name in ("masculine", "feminine"))
    left, right = ({word for word in r.dropped if word in he | she} for r in (a, b))
    return bool(left and right) and ((left <= he and right <= she) or (left <= she and right <= he))


def _units_clash(a: Reading, b: Reading) -> bool:
    """Whether each names a unit of its own ("weight in kg", "weight in lbs")."""
    units = lexicon(a.language).units
    left, right = ({word for word in r.dropped if word in units} for r in (a, b))
    return bool(left and right) and left != right


def _names_clash(a: Reading, b: Reading) -> bool:
    """Whether a plural of the one is a name of the other ("jeans size", "Jean's size")."""
    return any(
        s.kind == t.kind == "unknown" and s.literal != t.literal and bool(s.link) != bool(t.link)
        for s, t in zip(a.tokens, b.tokens, strict=True)
    )
