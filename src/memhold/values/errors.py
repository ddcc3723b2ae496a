"""Every error that Memhold raises, on one page.

    MemholdError
    ├── InvalidInput (also ValueError)   the call cannot be carried out as it was written
    │   ├── InvalidScope                 a namespace, user, agent or session that cannot be used
    │   │   └── TwoUsers                 a request to a server that names two users
    │   ├── InvalidMessage               a message that is neither of the accepted shapes; `index` says which
    │   ├── TooLarge                     over a documented limit; `size`, `limit`
    │   ├── NaiveTime                    a time without a zone
    │   ├── InvalidSetting               a setting that is unknown or out of range; `name`
    │   ├── SecretFound                  a secret, where `redaction` is `refuse`; `kind`, `place`
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
    │   ├── StoreUnreachable             the database cannot be reached, or refuses to let us in
    │   ├── OutcomeUnknown               the commit was sent and its answer lost; send it again with the same key
    │   ├── StoreFull                    no room on the disk
    │   ├── StoreReadOnly                the file or its folder cannot be written
    │   ├── StoreCorrupt                 the file is damaged; `doctor`, then `restore`
    │   │   └── CorruptIndex             the words index is damaged; `reindex`; `first`, `reason`
    │   ├── NotAStore                    the path is not a Memhold file
    │   ├── NewerStore                   written by a newer Memhold; `found`, `supported`
    │   └── ReadTimeout                  a read took longer than `read_timeout`
    ├── ModelError                       a call to a model failed; `model`, `cls`, `status`, `code`, `cause`
    │   ├── ModelDamaged                 a file of a local model is not what was shipped; `path`, `expected`, `found`
    │   ├── ModelResting                 the link was not asked: it rests after earlier failures; `retry_after`
    │   └── ChainFailed                  no link of a chain gave an answer; `attempts`, `advice`
    ├── AccessDenied                     a server did not let the call in
    │   ├── Unauthenticated              no token, or one that does not count (any more)
    │   ├── ScopeDenied                  a scope or a right outside the token; `right` where one is missing
    │   └── RateLimited                  too many calls; `retry_after`
    ├── ServerUnreachable                no answer of a server; `sent` says whether the call may have been carried out
    ├── BackupDamaged                    a backup that does not agree with its manifest
    ├── WrongLoop                        an AsyncMemhold used from another event loop
    └── ForkedProcess                    a store used after a fork; open it again in the child

The message says what to do; the attributes carry the values that let a caller act. Every error survives
`pickle` and `cloudpickle`: it is rebuilt from its message and its plain attributes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "AccessDenied",
    "Attempt",
    "BackupDamaged",
    "ChainFailed",
    "Conflict",
    "CorruptIndex",
    "FailureClass",
    "Forgotten",
    "ForkedProcess",
    "IdempotencyConflict",
    "InvalidInput",
    "InvalidMessage",
    "InvalidScope",
    "InvalidSetting",
    "MemholdError",
    "ModelDamaged",
    "ModelError",
    "ModelResting",
    "NaiveTime",
    "NewerStore",
    "NotAStore",
    "NotFound",
    "OutcomeUnknown",
    "RateLimited",
    "ReadTimeout",
    "RevisionConflict",
    "ScopeDenied",
    "SecretFound",
    "ServerUnreachable",
    "StoreBusy",
    "StoreClosed",
    "StoreCorrupt",
    "StoreError",
    "StoreFull",
    "StoreReadOnly",
    "StoreUnreachable",
    "TooLarge",
    "TwoUsers",
    "Unauthenticated",
    "UndoConflict",
    "UnreadableImport",
    "WrongKind",
    "WrongLoop",
]


class MemholdError(Exception):
    """The root of the tree: catch it to catch everything that Memhold raises on purpose.

    Attributes given by keyword become attributes of the error and travel with it through `pickle`.
    """

    def __init__(self, message: str, **values: Any) -> None:
        super().__init__(message)
        self.__dict__.update(values)

    @property
    def values(self) -> dict[str, Any]:
        """The error's plain attributes, as a new dict: what an interface shows beside the message."""
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_")}


class InvalidInput(MemholdError, ValueError):
    """The call cannot be carried out as it was written; nothing was stored."""


class InvalidScope(InvalidInput):
    """A namespace, user, agent or session that cannot be used as a name."""


class TwoUsers(InvalidScope):
    """A request names two users; nothing of it was carried out."""


class InvalidMessage(InvalidInput):
    """A message that is neither OpenAI chat nor Anthropic shape, or has nothing in it."""

    index: int


class TooLarge(InvalidInput):
    """Something is over a documented limit; nothing of the call was stored."""

    size: int
    limit: int


class NaiveTime(InvalidInput):
    """A time without a zone: Memhold never guesses one."""


class InvalidSetting(InvalidInput):
    """A setting that is unknown or out of range."""

    name: str


class SecretFound(InvalidInput):
    """What was to be stored holds a secret, and the setting `redaction` is `refuse`. Nothing was stored.

    `kind` is that of the secret, `place` where it stands; the secret itself is nowhere in the error.
    """

    kind: str
    place: str


class WrongKind(InvalidInput):
    """The id is valid but names another kind of thing than the verb takes."""

    id: str


class UnreadableImport(InvalidInput):
    """A file that no importer knows, or a line of it that cannot be read."""

    path: str
    line: int | None


class NotFound(MemholdError, LookupError):
    """No such id in this scope. An id of another scope gives exactly the same answer."""

    id: str


class Conflict(MemholdError):
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


class Forgotten(MemholdError):
    """What was asked for was forgotten for good and cannot be brought back."""

    id: str


class StoreError(MemholdError):
    """The store could not do its work. The call was not acknowledged; earlier writes are safe."""


class StoreClosed(StoreError):
    """The store was closed."""


class StoreBusy(StoreError):
    """Another process held the file for longer than `busy_timeout`; try again."""


class StoreUnreachable(StoreError):
    """The database cannot be reached, or refuses to let us in. Nothing of this call was stored."""


class OutcomeUnknown(StoreError):
    """The connection was lost after the commit was sent, and nothing tells whether it took effect.

    Send it again with the same idempotency key: it is written once.
    """


class StoreFull(StoreError):
    """There is no room on the disk. Every acknowledged write is there; writing goes on when there is room."""


class StoreReadOnly(StoreError):
    """The file or its folder cannot be written."""


class StoreCorrupt(StoreError):
    """The file is damaged: run `memhold doctor`, then `memhold restore`."""


class CorruptIndex(StoreCorrupt):
    """A block of the words index is damaged: `memhold reindex` builds it anew from the texts.

    `first` is the document number that the block begins with, `reason` what does not fit.
    """

    first: int
    reason: str


class NotAStore(StoreError):
    """The path is not a Memhold file; it was left untouched."""

    path: str


class NewerStore(StoreError):
    """The file was written by a newer Memhold; it was left untouched."""

    found: int
    supported: int


class ReadTimeout(StoreError):
    """A read took longer than the setting `read_timeout` and was stopped: ask for less, or raise that setting."""


FailureClass = Literal["retry", "resample", "next", "park", "shorten", "poison", "auth"]
"""What a failed call means for the work: see the table of classes in docs/models.md."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One call to one model, plain data: what is kept of a failure. `cls` is None when the model answered.

    `reason` is in our words; `said` are the provider's first words, with everything masked that is not of errors.
    """

    model: str
    cls: FailureClass | None
    status: int | None = None
    code: str | None = None
    reason: str = ""
    said: str = ""
    seconds: float = 0.0
    number: int = 1
    refused: bool = False
    retry_after: float | None = None


class ModelError(MemholdError):
    """A call to a model failed. It tells the shape of the failure and never a word of the user's.

    `cls` says what to do, `retry_after` how many seconds the provider asked for, `rule` which line of the classifier's
    table decided, `slow` whether the model took too long, `refused` whether it would not speak about this content,
    and `cause` the type of the exception underneath. `reason` is in our words; `said` are the provider's first ones,
    with everything masked that is not of errors. `attempts` are the calls that were made on the same model. `context`
    are the tokens that the model's context takes, where a refusal of a long request told them.
    """

    model: str
    cls: FailureClass
    status: int | None = None
    code: str | None = None
    retry_after: float | None = None
    rule: str = ""
    reason: str = ""
    said: str = ""
    slow: bool = False
    refused: bool = False
    cause: str | None = None
    attempts: tuple[Attempt, ...] = ()
    context: int | None = None


class ModelDamaged(ModelError):
    """A file of a local model is missing or not what was shipped; reinstall the package, or name another model."""

    path: str
    expected: str
    found: str


class ModelResting(ModelError):
    """The link was not asked: it rests for `retry_after` more seconds (None: until its key changes)."""


class ChainFailed(ModelError):
    """No link of a chain gave an answer. `attempts` holds every call in order; `advice` is what the work should do.

    `retry`: try the whole chain later. `park`: every link rests, wait for `retry_after` or a new key. `shorten`: ask
    again with less. `poison`: no model can, set the work aside. `refused`: three different models would not.
    """

    advice: Literal["retry", "park", "shorten", "poison", "refused"]


class AccessDenied(MemholdError):
    """A server did not let the call in; nothing was done."""


class Unauthenticated(AccessDenied):
    """There was no token, or one that is unknown, expired or revoked; a server does not say which."""


class ScopeDenied(AccessDenied):
    """A scope that the token is not bound to, or a right (`right`) that it does not carry."""

    right: str | None = None


class RateLimited(AccessDenied):
    """Too many calls; the next one may come in `retry_after` seconds."""

    retry_after: float


class ServerUnreachable(MemholdError):
    """No answer came from a server.

    `sent` is false where the call cannot have been carried out; true where it may have been: the same call with the
    same idempotency key settles it.
    """

    sent: bool


class BackupDamaged(MemholdError):
    """A backup that does not agree with its manifest; nothing was restored."""

    path: str


class WrongLoop(MemholdError):
    """An AsyncMemhold was used from another event loop than the one that opened it."""


class ForkedProcess(MemholdError):
    """A store was used after a fork; open it again in the child."""
