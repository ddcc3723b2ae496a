"""Claude's Agent SDK on `MemholdSessionStore`: its conformance suite, and its own reading helpers in two processes."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

from claude_agent_sdk import project_key_for_directory
from claude_agent_sdk.testing import run_session_store_conformance

from memhold import AsyncMemhold, Memhold
from memhold.integrations.claude_agent_sdk import MemholdSessionStore

SESSION = "0198c2f0-0000-4000-8000-000000000001"
KEY: Any = {"project_key": "shop", "session_id": SESSION}


def line(number: int, parent: str | None, role: str, text: str) -> Any:
    """A line of a transcript as Claude Code writes it."""
    ident = f"0198c2f0-0000-4000-8000-0000000001{number:02}"
    said = {"role": role, "content": [{"type": "text", "text": text}]}
    about = {"sessionId": SESSION, "timestamp": f"2026-11-20T10:00:{number:02}.000Z", "isSidechain": False}
    return {"type": role, "uuid": ident, "parentUuid": parent, "message": said, **about}


def main(mode: str, folder: Path) -> None:
    """See `reality.frameworks`."""
    if mode == "suite":
        asyncio.run(suite())
        return
    mem = Memhold.open(folder / "memory.db", worker=False)
    store = MemholdSessionStore(mem, user="alice")
    one = line(1, None, "user", "We build with pnpm.")
    two = line(2, one["uuid"], "assistant", "I see.")
    if mode == "first":
        asyncio.run(store.append(KEY, [one, two]))
        print("told", flush=True)
        time.sleep(600)
    elif mode == "second":
        asyncio.run(store.append(KEY, [one, two]))  # the SDK tries a batch again whose answer it did not see
        assert asyncio.run(store.load(KEY)) == [one, two]
        [listed] = asyncio.run(store.list_session_summaries("shop"))
        assert listed["session_id"] == SESSION
        assert mem.scope(user="alice").recall("how do we build").hits[0].text == "We build with pnpm."
        asyncio.run(long_names(store))
    mem.close()


async def long_names(store: MemholdSessionStore) -> None:
    """A project is named by its folder, which may stand deep, or have a name that is no text."""
    said: Any = [{"type": "user", "message": {"role": "user", "content": "one"}}]
    for project in (project_key_for_directory("/srv/" + "a-deep-folder/" * 30), "d" * 300, "\ud800"):
        session: Any = {"project_key": project, "session_id": SESSION}
        below: Any = {**session, "subpath": "subagents/workflows/0198c2f0/agent-a1b2c3d4e5f60718"}
        for key in (session, below):
            await store.append(key, said)
            assert await store.load(key) == said
        assert [one["session_id"] for one in await store.list_sessions(project)] == [SESSION]
        assert await store.list_subkeys(session) == [below["subpath"]]
        assert [one["session_id"] for one in await store.list_session_summaries(project)] == [SESSION]
        await store.delete(session)
        assert await store.load(below) is None


async def suite() -> None:
    """All fourteen contracts, over both faces of Python."""
    await run_session_store_conformance(
        lambda: MemholdSessionStore(Memhold.open("memory://", worker=False), user="alice")
    )

    async def made() -> MemholdSessionStore:
        return MemholdSessionStore(await AsyncMemhold.open("memory://", worker=False), user="alice")

    await run_session_store_conformance(made)
    print("run_session_store_conformance: 14 of 14, over Memhold and over AsyncMemhold")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
