"""Attacks with bytes: bodies, heads and framing that cost the server more than who sends them."""

from __future__ import annotations

import contextlib
import gzip
import json
from collections.abc import Callable, Mapping
from typing import Final

from memhold.testing.attacks.attack import attack, expect
from memhold.testing.attacks.target import MIB, Target, heard, status_of

__all__ = [
    "bodies_behind_a_refusal",
    "broken_characters",
    "chunk_extensions",
    "deep_json",
    "heads_that_trickle",
    "heads_too_large",
    "many_errors",
    "numbers_that_are_none",
    "one_token_asks_without_end",
    "packed_bodies",
    "smuggling",
    "texts_that_are_hard_to_analyse",
    "token_in_the_trailers",
    "trailers_with_a_token",
    "trailers_without_a_token",
    "unknown_keys",
]

_CHUNKED: Final = "Transfer-Encoding: chunked"
_BIG: Final = ("/v1/recall", "/v1/messages", "/v1/memories", "/v1/context", "/v1/documents/put", "/mcp")


def _endless(target: Target, head: bytes, piece: bytes) -> None:
    """Send a request without an end: it must not stay in memory, and the connection must end."""
    with target.weighed() as fault, target.connect() as sock:
        sock.sendall(head)
        target.pour(sock, piece)
        got = heard(sock)
        expect(status_of(got) in {0, 400, 401, 408, 413, 431}, f"it was answered {status_of(got)}")
        expect(_ended(sock), "the connection is still open")
        expect(fault() is None, str(fault()))
    expect(target.alive(), "the server is gone")


def _ended(sock: object) -> bool:
    try:
        return not sock.recv(1)  # type: ignore[attr-defined]
    except ConnectionError:
        return True
    except OSError:
        return False


@attack(
    "60 MiB of trailers behind a request without a token",
    seen="the server's memory stays as it was, and the connection ends",
    threats=("T4",),
)
def trailers_without_a_token(target: Target) -> None:
    _endless(target, target.head(_CHUNKED) + b'd\r\n{"query":"x"}\r\n0\r\nx:', b"a:\r\n" * (MIB // 4))


@attack(
    "60 MiB of trailers behind a request with a token",
    seen="the server's memory stays as it was, and the connection ends",
    threats=("T4",),
)
def trailers_with_a_token(target: Target) -> None:
    head = target.head(_CHUNKED, token=target.tenant().secret)
    _endless(target, head + b'd\r\n{"query":"x"}\r\n0\r\nx:', b"a" * MIB)


@attack(
    "a chunk whose extension has no end",
    seen="the server's memory stays as it was, and the connection ends",
    threats=("T4",),
)
def chunk_extensions(target: Target) -> None:
    _endless(target, target.head(_CHUNKED, token=target.tenant().secret) + b"1;", b"a" * MIB)


@attack(
    "a body that goes on after the request was refused for want of a token",
    seen="the refusal says that the connection ends, and it does",
    threats=("T4",),
)
def bodies_behind_a_refusal(target: Target) -> None:
    for framing, first in ((_CHUNKED, b"5\r\nabcde\r\n"), ("Content-Length: 60000", b"abcde")):
        with target.weighed() as fault, target.connect() as sock:
            sock.sendall(target.head(framing) + first)
            got = heard(sock)
            expect(status_of(got) == 401, f"it was answered {status_of(got)}")
            expect(b"connection: close" in got.lower(), "the connection was to stay open")
            target.pour(sock, b"x" * MIB)
            expect(_ended(sock), "the connection is still open")
            expect(fault() is None, str(fault()))


@attack(
    "200 connections whose heads never end",
    seen="the server's memory stays as it was, and others are answered meanwhile",
    threats=("T4",),
)
def heads_that_trickle(target: Target) -> str:
    with contextlib.ExitStack() as stack, target.weighed() as fault:
        socks = [stack.enter_context(target.connect()) for _ in range(200)]
        with target.watched() as health:
            for line in (target.head("X: y")[:-2], *[b"X-Y: " + b"a" * 4000 + b"\r\n"] * 20):
                for sock in socks:
                    with contextlib.suppress(OSError):
                        sock.sendall(line)
        expect(not health.failed, f"others were answered {health.failed[:3]}")
        expect(fault() is None, str(fault()))
        return f"others waited {health.longest:.2f} s at most"


@attack("heads of 1 MiB and of 3,000 lines", seen="431, and the connection ends", threats=("T4",))
def heads_too_large(target: Target) -> None:
    for head in (target.head(f"X: {'a' * MIB}"), target.head(*(f"X-{n}: y" for n in range(3000)))):
        got = target.send(head)
        expect(status_of(got) in {0, 400, 431}, f"it was answered {status_of(got)}")
    expect(target.alive(), "the server is gone")


@attack("a token in the trailers of a request", seen="401: what follows a body is no header", threats=("T9",))
def token_in_the_trailers(target: Target) -> None:
    late = f"\r\n0\r\nAuthorization: Bearer {target.tenant().secret}\r\n\r\n".encode()
    got = target.send(target.head(_CHUNKED, "Connection: close") + b'd\r\n{"query":"x"}' + late)
    expect(status_of(got) == 401, f"it was answered {status_of(got)}")


def _smuggled(target: Target) -> Mapping[str, bytes]:
    """Requests whose end two readers find in different places, with another one hidden in what is left."""
    token = target.tenant().secret
    hidden = target.head(method="GET", path="/v1/status", token=token)
    size = f"Content-Length: {len(hidden)}"

    def head(*lines: str) -> bytes:
        return target.head(*lines, path="/v1/recall", token=token)

    return {
        "length and chunks": head(size, _CHUNKED) + b"0\r\n\r\n" + hidden,
        "chunks and length": head(_CHUNKED, "Content-Length: 5") + b"0\r\n\r\n" + hidden,
        "two lengths": head("Content-Length: 0", size) + hidden,
        "a length with a sign": head("Content-Length: +0") + hidden,
        "a length in hexadecimal": head("Content-Length: 0x0") + hidden,
        "a list of lengths": head(f"Content-Length: 0, {len(hidden)}") + hidden,
        "an unknown coding": head("Transfer-Encoding: xchunked") + b"0\r\n\r\n" + hidden,
        "chunked, then another": head("Transfer-Encoding: chunked, identity") + b"0\r\n\r\n" + hidden,
        "a space before the colon": head("Transfer-Encoding : chunked", "Content-Length: 0") + b"0\r\n\r\n" + hidden,
        "a folded line": head("X: a\r\n Transfer-Encoding: chunked", "Content-Length: 0") + b"0\r\n\r\n" + hidden,
        "a chunk size with a sign": head(_CHUNKED) + b"+0\r\n\r\n" + hidden,
        "a chunk size in another form": head(_CHUNKED) + b"0x0\r\n\r\n" + hidden,
    }


@attack(
    "12 requests that hide a second one by contradicting themselves about their length",
    seen="none is answered 200, and of each at most one request is answered",
    threats=("T9",),
)
def smuggling(target: Target) -> None:
    for name, raw in _smuggled(target).items():
        got = target.send(raw)
        expect(got.count(b"HTTP/1.1 ") <= 1, f"{name}: two requests were answered")
        expect(status_of(got) in {0, 400, 401, 411, 415, 422, 501}, f"{name}: it was answered {status_of(got)}")


@attack(
    "bodies of 60 KiB that unpack to 56 MiB (gzip, deflate, br)",
    seen="refused (4xx), and its memory stays",
    threats=("T4",),
)
def packed_bodies(target: Target) -> None:
    token = target.tenant().secret
    packed = gzip.compress(b" " * (56 * MIB), 9)
    for coding in ("gzip", "deflate", "br"):
        for path in ("/v1/recall", "/v1/messages", "/mcp"):
            with target.weighed() as fault:
                status = target.post(path, packed, token, f"Content-Encoding: {coding}", _accepting())
                expect(400 <= status < 500, f"{path}, {coding}: it was answered {status}")
                expect(fault() is None, str(fault()))


def _accepting() -> str:
    return "Accept: application/json, text/event-stream"


def _on_each(target: Target, body: bytes) -> str:
    """Send a body to each route that takes large ones, while somebody else asks for the server's health."""
    token = target.tenant().secret
    longest = 0.0
    for path in _BIG:
        with target.weighed() as fault, target.watched() as health:
            status = target.post(path, body, token, _accepting())
        expect(400 <= status < 500, f"{path}: it was answered {status}")
        expect(not health.failed, f"{path}: others were answered {health.failed[:3]}")
        expect(fault() is None, f"{path}: {fault()}")
        longest = max(longest, health.longest)
    return f"others waited {longest:.2f} s at most"


@attack(
    "JSON of 200,000 levels to each route that takes a large body, and of up to 5,000 inside a call's arguments",
    seen="refused (4xx); what is a text to the server is kept",
    threats=("T4", "T11"),
)
def deep_json(target: Target) -> str:
    token = target.tenant().secret
    for depth in (100, 500, 700, 900, 5000):
        function = {"name": "f", "arguments": '{"a":' * depth + "1" + "}" * depth}
        call = {"id": "c", "type": "function", "function": function}
        said = {"messages": [{"role": "assistant", "content": "", "tool_calls": [call]}]}
        status = target.post("/v1/messages", json.dumps(said).encode(), token)
        expect(200 <= status < 500, f"a call whose arguments have {depth} levels was answered {status}")
    return _on_each(target, b'{"query":' + b"[" * 200_000 + b"]" * 200_000 + b"}")


@attack(
    "a body of 900,000 unknown keys to each route that takes a large body",
    seen="refused (4xx), and others are answered meanwhile",
    threats=("T4",),
)
def unknown_keys(target: Target) -> str:
    return _on_each(target, b'{"query":"x",' + b",".join(b'"k%d":0' % n for n in range(900_000)) + b"}")


@attack("20,000 messages each of which is wrong", seen="refused, in an answer of less than 64 KiB", threats=("T4",))
def many_errors(target: Target) -> None:
    answer = target.ask("POST", "/v1/messages", target.tenant().secret, json={"messages": [{"role": 5}] * 20_000})
    expect(answer.status_code in {413, 422}, f"it was answered {answer.status_code}")
    expect(len(answer.content) < 65_536, f"the refusal has {len(answer.content):,} bytes")


def _texts() -> Mapping[str, Callable[[], str]]:
    """What makes texts that make who analyses them work hard."""
    return {
        "words": lambda: " ".join(f"w{n:x}q" for n in range(120_000)),
        "dots": lambda: "." * 900_000,
        "addresses": lambda: "a@a." * 200_000,
        "paths": lambda: "/a" * 400_000,
        "refusals": lambda: "I can't " * 100_000,
        "tags": lambda: "<think>" * 100_000,
        "fences": lambda: "<memhold-recall bcdfghjkmnpqrstv>\n" * 20_000,
        "digits": lambda: "1,000." * 120_000,
        "marks": lambda: "e" + "\u0301" * 300_000,
        "secrets": lambda: ("-----BEGIN PRIVATE " + "KEY-----") * 30_000,
    }


@attack(
    "messages of up to 1 MB of distinct words, dots, addresses, tags, accents",
    seen="each is stored or refused, and others are answered meanwhile",
    threats=("T4",),
)
def texts_that_are_hard_to_analyse(target: Target) -> str:
    longest = 0.0
    for name, made in _texts().items():
        text = made()
        body = json.dumps({"messages": [{"role": "user", "content": text}]}).encode()
        with target.watched() as health:
            status = target.post("/v1/messages", body, target.tenant().secret)
            asked = target.post("/v1/recall", json.dumps({"query": text[:9000]}).encode(), target.tenant().secret)
        expect(200 <= status < 500, f"{name}: it was answered {status}")
        expect(200 <= asked < 500, f"{name} as a question: it was answered {asked}")
        expect(not health.failed, f"{name}: others were answered {health.failed[:3]}")
        longest = max(longest, health.longest)
    return f"others waited {longest:.2f} s at most"


_NUMBERS: Final = ("NaN", "Infinity", "-Infinity", "1e400", "9" * 5000, "-1", "true", "1.5", '"1"', "null", "[]", "{}")


@attack(
    "numbers that are none (NaN, 1e400, 5,000 digits, true) wherever a number is taken",
    seen="refused or carried out, never a failure of the server (5xx)",
    threats=("T11",),
)
def numbers_that_are_none(target: Target) -> None:
    token = target.tenant().secret
    for number in _NUMBERS:
        for path, body in (
            ("/v1/recall", f'{{"query":"x","limit":{number},"offset":{number}}}'),
            ("/v1/context", f'{{"messages":[],"budget":{number}}}'),
            ("/v1/documents/put", f'{{"path":["a"],"content":{number},"if_rev":{number}}}'),
            ("/mcp", f'{{"jsonrpc":"2.0","id":{number},"method":"ping","params":{number}}}'),
        ):
            status = target.post(path, body.encode(), token, _accepting())
            expect(200 <= status < 500, f"{path} with {number[:12]}: it was answered {status}")


@attack(
    "NUL, half characters, and bytes that are no UTF-8, in bodies, headers, paths and questions",
    seen="refused or kept, never a failure of the server (5xx)",
    threats=("T11",),
)
def broken_characters(target: Target) -> None:
    token = target.tenant().secret
    bodies = (
        rb'{"text":"\ud800"}',
        rb'{"text":"a\u0000b"}',
        b'{"text":"\xff\xfe"}',
        b"\x00",
        b"",
        b"null",
        b"\xef\xbb\xbf{}",
    )
    for body in bodies:
        for path in ("/v1/memories", "/v1/recall", "/v1/forget", "/mcp"):
            status = target.post(path, body, token, _accepting())
            expect(200 <= status < 500, f"{path} with {body!r:.30}: it was answered {status}")
    for path in (
        "/v1/memories/%00",
        "/v1/memories/%ff",
        "/v1/memories?session=%00",
        "/ui/memories/%ff",
        "/v1/%2e%2e/x",
    ):
        status = status_of(target.send(target.head("Connection: close", method="GET", path=path, token=token)))
        expect(200 <= status < 500, f"{path}: it was answered {status}")


@attack(
    "one token asks as often as it can, from eight connections",
    seen="it is told to wait (429, Retry-After), and another token is served",
    threats=("T4", "ASI08"),
)
def one_token_asks_without_end(target: Target) -> None:
    from concurrent.futures import ThreadPoolExecutor

    loud, quiet = target.tenant().secret, target.tenant().secret

    def hammer(_: int) -> bool:
        for _ in range(300):
            answer = target.ask("GET", "/v1/status", loud, patient=False)
            if answer.status_code == 429:
                return "retry-after" in answer.headers
        return False

    with ThreadPoolExecutor(8) as pool:
        stopped = list(pool.map(hammer, range(8)))
    expect(any(stopped), "2,400 requests of one token were all served")
    expect(target.ask("GET", "/v1/status", quiet).status_code == 200, "another token was not served")
