"""Anthropic's memory tool on `MemholdMemoryTool`: `tool_runner` against a provider that answers from a list."""

from __future__ import annotations

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from anthropic import Anthropic

from memhold import Memhold
from memhold.integrations.anthropic import MemholdMemoryTool

SAID: list[dict[str, Any]] = []
ASKED: list[dict[str, Any]] = []


class Provider(BaseHTTPRequestHandler):
    """Anthropic's messages, on loopback: each request is kept, and answered with the next block of `SAID`."""

    def do_POST(self) -> None:
        """Answer one request."""
        ASKED.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        block = SAID.pop(0)
        stop = "tool_use" if block["type"] == "tool_use" else "end_turn"
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [block]}
        body = json.dumps({**message, "stop_reason": stop, "stop_sequence": None, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


def ran(memory: MemholdMemoryTool, **command: Any) -> str:
    """What the model is told of a command that it gives in one turn."""
    server = HTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    SAID[:] = [
        {"type": "tool_use", "id": "t1", "name": "memory", "input": command},
        {"type": "text", "text": "It is done."},
    ]
    client = Anthropic(api_key="none", base_url=f"http://127.0.0.1:{server.server_port}", max_retries=0)
    turn = [{"role": "user", "content": "Go on."}]
    done = client.beta.messages.tool_runner(model="m", max_tokens=100, messages=turn, tools=[memory]).until_done()
    server.shutdown()
    assert done.content[0].text == "It is done."
    [result] = ASKED[-1]["messages"][-1]["content"]
    content = result["content"]
    return content if isinstance(content, str) else str(content[0]["text"])


def main(mode: str, folder: Path) -> None:
    """See `reality.frameworks`."""
    mem = Memhold.open(folder / "memory.db", worker=False)
    memory = MemholdMemoryTool(mem.scope(user="alice", actor="agent:claude"))
    path = "/memories/tea.md"
    if mode == "first":
        assert "created" in ran(memory, command="create", path=path, file_text="Likes oolong tea.\n")
        print("told", flush=True)
        time.sleep(600)
    elif mode == "second":
        assert "oolong" in ran(memory, command="view", path=path)
        what_cannot_be(memory, mem)
        mem.close()
        assert "memory could not do this" in ran(memory, command="view", path=path), "the turn goes on without it"
    elif mode == "writers":
        writers(memory, path)
        assert len(mem.scope(user="alice").documents.list(("memories",)).items) == 1
    mem.close()


def what_cannot_be(memory: MemholdMemoryTool, mem: Memhold) -> None:
    """The model is told so, and its turn goes on."""
    many, long = "/".join(f"p{number}" for number in range(1_000)), "n" * 100_000
    for name in ("../x", "a\0b", "a\n4K\t/memories/forged", many, long):
        told = ran(memory, command="create", path=f"/memories/{name}", file_text="x")
        assert "escape" in told or "no name of a file" in told or "memory could not do this" in told, told[:200]
    assert "memory could not do this" in ran(memory, command="create", path="/memories/x", file_text="a\0b")
    documents = mem.scope(user="alice").documents
    assert [one.path for one in documents.list(("memories",)).items] == [("memories", "tea.md")]
    documents.put(("memories", "j.json"), {"a": "é"})
    assert '{"a": "é"}' in ran(memory, command="view", path="/memories/j.json")
    assert "holds JSON" in ran(memory, command="str_replace", path="/memories/j.json", old_str="é", new_str="x")
    documents.delete(("memories", "j.json"))


def writers(memory: MemholdMemoryTool, path: str) -> None:
    """Eight that create one file at once, then insert a line each: one creates it, and no line is lost."""
    from anthropic.lib.tools import ToolError

    told: list[str] = []

    def write(number: int) -> None:
        try:
            told.append(str(memory.call({"command": "create", "path": path, "file_text": "first\n"})))
        except ToolError as error:
            told.append(str(error))
        memory.call({"command": "insert", "path": path, "insert_line": 1, "insert_text": f"line {number}"})

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted("created" in one for one in told) == [False] * 7 + [True], told
    content = str(memory.call({"command": "view", "path": path}))
    assert all(f"line {number}" in content for number in range(8)), content


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
