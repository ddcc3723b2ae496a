"""A real model on real windows: how many replies are taken, what of them stands in the lines, seconds and tokens.

The model is named in one line, as for `consolidation`. Each reply is kept in a folder under the request it answers, so
that a run that was interrupted goes on, and a later one replays it; `keep` is a folder of yours. Peers (mem0, LangMem)
are told the same windows with their own prompts, each by a Python of its own that has it installed.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.measure import Row, log
from benchmarks.real_answers import BUDGET, Sheet, filled, holds, ranked
from benchmarks.real_relay import Relay
from benchmarks.worlds import Question, Ranking, World, baselines, read_worlds
from memhold import Memhold
from memhold.fidelity.nearest import nearest
from memhold.fidelity.values import Line, Statement
from memhold.fidelity.weigh import weigh
from memhold.ports.models import ChatModel, ChatReply, ChatRequest, ToolCall, Usage
from memhold.providers.catalog import load_catalog
from memhold.providers.chat import chat_model
from memhold.providers.chat.bare import BareChat
from memhold.providers.embedding.builtin.model import BuiltinEmbedding
from memhold.providers.entry import Asked
from memhold.providers.naming import entry_in_line
from memhold.providers.stepwise import Stepwise
from memhold.values.errors import ModelError
from memhold.wiring.models import embedding_of
from memhold.wiring.system import SystemClock

__all__ = ["Recorded", "Window", "demo_windows", "everyday_windows", "holds", "run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """One session of one user, and the values that its gold statements hold, where somebody wrote them down."""

    user: str
    session: str
    messages: tuple[Mapping[str, Any], ...]
    golds: tuple[str, ...] = ()
    """What questions about its messages are answered with, as somebody wrote it down."""


@dataclass(slots=True)
class Recorded:
    """A `ChatModel` that asks another once a request and keeps what it answered, with the seconds it took."""

    model: BareChat | None
    keep: Path
    bare: bool = False
    """Give each reply as text with its arguments in it, as a server does that takes neither tools nor schemas."""
    seconds: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    read: list[int] = field(default_factory=list)
    written: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name of the model that it asks."""
        return self.model.name if self.model is not None else "recorded"

    async def chat(self, request: ChatRequest) -> ChatReply:
        """The recorded reply, else that of the model.

        Raises:
            LookupError: nothing was recorded, and there is no model.
            ModelError: what the model answered, now or when it was recorded, is no answer.
        """
        shown = json.dumps([request.system, [turn.text for turn in request.turns], request.max_tokens])
        path = self.keep / f"{blake2b(shown.encode(), digest_size=12).hexdigest()}.json"
        if not path.exists():
            if self.model is None:
                raise LookupError(path.name)
            begun = perf_counter()
            try:
                made = _plain(await self.model.chat(request))
            except ModelError as error:
                if error.cls not in {"next", "resample"}:
                    raise  # nobody answered: a later run asks again
                made = {"failed": {"cls": error.cls, "rule": error.rule, "reason": error.reason}}
            finally:
                await self.model.close()  # a later call opens again; a run has no end of its own to close at
            path.write_text(json.dumps(made | {"seconds": perf_counter() - begun}), encoding="utf-8")
        held = json.loads(path.read_text(encoding="utf-8"))
        self.seconds.append(held.pop("seconds"))
        if "failed" in held:
            raise ModelError("the model's answer is none", model=self.name, **held["failed"])
        into, out = (count or 0 for count in held["usage"])
        self.tokens.append(into + out)
        self.read.append(into)
        self.written.append(out)
        reply = _reply(self.name, held)
        if self.bare and reply.tool_calls:
            told = json.dumps(reply.tool_calls[0].arguments, ensure_ascii=False)
            return replace(reply, text=f"Here is what I found:\n\n```json\n{told}\n```", tool_calls=(), finish="stop")
        return reply


def _plain(reply: ChatReply) -> dict[str, Any]:
    calls = [[call.id, call.name, call.arguments] for call in reply.tool_calls]
    usage = [reply.usage.input_tokens, reply.usage.output_tokens]
    return {"text": reply.text, "calls": calls, "finish": reply.finish, "usage": usage}


def _reply(model: str, held: Mapping[str, Any]) -> ChatReply:
    calls = tuple(ToolCall(id=one, name=name, arguments=given) for one, name, given in held["calls"])
    usage = Usage(input_tokens=held["usage"][0], output_tokens=held["usage"][1])
    return ChatReply(model=model, text=held["text"], tool_calls=calls, finish=held["finish"], usage=usage)


def demo_windows() -> list[Window]:
    """The five sessions of the bundled conversation, each with what the bundled questions about it expect."""
    data = files("memhold").joinpath("data")
    rows = [json.loads(line) for line in data.joinpath("demo_conversation.jsonl").read_text("utf-8").splitlines()]
    questions = json.loads(data.joinpath("demo_questions.json").read_text("utf-8"))
    named = dict.fromkeys(row["session"] for row in rows)
    return [
        Window(
            user="mina",
            session=name,
            messages=tuple(_message(row) for row in rows if row["session"] == name),
            golds=tuple(one["expect"] for one in questions if {rows[at]["session"] for at in one["answers"]} == {name}),
        )
        for name in named
    ]


def everyday_windows(path: Path, most: int) -> list[Window]:
    """The first sessions of each world in turn: `[{name, sessions: [{id, messages: [{role, content, time}]}]}]`."""
    worlds = json.loads(path.read_text(encoding="utf-8"))
    found = [
        Window(
            user=world["name"],
            session=session["id"],
            messages=tuple(_message(one | {"event_time": one["time"]}) for one in session["messages"]),
            golds=_golds(world, {one["id"] for one in session["messages"]}),
        )
        for place in range(max(len(world["sessions"]) for world in worlds))
        for world in worlds
        for session in world["sessions"][place : place + 1]
    ]
    return found[:most]


def _golds(world: Mapping[str, Any], ids: set[str]) -> tuple[str, ...]:
    """The answers of a world's questions that stand in these messages alone."""
    asked = [one for one in world.get("questions", ()) if one.get("answer") and one.get("gold")]
    return tuple(one["answer"] for one in asked if set(one["gold"]) <= ids)


def _message(row: Mapping[str, Any]) -> dict[str, Any]:
    body = {name: row[name] for name in ("role", "content", "tool_calls", "tool_call_id", "name") if name in row}
    return body | {"event_time": datetime.fromisoformat(row["event_time"])}


@dataclass(slots=True, kw_only=True)
class _Seen:
    windows: int = 0
    taken: int = 0
    said: int = 0
    doubtful: int = 0
    unfounded: int = 0
    unreadable: int = 0
    superseded: int = 0
    golds: int = 0
    held: int = 0
    instructed: int = 0


def run(
    line: str,
    keep: Path,
    windows: Sequence[Window],
    *,
    asked: Asked = "whole",
    bare: bool = False,
    data: Path | None = None,
    peers: Mapping[str, Path] | None = None,
    questions: int = 0,
) -> Iterator[Row]:
    """One row a figure; what is measured is told while it is. `asked` is how the model is asked about a window.

    `peers`: by name (mem0, langmem) a Python that has it installed. `questions`: at most so many of `data` about these
    windows are answered by the model from what each system holds, and from the messages alone. `bare`: the same replies
    as text, without a call.
    """
    keep.mkdir(parents=True, exist_ok=True)
    entry = replace(entry_in_line(line), local=True, timeout=3_000.0)
    recorded = Recorded(chat_model(entry, keys=lambda _: None, clock=SystemClock()), keep, bare=bare)
    model: ChatModel = Stepwise(recorded) if asked == "turns" else recorded
    worlds = _within(data, windows) if data is not None and questions else []
    posed = [(world, question) for world in worlds for question in world.questions][:questions]
    seen, sheet = _Seen(), Sheet()
    with (
        Memhold.open(
            "memory://",
            worker=False,
            consolidation=model,
            compaction="none" if asked == "turns" else "",  # as where the model is named: small ones judge no notes
            chain_seconds=6_000.0,
        ) as mem,
        Relay(entry.base_url, keep / "relayed") as relay,
    ):
        for window in windows:
            seen.windows += 1
            seen.taken += _consolidated(mem, window)
            log.info("%d of %d windows, %d taken", seen.windows, len(windows), seen.taken)
        for user in dict.fromkeys(window.user for window in windows):
            _count(mem, user, seen)
            _hold(mem, user, [gold for window in windows if window.user == user for gold in window.golds], seen)
        yield from _rows(seen, recorded)
        if posed:
            _answer_ours(mem, posed, relay, sheet)
        for name, python in (peers or {}).items():
            yield from _peer(name, python, windows, posed, relay, sheet)
    yield from sheet.rows()


def _within(path: Path, windows: Sequence[Window]) -> list[World]:
    """The worlds of a file with the messages of these windows alone, and the questions that they answer."""
    found = []
    for world in read_worlds(path):
        sessions = {window.session for window in windows if window.user == world.name}
        said = tuple(one for one in world.said if one.session in sessions)
        ids = {one.id for one in said}
        asked = tuple(one for one in world.questions if one.answer and one.gold and {*one.gold, *one.stale} <= ids)
        found.append(replace(world, said=said, questions=asked))
    return found


_FENCE = re.compile(r"</?memhold-recall[^>\n]*>\n?")
"""The edges of recalled text have a tag of their store, which would make every run's request another one."""


def _answer_ours(mem: Memhold, posed: Sequence[tuple[World, Question]], relay: Relay, sheet: Sheet) -> None:
    """Each question from our context, from the newest messages and from what BM25 ranks first."""
    mem.settle(timeout=60)
    ranks = {id(world): asyncio.run(_ranks(world)) for world, _ in posed}
    for world, question in posed:
        scope = mem.scope(user=world.name, session="asking")
        context = scope.context([{"role": "user", "content": question.text}], budget=BUDGET)
        sheet.ask(relay.url, "memhold's context", question, _FENCE.sub("", context.as_text()))
    for name in ("newest", "bm25"):
        for world, question in posed:
            sheet.ask(relay.url, f"messages, {name}", question, ranked(world, ranks[id(world)][name](question)))


async def _ranks(world: World) -> Mapping[str, Ranking]:
    plain = embedding_of("builtin", None, None)
    assert plain is not None
    return await baselines(world, plain)


def _peer(
    name: str,
    python: Path,
    windows: Sequence[Window],
    posed: Sequence[tuple[World, Question]],
    relay: Relay,
    sheet: Sheet,
) -> Iterator[Row]:
    """What a peer makes of the same windows with the same model; it runs in an environment of its own."""
    relay.seconds.clear()
    relay.read.clear()
    relay.written.clear()
    given = {
        "dimension": BuiltinEmbedding().dimension,
        "windows": [{"user": one.user, "messages": _plain_turns(one)} for one in windows],
        "questions": [{"user": world.name, "text": question.text} for world, question in posed],
    }
    script = Path(__file__).with_name("real_peer.py")
    done = subprocess.run(
        [str(python), str(script), name, relay.url],
        input=json.dumps(given),
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        yield Row(name=f"{name}: it did not run", value=f"exit code {done.returncode}; what it said stands above")
        return
    told = json.loads(done.stdout)
    yield from _peer_rows(name, told, windows, relay)
    for (_, question), found in zip(posed, told["found"], strict=True):
        sheet.ask(relay.url, name, question, filled(found))


def _plain_turns(window: Window) -> list[dict[str, str]]:
    """What the user and the assistant say in a window: peers take no calls and no results."""
    said = [one for one in window.messages if one["role"] in {"user", "assistant"} and one.get("content")]
    return [{"role": one["role"], "content": str(one["content"])} for one in said]


def _peer_rows(name: str, told: Mapping[str, Any], windows: Sequence[Window], relay: Relay) -> Iterator[Row]:
    memories: Mapping[str, Sequence[str]] = told["memories"]
    unsaid = held = golds = 0
    for user, texts in memories.items():
        own = [window for window in windows if window.user == user]
        lines = [
            Line(text=str(one.get("content") or ""), at=one["event_time"], written_by=one["role"])
            for window in own
            for one in window.messages
        ]
        unsaid += sum(_doubted(text, lines) for text in texts)
        for gold in (gold for window in own for gold in window.golds):
            golds += 1
            held += any(holds(text, gold) for text in texts)
    count = sum(map(len, memories.values()))
    taken = sum(one > 0 for one in told["taken"])
    yield Row(name=f"{name}: windows of which it keeps something", value=f"{taken} of {len(windows)}")
    yield Row(name=f"{name}: memories, of which doubtful", value=f"{count}, {unsaid}")
    if golds:
        yield Row(name=f"{name}: answers held", value=f"{held} of {golds}", ratio=held / golds)
    if relay.seconds:
        tokens = sum(relay.read) + sum(relay.written)
        yield Row(name=f"{name}: seconds a window, mean", value=f"{sum(relay.seconds) / len(windows):.0f}")
        yield Row(name=f"{name}: tokens a window, mean", value=f"{tokens / len(windows):.0f}")
        for priced, usd in _prices(relay.read, relay.written):
            yield Row(name=f"{name}: USD a window at the prices of {priced}", value=f"{usd / len(windows):.5f}")


def _doubted(text: str, lines: Sequence[Line]) -> bool:
    """Whether what a peer keeps says more than the sentence that is nearest to it, or another: as ours are weighed."""
    quote = nearest(text, "\n".join(line.text for line in lines))
    return weigh(Statement(text=text), (quote,), lines, supplied=True).standing != "stated"


def _consolidated(mem: Memhold, window: Window) -> bool:
    scope = mem.scope(user=window.user, session=window.session)
    scope.add(list(window.messages))
    return bool(scope.consolidate().summaries)


def _count(mem: Memhold, user: str, seen: _Seen) -> None:
    scope = mem.scope(user=user)
    made = [one for one in scope.list(kinds=["fact", "note"], limit=1_000).items if one.origin == "model"]
    doubtful = sum(one.standing == "doubtful" for one in made)
    seen.superseded += len(scope.list(kinds=["fact"], states=["superseded"], limit=1_000).items)
    seen.doubtful, seen.said = seen.doubtful + doubtful, seen.said + len(made) - doubtful
    for change in scope.changes(limit=1_000).items:
        seen.unfounded += len(change.detail.get("ungrounded", ()))
        seen.unreadable += len(change.detail.get("unreadable", ()))


def _hold(mem: Memhold, user: str, golds: Iterable[str], seen: _Seen) -> None:
    """Count the answers that some fact, note or entry of the user holds by itself, or a standing instruction of theirs.

    The latter are kept word for word when they are said, whatever a model makes of them, and are a figure of their own.
    """
    scope = mem.scope(user=user)
    texts = [one.text for one in scope.list(kinds=["fact", "note", "summary"], limit=1_000).items]
    instructions = [one.text for one in scope.list(kinds=["instruction"], limit=1_000).items]
    for gold in golds:
        held = any(holds(text, gold) for text in texts)
        seen.golds += 1
        seen.held += held
        seen.instructed += held or any(holds(text, gold) for text in instructions)


def _rows(seen: _Seen, model: Recorded) -> Iterable[Row]:
    share = seen.taken / seen.windows if seen.windows else 0.0
    yield Row(name="windows taken", value=f"{seen.taken} of {seen.windows}", ratio=share, bar=13 / 15, at_most=False)
    yield Row(name="facts and notes stated", value=str(seen.said))
    yield Row(name="doubtful", value=str(seen.doubtful))
    yield Row(name="superseded facts, to be looked at", value=str(seen.superseded))
    if seen.golds:
        share = seen.held / seen.golds
        yield Row(name="answers held", value=f"{seen.held} of {seen.golds}", ratio=share, bar=0.6, at_most=False)
        share = seen.instructed / seen.golds
        yield Row(
            name="answers held, with standing instructions", value=f"{seen.instructed} of {seen.golds}", ratio=share
        )
    yield Row(name="left out: unfounded", value=str(seen.unfounded))
    yield Row(name="left out: cannot be read", value=str(seen.unreadable))
    if model.seconds:
        yield Row(name="seconds a call, median", value=f"{sorted(model.seconds)[len(model.seconds) // 2]:.0f}")
        yield Row(name="seconds a window, mean", value=f"{sum(model.seconds) / seen.windows:.0f}")
        yield Row(name="tokens a call, mean", value=f"{sum(model.tokens) / len(model.tokens):.0f}")
        yield Row(name="tokens a window, mean", value=f"{sum(model.tokens) / seen.windows:.0f}")
        for name, usd in _prices(model.read, model.written):
            yield Row(name=f"USD a window at the prices of {name}", value=f"{usd / seen.windows:.5f}")


def _prices(read: Sequence[int], written: Sequence[int]) -> Iterator[tuple[str, float]]:
    """What all calls would cost at the models of the catalog's consolidation chain."""
    for entry in load_catalog().chain("consolidation"):
        usd = entry.cost(sum(read), sum(written))
        if usd:
            yield entry.name, usd
