"""Decoded word indexes, kept while their scope's index is unchanged: a question after a question decodes nothing."""

from __future__ import annotations

from memhold.index.from_texts import from_texts
from memhold.index.kept_scopes import Kept, KeptScopes
from memhold.index.postings_arrays import DecodedIndex, decode
from memhold.ports.transaction import ReadTx
from memhold.values.errors import CorruptIndex

__all__ = ["IndexCache"]


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
