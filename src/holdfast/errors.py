"""Every error that Holdfast raises, on one page.

    HoldfastError
    ├── InvalidInput (also ValueError)   the call cannot be carried out as it was written
    │   ├── InvalidScope                 a namespace, user, agent or session that cannot be used
    │   ├── InvalidMessage               a message that is neither of the accepted shapes; `index` says which
    │   ├── TooLarge                     over a documented limit; `size`, `limit`
    │   ├── NaiveTime                    a time without a zone
    │   ├── InvalidSetting               a setting that is unknown or out of range; `name`
    │   ├── WrongKind                    the id is of another kind than the verb takes
    │   └── UnreadableImport             a file that no importer knows; `path`, `line`
    ├── NotFound (also LookupError)      no such id in this scope (ids of other scopes look the same)
    ├── Conflict                         the world is not as the call assumed
    │   ├── IdempotencyConflict          the same key with other content; `key`
    │   ├── RevisionConflict             the memory has changed since it was read; `expected`, `actual`
    │   └── UndoConflict                 later changes stand on this one; `blocking`
    ├── Forgotten                        what was asked for was forgotten for good
    ├── StoreError                       the store could not do its work; nothing was acknowledged
    │   ├── StoreClosed                  the store was closed
    │   ├── StoreBusy                    another process held the file for too long; try again
    │   ├── StoreFull                    no room on the disk
    │   ├── StoreReadOnly                the file or its folder cannot be written
    │   ├── StoreCorrupt                 the file is damaged; `doctor`, then `restore`
    │   ├── NotAStore                    the path is not a Holdfast file
    │   ├── NewerStore                   written by a newer Holdfast; `found`, `supported`
    │   └── ReadTimeout                  a read took longer than `read_timeout`
    ├── BackupDamaged                    a backup that does not agree with its manifest
    ├── WrongLoop                        an AsyncHoldfast used from another event loop
    └── ForkedProcess                    a store used after a fork; open it again in the child

The message says what to do; the attributes carry the values that let a caller act. Every error survives
`pickle` and `cloudpickle`: it is rebuilt from its message and its plain attributes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "BackupDamaged",
    "Conflict",
    "Forgotten",
    "ForkedProcess",
    "HoldfastError",
    "IdempotencyConflict",
    "InvalidInput",
    "InvalidMessage",
    "InvalidScope",
    "InvalidSetting",
    "NaiveTime",
    "NewerStore",
    "NotAStore",
    "NotFound",
    "ReadTimeout",
    "RevisionConflict",
    "StoreBusy",
    "StoreClosed",
    "StoreCorrupt",
    "StoreError",
    "StoreFull",
    "StoreReadOnly",
    "TooLarge",
    "UndoConflict",
    "UnreadableImport",
    "WrongKind",
    "WrongLoop",
]


class HoldfastError(Exception):
    """The root of the tree: catch it to catch everything that Holdfast raises on purpose.

    Attributes given by keyword become attributes of the error and travel with it through `pickle`.
    """

    def __init__(self, message: str, **values: Any) -> None:
        super().__init__(message)
        self.__dict__.update(values)

    @property
    def values(self) -> dict[str, Any]:
        """The error's plain attributes, as a new dict: what an interface shows beside the message."""
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_")}


class InvalidInput(HoldfastError, ValueError):
    """The call cannot be carried out as it was written; nothing was stored."""


class InvalidScope(InvalidInput):
    """A namespace, user, agent or session that cannot be used as a name."""


class InvalidMessage(InvalidInput):
    """A message that is neither OpenAI chat nor Anthropic shape, or has nothing in it."""

    index: int


class TooLarge(InvalidInput):
    """Something is over a documented limit; nothing of the call was stored."""

    size: int
    limit: int


class NaiveTime(InvalidInput):
    """A time without a zone: Holdfast never guesses one."""


class InvalidSetting(InvalidInput):
    """A setting that is unknown or out of range."""

    name: str


class WrongKind(InvalidInput):
    """The id is valid but names another kind of thing than the verb takes."""

    id: str


class UnreadableImport(InvalidInput):
    """A file that no importer knows, or a line of it that cannot be read."""

    path: str
    line: int | None


class NotFound(HoldfastError, LookupError):
    """No such id in this scope. An id of another scope gives exactly the same answer."""

    id: str


class Conflict(HoldfastError):
    """The world is not as the call assumed; nothing was changed."""


class IdempotencyConflict(Conflict):
    """The same idempotency key came with other content."""

    key: str


class RevisionConflict(Conflict):
    """The memory has changed since it was read."""

    expected: int
    actual: int


class UndoConflict(Conflict):
    """Later changes stand on this one; `blocking` holds their ids, newest first."""

    blocking: Sequence[str]


class Forgotten(HoldfastError):
    """What was asked for was forgotten for good and cannot be brought back."""

    id: str


class StoreError(HoldfastError):
    """The store could not do its work. The call was not acknowledged; earlier writes are safe."""


class StoreClosed(StoreError):
    """The store was closed."""


class StoreBusy(StoreError):
    """Another process held the file for longer than `busy_timeout`; try again."""


class StoreFull(StoreError):
    """There is no room on the disk. Every acknowledged write is there; writing goes on when there is room."""


class StoreReadOnly(StoreError):
    """The file or its folder cannot be written."""


class StoreCorrupt(StoreError):
    """The file is damaged: run `holdfast doctor`, then `holdfast restore`."""


class NotAStore(StoreError):
    """The path is not a Holdfast file; it was left untouched."""

    path: str


class NewerStore(StoreError):
    """The file was written by a newer Holdfast; it was left untouched."""

    found: int
    supported: int


class ReadTimeout(StoreError):
    """A read took longer than the setting `read_timeout` and was stopped."""


class BackupDamaged(HoldfastError):
    """A backup that does not agree with its manifest; nothing was restored."""

    path: str


class WrongLoop(HoldfastError):
    """An AsyncHoldfast was used from another event loop than the one that opened it."""


class ForkedProcess(HoldfastError):
    """A store was used after a fork; open it again in the child."""
