"""What each store finds again of the same messages: each told as it is, each question asked once, ten answers deep.

A set is a file of worlds, LoCoMo's file or RealMem's folder. Peers get their vectors from the built-in embedding over
HTTP, since the embedders that they assume are elsewhere. Only figures are kept.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from benchmarks.locomo import questions_of, samples_of
from benchmarks.losses.child import Child, running
from benchmarks.losses.environments import Environment
from benchmarks.losses.model import DIMENSION
from benchmarks.losses.peers import Peer
from benchmarks.measure import doing
from benchmarks.real_relay import Relay
from benchmarks.realmem import queries_of
from benchmarks.recall import MovableClock
from benchmarks.worlds import read_worlds
from memhold import Memhold
from memhold.transfer.formats import read_batches
from memhold.transfer.items import Batch
from memhold.transfer.source import Source

__all__ = ["AT", "Conversation", "Question", "Turn", "found_by_child", "found_by_memhold", "read_set"]

AT: Final = (5, 10)
_BATCH = 100
_BEGINNING = datetime(1970, 1, 2, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message; `name` is the speaker's, where two people talk."""

    id: str
    session: str
    role: str
    content: str
    at: datetime
    name: str = ""

    @property
    def text(self) -> str:
        """What a memory is told that has no place for a speaker."""
        return f"{self.name}: {self.content}" if self.name else self.content

    def body(self) -> dict[str, Any]:
        """What Memhold is told."""
        named = {"name": self.name} if self.name else {}
        return {"role": self.role, "content": self.content, "event_time": self.at, **named}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question and what answers it: messages, or sessions where `sessions`; one of them suffices where `enough`."""

    text: str
    gold: frozenset[str]
    enough: bool = False
    sessions: bool = False

    def share(self, found: Sequence[str]) -> float:
        """The share of the gold among these."""
        held = len(self.gold & {*found})
        return float(held > 0) if self.enough else held / len(self.gold)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What is told and asked, in order."""

    name: str
    steps: tuple[tuple[Turn, ...] | Question, ...]


def read_set(path: Path) -> list[Conversation]:
    """The conversations of a set, whatever its form.

    Raises:
        UnreadableImport: it has none of the three forms.
    """
    if path.is_dir():
        return [_realmem(one) for one in sorted(path.glob("*.json"))]
    data = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(data, list) and data and "conversation" in data[0]:
        return list(_locomo(path))
    return list(_worlds(path))


def _worlds(path: Path) -> Iterator[Conversation]:
    for world in read_worlds(path):
        said = tuple(Turn(id=m.id, session=m.session, role=m.role, content=m.text, at=m.at) for m in world.said)
        asked = [Question(text=q.text, gold=frozenset(q.gold), enough=q.enough) for q in world.questions if q.gold]
        yield Conversation(name=world.name, steps=(said, *asked))


def _locomo(path: Path) -> Iterator[Conversation]:
    batches, known = samples_of(path)
    asked = questions_of(path, known)
    for user, own in groupby(batches, key=lambda one: one[0]):
        said = tuple(turn for _, batch in own for turn in _turns(batch))
        yield Conversation(
            name=user, steps=(said, *(Question(text=one.text, gold=one.evidence) for one in asked.get(user, ())))
        )


def _realmem(path: Path) -> Conversation:
    waiting = dict(queries_of(json.loads(path.read_text(encoding="utf-8"))))
    steps: list[tuple[Turn, ...] | Question] = []
    earlier: set[str] = set()
    source = Source(path=path, zone=UTC, now=datetime(2200, 1, 1, tzinfo=UTC), on_error="skip")
    for batch in read_batches(source, "realmem"):
        assert isinstance(batch, Batch)
        ident = str(batch.source_ids[0]).partition(":")[0]
        for text, gold, _ in waiting.pop(ident, ()):
            if found := frozenset(f"realmem:{name}" for name in gold if name in earlier):
                steps.append(Question(text=text, gold=found, sessions=True))
        steps.append(tuple(_turns(batch)))
        earlier.add(ident)
    return Conversation(name=path.stem, steps=tuple(steps))


def _turns(batch: Batch) -> Iterator[Turn]:
    for one in batch.messages:
        yield Turn(
            id=str(one["metadata"]["source_id"]),
            session=batch.session,
            role=one["role"],
            content=str(one["content"]),
            at=one["event_time"],
            name=str(one.get("name") or ""),
        )


# ------------------------------------------------------------------------------------------------ measuring

Measured = Mapping[str, float]
Tell = Callable[[Sequence[Turn]], None]
Ask = Callable[[str], Sequence[str]]


def _replayed(conversation: Conversation, tell: Tell, ask: Ask, into: list[tuple[float, ...]]) -> None:
    """Tell and ask in order; `ask` gives texts, which are traced to the messages that say them."""
    said: dict[str, list[Turn]] = {}
    for step in conversation.steps:
        if not isinstance(step, Question):
            tell(step)
            for turn in step:
                for text in {turn.text, turn.content}:
                    said.setdefault(text, []).append(turn)
            continue
        hits = [said.get(text, []) for text in ask(step.text)]
        names = [[turn.session if step.sessions else turn.id for turn in hit] for hit in hits]
        into.append(tuple(step.share([name for hit in names[:k] for name in hit]) for k in AT))


def _means(found: Sequence[tuple[float, ...]]) -> Measured:
    means = {f"R@{k}": round(sum(one[at] for one in found) / len(found), 3) for at, k in enumerate(AT)}
    return means | {"questions": len(found)}


def found_by_memhold(conversations: Sequence[Conversation], embedding: str) -> Measured:
    """Memhold through its public verbs, each message with its own time and speaker."""
    found: list[tuple[float, ...]] = []
    for conversation in conversations:
        doing(f"Memhold ({embedding}): {conversation.name}")
        clock = MovableClock(_BEGINNING)
        with (
            tempfile.TemporaryDirectory(prefix="memhold-bench-") as folder,
            Memhold.open(f"{folder}/memory.db", worker=False, embedding=embedding, clock=clock) as store,
        ):

            def tell(turns: Sequence[Turn], store: Memhold = store, clock: MovableClock = clock) -> None:
                clock.set(max(turn.at for turn in turns) + timedelta(days=1))
                for session, own in groupby(turns, key=lambda turn: turn.session):
                    bodies = [one.body() for one in own]
                    for start in range(0, len(bodies), _BATCH):
                        store.scope(user="ann", session=session).add(bodies[start : start + _BATCH])
                store.settle(timeout=600)

            def ask(question: str, store: Memhold = store) -> list[str]:
                return [hit.text for hit in store.scope(user="ann").recall(question, limit=max(AT)).hits]

            _replayed(conversation, tell, ask, found)
    return _means(found)


def found_by_child(peer: Peer, environment: Environment, conversations: Sequence[Conversation]) -> Measured:
    """A peer in its own environment; `unkept` tells how many messages it did not take.

    Raises:
        RuntimeError: it could not be opened, told or asked.
    """
    found: list[tuple[float, ...]] = []
    unkept: list[int] = []
    with (
        tempfile.TemporaryDirectory(prefix="memhold-losses-") as name,
        Relay(None, Path(name) / "none", dimension=DIMENSION) as relay,
    ):
        opened = _opened(peer, environment, Path(name), relay.url, len(conversations))
        for conversation, (child, user) in zip(conversations, opened, strict=True):
            doing(f"{peer.label}: {conversation.name}")
            _right(child.opened)
            _replayed(conversation, _teller(child, user, unkept), _asker(child, user), found)
    return {**_means(found), "unkept": sum(unkept)}


def _opened(
    peer: Peer, environment: Environment, folder: Path, url: str, count: int
) -> Generator[tuple[Child, str], None, None]:
    """A store for each conversation; where opening takes minutes one for all, in which each is another user's."""
    if peer.slow:
        with running(peer.name, environment, folder / "store", url) as child:
            yield from ((child, f"user{place}") for place in range(count))
        return
    for place in range(count):
        with running(peer.name, environment, folder / f"store{place}", url) as child:
            yield child, "ann"


def _teller(child: Child, user: str, unkept: list[int]) -> Tell:
    def tell(turns: Sequence[Turn]) -> None:
        for start in range(0, len(turns), _BATCH):
            own = turns[start : start + _BATCH]
            messages = [{"role": one.role, "content": one.text} for one in own]
            answer = _right(child.ask("add", user=user, key=own[0].id, messages=messages, seconds=600.0))
            unkept.append(len(own) - answer["kept"])

    return tell


def _asker(child: Child, user: str) -> Ask:
    def ask(question: str) -> list[str]:
        answer = _right(child.ask("ask", user=user, question=question, limit=max(AT)))
        return [hit["text"] for hit in answer["found"]]

    return ask


def _right(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    if "error" in answer:
        raise RuntimeError(str(answer["error"]))
    return answer
