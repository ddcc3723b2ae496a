"""Who of several people said what, as the index of a scope tells it, and whose words are meant by "I" and "my". Pure.

A name is the user's where it is the name of the scope's user, or where nothing that came with it was written by another
person than the user (`memhold.messages.ingest` decides that, line by line). A name that nobody came with is the user's
only where no other person ever spoke here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memhold.index.documents import KIND_OF, NAMED, ROLE_OF, said_by
from memhold.index.postings_arrays import DecodedIndex
from memhold.ports.postings import term_key
from memhold.values.names import folded
from memhold.values.records import Memory

if TYPE_CHECKING:
    from memhold.values.arrays import Mask

__all__ = ["People"]

_THEIRS = (KIND_OF["fact"], KIND_OF["instruction"])
"""Memories that are the user's where they bear no name; a note or a summary without one is nobody's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """The people of a scope: `index` is the scope's, `user` the name of its user, if it has one."""

    index: DecodedIndex
    user: str | None

    def named(self, name: str) -> Mask:
        """What was said by somebody of this name, or by somebody whose name has all of its words."""
        import numpy as np

        terms = sorted(term_key(term) for term in said_by(name) if term != NAMED)
        found = self.index.find(np.array(terms, dtype=np.uint64))
        count = np.zeros(len(self.index), dtype=np.int64)
        np.add.at(count, found.row, 1)
        return (count == len(terms)) if terms else np.zeros(len(self.index), dtype=np.bool_)

    @property
    def several(self) -> bool:
        """Whether another person than the user ever spoke here."""
        return bool((self._participants & self.index.living).any())

    def is_user(self, name: str) -> bool:
        """Whether a name is the user's."""
        if folded(name) == folded(self.user or ""):
            return True
        said = self.named(name) & self._spoken & self.index.living
        return not bool((said & self._participants).any()) if said.any() else not self.several

    def owns(self, asker: str | None, memory: Memory) -> bool:
        """Whether what was told is of whoever asks; where that is not known, whether it is the user's."""
        name = memory.speaker
        if asker is None:
            return name is None or self.is_user(name)
        if name is not None and folded(name) == folded(asker):
            return True
        return self.is_user(asker) and (name is None or self.is_user(name))

    def own(self, asker: str) -> Mask:
        """What whoever asks said, and what they told of themselves."""
        kind = self.index.columns["kind"]
        memories = kind != KIND_OF["message"]
        mine: Mask = self.named(asker) & (self._spoken | memories)
        if self.is_user(asker):
            user = self.index.columns["role"] == ROLE_OF["user"]
            mine |= ~self._with_a_name & ((~memories & user) | memories)
        return mine

    def others(self, asker: str) -> Mask:
        """What other people said, or told of themselves."""
        import numpy as np

        kind = self.index.columns["kind"]
        told = (kind != KIND_OF["message"]) & (np.isin(kind, _THEIRS) | self._with_a_name)
        theirs: Mask = (self._spoken | told) & ~self.own(asker)
        return theirs

    @property
    def _participants(self) -> Mask:
        found: Mask = self._spoken & (self.index.columns["role"] == ROLE_OF["participant"])
        return found

    @property
    def _spoken(self) -> Mask:
        """Messages that people wrote."""
        import numpy as np

        columns = self.index.columns
        people = np.isin(columns["role"], [ROLE_OF["user"], ROLE_OF["participant"]])
        found: Mask = people & (columns["kind"] == KIND_OF["message"])
        return found

    @property
    def _with_a_name(self) -> Mask:
        import numpy as np

        named = np.zeros(len(self.index), dtype=np.bool_)
        named[self.index.find(np.array([term_key(NAMED)], dtype=np.uint64)).row] = True
        return named
