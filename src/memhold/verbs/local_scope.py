"""The verbs of a scope over an open store: a table from each verb to its unit of work.

What a verb promises, and what it takes, is said where it is declared (`scope.AsyncScope`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from typing import cast

from memhold.values.records import Scope
from memhold.verbs.documents import AsyncDocuments
from memhold.verbs.runtime import Runtime
from memhold.verbs.scope import AsyncScope
from memhold.verbs.transactions import Transactions
from memhold.verbs.units import Doer, Unit, have_verbs

__all__ = ["UNITS", "LocalScope", "load_units", "local_scope"]

UNITS: Mapping[str, Unit] = {
    "add": Unit(module="memhold.verbs.journal_verbs", name="add"),
    "remember": Unit(
        module="memhold.verbs.memory_verbs", name="remember", value=("memhold.facts.remember", "MemoryInput")
    ),
    "correct": Unit(module="memhold.verbs.memory_verbs", name="correct"),
    "pin": Unit(module="memhold.facts.remember", name="pin", tells=True),
    "unpin": Unit(module="memhold.facts.remember", name="unpin", tells=True),
    "confirm": Unit(module="memhold.facts.confirm", name="confirm", tells=True),
    "drop": Unit(module="memhold.facts.confirm", name="drop", tells=True),
    "forget": Unit(module="memhold.verbs.erasing", name="forget", value=("memhold.verbs.erasing", "Asked")),
    "undo": Unit(module="memhold.verbs.change_verbs", name="undo", value=("memhold.values.filters", "Filters")),
    "dismiss": Unit(module="memhold.verbs.change_verbs", name="dismiss"),
    "recall": Unit(module="memhold.verbs.recall_verbs", name="recall", value=("memhold.values.answers", "Query")),
    "summaries": Unit(module="memhold.verbs.recall_verbs", name="summaries", value=("memhold.values.answers", "Query")),
    "context": Unit(
        module="memhold.verbs.context_slots", name="context", value=("memhold.context.plan", "ContextQuery")
    ),
    "get": Unit(module="memhold.history.history", name="get", reads=True),
    "list": Unit(
        module="memhold.verbs.memory_verbs", name="list_memories", value=("memhold.ports.transaction", "Listing")
    ),
    "last_recalled": Unit(module="memhold.verbs.memory_verbs", name="last_recalled"),
    "messages": Unit(module="memhold.verbs.journal_verbs", name="messages", reads=True),
    "read_message": Unit(module="memhold.verbs.journal_verbs", name="read_message", reads=True),
    "history": Unit(module="memhold.history.history", name="history", reads=True),
    "changes": Unit(module="memhold.history.changes", name="changes", reads=True),
    "suspicions": Unit(module="memhold.facts.suspicions", name="list_suspicions", reads=True),
    "settle_suspicion": Unit(module="memhold.verbs.change_verbs", name="settle_suspicion"),
    "sessions": Unit(module="memhold.journal.sessions", name="sessions", reads=True),
    "copy_session": Unit(module="memhold.verbs.journal_verbs", name="copy_session"),
    "session_metadata": Unit(module="memhold.journal.sessions", name="metadata_of", reads=True),
    "set_session_metadata": Unit(module="memhold.verbs.journal_verbs", name="set_session_metadata"),
    "fence": Unit(module="memhold.verbs.journal_verbs", name="fence"),
    "status": Unit(module="memhold.verbs.upkeep_verbs", name="status"),
    "residue": Unit(module="memhold.verbs.upkeep_verbs", name="residue"),
    "end_session": Unit(module="memhold.verbs.upkeep_verbs", name="end_session"),
    "consolidate": Unit(module="memhold.verbs.upkeep_verbs", name="consolidate"),
    "compact": Unit(module="memhold.verbs.upkeep_verbs", name="compact"),
    "retain": Unit(
        module="memhold.verbs.upkeep_verbs", name="retain", value=("memhold.history.retention", "Retention")
    ),
    "import_file": Unit(
        module="memhold.verbs.files", name="import_from", value=("memhold.transfer.importing", "Reading")
    ),
    "export": Unit(module="memhold.verbs.files", name="export_to"),
}


class LocalScope(Doer):
    """`AsyncScope` over a store that this process has open."""

    units = UNITS

    @property
    def scope(self) -> Scope:
        """Whose memory this is."""
        return self._tx.scope

    @cached_property
    def documents(self) -> AsyncDocuments:
        """The verbs of documents by name."""
        from memhold.verbs.local_documents import LocalDocuments  # late: who has none of them need not load it

        return cast("AsyncDocuments", LocalDocuments(self._tx))


def local_scope(runtime: Runtime, scope: Scope) -> AsyncScope:
    """The verbs of a scope over an open store."""
    return cast("AsyncScope", LocalScope(Transactions(runtime, scope)))


def load_units() -> None:
    """Load what every verb needs, as a server does before it answers."""
    for unit in UNITS.values():
        import_module(unit.module)


have_verbs(LocalScope, AsyncScope)
