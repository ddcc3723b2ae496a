"""Odd windows written by hand, and what a provider is sent in their place."""

import pytest

from memhold import cut_window, repair_window
from memhold.messages.window import EMPTY_RESULT, NO_RESULT
from memhold.testing import check_anthropic, check_openai
from tests.messages.histories import IMAGE
from tests.messages.provider_rules import anthropic_faults, openai_faults


def called(**function):
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "function", "function": function}]}


ASKS = {"role": "user", "content": "q"}
CALL = called(name="look", arguments="{}")
RESULT = {"role": "tool", "tool_call_id": "a", "content": "42"}
USE = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
ANSWER = {"type": "tool_result", "tool_use_id": "a", "content": "42"}
HI = {"type": "text", "text": "hi"}


def sent(messages, shape):
    window = repair_window(messages, shape)
    spoken = [one for one in window.messages if shape == "openai" or one["role"] != "system"]
    if spoken:
        found = openai_faults(spoken) + check_openai(spoken) if shape == "openai" else []
        found += anthropic_faults(spoken) + check_anthropic(spoken) if shape == "anthropic" else []
        assert found == []
    assert repair_window(window.messages, shape).repairs == ()
    return window


@pytest.mark.parametrize(
    ("given", "becomes"),
    [
        (called(name="look.at it", arguments="{}"), called(name="look_at_it", arguments="{}")),
        (called(name="look", arguments={"a": "ü"}), called(name="look", arguments='{"a": "ü"}')),
        (called(name=None, arguments=None), called(name="unknown", arguments="{}")),
        (called(name="n" * 70, arguments="{}"), called(name="n" * 64, arguments="{}")),
    ],
)
def test_a_call_is_sent_with_a_legal_name_and_text_for_its_arguments(given, becomes):
    window = sent([ASKS, given, RESULT], "openai")
    assert window.messages == [ASKS, becomes, RESULT]
    assert [(one.index, one.action) for one in window.repairs] == [(1, "cleaned")]


def test_a_call_without_a_type_gets_one_and_a_custom_tools_call_stays():
    bare = {**CALL, "tool_calls": [{key: value for key, value in CALL["tool_calls"][0].items() if key != "type"}]}
    assert sent([ASKS, bare, RESULT], "openai").messages == [ASKS, CALL, RESULT]
    custom = {**CALL, "tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "shell", "input": "ls"}}]}
    assert sent([ASKS, custom, RESULT], "openai").repairs == ()


def test_an_id_that_is_too_long_is_shortened_in_the_call_and_in_its_result():
    long = "call_" + "x" * 60
    asked = {**CALL, "tool_calls": [{**CALL["tool_calls"][0], "id": long}]}
    window = sent([ASKS, asked, {**RESULT, "tool_call_id": long}], "openai")
    new = window.messages[1]["tool_calls"][0]["id"]
    assert len(new) <= 40
    assert window.messages[2] == {**RESULT, "tool_call_id": new}


def test_the_legacy_call_is_sent_with_text_and_its_result_names_it():
    asked = {"role": "assistant", "content": None, "function_call": {"name": "look up", "arguments": {"a": 1}}}
    window = sent([ASKS, asked, {"role": "function", "name": "look up", "content": "1"}], "openai")
    assert window.messages[1]["function_call"] == {"name": "look_up", "arguments": '{"a": 1}'}
    assert window.messages[2] == {"role": "function", "name": "look_up", "content": "1"}


def test_only_a_user_shows_images():
    shown = {**RESULT, "content": [HI, IMAGE["openai"]]}
    assert sent([ASKS, CALL, shown], "openai").messages[2]["content"] == [HI, {"type": "text", "text": "[image]"}]
    painted = {"role": "assistant", "content": [IMAGE["anthropic"], HI]}
    assert sent([ASKS, painted], "anthropic").messages[1]["content"] == [{"type": "text", "text": "[image]"}, HI]
    both = [{"role": "user", "content": [IMAGE["openai"]]}, {"role": "user", "content": [HI]}]
    assert sent(both, "openai").repairs == ()


@pytest.mark.parametrize("content", [None, "", " \n", [], [{"type": "text", "text": ""}]])
@pytest.mark.parametrize("shape", ["openai", "anthropic"])
def test_a_system_message_that_says_nothing_is_not_sent_and_others_are(shape, content):
    window = sent([{"role": "system", "content": content}, {"role": "system", "content": "be kind"}, ASKS], shape)
    assert window.messages == [{"role": "system", "content": "be kind"}, ASKS]
    assert [(one.index, one.action) for one in window.repairs] == [(0, "removed")]


def test_a_window_of_system_messages_stays_as_it_is():
    systems = [{"role": "system", "content": "a"}, {"role": "system", "content": "b"}]
    for shape in ("openai", "anthropic"):
        assert sent(systems, shape).messages == systems
        assert cut_window(systems, 0, shape).messages == systems
        assert cut_window([], 3, shape).messages == []


def test_a_speakers_name_can_be_sent():
    window = sent([{"role": "user", "name": "Ada B.", "content": "q"}], "openai")
    assert window.messages == [{"role": "user", "name": "Ada_B.", "content": "q"}]
    assert sent([{"role": "user", "name": "Ada", "content": "q"}], "anthropic").messages == [ASKS]


@pytest.mark.parametrize("unsigned", [{}, {"signature": ""}, {"signature": None}])
def test_thinking_without_its_signature_is_not_sent(unsigned):
    thought = {"type": "thinking", "thinking": "hm", **unsigned}
    window = sent(
        [ASKS, {"role": "assistant", "content": [thought, USE]}, {"role": "user", "content": [ANSWER]}], "anthropic"
    )
    assert window.messages[1]["content"] == [USE]


@pytest.mark.parametrize(
    ("role", "stray"),
    [
        ("user", {"type": "thinking", "thinking": "hm", "signature": "s"}),
        ("user", {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}),
        ("user", {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}),
        ("user", USE),
        ("assistant", ANSWER),
    ],
)
def test_blocks_of_the_other_role_are_not_sent(role, stray):
    lead = [] if role == "user" else [ASKS]
    window = sent([*lead, {"role": role, "content": [stray, HI]}], "anthropic")
    assert window.messages[-1]["content"] == [HI]
    assert sent(
        [ASKS, {"role": "assistant", "content": "b"}, {"role": role, "content": [stray]}], "anthropic"
    ).messages == [
        ASKS,
        {"role": "assistant", "content": "b"},
    ]


@pytest.mark.parametrize("content", [None, "", [], [{"type": "text", "text": " "}]])
def test_an_error_says_something_and_a_result_is_not_null(content):
    failed = {**ANSWER, "content": content, "is_error": True}
    history = [ASKS, {"role": "assistant", "content": [USE]}, {"role": "user", "content": [failed]}]
    assert sent(history, "anthropic").messages[2]["content"] == [{**failed, "content": EMPTY_RESULT}]
    [block] = sent([*history[:2], {"role": "user", "content": [{**ANSWER, "content": content}]}], "anthropic").messages[
        2
    ]["content"]
    assert block.get("content", "") is not None
    twice = sent([*history[:2], {"role": "user", "content": [failed, failed]}], "anthropic").messages[2]["content"]
    assert len(twice) == 1
    assert EMPTY_RESULT in str(twice)


@pytest.mark.parametrize("name", [None, ""])
def test_a_call_of_nothing_is_sent_with_a_name(name):
    history = [ASKS, {"role": "assistant", "content": [{**USE, "name": name}]}, {"role": "user", "content": [ANSWER]}]
    assert sent(history, "anthropic").messages[1]["content"] == [{**USE, "name": "unknown"}]


def test_calls_that_are_interleaved_are_each_answered():
    other = {**CALL, "tool_calls": [{**CALL["tool_calls"][0], "id": "b"}]}
    window = sent([ASKS, CALL, other, RESULT, {**RESULT, "tool_call_id": "b"}], "openai")
    assert window.messages[2] == {**RESULT, "content": NO_RESULT}
    assert window.messages[-1] == {**RESULT, "tool_call_id": "b"}


def test_text_with_calls_that_a_person_interrupts_stays_in_order():
    asked = {"role": "assistant", "content": [HI, USE, {**USE, "id": "b"}]}
    window = sent(
        [ASKS, asked, {"role": "user", "content": [ANSWER]}, {"role": "user", "content": "stop"}], "anthropic"
    )
    results = window.messages[2]["content"]
    assert [one.get("tool_use_id") for one in results] == ["a", "b", None]
    assert results[1]["content"] == NO_RESULT
    assert results[2] == {"type": "text", "text": "stop"}


def test_a_server_tools_result_may_come_behind_a_client_tools():
    server = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    history = [
        ASKS,
        {"role": "assistant", "content": [server, USE]},
        {"role": "user", "content": [ANSWER]},
        {"role": "assistant", "content": [found, HI]},
    ]
    assert sent(history, "anthropic").messages == history


def test_a_huge_result_and_a_lone_one_at_the_end():
    huge = {**RESULT, "content": "x" * 1_000_000}
    assert sent([ASKS, CALL, huge], "openai").messages == [ASKS, CALL, huge]
    assert sent([ASKS, {"role": "assistant", "content": "x"}, RESULT], "openai").messages[-1]["content"] == "x"
    window = cut_window([ASKS, CALL, huge, ASKS], 3, budget=100)
    assert window.messages == [ASKS]
    assert [one.reason for one in window.dropped] == ["cut", "budget", "budget"]
