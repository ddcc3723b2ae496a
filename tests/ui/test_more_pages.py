"""The other pages over plain HTTP: asking, sessions, what is to settle, health, forgetting with its proof, the first run."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from memhold.faces.remote.remote_store import RemoteStore, reach
from memhold.faces.ui.forget_page import said_of
from memhold.faces.ui.known_times import held_then, known_by_changes, known_by_records, stands_at
from memhold.faces.ui.recall_page import kept_out_told, parts_of
from memhold.faces.ui.rendering import ago, size, who
from memhold.faces.ui.session_pages import turns
from memhold.faces.ui.timeline_page import bars
from memhold.ports.models import ChatReply, ChatRequest
from memhold.server.ui_serving import OnceOnly, ui_only
from memhold.testing.scripted import ScriptedChat, sensible_reply
from memhold.values.answers import Reason
from tests.rest.serving import live
from tests.ui.person import Person, Seen, Served, at_home, hidden, of, person, served

CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"to": "Porto"}'}}
TALK = [
    {"role": "user", "content": "Find a flight to Porto."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "TP 1930 at nine"},
    {"role": "assistant", "content": "There is one at nine."},
]


# ------------------------------------------------------------------------------------------------ asking


async def test_an_answer_shows_each_signals_part_and_what_the_question_was_read_as(
    server: Served, alice: Person
) -> None:
    await of(server).remember("Her sister lives in Lisbon")
    await of(server).remember("She prefers window seats")
    await alice.get("/ui/recall")
    page = (await alice.post("/ui/recall", q="where does her sister live", beside="words", limit="5")).text
    text = Seen(page).text
    assert text.index("Her sister lives in Lisbon") < text.index("She prefers window seats")
    assert "By words alone" in text
    assert page.count('<ol class="rows hits">') == 2
    found = await of(server).recall("where does her sister live", limit=5)
    for reason in found.hits[0].why:
        assert f"{reason.signal} {reason.part:.2f}" in text.replace("  ", " ")
    assert "Looked among 2 of 2" in text
    for beside in ("no words", "no meaning", "no key", "no rerank"):
        other = await alice.post("/ui/recall", q="where does her sister live", beside=beside)
        assert other.text.count('<ol class="rows hits">') == 2, beside
    assert '<th scope="row">words</th>' not in await _beside(alice, "no words")
    assert '<th scope="row">meaning</th>' not in await _beside(alice, "no meaning")
    assert (await alice.post("/ui/recall", q="x", limit="many")).status_code == 422
    assert (await alice.post("/ui/recall", q="x", as_of="soon")).status_code == 422


async def test_what_moved_a_hit_beside_the_signals_is_shown_and_no_signal_to_ask_with(
    server: Served, alice: Person
) -> None:
    said = [("user", "For how many is the table?"), ("assistant", "For six."), ("user", "The table is of oak.")]
    await of(server).add([{"role": role, "content": text} for role, text in said])
    await alice.get("/ui/recall")
    page = (await alice.post("/ui/recall", q="For how many is the table?", beside="no words")).text
    assert re.search(r"answers \d\.\d\d", Seen(page).text.replace("  ", " "))
    assert page.count('<ol class="rows hits">') == 2


async def _beside(someone: Person, setting: str) -> str:
    return (await someone.post("/ui/recall", q="where does her sister live", beside=setting)).text.split("hits")[2]


async def test_a_miss_is_explained_by_words_or_by_id(server: Served, alice: Person) -> None:
    old = (await of(server).remember(attribute="home city", value="Lisbon")).memory
    await of(server).remember(attribute="home city", value="Busan")
    await alice.get("/ui/recall")
    by_id = Seen((await alice.post("/ui/recall", q="home city", expect=old.id)).text).text
    assert "Something took its place." in by_id
    assert "Lisbon" in by_id
    by_words = Seen((await alice.post("/ui/recall", q="home city", expect="Busan")).text).text
    assert "It is there, at place 1" in by_words
    filtered = Seen((await alice.post("/ui/recall", q="home city", expect="Busan", kind="note")).text).text
    assert "A filter keeps it out: kinds" in filtered
    unknown = await alice.post("/ui/recall", q="home city", expect="mem_01a2062ef35f7417b3ae893d44432b18")
    assert "This memory has no such thing." in unknown.text


def test_bars_are_on_one_scale_and_reasons_are_sentences() -> None:
    why = (Reason(signal="role", rank=1, score=1.0, part=0.5), Reason(signal="words", rank=2, score=0.4, part=2.0))
    assert [(part.signal, part.width) for part in parts_of(why, 4.0)] == [("words", 50.0), ("role", 12.5)]
    assert [part.width for part in parts_of(why, 0.0)] == [0.0, 0.0]
    assert who("model", "http://127.0.0.1:8787/v1#qwen") == "found by a model: qwen"
    assert who("model", "openai:gpt#5") == "found by a model: openai:gpt#5"
    assert kept_out_told("state: merged") == "It is merged, and these are not asked for."


async def test_what_each_filter_keeps_out_is_counted(server: Served, alice: Person) -> None:
    scope = of(server, session="one")
    await scope.add(TALK[:1])
    await of(server, session="two").add(TALK[:1])
    await scope.remember(attribute="home city", value="Lisbon", event_time=server.clock.now() - timedelta(days=9))
    await scope.remember(attribute="home city", value="Busan")
    asked = {"explain": True, "session": "one", "kinds": ("message",), "since": server.clock.now() - timedelta(days=1)}
    kept_out = (await of(server).recall("Porto", **asked)).account["kept_out"]
    assert kept_out == {"state": 1, "kind": 2, "session": 1, "since": 1}
    await alice.get("/ui/recall")
    page = Seen((await alice.post("/ui/recall", q="Porto", kind="message")).text).text
    assert "2 of another kind, or there only where asked for; 1 past, hidden or merged" in page


# ------------------------------------------------------------------------------------------------ sessions


async def test_of_many_sessions_the_newest_are_offered_and_the_others_found_by_name(
    server: Served, alice: Person
) -> None:
    for number in range(101):
        await of(server, session=f"trip {number:03}").add(TALK[:1])
        server.clock.advance(60)
    for path in ("/ui/sessions", "/ui/forget"):
        page = (await alice.get(path)).text
        offered = re.findall(r'<option value="(trip \d+)">', page)
        assert (len(offered), offered[0], offered[-1]) == (100, "trip 100", "trip 001")
        assert 'name="begins"' in page
    found = Seen((await alice.post("/ui/sessions/names", begins="trip 000")).text)
    assert [attrs["value"] for attrs in found.named("option")] == ["trip 000"]
    assert "No session begins so" in (await alice.post("/ui/sessions/names", begins="x")).text


async def test_a_session_is_replayed_with_its_tool_pairs_folded_and_its_context(server: Served, alice: Person) -> None:
    await of(server, session="trip").add(TALK)
    await of(server).remember("Prefers window seats")
    assert "trip" in (await alice.get("/ui/sessions")).text
    shown = (await alice.post("/ui/sessions/turns", session="trip")).text
    assert shown.count('<li class="turn') == 3
    folded = shown[shown.index("<details") : shown.index("</details>")]
    assert "search(" in folded
    assert "TP 1930" in folded
    sent = Seen((await alice.post("/ui/sessions/context", session="trip", budget="3", q="Window or aisle?")).text).text
    expected = await of(server, session="trip").context([{"role": "user", "content": "Window or aisle?"}], budget=4000)
    assert f"{expected.used:,} of {expected.budget - expected.reserve:,} tokens" in sent
    assert "Window or aisle?" in sent
    assert "Prefers window seats" in sent
    small = (await alice.post("/ui/sessions/context", session="trip", budget="0", q="x")).text
    assert "budget 500" in Seen(small).text


async def test_long_sessions_are_read_page_by_page(server: Served, alice: Person) -> None:
    scope = of(server, session="long")
    await scope.add([{"role": "user", "content": f"line {number}"} for number in range(205)])
    await alice.get("/ui/sessions")
    first = (await alice.post("/ui/sessions/turns", session="long")).text
    assert first.count('<li class="turn') == 200
    rest = (await alice.post("/ui/sessions/turns", session="long", after=hidden(first, "after"))).text
    assert rest.count('<li class="turn') == 5
    assert "line 204" in rest
    assert 'name="after"' not in rest


async def test_results_of_no_call_stand_alone(server: Served) -> None:
    await of(server, session="s").add(TALK)
    every = await of(server, session="s").messages()
    assert [len(turn.results) for turn in turns(every[2:])] == [0, 0]


async def test_what_is_said_beside_a_call_is_read_and_the_call_as_json(server: Served, alice: Person) -> None:
    called = {"type": "tool_use", "id": "t1", "name": "grep", "input": {"q": "Straße", "all": True}}
    asked = {"role": "assistant", "content": [{"type": "text", "text": "I look again."}, called]}
    both = {"role": "assistant", "content": "Let me look.", "tool_calls": [CALL]}
    await of(server, session="s").add([TALK[0], both, TALK[2]])
    await of(server, session="t").add([TALK[0], asked])
    await alice.get("/ui/sessions")
    first = Seen((await alice.post("/ui/sessions/turns", session="s")).text).text
    assert ("Let me look. 1 tool call, answered" in first, first.count("search(")) == (True, 1)
    second = Seen((await alice.post("/ui/sessions/turns", session="t")).text).text
    assert 'I look again. 1 tool call, no answer yet grep({"q": "Straße", "all": true})' in second


async def test_a_very_long_text_fills_no_list_and_is_read_whole_in_its_place(server: Served, alice: Person) -> None:
    text = "ab cd " * 16_000
    note = (await of(server).remember(text)).memory
    [line] = (await of(server, session="s").add({"role": "user", "content": text})).ids
    page = (await alice.get("/ui")).text
    assert ("96,000 characters" in page, len(page) < 20_000) == (True, True)
    whole = (await alice.get(f"/ui/memories/{note.id}")).text
    assert ("<summary>All 96,000 characters</summary>" in whole, text.strip() in whole) == (True, True)
    told = (await alice.post("/ui/sessions/turns", session="s")).text
    assert (f'href="/ui/memories/{line}"' in told, len(told) < 20_000) == (True, True)
    assert text.strip() in (await alice.get(f"/ui/memories/{line}")).text
    assert "96,000 characters" in (await alice.post("/ui/recall", q="ab cd")).text
    arabic = "ش" * 100_000
    fixed = await alice.post(f"/ui/memories/{note.id}/correct", value=arabic, rev=str(note.rev))
    assert "100,000 characters" in fixed.text


# ------------------------------------------------------------------------------------------------ to settle


async def test_a_contradiction_is_settled_and_taken_back(server: Served, alice: Person) -> None:
    await of(server).remember(attribute="home city", value="Busan")
    server.clock.advance(timedelta(days=1))
    await of(server, actor="agent:cursor").remember(attribute="home city", value="Seoul")
    [doubt] = await of(server).suspicions()
    page = (await alice.get("/ui/settle")).text
    assert Seen(page).text.index("Busan") < Seen(page).text.index("Seoul")
    fields = {name: hidden(page, name) for name in ("group", "about")}
    done = (await alice.post(f"/ui/settle/{doubt.suspicion.id}", verdict="same", kind="contradiction", **fields)).text
    assert "The newer one holds" in done
    assert [one.value for one in (await of(server).list(["fact"])).items] == ["Seoul"]
    kept = {name: hidden(done, name) for name in ("change", "id", "group", "about")}
    assert kept["about"] == "home city: Busan; home city: Seoul", "of what stands beside what became of it"
    again = await alice.post("/ui/taken-back", **kept)
    assert f'hx-post="/ui/settle/{doubt.suspicion.id}"' in again.text, "its card waits again in the same place"
    assert [one.value for one in (await of(server).list(["fact"])).items] == ["Busan"]
    assert (await alice.post(f"/ui/settle/{doubt.suspicion.id}", verdict="perhaps")).status_code == 422


async def test_what_agents_noted_is_confirmed_or_dropped(server: Served, alice: Person) -> None:
    agent = of(server, actor="agent:cursor")
    kept = (await agent.remember("Uses uv")).memory
    wrong = (await agent.remember("Uses conda")).memory
    assert "Uses uv" in (await alice.get("/ui/settle")).text
    await alice.post(f"/ui/settle/memories/{kept.id}", word="confirm")
    for _ in range(2):
        done = (
            await alice.post(f"/ui/settle/memories/{wrong.id}", word="drop", group="noted", about="Uses conda")
        ).text
        assert "Dropped: it was never so. Uses conda" in Seen(done).text
        fields = {name: hidden(done, name) for name in ("change", "id", "group", "about")}
        again = (await alice.post("/ui/taken-back", **fields)).text
        assert hidden(again, "key") != hidden(done, "key")
        assert "Uses conda noted by an agent" in Seen(again).text
    await alice.post(f"/ui/settle/memories/{wrong.id}", word="drop")
    assert (await of(server).get(kept.id)).last_confirmed_at is not None
    assert (await of(server).get(wrong.id)).state == "retracted"
    assert "Nothing to settle" in (await alice.get("/ui/settle")).text
    async with person(server, await server.token(user="alice", actor="agent:cursor")) as robot:
        other = (await agent.remember("Uses npm")).memory
        await robot.get("/ui/settle")
        refused = await robot.post(f"/ui/settle/memories/{other.id}", word="confirm")
        assert refused.status_code == 403, "an agent's token is no person"


def invents(request: ChatRequest) -> ChatReply:
    """A sensible reply, and two facts that nobody said."""
    made = sensible_reply(request)
    [call] = made.tool_calls
    lines = re.findall(r"\[(m\d+) user\]", request.turns[0].text)
    told = [("favorite food", "pizza"), ("flights last year", "a | b = seven")]
    facts = [{"subject": "user", "attribute": one, "value": value, "sources": lines[:1]} for one, value in told]
    return replace(made, tool_calls=(replace(call, arguments={**call.arguments, "facts": facts}),))


async def test_what_is_in_doubt_is_shown_with_its_words_and_what_speaks_against_it() -> None:
    line = "If the rent goes up, I move to Porto."
    told = {"subject": "user", "operation": "set", "importance": "mid", "sources": ["m1"], "quote": line}
    reply = {
        "history_entry": "They spoke of a move.",
        "facts": [{**told, "attribute": "home city", "value": "Porto"}, {**told, "attribute": "rent", "value": "up"}],
        "notes": [],
    }
    async with (
        served(consolidation=ScriptedChat([reply]), embedding="none") as running,
        person(running, await running.token(user="alice")) as alice,
    ):
        await of(running).remember(attribute="home city", value="Lisbon")
        running.clock.advance(timedelta(days=1))
        scope = of(running, session="trip")
        await scope.add([{"role": "user", "content": line}])
        await scope.consolidate()
        [doubt] = await scope.suspicions()
        for path in ("/ui/settle", f"/ui/memories/{doubt.memory.id}"):
            page = Seen((await alice.get(path)).text).text
            assert "The words were: If the rent goes up, I move to Porto." in page
            assert "the line only supposes it" in page
        assert "doubtful" in page


async def test_what_no_line_says_is_shown_of_every_window_and_can_be_said() -> None:
    async with (
        served(consolidation=ScriptedChat(otherwise=invents), embedding="none") as running,
        person(running, await running.token(user="alice")) as alice,
    ):
        for number in range(22):
            scope = of(running, session=f"trip {number}")
            await scope.add([{"role": "user", "content": f"I took the train to Porto, seat {number + 30}."}])
            await scope.consolidate()
        page = (await alice.get("/ui/settle")).text
        assert page.count('value="user | favorite food = pizza"') == 1, "what is said again and again is one card"
        assert "of trip 21" in Seen(page).text
        [window] = dict.fromkeys(re.findall(r'href="/ui/memories/(\w+)" title="The lines', page))
        assert "Porto, seat 51" in (await alice.get(f"/ui/memories/{window}")).text, (
            "it leads to the lines it came from"
        )
        more = "/ui/settle/more"
        assert (await alice.post(more, group="all")).status_code == 422
        older = (await alice.post(more, group="dropped", cursor=hidden(page, "cursor"))).text
        assert "of trip 1" in Seen(older).text
        assert "Look through older" not in older
        food = {"id": "x", "subject": "user", "attribute": "favorite food", "value": "pizza"}
        assert (await alice.post("/ui/settle/said", **food, word="perhaps")).status_code == 422
        said = await alice.post("/ui/settle/said", **food, word="confirm")
        assert "Known from now on" in said.text
        [fact] = [one for one in (await of(running).list(["fact"])).items if one.attribute == "favorite food"]
        assert (fact.value, fact.origin, fact.subject) == ("pizza", "user", "user")
        page = (await alice.get("/ui/settle")).text
        assert "favorite food" not in page, "what was said since is open no more"
        assert page.count('value="user | flights last year = a | b = seven"') == 1
        given = {name: hidden(page, name) for name in ("subject", "attribute", "value")}
        assert given == {"subject": "user", "attribute": "flights last year", "value": "a | b = seven"}
        running.clock.advance(timedelta(days=1))
        await of(running).remember(attribute="favorite food", value="soup")
        assert "favorite food" not in (await alice.get("/ui/settle")).text, "also where it changed since"
        await of(running).undo((await of(running).changes(limit=1000)).items[-1].id)
        await alice.post("/ui/taken-back", change=hidden(said.text, "change"), id="x")
        page = (await alice.get("/ui/settle")).text
        assert "favorite food" in page
        card = page[page.index('<li class="card"', page.index("favorite food") - 900) :]
        which = {name: hidden(card, name) for name in ("change", "place", "id", "group", "about", "window")}
        said = await alice.post("/ui/settle/said", **which, word="drop")
        assert "Dismissed" in said.text
        page = (await alice.get("/ui/settle")).text
        assert "favorite food" not in page, "nor of the windows before it"
        older = (await alice.post(more, group="dropped", cursor=hidden(page, "cursor"))).text
        assert "flights last year" in older
        assert "favorite food" not in older, "nor of those on the pages before"
        fields = {name: hidden(said.text, name) for name in ("change", "id", "group", "about", "window")}
        again = (await alice.post("/ui/taken-back", **fields)).text
        assert {name: hidden(again, name) for name in which} == which, "its card, as it was"
        assert "favorite food" in (await alice.get("/ui/settle")).text


async def test_of_whom_a_fact_is_stands_wherever_one_decides_on_it(server: Served, alice: Person) -> None:
    agent = of(server, actor="agent:cursor")
    told = (await agent.remember(subject="sister", attribute="home city", value="Seoul")).memory
    await of(server).remember(subject="brother", attribute="home city", value="Lisbon")
    server.clock.advance(timedelta(days=1))
    await agent.remember(subject="brother", attribute="home city", value="Rome")
    settle = await alice.get("/ui/settle")
    text = Seen(settle.text).text
    assert "home city · sister Seoul" in text
    assert "home city · brother Lisbon" in text
    labels = [attrs["aria-label"] for attrs in Seen(settle.text).named("li") if "data-card" in attrs]
    assert labels == ["home city, brother: Lisbon; home city, brother: Rome", "home city, sister: Seoul"]
    for answer in (
        await alice.post("/ui/recall", q="Seoul"),
        await alice.post("/ui/forget/plan", by="words", q="Seoul"),
        await alice.post("/ui/forget/plan", by="words", q="Seoul", id=told.id),
        await alice.get(f"/ui/memories/{told.id}/forget"),
    ):
        assert "home city · sister Seoul" in Seen(answer.text).text
    correct = Seen((await alice.get(f"/ui/memories/{told.id}/correct")).text).text
    assert "The right value of “ home city · sister ”" in correct


async def test_a_damaged_change_takes_nothing_else_from_what_is_to_settle(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    async with (
        served(path, consolidation=ScriptedChat(otherwise=invents), embedding="none") as running,
        person(running, await running.token(user="alice")) as alice,
    ):
        for city in ("Porto", "Lisbon"):
            scope = of(running, session=city)
            await scope.add([{"role": "user", "content": f"I took the train to {city}."}])
            await scope.consolidate()
            running.clock.advance(60)
        await of(running, actor="agent:cursor").remember("Uses uv")
        connection = apsw.Connection(path)
        connection.execute(
            "UPDATE change SET reason = 'rotten' WHERE seq = (SELECT max(seq) FROM change WHERE verb = 'consolidate')"
        )
        connection.close()
        page = await alice.get("/ui/settle")
        assert page.status_code == 200
        text = Seen(page.text).text
        assert "Uses uv" in text
        assert "favorite food" in text
        assert "of Porto" in text
        assert "of 1 conversation cannot be read" in text


async def test_what_models_said_is_shown_page_by_page() -> None:
    words = ["".join(letters) for letters in itertools.product("bdk", "ao", "lm", "ei", "rn", "a")]

    def says_much(request: ChatRequest) -> ChatReply:
        made = sensible_reply(request)
        [call] = made.tool_calls
        told = [f"favorite {word}" for word in words[:30]] if "Porto" in request.turns[0].text else words[18:]
        facts = [{"subject": "user", "attribute": one, "value": "pizza", "sources": ["m1"]} for one in told]
        return replace(made, tool_calls=(replace(call, arguments={**call.arguments, "facts": facts}),))

    async with (
        served(consolidation=ScriptedChat(otherwise=says_much), embedding="none") as running,
        person(running, await running.token(user="alice")) as alice,
    ):
        for city in ("Porto", "Lisbon", "Busan", "Porto"):
            scope = of(running, session=city)
            await scope.add([{"role": "user", "content": f"I took the train to {city}."}])
            await scope.consolidate()
            running.clock.advance(60)
        for number in range(120):
            noted = (await of(running).remember(f"Concluded {number}")).memory
            fields: dict[str, Any] = {
                "rev": 2,
                "origin": "model",
                "metadata": {"standing": "inferred"} if number % 2 else {},
            }
            concluded = replace(noted, **fields)
            await scope._tx.runtime.store.write(scope.scope, lambda tx, new=concluded: tx.put_memory(new))
        page = (await alice.get("/ui/settle")).text
        inferred, dropped = page.split("Not kept:")
        assert inferred.count("data-card") == 50
        assert dropped.count("data-card") == 60, "of the two newest windows: the second one passed the fifty"
        more = "/ui/settle/more"
        rest = (await alice.post(more, group="inferred", cursor=hidden(inferred, "cursor"))).text
        assert rest.count("data-card") == 10
        assert not set(re.findall(r"Concluded \d+", rest)) & set(re.findall(r"Concluded \d+", inferred))
        older = (await alice.post(more, group="dropped", cursor=hidden(dropped, "cursor"))).text
        assert older.count("data-card") == 60
        assert 'name="cursor"' not in older


async def test_what_waits_is_shown_page_by_page(server: Served, alice: Person) -> None:
    agent = of(server, actor="agent:cursor")
    for number in range(53):
        await of(server).remember(attribute=f"city {number}", value="Busan")
    server.clock.advance(timedelta(days=1))
    for number in range(53):
        await agent.remember(attribute=f"city {number}", value="Seoul")
        await agent.remember(f"Noted {number}")
    page = (await alice.get("/ui/settle")).text
    doubted, noted = page.split("Noted by agents")
    assert doubted.count("data-card") == noted.count("data-card") == 50
    assert ">50+<" in doubted
    assert ">50+<" in noted
    assert (await alice.get("/ui/settle/count")).text.strip() == "53"
    doubts = [one.suspicion.id for one in await of(server).suspicions()]
    # What is settled meanwhile moves nothing that is behind it.
    for one in (*doubts[:7], doubts[49]):
        await alice.post(f"/ui/settle/{one}", verdict="different", kind="contradiction")
    more = (await alice.post("/ui/settle/more", group="suspicions", cursor=hidden(doubted, "cursor"))).text
    assert [one for one in doubts if one in more] == doubts[50:]
    assert 'name="cursor"' not in more
    more = (await alice.post("/ui/settle/more", group="noted", cursor=hidden(noted, "cursor"))).text
    assert more.count("data-card") == 3
    assert 'name="cursor"' not in more


# ------------------------------------------------------------------------------------------------ health


async def test_health_tells_counts_and_what_a_token_of_one_namespace_may_know(server: Served) -> None:
    await of(server).remember("A note")
    await server.memhold.scope(namespace="acme", user="bob").remember("canary")
    async with person(server, await server.token(("read", "write", "admin"), user="alice")) as admin:
        page = Seen((await admin.get("/ui/health")).text).text
        assert "All is well." in page
        assert "Active memories 1" in page
        assert (await admin.post("/ui/health/doctor")).status_code in {200, 422}
    async with person(server, await server.token(user="alice")) as plain:
        assert "Doctor" not in (await plain.get("/ui/health")).text
        assert (await plain.post("/ui/health/doctor")).status_code == 403


async def test_a_model_that_goes_down_is_told_by_the_live_part() -> None:
    async with (
        served(consolidation="http://127.0.0.1:9/v1#gone", model_attempts=1) as server,
        at_home(server) as someone,
    ):
        session = of(server, session="s")
        await session.add(TALK)
        await session.end_session()
        await session.consolidate()
        told = Seen((await someone.get("/ui/health/now")).text).text
        assert "does not answer" in told
        assert "1 windows wait" in told
        assert "start the server at http://127.0.0.1:9" in told


# ------------------------------------------------------------------------------------------------ forgetting


async def test_forgetting_by_words_leaves_a_proof_that_can_be_saved(tmp_path: Path) -> None:
    async with served(str(tmp_path / "memory.db")) as server, at_home(server) as someone:
        await of(server, session="s").add(
            [{"role": "user", "content": "The code is QX7T2M"}, {"role": "user", "content": "I like tea"}]
        )
        chosen = (await someone.post("/ui/forget/plan", by="words", q="QX7T2M")).text
        ids = [
            attrs["value"] for attrs in Seen(chosen).named("input") if attrs.get("name") == "id" and "checked" in attrs
        ]
        assert len(ids) == 1
        plan = (await someone.post("/ui/forget/plan", by="words", q="QX7T2M", id=ids[0] or "")).text
        assert "1 message would go." in plan
        assert len(await of(server, session="s").messages()) == 2, "a plan changes nothing"
        done = await someone.post(
            "/ui/forget/do", by="words", id=ids[0] or "", residue="QX7T2M", key=hidden(plan, "key")
        )
        assert "not one byte of it is left" in done.text
        proof = await someone.post("/ui/forget/proof", part=False, text="QX7T2M", change=hidden(done.text, "change"))
        told = json.loads(proof.text)
        assert (told["found"], told["files"] > 0) == (0, True)
        assert "attachment" in proof.headers["content-disposition"]
        assert "QX7T2M" not in proof.text
        assert [one.text for one in await of(server, session="s").messages()] == ["I like tea"]


async def test_a_line_is_chosen_and_not_the_summary_that_would_take_its_whole_conversation(
    server: Served, alice: Person
) -> None:
    scope = of(server, session="s")
    lines = (await scope.add([{"role": "user", "content": one} for one in ("Gate B12", "I like tea")])).ids
    await scope.end_session()
    await alice.get("/ui/forget")
    chosen = (await alice.post("/ui/forget/plan", by="words", q="B12")).text
    found = [one for one in Seen(chosen).named("input") if one.get("name") == "id"]
    assert [one["value"] for one in found if "checked" in one] == [lines[0]]
    assert len(found) > 1, "the window with the line is there to choose"
    plan = Seen((await alice.post("/ui/forget/plan", by="words", q="B12", id=lines[0])).text).text
    assert "1 memory and 1 message would go." in plan
    [window] = (await scope.recall("B12", kinds=["raw"], browse=True)).hits
    upper = replace(window, id="mem_r", kind="rollup", sources=(window.id,))
    assert said_of([upper, window], "B12") == {window.id}, "a part takes along what tells of it"
    assert said_of([window], "Gate C9") == set()


async def test_what_goes_together_is_one_change_and_no_more_than_was_shown(server: Served, alice: Person) -> None:
    notes = [(await of(server).remember(f"Cup number {number}")).memory.id for number in range(3)]
    await alice.get("/ui/forget")
    given = {"by": "words", "q": "cup", "id": notes[:2], "way": "hide"}
    plan = (await alice.post("/ui/forget/plan", **given)).text
    done = await alice.post("/ui/forget/do", **given, plan=hidden(plan, "plan"), key=hidden(plan, "key"))
    again = await alice.post("/ui/forget/do", **given, plan=hidden(plan, "plan"), key=hidden(plan, "key"))
    assert hidden(done.text, "change") == hidden(again.text, "change"), "pressed twice, it is done once"
    assert [one.id for one in (await of(server).list()).items] == notes[2:]
    await alice.post("/ui/taken-back", change=hidden(done.text, "change"), id=hidden(done.text, "change"))
    assert len((await of(server).list()).items) == 3, "one undo shows all of them again"
    await of(server, session="s").add({"role": "user", "content": "Shown"})
    given = {"by": "session", "session": "s"}
    shown = (await alice.post("/ui/forget/plan", **given)).text
    await of(server, session="s").add({"role": "user", "content": "Said since"})
    moved = await alice.post("/ui/forget/do", **given, plan=hidden(shown, "plan"), residue="Shown")
    assert (moved.status_code, "Said since" in moved.text, 'value="Shown"' in moved.text) == (409, True, False)
    assert "Something came or went since this was shown" in moved.text
    assert len(await of(server, session="s").messages()) == 2
    await alice.post("/ui/forget/do", **given, plan=hidden(moved.text, "plan"), key=hidden(moved.text, "key"))
    assert await of(server, session="s").messages() == ()
    path = f"/ui/memories/{notes[2]}/forget"
    form = (await alice.get(path)).text
    assert (await alice.post(path, plan="of something else")).status_code == 409
    hiding = hidden((await alice.post(f"{path}/preview", way="hide")).text, "plan")
    assert (await alice.post(path, plan=hiding, way="erase")).status_code == 409, "what was shown was to be hidden"
    assert "Erased: 1 memory" in (await alice.post(path, plan=hidden(form, "plan"))).text


async def test_of_the_chosen_lines_those_that_are_left_are_shown_where_one_is_gone(
    server: Served, alice: Person
) -> None:
    ids = [(await of(server).remember(f"Cup number {number}")).memory.id for number in range(3)]
    await alice.get("/ui/forget")
    given = {"by": "words", "q": "cup", "id": ids}
    shown = (await alice.post("/ui/forget/plan", **given)).text
    await of(server).forget(ids[0])
    for path in ("/ui/forget/do", "/ui/forget/plan"):
        answer = await alice.post(path, **given, plan=hidden(shown, "plan"), key=hidden(shown, "key"))
        assert (answer.status_code, "2 memories would go" in answer.text, ids[0] in answer.text) == (409, True, False)
        assert "Something came or went since this was shown" in answer.text
    assert len((await of(server).list()).items) == 2, "nothing is done but what was shown"
    given = {**given, "id": ids[1:], "plan": hidden(answer.text, "plan"), "key": hidden(answer.text, "key")}
    assert "Forgotten" in (await alice.post("/ui/forget/do", **given)).text
    assert (await alice.post("/ui/forget/plan", by="words", q="cup", id=ids)).status_code == 404


async def test_what_an_agent_said_is_forgotten_and_hiding_is_taken_back(server: Served, alice: Person) -> None:
    await of(server, actor="agent:cursor").remember("Noted by cursor")
    await of(server).remember("Told by alice")
    await alice.get("/ui/forget")
    given = {"by": "origin", "origin": "agent", "actor": "cursor", "way": "hide"}
    plan = (await alice.post("/ui/forget/plan", **given)).text
    assert "Noted by cursor" in plan
    assert "Told by alice" not in plan
    done = (await alice.post("/ui/forget/do", **given)).text
    assert [one.text for one in (await of(server).list()).items] == ["Told by alice"]
    back = await alice.post("/ui/taken-back", change=hidden(done, "change"), id=hidden(done, "change"))
    assert (Seen(back.text).text, Seen(back.text).named("li")) == ("Taken back.", [])
    assert len((await of(server).list()).items) == 2
    assert (await alice.post("/ui/forget/proof", text="Told by alice")).status_code == 422
    assert (await alice.post("/ui/forget/plan", by="time")).status_code == 422
    everything = await alice.post("/ui/forget/plan", by="everything")
    assert "2 memories and 0 messages would go." in everything.text
    assert 'name="residue"' not in everything.text, "a token's holder scans no files"


# ------------------------------------------------------------------------------------------------ the first run


async def test_an_empty_store_shows_three_ways_and_the_demo_is_a_press_away(server: Served) -> None:
    await of(server, "bob").remember("bob's")
    async with at_home(server, user=None) as someone:
        page = (await someone.get("/ui")).text
        assert "Nothing is known yet" in page
        assert page.count('<li class="panel">') == 3
        assert "bob" in Seen(page).text
        for _ in range(2):
            assert (await someone.post("/ui/demo", part=False)).status_code == 303
            await someone.get("/ui")
        shown = Seen((await someone.get("/ui")).text).text
        assert "mina (demo)" in shown
        assert "kimchi jjigae" in shown
        assert shown.count("kimchi jjigae") == 1
        await someone.post("/ui/whose", part=False, own="1")
        assert "Nothing is known yet" in (await someone.get("/ui")).text


async def test_the_demo_is_put_in_in_nobodys_name_but_the_tokens(server: Served) -> None:
    rights = ("read", "write", "act")
    async with person(server, await server.token(rights, actor="agent:cursor")) as service:
        await service.get("/ui/whose")
        await service.post("/ui/whose", part=False, user="alice")
        await service.get("/ui")
        assert (await service.post("/ui/demo", part=False)).status_code == 303
    facts = (await of(server, "mina (demo)").list(["fact"])).items
    assert {one.origin for one in facts} == {"agent"}


async def test_the_same_page_stands_over_a_servers_store() -> None:
    async with live() as far:
        told = (await far.memhold.scope(user="alice").remember(attribute="home city", value="Lisbon")).memory
        await far.memhold.scope(user="alice", session="s").add(TALK)
        transport, principal = await reach(far.url, {"token": await far.token(("read", "write"), user="alice")})
        store = RemoteStore(transport, principal)
        once = OnceOnly("secret", clock=lambda: 0.0)
        app = ui_only(store, principal, "secret", once.redeem)
        async with person(Served(app, far.memhold, far.clock)) as someone:
            await someone.get(f"/ui/enter?once={once.word}")
            assert "Lisbon" in (await someone.get("/ui")).text
            await someone.post(f"/ui/memories/{told.id}/correct", value="Porto")
            assert [one.value for one in (await far.memhold.scope(user="alice").list(["fact"])).items] == ["Porto"]
            for path in (
                "/ui/recall",
                "/ui/sessions",
                "/ui/settle",
                "/ui/forget",
                "/ui/health",
                f"/ui/memories/{told.id}",
            ):
                assert (await someone.get(path)).status_code == 200, path
            assert "Porto" in (await someone.post("/ui/recall", q="home city")).text
            assert "of 7,600 tokens" in (await someone.post("/ui/sessions/context", session="s")).text
            assert (await someone.get("/ui/whose")).status_code == 403, "the page may do what the token may"
        await store.close()


# ------------------------------------------------------------------------------------------------ what is pure


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0, "just now"), (59, "just now"), (60, "1 minute ago"), (3 * 86_400, "3 days ago"), (400 * 86_400, "1 year ago"),
     (-7200, "in 2 hours")],
)  # fmt: skip
def test_times_are_said_as_people_say_them(seconds: int, told: str) -> None:
    now = datetime(2026, 11, 23, tzinfo=UTC)
    assert ago(now - timedelta(seconds=seconds), now) == told


def test_sizes_are_short() -> None:
    assert [size(count) for count in (0, 999, 1500, 65_000, 3_000_000_000)] == [
        "0 bytes",
        "999 bytes",
        "1.5 KB",
        "65 KB",
        "3.0 GB",
    ]


async def test_what_was_known_at_a_time_is_what_had_been_told_by_then(server: Served) -> None:
    scope, known = of(server), []
    for city in ("Porto", "Busan"):
        told = (await scope.remember(attribute="home city", value=city)).memory
        known.append(server.clock.now())
        server.clock.advance(timedelta(days=1))
    await scope.correct(told.id, "Seoul")
    story = await scope.history(told.id)
    every, now = (await scope.list(["fact"], None)).items, server.clock.now()
    for spans in (known_by_changes(story), known_by_records(every)):
        assert [[one.value for one in held_then(every, spans, when, when)] for when in (*known, now)] == [
            ["Porto"],
            ["Busan"],
            ["Seoul"],
        ]
        assert held_then(every, spans, known[0] - timedelta(days=1), known[0] - timedelta(days=1)) == []
        assert [one.value for one in held_then(every, spans, now, known[0])] == ["Porto"], "its end was not told yet"


async def test_a_value_that_an_undo_takes_up_again_is_known_twice(server: Served) -> None:
    scope = of(server)
    first = (await scope.remember(attribute="home city", value="Porto")).memory
    times = [server.clock.now()]
    for step in ("tell", "undo"):
        server.clock.advance(timedelta(days=1))
        if step == "tell":
            told = await scope.remember(attribute="home city", value="Busan")
        else:
            await scope.undo(told.receipt.change_ids[-1])
        times.append(server.clock.now())
    spans = known_by_changes(await scope.history(first.id))[first.id]
    assert [(one.since, one.until) for one in spans] == [(times[0], times[1]), (times[2], None)]


async def test_bars_reach_from_the_first_value_to_now_and_none_is_too_thin_to_see(server: Served) -> None:
    from memhold.faces.ui.rows import row_of

    when = server.clock.now()
    scope = of(server)
    for years, city in ((10, "Porto"), (1, "Busan")):
        await scope.remember(attribute="home city", value=city, event_time=when.replace(year=when.year - years))
    await scope.correct((await scope.list(["fact"])).items[0].id, "Seoul")
    every = (await scope.list(["fact"], None)).items
    drawn = bars([row_of(one) for one in every], when)
    assert [bar.row.value for bar in drawn] == ["Porto", "Busan", "Seoul"]
    assert drawn[0].left == 0.0
    assert all(bar.width >= 6.0 and bar.left + bar.width <= 1001 for bar in drawn[:1])
    assert [one.value for one in stands_at(every, when.replace(year=when.year - 5))] == ["Porto"]
    assert [one.value for one in stands_at(every, when)] == ["Seoul"], "what was never true held at no time"


async def test_a_damaged_change_takes_nothing_else_from_the_timeline_of_its_memory(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    async with served(path, embedding="none") as running, person(running, await running.token(user="alice")) as alice:
        told = {"Lisbon": datetime(2020, 1, 1, tzinfo=UTC), "Busan": datetime(2024, 1, 1, tzinfo=UTC)}
        first, now = [
            (await of(running).remember(attribute="home city", value=value, event_time=at)).memory
            for value, at in told.items()
        ]
        await of(running).pin(now.id)
        connection = apsw.Connection(path)
        connection.execute("UPDATE change SET reason = 'rotten' WHERE verb = 'pin'")
        connection.close()
        page = await alice.get(f"/ui/memories/{now.id}")
        assert page.status_code == 200
        values, changes = page.text.split('id="changes"')
        assert values.count('<rect class="bar') == 2, "both values, each over its time"
        assert "Lisbon" in values
        assert "Its changes cannot be read" in changes
        assert "memhold doctor" in changes
        assert "Undo" not in changes
        held = Seen((await alice.post(f"/ui/memories/{now.id}/at", at="2022-01-01")).text).text
        assert "Lisbon" in held
        assert "Busan" not in held
        assert (await alice.get(f"/ui/memories/{first.id}")).status_code == 200
        person_page = await alice.get(f"/ui/memories/{now.id}/about")
        assert (person_page.status_code, "Lisbon" in person_page.text) == (200, True)
        note = (await of(running).remember("a note")).memory
        assert "Its changes cannot be read" not in (await alice.get(f"/ui/memories/{note.id}")).text
