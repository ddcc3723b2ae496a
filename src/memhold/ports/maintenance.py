"""What keeping a store safe takes: backups, check-ups, usage. Values, and the port that a store with files fills."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from memhold.ports.transaction import ReadTx, Tombstone
from memhold.ports.vector_blocks import GenerationState
from memhold.values.answers import ModelHealth
from memhold.values.errors import InvalidInput
from memhold.values.records import Scope

__all__ = [
    "CLOCK_ADVICE",
    "DayWritten",
    "Finding",
    "Lost",
    "Maintenance",
    "Manifest",
    "Migrated",
    "Readiness",
    "Rebuilt",
    "Restoration",
    "Usage",
    "Vectors",
    "given_path",
    "rotten",
]

T = TypeVar("T")

CLOCK_ADVICE = (
    "set this machine's clock right where it is wrong; where it is right, run 'memhold doctor --repair clock'"
)
"""What to do about dates that lie ahead of the clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DayWritten:
    """What was written on one day (UTC, ISO-8601) and is still there: messages, memories, and the bytes of both."""

    day: str
    messages: int = 0
    memories: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one namespace holds: counts, and the bytes of its messages, memories and words index.

    `days` are the last days on which something was written that is still there, where they were asked for, the oldest
    first: how it grew.
    """

    namespace: str
    users: int = 0
    sessions: int = 0
    messages: int = 0
    memories: int = 0
    changes: int = 0
    bytes: int = 0
    days: tuple[DayWritten, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that `doctor` looked at and did not like: what it is, where, and what to do.

    `wrong` is something that must be mended; `note` is worth knowing and harms nothing now. `namespace` is the one that
    it is found in; None where it is no single one.
    """

    check: str
    severity: Literal["wrong", "note"]
    what: str
    advice: str
    where: str = ""
    namespace: str | None = None


def rotten(ids: Sequence[str], where: str) -> Finding:
    """What a check-up says of changes that were damaged and let stand."""
    what = f"of {len(ids)} changes nobody knows what they did, for they were damaged: {', '.join(ids)}"
    advice = "nothing: they cannot be undone, and what they touched is as it was"
    return Finding(check="rows", severity="note", what=what, advice=advice, where=where)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a backup says of itself; every field is compared when it is verified.

    `file` is the copy's name beside the manifest, `bytes` and `sha256` are of that copy, `counts` its rows by table.
    """

    format: str
    version: int
    memhold: str
    store: str
    schema: int
    created_at: datetime
    file: str
    bytes: int
    sha256: str
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Restoration:
    """What a restore did: from which backup, and how many items it forgot again."""

    manifest: Manifest
    target: str
    forgotten: int
    replaced: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """Whether the store takes writes now, and what it stands on: `due` pieces of work, models and how they fare.

    `waiting` counts the pieces of work that wait for a model, now or later: windows, and what stands for several of one
    scope. `error` is the class of what a write failed with. Models are told of and decide nothing: a save needs none.
    `cached_bytes` is what this process keeps of indexes and vectors between questions. `degraded` names "damaged" where
    the file is, as far as this process looked: answers may lack what cannot be reached.
    """

    writes: bool
    error: str | None = None
    due: int = 0
    models: Mapping[str, ModelHealth] = field(default_factory=dict)
    waiting: int = 0
    cached_bytes: int = 0
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """What a reindex did: scopes dealt with, documents indexed anew, and due work that was missing."""

    scopes: int = 0
    documents: int = 0
    due_added: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """What moving a store did: scopes in all, those copied in this run, their rows, and all rows of the target.

    `behind` counts the scopes that still differ: somebody wrote to the source meanwhile; run it again. `checksum` is
    over everything with a scope, and the same for the same store on any backend. `tokens` counts the access tokens of
    the source, which the target has too.
    """

    scopes: int
    copied: int
    rows: int
    total: int
    behind: int
    checksum: str
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """How far the vectors of an embedding are: the state of their generation, and how many items were looked at."""

    fingerprint: str
    state: GenerationState
    documents: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """What must stay forgotten in one scope: tombstones of the ledger that the store does not have."""

    scope: Scope
    tombstones: tuple[Tombstone, ...]


def given_path(path: str | Path) -> Path:
    """A path as a caller gives it, with `~` for the home folder.

    Raises:
        InvalidInput: it is no path, or names the home folder of nobody.
    """
    try:
        return Path(path).expanduser()
    except (TypeError, RuntimeError) as error:
        said = f"{path!r:.60} is no path that can be used ({error}); pass the path of a file or folder"
        raise InvalidInput(said) from None


class Maintenance(Protocol):
    """Looks after a store's files, across scopes; opens connections of its own and holds up no write."""

    async def usage(self, since: date | None = None) -> tuple[Usage, ...]:
        """What each namespace holds, by name; with a day, what was written on it and on each day behind it too."""
        ...

    async def backup(self, target: Path, *, progress: Callable[[int, int], None] | None = None) -> Manifest:
        """Copy the store as it is at one moment into a new folder; returns once the copy was read back and agreed."""
        ...

    async def examine(self) -> tuple[Finding, ...]:
        """What is wrong with the files and the rows, without what only the pipeline can know."""
        ...

    async def examine_trees(self) -> tuple[Finding, ...]:
        """What of it no reader of rows can see: pages and indexes, and rows that name what is not there.

        The file is read once. Where this is cancelled, the look ends.
        """
        ...

    async def mend_indexes(self) -> int:
        """Build anew the indexes over rows that do not agree with them; returns how many that were.

        Rows that no index can take (two of one number) and that cannot be read are removed first. Writes wait.

        Raises:
            StoreCorrupt: pages are damaged otherwise: a backup is to be restored.
        """
        ...

    async def survey(self, scope: Scope, work: Callable[[ReadTx], T]) -> T:
        """Run a unit of work on a consistent snapshot for as long as it takes, beside readers and writer."""
        ...
