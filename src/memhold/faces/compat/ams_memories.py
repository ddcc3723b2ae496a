"""Long-term memories of `agent-memory-client` on Memhold's verbs: store, find, change, search, forget by policy."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final
from weakref import WeakValueDictionary

from memhold.faces.compat.ams_values import (
    EVENT_MARK,
    ID_MARK,
    TYPE_MARK,
    PolicyBody,
    RecordIn,
    SearchBody,
    Whose,
    client_namespace,
    not_mapped,
    record_out,
    scope_of,
    split_id,
)
from memhold.facts.remember import MemoryInput, labels
from memhold.values.answers import Hit
from memhold.values.errors import Forgotten, InvalidInput, NotFound
from memhold.values.jsonable import iso, parse_time
from memhold.values.principal import Principal
from memhold.values.records import Memory, Scope
from memhold.verbs.scope import AsyncScope
from memhold.verbs.store_protocols import AsyncStore

__all__ = [
    "Namespaces",
    "change_record",
    "check_records",
    "equal_to",
    "forget_by_policy",
    "found",
    "record_held",
    "search",
    "store_record",
]

_KINDS: Final = ("fact", "note")
_NAMESPACES: Final = "ams:namespaces"
_WIDE: Final = 1000
"""How many hits are looked through where a filter has no counterpart in recall."""
_TIMES: Final[Mapping[str, Callable[[datetime, datetime], bool]]] = {
    "gt": lambda a, b: a > b,
    "gte": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "lte": lambda a, b: a <= b,
    "eq": lambda a, b: a == b,
}


class Namespaces:
    """Which namespaces a client has used below the token's own, by user: its ids say nothing of them.

    They stand in the metadata of a session of the token's own namespace, without a message.
    """

    def __init__(self) -> None:
        self._turns: WeakValueDictionary[Scope, asyncio.Lock] = WeakValueDictionary()

    async def note(self, memhold: AsyncStore, principal: Principal, scope: Scope) -> None:
        """Keep in mind that something is stored in this scope."""
        if scope.namespace == principal.scope.namespace:
            return
        kept = self._kept(memhold, principal, scope.user)
        async with self._turns.setdefault(kept.scope, asyncio.Lock()):
            names, own = await self._names(kept), client_namespace(scope.namespace)
            if own not in names:
                await kept.set_session_metadata({_NAMESPACES: [*names, own]})

    async def of(self, memhold: AsyncStore, principal: Principal, user: str | None) -> list[str | None]:
        """The token's own (None), then those below it, the newest first."""
        names = await self._names(self._kept(memhold, principal, user))
        return [None, *reversed(names)]

    def _kept(self, memhold: AsyncStore, principal: Principal, user: str | None) -> AsyncScope:
        return scope_of(memhold, principal, Whose(user=user, session=_NAMESPACES))

    async def _names(self, kept: AsyncScope) -> list[str]:
        names = (await kept.session_metadata()).get(_NAMESPACES)
        return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def check_records(records: Iterable[RecordIn]) -> None:
    """Refuse records of which one cannot be stored, before any is.

    Raises:
        InvalidInput: one says nothing, is too long, or has labels or an id that cannot be kept.
    """
    for one in records:
        MemoryInput(
            text=one.text,
            topics=labels("topics", one.topics or ()),
            entities=labels("entities", one.entities or ()),
            metadata=_marks(one),
        )


def _marks(record: RecordIn) -> dict[str, Any]:
    return {f"{ID_MARK}{record.id}": True, TYPE_MARK: record.memory_type}


async def store_record(scope: AsyncScope, record: RecordIn, *, now: datetime) -> Memory | None:
    """Store a record under its id; the same again changes nothing, other text under the same id corrects it."""
    held = await _by_client_id(scope, record.id)
    if held is not None and held.text != record.text:
        held = (await scope.correct(held.id, record.text)).memory
    marks, at = _marks(record), None
    if record.event_date is not None:
        given = record.event_date if record.event_date.tzinfo else record.event_date.replace(tzinfo=UTC)
        moment = parse_time(given)
        marks[EVENT_MARK] = iso(moment)
        # What is planned did not become true yet: its date is kept, and no more.
        at = moment if moment <= now else None
    told = await scope.remember(
        record.text, topics=record.topics or (), entities=record.entities or (), metadata=marks, event_time=at
    )
    return told.memory


async def found(
    memhold: AsyncStore, principal: Principal, given: str, namespaces: Namespaces
) -> tuple[AsyncScope, Memory]:
    """A memory by the client's id or by Memhold's, and its scope, in whichever namespace of the client's it is.

    Raises:
        NotFound: there is none in the token's scope. ScopeDenied: it is of a user that is not the token's.
    """
    bare, user = split_id(given)
    for namespace in await namespaces.of(memhold, principal, user):
        scope = scope_of(memhold, principal, Whose(user=user, namespace=namespace))
        memory = await record_held(scope, bare)
        if memory is not None:
            return scope, memory
    raise NotFound(f"no memory {given!r:.80} in this scope", id=given)


async def record_held(scope: AsyncScope, given: str) -> Memory | None:
    """A memory of the scope by the client's id or by Memhold's; None where there is none."""
    if not given.startswith("mem_"):
        return await _by_client_id(scope, given)
    try:
        return _memory(await scope.get(given))
    except (NotFound, Forgotten):
        return None


async def _by_client_id(scope: AsyncScope, given: str) -> Memory | None:
    hits = (await scope.recall("", metadata={f"{ID_MARK}{given}": True}, kinds=_KINDS, limit=1)).hits
    return _memory(await scope.get(hits[0].id)) if hits else None


def _memory(item: object) -> Memory | None:
    return item if isinstance(item, Memory) else None


async def change_record(scope: AsyncScope, memory: Memory, updates: Mapping[str, Any]) -> Memory:
    """Change a memory's text, or add topics and entities.

    Raises:
        InvalidInput: something else is to be changed, or a label taken away.
    """
    known = {"text", "topics", "entities"}
    if other := updates.keys() - known:
        raise not_mapped(f"{min(other)} of a memory cannot be changed; {', '.join(sorted(known))} can")
    labels: dict[str, list[str]] = {}
    for name in ("topics", "entities"):
        wanted, held = updates.get(name), getattr(memory, name)
        if wanted is None:
            continue
        if not isinstance(wanted, list) or not all(isinstance(one, str) for one in wanted):
            raise InvalidInput(f"{name} must be a list of texts")
        if not {one.casefold() for one in held} <= {one.casefold() for one in wanted}:
            raise not_mapped(f"{name} can be added and not taken away; forget the memory and store it anew")
        labels[name] = wanted
    text = updates.get("text", memory.text)
    if not isinstance(text, str):
        raise InvalidInput("text must be text")
    if text != memory.text:
        memory = (await scope.correct(memory.id, text, rev=memory.rev)).memory or memory
    if labels and memory.kind == "note":
        memory = (
            # The same note is one of the same text and metadata.
            await scope.remember(
                memory.text,
                topics=labels.get("topics", ()),
                entities=labels.get("entities", ()),
                metadata=memory.metadata,
            )
        ).memory or memory
    elif labels:
        raise not_mapped("labels of a fact cannot be changed")
    return memory


async def search(
    memhold: AsyncStore, principal: Principal, body: SearchBody, *, scope: AsyncScope | None = None
) -> dict[str, Any]:
    """Recall as the client knows it; `dist` goes from 0 for the best hit upwards, and compares hits of one answer only.

    Whose memory it is says the body, where no `scope` is given.

    Raises:
        InvalidInput: a filter has no counterpart.
    """
    if body.last_accessed:
        raise not_mapped("the filter last_accessed: when a memory was last read is not recorded")
    if scope is None:
        whose = Whose(equal_to(body.user_id, "user_id"), equal_to(body.namespace, "namespace"))
        scope = scope_of(memhold, principal, whose)
    session = equal_to(body.session_id, "session_id")
    tests = [*_labelled(body), *_typed(body.memory_type), *_timed(body.created_at, "created_at", _made)]
    tests += _timed(body.event_date, "event_date", _happened)
    topics, entities, near = _all(body.topics), _all(body.entities), body.distance_threshold
    best = None
    if tests or near is not None:
        wide = await scope.recall(
            body.text, kinds=_KINDS, session=session, limit=_WIDE, topics=topics, entities=entities
        )
        best = max((hit.score for hit in wide.hits), default=None)
        likely = wide.hits if near is None else [hit for hit in wide.hits[: wide.total] if _distance(hit, best) <= near]
        passed = [hit for hit in likely if all(test(hit) for test in tests)]
        hits, total = passed[body.offset : body.offset + body.limit], len(passed)
        following = body.offset + body.limit if total > body.offset + body.limit else None
    else:
        answer = await scope.recall(
            body.text,
            kinds=_KINDS,
            session=session,
            limit=body.limit,
            offset=body.offset,
            topics=topics,
            entities=entities,
        )
        hits, total, following = list(answer.hits), answer.total, answer.next_offset
    best = max((hit.score for hit in hits), default=None) if best is None else best
    memories = [record_out(hit, scope.scope, principal) | {"dist": _distance(hit, best)} for hit in hits]
    return {"memories": memories, "total": total, "next_offset": following}


def _distance(hit: Hit, best: float | None) -> float:
    """How far behind the best of its answer a hit is, from 0 to 1."""
    return round(1 - hit.score / best, 6) if best else 0.0


def _made(hit: Hit) -> datetime | None:
    return hit.created_at


def _happened(hit: Hit) -> datetime | None:
    told = hit.metadata.get(EVENT_MARK)
    return None if told is None else parse_time(told)


def equal_to(given: Mapping[str, Any] | None, name: str) -> str | None:
    """The one value that a filter asks for; None where there is no filter.

    Raises:
        InvalidInput: it asks for something else.
    """
    if not given:
        return None
    value = given.get("eq") if set(given) == {"eq"} else None
    one_of = given.get("in_", given.get("any"))
    if value is None and len(given) == 1 and isinstance(one_of, list) and len(one_of) == 1:
        value = one_of[0]
    if not isinstance(value, str):
        raise not_mapped(f"the filter {name} takes one value (eq)")
    return value


def _all(given: Mapping[str, Any] | None) -> tuple[str, ...]:
    return _texts((given or {}).get("all", []), "all")


def _texts(given: Any, name: str) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise InvalidInput(f"{name} of a filter takes texts")
    return tuple(given)


def _labelled(body: SearchBody) -> Sequence[Callable[[Hit], bool]]:
    tests = []
    for name in ("topics", "entities"):
        given = getattr(body, name) or {}
        if unknown := given.keys() - {"all", "any", "eq", "none"}:
            raise not_mapped(f"{min(unknown)} of {name}; all, any, none and eq are")
        equal = [given["eq"]] if "eq" in given else []
        any_of = {one.casefold() for one in _texts(given.get("any") or equal, name)}
        none_of = {one.casefold() for one in _texts(given.get("none", []), name)}
        if any_of or none_of:
            tests.append(_label_test(name, any_of, none_of))
    return tests


def _label_test(name: str, any_of: set[str], none_of: set[str]) -> Callable[[Hit], bool]:
    def test(hit: Hit) -> bool:
        held = {label.casefold() for label in getattr(hit, name)}
        return (not any_of or bool(held & any_of)) and not held & none_of

    return test


def _typed(given: Mapping[str, Any] | None) -> Sequence[Callable[[Hit], bool]]:
    if not given:
        return []
    if len(given) != 1 or not given.keys() <= {"eq", "in_", "any"}:
        raise not_mapped("the filter memory_type takes eq or in_")
    ((name, value),) = given.items()
    wanted = set(_texts([value] if name == "eq" else value, "memory_type"))
    return [lambda hit: hit.metadata.get(TYPE_MARK, "semantic") in wanted]


def _timed(
    given: Mapping[str, Any] | None, what: str, time_of: Callable[[Hit], datetime | None]
) -> Sequence[Callable[[Hit], bool]]:
    """Whether a hit's time is as a filter asks; one that has none never is."""
    tests: list[Callable[[Hit], bool]] = []
    for name, text in (given or {}).items():
        if name not in _TIMES:
            raise not_mapped(f"{name} of {what}; {', '.join(_TIMES)} are")
        try:
            moment = datetime.fromisoformat(str(text))
        except ValueError:
            raise InvalidInput(f"{what}.{name} is no time; pass one as ISO-8601") from None
        at = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        tests.append(partial(_holds, at=at, time_of=time_of, compare=_TIMES[name]))
    return tests


def _holds(
    hit: Hit,
    *,
    at: datetime,
    time_of: Callable[[Hit], datetime | None],
    compare: Callable[[datetime, datetime], bool],
) -> bool:
    told = time_of(hit)
    return told is not None and compare(told, at)


async def forget_by_policy(
    scope: AsyncScope, body: PolicyBody, *, session: str | None, limit: int, dry_run: bool, now: datetime
) -> dict[str, Any]:
    """Forget memories over an age, or the oldest over a number; pinned ones and those named stay.

    Raises:
        InvalidInput: the policy names what is not recorded here.
    """
    policy = body.policy
    age, budget = policy.get("max_age_days"), policy.get("budget")
    if policy.get("max_inactive_days") is not None:
        raise not_mapped("max_inactive_days: when a memory was last read is not recorded")
    if age is None and budget is None:
        raise not_mapped("a policy without max_age_days or budget")
    if any(one is not None and (not isinstance(one, int) or one < 0) for one in (age, budget)):
        raise InvalidInput("max_age_days and budget must be whole numbers from 0")
    types = set(_texts(policy.get("memory_type_allowlist") or [], "memory_type_allowlist"))
    spared = set(body.pinned_ids)
    held = [memory for memory in await _every(scope, session) if not types or _type(memory) in types][:limit]
    free = [memory for memory in held if not memory.pinned and not spared & _ids(memory)]
    before = now - timedelta(days=age) if age is not None else None
    gone = [memory for memory in free if before is not None and memory.created_at < before]
    if budget is not None:
        rest = [memory for memory in free if memory not in gone]
        gone += rest[: max(0, len(held) - len(gone) - budget)]
    names = [record_out(memory, scope.scope, None)["id"] for memory in gone]
    if not dry_run:
        for memory in gone:
            await scope.forget(memory.id, sources="keep", wait=0.0)
    return {"scanned": len(held), "deleted": len(gone), "deleted_ids": names, "dry_run": dry_run}


async def _every(scope: AsyncScope, session: str | None) -> list[Memory]:
    page = await scope.list(_KINDS, session=session, limit=1000)
    held = list(page.items)
    while page.cursor is not None:
        page = await scope.list(_KINDS, session=session, limit=1000, cursor=page.cursor)
        held += page.items
    return held


def _ids(memory: Memory) -> set[str]:
    return {memory.id, *(name.removeprefix(ID_MARK) for name in memory.metadata if name.startswith(ID_MARK))}


def _type(memory: Memory) -> str:
    return str(memory.metadata.get(TYPE_MARK, "semantic"))
