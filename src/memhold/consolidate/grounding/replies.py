"""A reply with only what the lines of its window say: its facts, its notes, the sentences of its entry. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from memhold.consolidate.clause_subjects import SENTENCE
from memhold.consolidate.contract import Draft, Learned, LeftOut, Noted
from memhold.consolidate.grounding.changes import known_before, told_as_a_change
from memhold.consolidate.grounding.claims import Claim, Finding, Line
from memhold.consolidate.grounding.dates import day_told
from memhold.consolidate.grounding.finding import find
from memhold.consolidate.grounding.words import share_of
from memhold.ports.models import Rejected
from memhold.text.analysis import language_of
from memhold.values.records import Memory

__all__ = ["ground", "poor"]


def ground(draft: Draft, lines: Sequence[Line], known: Sequence[Memory] = ()) -> Draft | Rejected:
    """The draft with only what the lines say, each on the lines that say it.

    What was left out stands in `left_out`. Of an entry, sentences are left out; where none is left and facts or notes
    are, it becomes quotations of the user's first and last line. Rejected where nothing is left, or where more was left
    out than kept. The `known` facts that were shown are no source: by them the value that a fact takes the place of is
    known again where a line speaks of it ("yoga was a phase, now it's boxing"), and taken for nobody.
    """
    if draft.nothing is not None:
        return draft
    left: list[LeftOut] = []
    facts = _kept_facts(_aimed(draft.facts), lines, left, known)
    notes = _kept_notes(draft.notes, lines, left)
    found = _sentences_found(draft.entry, lines, left)
    kept = [sentence for sentence, finding in found if finding.standing is not None]
    entry = _entry(draft.entry, kept, len(found))
    if not facts and not notes and not kept:
        return Rejected(reason="nothing of it stands in a line of the window")
    if not entry:
        entry = _quoted_entry(lines)
    concluded = sum(finding.standing == "inferred" for _, finding in found)
    return replace(draft, entry=entry, concluded=concluded, facts=facts, notes=notes, left_out=(*draft.left_out, *left))


def poor(draft: Draft) -> bool:
    """Whether more than half of a reply was left out: another model may do better."""
    kept = len(draft.facts) + len(draft.notes) + (len(_sentences(draft.entry)) if draft.nothing is None else 1)
    return len(draft.left_out) > kept


def _kept_facts(
    facts: Iterable[Learned], lines: Sequence[Line], left: list[LeftOut], known: Sequence[Memory]
) -> tuple[Learned, ...]:
    found: list[tuple[Learned, Finding]] = []
    dropped: list[Learned] = []
    for fact in facts:
        about = "" if fact.subject == "user" else fact.subject
        before = known_before(fact, known)
        claim = Claim(
            core=fact.value,
            frame=fact.attribute,
            about=about,
            value=True,
            cited=fact.sources,
            known=fact.target is not None or (bool(before) and told_as_a_change(fact, lines)),
            before=before,
        )
        finding = _ended(fact, lines) if fact.operation == "remove" else find(claim, lines)
        if finding.standing is None:
            left.append(_left(fact, finding.reason))
            dropped.append(fact)
            continue
        holds_from = fact.holds_from if day_told(fact.holds_from, finding.places, lines) else None
        target = fact.target
        changed = replace(fact, sources=finding.places, standing=finding.standing, holds_from=holds_from, target=target)
        found.append((changed, finding))
    return tuple(fact for fact, _ in _told_apart(found, dropped, lines, left))


def _aimed(facts: Sequence[Learned]) -> tuple[Learned, ...]:
    """Facts without a target that several of them name for different attributes: that one was named by default."""
    named: dict[int, set[str]] = {}
    for fact in facts:
        if fact.target is not None:
            named.setdefault(fact.target, set()).add(fact.attribute.casefold())
    return tuple(replace(one, target=None) if len(named.get(one.target or 0, ())) > 1 else one for one in facts)


def _ended(fact: Learned, lines: Sequence[Line]) -> Finding:
    """A value that ends need not be named ("I quit", "they let me go"): that a line of the user's is cited is enough.

    No list knows all words in which something ends, and what did not end is told as so without a word.
    """
    own = tuple(line.place for line in lines if line.own and line.place in fact.sources)
    return Finding(standing="said", places=fact.sources) if own else Finding(standing=None, reason="no line says it")


def _kept_notes(notes: Iterable[Noted], lines: Sequence[Line], left: list[LeftOut]) -> tuple[Noted, ...]:
    found: list[Noted] = []
    for note in notes:
        finding = find(Claim(core=note.text, cited=note.sources), lines)
        if finding.standing is None:
            left.append(LeftOut(kind="note", reason=finding.reason, text=note.text))
        else:
            found.append(replace(note, sources=finding.places, standing=finding.standing))
    return tuple(found)


def _told_apart(
    found: Sequence[tuple[Learned, Finding]],
    dropped: Sequence[Learned],
    lines: Sequence[Line],
    left: list[LeftOut],
) -> Iterator[tuple[Learned, Finding]]:
    """Without inferences that share no word with a line that several of them cite: such a line is cited by default."""
    by_place: dict[int, list[Line]] = {}
    for line in lines:
        by_place.setdefault(line.place, []).append(line)
    language = language_of(" ".join(line.text[:500] for line in lines))
    bare = [
        (fact, finding)
        for fact, finding in found
        if finding.standing == "inferred"
        and not any(share_of(f"{fact.attribute} {fact.value}", by_place[place], language) for place in finding.places)
    ]
    often = Counter(place for _, finding in bare for place in finding.places)
    often.update(
        place
        for fact in dropped
        for place in fact.sources
        if place in by_place and not share_of(f"{fact.attribute} {fact.value}", by_place[place], language)
    )
    for fact, finding in found:
        if (fact, finding) in bare and any(often[place] > 1 for place in finding.places):
            left.append(_left(fact, "no line says it"))
        else:
            yield fact, finding


def _sentences_found(entry: str, lines: Sequence[Line], left: list[LeftOut]) -> list[tuple[str, Finding]]:
    """Each sentence of an entry with how it stands; those that do not are left out."""
    given = _sentences(entry)
    every = tuple(line.place for line in lines)
    # A model that is stuck says one sentence many times: each is looked for once.
    found = {one: find(Claim(core=_STAMP.sub("", one), cited=every), lines) for one in dict.fromkeys(given)}
    each = [(sentence, found[sentence]) for sentence in given]
    left += [LeftOut(kind="sentence", reason=one.reason, text=text) for text, one in each if one.standing is None]
    return each


_HEAD = re.compile(r"\A\s*(?:\[[^\]]{1,40}\]\s*)+")

_STAMP = re.compile(r"\A\W*\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?\W*")
"""The time of a line in front of a sentence: the form in which lines are shown, and nobody's claim."""


def _sentences(entry: str) -> list[str]:
    """The sentences of an entry, without the time of its window in front."""
    return [one.strip() for one in SENTENCE.split(_HEAD.sub("", entry)) if any(char.isalnum() for char in one)]


def _entry(entry: str, kept: Sequence[str], total: int) -> str:
    """The entry as it was given where all of it stands; else the sentences that do."""
    return entry if len(kept) == total else " ".join(kept)


QUOTED: Final = 160


def _quoted_entry(lines: Sequence[Line]) -> str:
    """What the user said first and last, in quotation marks: nobody's words but their own."""
    own = [line for line in lines if line.own and line.text.strip()] or [line for line in lines if line.text.strip()]
    texts = [" ".join(line.text.split())[:QUOTED] for line in (own[:1] if len(own) < 2 else (own[0], own[-1]))]
    return " … ".join(f"“{text}”" for text in texts)


def _left(fact: Learned, reason: str) -> LeftOut:
    parts = (fact.subject, fact.attribute, fact.value)
    return LeftOut(kind="fact", reason=reason, text="{} | {} = {}".format(*parts), parts=parts)
