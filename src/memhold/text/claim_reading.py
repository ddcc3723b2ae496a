"""The claims that a message makes, read from its short clauses of a few closed forms. Pure.

English alone: only what is read marks anything, and what is read wrongly tells people that what they said is no longer
so. What is asked, supposed, planned, quoted, told of others or of long ago is no claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final

from memhold.text import lazily
from memhold.text.change import BRIEF, word_count
from memhold.text.claims import DONE, LASTING, SWAP, THING, Claim, head
from memhold.text.instructions import own_sentences

__all__ = ["LONGEST", "claims"]

MOST_CHARACTERS = 1500
"""Characters beyond which a message is not looked at."""
LONGEST = 120
"""Words of a message beyond which no claims are read: it is a document, or tells of many things."""


CALL = 2
"""Words up to which a sentence in front of a claim is a call: "Big news.", "Guess what!"."""


def claims(text: str, name: str | None = None) -> tuple[Claim, ...]:
    """The claims of what a person wrote; none where they wrote at length, or a story, or of a text.

    `name` is the speaker's, which stands in front of what they say.
    """
    text = text if name is None else text.removeprefix(f"{name}: ")
    # Beyond it, so that no long text stays in memory as a key.
    return () if len(text) > MOST_CHARACTERS else _claims(text)


@lru_cache(maxsize=4096)
def _claims(text: str) -> tuple[Claim, ...]:
    if _MAY.search(text) is None:
        return ()
    text = _SMALL_I.sub(lambda one: f"I'{one[1]}" if one[1] else "I", text.replace("\u2019", "'"))
    text = _TITLE.sub(r"\1", text)
    if word_count(text) > LONGEST or any(one.search(text) is not None for one in (_OF_A_TEXT, _HEADED, _IN_JEST)):
        return ()
    found: dict[Claim, None] = {}
    for span in own_sentences(text):
        said = " ".join(span.of(text).split())
        if _OPENS.match(_LEAD.sub("", said, count=1)) is None and word_count(said) > CALL:
            # Who says something else first ("improve this bio", "I'm her sister") may go on in other words than theirs.
            break
        if _MAY.search(said) is not None and word_count(said) <= BRIEF and _NOT_SO.search(said) is None:
            found |= dict.fromkeys(_of_sentence(said))
    return tuple(found)


def _of_sentence(said: str) -> Iterator[Claim]:
    past = _LONG_AGO.search(said) is not None
    changed = False
    thing: str | None = None
    parts = _PART.split(said.rstrip(" .!;,)"))
    if (one := _NEW_ONE.match(said)) and not past and not _denied(said):
        yield from _of_thing(_named(one["thing"]), one["value"], news=True, new=True)
    for part in parts:
        lead = _LEAD.match(part)
        begin = 0 if lead is None else lead.end()
        changed = changed or _CORRECTS.search(part[:begin]) is not None
        clause = part[begin:].strip(" .!;,)(")
        if _OPENS.match(clause) is None:
            changed, thing = changed and not clause, None
            continue
        it = _IT_IS.match(clause) if thing is not None else None
        told = _of_thing(thing or "", it["value"], news=True) if it is not None else _of_clause(clause)
        for claim in told:
            news = replace(claim, news=True) if changed and claim.kind != DONE else claim
            if news.single and len(parts) > 1:
                # What follows may say of what alone it is told: "my rent is 600 euros, my half".
                news = replace(news, single=False)
            if news.thing == "home of me" and not news.sure and news.over is None:
                # "I moved to Ghent" alone may be a firm, a program or a ward; what is said beside it tells.
                news = replace(news, sure=_TO_A_HOME.search(said) is not None)
            stays = news.thing.startswith("home of ") and _WITHIN.search(said) is not None
            stays |= news.thing.startswith("work of ") and _BESIDE.search(said) is not None
            if not ((past or stays) and (news.news or news.over is not None)):
                yield news
        thing = _changed_thing(clause)
        changed = thing is not None or _CHANGE.fullmatch(clause) is not None


def _of_clause(clause: str) -> Iterator[Claim]:
    """The claims of a clause without what leads to it: the forms are tried in turn, and the first that fits tells."""
    for read in (_ended, _home, _work, _swapped, _moved_to, _called_off, _is, _planned_for, _does):
        found = tuple(read(clause))
        yield from found
        if found and not (read is _home and found[0].over is not None):
            return


# The parts of clauses.

_MONTH: Final = "january|february|march|april|may|june|july|august|september|october|november|december"
_SEASON: Final = "spring|summer|autumn|fall|winter"
_WEEKDAY: Final = "mon|tues|wednes|thurs|fri|satur|sun"
"""A day of the week without its "day"."""
_AGO: Final = r"(?:a|an|one|two|three|four|five|six|\d+|a few|a couple of) (?:days?|weeks?|months?) ago"
_NAME: Final = (
    r"[A-Z](?:[^\W\d_]|['&.-])*+(?: (?:(?:de|del|la|of|am|upon|on|an der|& ) )?(?:& )?[A-Z](?:[^\W\d_]"
    r"|['&.-])*+){0,3}"
)
_ADV: Final = r"(?:(?:just|recently|finally|now|currently|still|actually|since|officially|both|all) ){0,2}"
_WHO: Final = r"(?P<who>I|[Ww]e|[Mm]y (?:parents|mother|father|mom|mum|dad|wife|husband|partner|girlfriend|boyfriend))"
_TAIL: Final = (
    r"(?=\Z| (?:now|nowadays|these days|today|yesterday|recently|already|last|this|earlier|early|late|with"
    rf"|because|and|over the|in (?:the )?(?:{_MONTH}|{_SEASON})|on (?:{_WEEKDAY})day|{_AGO}|as|near|for work"
    r"|for (?:my|our|the|a) (?:new )?(?:job|studies|work)|which|where|but|since|right now"
    r"|at the moment)(?!\w))"
)
"""What may stand behind a place or a thing: the end, or when and why it is so; not more of its name."""
_NOW: Final = lazily.compile(
    r"(?i)(?<!\w)(?:now|nowadays|these days|from (?:now|today) on|as of (?:now|today)|since (?:last \w+"
    rf"|this \w+|{_MONTH}))(?!\w)"
)
_BESIDE: Final = lazily.compile(
    r"(?i)(?<!\w)(?:also|too|as well|part[- ]time|weekends?|second|another|on the side|besides|in addition|sometimes"
    r"|partly|mostly|half|evenings?|next to|on loan|contractor|still)(?!\w)"
)
"""What says that one thing stands beside another."""
_PAST_WHEN: Final = lazily.compile(
    r"(?i)(?: (?:now|nowadays|these days|from (?:now|today) on|as of (?:now|today)|since (?:last|this"
    rf"|{_MONTH})(?: \w+)?|already|yesterday|today|recently|(?:last|this) \w+|over the \w+|in (?:{_MONTH}"
    rf"|(?:the )?(?:{_SEASON}))|{_AGO}|on (?:{_WEEKDAY})day)){{1,4}}\Z"
)
"""When something came to be so, at the end of a clause."""
_MAY: Final = lazily.compile(r"(?i)(?<!\w)(?:I|I'm|I've|we|we've|we're|my|our|the|they)(?!\w)")
_SMALL_I: Final = lazily.compile(r"(?<![\w'.])[iI](?:'?(m|ve))?(?!\w|[.'])")
_OPENS: Final = lazily.compile(r"(?:I|[Ww]e|[Mm]y|[Oo]ur|[Tt]he(?:y|re)?|[Ii]t|[Cc]hange)(?!\w)")
"""How the clauses begin that are read."""
_TITLE: Final = lazily.compile(r"(?<!\w)(Dr|Mr|Mrs|Ms|Prof|St)\.(?= )")
"""A title with its point, which ends no sentence."""
_PART: Final = lazily.compile(
    r"(?:[,;:] | - | [\u2013\u2014] |[(.!] )(?:and |but |so )?| (?:and|but|so) (?=(?:I|we|my|our|the)(?:\W))"
)
_LEAD: Final = lazily.compile(
    r"(?i)(?:(?:and|but|so|well|hi|hey|hello|ok|okay|yes|no|fyi|btw|update|by the way|good news|bad news"
    r"|big news|news"
    r"|in fact|please note(?: that)?|note that|just so you know|correction|sorry|wait|actually"
    r"|(?:it )?turns out(?: that)?"
    r"|it turned out(?: that)?|now|these days|nowadays|last (?:week|month|spring|summer|autumn|fall|winter)|yesterday"
    r"|finally|recently|oh)(?:[,:!] ?| |\Z))+"
)
_CORRECTS: Final = lazily.compile(
    r"(?i)(?<!\w)(?:actually|correction|turns out|turned out|now|nowadays|these days)(?!\w)"
)
_CHANGE: Final = lazily.compile(
    r"(?:I|[Ww]e)(?:'ve| have)? ?(?:just |finally |recently )?(?:switched|migrated|moved"
    r"|changed(?: [a-z]+s)?)(?: over"
    r"| house| last month| last week)?|[Tt]here (?:was|has been|is) a (?:change|mix-up)|[Cc]hange of plans?"
    r"|[Tt]hey rebooked me|[Ii]t (?:has )?changed"
)
"""A clause that says that something changed, before one that says how it is now."""
_NEW_ONE: Final = lazily.compile(
    r"(?:I|[Ww]e)(?: have|'ve got| have got| got| finally have) a new (?P<thing>[\w'-]++(?: [\w'-]++){0,3}?)"
    r"(?:: |, (?:it's |it is |namely )?)(?P<value>.+?)[.!]?\Z"
)
_NOT_SO: Final = lazily.compile(
    rf"(?i)[?\"“”„«»>]|(?<!\w)(?:if|unless|whether|would|could|might|may(?! \d)|maybe|perhaps|probably|possibly"
    r"|should|must|will|shall|\w+'(?:ll|d)|going to|gonna|about to|plan(?:s|ned|ning)?|thinking|think|thinks"
    r"|considering|hop(?:e|es|ing)|wish|want|wants|wanted|imagine|imagined|suppose|supposed|assume|assuming"
    r"|say|says|said|told|tells|wrote|writes|asked|claims|heard|read that|according|dream(?:t|ed)?|almost"
    r"|nearly|as though|like I|next|tomorrow|soon|starting|as of(?! (?:now|today))|until|till|sometimes"
    r"|tonight|for now|temporar\w+|for the time being|back in|back home|came back|returned|regret\w*|joke"
    r"|kidding|not sure|let's|let us|for (?:a|the|one|two|three|four|five|six|\d+) (?:few )?(?:days?|nights?"
    rf"|weeks?|weekends?|months?|years?|summer|winter|semester|season|while|term)|from (?:{_MONTH}"
    rf"|{_WEEKDAY})\w*)(?!\w)"
)
"""What makes a sentence no statement of what is so now: a question, a supposition, a wish, a plan, another's words."""
_LONG_AGO: Final = lazily.compile(
    r"(?i)\Ain (?:the|my|this|a|our|his|her) (?:\w+ )?\w+,|(?<!\w)(?:when|after|before|while|once|then|back in"
    r"|originally|initially|at first|in the past|as a (?:child|kid"
    r"|teen\w*|student|boy|girl|baby)|years? ago|decades? ago|used to|growing up|in my (?:teens|twenties"
    r"|thirties|youth"
    r"|childhood)|long ago|(?:19|20)\d\d|in the (?:\d0s|nineties|eighties|seventies))(?!\w)"
)
"""What dates a change, and perhaps before what was told; or sets it elsewhere ("in the game, I moved to Ghent")."""
_OF_A_TEXT: Final = lazily.compile(
    r"(?i)(?<!\w)(?:story|novel|chapter|character|fiction\w*|role-?play\w*|pretend|lyrics|poem|essay|script"
    r"|dialogue|monologue"
    r"|translate|translation|proofread|rewrite|rephrase|paraphrase|grammar|sentences?|for example|e\.g\."
    r"|hypothetical\w*"
    r"|quiz|riddle|scenario|persona|fake|test data|exercise|homework|textbook"
    r"|shorten|summari[sz]e|draft|cover letter|tweet|caption|headline|slogan|fix my|how do you say|as if (?:I|you)"
    r"|you(?: are|'re) (?:an?|the|my|now)|act (?:as|like)|let's play"
    r"|(?:tell|answer|reply|respond|write) (?:him|her|them|to)"
    r"|(?:sent|texted|forwarded|emailed|posted|wrote)(?: \w+)? (?:me|us|this)|forwarded|below|the following"
    r"|what should I (?:answer|reply|say|write))(?!\w)"
    r"|(?<!\w)(?:this|these)(?: please| for me)?\s*(?:[?:]|\n|[.!] )"
)
"""What is said of a text that the message holds, or wants: what stands there is nobody's."""
_HEADED: Final = lazily.compile(
    r"(?im)(?:^|[.!?\]] )(?!(?:I|we|my|our|the|it|there|they|change|update|correction|sorry|wait|actually|fyi|btw"
    r"|by the way|(?:good|bad|big|quick|great|sad)?[ ]?(?:news|note|update)|so|now|hi|hey|hello|ok|okay|well|yes|no"
    r"|guess what|done|finally)(?!\w))[^\n.!?:]{1,60}:\s"
)
"""A heading or a name with a colon: what follows is a letter, a draft, a chat or a part that is played."""
_IN_JEST: Final = lazily.compile(
    r"(?i)(?<!\w)(?:lol|lmao|rofl|ha(?:ha)+|jk|(?:just )?kidding|joking|said no(?: one|body)|april fools?|not really"
    r"|testing|scratch that|practically|basically|literally|so to speak|as they say)(?!\w)"
    r"|[\U0001f600-\U0001f606\U0001f609\U0001f61b-\U0001f61d\U0001f643\U0001f923\U0001f92a]|[;:]-?[)PpD](?!\w)"
)
"""What says that it is not meant as it is said."""


# Homes and work.

_MOVED: Final = lazily.compile(
    rf"{_WHO}(?: ?'ve| have)? ?{_ADV}(?:moved|relocated)(?: back| over| out| up| down)?"
    rf"(?: from (?P<old>{_NAME}))? to (?P<name>{_NAME}){_TAIL}"
)
_LIVES: Final = lazily.compile(
    rf"{_WHO}(?:'m| am| are|'re| is|'ve been| have been| has been)? ?{_ADV}(?:lives?|living|reside|based) in"
    rf" (?P<name>{_NAME}){_TAIL}"
)
_WORKS: Final = lazily.compile(
    rf"{_WHO}(?:'m| am| are|'re| is|'ve been| have been| has been)? ?{_ADV}(?:works?|working|employed) (?:at|for)"
    rf" (?:the )?(?P<name>{_NAME}){_TAIL}"
)
_STARTED: Final = lazily.compile(
    rf"{_WHO}(?: ?'ve| have)? ?{_ADV}(?:started (?:a new job|my new job|working|work)|got a new job|have a new job"
    rf"|took a new job) (?:at|for) (?:the )?(?P<name>{_NAME}){_TAIL}"
)
_LEFT: Final = lazily.compile(
    rf"{_WHO}(?: ?'ve| have)? ?{_ADV}(?:quit|left|resigned from)(?: my (?:job|position) (?:at|with))? (?:the )?"
    rf"(?P<name>{_NAME})(?: (?:for|to join) (?P<new>{_NAME}))?{_TAIL}"
)


def _home(clause: str) -> Iterator[Claim]:
    one = _MOVED.match(clause) or _LIVES.match(clause)
    if one is None or _denied(clause) or _BESIDE.search(clause) is not None:
        return
    thing, name = f"home of {_who(one)}", one["name"].rstrip(".")
    old = one.groupdict().get("old")
    if old is not None:
        # A place or not ("from Slack to Teams"): it ends the home that it names, and no other.
        yield Claim(thing=thing, value=name, kind=_kind_of_place(name), over=old, sure=False)
    elif _MOVED.match(clause) is None:
        if _no_place(name):
            return
        yield Claim(thing=thing, value=name, kind=_kind_of_place(name), news=_NOW.search(clause) is not None)
    elif not _no_place(name):
        yield Claim(thing=thing, value=name, kind=_kind_of_place(name), news=True, sure=thing != "home of me")


_TO_A_HOME: Final = lazily.compile(
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


def _work(clause: str) -> Iterator[Claim]:
    if _denied(clause) or _BESIDE.search(clause) is not None:
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
        news = started is not None or (not sits and _NOW.search(clause) is not None)
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
_WITHIN: Final = lazily.compile(
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

_WORD: Final = r"(?!(?:is|are|was|were|has|have|got|and|or|that|who|which)(?!\w))[\w'-]++"
_THING: Final = rf"(?:[Mm]y|[Oo]ur|[Tt]he) (?:new )?(?P<thing>{_WORD}(?: {_WORD}){{0,6}}?)"
_IS: Final = lazily.compile(rf"{_THING} (?:is|are)(?: (?:now|actually|currently|called|named)){{0,2}} (?P<value>.+)")
_RUNS: Final = lazily.compile(
    rf"{_THING} (?:leaves|starts|begins|runs|departs|takes place|meets) (?P<value>(?:on|at) .+)"
)
_IT_IS: Final = lazily.compile(r"(?:it|they)(?: is|'s| are|'re)(?: (?:now|actually|currently)){0,2} (?P<value>.+)")
_AS_MY: Final = lazily.compile(
    rf"(?:I|[Ww]e)(?:'m| am|'re| are)? (?:now |currently )?(?:use|using) (?P<value>.{{1,60}}?) as (?:my|our|the)"
    rf" (?P<thing>{_WORD}(?: {_WORD}){{0,3}}?){_TAIL}"
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
    rf"(?:I|[Ww]e|[Tt]hey)(?:'ve| have)? ?{_ADV}{_SHIFTED} {_THING}(?:(?: from .{{1,30}})? to (?P<value>.+)|\Z)"
)
_OFF: Final = lazily.compile(
    rf"(?:{_THING} (?:is|was|were|got|has been|have been|has just been)(?: just| now)? (?:cancell?ed|called off)"
    rf"|(?:I|[Ww]e|[Tt]hey)(?:'ve| have)? ?{_ADV}(?:cancell?ed|called off) (?:my|our|the) (?P<thing2>.+))\Z"
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


def _moved_to(clause: str) -> Iterator[Claim]:
    one = _WAS_MOVED.match(clause) or _MOVED_IT.match(clause)
    if one is not None and not _denied(clause):
        said = one["value"] or ""
        for kind, value in _values(said, anything=False):
            yield Claim(thing=_named(one["thing"]), value=value, kind=kind, news=not _narrowed(said))


def _changed_thing(clause: str) -> str | None:
    """The thing of which a clause says that it was changed, and not to what: "we raised the API timeout"."""
    one = _WAS_MOVED.match(clause) or _MOVED_IT.match(clause)
    return _named(one["thing"]) if one is not None and one["value"] is None and not _denied(clause) else None


_THIS_TIME: Final = lazily.compile(r"(?i)(?<!\w)(?:today|yesterday|(?:this|last) \w+)(?!\w)")
"""What may say that one time of several was called off."""


def _called_off(clause: str) -> Iterator[Claim]:
    one = _OFF.match(_PAST_WHEN.sub("", clause))
    if one is None or _denied(clause) or _THIS_TIME.search(clause) is not None:
        return
    thing = _named(one["thing"] or one["thing2"])
    yield Claim(thing=thing, over="", news=True)
    yield Claim(thing="have", over=thing, news=True)


def _is(clause: str) -> Iterator[Claim]:
    one = _IS.match(clause) or _RUNS.match(clause) or _AS_MY.match(clause)
    if one is None or _denied(clause) or _BESIDE.search(clause) is not None:
        return
    new = clause.split()[1] == "new"
    yield from _of_thing(
        _named(one["thing"]),
        one["value"],
        news=_NOW.search(clause) is not None,
        new=new,
        any_word=one.re.pattern == _AS_MY.pattern,
    )


def _of_thing(thing: str, said: str, *, news: bool, new: bool = False, any_word: bool = False) -> Iterator[Claim]:
    """What is said of a thing of somebody's; nothing of what they may have several of."""
    favourite = thing.startswith("favourite")
    news, new = news and not _narrowed(said), new and not _narrowed(said)
    if _SEVERAL.search(thing) is not None and not favourite:
        return
    for kind, value in _values(_PAST_WHEN.sub("", said), anything=favourite or any_word):
        single = _SINGLE.match(thing) is not None or (kind.startswith("number") and _OF.search(thing) is not None)
        if not (new and kind == THING):
            yield Claim(thing=thing, value=value, kind=kind, news=news or new, single=single)


def _planned_for(clause: str) -> Iterator[Claim]:
    one = _PLANNED.match(clause)
    if one is not None and not _denied(clause):
        for kind, value in _values(one["value"].removeprefix("for "), anything=False):
            if kind in {"day", "date", "clock"}:
                yield Claim(thing=_named(one["thing"]), value=value, kind=kind)


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
    (THING, lazily.compile(rf"(?:a|an) ((?:[\w-]+ ){{0,2}}{_NAME}(?: [\w-]+)?)\Z")),
    ("name", lazily.compile(rf"(?:the )?({_NAME})\Z")),
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
                yield _number_of(one["unit"], one["period"]), one[1]
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
    beside = _AND_WHY.split(_PAST_WHEN.sub("", f" {rest.strip(' .')}"), maxsplit=1)[0].lower().replace(",", " ")
    return any(word not in _BEHIND_A_TIME and not word.isdigit() for word in beside.split())


_AND_WHY: Final = lazily.compile(r"(?i)(?<!\w)(?:from|because|since|as|so|due|which|where|not)(?!\w)")
_PLAIN: Final = "at on the o'clock now instead again sharp already in morning afternoon evening"
_BEHIND_A_TIME: Final = frozenset(_PLAIN.split())
"""What may stand beside a time that is told of the whole thing."""


def _number_of(unit: str | None, period: str | None) -> str:
    return f"number {(unit or '').lower()}/{(period or '').lower()}"


def _named(thing: str) -> str:
    return " ".join(thing.lower().replace("favorite", "favourite").split()).removeprefix("new ").removeprefix("old ")


# What somebody does and has, and what they say to be over.

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
    rf"(?:I|[Ww]e)(?:'ve| have)? ?{_ADV}(?:sold|got rid of|gave away|ditched|cancell?ed|traded in|scrapped|quit"
    rf"|gave up|given up)"
    r" (?:my|our|the) (?P<old>.+)\Z"
)
_OTHER_ONE: Final = lazily.compile(r"(?i)(?:old|other|spare|second|first|extra)(?!\w)")
"""What was sold beside the one that somebody has."""
_SWAPPED: Final = lazily.compile(
    rf"(?:I|[Ww]e)(?:'ve| have)? ?{_ADV}(?:(?:switched|changed|migrated|moved|upgraded"
    rf"|went) (?:over )?from (?P<old1>.+?) to (?P<new1>.+)"
    r"|(?:switched|changed) (?:over )?to (?P<new2>.+?) (?:from|instead of) (?P<old2>.+)"
    r"|(?:swapped|replaced|traded(?: in)?|exchanged) (?P<old3>.+?) (?:for|with|by) (?P<new3>.+))\Z"
)
_ARTICLE: Final = lazily.compile(r"(?i)^(?:(?:a|an|the|my|our) )+")
_INSTEAD: Final = lazily.compile(r"(?:I|[Ww]e) .+? instead of (?:(?P<verb>[a-z]+ing) )?(?P<old>.+)\Z")


def _ended(clause: str) -> Iterator[Claim]:
    if one := _NO_LONGER.match(clause):
        place = next(number for number in "123" if one[f"verb{number}"])
        verb, rest = _plain_verb(one[f"verb{place}"]), _PAST_WHEN.sub("", one[f"rest{place}"]).strip()
        yield Claim(thing=f"do {verb}", over=rest, news=True)
    elif one := _NO_MORE.match(clause):
        rest = _PAST_WHEN.sub("", one["rest1"] or one["rest2"])
        yield Claim(
            thing="do with" if rest.startswith("with ") else "do be", over=rest.removeprefix("with "), news=True
        )
    elif _denied(clause):
        return
    elif ((one := _SOLD.match(clause)) and _OTHER_ONE.match(one["old"]) is None) or (
        (one := _INSTEAD.match(clause)) and _NOW.search(clause) is not None
    ):
        yield Claim(thing="have", over=_PAST_WHEN.sub("", one["old"]), news=True)


def _swapped(clause: str) -> Iterator[Claim]:
    one = _SWAPPED.match(clause)
    if one is None or _denied(clause):
        return
    place = next(number for number in "123" if one[f"old{number}"])
    new = _ARTICLE.sub("", _PAST_WHEN.sub("", one[f"new{place}"])).strip()
    if head(new) != new.casefold():
        # It says for what alone: "from Jira to Linear in the side project".
        return
    yield Claim(thing="have", value=new, kind=SWAP, over=_PAST_WHEN.sub("", one[f"old{place}"]), news=True)


def _does(clause: str) -> Iterator[Claim]:
    one = _DOES.match(clause)
    if one is None or _denied(clause):
        return
    verb, rest = one["verb"].lower(), _PAST_WHEN.sub("", one["rest"]).strip()
    if not one["be"] or verb.endswith("ing"):
        verb = _plain_verb(verb)
    elif verb != "with":
        verb, rest = "be", f"{verb} {rest}".strip()
    news = _NOW.search(clause) is not None and _BESIDE.search(clause) is None
    held, count = _PLACE.fullmatch(rest), _COUNT.fullmatch(rest)
    if held is not None:
        news_of = news and verb in {"bank", "study", "train"}
        yield Claim(thing=f"do {verb} {held['prep']}", value=held["name"], kind="name", news=news_of)
    if count is None:
        lasts = rest.partition(" ")[0] in _STATES if verb == "be" else verb in LASTING or verb in _HABITS
        if lasts and word_count(rest) <= FEW:
            yield Claim(thing=f"do {verb}", value=rest or verb, kind=DONE)
    else:
        thing, kind = f"do {verb}{(count['more'] or '').lower()}", _number_of(count["unit"], count["period"])
        yield Claim(thing=thing, value=count["number"], kind=kind, news=news, single=verb == "weigh")


FEW: Final = 8
"""Words up to which what somebody does is one thing."""
_OFTEN: Final = "smoke live work go attend teach volunteer sing dance swim cycle run speak rent cook commute"
_HABITS: Final = frozenset(_OFTEN.split())
"""Verbs of what people do again and again, beside those of what they have."""
_KINDS_OF_PEOPLE: Final = "a an the vegetarian vegan pescatarian single married engaged pregnant unemployed retired"
_STATES: Final = frozenset(_KINDS_OF_PEOPLE.split())
"""With what begins that somebody is something for long; "so tired" passes."""
_PLACE: Final = lazily.compile(rf"(?P<prep>with|at|for) (?P<name>{_NAME})(?: for .*)?")
_COUNT: Final = lazily.compile(
    r"(?P<number>\d[\d.,]*) ?(?P<unit>[^\W\d_]+)(?: (?:a|per) (?P<period>\w+))?(?P<more> .+)?"
)


def _denied(clause: str) -> bool:
    return re.search(r"(?i)(?<!\w)(?:not|never|no|nor|none|\w+n't)(?!\w)", clause) is not None


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
