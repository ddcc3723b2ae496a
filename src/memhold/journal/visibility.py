"""What a verb may see of its scope: with an agent that agent's rows and those of no agent, without one all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from memhold.journal.beside import ended_for, visible
from memhold.ports.transaction import ReadTx
from memhold.values.errors import InvalidInput, NotFound
from memhold.values.records import Memory, Message, Scope, Session

__all__ = ["checked_id", "ended", "seen", "sees", "sees_session"]

T = TypeVar("T", Message, Memory)


def sees(scope: Scope, item: Message | Memory) -> bool:
    """Whether the scope's agent may see a row of its user."""
    return scope.agent is None or item.agent in {None, scope.agent}


def ended(tx: ReadTx, session: Session) -> Session:
    """The session, ended: what came up to now leaves the prompt; where others speak too, that of its agent alone."""
    agent = tx.scope.agent
    window = () if agent is None else tx.messages(session.name, after=session.window_start, every_agent=True)
    if agent is not None and not all(sees(tx.scope, message) for message in window):
        return ended_for(session, agent, tx.now)
    return replace(session, window_start=session.last_seq, ended_at=tx.now)


def sees_session(tx: ReadTx, session: Session) -> bool:
    """Whether the scope sees a message of a session, or what is kept beside it; without an agent it sees every one."""
    agent = tx.scope.agent
    return agent is None or bool(visible(session, agent) or tx.messages(session.name, limit=1))


def checked_id(item: str) -> str:
    """An id that a caller gave, as far as it can be one.

    Raises:
        InvalidInput: it is no text.
        NotFound: it holds half a surrogate pair, which no id does.
    """
    if not isinstance(item, str):
        raise InvalidInput(f"an id is text, not {type(item).__name__}; pass the id that a receipt or a hit gave")
    if any(0xD800 <= ord(c) <= 0xDFFF for c in item):
        raise NotFound(f"nothing with the id {item!r:.80} in this scope", id=item)
    return item


def seen(tx: ReadTx, found: Iterable[T]) -> list[T]:
    """Those of the rows that the transaction's scope sees."""
    return [item for item in found if sees(tx.scope, item)]
