"""What the in-memory store holds, and how every change of it can be taken back.

All state lives in shelves: dicts of values that never change in place, which note the inverse of each change in one
undo log. A unit of work that fails is undone by running its part of the log backwards.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, TypeVar, cast

from memhold.ports.postings import Block
from memhold.ports.transaction import Replay, Tombstone
from memhold.ports.vector_blocks import Generation, VectorBlock
from memhold.values.answers import Due
from memhold.values.records import Change, Evidence, Memory, Message, Scope, Session, Suspicion

__all__ = ["Claim", "DueKey", "Owner", "Revisions", "Rows", "ScopeRows", "Sealed", "Shelf", "UndoLog", "seal"]

K = TypeVar("K")
V = TypeVar("V")
R = TypeVar("R", Message, Memory, Change)

Owner = tuple[str, str | None]
"""Whose rows: namespace and user."""
DueKey = tuple[str, str | None, str, str]
"""Namespace, user, kind and ref of due work."""


class UndoLog:
    """The inverses of the changes of the unit of work that is running."""

    __slots__ = ("_inverses",)

    def __init__(self) -> None:
        self._inverses: list[Callable[[], object]] = []

    def note(self, inverse: Callable[[], object]) -> None:
        """Keep the inverse of a change that is about to be made."""
        self._inverses.append(inverse)

    def keep(self) -> None:
        """Let everything stand that was noted."""
        self._inverses.clear()

    def undo(self) -> None:
        """Take back everything that was noted, the newest first."""
        while self._inverses:
            self._inverses.pop()()


class Shelf(Generic[K, V]):
    """A dict whose every change can be taken back through the log that it was made with."""

    __slots__ = ("_log", "_rows")

    def __init__(self, log: UndoLog) -> None:
        self._log = log
        self._rows: dict[K, V] = {}

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[K]:
        return iter(self._rows)

    def get(self, key: K) -> V | None:
        """The value of that key, or None."""
        return self._rows.get(key)

    def values(self) -> list[V]:
        """All values, in a list of their own."""
        return list(self._rows.values())

    def items(self) -> list[tuple[K, V]]:
        """All keys with their values, in a list of their own."""
        return list(self._rows.items())

    def latest(self) -> Iterator[V]:
        """The values, the one that was put last as a new key first."""
        return reversed(self._rows.values())

    def put(self, key: K, value: V) -> None:
        """Insert or replace."""
        if key in self._rows:
            before = self._rows[key]
            self._log.note(lambda: self._rows.__setitem__(key, before))
        else:
            self._log.note(lambda: self._rows.pop(key))
        self._rows[key] = value

    def drop(self, key: K) -> V | None:
        """Take away and return; None when it was not there."""
        if key not in self._rows:
            return None
        before = self._rows.pop(key)
        self._log.note(lambda: self._rows.__setitem__(key, before))
        return before

    def clear(self) -> None:
        """Take everything away."""
        for key in list(self._rows):
            self.drop(key)


_MAPPINGS: Final = ("body", "metadata", "detail")


@dataclass(frozen=True, slots=True)
class Sealed(Generic[R]):
    """A row with its JSON parts as text, so that nobody who holds the value can change what is stored."""

    row: R
    texts: tuple[tuple[str, str], ...]

    def open(self) -> R:
        """The row with JSON parts of its own."""
        if not self.texts:
            return self.row
        parts = {name: json.loads(text) for name, text in self.texts}
        return cast("R", replace(cast("Any", self.row), **parts))


def seal(row: R) -> Sealed[R]:
    """Take the JSON parts (body, metadata, detail) out of a row, as text.

    Raises:
        TypeError: a part holds something that JSON has no word for.
    """
    parts: dict[str, Mapping[str, Any]] = {name: getattr(row, name) for name in _MAPPINGS if getattr(row, name, None)}
    texts = tuple((name, json.dumps(_plain(part), ensure_ascii=False)) for name, part in parts.items())
    bare = dict.fromkeys(parts, _NOTHING)
    return Sealed(cast("R", replace(cast("Any", row), **bare)), texts)


_NOTHING: Mapping[str, Any] = {}


def _plain(part: Any) -> Any:
    if isinstance(part, Mapping):
        return {key: _plain(value) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [_plain(value) for value in part]
    return part


@dataclass(frozen=True, slots=True)
class Revisions:
    """A memory's revisions, oldest first, and the digest of its content."""

    sealed: tuple[Sealed[Memory], ...]
    digest: bytes | None

    @property
    def current(self) -> Memory:
        """The newest revision as it is kept: good for a look at its fields, not to give away."""
        return self.sealed[-1].row


@dataclass(frozen=True, slots=True)
class Claim:
    """A piece of due work, who holds it, and when `put_due` made it due again since."""

    due: Due
    owner: str | None = None
    until: int = 0
    again_at: int | None = None


@dataclass(slots=True)
class ScopeRows:
    """Everything of one namespace and user."""

    log: UndoLog
    counters: Shelf[str, int] = field(init=False)
    sessions: Shelf[str, Session] = field(init=False)
    messages: Shelf[str, Sealed[Message]] = field(init=False)
    memories: Shelf[str, Revisions] = field(init=False)
    digests: Shelf[bytes, frozenset[str]] = field(init=False)
    """By a digest the ids of all memories that have or had it."""
    journal: Shelf[tuple[str, int], str] = field(init=False)
    numbers: Shelf[int, str] = field(init=False)
    changes: Shelf[str, Sealed[Change]] = field(init=False)
    """In the order of their `seq`: none is ever taken away."""
    touching: Shelf[str, tuple[str, ...]] = field(init=False)
    """By a memory the ids of the changes that touched it, oldest first."""
    hidden: Shelf[str, str] = field(init=False)
    keys: Shelf[tuple[str, bytes], Replay] = field(init=False)
    tombstones: Shelf[str, Tombstone] = field(init=False)
    agents: Shelf[str, int] = field(init=False)
    blocks: Shelf[int, Block] = field(init=False)
    vectors: Shelf[tuple[int, int], VectorBlock] = field(init=False)
    evidence: Shelf[str, tuple[Evidence, ...]] = field(init=False)
    suspicions: Shelf[str, Suspicion] = field(init=False)
    key_vectors: Shelf[bytes, tuple[str, bytes]] = field(init=False)
    progress: Shelf[str, int] = field(init=False)
    index_rev: int = 0
    vector_rev: int = 0

    def __post_init__(self) -> None:
        self.counters = Shelf(self.log)
        self.sessions = Shelf(self.log)
        self.messages = Shelf(self.log)
        self.memories = Shelf(self.log)
        self.digests = Shelf(self.log)
        self.journal = Shelf(self.log)
        self.numbers = Shelf(self.log)
        self.changes = Shelf(self.log)
        self.touching = Shelf(self.log)
        self.hidden = Shelf(self.log)
        self.keys = Shelf(self.log)
        self.tombstones = Shelf(self.log)
        self.agents = Shelf(self.log)
        self.blocks = Shelf(self.log)
        self.vectors = Shelf(self.log)
        self.evidence = Shelf(self.log)
        self.suspicions = Shelf(self.log)
        self.key_vectors = Shelf(self.log)
        self.progress = Shelf(self.log)

    @property
    def empty(self) -> bool:
        """Whether nothing was ever kept here."""
        return not any(
            len(shelf)
            for shelf in (self.counters, self.sessions, self.messages, self.memories, self.changes, self.keys)
        ) and not (len(self.tombstones) or len(self.agents) or len(self.blocks))


class Rows:
    """Everything of one store."""

    __slots__ = ("_scopes", "change_seqs", "due", "generations", "last_at", "log", "token")

    def __init__(self) -> None:
        self.log = UndoLog()
        self._scopes: dict[Owner, ScopeRows] = {}
        self.change_seqs: Shelf[str, int] = Shelf(self.log)
        self.due: Shelf[DueKey, Claim] = Shelf(self.log)
        self.generations: Shelf[int, Generation] = Shelf(self.log)
        self.token = 0
        self.last_at = 0

    def of(self, scope: Scope) -> ScopeRows:
        """The rows of a scope's namespace and user."""
        owner = scope.namespace, scope.user
        if (rows := self._scopes.get(owner)) is None:
            rows = self._scopes[owner] = ScopeRows(self.log)
        return rows

    def owners(self) -> list[Owner]:
        """Every namespace and user that something is kept of, in order."""
        kept = {owner for owner, rows in self._scopes.items() if not rows.empty}
        kept |= {(namespace, user) for namespace, user, _, _ in self.due}
        return sorted(kept, key=lambda owner: (owner[0], owner[1] is not None, owner[1] or ""))
