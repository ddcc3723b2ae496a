"""All rules, in their order, and what comes of asking them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memhold.compact.check.both import instead_turned, side_by_side
from memhold.compact.check.case import Case, Refusal, Rule, Source
from memhold.compact.check.denials import denial_invented, denial_lost, denial_moved
from memhold.compact.check.figures import invented_figures, lost_figures
from memhold.compact.check.form import ill_formed, is_joined
from memhold.compact.check.marks import invented_marks, lost_marks
from memhold.compact.check.names import invented_names, lost_names
from memhold.compact.check.reasons import reason_invented
from memhold.compact.check.replaced import change_invented, newest_told, old_as_new, two_values
from memhold.compact.check.subjects import (
    clauses_exchanged,
    exchanged,
    places_exchanged,
    relative_lost,
    turned,
    values_exchanged,
)
from memhold.compact.check.unspaced_words import characters_exchanged, roles_exchanged
from memhold.compact.check.widened import made_certain, widened
from memhold.compact.check.wording import (
    agreed,
    clause_lost,
    exchanged_between,
    exchanged_modifier,
    exchanged_word,
    listed,
    substituted,
    word_lost,
)
from memhold.text.analysis import language_of

__all__ = ["RULES", "refused"]


def refused(sources: Sequence[Source], text: str, *, but: frozenset[str] = frozenset()) -> Refusal | None:
    """Why a text may not take the place of its sources; None where it may. `but` leaves rules out, to measure them."""
    language = language_of(" ".join(source.text for source in sources))
    case = Case(tuple(sources), text, language)
    if ill_formed(case) is None and not case.gone and is_joined(case):
        return None
    for name, rule in RULES.items():
        if name not in but and (found := rule(case)) is not None:
            return Refusal(rule=name, shown=found)
    return None


RULES: Final[dict[str, Rule]] = {
    "form": ill_formed,
    "a figure was lost": lost_figures,
    "a figure was invented": invented_figures,
    "a name was lost": lost_names,
    "a name was invented": invented_names,
    "a day, colour or time was lost": lost_marks,
    "a day, colour or time was invented": invented_marks,
    "a no was lost": denial_lost,
    "a no was invented": denial_invented,
    "a no was moved": denial_moved,
    "a reason was invented": reason_invented,
    "it was widened": widened,
    "it was made certain": made_certain,
    "a relation was turned round": turned,
    "two things were exchanged": exchanged,
    "two values were exchanged": values_exchanged,
    "two words were exchanged": places_exchanged,
    "two clauses were exchanged": clauses_exchanged,
    "a relative was lost": relative_lost,
    "an old value holds": old_as_new,
    "both sides of a change hold": side_by_side,
    "an instead was turned round": instead_turned,
    "what holds now is not told": newest_told,
    "a change was invented": change_invented,
    "two values of one kind": two_values,
    "what they agree on was lost": agreed,
    "a clause was lost": clause_lost,
    "a word was lost": word_lost,
    "a list was changed": listed,
    "a word was exchanged": exchanged_word,
    "a word between two was exchanged": exchanged_between,
    "a word in front of another was exchanged": exchanged_modifier,
    "a word was put in the place of another": substituted,
    "characters were exchanged": characters_exchanged,
    "roles were exchanged": roles_exchanged,
}
"""What each rule looks at, in order; the name is what a change and an attempt say of it."""
