"""A plan is no move: what holds goes on until it is told that it ended, and the plan stands beside as what it is."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memhold import AsyncMemhold
from memhold.facts.plans import planned
from memhold.testing import FakeClock, ScriptedChat, SeededIds
from tests.facts.test_moves import Said, learnt, told

PLANS = {
    "home": {
        "Bergen": (
            "I'm moving to Bergen next month", "I'm moving to Bergen", "I will move to Bergen in May",
            "Next month, we're moving to Bergen", "I live in Oslo but I'm moving to Bergen in May",
            "Moving to Bergen next month!", "We move to Bergen on 3 May", "I'm going to move to Bergen",
            "Ich ziehe nächsten Monat nach Bergen", "Ich werde im Mai nach Bergen ziehen",
            "Je déménage à Bergen le mois prochain", "Je vais déménager à Bergen", "J'habiterai à Bergen en mai",
            "Me mudo a Bergen el mes que viene", "Voy a mudarme a Bergen", "Nos mudamos a Bergen el próximo mes",
            "Mudo-me para Bergen no próximo mês", "Vou mudar-me para Bergen", "Mi trasferisco a Bergen il mese prossimo",
            "Andrò a vivere a Bergen", "Я переезжаю в Берген (Bergen) в мае", "다음 달에 Bergen으로 이사해",
            "Bergen으로 이사할 거야", "来月Bergenに引っ越します", "我下个月搬到Bergen", "我要搬到Bergen了",
            "I'm moving from Oslo to Bergen next month", "We've been planning to move to Bergen", "We'll hopefully be moving to Bergen",
            "Wir ziehen auf jeden Fall im Mai nach Bergen", "I'm moving my family to Bergen in May",
        ),
    },
    "work": {
        "Acme": (
            "I'm starting at Acme in March", "I start at Acme in March", "I'll be working at Acme from March",
            "From March I work at Acme", "My new job at Acme starts in March", "I'm about to join Acme",
            "Ich fange im März bei Acme an", "Ab März arbeite ich bei Acme", "Je commence chez Acme en mars",
            "En marzo empezaré a trabajar en Acme", "Começo na Acme em março", "Inizio alla Acme a marzo",
            "3월부터 Acme에서 일해요", "다음 달부터 Acme에 다닐 예정이야", "4月からAcmeで働きます", "三月开始在Acme上班",
            "I will start at Acme in May", "From March I join Acme", "I'm leaving Beta for Acme in May", "I'm switching to Acme in May",
            "Empiezo un nuevo trabajo en Acme en marzo", "Je quitte Beta pour Acme en mars", "来月からAcmeで仕事を始めます",
        ),
    },
    "marriage": {"married": ("We're getting married in June", "We will be married by June")},
}  # fmt: skip
HOLDS = {
    "home": {
        "Bergen": (
            "I moved to Bergen last month", "I live in Bergen now", "I'm not moving to Bergen next month",
            "I moved to Bergen and I'm starting at Acme in March", "I live in Bergen until next month",
            "I live in Bergen; next month I'm moving to Oslo", "Ich bin nach Bergen gezogen", "J'habite à Bergen",
            "Me mudé a Bergen", "Moro em Bergen", "Mi sono trasferito a Bergen", "지금 Bergen에 살아",
            "Bergen으로 이사했어", "Bergenに引っ越しました", "我三月搬到了Bergen", "Am I moving to Bergen next month?",
            "I'll be honest I live in Bergen", "My mother will visit me in Bergen where I live", "I will miss Bergen where I live",
            "I'm moving boxes in Bergen, where I live", "I'm moving house within Bergen next month", "I'm moving out of Bergen next month",
            "I'm moving from Bergen to Oslo next month", "I'm starting to like living in Bergen", "I moved to Bergen planning to start a family",
            "I've been living in Bergen from May on", "It will be three years in May that I live in Bergen", "Je commence à aimer vivre à Bergen",
            "Ich ziehe in Bergen jeden Morgen meine Jacke an", "Bergen에 계속 살 거야", "나는 Bergen에 살아 다음 달에 여행 가", "我住在Bergen准备考试",
        ),
    },
    "work": {
        "Acme": (
            "I started at Acme in March", "I've been at Acme since March", "I work at Acme from Monday to Friday",
            "I work at Acme and start my vacation next week", "I'm starting at Acme today", "I'm leaving for work at Acme",
            "I'm starting a project at Acme next week",
            "We're moving to Bergen in May for my job at Acme", "My employer Acme is moving to Bergen next month",
            "Ich habe im März bei Acme angefangen", "Empecé en Acme en marzo", "3월에 Acme에 입사했어", "我在Acme工作",
            "I'm leaving Acme next month", "I'll be working late at Acme tomorrow", "I work for Acme which is going to relocate",
            "I work from next door at Acme", "I'm changing teams at Acme next month", "I'm joining a call at Acme in two hours",
            "Ich wechsle die Abteilung bei Acme", "Ich beginne meine Schicht bei Acme um sechs", "Empiezo mi turno en Acme a las ocho",
            "Entro a trabajar en Acme por la mañana", "Je quitte le bureau chez Acme à cinq heures", "내일 Acme에서 일해",
            "Acme에서 다음 주에 새 프로젝트를 시작해", "Acme에서 일을 시작한 지 3월이면 1년이야", "明日Acmeで働きます", "来週Acmeで会議を始めます", "我明天去Acme上班",
        ),
    },
    "marriage": {"Anna": ("My wife Anna is starting a course in March", "I'm moving with my wife Anna in May", "I'm divorcing Anna next month"),
                 "married": ("We will be married for ten years in June", "In June we will have been married ten years")},
}  # fmt: skip


def test_what_is_only_to_come_is_told_apart_from_what_is() -> None:
    for table, wanted in ((PLANS, True), (HOLDS, False)):
        for kind, values in table.items():
            for value, sentences in values.items():
                wrong = [one for one in sentences if planned([one], value, kind) is not wanted]  # type: ignore[arg-type]
                assert wrong == []


def test_what_will_end_is_told_by_any_verb() -> None:
    for line in ("I'm changing jobs next month", "I'm moving out of Acme next month", "I'm leaving Acme in May"):
        assert planned([line], "Acme")


def test_a_sentence_that_tells_it_as_so_outweighs_the_plan() -> None:
    plan = "I'm moving to Bergen next month."
    assert planned([plan], "Bergen", "home")
    assert not planned([plan, "I moved to Bergen."], "Bergen", "home")
    assert planned([plan, "Any tips for Bergen?"], "Bergen", "home")
    assert not planned([], "Bergen", "home")


STANDING = ("active", "expired")
OSLO = ("I live in Oslo", "residence", "Oslo")
STORIES = [
    (OSLO, ("I'm moving to Bergen next month", "residence", "Bergen"), ("I moved to Bergen", "residence", "Bergen")),
    (OSLO, ("I live in Oslo now but I'm moving to Bergen in May", "city", "Bergen"), ("We moved to Bergen", "city", "Bergen")),
    (("나 오슬로에 살아", "거주지", "오슬로"), ("다음 달에 베르겐으로 이사해", "거주지", "베르겐"), ("베르겐으로 이사했어", "거주지", "베르겐")),
    (("I work at Acme", "employer", "Acme"), ("I'm starting at Beta in March", "employer", "Beta"), ("I started at Beta", "employer", "Beta")),
    (("Ich bin ledig", "Familienstand", "ledig"), ("Im Juni werden wir verheiratet sein", "Familienstand", "verheiratet"), ("Wir sind jetzt verheiratet", "Familienstand", "verheiratet")),
]  # fmt: skip


@pytest.mark.asyncio
@pytest.mark.parametrize("story", STORIES, ids=[story[1][0] for story in STORIES])
async def test_what_holds_holds_until_it_came_about(story: tuple[Said, Said, Said], clock: FakeClock) -> None:
    """Also where the day of the plan has gone by; then the move itself takes its place."""
    before, plan, after = story
    small = ("I had soup today", "lunch", "soup")
    model = ScriptedChat([learnt(one) for one in (before, plan, small, after)])
    ids = SeededIds(7)
    async with AsyncMemhold.open(
        "memory://", worker=False, clock=clock, ids=ids, consolidation=model, rollups=False
    ) as mem:
        await told(mem, clock, [before, plan])
        alice = mem.scope(user="alice")
        day = clock.now()
        clock.advance(90 * 86_400)
        await told(mem, clock, [small])
        held = {one.value for one in (await alice.list(kinds=["fact"], states=STANDING)).items}
        assert before[2] in held
        assert plan[2] not in held
        [note] = (await alice.list(kinds=["note"])).items
        assert note.text.startswith(f"(planned {day - timedelta(hours=2):%Y-%m-%d})")
        assert note.text.endswith(f"{plan[1]}: {plan[2]}")
        await told(mem, clock, [after])
        held = {one.value for one in (await alice.list(kinds=["fact"], states=STANDING)).items}
        assert before[2] not in held
        assert after[2] in held


@pytest.mark.asyncio
async def test_what_will_end_has_not_ended(clock: FakeClock) -> None:
    def reply(text: str, operation: str) -> dict[str, object]:
        said = learnt((text, "employer", "Acme"))
        said["facts"] = [{**said["facts"][0], "operation": operation, "quote": text}]  # type: ignore[index]
        return said

    texts = [
        ("I work at Acme", "set"),
        ("I'm quitting my job next month. Any advice?", "remove"),
        ("I quit my job", "remove"),
    ]
    model = ScriptedChat([reply(*one) for one in texts])
    async with AsyncMemhold.open("memory://", worker=False, clock=clock, consolidation=model, rollups=False) as mem:
        alice = mem.scope(user="alice")
        for text, holds in zip((one for one, _ in texts), (["Acme"], ["Acme"], []), strict=True):
            await told(mem, clock, [(text, "", "")])
            assert [one.value for one in (await alice.list(kinds=["fact"])).items] == holds
        [note] = (await alice.list(kinds=["note"])).items
        assert note.text.endswith("no longer employer: Acme")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("line", "home"), [("I'm moving my residence to Bergen next month", "Oslo"), ("I moved to Bergen", "Bergen")]
)
async def test_an_agent_that_takes_a_plan_for_a_move_displaces_nothing(line: str, home: str, clock: FakeClock) -> None:
    async with AsyncMemhold.open("memory://", worker=False, clock=clock) as mem:
        alice = mem.scope(user="alice")
        await alice.remember(attribute="residence", value="Oslo")
        clock.advance(60)
        await alice.add({"role": "user", "content": line})
        clock.advance(60)
        await mem.scope(user="alice", actor="agent:helper").remember(attribute="residence", value="Bergen")
        assert [one.value for one in (await alice.list(kinds=["fact"])).items] == [home]
