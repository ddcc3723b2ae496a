"""How a statement stands by the words that it quotes: stated, doubtful with its reasons, or unfounded. Pure.

Unfounded is only what quotes words that no line has, or whose detail contradicts the line. Everything else that speaks
against a statement makes it doubtful: who reads it sees the quote beside it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol

from memhold.fidelity.amounts import Amount, agree
from memhold.fidelity.details import Details, details_of, found, of_the_line
from memhold.fidelity.quotes import in_line, plain
from memhold.fidelity.values import Line, Statement, Weight
from memhold.languages.tables import Speech, speech, spoken

# ruff: noqa: RUF001 - punctuation of every script

__all__ = ["RULES", "Case", "Rule", "weigh"]

_CLAUSE: Final = re.compile(r"[,.;:!?()，。；！？、\"]|\s-\s")
_TERM: Final = re.compile(
    r"[a-z\u00c0-\u024f\u0400-\u052f]{2,}(?:'[a-z]+)?|[\uac00-\ud7a3]{2,}|(?=([\u3040-\u30ff\u3400-\u9fff]{2}))"
)
_STEM: Final = 5
_STEM_WIDE: Final = 2
_DENIED: Final = 4
"""Words behind a "no" that it may bear on."""
_BEGINNING: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A statement beside what it quotes. `codes`: each language that may be spoken; `own`: words of the likeliest."""

    statement: Statement
    said: str
    quote: str
    cited: tuple[Line, ...]
    lines: tuple[Line, ...]
    codes: tuple[str, ...]
    own: Speech
    supplied: bool

    @property
    def line(self) -> Line:
        """The line that is quoted first."""
        return self.cited[0]


class Rule(Protocol):
    """What may cast a doubt on a statement: its reason in plain words, or None."""

    __name__: str

    def __call__(self, case: Case, /) -> str | None: ...  # noqa: D102 - the class says it


def weigh(
    statement: Statement,
    quotes: Sequence[str],
    lines: Sequence[Line],
    *,
    cited: Sequence[int] = (),
    supplied: bool = False,
    rules: Sequence[Rule] | None = None,
) -> Weight:
    """How a statement stands in a conversation of these lines.

    `quotes` are its words of the lines; without any, details alone are looked at (the sentences of an entry). `cited`
    are the places of the lines that it names. `supplied`: the quote is not the model's, and supports its words alone.
    `rules` are those that may cast a doubt, all of them by default.
    """
    holding = [line for line in lines if any(in_line(quote, line.text) for quote in quotes)]
    if any(not any(in_line(quote, line.text) for line in lines) for quote in quotes):
        return Weight(standing="unfounded", reasons=("no line has the words that it quotes",))
    named = [lines[place] for place in cited if 0 <= place < len(lines)]
    chosen = tuple(dict.fromkeys((*(line for line in named if line in holding), *holding[:1], *named)))
    talk, told = spoken("\n".join(line.text[:400] for line in lines[:12])), spoken(statement.whole)
    case = Case(
        statement=statement,
        said=plain(statement.whole),
        quote=plain(" ".join(quotes)),
        cited=chosen or tuple(lines),
        lines=tuple(lines),
        codes=tuple(sorted({*talk, *told})),
        own=speech(tuple(sorted({*talk[:1], *told[:1]}))),
        supplied=supplied,
    )
    unfounded, doubts = _by_details(case)
    if unfounded:
        return Weight(standing="unfounded", reasons=unfounded)
    if quotes:
        doubts += tuple(reason for rule in (RULES if rules is None else rules) if (reason := rule(case)) is not None)
    return Weight(standing="doubtful" if doubts else "stated", reasons=doubts)


# ------------------------------------------------------------------------------------------------- hard details


def _by_details(case: Case) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What makes a statement unfounded, and what makes it doubtful, of its numbers, days, times and names of things."""
    cited = [_of(line, case) for line in case.cited]
    every = [_of(line, case) for line in case.lines]
    quoted = [details_of(case.quote, case.codes, case.line.at)] if case.quote else cited
    whole = details_of(case.statement.whole, case.codes, case.line.at)
    unfounded: list[str] = []
    doubts: list[str] = []
    for detail in whole.each:
        here = found(detail, whole, cited)
        if here == "held":
            continue
        if found(detail, whole, every) == "held":
            if found(detail, whole, quoted) == "contradicted":
                doubts.append(f"“{detail.text}” stands in another line; the quoted words say otherwise")
        elif of_the_line(detail, every) and not (case.quote and found(detail, whole, quoted) == "contradicted"):
            continue
        elif found(detail, whole, quoted) == "contradicted" and of_the_line(detail, cited):
            doubts.append(f"“{detail.text}” is the time of the line, which names another")
        elif found(detail, whole, quoted) == "contradicted":
            unfounded.append(f"the line says another {detail.kind} than “{detail.text}”")
        elif detail.meant is None or detail.meant.sure:
            doubts.append(f"“{detail.text}” stands in no line")
    return tuple(unfounded), tuple(doubts)


def _of(line: Line, case: Case) -> Details:
    return details_of(line.text, case.codes, line.at)


# --------------------------------------------------------------------------------------------- what casts a doubt


def _of_whom(case: Case) -> str:
    """Of whom a statement is: `user`, the plain name of another subject, or nothing where it does not say."""
    own, subject = case.own, plain(case.statement.subject)
    users = {"user", *own.words("people", "user")}
    if subject:
        return "user" if subject in users else subject
    begins = plain(case.statement.text)[:40]
    for name in {plain(line.speaker) for line in case.lines if line.speaker}:
        if begins.startswith(name) and not _owns(begins[len(name) :], own) and not begins[len(name) :][:1].isalnum():
            return name
    spans = own.found("people", "user", begins)
    if not spans or spans[0][0] > 14:
        return ""
    return "" if _owns(begins[spans[0][1] :], own) else "user"


def _owns(behind: str, own: Speech) -> bool:
    """Whether what stands behind a name makes it the owner of something else."""
    return behind.lstrip().startswith(own.words("people", "owns"))


def _tells_of_first(case: Case) -> bool:
    return case.own.has("people", "first", case.quote)


def _tells_of_third(case: Case) -> bool:
    return case.own.has("people", "third", case.quote) or case.own.has("people", "kin", case.quote)


def _is_of_third(case: Case) -> bool:
    """Whether a quote tells of "him" or "her", or begins with kin: kin behind a verb is only spoken of."""
    return case.own.has("people", "third", case.quote) or case.own.has("people", "kin", case.quote[:_BEGINNING])


def _is_person(name: str, case: Case) -> bool:
    """Whether somebody is a person as far as the lines tell: who speaks, kin, or a name beside "he" or "she"."""
    if name in {plain(line.speaker) for line in case.lines if line.speaker} or case.own.has("people", "kin", name):
        return True
    return any(
        re.search(rf"(?<![^\W\d_]){re.escape(name)}(?![^\W\d_])", text) is not None
        and case.own.has("people", "third", text)
        for text in (plain(line.text) for line in case.lines if name in plain(line.text))
    )


def _other_speaker(case: Case) -> str | None:
    """That the line is somebody's own words, or of somebody else, and the statement is of another."""
    if case.line.written_by not in {"user", "participant"}:
        return None
    whom = _of_whom(case)
    if whom == "user":
        if _is_of_third(case) and not _tells_of_first(case):
            return "the line may speak of somebody else"
        return None
    if not whom or not _is_person(whom, case) or whom == plain(case.line.speaker):
        return None
    if _tells_of_first(case) and whom not in case.quote and not _tells_of_third(case):
        return "whoever wrote the line may speak of themselves"
    return None


def _only_the_assistant(case: Case) -> str | None:
    """That only the assistant says it of the user or of somebody else."""
    if any(line.written_by in {"user", "participant"} for line in case.cited) or case.line.written_by != "assistant":
        return None
    own = case.own
    if own.has("people", "assistant", case.said) or own.has("says", "proposed", case.said):
        return None
    whom = _of_whom(case)
    if whom == "user" or own.has("people", "user", case.said) or (whom and _is_person(whom, case)):
        return "only the assistant says it"
    return "the assistant only proposes it" if own.has("says", "proposals", case.quote) else None


def _lost_no(case: Case) -> str | None:
    """That what the quote denies is told as so."""
    own = case.own
    told = plain(f"{case.statement.attribute.replace('_', ' ')} {case.statement.text}")
    quoted, kept = _denied(case.quote, own), _denied(told, own)
    # "Allergic" may say what "cannot eat" does; not where the line says no to being allergic to the same.
    refusals = {stem for start, end in own.found("says", "refusal", told) for stem in _stems(told[start:end], own)}
    lost = [word for word in _words(told, own) if _stem(word) in quoted - refusals]
    if not lost or quoted & kept or refusals - quoted:
        return None
    return f"the line says no to “{lost[0]}”"


@lru_cache(maxsize=4096)
def _denied(text: str, own: Speech) -> frozenset[str]:
    """The stems of the words that a text says no to: the next ones of the clause behind a "no", or those before it."""
    for start, end in own.found("says", "no_negation", text):
        text = text[:start] + " " * (end - start) + text[end:]
    denied: set[str] = set()
    for _, end in own.found("says", "negation", text):
        cut = _CLAUSE.search(text, end)
        denied |= {*_stems(text[end : cut.start() if cut else len(text)], own)[:_DENIED]}
    for start, _ in own.found("says", "negation_behind", text):
        cuts = [one.end() for one in _CLAUSE.finditer(text, 0, start)]
        denied |= {*_stems(text[cuts[-1] if cuts else 0 : start], own)[-_DENIED:]}
    return frozenset(denied)


@lru_cache(maxsize=8192)
def _stems(text: str, own: Speech) -> tuple[str, ...]:
    """The beginnings of the words that mean something, in their order."""
    return tuple(_stem(word) for word in _words(text, own))


def _words(text: str, own: Speech) -> list[str]:
    function = {*own.words("words", "function"), *own.words("says", "negation"), *own.months, *own.weekdays}
    return [word for one in _TERM.finditer(text) if (word := one[0] or one[1]) not in function]


def _stem(word: str) -> str:
    return word[: _STEM_WIDE if word[0] >= "\u3040" else _STEM]


def _lost_condition(case: Case) -> str | None:
    """That the quote only supposes what the statement tells as so."""
    own = case.own
    if own.has("says", "hedges", case.said) or own.has("people", "assistant", case.said):
        return None
    return "the line only supposes it" if own.has("says", "conditions", case.quote) else None


def _another_word(case: Case) -> str | None:
    """That a number of the statement stands beside another word in the line."""
    told = [one.meant for one in details_of(case.statement.text, case.codes, case.line.at).each]
    amounts = [one for one in told if isinstance(one, Amount)]
    line = [one.meant for line in case.cited for one in _of(line, case).each]
    numbers = [one for one in line if isinstance(one, Amount)]
    for one in amounts:
        if not one.sure or not (one.noun or one.kind):
            continue
        equal = [other for other in numbers if not one.values.isdisjoint(other.values)]
        free = (other for other in numbers if not any(_beside(two, other) and agree(two, other) for two in amounts))
        beside = [other for other in free if other.sure and _beside(one, other)]
        if equal and beside and all((other.noun or other.kind) and not _beside(one, other) for other in equal):
            return "a number stands beside another word in the line"
    return None


def _beside(one: Amount, other: Amount) -> bool:
    return (bool(one.kind) and one.kind == other.kind) or (bool(one.noun) and one.noun == other.noun)


def _widened(case: Case) -> str | None:
    """That "always" or "all" is told of a line that says less."""
    own = case.own
    if not own.has("says", "universals", plain(case.statement.text)):
        return None
    whole = " ".join(plain(line.text) for line in case.cited)
    if own.has("says", "universals", whole) or own.has("says", "negation", case.quote):
        return None
    return "the line does not say “always” or “all”"


def _beyond(case: Case) -> str | None:
    """That a statement says more than the quote that the product supplied for it."""
    if not case.supplied:
        return None
    own, said, at = case.own, case.statement.text, case.line.at
    users = {stem for word in ("user", *own.words("people", "user")) for stem in _stems(word, own)}
    beyond = {*_stems(plain(said), own)} - {*_stems(case.quote, own)} - users
    whole, quoted = (details_of(text, case.codes, at) for text in (said, case.quote))
    held = all(found(one, whole, [quoted]) == "held" for one in whole.each)
    return None if held and not beyond else "it says more than the line"


RULES: Final[tuple[Rule, ...]] = (
    _other_speaker,
    _only_the_assistant,
    _lost_no,
    _lost_condition,
    _another_word,
    _widened,
    _beyond,
)
"""What may cast a doubt, each switched off once in the ablation table of `python -m benchmarks fidelity`."""
