"""A user's first minutes with an installed Memhold: library, command line, MCP and REST. Run by each Python, alone.

    python -I smoke.py FOLDER

It knows nothing of this tree: what it imports was installed. Each line it prints is something that it saw.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

COMMAND = str(Path(sys.executable).with_name("memhold"))
SAID = [{"role": "user", "content": "I moved to Lisbon, to a flat by the river."}]


def library(folder: Path) -> None:
    """Both faces write and find; what the other wrote is there."""
    from memhold import AsyncMemhold, Memhold, errors

    place = folder / "library.db"
    with Memhold.open(place) as mem:
        alice = mem.scope(user="alice", session="s1")
        alice.add(SAID)
        alice.remember(attribute="favorite food", value="sushi")
        alice.remember(attribute="favorite food", value="ramen")
        assert mem.settle()
        assert [hit.value for hit in alice.recall("favorite food").hits][:1] == ["ramen"]
        assert alice.recall("where is the flat").degraded == ()
        try:
            alice.get("mem_00000000000000000000000000000000")
        except errors.NotFound:
            pass
        else:
            raise AssertionError("an id that never was is found")

    async def again() -> None:
        async with AsyncMemhold.open(place) as mem:
            found = await mem.scope(user="alice").recall("Lisbon")
            assert found.hits[0].text == SAID[0]["content"]

    asyncio.run(again())
    print("library")


def command_line(folder: Path) -> None:
    """A command writes, another one finds."""
    told = ["--user", "alice", "--db", str(folder / "commands.db"), "--json"]
    for words in (["remember", "--attribute", "home town", "--value", "Porto"], ["doctor"]):
        scope = told if words[0] != "doctor" else told[2:]
        subprocess.run([COMMAND, *words, *scope], check=True, capture_output=True, timeout=200)
    done = subprocess.run([COMMAND, "recall", "home town", *told], check=True, capture_output=True, timeout=200)
    assert json.loads(done.stdout)["hits"][0]["value"] == "Porto"
    print("command line")


async def mcp(folder: Path) -> None:
    """The official client starts `memhold mcp` and uses its tools."""
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    arguments = ["mcp", "--db", str(folder / "mcp.db"), "--user", "alice"]
    started = StdioServerParameters(command=COMMAND, args=arguments, env={"HOME": str(folder)}, cwd=folder)
    async with Client(stdio_client(started)) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"recall", "add_message", "get_context"} <= names
        await client.call_tool("add_message", {"text": "I moved to Lisbon."})
        found = await client.call_tool("recall", {"query": "Lisbon"})
        assert not found.is_error
        assert "Lisbon" in str(found.content)
    print("mcp")


def rest(folder: Path) -> None:
    """`memhold serve` answers plain HTTP, and the library at its address."""
    from memhold import Memhold

    serve = [COMMAND, "serve", "--db", str(folder / "rest.db"), "--user", "alice", "--port", "0", "--json"]
    server = subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        body = json.dumps({"messages": SAID}).encode()
        asked = urllib.request.Request(
            f"{url}/v1/messages?session=s1", data=body, headers={"Content-Type": "application/json"}
        )
        with contextlib.suppress(urllib.error.HTTPError):
            urllib.request.urlopen(asked, timeout=100)
            raise AssertionError("a request without the token of this account was let in")
        token = Path(f"~/.local/state/memhold/servers/loopback-{urlsplit(url).port}.token").expanduser()
        asked.add_header("Authorization", f"Bearer {token.read_text().strip()}")
        with urllib.request.urlopen(asked, timeout=100) as answer:
            assert len(json.load(answer)["ids"]) == 1
        described = urllib.request.Request(f"{url}/openapi.json", headers=asked.headers)
        with urllib.request.urlopen(described, timeout=100) as answer:
            assert "/v1/recall" in json.load(answer)["paths"]
        with Memhold.open(url) as mem:
            assert mem.scope(user="alice").recall("Lisbon").hits[0].text == SAID[0]["content"]
    finally:
        server.terminate()
        server.wait(timeout=100)
    assert server.returncode == 0
    print("rest")


def main(folder: Path) -> None:
    """All of it."""
    library(folder)
    command_line(folder)
    asyncio.run(mcp(folder))
    rest(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
