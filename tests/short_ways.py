"""Which files of the package each of four verbs enters when it is warm: `python -m tests.short_ways` prints them."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import memhold
from memhold import AsyncMemhold
from memhold.testing.scripted import ScriptedChat

TURNS = [
    {"role": "user", "content": "I moved to Lyon last week. Please always answer in short sentences."},
    {"role": "assistant", "content": "Noted: Lyon, and short sentences."},
]
REPLY: dict[str, Any] = {
    "history_entry": "The user moved to Lyon.",
    "facts": [
        {
            "subject": "user", "attribute": "city", "value": "Lyon", "operation": "set", "importance": "mid",
            "sources": ["m1"], "quote": "I moved to Lyon last week.",
        }
    ],
    "notes": [],
}  # fmt: skip
HOME = f"{Path(memhold.__file__).parent}/"
entered: set[str] = set()


def note(frame: FrameType, event: str, _: Any) -> None:
    """Note the file of a call; the body of a module is its import, and no call."""
    code = frame.f_code
    if (
        event == "call"
        and "/testing/" not in code.co_filename
        and code.co_filename.startswith(HOME)
        and code.co_name != "<module>"
    ):
        entered.add(code.co_filename.removeprefix(HOME))


async def measured(folder: Path) -> dict[str, list[str]]:
    """The files by verb: each was called twice before, and what follows from an answer belongs to it."""
    found = {}
    async with AsyncMemhold.open(folder / "memory.db", worker=False, consolidation=[ScriptedChat([REPLY] * 9)]) as mem:
        alice: Any = mem.scope(user="alice", session="s")
        await alice.remember(attribute="city", value="Paris")
        behind = alice._tx.runtime.after_answer

        async def consolidate() -> None:
            await alice.add(TURNS)
            await alice.end_session()
            entered.clear()
            await alice.consolidate()

        ways = {
            "add": lambda: alice.add(TURNS),
            "recall": lambda: alice.recall("Where do I live?"),
            "context": lambda: alice.context([{"role": "user", "content": "Where do I live now?"}], budget=2000),
            "consolidate": consolidate,
        }
        for name, way in ways.items():
            for _ in range(2):
                await way()
                await mem.settle()
            runs = []
            for _ in range(3):
                entered.clear()
                await way()
                await behind.written()
                runs.append({*entered})
            # What a thread still does of the call before is of no way.
            found[name] = sorted(set.intersection(*runs))
    return found


if __name__ == "__main__":
    threading.setprofile(note)
    sys.setprofile(note)
    with tempfile.TemporaryDirectory() as made:
        print(json.dumps(asyncio.run(measured(Path(made)))))
