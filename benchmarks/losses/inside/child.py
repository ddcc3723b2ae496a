"""One memory in a process of its own: `PYTHON child.py NAME FOLDER MODEL_URL`, told what to do by lines of JSON.

Runs where the peer is installed, with the standard library and the peer alone. Each line on standard input is a
request `{"do": …}`; each line on standard output is its answer, or `{"error": "Type: message"}`. What a peer prints
goes to standard error.
"""

# This file runs where Memhold need not be installed: nothing of it is imported here.
from __future__ import annotations

import json
import os
import sys
import threading
import time
from importlib import import_module
from typing import Any

_MODULES = {
    "memhold": "with_memhold",
    "mem0": "with_mem0",
    "langmem": "with_langgraph",
    "langgraph": "with_langgraph",
    "chroma": "with_chroma",
    "server-memory": "with_mcp",
    "basic-memory": "with_mcp",
    "letta": "with_letta",
    "agent-memory-server": "with_agent_memory_server",
}


class _Acknowledgements:
    """Where the recorder of the disk sees them, between the writes before and after."""

    def __init__(self) -> None:
        path = os.environ.get("LOSSES_ACKED")
        self._file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND) if path else None

    def tell(self, key: str) -> None:
        if self._file is not None:
            os.write(self._file, f"{key}\n".encode())


def _answer(peer: Any, acked: _Acknowledgements, told: dict[str, Any]) -> dict[str, Any]:
    match told["do"]:
        case "add":
            kept = peer.add(told["user"], told["messages"], told["key"])
            acked.tell(told["key"])
            return {"kept": kept}
        case "together":
            return {"answers": _together(peer, acked, told["adds"])}
        case "all":
            return {"entries": peer.all(told["user"])}
        case "ask":
            return {"found": peer.ask(told["user"], told["question"], told["limit"])}
        case "forget":
            return {"gone": peer.forget(told["user"], told["word"])}
        case "settle":
            return {"settled": peer.settle(told["within"])}
        case "cost":
            return {"processor": time.process_time()}
        case "close":
            peer.close()
            return {"closed": True}
        case other:
            raise ValueError(other)


def _together(peer: Any, acked: _Acknowledgements, adds: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All of them in flight at once, each on a thread of its own."""
    answers: list[dict[str, Any]] = [{"error": "nothing: it never came back"} for _ in adds]
    gate = threading.Barrier(len(adds))

    def one(place: int) -> None:
        gate.wait()
        answers[place] = _guarded(peer, acked, {"do": "add", **adds[place]})

    threads = [threading.Thread(target=one, args=(place,)) for place in range(len(adds))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def _guarded(peer: Any, acked: _Acknowledgements, told: dict[str, Any]) -> dict[str, Any]:
    try:
        return _answer(peer, acked, told)
    except Exception as error:  # noqa: BLE001 - whatever a peer raises is what its caller is told
        return {"error": f"{type(error).__name__}: {str(error)[:300]}"}


def main() -> None:
    """Open the peer, say so, and answer until standard input ends."""
    name, folder, url = sys.argv[1:4]
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    acked = _Acknowledgements()

    def say(answer: dict[str, Any]) -> None:
        out.write(json.dumps(answer) + "\n")
        out.flush()

    try:
        peer = import_module(_MODULES[name.partition("+")[0]]).opened(name, folder, url)
    except Exception as error:  # noqa: BLE001 - as above
        say({"error": f"{type(error).__name__}: {str(error)[:300]}"})
        return
    acked.tell("opened")
    say({"open": True})
    for line in sys.stdin:
        told = json.loads(line)
        say(_guarded(peer, acked, told))
        if told["do"] == "close":
            break
    out.close()
    os._exit(0)  # some peers keep threads that would not end


if __name__ == "__main__":
    main()
