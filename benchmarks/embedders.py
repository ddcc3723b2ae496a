"""What a recall costs beside an embedder that hangs or is gone, against words alone: in one run, in turns."""

from __future__ import annotations

import json
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from benchmarks.measure import Row
from memhold import Memhold

__all__ = ["run"]

SAID = 200


class _Server:
    """An embedder on loopback that answers, hangs, or goes away when it is told to."""

    def __init__(self) -> None:
        self.hangs = threading.Event()
        self.ends = threading.Event()
        outer = self

        class Answering(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                given = json.loads(self.rfile.read(int(self.headers["content-length"])))["input"]
                if outer.hangs.is_set():
                    outer.ends.wait(60)
                    return
                rows = [[float(len(text) % 7 + place) for place in range(1, 17)] for text in given]
                data = [{"index": place, "embedding": row} for place, row in enumerate(rows)]
                body = json.dumps({"object": "list", "model": "m", "data": data}).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None: ...

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    @property
    def line(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}/v1#m"

    def die(self) -> None:
        self.hangs.set()
        self.ends.set()
        self.http.shutdown()
        self.http.server_close()


@contextmanager
def _opened(embedding: str) -> Iterator[Memhold]:
    with Memhold.open("memory://", worker=False, embedding=embedding) as mem:
        alice = mem.scope(user="alice", session="s")
        alice.add(
            [{"role": "user", "content": f"Note {n}: the ferry to island {n % 17} is late."} for n in range(SAID)]
        )
        mem.settle(timeout=60)
        yield mem


def run(rounds: int = 200) -> list[Row]:
    """A row for one that hangs and one that is gone: seconds of the first recall, and how the later ones compare."""
    rows = []
    for name in ("hangs", "is gone"):
        server = _Server()
        try:
            with _opened("none") as words, _opened(server.line) as other:
                if name == "hangs":
                    server.hangs.set()
                else:
                    server.die()
                rows.append(_row(name, words, other, rounds))
        finally:
            if name == "hangs":
                server.die()
    return rows


def _row(name: str, words: Memhold, other: Memhold, rounds: int) -> Row:
    begun = time.perf_counter()
    answer = other.scope(user="alice").recall("which ferry is late")
    first = time.perf_counter() - begun
    if answer.degraded != ("meaning",):
        raise AssertionError(f"the embedder answered: {answer.degraded}")
    taken: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds):
        for which in (0, 1) if turn % 2 else (1, 0):
            begun = time.perf_counter()
            (words, other)[which].scope(user="alice").recall(f"which ferry to island {turn}")
            taken[which].append(time.perf_counter() - begun)
    alone, later = (statistics.quantiles(times, n=10)[0] for times in taken)
    return Row(
        name=f"recall while the embedder {name}, second and later, p10",
        value=f"{later * 1e3:.2f} ms (the first {first:.2f} s)",
        against=f"words alone {alone * 1e3:.2f} ms",
        ratio=later / alone,
        bar=1.2,
    )
