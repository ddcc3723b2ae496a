"""From a verdict, or from any exception of any SDK, to Memhold's one plain error.

SDK exceptions hold locks, responses and mandatory constructor arguments, so they do not survive a job row; a
`ModelError` does. They are read by their attributes, never imported. The provider's words are classified and then left
behind.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from memhold.providers.failures.classify import NO_KEY, Verdict, classify
from memhold.values.errors import ModelError

__all__ = ["model_error", "plain_error"]


def model_error(
    model: str,
    verdict: Verdict,
    *,
    status: int | None = None,
    cause: str | None = None,
    key_variable: str | None = None,
) -> ModelError:
    """The plain error of a verdict. For `auth` it names the variable that holds the key."""
    details = [f"HTTP {status}"] if status is not None else []
    details += [verdict.code] if verdict.code and verdict.code != NO_KEY else []
    details += [cause] if cause else []
    details += [f"it said: {verdict.said}"] if verdict.said else []
    shape = f" ({', '.join(details)})" if details else ""
    named = verdict.cls != "auth" or not key_variable or key_variable in verdict.reason
    advice = "" if named else f"; check the key in {key_variable}"
    return ModelError(
        f"{model}: {verdict.reason or 'the call failed'}{shape}{advice}",
        model=model,
        cls=verdict.cls,
        status=status,
        code=verdict.code,
        retry_after=verdict.delay,
        rule=verdict.rule,
        reason=verdict.reason,
        said=verdict.said,
        slow=verdict.slow,
        refused=verdict.refused,
        cause=cause,
        context=verdict.context,
    )


def plain_error(
    error: BaseException,
    *,
    model: str,
    kind: str = "chat",
    now: datetime | None = None,
    key_variable: str | None = None,
) -> ModelError:
    """Any exception of a model call as a `ModelError` with its class, status, code and the name of its type.

    A `ModelError` comes back as it is. Works on the exceptions of openai, anthropic, groq, mistralai, cohere, ollama,
    google-genai, botocore, huggingface-hub, litellm, pydantic-ai, httpx and httpx2.
    """
    if isinstance(error, ModelError):
        return error
    source: BaseException = error
    for _ in range(5):
        if _status_of(source) is not None or _read(source, "body") is not None:
            break
        inner = source.__cause__ or source.__context__
        if inner is None or isinstance(inner, asyncio.CancelledError):
            source = error
            break
        source = inner
    status = _status_of(source)
    body = _body_of(source)
    verdict = classify(kind, status, _headers_of(source), body, error, now=now)
    cause = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    return model_error(model, verdict, status=status, cause=cause, key_variable=key_variable)


def _read(value: object, name: str) -> Any:
    """An attribute of a foreign object; properties of foreign exceptions may raise anything."""
    with contextlib.suppress(Exception):
        return getattr(value, name, None)
    return None


def _status_of(error: BaseException) -> int | None:
    response = _read(error, "response")
    candidates = [
        _read(error, "status_code"),
        _read(error, "http_status"),
        _read(error, "status"),
        _read(response, "status_code"),
        _read(_read(error, "raw_response"), "status_code"),
        _read(error, "code"),
    ]
    if isinstance(response, Mapping):
        metadata = response.get("ResponseMetadata")
        candidates.append(metadata.get("HTTPStatusCode") if isinstance(metadata, Mapping) else None)
    for candidate in candidates:
        found = _read(candidate, "value") if not isinstance(candidate, (int, str)) else candidate
        with contextlib.suppress(TypeError, ValueError):
            number = int(found)
            if 100 <= number <= 599:
                return number
    return None


def _headers_of(error: BaseException) -> Any:
    response = _read(error, "response")
    if isinstance(response, Mapping):
        metadata = response.get("ResponseMetadata")
        return metadata.get("HTTPHeaders") if isinstance(metadata, Mapping) else None
    for holder in (error, response, _read(error, "raw_response")):
        headers = _read(holder, "headers")
        if headers is not None:
            return headers
    return None


def _body_of(error: BaseException) -> Any:
    response = _read(error, "response")
    if isinstance(response, Mapping):  # botocore.ClientError
        return response.get("Error") or response
    for name in ("body", "details", "error", "response_json"):
        found = _read(error, name)
        if isinstance(found, (Mapping, list, str)) and found:
            return found
    text = _read(response, "text") if not callable(_read(response, "text")) else None
    if isinstance(text, str) and text:
        return text
    said = _read(error, "message")
    if isinstance(said, str) and said:
        return said
    with contextlib.suppress(Exception):
        return str(error)
    return None
