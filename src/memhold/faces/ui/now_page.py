"""Now: what is believed, by subject, found as one types; and what a person does to one memory, with its undo."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final

from starlette.responses import Response

from memhold.faces.ui.first_run import first_page
from memhold.faces.ui.rendering import who
from memhold.faces.ui.rows import Row, by_subject, row_of
from memhold.faces.ui.visit import Visit
from memhold.values.answers import Erasure, Remembered, missing_sentences
from memhold.values.errors import Conflict, InvalidInput, NotFound, RevisionConflict
from memhold.values.records import ORIGINS, HitKind, Kind, Memory, Origin
from memhold.verbs.scope import AsyncScope

__all__ = [
    "MARKS",
    "SHOWN",
    "WAYS",
    "Undo",
    "correct",
    "correct_form",
    "counted",
    "forget_form",
    "forget_one",
    "mark",
    "moved_on",
    "now_page",
    "now_rows",
    "one_row",
    "remember",
    "told_of",
    "undo",
    "way_of",
]

_KINDS: Final[Mapping[str, tuple[str, tuple[Kind, ...]]]] = {
    "": ("Facts, notes, instructions", ("fact", "note", "instruction")),
    "fact": ("Facts", ("fact",)),
    "note": ("Notes", ("note",)),
    "instruction": ("Instructions", ("instruction",)),
    "summary": ("Summaries", ("summary", "raw", "rollup")),
}
MARKS: Final = ("pin", "unpin", "confirm", "drop")
"""What a person can say of a memory with one press."""
_PAGE: Final = 100
_PAGES: Final = 10
"""So many pages of a search are looked through for who said it, before the rest is behind "Show more"."""
_ENOUGH: Final = 50
SHOWN: Final = 20
"""How many of the things that would go are shown one by one."""
WAYS: Final[Mapping[str, tuple[str, str]]] = {
    "erase": ("Erase it and what it came from.", "The lines that it names go too, and all that was derived."),
    "keep": ("Erase it, keep the lines.", "It is not learnt from these lines again."),
    "hide": ("Hide it.", "Nothing is erased; this can be undone."),
}  # fmt: skip
"""How something can be forgotten: for good with its sources, for good without them, or so that it can be undone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """What takes a change back, in the same place: the change, and which memory stands there then, and stood before.

    `told` where it stands apart from the list, which is then to show what came of it.
    """

    change: str
    back: str
    forth: str
    word: str = "Undo"
    told: bool = False


async def now_page(visit: Visit) -> Response:
    """The whole page."""
    values = await _found(visit)
    status = await visit.scope().status()
    if not values["any_rows"] and not status.messages and not any(status.memories.values()):
        return await first_page(visit)
    kinds = [
        (name, f"{told} ({sum(status.active.get(one, 0) for one in of):,})") for name, (told, of) in _KINDS.items()
    ]
    origins = [(name, who(name).capitalize()) for name in ORIGINS]
    return visit.part("now.html", here="/ui", kinds=kinds, origins=origins, **values)


async def now_rows(visit: Visit) -> Response:
    """What passes the filters, and the next page of it."""
    return visit.part("rows.html", **await _found(visit))


async def _found(visit: Visit) -> dict[str, Any]:
    question, kind, origin = visit.said("q").strip(), visit.said("kind"), visit.said("origin")
    if kind not in _KINDS or (origin and origin not in ORIGINS):
        raise InvalidInput("there is no such kind or origin; choose one of the list")
    kinds = _KINDS[kind][1]
    given = visit.said("cursor") or None
    chosen: Origin | None = next((one for one in ORIGINS if one == origin), None)
    rows, cursor, lacking = await _rows(visit, question, kinds, chosen, given)
    facts = [row for row in rows if row.kind == "fact"]
    others = {"Instructions": ("instruction",), "Notes": ("note",), "What happened": ("summary", "raw", "rollup")}
    return {
        "groups": by_subject(facts),
        "sections": [(title, [row for row in rows if row.kind in these]) for title, these in others.items()],
        "any_rows": bool(rows),
        "continued": given is not None,
        "filtered": bool(question or kind or origin),
        "lacking": lacking,
        "cursor": cursor,
        "kind": kind,
        "origin": origin,
        "q": question,
    }


async def _rows(
    visit: Visit, question: str, kinds: Sequence[Kind], origin: Origin | None, cursor: str | None
) -> tuple[list[Row], str | None, list[str]]:
    if not question:
        page = await visit.scope().list(kinds, origin=origin, limit=_PAGE, cursor=cursor)
        rows = await _with_use(visit.scope(), [row_of(memory) for memory in page.items])
        return rows, page.cursor, missing_sentences((), page.damaged)
    found, cursor, lacking = await _sought(visit, question, tuple(kinds), origin, cursor)
    return await _with_use(visit.scope(), found), cursor, lacking


async def _sought(
    visit: Visit, question: str, kinds: tuple[HitKind, ...], origin: Origin | None, cursor: str | None
) -> tuple[list[Row], str | None, list[str]]:
    """What a search finds, on through its pages until there is enough of what that origin said."""
    found: list[Row] = []
    degraded: dict[str, None] = {}
    damaged: dict[str, None] = {}
    for _ in range(_PAGES):
        answer = await visit.scope().recall(question, kinds=kinds, limit=_PAGE, cursor=cursor, browse=True)
        met = answer.hits if cursor else answer.hits[: answer.total]
        found += [row_of(hit) for hit in met if origin is None or hit.origin == origin]
        degraded |= dict.fromkeys(answer.degraded)
        damaged |= dict.fromkeys(answer.damaged)
        cursor = answer.cursor
        if cursor is None or len(found) >= _ENOUGH:
            break
    return found, cursor, missing_sentences((*degraded,), (*damaged,))


async def _with_use(scope: AsyncScope, rows: Sequence[Row]) -> list[Row]:
    """Rows with when they were last asked for, where they were."""
    asked = await scope.last_recalled([row.id for row in rows]) if rows else {}
    return [replace(row, asked_at=asked[row.id]) if row.id in asked else row for row in rows]


async def _memory(scope: AsyncScope, memory_id: str) -> Memory:
    found = await scope.get(memory_id)
    if not isinstance(found, Memory):
        raise NotFound("that is a message; open it in its session")
    return found


def _row_part(visit: Visit, row: Row, said: str | None = None, undo: Undo | None = None) -> Response:
    return visit.part("row.html", row=row, said=said, undo=undo)


async def one_row(visit: Visit) -> Response:
    """A memory as it now stands, as a line."""
    return _row_part(visit, row_of(await _memory(visit.scope(), visit.request.path_params["id"])))


async def correct_form(visit: Visit) -> Response:
    """The form in the place of the line; it carries the revision that the person saw."""
    memory = await _memory(visit.scope(), visit.request.path_params["id"])
    return visit.part("correct.html", row=row_of(memory), row_id=memory.id, conflict=None, typed=None)


async def correct(visit: Visit) -> Response:
    """Correct a memory; one that was changed meanwhile is told of, with what was typed still there."""
    scope, memory_id, typed = visit.scope(), visit.request.path_params["id"], visit.said("value").strip()
    try:
        done = await scope.correct(
            memory_id, typed, rev=visit.number("rev", 0) or None, idempotency_key=visit.said("key") or None
        )
    except (RevisionConflict, Conflict) as error:
        current = await _standing(scope, memory_id)
        if current is None:
            raise
        row, told = row_of(current), "Somebody changed it since you opened this."
        del error
        return visit.part("correct.html", 409, row=row, row_id=visit.said("row", memory_id), conflict=told, typed=typed)
    return _done(visit, done, "Corrected.", back=memory_id)


async def _standing(scope: AsyncScope, memory_id: str) -> Memory | None:
    """What stands in the place of a memory now, by its history: itself, or what took its place."""
    seen: set[str] = set()
    wanted: str | None = memory_id
    while wanted is not None and wanted not in seen:
        seen.add(wanted)
        found = await _memory(scope, wanted)
        if found.state == "active":
            return found
        wanted = found.superseded_by
    story = await scope.history(memory_id)
    after = [effect.after for change in story for effect in change.effects if effect.after is not None]
    for one in reversed(after):
        found = await _memory(scope, one.id)
        if found.state == "active":
            return found
    return None


def _done(visit: Visit, done: Remembered, said: str, *, back: str) -> Response:
    if done.memory is None:
        raise NotFound("it was forgotten meanwhile")
    changes = done.receipt.change_ids
    undo = Undo(change=changes[-1], back=back, forth=done.memory.id) if changes else None
    return _row_part(visit, row_of(done.memory), said, undo)


async def mark(visit: Visit) -> Response:
    """Pin, unpin, confirm or drop a memory."""
    scope, memory_id = visit.scope(), visit.request.path_params["id"]
    verbs = {
        "pin": (scope.pin, "Pinned: it is kept, and never merged away."),
        "unpin": (scope.unpin, "No longer pinned."),
        "confirm": (scope.confirm, "Confirmed: it counts as the user's word from now on."),
        "drop": (scope.drop, "Dropped: it was never so."),
    }
    verb, said = verbs[visit.request.url.path.rsplit("/", 1)[-1]]
    return _done(visit, await verb(memory_id, idempotency_key=visit.said("key") or None), said, back=memory_id)


async def undo(visit: Visit) -> Response:
    """Undo a change, or an undo; the line shows what stands there then."""
    scope = visit.scope()
    back, forth, word = visit.said("back"), visit.said("forth"), visit.said("word", "Undo")
    receipt = await scope.undo(visit.said("change"), idempotency_key=visit.said("key") or None)
    memory = await _memory(scope, back)
    other = "Redo" if word == "Undo" else "Undo"
    told, again = visit.said("told") == "yes", None
    if receipt.change_ids:
        again = Undo(change=receipt.change_ids[-1], back=forth, forth=back, word=other, told=told)
    answer = _row_part(visit, row_of(memory), "Undone." if word == "Undo" else "Done again.", again)
    return _heard(answer) if told else answer


async def remember(visit: Visit) -> Response:
    """Tell it a fact or a note."""
    about, value = visit.said("attribute").strip(), visit.said("value").strip()
    scope, key = visit.scope(), visit.said("key") or None
    if about:
        done = await scope.remember(attribute=about, value=value, idempotency_key=key)
    else:
        done = await scope.remember(value, idempotency_key=key)
    if done.memory is None:
        raise NotFound("it was forgotten meanwhile")
    row, changes = row_of(done.memory), done.receipt.change_ids
    said = "Known from now on." if changes else "Known already."
    undo = Undo(change=changes[-1], back=row.id, forth=row.id, told=True) if changes else None
    return _heard(visit.part("told.html", row=row, said=said, undo=undo))


def _heard(answer: Response) -> Response:
    """The answer, with a word to the list above, which shows what it holds now."""
    answer.headers["hx-trigger"] = "told"
    return answer


def way_of(visit: Visit) -> str:
    """How something is to be forgotten, as the form says.

    Raises:
        InvalidInput: in no way that there is.
    """
    way = visit.said("way", "erase")
    if way not in WAYS:
        raise InvalidInput("choose how it is to be forgotten")
    return way


async def _forgotten(scope: AsyncScope, memory_id: str, way: str, *, dry_run: bool, key: str | None = None) -> Erasure:
    return await scope.forget(
        memory_id, hard=way != "hide", sources="keep" if way == "keep" else "erase", dry_run=dry_run,
        idempotency_key=key,
    )  # fmt: skip


async def forget_form(visit: Visit) -> Response:
    """What would go with a memory, before anything does."""
    scope, memory_id, way = visit.scope(), visit.request.path_params["id"], way_of(visit)
    plan = await _forgotten(scope, memory_id, way, dry_run=True)
    return await _forget_part(visit, scope, await told_of(scope, plan))


async def _forget_part(visit: Visit, scope: AsyncScope, told: Mapping[str, Any], status: int = 200) -> Response:
    row = row_of(await _memory(scope, visit.request.path_params["id"]))
    ways = [(name, title, text) for name, (title, text) in WAYS.items()]
    return visit.part("forget_one.html", status, row=row, way=way_of(visit), ways=ways, **told)


async def told_of(scope: AsyncScope, plan: Erasure) -> dict[str, Any]:
    """What an erasure touches, in words and one by one."""
    every = (*plan.memories, *plan.messages, *plan.hidden)
    going = [row_of(await scope.get(one)) for one in every[:SHOWN]]
    parts = [
        counted(len(ids), name, several)
        for ids, name, several in (
            (plan.memories, "memory", "memories"),
            (plan.messages, "message", "messages"),
            (plan.quotations, "quotation in a message that stays", "quotations in messages that stay"),
        )
        if ids
    ]
    if plan.hidden:
        parts.append(f"{len(plan.hidden):,} hidden")
    verb = "would be hidden" if plan.hidden and not plan.memories and not plan.messages else "would go"
    told = f"{_listed(parts)} {verb}." if parts else "Nothing would go."
    if plan.hidden and verb == "would be hidden":
        told = f"{len(plan.hidden):,} would be hidden, and can be shown again."
    return {
        "told": told, "goes": bool(every), "going": going, "rest": len(every) - len(going), "plan": _digest_of(plan),
        "moved": False,
    }  # fmt: skip


def _digest_of(plan: Erasure) -> str:
    """What a form remembers of what it showed: all that would go, and whether for good."""
    every = sorted((*plan.memories, *plan.messages, *plan.hidden, *plan.quotations))
    return sha256(" ".join(("erased" if plan.hard else "hidden", *every)).encode()).hexdigest()


async def moved_on(
    scope: AsyncScope, visit: Visit, planned: Callable[[], Awaitable[Erasure]]
) -> Mapping[str, Any] | None:
    """What would go by now, where that is not what the form showed; None where it is, or where nothing would go."""
    if not (shown := visit.said("plan")):
        return None
    try:
        plan = await planned()
    except NotFound:
        return None  # gone already: the key of the form tells whether by this very press
    now = await told_of(scope, plan)
    return {**now, "moved": True} if now["goes"] and now["plan"] != shown else None


def counted(count: int, one: str, several: str) -> str:
    """A number of something, in words."""
    return f"{count:,} {one if count == 1 else several}"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


async def forget_one(visit: Visit) -> Response:
    """Forget a memory; what is left is a line that says so, with its undo where there is one."""
    scope, memory_id, way = visit.scope(), visit.request.path_params["id"], way_of(visit)
    now = await moved_on(scope, visit, lambda: _forgotten(scope, memory_id, way, dry_run=True))
    if now is not None:
        return await _forget_part(visit, scope, now, 409)
    done = await _forgotten(scope, memory_id, way, dry_run=False, key=visit.said("key") or None)
    undo_it = None
    if way == "hide":
        said = "Hidden."
        if done.change_id is not None:
            undo_it = Undo(change=done.change_id, back=memory_id, forth=memory_id)
    elif done.erased:
        memories = counted(len(done.memories), "memory", "memories")
        messages = counted(len(done.messages), "message", "messages")
        said = f"Erased: {memories} and {messages}. No byte of it is left."
    else:
        said = f"Forgotten; its bytes are removed as soon as possible (waiting for: {done.waiting_for or 'its turn'})."
    return visit.part("gone.html", id=memory_id, said=said, undo=undo_it)
