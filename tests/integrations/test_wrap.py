"""What `memhold.wrap` decides without any SDK; with the real ones it is proved by `reality/frameworks/wrap.py`."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memhold
from memhold import Memhold
from memhold.errors import InvalidInput
from memhold.integrations.reach import Reach
from memhold.integrations.sdk.alignment import kept_of, marks
from memhold.integrations.sdk.anthropic_messages import Messages
from memhold.integrations.sdk.api import API, Known, Request
from memhold.integrations.sdk.conversation import Conversation
from memhold.integrations.sdk.openai_chat import ChatCompletions
from memhold.integrations.sdk.openai_responses import Responses
from memhold.integrations.wrap import remembering
from memhold.providers.vocabularies import count_of

CHAT, MESSAGES, RESPONSES = ChatCompletions(), Messages(), Responses()


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def dialogue(*texts: str) -> list[dict[str, str]]:
    return [assistant(text) if at % 2 else user(text) for at, text in enumerate(texts)]


# ------------------------------------------------------------------------------------------------ what is new


@pytest.mark.parametrize(
    ("kept", "sent", "new"),
    [
        (["a", "1"], ["a", "1", "b"], ["b"]),
        (["a", "1", "b", "2"], ["b", "2", "c"], ["c"]),
        ([], ["a", "1", "b"], ["a", "1", "b"]),
        (["a", "1"], ["a"], ["a"]),
        (["a"], ["a"], []),
        (["a", "1", "b", "2"], ["a", "1", "b"], []),
        (["a", "1", "b", "2", "b", "3"], ["a", "1", "b", "3", "c"], ["c"]),
        (["a", "1"], ["a", "said otherwise", "b"], ["b"]),
        (["x", "1", "a", "2"], ["x", "1", "b"], ["b"]),
        (["yes", "1", "yes", "2"], ["yes", "1", "yes", "2", "yes"], ["yes"]),
        (["yes", "1", "b", "2", "yes", "3"], ["yes", "1", "b", "2", "yes"], []),
        (["yes", "1", "b", "2", "yes", "3"], ["yes", "3", "b"], ["b"]),
    ],
    ids=["continued", "cut in front", "a first history", "the same words, said anew", "asked again after a failure",
         "another answer is asked for", "after another answer", "a reply in other words", "one example, two questions",
         "always the same words", "another answer, behind the words of the first turn",
         "cut in front, and what was said there is said again"],
)  # fmt: skip
def test_what_stands_behind_the_last_turn_that_is_known_is_new(
    kept: list[str], sent: list[str], new: list[str]
) -> None:
    held, given_ = marks(dialogue(*kept)), dialogue(*sent)
    assert [one["content"] for one in given_[kept_of(held, marks(given_)) :]] == new


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(["yes", "no", "go on"]), min_size=1, max_size=12), st.data())
def test_a_program_that_sends_its_history_each_time_has_each_turn_kept_once(
    texts: list[str], data: st.DataObject
) -> None:
    """However repetitive it is, and wherever it is cut in front, as long as a turn of the past is left."""
    history, kept = [], []
    for text in texts:
        history.append(user(text))
        cut = data.draw(st.integers(0, max(0, len(history) - 4)))
        cut -= cut % 2
        sent = history if len(set(texts)) < len(texts) else history[cut:]
        found = marks(sent)
        kept += found[kept_of(kept, found) :]
        history.append(assistant(f"reply {len(history)}"))
        kept += marks(history)[-1:]
        assert kept == marks(history)


# ------------------------------------------------------------------------------------------------ three APIs

KNOWN = Known(standing="S", noted=("N",), recalled=("R",), earlier=tuple(dialogue("earlier?", "earlier.")))


def test_memory_stands_beside_what_the_program_wrote() -> None:
    body = {"model": "m", "messages": [{"role": "developer", "content": "D"}, *dialogue("a", "b", "c")]}
    shown = CHAT.knowing(body, KNOWN)["messages"]
    assert [(one["role"], one["content"]) for one in shown] == [
        ("developer", "D"), ("developer", "S"), ("user", "N"), ("user", "earlier?"), ("assistant", "earlier."),
        ("user", "a"), ("assistant", "b"), ("user", "R"), ("user", "c"),
    ]  # fmt: skip


def test_in_messages_it_stands_in_the_users_turns_and_behind_the_programs_system_prompt() -> None:
    cached = [{"type": "text", "text": "P", "cache_control": {"type": "ephemeral"}}]
    result = {"type": "tool_result", "tool_use_id": "t", "content": "ok"}
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]}
    body = {"system": cached, "messages": [user("a"), call, {"role": "user", "content": [result]}]}
    shown = MESSAGES.knowing(body, KNOWN)
    assert shown["system"] == [*cached, {"type": "text", "text": "S"}]
    assert [part["text"] for part in shown["messages"][0]["content"]] == ["N", "earlier?"]
    assert shown["messages"][2]["content"] == [{"type": "text", "text": "R"}, {"type": "text", "text": "a"}]
    assert shown["messages"][3:] == body["messages"][1:]


def test_in_responses_it_stands_among_the_items() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c", "output": "ok"}
    shown = RESPONSES.knowing(
        {"instructions": "I", "input": [user("a"), call, output]}, Known(standing="S", recalled=("R",))
    )
    assert shown["instructions"] == "I\n\nS"
    assert shown["input"] == [user("R"), user("a"), call, output]


def test_items_are_kept_as_the_messages_that_they_amount_to() -> None:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]}
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a": 1}'}
    output = {"type": "function_call_output", "call_id": "c", "output": "ok"}
    found = RESPONSES.said({"input": [user("a"), {"type": "reasoning", "summary": []}, said, call, output, user("b")]})
    function = {"name": "f", "arguments": '{"a": 1}'}
    assert found == [
        user("a"),
        assistant("I look.") | {"tool_calls": [{"id": "c", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "c", "content": "ok"},
        user("b"),
    ]
    assert RESPONSES.reply({"output": [said, call]}) == found[1]


def test_the_beginning_of_a_reply_that_the_program_wrote_is_no_turn() -> None:
    assert CHAT.said({"messages": dialogue("a", "{")}) == [user("a")]


def chunk(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


END = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}


def piece(index: int, arguments: str, **more: str) -> dict[str, Any]:
    function = {"arguments": arguments} | ({"name": more["name"]} if more else {})
    return {"index": index, "id": more.get("id"), "function": function}


def test_a_call_that_was_broken_off_in_the_middle_is_left_out_and_a_whole_one_is_kept() -> None:
    came = CHAT.gathering()
    pieces = [piece(0, '{"a"', id="c0", name="f"), piece(0, ": 1}"), piece(1, '{"b', id="c1", name="g")]
    for event in (
        chunk(role="assistant", content="I "),
        chunk(content="look."),
        *(chunk(tool_calls=[one]) for one in pieces),
    ):
        came.take(event)
    broken = came.reply()
    assert broken is not None
    assert (broken["content"], broken["metadata"]) == ("I look.", {"interrupted": True})
    assert [(call["id"], call["function"]["arguments"]) for call in broken["tool_calls"]] == [("c0", '{"a": 1}')]
    came.take(chunk(tool_calls=[piece(1, '": 2}')]))
    came.take(END)
    whole = came.reply()
    assert whole is not None
    assert [json.loads(call["function"]["arguments"]) for call in whole["tool_calls"]] == [{"a": 1}, {"b": 2}]
    assert "metadata" not in whole


def test_blocks_that_did_not_come_whole_are_left_out_but_for_their_text() -> None:
    came = MESSAGES.gathering()
    use = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    for event in (
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I look."}},
        {"type": "content_block_start", "index": 1, "content_block": use},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"a": '}},
    ):
        came.take(event)
    said = {"type": "text", "text": "I look."}
    assert came.reply() == {"role": "assistant", "content": [said], "metadata": {"interrupted": True}}
    came.take({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "1}"}})
    came.take({"type": "content_block_stop", "index": 1})
    came.take({"type": "message_stop"})
    assert came.reply() == {"role": "assistant", "content": [said, use | {"input": {"a": 1}}]}


# ------------------------------------------------------------------------------------------------ a conversation


@pytest.fixture
def mem() -> Iterator[Memhold]:
    with Memhold.open("memory://", worker=False) as opened:
        yield opened


def asked(messages: list[Any], api: API = CHAT, **more: Any) -> Request:
    return Request.of(api, {"model": "m", "messages": messages} | more)


def talk(mem: Memhold, session: str = "s1", budget: int = 2_000) -> Conversation:
    return Conversation(Reach(mem.scope(user="alice", session=session)), budget=budget)


def turn(conversation: Conversation, messages: list[Any], reply: str) -> Known:
    request = asked(messages)
    known = conversation.before_now(request)
    conversation.after_now(request, assistant(reply))
    return known


def texts(mem: Memhold, session: str = "s1") -> list[str]:
    return [one.text for one in mem.scope(user="alice", session=session).messages()]


def test_a_session_is_continued_and_what_was_added_to_it_stays_in_front(mem: Memhold) -> None:
    turn(talk(mem), [user("a")], "1")
    later = talk(mem)
    first = turn(later, [user("b")], "2")
    assert [one["content"] for one in first.earlier] == ["a", "1"]
    second = turn(later, dialogue("b", "2", "c"), "3")
    assert second.earlier == first.earlier
    result = {"role": "tool", "tool_call_id": "x", "content": "ok"}
    assert later.before_now(asked([*dialogue("b", "2", "c", "3"), result])) == second, "a tool's result goes on with it"
    assert texts(mem) == ["a", "1", "b", "2", "c", "3", "ok"]
    assert talk(mem).before_now(asked(dialogue("c", "3", "d"))).earlier == (), "the program holds its own history"


@pytest.mark.parametrize("how", ["replaced", "forgotten"])
def test_the_same_question_again_is_answered_with_what_holds_now(mem: Memhold, how: str) -> None:
    """A program may send each question alone, without a history of its own."""
    alice, conversation = mem.scope(user="alice"), talk(mem)
    told = alice.remember(attribute="home", value="Lisbon").memory
    assert told is not None
    assert "Lisbon" in str(turn(conversation, [user("Where is my home?")], "There.").texts)
    if how == "replaced":
        alice.remember(attribute="home", value="Porto")
    else:
        alice.forget(told.id)
    again = str(turn(conversation, [user("Where is my home?")], "Here.").texts)
    assert ("Porto" in again) is (how == "replaced")
    assert "Lisbon" not in again


def test_the_providers_own_history_is_not_sent_a_second_time(mem: Memhold) -> None:
    turn(talk(mem), [user("a")], "1")
    request = Request.of(RESPONSES, {"model": "m", "input": "b", "previous_response_id": "r1"})
    assert talk(mem).before_now(request).earlier == ()


def test_a_session_of_many_messages_is_known_again_by_its_end(mem: Memhold) -> None:
    scope = mem.scope(user="alice", session="s1")
    scope.add(dialogue(*map(str, range(1_000))))
    turn(talk(mem), dialogue(*map(str, range(900, 1_001))), "reply")
    assert [one.text for one in scope.messages(after=999)] == ["999", "1000", "reply"]


def test_what_memory_adds_fits_the_budget_and_says_nothing_that_the_program_sends(mem: Memhold) -> None:
    for number in range(60):
        mem.scope(user="alice", session=f"old {number}").add(
            user(f"In week {number} I planted {number} roses in the north garden.")
        )
    history = dialogue(*(f"This is what was said {number} about roses." for number in range(41)))
    known = talk(mem, budget=600).before_now(asked(history))
    assert any("planted" in text for text in known.texts)
    assert sum(len(text) for text in known.texts) < 600 * 5
    assert not any("This is what was said" in text for text in known.texts)


def knowing_much(mem: Memhold) -> list[dict[str, str]]:
    """A long conversation, whose language costs a tokenizer half of the estimate, over a memory that fills any room."""
    for number in range(90):
        mem.scope(user="alice", session=f"old {number}").add(
            user(f"지난주 {number}번째 정원에 장미를 {number}송이 심었고 물도 두 번 줬어요.")
        )
    return dialogue(*(f"정원의 장미 이야기를 {number}번째로 나누는 중이에요." for number in range(41)))


@pytest.mark.parametrize(
    ("how", "model", "least"),
    [("before", "gpt-5", 0.75), ("beside", "gpt-5", 0.65), ("before", "claude-9", 0.0), ("beside", "claude-9", 0.0)],
)
def test_what_is_sent_and_what_memory_adds_are_counted_as_the_model_counts(
    mem: Memhold, how: str, model: str, least: float
) -> None:
    history, count, budget = knowing_much(mem), count_of(model), 1_500
    if how == "before":
        known = talk(mem, budget=budget).before_now(Request.of(CHAT, {"model": model, "messages": history}))
    else:
        conversation = Conversation(Reach(mem.scope(user="alice", session="s1")), budget=budget, model=model)
        known = asyncio.run(conversation.beside(history))
    cost = sum(map(count, known.texts))
    assert least * budget <= cost <= budget
    assert any("심었고" in text for text in known.texts)
    assert how == "beside" or not any("이야기를" in text for text in known.texts), "what is sent is not said again"


def test_other_clients_are_told_what_to_do_instead(mem: Memhold) -> None:
    scope = mem.scope(user="alice")
    for raw in (urllib.request, urllib.request.build_opener()):
        with pytest.raises(InvalidInput, match=r"OpenAI\(base_url=…\).*scope\.context"):
            memhold.wrap(raw, scope)
    with pytest.raises(InvalidInput, match="object is no client"):
        memhold.wrap(object(), scope)
    with pytest.raises(InvalidInput, match="is a class; pass a client"):
        memhold.wrap(dict, scope)
    with pytest.raises(InvalidInput, match="was not wrapped"):
        remembering(object())


# --------------------------------------------------------------------- a framework that drops its older turns itself


def test_what_leaves_a_framework_s_window_is_kept_once_and_is_found_again(mem: Memhold) -> None:
    conversation = talk(mem)
    said = [user("My cat is called Mochi."), user("It is a tabby."), assistant("Noted."), user("I like oolong.")]

    async def leaving() -> Known:
        await conversation.keep_part(said[:1])  # nobody asked before it left
        await conversation.beside(said[1:])
        await conversation.keep_part(said[1:2])
        await conversation.keep_part(said[1:3])
        await conversation.beside(said[2:])
        return await conversation.beside([*said[2:], assistant("Good."), user("What is my cat called?")])

    known = asyncio.run(leaving())
    assert texts(mem) == [*(one["content"] for one in said), "Good.", "What is my cat called?"]
    assert any("called Mochi." in text for text in known.texts)
    assert not any("oolong" in text for text in known.texts), "what the framework sends itself is not said again"
