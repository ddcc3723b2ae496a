"""Which messages of a conversation another person than its user wrote: told by the names that they came with. Pure.

Roles know one user and one assistant. Where several people talk, a name stands beside the role, and the names of a
conversation together tell who of them is somebody else than the user.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memhold.messages.ingest import Draft, attribute
from memhold.values.names import folded
from memhold.values.records import Message

__all__ = ["HEARD", "told_apart"]

HEARD = 64
"""The last messages of a session whose names are known when the next ones arrive."""


@dataclass(frozen=True, slots=True)
class _Voices:
    """The names that stand in the role user, and whether the assistant works with tools here: then it is a program."""

    names: frozenset[str]
    works: bool

    @staticmethod
    def of(messages: Iterable[Message | Draft]) -> _Voices:
        held = list(messages)
        return _Voices(
            frozenset(folded(one.speaker) for one in held if one.role == "user" and one.typed and one.speaker),
            any(one.works for one in held),
        )

    def another(self, draft: Draft, user: str | None) -> bool:
        """Whether the name of a message is another person's than the user's."""
        name = folded(draft.speaker or "")
        if not name or name == folded(user or ""):
            return False
        if draft.role == "user":
            return bool(self.names - {name})
        return draft.role == "assistant" and bool(self.names) and name not in self.names and not self.works


def told_apart(
    drafts: Sequence[Draft], before: Iterable[Message] = (), *, user: str | None, agent: str | None
) -> tuple[Draft, ...]:
    """The drafts, which say who brought them, with what other people than the user wrote as theirs.

    Who another person is stands in `memhold.values.written_by`. It is decided by the names in the drafts and in the
    messages of the session `before` them. What an `agent` keeps as its own has no second person in the role assistant.
    A draft of which that changes nothing is the same object.
    """
    if not any(draft.speaker for draft in drafts):
        return tuple(drafts)
    voices = _Voices.of([*before, *drafts])

    def told(draft: Draft) -> Draft:
        own = draft.role == "assistant" and agent is not None
        other = not own and voices.another(draft, user)
        return draft if other == draft.other_person else attribute(draft, draft.origin, other_person=other)

    return tuple(told(draft) for draft in drafts)
