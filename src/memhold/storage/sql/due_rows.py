"""What statements about due work are given: which kinds, when, whose, and which row."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from memhold.ports.stores import LONGEST_LEASE
from memhold.values.answers import Due
from memhold.values.records import Scope, micros

__all__ = ["EVER", "at_params", "due_params", "listed_kinds", "whose_params"]

EVER = 2**62
"""A time behind all others."""


def listed_kinds(kinds: Sequence[str]) -> str:
    """Kinds as one text in which each stands between commas."""
    return f",{','.join(kinds)},"


def at_params(now: datetime) -> dict[str, int]:
    """Now, and where the longest lease ends: one that runs for longer is of a clock that was ahead, and is none."""
    return {"now": micros(now), "longest": micros(now + LONGEST_LEASE)}


def whose_params(scope: Scope | None) -> dict[str, Any]:
    """Whose due work is meant; None for everybody's."""
    return {"of_namespace": None if scope is None else scope.namespace, "of_user": (scope and scope.user) or ""}


def due_params(due: Due) -> dict[str, Any]:
    """Which row of due work is meant."""
    return {"namespace": due.namespace, "user_id": due.user or "", "kind": due.kind, "ref": due.ref}
