"""What is no longer so in a scope: what facts say of messages and summaries, and what messages say of each other."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from memhold.facts.claimed import MOST, claimed
from memhold.facts.outdated import Outdated, outdated
from memhold.index.documents import KIND_OF
from memhold.index.kept_scopes import Kept, KeptScopes
from memhold.index.marks import CLAIMING
from memhold.ports.postings import term_key
from memhold.ports.transaction import ReadTx

if TYPE_CHECKING:
    from memhold.index.postings_arrays import DecodedIndex

__all__ = ["TruthCache"]

_ENTRY_BYTES = 1024
_OfAgents: TypeAlias = Mapping[str | None, Mapping[int, Outdated]]


class TruthCache:
    """What is no longer so in the scopes that were asked last, kept while their index is unchanged."""

    def __init__(self, scopes: KeptScopes) -> None:
        self._kept: Kept[tuple[int, _OfAgents]] = Kept(scopes, lambda held: sum(map(_size, held[1].values())))

    def outdated(self, tx: ReadTx, index: DecodedIndex) -> Mapping[int, Outdated]:
        """What of the scope says something that is no longer so, as its agent sees it, by document number.

        What a fact says of a message goes before what a later message says of it. What replaced something and was
        replaced itself comes first.
        """
        rev, agent = tx.index_rev(), tx.scope.agent
        held = self._kept.get(tx.scope)
        of_agents = held[1] if held is not None and held[0] == rev else {}
        if agent in of_agents:
            return of_agents[agent]
        both = {**claimed(tx, _claiming(index)), **outdated(tx)}
        found = dict(sorted(both.items(), key=lambda entry: -entry[1].by_number))
        self._kept.put(tx.scope, (rev, {**of_agents, agent: found}))
        return found


def _size(found: Mapping[int, Outdated]) -> int:
    """Bytes that it takes, by estimate: the objects of each entry, and the words in them."""
    words = (word for one in found.values() for ended in one.values for word in (ended.value, ended.now or ""))
    return _ENTRY_BYTES * len(found) + sum(map(sys.getsizeof, words))


def _claiming(index: DecodedIndex) -> list[int]:
    """The numbers of the messages that claim something and may be shown, the latest as many as are read."""
    import numpy as np

    rows = index.find(np.array([term_key(CLAIMING)], dtype=np.uint64)).row
    rows = rows[index.living[rows] & (index.columns["kind"][rows] == KIND_OF["message"])]
    numbers: list[int] = np.sort(index.numbers[rows])[-MOST:].tolist()
    return numbers
