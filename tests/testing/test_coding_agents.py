"""The doubles of coding agents: they call hooks and take their answers as the binaries do, and Memhold lives with them.

What the binaries do stands in `reality/test_agents.py`, which holds these doubles beside them.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memhold import Memhold
from memhold.faces.agents.answering import PROMPT_TOKENS, START_TOKENS
from memhold.faces.agents.running import end
from memhold.faces.agents.set_up import set_up
from memhold.faces.agents.take_in import take_in_now
from memhold.faces.mcp.install import Place
from memhold.testing import CodingAgent
from memhold.testing.coding_agents import AGENTS, EVENTS, Client
from memhold.text.token_estimate import estimate_tokens

DOC = (Path(__file__).parents[2] / "docs" / "agent-doubles.md").read_text(encoding="utf-8")
PROJECT = "project/github.com/acme/shop"
LISTENS = "import json, sys; told = json.load(sys.stdin); event = told['hook_event_name']; "


def hooked(client: Client, tmp_path: Path, code: str, *, event: str = "UserPromptSubmit", **more: Any) -> CodingAgent:
    """An agent with one hook of its own: this Python."""
    home, folder = tmp_path / "home", tmp_path / "project"
    folder.mkdir(parents=True)
    words = [sys.executable, "-c", LISTENS + code]
    if client == "opencode":
        held: dict[str, Any] = {"plugin": [["file:///any.ts", {"hook": words}]]}
        file = home / ".config" / "opencode" / "opencode.json"
    else:
        group = {"hooks": [{"type": "command", "command": shlex.join(words), "timeout": 20, **more}]}
        matcher = {"matcher": more.pop("matcher")} if "matcher" in more else {}
        held = {"hooks": {event: [group | matcher]}}
        file = home / (".claude/settings.json" if client == "claude-code" else ".codex/hooks.json")
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(held))
    return CodingAgent(client, home=home, folder=folder)


def printing(**said: Any) -> str:
    return f"event == 'UserPromptSubmit' and print({json.dumps(json.dumps(said))})"


@pytest.mark.parametrize("client", AGENTS)
def test_what_a_hook_adds_stands_behind_the_prompt_and_in_the_transcript(client: Client, tmp_path: Path) -> None:
    named = {"hookEventName": "UserPromptSubmit", "additionalContext": "CONTEXT"}
    session = hooked(client, tmp_path, printing(systemMessage="NOTICE", hookSpecificOutput=named)).session()
    answer = session.prompt("What tea?")
    assert (answer.context, session.notices) == ("CONTEXT", ["NOTICE"])
    assert session.window == [("user", "What tea?"), ("hook", "CONTEXT")]
    kept = session.transcript if client != "opencode" else session.transcript.parent
    held = kept.read_bytes()
    assert b"What tea?" in held
    assert b"CONTEXT" in held
    with Memhold.open(tmp_path / "m.db", worker=False) as mem:
        report = mem.scope(user="a").import_file(str(session.transcript))
        assert (report.format, report.added) == (client, 1)


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_plain_words_are_shown_and_those_of_a_hook_that_failed_are_not(client: Client, tmp_path: Path) -> None:
    assert hooked(client, tmp_path / "plain", "print('PLAIN')").session().prompt("Hi").context == "PLAIN"
    failing = hooked(client, tmp_path / "failing", "print('PLAIN'); sys.exit(1)").session()
    assert failing.prompt("Hi").context == ""
    assert failing.window == [("user", "Hi")]
    assert [one.code for one in failing.ran] == [1]


@pytest.mark.parametrize("client", ["claude-code", "codex"])
@pytest.mark.parametrize(
    "code",
    [
        "sys.stderr.write('WHY'); sys.exit(2)",
        printing(decision="block", reason="WHY"),
        printing(**{"continue": False, "stopReason": "WHY"}),
    ],
)
def test_a_prompt_that_a_hook_refuses_reaches_nobody(client: Client, code: str, tmp_path: Path) -> None:
    session = hooked(client, tmp_path, code).session()
    assert session.prompt("What tea?").refused == "WHY"
    assert session.window == []
    assert not session.transcript.exists() or "What tea?" not in session.transcript.read_text()


def test_claude_code_leaves_out_what_was_said_for_another_event_and_codex_does_not(tmp_path: Path) -> None:
    code = printing(hookSpecificOutput={"hookEventName": "Stop", "additionalContext": "CONTEXT"})
    assert hooked("claude-code", tmp_path / "a", code).session().prompt("Hi").context == ""
    assert hooked("codex", tmp_path / "b", code).session().prompt("Hi").context == "CONTEXT"


def test_a_hook_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    session = hooked("claude-code", tmp_path, "import time; time.sleep(600)", timeout=0.2).session()
    assert session.prompt("Hi").context == ""
    assert [one.code for one in session.ran] == [None]


def test_a_matcher_names_a_start_whole(tmp_path: Path) -> None:
    for matcher, called in (("startup|clear", 1), ("start", 0), ("", 1)):
        agent = hooked("claude-code", tmp_path / str(len(matcher)), "", event="SessionStart", matcher=matcher)
        assert len(agent.session().ran) == called, matcher


@pytest.mark.parametrize("client", AGENTS)
def test_each_event_comes_in_its_turn(client: Client, tmp_path: Path) -> None:
    agent = hooked(client, tmp_path, "")
    if client != "opencode":
        file = agent.home / (".claude/settings.json" if client == "claude-code" else ".codex/hooks.json")
        (group,) = json.loads(file.read_text())["hooks"]["UserPromptSubmit"]
        file.write_text(json.dumps({"hooks": {event: [group] for event in EVENTS[client]}}))
    session = agent.session()
    session.prompt("Hi")
    session.answer("Hello")
    if client == "codex":
        with pytest.raises(ValueError, match="is not known"):
            session.compact()
    else:
        session.compact()
        session.prompt("Go on")
    session.end()
    told = [one.told["hook_event_name"] for one in session.ran]
    start = ["Wake", "SessionStart"] if client == "opencode" else ["SessionStart"]
    again = [] if client == "codex" else ["PreCompact", "SessionStart", "UserPromptSubmit", "SessionEnd"]
    stop = [] if client == "opencode" else ["Stop"]
    assert told == [*start, "UserPromptSubmit", *stop, *again]
    assert [one.told["source"] for one in session.ran if "source" in one.told] == ["startup", "compact"][
        : len(again) or 1
    ]


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", DOC, re.DOTALL))
def test_the_page_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "docs/agent-doubles.md", "exec"), {})  # noqa: S102 - the page's own code


# ------------------------------------------------------------------------------------------- with Memhold's own hooks


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine with one repository, on which all three agents were given memory by one command each."""
    with tempfile.TemporaryDirectory(prefix="mh-") as meeting:
        own = {
            "HOME": str(tmp_path),
            "XDG_RUNTIME_DIR": meeting,
            "CLAUDE_CONFIG_DIR": "",
            "CODEX_HOME": "",
            "XDG_CONFIG_HOME": "",
            "XDG_DATA_HOME": "",
            "OPENCODE_DB": "",
            "MEMHOLD_EMBEDDING": "none",
        }
        for name, value in own.items():
            monkeypatch.setenv(name, value)
        root = tmp_path / "shop"
        (root / ".git" / "worktrees" / "fix").mkdir(parents=True)
        (root / ".git" / "config").write_text('[remote "origin"]\n\turl = git@github.com:Acme/Shop.git\n')
        (root / ".git" / "worktrees" / "fix" / "commondir").write_text("../..")
        (root / "web" / "pages").mkdir(parents=True)
        (tmp_path / "fix").mkdir()
        (tmp_path / "fix" / ".git").write_text(f"gitdir: {root / '.git' / 'worktrees' / 'fix'}")
        db = str(tmp_path / "memory.db")
        place = Place(system="linux", home=tmp_path, environment={})
        for client in AGENTS:
            set_up(client, ["memhold", "mcp"], ["--db", db, "--user", "alice"], place)
        yield root
        end(db)


def in_place(shop: Path, client: Client, folder: Path) -> CodingAgent:
    return CodingAgent(client, home=shop.parent, folder=folder)


def test_three_agents_in_a_repository_its_sub_folder_and_its_worktree_have_one_memory(shop: Path) -> None:
    db, fix = shop.parent / "memory.db", shop.parent / "fix"
    places: dict[Client, Path] = {"claude-code": shop, "codex": shop / "web" / "pages", "opencode": fix}
    for number, (client, folder) in enumerate(places.items()):
        session = in_place(shop, client, folder).session()
        session.prompt(f"We decided number {number}: pomelo-{number}.")
        session.answer("Noted.", late=True)
        session.end()
        assert [one.code for one in session.ran] == [0] * len(session.ran)
    with Memhold.open(db, worker=False) as mem:
        mem.scope(user="alice").remember("Prefers short answers")
        take_in_now(mem, str(db), seconds=30)
        said = [
            hit.text for hit in mem.scope(namespace=PROJECT, user="alice").recall("", kinds=("message",), limit=50).hits
        ]
        assert sorted(text for text in said if "pomelo" in text) == [
            f"We decided number {number}: pomelo-{number}." for number in range(3)
        ]
        assert said.count("Noted.") == 3
        assert not mem.scope(user="alice").recall("", kinds=("message",)).hits
    for client, folder in places.items():
        told = until_told(in_place(shop, client, folder))
        assert all(f"pomelo-{number}" in told for number in range(3)), (client, told)
        assert "From the project memory (Memhold)" in told
        assert "Prefers short answers" in told.partition("From the personal memory (Memhold)")[2]


def until_told(agent: CodingAgent) -> str:
    """What a session is told: a start that found nobody who answers is owed, and comes with a prompt."""
    ends = time.monotonic() + 60
    session = agent.session()
    while time.monotonic() < ends:
        session.prompt("Go on.")
        told = "\n".join(text for role, text in session.window if role == "hook")
        if told:
            return told
        time.sleep(0.05)
    raise AssertionError("nothing was told")


@pytest.mark.parametrize("client", AGENTS)
def test_a_window_grows_by_no_more_than_the_budgets_and_by_nothing_twice(client: Client, shop: Path) -> None:
    """A store that holds far more than a window may: 300 lines about what is asked."""
    about = ("deploy", "cart", "invoice", "login", "export", "search")
    with Memhold.open(shop.parent / "memory.db", worker=False) as mem:
        for place in range(0, 300, 100):
            lines = [
                f"Rule {n}: the {about[n % 6]} is done on host pomelo-{n} by team {n * 7}."
                for n in range(place, place + 100)
            ]
            scope = mem.scope(namespace=PROJECT, user="alice", session=f"before {place}")
            scope.add([{"role": "user", "content": line} for line in lines])
    session = in_place(shop, client, shop).session()
    ends = time.monotonic() + 60
    while not any(role == "hook" for role, _ in session.window) and time.monotonic() < ends:
        session.prompt("Go on.")
    brought = [text for role, text in session.window if role == "hook"]
    assert 0 < sum(map(estimate_tokens, brought)) <= START_TOKENS + PROMPT_TOKENS
    begun = sum(map(estimate_tokens, brought))
    for asked, topic in enumerate(about, start=1):
        session.prompt(f"On which host is the {topic} done, and by which team?")
        session.answer("I look it up.")
        brought = [text for role, text in session.window if role == "hook"]
        # What is late comes with the next prompt, in what an earlier one, "Go on." too, has left.
        assert sum(map(estimate_tokens, brought)) - begun <= (asked + 1) * PROMPT_TOKENS, brought
    said = re.findall(r"Rule \d+:", "\n".join(brought))
    assert len(said) == len(set(said)) > len(about)
    session.end()


@pytest.mark.parametrize("client", AGENTS)
def test_a_folder_of_a_monorepo_that_is_marked_has_a_memory_of_its_own(client: Client, shop: Path) -> None:
    db = shop.parent / "memory.db"
    (shop / "web" / ".memhold-project").touch()
    for folder, word in ((shop, "kumquat"), (shop / "web" / "pages", "pomelo")):
        session = in_place(shop, client, folder).session()
        session.prompt(f"The code word is {word}.")
        session.end()
    with Memhold.open(db, worker=False) as mem:
        take_in_now(mem, str(db), seconds=30)
        for namespace, word in ((PROJECT, "kumquat"), (f"{PROJECT}:web", "pomelo")):
            hits = mem.scope(namespace=namespace, user="alice").recall("", kinds=("message",)).hits
            assert [hit.text for hit in hits] == [f"The code word is {word}."]
