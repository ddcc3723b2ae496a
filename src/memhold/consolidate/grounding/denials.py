"""Whether a claim says yes of what its lines deny, or no of what none denies. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from memhold.consolidate.clause_subjects import CLAUSE, Clause, names_in, whose_clauses
from memhold.consolidate.grounding.claims import Claim, Line
from memhold.consolidate.grounding.names import own_names
from memhold.consolidate.grounding.subjects import ANYBODY, named_in
from memhold.consolidate.grounding.words import TAKEN_UP, UNSPACED, has_numbers_of, terms_of
from memhold.text.change import changes
from memhold.text.details import details
from memhold.text.kin import kin_in
from memhold.text.mood import is_asked, proposes
from memhold.text.negation import negates
from memhold.text.normal_form import normal_form
from memhold.text.quantities import quantities
from memhold.text.times import calendar_words

# ruff: noqa: RUF001 - signs and letters of every script

__all__ = ["AGAINST", "denies", "turned"]

AGAINST = re.compile(
    r"(?i)\b(?:dislike|hate|avoid|al{1,2}[eé]rg|intoleran|unverträg|refus|against|stop|quit|former|ex-|no longer|least|"
    r"end|gave up|fear|"
    r"cancel|reject|declin|detest|abneig|hass|vermeid|ohne|gegen|détest|évite|refus|odi[aeo]|odei|evit[aeo]|aborre"
    r"|rechaz|contra|haat|hekel|vermijd|hatar|avskyr|undvik|ненави|избега)"
    r"|싫|못|알레르기|거부|嫌|苦手|アレルギー|讨厌|過敏|过敏|避"
)
"""Words that say no without a word of denial: what they are said of may stand in a clause that denies."""


def denies(claim: Claim, line: Line) -> bool:
    """Whether a line of the user's says no of what the claim's attribute names: that there is none."""
    shared = terms_of(claim.frame, claim.language) & terms_of(line.text, claim.language)
    return line.own and bool(shared) and negates(line.text)


def turned(claim: Claim, lines: Sequence[Line], window: Sequence[Line]) -> bool:
    """Whether the claim says yes of what its lines only deny, or no of what none denies."""
    if (apart := _set_apart(claim, lines)) is not None:
        return apart[1] or turned(apart[0], lines, window)
    within = " ".join(line.text for line in lines)
    names = frozenset(
        term for detail in details(within) if detail.kind == "name" for term in terms_of(detail.text, claim.language)
    )
    wanted = terms_of(claim.told, claim.language)
    if claim.language != "german":  # where every noun looks like a name
        wanted = wanted - names or wanted
    clauses = _clauses_of(claim, lines, window)
    if claim.value and any(_named_and_denied_something(claim, one, within) for one in clauses):
        return False
    near = [(clause, wanted & terms_of(clause, claim.language)) for clause in clauses]
    near = [(clause, shared) for clause, shared in near if shared]
    if not near:  # where its lines share names alone with it, these are what is denied or not
        wanted |= terms_of(claim.told, claim.language)
        near = [(clause, wanted & terms_of(clause, claim.language)) for clause in clauses]
        near = [(clause, shared) for clause, shared in near if shared]
    if negates(claim.whole, within):
        if _not_that_one(claim, clauses, within) or _but_for_it(
            claim, [one for one in clauses if negates(one, within)]
        ):
            return True
        own = {word.casefold() for word in AGAINST.findall(claim.whole)}
        all_of_it = terms_of(claim.core, claim.language)
        told = [one for one in clauses if all_of_it & terms_of(one, claim.language)]
        told = told or [line.text for line in lines]
        return not any(
            negates(one, within)
            or _apart_in(one).search(one)
            or any(w.casefold() not in own for w in AGAINST.findall(one))
            for one in told
        )
    if _only_passed_over(claim, lines) or _but_for_it(claim, [one for one in clauses if not negates(one, within)]):
        return True
    if AGAINST.search(claim.whole) is not None:
        return _against_denied(claim, clauses, within)
    over = _ENDED.search(claim.whole) is not None
    affirmed: set[str] = set()
    denied: set[str] = set()
    for clause, shared in near:
        if not _no(clause, within, over=over):
            affirmed |= shared
        elif not is_asked(clause) and not _of_another_name(claim, clause, clauses, within):
            denied |= shared
    denied -= affirmed | _taken_up_again(claim, clauses, within, over=over)
    if affirmed:  # "On Thursdays I don't cook since I sing": it is not the day that is denied
        denied -= {term for word in calendar_words(within) for term in terms_of(word, claim.language)}
    # Of pairs of characters an ending makes new ones, which no clause has.
    return len(denied) * (4 if UNSPACED.search(claim.told) else 3) >= max(1, len(wanted)) and bool(denied)


_APART = re.compile(
    r"(?i)(?:,?\s(?:and|but|und|aber|et|mais|y|pero|e|ma|mas|en|maar|och|men)|,)\s(?:not|nicht|pas|no|non|não|niet|inte|не)\s"
    r"|\s(?:instead of|rather than|statt|anstatt|au lieu de|plutôt que|en lugar de|en vez de|invece di|anziché"
    r"|em vez de|in plaats van|i stället för|вместо)\s"
    r"|\s(?:except(?: for)?|apart from|other than|außer|sauf|excepté|excepto|salvo|tranne|eccetto|exceto|behalve|utom"
    r"|кроме)\s"
)
_PREFERS = re.compile(
    r"(?i)\b(?:prefer\w*|favou?r\w*|cho(?:ose|se|ice|sen|osing)\w*|pick\w*|lik(?:e|ing)\w*|lov(?:e|ing)\w*)\b"
)
_OVER = re.compile(rf"{_APART.pattern}|\sover\s(?!\d)")


def _apart_in(text: str) -> re.Pattern[str]:
    """How a text sets one thing against another: by "over" only where it prefers one, not "in Rome over Easter"."""
    return _OVER if _PREFERS.search(text) else _APART


_UP_TO = re.compile(r"[.,;:!?。]")
_LEFT = re.compile(
    r"(?i)\b(?:from|von|vom|de|du|da|van|från)\s(?P<left>\w+)\s(?:to|zu|zum|auf|à|au|a|al|para|naar|till)\s"
)
"""What somebody changes from: "I switched from Vim to Emacs"."""
_LISTED: Final = 2
_SET_AGAINST: Final = 5
"""Words up to which what a sentence sets itself against is a thing and no statement of its own."""


def _set_apart(claim: Claim, lines: Sequence[Line]) -> tuple[Claim, bool] | None:
    """A sentence up to what it sets itself against ("Sam, not Samuel"), and whether the lines say yes of the latter.

    None where it sets itself against nothing of which they speak.
    """
    found = None if claim.value else _apart_in(claim.core).search(claim.core)
    if found is None or not claim.core[: found.start()].strip():
        return None
    if found[0].split()[-1].casefold() == "no" and claim.language == "english":
        return None  # "the scan showed a tear, and no surgery was needed" sets nothing against the tear
    what = _UP_TO.split(claim.core[found.end() :].strip())[0]
    if len(what.split()) > _SET_AGAINST:
        return None
    apart = terms_of(what, claim.language)
    denied: set[str] = set()
    affirmed: set[str] = set()
    for line in lines:
        first, *behind = (_DENYING_OVER if _PREFERS.search(line.text) else _DENYING).split(line.text)
        affirmed |= terms_of(first, claim.language)
        if changes(line.text):
            denied |= {term for one in _LEFT.finditer(line.text) for term in terms_of(one["left"], claim.language)}
        for part in behind:
            no, *yes = CLAUSE.split(part)
            denied |= terms_of(no, claim.language)
            for one in yes:  # "except mushrooms and olives": what goes on with a word or two may be left out as well
                (denied if len(one.split()) <= _LISTED else affirmed).update(terms_of(one, claim.language))
    swapped = bool(apart & affirmed - denied)
    return (replace(claim, core=claim.core[: found.start()]), swapped) if swapped or apart <= denied else None


_NONE_OF = re.compile(
    r"(?i)\b(?:kein(?:e[nmrs]?)?|ning[uú]n[oa]?|aucune?|nessun[oa]?|nenhuma?|geen|ingen|inga)\s+(?P<what>[^\W\d_]{3,})"
)


def _not_that_one(claim: Claim, clauses: Sequence[str], within: str) -> bool:
    """Whether what a claim says there is none of stands only in clauses that say yes: "no meat, but fish I do"."""
    found = _NONE_OF.search(claim.core)
    wanted = terms_of(found["what"], claim.language) if found is not None else frozenset()
    held = [one for one in clauses if wanted & terms_of(one, claim.language)]
    return bool(held) and not any(
        negates(one, within) or AGAINST.search(one) or _apart_in(one).search(one) for one in held
    )


def _of_another_name(claim: Claim, clause: str, clauses: Sequence[str], within: str) -> bool:
    """Whether a clause says that something is over of one name, and the claim is of one of which another says yes.

    "I used to live in Austin but I'm in Denver now": who lives in Denver is denied by nothing.
    """
    if negates(clause, within) or claim.value:
        return False
    named = [{one.text.casefold() for one in details(text) if one.kind == "name"} for text in (claim.core, clause)]
    wanted, over = named
    return bool(over - wanted) and any(
        wanted - over & {one.text.casefold() for one in details(other) if one.kind == "name"}
        for other in clauses
        if other != clause and not negates(other, within)
    )


def _taken_up_again(claim: Claim, clauses: Sequence[str], within: str, *, over: bool) -> frozenset[str]:
    """Words of clauses that the next one takes up by a pronoun and says yes of: "I quit the solo, Ada has it now"."""
    wanted = terms_of(claim.told, claim.language)
    return frozenset(
        term
        for before, clause in pairwise(clauses)
        if (TAKEN_UP.search(clause) or _only_counts(claim, clause))
        and wanted & terms_of(clause, claim.language)
        and not _no(clause, within, over=over)
        for term in terms_of(before, claim.language)
    )


def _only_counts(claim: Claim, clause: str) -> bool:
    """Whether a clause has a number of the claim and hardly a word more: "no more cats, we have two already"."""
    return has_numbers_of(claim.told, clause) and len(terms_of(clause, claim.language)) <= _NUMBER_ALONE


_NUMBER_ALONE: Final = 2

_BUT_FOR = re.compile(
    r"(?i)(?<!\w)(?:except(?: for)?|apart from|other than|außer|bis auf|sauf|excepté|hormis|excepto|salvo|tranne"
    r"|eccetto|exceto|behalve|utom|undtagen|unntatt|кроме)\s"
)


def _but_for_it(claim: Claim, clauses: Sequence[str]) -> bool:
    """Whether what a claim says yes or no of is what clauses that say so leave out: "no fruit except pears"."""
    wanted = terms_of(claim.core, claim.language)
    parts = [(_BUT_FOR.split(clause), clause) for clause in clauses if wanted & terms_of(clause, claim.language)]
    left_out = frozenset(term for part, _ in parts for one in part[1:] for term in terms_of(one, claim.language))
    denied = frozenset(term for part, _ in parts for term in terms_of(part[0], claim.language))
    return bool(wanted & left_out - denied)


def _against_denied(claim: Claim, clauses: Sequence[str], within: str) -> bool:
    """Whether the word by which a claim says no is itself denied wherever it stands: "I should quit, I won't"."""
    words = {word.casefold() for word in AGAINST.findall(claim.whole)}
    held = [clause for clause in clauses if any(word in clause.casefold() for word in words)]
    # "No longer allergic to peanuts, but to cats": what is denied is something else.
    core = terms_of(claim.core, claim.language) if claim.value else frozenset()
    if any(core & terms_of(one, claim.language) and not negates(one, within) for one in clauses):
        return False
    return bool(held) and not negates(claim.whole, within) and all(negates(one, within) for one in held)


_NO = (
    r"(?i:\b(?:not|never|no|nicht|nie|kein\w*|pas|jamais|non|nunca|não|niet|nooit|geen|inte|aldrig|не|никогда)\b"
    r"|n['’]t\b)"
)
_DENYING = re.compile(rf"{_APART.pattern}|{_NO}")
_DENYING_OVER = re.compile(rf"{_OVER.pattern}|{_NO}")

_PASSED_OVER = re.compile(
    r"(?i)(?<!\w)(?:instead of|rather than|in place of|statt|anstelle(?: von)?|anstatt|au lieu d['’eu]e?|plutôt que"
    r"|en lugar de|en vez de|anziché|invece di|in plaats van|i stället för|вместо)\s+(?:\w+\s+){0,2}?\Z"
)

_NOT_THAT = re.compile(
    r"(?i)(?:,\s*|\b(?:and|but|und|aber|et|mais|y|pero|e|ma|mas|en|maar)\s+)(?:not|never|nicht"
    r"|kein(?:e[nmrs]?)?|pas|no|non"
    r"|não|niet|geen)\s+(?:the |an? |de |d['’]|l['’]|le |la |el |il )?\Z"
)
"""What a line sets against what it says: "Duruflé, not Fauré"."""

_FOR_ANOTHER = re.compile(r"\s*(?:대신|の代わり|而不是)")


def _only_passed_over(claim: Claim, lines: Sequence[Line]) -> bool:
    """Whether a value, a name or a number stands only where lines take another for it.

    "The Skoda instead of the Renault", "Duruflé, not Fauré", "two dentists instead of seven".
    """
    return any(
        bool(places)
        and all(
            _PASSED_OVER.search(text[:start]) or _NOT_THAT.search(text[:start]) or _FOR_ANOTHER.match(text[end:])
            for text, start, end in places
        )
        for places in _set_against(claim, lines)
    )


def _set_against(claim: Claim, lines: Sequence[Line]) -> Iterator[list[tuple[str, int, int]]]:
    """Where lines have what they may set against something else: a value, or each name and number of a sentence."""
    names = (
        [claim.core] if claim.value else [one.text for one in details(claim.core) if one.kind == "name" and one.sure]
    )
    for name in names:
        edge = r"(?<![^\W_])", r"(?![^\W_])"
        word = f"{edge[0]}{re.escape(name)}{edge[1]}" if not UNSPACED.search(name) else re.escape(name)
        yield [
            (line.text, one.start(), one.end()) for line in lines for one in re.finditer(word, line.text, re.IGNORECASE)
        ]
    for number in () if claim.value else quantities(claim.core):
        yield [
            (normal_form("NFC", line.text), one.start, one.start + len(one.text))
            for line in lines
            for one in quantities(line.text)
            if one.values & number.values
        ]


_ENDED = re.compile(
    r"(?i)\A\W*(?:antes|prima|avant|davor|zuvor|früher|before (?:that|then)|earlier|eerder|tidigare|раньше)\b"
    r"|\b(?:quit|stopped|gave up|given up|used to|until|former\w*|previously|past|aufgehört|früher\w*|ehemals|arrêté"
    r"|autrefois|ancien\w*"
    r"|dej[éó]|smesso|gestopt|vroeger|slutat"
    r"|бросил[аи]?)\b"
    r"|끊[었은음]|그만[두둠]|그만뒀|やめ[たてま]|辞め[たてま]|戒了|戒掉|不再"
)
"""Words that something is over: as a present thing it is told of nobody."""


def _no(clause: str, within: str, *, over: bool) -> bool:
    """Whether a clause denies, or says that something is over where the claim (`over`) does not."""
    ended = _ENDED.search(clause)
    if ended is not None and ended[0].casefold() == "until" and _IS_SO.search(clause):
        ended = None  # "we are insured until September"
    return negates(clause, within) or (not over and ended is not None)


_IS_SO = re.compile(r"(?i)\b(?:am|is|are|will)\b|['’](?:m|re|ll)\b")


def _named_and_denied_something(claim: Claim, clause: str, within: str) -> bool:
    """Whether a clause calls somebody by a name, and only then denies something: "my wife Anna can't eat fish"."""
    place = clause.find(claim.core)
    before, behind = clause[: max(place, 0)], clause[place + len(claim.core) :]
    if place < 0 or negates(before, within) or _IS_NOT.match(behind) is not None:
        return False
    word = before.rstrip(" ,の").rsplit(" ", 1)[-1]
    return bool(kin_in(word, claim.language)) and not negates(claim.core, within)


_IS_NOT = re.compile(
    r"\s?(?:[이가]\s?)?아[니닙]|じゃ(?:な|あり)|では(?:な|あり)|,?\s(?:is|was|ist|war)(?:\snot|n['’]t|\snicht)\b"
)


def _clauses_of(claim: Claim, lines: Sequence[Line], window: Sequence[Line]) -> list[str]:
    """The clauses of lines that can say a claim, each once: where it is of the user, those of their lines of them."""
    names = own_names(window)
    known = names_in(line.text for line in window)
    whole = claim.whole.casefold()
    every: list[Clause] = []
    for line in lines:
        told = whose_clauses(line.text, claim.language, names, known)
        for one, behind in zip(told, [*told, Clause("")][1:], strict=True):
            refused = line.own and _REFUSED.match(behind.text) and proposes(one.text, claim.language)
            if refused and not claim.value and not (one.who and named_in(one.who, whole, claim)):
                every.append(replace(one, text=f"{one.text} {behind.text}", who=frozenset()))
            else:
                every.append(one if line.own else Clause(one.text))
    own = [one for one in every if not one.who - ANYBODY or named_in(one.who, whole, claim)]
    return list(dict.fromkeys(one.text for one in (own if own and not claim.about else every)))


_REFUSED = re.compile(
    r"(?i)\W*(?:no (?:chance|way|thanks?)|not (?:a chance|happening|for me)|never|nope|absolutely not|of course not"
    r"|(?:and |but )?i (?:won['’]t|don['’]t|didn['’]t|can['’]t|wouldn['’]t|haven['’]t|will not|do not)"
    r"|kommt nicht in ?frage|auf keinen fall|nie im leben|niemals"
    r"|(?:aber )?ich nicht|pas question|jamais(?: de la vie)?|certainement pas|(?:mais )?(?:moi|pas) (?:non|moi)"
    r"|ni hablar|de ninguna manera|jamás|yo no"
    r"|neanche per sogno|assolutamente no|io no|de jeito nenhum|eu não|geen sprake van|nooit|ik niet|aldrig"
    r"|jag inte|ни за что|никогда|я нет)\W*\Z"
)
"""A clause that does nothing but say no to the one before it."""
