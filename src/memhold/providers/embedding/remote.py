"""What every embedding model behind HTTP shares: batches, order, checks, the pinned dimension, errors."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import httpx2

from memhold.ports.models import Usage
from memhold.ports.stores import Clock, Priority
from memhold.providers.body import Endless, Garbled, beginning, whole
from memhold.providers.embedding.batching import Limits, Misfit, Piece, gather, in_order, plan, unit_rows
from memhold.providers.embedding.gate import PriorityGate
from memhold.providers.entry import host_of, origin_of
from memhold.providers.failures.classify import STOPPED, Verdict, classify, is_unload
from memhold.providers.unlogged import UNLOGGED
from memhold.values.errors import Attempt, InvalidInput, ModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Dialect", "Purpose", "Record", "RemoteEmbedding", "UnloadRetry", "is_loopback"]

_log = logging.getLogger("memhold.providers.embedding")
_LEAST_CHARS = 200
_SAMPLE = 200
_UNREAD = {Endless: ("endless", "the answer does not end"), Garbled: ("garbled", "the answer is no UTF-8")}
_SECRET = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w.-]+|\b(?=\w*\d)[\w-]{8,}|\d{3,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How one API is spoken.

    The URL, the headers (asked for at each call: a key may change), the payload for some texts, the items (`index`,
    `embedding`) of an answer, and the field of it that counts tokens.
    """

    url: str
    headers: Callable[[], Mapping[str, str]]
    payload: Callable[[Sequence[str]], Mapping[str, Any]]
    items: Callable[[Mapping[str, Any]], Sequence[Mapping[str, Any]]]
    tokens: Callable[[Mapping[str, Any]], object]


Purpose = Literal["document", "query"]
Record = Callable[[Purpose, Attempt, Usage], None]
"""Called once for each request that was made, answered or failed, with the tokens that it took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnloadRetry:
    """How often, and after which constant pause on a clock, a request that found its model unloaded is sent again."""

    clock: Clock
    count: int = 3
    delay_ms: int = 500

    def __post_init__(self) -> None:
        if self.count < 0 or self.delay_ms < 0:
            raise InvalidInput("unload_retry_count and unload_retry_delay_ms are 0 or more")


def is_loopback(url: str) -> bool:
    """Whether a base URL names this machine."""
    host = urlsplit(url).hostname or ""
    return host in {"localhost", "::1"} or host.startswith("127.")


class _Refused(Exception):
    """An answer that is no success: the verdict, and its body where it may be passed on."""

    def __init__(self, verdict: Verdict, body: str | None) -> None:
        super().__init__(verdict.reason)
        self.verdict = verdict
        self.body = body


class _TooLong(Exception):
    """One piece, sent alone, was too long for the server."""

    def __init__(self, error: ModelError, length: int) -> None:
        super().__init__(str(error))
        self.error = error
        self.length = length


class _Failed(Exception):
    """One request that failed: its verdict, status, and the body for the one error that is passed on verbatim."""

    def __init__(
        self, verdict: Verdict, *, status: int | None, body: str | None, cause: str | None, seconds: float
    ) -> None:
        super().__init__(verdict.reason)
        self.verdict = verdict
        self.status = status
        self.body = body
        self.cause = cause
        self.seconds = seconds


@dataclass(kw_only=True, eq=False)
class RemoteEmbedding:
    """An embedding model behind HTTP; it is an `EmbeddingModel`.

    Vectors come back in the order of the texts, as unit vectors of one dimension: it is learnt from the first answer
    (or given) and pinned; an answer with another one is an error that rests the model. A text over the limit is split
    or cut on purpose and counted in `overlong`. Calls for queries go before calls for documents. Nothing
    is retried here, but for an unloaded model where `unload` says so. For one event loop.
    """

    name: str
    fingerprint: str
    dialect: Dialect
    limits: Limits
    unload: UnloadRetry | None = None
    timeout: float = 30.0
    dimension: int | None = None
    """The length of its vectors; None until the first answer taught it."""
    prefixes: Mapping[str, str] = field(default_factory=dict)
    gate: PriorityGate | None = None
    client: httpx2.AsyncClient | None = None
    unloads: Counter[tuple[str, str]] = field(default_factory=Counter)
    debug_content: bool | None = None
    record: Record | None = None
    overlong: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._gate = self.gate or PriorityGate(1 if is_loopback(self.dialect.url) else 4)
        self._owns_client = self.client is None

    @property
    def host(self) -> str:
        """The host and port that are called, without a name and password."""
        return host_of(self.dialect.url)

    @property
    def max_chars(self) -> int:
        """The longest text that is sent in one piece, as far as is known: "too long" lowers it."""
        return self.limits.max_chars

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dimension), row i for text i.

        Where the server says that a request is too long, its batch is halved; a piece too long by itself is split
        again at half its length, down to 200 characters, and this smaller limit is kept for later calls.

        Raises:
            InvalidInput: an input is None, empty or blank; nothing was sent.
            ModelError: the call failed; nothing of the batch was embedded.
        """
        prefix = self.prefixes.get(purpose, "")
        while True:
            try:
                return await self._embed(texts, prefix, purpose)
            except _TooLong as long:
                smaller = min(self.limits.max_chars, long.length) // 2
                if smaller < _LEAST_CHARS:
                    raise long.error from None
                self.limits = replace(self.limits, max_chars=smaller)
                _log.warning(
                    "embedding-provider input too long, limit lowered to %d characters (%s)", smaller, self.name
                )

    async def _embed(self, texts: Sequence[str], prefix: str, purpose: Purpose) -> NDArray[np.float32]:
        import numpy as np

        made = plan(texts, self.limits)
        if made.overlong:
            self.overlong += made.overlong
            _log.warning(
                "embedding-provider input over %d characters: %s (%d of %d texts, %d since the start, model %s)",
                self.limits.max_chars, self.limits.overlong, made.overlong, len(texts), self.overlong, self.name,
            )  # fmt: skip
        if not made.batches:
            return np.zeros((0, self.dimension or 0), dtype=np.float32)
        priority = Priority.INTERACTIVE if purpose == "query" else Priority.WORKER
        rows: list[NDArray[np.float32]] = []
        for batch in made.batches:
            async with self._gate(priority):
                rows.append(await self._halving([prefix + piece.text for piece in batch], purpose))
        pieces: list[Piece] = [piece for batch in made.batches for piece in batch]
        return gather(pieces, np.concatenate(rows), len(texts))

    async def _halving(self, texts: Sequence[str], purpose: Purpose) -> NDArray[np.float32]:
        """One batch, in halves where the whole is too much for the server: some count the sum, not each text."""
        import numpy as np

        try:
            return await self._batch(texts, purpose)
        except ModelError as error:
            if error.cls != "shorten":
                raise
            if len(texts) == 1:
                raise _TooLong(error, len(texts[0])) from error
        middle = len(texts) // 2
        halves = texts[:middle], texts[middle:]
        return np.concatenate([await self._halving(half, purpose) for half in halves])

    async def _batch(self, texts: Sequence[str], purpose: Purpose) -> NDArray[np.float32]:
        """One batch, sent again while its model is found unloaded; the first failure is the one that is raised."""
        attempts: list[Attempt] = []
        first: _Failed | None = None
        retries = self.unload.count if self.unload is not None else 0
        for number in range(1, retries + 2):
            try:
                return await self._once(texts, purpose, number)
            except _Failed as failed:
                attempts.append(self._attempt(failed, number))
                if self.record is not None:
                    self.record(purpose, attempts[-1], Usage())
                unloaded = failed.status is not None and is_unload(failed.body)
                first = first if first is not None and unloaded else failed
                if not unloaded or self.unload is None or number > retries:
                    break
                self.unloads[self.name, self.host] += 1
                _log.warning(
                    "embedding-provider model-unload detected, retrying (attempt %d of %d, model %s, host %s)",
                    number, retries, self.name, self.host,
                )  # fmt: skip
                await self.unload.clock.sleep(self.unload.delay_ms / 1000)
        assert first is not None  # noqa: S101 - the loop runs at least once and returns or fails
        self._diagnose(texts, first)
        raise self._error(first, tuple(attempts))

    async def _once(self, texts: Sequence[str], purpose: Purpose, number: int) -> NDArray[np.float32]:
        started = asyncio.get_running_loop().time()
        status: int | None = None
        headers = dict(self.dialect.headers())
        payload = self.dialect.payload(texts)
        try:
            async with (
                asyncio.timeout(self.timeout),
                self._http().stream("POST", self.dialect.url, json=payload, headers=headers) as response,
            ):
                status = response.status_code
                body = await self._body(response)
            rows = self._vectors(body, len(texts))
        except (Endless, Garbled) as error:
            name, reason = _UNREAD[type(error)]
            verdict = Verdict(cls="resample", code=name, reason=reason, rule=name)
            seconds = asyncio.get_running_loop().time() - started
            raise _Failed(verdict, status=status, body=None, cause=None, seconds=seconds) from None
        except _Refused as refused:
            seconds = asyncio.get_running_loop().time() - started
            raise _Failed(refused.verdict, status=status, body=refused.body, cause=None, seconds=seconds) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, UnicodeError) as error:
            seconds = asyncio.get_running_loop().time() - started
            verdict = classify("embedding", None, None, None, error)
            if status is not None and not isinstance(error, httpx2.TimeoutException):
                verdict = replace(verdict, reason=STOPPED)
            if isinstance(error, httpx2.ConnectError):
                verdict = replace(verdict, reason=f"no server answers at {origin_of(self.dialect.url)}")
            raise _Failed(verdict, status=status, body=None, cause=type(error).__name__, seconds=seconds) from None
        if self.record is not None:
            seconds = asyncio.get_running_loop().time() - started
            counted = self.dialect.tokens(body)
            usage = Usage(input_tokens=counted if isinstance(counted, int) and counted >= 0 else None)
            self.record(purpose, Attempt(model=self.name, cls=None, seconds=seconds, number=number), usage)
        return rows

    async def _body(self, response: httpx2.Response) -> Mapping[str, Any]:
        status, headers = response.status_code, dict(response.headers)
        if status != httpx2.codes.OK:
            text = await beginning(response)
            raise _Refused(classify("embedding", status, headers, text), text)
        text = await whole(response)
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            raise _Refused(classify("embedding", status, headers, text), None) from None
        if not isinstance(body, dict) or body.get("error"):
            raise _Refused(classify("embedding", status, headers, text), text if is_unload(text) else None)
        return body

    def _vectors(self, body: Mapping[str, Any], count: int) -> NDArray[np.float32]:
        try:
            items = self.dialect.items(body)
            rows = unit_rows(in_order(items, count), None)
        except Misfit as misfit:
            raise _Refused(
                Verdict(cls="resample", code="bad_vectors", reason=str(misfit), rule="vectors"), None
            ) from None
        self._pin(rows.shape[1])
        return rows

    def _pin(self, dimension: int) -> None:
        if self.dimension is None:
            self.dimension = dimension
        elif dimension != self.dimension:
            why = f"its vectors have {dimension} numbers where {self.dimension} are pinned: another model answers"
            raise _Refused(Verdict(cls="park", code="dimension_changed", reason=why, rule="dimension"), None)

    def _attempt(self, failed: _Failed, number: int) -> Attempt:
        verdict = failed.verdict
        return Attempt(
            model=self.name, cls=verdict.cls, status=failed.status, code=verdict.code, reason=verdict.reason,
            said=verdict.said, seconds=failed.seconds, number=number, retry_after=verdict.delay,
        )  # fmt: skip

    def _error(self, failed: _Failed, attempts: tuple[Attempt, ...]) -> ModelError:
        verdict = failed.verdict
        where = f"HTTP {failed.status}" if failed.status is not None else failed.cause or "no answer"
        where += f", it said: {verdict.said}" if verdict.said else ""
        values: dict[str, Any] = {"body": failed.body} if is_unload(failed.body) else {}
        return ModelError(
            f"embedding model {self.name!r} at {self.host}: {verdict.reason or 'the call failed'} ({where})",
            model=self.name, cls=verdict.cls, status=failed.status, code=verdict.code, retry_after=verdict.delay,
            rule=verdict.rule, reason=verdict.reason, said=verdict.said, slow=verdict.slow, refused=verdict.refused,
            cause=failed.cause, attempts=attempts, **values,
        )  # fmt: skip

    def _diagnose(self, texts: Sequence[str], failed: _Failed) -> None:
        lengths = sorted(len(text) for text in texts)
        _log.warning(
            "embedding-provider call failed: status %s, class %s, %d inputs, types %s, lengths %d to %d, median %d",
            failed.status, failed.verdict.cls, len(texts), ",".join(sorted({type(text).__name__ for text in texts})),
            lengths[0], lengths[-1], lengths[len(lengths) // 2],
        )  # fmt: skip
        show = os.environ.get("MEMHOLD_DEBUG_CONTENT") == "1" if self.debug_content is None else self.debug_content
        if show:
            sample = _SECRET.sub("***", max(texts, key=len))[:_SAMPLE]
            sys.stderr.write(f"memhold: embedding input sample (MEMHOLD_DEBUG_CONTENT): {sample!r}\n")

    def _http(self) -> httpx2.AsyncClient:
        if self.client is None:
            # a proxy from the environment is not for this machine's own servers
            own = is_loopback(self.dialect.url)
            self.client = httpx2.AsyncClient(timeout=self.timeout, trust_env=not own, event_hooks=UNLOGGED)
        return self.client

    async def close(self) -> None:
        """Close the connections that it opened itself. Idempotent."""
        client, self.client = self.client, None if self._owns_client else self.client
        if self._owns_client and client is not None:
            await client.aclose()
