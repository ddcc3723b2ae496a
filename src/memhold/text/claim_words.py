"""What claims of all kinds are read with: names, when and why something is so, and whether a clause denies it. Pure."""

from __future__ import annotations

import re
from typing import Final

from memhold.text import lazily

__all__ = ["ADV", "BESIDE", "MONTH", "NAME", "NOW", "PAST_WHEN", "TAIL", "WEEKDAY", "WHO", "denied"]

MONTH: Final = "january|february|march|april|may|june|july|august|september|october|november|december"
_SEASON: Final = "spring|summer|autumn|fall|winter"
WEEKDAY: Final = "mon|tues|wednes|thurs|fri|satur|sun"
"""A day of the week without its "day"."""
_AGO: Final = r"(?:a|an|one|two|three|four|five|six|\d+|a few|a couple of) (?:days?|weeks?|months?) ago"
NAME: Final = (
    r"[A-Z](?:[^\W\d_]|['&.-])*+(?: (?:(?:de|del|la|of|am|upon|on|an der|& ) )?(?:& )?[A-Z](?:[^\W\d_]"
    r"|['&.-])*+){0,3}"
)
ADV: Final = r"(?:(?:just|recently|finally|now|currently|still|actually|since|officially|both|all) ){0,2}"
WHO: Final = r"(?P<who>I|[Ww]e|[Mm]y (?:parents|mother|father|mom|mum|dad|wife|husband|partner|girlfriend|boyfriend))"
TAIL: Final = (
    r"(?=\Z| (?:now|nowadays|these days|today|yesterday|recently|already|last|this|earlier|early|late|with"
    rf"|because|and|over the|in (?:the )?(?:{MONTH}|{_SEASON})|on (?:{WEEKDAY})day|{_AGO}|as|near|for work"
    r"|for (?:my|our|the|a) (?:new )?(?:job|studies|work)|which|where|but|since|right now"
    r"|at the moment)(?!\w))"
)
"""What may stand behind a place or a thing: the end, or when and why it is so; not more of its name."""
NOW: Final = lazily.compile(
    r"(?i)(?<!\w)(?:now|nowadays|these days|from (?:now|today) on|as of (?:now|today)|since (?:last \w+"
    rf"|this \w+|{MONTH}))(?!\w)"
)
BESIDE: Final = lazily.compile(
    r"(?i)(?<!\w)(?:also|too|as well|part[- ]time|weekends?|second|another|on the side|besides|in addition|sometimes"
    r"|partly|mostly|half|evenings?|next to|on loan|contractor|still)(?!\w)"
)
"""What says that one thing stands beside another."""
PAST_WHEN: Final = lazily.compile(
    r"(?i)(?: (?:now|nowadays|these days|from (?:now|today) on|as of (?:now|today)|since (?:last|this"
    rf"|{MONTH})(?: \w+)?|already|yesterday|today|recently|(?:last|this) \w+|over the \w+|in (?:{MONTH}"
    rf"|(?:the )?(?:{_SEASON}))|{_AGO}|on (?:{WEEKDAY})day)){{1,4}}\Z"
)
"""When something came to be so, at the end of a clause."""


def denied(clause: str) -> bool:
    """Whether a clause says that something is not so."""
    return re.search(r"(?i)(?<!\w)(?:not|never|no|nor|none|\w+n't)(?!\w)", clause) is not None
