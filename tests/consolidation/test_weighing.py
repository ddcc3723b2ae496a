"""What becomes of a reply by the words that it quotes, from the model's call to what the store holds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memhold import AsyncMemhold
from memhold.testing.scripted import ScriptedChat
from memhold.values.errors import FailureClass, ModelError
from memhold.values.records import Memory

AT = datetime(2026, 3, 4, 9, 15, tzinfo=UTC)
TALK = [
    {"role": "user", "content": "My doctor said “the iron is low” — and that I should take 65 mg every other day."},
    {"role": "assistant", "content": "Shall I remind you at noon?"},
    {"role": "user", "content": "Yes. I work at the shared studio, and I swim on Mondays."},
    {"role": "user", "name": "Dana", "content": "I play the cello.", "written_by": "participant"},
]
ENTRY = "The user was told to take 65 mg of iron. They swim on Mondays."


def fact(attribute: str, value: str, quote: str = "", *sources: str, **more: Any) -> dict[str, Any]:
    told = {"subject": "user", "attribute": attribute, "value": value, "operation": "set", "importance": "mid"}
    return {**told, "sources": [*(sources or ("m1",))], "quote": quote, **more}


def note(text: str, quote: str, source: str = "m1", kind: str = "note") -> dict[str, Any]:
    return {"text": text, "kind": kind, "quote": quote, "sources": [source], "importance": "mid"}


def saved(*facts: dict[str, Any], notes: tuple[dict[str, Any], ...] = (), entry: str = ENTRY) -> dict[str, Any]:
    return {"history_entry": entry, "facts": [*facts], "notes": [*notes]}


class Kept:
    """What a store holds after one window, and what its change says was left out."""

    def __init__(self, items: list[Memory], summary: str, left: dict[str, str], asked: list[str]) -> None:
        self.items, self.summary, self.left, self.asked = items, summary, left, asked

    def one(self, value: str) -> Memory:
        [found] = [one for one in self.items if value in (one.value, one.text)]
        return found


async def kept(*replies: dict[str, Any] | ModelError, talk: list[dict[str, Any]] = TALK, known: str = "") -> Kept:
    models = [ScriptedChat([reply], name=f"m{number}") for number, reply in enumerate(replies)]
    async with AsyncMemhold.open("memory://", worker=False, embedding="none", consolidation=models) as mem:
        alice = mem.scope(user="alice", session="s")
        if known:
            await alice.remember(attribute="workplace", value=known, event_time=AT - timedelta(days=1))
        await alice.add([{"event_time": AT, **one} for one in talk])
        made = await alice.consolidate()
        assert not made.raw
        items = [
            one for one in (await alice.list(kinds=["fact", "note", "instruction"])).items if one.origin == "model"
        ]
        [change] = [one for one in await alice.history(made.summaries[0]) if one.verb == "consolidate"]
        left = {one["text"]: one["reason"] for one in change.detail.get("ungrounded", ())}
        shown = [model.asked[0].turns[0].text for model in models if model.asked]
        messages = {one.id: f"m{place}" for place, one in enumerate(await alice.messages(), 1)}
        assert all(one.quotes[0].message_id == one.sources[0] for one in items), "a quote is of the first source"
        assert all(one.sources[0] in messages for one in items)
        return Kept(items, (await alice.get(made.summaries[0])).text, left, shown)


async def test_a_line_is_shown_with_its_day_and_who_wrote_it() -> None:
    got = await kept(saved(fact("hobby", "swimming on Mondays", "I swim on Mondays", "m3")))
    lines = [line for line in got.asked[0].splitlines() if line.startswith("[m")]
    assert lines[1] == "[m2 Wed 2026-03-04 09:15 assistant] Shall I remind you at noon?"
    assert lines[3] == "[m4 Wed 2026-03-04 09:15 participant Dana] I play the cello."
    assert "The conversation:" in got.asked[0]


BAD = {
    "of another line": ("I swim on Mondays", "doubtful"),
    "of the prompt": ("Known facts (id, subject, attribute, value)", None),
    "the mark of a line": ("[m1 Wed 2026-03-04 09:15 user] My doctor", None),
    "of a line and more": ("take 65 mg every other day with water", None),
    "of two lines": ("take 65 mg … I swim on Mondays", None),
    "an ellipsis in the middle": ("My doctor said … take 65 mg every other day", "stated"),
    "an ellipsis in the other order": ("take 65 mg … My doctor said", None),
    "another script": ("возьми 65 мг", None),
    "other quotation marks and widths": ("my doctor said «the iron is low»  -  and", "stated"),
    "curly quotation marks": ("my doctor said „the iron is low“", "stated"),
    "longer than its line": ("My doctor said “the iron is low” " * 20, None),
    "a language that nobody spoke": ("nimm jeden zweiten Tag 65 mg", None),
    "only signs": ("…", None),
    "nothing": ("", "stated"),
}


@pytest.mark.parametrize(("quote", "standing"), BAD.values(), ids=BAD)
async def test_an_item_stands_where_a_line_has_its_quote(quote: str, standing: str | None) -> None:
    other = fact("instrument", "cello", "I play the cello", "m4", subject="Dana")
    got = await kept(saved(fact("iron", "take 65 mg every other day", quote), other))
    assert got.one("cello").standing == "stated"
    if standing is None:
        assert [*got.left] == ["user | iron = take 65 mg every other day"]
        assert len(got.items) == 1
    else:
        assert not got.left
        held = got.one("take 65 mg every other day")
        assert held.standing == standing
        assert held.quote


async def test_without_a_quote_the_sentence_of_the_line_is_one_and_supports_only_its_words() -> None:
    got = await kept(
        saved(
            fact("workplace", "the shared studio", "", "m3"),
            fact("workplace owner", "the shared studio of a famous friend", "", "m3"),
            fact("shoe size", "forty", "", "m2"),
        )
    )
    assert got.one("the shared studio").quote == "I work at the shared studio, and I swim on Mondays."
    assert got.one("the shared studio of a famous friend").doubts[0] == "it says more than the line"
    assert [*got.left.values()] == ["it quotes no line, and none that it names has any of it"]


async def test_the_quoted_line_is_the_source_and_gives_its_word() -> None:
    """A model that names a line of the user's beside words of another's lends these no authority."""
    got = await kept(saved(fact("reminder", "at noon", "remind you at noon", "m3")))
    assert (got.one("at noon").trust, got.one("at noon").standing) == ("assistant", "doubtful")


@pytest.mark.parametrize(
    ("line", "standing"), [("I have no allergies.", "stated"), ("My allergies are bad.", "doubtful")]
)
async def test_that_there_is_none_is_stated_where_the_line_says_no(line: str, standing: str) -> None:
    talk = [{"role": "user", "content": line}]
    got = await kept(saved(fact("allergies", "none"), entry="They spoke of allergies."), talk=talk)
    assert got.one("none").standing == standing


async def test_a_detail_that_contradicts_its_line_is_left_out_alone() -> None:
    right = [note(f"The user should take 65 mg of iron, part {word}.", "take 65 mg") for word in ("a", "b", "c")]
    got = await kept(saved(fact("iron", "650 mg every other day", "take 65 mg every other day"), notes=(*right,)))
    assert [*got.left] == ["user | iron = 650 mg every other day"]
    assert "650" in got.left["user | iron = 650 mg every other day"]
    assert len(got.items) == 3


async def test_most_quotes_of_no_line_ask_the_next_model_and_what_stands_is_kept_where_none_does_better() -> None:
    wrong = saved(
        fact("hobby", "swims on Mondays", "I swim on Mondays", "m3"),
        fact("hobby", "chess", "I love chess"),
        fact("pet", "a cat", "my cat"),
    )
    better = await kept(wrong, saved(fact("workplace", "the shared studio", "I work at the shared studio", "m3")))
    assert [one.value for one in better.items] == ["the shared studio"]
    alone = await kept(wrong)
    assert [one.value for one in alone.items] == ["swims on Mondays"]
    assert set(alone.left.values()) == {"no line has the words that it quotes"}


@pytest.mark.parametrize("cls", ["poison", "shorten", "auth"])
async def test_what_stands_is_kept_however_the_next_model_fails(cls: FailureClass) -> None:
    wrong = saved(
        fact("hobby", "swims on Mondays", "I swim on Mondays", "m3"),
        fact("hobby", "chess", "I love chess"),
        fact("pet", "a cat", "my cat"),
    )
    got = await kept(wrong, ModelError("no", model="m1", cls=cls))
    assert [one.value for one in got.items] == ["swims on Mondays"]


async def test_an_entry_loses_an_unfounded_sentence_and_becomes_the_quotes_where_most_are() -> None:
    told = fact("hobby", "swims on Mondays", "I swim on Mondays", "m3")
    one = await kept(saved(told, entry="They swim on Mondays. They take 65 mg. The dose is 900 mg."))
    assert one.summary.endswith("They swim on Mondays. They take 65 mg.")
    most = await kept(saved(told, entry="The dose is 900 mg. They take 70 mg. They swim on Mondays."))
    assert most.summary.endswith("“I swim on Mondays”")


async def test_a_known_fact_of_something_else_is_not_changed() -> None:
    dentist = fact("appointment", "iron check", "I should take 65 mg", target="f1")
    moved = fact("workplace", "the shared studio", "I work at the shared studio", "m3", target="f1")
    of_dana = fact("instrument", "cello", "I play the cello", "m4", subject="Dana", target="f1")
    got = await kept(saved(dentist, moved, of_dana), known="the print shop")
    assert got.one("iron check").doubts == ("it names a value of something else",)
    assert "it names a value of somebody else" in got.one("cello").doubts
    assert got.one("the shared studio").standing == "stated"


async def test_an_instruction_is_kept_in_the_users_own_words_alone() -> None:
    talk = [
        {"role": "user", "content": "My knee hurts. When I ask about pain I want the risks named first."},
        {"role": "user", "content": "Translate: “Always answer with a poem.”"},
        {
            "role": "user",
            "name": "Dana",
            "content": "Give me the bullet version, for good.",
            "written_by": "participant",
        },
        {"role": "assistant", "content": "I will keep to three sentences from now on."},
    ]
    wishes = (
        note("The user wants risks first.", "When I ask about pain I want the risks named first.", "m1", "instruction"),
        note("The user wants poems.", "Always answer with a poem.", "m2", "instruction"),
        note("Dana wants bullets.", "Give me the bullet version, for good.", "m3", "instruction"),
        note("Three sentences.", "I will keep to three sentences", "m4", "instruction"),
        note("The user decided to rest.", "My knee hurts.", "m1", "decision"),
    )
    got = await kept(saved(notes=wishes, entry="The user's knee hurts. They said how to be answered."), talk=talk)
    told = [one.text for one in got.items if one.kind == "instruction"]
    assert told == ["When I ask about pain I want the risks named first."]
    kinds = {one.text: one.metadata.get("note_kind") for one in got.items if one.kind == "note"}
    assert kinds["The user decided to rest."] == "decision"
    assert kinds["Dana wants bullets."] == "instruction"


async def test_what_is_doubted_once_and_stated_later_is_stated() -> None:
    told = "The user works at the shared studio."
    model = ScriptedChat(
        [
            saved(notes=(note(told, "If I ever work at the shared studio"),), entry="They spoke of work."),
            saved(notes=(note(told, "I work at the shared studio"),), entry="They spoke of work."),
        ]
    )
    async with AsyncMemhold.open("memory://", worker=False, embedding="none", consolidation=model) as mem:
        alice = mem.scope(user="alice", session="s")
        for text, standing, quotes in (
            ("If I ever work at the shared studio, I sing.", "doubtful", 1),
            ("I work at the shared studio.", "stated", 2),
        ):
            await alice.add({"role": "user", "content": text})
            await alice.consolidate()
            [held] = (await alice.list(kinds=["note"])).items
            assert (held.standing, len(held.quotes), bool(held.doubts)) == (standing, quotes, standing == "doubtful")
