"""What `memhold models` asks for, over a catalog: the rows, real calls to each link, the usage, the classes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any, Final, cast

from memhold.ports.models import LinkNote, Tally
from memhold.ports.stores import Clock
from memhold.providers.catalog import Catalog
from memhold.providers.chat import KeySource, chat_model
from memhold.providers.context_room import CONTEXT_TOO_SMALL, needed, told_by_server, too_small, widen
from memhold.providers.embedders import embedding_model
from memhold.providers.entry import FORMS, Entry, looks_embedding
from memhold.providers.failures.classify import classify_rows
from memhold.providers.link_health import Links, what_to_do
from memhold.providers.naming import Kind, chain_of_kind, is_line, with_lines
from memhold.providers.report import Probe, catalog_rows, note_rows, probe_chat, probe_embedding, usage_rows
from memhold.providers.wrappers import HostGates, Timed
from memhold.values.errors import Attempt, FailureClass, ModelError

__all__ = ["ModelsView"]


class ModelsView:
    """The commands' side of the catalog. Not for a running loop.

    `kept` reads the tallies of a store from a day on, `learned` writes what a test found into it; `named` are the
    models that the settings name, by the setting (`consolidation`, `embedding`).
    """

    def __init__(
        self,
        catalog: Catalog,
        *,
        keys: KeySource,
        clock: Clock,
        kept: Callable[[date | None], Sequence[Tally]] | None = None,
        learned: Callable[[Sequence[LinkNote]], None] | None = None,
        named: Mapping[str, str] | None = None,
    ) -> None:
        self._catalog = catalog
        self._keys = keys
        self._clock = clock
        self._kept = kept
        self._learned = learned
        self._named = named or {}

    def rows(self, *, hidden: bool) -> list[dict[str, Any]]:
        """The catalog, as rows."""
        return catalog_rows(self._catalog, hidden=hidden)

    def notes(self) -> list[dict[str, Any]]:
        """What loading noted, as rows."""
        return note_rows(self._catalog.notes)

    def test(self, chain: str) -> list[dict[str, Any]]:
        """Real calls to each link of a chain, one link after the other, as rows.

        A model in one line is a chain too, an embedding where its name is that of one; the name of a setting
        (`embedding`) means what that names.

        A chat model is asked for arguments in the best form for its kind of server, and where that fails in the next
        one down, until one works; one that quotes nothing there is asked turn by turn from then on. What was found is
        written to the store, and to no file.

        Raises:
            InvalidSetting: there is no such chain or model.
        """
        name = self._named.get(chain) or chain
        kind: Kind = "embedding" if chain == "embedding" or (is_line(chain) and looks_embedding(chain)) else "chat"
        table = with_lines(self._catalog, [(name, kind)], os.environ)
        links = Links(table.models, clock=self._clock)
        rows = asyncio.run(self._test(chain_of_kind(table, name, kind), links))
        if self._learned is not None:
            self._learned(links.take())
        return rows

    def usage(self, *, days: int | None, by_day: bool) -> list[dict[str, Any]]:
        """What models were used for in the last days (today counts), or since ever, as rows."""
        since = self._clock.now().date() - timedelta(days=days - 1) if days is not None else None
        return usage_rows(self._kept(since) if self._kept is not None else (), days=by_day)

    def classify(self, lines: Iterable[str]) -> Iterator[dict[str, Any]]:
        """The rows with their class."""
        return classify_rows(lines)

    async def _test(self, entries: Sequence[Entry], links: Links) -> list[dict[str, Any]]:
        probes = [await self._probe(entry, links) for entry in entries]
        failing = {note.model: note for note in links.unwritten() if note.failing_since is not None}
        return [
            _advised(probe, entry, failing.get(entry.name)).row() for probe, entry in zip(probes, entries, strict=True)
        ]

    async def _probe(self, entry: Entry, links: Links) -> Probe:
        if entry.protocol == "rules":
            return Probe(model=entry.name, reachable=True, tools=None, seconds=0.0, usd=0.0, text="needs no server")
        if not entry.embeds:
            return await self._forms(entry, links)
        try:
            gates = HostGates()
            model = await embedding_model(entry, keys=self._keys, clock=self._clock, gates=gates, unload_retry_count=0)
        except ModelError as error:
            return Probe(
                model=entry.name, reachable=False, tools=None, seconds=0.0, usd=None, cls=error.cls, text=str(error)
            )
        try:
            probe = await probe_embedding(entry, model, clock=self._clock)
            links.note(_attempt(probe))
            return probe
        finally:
            close = getattr(model, "close", None) or getattr(model, "aclose", None)
            if close is not None:
                await close()

    async def _forms(self, entry: Entry, links: Links) -> Probe:
        """The first form in which a link gives arguments; the last try where none does."""
        first = FORMS.index(entry.form)
        forms = (entry.form,) if entry.structured is not None else FORMS[first:]
        seconds, form = 0.0, entry.form
        probe = Probe(model=entry.name, reachable=False, tools=False, seconds=0.0, usd=None)
        for form in forms:
            # Named, the form is the only one that is tried; a call that is written as text counts as well.
            bare = chat_model(replace(entry, structured=form), keys=self._keys, clock=self._clock)
            timed = Timed(bare, clock=self._clock, seconds=entry.deadline)
            try:
                probe = await probe_chat(entry, timed, clock=self._clock)
            finally:
                await bare.close()
            seconds += probe.seconds
            probe = replace(probe, form=form if probe.tools else None, seconds=seconds)
            if probe.tools or not _about_form(probe):
                break
        if probe.reachable:
            probe = await self._room(entry, probe)
        links.note(_attempt(probe))
        if probe.tools and entry.structured is None and entry.protocol in FORMED:
            links.learned(entry.name, form, "whole" if probe.quotes else "turns")
        return probe

    async def _room(self, entry: Entry, probe: Probe) -> Probe:
        """The probe with the tokens that the link's context takes: one that is too small is a failure of its own."""
        key = self._keys(entry.api_key_env) if entry.api_key_env else None
        told = await told_by_server(entry, key)
        seen = told if told is not None else entry.window
        probe = replace(probe, context=seen)
        if seen is None or seen >= needed(entry) or probe.cls not in {None, "shorten"}:
            return probe
        reason = too_small(entry, seen)
        text = f"{reason}; {widen(entry)}"
        return replace(probe, cls="shorten", code=CONTEXT_TOO_SMALL, reason=reason, text=text)


FORMED: Final = frozenset({"openai-chat", "ollama-chat"})
"""Protocols that know more than one form."""


def _about_form(probe: Probe) -> bool:
    """Whether another form may do better: an answer without arguments, or a request that is not taken as it is."""
    return probe.cls is None or probe.cls in {"next", "resample"}


def _advised(probe: Probe, entry: Entry, note: LinkNote | None) -> Probe:
    """The probe with what to do behind what is wrong, where that does not say it by itself."""
    advice = "" if note is None else what_to_do(entry, note)
    return probe if not advice or advice in probe.text else replace(probe, text=f"{probe.text}; {advice}")


def _attempt(probe: Probe) -> Attempt:
    cls = cast("FailureClass | None", probe.cls)
    return Attempt(
        model=probe.model, cls=cls, status=probe.status, code=probe.code, reason=probe.reason, said=probe.said
    )
