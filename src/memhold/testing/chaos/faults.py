"""The ways in which the chaos server fails: frozen values in one table, `FAULTS`, by the command line's names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from memhold.values.errors import InvalidInput

__all__ = [
    "FAULTS",
    "OK",
    "Act",
    "Answer",
    "Cable",
    "Damage",
    "Fault",
    "Fine",
    "Misbind",
    "Row",
    "Spoil",
    "answer",
    "fault",
    "fault_names",
    "rows",
    "rows_of",
]

SpoilHow = Literal[
    "prose", "wrong-tool", "empty-arguments", "null-arguments", "fenced-json", "arguments-string", "arguments-list",
    "arguments-broken", "arguments-object", "cut-at-limit", "two-calls", "refusal-text", "refusal", "content-filter",
    "empty-reply", "error-text", "thinking",
]  # fmt: skip
CableHow = Literal["refuse", "reset", "disconnect", "hang", "drip", "cut"]
DamageHow = Literal["truncated-json", "sse-error", "sse-cut", "error-in-200"]
MisbindHow = Literal[
    "fewer",
    "shuffled",
    "duplicate-index",
    "no-index",
    "null-vector",
    "nan-vector",
    "zero-vector",
    "other-dimension",
    "empty",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fine:
    """No fault: the request is answered as it should be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Another answer than the model's: a status, headers and a body, sent exactly as they are here."""

    status: int
    body: str
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cable:
    """Trouble below HTTP. `seconds` is how long a refusal lasts, or the pause between two drops of a drip."""

    how: CableHow
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """A good answer that is damaged on its way out, under status 200."""

    how: DamageHow


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoil:
    """A well-formed chat reply that is not what was asked for."""

    how: SpoilHow


@dataclass(frozen=True, slots=True, kw_only=True)
class Misbind:
    """An embedding answer whose vectors do not fit the inputs."""

    how: MisbindHow


Act = Fine | Answer | Cable | Damage | Spoil | Misbind


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One way to fail: a name, what is done, and a line that says what a client sees."""

    name: str
    act: Act
    about: str = ""


OK = Fault(name="ok", act=Fine(), about="no fault: the answer that was asked for")
"""Put it between faults in a script: this request is answered as it should be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One answer of a failing provider: what it sends, and (`label`) how a client should treat it, where known."""

    name: str
    origin: str
    kind: str
    status: int
    headers: Mapping[str, str]
    body: str
    label: str | None = None

    @property
    def fault(self) -> Fault:
        """The fault that answers with this row."""
        act = Answer(status=self.status, body=self.body, headers=self.headers)
        return Fault(name=self.name, act=act, about=f"{self.origin} {self.kind}: HTTP {self.status}")


def answer(status: int, body: str | Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Fault:
    """A fault of your own: this status and body (an object is sent as JSON) instead of the model's answer."""
    text = body if isinstance(body, str) else json.dumps(body)
    act = Answer(status=status, body=text, headers=MappingProxyType(dict(headers or {})))
    return Fault(name=f"http-{status}", act=act, about=f"HTTP {status}")


def rows_of(lines: Iterable[str]) -> list[Row]:
    """Rows from JSON lines with `origin`, `kind`, `status`, `headers`, `body`, and perhaps `name` and `class`.

    Raises:
        InvalidInput: a line is not such an object; the message names it.
    """
    found: list[Row] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            body = value["body"]
            row = Row(
                name=str(value.get("name") or f"row-{number}"),
                origin=str(value.get("origin", "unknown")),
                kind=str(value.get("kind", "chat")),
                status=int(value["status"]),
                headers=MappingProxyType({str(k).lower(): str(v) for k, v in (value.get("headers") or {}).items()}),
                body=body if isinstance(body, str) else json.dumps(body),
                label=value.get("class"),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InvalidInput(f"line {number} is not an error row (status, headers, body): {error!r}") from error
        found.append(row)
    return found


@cache
def rows() -> tuple[Row, ...]:
    """The error rows that ship with Memhold: what providers are documented, or were seen, to answer when they fail."""
    text = (resources.files(__package__) / "rows.jsonl").read_text(encoding="utf-8")
    return tuple(rows_of(text.splitlines()))


_HTML_502 = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><h1>502 Bad Gateway</h1></body>\r\n</html>"
_HTML_200 = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please sign in to continue.</body></html>"
_LIMITED = '{"error":{"message":"Rate limit reached for requests","type":"requests","code":"rate_limit_exceeded"}}'
_TYPE_HTML = MappingProxyType({"content-type": "text/html"})

_TABLE: tuple[tuple[str, Act, str], ...] = (
    # below HTTP
    ("refuse", Cable(how="refuse", seconds=1.0), "connection reset, then refused for a second"),
    ("reset", Cable(how="reset"), "connection reset before any byte of the answer"),
    ("disconnect", Cable(how="disconnect"), "connection closed without an answer"),
    ("hang", Cable(how="hang"), "no answer until the server is told to release"),
    ("drip", Cable(how="drip", seconds=0.05), "the answer a few bytes at a time"),
    ("cut", Cable(how="cut"), "half of the announced body, then closed"),
    # status 200 and damaged
    ("truncated-json", Damage(how="truncated-json"), "a complete answer whose JSON ends in the middle"),
    ("sse-error", Damage(how="sse-error"), "some events of the stream, then an error event"),
    ("sse-cut", Damage(how="sse-cut"), "a stream that ends early, without its last events"),
    ("error-in-200", Damage(how="error-in-200"), "status 200 with an error object for a body"),
    ("html", Answer(status=200, body=_HTML_200, headers=_TYPE_HTML), "status 200 with a web page"),
    ("html-502", Answer(status=502, body=_HTML_502, headers=_TYPE_HTML), "a gateway's error page"),
    (
        "rate-limit",
        Answer(status=429, body=_LIMITED, headers=MappingProxyType({"retry-after": "1"})),
        "429, Retry-After: 1",
    ),
    # a reply that is no success
    ("prose", Spoil(how="prose"), "text instead of the tool call"),
    ("wrong-tool", Spoil(how="wrong-tool"), "a call of a tool that was not offered"),
    ("empty-arguments", Spoil(how="empty-arguments"), "the tool call with {}"),
    ("null-arguments", Spoil(how="null-arguments"), "the tool call with null in every field"),
    ("fenced-json", Spoil(how="fenced-json"), "the arguments as JSON in a fenced block of text"),
    ("arguments-string", Spoil(how="arguments-string"), "arguments encoded twice"),
    ("arguments-list", Spoil(how="arguments-list"), "arguments as a list with the object in it"),
    ("arguments-broken", Spoil(how="arguments-broken"), "arguments that are no JSON"),
    ("arguments-object", Spoil(how="arguments-object"), "arguments as an object where the protocol has a string"),
    ("cut-at-limit", Spoil(how="cut-at-limit"), "stopped at the token limit, in the middle of the arguments"),
    ("two-calls", Spoil(how="two-calls"), "the tool called twice in one reply"),
    ("refusal-text", Spoil(how="refusal-text"), "a refusal as plain text"),
    ("refusal", Spoil(how="refusal"), "a refusal in the protocol's own field"),
    ("content-filter", Spoil(how="content-filter"), "stopped by a content filter"),
    ("empty-reply", Spoil(how="empty-reply"), "no text and no call"),
    ("error-text", Spoil(how="error-text"), "an error message as if it were the answer"),
    ("thinking", Spoil(how="thinking"), "reasoning in <think> before a good answer"),
    # vectors that do not fit
    ("fewer-vectors", Misbind(how="fewer"), "one vector less than inputs"),
    ("shuffled-vectors", Misbind(how="shuffled"), "all vectors in another order, with their right index"),
    ("duplicate-index", Misbind(how="duplicate-index"), "two vectors with one index"),
    ("no-index", Misbind(how="no-index"), "vectors without an index"),
    ("null-vector", Misbind(how="null-vector"), "null in place of a vector"),
    ("nan-vector", Misbind(how="nan-vector"), "NaN in a vector"),
    ("zero-vector", Misbind(how="zero-vector"), "a vector of zeros"),
    ("other-dimension", Misbind(how="other-dimension"), "vectors one number longer than before"),
    ("empty-vectors", Misbind(how="empty"), "an empty list of vectors"),
)

FAULTS: Mapping[str, Fault] = MappingProxyType(
    {"ok": OK, **{name: Fault(name=name, act=act, about=about) for name, act, about in _TABLE}}
)
"""Every fault that is not a provider's error row, by name."""


def fault_names() -> list[str]:
    """Every name that `fault` knows: the table's, then those of the shipped error rows."""
    return [*FAULTS, *(row.name for row in rows())]


def fault(name: str) -> Fault:
    """The fault of that name: from the table, or a shipped error row, or `FILE:N` for line N of a file of rows.

    Raises:
        InvalidInput: no fault has that name.
    """
    if name in FAULTS:
        return FAULTS[name]
    for row in rows():
        if row.name == name:
            return row.fault
    path, colon, number = name.rpartition(":")
    if colon and number.isdigit() and Path(path).is_file():
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        if 1 <= int(number) <= len(lines):
            return rows_of([lines[int(number) - 1]])[0].fault
    raise InvalidInput(f"no fault is called {name!r}; `memhold chaos --list` names them all")
