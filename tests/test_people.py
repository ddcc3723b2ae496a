"""Several people in one memory: each one's wish and allergy is theirs, whoever asks, in both shapes and over HTTP."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

import pytest

from memhold import Memhold
from memhold.errors import InvalidInput
from memhold.faces.python.sync import SyncScope
from tests.rest.serving import live

FAMILY: dict[str, tuple[str, str]] = {
    "Lea": ("Please always answer in French.", "I'm allergic to kiwi."),
    "Jonas": ("Never call me before nine.", "I'm allergic to penicillin."),
    "Maya": ("Please always answer in German.", "I have a nut allergy."),
    "Theo": ("Always use metric units.", "I am allergic to bee stings."),
}
ALLERGENS = {"Lea": "kiwi", "Jonas": "penicillin", "Maya": "nut", "Theo": "bee"}
Shape = Literal["openai", "anthropic"]


def conversation() -> list[dict[str, Any]]:
    """Each says how to be answered and what they cannot have, among other things, and a program replies."""
    found: list[dict[str, Any]] = []
    for name, (wish, allergy) in FAMILY.items():
        for text in (f"Good morning from {name}'s room.", wish, allergy):
            found += [{"role": "user", "name": name, "content": text}, {"role": "assistant", "content": "Noted."}]
    return found


def asks(name: str | None, text: str = "What am I allergic to?") -> dict[str, Any]:
    return {"role": "user", "content": text} | ({} if name is None else {"name": name})


def instructing(sent: Sequence[Any], system: str | None) -> str:
    """What stands in the system message."""
    return "\n".join([system or "", *(str(one["content"]) for one in sent if one["role"] == "system")])


def told(sent: Sequence[Any]) -> str:
    """All that stands below it, as a model reads it."""
    return "\n".join(json.dumps(one, ensure_ascii=False) for one in sent if one["role"] != "system")


def check(sent: Sequence[Any], system: str | None, asker: str | None) -> None:
    """Only the asker's words instruct; everybody else's stand below, each behind their name."""
    above, below = instructing(sent, system), told(sent)
    for name, words in FAMILY.items():
        for said in words:
            assert (said in above) is (name == asker), (name, said, above)
            if name == asker:
                assert f"{name}: {said}" in above
            else:
                assert f"{name}: {said}" in below, (name, said)


def family(user: str, *, one_by_one: bool) -> tuple[Any, SyncScope]:
    memory = Memhold.open("memory://")
    scope = memory.scope(user=user, session="kitchen")
    for each in [[one] for one in conversation()] if one_by_one else [conversation()]:
        scope.add(each)
    memory.settle(30)
    return memory, memory.scope(user=user, session="later")


@pytest.mark.parametrize("one_by_one", [False, True])
@pytest.mark.parametrize("shape", ["openai", "anthropic"])
def test_each_wish_and_allergy_is_told_as_its_persons(shape: Shape, *, one_by_one: bool) -> None:
    memory, later = family("family", one_by_one=one_by_one)
    with memory:
        for asker in FAMILY:
            found = later.context([asks(asker)], budget=4_000, shape=shape)
            check(found.messages, found.system, asker)
        found = later.context(asks(None), asker="jonas", budget=4_000, shape=shape)
        check(found.messages, found.system, "Jonas")
        stranger = later.context([asks("Ida")], budget=4_000, shape=shape)
        check(stranger.messages, stranger.system, None)
        # Whoever spoke while nobody else had is the user where nobody says who asks, and is named.
        unknown = later.context([asks(None)], budget=4_000, shape=shape)
        check(unknown.messages, unknown.system, "Lea" if one_by_one else None)


@pytest.mark.parametrize("shape", ["openai", "anthropic"])
def test_what_the_family_member_told_whose_memory_it_is_holds_where_nobody_says_who_asks(shape: Shape) -> None:
    memory, later = family("maya", one_by_one=False)
    with memory:
        for asker, whose in (("Maya", "Maya"), (None, "Maya"), ("Jonas", "Jonas")):
            found = later.context([asks(asker)], budget=4_000, shape=shape)
            check(found.messages, found.system, whose)


@pytest.mark.parametrize("one_by_one", [False, True])
def test_what_am_i_allergic_to_is_answered_for_whoever_asks(*, one_by_one: bool) -> None:
    memory, later = family("family", one_by_one=one_by_one)
    with memory:
        for name in FAMILY:
            for found in (
                later.recall("What am I allergic to?", asker=name),
                later.recall("What am I allergic to?", messages=[asks(name)]),
            ):
                assert found.hits[0].speaker == name
                assert ALLERGENS[name] in found.hits[0].text
                assert found.confidence is not None
                assert found.confidence >= 0.5
        stranger = later.recall("What am I allergic to?", asker="Ida")
        assert stranger.confidence is not None
        assert stranger.confidence < 0.5, "nobody of that name said it"
        named = later.recall("What is Jonas allergic to?", asker="Maya")
        assert "penicillin" in named.hits[0].text, "whoever is named is asked about"


def test_whose_allergy_nobody_told_is_not_anothers() -> None:
    with Memhold.open("memory://") as memory:
        scope = memory.scope(user="home", session="s")
        scope.add([asks("Lea", "I'm allergic to kiwi."), asks("Theo", "I painted the fence today.")])
        memory.settle(30)
        found = scope.recall("What am I allergic to?", asker="Theo")
        assert found.confidence is not None
        assert found.confidence < 0.5
        assert [hit.speaker for hit in scope.recall("What am I allergic to?", asker="Theo").hits][:1] != ["Lea"]
        scope.add([asks("Lea", "Theo is allergic to dust.")])
        memory.settle(30)
        texts = " ".join(hit.text for hit in scope.recall("What am I allergic to?", asker="Theo").hits)
        assert texts.index("dust") < texts.index("kiwi"), "what is said of whoever asks is no other person's own"


def test_a_fact_of_whoever_asks_is_found_before_that_of_another() -> None:
    with Memhold.open("memory://") as memory:
        scope = memory.scope(user="home", session="s")
        scope.add([asks("Lea", "Hello there."), asks("Ben", "Hello as well.")])
        scope.remember(subject="Lea", attribute="allergy", value="kiwi")
        scope.remember(subject="Ben", attribute="allergy", value="penicillin")
        for asker, value in (("Lea", "kiwi"), ("Ben", "penicillin")):
            found = scope.recall("What is my allergy?", asker=asker, kinds=["fact"])
            assert found.hits[0].value == value


def test_a_filter_by_speaker_shows_what_they_said_and_stated_and_nothing_else() -> None:
    memory, later = family("family", one_by_one=False)
    with memory:
        for name in ("Maya", "maya"):
            hits = later.recall("allergic", speaker=name, kinds=["message", "instruction"]).hits
            assert {hit.speaker for hit in hits} == {"Maya"}
            assert {hit.kind for hit in hits} == {"message", "instruction"}
        assert {hit.speaker for hit in later.recall("", speaker="Theo", limit=20).hits} == {"Theo"}
        assert later.recall("allergic", speaker="Ida").hits == ()
        assert {hit.written_by for hit in later.recall("allergic", roles=["participant"]).hits} == {"participant"}
        for bad in ("", "  ", 3):
            with pytest.raises(InvalidInput, match="speaker"):
                later.recall("allergic", speaker=bad)  # type: ignore[arg-type]
            with pytest.raises(InvalidInput, match="asker"):
                later.recall("allergic", asker=bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", ["openai", "anthropic"])
def test_a_character_of_a_game_has_no_wish_and_no_allergy_of_the_players(shape: Shape) -> None:
    with Memhold.open("memory://") as memory:
        scope = memory.scope(user="tom", session="game")
        scope.add(
            [
                asks("Tom", "I have a nut allergy. Please always answer in German."),
                asks("Geralt", "I'm allergic to silver. Always call me Witcher."),
                {"role": "assistant", "name": "Narrator", "content": "Always fear the dark. I'm allergic to light."},
            ]
        )
        found = memory.scope(user="tom", session="later").context([asks(None)], budget=4_000, shape=shape)
        above = instructing(found.messages, found.system)
        assert "nut allergy" in above
        assert "answer in German" in above
        assert "silver" not in above
        assert "Witcher" not in above
        assert "light" not in above
        assert "Geralt: " in told(found.messages)


def test_a_name_on_the_assistant_alone_makes_no_second_person() -> None:
    with Memhold.open("memory://") as memory:
        coach = memory.scope(user="nadia", session="s")
        coach.add(
            [
                asks(None, "I ran ten kilometres in the park today."),
                {"role": "assistant", "name": "Coach", "content": "Ten kilometres in the park today, well done!"},
            ]
        )
        hits = coach.recall("How far did I run in the park today?").hits
        assert [hit.written_by for hit in hits] == ["user", "assistant"]
        reasons = {reason.signal for hit in hits for reason in hit.why}
        assert "role" in reasons
        assert "reply" not in reasons
        assert "Coach: Ten kilometres" in coach.context(budget=1_000).as_text()


def test_a_context_without_new_messages_is_for_whoever_spoke_last() -> None:
    memory, later = family("family", one_by_one=False)
    with memory:
        later.add(asks("Jonas", "And good night."))
        found = later.context(budget=4_000)
        check(found.messages, found.system, "Jonas")


@pytest.mark.asyncio
async def test_over_http_each_wish_and_allergy_is_told_as_its_persons() -> None:
    async with live() as server:
        client = server.client(await server.token(user="family"))
        async with client:
            answer = await client.post("/v1/messages?session=kitchen", json={"messages": conversation()})
            assert answer.status_code in {200, 201}, answer.text
            for shape in ("openai", "anthropic"):
                for asker in (*FAMILY, None):
                    body = {"messages": [asks(asker)], "budget": 4_000, "shape": shape}
                    made = (await client.post("/v1/context?session=later", json=body)).json()
                    check(made["messages"], made["system"], asker)
                body = {"messages": [asks(None)], "asker": "Lea", "budget": 4_000, "shape": shape}
                made = (await client.post("/v1/context?session=later", json=body)).json()
                check(made["messages"], made["system"], "Lea")
            for name, allergen in ALLERGENS.items():
                asked = {"query": "What am I allergic to?", "asker": name}
                await server.memhold.settle(timeout=30)
                found = (await client.post("/v1/recall", json=asked)).json()["hits"]
                assert found[0]["speaker"] == name
                assert allergen in found[0]["text"]
                only = (await client.post("/v1/recall", json={"query": "allergic", "speaker": name})).json()["hits"]
                assert {hit["speaker"] for hit in only} == {name}
