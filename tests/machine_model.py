"""The plain model that the state machine compares Memhold with: dicts, lists and brute force, and nothing clever."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

STANDING = {"active", "superseded", "expired"}
LABELS = ("state", "valid_from", "valid_to", "superseded_by", "pinned", "topics")
_TOKENS = itertools.count(1)


@dataclass
class Said:
    id: str
    session: str
    seq: int
    text: str
    event_time: datetime
    recorded: datetime


@dataclass
class Held:
    """A memory: what never changes, and a dict of what does for each revision."""

    id: str
    number: int
    kind: str
    text: str
    key: str | None = None
    value: str | None = None
    operation: str = "set"
    session: str | None = None
    sources: tuple[str, ...] = ()
    revisions: list[dict[str, Any]] = field(default_factory=list)
    token: int = 0

    @property
    def now(self) -> dict[str, Any]:
        return self.revisions[-1]


@dataclass
class Done:
    """A change: for each row what it was before (None: not there), and the tokens before and after."""

    id: str
    verb: str
    before: dict[str, dict[str, Any] | None] = field(default_factory=dict)
    tokens: dict[str, tuple[int, int]] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    undoes: str | None = None
    undone: bool = False
    standing: bool = True


@dataclass
class Session:
    last: int = 0
    cursor: int = 0
    token: int = 0
    born: int = field(default_factory=lambda: next(_TOKENS))


class Model:
    def __init__(self) -> None:
        self.messages: dict[str, Said] = {}
        self.memories: dict[str, Held] = {}
        self.changes: dict[str, Done] = {}
        self.sessions: dict[str, Session] = {}
        self.hidden: dict[str, str] = {}
        self.due: set[str] = set()

    # ----------------------------------------------------------------------------------------- views

    def shown(self) -> list[Held]:
        return sorted((m for m in self.memories.values() if m.id not in self.hidden), key=lambda m: m.number)

    def journal(self, session: str) -> list[Said]:
        found = (m for m in self.messages.values() if m.session == session and m.id not in self.hidden)
        return sorted(found, key=lambda m: m.seq)

    def present(self) -> set[str]:
        messages = {m.id for m in self.messages.values() if m.id not in self.hidden}
        return messages | {m.id for m in self.shown() if m.now["state"] == "active"}

    def at(self, as_of: datetime | None, known_at: datetime | None) -> set[str]:
        moment = as_of or known_at
        assert moment is not None
        found = {
            m.id
            for m in self.messages.values()
            if m.id not in self.hidden and m.event_time <= moment and (known_at is None or m.recorded <= known_at)
        }
        for memory in self.shown():
            for place, revision in enumerate(memory.revisions):
                last = place + 1 == len(memory.revisions)
                until = None if last else memory.revisions[place + 1]["recorded"]
                if known_at is None:
                    known = last
                else:
                    known = revision["recorded"] <= known_at and (until is None or known_at < until)
                ends = revision["valid_to"]
                holds = revision["valid_from"] <= moment and (ends is None or moment < ends)
                if known and holds and revision["state"] in STANDING:
                    found.add(memory.id)
        return found

    # ----------------------------------------------------------------------------------------- changes

    def revise(self, done: Done, memory: Held, at: datetime, **changed: Any) -> None:
        done.before[memory.id] = dict(memory.now)
        token = next(_TOKENS)
        done.tokens[memory.id] = (memory.token, token)
        memory.token = token
        memory.revisions.append({**memory.now, **changed, "recorded": at})

    def create(self, done: Done, memory: Held, at: datetime, **labels: Any) -> None:
        first = {
            "state": "active",
            "valid_to": None,
            "superseded_by": None,
            "pinned": False,
            "topics": (),
            "recorded": at,
        }
        memory.revisions.append({**first, **labels})
        memory.token = next(_TOKENS)
        done.before[memory.id] = None
        done.tokens[memory.id] = (0, memory.token)
        self.memories[memory.id] = memory

    def timeline(self, key: str | None) -> list[Held]:
        return [m for m in self.shown() if m.kind == "fact" and m.key == key and m.now["state"] in STANDING]

    def timeline_all(self, key: str | None) -> list[Held]:
        return [m for m in self.shown() if m.kind == "fact" and m.key == key]

    def tell(self, done: Done, new: Held, *, at: datetime, now: datetime, operation: str) -> None:
        """What a statement about one attribute does to the others, and to itself."""
        others = self.timeline(new.key)
        holding = [
            m for m in others if m.now["valid_from"] <= at and (m.now["valid_to"] is None or m.now["valid_to"] > at)
        ]
        same = next(
            (m for m in sorted(holding, key=lambda m: (m.now["valid_from"], m.number)) if m.value == new.value), None
        )
        if operation == "remove":
            for memory in holding:
                if memory.value == new.value:
                    self.revise(done, memory, now, state="superseded", valid_to=at, superseded_by=None)
            return
        if operation == "set":
            for memory in holding:
                if memory is not same:
                    successor = same.id if same else new.id
                    self.revise(done, memory, now, state="superseded", valid_to=at, superseded_by=successor)
        if same is not None:
            return
        # It ends where the next one sets the attribute, or says the same from then on.
        later = [m for m in others if m.now["valid_from"] > at and (m.operation == "set" or m.value == new.value)]
        following = min(later, key=lambda m: (m.now["valid_from"], m.number), default=None)
        if following is None:
            self.create(done, new, now, valid_from=at)
        else:
            ends = following.now["valid_from"]
            self.create(done, new, now, valid_from=at, valid_to=ends, state="superseded", superseded_by=following.id)

    # ----------------------------------------------------------------------------------------- undo

    def refusal(self, done: Done) -> str | None:
        """The error that undoing a change must raise, or None."""
        if done.verb == "forget":
            return "Forgotten"
        if done.verb == "add" or done.undone:
            return "UndoConflict"
        gone = [row for row in done.before if not row.startswith("session:") and row not in self.memories]
        born = [row for row in done.before if row.startswith("session:") and not self._same_session(done, row)]
        if gone or born or self._emptied(done):
            return "Forgotten"
        for row, (_, after) in done.tokens.items():
            if row in self.hidden or self._token(row) != after:
                return "UndoConflict"
        return "UndoConflict" if self._contradicts(done) else None

    def _emptied(self, done: Done) -> bool:
        """Whether this hid something, and nothing of it is left to show again."""
        there = self.messages.keys() | self.memories.keys()
        return self.root(done)[0].verb == "hide" and bool(done.sources) and there.isdisjoint(done.sources)

    def _same_session(self, done: Done, row: str) -> bool:
        session = self.sessions.get(row.removeprefix("session:"))
        before = done.before[row]
        return session is not None and before is not None and before["born"] == session.born

    def _token(self, row: str) -> int:
        if row.startswith("session:"):
            return self.sessions[row.removeprefix("session:")].token
        return self.memories[row].token

    def _contradicts(self, done: Done) -> bool:
        """Whether the present with the rows of before would hold two values at once, or lean on what never was."""
        after: dict[str, dict[str, Any]] = {m.id: m.now for m in self.shown()}
        for row in self.revealed(done):
            if row in self.memories:
                after[row] = self.memories[row].now
        touched = {row for row in done.before if row in self.memories} | {
            r for r in self.revealed(done) if r in self.memories
        }
        for row, before in done.before.items():
            if row in self.memories:
                after[row] = {**self.memories[row].now, "state": "retracted"} if before is None else before
        for one in touched:
            for other in after.keys() - touched:
                if self._clash(one, other, after):
                    return True
        return False

    def _clash(self, one: str, other: str, after: dict[str, dict[str, Any]]) -> bool:
        first, second = self.memories[one], self.memories[other]
        mine, theirs = after[one], after[other]
        if first.kind != second.kind or theirs["state"] not in STANDING:
            return False
        if first.kind == "raw":
            # While it was away its window was kept anew: the two would say everything twice.
            return mine["state"] == theirs["state"] == "active" and not set(first.sources).isdisjoint(second.sources)
        if first.kind == "note":
            return first.text == second.text and mine["state"] == theirs["state"] == "active"
        if first.kind != "fact" or first.key != second.key:
            return False
        if mine["state"] not in STANDING:
            return bool(theirs["superseded_by"] == one)
        pair = sorted(((mine, first), (theirs, second)), key=lambda p: (p[0]["valid_from"], p[1].number))
        (early, a), (late, b) = pair
        overlap = early["valid_to"] is None or early["valid_to"] > late["valid_from"]
        lasting = late["valid_to"] is None or late["valid_to"] > late["valid_from"]
        return overlap and lasting and (b.operation == "set" or a.value == b.value)

    def root(self, done: Done) -> tuple[Done, int]:
        steps = 0
        while done.undoes is not None:
            done, steps = self.changes[done.undoes], steps + 1
        return done, steps

    def revealed(self, done: Done) -> Iterable[str]:
        """What undoing a change shows again."""
        root, steps = self.root(done)
        if root.verb != "hide" or steps % 2:
            return ()
        # Once it was redone a hide stands again: what the last redo hid is what is shown, by whichever id it is undone.
        chain = [one for one in self.changes.values() if self.root(one)[0] is root]
        mark = [one.id for one in chain if not self.root(one)[1] % 2][-1]
        return [item for item, by in self.hidden.items() if by == mark]

    def undo(self, done: Done, made: Done, at: datetime) -> None:
        for row, before in done.before.items():
            was, is_now = done.tokens[row]
            if row.startswith("session:"):
                session = self.sessions[row.removeprefix("session:")]
                made.before[row] = {"cursor": session.cursor, "born": session.born}
                assert before is not None
                session.cursor = before["cursor"]
                session.token = was
            else:
                memory = self.memories[row]
                made.before[row] = dict(memory.now)
                restored = {**memory.now, "state": "retracted"} if before is None else before
                memory.revisions.append({**restored, "recorded": at})
                memory.token = was
            made.tokens[row] = (is_now, was)
        root, steps = self.root(done)
        if root.verb == "hide":
            for item in list(self.revealed(done)):
                del self.hidden[item]
            if not steps % 2:
                # Its window may have been closed meanwhile, without it.
                self.due |= {self.messages[item].session for item in done.sources if item in self.messages}
            if steps % 2:
                for item in done.sources:
                    if item in self.messages or item in self.memories:
                        self.hidden.setdefault(item, made.id)
        made.sources, made.undoes = done.sources, done.id
        self.changes[made.id] = made
        done.undone = True
        one, stands = done, True
        while one.undoes is not None:
            one = self.changes[one.undoes]
            one.undone, stands = not stands, not stands

    # ----------------------------------------------------------------------------------------- forgetting

    def going(self, start: set[str], *, sources: str, hard: bool) -> set[str]:
        there = {*self.messages, *self.memories} - (set() if hard else set(self.hidden))
        gone = set(start)
        if sources == "erase":
            gone |= {s for item in start if item in self.memories for s in self.memories[item].sources} & there
        while True:
            more = {m.id for m in self.memories.values() if m.id in there and not gone.isdisjoint(m.sources)} - gone
            if not more:
                return gone
            gone |= more

    def due_again(self, gone: set[str]) -> set[str]:
        shown = {m.id for m in self.messages.values() if m.id not in self.hidden}
        raws = (self.memories[item] for item in gone if item in self.memories and self.memories[item].kind == "raw")
        return {raw.session or "" for raw in raws if any(s in shown - gone for s in raw.sources)}

    def erase(self, gone: set[str], sessions: Iterable[str]) -> None:
        for item in gone:
            self.messages.pop(item, None)
            self.memories.pop(item, None)
            self.hidden.pop(item, None)
        for memory in self.memories.values():
            memory.sources = tuple(s for s in memory.sources if s not in gone)
        for name in sessions:
            if not any(m.session == name for m in (*self.messages.values(), *self.memories.values())):
                self.sessions.pop(name, None)
                self.due.discard(name)

    def uncovered(self, name: str) -> list[str]:
        raws = [m for m in self.shown() if m.kind == "raw" and m.now["state"] != "retracted"]
        covered = {source for raw in raws for source in raw.sources}
        session = self.sessions.get(name, Session())
        return [m.id for m in self.journal(name) if m.seq <= session.cursor and m.id not in covered]
