"""Which lines of a window have the words of a claim, and whether these are enough to say it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from memhold.consolidate.grounding.claims import Claim, Line
from memhold.consolidate.grounding.names import names_a_thing
from memhold.consolidate.grounding.words import UNSPACED, any_word, literally, share_of, terms_of
from memhold.text.korean import nominalised_in
from memhold.text.quantities import quantities

__all__ = ["MOST_CITED", "best_lines", "confirming", "says_it"]

SAID: Final = 0.7
"""The share of a statement's content words that stand in its lines from which on it is said."""

SAID_VALUE: Final = 0.8
"""The same of a fact's value, which keeps the words in which it was said."""

SAID_GRAMS: Final = 0.5
"""The same in scripts without spaces, where a particle changes two grams of three."""

MOST_CITED: Final = 12
"""Most lines that are cited anew for one statement."""


def confirming(chosen: Sequence[Line], cited: Sequence[Line]) -> list[Line]:
    """Lines of the user's that are cited behind what somebody else said: with them it is the user's later word."""
    if any(line.own for line in chosen):
        return []
    return [line for line in cited if line.own and line.place > chosen[-1].place]


def best_lines(claim: Claim, lines: Sequence[Line]) -> list[Line]:
    """The fewest lines that together say the most of a claim: one that says all of it is enough."""
    wanted = terms_of(claim.told, claim.language)
    if not wanted:
        return [line for line in lines if literally(claim.core, line.text)][:1]
    numbers = {value for one in quantities(claim.core) for value in one.values}
    chosen: list[Line] = []
    left, open_numbers = set(wanted), set(numbers)
    pool = list(lines)
    while pool and len(chosen) < MOST_CITED:
        best = max(pool, key=lambda line: _gain(left, open_numbers, line, claim))
        gain = _gain(left, open_numbers, best, claim)
        if gain[0] <= 0 and chosen:
            break
        if gain[0] <= 0:
            return []
        chosen.append(best)
        pool.remove(best)
        left -= terms_of(best.text, claim.language)
        open_numbers -= {value for one in quantities(best.text) for value in one.values}
        if not left and not open_numbers:
            break
    return sorted(chosen, key=lambda line: line.place)


def _gain(left: set[str], numbers: set[Decimal], line: Line, claim: Claim) -> tuple[int, int, int, int]:
    held = {value for one in quantities(line.text) for value in one.values}
    frame = len(terms_of(claim.frame, claim.language) & terms_of(line.text, claim.language))
    return (len(left & terms_of(line.text, claim.language)) + len(numbers & held), frame, int(line.own), -line.place)


def says_it(claim: Claim, lines: Sequence[Line]) -> bool:
    """Whether the words of a claim stand in these lines, as far as words can tell."""
    if not lines:
        return False
    wanted = terms_of(claim.told, claim.language)
    if not wanted:
        # Function words, a sign or one letter: they stand there to the letter, or nowhere.
        return any(literally(claim.core, line.text) for line in lines)
    if claim.value and UNSPACED.search(claim.core) and all(len(term) == 1 for term in wanted):
        return any(literally(claim.core, line.text) for line in lines)
    if claim.value and UNSPACED.search(claim.core) and names_a_thing(claim.frame) and not any_word(claim, lines):
        return False
    share = share_of(claim.told, lines, claim.language)
    grams = sum(not term.isascii() and len(term) <= 2 for term in wanted) * 2 > len(wanted)
    if share >= (SAID_GRAMS if grams else SAID_VALUE if claim.value else SAID):
        return True
    return claim.value and nominalised_in(claim.told, [line.text for line in lines])
