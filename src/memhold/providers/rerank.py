"""Scores of texts for a question from a server with a /rerank endpoint: Jina, Cohere, vLLM, llama.cpp, and TEI.

All but Hugging Face's text-embeddings-inference take `documents` and answer `results` with `index` and
`relevance_score`; that one takes `texts` and answers a list with `index` and `score`. Which of the two a server speaks
is learnt from its first refusal.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2

from memhold.providers.body import Endless, Garbled, whole
from memhold.providers.embedding.remote import is_loopback
from memhold.providers.entry import key_header, origin_of
from memhold.providers.unlogged import UNLOGGED
from memhold.values.errors import FailureClass, InvalidSetting, ModelError

__all__ = ["HttpReranker", "checked_url"]

_OTHER_FORM: Final = frozenset({400, 415, 422})
"""What a server answers that misses the field of its own form."""


def checked_url(setting: str) -> tuple[str, str]:
    """The endpoint and the model that a setting names, `http://host:port/rerank#MODEL`; the model may be missing.

    Raises:
        InvalidSetting: not an http or https URL, or it carries a name and password.
    """
    url, _, model = setting.partition("#")
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.username is None
    except ValueError:
        usable = False
    if not usable or not setting.isprintable():
        message = "rerank is no URL of a server; write http://host:port/rerank or http://host:port/v1/rerank#MODEL, "
        raise InvalidSetting(message + "and name its key's variable in rerank_key_env", name="rerank")
    return url, model


class HttpReranker:
    """A reranker behind HTTP. `key` is asked at each call; nothing is sent anywhere but to this URL.

    Raises:
        InvalidSetting: as `checked_url`.
    """

    def __init__(self, setting: str, *, key: Callable[[], str | None] = lambda: None, timeout: float = 30.0) -> None:
        self._url, self._model = checked_url(setting)
        self._key, self._timeout = key, timeout
        self._client: httpx2.AsyncClient | None = None
        self._texts_form = False

    async def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """How well each text answers the question, in their order: finite numbers, the greater the better.

        Raises:
            ModelError: no server answers, it refuses, or what it says are not as many finite numbers.
        """
        status, body = await self._post(self._payload(question, texts))
        if status in _OTHER_FORM:
            self._texts_form = not self._texts_form
            status, body = await self._post(self._payload(question, texts))
            if status in _OTHER_FORM:
                self._texts_form = not self._texts_form
        if status != httpx2.codes.OK:
            raise self._error(f"HTTP {status}", "auth" if status in {401, 403} else "retry", status=status)
        try:
            return _in_order(json.loads(body), len(texts))
        except (ValueError, RecursionError) as error:
            why = str(error) if type(error) is _Misfit else "the answer is no JSON"
            raise self._error(why, "resample", status=status) from None

    async def close(self) -> None:
        """Close its connections. Idempotent."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _payload(self, question: str, texts: Sequence[str]) -> Mapping[str, Any]:
        if self._texts_form:
            return {"query": question, "texts": list(texts), "truncate": True}
        named = {"model": self._model} if self._model else {}
        return {**named, "query": question, "documents": list(texts), "top_n": len(texts)}

    async def _post(self, payload: Mapping[str, Any]) -> tuple[int, str]:
        if self._client is None:
            own = is_loopback(self._url)
            self._client = httpx2.AsyncClient(timeout=self._timeout, trust_env=not own, event_hooks=UNLOGGED)
        try:
            headers = key_header(self._url, self._key())
            async with self._client.stream("POST", self._url, json=payload, headers=headers) as response:
                return response.status_code, await whole(response)
        except (Endless, Garbled):
            raise self._error("the answer cannot be read", "resample") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, UnicodeError) as error:
            raise self._error(type(error).__name__, "retry") from None

    def _error(self, why: str, cls: FailureClass, *, status: int | None = None) -> ModelError:
        message = f"the reranker at {origin_of(self._url)} cannot be used: {why}"
        return ModelError(message, model=self._model or "rerank", cls=cls, status=status, reason=why)


class _Misfit(ValueError):
    """An answer that is not one score for each text; the message says how, without any content."""


def _in_order(body: Any, count: int) -> list[float]:
    listed = body.get("results") if isinstance(body, dict) else body
    if not isinstance(listed, list):
        raise _Misfit("the answer holds no list of results")
    found: dict[int, float] = {}
    for item in listed:
        place = item.get("index") if isinstance(item, dict) else None
        score = item.get("relevance_score", item.get("score")) if isinstance(item, dict) else None
        if not isinstance(place, int) or isinstance(place, bool) or not 0 <= place < count or place in found:
            raise _Misfit("a result names no text, or one twice")
        if not isinstance(score, int | float) or isinstance(score, bool) or not math.isfinite(score):
            raise _Misfit("a score is no finite number")
        found[place] = float(score)
    if len(found) < count:
        raise _Misfit(f"{len(found)} scores came for {count} texts")
    return [found[place] for place in range(count)]
