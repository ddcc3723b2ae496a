"""What the pages tell over time: a person's timeline, what was last used, how the store grew, what models cost."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from memhold.faces.ui.plots import LAYERS, cost_columns, growth_of, last_days, layers_of
from memhold.faces.ui.rows import Row
from memhold.faces.ui.subject_page import lanes
from memhold.ports.maintenance import DayWritten, Usage
from memhold.ports.models import Tally
from memhold.testing.scripted import ScriptedChat
from tests.ui.person import Person, Seen, Served, at_home, hidden, of, person, served

TODAY = date(2026, 11, 23)


async def test_a_persons_timeline_has_a_lane_for_each_attribute_and_tells_what_was_so(
    server: Served, alice: Person
) -> None:
    when = server.clock.now()
    for value, years in (("Lisbon", 5), ("Busan", 2)):
        at = when.replace(year=when.year - years)
        await of(server).remember(attribute="home city", value=value, subject="sister", event_time=at)
    name = (await of(server).remember(attribute="name", value="دينا", subject="sister")).memory
    await of(server).remember(attribute="home city", value="Oslo")
    page = (await alice.get(f"/ui/memories/{name.id}/about")).text
    seen = Seen(page)
    assert "3 values of 2 attributes" in seen.text
    assert page.count('<rect class="bar') == 3
    assert "Oslo" not in seen.text
    assert "sister" not in "".join(attrs.get("href") or "" for attrs in seen.named("a"))
    past = Seen((await alice.post(f"/ui/memories/{name.id}/about/at", at=f"{when.year - 3}-01-01")).text).text
    assert "Lisbon" in past
    assert "Busan" not in past
    assert "دينا" not in past
    now = Seen((await alice.post(f"/ui/memories/{name.id}/about/at", part="1000")).text).text
    assert all(value in now for value in ("Busan", "دينا"))
    assert f"/ui/memories/{name.id}/about" in (await alice.get(f"/ui/memories/{name.id}")).text
    note = (await of(server).remember("a note")).memory
    theirs = (await of(server, "bob").remember(attribute="name", value="x", subject="sister")).memory
    for other in (note, theirs):
        assert (await alice.get(f"/ui/memories/{other.id}/about")).status_code == 404


async def test_a_timeline_is_of_one_fact_though_a_change_made_several() -> None:
    async with (
        served(consolidation=ScriptedChat(), embedding="none") as running,
        person(running, await running.token(user="alice")) as alice,
    ):
        for said in ("I live in Lisbon. My favorite food is ramen.", "I live in Busan now."):
            await of(running, session="s").add([{"role": "user", "content": said}])
            await of(running, session="s").consolidate()
            running.clock.advance(timedelta(days=1))
        facts = {one.attribute: one for one in (await of(running).list(["fact"])).items}
        assert {name: one.value for name, one in facts.items()} == {"home": "Busan", "favorite food": "ramen"}
        page = (await alice.get(f"/ui/memories/{facts['home'].id}")).text
        held = Seen(page[page.index('id="held"') : page.index('id="from"')]).text
        assert held.index("Lisbon") < held.index("Busan")
        assert "ramen" not in page[page.index('id="held"') : page.index('id="from"')]
        assert "in the same change" in Seen(page).text


async def test_a_value_that_was_taken_back_and_up_again_is_known_in_two_spans(server: Served, alice: Person) -> None:
    done = await of(server).remember(attribute="home city", value="Busan")
    server.clock.advance(timedelta(days=10))
    undone = await of(server).undo(done.receipt.change_ids[0])
    server.clock.advance(timedelta(days=10))
    await of(server).undo(undone.change_ids[0])
    server.clock.advance(timedelta(days=10))
    page = (await alice.get(f"/ui/memories/{done.memory.id}/about")).text
    assert page.count('<rect class="known"') == 2
    between = f"{server.clock.now() - timedelta(days=15):%Y-%m-%dT%H:%M}"
    path = f"/ui/memories/{done.memory.id}/about/at"
    assert "told later" in Seen((await alice.post(path, at=between, known=between)).text).text


def test_a_lane_is_read_by_what_holds_and_all_lanes_have_one_axis() -> None:
    def row(attribute: str, value: str, since: int, until: int | None) -> Row:
        return Row(
            id=value, kind="fact", text=value, value=value, attribute=attribute, origin="user", actor=None,
            state="active" if until is None else "superseded", since=datetime(since, 1, 1, tzinfo=UTC),
            until=None if until is None else datetime(until, 1, 1, tzinfo=UTC),
        )  # fmt: skip

    rows = [row("Home", "Oslo", 2020, 2022), row("home", "Rome", 2022, None), row("car", "red", 2021, 2023)]
    made = lanes(rows, datetime(2024, 1, 1, tzinfo=UTC))
    assert [(lane.attribute, lane.shown.value, len(lane.bars)) for lane in made] == [
        ("car", "red", 1),
        ("home", "Rome", 2),
    ]
    assert [bar.left for bar in made[1].bars] == [0.0, pytest.approx(500, abs=1)]
    assert made[0].bars[0].left == pytest.approx(250, abs=1)
    assert lanes([], datetime(2024, 1, 1, tzinfo=UTC)) == []


async def test_now_tells_how_many_there_are_and_when_a_fact_was_last_asked_for(server: Served, alice: Person) -> None:
    await of(server).remember(attribute="hobby", value="hiking")
    await of(server).remember(attribute="employer", value="Acme")
    await of(server).remember("Rides a tandem")
    first = Seen((await alice.get("/ui")).text).text
    assert all(said in first for said in ("Facts, notes, instructions (3)", "Facts (2)", "Notes (1)", "Summaries (0)"))
    assert first.count("not asked for yet") == 2
    server.clock.advance(timedelta(days=1))
    await of(server).recall("hobby", kinds=["fact"], limit=1)
    for page in (
        await alice.get("/ui"),
        await alice.post("/ui/now", q="hobby"),
        await alice.post("/ui/now", kind="fact"),
    ):
        text = Seen(page.text).text
        assert "asked for" in text[text.index("hiking") : text.index("hiking") + 120].replace("not asked for", "")
    await of(server).recall("tandem", kinds=["note"], limit=1)
    text = Seen((await alice.get("/ui")).text).text
    assert "asked for" in text[text.index("tandem") : text.index("tandem") + 120], "of a note too"


async def test_a_timeline_has_an_axis_of_what_held_and_one_of_what_was_known(server: Served, alice: Person) -> None:
    scope, start = of(server), server.clock.now()
    await scope.remember(attribute="home city", value="Lisbon", event_time=start.replace(year=start.year - 2))
    server.clock.advance(timedelta(days=100))
    told = (await scope.remember(attribute="home city", value="Busan", event_time=start - timedelta(days=50))).memory
    between = (start + timedelta(days=50)).isoformat()
    for path in (f"/ui/memories/{told.id}", f"/ui/memories/{told.id}/about"):
        page = (await alice.get(path)).text
        assert page.count('<rect class="known"') == 2, "one a value"
        form = {"at": between, "known": between}
        asked = Seen((await alice.post(f"{path}/at", **form)).text).text
        today = Seen((await alice.post(f"{path}/at", part="1000", known_part="1000")).text).text
        assert "Lisbon" in asked, "what was known then"
        assert "Busan" in asked, "what is known today of then"
        assert "Lisbon" not in today
        assert (await alice.post(f"{path}/at", known="soon")).status_code == 422


async def test_what_is_told_is_heard_by_the_list(alice: Person) -> None:
    await alice.get("/ui")
    told = await alice.post("/ui/remember", value="Prefers tea")
    assert told.headers["hx-trigger"] == "told"
    assert "Prefers tea" in (await alice.post("/ui/now")).text


async def test_what_was_known_at_another_time_stands_beside_the_answer(server: Served, alice: Person) -> None:
    await of(server).remember(attribute="home city", value="Lisbon")
    server.clock.advance(timedelta(days=10))
    then = server.clock.now() - timedelta(days=5)
    await of(server).remember(attribute="home city", value="Busan", event_time=then - timedelta(days=1))
    await alice.get("/ui/recall")
    asked = {"q": "home city", "beside": "known", "then": then.isoformat()}
    now, _, known = Seen((await alice.post("/ui/recall", **asked)).text).text.partition(
        "What was known at another time"
    )
    assert "Busan" in now
    assert "Lisbon" in known
    assert "Busan" not in known
    assert (await alice.post("/ui/recall", q="x", beside="known")).status_code == 422


async def test_size_and_growth_are_told_where_there_are_files_and_to_admins_alone(tmp_path: Path) -> None:
    async with served(str(tmp_path / "memory.db")) as server:
        await of(server).remember("a note")
        server.clock.advance(timedelta(days=1))
        await of(server, session="s").add([{"role": "user", "content": "hello"}])
        async with at_home(server) as someone:
            assert 'hx-get="/ui/health/size"' in (await someone.get("/ui/health")).text
            part = (await someone.get("/ui/health/size")).text
            assert "Size of the namespace" in part
            assert 'class="line"' in part
        async with person(server, await server.token(user="alice")) as reader:
            assert "/ui/health/size" not in (await reader.get("/ui/health")).text
            assert (await reader.get("/ui/health/size")).status_code == 403
    async with served() as server, at_home(server) as someone:
        assert "in memory" in (await someone.get("/ui/health/size")).text


def test_growth_goes_from_what_was_there_before_to_what_is_there_now() -> None:
    days = last_days(TODAY, 4)
    written = (
        DayWritten(day=f"{days[1]}", messages=2, memories=1, bytes=10),
        DayWritten(day=f"{days[3]}", memories=1, bytes=5),
    )
    growth = growth_of(Usage(namespace="x", messages=5, memories=3, days=written), days)
    assert (growth.before, growth.now) == (4, 8)
    assert [held for _, held, _, _ in growth.days] == [4, 7, 7, 8]
    heights = [float(point.partition(",")[2]) for point in growth.line.split()]
    assert heights == sorted(heights, reverse=True), "it grows upwards"
    assert growth_of(Usage(namespace="x"), days).now == 0


def test_cost_is_a_column_a_day_in_layers_by_model_and_purpose() -> None:
    days = last_days(TODAY, 30)
    used = [
        Tally(day=TODAY, model="big", purpose="consolidation", calls=1, nanousd=3_000_000_000),
        Tally(day=TODAY, model="big", purpose="merging", calls=1, nanousd=1_000_000_000),
        Tally(day=days[0], model="small", purpose="merging", calls=50, nanousd=2_000_000_000),
        Tally(day=TODAY - timedelta(days=99), model="big", purpose="merging", calls=9),
    ]
    columns = cost_columns(used, days)
    assert len(columns) == 30
    assert [(piece.layer, piece.y, piece.height) for piece in columns[-1].pieces] == [(0, 25.0, 75.0), (2, 0.0, 25.0)]
    assert [(piece.layer, piece.height) for piece in columns[0].pieces] == [(1, 50.0)]
    assert columns[1].pieces == ()
    assert [(one.model, one.purpose) for one in layers_of(used)][:2] == [("big", "consolidation"), ("small", "merging")]
    free = [Tally(day=TODAY, model=f"m{n}", purpose="p", calls=n + 1) for n in range(LAYERS + 3)]
    assert sum(piece.height for piece in cost_columns(free, days)[-1].pieces) == pytest.approx(100, abs=0.1)
    assert max(piece.layer for piece in cost_columns(free, days)[-1].pieces) == LAYERS
    assert cost_columns([], days)[0].pieces == ()


async def test_everything_is_previewed_by_counts(server: Served, alice: Person) -> None:
    await of(server).add([{"role": "user", "content": f"line {n}"} for n in range(30)])
    await of(server).remember("a note")
    await alice.get("/ui/forget")
    plan = (await alice.post("/ui/forget/plan", by="everything")).text
    assert "1 memory and 30 messages would go." in plan
    assert (await of(server).status()).messages == 30
    await alice.post("/ui/forget/do", by="everything", key=hidden(plan, "key"))
    assert (await of(server).status()).messages == 0
    assert "Erase for good" not in (await alice.post("/ui/forget/plan", by="everything")).text
