"""How a store is opened by the scheme of its location: what packages register as entry points `memhold.stores`.

An entry point's name is the scheme (`myscheme` for `myscheme://…`), its object a `StoreFactory`. A scheme of
Memhold's own cannot be taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from memhold.ports.stores import Clock, Ids, Store

if TYPE_CHECKING:
    from memhold.ports.maintenance import Maintenance
    from memhold.values.answers import Residue

__all__ = ["STORES", "OpenedStore", "StoreFactory", "StoreSettings"]

STORES = "memhold.stores"
"""The group of entry points under which stores are registered."""


class StoreSettings(Protocol):
    """The settings of `open` that any store can honour; see `docs/reference/settings.md` for each."""

    @property
    def busy_timeout(self) -> float:
        """Seconds to wait for another process's lock before `StoreBusy`."""
        ...

    @property
    def read_timeout(self) -> float:
        """Seconds after which a read is stopped with `ReadTimeout`."""
        ...

    @property
    def key(self) -> str:
        """What the content is encrypted with; empty for no encryption. A store that cannot must refuse another."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedStore:
    """A store that is open, and what looks after it where the store keeps files of its own.

    `residue` tells where the bytes of a text still are in those files; `maintenance` makes backups and check-ups.
    Without them the verbs that need them say that this store has none.
    """

    store: Store
    residue: Callable[[str], Residue] | None = None
    maintenance: Maintenance | None = None


class StoreFactory(Protocol):
    """Opens the store at a location."""

    async def __call__(self, location: str, *, settings: StoreSettings, clock: Clock, ids: Ids) -> OpenedStore:
        """The store there, made where there is none; whoever opened it closes it.

        `location` is the whole text, scheme included. What is recorded takes its time from `clock`; `ids` are for a
        store that names itself.

        Raises:
            InvalidInput: the location cannot be read.
            StoreError: the store cannot be opened; it was left untouched.
        """
        ...
