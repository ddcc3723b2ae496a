"""To settle: what only a person can know. Doubted keys, contradictions, what others noted and what was inferred."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from starlette.responses import Response

from memhold.faces.ui.rows import row_of
from memhold.faces.ui.visit import Visit
from memhold.values.errors import InvalidInput
from memhold.values.records import Memory
from memhold.verbs.scope import AsyncScope

__all__ = ["decide", "settle", "settle_page", "take_back"]

_NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MOST: Final = 50
_PAGES: Final = 5
"""How many pages of what models found are read for what was inferred."""
_WINDOWS: Final = 20
"""Of how many windows, the newest, what was not kept is told: each is a look at the trail."""
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
        dropped=await _ungrounded(scope),
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


async def _ungrounded(scope: AsyncScope) -> list[Mapping[str, Any]]:
    """What models said of the newest windows that no line holds, and that was therefore not kept."""
    newest = await scope.summaries(limit=_WINDOWS)
    found: dict[str, list[Mapping[str, Any]]] = {}
    for hit in newest.hits:
        for change in await scope.history(hit.id):
            dropped = change.detail.get("ungrounded", ())
            found[change.id] = [{**one, "at": change.at, "by": change.by.name} for one in dropped]
    return [one for dropped in found.values() for one in dropped][:_MOST]


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
