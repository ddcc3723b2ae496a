"""Claims of where somebody lives or works, read from a clause. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memhold.text import lazily
from memhold.text.claim_words import ADV, BESIDE, NAME, NOW, TAIL, WHO, denied
from memhold.text.claims import Claim

__all__ = ["TO_A_HOME", "WITHIN", "read_home", "read_work"]

_MOVED: Final = lazily.compile(
    rf"{WHO}(?: ?'ve| have)? ?{ADV}(?:moved|relocated)(?: back| over| out| up| down)?"
    rf"(?: from (?P<old>{NAME}))? to (?P<name>{NAME}){TAIL}"
)
_LIVES: Final = lazily.compile(
    rf"{WHO}(?:'m| am| are|'re| is|'ve been| have been| has been)? ?{ADV}(?:lives?|living|reside|based) in"
    rf" (?P<name>{NAME}){TAIL}"
)
_WORKS: Final = lazily.compile(
    rf"{WHO}(?:'m| am| are|'re| is|'ve been| have been| has been)? ?{ADV}(?:works?|working|employed) (?:at|for)"
    rf" (?:the )?(?P<name>{NAME}){TAIL}"
)
_STARTED: Final = lazily.compile(
    rf"{WHO}(?: ?'ve| have)? ?{ADV}(?:started (?:a new job|my new job|working|work)|got a new job|have a new job"
    rf"|took a new job) (?:at|for) (?:the )?(?P<name>{NAME}){TAIL}"
)
_LEFT: Final = lazily.compile(
    rf"{WHO}(?: ?'ve| have)? ?{ADV}(?:quit|left|resigned from)(?: my (?:job|position) (?:at|with))? (?:the )?"
    rf"(?P<name>{NAME})(?: (?:for|to join) (?P<new>{NAME}))?{TAIL}"
)


def read_home(clause: str) -> Iterator[Claim]:
    """Where somebody lives, moved to or moved from."""
    one = _MOVED.match(clause) or _LIVES.match(clause)
    if one is None or denied(clause) or BESIDE.search(clause) is not None:
        return
    thing, name = f"home of {_who(one)}", one["name"].rstrip(".")
    old = one.groupdict().get("old")
    if old is not None:
        # A place or not ("from Slack to Teams"): it ends the home that it names, and no other.
        yield Claim(thing=thing, value=name, kind=_kind_of_place(name), over=old, sure=False)
    elif _MOVED.match(clause) is None:
        if _no_place(name):
            return
        yield Claim(thing=thing, value=name, kind=_kind_of_place(name), news=NOW.search(clause) is not None)
    elif not _no_place(name):
        yield Claim(thing=thing, value=name, kind=_kind_of_place(name), news=True, sure=thing != "home of me")


TO_A_HOME: Final = lazily.compile(
    r"(?i)(?<!\w)(?:relocated|abroad|neighbou?rs?|neighbou?rhood|movers"
    r"|(?:an?|the|new|bigger|smaller|nicer|cheaper) (?:house|flat|apartment|place|city|town|village))(?!\w)"
)
"""What is said beside a move from home to home; without it a name may be a firm's, a program's, a ward's."""
_FOR_THE_DAY: Final = lazily.compile(
    r"(?i)(?<!\w)(?<!quit )left .{0,80}(?<!\w)(?:today|yesterday|early|earlier|late|last night|this (?:morning"
    r"|afternoon|evening))(?!\w)"
)


def _kind_of_place(name: str) -> str:
    return "country" if name.casefold() in _COUNTRIES else "place"


def _no_place(name: str) -> bool:
    """Whether people move to it without leaving their home: a program, a department, a day."""
    return (
        not _NO_PLACES.isdisjoint(name.casefold().split())
        or re.search(r"[a-z][A-Z]|(?<![^ ])[A-Z]{2,}", name) is not None
    )


def read_work(clause: str) -> Iterator[Claim]:
    """Where somebody works, began or left."""
    if denied(clause) or BESIDE.search(clause) is not None:
        return
    if (one := _LEFT.match(clause)) and _FOR_THE_DAY.search(clause) is None:
        thing = f"work of {_who(one)}"
        yield Claim(thing=thing, value=(one["new"] or "").rstrip("."), kind="name", news=True, over=one["name"])
    elif one := (started := _STARTED.match(clause)) or _WORKS.match(clause):
        name = one["name"].rstrip(".")
        if name.casefold() in _NO_EMPLOYERS:
            return
        # "I'm working at Vino now" may be where somebody sits today, and "for Tom" whose word counts there.
        sits = started is None and _SITS.search(clause) is not None
        news = started is not None or (not sits and NOW.search(clause) is not None)
        sure = _FOR_ONE.search(clause) is None
        yield Claim(thing=f"work of {_who(one)}", value=name, kind="name", news=news, sure=sure)


_SITS: Final = lazily.compile(r"(?<!\w)working(?!\w)")
_FOR_ONE: Final = lazily.compile(r" for (?!the )[^\W\d_]\S*(?: [A-Z][^\s&]*)?(?= [a-z]|\Z)")
"""Whom somebody works for, in one word or two: a firm, or a person in the same one."""
_NOBODY: Final = "home free night nights noon one two three four five six seven eight nine ten eleven twelve"
_NO_EMPLOYERS: Final = frozenset(_NOBODY.split())
"""What stands behind "at" and "for" with a capital, and employs nobody."""
_MOVED_TO: Final = (
    "linux windows mac macos ubuntu debian fedora android iphone samsung pixel chrome firefox safari edge python "
    "rust java javascript typescript kotlin swift ruby go php scala react vue angular django rails postgres mysql "
    "mongo sqlite redis docker kubernetes azure gmail outlook proton slack teams zoom discord whatsapp signal "
    "telegram notion obsidian evernote trello asana jira confluence github gitlab figma sketch photoshop excel "
    "word sheets drive dropbox vim emacs spotify netflix kindle anki duolingo claude gemini mistral copilot "
    "cursor stripe shopify wordpress squarespace marketing sales finance legal product engineering operations "
    "support accounting research design procurement logistics plan phase step level part chapter question option "
    "team group class section stage grade room table tier version monday tuesday wednesday thursday friday "
    "saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays january february march april "
    "may june july august september october november december spring summer autumn winter christmas easter days "
    "nights mornings afternoons evenings building desk floor row gate ward wing zone seat hospital "
    "clinic hospice care home bed lane box aisle block"
)
WITHIN: Final = lazily.compile(
    r"(?i)(?<!\w)(?:part of town|side of town|across town|neighbou?rhood|district|quarter|borough|suburb"
    r"|same (?:city|town)"
    r"|down the road|team|role|department|employer|company|provider|platform|app|account|server)(?!\w)"
)
"""What says of a move that it was within a town, or none of somebody's home."""
_NO_PLACES: Final = frozenset(_MOVED_TO.split())


def _who(one: re.Match[str]) -> str:
    who = one["who"].lower()
    return "me" if who in {"i", "we"} else who.removeprefix("my ")


# What something of somebody's is: "my dentist is", "the deadline was moved to".

_LARGE: Final = (
    "norway sweden denmark finland iceland germany france spain portugal italy switzerland austria belgium "
    "netherlands luxembourg ireland scotland england wales britain uk europe poland czechia slovakia hungary "
    "romania bulgaria greece turkey ukraine russia belarus estonia latvia lithuania croatia serbia slovenia "
    "bosnia albania montenegro kosovo malta cyprus israel palestine lebanon jordan syria iraq iran egypt morocco "
    "algeria tunisia libya kenya uganda tanzania ethiopia ghana nigeria senegal rwanda namibia botswana zimbabwe "
    "zambia mozambique angola cameroon africa india pakistan bangladesh nepal china taiwan japan korea vietnam "
    "thailand laos cambodia malaysia indonesia philippines myanmar mongolia kazakhstan uzbekistan georgia armenia "
    "azerbaijan afghanistan australia canada mexico usa us america guatemala honduras nicaragua panama cuba "
    "jamaica haiti colombia venezuela ecuador peru bolivia chile argentina uruguay paraguay brazil asia "
    "scandinavia catalonia bavaria tuscany provence brittany normandy sicily flanders wallonia california texas "
    "florida oregon ohio michigan virginia colorado arizona nevada utah montana idaho alaska hawaii georgia "
    "illinois indiana iowa kansas kentucky louisiana maine maryland massachusetts minnesota missouri ontario "
    "quebec alberta queensland tasmania"
)
_COUNTRIES: Final = frozenset(_LARGE.split()) | {
    "united states",
    "united kingdom",
    "new zealand",
    "south africa",
    "south korea",
    "costa rica",
    "sri lanka",
    "saudi arabia",
    "czech republic",
    "new jersey",
    "north carolina",
    "south carolina",
    "british columbia",
}
"""Countries and other large parts of the world: a city in one is no other place."""
