"""To settle: what only a person can know. Keys that may be one, contradictions, what others noted or inferred."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from starlette.responses import Response

from memhold.faces.ui.rows import Row, row_of
from memhold.faces.ui.visit import Visit
from memhold.history.dismissal import DISMISS, digest_of
from memhold.values.answers import OpenSuspicion
from memhold.values.bounds import MAX_PAGE
from memhold.values.errors import InvalidInput, NotFound, StoreCorrupt
from memhold.values.records import Memory, Suspicion
from memhold.verbs.scope import AsyncScope

__all__ = ["Dropped", "count_part", "decide", "more_part", "say_so", "settle", "settle_page", "take_back"]

_NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MOST: Final = 50
_PAGES: Final = 5
"""How many pages of what models found are read for what is doubtful."""
_WINDOWS: Final = 20
"""Of how many windows at once, the newest first, what was not kept is told: each is a look at the trail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A statement of a model that no line holds: what it said, why it was not kept, of which conversation.

    It stands at `place` of what `change` left out; `window` is the summary that names the lines. Of a fact `subject`,
    `attribute` and `value` are told apart.
    """

    change: str
    place: int
    kind: str
    reason: str
    text: str
    by: str | None
    at: datetime
    session: str | None
    window: str
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None

    @property
    def id(self) -> str:
        """What names it on the page."""
        return f"{self.change}-{self.place}"

    @property
    def says(self) -> str:
        """The digest of what it says, which another of the same has too."""
        return digest_of({name: getattr(self, name) for name in _SAYS})


_SAYS: Final = ("text", "subject", "attribute", "value")
_VERDICTS: Final[Mapping[str, Mapping[str, str]]] = {
    "key": {"same": "One thing: they are one timeline from now on.", "different": "Two things, for good."},
    "contradiction": {"same": "The newer one holds, as the user's own word.", "different": "What the user told stays."},
}


@dataclass(frozen=True, slots=True)
class _Group:
    """Some of what waits for one reason: its cards, how many where those are all, where more begin.

    Of `damaged` conversations it cannot be read what waits.
    """

    cards: Sequence[Any]
    cursor: str | None
    total: int | None = None
    damaged: int = 0


async def settle_page(visit: Visit) -> Response:
    """Everything that waits for a person, of each reason the first."""
    scope = visit.scope()
    groups = {name: await read(scope, None) for name, read in _GROUPS.items()}
    return visit.part("settle.html", here="/ui/settle", groups=groups)


async def count_part(visit: Visit) -> Response:
    """How many suspicions are open: each is looked at, so it is asked for by itself."""
    return visit.part("settle_count.html", count=(await visit.scope().status()).open_suspicions)


async def more_part(visit: Visit) -> Response:
    """What waits for one reason behind what is shown of it."""
    name = visit.said("group")
    if name not in _GROUPS:
        raise InvalidInput(f"there is nothing to settle of that name; ask for one of {', '.join(_GROUPS)}")
    group = await _GROUPS[name](visit.scope(), visit.said("cursor") or None)
    return visit.part("settle_cards.html", name=name, group=group)


async def _suspicions(scope: AsyncScope, cursor: str | None) -> _Group:
    """Keys that may be one and contradictions, oldest first; the cursor is the last shown, settled since or not."""
    found = await scope.suspicions(limit=_MOST + 1, after=cursor)
    shown = found[:_MOST]
    more = shown[-1].suspicion.id if len(found) > _MOST else None
    return _Group([_suspicion(one) for one in shown], more, None if more or cursor else len(shown))


def _suspicion(one: OpenSuspicion) -> tuple[Suspicion, Row, Row]:
    return one.suspicion, row_of(one.memory), row_of(one.other)


async def _noted(scope: AsyncScope, cursor: str | None) -> _Group:
    """What agents noted and nobody confirmed."""
    page = await scope.list(["fact", "note"], origin="agent", unconfirmed_since=_NEVER, limit=_MOST, cursor=cursor)
    return _Group([row_of(memory) for memory in page.items], page.cursor)


async def _inferred(scope: AsyncScope, cursor: str | None) -> _Group:
    """What a model stated and something speaks against, as far as nobody confirmed it."""
    asked: Any = {"origin": "model", "unconfirmed_since": _NEVER}
    found: list[Memory] = []
    for _ in range(_PAGES):
        page = await scope.list(["fact", "note"], limit=MAX_PAGE, cursor=cursor, **asked)
        places = [place for place, one in enumerate(page.items, 1) if one.doubtful]
        shown = places[: _MOST - len(found)]
        found += [page.items[place - 1] for place in shown]
        if len(found) == _MOST and page.items[shown[-1] :]:
            # More begin right behind the last that is shown.
            page = await scope.list(["fact", "note"], limit=shown[-1], cursor=cursor, **asked)
        cursor = page.cursor
        if cursor is None or len(found) == _MOST:
            break
    return _Group([row_of(memory) for memory in found], cursor)


async def _not_kept(scope: AsyncScope, cursor: str | None) -> _Group:
    """What models said of some windows that no line holds, but for what the user has said since, yes or no."""
    found: dict[str, Dropped] = {}
    refused = await _refused(scope)
    damaged = 0
    for _ in range(_PAGES):
        page = await scope.summaries(limit=_WINDOWS, cursor=cursor)
        read = 0
        for hit in page.hits:
            read += 1
            told = await _left_out(scope, hit.id, hit.session)
            damaged += told is None
            # What a model says again and again is one thing to look at: where it was said last.
            for one in told or ():
                if one.says not in refused:
                    found.setdefault(one.says, one)
            if len(found) >= _MOST:
                break
        if page.hits[read:]:
            page = await scope.summaries(limit=read, cursor=cursor)
        cursor = page.cursor
        if cursor is None or found:
            break
    return _Group(await _still_open(scope, list(found.values())), cursor, damaged=damaged)


async def _left_out(scope: AsyncScope, window: str, session: str | None) -> list[Dropped] | None:
    """What was not kept of a window; None where that cannot be read any more."""
    try:
        changes = await scope.history(window)
    except StoreCorrupt:
        return None
    except NotFound:
        return []  # forgotten since the windows were listed
    return [
        Dropped(
            change=change.id, place=place, kind=one["kind"], reason=one["reason"], text=one["text"],
            by=change.by.name, at=change.at, session=session, window=window,
            subject=one.get("subject"), attribute=one.get("attribute"), value=one.get("value"),
        )
        for change in changes
        for place, one in enumerate(change.detail.get("ungrounded", ()))
    ]  # fmt: skip


_GROUPS: Final[Mapping[str, Callable[[AsyncScope, str | None], Awaitable[_Group]]]] = {
    "suspicions": _suspicions,
    "noted": _noted,
    "inferred": _inferred,
    "dropped": _not_kept,
}


async def _refused(scope: AsyncScope) -> set[str]:
    """The digests of what the user said no to."""
    found: set[str] = set()
    cursor, more = 0, True
    while more:
        page = await scope.changes(verb=DISMISS, after=cursor, limit=MAX_PAGE)
        found |= {str(one.detail.get("says")) for one in page.items if one.undone_by is None}
        cursor, more = page.cursor, page.more
    return found


async def _still_open(scope: AsyncScope, dropped: Sequence[Dropped]) -> list[Dropped]:
    """Those that the user has not said since."""
    if not dropped:
        return []
    since, known, cursor = min(one.at for one in dropped), set(), None
    for _ in range(_PAGES):
        said = await scope.list(
            ["fact", "note"], None, origin="user", written_since=since, limit=MAX_PAGE, cursor=cursor
        )
        told = (memory for memory in said.items if memory.state != "retracted")
        known |= {digest_of({name: getattr(memory, name) for name in _SAYS}) for memory in told}
        cursor = said.cursor
        if cursor is None:
            break
    return [one for one in dropped if one.says not in known]


async def say_so(visit: Visit) -> Response:
    """What a model said and no line does: from now on the user's word, or dismissed, as the person says."""
    scope, text, key, word = visit.scope(), visit.said("text").strip(), visit.said("key") or None, visit.said("word")
    subject, attribute, value = (visit.said(name) for name in ("subject", "attribute", "value"))
    if word not in {"confirm", "drop"}:
        raise InvalidInput("say 'confirm' or 'drop'")
    if word == "drop":
        receipt = await scope.dismiss(visit.said("change"), visit.number("place", 0), idempotency_key=key)
    elif subject and attribute and value:
        told = await scope.remember(subject=subject, attribute=attribute, value=value, idempotency_key=key)
        receipt = told.receipt
    else:
        receipt = (await scope.remember(text, idempotency_key=key)).receipt
    yes = "Known from now on, as the user's word." if receipt.change_ids else "Known already."
    said = yes if word == "confirm" else "Dismissed: it is not so."
    changes = receipt.change_ids
    return _settled(visit, visit.said("id"), said, changes)


def _settled(visit: Visit, card: str, said: str, changes: Sequence[str] = ()) -> Response:
    """What became of a card, in its place: of what, and how to take it back, which brings it again."""
    change = changes[-1] if changes else None
    kept = {name: visit.said(name) for name in ("group", "window", "about") if visit.said(name)}
    return visit.part("settled.html", id=card, said=said, change=change, about=visit.said("about"), kept=kept)


async def settle(visit: Visit) -> Response:
    """Same or different; the card says what became of it, with its undo."""
    suspicion_id, verdict = visit.request.path_params["id"], visit.said("verdict")
    if verdict not in {"same", "different"}:
        raise InvalidInput("say 'same' or 'different'")
    chosen: Any = verdict
    receipt = await visit.scope().settle_suspicion(suspicion_id, chosen, idempotency_key=visit.said("key") or None)
    said = _VERDICTS.get(visit.said("kind"), _VERDICTS["key"])[verdict]
    return _settled(visit, suspicion_id, said, receipt.change_ids)


async def decide(visit: Visit) -> Response:
    """Confirm or drop what somebody else noted; the card says so, with its undo."""
    scope, memory_id, word = visit.scope(), visit.request.path_params["id"], visit.said("word")
    if word not in {"confirm", "drop"}:
        raise InvalidInput("say 'confirm' or 'drop'")
    verb = scope.confirm if word == "confirm" else scope.drop
    done = await verb(memory_id, idempotency_key=visit.said("key") or None)
    said = "Confirmed: it is the user's word from now on." if word == "confirm" else "Dropped: it was never so."
    return _settled(visit, memory_id, said, done.receipt.change_ids)


async def take_back(visit: Visit) -> Response:
    """Take a verdict back; its card waits again in the same place."""
    scope, name, one = visit.scope(), visit.said("group"), visit.said("id")
    await scope.undo(visit.said("change"), idempotency_key=visit.said("key") or None)
    cards = await _card(scope, name, one, visit.said("window"))
    if not cards:
        return _settled(visit, one, "Taken back.")
    return visit.part("settle_cards.html", name=name, group=_Group(cards, None))


async def _card(scope: AsyncScope, name: str, one: str, window: str) -> Sequence[Any]:
    """What waits under that id, as a card of its group; nothing where it is there no more."""
    try:
        match name:
            case "suspicions":
                return [_suspicion(each) for each in await scope.suspicions() if each.suspicion.id == one]
            case "noted" | "inferred":
                return [row_of(await scope.get(one))]
            case "dropped":
                session = (await scope.get(window)).session
                return [each for each in await _left_out(scope, window, session) or () if each.id == one]
    except NotFound:
        pass  # forgotten meanwhile
    return []
