"""The product in a minute: a conversation goes in, the process is killed, nothing is lost, answers stay true."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memhold.cli.options import CommonOptions, command
from memhold.cli.output import clean

if TYPE_CHECKING:
    from memhold.faces.python.open import Memhold
    from memhold.faces.python.sync import SyncScope
    from memhold.values.answers import Hit

__all__ = ["Stage", "demo_command", "run_demo"]

USER = "mina"
_KILLED = -signal.SIGKILL if hasattr(signal, "SIGKILL") else 1
"""What a process returns that was killed; Windows gives it the code 1."""
KILLED_AFTER = 30
"""Acknowledgements after which the importing process is killed; the conversation has more than twice as many."""
NEEDLE = "QX7T2M"
"""What is forgotten in the end: a booking reference that two messages of the conversation hold."""
_WIDTH = 100


@dataclass(slots=True)
class Stage:
    """What the demo says and what it found out; quiet for programs."""

    quiet: bool
    checks: list[dict[str, Any]] = field(default_factory=list)

    def say(self, text: str = "") -> None:
        """A line for people."""
        if not self.quiet:
            click.echo(text)

    def head(self, title: str, why: str) -> None:
        """A step: what is done, and why it matters."""
        self.say()
        self.say(click.style(title, bold=True))
        self.say(f"  {why}")

    def expect(self, what: str, *, holds: bool) -> None:
        """Note whether something that was promised holds."""
        self.checks.append({"what": what, "ok": holds})
        mark = click.style("ok", fg="green") if holds else click.style("FAILED", fg="red")
        self.say(f"  {mark}: {what}")

    @property
    def passed(self) -> bool:
        """Whether everything held."""
        return bool(self.checks) and all(check["ok"] for check in self.checks)


@command("demo", example="memhold demo", resume="Its folder is removed; start it again.")
def demo_command(common: CommonOptions) -> None:
    """See what it does, in a minute.

    On a bundled conversation, in a folder of its own that is removed; no model and no network are needed. Exit code 1
    where anything that is promised does not hold.
    """
    stage = Stage(quiet=common.as_json)
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="memhold-demo-"))
    try:
        run_demo(folder, stage)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    seconds = round(time.monotonic() - began, 1)
    answer = {"ok": stage.passed, "seconds": seconds, "checks": stage.checks}
    done = sum(check["ok"] for check in stage.checks)
    common.show(answer, lambda: click.echo(f"\n{done} of {len(stage.checks)} promises held, in {seconds} s."))
    if not stage.passed:
        raise click.exceptions.Exit(1)


def run_demo(folder: Path, stage: Stage) -> None:
    """The whole story, in a folder that may be thrown away."""
    from memhold.faces.python.open import Memhold

    data = files("memhold").joinpath("data")
    conversation = folder / "conversation.jsonl"
    conversation.write_bytes(data.joinpath("demo_conversation.jsonl").read_bytes())
    rows = [json.loads(line) for line in conversation.read_text(encoding="utf-8").splitlines()]
    questions = json.loads(data.joinpath("demo_questions.json").read_text(encoding="utf-8"))
    facts = json.loads(data.joinpath("demo_facts.json").read_text(encoding="utf-8"))
    db = str(folder / "memory.db")
    acknowledged = _killed_import(db, conversation, stage)
    with Memhold.open(db, worker=False) as mem:
        _nothing_lost(mem, rows, acknowledged, stage)
        _resumed(mem, conversation, rows, stage)
        _sessions_end(mem, rows, stage)
        _facts_told(mem, rows, facts, stage)
        _answers(mem.scope(user=USER), questions, facts, stage)
        _forgotten(mem, stage)


def _killed_import(db: str, conversation: Path, stage: Stage) -> int:
    """Import in a child process and kill it in the middle; returns how many messages it had acknowledged."""
    stage.head(
        "1. A conversation goes in, and the process is killed",
        "Agents die at any moment. Another process imports 5 sessions, message by message, and gets kill -9.",
    )
    child = subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-m", "memhold.cli.demo_child", db, str(conversation), USER],
        stdout=subprocess.PIPE,
        text=True,
    )
    acknowledged = 0
    with child:
        assert child.stdout is not None  # noqa: S101 - PIPE was asked for
        for line in child.stdout:
            acknowledged = int(line)
            if acknowledged == KILLED_AFTER:
                child.kill()
    stage.say(f"  {acknowledged} messages were acknowledged before it died")
    stage.expect("the process died by kill -9, in the middle", holds=child.returncode == _KILLED)
    return acknowledged


def _bodies(mem: Memhold, rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    names = dict.fromkeys(row["session"] for row in rows)
    return {name: [m.body for m in mem.scope(user=USER, session=name).messages()] for name in names}


def _as_given(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    sessions: dict[str, list[Any]] = {}
    for row in rows:
        body = {name: value for name, value in row.items() if name not in {"session", "event_time"}}
        sessions.setdefault(row["session"], []).append(body)
    return sessions


def _nothing_lost(mem: Memhold, rows: Sequence[Mapping[str, Any]], acknowledged: int, stage: Stage) -> None:
    stage.head("2. The store is opened again", "What was acknowledged must be there, whole, and nothing half-written.")
    held = _bodies(mem, rows)
    count = sum(map(len, held.values()))
    given = _as_given(rows)
    stage.say(f"  {count} of {len(rows)} messages are there")
    stage.expect(f"all {acknowledged} acknowledged messages are there", holds=acknowledged <= count < len(rows))
    stage.expect(
        "each is equal to what was given, in order",
        holds=all(bodies == given[name][: len(bodies)] for name, bodies in held.items()),
    )
    stage.expect("the doctor finds nothing wrong", holds=not mem.admin.doctor())


def _resumed(mem: Memhold, conversation: Path, rows: Sequence[Mapping[str, Any]], stage: Stage) -> None:
    stage.head("3. The import is run again", "It must go on where it was: a message twice is as wrong as none.")
    scope = mem.scope(user=USER)
    before = scope.status().messages
    again = scope.import_file(conversation)
    stage.say(f"  {again.added} new, {again.read - again.added} already there")
    stage.expect("it added exactly what was missing", holds=again.added == len(rows) - before)
    stage.expect("the journal is equal to the conversation", holds=_bodies(mem, rows) == _as_given(rows))
    stage.expect("a third run adds nothing", holds=scope.import_file(conversation).added == 0)


def _sessions_end(mem: Memhold, rows: Sequence[Mapping[str, Any]], stage: Stage) -> None:
    stage.head(
        "4. The sessions end, with no model to summarise them",
        "Where a model is down, others drop the window. Here it is kept whole and searchable, marked RAW.",
    )
    names = dict.fromkeys(row["session"] for row in rows)
    kept = sum(len(mem.scope(user=USER, session=name).end_session().ids) for name in names)
    raw = mem.scope(user=USER).list(kinds=["raw"]).items
    sources = {source for memory in raw for source in memory.sources}
    stage.say(f"  {kept} windows were kept")
    stage.expect(f"together they hold all {len(rows)} messages", holds=len(sources) == len(rows))


def _facts_told(
    mem: Memhold, rows: Sequence[Mapping[str, Any]], facts: Sequence[Mapping[str, Any]], stage: Stage
) -> None:
    stage.head(
        "5. What she told is remembered as facts",
        "As an agent does with its memory tool. A newer value supersedes the one before; neither is lost.",
    )
    from memhold.values.jsonable import parse_time

    for fact in facts:
        row = rows[fact["message"]]
        scope = mem.scope(user=USER, session=row["session"])
        at = parse_time(row["event_time"])
        scope.remember(attribute=fact["attribute"], value=fact["value"], event_time=at)
    told = mem.scope(user=USER).list(kinds=["fact"], states=None).items
    for memory in sorted(told, key=lambda memory: (memory.attribute or "", memory.valid_from)):
        until = f" until {memory.valid_to:%Y-%m-%d}" if memory.valid_to else ""
        stage.say(f"  {memory.attribute}: {memory.value} (from {memory.valid_from:%Y-%m-%d}{until}, {memory.state})")
    active = {memory.attribute: memory.value for memory in told if memory.state == "active"}
    newest = {fact["attribute"]: fact["value"] for fact in facts}
    stage.expect("only the newest value of each holds", holds=active == newest)


def _answers(
    scope: SyncScope, questions: Sequence[Mapping[str, Any]], facts: Sequence[Mapping[str, Any]], stage: Stage
) -> None:
    stage.head(
        "6. Questions are answered from memory, by words alone",
        "In two languages, and never with a fact that was replaced.",
    )
    for question in questions:
        hits = scope.recall(question["question"], limit=5).hits
        expected = str(question["expect"])
        answer = next((hit for hit in hits if expected.casefold() in hit.text.casefold()), None)
        stage.say(f"  {question['question']}")
        stage.say(f"    -> {_quoted(answer, expected) if answer else '(not found)'}")
        replaced = _replaced(scope, question, facts)
        if replaced:
            stage.say(f"       superseded: {'; '.join(replaced)}")
        stale = [hit for hit in hits if hit.kind == "fact" and hit.state != "active"]
        stage.expect(f"found {expected!r}, and no replaced fact beside it", holds=answer is not None and not stale)


def _quoted(hit: Hit, expected: str) -> str:
    """The part of a hit's text that answers."""
    text = clean(hit.text)
    at = max(0, text.casefold().find(clean(expected).casefold()) - _WIDTH // 2)
    part = text[at : at + _WIDTH]
    return f"{'…' if at else ''}{part}{'…' if at + _WIDTH < len(text) else ''} ({hit.kind})"


def _replaced(scope: SyncScope, question: Mapping[str, Any], facts: Sequence[Mapping[str, Any]]) -> list[str]:
    """The values that were replaced, of the attributes that this question is about."""
    about = {fact["attribute"] for fact in facts if fact["message"] in question["answers"]}
    if not about:
        return []
    past = scope.list(kinds=["fact"], states=["superseded"]).items
    return [
        f"{memory.value} (until {memory.valid_to:%Y-%m-%d})"
        for memory in past
        if memory.attribute in about and memory.valid_to is not None
    ]


def _forgotten(mem: Memhold, stage: Stage) -> None:
    stage.head(
        f"7. Something is forgotten: the booking reference {NEEDLE}",
        "Forgetting is real when no byte is left: not in rows, indexes, the log, or what was derived from it.",
    )
    scope = mem.scope(user=USER)
    stage.say(f"  before: the files hold it {sum(scope.residue(NEEDLE).found.values())} times")
    going = [hit for hit in scope.recall(NEEDLE, kinds=["message"], limit=100).hits if NEEDLE in hit.text]
    for hit in going:
        scope.forget(hit.id)
    settled = mem.settle(30)
    left = scope.residue(NEEDLE)
    stage.say(f"  {len(going)} messages went, with the window that had held them; that is kept again without them")
    stage.expect(
        f"a scan of all {left.files} files finds no byte of it", holds=bool(going) and settled and not left.found
    )
    found = scope.recall(NEEDLE, limit=100).hits
    stage.expect("no search finds it", holds=not any(NEEDLE in hit.text for hit in found))
    held = scope.recall("blood type", limit=5).hits
    stage.expect("what was said around it is still there", holds=any("blood type is A" in hit.text for hit in held))
    stage.expect("the doctor finds nothing wrong", holds=not mem.admin.doctor())
