"""What ships for your own tests: doubles that behave, and the suites that a store of your own must pass.

- `ChaosServer`: a model server over real HTTP that answers sensibly and fails as real ones do; `check_openai` and
  `check_anthropic` are the message rules that it enforces. More of it in `memhold.testing.chaos`.
- `CodingAgent`: a double of Claude Code, Codex or opencode that calls hooks as the real one does. More of it in
  `memhold.testing.coding_agents`.
- `ScriptedChat`, `ScriptedEmbedding`, `HashEmbedding`: models in the process that answer by script, or sensibly.
- `FakeClock`: time that moves only when the test says so, with sleepers that wake in order.
- `SeededIds`: ids that are the same in every run.
- `StoreSuite`: the conformance suite of the store port; subclass it and supply the fixture `open_store`.
- `InjectionSuite`: texts that somebody puts into the user's mouth; supply the `harness` of the `VerbSuite`.
  The texts are `INJECTIONS` of `memhold.testing.injections`.
- `store_at`: the bare store at a location, found by its scheme as `Memhold.open` finds it, for the `StoreSuite` of a
  store in a package of its own.
- `VerbSuite`: the conformance suite of the public verbs; supply the fixture `harness` (`OpenHarness` serves an
  `AsyncMemhold`).

`pip install 'memhold[testing]'` brings the libraries that they need. Names are loaded when they are first used, so that
importing this package needs none.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memhold.testing.chaos import ChaosServer, check_anthropic, check_openai
    from memhold.testing.clock import FakeClock
    from memhold.testing.coding_agents import CodingAgent
    from memhold.testing.ids import SeededIds
    from memhold.testing.injection_suite import InjectionSuite
    from memhold.testing.scripted import HashEmbedding, ScriptedChat, ScriptedEmbedding
    from memhold.testing.store_suite import StoreSuite
    from memhold.testing.verb_suite import OpenHarness, VerbSuite
    from memhold.wiring.stores import store_at

__all__ = [
    "ChaosServer",
    "CodingAgent",
    "FakeClock",
    "HashEmbedding",
    "InjectionSuite",
    "OpenHarness",
    "ScriptedChat",
    "ScriptedEmbedding",
    "SeededIds",
    "StoreSuite",
    "VerbSuite",
    "check_anthropic",
    "check_openai",
    "store_at",
]

_HOME = {
    "ChaosServer": "memhold.testing.chaos",
    "CodingAgent": "memhold.testing.coding_agents",
    "FakeClock": "memhold.testing.clock",
    "HashEmbedding": "memhold.testing.scripted",
    "ScriptedChat": "memhold.testing.scripted",
    "ScriptedEmbedding": "memhold.testing.scripted",
    "SeededIds": "memhold.testing.ids",
    "InjectionSuite": "memhold.testing.injection_suite",
    "OpenHarness": "memhold.testing.verb_suite",
    "StoreSuite": "memhold.testing.store_suite",
    "VerbSuite": "memhold.testing.verb_suite",
    "check_anthropic": "memhold.testing.chaos",
    "check_openai": "memhold.testing.chaos",
    "store_at": "memhold.wiring.stores",
}


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
