"""What a failed call means: one pure function from (kind, status, headers, body or transport error) to one class.

The order of judgement: a just-in-time unload (LM Studio), then the table of `rules` on each document of the body from
the innermost out, then a sound default by status. A gateway that wraps a payload error in a 429 or a 200 is seen
through, because the innermost document speaks first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from memhold.providers.failures.delays import asked_delay
from memhold.providers.failures.first_words import first_words
from memhold.providers.failures.provider_answer import Answer, Document, lower_headers, normal, read_answer
from memhold.providers.failures.rules import RULES, Rule
from memhold.values.errors import FailureClass

__all__ = [
    "LATE",
    "LOAD_CANCELED",
    "LOAD_FAILED",
    "LOOK",
    "MODEL_UNLOADED",
    "NOWHERE",
    "NO_KEY",
    "STOPPED",
    "UNLOADED",
    "UNREADABLE",
    "Verdict",
    "classify",
    "classify_rows",
    "is_unload",
    "late",
]

# LM Studio, just-in-time loading with auto-evict (github.com/lmstudio-ai/lmstudio-bug-tracker): "Model was unloaded
# while the request was still in queue". Governed by `unload_retry_count` and `unload_retry_delay_ms`.
MODEL_UNLOADED: Final = "Model was unloaded"
# The same server when another request interrupts the load: "Failed to load model ... Error: Operation canceled."
# Under the same two settings; without the second part the model cannot be loaded at all.
LOAD_FAILED: Final = "Failed to load model"
LOAD_CANCELED: Final = "Operation canceled"
UNLOADED: Final = "model_unloaded"
"""The code of every failure that found its model unloaded: what counts them looks for it."""
LATE: Final = "deadline"
"""The code of a call that was given up by us."""
UNREADABLE: Final = frozenset({"cut_stream", "endless", "garbled", "no_choice", "unreadable"})
"""The codes of what is no answer of a model's API: garbage, nothing in it, one that breaks off or never ends."""
LOOK: Final = "see what the server says of itself, and whether the URL is that of a model's API"
NO_KEY: Final = "no_key"
"""The code of a call that was not made: the variable of its key is not set."""
NOWHERE: Final = "the model or the address does not exist"
"""What a 404 says of which the table knows nothing."""
STOPPED: Final = "the server stopped in the middle of its answer; see what it says of itself"
_PASSING: Final = frozenset({"crashed", "unloaded"})
"""Rules of a local model's own trouble, which passes under an HTTP 400 too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a failure means. `delay` is in seconds, as the provider asked; `reason` is our text, never the provider's.

    `said` are the provider's first words, masked: only where a line of the table knew them.

    `slow` marks a time-out (a chain with another link does not wait twice), `refused` a refusal of the content, `rule`
    the line of the table that decided ("status" for a default), `code` the provider's own code where it looks like one,
    `context` the tokens that the model's context takes, where the refusal of a long request tells them.
    """

    cls: FailureClass
    delay: float | None = None
    code: str | None = None
    reason: str = ""
    said: str = ""
    rule: str = "status"
    slow: bool = False
    refused: bool = False
    context: int | None = None


def late(seconds: float) -> Verdict:
    """The verdict on a call that was given up by us: a server that is slow, busy, or loading."""
    return Verdict(cls="retry", reason=f"no answer within {seconds:g} s", code=LATE, rule="deadline", slow=True)


def is_unload(body: object) -> bool:
    """Whether a body is LM Studio's "the model was unloaded" or "its load was cancelled", in either of their forms."""
    text = body.decode("utf-8", "replace") if isinstance(body, (bytes, bytearray)) else body
    if not isinstance(text, str):
        try:
            text = json.dumps(text, default=lambda _: "")
        except (ValueError, TypeError, RecursionError):
            return False
    return MODEL_UNLOADED in text or (LOAD_FAILED in text and LOAD_CANCELED in text)


def classify(
    kind: str,
    status: object,
    headers: object = None,
    body: object = None,
    error: object = None,
    *,
    now: datetime | None = None,
) -> Verdict:
    """The class of a failed call, with the delay that the provider asked for.

    `status` is the HTTP status or None when there was no answer; `error` is the transport's exception, or its name as
    text. `now` is only needed for a delay given as a date in an answer without a `Date` header.

    Never raises. Of HTTP 400s only those of a local model that was unloaded or crashed are `retry`.
    """
    kind = "embedding" if kind == "embedding" else "chat"
    outer = _status(status)
    plain = lower_headers(headers)
    answer = read = read_answer(body, plain)
    if error is not None:
        answer = replace(answer, documents=(*answer.documents, _transport(error)), has_error=True)
    documents = _with_header_code(answer.documents, plain)
    delay = asked_delay(plain, documents, now)
    if is_unload(body):
        why = "the model was unloaded while the request waited"
        return Verdict(cls="retry", delay=delay, code=UNLOADED, reason=why, rule="unload")
    verdict = _judge(kind, outer, replace(answer, documents=documents))
    code = next((document.code for document in documents if document.code), None)
    code = UNLOADED if verdict.rule == "unloaded" else code or verdict.code
    words = next((document.words for document in read.documents if document.words), "")
    said = first_words(words) if verdict.rule != "status" else ""
    context = _context_in(documents) if verdict.rule == "too-long" else None
    return replace(_settled(verdict, outer, answer), delay=delay, code=code, said=said, context=context)


# "exceeds the available context size (8192 tokens)", "maximum context length is 128000 tokens", "context length of only
# 4096 tokens"; Anthropic's "prompt is too long: 208310 tokens > 200000 maximum".
_CONTEXT: Final = re.compile(r"context (?:size|length|window)[^0-9]{0,30}(\d[\d,]{0,12})|tokens > (\d{1,12}) maximum")


def _context_in(documents: Iterable[Document]) -> int | None:
    found = next((told for document in documents if (told := _CONTEXT.search(document.words))), None)
    digits = "" if found is None else (found[1] or found[2]).replace(",", "")
    return min(int(digits), 10**9) if digits else None


def _judge(kind: str, outer: int | None, answer: Answer) -> Verdict:
    stated = next((document.status for document in answer.documents if document.status is not None), None)
    if answer.html and outer is not None and outer >= 400:
        stated = None  # a page mentions numbers; the status line is the fact
    if outer is not None and 200 <= outer < 400 and not answer.has_error:
        found = _first(kind, outer, answer.documents, RULES, codes_only=True)
        return found or _default(kind, outer, answer)
    status = stated if stated is not None else outer
    found = _first(kind, status, answer.documents, RULES, codes_only=False)
    return found or _default(kind, status, answer)


def _first(
    kind: str, status: int | None, documents: Iterable[Document], rules: Iterable[Rule], *, codes_only: bool
) -> Verdict | None:
    rules = tuple(rules)
    for document in documents:
        effective = document.status if document.status is not None else status
        for rule in rules:
            if _matches(rule, kind, effective, document, codes_only=codes_only):
                return Verdict(cls=rule.cls, reason=rule.why, rule=rule.name, slow=rule.slow, refused=rule.refused)
    return None


def _matches(rule: Rule, kind: str, status: int | None, document: Document, *, codes_only: bool) -> bool:
    if rule.kind is not None and rule.kind != kind:
        return False
    if status is not None:
        if rule.statuses is not None and status not in rule.statuses:
            return False
        if status in rule.not_statuses:
            return False
    if rule.codes & document.codes:
        return True
    return not codes_only and rule.words is not None and rule.words.search(document.words) is not None


def _settled(verdict: Verdict, outer: int | None, answer: Answer) -> Verdict:
    """The two rulings that hold over every line: a broken stream is the model's failure, and a 400 is not retried.

    But for a local model that crashed or was unloaded: that passes, and is no fault of the request.
    """
    if verdict.cls == "retry" and answer.stream and answer.has_error and outer is not None and outer < 400:
        return replace(verdict, cls="resample", reason=f"the stream broke off: {verdict.reason}")
    if verdict.cls == "retry" and outer == 400 and verdict.rule not in _PASSING:
        return replace(verdict, cls="next")
    return verdict


# ------------------------------------------------------------------------------------------------ defaults by status

_BY_STATUS: Final[Mapping[int, tuple[FailureClass, str]]] = {
    401: ("auth", "the key was not accepted"),
    402: ("park", "the account has to be paid"),
    403: ("auth", "the key does not allow this"),
    404: ("park", NOWHERE),
    405: ("park", "the address does not take this method"),
    407: ("park", "a proxy asks for a key of its own"),
    408: ("retry", "the provider gave up waiting"),
    409: ("retry", "the provider was changing what was asked for"),
    410: ("park", "the model or the address is gone"),
    413: ("shorten", "the request is too large"),
    415: ("poison", "the provider cannot read the request"),
    421: ("retry", "the request reached the wrong server"),
    422: ("poison", "the request is not valid"),
    423: ("retry", "what was asked for is locked"),
    424: ("retry", "something that the provider depends on failed"),
    425: ("retry", "the provider was not ready"),
    429: ("retry", "too many requests for now"),
    498: ("retry", "no capacity in this tier for now"),
    499: ("retry", "the connection was closed before the answer"),
    501: ("next", "this link does not do that"),
    505: ("next", "this link does not speak that protocol"),
}
_SLOW: Final = frozenset({408, 504, 522, 524})


def _default(kind: str, status: int | None, answer: Answer) -> Verdict:
    if status is None:
        return Verdict(cls="retry", reason="there was no answer")
    if status in _BY_STATUS:
        cls, why = _BY_STATUS[status]
        return Verdict(cls=cls, reason=why, slow=status in _SLOW)
    if status >= 500:
        return Verdict(cls="retry", reason="the provider failed", slow=status in _SLOW)
    if status >= 400:
        if kind == "embedding":
            return Verdict(cls="poison", reason="the provider does not take this text")
        return Verdict(cls="next", reason="this link refused the request without a known reason")
    if status >= 300:
        return Verdict(cls="park", reason="the base URL redirects elsewhere")
    if answer.html:
        return Verdict(cls="retry", reason="a web page came in place of an answer; check the base URL")
    if (answer.has_error and not answer.stream) or kind == "embedding":
        return Verdict(cls="retry", reason=f"an answer of success that carries an error; {LOOK}")
    return Verdict(cls="resample", reason=f"the answer is not complete or cannot be read; {LOOK}", code="unreadable")


# ------------------------------------------------------------------------------------------------ the outside


def _status(status: object) -> int | None:
    if isinstance(status, bool) or not isinstance(status, (int, str)):
        return None
    try:
        value = int(str(status))
    except ValueError:
        return None
    return value if 100 <= value <= 599 else None


def _transport(error: object) -> Document:
    """A transport error as a document: the names of its type and of what caused it, and the words of a plain text."""
    names: list[str] = []
    words: list[str] = []
    current: object = error
    for _ in range(6):
        if not isinstance(current, BaseException):
            break
        # Built-in types say how a thing broke, not what the provider meant.
        names += [cls.__name__ for cls in type(current).__mro__[:4] if cls.__name__ not in _BUILTIN]
        words.append(f"{type(current).__name__} {_text_of(current)[:500]}")
        current = current.__cause__ or current.__context__
    if not isinstance(error, BaseException):
        text = _text_of(error)[:2000]
        names, words = re.findall(r"[A-Za-z]{4,64}", text)[:20], [text]
    return Document(codes=frozenset(normal(name) for name in names), words=" ".join(words).lower())


_BUILTIN: Final = frozenset({"ValueError", "TypeError", "RuntimeError", "OSError", "Exception", "BaseException"})


def _text_of(value: object) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - the edge: a model gets an answer, the log gets the place
        return ""


def _with_header_code(documents: tuple[Document, ...], headers: Mapping[str, str]) -> tuple[Document, ...]:
    """AWS names the error in a header; it belongs to the innermost document."""
    named = headers.get("x-amzn-errortype") or headers.get("x-ms-error-code") or ""
    if not named:
        return documents
    code = normal(named)
    first, *rest = documents or (Document(),)
    short = re.split(r"[:#]", named)[0][:64]
    return (replace(first, codes=first.codes | {code}, code=first.code or short), *rest)


def classify_rows(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """For each line of JSON with `kind, status, headers, body` (or `error`): the row and its class as `got`.

    `delay`, `code` and `rule` come with it. A line that is not a JSON object gives `{"line": n, "got": None, "problem":
    …}`; empty lines are passed over.
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            yield {"line": number, "got": None, "problem": "not a JSON object"}
            continue
        verdict = classify(
            str(row.get("kind", "chat")),
            row.get("status"),
            row.get("headers"),
            row.get("body"),
            row.get("error", row.get("transport_error")),
        )
        yield {**row, "got": verdict.cls, "delay": verdict.delay, "code": verdict.code, "rule": verdict.rule}
