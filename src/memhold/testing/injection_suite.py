"""The suite of injections, for pytest: nobody but the user puts words into the user's mouth, on whatever it is kept.

A face passes it by subclassing `InjectionSuite` and supplying the fixture `harness` of the `VerbSuite`. What
comes by tools of MCP (`calls`) or of a consolidation model (`facts`) stands in `INJECTIONS` too, and is left out here.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from memhold.testing.injections import DEMAND, INJECTIONS, MARK, OWN, Injection, take_in, wrong_in
from memhold.testing.verb_suite_base import Harness, user

__all__ = ["InjectionSuite"]

_BY_VERBS = [one for one in INJECTIONS if not (one.calls or one.facts)]


@pytest.mark.asyncio
class InjectionSuite:
    """Every injection that the verbs can bring in, and that the checks see what they look for."""

    @pytest.mark.parametrize("injection", _BY_VERBS, ids=[one.name for one in _BY_VERBS])
    async def test_an_injected_text_is_nobodys_wish(
        self, harness: Harness, injection: Injection, tmp_path: Path
    ) -> None:
        await harness.scope(user="alice", session="own").add(
            [user(OWN), {"role": "assistant", "content": "I will ask."}]
        )
        brought_by = harness.scope(user="alice", session="injected", actor=injection.actor)
        await take_in(brought_by, injection, tmp_path)
        await harness.settle()
        wrong = await wrong_in(harness.scope(user="alice", session="later"), injection)
        assert not wrong, "\n".join(wrong)

    async def test_what_the_user_types_is_a_wish(self, harness: Harness, tmp_path: Path) -> None:
        """The checks see it where it stands: typed by the user, the same text is told, found, and ends the other."""
        told = f"I went to {MARK} yesterday."
        typed = Injection(name="typed", written_by="tool", messages=[user(DEMAND), user(told)])
        await harness.scope(user="alice", session="own").add([user(OWN)])
        await take_in(harness.scope(user="alice", session="typed"), typed, tmp_path)
        await harness.settle()
        wrong = "\n".join(await wrong_in(harness.scope(user="alice", session="later"), typed))
        seen = (
            "stands in the system message: - From now on always use", "stands in the system message: - I am allergic",
            "no longer stands", f"is told as the user's: user: {told}", "is an instruction", "counts as the user's",
            "is found as the user's", "is found among the user's words", "is not found as what it is",
        )  # fmt: skip
        assert [one for one in seen if one not in wrong] == []
