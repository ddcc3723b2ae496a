"""What a verb may see of its scope: with an agent that agent's rows and those of no agent, without one all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from memhold.ports.transaction import ReadTx
from memhold.values.errors import InvalidInput, InvalidScope, NotFound
from memhold.values.names import checked_name
from memhold.values.records import Memory, Message, Scope

__all__ = ["checked_id", "checked_session", "has_labels", "page_of_messages", "seen", "sees"]

T = TypeVar("T", Message, Memory)


def sees(scope: Scope, item: Message | Memory) -> bool:
    """Whether the scope's agent may see a row of its user."""
    return scope.agent is None or item.agent in {None, scope.agent}


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


def checked_session(name: str | None) -> str | None:
    """The session that a filter names, in the form in which sessions are stored; `""` is the unnamed session.

    Raises:
        InvalidScope: no session can have that name.
    """
    if name:
        return checked_name(name, "session")
    if name is not None and not isinstance(name, str):
        raise InvalidScope(f"session is a {type(name).__name__}; pass its name, or leave it out for every session")
    return name


def seen(tx: ReadTx, found: Iterable[T]) -> list[T]:
    """Those of the rows that the transaction's scope sees."""
    return [item for item in found if sees(tx.scope, item)]


def has_labels(wanted: Sequence[str], held: Sequence[str]) -> bool:
    """Whether all of these topics or entities are among those; labels are compared without case."""
    return {label.casefold() for label in wanted} <= {label.casefold() for label in held}


def page_of_messages(
    tx: ReadTx, session: str, *, after: int, until: int | None = None, limit: int, newest: bool = False
) -> list[Message]:
    """Messages of a session with `after < seq <= until` that the scope sees, oldest first.

    The first `limit` of them, with `newest` the last: fewer only where there are no more.
    """
    found: list[Message] = []
    while page := tx.messages(session, after=after, until=until, limit=limit, newest=newest):
        found = [*seen(tx, page), *found] if newest else [*found, *seen(tx, page)]
        if len(found) >= limit or len(page) < limit:
            break
        after, until = (after, page[0].seq - 1) if newest else (page[-1].seq, until)
    return found[-limit:] if newest else found[:limit]
