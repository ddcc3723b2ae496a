"""Two memories that are MCP servers, over stdio: the reference server (`server-memory`) and `basic-memory`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any

_SECONDS = 120.0


class _Stdio:
    """One MCP server: requests are matched to answers by id, so that several can be in flight."""

    def __init__(self, command: list[str], variables: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **variables}
        )
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._lock, self._next = threading.Lock(), 0
        threading.Thread(target=self._read, daemon=True).start()
        client = {"name": "losses", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _write(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        with self._lock:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            waiting = self._waiting.pop(message.get("id", -1), None)
            if waiting is not None:
                waiting.set_result(message)
        for waiting in list(self._waiting.values()):
            waiting.set_exception(ConnectionError("the server ended"))

    def ask(self, method: str, given: dict[str, Any]) -> Any:
        with self._lock:
            self._next += 1
            number = self._next
        waiting = self._waiting[number] = Future()
        self._write({"jsonrpc": "2.0", "id": number, "method": method, "params": given})
        answer = waiting.result(_SECONDS)
        if "error" in answer:
            raise RuntimeError(answer["error"].get("message", ""))
        return answer["result"]

    def call(self, tool: str, **given: Any) -> str:
        """The text of a tool's result."""
        result = self.ask("tools/call", {"name": tool, "arguments": given})
        text = "\n".join(part.get("text", "") for part in result.get("content", ()))
        if result.get("isError"):
            raise RuntimeError(text)
        return text

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()


class _ServerMemory:
    """It knows no users: all that is said stands in one graph."""

    def __init__(self, folder: str) -> None:
        script = Path(os.environ["LOSSES_NODE_MODULES"]) / "@modelcontextprotocol/server-memory/dist/index.js"
        self.server = _Stdio(["node", str(script)], {"MEMORY_FILE_PATH": f"{folder}/memory.jsonl"})

    def add(self, user: str, messages: list[dict[str, str]], key: str) -> int:
        entities = [
            {"name": f"{key}-{place}", "entityType": "message", "observations": [one["content"]]}
            for place, one in enumerate(messages)
        ]
        del user
        self.server.call("create_entities", entities=entities)
        return len(entities)

    def _graph(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.server.call("read_graph"))["entities"]
        return found

    def all(self, user: str) -> list[list[str]]:
        del user
        return [["entity", text] for one in self._graph() for text in one["observations"]]

    def ask(self, user: str, question: str, limit: int) -> list[dict[str, Any]]:
        """Its search wants a piece of the text: the thing that is asked about."""
        del user
        words = question.split("?", 1)
        thing = words[0].removeprefix("What is my ").strip()
        found = []
        for query in (thing, words[1].strip() if len(words) > 1 else ""):
            if query:
                found += json.loads(self.server.call("search_nodes", query=query))["entities"]
        return [{"text": text, "old": False} for one in found for text in one["observations"]][:limit]

    def forget(self, user: str, word: str) -> int:
        del user
        named = [one["name"] for one in self._graph() if any(word in text for text in one["observations"])]
        self.server.call("delete_entities", entityNames=named)
        return len(named)

    def settle(self, seconds: float) -> bool:
        del seconds
        return True

    def close(self) -> None:
        self.server.close()


class _BasicMemory:
    """A Markdown file a note, and an index beside; a folder a user."""

    def __init__(self, folder: str) -> None:
        self.home = Path(folder) / "notes"
        self.home.mkdir(exist_ok=True)
        variables = {
            "BASIC_MEMORY_HOME": str(self.home),
            "BASIC_MEMORY_CONFIG_DIR": f"{folder}/config",
            "BASIC_MEMORY_NO_PROMOS": "1",
            "BASIC_MEMORY_AUTO_UPDATE": "false",
            "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false",
        }
        program = Path(sys.executable).with_name("basic-memory")
        self.server = _Stdio([str(program), "mcp"], variables)

    def add(self, user: str, messages: list[dict[str, str]], key: str) -> int:
        for place, one in enumerate(messages):
            self.server.call("write_note", title=f"{key}-{place}", directory=user, content=one["content"])
        return len(messages)

    def all(self, user: str) -> list[list[str]]:
        """What its own tools read back of each note that its folder's listing names."""
        listed = self.server.call("list_directory", dir_name=f"/{user}", depth=2)
        names = re.findall(rf"{user}/([\w-]+)\.md|\b({user}-[\w-]+)\.md", listed)
        titles = dict.fromkeys(one or other for one, other in names)
        return [["note", self.server.call("read_note", identifier=f"{user}/{title}")] for title in titles]

    def ask(self, user: str, question: str, limit: int) -> list[dict[str, Any]]:
        told = json.loads(self.server.call("search_notes", query=question, page_size=limit, output_format="json"))
        found = [one for one in told.get("results", ()) if str(one.get("permalink") or "").split("/")[-2:-1] == [user]]
        return [{"text": str(one.get("content") or one.get("matched_chunk") or ""), "old": False} for one in found]

    def forget(self, user: str, word: str) -> int:
        gone = 0
        for title, text in [(one[1].partition("\n")[0], one[1]) for one in self.all(user)]:
            if word in text:
                self.server.call("delete_note", identifier=_permalink(text) or title)
                gone += 1
        return gone

    def settle(self, seconds: float) -> bool:
        del seconds
        return True

    def close(self) -> None:
        self.server.close()


def _permalink(text: str) -> str:
    found = re.search(r"^permalink: (\S+)$", text, re.MULTILINE)
    return found[1] if found else ""


def opened(name: str, folder: str, url: str) -> _ServerMemory | _BasicMemory:
    """The server, with its files in this folder."""
    del url
    return _ServerMemory(folder) if name == "server-memory" else _BasicMemory(folder)
