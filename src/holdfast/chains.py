"""The chains of models that the settings name, made from the catalog; loaded only where one is configured."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from holdfast.errors import HoldfastError, InvalidSetting
from holdfast.inference import ModelChain, UsageBook
from holdfast.ports import Clock
from holdfast.providers.catalog import load_catalog
from holdfast.providers.chain import Chain, Link
from holdfast.providers.entry import Entry
from holdfast.providers.ledger import Ledger
from holdfast.providers.pool import ChainSettings, ChatPool

__all__ = ["ChainParts", "chain_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainParts:
    """A chain and what belongs to it: which links are rules, how its links fare, and how to let go of it."""

    chain: ModelChain
    rules: frozenset[str] = frozenset()
    entries: Mapping[str, Entry] = field(default_factory=dict)
    health: Callable[[], Mapping[str, str]] = dict
    fresh: Callable[[], None] | None = None
    close: Callable[[], Awaitable[None]] | None = None
    spent: Callable[[UsageBook], Awaitable[None]] | None = None
    """Writes what its calls took since the last time; figures that cannot be written stay for the next time."""


def chain_of(given: Any, *, clock: Clock, models: str = "", settings: ChainSettings | None = None) -> ChainParts:
    """The chain that is meant: a name of the catalog, a model or several (objects), or a chain as it is.

    `models` is a file with `[models.NAME]` and `[chains]` tables, laid over the shipped catalog.

    Raises:
        InvalidSetting: no chain or model has that name, or the file cannot be used.
    """
    from holdfast.pipeline.consolidate.rules import RulesModel

    if not isinstance(given, str):
        return _of_objects(given, clock=clock, settings=settings or ChainSettings())
    catalog = load_catalog(user=_text(models), environment=os.environ)
    links = {entry.name: entry for entry in catalog.chain(given)}
    ledger = Ledger(catalog.models, clock=clock)
    pool = ChatPool(
        catalog,
        keys=os.environ.get,
        clock=clock,
        dice=Random(),
        settings=settings,
        observe=ledger.observe,
        own={"rules": lambda entry: RulesModel(entry.name)},
    )

    def fresh() -> None:
        for name in links:
            pool.model(name).close()

    def health() -> Mapping[str, str]:
        states = pool.states()
        return {name: states[name].state if name in states else "closed" for name in links}

    return ChainParts(
        chain=pool.chain(given),
        rules=frozenset(entry.name for entry in links.values() if entry.protocol == "rules"),
        entries=links,
        health=health,
        fresh=fresh,
        close=pool.close,
        spent=_writing(ledger),
    )


def _writing(ledger: Ledger) -> Callable[[UsageBook], Awaitable[None]]:
    async def write(book: UsageBook) -> None:
        tallies = ledger.take()
        if not tallies:
            return
        try:
            await book.add(tallies)
        except HoldfastError:
            ledger.put_back(tallies)

    return write


def _of_objects(given: Any, *, clock: Clock, settings: ChainSettings) -> ChainParts:
    from holdfast.pipeline.consolidate.rules import RulesModel

    if hasattr(given, "ask"):
        return ChainParts(chain=given)
    models = list(given) if isinstance(given, Sequence) else [given]
    if not models or not all(hasattr(model, "chat") for model in models):
        raise InvalidSetting(
            "consolidation is neither a name of the catalog nor a model; pass an object with `name` and `chat`",
            name="consolidation",
        )
    links = [Link(model=model, window=getattr(model, "window", None)) for model in models]
    ledger = Ledger({}, clock=clock)
    chain = Chain(
        links,
        clock=clock,
        dice=Random(),
        name="consolidation",
        backoff=settings.backoff,
        deadline=settings.deadline,
        observe=ledger.observe,
    )
    rules = frozenset(model.name for model in models if isinstance(model, RulesModel))
    return ChainParts(chain=chain, rules=rules, spent=_writing(ledger))


def _text(models: str) -> str | None:
    """The user's tables: of the file that the setting names, else of `holdfast.toml` here."""
    path = Path(models).expanduser() if models else Path("holdfast.toml")
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        if models:
            raise InvalidSetting(f"{path} is not there; name a file with [models.NAME] tables", name="models") from None
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSetting(f"{path} cannot be read: {error}", name="models") from error
