"""Claims of what a thing is, or when it takes place: "my rent is 600 euros", "the party moved to Friday". Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memhold.text import lazily
from memhold.text.change import word_count
from memhold.text.claim_words import ADV, BESIDE, NAME, NOW, PAST_WHEN, TAIL, denied
from memhold.text.claims import THING, Claim, head

__all__ = [
    "IT_IS",
    "changed_thing",
    "named",
    "number_of",
    "of_thing",
    "read_called_off",
    "read_is",
    "read_moved",
    "read_planned",
]

_WORD: Final = r"(?!(?:is|are|was|were|has|have|got|and|or|that|who|which)(?!\w))[\w'-]++"
_THING: Final = rf"(?:[Mm]y|[Oo]ur|[Tt]he) (?:new )?(?P<thing>{_WORD}(?: {_WORD}){{0,6}}?)"
_IS: Final = lazily.compile(rf"{_THING} (?:is|are)(?: (?:now|actually|currently|called|named)){{0,2}} (?P<value>.+)")
_RUNS: Final = lazily.compile(
    rf"{_THING} (?:leaves|starts|begins|runs|departs|takes place|meets) (?P<value>(?:on|at) .+)"
)
IT_IS: Final = lazily.compile(r"(?:it|they)(?: is|'s| are|'re)(?: (?:now|actually|currently)){0,2} (?P<value>.+)")
_AS_MY: Final = lazily.compile(
    rf"(?:I|[Ww]e)(?:'m| am|'re| are)? (?:now |currently )?(?:use|using) (?P<value>.{{1,60}}?) as (?:my|our|the)"
    rf" (?P<thing>{_WORD}(?: {_WORD}){{0,3}}?){TAIL}"
)
_SHIFTED: Final = (
    r"(?:moved|pushed(?: back| forward| out| up)?|postponed|rescheduled|shifted|delayed|changed|updated"
    r"|brought forward"
    r"|put back|raised|lowered|reduced|increased|renamed)"
)
_WAS_MOVED: Final = lazily.compile(
    rf"{_THING}(?: (?:is|was|were|got|has been|have been|has just been)(?: just| now)? {_SHIFTED}"
    rf"| (?:has |have )?(?:just |now )?(?:changed|gone up|gone down|went up|went down|increased|dropped|risen"
    rf"|rose|fell))"
    rf"(?:(?: from .{{1,30}})? to (?P<value>.+)|\Z)"
)
_MOVED_IT: Final = lazily.compile(
    rf"(?:I|[Ww]e|[Tt]hey)(?:'ve| have)? ?{ADV}{_SHIFTED} {_THING}(?:(?: from .{{1,30}})? to (?P<value>.+)|\Z)"
)
_OFF: Final = lazily.compile(
    rf"(?:{_THING} (?:is|was|were|got|has been|have been|has just been)(?: just| now)? (?:cancell?ed|called off)"
    rf"|(?:I|[Ww]e|[Tt]hey)(?:'ve| have)? ?{ADV}(?:cancell?ed|called off) (?:my|our|the) (?P<thing2>.+))\Z"
)
_PLANNED: Final = lazily.compile(
    r"(?:I|[Ww]e)(?:'ve| have)?(?: got| have| booked| scheduled)? (?:a|an|my|our|the)"
    rf" (?P<thing>{_WORD}(?: {_WORD}){{0,5}}?) (?P<value>(?:on|at|for) .+)"
)
_SINGLE: Final = lazily.compile(r"(?i)^(?:favou?rite .+|.*(?:phone number|home address|rent|salary|weight|height))$")
"""What somebody has one of at a time."""
_OF: Final = lazily.compile(r"(?:price|cost|budget|size|length|height|width|weight|number|limit) (?:for|of) \w")
_SEVERAL: Final = lazily.compile(
    r"(?i)(?:sister|brother|cousin|aunt|uncle|niece|nephew|friend|colleague|co-?worker|neighbou?r|son|daughter"
    r"|child|kid"
    r"|dog|cat|pet|puppy|kitten|hamster|rabbit|horse|bird|fish|baby|twin|teammate|flatmate|roommate|housemate|student"
    r"|teacher|client|customer|grand\w{1,30}|name|plant|ex|problem|question|point|goal|plan|idea|concern|issue"
    r"|option|choice"
    r"|answer|hobby|thing|task|step|book|song|game|project|topic|(?<![su])s)$"
)
"""What one may have several of, or speak of anew each time: another is another one."""


def read_moved(clause: str) -> Iterator[Claim]:
    """To when something was moved: "the party moved to Friday"."""
    one = _WAS_MOVED.match(clause) or _MOVED_IT.match(clause)
    if one is not None and not denied(clause):
        said = one["value"] or ""
        for kind, value in _values(said, anything=False):
            yield Claim(thing=named(one["thing"]), value=value, kind=kind, news=not _narrowed(said))


def changed_thing(clause: str) -> str | None:
    """The thing of which a clause says that it was changed, and not to what: "we raised the API timeout"."""
    one = _WAS_MOVED.match(clause) or _MOVED_IT.match(clause)
    return named(one["thing"]) if one is not None and one["value"] is None and not denied(clause) else None


_THIS_TIME: Final = lazily.compile(r"(?i)(?<!\w)(?:today|yesterday|(?:this|last) \w+)(?!\w)")
"""What may say that one time of several was called off."""


def read_called_off(clause: str) -> Iterator[Claim]:
    """What does not take place: "the trip is off"."""
    one = _OFF.match(PAST_WHEN.sub("", clause))
    if one is None or denied(clause) or _THIS_TIME.search(clause) is not None:
        return
    thing = named(one["thing"] or one["thing2"])
    yield Claim(thing=thing, over="", news=True)
    yield Claim(thing="have", over=thing, news=True)


def read_is(clause: str) -> Iterator[Claim]:
    """What a thing is: "my rent is 600 euros"."""
    one = _IS.match(clause) or _RUNS.match(clause) or _AS_MY.match(clause)
    if one is None or denied(clause) or BESIDE.search(clause) is not None:
        return
    new = clause.split()[1] == "new"
    yield from of_thing(
        named(one["thing"]),
        one["value"],
        news=NOW.search(clause) is not None,
        new=new,
        any_word=one.re.pattern == _AS_MY.pattern,
    )


def of_thing(thing: str, said: str, *, news: bool, new: bool = False, any_word: bool = False) -> Iterator[Claim]:
    """What is said of a thing of somebody's; nothing of what they may have several of."""
    favourite = thing.startswith("favourite")
    news, new = news and not _narrowed(said), new and not _narrowed(said)
    if _SEVERAL.search(thing) is not None and not favourite:
        return
    for kind, value in _values(PAST_WHEN.sub("", said), anything=favourite or any_word):
        single = _SINGLE.match(thing) is not None or (kind.startswith("number") and _OF.search(thing) is not None)
        if not (new and kind == THING):
            yield Claim(thing=thing, value=value, kind=kind, news=news or new, single=single)


def read_planned(clause: str) -> Iterator[Claim]:
    """For when something is planned."""
    one = _PLANNED.match(clause)
    if one is not None and not denied(clause):
        for kind, value in _values(one["value"].removeprefix("for "), anything=False):
            if kind in {"day", "date", "clock"}:
                yield Claim(thing=named(one["thing"]), value=value, kind=kind)


_MONTHS: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:tember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_KINDS: Final = (
    ("day", lazily.compile(r"(?i)(?:on )?((?:mon|tues|wednes|thurs|fri|satur|sun)days?)(?!\w)")),
    (
        "date",
        lazily.compile(
            rf"(?i)(?:on )?(?:the )?(\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTHS}|{_MONTHS} \d{{1,2}})(?!\w)"
        ),
    ),
    (
        "clock",
        lazily.compile(
            r"(?i)(?<![\d.,])(?:at )?(\d{1,2}:\d\d(?: ?[ap]\.?m)?"
            r"|\d{1,2}(?:\.\d\d)? ?[ap]\.?m|(?<=at )\d{1,2}(?: o'clock)?"
            r"|noon|midnight"
            r"|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?= o'clock|\Z))(?!\w)"
        ),
    ),
)
_WHOLE: Final = (
    ("address", lazily.compile(r"([^\s@]{1,64}@[^\s@]{1,190}\.\w{1,24})\Z")),
    (
        "number",
        lazily.compile(
            r"((?:[$€£] ?)?\d[\d ,.]{0,20}\d|(?:[$€£] ?)?\d)(?: ?(?P<unit>[^\W\d_%]+|%))?"
            r"(?: (?:a|per) (?P<period>\w+))?\Z"
        ),
    ),
    ("word", lazily.compile(r"((?=\S{0,60}\d)(?=\S{0,60}[a-zA-Z])\S{5,60})\Z")),
    (THING, lazily.compile(rf"(?:a|an) ((?:[\w-]+ ){{0,2}}{NAME}(?: [\w-]+)?)\Z")),
    ("name", lazily.compile(rf"(?:the )?({NAME})\Z")),
)
_NO_NAME: Final = lazily.compile(
    r"(?:ish|ese|ian|ean)(?: |\Z)|\A(?:German|French|Dutch|Greek|Swiss|Czech|Thai|Turk|Arab|Welsh|American"
    r"|African|Mexican"
    r"|Catholic|Muslim|Hindu|[A-Z]{2,})\Z"
)
"""What has a capital letter and says of somebody what they are like, not who they are."""


def _values(text: str, *, anything: bool) -> Iterator[tuple[str, str]]:
    """The kinds and values of what stands behind "is" or "to": days and times wherever, else all of it as one."""
    text = text.strip(" .")
    found = [(kind, one[1]) for kind, pattern in _KINDS for one in (pattern.search(text),) if one is not None]
    if found and re.match(r"(?i)(?:on|at|the|\d|mon|tue|wed|thu|fri|sat|sun|" + _MONTHS + ")", text):
        yield from found
        return
    for kind, pattern in _WHOLE:
        if one := pattern.match(text):
            if kind == "number":
                yield number_of(one["unit"], one["period"]), one[1]
            elif kind != "name" or _NO_NAME.search(one[1]) is None:
                yield kind, one[1]
            return
    if anything and 0 < word_count(text) <= 4 and head(text) == text.casefold() and _GOES_ON.match(text) is None:
        yield "name", text


_GOES_ON: Final = lazily.compile(r"(?i)\A\w+ing ")
"""What somebody's favourite is at: "playing Feyenoord"."""


def _narrowed(said: str) -> bool:
    """Whether a time is said of a part of the thing alone: "at 8 on the way back", "at 10 on Fridays"."""
    rest = said
    for _, pattern in _KINDS:
        one = pattern.search(rest)
        if one is not None:
            rest = f"{rest[: one.start()]} {rest[one.end() :]}"
            if one[1].endswith("days") and dict(_KINDS)["clock"].search(said) is not None:
                return True
    if rest == said:
        return False
    beside = _AND_WHY.split(PAST_WHEN.sub("", f" {rest.strip(' .')}"), maxsplit=1)[0].lower().replace(",", " ")
    return any(word not in _BEHIND_A_TIME and not word.isdigit() for word in beside.split())


_AND_WHY: Final = lazily.compile(r"(?i)(?<!\w)(?:from|because|since|as|so|due|which|where|not)(?!\w)")
_PLAIN: Final = "at on the o'clock now instead again sharp already in morning afternoon evening"
_BEHIND_A_TIME: Final = frozenset(_PLAIN.split())
"""What may stand beside a time that is told of the whole thing."""


def number_of(unit: str | None, period: str | None) -> str:
    """The kind of a number: its unit, and for which period it is."""
    return f"number {(unit or '').lower()}/{(period or '').lower()}"


def named(thing: str) -> str:
    """A thing by the name under which it is compared: without case, and without "new" and "old"."""
    return " ".join(thing.lower().replace("favorite", "favourite").split()).removeprefix("new ").removeprefix("old ")


# What somebody does and has, and what they say to be over.
