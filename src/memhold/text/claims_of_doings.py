"""Claims of what somebody does, no longer does, or does in the place of something else. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from memhold.text import lazily
from memhold.text.change import word_count
from memhold.text.claim_words import ADV, BESIDE, NAME, NOW, PAST_WHEN, denied
from memhold.text.claims import DONE, LASTING, SWAP, Claim, head
from memhold.text.claims_of_things import number_of

__all__ = ["read_does", "read_ended", "read_swapped"]

_DOES: Final = lazily.compile(
    r"(?:I|[Ww]e)(?P<be>'m| am|'re| are)? (?:(?:currently|still|usually|always|mostly|now|mainly) )?"
    r"(?P<verb>(?!(?i:moved|went|was|were|had|did|got|said|think|know|need|can|just)(?!\w))[A-Za-z]+)"
    r"(?P<rest>(?: .+)?)\Z"
)
_NO_LONGER: Final = lazily.compile(
    r"(?:I|[Ww]e) (?:no longer (?P<verb1>[a-z]+)(?P<rest1>(?: .+)?)"
    r"|(?:don't|do not) (?P<verb2>[a-z]+)(?P<rest2>(?: .+?)?) any ?more(?: .*)?"
    r"|(?:(?:'ve|have) )?(?:(?:just|recently|finally) )?(?:stopped|quit|gave up|given up) (?P<verb3>[a-z]+ing)"
    r"(?P<rest3>(?: .+)?))\Z"
)
_NO_MORE: Final = lazily.compile(
    r"(?:I|[Ww]e)(?:'m|'re| am| are) (?:no longer (?P<rest1>.+)|not (?P<rest2>.+?) any ?more(?! than)(?: .*)?)\Z"
)
_SOLD: Final = lazily.compile(
    rf"(?:I|[Ww]e)(?:'ve| have)? ?{ADV}(?:sold|got rid of|gave away|ditched|cancell?ed|traded in|scrapped|quit"
    rf"|gave up|given up)"
    r" (?:my|our|the) (?P<old>.+)\Z"
)
_OTHER_ONE: Final = lazily.compile(r"(?i)(?:old|other|spare|second|first|extra)(?!\w)")
"""What was sold beside the one that somebody has."""
_SWAPPED: Final = lazily.compile(
    rf"(?:I|[Ww]e)(?:'ve| have)? ?{ADV}(?:(?:switched|changed|migrated|moved|upgraded"
    rf"|went) (?:over )?from (?P<old1>.+?) to (?P<new1>.+)"
    r"|(?:switched|changed) (?:over )?to (?P<new2>.+?) (?:from|instead of) (?P<old2>.+)"
    r"|(?:swapped|replaced|traded(?: in)?|exchanged) (?P<old3>.+?) (?:for|with|by) (?P<new3>.+))\Z"
)
_ARTICLE: Final = lazily.compile(r"(?i)^(?:(?:a|an|the|my|our) )+")
_INSTEAD: Final = lazily.compile(r"(?:I|[Ww]e) .+? instead of (?:(?P<verb>[a-z]+ing) )?(?P<old>.+)\Z")


def read_ended(clause: str) -> Iterator[Claim]:
    """What is over: "I no longer smoke", "I sold my car"."""
    if one := _NO_LONGER.match(clause):
        place = next(number for number in "123" if one[f"verb{number}"])
        verb, rest = _plain_verb(one[f"verb{place}"]), PAST_WHEN.sub("", one[f"rest{place}"]).strip()
        yield Claim(thing=f"do {verb}", over=rest, news=True)
    elif one := _NO_MORE.match(clause):
        rest = PAST_WHEN.sub("", one["rest1"] or one["rest2"])
        yield Claim(
            thing="do with" if rest.startswith("with ") else "do be", over=rest.removeprefix("with "), news=True
        )
    elif denied(clause):
        return
    elif ((one := _SOLD.match(clause)) and _OTHER_ONE.match(one["old"]) is None) or (
        (one := _INSTEAD.match(clause)) and NOW.search(clause) is not None
    ):
        yield Claim(thing="have", over=PAST_WHEN.sub("", one["old"]), news=True)


def read_swapped(clause: str) -> Iterator[Claim]:
    """What took the place of what: "I switched from tea to coffee", "I cook instead of ordering"."""
    one = _SWAPPED.match(clause)
    if one is None or denied(clause):
        return
    place = next(number for number in "123" if one[f"old{number}"])
    new = _ARTICLE.sub("", PAST_WHEN.sub("", one[f"new{place}"])).strip()
    if head(new) != new.casefold():
        # It says for what alone: "from Jira to Linear in the side project".
        return
    yield Claim(thing="have", value=new, kind=SWAP, over=PAST_WHEN.sub("", one[f"old{place}"]), news=True)


def read_does(clause: str) -> Iterator[Claim]:
    """What somebody does, has or is: "I smoke", "we have two cats"."""
    one = _DOES.match(clause)
    if one is None or denied(clause):
        return
    verb, rest = one["verb"].lower(), PAST_WHEN.sub("", one["rest"]).strip()
    if not one["be"] or verb.endswith("ing"):
        verb = _plain_verb(verb)
    elif verb != "with":
        verb, rest = "be", f"{verb} {rest}".strip()
    news = NOW.search(clause) is not None and BESIDE.search(clause) is None
    held, count = _PLACE.fullmatch(rest), _COUNT.fullmatch(rest)
    if held is not None:
        news_of = news and verb in {"bank", "study", "train"}
        yield Claim(thing=f"do {verb} {held['prep']}", value=held["name"], kind="name", news=news_of)
    if count is None:
        lasts = rest.partition(" ")[0] in _STATES if verb == "be" else verb in LASTING or verb in _HABITS
        if lasts and word_count(rest) <= FEW:
            yield Claim(thing=f"do {verb}", value=rest or verb, kind=DONE)
    else:
        thing, kind = f"do {verb}{(count['more'] or '').lower()}", number_of(count["unit"], count["period"])
        yield Claim(thing=thing, value=count["number"], kind=kind, news=news, single=verb == "weigh")


FEW: Final = 8
"""Words up to which what somebody does is one thing."""
_OFTEN: Final = "smoke live work go attend teach volunteer sing dance swim cycle run speak rent cook commute"
_HABITS: Final = frozenset(_OFTEN.split())
"""Verbs of what people do again and again, beside those of what they have."""
_KINDS_OF_PEOPLE: Final = "a an the vegetarian vegan pescatarian single married engaged pregnant unemployed retired"
_STATES: Final = frozenset(_KINDS_OF_PEOPLE.split())
"""With what begins that somebody is something for long; "so tired" passes."""
_PLACE: Final = lazily.compile(rf"(?P<prep>with|at|for) (?P<name>{NAME})(?: for .*)?")
_COUNT: Final = lazily.compile(
    r"(?P<number>\d[\d.,]*) ?(?P<unit>[^\W\d_]+)(?: (?:a|per) (?P<period>\w+))?(?P<more> .+)?"
)


def _plain_verb(verb: str) -> str:
    """A verb as one says it of oneself: "learning" and "learn" are one."""
    stem = verb.removesuffix("ing")
    if stem != verb and _VOWEL.search(stem) is not None:
        if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "sl":
            return stem[:-1]
        return _E_VERBS.get(stem, stem)
    return verb


_VOWEL: Final = lazily.compile("[aeiouy]")
_IN_E: Final = "us driv hav rid tak writ smok mak practis practic danc bak liv rac div hik cycl skat rehears giv"
_E_VERBS: Final = {stem: f"{stem}e" for stem in _IN_E.split()}
