"""The question and its answer: the parts of a period, one tool `roll_up`, and a strict reading of its call. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from memhold.asking.prompts import Prompt, prompt
from memhold.asking.replies import Fault, arguments_of, labels_of, text_of
from memhold.compact.asking import PURPOSE
from memhold.compact.contract import Judgement
from memhold.compact.rollup.plan import Wanted
from memhold.consolidate.entry import untimed
from memhold.fidelity.sentences import sentences
from memhold.fidelity.values import Line, Statement
from memhold.fidelity.weigh import weigh
from memhold.languages.tables import spoken
from memhold.ports.models import ChatReply, ChatRequest, ChatTurn, Rejected, Tool
from memhold.values.records import Memory

__all__ = ["MAX_ROLLUP_CHARS", "ROLL_UP", "line_of", "read_rollup", "rollup_prompt", "rollup_request"]

MAX_ANSWER_TOKENS = 4_096
MAX_ROLLUP_CHARS = 3_000
"""Longest roll-up: it is one line of a context beside many."""
MAX_GIVEN_LABELS = 60

ROLL_UP: Final = Tool(
    name="roll_up",
    description="Say what happened in this period, from the summaries of its parts.",
    parameters={
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "what happened, in plain text, shorter than the parts together"},
            "topics": {"type": "array", "items": {"type": "string"}},
            "entities": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["text"],
    },
)


def rollup_prompt() -> Prompt:
    """The shipped prompt; its version is kept with what it made."""
    return prompt("roll_up")


def rollup_request(wanted: Wanted) -> ChatRequest:
    """One call about the parts of a period, oldest first."""
    lines = "\n".join(_line(place, part) for place, part in enumerate(wanted.parts, 1))
    period = wanted.period
    text = f"The {period.level} {period.name} ({period.first} to before {period.end}, UTC). Its parts:\n\n{lines}"
    return ChatRequest(
        system=rollup_prompt().text,
        turns=(ChatTurn(role="user", text=text),),
        purpose=PURPOSE,
        tool=ROLL_UP,
        max_tokens=MAX_ANSWER_TOKENS,
        temperature=0.0,
    )


def _line(place: int, part: Memory) -> str:
    """A part; what goes on below it is indented, so that no text writes a line of another id."""
    body = part.text.replace("\r", "\n").replace("\n", "\n  ")
    return f"[s{place}] ({part.event_time:%Y-%m-%d %H:%M} UTC) {body}"


def read_rollup(reply: ChatReply, wanted: Wanted) -> Judgement | Rejected:
    """The roll-up that a reply holds, without the sentences whose details its parts contradict.

    Where less than half of it would be left, the first sentence of each part takes its place.
    """
    try:
        given = arguments_of(reply, ROLL_UP)
        text = text_of(given.get("text"), "text", MAX_ROLLUP_CHARS)
        topics = labels_of(given.get("topics"), "topics", MAX_GIVEN_LABELS)
        entities = labels_of(given.get("entities"), "entities", MAX_GIVEN_LABELS)
    except Fault as fault:
        return Rejected(reason=str(fault), refused=fault.refused)
    every = _sentences(text)
    lines = [line_of(part) for part in wanted.parts]
    # A date of the period is no invention, though no part spells it out.
    dated = [*lines, *(replace(line, text=f"{line.at:%Y-%m-%d}") for line in lines)]
    kept = [one for one in every if _stands(one, lines) or _stands(one, dated)]
    if len(kept) < len(every):
        text = " ".join(kept) if len(kept) * 2 >= len(every) else _of_the_parts(wanted.parts)
    return Judgement(decision="merge", reason=f"a {wanted.period.level}", text=text, topics=topics, entities=entities)


def line_of(part: Memory) -> Line:
    """A summary as a line that can be told from."""
    return Line(text=untimed(part.text), written_by="assistant", at=part.event_time)


def _stands(sentence: str, lines: Sequence[Line]) -> bool:
    return weigh(Statement(text=sentence), (), lines).standing != "unfounded"


def _of_the_parts(parts: Sequence[Memory]) -> str:
    firsts = (next(iter(_sentences(untimed(part.text))), "") for part in parts)
    return " ".join(dict.fromkeys(first for first in firsts if first))[:MAX_ROLLUP_CHARS]


def _sentences(text: str) -> list[str]:
    return sentences(text, spoken(text))
