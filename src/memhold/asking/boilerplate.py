"""What an API or a model says about itself, told from what people said: it never becomes memory. Pure."""

from __future__ import annotations

import re

from memhold.text import lazily

__all__ = ["is_error", "is_refusal", "without_thought"]

_TIME = r"(?:\[?\d{4}-\d\d-\d\d[^\]]{0,20}\]?\s*+)?"
_ERROR_TEXT = lazily.compile(
    _TIME
    + r"(?:(?:api |http |internal |server |provider |fatal )?(?:error|exception|failure)\s*+(?:code)?\s*+[:\-\u2013(]"
    r"\s*+(?:\d{3}|could|failed|no |unable|timeout|timed|connection|rate|internal|bad gateway|service|overloaded|"
    r"unknown|the model|model|request|an error|invalid)"
    r"|<(?:!doctype|html|head|body)\b|\{\s*+\"?(?:error|type\"?\s*+:\s*+\"error)\b|traceback \(most recent call last\)"
    r"|(?:could not|couldn't|failed to|unable to) (?:get|generate|produce|obtain|fetch|retrieve) (?:a |an |any |the )?"
    r"(?:response|answer|reply|completion|summary)\b"
    r"|(?:HTTP/\d(?:\.\d)?\s+)?(?:4\d\d|5\d\d)\s+(?:bad gateway|too many requests|internal server error|service "
    r"unavailable|gateway time-?out|unauthorized|forbidden)\b)",
    re.IGNORECASE,
)
_REFUSAL = lazily.compile(
    _TIME + r"(?:(?:i['\u2019]m|i am|we['\u2019]re|we are)?\s*+(?:very |so |really )?(?:sorry|afraid|unable)[,.]?\s*"
    r"(?:but |that |to )?.{0,40}?"
    r"\b(?:i (?:can['\u2019]?t|cannot|can not|won['\u2019]t|am (?:not able|unable)|['\u2019]m (?:not able|unable))"
    r"|unable to|can['\u2019]t help)"
    r"|i (?:can['\u2019]?t|cannot|am unable to|['\u2019]m unable to|won['\u2019]t|must decline to) "
    r"(?:help|assist|comply|do that|provide|"
    r"fulfil|process|summari[sz]e|engage|continue|answer|respond|discuss)"
    r"|as an ai(?: language model| assistant|,)|my (?:guidelines|policy|policies|programming) (?:do|does) not allow"
    r"|je suis désolée?[,.]? (?:mais )?je ne peux|désolée?, (?:mais )?je ne (?:peux|suis)"
    r"|en tant qu['\u2019](?:ia|intelligence|assistant)"
    r"|es tut mir leid[,.]? (?:aber )?(?:ich kann|das kann ich)|lo siento[,.]? (?:pero )?no puedo"
    r"|(?:죄송합니다|죄송하지만|미안하지만).{0,60}(?:할 수 없|드릴 수 없|도와드릴 수|어렵습니다)"
    r"|(?:저는 )?AI (?:언어 ?모델|어시스턴트)로서"
    r"|申し訳(?:ありません|ございません).{0,60}(?:できません|お手伝い)|(?:很抱歉|对不起).{0,30}(?:无法|不能))",
    re.IGNORECASE,
)


_THOUGHT = lazily.compile(
    r"\A\s*<(?P<tag>think|thinking|thought|reasoning|reflection)\b[^<>]*>.*?</(?P=tag)\s*>", re.IGNORECASE | re.DOTALL
)
_OPEN_THOUGHT = lazily.compile(r"\A\s*</?(?:think|thinking|thought|reasoning|reflection)\b[^<>]*>", re.IGNORECASE)


def is_refusal(text: str) -> bool:
    """Whether a model refuses here, where it was to write something down."""
    return _REFUSAL.match(text.strip()) is not None


def is_error(text: str) -> bool:
    """Whether this is an error message in the place of a memory."""
    return _ERROR_TEXT.match(text) is not None


def without_thought(text: str) -> str | None:
    """The text behind a block of reasoning that it begins with; None where the block has no end, or no beginning.

    Only in front: people also talk about such tags, and what they said of them stays.
    """
    while found := _THOUGHT.match(text):
        text = text[found.end() :]
    return None if _OPEN_THOUGHT.match(text) else text.strip()
