"""To settle: what only a person can know. Doubted keys, contradictions, what others noted and what was inferred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from starlette.responses import Response

from memhold.faces.ui.rows import row_of
from memhold.faces.ui.visit import Visit
from memhold.values.bounds import MAX_PAGE
from memhold.values.errors import InvalidInput
from memhold.values.records import Memory
from memhold.verbs.scope import AsyncScope

__all__ = ["Dropped", "decide", "dropped_part", "say_so", "settle", "settle_page", "take_back"]

_NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MOST: Final = 50
_PAGES: Final = 5
"""How many pages of what models found are read for what was inferred."""
_WINDOWS: Final = 20
"""Of how many windows at once, the newest first, what was not kept is told: each is a look at the trail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A statement of a model that no line holds: what it said, why it was not kept, of which conversation.

    Of a fact `subject`, `attribute` and `value` are told apart; `window` is the summary that names the lines.
    """

    id: str
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
    def says(self) -> tuple[str, ...]:
        """What it says, as another of the same would."""
        return _key(self.text, self.subject, self.attribute, self.value)


_VERDICTS: Final[Mapping[str, Mapping[str, str]]] = {
    "key": {"same": "One thing: they are one timeline from now on.", "different": "Two things, for good."},
    "contradiction": {"same": "The newer one holds, as the user's own word.", "different": "What the user told stays."},
}


async def settle_page(visit: Visit) -> Response:
    """Everything that waits for a person."""
    scope = visit.scope()
    doubts = await scope.suspicions()
    noted = await scope.list(["fact", "note"], origin="agent", unconfirmed_since=_NEVER, limit=_MOST)
    inferred, more = await _inferred(scope)
    return visit.part(
        "settle.html",
        here="/ui/settle",
        doubts=[(one.suspicion, row_of(one.memory), row_of(one.other)) for one in doubts[:_MOST]],
        doubted=len(doubts),
        noted=[row_of(memory) for memory in noted.items],
        noted_more=noted.cursor is not None,
        inferred=[row_of(memory) for memory in inferred],
        inferred_more=more,
        **await _not_kept(scope, None),
    )


async def _inferred(scope: AsyncScope) -> tuple[list[Memory], bool]:
    """What a model concluded and no line says, as far as nobody confirmed it."""
    found: list[Memory] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await scope.list(["fact", "note"], origin="model", unconfirmed_since=_NEVER, limit=200, cursor=cursor)
        found += [memory for memory in page.items if memory.metadata.get("standing") == "inferred"]
        cursor = page.cursor
        if cursor is None or len(found) >= _MOST:
            break
    return found[:_MOST], cursor is not None or len(found) > _MOST


async def dropped_part(visit: Visit) -> Response:
    """What was not kept of the windows before those that are shown."""
    return visit.part("dropped.html", **await _not_kept(visit.scope(), visit.said("cursor") or None))


async def _not_kept(scope: AsyncScope, cursor: str | None) -> dict[str, Any]:
    """What models said of some windows that no line holds, but for what the user has said since; then older ones."""
    found: dict[tuple[str, ...], Dropped] = {}
    for _ in range(_PAGES):
        page = await scope.summaries(limit=_WINDOWS, cursor=cursor)
        for hit in page.hits:
            for change in await scope.history(hit.id):
                for place, one in enumerate(change.detail.get("ungrounded", ())):
                    told = Dropped(
                        id=f"{change.id}-{place}", kind=one["kind"], reason=one["reason"], text=one["text"],
                        by=change.by.name, at=change.at, session=hit.session, window=hit.id,
                        subject=one.get("subject"), attribute=one.get("attribute"), value=one.get("value"),
                    )  # fmt: skip
                    # What a model says again and again is one thing to look at: where it was said last.
                    found.setdefault(told.says, told)
        cursor = page.cursor
        if cursor is None or found:
            break
    return {"dropped": await _still_open(scope, list(found.values())), "cursor": cursor}


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
        known |= {_key(memory.text, memory.subject, memory.attribute, memory.value) for memory in told}
        cursor = said.cursor
        if cursor is None:
            break
    return [one for one in dropped if one.says not in known]


def _key(text: str, subject: str | None, attribute: str | None, value: str | None) -> tuple[str, ...]:
    """What a statement says, as another of the same would."""
    parts = (subject, attribute, value) if subject and attribute and value else (text,)
    return tuple(str(part).casefold() for part in parts)


async def say_so(visit: Visit) -> Response:
    """What a model said and no line does, said by the person: from then on it is the user's word."""
    text, key = visit.said("text").strip(), visit.said("key") or None
    subject, attribute, value = (visit.said(name) for name in ("subject", "attribute", "value"))
    if subject and attribute and value:
        done = await visit.scope().remember(subject=subject, attribute=attribute, value=value, idempotency_key=key)
    else:
        done = await visit.scope().remember(text, idempotency_key=key)
    changes = done.receipt.change_ids
    said = "Known from now on, as the user's word." if changes else "Known already."
    return visit.part("settled.html", id=visit.said("id"), said=said, change=changes[-1] if changes else None)


async def settle(visit: Visit) -> Response:
    """Same or different; the card says what became of it, with its undo."""
    suspicion_id, verdict = visit.request.path_params["id"], visit.said("verdict")
    if verdict not in {"same", "different"}:
        raise InvalidInput("say 'same' or 'different'")
    chosen: Any = verdict
    receipt = await visit.scope().settle_suspicion(suspicion_id, chosen, idempotency_key=visit.said("key") or None)
    said = _VERDICTS.get(visit.said("kind"), _VERDICTS["key"])[verdict]
    return visit.part(
        "settled.html", id=suspicion_id, said=said, change=receipt.change_ids[-1] if receipt.change_ids else None
    )


async def decide(visit: Visit) -> Response:
    """Confirm or drop what somebody else noted; the card says so, with its undo."""
    scope, memory_id, word = visit.scope(), visit.request.path_params["id"], visit.said("word")
    if word not in {"confirm", "drop"}:
        raise InvalidInput("say 'confirm' or 'drop'")
    verb = scope.confirm if word == "confirm" else scope.drop
    done = await verb(memory_id, idempotency_key=visit.said("key") or None)
    said = "Confirmed: it is the user's word from now on." if word == "confirm" else "Dropped: it was never so."
    changes = done.receipt.change_ids
    return visit.part("settled.html", id=memory_id, said=said, change=changes[-1] if changes else None)


async def take_back(visit: Visit) -> Response:
    """Take a verdict back; the page is to be loaded for what waits again."""
    await visit.scope().undo(visit.said("change"), idempotency_key=visit.said("key") or None)
    return visit.part("settled.html", id=visit.said("id"), said="Taken back: it waits again.", change=None)
