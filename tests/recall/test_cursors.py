"""Cursors: hypothesis looks for an order of writes, forgets and tidying that hides a hit or shows one twice."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from memhold.faces.python.open import AsyncMemhold
from memhold.testing import FakeClock, OpenHarness
from memhold.testing.verb_suite_paging import MEANWHILE, paged_meanwhile

_RULES = """
[models.rules]
protocol = "rules"
model = "rules"
label = "rules"
"""
_STEPS = st.lists(st.tuples(st.sampled_from(MEANWHILE), st.integers(0, 40)), max_size=12)


@given(steps=_STEPS, limit=st.integers(1, 4))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_no_order_of_events_hides_a_hit_or_shows_it_twice(steps: list[tuple[str, int]], limit: int) -> None:
    async def run(models: Path) -> None:
        chosen = {"consolidation": "rules", "models": str(models)}
        clock = FakeClock()
        async with AsyncMemhold.open("memory://", worker=False, clock=clock, **chosen) as memhold:
            await paged_meanwhile(OpenHarness(memhold, clock), steps, limit=limit)

    with tempfile.TemporaryDirectory() as folder:
        models = Path(folder) / "models.toml"
        models.write_text(_RULES, encoding="utf-8")
        asyncio.run(run(models))
