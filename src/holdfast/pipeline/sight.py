"""What a verb may see of its scope: with an agent that agent's rows and those of no agent, without one all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from holdfast.model import Memory, Message, Scope
from holdfast.transaction import ReadTx

__all__ = ["has_labels", "page_of_messages", "seen", "sees"]

T = TypeVar("T", Message, Memory)


def sees(scope: Scope, item: Message | Memory) -> bool:
    """Whether the scope's agent may see a row of its user."""
    return scope.agent is None or item.agent in {None, scope.agent}


def seen(tx: ReadTx, found: Iterable[T]) -> list[T]:
    """Those of the rows that the transaction's scope sees."""
    return [item for item in found if sees(tx.scope, item)]


def has_labels(wanted: Sequence[str], held: Sequence[str]) -> bool:
    """Whether all of these topics or entities are among those; labels are compared without case."""
    return {label.casefold() for label in wanted} <= {label.casefold() for label in held}


def page_of_messages(tx: ReadTx, session: str, *, after: int, limit: int) -> list[Message]:
    """The first messages of a session behind `after` that the scope sees: fewer than `limit` only at the end."""
    found: list[Message] = []
    while page := tx.messages(session, after=after, limit=limit):
        found += seen(tx, page)
        if len(found) >= limit or len(page) < limit:
            break
        after = page[-1].seq
    return found[:limit]
