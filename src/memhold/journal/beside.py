"""What an application keeps beside a session: whose it is, hidden with what a change hides, and seen again.

It is kept as a row is: an agent's is that agent's own, what is kept without an agent is for all. What is hidden stays
in the session's metadata under a name that nobody is shown, by the change that hid it. What was seen again keeps the
change that showed it, so that this can be undone too. Where an agent ended a session in which others go on, that stands
there too. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from memhold.values.records import Session, from_micros, micros

__all__ = [
    "RESERVED",
    "agents_of",
    "began_after",
    "brought",
    "cleared",
    "ended_at",
    "ended_for",
    "has_all_of",
    "hidden",
    "is_others",
    "kept_there",
    "reopened",
    "revealed",
    "shown_to",
    "visible",
    "with_brought",
    "with_kept",
    "without",
]

_HIDDEN: Final = "memhold:hidden"
_AGENTS: Final = "memhold:agents"
_ENDED: Final = "memhold:ended"
RESERVED: Final = frozenset({_HIDDEN, _AGENTS, _ENDED})
"""Names of the metadata that are Memhold's own; no application's metadata may have one."""

_Own = dict[str, Mapping[str, Any]]
"""By agent what is kept for it, the newest last."""


def visible(session: Session, agent: str | None) -> Mapping[str, Any]:
    """What an agent sees: its own where it has some, else what is for all; without an agent what was kept last."""
    return _seen(session.metadata, agent)


def with_kept(session: Session, kept: Mapping[str, Any], agent: str | None) -> Session:
    """The session with other metadata of an agent; without one it is in the place of every agent's."""
    shared, own = _parts(session.metadata)
    own.pop(agent or "", None)
    if agent is None:
        shared, own = dict(kept), {}
    elif kept or shared:
        own[agent] = kept
    return _with(session, _whole(shared, own), _marks(session))


def shown_to(session: Session, agent: str | None) -> dict[str, Any]:
    """All that is not hidden and that an agent may see, as it is stored: for a copy, or an export."""
    shared, own = _parts(session.metadata)
    return _whole(shared, {name: kept for name, kept in own.items() if agent in {None, name}})


def brought(metadata: Mapping[str, Any], agent: str | None) -> dict[str, Any]:
    """What an export has, as it is stored here: an agent brings it as its own, whoever's it was."""
    if agent is None:
        return _whole(*_parts(metadata))
    kept = _seen(metadata, None)
    return _whole({}, {agent: kept} if kept else {})


def agents_of(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """The agents that something of it is the own of."""
    return tuple(_parts(metadata)[1])


def with_brought(session: Session, metadata: Mapping[str, Any], out: Iterable[str] = ()) -> Session:
    """The session with what another had, as far as nothing is there already; nothing of the agents in `out`."""
    shared, own = _parts(metadata)
    held = _parts(session.metadata)[1]
    own = {name: kept for name, kept in own.items() if name not in held and name not in out}
    return _with(session, _joined(_whole(shared, own), shown_to(session, None)), _marks(session))


def kept_there(session: Session, agent: str | None) -> bool:
    """Whether something is kept beside it that an agent sees, or anything is hidden."""
    return bool(visible(session, agent) or _marks(session))


def is_others(session: Session, agent: str) -> bool:
    """Whether something is kept beside it, shown or hidden, that is another agent's."""
    held = [session.metadata, *(mark["kept"] for mark in _marks(session) if "kept" in mark)]
    return any(name != agent for one in held for name in _parts(one)[1])


def without(session: Session, agent: str) -> Session:
    """The session without what is an agent's own beside it, shown or hidden."""
    marks = [
        mark if "kept" not in mark else {**mark, "kept": _split(mark["kept"], agent)[1]} for mark in _marks(session)
    ]
    rest = _split(shown_to(session, None), agent)[1]
    return _with(session, rest, [mark for mark in marks if mark.get("kept") != {}])


def hidden(session: Session, by: str, *, agent: str | None = None, again: str | None = None) -> Session:
    """The session with its metadata, or what is an agent's own of it, hidden by a change.

    With `again` only what that change showed.
    """
    marks = _marks(session)
    shown = next((mark for mark in marks if mark["by"] == again and "kept" not in mark), None)
    if again is not None:
        if shown is None:
            return session
        agent = shown.get("agent")
    kept, rest = _split(shown_to(session, None), agent)
    if not kept:
        return session
    mark = {"by": by, "kept": kept} | ({} if agent is None else {"agent": agent})
    return _with(session, rest, [*(one for one in marks if "kept" in one), mark])


def revealed(session: Session, hidden_by: str, by: str) -> Session:
    """The session with what a change hid of it, noted as shown by another; what was put since counts more."""
    marks = _marks(session)
    back = next((mark for mark in marks if mark["by"] == hidden_by and "kept" in mark), None)
    if back is None:
        return session
    others = [mark for mark in marks if mark["by"] != hidden_by and "kept" in mark]
    shown = {name: value for name, value in back.items() if name != "kept"} | {"by": by}
    return _with(session, _joined(back["kept"], shown_to(session, None)), [*others, shown])


def cleared(session: Session) -> Session:
    """The session without what is kept beside it, shown or hidden."""
    return _with(session, {}, [])


def ended_for(session: Session, agent: str, at: datetime) -> Session:
    """The session, ended for one agent: the others' windows go on."""
    ends = {**_ends(session), agent: [session.last_seq, micros(at)]}
    return replace(session, metadata={**session.metadata, _ENDED: ends})


def began_after(session: Session, agent: str | None) -> int:
    """Behind which `seq` the window of a prompt begins, for an agent or for all of them."""
    own = _ends(session).get(agent or "", (0, 0))
    return max(session.window_start, own[0])


def ended_at(session: Session, agent: str | None, last_at: datetime) -> datetime | None:
    """When it was ended and nothing was added since that the agent sees; the last of that was at `last_at`."""
    own = _ends(session).get(agent or "")
    at = None if own is None else from_micros(own[1])
    return at if session.ended_at is None and at is not None and at >= last_at else session.ended_at


def reopened(session: Session, after: int) -> Session:
    """The session without the ends of single agents behind a `seq`."""
    ends = {agent: end for agent, end in _ends(session).items() if end[0] <= after}
    rest = {name: value for name, value in session.metadata.items() if name != _ENDED}
    return replace(session, metadata={**rest, **({_ENDED: ends} if ends else {})})


def has_all_of(session: Session, other: Session) -> bool:
    """Whether all that is kept beside the other, shown or hidden, is kept beside this one: as beside a copy of it."""
    held = _all(session)
    return all(kept in held for kept in _all(other))


def _all(session: Session) -> list[Mapping[str, Any]]:
    every = [session.metadata, *(mark["kept"] for mark in _marks(session) if "kept" in mark)]
    return [kept for one in every for shared, own in [_parts(one)] for kept in (shared, *own.values()) if kept]


def _seen(metadata: Mapping[str, Any], agent: str | None) -> Mapping[str, Any]:
    shared, own = _parts(metadata)
    if agent is not None:
        return own.get(agent, shared)
    return next((kept for kept in reversed(own.values()) if kept), shared)


def _parts(metadata: Mapping[str, Any]) -> tuple[dict[str, Any], _Own]:
    """What is for all, and what is each agent's own."""
    held = metadata.get(_AGENTS)
    own: _Own = {}
    for one in held if isinstance(held, list) else ():
        if isinstance(one, Mapping) and isinstance(one.get("agent"), str) and isinstance(one.get("kept"), Mapping):
            own[one["agent"]] = one["kept"]
    return {name: value for name, value in metadata.items() if name not in RESERVED}, own


def _whole(shared: Mapping[str, Any], own: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    agents = [{"agent": name, "kept": dict(kept)} for name, kept in own.items()]
    return {**shared, **({_AGENTS: agents} if agents else {})}


def _joined(back: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, Any]:
    """Both, where what is shown counts more."""
    (first, own), (shared, held) = _parts(back), _parts(shown)
    return _whole({**first, **shared}, {name: kept for name, kept in own.items() if name not in held} | held)


def _split(kept: Mapping[str, Any], agent: str | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is an agent's own of it, and the rest; all of it without an agent."""
    shared, own = _parts(kept)
    if agent is None:
        return _whole(shared, own), {}
    mine = {agent: own.pop(agent)} if agent in own else {}
    return _whole({}, mine), _whole(shared, own)


def _with(session: Session, shown: Mapping[str, Any], marks: Sequence[Mapping[str, Any]]) -> Session:
    own = {_HIDDEN: [*marks], _ENDED: _ends(session)}
    return replace(session, metadata={**shown, **{name: value for name, value in own.items() if value}})


def _ends(session: Session) -> dict[str, list[int]]:
    """By agent the `seq` and the time at which it ended the session for itself."""
    held = session.metadata.get(_ENDED)
    return dict(held) if isinstance(held, dict) else {}


def _marks(session: Session) -> list[dict[str, Any]]:
    held = session.metadata.get(_HIDDEN)
    return list(held) if isinstance(held, list) else []
