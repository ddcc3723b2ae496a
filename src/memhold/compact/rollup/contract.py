"""The question and its answer: the parts of a period, one tool `roll_up`, and a strict reading of its call. Pure."""

from __future__ import annotations

from typing import Final

from memhold.asking.prompts import Prompt, prompt
from memhold.asking.replies import Fault, arguments_of, labels_of, text_of
from memhold.compact.asking import PURPOSE
from memhold.compact.check.case import Source
from memhold.compact.check.unfounded import unfounded
from memhold.compact.contract import Judgement
from memhold.compact.rollup.plan import Wanted
from memhold.ports.models import ChatReply, ChatRequest, ChatTurn, Rejected, Tool
from memhold.text.times import calendar_names
from memhold.values.records import Memory

__all__ = ["MAX_ROLLUP_CHARS", "ROLL_UP", "read_rollup", "rollup_prompt", "rollup_request"]

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
    """The roll-up that a reply holds, checked against its parts; else the shape of what is wrong with it."""
    try:
        given = arguments_of(reply, ROLL_UP)
        text = text_of(given.get("text"), "text", MAX_ROLLUP_CHARS)
        topics = labels_of(given.get("topics"), "topics", MAX_GIVEN_LABELS)
        entities = labels_of(given.get("entities"), "entities", MAX_GIVEN_LABELS)
    except Fault as fault:
        return Rejected(reason=str(fault), refused=fault.refused)
    sources = tuple(Source(text=part.text, at=part.event_time, labels=part.entities) for part in wanted.parts)
    # A date of the period is no invention, though no part spells it out.
    times = (part.event_time for part in wanted.parts)
    dated = [f"{at:%Y-%m-%d %Y %m %d} {at.day} {' '.join(sorted(calendar_names(at)))}" for at in times]
    wrong = unfounded(sources, text, known=" ".join((wanted.period.name, *dated)))
    if wrong is not None:
        return Rejected(reason=wrong)
    return Judgement(decision="merge", reason=f"a {wanted.period.level}", text=text, topics=topics, entities=entities)
