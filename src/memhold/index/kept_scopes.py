"""What a process keeps of scopes between questions, of every kind together up to a number of bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from memhold.index.from_texts import from_texts
from memhold.index.postings_arrays import DecodedIndex, decode
from memhold.ports.transaction import ReadTx
from memhold.values.errors import CorruptIndex
from memhold.values.records import Scope

__all__ = ["MOST_BYTES", "IndexCache", "Kept", "KeptScopes"]

V = TypeVar("V")

MOST_BYTES = 256 * 1024 * 1024
ENTRY_BYTES = 8 * 1024
"""What is kept of a scope takes so much beside its arrays: names, objects, and the heads of some forty small arrays."""

_Whose: TypeAlias = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class _Entry:
    value: Any
    nbytes: int


class KeptScopes:
    """What is kept of the scopes that were asked last, up to a number of bytes; safe to share between threads.

    Where it is too much, the scope that was asked longest ago goes, with everything that is kept of it. The scope that
    was asked last stays whatever it takes: each question of a large one would else read it anew.
    """

    def __init__(self, max_bytes: int = MOST_BYTES) -> None:
        self._max_bytes = max_bytes
        self._scopes: OrderedDict[_Whose, dict[object, _Entry]] = OrderedDict()
        self._nbytes = 0
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """Bytes that it holds, by estimate."""
        return self._nbytes

    def __len__(self) -> int:
        return len(self._scopes)

    def get(self, scope: Scope, kind: object) -> Any | None:
        """What is kept of a scope; it counts as asked now."""
        whose = _whose(scope)
        with self._lock:
            held = self._scopes.get(whose)
            if held is None:
                return None
            self._scopes.move_to_end(whose)
            entry = held.get(kind)
            return None if entry is None else entry.value

    def put(self, scope: Scope, kind: object, value: Any, nbytes: int) -> None:
        """Keep this of a scope, in the place of what was kept of that kind."""
        whose = _whose(scope)
        with self._lock:
            held = self._scopes.setdefault(whose, {})
            self._scopes.move_to_end(whose)
            before = held.get(kind)
            held[kind] = entry = _Entry(value, nbytes + ENTRY_BYTES)
            self._nbytes += entry.nbytes - (0 if before is None else before.nbytes)
            while self._nbytes > self._max_bytes and len(self._scopes) > 1:
                _, gone = self._scopes.popitem(last=False)
                self._nbytes -= sum(one.nbytes for one in gone.values())


class Kept(Generic[V]):
    """One kind of what is kept of scopes; `size` says how many bytes one takes."""

    def __init__(self, scopes: KeptScopes, size: Callable[[V], int]) -> None:
        self._scopes = scopes
        self._size = size

    def get(self, scope: Scope) -> V | None:
        """What is kept of a scope; None where nothing is."""
        found: V | None = self._scopes.get(scope, self)
        return found

    def put(self, scope: Scope, value: V) -> None:
        """Keep this of a scope, in the place of what was kept before."""
        self._scopes.put(scope, self, value, self._size(value))


def _whose(scope: Scope) -> _Whose:
    return scope.namespace, scope.user


class IndexCache:
    """The decoded indexes of the scopes that were asked last.

    An entry is used only while the scope's index still has the number that it had when it was decoded, so an answer is
    the same with the cache as without.
    """

    def __init__(self, scopes: KeptScopes) -> None:
        self._kept: Kept[tuple[int, DecodedIndex]] = Kept(scopes, lambda held: held[1].nbytes)

    def index(self, tx: ReadTx) -> DecodedIndex:
        """The decoded index of the transaction's scope, as of its snapshot.

        Where blocks are damaged, what they held is read from the texts, and `damage` says so.
        """
        rev = tx.index_rev()
        held = self._kept.get(tx.scope)
        if held is not None and held[0] == rev:
            return held[1]
        decoded = _decoded(tx)
        if held is not None:
            decoded = decoded.following(held[1])
        self._kept.put(tx.scope, (rev, decoded))
        return decoded

    def whole(self, tx: ReadTx) -> DecodedIndex:
        """The same, for whoever draws conclusions from what is not in it.

        Raises:
            CorruptIndex: blocks are damaged, and too many documents to be read from their texts stood in them.
        """
        index = self.index(tx)
        if index.damage is not None and not index.complete:
            raise index.damage
        return index


def _decoded(tx: ReadTx) -> DecodedIndex:
    blocks = tx.blocks()
    try:
        return decode(blocks)
    except CorruptIndex as error:
        held, complete = from_texts(tx, blocks)
        made = decode(held)
        made.damage, made.complete = error.with_traceback(None), complete
        return made
