"""The reading of a reply is strict: one slip is mended, everything else is rejected, and honest memories pass."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memhold.consolidate.contract import SAVE_MEMORY, Draft, Frame, read_reply
from memhold.ports.models import ChatReply, Rejected, ToolCall

FRAME = Frame(places=frozenset({1, 2, 3}), known=2, quoted=("Alice told in March that she prefers the window seat.",))
FACT = {
    "subject": "user",
    "attribute": "blood type",
    "value": "A",
    "operation": "set",
    "importance": "high",
    "sources": ["m1"],
}
NOTE = {"text": "They want the report on Friday.", "importance": "mid", "sources": ["m2", "m3"]}
GOOD: dict[str, Any] = {
    "history_entry": "[2026-01-02 10:00] Alice told her blood type. She wants a report.",
    "facts": [FACT],
    "notes": [NOTE],
}


def called(arguments: Any, *, name: str = "save_memory", finish: str = "tool", times: int = 1) -> ChatReply:
    call = ToolCall(id="c", name=name, arguments=arguments)
    return ChatReply(model="m", text="", tool_calls=(call,) * times, finish=finish)


def said(text: str) -> ChatReply:
    return ChatReply(model="m", text=text)


def fact(**changed: Any) -> dict[str, Any]:
    return {**GOOD, "facts": [{**FACT, **changed}]}


def note(**changed: Any) -> dict[str, Any]:
    return {**GOOD, "notes": [{**NOTE, **changed}]}


GOOD_REPLIES = {
    "as it should be": called(GOOD),
    "arguments as a string": called(json.dumps(GOOD)),
    "a fence": said(f"```json\n{json.dumps(GOOD, indent=1)}\n```"),
    "the same call twice": called(GOOD, times=2),
    "no facts": called({**GOOD, "facts": [], "notes": []}),
    "a target": called(fact(target="f2", operation="remove")),
    "a day": called(fact(holds_from="2026-01-01")),
    "a year": called(fact(holds_from="2020")),
    "places as numbers": called(fact(sources=[1, "[m2]"])),
    "nothing": called({"nothing_to_remember": "only greetings", "history_entry": "", "facts": [], "notes": []}),
    "nothing, and no lists": called({"nothing_to_remember": "only greetings"}),
    "an error that the user told of": called(
        {
            **GOOD,
            "history_entry": "[2026-01-02 10:00] The server answered 429, rate limit exceeded, and Alice asked why.",
        }
    ),
    "a value with none in it": called(fact(value="none of the above")),
    "a sorry that is told": called(note(text="Alice was sorry that she could not help her mother move.")),
    "reasoning in front of a string": called(
        {**GOOD, "history_entry": f"<think>hm, B?</think>\n{GOOD['history_entry']}"}
    ),
    "talk about a tag": called(note(text="They strip <think> tags out of replies.")),
    "what the user typed again": called(fact(value="window seat")),
}
BAD = {
    "prose": said("Sure, I noted that Alice likes tea."),
    "an empty reply": said(""),
    "an error text": said("Error: could not get a response from the model."),
    "another tool": called(GOOD, name="save_memories"),
    "no arguments": called({}),
    "null": called(dict.fromkeys(GOOD)),
    "a list": called([GOOD]),
    "no JSON": called('{"history_entry": '),
    "a fence with prose around it": said(f"Here it is:\n```json\n{json.dumps(GOOD)}\n```"),
    "two different calls": ChatReply(
        model="m", text="", tool_calls=(*called(GOOD).tool_calls, *called(fact(value="B")).tool_calls)
    ),
    "the token limit": called(GOOD, finish="length"),
    "a blank entry": called({**GOOD, "history_entry": "  "}),
    "an entry without end": called({**GOOD, "history_entry": "x" * 7000}),
    "facts as text": called({**GOOD, "facts": "none"}),
    "facts of text": called({**GOOD, "facts": ["likes tea"]}),
    "a blank value": called(fact(value="\0 ")),
    "a null value": called(fact(value=None)),
    "a huge value": called(fact(value="x" * 3000)),
    "half a surrogate pair": called(fact(value="\ud83d")),
    "no source": called(fact(sources=[])),
    "a source that is not there": called(fact(sources=["m4"])),
    "a source that is true": called(fact(sources=[True])),
    "an unknown operation": called(fact(operation="replace")),
    "an unknown importance": called(fact(importance="urgent")),
    "an unknown target": called(fact(target="f3")),
    "a time that is none": called(fact(holds_from="last spring")),
    "labels as text": called({**GOOD, "topics": "travel"}),
    "too many labels": called({**GOOD, "entities": [f"e{n}" for n in range(21)]}),
    "nothing, and something": called({**GOOD, "nothing_to_remember": "only greetings"}),
    "an error as the entry": called({**GOOD, "history_entry": "[2026-01-02 10:00] Error: could not get response"}),
    "HTML as the entry": called({**GOOD, "history_entry": "<!DOCTYPE html><html><body>524</body></html>"}),
    "an error as a value": called(fact(value="Error: 429 Too Many Requests")),
    "reasoning without an end": called({**GOOD, "history_entry": "<think>The user said"}),
    "reasoning without a beginning": called(fact(value="</think> A")),
    "nothing but reasoning": called({**GOOD, "history_entry": "<thinking>They like it</thinking> "}),
    "an error as nothing": called({"nothing_to_remember": "Error: the model is overloaded"}),
    "a recalled note": called(note(text="Alice told in March that she prefers the window seat.")),
}
REFUSALS = {
    "English": said("I'm sorry, but I can't help with that request."),
    "as an AI": called({**GOOD, "history_entry": "As an AI language model, I have no access to this."}),
    "in a note": called(note(text="I cannot assist with this conversation.")),
    "Korean": called({**GOOD, "history_entry": "죄송합니다. 해당 요청은 도와드릴 수 없습니다."}),
    "French": called({**GOOD, "history_entry": "Je suis désolé, mais je ne peux pas vous aider."}),
}


@pytest.mark.parametrize("name", GOOD_REPLIES)
def test_good_replies_are_drafts(name: str) -> None:
    draft = read_reply(GOOD_REPLIES[name], FRAME)
    assert isinstance(draft, Draft), draft


@pytest.mark.parametrize("name", BAD)
def test_bad_replies_are_rejected_without_content(name: str) -> None:
    verdict = read_reply(BAD[name], FRAME)
    assert isinstance(verdict, Rejected)
    assert not verdict.refused
    assert verdict.reason
    assert not any(word in verdict.reason for word in ("Alice", "tea", "blood", "window seat", "429"))


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_are_refusals(name: str) -> None:
    verdict = read_reply(REFUSALS[name], FRAME)
    assert isinstance(verdict, Rejected)
    assert verdict.refused


def test_reasoning_in_front_of_a_string_is_left_out() -> None:
    text = "<think>Perhaps B?</think> <reasoning>no</reasoning> A"
    draft = read_reply(called(fact(value=text)), FRAME)
    assert isinstance(draft, Draft)
    assert draft.facts[0].value == "A"


def test_a_draft_says_what_was_said() -> None:
    draft = read_reply(called(fact(target="f2", holds_from="2026-01-01", topics=["Health", " health"])), FRAME)
    assert isinstance(draft, Draft)
    [learned] = draft.facts
    assert (learned.value, learned.sources, learned.target, learned.topics) == ("A", (1,), 2, ("Health",))
    assert learned.holds_from is not None
    assert learned.holds_from.isoformat() == "2026-01-01T00:00:00+00:00"
    assert draft.notes[0].sources == (2, 3)


def test_the_schema_demands_what_the_reading_demands() -> None:
    schema = SAVE_MEMORY.parameters
    for name in schema["required"]:
        broken = {key: value for key, value in GOOD.items() if key != name}
        assert isinstance(read_reply(called(broken), FRAME), Rejected), name
    for kind, item in (("facts", FACT), ("notes", NOTE)):
        for name in schema["properties"][kind]["items"]["required"]:
            broken = {key: value for key, value in item.items() if key != name}
            assert isinstance(read_reply(called({**GOOD, kind: [broken]}), FRAME), Rejected), name
