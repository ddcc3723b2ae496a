"""The conformance suite of the public verbs, for pytest: what a Memhold must do, on whatever it is kept.

A face passes it by subclassing `VerbSuite` and supplying one fixture, `harness`, which gives an empty Memhold::

    class TestMyFace(VerbSuite):
        @pytest_asyncio.fixture
        async def harness(self, tmp_path):
            clock = FakeClock()
            async with AsyncMemhold.open(str(tmp_path / "memory.db"), clock=clock, worker=False) as mem:
                yield OpenHarness(mem, clock)

`OpenHarness` serves an `AsyncMemhold`; another face (HTTP, another language) supplies an object with `scope`,
`advance` and `settle`. It needs pytest and pytest-asyncio, talks to no network and does not sleep.
"""

from __future__ import annotations

from datetime import timedelta

from memhold.faces.python.open import AsyncMemhold
from memhold.testing.clock import FakeClock
from memhold.testing.verb_suite_agents import AgentCases
from memhold.testing.verb_suite_base import Harness, Verbs
from memhold.testing.verb_suite_documents import DocumentCases
from memhold.testing.verb_suite_forgetting import ForgettingCases
from memhold.testing.verb_suite_input import InputCases
from memhold.testing.verb_suite_instructions import InstructionCases
from memhold.testing.verb_suite_isolation import IsolationCases
from memhold.testing.verb_suite_once import OnceCases
from memhold.testing.verb_suite_origin import OriginCases
from memhold.testing.verb_suite_paging import PagingCases
from memhold.testing.verb_suite_recall import RecallCases
from memhold.testing.verb_suite_remember import RememberCases
from memhold.testing.verb_suite_sessions import SessionCases
from memhold.testing.verb_suite_tidying import TidyingCases
from memhold.testing.verb_suite_timeline import TimelineCases
from memhold.testing.verb_suite_undo import UndoCases
from memhold.testing.verb_suite_whole_sessions import WholeSessionCases

__all__ = ["Harness", "OpenHarness", "VerbSuite"]


class VerbSuite(
    AgentCases,
    DocumentCases,
    ForgettingCases,
    InputCases,
    InstructionCases,
    IsolationCases,
    OnceCases,
    OriginCases,
    PagingCases,
    RecallCases,
    SessionCases,
    RememberCases,
    TidyingCases,
    TimelineCases,
    UndoCases,
    WholeSessionCases,
):
    """Everything that the verbs promise, as tests of whatever `harness` gives."""


class OpenHarness:
    """A `Harness` over an open `AsyncMemhold` whose clock is a `FakeClock`."""

    def __init__(self, memhold: AsyncMemhold, clock: FakeClock) -> None:
        self._memhold = memhold
        self._clock = clock

    def scope(
        self,
        *,
        namespace: str = "default",
        user: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        actor: str = "user",
    ) -> Verbs:
        """The verbs for one scope."""
        return self._memhold.scope(namespace=namespace, user=user, agent=agent, session=session, actor=actor)

    async def advance(self, span: timedelta) -> None:
        """Move the clock."""
        self._clock.advance(span)

    async def settle(self) -> None:
        """Do the work that is due until none is."""
        await self._memhold.settle()
