"""What follows a forget that is acknowledged: files that mirror the scope are written, and its bytes disappear."""

from __future__ import annotations

import math
from dataclasses import replace

from memhold.values.answers import Erasure
from memhold.values.errors import InvalidInput
from memhold.values.records import Scope
from memhold.verbs.runtime import Runtime

__all__ = ["checked_wait", "erased_to_the_end"]


def checked_wait(wait: object) -> None:
    """Refuse what is no time to wait.

    Raises:
        InvalidInput: it is no number of seconds from 0.
    """
    if not isinstance(wait, int | float) or not 0 <= wait < math.inf:
        raise InvalidInput(f"wait is {wait!r:.40}; pass how many seconds to wait for readers, 0 for none")


async def erased_to_the_end(runtime: Runtime, scope: Scope, done: Erasure, *, wait: float) -> Erasure:
    """The report of a forget with how far its bytes are gone, after waiting up to `wait` seconds for readers."""
    left = None if await runtime.mirrored(scope) else "mirror"
    if not done.hard:
        return replace(done, waiting_for=left)
    holding = await runtime.scrub(scope, wait)
    return replace(done, erased=holding is None and left is None, waiting_for=holding or left)
