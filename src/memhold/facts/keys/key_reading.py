"""One key read in one language: its concepts, in the order from possessor to what is asked of it.

"name of the cat", "cat's name", "cat_name" and "my cat's current name" all read as `cat name`. The order stays part of
the reading, because "wife's brother" is not "brother's wife" and "first child's name" is not "child's first name".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from memhold.facts.keys.lexicon import Lexicon, lexicon
from memhold.facts.keys.scan import Token, scan

__all__ = ["BY_NAME", "Reading", "Token", "read"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A key read in `language`. `cover` is the share of its letters that the lexicon knows, from 0 to 1."""

    language: str
    text: str
    tokens: tuple[Token, ...]
    dropped: tuple[str, ...]
    cover: float
    content: bool

    @property
    def ids(self) -> tuple[str, ...]:
        """The concepts in order: what decides whether two readings are equal."""
        return tuple(token.id for token in self.tokens)


_KIN = frozenset(
    {"wife", "husband", "spouse", "partner", "mother", "father", "parent", "parents", "child", "son", "daughter"}
) | {
    *("brother", "sister", "sibling", "grandmother", "grandfather", "aunt", "uncle", "cousin", "family"),
    *("friend", "best_friend", "girlfriend", "boyfriend", "fiance", "fiancee"),
}
"""Whom only a person has; a user group and a user agent are no one's."""
BY_NAME = frozenset(
    {"employer", "bank", "school", "university", "gym", "insurer", "health_insurance", "pharmacy", "hospital"}
) | {
    *("doctor", "family_doctor", "dentist", "veterinarian", "pediatrician", "therapist", "hairdresser", "lawyer"),
    *("landlord", "landlady", "manager", "boss", "teacher", "accountant"),
}
"""What is told by its name: the bank that somebody is with, and the name of that bank, are one thing to know."""
_PERIODS = frozenset({"hourly", "daily", "weekly", "monthly", "yearly"})


def _harmless(tokens: Sequence[Token], at: int, known: Lexicon) -> bool:
    """Whether a token says nothing about which concept is meant, where it stands."""
    token = tokens[at]
    before = tokens[at - 1] if at else None
    behind = tokens[at + 1] if at + 1 < len(tokens) else None
    if token.kind == "article":
        # "vitamin a" and "tipo o" are no articles: a single letter is one only in front or behind "of", and "A levels"
        # shows that it must then stand before a listed word.
        opens = before is None or before.kind in {"genitive", "purpose"}
        listed = behind is not None and behind.kind != "unknown"
        return behind is not None and (len(token.literal) > 1 or (opens and listed))
    if token.kind in {"mine", "now"}:
        return behind is None or not token.literal.startswith("of ")  # not "of the user" in "of the user group"
    if token.kind == "intensifier":
        if before is not None and before.kind == "favorite" and known.head_first is False and behind is None:
            return False
        if behind is None and any(t.kind == "favorite" for t in tokens[: at if known.head_first else max(0, at - 1)]):
            return True  # "favorite movie of all time"
        near = (
            behind
            if behind is None or behind.kind != "intensifier"
            else (tokens[at + 2] if at + 2 < len(tokens) else None)
        )
        return near is not None and near.kind == "favorite"
    if token.kind == "particle":
        return before is not None and before.kind not in {"unknown", "particle"}
    if known.units and token.literal in known.units:
        return before is not None and any(t.id in known.unit_heads for t in tokens[:at])
    return False


def _german_genitive(tokens: list[Token], known: Lexicon) -> list[Token]:
    """An article behind a noun is a genitive ("Name der Katze")."""
    nouns = {"attribute", "entity", "person"}
    turned = list(tokens)
    for at in range(1, len(tokens) - 1):
        if tokens[at].literal in known.genitive_articles and tokens[at - 1].kind in nouns:
            turned[at] = replace(tokens[at], kind="genitive", id="genitive")
    return turned


def _bare_user(tokens: list[Token], known: Lexicon) -> list[Token]:
    """Leave out `user` in front of what only a person has: `user_favorite_food`, `user's mother`."""
    if known.language != "en" or len(tokens) < 2 or tokens[0].literal not in {"user", "users"}:
        return tokens
    own = {"favorite", "now"}
    personal = {
        "birthday",
        "age",
        "job",
        "hobby",
        "blood_type",
        "residence",
        "hometown",
        "mobile_number",
        "phone_number",
    }
    if tokens[0].link == "of" or tokens[1].kind in own or tokens[1].id in personal | _KIN:
        return tokens[1:]
    return tokens


def _counted(tokens: list[Token], known: Lexicon) -> list[Token]:
    """A number of several is how many there are ("number of cats"), and no number that they have ("cat number")."""
    found = list(tokens)
    if not known.head_first and len(found) > 1 and found[0].id == "count" and found[1].kind != "genitive":
        return [*found[1:], found[0]]  # "how many cats"
    for at, token in enumerate(tokens[:-2]):
        of, what = tokens[at + 1], tokens[at + 2]
        several = what.literal.endswith(("s", "x")) or what.literal in known.several
        if (
            token.literal in known.numbers
            and of.kind == "genitive"
            and what.kind not in {"article", "mine"}
            and several
        ):
            found[at] = replace(token, id="count", kind="attribute")
    return found


def _front(tokens: list[Token], known: Lexicon) -> list[Token]:
    """Bring what qualifies a noun in front of it, as far as the language lets it stand behind."""
    out = list(tokens)
    if known.head_first:
        qualifying = {"favorite", "preference", "qualifier"}
        # Nouns side by side ("contraseña wifi") stand as if a "de" were between them.
        return [t for t in out if t.kind in qualifying] + [t for t in reversed(out) if t.kind not in qualifying]
    if len(out) > 1 and out[-1].kind in {"favorite", "preference"}:
        last = out.pop()
        at = 0
        while at < len(out) - 1 and out[at].kind == "person":
            at += 1
        out.insert(at, last)
    if len(out) > 1 and out[-1].kind == "qualifier" and out[-1].id in known.domain and out[-2].kind != "qualifier":
        last = out.pop()
        # How often stands in front of all that is asked: "exercise hours per week" are weekly exercise hours.
        at = next((i for i, t in enumerate(out) if t.kind != "person"), 0) if last.id in _PERIODS else len(out) - 1
        out.insert(at, last)
    return out


def _arrange(tokens: Sequence[Token], known: Lexicon) -> list[Token]:
    """Possessor first: "A of B" becomes "B A"; what stands in brackets or behind a comma goes in front."""
    tail_at = next((i for i, t in enumerate(tokens) if i and (t.aside or t.path)), None)
    if (
        tail_at is not None
        and (tail := list(tokens[tail_at:]))
        and not any(t.aside is False for t in tail if tail[0].aside)
    ):
        main, tail = _arrange(tokens[:tail_at], known), [replace(t, aside=False, path=False) for t in tail]
        tail = [t for i, t in enumerate(tail) if i or t.kind not in {"genitive", "purpose"}]
        if len(tail) == 1 and tail[0].kind == "qualifier" and main:
            return [*main[:-1], tail[0], main[-1]]
        return [*_arrange(tail, known), *main]
    groups: list[tuple[str, list[Token]]] = [("", [])]
    for token in tokens:
        if token.kind in {"genitive", "purpose"} and groups[-1][1]:
            groups.append(("of" if token.kind == "genitive" else "for", []))
        elif token.kind == "genitive_after" and groups[-1][1]:
            groups[-1][1][-1] = replace(groups[-1][1][-1], link="of")
        else:
            groups[-1][1].append(token)
    out: list[Token] = []
    for link, group in reversed(groups):
        arranged = _front_parts(group, known)
        if link and arranged:
            arranged[-1] = replace(arranged[-1], link=link)
        out.extend(arranged)
    of = len(out) > 1 and out[-2].link == "of" and out[-2].kind in {"attribute", "unknown"}
    if len(out) > 1 and out[-1].kind == "preference" and (of or out[-2].link == "for"):
        out = _front([*out[:-2], replace(out[-2], link=""), out[-1]], known)
    return out


def _front_parts(group: Sequence[Token], known: Lexicon) -> list[Token]:
    """`_front` on each stretch between possessives."""
    out: list[Token] = []
    part: list[Token] = []
    for token in group:
        part.append(token)
        if token.link == "of":
            out.extend(_front(part, known))
            part = []
    return [*out, *_front(part, known)]


def _rephrased(tokens: list[Token], known: Lexicon) -> list[Token]:
    """Two neighbours that are one listed phrase once they stand in order ("type of blood")."""
    out: list[Token] = []
    for token in tokens:
        if out and out[-1].kind == token.kind == "attribute" and out[-1].link != "for":
            sense = known.phrases.get((*out[-1].literal.split(" "), *token.literal.split(" ")))
            if sense and sense.kind == "attribute":
                literal = f"{out[-1].literal} {token.literal}"
                out[-1] = Token(id=sense.id, kind=sense.kind, literal=literal, link=token.link)
                continue
        out.append(token)
    return out


def _named(tokens: list[Token], known: Lexicon) -> list[Token]:
    """Words whose meaning hangs on their place: "work" alone is a job, "phone" at the end is a number."""
    if len(tokens) == 1 and (alone := known.alone.get(tokens[0].id)):
        return [replace(tokens[0], id=alone, kind="attribute")]
    if tokens and (final := known.final.get(tokens[-1].id)) and not any(t.id == "favorite" for t in tokens):
        tokens = [*tokens[:-1], replace(tokens[-1], id=final, kind="attribute")]
    if len(tokens) > 1 and tokens[-1].id == "residence" and tokens[-2].id == "home":
        return [*tokens[:-2], tokens[-1]]  # the address of one's home is where one lives
    return _by_name(tokens)


def _by_name(tokens: list[Token]) -> list[Token]:
    """Leave out the name where nothing but a name is kept: "dentist's name" is the dentist."""
    if len(tokens) > 1 and tokens[-1].id == "name" and tokens[-2].id in BY_NAME:
        return tokens[:-1]
    return tokens


@lru_cache(maxsize=65536)
def read(text: str, language: str) -> Reading:
    """The key as `language` reads it. Pure; never raises for a string and one of the languages with a lexicon."""
    known = lexicon(language)
    tokens, cover, content = scan(text, known)
    if known.genitive_articles:
        tokens = _german_genitive(tokens, known)
    while tokens and tokens[0].kind == "mine":
        tokens = tokens[1:]
    tokens = _counted(_bare_user(tokens, known), known)
    kept = [token for at, token in enumerate(tokens) if not _harmless(tokens, at, known)]
    if not any(token.kind not in {"genitive", "purpose", "genitive_after"} for token in kept):
        kept = list(tokens)
    dropped = tuple(token.literal for at, token in enumerate(tokens) if _harmless(tokens, at, known))
    arranged = _arrange(kept, known)
    favorite = [replace(t, id="favorite") if t.kind == "preference" and len(arranged) > 1 else t for t in arranged]
    return Reading(
        language=language,
        text=text,
        tokens=tuple(_named(_rephrased(favorite, known), known)),
        dropped=dropped,
        cover=cover,
        content=content,
    )
