"""How verbs are done over an open store: each by a row of a table, which names its unit of work and what that takes.

A unit is loaded when its verb is first called.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, ClassVar

from memhold.values.hints import Hinting
from memhold.verbs.checking import check, moments
from memhold.verbs.declaration import Verb, verbs_of
from memhold.verbs.transactions import Transactions

__all__ = ["Doer", "Unit", "have_verbs"]

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


@cache
def _names(work: Work) -> frozenset[str]:
    """The arguments of a verb that its work takes by their names."""
    _, *own = inspect.signature(work).parameters
    return frozenset(own)


class Doer(Hinting):
    """Does the verbs of a Protocol over an open store, each by its row in the table `units`."""

    units: ClassVar[Mapping[str, Unit]]

    def __init__(self, here: Transactions) -> None:
        self._tx = here

    async def do(self, verb: Verb, given: Mapping[str, Any]) -> Any:
        """Do a verb with checked arguments, those that were left out as they are declared."""
        here, unit = self._tx, self.units[verb.name]
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
            runtime = self._tx.runtime
            given.update(moments(verb, given, runtime.clock, runtime.settings.zone))
        return await self.do(verb, {**defaults, **given})

    return done


def have_verbs(doer: type[Doer], protocol: type) -> None:
    """Give a class a method for each verb that a Protocol declares, with its signature, which checks its arguments."""
    for verb in verbs_of(protocol).values():
        setattr(doer, verb.name, _doing(verb))
