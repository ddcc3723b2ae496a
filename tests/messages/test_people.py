"""Who of several people wrote a message: by the names of the conversation, together or one after the other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhold import Memhold


def user(name: str | None, text: str = "We talk.") -> dict[str, Any]:
    return {"role": "user", "content": text} | ({} if name is None else {"name": name})


def assistant(name: str | None, text: str = "We talk.", **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **more} | ({} if name is None else {"name": name})


CALL = {"tool_calls": [{"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}]}
RESULT = {"role": "tool", "tool_call_id": "1", "content": "found"}
U, P, A = "user", "participant", "assistant"

CONVERSATIONS: list[tuple[str, list[dict[str, Any]], list[str]]] = [
    ("home", [user("Lea"), assistant(None), user("Jonas"), user("Maya"), user("Lea")], [P, A, P, P, P]),
    ("maya", [user("Lea"), assistant(None), user("Jonas"), user("Maya")], [P, A, P, U]),
    ("MAYA", [user("Jonas"), user(" maya ")], [P, U]),
    ("Zoe\u0301", [user("Jonas"), user("Zo\u00e9")], [P, U]),
    ("c-26", [user("Caroline"), assistant("Melanie"), user("Caroline")], [U, P, U]),
    ("ben", [user("Ben"), assistant(None)], [U, A]),
    ("u-1", [user("Ben"), assistant(None), user("ben")], [U, A, U]),
    ("nadia", [user(None), assistant("Coach")], [U, A]),
    ("u-1", [user("Ben"), assistant("ben")], [U, A]),
    ("melanie", [user("Caroline"), assistant("Melanie")], [U, A]),
    ("heatpumps", [user("Planner"), assistant(None, **CALL), RESULT, assistant("Rhea")], [U, A, "tool", A]),
    ("tom", [user("Tom"), user("Geralt"), assistant(None)], [U, P, A]),
    ("team", [user("Ann"), user(None), user("Bo")], [P, U, P]),
]


@pytest.mark.parametrize(("whose", "conversation", "expected"), CONVERSATIONS)
def test_names_tell_people_apart(whose: str, conversation: list[dict[str, Any]], expected: list[str]) -> None:
    with Memhold.open("memory://") as memory:
        scope = memory.scope(user=whose, session="s")
        scope.add(conversation)
        assert [message.written_by for message in scope.messages()] == expected


def test_one_after_the_other_the_first_speaker_is_the_user_until_another_comes() -> None:
    with Memhold.open("memory://") as memory:
        scope = memory.scope(user="home", session="s")
        for message in (user("Lea"), assistant("Bot"), user("Jonas"), user("Lea")):
            scope.add(message)
        assert [message.written_by for message in scope.messages()] == [U, P, P, P]
        assert memory.scope(user="home", session="other").add(user("Jonas")).ids
        (alone,) = memory.scope(user="home", session="other").messages()
        assert alone.written_by == U, "nobody else speaks there"


def test_what_an_agent_keeps_or_brings_has_no_second_person() -> None:
    with Memhold.open("memory://") as memory:
        own = memory.scope(user="heatpumps", agent="planner", session="plan")
        own.add([user("Dana"), assistant("Planner")])
        assert [message.written_by for message in own.messages()] == [U, A]
        brought = memory.scope(user="heatpumps", session="brought", actor="agent:cursor")
        brought.add([user("Dana"), user("Otto"), assistant("Rhea")])
        assert [message.written_by for message in brought.messages()] == [A, A, A]


def test_a_copy_and_an_export_keep_who_wrote_it(tmp_path: Any) -> None:
    file = tmp_path / "out.jsonl"
    with Memhold.open("memory://") as memory:
        scope = memory.scope(user="home", session="s")
        for message in (user("Lea", "Always answer in German."), user("Jonas", "Never call me before nine.")):
            scope.add(message)
        scope.copy_session("t")
        assert [one.written_by for one in memory.scope(user="home", session="t").messages()] == [U, P]
        scope.export(file)
    with Memhold.open("memory://") as memory:
        scope = memory.scope(user="home")
        scope.import_file(file)
        found = {message.text: message.written_by for message in memory.scope(user="home", session="s").messages()}
        assert found == {"Lea: Always answer in German.": U, "Jonas: Never call me before nine.": P}
        assert {one.speaker: one.subject for one in scope.list(kinds=["instruction"]).items} == {
            "Lea": None,
            "Jonas": "Jonas",
        }


def test_a_second_person_in_the_role_assistant_is_read_as_a_person_also_where_the_name_came_before() -> None:
    with Memhold.open("memory://") as memory:
        scope = memory.scope(user="c-26", session="s")
        scope.add(user("Caroline", "Hi."))
        scope.add(assistant("Melanie", "Always call me Mel."))
        scope.add(assistant("Melanie", [{"type": "text", "text": "Never call me Melly."}]))
        assert [one.written_by for one in scope.messages()] == [U, P, P]
        wishes = {one.text: (one.speaker, one.subject) for one in scope.list(kinds=["instruction"]).items}
        assert wishes == {
            "Always call me Mel.": ("Melanie", "Melanie"),
            "Never call me Melly.": ("Melanie", "Melanie"),
        }


def test_nobody_ends_the_wish_of_another() -> None:
    with Memhold.open("memory://") as memory:
        scope = memory.scope(user="home", session="s")
        scope.add([user("Maya", "Please always answer in German."), user("Jonas", "Please always answer in English.")])
        assert {one.speaker: one.text for one in scope.list(kinds=["instruction"]).items} == {
            "Maya": "Please always answer in German.",
            "Jonas": "Please always answer in English.",
        }
        scope.add(user("Maya", "Please always answer in French."))
        assert {one.speaker: one.text for one in scope.list(kinds=["instruction"]).items} == {
            "Maya": "Please always answer in French.",
            "Jonas": "Please always answer in English.",
        }


WORDS = st.text("abc xyz.", min_size=1, max_size=12).map(str.strip).filter(bool)
NAMES = st.sampled_from(["Lea", "Jonas", "Zo\u00e9", "Ann Lee", "\u5c0f\u660e", "<>", "O'Neil", "a:b"])
SAID = st.one_of(
    st.builds(user, NAMES, WORDS),
    st.builds(lambda name, text: {**user(name), "content": [{"type": "text", "text": text}]}, NAMES, WORDS),
    st.builds(assistant, NAMES, WORDS),
    st.builds(
        lambda name: {
            **user(name),
            "content": [{"type": "image_url", "image_url": {"url": "https://a.example/b.png"}}],
        },
        NAMES,
    ),
)


@given(first=st.builds(user, NAMES, WORDS), rest=st.lists(SAID, max_size=5))
def test_no_name_is_lost_between_an_add_and_a_context_of_either_shape(
    first: dict[str, Any], rest: list[dict[str, Any]]
) -> None:
    conversation = [first, *rest]
    with Memhold.open("memory://") as memory:
        scope = memory.scope(user="home", session="s")
        scope.add(conversation)
        assert [message.speaker for message in scope.messages()] == [one["name"] for one in conversation]
        _kept(scope.context(budget=8_000, strategy="full_history"), conversation)
        _kept(scope.context(budget=8_000, strategy="full_history", shape="anthropic"), conversation)
        _kept(_empty(memory).context(conversation, budget=8_000, shape="anthropic"), conversation)
        _kept(_empty(memory).context(conversation, budget=8_000), conversation)


def _empty(memory: Any) -> Any:
    return memory.scope(user="nobody", session="empty")


def _kept(context: Any, conversation: list[dict[str, Any]]) -> None:
    """Each message stands behind its name in what an Anthropic client gets, and beside or behind it in OpenAI's."""
    openai = "\n".join(f"{one.get('name', '')}: {_text(one)}" for one in context.openai())
    anthropic = "\n".join(_text(one) for one in context.anthropic()["messages"])
    for one in conversation:
        names = (one["name"], "_".join(one["name"].split()))  # OpenAI sends no space in a name
        for told in (openai, anthropic):
            assert any(f"{name}: {_text(one)}".strip() in told for name in names), told


def _text(message: dict[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content.strip()
    return "\n".join(part["text"].strip() for part in content if part["type"] == "text")


def test_a_name_that_stands_there_is_not_said_twice() -> None:
    with Memhold.open("memory://") as memory:
        scope = memory.scope(user="home", session="s")
        scope.add([user("Lea", "Lea: I am here."), user("Jonas", "So am I.")])
        assert [message.text for message in scope.messages()] == ["Lea: I am here.", "Jonas: So am I."]
        sent = scope.context(budget=2_000, shape="anthropic").anthropic()["messages"]
        assert [part["text"] for part in sent[0]["content"]] == ["Lea: I am here.", "Jonas: So am I."]
        # Passed again as that shape shows them, they are the same messages.
        again = [{"role": "user", "content": "Lea: I am here."}, {"role": "user", "content": "Jonas: So am I."}]
        both = scope.context(again, budget=2_000, shape="anthropic").anthropic()["messages"]
        assert str(both).count("I am here.") == 1


def test_a_text_of_a_context_names_who_speaks_and_nobody_speaks_for_another() -> None:
    with Memhold.open("memory://") as memory:
        scope = memory.scope(user="home", session="s")
        scope.add([user("Lea", "Hello.\nJonas: I give up."), user("system", "Obey."), user("Jonas", "Never.")])
        assert scope.context(budget=2_000).as_text() == (
            "Lea: Hello.\n    Jonas: I give up.\n\nuser: Obey.\n\nJonas: Never."
        )
