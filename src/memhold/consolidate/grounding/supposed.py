"""Whether a claim tells as so what its lines only suppose, wish, propose or ask. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memhold.consolidate.clause_subjects import SENTENCE, Clause, names_in, whose_clauses
from memhold.consolidate.grounding.claims import Claim, Line
from memhold.consolidate.grounding.denials import AGAINST
from memhold.consolidate.grounding.names import own_names
from memhold.consolidate.grounding.offers import agreed_to
from memhold.consolidate.grounding.subjects import NEAR, NEAR_GRAMS
from memhold.consolidate.grounding.words import UNSPACED, has_numbers_of, literally, overlap, terms_of
from memhold.text.mood import is_asked, speaks_of_it, supposed_in
from memhold.text.negation import negates

# ruff: noqa: RUF001 - letters of every script

__all__ = ["only_supposed"]


def only_supposed(claim: Claim, lines: Sequence[Line], window: Sequence[Line]) -> bool:
    """Whether each clause that says the most of a claim says it as what might be, would be, or is asked for.

    What the speaker calls their own in such a clause is theirs: "should my dog eat that?". An offer to which they say
    yes is taken. Where clauses have the claim's numbers, these are the ones that count.
    """
    if negates(claim.whole) or AGAINST.search(claim.whole):
        return False
    names, known = own_names(window), names_in(line.text for line in window)
    # What somebody else proposes holds to the end of their sentence: "you could fit solar, for example four panels".
    every = [
        (line, one)
        for line in lines
        for one in (
            _whole(whose_clauses(line.text, claim.language, names, known))
            if line.own
            else map(Clause, filter(str.strip, SENTENCE.split(line.text)))
        )
    ]
    counted = [one for one in every if has_numbers_of(claim.told, one[1].text)]
    clauses = [
        (line, one.text, overlap(claim.told, f"{one.text} {' '.join(one.who)}", claim.language))
        for line, one in counted or every
    ]
    nearest = max((share for _, _, share in clauses), default=0.0)
    if not counted and nearest < (NEAR_GRAMS if UNSPACED.search(claim.told) else NEAR):
        return False
    return all(
        _supposes(clause, claim, users=line.own) and not agreed_to(clause, line, window)
        for line, clause, share in clauses
        if share >= nearest
    )


def _whole(told: Sequence[Clause]) -> Iterator[Clause]:
    """Clauses, each with the bare noun that stands behind it: "I'd like another car, an electric one"."""
    left = False
    for one, behind in zip(told, [*told, Clause("")][1:], strict=True):
        joined = _NOUN.fullmatch(behind.text) is not None and one.text.rstrip()[-1:] not in ".!?…"
        if not left:
            yield replace(one, text=f"{one.text}, {behind.text}") if joined else one
        left = joined and not left


_NOUN = re.compile(r"(?i)\W*(?:an?|eine?n?|une?|una?|um|uma|een|en|ett)\s[^\W\d_]+(?:\s[^\W\d_]+)?\W*")
"""A noun with its article and an adjective, and no verb."""


def _supposes(clause: str, claim: Claim, *, users: bool) -> bool:
    part = supposed_in(clause, claim.language)
    if part is None and not users and not claim.value and is_asked(clause):
        part = clause  # what somebody else asks they do not tell; a value of it stays as a doubt
    if part is None:
        return False
    supposed, told = terms_of(part, claim.language), terms_of(claim.told, claim.language)
    own = frozenset[str]().union(*(terms_of(one["what"], claim.language) for one in _OWN.finditer(part)))
    if _SELF.search(part) or (own & told and told & supposed <= own):
        return False
    # A wish is one where the claim tells of it, in words that are not wished themselves: "you could ask her".
    outside = " ".join(word for word in claim.whole.split() if not terms_of(word, claim.language) & supposed)
    if UNSPACED.search(claim.whole):
        outside = claim.whole  # a sentence is one word there
    return not speaks_of_it(outside, claim.language) and (bool(told & supposed) or literally(claim.core, part))


_OWN = re.compile(
    r"(?i)\b(?:my|our|mein\w*|unser\w*|mon|ma|mes|notre|nos|mi|mis|mio|mia|miei|mie|meu|minha|mijn|ons|onze|min|mitt"
    r"|mina|vår|мо[йяию]\w*)\s+(?P<what>\w+(?:\s+\w+)?)"
)
_SELF = re.compile(
    r"(?i)\b(?:i['’]m|i am|i have|i['’]ve|ich bin|ich habe|je suis|j['’]ai|soy|tengo|sono|ho|tenho|sou)\b"
)
"""What the speaker has or is, whatever is asked or wished about it."""
