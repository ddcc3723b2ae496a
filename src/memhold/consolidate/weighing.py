"""What becomes of a model's reply by the words that it quotes: stated, doubtful with its reasons, or left out. Pure.

An item without a quote of its own has the sentence of its line for one, which supports only the words that stand in it.
What a message only recalls, and the facts that are known, are no lines: nobody can quote them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from memhold.consolidate.attributes import says_of_what
from memhold.consolidate.contract import MAX_ENTRY, Draft, Learned, LeftOut, Noted
from memhold.consolidate.entry import untimed
from memhold.facts.keys import canonical, compare, nothing
from memhold.fidelity.details import details_of, found
from memhold.fidelity.nearest import nearest
from memhold.fidelity.quotes import in_line
from memhold.fidelity.sentences import sentences
from memhold.fidelity.values import Line, Statement, Weight
from memhold.fidelity.weigh import weigh
from memhold.languages.tables import spoken
from memhold.ports.models import Rejected
from memhold.text.change import changes
from memhold.text.details import content_terms
from memhold.text.negation import negates
from memhold.values.records import Memory

__all__ = ["Shown", "founded", "misquoted", "weighed", "weighed_anew"]

Item = TypeVar("Item", bound=Learned | Noted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A line that a model was shown, and its place in the window."""

    place: int
    line: Line


def misquoted(draft: Draft, shown: Sequence[Shown]) -> bool:
    """Whether most of what a reply quotes stands in no line: then another model is asked."""
    items: list[Learned | Noted] = [*draft.facts, *draft.notes]
    quotes = [item.quote for item in items if item.quote]
    false = sum(not any(in_line(quote, one.line.text) for one in shown) for quote in quotes)
    return false * 2 > len(quotes)


def weighed(draft: Draft, shown: Sequence[Shown], known: Sequence[Memory]) -> Draft:
    """A reply with what stands of it: each item with its lines, its quote and its doubts, the entry without falsehoods.

    What is unfounded is told under `left_out`, with what it said.
    """
    if draft.nothing is not None or not shown:
        return draft
    facts: list[Learned] = []
    notes: list[Noted] = []
    left: list[LeftOut] = []
    for fact in draft.facts:
        learned, weight = _held(fact, shown)
        if learned is not None:
            facts.append(_aimed(learned, shown, known))
            continue
        parts = (fact.subject, fact.attribute, fact.value)
        text = f"{fact.subject} | {fact.attribute} = {fact.value}"
        left.append(LeftOut(kind="fact", reason="; ".join(weight.reasons), text=text, parts=parts))
    for note in draft.notes:
        noted, weight = _held(note, shown)
        if noted is not None:
            notes.append(noted)
        else:
            left.append(LeftOut(kind="note", reason="; ".join(weight.reasons), text=note.text))
    entry, lost = _entry(draft.entry, shown, [*(fact.quote for fact in facts), *(note.quote for note in notes)])
    every = (*draft.left_out, *left, *lost)
    return replace(draft, entry=entry, facts=tuple(facts), notes=tuple(notes), left_out=every)


def weighed_anew(item: Item, shown: Sequence[Shown]) -> Item:
    """An item of an older release with the sentence of its line for a quote; what is unfounded is only doubtful.

    The sentence counts as if the model had quoted it. Weighed as one that supports its own words alone it would bring
    84 of 100 true statements of a careful model into doubt; so 8, and 58 of 100 errors.
    """
    quote = _supplied(item, shown) or nearest(_about(item), shown[0].line.text)
    if not quote:
        return item
    quoting = replace(item, quote=quote)
    held, weight = _held(quoting, shown)
    return held or replace(quoting, standing="doubtful", doubts=weight.reasons)


def founded(draft: Draft) -> Draft | Rejected:
    """The reply, where anything of it stands; else that nothing of it does."""
    if draft.nothing is None and not (draft.facts or draft.notes or draft.entry):
        return Rejected(reason="nothing of it stands in the lines")
    return draft


def _held(item: Item, shown: Sequence[Shown]) -> tuple[Item | None, Weight]:
    """An item as its lines hold it, or None where it is unfounded; and how it was weighed."""
    held, weight = _stands(item, _told(item), shown)
    if isinstance(held, Learned) and nothing(held.value, held.attribute) and not negates(held.quote):
        held = _in_doubt(held, "the line does not say that there is none")
    return held, weight


def _told(item: Learned | Noted) -> Statement:
    """What an item says; of a fact that ends, or that there is none, the line says no to the value."""
    if isinstance(item, Noted):
        return Statement(text=item.text)
    fact = item
    if fact.operation == "remove" or nothing(fact.value, fact.attribute):
        return Statement(text="", subject=fact.subject)
    return Statement(text=fact.value, subject=fact.subject, attribute=fact.attribute)


def _stands(item: Item, statement: Statement, shown: Sequence[Shown]) -> tuple[Item | None, Weight]:
    """An item on the lines that hold its quote, or None where it is unfounded; and how it was weighed."""
    lines = [one.line for one in shown]
    cited: list[Shown] = [one for one in shown if one.place in item.sources]
    quote = item.quote or _supplied(item, shown)
    if not quote:
        return None, Weight(standing="unfounded", reasons=("it quotes no line, and none that it names has any of it",))
    held: list[Shown] = [one for one in shown if in_line(quote, one.line.text)]
    # A line that is named beside another's words is a slip, and lends them no authority.
    named: list[Shown] = [one for one in cited if one in held]
    chosen: list[Shown] = [*named, *(one for one in cited if one not in held)] if named else held[:1]
    places = [shown.index(one) for one in chosen]
    weight = weigh(statement, (quote,), lines, cited=places, supplied=not item.quote)
    if weight.standing == "unfounded":
        return None, weight
    sources = tuple(dict.fromkeys(one.place for one in chosen))
    kept = replace(item, quote=quote, sources=sources, standing=weight.standing, doubts=weight.reasons)
    if not _says_of_what(item, quote):
        kept = _in_doubt(kept, "the line does not say of what it is")
    return kept, weight


def _says_of_what(item: Learned | Noted, quote: str) -> bool:
    """Whether a supplied quote says of what a value is; a fact that names its target need not say it again."""
    if not isinstance(item, Learned) or item.quote or item.target is not None:
        return True
    return says_of_what(item.attribute, quote)


def _supplied(item: Learned | Noted, shown: Sequence[Shown]) -> str:
    """The sentence of the first line that an item names which is likeliest to say it; "" where none has any of it.

    How a known fact ended may be told in words that have nothing of it.
    """
    ended = isinstance(item, Learned) and item.operation == "remove" and item.target is not None
    about = _about(item)
    for place in item.sources:
        lines = [one.line for one in shown if one.place == place]
        text = "\n".join(line.text for line in lines)
        if lines and (ended or _has_any(text, item, about) or _holds_detail(text, about, lines[0])):
            return nearest(about, text)
    return ""


def _about(item: Learned | Noted) -> str:
    """The words by which the sentence of an item is looked for."""
    return f"{item.attribute} {item.value}" if isinstance(item, Learned) else item.text


def _has_any(text: str, item: Learned | Noted, about: str) -> bool:
    """Whether a text has a value as it is, or a word of what is told."""
    if isinstance(item, Learned) and in_line(item.value, text):
        return True
    return bool(content_terms(about) & content_terms(text))


def _holds_detail(text: str, about: str, line: Line) -> bool:
    codes = tuple(sorted({*spoken(text), *spoken(about)}))
    whole, said = (details_of(one, codes, line.at) for one in (about, text))
    return any(found(one, whole, [said]) == "held" for one in whole.each)


def _aimed(fact: Learned, shown: Sequence[Shown], known: Sequence[Memory]) -> Learned:
    """A fact with the known one that it changes, where that is about the same; else it changes none, and is in doubt.

    Models name one by default. Under another key one is meant only where the line tells of a change, or speaks of it.
    """
    if fact.target is None:
        return fact
    held = known[fact.target - 1]
    mine, theirs = (canonical(subject, "x") for subject in (fact.subject, held.subject))
    if mine.text != theirs.text and compare(mine, theirs).same != "same":
        return _in_doubt(replace(fact, target=None), "it names a value of somebody else")
    own, other = canonical(fact.subject, fact.attribute), canonical(held.subject, held.attribute or "")
    if fact.operation == "remove" or compare(own, other).same == "same":
        return fact
    said = next((one.line.text for one in shown if in_line(fact.quote, one.line.text)), "")
    if changes(said) or content_terms(f"{held.attribute} {held.value}") & content_terms(said):
        return fact
    return _in_doubt(replace(fact, target=None), "it names a value of something else")


def _in_doubt(item: Item, reason: str) -> Item:
    return replace(item, standing="doubtful", doubts=(*item.doubts, reason))


def _entry(entry: str, shown: Sequence[Shown], quotes: Sequence[str]) -> tuple[str, list[LeftOut]]:
    """An entry without its unfounded sentences; where less than half of them are left, what was quoted in its place."""
    lines = [one.line for one in shown]
    text = untimed(entry)
    every = sentences(text, spoken(text))
    weights = [weigh(Statement(text=one), (), lines) for one in every]
    lost = [
        LeftOut(kind="sentence", reason="; ".join(weight.reasons), text=one)
        for one, weight in zip(every, weights, strict=True)
        if weight.standing == "unfounded"
    ]
    if not lost:
        return entry, []
    kept = [one for one, weight in zip(every, weights, strict=True) if weight.standing != "unfounded"]
    if len(kept) * 2 < len(every) and quotes:
        return " ".join(f"“{quote}”" for quote in dict.fromkeys(quotes))[:MAX_ENTRY], lost
    return entry[: len(entry) - len(text)] + " ".join(kept) if kept else "", lost
