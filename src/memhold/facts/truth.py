"""What is no longer so in the scopes that were asked last, by what their facts say of messages and summaries."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TypeAlias

from memhold.facts.outdated import Outdated, outdated
from memhold.index.kept_scopes import Kept, KeptScopes
from memhold.ports.transaction import ReadTx

__all__ = ["TruthCache"]

_ENTRY_BYTES = 1024
_OfAgents: TypeAlias = Mapping[str | None, Mapping[int, Outdated]]


class TruthCache:
    """What is no longer so in the scopes that were asked last, kept while their index is unchanged."""

    def __init__(self, scopes: KeptScopes) -> None:
        self._kept: Kept[tuple[int, _OfAgents]] = Kept(scopes, lambda held: sum(map(_size, held[1].values())))

    def outdated(self, tx: ReadTx) -> Mapping[int, Outdated]:
        """What of the scope says something that is no longer so, as its agent sees it, by document number.

        What replaced something and was replaced itself comes first.
        """
        rev, agent = tx.index_rev(), tx.scope.agent
        held = self._kept.get(tx.scope)
        of_agents = held[1] if held is not None and held[0] == rev else {}
        if agent in of_agents:
            return of_agents[agent]
        found = outdated(tx)
        self._kept.put(tx.scope, (rev, {**of_agents, agent: found}))
        return found


def _size(found: Mapping[int, Outdated]) -> int:
    """Bytes that it takes, by estimate: the objects of each entry, and the words in them."""
    words = (word for one in found.values() for ended in one.values for word in (ended.value, ended.now or ""))
    return _ENTRY_BYTES * len(found) + sum(map(sys.getsizeof, words))
