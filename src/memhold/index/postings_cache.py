"""Decoded word indexes, kept while their scope's index is unchanged: a question after a question decodes nothing."""

from __future__ import annotations

import threading
from collections import OrderedDict

from memhold.index.from_texts import from_texts
from memhold.index.postings_arrays import DecodedIndex, decode
from memhold.ports.transaction import ReadTx
from memhold.values.errors import CorruptIndex

__all__ = ["IndexCache"]

_Key = tuple[str, str | None]


class IndexCache:
    """The decoded indexes that were asked last, up to a number of bytes in all; safe to share between threads.

    An entry is used only while the scope's index still has the number that it had when it was decoded, so an answer is
    the same with the cache as without.
    """

    def __init__(self, max_bytes: int = 64 * 1024 * 1024) -> None:
        self._max_bytes = max_bytes
        self._entries: OrderedDict[_Key, tuple[int, DecodedIndex]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """Bytes that it holds."""
        with self._lock:
            return self._held()

    def _held(self) -> int:
        return sum(entry.nbytes for _, entry in self._entries.values())

    def index(self, tx: ReadTx) -> DecodedIndex:
        """The decoded index of the transaction's scope, as of its snapshot.

        Where blocks are damaged, what they held is read from the texts, and `damage` says so.
        """
        key = (tx.scope.namespace, tx.scope.user)
        rev = tx.index_rev()
        with self._lock:
            held = self._entries.get(key)
            if held is not None and held[0] == rev:
                self._entries.move_to_end(key)
                return held[1]
        decoded = _decoded(tx)
        if held is not None:
            decoded = decoded.following(held[1])
        with self._lock:
            self._entries[key] = (rev, decoded)
            self._entries.move_to_end(key)
            while len(self._entries) > 1 and self._held() > self._max_bytes:
                self._entries.popitem(last=False)
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
