"""The demo's conversation and facts, put into a scope: what an empty store can be looked at with."""

from __future__ import annotations

import json
import tempfile
from importlib.resources import files
from pathlib import Path

from memhold.values.jsonable import parse_time
from memhold.values.records import Scope
from memhold.verbs.scope import AsyncScope
from memhold.verbs.store_protocols import AsyncStore

__all__ = ["DEMO_USER", "put_demo"]

DEMO_USER = "mina (demo)"
"""Whose memory it is: nobody's, so that nothing of anybody stands beside it."""


async def put_demo(memhold: AsyncStore, whose: Scope) -> None:
    """Bring the demo's conversation in, end its sessions, and tell what is told in it. Safe to repeat.

    It is the demo's user's, in the namespace and in the name of `whose`: no token writes as more than it is.
    """

    def of_demo(session: str | None = None) -> AsyncScope:
        return memhold.scope(
            namespace=whose.namespace, user=DEMO_USER, agent=whose.agent, session=session, actor=whose.actor
        )

    data = files("memhold").joinpath("data")
    conversation = data.joinpath("demo_conversation.jsonl").read_bytes()
    rows = [json.loads(line) for line in conversation.decode().splitlines()]
    scope = of_demo()
    with tempfile.TemporaryDirectory(prefix="memhold-") as folder:
        path = Path(folder) / "demo.jsonl"
        path.write_bytes(conversation)
        await scope.import_file(path)
    for number, fact in enumerate(json.loads(data.joinpath("demo_facts.json").read_text(encoding="utf-8"))):
        row = rows[fact["message"]]
        told = of_demo(row["session"])
        at = parse_time(row["event_time"])
        key = f"demo-{number}"
        await told.remember(attribute=fact["attribute"], value=fact["value"], event_time=at, idempotency_key=key)
    for name in dict.fromkeys(row["session"] for row in rows):
        await of_demo(name).end_session()
