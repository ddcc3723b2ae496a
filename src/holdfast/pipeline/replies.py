"""Reading a model's reply strictly: the demanded call, plain texts, and nothing that an API says of itself. Pure.

Two slips are mended because they lose nothing: the arguments as JSON in a fence of the text, and the arguments encoded
twice. A fault's reason is a shape, never content.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from holdfast.inference import ChatReply
from holdfast.pipeline.timeline import canonical_text

__all__ = ["Fault", "arguments_of", "honest", "labels_of", "text_of"]

MAX_LABEL = 100


class Fault(Exception):
    """A reply is no answer; says the shape of what is wrong."""

    def __init__(self, reason: str, *, refused: bool = False) -> None:
        super().__init__(reason)
        self.refused = refused


_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(?P<json>\{.*\})\s*\n```\s*\Z", re.DOTALL)


def arguments_of(reply: ChatReply, tool: str) -> Mapping[str, Any]:
    """The arguments of the one demanded call.

    Raises:
        Fault: the reply is no such call, or its arguments are no object.
    """
    if reply.finish == "length":
        raise Fault("stopped at the token limit")
    if not reply.tool_calls:
        fence = _FENCE.match(reply.text)
        if fence is None:
            if _refuses(reply.text):
                raise Fault("refused in words", refused=True)
            raise Fault(f"did not call {tool}" if reply.text.strip() else "an empty reply")
        return _object(fence["json"])
    if any(call.name != tool for call in reply.tool_calls):
        raise Fault("called another tool")
    found = [_object(call.arguments) for call in reply.tool_calls]
    if any(one != found[0] for one in found):
        raise Fault(f"called {tool} more than once")
    return found[0]


def _object(arguments: Any) -> Mapping[str, Any]:
    for _ in range(2):
        if not isinstance(arguments, str):
            break
        try:
            arguments = json.loads(arguments)
        except ValueError:
            raise Fault("arguments are no JSON") from None
    if not isinstance(arguments, Mapping):
        raise Fault(f"arguments are a {type(arguments).__name__}, not an object")
    if not arguments:
        raise Fault("arguments are empty")
    return arguments


def text_of(value: Any, name: str, most: int) -> str:
    """A text that can be stored, and is neither an error message nor a refusal.

    Raises:
        Fault: it is none, blank, too long, or says what an API says of itself.
    """
    if not isinstance(value, str):
        raise Fault(f"{name} is missing" if value is None else f"{name} is no text")
    text = value.replace("\0", "").strip()
    if not text or any(0xD800 <= ord(c) <= 0xDFFF for c in text):
        raise Fault(f"{name} is blank" if not text else f"{name} is no valid text")
    if len(text) > most:
        raise Fault(f"{name} has {len(text)} characters, over {most}")
    honest(text)
    return text


def labels_of(value: Any, name: str, most: int) -> tuple[str, ...]:
    """Topics or entities, each once.

    Raises:
        Fault: no list of texts, or too many.
    """
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > most:
        raise Fault(f"{name} are no list, or over {most}")
    found: dict[str, str] = {}
    for label in value:
        text = text_of(label, f"one of {name}", MAX_LABEL)
        found.setdefault(canonical_text(text).casefold(), canonical_text(text))
    return tuple(found.values())


_TIME = r"(?:\[?\d{4}-\d\d-\d\d[^\]]{0,20}\]?\s*)?"
_ERROR_TEXT = re.compile(
    _TIME
    + r"(?:(?:api |http |internal |server |provider |fatal )?(?:error|exception|failure)\s*(?:code)?\s*[:\-\u2013(]\s*"
    r"(?:\d{3}|could|failed|no |unable|timeout|timed|connection|rate|internal|bad gateway|service|overloaded|unknown|"
    r"the model|model|request|an error|invalid)"
    r"|<(?:!doctype|html|head|body)\b|\{\s*\"?(?:error|type\"?\s*:\s*\"error)\b|traceback \(most recent call last\)"
    r"|(?:could not|couldn't|failed to|unable to) (?:get|generate|produce|obtain|fetch|retrieve) (?:a |an |any |the )?"
    r"(?:response|answer|reply|completion|summary)\b"
    r"|(?:HTTP/\d(?:\.\d)?\s+)?(?:4\d\d|5\d\d)\s+(?:bad gateway|too many requests|internal server error|service "
    r"unavailable|gateway time-?out|unauthorized|forbidden)\b)",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    _TIME + r"(?:(?:i['\u2019]m|i am|we['\u2019]re|we are)?\s*(?:very |so |really )?(?:sorry|afraid|unable)[,.]?\s*"
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


def _refuses(text: str) -> bool:
    return _REFUSAL.match(text.strip()) is not None


def honest(text: str) -> None:
    """Refuse what an API or a model says about itself, where it stands in the place of a memory."""
    if _refuses(text):
        raise Fault("a refusal stands in the place of a memory", refused=True)
    if _ERROR_TEXT.match(text):
        raise Fault("an error message stands in the place of a memory")
