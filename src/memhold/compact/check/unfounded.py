"""What is wrong with a text that tells its sources shorter, beside which they stay: a roll-up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memhold.compact.check.all_rules import RULES
from memhold.compact.check.case import Case, Source
from memhold.compact.check.form import ill_formed
from memhold.compact.check.terms import FEW
from memhold.compact.clauses import shared, swapped
from memhold.consolidate.entry import other_script, untimed
from memhold.text.analysis import language_of
from memhold.text.details import content_terms
from memhold.text.negation import negates

__all__ = ["LEAST_TOLD", "unfounded"]

LEAST_TOLD = 0.05
"""The share of a part's own words that a roll-up must tell: below it, the part might as well not have been shown."""


def unfounded(sources: Sequence[Source], text: str, *, known: str = "") -> str | None:
    """What is wrong with a text that tells its sources shorter, beside which they stay; None where it may stand.

    It may leave details out. It invents none (`known` holds what may be said without standing in a source), denies
    nothing that none denies, tells something of each, in their script, and is plain where they are and no longer.
    """
    language = language_of(" ".join(source.text for source in sources))
    fault = ill_formed(Case(tuple(sources), text, language))
    if fault is not None:
        return fault
    case = Case((*sources, replace(sources[0], text=known)), text, language)
    for name in ("a figure was invented", "a name was invented", "a day, colour or time was invented"):
        if RULES[name](case) is not None:
            return name
    within = " ".join(source.text for source in sources)
    if negates(text, within) and not any(negates(source.text, within) for source in sources):
        return "the text says no where no source does"
    terms = [content_terms(untimed(source.text)) for source in sources]
    for place, every in enumerate(terms):
        # What others say too is no sign that this one was told, unless it says little else.
        own = every.difference(*(other for at, other in enumerate(terms) if at != place))
        own = own if len(own) >= FEW else every
        if own and shared(own, text) < max(1, len(own) * LEAST_TOLD):
            return f"nothing of s{place + 1} is in the text"
    if swapped([source.text for source in sources], text):
        return "the text says of one thing what is said of another"
    return other_script(text, [source.text for source in sources])
