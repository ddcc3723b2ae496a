"""The words of a key as the tokens of one language, in written order: phrases, compounds, plurals, possessives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memhold.facts.keys.lexicon import Kind, Lexicon, Sense
from memhold.facts.keys.text import Lexeme, lex, script

__all__ = ["Token", "scan"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One concept of a key.

    `id` is what is compared: the concept, or the word itself where the lexicon does not list it. `link` says how it
    is bound to the token behind it: `of` (possession), `for` (purpose), or nothing.
    """

    id: str
    kind: Kind
    literal: str
    link: str = ""
    aside: bool = False
    path: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    text: str
    lexeme: Lexeme
    possessive: bool = False


def _split_word(lexeme: Lexeme, known: Lexicon) -> list[_Word]:
    text = lexeme.text
    if known.possessive:
        # "phone no." and "phone_no" are numbers; a bare "no" is a negation wherever it stands.
        short = f"{text}." if lexeme.after.startswith(".") or lexeme.before.endswith("_") else text
        if told := known.contracted.get(short) or known.contracted.get(text):
            return [_Word(text=one, lexeme=lexeme) for one in told.split()]
        if text.endswith("'s"):
            return [
                _Word(text=text[:-2].replace("'", ""), lexeme=lexeme),
                _Word(text="'s", lexeme=lexeme, possessive=True),
            ]
        if text.endswith("s") and lexeme.after.startswith("'"):
            return [_Word(text=text, lexeme=lexeme), _Word(text="'s", lexeme=lexeme, possessive=True)]
    if known.elision and "'" in text:
        return [_Word(text=part, lexeme=lexeme) for part in text.split("'") if part]
    return [_Word(text=text.replace("'", ""), lexeme=lexeme)]


def _singular(word: str, known: Lexicon) -> list[str]:
    """Candidate singulars, likeliest first; none where the word only looks like a plural."""
    rule = known.plural
    if len(word) < 4 or word in known.no_plural or not word.isalpha():
        return []
    if rule == "en" and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        if word.endswith("ies") and len(word) > 4:
            return [word[:-3] + "y", word[:-1]]
        if word.endswith(("ches", "shes", "xes", "sses", "zes")):
            return [word[:-2]]
        return [word[:-1]]
    if rule == "fr" and word.endswith(("s", "x")) and not word.endswith(("ss", "us", "is", "as", "eux", "oix", "aix")):
        return [word[:-1]]
    if rule == "s" and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return [word[:-1], word[:-2]] if word.endswith("es") else [word[:-1]]
    return []


def _partition(word: str, known: Lexicon, links: Sequence[str]) -> list[tuple[str, Sense]] | None:
    """The word as a chain of listed words, the fewest that cover it; None when they do not cover it all."""
    best: dict[int, tuple[int, list[tuple[str, Sense]]]] = {0: (0, [])}
    for end in range(1, len(word) + 1):
        for start in range(max(0, end - known.longest_word), end):
            if start not in best or not (sense := known.joined.get(word[start:end])):
                continue
            if links != ("",) and end - start < 3:
                continue
            cost, chain = best[start]
            for link in links if end < len(word) else ("",):
                stop = end + len(link)
                if word[end:stop] == link and (stop not in best or best[stop][0] > cost + 1):
                    best[stop] = (cost + 1, [*chain, (word[start:end], sense)])
    return best[len(word)][1] if len(word) in best else None


def _segment(word: str, known: Lexicon) -> list[tuple[str, Sense | None]]:
    """Text without spaces as listed words and what is between them; the least unlisted text, then the fewest words."""
    best: list[tuple[int, int, int]] = [(0, 0, 0)]
    for end in range(1, len(word) + 1):
        options = [(best[end - 1][0] + 1, best[end - 1][1] + 1, end - 1)]
        starts = range(max(0, end - known.longest_word), end)
        options.extend((best[at][0], best[at][1] + 1, at) for at in starts if word[at:end] in known.joined)
        best.append(min(options))
    cuts: list[tuple[str, Sense | None]] = []
    end = len(word)
    while end:
        start = best[end][2]
        piece = word[start:end]
        sense = known.joined.get(piece) if best[end][0] == best[start][0] else None
        if sense is None and cuts and cuts[-1][1] is None:
            cuts[-1] = (piece + cuts[-1][0], None)
        else:
            cuts.append((piece, sense))
        end = start
    return cuts[::-1]


def _unknown(text: str, known: Lexicon) -> Token:
    singular = _singular(text, known)
    return Token(id=singular[0] if singular else text, kind="unknown", literal=text)


def _word_tokens(text: str, known: Lexicon) -> list[Token]:
    """The tokens of one word that no longer phrase covers."""
    for form in [text, *_singular(text, known)]:
        if sense := known.phrases.get((form,)):
            return [Token(id=sense.id, kind=sense.kind, literal=text)]
    chain: list[tuple[str, Sense]] | None = None
    name = script(text[0]) if text else ""
    if known.segment and name == "cjk":
        return [
            Token(id=sense.id, kind=sense.kind, literal=piece)
            if sense
            else Token(id=piece, kind="unknown", literal=piece)
            for piece, sense in _segment(text, known)
        ]
    if known.language == "ko" and name == "hangul":
        chain = _partition(text, known, ("",))
        if chain is None and len(text) > 2 and text.endswith(known.genitive_ending):
            return [Token(id=text[:-1], kind="unknown", literal=text[:-1], link="of")]
    elif known.compound and len(text) > 5:
        chain = _partition(text, known, known.compound)
    if chain:
        return [Token(id=sense.id, kind=sense.kind, literal=piece) for piece, sense in chain]
    return [_unknown(text, known)]


def _longest_phrase(words: Sequence[_Word], at: int, known: Lexicon) -> tuple[Sense, int] | None:
    for size in range(min(known.longest, len(words) - at), 1, -1):
        texts = tuple(word.text for word in words[at : at + size])
        if any(word.lexeme.aside != words[at].lexeme.aside for word in words[at : at + size]):
            continue
        last = _singular(texts[-1], known)
        for form in [texts, *((*texts[:-1], one) for one in last)]:
            if sense := known.phrases.get(form):
                return sense, size
    return None


def scan(text: str, known: Lexicon) -> tuple[list[Token], float, bool]:
    """Tokens in written order, the share of letters that are listed, and whether a content word is among them."""
    words = [word for lexeme in lex(text) for word in _split_word(lexeme, known) if word.text]
    letters = sum(1 if word.possessive else len(word.text) for word in words) or 1
    tokens: list[Token] = []
    covered = 0
    content = False
    at = 0
    while at < len(words):
        word = words[at]
        if word.possessive:
            if tokens:
                tokens[-1] = replace(tokens[-1], link="of")
                covered += 1
            at += 1
            continue
        if phrase := _longest_phrase(words, at, known):
            sense, size = phrase
            literal = " ".join(w.text for w in words[at : at + size])
            found = [Token(id=sense.id, kind=sense.kind, literal=literal)]
        else:
            size = 1
            found = _word_tokens(word.text, known)
        path = any(c in ",;-\u2013\u2014" for c in word.lexeme.before) and at > 0 and word.lexeme.before != "-"
        found[0] = replace(found[0], path=path)
        tokens.extend(replace(token, aside=word.lexeme.aside) for token in found)
        covered += sum(len(token.literal.replace(" ", "")) for token in found if token.kind != "unknown")
        content = content or any(
            token.kind in {"attribute", "entity", "person", "favorite", "qualifier", "polarity"} for token in found
        )
        at += size
    return tokens, min(1.0, covered / letters), content
