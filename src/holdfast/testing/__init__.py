"""What ships for your own tests: doubles that behave, and the suites that a store of your own must pass.

- `FakeClock`: time that moves only when the test says so, with sleepers that wake in order.
- `SeededIds`: ids that are the same in every run.
- `StoreSuite`: the conformance suite of the store port; subclass it and supply the fixture `open_store`. It needs
  pytest, pytest-asyncio and hypothesis.
- `VerbSuite`: the conformance suite of the public verbs; supply the fixture `harness` (`OpenHarness` serves an
  `AsyncHoldfast`).

Names are loaded when they are first used, so that importing this package needs no test library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.testing.clock import FakeClock
    from holdfast.testing.ids import SeededIds
    from holdfast.testing.store_suite import StoreSuite
    from holdfast.testing.verb_suite import OpenHarness, VerbSuite

__all__ = ["FakeClock", "OpenHarness", "SeededIds", "StoreSuite", "VerbSuite"]

_HOME = {
    "FakeClock": "holdfast.testing.clock",
    "SeededIds": "holdfast.testing.ids",
    "OpenHarness": "holdfast.testing.verb_suite",
    "StoreSuite": "holdfast.testing.store_suite",
    "VerbSuite": "holdfast.testing.verb_suite",
}


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
