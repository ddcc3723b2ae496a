"""One request to one link and its answer as events: the connection, the status, and every way in which it can break."""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, NoReturn

import httpx2

from memhold.ports.models import ChatReply
from memhold.ports.stores import Clock
from memhold.providers.body import Endless, Garbled, beginning, lines, whole
from memhold.providers.chat.bare import KeySource
from memhold.providers.entry import Entry, origin_of
from memhold.providers.failures.classify import LOOK, NO_KEY, STOPPED, Verdict, classify, late
from memhold.providers.failures.errors import model_error
from memhold.providers.failures.sample import show_sample
from memhold.providers.unlogged import UNLOGGED
from memhold.values.errors import ModelError

__all__ = ["Event", "Wire", "unforced"]

_CONNECT_SECONDS: Final = 10.0
_ENDLESS: Final = Verdict(cls="resample", reason=f"the answer does not end; {LOOK}", code="endless", rule="endless")
_GARBLED: Final = Verdict(cls="resample", reason=f"the answer is no UTF-8; {LOOK}", code="garbled", rule="garbled")
_CIRCLES: Final = Verdict(cls="next", reason="the reply repeats itself", code="repeats", rule="repeats")
_CUT: Final = Verdict(
    cls="resample",
    reason=STOPPED,
    code="cut_stream",
    rule="cut-stream",
)


@dataclass(frozen=True, slots=True)
class Event:
    """One JSON value of an answer: an event of a stream, a line of one, or the whole body (`whole`)."""

    value: Mapping[str, Any]
    whole: bool = False


@cache
def _trust() -> ssl.SSLContext:
    """One TLS context for every link: making one costs 20 ms and more."""
    return httpx2.create_ssl_context()


class Wire:
    """The connection of one link. It has its own client, so no cookie, header or key reaches another link."""

    def __init__(self, entry: Entry, *, keys: KeySource, clock: Clock | None = None) -> None:
        self.entry = entry
        self._keys = keys
        self._clock = clock
        self._client: httpx2.AsyncClient | None = None

    def key(self) -> str | None:
        """The link's key, or None where the entry names no variable.

        Raises:
            ModelError: of class `auth`, with the variable's name: it is named and not set.
        """
        if self.entry.api_key_env is None:
            return None
        value = self._keys(self.entry.api_key_env)
        if not value:
            reason = f"the variable {self.entry.api_key_env} is not set"
            verdict = Verdict(cls="auth", code=NO_KEY, reason=reason, rule="no-key")
            raise model_error(self.entry.name, verdict, key_variable=self.entry.api_key_env)
        value = value.strip()  # a key read from a file often brings the end of its line along
        if not value.isascii() or not value.isprintable():
            reason = "the key holds characters that no header takes"
            verdict = Verdict(cls="auth", code="bad_key", reason=reason, rule="bad-key")
            raise model_error(self.entry.name, verdict, key_variable=self.entry.api_key_env)
        return value

    async def close(self) -> None:
        """Let go of the connections. Idempotent; a later call opens them again."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def get(self, url: str, headers: Mapping[str, str]) -> Any:
        """The JSON value at a URL.

        Raises:
            ModelError: it could not be had.
        """
        async with self._request("GET", url, headers, None) as response:
            return self._whole(response, await whole(response))

    async def events(
        self, url: str, headers: Mapping[str, str], body: Mapping[str, Any], *, framing: str = "sse"
    ) -> AsyncGenerator[Event, None]:
        """The values of the answer in order; a server that does not stream gives one, marked `whole`.

        Raises:
            ModelError: the request failed, or an error came in place of an event; what came before is worth nothing.
        """
        async with self._request("POST", url, headers, body) as response:
            kind = response.headers.get("content-type", "")
            if "event-stream" not in kind and framing == "sse":
                yield Event(self._whole(response, await whole(response)), whole=True)
                return
            try:
                begun = framing == "sse"
                async for text, failed in _frames(response, framing):
                    yield Event(self._event(text, begun=begun, failed=failed))
                    begun = True
            except httpx2.HTTPError as error:
                self._broken(error, begun=True)

    def fail(self, verdict: Verdict, status: int | None = 200) -> NoReturn:
        """Raise the link's error for a verdict."""
        raise model_error(self.entry.name, verdict, status=status, key_variable=self.entry.api_key_env)

    def cut(self) -> NoReturn:
        """Raise for a stream that ended early: the partial answer is discarded."""
        self.fail(_CUT)

    def end_circles(self) -> NoReturn:
        """Raise for a reply that repeats itself: what would still come is more of the same, and is paid for."""
        self.fail(_CIRCLES)

    def begun(self, reply: ChatReply, *, circles: bool) -> ChatReply:
        """A reply, unless nothing of an answer came before it went in circles, as where a model thinks so."""
        if circles and not reply.text and not reply.tool_calls:
            self.end_circles()
        return reply

    def refuse(self, body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> NoReturn:
        """Raise what a body says, such as a reply of success that carries an error."""
        now = self._clock.now() if self._clock is not None else None
        show_sample(f"{self.entry.name} answered {status}", body if isinstance(body, str) else "", os.environ)
        self.fail(classify("chat", status, headers, body, now=now), status)

    @asynccontextmanager
    async def _request(
        self, method: str, url: str, headers: Mapping[str, str], body: Mapping[str, Any] | None
    ) -> AsyncIterator[httpx2.Response]:
        if self._client is None:
            deadline = self.entry.deadline
            timeout = httpx2.Timeout(deadline, connect=min(_CONNECT_SECONDS, deadline), pool=None)
            # A proxy from the environment is not for the servers of this machine.
            proxied = not self.entry.served_locally
            self._client = httpx2.AsyncClient(
                verify=_trust(), timeout=timeout, follow_redirects=False, trust_env=proxied, event_hooks=UNLOGGED
            )
        begun = False
        try:
            async with self._client.stream(
                method, url, headers={**headers, **self.entry.headers}, json=body
            ) as response:
                if response.status_code != httpx2.codes.OK:
                    self.refuse(await beginning(response), response.status_code, response.headers)
                begun = True
                yield response
        except Endless:
            self.fail(_ENDLESS)
        except Garbled:
            self.fail(_GARBLED)
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, UnicodeError) as error:
            self._broken(error, begun=begun)

    def _broken(self, error: Exception, *, begun: bool) -> NoReturn:
        """Raise for what the transport raised; `begun`: the server had said that all is well, and was answering."""
        # Not `from error`: the client's texts quote headers, and a header holds the key.
        if begun and not isinstance(error, httpx2.TimeoutException):
            raise model_error(self.entry.name, _CUT, status=200, cause=type(error).__name__) from None
        verdict = classify("chat", None, None, None, error)
        if isinstance(error, httpx2.ReadTimeout):
            verdict = late(self.entry.deadline)
        if isinstance(error, httpx2.ConnectError):
            verdict = replace(verdict, reason=f"no server answers at {origin_of(self.entry.base_url)}")
        raise model_error(self.entry.name, verdict, cause=type(error).__name__) from None

    def _whole(self, response: httpx2.Response, text: str) -> Mapping[str, Any]:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            self.refuse(text, 200, response.headers)
        if not isinstance(value, dict) or _failed(value):
            self.refuse(text, 200, response.headers)
        return value

    def _event(self, text: str, *, begun: bool, failed: bool) -> Mapping[str, Any]:
        """An event's value. An error in the first line of JSON lines is an answer, not the end of one."""
        stream = {"content-type": "text/event-stream"}
        event = "event: error\ndata: " + text.replace("\n", "\ndata: ") + "\n\n"
        if failed:
            self.refuse(event, 200, stream)
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            self.cut()
        if not isinstance(value, dict):
            self.cut()
        if _failed(value):
            self.refuse(event if begun else text, 200, stream if begun else None)
        return value


def _failed(value: Mapping[str, Any]) -> bool:
    return bool(value.get("error")) or value.get("type") == "error" or value.get("object") == "error"


async def _frames(response: httpx2.Response, framing: str) -> AsyncIterator[tuple[str, bool]]:
    """The data of each event (the HTML standard, section 9.2), or each line of JSON lines; and whether an error's."""
    data: list[str] = []
    failed = False
    async for line in lines(response):
        if framing == "lines":
            if line.strip():
                yield line, False
        elif not line:
            if data and (text := "\n".join(data)) != "[DONE]":
                yield text, failed
            data, failed = [], False
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif line.startswith("event:"):
            failed = line[6:].strip() == "error"
    if data and (text := "\n".join(data)) != "[DONE]":
        yield text, failed


def unforced(error: ModelError) -> bool:
    """Whether a link answered that it does not take a forced tool choice."""
    return error.rule == "tool-choice"
