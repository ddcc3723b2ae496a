"""Verb suite: the harness that a subclass supplies, and what the cases share."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Protocol

__all__ = ["Harness", "Verbs", "facts", "fields", "found", "texts", "user"]

Verbs = Any
"""A scope with the public verbs, awaitable: `AsyncScope`, or anything that answers like it (a client over HTTP)."""


class Harness(Protocol):
    """One empty Memhold under test, with a clock that the suite moves."""

    def scope(
        self,
        *,
        namespace: str = "default",
        user: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        actor: str = "user",
    ) -> Verbs:
        """The verbs for one scope."""
        ...

    async def advance(self, span: timedelta) -> None:
        """Move the clock of the Memhold under test; a negative span sets it back."""
        ...

    async def settle(self) -> None:
        """Do the work that is due until none is."""
        ...


def user(text: str, **fields: Any) -> dict[str, Any]:
    """A message of the user."""
    return {"role": "user", "content": text, **fields}


def texts(answer: Any) -> list[str]:
    """The texts of a recall's hits, in order."""
    return [hit.text for hit in answer.hits]


def found(answer: Any) -> list[str]:
    """The texts of those hits that a signal found, without what only fills the first page."""
    return [hit.text for hit in answer.hits][: answer.total]


def fields(answer: Any, name: str) -> list[Any]:
    """One field of a recall's hits, in order."""
    return [getattr(hit, name) for hit in answer.hits]


async def facts(scope: Verbs, states: tuple[str, ...] | None = ("active",)) -> list[str]:
    """The values of the scope's facts in some states, by age."""
    page = await scope.list(kinds=("fact",), states=states, limit=1000)
    return [memory.value for memory in page.items]
