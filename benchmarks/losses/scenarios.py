"""What goes wrong, and what became of what was said: one function a scenario, the same for every peer.

Each gets a bench: a peer, a folder of its own and the model server. What is acknowledged is what came back without an
error. After the fault everything is well again, the peer is told to finish what it has to do, its process ends, and a
new one is asked what it holds.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any, Final

from benchmarks.losses.child import SECONDS, Child, running
from benchmarks.losses.disk import Mode, cut, recorded, recorder
from benchmarks.losses.environments import Environment
from benchmarks.losses.judging import Answer, Outcome, answered, judged
from benchmarks.losses.model import FAULTS, model
from benchmarks.losses.peers import Peer
from benchmarks.losses.said import Told, told
from memhold.testing.chaos import ChaosServer

__all__ = ["SCENARIOS", "Bench", "Scenario", "bench"]

SETTLE = 90.0
"""Seconds that a peer has to finish what is due once all is well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """One peer, its folder and the model; `size` scales how much is said (1 is the whole)."""

    peer: Peer
    environment: Environment
    folder: Path
    server: ChaosServer
    size: float = 1.0

    def count(self, whole: int, least: int = 4) -> int:
        """So many of a whole, by the size."""
        return max(least, round(whole * self.size))

    def open(
        self, more: Mapping[str, str] | None = None, *, name: str | None = None, folder: Path | None = None
    ) -> Any:
        """A child with the peer open, as a context manager."""
        url = f"{self.server.url}/v1"
        return running(name or self.peer.name, self.environment, folder or self.folder / "store", url, more)


@contextmanager
def bench(peer: Peer, environment: Environment, size: float = 1.0) -> Iterator[Bench]:
    """A bench that is cleared away at the end."""
    folder = Path(tempfile.mkdtemp(prefix="memhold-losses-"))
    try:
        with model() as server:
            yield Bench(peer=peer, environment=environment, folder=folder, server=server, size=size)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


Pairs = list[tuple[Told, Answer]]


def _say(child: Child, said: Sequence[Told]) -> Pairs:
    if "error" in child.opened:
        return [(one, child.opened) for one in said]
    return [(one, child.ask("add", **one.request())) for one in said]


def _outcome(pairs: Pairs, opened: Any, *, settle: bool = True) -> Outcome:
    """What a new process finds of what was said; nothing where it cannot be opened or read, which is then noted."""
    with opened as child:
        return _judged(pairs, child, settle=settle)


def _judged(pairs: Pairs, child: Child, users: Sequence[str] = ("ann",), *, settle: bool = True) -> Outcome:
    answers: list[Answer] = [child.opened]
    if "error" not in child.opened:
        answers += [_settled(child)] if settle else []
        answers += [child.ask("all", user=user) for user in users]
    entries = [entry for answer in answers for entry in answer.get("entries", ())]
    return judged(pairs, entries, next((str(one["error"]) for one in answers if "error" in one), ""))


def _settled(child: Child) -> Answer:
    return child.ask("settle", within=SETTLE, seconds=SETTLE + SECONDS)


# ------------------------------------------------------------------------------------------------ models


def _failing(
    place: Bench, begin: Callable[[ChaosServer], None], end: Callable[[ChaosServer], None], name: str | None = None
) -> Outcome:
    """A third of the messages while all is well, a third during the fault, a third after it."""
    said = told(place.count(39, 6))
    third = len(said) // 3
    with place.open(name=name) as child:
        pairs = _say(child, said[:third])
        begin(place.server)
        pairs += _say(child, said[third : 2 * third])
        end(place.server)
        pairs += _say(child, said[2 * third :])
        _settled(child)
    return _outcome(pairs, place.open(name=name))


def _rate(rate: float) -> Callable[[Bench], Outcome]:
    def run(place: Bench) -> Outcome:
        place.server.fail_rate(rate, FAULTS)
        place.server.fail_rate(0.0, FAULTS, model="text-embedding-3-small")  # the embedder has a scenario of its own
        with place.open() as child:
            pairs = _say(child, told(place.count(40)))
        place.server.fail_rate(0.0, FAULTS)
        return _outcome(pairs, place.open())

    return run


def _always(fault: str) -> Callable[[Bench], Outcome]:
    return lambda place: _failing(
        place,
        lambda server: server.always(fault, path="/v1/chat/completions"),
        lambda server: server.always(None, path="/v1/chat/completions"),
    )


def _embedder_down(place: Bench) -> Outcome:
    name = "memhold+embedder" if place.peer.name == "memhold" else None
    path = "/v1/embeddings"
    return _failing(place, lambda s: s.always("html-502", path=path), lambda s: s.always(None, path=path), name)


# ------------------------------------------------------------------------------------------------ machines


def _killed(place: Bench) -> Outcome:
    """A kill -9 while a write is on its way, several times; whoever got no answer sends that message again."""
    dice, whole = Random(7), Outcome()
    for turn in range(place.count(6, 1)):
        store = place.folder / f"store{turn}"
        said = told(20, seed=turn)
        stop = dice.randrange(3, 19)
        with place.open(folder=store) as child:
            began = time.perf_counter()
            pairs = _say(child, said[:stop])
            usual = (time.perf_counter() - began) / stop
            child.send("add", **said[stop].request())
            time.sleep(dice.random() * usual)
            child.kill()
        with place.open(folder=store) as child:
            pairs += _say(child, said[stop : stop + 1])
            whole.add(_judged(pairs, child))
    return whole


def _power_cut(place: Bench) -> Outcome:
    """One run on record, cut at many points: what was acknowledged before the cut, and what opens after it."""
    disk = recorder(place.folder / "store", place.folder)
    said = told(place.count(16))
    with place.open(disk.variables) as child:
        pairs = _say(child, said)
        child.kill()
    operations = recorded(disk.log)
    whole = place.folder / "whole"
    disk.root.rename(whole)
    told_at = [at + 1 for at, one in enumerate(operations) if one.kind == "A"]
    opened, after = told_at[0] if told_at else 1, told_at[1:]
    dice, found = Random(11), Outcome()
    answers = {one.key: answer for one, answer in pairs}
    for turn in range(place.count(12, 2)):
        at = dice.choice(after) if after and turn % 2 == 0 else dice.randrange(opened, len(operations) + 1)
        mode: Mode = "nothing" if turn % 4 < 2 else "some"
        acked = set(cut(operations, at, mode, dice, whole, disk.root))
        before = [(one, answers[one.key]) for one in said if one.key in acked]
        found.add(_outcome(before, place.open(), settle=False))
    return found


def _disk_full(place: Bench) -> Outcome:
    """No room for a third of the messages, in a process that goes on."""
    disk = recorder(place.folder / "store", place.folder)
    said = told(place.count(30, 6))
    third = len(said) // 3
    with place.open(disk.variables) as child:
        pairs = _say(child, said[:third])
        disk.full.touch()
        pairs += _say(child, said[third : 2 * third])
        disk.full.unlink()
        pairs += _say(child, said[2 * third :])
    return _outcome(pairs, place.open())


# ------------------------------------------------------------------------------------------------ callers


def _two_writers(place: Bench) -> Outcome:
    """Two processes on one store, at the same time."""
    halves = [told(place.count(20), seed=1), told(place.count(20), seed=2)]
    got: list[Pairs] = [[], []]
    with place.open() as one, place.open() as other:
        threads = [
            Thread(target=lambda at=at, child=child: got[at].extend(_say(child, halves[at])))
            for at, child in enumerate((one, other))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return _outcome([*got[0], *got[1]], place.open())


def _two_calls(place: Bench) -> Outcome:
    """One process, two calls in flight at a time."""
    pairs: Pairs = []
    said = told(place.count(40))
    with place.open() as child:
        for at in range(0, len(said), 2):
            both = said[at : at + 2]
            answer = child.ask("together", adds=[one.request() for one in both])
            pairs += list(zip(both, answer.get("answers", [answer] * len(both)), strict=True))
    return _outcome(pairs, place.open())


def _twice(place: Bench) -> Outcome:
    """Each message sent again with the key it had, as a client does that gave up waiting."""
    said = told(place.count(20))
    with place.open() as child:
        pairs = [pair for one in said for pair in _say(child, [one, one])]
    return _outcome(pairs, place.open())


# ------------------------------------------------------------------------------------------------ readers


def _forget(place: Bench) -> Outcome:
    """A quarter of what was said is deleted; then it is asked for, and every file is read for its bytes."""
    said = told(place.count(20))
    secret = said[::4]
    with place.open() as child:
        pairs = _say(child, said)
        _settled(child)
        refusals = [child.ask("forget", user="ann", word=one.word) for one in secret]
        _settled(child)
    with place.open() as child:
        found = _judged([pair for pair in pairs if pair[0] not in secret], child)
        found.served = sum(_finds(child, one) for one in secret)
    files = [path.read_bytes() for path in (place.folder / "store").rglob("*") if path.is_file()]
    words = [one.word.encode() for one in secret]
    found.left = sum(any(word in data for data in files) for word in words)
    found.note = found.note or next((str(one["error"]) for one in refusals if answered(one)), "")
    return found


def _finds(child: Child, one: Told) -> bool:
    asked = child.ask("ask", user=one.user, question=f"{one.question} {one.word}", limit=10)
    return any(one.word in hit["text"] for hit in asked.get("found", ()))


def _update(place: Bench) -> Outcome:
    """Half of the values change; then each is asked for, five answers deep."""
    first = told(place.count(12))
    later = told(place.count(12), again=True)
    with place.open() as child:
        pairs = _say(child, [*first, *later])
        _settled(child)
    stale = unmarked = 0
    with place.open() as child:
        found = _judged(pairs[len(first) :], child)
        for old, new in zip(first, later, strict=True):
            hits = child.ask("ask", user="ann", question=new.question, limit=5).get("found", [])
            here = [_says(hit, old.word, new.word) for hit in hits]
            stale += "new" not in here or ("old" in here and here.index("old") < here.index("new"))
            unmarked += "old" in here
    found.stale, found.unmarked = stale, unmarked
    return found


def _says(hit: Mapping[str, Any], old: str, new: str) -> str:
    """What an answer gives as the value of today: a text with both values tells of the change."""
    if new in hit["text"]:
        return "new"
    return "old" if old in hit["text"] and not hit["old"] else ""


def _other_user(place: Bench) -> Outcome:
    """Two users in one store; each is asked what only the other said."""
    ann, ben = told(place.count(12)), told(place.count(12), user="ben")
    ben = [replace(one, thing=f"other {one.thing}") for one in ben]
    with place.open() as child:
        pairs = _say(child, [one for both in zip(ann, ben, strict=True) for one in both])
        _settled(child)
    with place.open() as child:
        found = _judged(pairs, child, ("ann", "ben"))
        found.leaked = sum(
            _finds(child, replace(one, user="ben" if one.user == "ann" else "ann")) for one in (*ann, *ben)
        )
    if not place.peer.users:  # one listing is everybody's: nothing is there twice for that
        found.doubled = 0
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One row of the page. `needs` says what a peer must have for it to mean anything."""

    name: str
    label: str
    run: Callable[[Bench], Outcome]
    needs: str = ""


SCENARIOS: Final = {
    one.name: one
    for one in (
        Scenario(name="model-5", label="5 % of the model's calls fail", run=_rate(0.05), needs="model"),
        Scenario(name="model-15", label="15 % fail", run=_rate(0.15), needs="model"),
        Scenario(name="model-30", label="30 % fail", run=_rate(0.30), needs="model"),
        Scenario(name="prose", label="the model answers in prose for a while", run=_always("prose"), needs="model"),
        Scenario(
            name="unloaded", label="the model is unloaded for a while", run=_always("lmstudio-unloaded"), needs="model"
        ),
        Scenario(name="embedder-down", label="the embedder is down for a while", run=_embedder_down, needs="embedder"),
        Scenario(name="kill", label="kill -9 during a write", run=_killed),
        Scenario(name="power-cut", label="power cut", run=_power_cut),
        Scenario(name="disk-full", label="disk full for a while", run=_disk_full),
        Scenario(name="two-writers", label="two processes write at once", run=_two_writers),
        Scenario(name="two-calls", label="two calls in flight in one process", run=_two_calls),
        Scenario(name="twice", label="the same turn sent twice", run=_twice),
        Scenario(name="forget", label="forget, then a scan of every byte", run=_forget),
        Scenario(name="update", label="update, then ask", run=_update),
        Scenario(name="other-user", label="another user's question", run=_other_user),
    )
}
"""By name, in the order of the page."""
