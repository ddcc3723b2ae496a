"""Forget: by words, session, time or who said it; what would go, doing it, and a proof that no byte is left."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final, Literal

from starlette.responses import Response

from memhold._version import __version__
from memhold.faces.ui.now_page import SHOWN, WAYS, counted, moved_on, told_of, way_of
from memhold.faces.ui.rendering import HEADERS, exact, who
from memhold.faces.ui.rows import row_of
from memhold.faces.ui.session_pages import newest_sessions
from memhold.faces.ui.timeline_page import moment_of
from memhold.faces.ui.visit import Visit
from memhold.values.answers import Erasure, Hit, Residue
from memhold.values.errors import InvalidInput, MemholdError, NotFound
from memhold.values.records import ORIGINS, Origin
from memhold.verbs.scope import AsyncScope

__all__ = ["forget_done", "forget_page", "forget_plan", "proof_file", "said_of"]

_MOST: Final = 50
_FIELDS: Final = ("by", "q", "session", "origin", "actor", "since", "until", "way")
_MADE: Final[Mapping[str, int]] = {"summary": 1, "raw": 1, "rollup": 2}
"""What is made of lines, and what is made of that."""
_BY: Final[Mapping[str, str]] = {
    "words": "what has these words",
    "session": "a whole conversation",
    "time": "what was written in a time",
    "origin": "what somebody else said",
    "everything": "everything",
}


async def forget_page(visit: Visit) -> Response:
    """The whole page."""
    return visit.part(
        "forget.html",
        here="/ui/forget",
        bys=list(_BY.items()),
        **await newest_sessions(visit.scope()),
        origins=[(name, who(name).capitalize()) for name in ORIGINS if name != "user"],
        ways=[(name, title, text) for name, (title, text) in WAYS.items()],
    )


async def forget_plan(visit: Visit) -> Response:
    """What would go: nothing does yet."""
    scope = visit.scope()
    if visit.said("by") == "words" and not visit.form.get("id"):
        return await _chosen_by_words(visit, scope)
    if visit.said("by") == "everything":
        return _planned(visit, await _everything(scope, hard=way_of(visit) != "hide"))
    try:
        return _planned(visit, await told_of(scope, await _erased(scope, visit, dry_run=True)))
    except NotFound:
        if (left := await _left(visit, scope)) is None:
            raise
        return left


async def _left(visit: Visit, scope: AsyncScope) -> Response | None:
    """The plan of what is left of the lines that were chosen, where some are gone; None where no one is left."""
    left = []
    for one in visit.form.get("id", ()):
        with suppress(NotFound):
            await scope.forget(one, hard=way_of(visit) != "hide", dry_run=True)
            left.append(one)
    if not left:
        return None
    visit = replace(visit, form={**visit.form, "id": left})
    return _planned(visit, {**await told_of(scope, await _erased(scope, visit, dry_run=True)), "moved": True}, 409)


def _planned(visit: Visit, told: Mapping[str, Any], status: int = 200) -> Response:
    """The plan, in a form that does it."""
    kept = [(name, visit.said(name)) for name in _FIELDS if visit.said(name)]
    kept += [("id", one) for one in visit.form.get("id", ())]
    words = visit.said("q") if visit.said("by") == "words" else ""
    return visit.part(
        "forget_plan.html", status, kept=kept, hard=way_of(visit) != "hide", scans=visit.runs_it,
        words=visit.said("residue", words), **told,
    )  # fmt: skip


async def _everything(scope: AsyncScope, *, hard: bool) -> dict[str, Any]:
    """What a user has, by the store's own counts: to list all of a large one takes longer than anybody waits."""
    status = await scope.status()
    newest = await scope.recall("", limit=SHOWN, browse=True)
    memories = sum(status.memories.values()) - status.states.get("forgotten", 0)
    verb = "would go" if hard else "would be hidden, and can be shown again"
    told = f"{counted(memories, 'memory', 'memories')} and {counted(status.messages, 'message', 'messages')} {verb}."
    going = [row_of(hit) for hit in newest.hits]
    rest = max(memories + status.messages - len(going), 0)
    return {"told": told, "going": going, "goes": bool(going), "rest": rest, "plan": None, "moved": False}


async def _chosen_by_words(visit: Visit, scope: AsyncScope) -> Response:
    text = visit.said("q").strip()
    if not text:
        raise InvalidInput("say which words")
    found = await scope.recall(text, limit=_MOST, browse=True)
    hits = found.hits[: found.total]
    rows = [row_of(hit) for hit in hits]
    return visit.part("forget_words.html", rows=rows, said=said_of(hits, text), way=way_of(visit), q=text)


def said_of(hits: Sequence[Hit], text: str) -> set[str]:
    """The ids of what says a text word by word, but for what goes with one of these; pure.

    A summary goes with a line that it stands on. Chosen itself it would take all its other lines along.
    """
    told = sorted(
        (hit for hit in hits if text.casefold() in hit.text.casefold()), key=lambda hit: _MADE.get(hit.kind, 0)
    )
    chosen: set[str] = set()
    gone: set[str] = set()
    for hit in told:
        if hit.kind not in _MADE or gone.isdisjoint(hit.sources):
            chosen.add(hit.id)
        gone.add(hit.id)
    return chosen


async def _erased(scope: AsyncScope, visit: Visit, *, dry_run: bool) -> Erasure:
    """Forget what the form names, or tell what would go."""
    way, key = way_of(visit), visit.said("key") or None
    sources: Literal["erase", "keep"] = "keep" if way == "keep" else "erase"
    return await scope.forget(
        **_target(visit), hard=way != "hide", sources=sources, dry_run=dry_run, idempotency_key=key
    )


def _target(visit: Visit) -> dict[str, Any]:
    match visit.said("by"):
        case "words":
            return {"ids": visit.form.get("id", ())}
        case "session":
            return {"session": visit.said("session")}
        case "time":
            since, until = moment_of(visit, "since"), moment_of(visit, "until")
            if since is None and until is None:
                raise InvalidInput("say from when, or until when")
            return {"written_since": since, "written_until": until}
        case "origin":
            origin: Origin | None = next((one for one in ORIGINS if one == visit.said("origin")), None)
            return {"origin": origin, "actor": visit.said("actor").strip() or None}
        case "everything":
            return {"everything": True}
        case _:
            raise InvalidInput("say what is to be forgotten")


async def forget_done(visit: Visit) -> Response:
    """Forget what was shown, then look for the bytes where the person said which."""
    scope = visit.scope()
    if (now := await moved_on(scope, visit, lambda: _erased(scope, visit, dry_run=True))) is not None:
        return _planned(visit, now, 409)
    try:
        done = await _erased(scope, visit, dry_run=False)
    except NotFound:
        if (left := await _left(visit, scope)) is None:
            raise
        return left
    scan, told = await _scanned(visit, scope, visit.said("residue"))
    return visit.part(
        "forget_done.html", done=done, scan=scan, scan_told=told, text=visit.said("residue"),
        counts=(len(done.memories), len(done.messages), len(done.hidden)),
    )  # fmt: skip


async def _scanned(visit: Visit, scope: AsyncScope, text: str) -> tuple[Residue | None, str | None]:
    # The scan reads every namespace's bytes: whoever holds a token of one must not learn what another holds.
    if not text or not visit.runs_it:
        return None, None
    try:
        return await scope.residue(text), None
    except MemholdError as error:
        return None, str(error)


async def proof_file(visit: Visit) -> Response:
    """The scan, done again now, as a file to keep: it names the text by its hash alone."""
    text = visit.said("text")
    scan, told = await _scanned(visit, visit.scope(), text)
    if scan is None:
        raise InvalidInput(told or "the files are scanned for whoever runs the store: open it with 'memhold ui'")
    proof = {
        "memhold": __version__,
        "scanned_at": exact(visit.now),
        "change": visit.said("change") or None,
        "sha256_of_the_text": sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        "files": scan.files,
        "bytes": scan.bytes,
        "found": sum(scan.found.values()),
    }
    body = json.dumps(proof, indent=2) + "\n"
    named = {**HEADERS, "content-disposition": 'attachment; filename="memhold-residue.json"'}
    return Response(body, media_type="application/json", headers=named)
