"""What is no longer so in a scope: what facts say of messages and summaries, and what messages say of each other."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from memhold.facts.claimed import MOST, claimed
from memhold.facts.outdated import Outdated, outdated
from memhold.index.documents import KIND_OF
from memhold.index.marks import CLAIMING
from memhold.ports.postings import term_key
from memhold.ports.transaction import ReadTx

if TYPE_CHECKING:
    from memhold.index.postings_arrays import DecodedIndex

__all__ = ["TruthCache"]


class TruthCache:
    """What is no longer so in the scopes that were asked last, kept while their index is unchanged."""

    def __init__(self, scopes: int = 256) -> None:
        self._scopes = scopes
        self._entries: OrderedDict[tuple[str, str | None], tuple[int, Mapping[int, Outdated]]] = OrderedDict()
        self._lock = threading.Lock()

    def outdated(self, tx: ReadTx, index: DecodedIndex) -> Mapping[int, Outdated]:
        """What of the scope says something that is no longer so, by document number.

        What a fact says of a message goes before what a later message says of it. What replaced something and was
        replaced itself comes first.
        """
        key, rev = (tx.scope.namespace, tx.scope.user), tx.index_rev()
        with self._lock:
            held = self._entries.get(key)
        if held is not None and held[0] == rev:
            return held[1]
        both = {**claimed(tx, _claiming(index)), **outdated(tx)}
        found = dict(sorted(both.items(), key=lambda entry: -entry[1].by_number))
        with self._lock:
            self._entries[key] = (rev, found)
            self._entries.move_to_end(key)
            while len(self._entries) > self._scopes:
                self._entries.popitem(last=False)
        return found


def _claiming(index: DecodedIndex) -> list[int]:
    """The numbers of the messages that claim something and may be shown, the latest as many as are read."""
    import numpy as np

    rows = index.find(np.array([term_key(CLAIMING)], dtype=np.uint64)).row
    rows = rows[index.living[rows] & (index.columns["kind"][rows] == KIND_OF["message"])]
    numbers: list[int] = np.sort(index.numbers[rows])[-MOST:].tolist()
    return numbers
