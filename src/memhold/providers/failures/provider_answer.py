"""What a provider's failing answer says: documents inside documents, codes, words, and the status that it states.

Pure and total: every function takes anything and returns a value. Only fields that providers use for errors are read;
text that a model or a user wrote (choices, failed generations, echoed input) is never looked at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any, Final

from memhold.providers.failures.delays import seconds_of
from memhold.providers.failures.rules import RULES

__all__ = ["Answer", "Document", "lower_headers", "normal", "read_answer"]

_LIMIT: Final = 200_000  # a longer error body is an echo of something; its beginning says what it is
_DEPTH: Final = 12
_NODES: Final = 2_000


def _keys(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORD_KEYS: Final = _keys(
    "message msg error error_message errormessage errmsg error_msg status_msg detail details description "
    "error_description title reason raw errors cause innererror inner_error quotaid quotametric violations "
    "param type code status blockreasonmessage error_type localizedmessage hint exception base_resp fault faultstring "
    "failure metadata error_info data response body @type"
)
_CODE_KEYS: Final = _keys(
    "code type status error_code errorcode __type reason error_type errortype blockreason finish_reason finishreason "
    "stop_reason stopreason native_finish_reason status_code statuscode error_name name quotaid exception"
)
_DELAY_KEYS: Final = _keys("retry_after retryafter retry_after_seconds retrydelay retry_delay estimated_time retry_in")
# Written by a model or a user: never read for words. `choices` and the rest are walked for codes only.
_CONTENT_KEYS: Final = _keys(
    "failed_generation input inputs prompt content delta arguments messages contents text_output generated_text "
    "text content_block output output_text reasoning reasoning_content thinking ctx url request"
)
_QUOTED_CODE = re.compile(r"""['"](?:code|type|status|__type|reason|error_type)['"]\s*:\s*['"]([\w.#-]{2,64})['"]""")
# LiteLLM, and proxies that print an SDK's exception, name the class in front of the message.
_NAMED_CLASS = re.compile(r"\b(?:litellm|openai|anthropic|mistralai|groq)\.(?:\w+\.)?(\w+)")
_QUOTED_STATUS = re.compile(r"""['"](?:code|status|status_code|statusCode)['"]\s*:\s*['"]?([45]\d\d)\b""")
_SCRIPT = re.compile(r"<(?:script|style)\b", re.IGNORECASE)
_SCRIPT_END = re.compile(r"</(?:script|style)", re.IGNORECASE)
_TAGS = re.compile(r"<[^<>]{0,500}>")
_HTML = re.compile(
    r"^\s*(?:<!--.{0,500}?-->\s*)?<(?:!doctype|html|head|body|center|h1|title)\b", re.IGNORECASE | re.DOTALL
)
_HTML_STATUS = re.compile(r"\b([45]\d\d)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One error document: the codes in it (normal form), its words (lower case), the status that it states."""

    codes: frozenset[str] = frozenset()
    words: str = ""
    status: int | None = None
    code: str | None = None
    delay: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A body, read: its documents from the innermost out, what form it had, and whether it was a stream."""

    documents: tuple[Document, ...] = ()
    shape: str = "empty"
    stream: bool = False
    html: bool = False
    has_error: bool = False


def normal(code: object) -> str:
    """A code in one form: `RateLimitError`, `rate_limit_error` and `aws.x#RateLimitError:http://…` are the same."""
    text = str(code)[:200]
    if "#" in text:
        text = text.rsplit("#", 1)[1]
    text = re.split(r":\s*https?:", text)[0]
    return re.sub(r"[^a-z0-9]", "", text.lower())


def lower_headers(headers: object) -> dict[str, str]:
    """Headers as a plain dict with lower-case names, from a mapping, pairs, or anything else (then empty)."""
    items: Iterable[Any]
    if isinstance(headers, Mapping):
        items = headers.items()
    elif isinstance(headers, (list, tuple)):
        items = headers
    else:
        found = getattr(headers, "items", None)
        try:
            items = list(found()) if callable(found) else ()
        except (TypeError, ValueError):
            items = ()
    result: dict[str, str] = {}
    for item in items:
        if isinstance(item, (list, tuple)) and len(item) == 2:
            name, value = map(_header_text, item)
            result[name.lower()] = value
    return result


def _header_text(part: object) -> str:
    if isinstance(part, bytes):
        return part.decode("latin-1")
    return str(part) if isinstance(part, (str, int, float)) else ""


# ------------------------------------------------------------------------------------------------ bodies


def read_answer(body: object, headers: Mapping[str, str]) -> Answer:
    """Read a body of any form: JSON, JSON in text, a list, HTML, server-sent events, lines of JSON, bytes, nothing."""
    if isinstance(body, (bytes, bytearray)):
        body = bytes(body[:_LIMIT]).decode("utf-8", "replace")
    if not isinstance(body, str):
        return _answer_of(body, shape=type(body).__name__) if body is not None else Answer()
    text = body[:_LIMIT].strip().lstrip("\ufeff")
    if not text:
        return Answer()
    if "event-stream" in headers.get("content-type", "") or re.match(r"(?::|data:|event:|id:|retry:)", text):
        return _read_events(text)
    if _HTML.match(text) or ("text/html" in headers.get("content-type", "") and text.startswith("<")):
        return _read_html(text)
    value = _parse(text)
    if value is not _NOTHING:
        return _answer_of(value, shape="json")
    lines = [_parse(line) for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and all(line is not _NOTHING for line in lines):
        return _read_stream(lines, "json lines")
    # Text that begins like JSON and does not end is a cut answer, not an error message.
    return Answer(documents=tuple(_documents(text)), shape="text", has_error=text[0] not in "{[")


def _answer_of(value: object, *, shape: str) -> Answer:
    return Answer(documents=tuple(_documents(value)), shape=shape, has_error=_is_error(value))


def _read_html(text: str) -> Answer:
    # Split, not matched: a page of scripts that never end would be read once for each of them.
    first, *rest = _SCRIPT.split(text)
    outside = [first, *(part[end.start() :] for part in rest if (end := _SCRIPT_END.search(part)))]
    plain = re.sub(r"\s+", " ", _TAGS.sub(" ", " ".join(outside))).lower()[:4000]
    stated = _HTML_STATUS.search(plain)
    document = Document(words=plain, status=int(stated[1]) if stated else None)
    return Answer(documents=(document,), shape="html", html=True, has_error=True)


def _read_events(text: str) -> Answer:
    values: list[object] = []
    for block in re.split(r"\r?\n\r?\n", text):
        name, data = "", []
        for line in block.splitlines():
            if line.startswith("event:"):
                name = line[6:].strip()
            elif line.startswith("data:"):
                data.append(line[5:].strip())
        joined = "\n".join(data)
        if not joined or joined == "[DONE]":
            continue
        value = _parse(joined)
        if name == "error" and (value is _NOTHING or not _is_error(value)):
            value = {"error": joined if value is _NOTHING else value}
        if value is not _NOTHING:
            values.append(value)
    return _read_stream(values, "events")


def _read_stream(values: list[object], shape: str) -> Answer:
    failed = [value for value in values if _is_error(value)]
    # With no error event in it, what the last chunk says (a finish reason) is all there is.
    documents = [document for value in (failed or values[-1:]) for document in _documents(value)]
    return Answer(documents=tuple(documents), shape=shape, stream=True, has_error=bool(failed))


_NOTHING: Final = object()


def _parse(text: str) -> object:
    if text[:1] not in '{["':
        return _NOTHING
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NOTHING


def _is_error(value: object) -> bool:
    match value:
        case list() if value:
            return any(_is_error(item) for item in value[:5])
        case str():
            return True
        case dict():
            if any(value.get(key) for key in ("error", "errors", "detail", "fault", "error_code", "errorMessage")):
                return True
            base = value.get("base_resp")
            if isinstance(base, dict) and base.get("status_code"):
                return True
            inner = value.get("response")
            if value.get("type") == "response.failed" or (isinstance(inner, dict) and inner.get("error")):
                return True
            return value.get("object") == "error" or value.get("type") == "error" or _bare_message(value)
    return False


def _bare_message(value: Mapping[str, object]) -> bool:
    """`{"message": "..."}` and `{"code": 1, "msg": "..."}` are errors; an Ollama chunk has an object there."""
    said = next((value[key] for key in ("message", "Message", "msg", "title") if key in value), None)
    return isinstance(said, str) and not value.keys() & {"choices", "done", "candidates", "content", "embeddings"}


# ------------------------------------------------------------------------------------------------ documents


@dataclass(slots=True)
class _Walk:
    codes: list[str]
    words: list[str]
    statuses: list[int]
    inner: list[object]
    delay: float | None = None


def _documents(value: object, depth: int = 0) -> Iterator[Document]:
    """The documents in a value, innermost first: a JSON text inside a string is a document of its own."""
    walk = _Walk([], [], [], [])
    for key, leaf in islice(_leaves(value), _NODES):
        _take(walk, key, leaf)
    if depth < 4:
        for inner in walk.inner[:8]:
            yield from _documents(inner, depth + 1)
    words = " ".join(walk.words).lower()[:20_000]
    quoted = [*_QUOTED_CODE.findall(words), *_NAMED_CLASS.findall(words)]
    status = walk.statuses[-1] if walk.statuses else None
    if status is None and (found := _QUOTED_STATUS.search(words)):
        status = int(found[1])
    codes = frozenset(normal(code) for code in (*walk.codes, *quoted)) - {"", "error", "none", "null"}
    # What a message quotes may be the request: of that, only what the table has as a code is told on.
    told = walk.codes if depth == 0 else [code for code in walk.codes if normal(code) in _known_codes()]
    yield Document(codes=codes, words=words, status=status, code=_most_specific(told), delay=walk.delay)


@cache
def _known_codes() -> frozenset[str]:
    return frozenset().union(*(rule.codes for rule in RULES))


def _leaves(value: object, key: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    """(key, scalar) pairs; keys of objects that are content end the walk, except for the codes inside choices."""
    if depth > _DEPTH:
        return
    if isinstance(value, Mapping):
        for name, inner in islice(value.items(), 200):
            lowered = str(name).lower()
            if lowered not in _CONTENT_KEYS:
                yield from _leaves(inner, lowered, depth + 1)
    elif isinstance(value, (list, tuple)):
        for inner in islice(value, 50):
            yield from _leaves(inner, key, depth + 1)
    else:
        yield key, value


def _take(walk: _Walk, key: str, leaf: object) -> None:
    number = isinstance(leaf, (int, float)) and not isinstance(leaf, bool)
    if not number and not isinstance(leaf, str):
        return
    if key in _DELAY_KEYS and (delay := seconds_of(str(leaf))) is not None:
        walk.delay = delay
    if key in _CODE_KEYS:
        text = str(leaf)
        if re.fullmatch(r"[45]\d\d", text):
            walk.statuses.append(int(text))
        elif number or len(text) <= 80:
            # `code` says more than `type` where a provider sends both
            walk.codes.insert(0 if "code" in key or key == "reason" else len(walk.codes), text)
    if isinstance(leaf, str) and (not key or key in _WORD_KEYS or len(leaf) < 400):
        inner, rest = _embedded(leaf[:_LIMIT])
        if inner is not _NOTHING:
            walk.inner.append(inner)
        walk.words.append(rest)


def _embedded(text: str) -> tuple[object, str]:
    """A JSON object inside a text (`SomeException - {...}`), and the words around it."""
    start = text.find("{")
    if start < 0:
        return _NOTHING, text
    try:
        value, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return _NOTHING, text
    if not isinstance(value, dict) or not value:
        return _NOTHING, text
    return value, text[:start] + text[end:]


# Words, each perhaps with a number behind it (`AADSTS50034`), or a number alone: a letter behind a digit, as keys have
# them, is in no code that is known.
_CODE = re.compile(r"(?=.{2,64}\Z)[A-Za-z]+\d{0,6}(?:[_.\-]+(?:[A-Za-z]+\d{0,6}|\d{1,6}))*[_.\-]?|\d{1,6}")


def _most_specific(codes: list[str]) -> str | None:
    """The provider's most telling code, if it looks like one: never a sentence, so never content, and never a key."""
    fit = [code for code in codes if _CODE.fullmatch(code)]
    fit = [code for code in fit if code.lower() not in {"error", "none", "null"}]
    dull = {"invalid_request_error", "server_error", "api_error"}
    return next((code for code in fit if code.lower() not in dull), fit[0] if fit else None)
