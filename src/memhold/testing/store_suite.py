"""The conformance suite of the store port, for pytest: what every store must do, in-memory or not.

A store passes it by subclassing `StoreSuite` and supplying one fixture, `open_store`, which gives an async function
that opens a new, empty store with a clock and ids::

    class TestMyStore(StoreSuite):
        @pytest_asyncio.fixture
        async def open_store(self, tmp_path):
            opened = []

            async def open_store(clock, ids):
                opened.append(await MyStore.open(tmp_path / f"{len(opened)}.db", clock=clock, ids=ids))
                return opened[-1]

            yield open_store
            for store in opened:
                await store.close()

It needs pytest, pytest-asyncio and hypothesis, talks to no network and does not sleep. Property tests run with a fixed
seed, so that a failure is the same everywhere.
"""

from __future__ import annotations

import pytest
import pytest_asyncio

from memhold.ports.stores import Store
from memhold.testing.clock import FakeClock
from memhold.testing.ids import SeededIds
from memhold.testing.store_suite_content import ContentCases
from memhold.testing.store_suite_damage import DamageCases
from memhold.testing.store_suite_erasure import ErasureCases
from memhold.testing.store_suite_facts import FactCases
from memhold.testing.store_suite_isolation import IsolationCases
from memhold.testing.store_suite_quotes import QuoteCases
from memhold.testing.store_suite_rows import OpenStore
from memhold.testing.store_suite_survey import SurveyCases
from memhold.testing.store_suite_time import TimeCases
from memhold.testing.store_suite_tokens import TokenCases
from memhold.testing.store_suite_units import UnitCases
from memhold.testing.store_suite_upkeep import UpkeepCases
from memhold.testing.store_suite_vectors import VectorsCases
from memhold.testing.store_suite_words import WordsCases
from memhold.testing.store_suite_writers import WriterCases

__all__ = ["OpenStore", "StoreSuite"]


class StoreSuite(
    ContentCases,
    DamageCases,
    ErasureCases,
    FactCases,
    IsolationCases,
    QuoteCases,
    SurveyCases,
    TimeCases,
    TokenCases,
    UnitCases,
    UpkeepCases,
    VectorsCases,
    WordsCases,
    WriterCases,
):
    """Everything that the port promises, as tests of whatever `open_store` opens."""

    @pytest.fixture
    def clock(self) -> FakeClock:
        """The clock of the stores of this test, at 2026-01-01 UTC."""
        return FakeClock()

    @pytest.fixture
    def ids(self) -> SeededIds:
        """The ids that this test gives to its rows."""
        return SeededIds(1)

    @pytest_asyncio.fixture
    async def store(self, open_store: OpenStore, clock: FakeClock) -> Store:
        """One empty store; whoever supplied `open_store` closes it."""
        return await open_store(clock, SeededIds(2))
