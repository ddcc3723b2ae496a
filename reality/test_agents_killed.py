"""The coding agents themselves, with something killed at a random moment of each session, and with memory in trouble.

`make reality` kills in 3 sessions of each client, `make proof` in 60; the seeds are printed.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

import pytest

from memhold import Memhold
from memhold.faces.agents.take_in import take_in_now
from memhold.testing.chaos import Asked, ChaosServer, Reply
from reality.agents import AGENTS, PATIENCE_SECONDS, Agent, texts_in
from reality.outside import ROOT, Done, Node, run

MEMHOLD = ROOT / ".venv" / "bin" / "memhold"
WORDS = ("client", "hook", "Memhold")
"""What is killed, in turn."""
PROJECT = "project/github.com/acme/shop"
FENCED = re.compile(r"<memhold-recall [^>]*>.*?</memhold-recall>", re.DOTALL)


def set_up(name: str, node: Node, home: Path, provider: ChaosServer, **started: str) -> Agent:
    """An agent in a repository, as `memhold agent install` leaves it; the store is in the home folder."""
    more = ("--dangerously-bypass-hook-trust",) if name == "codex" else ()
    agent = Agent(name=name, node=node, home=home, provider=provider, more=more, started=started)
    agent.settle_in()
    if not (agent.project / ".git").exists():
        subprocess.run(["git", "init", "-q"], cwd=agent.project, check=True)
        subprocess.run(["git", "remote", "add", "origin", "git@github.com:acme/shop"], cwd=agent.project, check=True)
    words: list[str | Path] = [MEMHOLD, "agent", "install", name, "--db", store_of(agent), "--user", "alice"]
    done = run(words, seconds=120, env=agent.environment())
    assert done.code == 0, done.err
    return agent


def store_of(agent: Agent) -> Path:
    return agent.home / "store" / "memory.db"


def answered(asked: Asked) -> Reply:
    """The number of the turn that is asked comes back, as a word of its own."""
    said = FENCED.sub("", "\n".join(text for role, text in asked.texts if role == "user"))
    number = said.rpartition("turn-")[2].partition(".")[0] if "turn-" in said else ""
    return Reply(text=f"done-{number}.") if number else Reply(text="A title")


def processes(agent: Agent, of: str) -> list[int]:
    """The running processes of this agent's Memhold: hooks, or whatever keeps the store open."""
    marks = ("faces.agents.hook",) if of == "hook" else ("faces.agents.answering", "memhold\0mcp")
    found = []
    for one in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            line = one.read_text(errors="replace")
            if str(store_of(agent)) in line and any(mark in line for mark in marks):
                found.append(int(one.parent.name))
    return found


def disturbed(agent: Agent, number: int, chance: random.Random, seconds: float) -> tuple[str, Done]:
    """One session in which something is killed; a session that lasts long enough meets it."""
    what = WORDS[number % len(WORDS)]
    moment = chance.uniform(0.0, seconds)
    prompt = f"This is turn-{number}. Go on."
    if what == "client":
        return f"client after {moment:.2f} s", agent.begin(prompt, seconds=max(0.1, moment))
    over = threading.Event()

    def kill() -> None:
        over.wait(moment)
        # A hook lives for a twentieth of a second: the next one that comes is meant.
        while not over.is_set() and not (found := processes(agent, what)):
            over.wait(0.002)
        for one in found if not over.is_set() else ():
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        return f"{what} after {moment:.2f} s", agent.begin(prompt, seconds=180)
    finally:
        over.set()
        killer.join()


def completed(agent: Agent) -> set[int]:
    """The turns whose answer stands in what the agent itself has kept, read without a line of Memhold's."""
    said = []
    if agent.name == "opencode":
        database = agent.home / ".local" / "share" / "opencode" / "opencode.db"
        if database.exists():
            with closing(sqlite3.connect(database)) as connection:
                found = "SELECT part.data FROM part JOIN message ON message.id = message_id WHERE message.data LIKE ?"
                said = [text for (text,) in connection.execute(found, ('%"completed"%',))]
    else:
        below = {"claude-code": ".claude/projects/*/*.jsonl", "codex": ".codex/sessions/**/*.jsonl"}[agent.name]
        lines = [line for path in agent.home.glob(below) for line in path.read_text().splitlines()]
        said = [line for line in lines if '"assistant"' in line and whole(line)]
    return {int(text.rpartition("done-")[2].partition(".")[0]) for text in said if "done-" in text}


def whole(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


@pytest.mark.proof
@pytest.mark.bound(3_600)
@pytest.mark.parametrize("name", AGENTS)
def test_every_completed_turn_is_in_the_journal_once_whatever_is_killed(
    name: str, node: Node, provider: ChaosServer, tmp_path: Path, runs: Callable[[int, int], range]
) -> None:
    agent = set_up(name, node, tmp_path, provider)
    provider.say(answered)
    sessions = runs(3, 60)
    began = time.monotonic()
    agent.ask("This is turn-0. Go on.")
    seconds = time.monotonic() - began
    seed = random.SystemRandom().randrange(2**32)
    print(f"\n{name}: seed {seed}, a session lasts {seconds:.1f} s")
    chance = random.Random(seed)
    try:
        for number in (one + 1 for one in sessions):
            what, done = disturbed(agent, number, chance, seconds)
            print(f"  turn {number}: killed {what}; the client ended with {done.code}")
    finally:
        agent.rest(store_of(agent))
    turns = completed(agent)
    print(f"  completed: {sorted(turns)}")
    assert 0 in turns
    with Memhold.open(store_of(agent), worker=False) as mem:
        take_in_now(mem, str(store_of(agent)), seconds=10)
        scope = mem.scope(namespace=PROJECT, user="alice")
        said: list[str] = []
        page = scope.recall("", kinds=("message",), limit=100)
        said += [hit.text for hit in page.hits]
        while page.next_offset is not None:
            page = scope.recall("", kinds=("message",), limit=100, offset=page.next_offset)
            said += [hit.text for hit in page.hits]
        for number in range(len(sessions) + 1):
            prompts = sum(f"This is turn-{number}." in text for text in said)
            answers = sum(f"done-{number}." in text for text in said)
            wanted = 1 if number in turns else None
            assert prompts == (wanted or min(prompts, 1)), (seed, number, prompts)
            assert answers == (wanted or 0), (seed, number, answers)
        assert take_in_now(mem, str(store_of(agent))) == 0
        assert mem.admin.doctor() == ()


@contextmanager
def locked(agent: Agent) -> Iterator[None]:
    """Another program holds the store's file, and lets nobody in."""
    db = store_of(agent)
    with Memhold.open(db, worker=False):
        pass
    with closing(sqlite3.connect(db, isolation_level=None)) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        yield


@contextmanager
def missing(agent: Agent) -> Iterator[None]:
    """Where the store should be, there is a file in place of its folder."""
    store_of(agent).parent.rmdir()
    store_of(agent).parent.write_text("no folder")
    yield


def mounted(folder: Path) -> bool:
    """Whether a small disk stands in this folder now: not every account may."""
    return run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], seconds=10).code == 0


@contextmanager
def full(agent: Agent) -> Iterator[None]:
    """The disk of the store has no byte left."""
    folder = store_of(agent).parent
    assert mounted(folder)
    try:
        with suppress(OSError), (folder / "filler").open("wb") as file:
            while True:
                file.write(bytes(4096))
                file.flush()
        yield
    finally:
        run(["umount", "-l", folder], seconds=10)


@contextmanager
def hanging(agent: Agent) -> Iterator[None]:
    """The model that consolidates never answers: it is set where the agent is started."""
    assert agent.started["MEMHOLD_CONSOLIDATION"]
    yield


TROUBLES = {"locked": locked, "missing": missing, "full": full, "hanging": hanging}
ROUNDS = int(os.environ.get("MEMHOLD_REALITY_ROUNDS", "2"))
"""Sessions of each kind; more of them make steadier medians."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a session of one turn took, of the client and all that it waits for, and how often memory was said off."""

    wall: float
    processor: float
    told: int


def turn(agent: Agent, number: int) -> Turn:
    """One session, which ends well and is answered."""
    began, before = time.monotonic(), getrusage(RUSAGE_CHILDREN)
    done = agent.begin(f"This is turn-{number}. Go on.", seconds=120)
    wall, after = time.monotonic() - began, getrusage(RUSAGE_CHILDREN)
    assert (done.code, f"done-{number}." in done.out) == (0, True), (agent.home.name, done.out, done.err)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Turn(wall, processor, times_told(agent, done))


def side_by_side(name: str, turns: Mapping[str, Sequence[Turn]]) -> str:
    """The medians, each with its ratio to the same round's session with no hooks, as rows of a table."""
    bare = turns["without Memhold"]
    rows = []
    for kind, those in turns.items():
        figures = [
            f"{median(getattr(one, of) for one in those):.2f} s ({median(ratios):.2f})"
            for of in ("processor", "wall")
            for ratios in [[getattr(one, of) / getattr(other, of) for one, other in zip(those, bare, strict=True)]]
        ]
        rows.append(f"| {name}, {kind} | {' | '.join(figures)} |")
    return "\n".join(rows)


@pytest.mark.bound(1_800)
@pytest.mark.parametrize("name", AGENTS)
def test_memory_in_trouble_holds_no_client_up_and_is_told_of_once(
    name: str, node: Node, provider: ChaosServer, tmp_path: Path
) -> None:
    """Sessions by turns, and their times printed beside those without Memhold, for a person to judge."""
    provider.say(answered)
    with ExitStack() as over:
        agents = well_and_in_trouble(name, node, provider, tmp_path, over)
        turns: dict[str, list[Turn]] = {kind: [] for kind in agents}
        for number in range(1 if name == "opencode" else ROUNDS):  # its sessions take several times as long
            for kind, agent in agents.items():
                turns[kind].append(turn(agent, number))
        print("\n" + side_by_side(name, turns))
        told = {kind: [one.told for one in those] for kind, those in turns.items()}
        print(f"{name}: memory is off was said {told}")
        # That a store is held is known after a while alone: sessions that are shorter come before that.
        ends = time.monotonic() + PATIENCE_SECONDS
        while name != "codex" and not any(told["locked"]) and time.monotonic() < ends:
            told["locked"].append(turn(agents["locked"], len(told["locked"])).told)
    assert max(most for those in told.values() for most in those) <= 1, told
    if name != "codex":  # Codex shows it in its window, and keeps it nowhere
        assert {one for kind in ("missing", "full") for one in told.get(kind, [])} == {1}, told
        assert any(told["locked"]), told


def well_and_in_trouble(
    name: str, node: Node, provider: ChaosServer, folder: Path, over: ExitStack
) -> dict[str, Agent]:
    """One without Memhold, one with it and a model that answers, one in each trouble; each with a home of its own."""
    bare = Agent(name=name, node=node, home=folder / "without Memhold", provider=provider)
    bare.settle_in()
    answering = over.enter_context(ChaosServer())
    well = set_up(name, node, folder / "well", provider, MEMHOLD_CONSOLIDATION=f"{answering.url}/v1#answering")
    over.callback(well.rest, store_of(well))
    agents = {"without Memhold": bare, "with Memhold": well}
    for trouble, happens in TROUBLES.items():
        if trouble == "full" and not disks_in(folder):
            print(f"{name}, full: this account can make no small disk")
            continue
        model = over.enter_context(ChaosServer())
        model.always("hang")
        agent = set_up(name, node, folder / trouble, provider, MEMHOLD_CONSOLIDATION=f"{model.url}/v1#hanging")
        agent.rest(store_of(agent))
        shutil.rmtree(store_of(agent).parent, ignore_errors=True)
        store_of(agent).parent.mkdir()
        over.enter_context(happens(agent))
        over.callback(agent.rest, store_of(agent))
        agents[trouble] = agent
    return agents


class Running:
    """A session of Claude Code that goes on: one process, a turn for each line that it is told."""

    def __init__(self, agent: Agent) -> None:
        program = agent.node.modules / ".bin" / "claude"
        shape = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        self._process = subprocess.Popen(
            [str(program), "-p", *shape, "--model", "claude-sonnet-4-5"],
            cwd=agent.project, env=agent.environment(), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def turn(self, number: int) -> Turn:
        """One more turn; the processor time is the client's and that of all it has waited for."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        began, before = time.monotonic(), self._processor()
        said = {"type": "user", "message": {"role": "user", "content": f"This is turn-{number}. Go on."}}
        self._process.stdin.write(json.dumps(said) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if (told := json.loads(line)).get("type") == "result":
                assert f"done-{number}." in told["result"]
                return Turn(time.monotonic() - began, self._processor() - before, 0)
        raise AssertionError("the session ended")

    def _processor(self) -> float:
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(") ")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """Let it end by itself, and kill it where it does not."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(20)
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()


@pytest.mark.bound(900)
def test_a_turn_of_a_session_that_runs_is_answered_with_memory_in_trouble(
    node: Node, provider: ChaosServer, tmp_path: Path
) -> None:
    """By turns of all sessions, the first of each not counted; the times are printed, for a person to judge."""
    provider.say(answered)
    with ExitStack() as over:
        agents = well_and_in_trouble("claude-code", node, provider, tmp_path, over)
        sessions = {kind: Running(agent) for kind, agent in agents.items()}
        for session in sessions.values():
            over.callback(session.end)
        turns: dict[str, list[Turn]] = {kind: [] for kind in sessions}
        for number in range(ROUNDS + 1):
            for kind, session in sessions.items():
                turns[kind].append(session.turn(number))
        print("\n" + side_by_side("claude-code, a turn", {kind: those[1:] for kind, those in turns.items()}))


def disks_in(folder: Path) -> bool:
    """Whether this account can make a small disk."""
    trial = folder / "trial"
    trial.mkdir()
    made = mounted(trial)
    run(["umount", "-l", trial], seconds=10)
    return made


def times_told(agent: Agent, done: Done) -> int:
    """How often a session said that memory is off, by what its client has shown or kept."""
    if agent.name == "claude-code":
        return agent.transcript().read_text().count('"hook_system_message","content":"Memhold: memory is off')
    return done.err.count("Memhold: memory is off")


@pytest.mark.bound(900)
@pytest.mark.parametrize("name", AGENTS)
def test_what_is_forgotten_is_in_no_journal_no_fact_and_no_later_context(
    name: str, node: Node, provider: ChaosServer, tmp_path: Path
) -> None:
    agent = set_up(name, node, tmp_path, provider)
    provider.say(answered)
    options = ["--db", str(store_of(agent)), "--user", "alice", "--namespace", PROJECT]
    env = agent.environment()
    try:
        agent.ask("This is turn-1. My favorite fruit is pomelo. Always name pomelo first.")
        run([MEMHOLD, "settle", *options[:4]], seconds=120, env=env)
        agent.ask_until("This is turn-2. Go on.", "pomelo")
        while ids := found(options, env):
            # With each goes what was learnt from it, so what is left is asked again.
            gone = run([MEMHOLD, "forget", ids[0], "--yes", *options], seconds=120, env=env)
            assert gone.code == 0, gone.err
        before = len(agent.requests())
        agent.ask("This is turn-4. Go on. What do I like?")
        agent.ask("This is turn-5. Go on.")
        later = [text for body in agent.requests()[before:] for text in texts_in(body)]
        assert not [text for text in later if "pomelo" in text]
    finally:
        agent.rest(store_of(agent))
    # The agent's own transcript still holds it, and is read again.
    left = run([MEMHOLD, "residue", "pomelo", "--json", *options], seconds=120, env=env)
    assert json.loads(left.out)["found"] == {}
    assert found(options, env) == []


def found(options: list[str], env: dict[str, str]) -> list[str]:
    """The ids of what a recall of the word finds that holds it."""
    done = run([MEMHOLD, "recall", "pomelo", "--limit", "50", "--json", *options], seconds=120, env=env)
    hits = json.loads(done.out)["hits"]
    return [hit["id"] for hit in hits if "pomelo" in hit["text"].lower()]


@pytest.mark.bound(900)
def test_three_agents_at_once_in_one_repository_share_one_memory(
    node: Node, provider: ChaosServer, tmp_path: Path
) -> None:
    provider.say(answered)
    agents = [set_up(name, node, tmp_path, provider) for name in AGENTS]
    ended: dict[str, Done] = {}

    def session(agent: Agent, number: int) -> None:
        ended[agent.name] = agent.begin(f"This is turn-{number}. Go on.", seconds=240)

    threads = [threading.Thread(target=session, args=(one, place)) for place, one in enumerate(agents)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {name: done.code for name, done in ended.items()} == dict.fromkeys(AGENTS, 0)
        run(
            [MEMHOLD, "settle", "--db", store_of(agents[0]), "--user", "alice"],
            seconds=120,
            env=agents[0].environment(),
        )
        agents[0].ask_until("This is turn-7. Go on.", *(f"This is turn-{number}." for number in range(len(AGENTS))))
    finally:
        agents[0].rest(store_of(agents[0]))
    with Memhold.open(store_of(agents[0]), worker=False) as mem:
        take_in_now(mem, str(store_of(agents[0])), seconds=10)
        hits = mem.scope(namespace=PROJECT, user="alice").recall("", kinds=("message",), limit=100).hits
        said = [hit.text for hit in hits]
        for number in range(len(AGENTS)):
            assert sum(f"This is turn-{number}." in text for text in said) == 1
            assert sum(f"done-{number}." in text for text in said) == 1
