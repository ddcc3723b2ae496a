"""Where somebody lives, told under two keys: a move leaves one of them, and an address takes no city away."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from memhold import AsyncMemhold, Memory, Scope
from memhold.facts.moves import move
from memhold.testing import FakeClock, ScriptedChat, SeededIds

pytestmark = pytest.mark.asyncio

Said = tuple[str, str, str]


def learnt(said: Said) -> dict[str, object]:
    text, attribute, value = said
    fact = {"subject": "user", "operation": "set", "importance": "mid", "sources": ["m1"]}
    facts = [{**fact, "attribute": attribute, "value": value}]
    return {"history_entry": f"[2026-01-01 00:00] {text}", "facts": facts, "notes": []}


async def told(memhold: AsyncMemhold, clock: FakeClock, said: Sequence[Said]) -> Scope:
    for number, (text, _, _) in enumerate(said):
        scope = memhold.scope(user="alice", session=f"s{number}")
        await scope.add([{"role": "user", "content": text}, {"role": "assistant", "content": "OK."}])
        await scope.end_session()
        await memhold.settle()
        clock.advance(7_200)
    return memhold.scope(user="alice", session="asks")


def opened(clock: FakeClock, said: Sequence[Said]) -> AsyncMemhold:
    model = ScriptedChat([learnt(one) for one in said])
    return AsyncMemhold.open(
        "memory://", worker=False, clock=clock, ids=SeededIds(7), consolidation=model, rollups=False
    )


def texts(memories: Sequence[Memory]) -> list[str]:
    return [one.text for one in memories]


OSLO = ("I live in Oslo", "residence", "Oslo")
CASES = [
    ([OSLO, ("I moved to Bergen", "city", "Bergen")], ["city: Bergen"], 0),
    ([OSLO, ("I live in Bergen now", "current city", "Bergen")], ["current city: Bergen"], 0),
    ([OSLO, ("Bergen feels like home", "city", "Bergen")], ["residence: Oslo", "city: Bergen"], 0),
    ([OSLO, ("Bergen is my favourite place", "city", "Bergen")], ["residence: Oslo", "city: Bergen"], 0),
    ([OSLO, ("I never moved to Bergen", "city", "Bergen")], None, 0),
    ([OSLO, ("We moved to Oslo Sentrum", "city", "Oslo Sentrum")], ["residence: Oslo", "city: Oslo Sentrum"], 0),
    ([("I live in Oslo", "city", "Oslo"), ("I moved to Bergen", "residence", "Bergen")],
     ["city: Oslo", "residence: Bergen"], 1),
    ([("I live in Oslo", "city", "Oslo"), ("I moved to Kirkegata 5", "address", "Kirkegata 5")],
     ["city: Oslo", "address: Kirkegata 5"], 0),
    ([("나 오슬로에 살아", "거주지", "오슬로"), ("베르겐으로 이사했어", "사는 도시", "베르겐")], ["사는 도시: 베르겐"], 0),
    ([("Ich wohne in Graz", "Wohnort", "Graz"), ("Ich bin nach Linz gezogen", "Stadt", "Linz")], ["Stadt: Linz"], 0),
    *(([OSLO, (text, "city", "Bergen")], ["residence: Oslo", "city: Bergen"], doubts) for text, doubts in (
        ("I moved to Bergen as a child", 0), ("We moved to Bergen when I was five", 0), ("I almost moved to Bergen", 0),
        ("Als Kind bin ich nach Bergen gezogen", 0), ("I moved to Bergen in 1990", 0),
    )),
    *(([OSLO, (text, "city", "Bergen")], ["city: Bergen"], 0) for text in (
        "I moved from Oslo to Bergen", "I moved away from Bergen once, and now I moved back to Bergen",
        "I moved to Bergen last week", "I wanted to be closer to work, so I moved to Bergen",
        "I moved to Bergen when I was promoted", "I moved to Bergen as my kids live there",
    )),
]  # fmt: skip


@pytest.mark.parametrize(("said", "holds", "doubts"), CASES, ids=[f"{case[0][-1][0]}" for case in CASES])
async def test_a_move_leaves_one_home(said: list[Said], holds: list[str] | None, doubts: int, clock: FakeClock) -> None:
    async with opened(clock, said) as memhold:
        alice = await told(memhold, clock, said)
        standing = (await alice.list(kinds=["fact"])).items
        assert "residence: Oslo" in texts(standing) if holds is None else texts(standing) == holds
        assert len(await alice.suspicions()) == doubts


async def test_what_a_move_ended_stands_in_the_history_and_comes_back(clock: FakeClock) -> None:
    said = [OSLO, ("I moved to Bergen", "city", "Bergen")]
    async with opened(clock, said) as memhold:
        alice = await told(memhold, clock, said)
        before = (await alice.list(kinds=["fact"], states=["superseded"])).items
        (city,) = (await alice.list(kinds=["fact"])).items
        assert [(one.text, one.superseded_by, one.valid_to) for one in before] == [
            ("residence: Oslo", city.id, city.valid_from)
        ]
        change = (await alice.history(city.id))[0]
        await alice.undo(change.id)
        assert texts((await alice.list(kinds=["fact"])).items) == ["residence: Oslo"]


async def test_a_doubted_city_goes_where_a_person_says_so(clock: FakeClock) -> None:
    said = [("I live in Oslo", "city", "Oslo"), ("I moved to Bergen", "residence", "Bergen")]
    async with opened(clock, said) as memhold:
        alice = await told(memhold, clock, said)
        (doubt,) = await alice.suspicions()
        receipt = await alice.settle_suspicion(doubt.suspicion.id, "same")
        assert texts((await alice.list(kinds=["fact"])).items) == ["residence: Bergen"]
        await alice.undo(receipt.change_ids[0])
        assert texts((await alice.list(kinds=["fact"])).items) == ["city: Oslo", "residence: Bergen"]


@pytest.mark.parametrize(
    "denied",
    [
        "I have not moved to Bergen",
        "I never moved to Bergen",
        "Wir sind nicht nach Bergen gezogen",
        "No vivo en Bergen ahora",
    ],
)
async def test_a_move_that_is_denied_is_none(denied: str) -> None:
    """Whatever a model made of it, and whether or not its fact was let through."""
    at = datetime(2026, 1, 1, tzinfo=UTC)

    def fact(attribute: str, value: str, day: int) -> Memory:
        told = at + timedelta(days=day)
        times = dict.fromkeys(("event_time", "valid_from", "created_at", "recorded_at"), told)
        return Memory(
            id=f"mem_{day}",
            number=day,
            kind="fact",
            text=value,
            subject="user",
            attribute=attribute,
            value=value,
            **times,
        )

    assert move(denied, fact("city", "Bergen", 2), fact("residence", "Oslo", 1)) is None
    assert move("I moved to Bergen", fact("city", "Bergen", 2), fact("residence", "Oslo", 1)) == "ends"
