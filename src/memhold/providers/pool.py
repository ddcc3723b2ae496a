"""The chat models of a catalog, each made once and dressed: breaker, host limit, deadline. Chains share them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from random import Random

from memhold.ports.models import ChatModel
from memhold.ports.stores import Clock
from memhold.providers.breaker import Breaker, BreakerState, Rest
from memhold.providers.catalog import Catalog
from memhold.providers.chain import Chain, Link, Observe
from memhold.providers.chat import KeySource, chat_model
from memhold.providers.chat.forms import Forms
from memhold.providers.context_room import Roomed
from memhold.providers.entry import Entry, shown
from memhold.providers.link_health import Links
from memhold.providers.stepwise import Stepwise
from memhold.providers.wrappers import Backoff, HostGates, Limited, Timed

__all__ = ["ChainSettings", "ChatPool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainSettings:
    """How patient chains are. `deadline` is a whole chain's, in seconds; each call has its entry's own."""

    backoff: Backoff = field(default_factory=Backoff)
    rest: Rest = field(default_factory=Rest)
    deadline: float = 600.0


@dataclass(eq=False)
class ChatPool:
    """Makes chains from a catalog. A model in two chains is one model: its breaker and its host's limit are shared.

    `own` makes the models of protocols that are not called over a network, by protocol (`rules`). For one event loop.
    """

    catalog: Catalog
    _: KW_ONLY
    keys: KeySource
    clock: Clock
    dice: Random
    settings: ChainSettings = field(default_factory=ChainSettings)
    gates: HostGates = field(default_factory=HostGates)
    observe: Observe | None = None
    own: Mapping[str, Callable[[Entry], ChatModel]] = field(default_factory=dict)
    links: Links | None = None

    def __post_init__(self) -> None:
        self._bare: dict[str, ChatModel] = {}
        self._dressed: dict[str, Breaker] = {}

    def model(self, name: str) -> Breaker:
        """The dressed model of an entry, made at the first call.

        Raises:
            InvalidSetting: the entry is no chat model.
        """
        if name not in self._dressed:
            entry = self.catalog.models[name]
            make = self.own.get(entry.protocol)
            bare = make(entry) if make is not None else self._made(entry)
            self._bare[name] = bare
            timed = Timed(bare, clock=self.clock, seconds=entry.deadline)
            limited = Limited(timed, gate=self.gates.of(entry))
            roomed = Roomed(limited, entry)
            by_turns = entry.by_turns if self.links is None else self.links.by_turns(entry)
            asked = Stepwise(roomed) if by_turns else roomed
            key = partial(self.keys, entry.api_key_env) if entry.api_key_env else None
            self._dressed[name] = Breaker(asked, clock=self.clock, rest=self.settings.rest, key=key)
        return self._dressed[name]

    def _made(self, entry: Entry) -> ChatModel:
        """The bare model, asked in the form that was found out, which it goes on to find out."""
        forms = None
        if self.links is not None:
            forms = Forms(entry, known=self.links.form(entry), learned=partial(self.links.learned, entry.name))
        return chat_model(entry, keys=self.keys, clock=self.clock, forms=forms)

    def chain(self, start: str) -> Chain:
        """The chain of that name (`consolidation`), or the one that begins with that model.

        Raises:
            InvalidSetting: there is none, or a link of it is no chat model.
        """
        links = [Link(model=self.model(entry.name), window=entry.window) for entry in self.catalog.chain(start)]
        return Chain(
            links,
            clock=self.clock,
            dice=self.dice,
            name=shown(start),
            backoff=self.settings.backoff,
            deadline=self.settings.deadline,
            observe=self.observe,
        )

    def states(self) -> dict[str, BreakerState]:
        """Which of the models made so far rest, and why."""
        return {name: breaker.state for name, breaker in self._dressed.items()}

    async def close(self) -> None:
        """Let go of every connection. Idempotent."""
        closers = [close() for model in self._bare.values() if (close := getattr(model, "close", None)) is not None]
        await asyncio.gather(*closers)
