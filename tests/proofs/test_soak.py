"""Ordinary work for a long time, with a worker beside it: at the end nothing is due, and `doctor` has nothing to say."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from memhold import AsyncMemhold
from memhold.errors import MemholdError
from memhold.verbs.scope import AsyncScope
from tests.proofs.conftest import NOTES

USERS = 6
TOPICS = ("tea", "cats", "rain")
STEPS = 120
"""What `make test` does; `make proof` goes on for an hour."""


class Soak:
    """Every verb that writes, and some that read, of a few users in a few sessions, in any order."""

    def __init__(self, mem: AsyncMemhold, random: Random) -> None:
        self.mem = mem
        self.random = random
        self.ids: dict[str, list[str]] = {}
        self.done: dict[str, int] = {}
        self.steps = 0

    async def step(self) -> None:
        self.steps += 1
        user = f"u{self.random.randrange(USERS)}"
        name, verb = self.random.choice(sorted(VERBS.items()))
        scope = self.mem.scope(user=user, session=self.random.choice("stv"))
        try:
            await verb(self, scope, self.ids.setdefault(user, []))
        except MemholdError as error:
            name = f"{name}: {type(error).__name__}"
        self.done[name] = self.done.get(name, 0) + 1

    def one(self, ids: list[str]) -> str:
        return self.random.choice(ids or ["msg_none"])

    def said(self, what: str) -> str:
        return f"{what} {self.steps} about {self.random.choice(TOPICS)}. It rains."

    async def add(self, scope: AsyncScope, ids: list[str]) -> None:
        count = self.random.choice((1, 1, 1, 7))
        batch = [
            {"role": self.random.choice(("user", "assistant")), "content": self.said("word")} for _ in range(count)
        ]
        ids += (await scope.add(batch)).ids

    async def quiet(self, scope: AsyncScope, ids: list[str]) -> None:
        ids += (await scope.add([{"role": "user", "content": self.said("quiet"), "embed": False}])).ids

    async def note(self, scope: AsyncScope, ids: list[str]) -> None:
        ids += (await scope.remember(self.said("note"))).receipt.ids

    async def fact(self, scope: AsyncScope, ids: list[str]) -> None:
        told = await scope.remember(
            attribute=self.random.choice(("town", "food")), value=f"v{self.random.randrange(9)}"
        )
        ids += told.receipt.ids

    async def passing(self, scope: AsyncScope, ids: list[str]) -> None:
        over = datetime.now(UTC) + timedelta(seconds=self.random.choice((1, 1000)))
        ids += (await scope.remember(self.said("passing"), expires_at=over)).receipt.ids

    async def correct(self, scope: AsyncScope, ids: list[str]) -> None:
        ids += (await scope.correct(self.one(ids), self.said("corrected"))).receipt.ids

    async def forget(self, scope: AsyncScope, ids: list[str]) -> None:
        await scope.forget(self.one(ids), wait=0)

    async def hide(self, scope: AsyncScope, ids: list[str]) -> None:
        hidden = await scope.forget(self.one(ids), hard=False)
        if self.random.random() < 0.5:
            await scope.undo(hidden.change_id or "")

    async def undo(self, scope: AsyncScope, ids: list[str]) -> None:
        del ids
        found = (await scope.changes(limit=20)).items
        await scope.undo(self.random.choice(found).id if found else "chg_none", cascade=self.random.random() < 0.3)

    async def end(self, scope: AsyncScope, ids: list[str]) -> None:
        del ids
        await scope.end_session()

    async def ask(self, scope: AsyncScope, ids: list[str]) -> None:
        del ids
        await scope.recall("tea and cats")
        await scope.context([{"role": "user", "content": "tea"}], budget=2000)

    async def forget_much(self, scope: AsyncScope, ids: list[str]) -> None:
        if self.random.random() < 0.1:
            await scope.forget(everything=True, wait=0)
            ids.clear()
        elif self.random.random() < 0.2:
            await scope.forget(session=self.random.choice("stv"), wait=0)


VERBS: dict[str, Callable[[Soak, AsyncScope, list[str]], Awaitable[None]]] = {
    verb.__name__: verb
    for verb in (
        *(Soak.add, Soak.quiet, Soak.note, Soak.fact, Soak.passing, Soak.correct, Soak.forget, Soak.hide, Soak.undo),
        *(Soak.end, Soak.ask, Soak.forget_much),
    )
}


@pytest.mark.proof
@pytest.mark.by_the_clock
async def test_doctor_is_silent_after_ordinary_work(
    request: pytest.FixtureRequest, tmp_path: Path, runs: Callable[[int, int], range]
) -> None:
    minutes = len(runs(0, 60))
    until = time.monotonic() + minutes * 60
    async with AsyncMemhold.open(str(tmp_path / "memory.db"), mirror=str(tmp_path / "mirror")) as mem:
        soak = Soak(mem, Random(7))
        while soak.steps < STEPS or time.monotonic() < until:
            await asyncio.gather(*(soak.step() for _ in range(3)))
        assert {name.partition(":")[0] for name in soak.done} == VERBS.keys(), "each verb was asked"
        assert await mem.settle(timeout=60)
        told = await mem.admin.doctor()
        assert [one for one in told if one.severity == "wrong" or one.check == "due"] == []
    NOTES[request.node.name] = {"steps": soak.steps}
