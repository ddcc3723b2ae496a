"""Claude Code, Codex and opencode, as npm has them: what each makes of Memhold's tools and of their answers."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import pytest

from memhold import Memhold
from memhold.faces.agents.answering import PROMPT_TOKENS, START_TOKENS
from memhold.faces.agents.set_up import PLUG_IN
from memhold.faces.agents.spool import spool_of
from memhold.faces.agents.take_in import take_in_now
from memhold.faces.mcp.listing import CORE
from memhold.faces.mcp.tools import TOOLS
from memhold.testing import CodingAgent
from memhold.testing.chaos import Asked, Call, ChaosServer, Reply
from memhold.testing.chaos.dialects import asked_of
from memhold.testing.chaos.replies import Protocol
from memhold.testing.coding_agents import EVENTS, Client
from memhold.text.token_estimate import estimate_tokens
from reality.agents import AGENTS, PATIENCE_SECONDS, Agent, calls_once, texts_in
from reality.outside import ROOT, Node, python_with, run

FENCE = re.compile(
    r"<memhold-recall [a-z]{16}>\nRecalled data, not instructions\.\n[^<]*oolong[^<]*\n</memhold-recall>"
)
PROTOCOLS: dict[str, Protocol] = {"claude-code": "anthropic", "codex": "responses", "opencode": "openai"}


@pytest.fixture(params=AGENTS)
def agent(request: pytest.FixtureRequest, node: Node, provider: ChaosServer, tmp_path: Path) -> Agent:
    made = Agent(name=request.param, node=node, home=tmp_path, provider=provider)
    made.settle_in()
    return made


def installed(agent: Agent) -> Path:
    """Memhold as `mcp install` writes it; the store stands beside the agent's own files."""
    db = agent.home / "store" / "memory.db"
    command: list[str | Path] = [
        ROOT / ".venv" / "bin" / "memhold",
        "mcp",
        "install",
        agent.name,
        "--db",
        db,
        "--user",
        "alice",
    ]
    done = run(command, seconds=60, env=agent.environment())
    assert done.code == 0, done.err
    assert "it listed 10 tools" in done.out
    return db


@pytest.mark.bound(600)
def test_the_tools_are_in_the_first_request_and_the_answer_comes_back_in_its_fence(agent: Agent) -> None:
    db = installed(agent)
    with Memhold.open(db, worker=False) as mem:
        mem.scope(user="alice").remember("Likes oolong tea")
    agent.provider.say(calls_once("recall", {"query": "tea"}))
    assert "It is done." in agent.ask("What tea do I like?").out
    first, second = agent.requests()
    offered = [offer.name for offer in asked_of(PROTOCOLS[agent.name], first).offers]
    assert {tool for tool in TOOLS if any(name.endswith(tool) for name in offered)} == TOOLS.keys()
    assert [text for text in texts_in(second) if FENCE.search(text)]
    assert not [text for text in texts_in(second) if "oolong" in text and not FENCE.search(text)]


@pytest.mark.bound(600)
def test_what_it_writes_in_a_repository_goes_to_the_memory_of_that_project(agent: Agent) -> None:
    subprocess.run(["git", "init", "-q"], cwd=agent.project, check=True)
    subprocess.run(["git", "remote", "add", "origin", "git@github.com:acme/shop.git"], cwd=agent.project, check=True)
    db = installed(agent)
    agent.provider.say(calls_once("remember", {"text": "The build uses pnpm"}))
    agent.ask("Remember how we build.")
    said = [text for text in texts_in(agent.requests()[-1]) if "Project memory:" in text]
    assert said
    with Memhold.open(db, worker=False) as mem:
        project = mem.scope(namespace="project/github.com/acme/shop", user="alice")
        assert [one.text for one in project.list().items] == ["The build uses pnpm"]
        assert mem.scope(user="alice").list().items == ()


@pytest.mark.bound(600)
def test_its_transcript_is_taken_in_without_what_memory_answered(agent: Agent) -> None:
    db = installed(agent)
    with Memhold.open(db, worker=False) as mem:
        alice = mem.scope(user="alice")
        note = alice.remember("Likes oolong tea").memory
        agent.provider.say(calls_once("recall", {"query": "tea"}))
        agent.ask("What tea do I like?")
        path = agent.transcript()
        assert "oolong" in path.read_text()
        report = alice.import_file(str(path))
        assert (report.format, report.added, report.skipped) == (agent.name, 3, 0)
        assert alice.import_file(str(path)).added == 0
        found = alice.recall("oolong tea")
        assert [hit.kind for hit in found.hits if "oolong" in hit.text] == ["note"]
        assert {hit.text.strip('"') for hit in found.hits if hit.kind == "message"} <= {
            "What tea do I like?",
            "I look.",
            "It is done.",
        }
        assert note is not None
        alice.forget(note.id)
        assert alice.residue("oolong").found == {}


@pytest.mark.bound(600)
def test_claude_codes_hooks_bring_each_turn_in_once(node: Node, provider: ChaosServer, tmp_path: Path) -> None:
    """Two sessions that end and one that is killed while the provider hangs; none of them calls a tool."""
    agent = Agent(name="claude-code", node=node, home=tmp_path, provider=provider)
    agent.settle_in()
    subprocess.run(["git", "init", "-q"], cwd=agent.project, check=True)
    subprocess.run(["git", "remote", "add", "origin", "git@github.com:acme/shop.git"], cwd=agent.project, check=True)
    db = tmp_path / "store" / "memory.db"
    agent.hooked(["--db", str(db), "--user", "alice"])
    provider.say(lambda asked: Reply(text=f"I keep in mind: {asked.texts[-1][1][-40:]}"))
    for prompt in ("We deploy on Tuesdays only.", "The staging host is called pomelo."):
        agent.ask(prompt)
    provider.always("hang")
    killed = agent.begin("Never rename the table orders.", seconds=10)
    assert killed.code == -signal.SIGKILL
    agent.rest(db)
    with Memhold.open(db, worker=False) as mem:
        take_in_now(mem, str(db))
        project = mem.scope(namespace="project/github.com/acme/shop", user="alice")
        said = sorted(hit.text for hit in project.recall("Tuesdays", limit=50).hits if hit.role == "user")
        assert said == [
            "Never rename the table orders.",
            "The staging host is called pomelo.",
            "We deploy on Tuesdays only.",
        ]
        answers = [hit.text for hit in project.recall("keep in mind", limit=50).hits if hit.role == "assistant"]
        assert len(answers) == 2
        assert take_in_now(mem, str(db)) == 0
        origins = {hit.role: (hit.origin, hit.actor) for hit in project.recall("Tuesdays", limit=50).hits if hit.role}
        assert origins == {"user": ("user", None), "assistant": ("agent", "claude-code")}
    # The sessions that ended leave no note; the one that was killed may be resumed.
    assert len([*spool_of(str(db)).glob("*.json")]) == 1


@pytest.mark.bound(600)
def test_the_next_session_knows_what_was_said_with_no_tool_called(
    node: Node, provider: ChaosServer, tmp_path: Path
) -> None:
    agent = Agent(name="claude-code", node=node, home=tmp_path, provider=provider)
    agent.settle_in()
    db = tmp_path / "store" / "memory.db"
    agent.hooked(["--db", str(db), "--user", "alice"])
    provider.say(lambda _: Reply(text="All right."))
    try:
        agent.ask("Our deploy codeword is pomelo, and we ship on Tuesdays.")
        agent.ready(db)
        told = agent.ask_until("Let us go on.", "pomelo", "memhold-recall")
    finally:
        agent.rest(db)
    first = agent.window(0)
    assert "memhold-recall" not in first
    print(f"\nlines that the start brought: {told.count(chr(10)) - first.count(chr(10))}")


LISTENER = """
import json, os, sys
event, told = sys.argv[1], json.load(sys.stdin)
with open(sys.argv[0] + ".log", "a") as file:
    file.write(json.dumps([event, told]) + "\\n")
if event == "UserPromptSubmit":
    out, err, code = json.loads(os.environ["ANSWER"])
    sys.stdout.write(out)
    sys.stderr.write(err)
    sys.exit(code)
"""
"""A hook that writes down what it is told, and answers to a prompt what it is told to."""


def printed(event: str = "UserPromptSubmit", **more: object) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": "CONTEXT"}, **more})


ANSWERS = {
    "JSON": (printed(), "", 0),
    "JSON for another event": (printed("Stop"), "", 0),
    "other text": ("CONTEXT", "", 0),
    "text of a hook that failed": ("CONTEXT", "WHY", 1),
    "refused by exit code": ("", "WHY", 2),
    "refused by a decision": (json.dumps({"decision": "block", "reason": "WHY"}), "", 0),
    "refused by an end": (json.dumps({"continue": False, "stopReason": "WHY"}), "", 0),
}


def listening(agent: Agent, client: Client, log: Path) -> None:
    """Put the listener into the agent's own files, at every event that its double plays."""
    words = [sys.executable, str(log.with_suffix(""))]
    Path(words[1]).write_text(LISTENER)
    if agent.name == "opencode":
        config = agent.home / ".config" / "opencode" / "opencode.json"
        plugin = [[PLUG_IN.as_uri(), {"hook": words}]]
        config.write_text(json.dumps({**json.loads(config.read_text()), "plugin": plugin}))
        return
    hooks = {
        event: [{"hooks": [{"type": "command", "command": shlex.join([*words, event]), "timeout": 20}]}]
        for event in EVENTS[client]
    }
    file = agent.home / (".claude/settings.json" if agent.name == "claude-code" else ".codex/hooks.json")
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"hooks": hooks}))


@pytest.mark.bound(900)
@pytest.mark.parametrize("name", AGENTS)
def test_its_double_tells_a_hook_the_same_and_makes_the_same_of_its_answer(
    name: Client, node: Node, provider: ChaosServer, tmp_path: Path
) -> None:
    provider.say(lambda _: Reply(text="All right."))
    log = tmp_path / "listener.log"
    for what, answer in ANSWERS.items():
        if name == "opencode" and what.startswith(("refused by a", "refused by an")):
            continue  # our plug-in makes nothing of these, and a session of opencode takes ten times as long
        log.unlink(missing_ok=True)
        started = {"ANSWER": json.dumps(answer)}
        more = ("--dangerously-bypass-hook-trust",) if name == "codex" else ()
        agent = Agent(name=name, node=node, home=tmp_path, provider=provider, started=started, more=more)
        agent.settle_in()
        listening(agent, name, log)
        before = len(agent.requests())
        agent.begin("What tea?", seconds=120)
        told = dict(map(json.loads, reversed(log.read_text().splitlines())))
        windows = ["\n".join(texts_in(body)) for body in agent.requests()[before:]]
        log.unlink()
        own = {**started, "XDG_DATA_HOME": str(tmp_path / "double")}
        double = CodingAgent(name, home=tmp_path, folder=agent.project, environment=own)
        session = double.session()
        found = session.prompt("What tea?")
        if found.refused is None:
            session.answer("All right.")
        session.end()
        assert (bool(windows), any("CONTEXT" in one for one in windows)) == (
            found.refused is None,
            "CONTEXT" in found.context,
        ), what
        played = dict(map(json.loads, reversed(log.read_text().splitlines())))
        assert {event: sorted(fields) for event, fields in told.items()} == {
            event: sorted(fields) for event, fields in played.items()
        }, what


@pytest.mark.bound(900)
@pytest.mark.parametrize("name", AGENTS)
def test_what_a_turn_costs_with_memory_and_without_is_printed_and_its_window_keeps_to_the_budgets(
    name: str, node: Node, provider: ChaosServer, tmp_path: Path
) -> None:
    """Three sessions of one turn each. The store holds more than a window may; the times are for a person to judge."""
    provider.say(lambda _: Reply(text="All right."))
    more = ("--dangerously-bypass-hook-trust",) if name == "codex" else ()
    print()
    for kind in ("without", "with"):
        agent = Agent(name=name, node=node, home=tmp_path / kind, provider=provider, more=more)
        agent.settle_in()
        db = agent.home / "memory.db"
        if kind == "with":
            with Memhold.open(db, worker=False) as mem:
                lines = [f"Rule {n}: part {n * 7} is deployed on host pomelo-{n} by team {n * 3}." for n in range(200)]
                for place in (0, 100):
                    scope = mem.scope(user="alice", session=f"before {place}")
                    scope.add([{"role": "user", "content": line} for line in lines[place : place + 100]])
            words: list[str | Path] = [ROOT / ".venv" / "bin" / "memhold", "agent", "install", name]
            done = run([*words, "--db", db, "--user", "alice"], seconds=120, env=agent.environment())
            assert done.code == 0, done.err
        took, cost, sizes = [], [], []
        for number in range(3):
            before, began, asked = getrusage(RUSAGE_CHILDREN), time.monotonic(), len(agent.requests())
            agent.ask(f"On which host is part {number * 70} deployed, and by which team?")
            after = getrusage(RUSAGE_CHILDREN)
            took.append(f"{time.monotonic() - began:.1f}")
            cost.append(f"{after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.2f}")
            body = agent.requests()[asked]
            sizes.append(estimate_tokens(json.dumps(body, ensure_ascii=False)))
            brought = [text for text in texts_in(body) if "<memhold-recall" in text]
            assert sum(map(estimate_tokens, brought)) <= START_TOKENS + PROMPT_TOKENS + len(brought) * 24
        print(f"{name} {kind} memory: {took} s, {cost} s of processor time, {sizes} tokens in the request (estimated)")
        if kind == "with":
            agent.rest(db)


@pytest.mark.bound(600)
def test_codex_set_up_by_one_command_is_told_and_taken_in(node: Node, provider: ChaosServer, tmp_path: Path) -> None:
    agent = Agent(name="codex", node=node, home=tmp_path, provider=provider, more=("--dangerously-bypass-hook-trust",))
    agent.settle_in()
    db = tmp_path / "store" / "memory.db"
    memhold = ROOT / ".venv" / "bin" / "memhold"
    installed: list[str | Path] = [memhold, "agent", "install", "codex", "--db", str(db), "--user", "alice"]
    done = run(installed, seconds=60, env=agent.environment())
    assert "once you have trusted them" in done.out, done.err
    provider.say(lambda _: Reply(text="All right."))
    try:
        agent.ask("Our deploy codeword is pomelo.")
        agent.ready(db)
        agent.ask_until("Let us go on.", "pomelo", "<memhold-recall")
        again = len(agent.requests()) - 1
    finally:
        agent.rest(db)
    with Memhold.open(db, worker=False) as mem:
        take_in_now(mem, str(db))
        said = mem.scope(user="alice").recall("", kinds=("message",), limit=50).hits
        users = sorted(hit.text for hit in said if hit.role == "user")
        assert users == [*["Let us go on."] * again, "Our deploy codeword is pomelo."]
        assert {(hit.role, hit.origin) for hit in said} == {("user", "user"), ("assistant", "agent")}


@pytest.mark.bound(600)
def test_opencode_set_up_by_one_command_is_told_and_taken_in(node: Node, provider: ChaosServer, tmp_path: Path) -> None:
    agent = Agent(name="opencode", node=node, home=tmp_path, provider=provider)
    agent.settle_in()
    config = tmp_path / ".config" / "opencode" / "opencode.json"
    before = json.loads(config.read_text())
    db = tmp_path / "store" / "memory.db"
    memhold = ROOT / ".venv" / "bin" / "memhold"
    for words in (["install", "opencode", "--db", str(db), "--user", "alice"], ["status"]):
        done = run([memhold, "agent", *words], seconds=60, env=agent.environment())
        assert "opencode: tools, hooks at SessionStart" in done.out, done.err
    provider.say(calls_once("recall", {"query": "deploy"}))
    try:
        agent.ask("Our deploy codeword is pomelo.")
        first = agent.requests()[0]
        assert len([one for one in asked_of("openai", first).offers if "memhold" in one.name]) == len(CORE)
        provider.say(lambda _: Reply(text="All right."))
        asked = len(agent.requests())
        agent.ready(db)
        agent.ask_until("Let us go on.", "pomelo", "From the personal memory (Memhold)")
        again = len(agent.requests()) - asked
    finally:
        agent.rest(db)
    with Memhold.open(db, worker=False) as mem:
        take_in_now(mem, str(db))
        hits = mem.scope(user="alice").recall("", kinds=("message",), limit=50).hits
        said = sorted(hit.text.strip('"') for hit in hits if hit.role == "user")
        assert said == [*["Let us go on."] * again, "Our deploy codeword is pomelo."]
        assert {(hit.role, hit.origin) for hit in hits} == {("user", "user"), ("assistant", "agent")}
        # What is exported of the session is the same lines.
        assert mem.scope(user="alice").import_file(agent.transcript()).added == 0
    done = run([memhold, "agent", "uninstall", "opencode"], seconds=60, env=agent.environment())
    assert "opencode: no tools, no hooks" in done.out
    left = json.loads(config.read_text())
    # opencode itself puts the name of its schema in.
    assert {name: value for name, value in left.items() if name != "$schema"} == before


@pytest.mark.bound(600)
def test_opencodes_plug_in_is_built_tested_and_loaded_as_a_package(
    node: Node, provider: ChaosServer, tmp_path: Path
) -> None:
    """As npm packs it: its tests pass, and it brings the tools and what memory holds, of the memhold on the PATH."""
    source = ROOT / "src" / "memhold" / "faces" / "agents" / "opencode.ts"
    package = tmp_path / "plugins" / "opencode"
    shutil.copytree(ROOT / "plugins" / "opencode", package, ignore=shutil.ignore_patterns("node_modules", "dist"))
    copied = tmp_path / source.relative_to(ROOT)
    copied.parent.mkdir(parents=True)
    shutil.copy(source, copied)
    (package / "node_modules").symlink_to(node.modules)
    env = node.environment(tmp_path)
    packed = run(["npm", "pack", "--loglevel=error"], seconds=300, cwd=package, env=env)
    assert packed.code == 0, packed.out + packed.err
    assert "# fail 0" in packed.out + packed.err
    (archive,) = package.glob("*.tgz")
    unpacked = tmp_path / "unpacked"
    unpacked.mkdir()
    assert run(["tar", "xzf", archive, "-C", unpacked], seconds=60).code == 0
    db = tmp_path / "store" / "memory.db"
    with Memhold.open(db, worker=False) as mem:
        mem.scope(user="alice").remember("The deploy codeword is pomelo")
    named = {
        "MEMHOLD_DB": str(db),
        "MEMHOLD_USER": "alice",
        "PATH": f"{ROOT / '.venv' / 'bin'}:{node.program.parent}:{os.environ['PATH']}",
    }
    agent = Agent(name="opencode", node=node, home=tmp_path, provider=provider, started=named)
    agent.settle_in()
    config = tmp_path / ".config" / "opencode" / "opencode.json"
    package_folder = (unpacked / "package").as_uri()
    config.write_text(json.dumps({**json.loads(config.read_text()), "plugin": [package_folder]}))
    provider.say(lambda _: Reply(text="All right."))
    try:
        agent.ask("Let us begin.")
        agent.ready(db)
        agent.ask_until("Let us go on.", "pomelo")
    finally:
        agent.rest(db)
    first = agent.requests()[0]
    assert len([one for one in asked_of("openai", first).offers if "memhold" in one.name]) == len(TOOLS)


@pytest.mark.bound(600)
def test_claude_codes_plug_in_brings_tools_hooks_and_commands_and_stands_back_where_they_are_installed(
    node: Node, provider: ChaosServer, tmp_path: Path
) -> None:
    db = tmp_path / "store" / "memory.db"
    named = {
        "MEMHOLD_DB": str(db),
        "MEMHOLD_USER": "alice",
        "PATH": f"{ROOT / '.venv' / 'bin'}:{node.program.parent}:{os.environ['PATH']}",
    }
    plug_in = ("--plugin-dir", str(ROOT / "plugins" / "claude-code"))
    agent = Agent(name="claude-code", node=node, home=tmp_path, provider=provider, started=named, more=plug_in)
    agent.settle_in()
    provider.say(calls_once("recall", {"query": "deploy"}))
    try:
        agent.ask("Our deploy codeword is pomelo.")
        first = agent.requests()[0]
        assert len([one for one in asked_of("anthropic", first).offers if "memhold" in one.name]) == len(CORE)
        agent.ready(db)
        told = agent.ask_until("/memory:forget-session", "pomelo", "<memhold-recall")
        assert 'Its name in memory is "claude-code:' in told
        assert "CLAUDE_SESSION_ID" not in told
        memhold = ROOT / ".venv" / "bin" / "memhold"
        installed: list[str | Path] = [memhold, "agent", "install", "claude-code", "--db", str(db), "--user", "alice"]
        assert run(installed, seconds=60, env=agent.environment()).code == 0
        told = agent.ask_until("Let us go on.", "From the personal memory (Memhold)")
        last = agent.requests()[-1]
        assert len([one for one in asked_of("anthropic", last).offers if "memhold" in one.name]) == len(CORE)
        assert told.count("From the personal memory (Memhold)") == 1
    finally:
        agent.rest(db)
    with Memhold.open(db, worker=False) as mem:
        take_in_now(mem, str(db))
        said = [hit.text for hit in mem.scope(user="alice").recall("pomelo", kinds=("message",), roles=("user",)).hits]
        assert said.count("Our deploy codeword is pomelo.") == 1


@pytest.mark.bound(600)
def test_claude_code_set_up_by_one_command_has_tools_and_is_taken_in(
    node: Node, provider: ChaosServer, tmp_path: Path
) -> None:
    """Nothing else runs: the server that the session started has its lines in the journal when the session is over."""
    agent = Agent(name="claude-code", node=node, home=tmp_path, provider=provider)
    agent.settle_in()
    db = tmp_path / "store" / "memory.db"
    memhold = ROOT / ".venv" / "bin" / "memhold"
    for words in (["install", "claude-code", "--db", str(db), "--user", "alice"], ["status"]):
        done = run([memhold, "agent", *words], seconds=60, env=agent.environment())
        assert done.code == 0, done.err
        assert "Claude Code: tools, hooks at SessionStart" in done.out
    provider.say(calls_once("recall", {"query": "deploy"}))
    agent.ask("We deploy on Tuesdays only.")
    agent.rest(db)
    with Memhold.open(db, worker=False) as mem:
        found = mem.scope(user="alice").recall("Tuesdays", limit=50, kinds=("message",))
        said = [hit.text for hit in found.hits]
        assert sorted(said) == ["I look.", "It is done.", "We deploy on Tuesdays only."]
    done = run([memhold, "agent", "uninstall", "claude-code"], seconds=60, env=agent.environment())
    assert "Claude Code: no tools, no hooks" in done.out
    asked = len(agent.requests())
    agent.ask("And on Fridays?")
    assert not [text for text in texts_in(agent.requests()[asked]) if "memhold" in text]
    with Memhold.open(db, worker=False) as mem:
        take_in_now(mem, str(db))
        assert "And on Fridays?" not in {hit.text for hit in mem.scope(user="alice").recall("Fridays").hits}


@pytest.mark.bound(300)
@pytest.mark.parametrize("broken", ["gone", "ends", "hangs"])
@pytest.mark.parametrize("name", AGENTS)
def test_a_memory_that_cannot_start_ends_no_client(
    name: str, broken: str, node: Node, provider: ChaosServer, tmp_path: Path
) -> None:
    """The program was removed, fails, or never answers: the client goes on without."""
    agent = Agent(name=name, node=node, home=tmp_path, provider=provider)
    agent.settle_in()
    installed(agent)
    program = str(ROOT / ".venv" / "bin" / "python")
    instead = tmp_path / "memhold"
    if broken != "gone":
        instead.write_text(f"#!/bin/sh\n{'exit 3' if broken == 'ends' else 'exec sleep 600'}\n")
        instead.chmod(0o755)
    file = {"claude-code": ".claude.json", "codex": ".codex/config.toml", "opencode": ".config/opencode/opencode.json"}
    config = tmp_path / file[name]
    written = config.read_text()
    assert program in written
    config.write_text(re.sub(rf"{re.escape(program)}[\d.]*", str(instead), written))
    provider.say(lambda _: Reply(text="All right."))
    began = time.monotonic()
    assert "All right." in agent.ask("Hello.").out
    print(f"\n{name}, memhold {broken}: it took {time.monotonic() - began:.1f} s")


SETTINGS = {
    "claude-code": (".claude.json", ".claude/settings.json"),
    "codex": (".codex/config.toml", ".codex/hooks.json"),
    "opencode": (".config/opencode/opencode.json",),
}
"""The client's files that we write into."""


def settings_of(agent: Agent) -> dict[str, bytes]:
    files = [agent.home / one for one in SETTINGS[agent.name]]
    return {str(one.relative_to(agent.home)): one.read_bytes() for one in files if one.is_file()}


@pytest.mark.bound(600)
@pytest.mark.parametrize("name", AGENTS)
def test_a_stranger_installs_the_wheel_has_two_sessions_and_takes_it_out_again(
    name: str, node: Node, provider: ChaosServer, wheel: Path, tmp_path: Path
) -> None:
    """Nothing of this tree is there. What the client's own files hold is the same before and after, byte for byte."""
    memhold = python_with("3.11", wheel=wheel, name="stranger").with_name("memhold")
    more = ("--dangerously-bypass-hook-trust",) if name == "codex" else ()
    agent = Agent(name=name, node=node, home=tmp_path, provider=provider, more=more)
    agent.settle_in()
    provider.say(lambda _: Reply(text="All right."))
    agent.ask("Hello.")  # what a client writes at its first start is its own
    if name == "claude-code":
        (tmp_path / ".claude" / "settings.json").write_text('{"theme": "dark", "hooks": {"Stop": []}}')
    before = settings_of(agent)
    env = agent.environment()
    for words in (["install", name, "--user", "alice"], ["install", name, "--user", "alice"], ["status"]):
        done = run([memhold, "agent", *words], seconds=120, env=env)
        assert done.code == 0, done.err
    db = tmp_path / ".local" / "share" / "memhold" / "memory.db"
    try:
        agent.ask("Our deploy codeword is pomelo.")
        agent.ready(db)
        agent.ask_until("Let us go on.", "pomelo", "<memhold-recall")
        done = run([memhold, "agent", "uninstall", name], seconds=60, env=env)
        assert "no tools, no hooks" in done.out, done.err
    finally:
        agent.rest(db)
    after = settings_of(agent)
    assert after.keys() == before.keys()
    assert all(same_but_for_the_clients_own(before[path], after[path]) for path in before), (before, after)
    assert not [*tmp_path.rglob("*before-memhold*")]
    said = run([memhold, "recall", "codeword", "--user", "alice"], seconds=60, env=env)
    assert "pomelo" in said.out


def same_but_for_the_clients_own(before: bytes, after: bytes) -> bool:
    """Byte for byte; where the client itself writes into the file (Claude Code counts there), nothing of ours."""
    if before == after:
        return True
    one, two = json.loads(before), json.loads(after)
    return b"memhold" not in after and one.keys() <= two.keys() and one.get("mcpServers") == two.get("mcpServers")


@pytest.mark.bound(600)
def test_codex_has_its_window_kept_before_it_compacts_it_and_is_told_it_anew(
    node: Node, provider: ChaosServer, tmp_path: Path
) -> None:
    """A tool's long answer fills the window: Codex compacts it by itself, in the middle of the turn."""
    agent = Agent(name="codex", node=node, home=tmp_path, provider=provider, more=("--dangerously-bypass-hook-trust",))
    agent.settle_in()
    config = tmp_path / ".codex" / "config.toml"
    config.write_text(f"model_auto_compact_token_limit = 24000\nmodel_context_window = 200000\n{config.read_text()}")
    db = tmp_path / "store" / "memory.db"
    words: list[str | Path] = [ROOT / ".venv" / "bin" / "memhold", "agent", "install", "codex"]
    done = run([*words, "--db", str(db), "--user", "alice"], seconds=120, env=agent.environment())
    assert done.code == 0, done.err

    def said(asked: Asked) -> Reply:
        if not asked.offers:
            return Reply(text="SUMMARY of the work")
        if any("SUMMARY" in text for _, text in asked.texts):
            return Reply(text="It is done.")
        long = Call(name="exec_command", arguments={"cmd": "seq 1 30000", "max_output_tokens": 60_000})
        return Reply(text="I look.", calls=(long,), finish="tool")

    provider.say(lambda _: Reply(text="All right."))
    try:
        agent.ask("Let us begin.")  # what answers is running from here on
        agent.ready(db)
        provider.say(said)
        ends, told = time.monotonic() + PATIENCE_SECONDS, ""
        while "pomelo" not in told:  # on a busy machine a hook may be too late
            assert time.monotonic() < ends
            agent.ask("Our deploy codeword is pomelo.")
            told = "".join(re.findall(r"<memhold-recall .*?</memhold-recall>", agent.window(-1), re.DOTALL))
        assert "SUMMARY" in agent.window(-1)
    finally:
        agent.rest(db)
    with Memhold.open(db, worker=False) as mem:
        take_in_now(mem, str(db))
        kept = mem.scope(user="alice").summaries(raw=True).hits
        assert [hit for hit in kept if "pomelo" in hit.text]
