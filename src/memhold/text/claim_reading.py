"""The claims that a message makes, read from its short clauses of a few closed forms. Pure.

English alone: only what is read marks anything, and what is read wrongly tells people that what they said is no longer
so. What is asked, supposed, planned, quoted, told of others or of long ago is no claim.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final

from memhold.text import lazily
from memhold.text.change import BRIEF, word_count
from memhold.text.claim_words import BESIDE, MONTH, WEEKDAY, denied
from memhold.text.claims import DONE, Claim
from memhold.text.claims_of_doings import read_does, read_ended, read_swapped
from memhold.text.claims_of_places import TO_A_HOME, WITHIN, read_home, read_work
from memhold.text.claims_of_things import (
    IT_IS,
    changed_thing,
    named,
    of_thing,
    read_called_off,
    read_is,
    read_moved,
    read_planned,
)
from memhold.text.own_words import own_sentences

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
    if (one := _NEW_ONE.match(said)) and not past and not denied(said):
        yield from of_thing(named(one["thing"]), one["value"], news=True, new=True)
    for part in parts:
        lead = _LEAD.match(part)
        begin = 0 if lead is None else lead.end()
        changed = changed or _CORRECTS.search(part[:begin]) is not None
        clause = part[begin:].strip(" .!;,)(")
        if _OPENS.match(clause) is None:
            changed, thing = changed and not clause, None
            continue
        it = IT_IS.match(clause) if thing is not None else None
        told = of_thing(thing or "", it["value"], news=True) if it is not None else _of_clause(clause)
        for claim in told:
            news = replace(claim, news=True) if changed and claim.kind != DONE else claim
            if news.single and len(parts) > 1:
                # What follows may say of what alone it is told: "my rent is 600 euros, my half".
                news = replace(news, single=False)
            if news.thing == "home of me" and not news.sure and news.over is None:
                # "I moved to Ghent" alone may be a firm, a program or a ward; what is said beside it tells.
                news = replace(news, sure=TO_A_HOME.search(said) is not None)
            stays = news.thing.startswith("home of ") and WITHIN.search(said) is not None
            stays |= news.thing.startswith("work of ") and BESIDE.search(said) is not None
            if not ((past or stays) and (news.news or news.over is not None)):
                yield news
        thing = changed_thing(clause)
        changed = thing is not None or _CHANGE.fullmatch(clause) is not None


_FORMS: Final = (
    read_ended, read_home, read_work, read_swapped, read_moved, read_called_off, read_is, read_planned, read_does,
)  # fmt: skip
"""What reads a clause, in the order in which they are tried."""


def _of_clause(clause: str) -> Iterator[Claim]:
    """The claims of a clause without what leads to it: the forms are tried in turn, and the first that fits tells."""
    for read in _FORMS:
        found = tuple(read(clause))
        yield from found
        if found and not (read is read_home and found[0].over is not None):
            return


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
    rf"|weeks?|weekends?|months?|years?|summer|winter|semester|season|while|term)|from (?:{MONTH}"
    rf"|{WEEKDAY})\w*)(?!\w)"
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
