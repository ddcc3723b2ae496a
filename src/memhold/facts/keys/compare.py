"""Whether two fact keys are the same concept: pure, explained, and never wrong in the direction that loses data.

The order of the rules is the guarantee. What a person settled comes first; then the exact canonical form; then
one-to-one alignment, in which every left-over word must be harmless; then the vetoes. Only what none of these decides
may be lifted by an embedding, and only across one substituted word that no lexicon knows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Literal

from memhold.facts.keys.clashes import clash, links_clash
from memhold.facts.keys.key_reading import Reading, Token, read
from memhold.facts.keys.lexicon import LANGUAGES, guard_words, small_words
from memhold.facts.keys.text import lex, script, split_camel_case
from memhold.languages.tables import speech

__all__ = ["GREY_BAND", "Aliases", "Key", "Verdict", "canonical", "compare", "pair_of"]

GREY_BAND = 0.12
"""How far below the threshold a similarity still raises a suspicion; below that the keys are taken as different."""

Same = Literal["same", "different", "unsure"]
Aliases = Mapping[frozenset[str], Literal["same", "different"]]
"""Pairs of canonical texts (see `pair_of`) that a person or a model of the adjudication chain settled."""

_NONE: Aliases = MappingProxyType({})
_KNOWN_ENOUGH = 0.3
_HEADS = frozenset(
    {"name", "number", "no", "age", "birthday", "color", "address", "phone_number", "email", "password"}
) | {
    "birthplace",
    "size",
    "brand",
    "breed",
}
_VETO: Mapping[str, str] = MappingProxyType(
    {"not": "polarity", "polarity": "polarity", "qualifier": "qualifier", "person": "possessor", "entity": "possessor"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A fact key in its canonical form.

    `text` is stable, lower case and without decoration: what is stored, indexed and embedded. Two keys with one text
    are nearly always one concept; `compare` is what decides. `languages` are those that read the key best; none when
    no lexicon does.
    """

    subject: str
    attribute: str
    text: str
    languages: tuple[str, ...] = ()
    full: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What `compare` found.

    `rule` names the rule that decided and `reason` says it to a person; `left_a` and `left_b` are the words without a
    counterpart. `liftable` says that a similarity at or above the threshold would make it `same`, so embedding the
    key is worth a call.
    """

    same: Same
    rule: str
    reason: str
    left_a: tuple[str, ...] = ()
    left_b: tuple[str, ...] = ()
    language: str | None = None
    liftable: bool = False
    similarity: float | None = None


@cache
def _words(name: str) -> frozenset[str]:
    """The words under a heading of keys of all languages."""
    return frozenset(speech(LANGUAGES).words("keys", name))


@lru_cache(maxsize=16384)
def _languages(full: str) -> tuple[str, ...]:
    """The languages that know most of a key's letters; empty when none knows a content word of it."""
    readings = [read(full, language) for language in LANGUAGES]
    best = max((r.cover for r in readings if r.content), default=0.0)
    return tuple(r.language for r in readings if r.content and r.cover >= best > 0)


def canonical(subject: str | None, attribute: str) -> Key:
    """The key of a fact. The user as a subject, in any of its names, is left out. Never raises for strings."""
    owner = (subject or "").strip()
    words = " ".join(lexeme.text for lexeme in lex(owner))
    own = not words or words in _words("self")
    full = attribute if own else f"{split_camel_case(attribute)} ({split_camel_case(owner)})"
    languages = _languages(full)
    if languages:
        tokens = read(full, languages[0]).tokens
        text = " ".join(token.id if token.kind == "unknown" else token.literal for token in tokens)
    else:
        text = " ".join(lexeme.text.replace("'", "") for lexeme in lex(full))
    return Key(
        subject=owner, attribute=attribute, text=text or attribute.strip().casefold(), languages=languages, full=full
    )


def pair_of(a: Key, b: Key) -> frozenset[str]:
    """What an alias for these two keys is filed under, in either order."""
    return frozenset({a.text, b.text})


def _exact(a: Key, b: Key) -> Verdict | None:
    """Equal words in equal order, whatever the language, the spacing and the decoration."""
    left, right = lex(a.full), lex(b.full)
    if not left or not right:
        equal = not left and not right and a.full.strip().casefold() == b.full.strip().casefold()
        why = "both are the same signs" if equal else "one of them has no word"
        return Verdict(same="same" if equal else "different", rule="exact" if equal else "empty", reason=why)
    if left == right:
        return Verdict(same="same", rule="exact", reason="the same words in the same order")
    words_a, words_b = [w.text.replace("'", "") for w in left], [w.text.replace("'", "") for w in right]
    if "".join(words_a) != "".join(words_b):
        return None
    exact_a, exact_b = "".join(w.exact for w in left), "".join(w.exact for w in right)
    plain = "".join(words_a)
    if (
        exact_a != exact_b
        and plain not in {exact_a.replace("'", ""), exact_b.replace("'", "")}
        and "'" not in exact_a + exact_b
    ):
        return Verdict(same="unsure", rule="accents", reason="only the accents differ, and both keys carry some")
    if words_a == words_b and not ({"'"} & set(exact_a + exact_b)):
        if _asides(left) != _asides(right):
            return None
        return Verdict(same="same", rule="exact", reason="the same words in the same order")
    return None


def _asides(lexemes: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(getattr(lexeme, "aside", False) for lexeme in lexemes)


def _joined(a: Reading, b: Reading) -> bool:
    """Equal but for where words are written apart ("date of birth", "dateofbirth"; "t-shirt", "tshirt")."""
    if any(t.kind == "not" for t in (*a.tokens, *b.tokens)) or a.dropped or b.dropped:
        return False
    if any(t.text in small_words() for r in (a, b) for t in lex(r.text)):
        return False
    words = ["".join(t.literal.replace(" ", "") for t in r.tokens) for r in (a, b)]
    return words[0] == words[1]


def _differ_in_accents(a: Key, b: Key) -> bool:
    """Whether a word of one key stands in the other with other accents, both written out."""
    plain: dict[str, set[str]] = {}
    for side in (a, b):
        for lexeme in lex(side.full):
            if lexeme.exact != lexeme.text:
                plain.setdefault(lexeme.text, set()).add(lexeme.exact)
    return any(len(forms) > 1 for forms in plain.values())


def _reordered(a: Reading, b: Reading) -> bool:
    """Two words swapped, of which one can only be asked and the other only be asked about ("name cat")."""
    if len(a.tokens) != 2 or any(t.link and t.id in _HEADS for t in (*a.tokens, *b.tokens)):
        return False
    heads = [t for t in a.tokens if t.id in _HEADS]
    owners = [t for t in a.tokens if t.id not in _HEADS and t.kind in {"person", "entity", "attribute"}]
    return len(heads) == len(owners) == 1


def _left(a: Reading, b: Reading) -> tuple[list[Token], list[Token]]:
    """The tokens of each without a counterpart in the other, counted."""

    def rest(mine: Reading, other: Reading) -> list[Token]:
        there = Counter(other.ids)
        left = []
        for token in mine.tokens:
            if there[token.id]:
                there[token.id] -= 1
            else:
                left.append(token)
        return left

    return rest(a, b), rest(b, a)


def _affixed(a: str, b: str) -> bool:
    """Whether one word is the other behind a prefix that turns it round or moves it ("unhappy", "stepmother")."""
    long, short = (a, b) if len(a) > len(b) else (b, a)
    if long.endswith(short) and long != short:
        head = long[: len(long) - len(short)]
        return len(short) > 2 and (head in _words("prefixes") or len(head) > 2)
    return long.startswith(short) and long != short


def _veto(left: list[Token]) -> tuple[str, str] | None:
    for kind, rule in _VETO.items():
        for token in left:
            if token.kind == kind:
                return rule, token.literal
    return None


def _vetoed(left_a: list[Token], left_b: list[Token], language: str) -> Verdict | None:
    """The rules that similarity never overrules."""
    words_a, words_b = tuple(t.literal for t in left_a), tuple(t.literal for t in left_b)

    def different(rule: str, reason: str) -> Verdict:
        return Verdict(same="different", rule=rule, reason=reason, left_a=words_a, left_b=words_b, language=language)

    if found := _veto([*left_a, *left_b]):
        return different(found[0], f"{found[1]!r} has no counterpart, and it changes what is meant")
    if any(c.isdigit() for t in (*left_a, *left_b) for c in t.literal):
        return different("number", "a number has no counterpart")
    if not left_a or not left_b:
        more = words_a or words_b
        return different("left over", f"one key says more: {' '.join(more)!r} is not a harmless word")
    if any(_affixed(s.literal, t.literal) for s in left_a for t in left_b):
        return different("affix", "one word is the other with a prefix or ending that changes it")
    if all(t.kind != "unknown" for t in (*left_a, *left_b)):
        return different("known", f"{' '.join(words_a)!r} and {' '.join(words_b)!r} are known and not the same")
    return None


def _substituted(a: Reading, b: Reading, left_a: list[Token], left_b: list[Token]) -> bool:
    """Whether the keys differ in one word, and only in what is asked.

    What stands in front says whose or which: there another word is a name (git, svn) more often than a synonym, and
    vectors cannot tell.
    """
    if len(left_a) != 1 or len(left_b) != 1 or len(a.tokens) != len(b.tokens) or min(a.cover, b.cover) < _KNOWN_ENOUGH:
        return False
    where = [i for i, (s, t) in enumerate(zip(a.tokens, b.tokens, strict=True)) if s.id != t.id]
    words = (left_a[0].literal, left_b[0].literal)
    if len(a.tokens) > 1 and a.tokens[-2].literal in _words("prepositions"):
        # "hotel in Rome", "sport to watch": the last word says which, and is not what is asked.
        return False
    if where != [len(a.tokens) - 1] or guard_words() & set(words) or links_clash(a, b):
        return False
    return all(len(w) > 2 and w.isalpha() and all(script(c) == "latin" for c in w) for w in words)


def _in_language(a: Key, b: Key, language: str) -> Verdict:
    """The verdict of words alone, as one language reads both keys."""
    left, right = read(a.full, language), read(b.full, language)
    if left.ids == right.ids:
        if _differ_in_accents(a, b):
            return Verdict(same="unsure", rule="accents", reason="a word has other accents in each", language=language)
        if found := clash(left, right):
            return Verdict(same="unsure", rule=found[0], reason=found[1], language=language)
        literal = [t.literal for t in left.tokens] == [t.literal for t in right.tokens]
        if literal:
            return Verdict(
                same="same",
                rule="canonical",
                reason="equal once articles, possessives and order are taken away",
                language=language,
            )
        return Verdict(
            same="same", rule="alignment", reason="each word has a counterpart of the same meaning", language=language
        )
    if _joined(left, right) and not _differ_in_accents(a, b):
        return Verdict(
            same="same", rule="spacing", reason="the same letters, written apart or together", language=language
        )
    left_a, left_b = _left(left, right)
    if not left_a and not left_b:
        if _reordered(left, right):
            return Verdict(same="same", rule="order", reason="the same two words, turned round", language=language)
        return Verdict(
            same="unsure",
            rule="order",
            reason="the same words in another order, which may mean another thing",
            language=language,
        )
    if verdict := _vetoed(left_a, left_b, language):
        return verdict
    words_a, words_b = tuple(t.literal for t in left_a), tuple(t.literal for t in left_b)
    shared = len(left.tokens) > len(left_a)
    liftable = _substituted(left, right, left_a, left_b)
    return Verdict(
        same="unsure" if shared and len(left_a) == len(left_b) == 1 else "different",
        rule="substitution" if len(left_a) == len(left_b) == 1 else "unlike",
        reason=f"{' '.join(words_a)!r} against {' '.join(words_b)!r}: the words do not say whether they mean the same",
        left_a=words_a,
        left_b=words_b,
        language=language,
        liftable=liftable,
    )


def _concepts(key: Key) -> str | None:
    """The concepts of a key in order, which have one name in all languages; None where a word of it is not listed.

    And where two languages read it as two things: "nombre" is a number in French and a name in Spanish.
    """
    readings = [read(key.full, language) for language in key.languages]
    if any(token.kind == "unknown" or token.link == "for" for reading in readings for token in reading.tokens):
        return None
    # "eye color" is two words in one language, and one in another.
    found = {"_".join(reading.ids) for reading in readings}
    return found.pop() if len(found) == 1 else None


_NUMBERED = re.compile(r"(?:(?<![^\W\d_])[^\W\d_]++[\W_]*+|(?<![\W_])[\W_]*+)\d(?:[^\W_]|(?:_++|[-./:])(?=[^\W_]))*")
"""A number with the word and the signs that it hangs on: "user_1", "User 1", "q3", "v1.2"."""


@lru_cache(maxsize=16384)
def _numbered(full: str) -> tuple[str, ...]:
    """What of a key is an identifier: as it is written but for case, in any order."""
    return tuple(sorted(" ".join(one.split()) for one in _NUMBERED.findall(full.casefold())))


def _words_only(a: Key, b: Key) -> Verdict:
    if _numbered(a.full) != _numbered(b.full):
        reason = "an identifier is written otherwise: other digits or separators are another thing"
        return Verdict(same="different", rule="number", reason=reason)
    if verdict := _exact(a, b):
        return verdict
    common = [language for language in a.languages if language in b.languages]
    if not common:
        spaced = ["".join(w.text.replace("'", "") for w in lex(key.full)) for key in (a, b)]
        small = any(w.text in small_words() for key in (a, b) for w in lex(key.full))
        if spaced[0] == spaced[1] and not small and not _differ_in_accents(a, b):
            return Verdict(same="same", rule="spacing", reason="the same letters, written apart or together")
        if (concept := _concepts(a)) is not None and concept == _concepts(b):
            return Verdict(same="same", rule="translation", reason="each in its own language, they name one concept")
        return Verdict(
            same="different",
            rule="no lexicon",
            reason="no listed language reads both keys, so only the exact form would merge",
        )
    verdicts = [_in_language(a, b, language) for language in common]
    chosen = next((v for v in verdicts if v.same == "same"), None)
    blocked = next(
        (v for v in verdicts if v.same == "different" and v.rule in {"polarity", "qualifier", "possessor"}), None
    )
    if chosen and blocked:
        return Verdict(same="unsure", rule="languages", reason="two languages read the keys differently")
    return chosen or blocked or verdicts[0]


def compare(
    a: Key,
    b: Key,
    *,
    similarity: float | None = None,
    threshold: float | Mapping[str, float] | None = None,
    aliases: Aliases = _NONE,
) -> Verdict:
    """Whether two keys are the same concept.

    Symmetric in its two keys (but for `left_a` and `left_b`), and reflexive. `similarity` is the cosine of the two
    keys alone, never with their values. `threshold` belongs to the embedding generation: a number holds for English,
    a mapping gives one a language, and a language without one is never lifted.

    Returns:
        `same` to merge; `different`; or `unsure`: keep the facts apart and record a suspicion.
    """
    if settled := aliases.get(pair_of(a, b)):
        return Verdict(same=settled, rule="alias", reason="settled before, by a person or a model")
    verdict = _words_only(a, b)
    if not verdict.liftable or similarity is None or threshold is None:
        return verdict
    bound = (
        threshold.get(verdict.language or "")
        if isinstance(threshold, Mapping)
        else (threshold if verdict.language == "en" else None)
    )
    if bound is None:
        return verdict
    return _lifted(verdict, similarity, bound)


def _lifted(verdict: Verdict, similarity: float, bound: float) -> Verdict:
    """An undecided verdict in the light of a similarity: same, a suspicion, or different."""
    same: Same = "same" if similarity >= bound else "unsure" if similarity >= bound - GREY_BAND else "different"
    return Verdict(
        same=same,
        rule="similarity",
        reason=f"{verdict.reason}; their similarity is {similarity:.2f}, the threshold {bound:.2f}",
        left_a=verdict.left_a,
        left_b=verdict.left_b,
        language=verdict.language,
        liftable=True,
        similarity=similarity,
    )
