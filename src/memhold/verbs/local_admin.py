"""What looks after a whole store, across scopes: usage, check-ups, backups, indexes built anew."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Literal

from memhold.facts.suspicions import list_suspicions
from memhold.history.checkup import damaged_vectors, documents, due_of_state, index_drift, rebuild_due, rebuild_words
from memhold.history.forget import forget_damaged, has_damage
from memhold.history.status import windows
from memhold.index.pending_vectors import begin, due_index, targets
from memhold.index.vector_cache import mend_vectors
from memhold.messages.fences import said
from memhold.ports.maintenance import Finding, Maintenance, Manifest, Readiness, Rebuilt, Usage, Vectors, given_path
from memhold.ports.models import Tally
from memhold.ports.stores import Priority
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.ports.vector_blocks import Generation, unseen
from memhold.text.analysis import Terms, analyse
from memhold.values.answers import ModelHealth, OpenSuspicion
from memhold.values.errors import InvalidInput, MemholdError, StoreCorrupt
from memhold.values.names import checked_name, is_within
from memhold.values.records import Scope
from memhold.verbs.checking import judging
from memhold.verbs.local_tokens import LocalTokens
from memhold.verbs.runtime import Runtime
from memhold.verbs.store_protocols import AsyncAdmin
from memhold.verbs.token_text import is_whole

__all__ = ["LocalAdmin", "Progress"]

Progress = Callable[[int, int], None]
"""Called with how much is done of how much."""

_REINDEX = "run 'memhold reindex'"
_RESTORE = "stop what writes to the store, then restore its newest backup"


class LocalAdmin:
    """The verbs that act on all scopes of a store: `mem.admin`."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    @property
    def tokens(self) -> LocalTokens:
        return LocalTokens(self._runtime)

    def _maintenance(self) -> Maintenance:
        self._runtime.guard()
        if self._runtime.maintenance is None:
            raise InvalidInput("a store in memory keeps no files; open one in a file to look after it")
        return self._runtime.maintenance

    async def usage(self, *, days: int | None = None) -> tuple[Usage, ...]:
        maintenance = self._maintenance()
        return await maintenance.usage(self._since(days))

    async def users(
        self, *, namespace: str = "default", after: str | None = None, limit: int = 1000
    ) -> tuple[str, ...]:
        self._runtime.guard()
        behind = "" if after is None else checked_name(after, "after")
        found = await self._runtime.store.upkeep.users(checked_name(namespace, "namespace"), behind, limit)
        return tuple(found)

    async def model_usage(self, *, days: int | None = None) -> tuple[Tally, ...]:
        self._runtime.guard()
        return tuple(await self._runtime.store.usage.read(self._since(days)))

    def _since(self, days: int | None) -> date | None:
        """The first of the last so many days."""
        if days is None:
            return None
        return self._runtime.clock.now().date() - timedelta(days=days - 1)

    async def backup(self, target: str | Path, *, progress: Progress | None = None) -> Manifest:
        return await self._maintenance().backup(given_path(target), progress=progress)

    async def doctor(
        self, *, repair: Literal["clock", "rows"] | None = None, progress: Progress | None = None
    ) -> tuple[Finding, ...]:
        maintenance = self._maintenance()
        repaired: list[Finding] = []
        match repair:
            case None:
                pass
            case "clock":
                repaired = await self._repair_clock()
            case "rows":
                repaired = await self._repair_rows(maintenance)
        examined = await maintenance.examine()
        if self._runtime.watch is not None:
            self._runtime.watch.note(examined)
        found = [*repaired, *examined]
        if any(finding.check in {"integrity", "open"} for finding in found):
            return tuple(found)
        scopes = await self._runtime.store.upkeep.scopes()
        waiting = 0
        for done, scope in enumerate(scopes, start=1):
            try:
                waiting += await maintenance.survey(scope, windows)
                seen = await maintenance.survey(scope, _look)
            except StoreCorrupt as error:
                seen = [Finding(check="rows", severity="wrong", what=str(error), advice=_RESTORE, where=_where(scope))]
            found += [replace(one, namespace=scope.namespace) for one in seen]
            if progress is not None:
                progress(done, len(scopes))
        found += await self._damaged_tokens()
        found += await self._others_vectors(scopes)
        return (*found, *(_ailing(one, waiting) for one in (await self._models()).values() if one.answers is False))

    async def _others_vectors(self, scopes: Sequence[Scope]) -> list[Finding]:
        """That the vectors of the store are another embedding's; one that does not work is told by itself."""
        embedding = self._runtime.embedding
        if embedding is None or not scopes:
            return []
        try:
            async with asyncio.timeout(_PROBE_SECONDS):
                ours = await embedding.fingerprint()
        except (MemholdError, TimeoutError):
            return []
        made = await self._runtime.store.read(scopes[0], lambda tx: tx.generations())
        theirs = next((one.fingerprint for one in made if one.state == "current"), ours)
        if theirs == ours:
            return []
        what = f"its vectors are of {theirs}, and questions have those of {ours}: words alone answer them"
        advice = "run 'memhold reindex --to' with the embedding of your settings, or name the one that made them there"
        return [Finding(check="vectors", severity="note", what=what, advice=advice)]

    async def _damaged_tokens(self) -> list[Finding]:
        secret = self._runtime.store.facts.secret
        try:
            kept = await self._runtime.store.tokens.read()
        except StoreCorrupt:
            what = "an access token cannot be read and opens nothing, and tokens cannot be listed"
            return [Finding(check="rows", severity="wrong", what=what, advice=_RESTORE)]
        return [
            Finding(
                check="rows",
                severity="wrong",
                what=f"the access token {token.id} is damaged, and opens nothing",
                advice="revoke it ('memhold token revoke'), and make another in its place",
                where=_where(token.scope),
                namespace=token.namespace,
            )
            for one in kept
            if (token := one.token).revoked_at is None and not is_whole(one, secret)
        ]

    async def ready(self) -> Readiness:
        self._runtime.guard()
        store, models, degraded = self._runtime.store, await self._models(), self._runtime.degraded(())

        def probe(tx: WriteTx) -> None:
            tx.put_due(_PROBE, _PROBE, tx.now)
            tx.clear_due(_PROBE, _PROBE)

        try:
            async with asyncio.timeout(_PROBE_SECONDS):
                await store.write(Scope(), probe)
                due = await store.upkeep.pending(self._runtime.worker.kinds)
                waiting = await store.upkeep.pending(_FOR_MODELS, later=True)
        except (MemholdError, TimeoutError) as error:
            return Readiness(writes=False, error=type(error).__name__, models=models, degraded=degraded)
        cached = self._runtime.cached_bytes
        return Readiness(writes=True, due=due, models=models, waiting=waiting, cached_bytes=cached, degraded=degraded)

    async def _models(self) -> Mapping[str, ModelHealth]:
        try:
            async with asyncio.timeout(_PROBE_SECONDS):
                return await self._runtime.health()
        except (MemholdError, TimeoutError):
            return {}

    async def reindex(self, *, namespace: str | None = None, progress: Progress | None = None) -> Rebuilt:
        self._runtime.guard()
        namespace = namespace if namespace is None else checked_name(namespace, "namespace")
        store = self._runtime.store
        scopes = [
            scope for scope in await store.upkeep.scopes() if namespace is None or is_within(scope.namespace, namespace)
        ]
        total = due = 0
        for done, scope in enumerate(scopes, start=1):
            indexed, added = await self._reindex(scope)
            total, due = total + indexed, due + added
            if progress is not None:
                progress(done, len(scopes))
        return Rebuilt(scopes=len(scopes), documents=total, due_added=due)

    async def reembed(self) -> Generation | None:
        self._runtime.guard()
        runtime = self._runtime
        if runtime.embedding is None:
            return None
        fingerprint, dimension = await runtime.embedding.fingerprint(), await runtime.embedding.dimension()
        scopes = await runtime.store.upkeep.scopes()
        work = lambda tx: begin(tx, fingerprint=fingerprint, dimension=dimension)  # noqa: E731 - bound to this call
        made = await runtime.store.write(scopes[0] if scopes else Scope(), work, priority=Priority.WORKER)
        for scope in scopes if made is not None else ():
            await runtime.store.write(scope, due_index, priority=Priority.WORKER)
        return made

    async def vectors(self) -> Vectors | None:
        self._runtime.guard()
        embedding, store = self._runtime.embedding, self._runtime.store
        fingerprint = None if embedding is None else await embedding.fingerprint()
        done = of = 0
        found: Generation | None = None
        for scope in await store.upkeep.scopes():
            held, documents, looked = await store.read(scope, lambda tx: _embedded(tx, fingerprint))
            found, done, of = held, done + looked, of + documents
        if found is None:
            return None
        return Vectors(fingerprint=found.fingerprint, state=found.state, documents=done, of=of)

    async def _repair_clock(self) -> list[Finding]:
        """Date what lies ahead of the clock as of now, and make due now what waits; says of how many rows."""
        store, redated = self._runtime.store, 0
        for scope in await store.upkeep.scopes():
            rows = await store.write(scope, _redated, priority=Priority.WORKER)
            if rows:
                await self._reindex(scope)
            redated += rows
        if not redated:
            return []
        what = f"{redated} rows that were dated ahead of the clock are dated as of now"
        return [Finding(check="clock", severity="note", what=what, advice="nothing: it is mended")]

    async def _repair_rows(self, maintenance: Maintenance) -> list[Finding]:
        """Erase the rows that cannot be read, whatever their scope, once the indexes over all rows are whole."""
        mended = await maintenance.mend_indexes()
        store, stood, erased = self._runtime.store, 0, 0
        secret, ids = store.facts.secret, self._runtime.ids
        for scope in await store.upkeep.scopes():
            stood += await store.write(scope, lambda tx: tx.let_stand(), priority=Priority.WORKER)
            # Reading all rows takes its time, so it is not done under the write lock where nothing is to be done there.
            if await maintenance.survey(scope, has_damage):
                erased += await store.write(
                    scope, lambda tx: forget_damaged(tx, secret=secret, ids=ids), priority=Priority.WORKER
                )
                await self._reindex(scope)
                await self._runtime.scrub(scope, 0)
        said = [
            (mended, "indexes of the file are built anew"),
            (stood, "sessions and changes that were damaged stand with what is still known of them"),
            (erased, "rows that could not be read are erased, and what was derived from them stands without them"),
        ]
        advice = "nothing: it is mended"
        return [Finding(check="rows", severity="note", what=f"{n} {what}", advice=advice) for n, what in said if n]

    async def _reindex(self, scope: Scope) -> tuple[int, int]:
        # Analysis is the slow part: it is done beside the writer, and only what came since is done inside.
        maintenance, store = self._runtime.maintenance, self._runtime.store
        terms = await (store.read(scope, _analyse) if maintenance is None else maintenance.survey(scope, _analyse))

        def work(tx: WriteTx) -> tuple[int, int]:
            mend_vectors(tx)
            return rebuild_words(tx, terms), rebuild_due(tx)

        return await store.write(scope, work, priority=Priority.IMPORT)


judging(AsyncAdmin, LocalAdmin)


def _redated(tx: WriteTx) -> int:
    redated = tx.redate()
    for item in tx.due():
        # When a memory expires was said by somebody; everything else may be done sooner.
        if item.kind != "expire":
            tx.clear_due(item.kind, item.ref)
            tx.put_due(item.kind, item.ref, tx.now)
    return redated


def _analyse(tx: ReadTx) -> dict[int, Terms]:
    return {item.number: analyse(said(item)) for item, _ in documents(tx)}


def _embedded(tx: ReadTx, fingerprint: str | None) -> tuple[Generation | None, int, int]:
    """The open generation of an embedding, how many documents the scope has, and how many of them it has seen."""
    held = next(iter(targets(tx.generations(), fingerprint or "")), None)
    count = tx.document_count()
    waiting = 0 if held is None else len(unseen(tx.vector_marks(held.number), count, count))
    return held, count, count - waiting


def _where(scope: Scope) -> str:
    return f"namespace {scope.namespace!r}, " + (f"user {scope.user!r}" if scope.user else "no user")


def _look(tx: ReadTx) -> list[Finding]:
    where = _where(tx.scope)
    found = [
        Finding(check="words", severity="wrong", what=f"the words index: {drift}", advice=_REINDEX, where=where)
        for drift in index_drift(tx)
    ]
    if damaged := damaged_vectors(tx):
        what = f"{damaged} blocks of vectors do not agree with their digests"
        found.append(Finding(check="vectors", severity="wrong", what=what, advice=_REINDEX, where=where))
    there = {(item.kind, item.ref) for item in tx.due()}
    missing = [key for key in due_of_state(tx) if key not in there]
    if missing:
        what = f"{len(missing)} pieces of work follow from its state and are not due ({missing[0][0]})"
        found.append(Finding(check="due", severity="wrong", what=what, advice=_REINDEX, where=where))
    failing = [item for item in tx.due() if item.attempts >= _FAILING]
    for item in failing:
        what = f"{item.kind} failed {item.attempts} times; the last error: {item.last_error}"
        advice = "mend what the error names; it is tried again by itself"
        found.append(Finding(check="due", severity="note", what=what, advice=advice, where=where))
    return [*found, *(_suspected(found, where) for found in list_suspicions(tx))]


def _ailing(model: ModelHealth, waiting: int) -> Finding:
    """A model that does not work: what is wrong with it, and how many windows of the store wait for one."""
    what = model.told.removesuffix(f"; {model.advice}")
    waits = f"windows that wait for a model, whole and searchable: {waiting}"
    return Finding(check="models", severity="note", what=f"{what}; {waits}", advice=model.advice)


def _suspected(found: OpenSuspicion, where: str) -> Finding:
    """What a person should settle, by ids: the report of a whole store shows nobody's content."""
    one = found.suspicion
    between = "speaks against" if one.kind == "contradiction" else "may be the same attribute as"
    return Finding(
        check="suspicions",
        severity="note",
        what=f"{one.id} ({one.kind}): {one.memory_id} {between} {one.other_id}, by the rule {one.rule!r}",
        advice="settle it with `memhold suspicions same ID` or `different ID`; until then both stay apart",
        where=where,
    )


_PROBE = "ready"
_FOR_MODELS = ("consolidate", "redo")
_PROBE_SECONDS = 5.0
_FAILING = 3
