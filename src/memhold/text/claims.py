"""Claims: what a person says of themselves, and whether a later one says that an earlier one is so no longer. Pure.

"I live in Oslo" claims a home, "I live in Ghent now" another one since; "we switched from Slack to Teams" says
itself what is over. Likeness says nothing: two claims are of one thing by its words, and of one kind by their values.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from memhold.text import lazily

__all__ = [
    "DONE",
    "LASTING",
    "SWAP",
    "THING",
    "Claim",
    "about",
    "both_hold",
    "head",
    "replaces",
    "same_claim",
    "surely",
    "what_it_replaces",
]

DONE: Final = "what is done"
"""The kind of what somebody does or has, in their words: only what says that it is over replaces it."""
SWAP: Final = "swap"
"""The kind of what came in the place of what is over, where nothing tells of what: "from Slack to Teams"."""
THING: Final = "thing"
"""The kind of a thing that somebody has, named with its article: "a red Skoda"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One thing that a message claims.

    `thing` is what it speaks of ("home of me", "dentist", "use"), `value` what it says of it, in its words; empty where
    it only says what is over. `kind` is of what kind the value is: only values of one kind are another's. `news` is
    whether it says that this is so now, against before; `single` whether the thing has one value at a time.
    `sure` is whether its words leave no doubt of what it speaks of: "I moved to Ghent" may be a firm.
    `over` are the words of the value that it says to be over.
    """

    thing: str
    value: str = ""
    kind: str = ""
    news: bool = False
    single: bool = False
    sure: bool = True
    over: str | None = None

    @property
    def said(self) -> str:
        """The value as a person is told of it: of what somebody does, with the verb."""
        return f"{self.thing.removeprefix('do ')} {self.value}" if self.kind == DONE != self.value else self.value


def about(one: Claim) -> frozenset[str]:
    """What a claim is about, as `what_it_replaces` of those names it that may replace it."""
    if not one.value or one.kind == SWAP:
        return frozenset()
    found = {one.thing}
    if one.thing.startswith("do "):
        found.add(" ".join(one.thing.split()[:2]))
    if one.kind in {DONE, THING}:
        found |= {f"have {each.split()[-1]}" for each in (_bare(one.value), head(one.value)) if each}
    return frozenset(found)


def what_it_replaces(one: Claim) -> frozenset[str]:
    """What the claims are about that a claim may replace; none where it only says what is so."""
    if one.thing == "have":
        over = _bare(one.over or "").split()
        return frozenset({f"have {over[-1]}"} if over else ())
    if one.over is None and not one.news and not one.single:
        return frozenset()
    return frozenset({one.thing, _TOLD_AS.get(one.thing, one.thing)})


def same_claim(one: Claim, other: Claim) -> bool:
    """Whether two claims say the same of the same thing: what is told again holds again."""
    if one.thing != other.thing or not one.value or not other.value:
        return False
    if head(one.value) == head(other.value):
        return True
    return DONE not in {one.kind, other.kind} and _same_kind(one.kind, other.kind) and not _differ(one, other)


def replaces(newer: Claim, older: Claim) -> bool:
    """Whether a later claim says that what an older one claims is so no longer."""
    if not older.value or older.kind == SWAP:
        return False
    if newer.over is not None and _is_over(newer, older):
        return True
    if newer.thing != older.thing or not _same_kind(newer.kind, older.kind) or not newer.value:
        return False
    alone = newer.single and older.single and newer.kind == older.kind
    return (newer.news or alone) and _differ(newer, older)


def surely(newer: Claim, older: Claim) -> bool:
    """Whether a claim that replaces another leaves no doubt of it: it is sure, or names what is over.

    Of an older one it does not matter whether a firm or a person was worked for, but whether it was a home at all.
    """
    return (newer.sure or bool(newer.over)) and (older.sure or older.thing.startswith("work of "))


def both_hold(one: Claim, other: Claim) -> bool:
    """Whether two claims say two values of the same thing, neither of which was said to be over."""
    return one.thing == other.thing and _same_kind(one.kind, other.kind) and _differ(one, other)


def _is_over(newer: Claim, older: Claim) -> bool:
    """Whether what an older claim says is the very thing that a newer one says to be over."""
    over, held = _bare(newer.over or ""), {_bare(older.value), head(older.value)}
    if newer.thing.startswith("do "):
        if older.thing == _TOLD_AS.get(newer.thing):
            return _PLACED.sub("", over) in held
        if f"{older.thing} ".startswith(f"{newer.thing} "):
            # "I don't run any more" says nothing of "I run a bakery".
            verb = newer.thing.removeprefix("do ")
            return over in held if over else _ASIDE.match(_bare(older.value)) is not None or verb in held
        return False
    if newer.thing != "have":
        return newer.thing == older.thing and (not over or over in held)
    verb = older.thing.removeprefix("do ").partition(" ")[0]
    if older.thing.startswith("do "):
        # Who sold the Golf may play golf: what is done, and not had, ends only for something else.
        return verb in LASTING and over in held and not (verb in _SKILLS and not newer.value)
    return older.kind == THING and _bare(older.value).endswith(f" {over}")


_TOLD_AS: Final = {"do live": "home of me", "do work": "work of me"}
"""What a verb tells that is read as a claim of its own."""
_PLACED: Final = lazily.compile(r"\A(?:at|for|in) (?:the )?")
_ASIDE: Final = lazily.compile(
    r"(?:\d|about|around|almost|every|each|once|twice|three times|daily|a lot|a little|in|on|at|with|for|to|when|after"
    r"|before|sometimes|often|regularly|most|too)(?!\w)|\d"
)
"""What stands behind a verb that has no object: how often, how much, when."""


def _bare(value: str) -> str:
    return _DETERMINER.sub("", f"{value.strip(' .')} ").strip().casefold()


def head(value: str) -> str:
    """What is done without where, when and what for: "Slack at work" is Slack."""
    return _CUT.sub("", f" {_bare(value)}").strip()


def _differ(one: Claim, other: Claim) -> bool:
    """Whether two values of a kind are two: neither stands in the other, as a part of a name or of an address does."""
    values = one.value.casefold(), other.value.casefold()
    match one.kind.partition(" ")[0]:
        case "clock":
            return not _same_time(*values)
        case "date":
            return {*re.findall(_DAY, values[0])} != {*re.findall(_DAY, values[1])}
        case "day":
            return values[0][:3] != values[1][:3]
        case "number":
            first, second = sorted((re.sub(r"[.,]0{1,2}\Z|\D", "", each) for each in values), key=len)
            return first != second and not (len(first) >= _OF_A_PHONE and second.endswith(first))
        case "address" | "word":
            return values[0] != values[1]
        case _:
            names, others = ({*re.findall(r"\w+", each)} - _TITLES for each in values)
            return bool(names and others) and names.isdisjoint(others)


_OF_A_PHONE: Final = 6
"""Digits from which on a number may be another one's end: a phone number without the country."""


def _same_time(one: str, other: str) -> bool:
    """Whether two times of the clock are one, or may be: "3" and "3 pm", "3 pm" and "15:00"."""
    (hour, minute, half), (hour2, minute2, half2) = map(_hour, (one, other))
    if minute != minute2:
        return False
    return hour % 12 == hour2 % 12 if not half or not half2 else (hour % 12, half) == (hour2 % 12, half2)


def _hour(text: str) -> tuple[int, int, str]:
    numbers = [int(one) for one in re.findall(r"\d+", text)] or [_HOURS.index(text.split(maxsplit=1)[0])]
    hour, half = numbers[0], re.search("[ap](?=[.]?m)", text)
    return hour, numbers[1] if len(numbers) > 1 else 0, half[0] if half else "p" if hour > 12 else ""


_HOURS: Final = (
    *("midnight", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    "noon",
)
_DAY: Final = r"\d+|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_TITLES: Final = frozenset({"dr", "mr", "mrs", "ms", "miss", "prof", "the", "a", "an", "of"})


def _same_kind(one: str, other: str) -> bool:
    """Whether values of two kinds can be each other's: of a number the unit is the same, and no other period named."""
    parts = [each.partition("/") for each in (one, other)]
    return parts[0][0] == parts[1][0] and (parts[0][2] == parts[1][2] or "" in {parts[0][2], parts[1][2]})


_HELD: Final = (
    "use drive have own ride run take play study wear read drink eat buy watch bring learn practise practice order bank"
    " with"
)
LASTING: Final = frozenset(_HELD.split())
"""Verbs of what somebody has, uses or does for long: what they sold or swapped was told with one of them."""
_SKILLS: Final = frozenset({"play", "study", "learn", "practise", "practice"})
_DETERMINER: Final = lazily.compile(r"(?i)^(?:(?:a|an|the|my|our|some|this|that|old) )+")
_CUT: Final = lazily.compile(
    r"(?i) (?:at|in|on|for|to|with|every|near|since|about|as|from|during|because|when|each|most|twice|once|daily"
    r"|now|again|these days|nowadays|last|this|yesterday|today)(?!\w).*"
)
