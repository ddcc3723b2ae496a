"""The page in Debian's Chromium: each page's main path as a person does it, on a store that two processes have open."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from time import sleep

import pytest

from reality.outside import HERE, node_tools, run
from reality.pictures import PICTURES, START_SECONDS, Program, browser, make_pictures

USER = "mina (demo)"
DRIVER_SECONDS = 1_500
"""When a driver that hangs is ended: what it did until then still counts."""
FILL = """
import asyncio, sys
from dataclasses import replace
from memhold import AsyncMemhold
from memhold.faces.ui.demo_memory import DEMO_USER, put_demo
from memhold.testing.scripted import ScriptedChat, sensible_reply
from memhold.values.records import Scope
FACT = {"subject": "user", "attribute": "favorite food", "value": "pizza", "sources": ["m1"]}
def invents(request):
    made = sensible_reply(request)
    [call] = made.tool_calls
    facts = [FACT, {**FACT, "attribute": "favorite drink", "value": "lemonade"}]
    return replace(made, tool_calls=(replace(call, arguments={**call.arguments, "facts": facts}),))
CALL = {"id": "c1", "type": "function", "function": {"name": "search_flights", "arguments": '{"to": "Porto"}'}}
async def main(path):
    async with await AsyncMemhold.open(path, worker=False) as mem:
        await put_demo(mem, Scope())
        mina = mem.scope(user=DEMO_USER)
        await mina.remember("Prefers window seats on long flights")
        await mina.remember("会议纪要要用中文写")
        await mina.remember("تفضّل الشاي الأخضر في الصباح")
        await mina.remember(attribute="name", value="دينا", subject="sister")
        await mina.remember("<script>alert(1)</script><img src=x onerror=alert(2)>")
        agent = mem.scope(user=DEMO_USER, actor="agent:claude-code")
        await agent.remember("Uses uv rather than pip")
        await agent.remember(attribute="home city", value="Seoul")
        await mem.scope(user=DEMO_USER, session="work").add([
            {"role": "user", "content": "<script>alert(3)</script> Find a flight."},
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "3 flights: TP 1930, TP 1936, FR 2095"},
            {"role": "assistant", "content": "There are three."}])
        await mem.scope(user="another").remember("the canary of another")
        await mem.settle(30)
    async with await AsyncMemhold.open(path, worker=False, consolidation=ScriptedChat(otherwise=invents)) as mem:
        scope = mem.scope(user=DEMO_USER, session="lunch")
        await scope.add([{"role": "user", "content": "I had lunch at the harbour."}])
        await scope.consolidate()
        await mem.settle(30)
asyncio.run(main(sys.argv[1]))
"""
ASK = """
import asyncio, sys
from memhold import AsyncMemhold
from memhold.faces.ui.demo_memory import DEMO_USER
async def main(path, model):
    async with await AsyncMemhold.open(path, worker=False, consolidation=model, model_attempts=1) as mem:
        session = mem.scope(user=DEMO_USER, session="late")
        await session.add([{"role": "user", "content": "I bought a canoe."}])
        await session.end_session()
        await session.consolidate()
asyncio.run(main(*sys.argv[1:]))
"""
NAMES = [
    "looks", "correct_recall_undo", "two_tabs", "found_as_one_types", "timeline_slides", "explain_a_miss",
    "what_is_done_early_counts", "settle_by_keyboard", "the_focus_stays_in_place",
    "replay_a_session", "forget_with_a_proof",
    "other_users_are_apart", "a_model_goes_down", "the_server_dies", "nothing_runs_and_nothing_goes_elsewhere",
]  # fmt: skip


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """What was wrong on each journey, by its name."""
    python, chromium = browser()
    axe = node_tools().modules / "axe-core" / "axe.min.js"
    folder = tmp_path_factory.mktemp("page")
    done = run([sys.executable, "-c", FILL, str(folder / "memory.db")], seconds=START_SECONDS)
    assert done.code == 0, done.last
    model = Program(folder / "model.log", "chaos")
    name = f"{model.start('--port', '0')}/v1#chaos"
    page = Program(folder / "page.log", "ui", "--no-browser", "--db", str(folder / "memory.db"), "--user", USER,
                   "--consolidation", name)  # fmt: skip
    link = page.start()
    base, port = re.match(r"(.*:(\d+))", link.partition("/ui/")[0]).groups()  # type: ignore[union-attr]
    asked = {
        "link": link, "base": base, "chromium": chromium, "axe": str(axe),
        "pictures": str(HERE.parent / "build" / "pictures"),
        **{flag: str(folder / flag) for flag in ("stop_model", "stop_server", "start_server")},
    }  # fmt: skip
    asking = folder / "asked.json"
    asking.write_text(json.dumps(asked))
    with asking.open() as given:
        driver = subprocess.Popen([python, HERE / "page_journeys.py"], stdin=given, stdout=subprocess.PIPE, text=True)
    harms = {
        "stop_model": partial(_stop_model, model, folder, name),
        "stop_server": page.kill,
        "start_server": partial(page.start, "--port", port),
    }
    waiting = [
        threading.Thread(target=_when_asked, args=(folder / flag, driver, harm), daemon=True)
        for flag, harm in harms.items()
    ]
    for one in waiting:
        one.start()
    out = _said(driver)
    for one in waiting:
        one.join(timeout=START_SECONDS)
    page.kill()
    model.kill()
    return {one["name"]: one["wrong"] for one in map(json.loads, out.splitlines())}


def _said(driver: subprocess.Popen[str]) -> str:
    """What the driver printed until its end, or until it was ended."""
    try:
        return driver.communicate(timeout=DRIVER_SECONDS)[0]
    except subprocess.TimeoutExpired:
        driver.kill()
        return driver.communicate()[0]


def _stop_model(model: Program, folder: Path, name: str) -> None:
    """The model goes; another process finds out, as an agent's own would."""
    model.kill()
    run([sys.executable, "-c", ASK, str(folder / "memory.db"), name], seconds=START_SECONDS)


def _when_asked(flag: Path, driver: subprocess.Popen[str], harm: Callable[[], object]) -> None:
    """Do a harm as soon as a journey asks for it."""
    while driver.poll() is None:
        if flag.exists():
            harm()
            flag.with_name(f"{flag.name}.done").touch()
            return
        sleep(0.05)


@pytest.mark.bound(3_000)
@pytest.mark.parametrize("name", NAMES)
def test_a_person_can(told: Mapping[str, str], name: str) -> None:
    assert told.get(name, "it was not reached") == ""


@pytest.mark.bound(1_200)
def test_the_pictures_of_the_readme_are_made_anew(tmp_path: Path) -> None:
    make_pictures(tmp_path)
    for name in PICTURES:
        made = (tmp_path / name).read_bytes()
        assert made.startswith(b"\x89PNG")
        assert 10_000 < len(made) < 150_000
        assert (HERE.parent / "docs" / "pictures" / name).exists()
