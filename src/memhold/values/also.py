"""Further scopes that a read names beside its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memhold.values.errors import InvalidInput
from memhold.values.records import Scope

__all__ = ["MAX_ALSO", "named_scopes"]

MAX_ALSO = 8
"""Each of them costs a recall of its own."""
_NAMES = ("namespace", "user", "agent")


def named_scopes(own: Scope, also: Sequence[Mapping[str, Any]]) -> tuple[Scope, ...]:
    """The scopes that a read from `own` names, each once and in their order, without `own` itself.

    What one of them leaves out is as in `own`; none has a session, since a read looks across all of them.

    Raises:
        InvalidInput: one has a name that no scope has, or there are too many.
        InvalidScope: a name cannot be used.
    """
    if len(also) > MAX_ALSO:
        raise InvalidInput(f"also names {len(also)} scopes; name at most {MAX_ALSO}")
    found = []
    for one in also:
        if not isinstance(one, Mapping):
            raise InvalidInput(f"also names {one!r:.40}; pass objects with {', '.join(_NAMES)}")
        if unknown := one.keys() - set(_NAMES):
            raise InvalidInput(f"also does not know {min(map(str, unknown))!r:.60}; known are: {', '.join(_NAMES)}")
        names = {name: getattr(own, name) for name in _NAMES} | dict(one)
        found.append(Scope(**names, actor=own.actor))
    mine = Scope(namespace=own.namespace, user=own.user, agent=own.agent, actor=own.actor)
    return tuple(one for one in dict.fromkeys(found) if one != mine)
