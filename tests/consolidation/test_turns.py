"""A window asked turn by turn: what each message tells on its own line, repetitions folded, one reply in the end."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from memhold import AsyncMemhold
from memhold.consolidate.contract import Draft, Frame, read_reply
from memhold.consolidate.turns import joined
from memhold.errors import InvalidSetting, ModelError
from memhold.journal.windows import Part, Piece
from memhold.ports.models import ChatReply, ChatRequest, ToolCall, Usage
from memhold.providers.catalog import load_catalog
from memhold.providers.entry import looks_small
from memhold.providers.stepwise import Stepwise
from memhold.values.records import Message, Passage

SAID = [
    {"role": "user", "content": "I keep goats in Uri."},
    {"role": "assistant", "content": "How many goats do you keep?"},
    {"role": "user", "content": "Seven goats. I never eat cheese."},
    {"role": "assistant", "content": "Noted: seven goats."},
    {"role": "user", "content": "I keep goats in Uri, as I said. On Monday I sell one goat."},
]
TOLD: dict[str, dict[str, Any]] = {
    "I keep goats in Uri.": {"facts": [{"subject": "user", "attribute": "goats", "value": "in Uri"}], "notes": []},
    "Seven goats. I never eat cheese.": {
        "facts": [
            {"subject": "user", "attribute": "number of goats", "value": "seven"},
            {"subject": "user", "attribute": "favorite food", "value": "pizza"},
            {"subject": "user", "attribute": "asked", "value": "How many goats do you keep?"},
        ],
        "notes": ["The user never eats cheese."],
    },
    "I keep goats in Uri, as I said. On Monday I sell one goat.": {
        "facts": [{"subject": "user", "attribute": "Goats", "value": "in Uri"}],
        "notes": ["The user sells one goat on Monday."],
    },
}


class Small:
    """Answers one message at a time, and no whole window."""

    name = "small"

    def __init__(self, fails: tuple[str, ...] = (), cls: str = "resample") -> None:
        self.asked: list[ChatRequest] = []
        self.fails, self.cls = fails, cls

    async def chat(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        assert request.tool is not None
        said = request.turns[0].text.rsplit("\n\n", 1)[-1]
        if any(said.startswith(one) for one in self.fails):
            raise ModelError("it fails", model=self.name, cls=self.cls)
        given = (
            {"history_entry": "The user keeps seven goats in Uri."} if request.tool.name == "save_entry" else TOLD[said]
        )
        call = ToolCall(id="c", name=request.tool.name, arguments=given)
        return ChatReply(model=self.name, text="", tool_calls=(call,), usage=Usage(input_tokens=10, output_tokens=5))


async def consolidated(model: Small) -> tuple[set[str], set[str], dict[str, Any]]:
    async with AsyncMemhold.open("memory://", worker=False, consolidation=Stepwise(model), embedding="none") as mem:
        alice = mem.scope(user="alice", session="s")
        await alice.add(SAID)
        made = await alice.consolidate()
        assert made.summaries, made.last_error
        change = (await alice.history(made.summaries[0]))[-1]
        facts = (await alice.list(kinds=["fact"])).items
        notes = (await alice.list(kinds=["note"])).items
        detail = json.loads(json.dumps(dict(change.detail), default=str))
        assert change.by.version == "consolidate_turn/1"
        return {f"{one.attribute}={one.value}" for one in facts}, {one.text for one in notes}, detail


async def test_each_message_is_asked_for_itself_and_what_came_back_is_one_memory() -> None:
    model = Small()
    facts, notes, detail = await consolidated(model)
    assert facts == {"goats=in Uri", "number of goats=seven"}, (
        "what nobody said is left out, and what is said twice is one"
    )
    assert notes == {"The user never eats cheese.", "The user sells one goat on Monday."}
    left = {one["text"]: one["reason"] for one in detail["ungrounded"]}
    assert left["user | asked = How many goats do you keep?"] == "only the line above says it"
    assert "user | favorite food = pizza" in left
    assert detail["tokens"] == {"input": 40, "output": 20} or "40" in json.dumps(detail["tokens"])
    assert [one.tool.name for one in model.asked if one.tool] == ["save_turn"] * 3 + ["save_entry"]
    assert "How many goats" in model.asked[1].turns[0].text
    assert "not to be retold" in model.asked[1].turns[0].text
    assert all(one.steps is None for one in model.asked)


def part_of(text: str) -> Part:
    at = datetime(2026, 5, 1, tzinfo=UTC)
    message = Message(
        id="msg_1",
        number=1,
        session="s",
        seq=1,
        role="user",
        body={"role": "user", "content": text},
        shape="openai",
        text=text,
        event_time=at,
        recorded_at=at,
        change_id="chg_1",
        passages=(Passage(start=0, end=len(text), written_by="user"),),
    )
    return Part(pieces=(Piece(number=1, message=message, text=text),))


@pytest.mark.parametrize("head", ["", "The message of the user's, of 2026-05-01: "])
def test_a_message_that_is_told_over_again_is_kept_as_the_users_own_words(head: str) -> None:
    text = "We want out of Swindon this year, Teo is dead set on Valencia and I have come round to it."
    part = part_of(text)
    given = {"facts": [{"subject": "user", "attribute": "message", "value": head + text}], "notes": []}
    reply = ChatReply(model="m", text="", tool_calls=(ToolCall(id="c", name="save_turn", arguments=given),))
    made = joined(part, [reply, None]).tool_calls[0].arguments
    assert made["facts"] == []
    assert [(note["text"], note["sources"]) for note in made["notes"]] == [(f"“{text}”", ["m1"])]


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ('"The user keeps goats. It is in Uri. The user keeps goats. It is in', "The user keeps goats. It is in Uri."),
        ('"The user said \\"no\\". The us', 'The user said "no".'),
        ('"The user keeps', "“I keep goats in Uri.”"),  # no whole sentence: the user's own words
        ('"The user\\', "“I keep goats in Uri.”"),
        ("[", "“I keep goats in Uri.”"),
    ],
)
def test_of_an_entry_that_ran_into_its_token_limit_the_whole_sentences_are_kept_once(written: str, kept: str) -> None:
    cut = ChatReply(model="m", text=f'{{"history_entry": {written}', finish="length")
    made = joined(part_of("I keep goats in Uri."), [ChatReply(model="m", text=NOTHING), cut]).tool_calls[0].arguments
    assert made["history_entry"] == kept
    call = ToolCall(id="c", name="save_entry", arguments=f'{{"history_entry": {written}')
    called = ChatReply(model="m", text="", tool_calls=(call,), finish="length")
    made = joined(part_of("I keep goats in Uri."), [ChatReply(model="m", text=NOTHING), called]).tool_calls[0].arguments
    assert made["history_entry"] == kept, "as a call that was cut"
    ended = ChatReply(model="m", text=f'{{"history_entry": {written}', finish="stop")
    made = joined(part_of("I keep goats in Uri."), [ChatReply(model="m", text=NOTHING), ended]).tool_calls[0].arguments
    assert made["history_entry"] == "“I keep goats in Uri.”", "what is cut for another reason is no answer"


NOTHING = '{"facts": [], "notes": []}'
ENTRY = '{"history_entry": "The user keeps goats in Uri."}'


@pytest.mark.parametrize(
    ("text", "finish", "why"),
    [
        ("Sure, noted.", "stop", "answered without the arguments of save_turn"),
        ("", "stop", "an empty reply"),
        ('{"facts": [{"subject": "user", "attr', "length", "stopped at the token limit"),
        ("I'm sorry, but I can't help with that.", "stop", "the model refused"),
    ],
)
async def test_a_window_of_which_no_message_was_read_is_not_done(text: str, finish: Any, why: str) -> None:
    class Useless:
        name = "useless"

        async def chat(self, _: ChatRequest) -> ChatReply:
            return ChatReply(model=self.name, text=text, finish=finish)

    async with AsyncMemhold.open("memory://", worker=False, consolidation=Stepwise(Useless()), embedding="none") as mem:
        alice = mem.scope(user="alice", session="s")
        await alice.add(SAID)
        made = await alice.consolidate()
        assert (len(made.summaries), len(made.raw)) == (0, 1), "it waits whole"
        assert why in (made.last_error or "")


async def test_what_was_not_read_of_a_window_stands_in_its_change() -> None:
    class Halting(Small):
        async def chat(self, request: ChatRequest) -> ChatReply:
            if "Seven goats." in request.turns[0].text.rsplit("\n\n", 1)[-1]:
                return ChatReply(model=self.name, text='{"facts": [', finish="length")
            return await super().chat(request)

    for model in (Halting(), Small(fails=("I keep goats in Uri, as",))):
        _, _, detail = await consolidated(model)
        why = "stopped at the token limit" if isinstance(model, Halting) else "no answer"
        assert {"kind": "message", "reason": why} in detail["unreadable"]


@pytest.mark.parametrize(
    "given",
    [
        {"facts": {"subject": "user", "attribute": "goats", "value": "in Uri"}, "notes": "The user keeps goats."},
        {
            "facts": '[{"subject": "user", "attribute": "goats", "value": "in Uri"}]',
            "notes": [{"text": "The user keeps goats."}],
        },
    ],
)
def test_one_item_in_the_place_of_a_list_is_kept(given: dict[str, Any]) -> None:
    replies = [ChatReply(model="m", text=json.dumps(given)), ChatReply(model="m", text=ENTRY)]
    made = joined(part_of("I keep goats in Uri."), replies).tool_calls[0].arguments
    assert [fact["value"] for fact in made["facts"]] == ["in Uri"]
    assert [note["text"] for note in made["notes"]] == ["The user keeps goats."]


def test_an_item_that_is_none_is_left_to_the_reader_who_says_so() -> None:
    given = {"facts": ["goats", [[["deep"]]]], "notes": [{"said": "x"}, 7]}
    replies = [ChatReply(model="m", text=json.dumps(given)), ChatReply(model="m", text=ENTRY)]
    made = read_reply(joined(part_of("I keep goats in Uri."), replies), Frame(places=frozenset({1})))
    assert isinstance(made, Draft)
    assert [one.reason for one in made.left_out] == ["a fact is no object"] * 2 + ["a note is no object"] * 2


def test_an_entry_that_came_as_its_sentences_is_their_text() -> None:
    replies = [
        ChatReply(model="m", text=NOTHING),
        ChatReply(model="m", text='{"history_entry": ["The user keeps goats.", "They are in Uri."]}'),
    ]
    made = joined(part_of("I keep goats in Uri."), replies).tool_calls[0].arguments
    assert made["history_entry"] == "The user keeps goats. They are in Uri."


def test_of_an_entry_without_an_end_the_first_sentences_are_kept() -> None:
    written = " ".join(f"The user keeps goat number {number} in Uri." for number in range(12))
    cut = ChatReply(model="m", text=f'{{"history_entry": "{written} And', finish="length")
    made = joined(part_of("I keep goats in Uri."), [None, cut]).tool_calls[0].arguments
    assert made["history_entry"] == written[: written.index(" The user keeps goat number 8")]


async def test_a_model_that_is_asked_for_a_whole_window_keeps_its_own_attributes() -> None:
    class Whole:
        name = "large"

        async def chat(self, _: ChatRequest) -> ChatReply:
            fact = {"subject": "user", "attribute": "level", "value": "4", "operation": "set"}
            told = {**fact, "importance": "mid", "sources": ["m1"]}
            given = {"history_entry": "The user keeps goats in Uri.", "facts": [told], "notes": []}
            call = ToolCall(id="c", name="save_memory", arguments=given)
            return ChatReply(model=self.name, text="", tool_calls=(call,), usage=Usage())

    async with AsyncMemhold.open("memory://", worker=False, consolidation=Whole(), embedding="none") as mem:
        alice = mem.scope(user="alice", session="s")
        await alice.add([{"role": "user", "content": "I keep goats in Uri. My level 4 was impossible."}])
        assert (await alice.consolidate()).summaries
        kept = (await alice.list(kinds=["fact", "note"])).items
        assert [(one.kind, one.text) for one in kept] == [("fact", "level: 4")]


async def test_a_step_that_fails_costs_its_message_alone_and_the_link_that_fails_costs_all() -> None:
    facts, notes, _ = await consolidated(Small(fails=("Seven goats",)))
    assert facts == {"goats=in Uri"}
    assert notes == {"The user sells one goat on Monday."}
    with pytest.raises(AssertionError):
        await consolidated(Small(fails=("Seven goats",), cls="park"))
    with pytest.raises(AssertionError):
        await consolidated(Small(fails=("Seven goats", "I keep", "user:")))


async def test_an_entry_that_does_not_come_is_the_users_own_words() -> None:
    model = Small(fails=("user:",))
    async with AsyncMemhold.open("memory://", worker=False, consolidation=Stepwise(model), embedding="none") as mem:
        alice = mem.scope(user="alice", session="s")
        await alice.add(SAID)
        assert (await alice.consolidate()).summaries
        assert "“I keep goats in Uri.”" in (await alice.summaries()).hits[0].text


@pytest.mark.parametrize(
    ("name", "small"),
    [
        ("qwen2.5-coder-1.5b-instruct-q4_k_m.gguf", True), ("SmolLM2-135M-Instruct", True), ("llama3.2:3b", True),
        ("gemma-2-9b-it", False), ("gpt-4.1-mini", False), ("llama-3.3-70b-versatile", False), ("qwen3", False),
        ("mixtral-8x7b", False), ("auto", False), ("claude-sonnet-4-6", False),
    ],
)  # fmt: skip
def test_a_model_is_small_where_its_name_says_so(name: str, *, small: bool) -> None:
    assert looks_small(name) is small


def test_how_a_link_is_asked_is_a_field_of_its_entry_and_no_other_word_is_taken() -> None:
    table = '[models.mine]\nmodel = "x-1b"\nbase_url = "http://127.0.0.1:1"\n{}'
    assert load_catalog(user=table.format("")).models["mine"].by_turns
    assert not load_catalog(user=table.format('asked = "whole"')).models["mine"].by_turns
    for wrong in ('asked = "line"', 'structured = "grammar"'):
        with pytest.raises(InvalidSetting, match="is one of"):
            load_catalog(user=table.format(wrong))
