"""What a statement does to the timeline of its concept, and who decided: pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from memhold.facts.keys import Decision, cardinality, decide, nothing, wording
from memhold.facts.quotes import stands
from memhold.facts.statement import Operation, Statement
from memhold.text.compare import same_value
from memhold.values.records import Memory

__all__ = ["doing", "names_the_past"]

_NOTHING: frozenset[str] = frozenset()


def doing(said: Statement, timeline: Sequence[Memory]) -> tuple[Operation, Decision | None, frozenset[str]]:
    """The operation, who decided, and the ids of the values that an `add` takes the place of.

    What was asked for holds without a decision. Of several values that hold side by side only those end that the
    wording names: "no longer peanuts, but cats" says nothing of shellfish. That there are none ends all of them, and
    ends with the next value.
    """
    operation, decision, ends = _doing(said, timeline)
    if operation == "add":
        ends |= {m.id for m in timeline if nothing(m.value or "", said.attribute)}
    return operation, decision, ends


def names_the_past(said: Statement) -> bool:
    """Whether the operation may depend on values that ended before: a bare value that takes a place may name them."""
    bare = said.operation is None and not said.wording
    return bare and (said.model is not None or _value_wording(said.value) == "end")


def _doing(said: Statement, timeline: Sequence[Memory]) -> tuple[Operation, Decision | None, frozenset[str]]:
    if said.operation is not None:
        return said.operation, None, _NOTHING
    if said.model != "end" and nothing(said.value, said.attribute):
        return (
            "set",
            Decision(operation="replace", rule="wording", reason="the value says that there is none"),
            _NOTHING,
        )
    count = cardinality(said.attribute, said.subject)
    spoken = wording(said.wording) if said.wording else _value_wording(said.value)
    decision = decide(said.model, count, spoken)
    held = any(m.state in {"active", "expired"} and same_value(m.value or "", said.value) for m in timeline)
    match decision.operation:
        case "add":
            return "add", decision, _NOTHING
        case "end" if held or said.model == "end":
            return "remove", decision, _NOTHING
        case _ if count == "many" and (ends := _named(said, timeline)) is not None:
            return "add", decision, ends
        case _:
            # A reversal ("none any more", "quit, only tea now") takes the place of what it ends.
            return "set", decision, _NOTHING


def _named(said: Statement, timeline: Sequence[Memory]) -> frozenset[str] | None:
    """The other values that the wording names; None where the value itself says that all of them ended."""
    text = said.wording.casefold().replace(said.value.casefold(), " ") if said.wording else said.value
    found = [m.id for m in timeline if not same_value(m.value or "", said.value) and stands(m.value or "", text)]
    return frozenset(found) if found or said.wording else None


def _value_wording(value: str) -> Literal["add", "end", "none"]:
    """What a bare value says of what held before; only what adds or ends is clear without a sentence around it."""
    found = wording(value)
    return found if found in {"add", "end"} else "none"
