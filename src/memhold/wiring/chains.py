"""The chain of models that consolidates: of the catalog, or of the caller's objects; loaded only where there is one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

from memhold.ports.models import ModelChain, UsageBook
from memhold.ports.stores import Clock
from memhold.providers.chain import Chain, Link
from memhold.providers.entry import Entry
from memhold.providers.ledger import Ledger
from memhold.providers.open_models import Models
from memhold.providers.pool import ChainSettings
from memhold.values.errors import InvalidSetting, MemholdError

__all__ = ["ChainParts", "chain_of", "chain_of_objects"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainParts:
    """A chain and what belongs to it: which links are rules, the entries of its links, and how to let go of it."""

    chain: ModelChain
    rules: frozenset[str] = frozenset()
    second: ModelChain | None = None
    """What follows its first model, where another model does: a second opinion."""
    judging: ChainParts | Literal["itself"] | None = "itself"
    """What of it judges near-duplicates where nothing else is named: not the models that are asked turn by turn."""
    entries: Mapping[str, Entry] = field(default_factory=dict)
    fresh: Callable[[], None] | None = None
    spent: Callable[[UsageBook], Awaitable[None]] | None = None
    """Writes what its calls took since the last time; figures that cannot be written stay for the next time."""


def chain_of(name: str, models: Models) -> ChainParts:
    """The chain of that name in the catalog, or the one that begins with that model; `models` calls it and books it.

    Raises:
        InvalidSetting: no chain or model has that name.
    """
    links = {entry.name: entry for entry in models.catalog.chain(name)}

    def fresh() -> None:
        for link in links:
            models.pool.model(link).close()

    async def spent(_: UsageBook) -> None:
        await models.write_usage()

    asked = [entry for entry in links.values() if entry.protocol != "rules"]
    judging: ChainParts | Literal["itself"] | None = "itself"
    if asked and asked[0].by_turns:
        large = next((entry.name for entry in asked if not entry.by_turns), None)
        judging = chain_of(large, models) if large is not None else None
    return ChainParts(
        chain=models.chain(name),
        second=models.chain(asked[1].name) if len(asked) > 1 else None,
        judging=judging,
        rules=frozenset(entry.name for entry in links.values() if entry.protocol == "rules"),
        entries=links,
        fresh=fresh,
        spent=spent,
    )


def _writing(ledger: Ledger) -> Callable[[UsageBook], Awaitable[None]]:
    async def write(book: UsageBook) -> None:
        tallies = ledger.take()
        if not tallies:
            return
        try:
            await book.add(tallies)
        except MemholdError:
            ledger.put_back(tallies)

    return write


def chain_of_objects(
    given: Any, *, clock: Clock, settings: ChainSettings, purpose: str = "consolidation"
) -> ChainParts:
    """A chain of the caller's own: a model, several in their order, or a chain as it is.

    Raises:
        InvalidSetting: the object is none of these.
    """
    from memhold.consolidate.rules import RulesModel

    if hasattr(given, "ask"):
        return ChainParts(chain=given)
    models = list(given) if isinstance(given, Sequence) else [given]
    if not models or not all(hasattr(model, "chat") for model in models):
        raise InvalidSetting(
            f"{purpose} is neither a name of the catalog nor a model; pass an object with `name` and `chat`",
            name=purpose,
        )
    links = [Link(model=model, window=getattr(model, "window", None)) for model in models]
    ledger = Ledger({}, clock=clock)

    def chained(some: Sequence[Link]) -> Chain:
        return Chain(
            some,
            clock=clock,
            dice=Random(),
            name=purpose,
            backoff=settings.backoff,
            deadline=settings.deadline,
            observe=ledger.observe,
        )

    rules = frozenset(model.name for model in models if isinstance(model, RulesModel))
    others = [link for link in links if link.model.name not in rules][1:]
    second = chained(others) if others else None
    return ChainParts(chain=chained(links), rules=rules, second=second, spent=_writing(ledger))
