"""The verbs of a scope over an open store: a table from each verb to its unit of work, loaded when it is first called.

What a verb promises, and what it takes, is said where it is declared (`scope.AsyncScope`).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from typing import Any, ClassVar, cast

from memhold.values.records import Scope
from memhold.verbs.checking import check
from memhold.verbs.declaration import Verb, verbs_of
from memhold.verbs.documents import AsyncDocuments
from memhold.verbs.runtime import Runtime
from memhold.verbs.scope import AsyncScope
from memhold.verbs.transactions import Transactions

__all__ = ["UNITS", "Doer", "LocalScope", "Unit", "have_verbs", "load_units", "local_scope"]

Work = Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Where a verb's work stands, and how it is called.

    Work takes the scope's transactions and arguments of the verb by their names; those that it does not name come as
    one `value`, of the class that is named there. What only `reads` takes one snapshot instead of the transactions,
    and what `tells` a memory something a writing one, as the scope's writer.
    """

    module: str
    name: str
    value: tuple[str, str] | None = None
    reads: bool = False
    tells: bool = False

    @property
    def work(self) -> Work:
        """The function itself."""
        found: Work = getattr(import_module(self.module), self.name)
        return found


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


@cache
def _names(work: Work) -> frozenset[str]:
    """The arguments of a verb that its work takes by their names."""
    _, *own = inspect.signature(work).parameters
    return frozenset(own)


class Doer:
    """Does the verbs of a Protocol over an open store, each by its row in the table `units`."""

    units: ClassVar[Mapping[str, Unit]]

    def __init__(self, here: Transactions) -> None:
        self._here = here

    async def do(self, verb: Verb, given: Mapping[str, Any]) -> Any:
        """Do a verb with checked arguments, those that were left out as they are declared."""
        here, unit = self._here, self.units[verb.name]
        work = unit.work
        if unit.reads:
            return await here.read(lambda tx: work(tx, **given))
        if unit.tells:
            return await here.tell(verb.name, work, **given)
        if unit.value is None:
            return await work(here, **given)
        own = _names(work)
        module, name = unit.value
        value = getattr(import_module(module), name)(**{n: _kept(n, one) for n, one in given.items() if n not in own})
        return await work(here, value, **{n: one for n, one in given.items() if n in own})


class LocalScope(Doer):
    """`AsyncScope` over a store that this process has open."""

    units = UNITS

    @property
    def scope(self) -> Scope:
        """Whose memory this is."""
        return self._here.scope

    @cached_property
    def documents(self) -> AsyncDocuments:
        """The verbs of documents by name."""
        from memhold.verbs.local_documents import LocalDocuments  # late: who has none of them need not load it

        return cast("AsyncDocuments", LocalDocuments(self._here))


def local_scope(runtime: Runtime, scope: Scope) -> AsyncScope:
    """The verbs of a scope over an open store."""
    return cast("AsyncScope", LocalScope(Transactions(runtime, scope)))


def load_units() -> None:
    """Load what every verb needs, as a server does before it answers."""
    for unit in UNITS.values():
        import_module(unit.module)


def _kept(name: str, value: Any) -> Any:
    """An argument as a value keeps it: a list as a tuple, labels each once, no metadata as none."""
    if name == "metadata":
        return dict(value or {})
    if name in {"topics", "entities"} and value:
        from memhold.facts.remember import labels

        return labels(name, value)
    return tuple(value) if isinstance(value, list) else value


def _doing(verb: Verb) -> Callable[..., Awaitable[Any]]:
    signature = inspect.signature(verb.source)
    defaults = {name: one.default for name, one in verb.parameters.items() if not one.required}
    checked = verb.name != "add"  # the hot path: its messages are read one by one where they enter

    @functools.wraps(verb.source)
    async def done(self: Doer, *args: Any, **named: Any) -> Any:
        given = signature.bind(self, *args, **named).arguments
        del given["self"]
        if checked:
            check(verb, given)
        return await self.do(verb, {**defaults, **given})

    return done


def have_verbs(doer: type[Doer], protocol: type) -> None:
    """Give a class a method for each verb that a Protocol declares, with its signature, which checks its arguments."""
    for verb in verbs_of(protocol).values():
        setattr(doer, verb.name, _doing(verb))


have_verbs(LocalScope, AsyncScope)
