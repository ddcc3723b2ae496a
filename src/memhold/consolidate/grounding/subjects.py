"""Whether what is told of one is said of another, and who does it to whom. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from memhold.consolidate.clause_subjects import KIN, THIRD, Clause, names_in, people, whose_clauses
from memhold.consolidate.grounding.claims import ROLES, THE_USER, Claim, Line
from memhold.consolidate.grounding.names import german_noun, own_names
from memhold.consolidate.grounding.numbers import numbers_of
from memhold.consolidate.grounding.words import UNSPACED, begun, has_numbers_of, literally, overlap, terms_of
from memhold.facts.keys import canonical, compare
from memhold.text.details import details
from memhold.text.kin import kin_in, names_of_kin, strangers
from memhold.text.quantities import quantities
from memhold.text.times import calendar_words
from memhold.text.when import named_days

# ruff: noqa: RUF001 - signs and letters of every script

__all__ = ["ANYBODY", "SOMEBODY", "named_in", "other_subject", "told_about"]


def other_subject(claim: Claim, lines: Sequence[Line], window: Sequence[Line]) -> bool:
    """Whether what is told of one is said of another in the only clauses that say it.

    Of the user, where each such clause is of somebody or something else that the claim does not name; of another, where
    each is the speaker's own or of a third.
    """
    names = own_names(window)
    about, value = told_about(claim, names, window)
    if about is None or not terms_of(value, claim.language):
        return False
    known = names_in(line.text for line in window)
    told = [one for line in lines if line.own for one in whose_clauses(line.text, claim.language, names, known)]
    said = _saying(claim, value, told)
    if about:
        about |= names_of_kin(about, "\n".join(line.text for line in window), claim.language)
        return bool(said) and (all(_not_of(about, one, claim) for one in said) or _reversed(claim, value, said, told))
    wanted = terms_of(claim.whole, claim.language)
    if any(one.first and quantities(one.text) and terms_of(one.text, claim.language) <= wanted for one in told):
        return False  # "he runs the mile in 4:35, I in 4:52"
    if _done_to_the_user(claim, told):
        return True
    predicate = _predicate(claim)
    # "The user gave up smoking" names nobody of whom it is said that they "gave up".
    whole = " ".join(word for word in claim.whole.casefold().split() if predicate not in terms_of(word, claim.language))
    spoken = " ".join(line.text for line in lines)

    def of_another(one: Clause) -> bool:
        if (claim.value and _named_thing(claim.frame, one.text)) or claim.before & one.who:
            return False
        thing = one.thing and (
            not claim.value
            or UNSPACED.search(one.text) is not None
            or begun(claim.frame, spoken)
            or _MONEY.search(claim.core) is not None
        )
        return bool(one.who - ANYBODY) and not one.first and not thing and not named_in(one.who, whole, claim)

    if said and all(of_another(one) for one in said):
        return True
    # What another did in 1978, the user did not, though they took it up later.
    dates = [span for _, _, span in named_days(claim.core, lines[0].at)]
    for number in numbers_of(claim.core, dates):
        held = [one for one in told if any(number.values & other.values for other in quantities(one.text))]
        if held and not claim.value and all(of_another(one) and not one.thing for one in held):
            return True
    if any(one.first and _TAKEN_UP.search(one.text) for one in said):
        return False
    theirs = frozenset(one for one in told if of_another(one))
    return _does_what_they_do(claim, predicate, said, told, theirs) or any(
        _is_named_of_them(word, wanted, told, theirs, claim.language) for word in _named_words(claim, names, window)
    )


def _does_what_they_do(
    claim: Claim, predicate: str, said: Sequence[Clause], told: Sequence[Clause], theirs: frozenset[Clause]
) -> bool:
    """Whether what a claim says first of the user is said of others alone, or with another word that only they have.

    "We want a cat, Ana wants a grey one": a grey one is what Ana wants.
    """
    held = [one for one in told if predicate and predicate in terms_of(one.text, claim.language)]
    done = [one for one in held if one in theirs and not one.thing]
    rest = terms_of(claim.whole, claim.language) - {predicate}
    # "Ramipril 5 mg in the mornings. My brother takes the same": most of it is said without the verb.
    bare = bool(rest) and not any(_TAKEN_UP.search(one.text) for one in held)
    bare = bare and any(one not in theirs and rest <= terms_of(one.text, claim.language) for one in said)
    if done and not bare and len(done) == len(held):
        return True
    others = frozenset[str]().union(*(terms_of(one.text, claim.language) for one in told if one not in done))
    return any(terms_of(one.text, claim.language) & rest - others for one in done)


def _is_named_of_them(
    word: str, wanted: frozenset[str], told: Sequence[Clause], theirs: frozenset[Clause], language: str
) -> bool:
    """Whether a name is the user's in no clause: beside words that are theirs, it is another's all the same."""
    held = [one for one in told if literally(word, one.text)]
    if any(
        one in held and after.first and not after.who and terms_of(after.text, language) <= wanted
        for one, after in pairwise(told)
    ):
        return False  # "my sister says Budapest is overrated, I've never been"
    return bool(held) and all(one in theirs and not one.thing for one in held)


def _saying(claim: Claim, value: str, told: Sequence[Clause]) -> list[Clause]:
    """The clauses that say the most of a value; of those that have its numbers, where some do."""
    counted = [one for one in told if has_numbers_of(value, one.text)]
    nearest = max((overlap(value, one.text, claim.language) for one in counted or told), default=0.0)
    return [
        one
        for one in counted or told
        if (
            nearest >= (NEAR_GRAMS if UNSPACED.search(value) else NEAR)
            and overlap(value, one.text, claim.language) >= nearest
        )
        or (one.first and _TAKEN_UP.search(one.text) and begun(claim.frame, one.text))
    ]


def _named_thing(frame: str, clause: str) -> bool:
    """Whether a clause has what an attribute names as a thing of its own: "my landlord raised the rent to 680"."""
    stems = [word[:5] for word in re.findall(r"\w{4,}", frame.casefold())]
    return any(
        re.search(
            rf"(?i)\w\s+(?:the|my|our|die|der|das|den|meinen?|unsere?|le|la|l['’]|mon|ma|el|mi|il|de|het"
            rf"|mijn)\s+{stem}",
            clause,
        )
        for stem in map(re.escape, stems)
    )


_MONEY = re.compile(r"(?i)[€$£¥₩₹]|\b(?:euros?|dollars?|pounds?|quid|eur|usd|gbp|chf|franken|pesos?|yen|won|kronor)\b")


def _predicate(claim: Claim) -> str:
    """What a sentence says first of the user: "won" of "The user won the show"; empty where that is no content word."""
    if claim.value or THE_USER.match(claim.core) is None:
        return ""
    first = re.match(r"\W*(?:(?:has|have|had|hat|ist|a|est|ha|es|is|was|heeft)\s+)?(\w+)", claim.told)
    terms = terms_of(first[1], claim.language) if first is not None else frozenset()
    return next(iter(terms)) if len(terms) == 1 else ""


def told_about(claim: Claim, names: frozenset[str], window: Sequence[Line]) -> tuple[frozenset[str] | None, str]:
    """Of whom a claim is (empty: the user; None: it does not say), and what it says of them."""
    if claim.value:
        return frozenset(claim.about.casefold().split()) - names if claim.about else frozenset(), claim.core
    if _of_the_user(claim.core, window):
        return frozenset(), claim.told
    users = _USERS_KIN.match(claim.core)
    kin = users or _KIN_ALONE.match(claim.core)
    who = " ".join(filter(None, kin.groups())) if kin is not None else ""
    if kin is not None and (kin_in(who, claim.language) or (users is not None and who.casefold() in people())):
        return frozenset(who.casefold().split()), claim.core[kin.end() :]
    known = names_in(line.text for line in window if line.own)
    wide = _WIDE_SUBJECT_NAME.match(claim.core)
    if wide is not None and wide["name"] not in names and _of_whom_they_speak(wide["name"], claim.language, window):
        return frozenset({wide["name"]}), claim.core[wide.end() :]
    first = _SUBJECT_NAME.match(claim.core)
    if first is None or first["name"].casefold() not in known - names:
        return None, ""
    if claim.language == "german" and not _of_whom_they_speak(first["name"].casefold(), claim.language, window):
        return None, ""  # where every noun looks like a name
    return frozenset({first["name"].casefold()}), claim.core[first.end() :]


def _of_whom_they_speak(name: str, language: str, window: Sequence[Line]) -> bool:
    """Whether a clause of the user's is marked to be about that word."""
    return any(name in one.who for line in window if line.own for one in whose_clauses(line.text, language))


_USERS_KIN = re.compile(
    r"\W*(?:(?:用户|用戶|ユーザー|사용자)\s?[的の의]\s?(" + KIN + r")"
    r"|[Tt]he user['’]s ([\w-]+)(?:,? ([A-Z\u00c0-\u00de]\w+),?)?(?= )"
    r"|(?:[Dd]er|[Dd]ie|[Ll][ea]|[EeIi]l|[Oo]|[Aa]) ([\w-]+) "
    r"(?:de[sr] Nutzer(?:s|in)?|de l['’]utilisat(?:eur|rice)|del usuario|de la usuaria|dell['’]utente|d[oa] usuári[oa])"
    r"(?:,? ([A-Z\u00c0-\u00de]\w+),?)?(?= ))"
)
"""A sentence about somebody whom the user has: "The user's wife", "Le frère de l'utilisateur"."""

_KIN_ALONE = re.compile(
    r"\W*(?:[Tt]he|[Dd]er|[Dd]ie|[Ll][ea]|[EeIi]l|[Oo]|[Aa]|[A-Z\u00c0-\u00de]\w+?['’]?s)\s"
    r"([\w-]+)(?:,? ([A-Z\u00c0-\u00de]\w+),?)?(?= )"
)
"""The same without saying whose they are, or by the name of whose they are: "The father", "Svenjas Mann"."""

_WIDE_SUBJECT_NAME = re.compile(r"\W*(?P<name>[^\W\d_]{1,6}?)(?:さん|씨)?(?:이?(?:은|는|가)\s|이\s|は|が)")

_SUBJECT_NAME = re.compile(r"\W*(?:(?:Mrs?|Ms|Dr|Prof|Sra?|Mme)\.?\s+)?(?P<name>[A-Z\u00c0-\u00de]\w+)\s+(?=[a-zà-ÿ])")

_MY_OBJECT: Final = r"me|us|mir|mich|uns|m['’]|nous|nos|мне|нам"

_OWN_RETURN = re.compile(
    r"(?i)\b(?:sich|se|s['’]|si|zich|sig|was|were|been|got|gets|received|wurde|bek\w+|has been|by|from|von|par|por)\b"
)


def _done_to_the_user(claim: Claim, told: Sequence[Clause]) -> bool:
    """Whether the user does in a claim what somebody does to them in the lines: "the bank lent me 60,000"."""
    first = re.match(
        r"\W*(?:(?:has|have|had|hat|a|ha)\s+)?(\w{3,})",
        claim.told if THE_USER.match(claim.core) else claim.core.partition(" ")[2],
    )
    if claim.value or first is None or _OWN_RETURN.search(claim.core):
        return False
    verb = re.escape(first[1][:5])
    held = [one for one in told if re.search(rf"(?i)\b{verb}\w*", one.text)]
    object_of = rf"(?i)\b{verb}\w*\s+(?:{_MY_OBJECT})\b|\b(?:{_MY_OBJECT})\s?{verb}"
    return bool(held) and all(re.search(object_of, one.text) and not _I_DO.match(one.text) for one in held)


def _reversed(claim: Claim, value: str, said: Sequence[Clause], every: Sequence[Clause]) -> bool:
    """Whether somebody does to the user what the user does to them in the lines: "I owe Ada", "Ada owes the user"."""
    if claim.value or _USER_OBJECT.search(claim.core) is None:
        return False
    verb = next((terms for word in value.split() if (terms := terms_of(word, claim.language))), frozenset())
    done = [one for one in every if verb & terms_of(one.text, claim.language)]
    return all(
        not one.who - frozenset(claim.core.casefold().split()) and _I_DO.match(one.text) and not _TO_ME.search(one.text)
        for one in done or said
    )


_USER_OBJECT = re.compile(
    r"(?i)\w\s+(?:the user|de[nm] nutzer|de[nr] nutzerin|l['’]utilisat\w+|al? usuari[oa])(?!['’]s|\w)"
)

_I_DO = re.compile(r"(?i)\W*(?:i|we|ich|wir|je|nous|yo)\b")

_TO_ME = re.compile(r"(?i)\b(?:me|us|mir|mich|uns|moi|nous|nos|with|from|by|mit|von|avec|con)\b")


def _named_words(claim: Claim, names: frozenset[str], window: Sequence[Line]) -> Iterator[str]:
    """The proper names of a claim of the user's, but for their own."""
    for one in details(claim.core):
        nouns = claim.language == "german" and (german_noun(one.text, claim.core, window) or claim.value)
        if one.kind != "name" or nouns or one.text.casefold() in names | ROLES or calendar_words(one.text):
            continue
        if one.sure or claim.value:
            yield one.text


NEAR_GRAMS: Final = 0.3
"""The same in pairs of characters, of which an ending makes new ones."""

NEAR: Final = 0.5
"""The share of a claim's words that the clause which says it has at least."""

_TAKEN_UP = re.compile(
    r"(?i)\b(?:it|them|him|her|that|this|those|ihn|ihm|sie|es|das|dem|davon|lo|la|los|las|eso|le|les|ça|cela|en|y"
    r"|ne|ci|het|dat|hem)\b"
)
"""A pronoun by which a clause takes up what the one before spoke of."""


def _of_the_user(core: str, window: Sequence[Line]) -> bool:
    """Whether a sentence is of the user: by that word, or by the name that they gave."""
    if THE_USER.match(core) is not None:
        return re.match(r"['’]s\b|[的の의]", core[THE_USER.match(core).end() :]) is None  # type: ignore[union-attr]
    first = core.split()[:1]
    names = own_names(window)
    return bool(first) and first[0].casefold().strip(".,") in names


def _not_of(about: frozenset[str], one: Clause, claim: Claim) -> bool:
    if claim.value and claim.frame.casefold() in one.who and frozenset(claim.core.casefold().split()) & one.who:
        return False  # "her husband Piet" tells who the husband is
    held = one.text.casefold()
    for who in one.who:
        held = re.sub(rf"\w+['’]s (?={re.escape(who)}\b)", " ", held)  # "Theo's wife Anouk" is not Theo
    theirs = " ".join(one.who)
    if any(word in held for word in about) or kin_in(" ".join(about), claim.language) & kin_in(theirs, claim.language):
        return False
    if THIRD.match(one.text) and _are(about, theirs, claim.language):
        return False  # "my dad doesn't know, they've been divorced for years" is of the parents
    # "Dr Osei says the user must walk" tells of both.
    mine = one.first and not one.who and _USER_OBJECT.search(claim.core) is None
    return (bool(one.who - SOMEBODY) and not one.who & about) or mine


def _are(about: frozenset[str], who: str, language: str) -> bool:
    """Whether somebody is one of the kin that a claim is of: the father of the parents."""
    kin = kin_in(" ".join(about), language)
    return bool(kin and kin_in(who, language)) and not strangers(" ".join(about), who, language)


ANYBODY: Final = frozenset({"they", "ils"})
"""A pronoun that no noun explains and that need be nobody's: "they're asking 300"."""

SOMEBODY: Final = frozenset({"he", "she", "they", "er", "sie", "il", "elle", "él", "ella", "lui", "lei", "ele", "ela"})
"""A pronoun that no noun of its line explains."""


def named_in(who: frozenset[str], whole: str, claim: Claim) -> bool:
    """Whether a claim names a subject: by its word, by the beginning that two forms share, or by the same concept."""
    words = [word for word in re.findall(r"\w+", whole) if len(word) > 2]
    for subject in who:
        if any(word == subject or (len(subject) > 4 and word[:5] == subject[:5]) for word in words):
            return True
        if UNSPACED.search(subject) and subject in whole:
            return True
        if len(subject) > 3 and any(word.startswith(subject) for word in claim.frame.casefold().split()):
            return True  # "our prof" of a professor
        if claim.frame and compare(canonical("user", subject), canonical("user", claim.frame)).same == "same":
            return True
    return False
