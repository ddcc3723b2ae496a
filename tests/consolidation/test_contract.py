"""A reply is read in any envelope; what cannot be read of it is left out alone, and no entry is no answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memhold.consolidate.contract import MAX_FACTS, SAVE_MEMORY, Draft, Frame, read_reply, save_memory
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
    "a list as text": said(json.dumps([GOOD])),
    "cut off": said(json.dumps(GOOD)[:-12]),
    "cut off in the arguments": called(json.dumps({**GOOD, "notes": [{**NOTE, "topics": ["a"]}]})[:-3]),
    "no JSON": called('{"history_entry": '),
    "two different calls": ChatReply(
        model="m", text="", tool_calls=(*called(GOOD).tool_calls, *called(fact(value="B")).tool_calls)
    ),
    "the token limit": called(GOOD, finish="length"),
    "a blank entry": called({**GOOD, "history_entry": "  "}),
    "an entry without end": called({**GOOD, "history_entry": "x" * 7000}),
    "an error as the entry": called({**GOOD, "history_entry": "[2026-01-02 10:00] Error: could not get response"}),
    "HTML as the entry": called({**GOOD, "history_entry": "<!DOCTYPE html><html><body>524</body></html>"}),
    "reasoning without an end": called({**GOOD, "history_entry": "<think>The user said"}),
    "nothing but reasoning": called({**GOOD, "history_entry": "<thinking>They like it</thinking> "}),
    "an error as nothing": called({"nothing_to_remember": "Error: the model is overloaded"}),
}
REFUSALS = {
    "English": said("I'm sorry, but I can't help with that request."),
    "as an AI": called({**GOOD, "history_entry": "As an AI language model, I have no access to this."}),
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


_KEYS = ("history_entry", "facts", "notes", "text", "value", "subject", "attribute", "sources", "arguments", "topics")
ENVELOPES = {
    "bare JSON": json.dumps(GOOD),
    "bare JSON with white space": f"\n  {json.dumps(GOOD, indent=2)}\n",
    "tools tags": f"<tools>\n{json.dumps(GOOD)}\n</tools>",
    "tool_call tags": f"<tool_call>{json.dumps({'name': 'save_memory', 'arguments': GOOD})}</tool_call>",
    "a fenced call": f"```json\n{json.dumps({'name': 'save_memory', 'arguments': GOOD})}\n```",
    "a fence without a language": f"```\n{json.dumps(GOOD)}\n```",
    "prose beside a fence": f"Here is the call:\n\n```json\n{json.dumps(GOOD)}\n```\nI hope {{this}} helps [a lot]!",
    "arguments as a text": json.dumps({"name": "save_memory", "arguments": json.dumps(GOOD)}),
    "parameters": json.dumps({"name": "save_memory", "parameters": GOOD}),
    "a list of calls": json.dumps([{"name": "save_memory", "arguments": GOOD}]),
    "OpenAI's message": json.dumps(
        {"tool_calls": [{"type": "function", "function": {"name": "save_memory", "arguments": json.dumps(GOOD)}}]}
    ),
    "the tool's name as a key": json.dumps({"save_memory": GOOD}),
    "an example before it": f'As in {{"history_entry": "…"}}:\n{json.dumps(GOOD)}',
}


@pytest.mark.parametrize("name", ENVELOPES)
def test_every_envelope_is_taken_off(name: str) -> None:
    draft = read_reply(said(ENVELOPES[name]), FRAME)
    assert isinstance(draft, Draft), draft
    assert (draft.entry, [one.value for one in draft.facts], len(draft.notes)) == (GOOD["history_entry"], ["A"], 1)


@pytest.mark.parametrize(
    "given",
    [
        [{"name": "save_memory", "arguments": GOOD}],
        {"name": "save_memory", "arguments": GOOD},
        {"arguments": json.dumps(GOOD)},
    ],
)
def test_a_call_whose_arguments_are_an_envelope_is_read(given: Any) -> None:
    assert isinstance(read_reply(called(given), FRAME), Draft)


def test_a_written_call_of_another_tool_is_none() -> None:
    text = json.dumps({"name": "delete_all", "arguments": GOOD})
    assert isinstance(read_reply(said(text), FRAME), Rejected)


MENDED: dict[str, tuple[dict[str, Any], str, Any]] = {
    "medium": (fact(importance="medium"), "importance", "mid"),
    "an importance in capitals": (fact(importance="HIGH"), "importance", "high"),
    "no importance": (fact(importance=None), "importance", "mid"),
    "an id with the role": (fact(sources=["m1 user"]), "sources", (1,)),
    "an id in brackets with the role": (fact(sources=["[m2 user]"]), "sources", (2,)),
    "a whole line as an id": (fact(sources=["[m2 user] (2026-01-03 10:00) I like tea"]), "sources", (2,)),
    "a text for a list": (fact(sources="m1, m3"), "sources", (1, 3)),
    "one bad source among good ones": (fact(sources=["m9", "m1", True, None, "m1"]), "sources", (1,)),
    "no source at all": (fact(sources=[]), "sources", ()),
    "a number as a value": (fact(value=42), "value", "42"),
    "a value in a list": (fact(value=["A"]), "value", "A"),
    "no operation": (fact(operation=None), "operation", "set"),
    "an operation in a list": (fact(operation=["add"]), "operation", "add"),
    "an operation in capitals": (fact(operation=" ADD "), "operation", "add"),
    "facts as a text of their list": ({**GOOD, "facts": json.dumps([FACT])}, "value", "A"),
    "a fact alone as a text of itself": ({**GOOD, "facts": json.dumps(FACT)}, "value", "A"),
    "a target that was not shown": (fact(target="f3"), "target", None),
    "a target in brackets": (fact(target="[f2]"), "target", 2),
    "a time that is none": (fact(holds_from="last spring"), "holds_from", None),
    "labels as a text": (fact(topics="travel, food"), "topics", ("travel", "food")),
    "a bad label among good ones": (fact(topics=["travel", None, "x" * 200]), "topics", ("travel",)),
}


@pytest.mark.parametrize("name", MENDED)
def test_what_says_the_same_is_mended(name: str) -> None:
    given, attribute, wanted = MENDED[name]
    draft = read_reply(called(given), FRAME)
    assert isinstance(draft, Draft), draft
    assert getattr(draft.facts[0], attribute) == wanted
    assert draft.left_out == ()


UNREADABLE = {
    "a fact of text": {"facts": [FACT, "likes tea"]},
    "a blank value": {"facts": [FACT, {**FACT, "value": "\0 "}]},
    "a value of no width": {"facts": [FACT, {**FACT, "value": "\u200b\u200d\ufeff"}]},
    "a value of replacement characters": {"facts": [FACT, {**FACT, "value": "\ufffd\ufffd"}]},
    "a null value": {"facts": [FACT, {**FACT, "value": None}]},
    "a huge value": {"facts": [FACT, {**FACT, "value": "x" * 3000}]},
    "half a surrogate pair": {"facts": [FACT, {**FACT, "value": "b\ud83d"}]},
    "an unknown operation": {"facts": [FACT, {**FACT, "operation": "replace"}]},
    "two operations": {"facts": [FACT, {**FACT, "operation": ["set", "remove"]}]},
    "an object as an operation": {"facts": [FACT, {**FACT, "operation": {"set": True}}]},
    "not a number as a value": {"facts": [FACT, {**FACT, "value": float("nan")}]},
    "more than any number as a value": {"facts": [FACT, {**FACT, "value": [float("inf")]}]},
    "not a number as a note": {"notes": [NOTE, {**NOTE, "text": float("-inf")}]},
    "an error as a value": {"facts": [FACT, {**FACT, "value": "Error: 429 Too Many Requests"}]},
    "reasoning without a beginning": {"facts": [FACT, {**FACT, "value": "</think> A"}]},
    "a recalled note": {"notes": [NOTE, {**NOTE, "text": "Alice told in March that she prefers the window seat."}]},
    "a refusal as a note": {"notes": [NOTE, {**NOTE, "text": "I cannot assist with this conversation."}]},
    "too many facts": {"facts": [{**FACT, "value": f"{n}"} for n in range(101)]},
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_an_item_that_cannot_be_read_is_left_out_alone_and_told(name: str) -> None:
    draft = read_reply(called({**GOOD, **UNREADABLE[name]}), FRAME)
    assert isinstance(draft, Draft), draft
    assert draft.facts[:1]
    assert draft.notes[:1]
    [left] = draft.left_out
    assert left.reason
    assert not any(word in left.reason for word in ("Alice", "429", "window seat"))


@pytest.mark.parametrize("lists", [{}, {"facts": None, "notes": ""}, {"facts": "none"}, {"facts": {}, "notes": []}])
def test_missing_lists_are_empty_ones(lists: dict[str, Any]) -> None:
    draft = read_reply(called({"history_entry": GOOD["history_entry"], **lists}), FRAME)
    assert isinstance(draft, Draft), draft
    assert draft.notes == ()


@pytest.mark.parametrize("notes", ["Alice wants a report.", ["Alice wants a report."], '["Alice wants a report."]'])
def test_a_text_in_the_place_of_a_note_is_one_without_a_source(notes: Any) -> None:
    draft = read_reply(called({**GOOD, "notes": notes}), FRAME)
    assert isinstance(draft, Draft), draft
    assert [(one.text, one.sources) for one in draft.notes] == [("Alice wants a report.", ())]
    assert draft.left_out == ()


def test_an_entry_in_a_list_is_its_sentences_and_a_repetition_is_said_once() -> None:
    draft = read_reply(called({**GOOD, "history_entry": ["One.", "Two."], "facts": [FACT] * 5}), FRAME)
    assert isinstance(draft, Draft)
    assert (draft.entry, len(draft.facts)) == ("One. Two.", 1)


def test_what_is_worth_keeping_counts_more_than_a_word_that_nothing_is() -> None:
    draft = read_reply(called({**GOOD, "nothing_to_remember": "only greetings"}), FRAME)
    assert isinstance(draft, Draft)
    assert draft.nothing is None


DEEP = 100_000
NASTY: dict[str, Any] = {
    "lists": "[" * DEEP + "]" * DEEP,
    "objects": '{"history_entry":' * DEEP + "1" + "}" * DEEP,
    "open braces": "{" * DEEP,
    "a number too long": '{"history_entry": ' + "9" * 6000 + "}",
    "not a number": '{"history_entry": NaN, "facts": [Infinity], "notes": [{"text": 1e999}]}',
}


@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize("wrap", [called, said])
def test_nasty_nesting_and_numbers_are_no_answer_and_never_escape(name: str, wrap: Any) -> None:
    assert isinstance(read_reply(wrap(NASTY[name]), FRAME), Rejected)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(_KEYS) | st.text(max_size=4), inner),
    max_leaves=20,
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(given=_JSON, wrap=st.sampled_from(["text", "call"]))
def test_whatever_a_model_answers_is_a_draft_or_a_shape(given: Any, wrap: str) -> None:
    reply = said(f"Well:\n{json.dumps(given)}") if wrap == "text" else called(given)
    verdict = read_reply(reply, FRAME)
    assert isinstance(verdict, Draft | Rejected)
    if isinstance(verdict, Draft):
        assert all(set(one.sources) <= FRAME.places for one in (*verdict.facts, *verdict.notes))


def test_the_schema_is_what_is_read() -> None:
    schema = SAVE_MEMORY.parameters
    draft = read_reply(called(GOOD), FRAME)
    assert isinstance(draft, Draft)
    for kind, item in (("facts", draft.facts[0]), ("notes", draft.notes[0])):
        assert set(schema["properties"][kind]["items"]["required"]) <= set(type(item).__dataclass_fields__)


@pytest.mark.parametrize(("lines", "most"), [(3, 20), (20, 20), (21, 21), (60, 60), (500, MAX_FACTS)])
def test_a_model_may_write_a_fact_of_each_line(lines: int, most: int) -> None:
    facts = save_memory(range(1, lines + 1), 0).parameters["properties"]["facts"]
    assert facts["maxItems"] == most
