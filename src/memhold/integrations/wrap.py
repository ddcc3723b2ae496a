"""`memhold.wrap`: a client of the openai or anthropic SDK that remembers. The program that uses it stays as it is.

What is wrapped is the one method through which an SDK posts all that it asks (`post`, which both document), so that
`create`, `parse`, `stream` and the tool runner, sync and async, are one case. What stands in a request and in an answer
is read from plain JSON (`memhold.integrations.sdk`); no SDK is imported here.
"""

from __future__ import annotations

import logging
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from inspect import isawaitable
from types import ModuleType
from typing import Any, TypeVar, cast

from memhold.faces.python.sync import SyncScope
from memhold.integrations.reach import Reach
from memhold.integrations.sdk.anthropic_messages import Messages
from memhold.integrations.sdk.api import API, Gathering, Known, Request
from memhold.integrations.sdk.conversation import Conversation
from memhold.integrations.sdk.openai_chat import ChatCompletions
from memhold.integrations.sdk.openai_responses import Responses
from memhold.values.errors import InvalidInput
from memhold.verbs.scope import AsyncScope

__all__ = ["BUDGET", "Remembering", "remembering", "wrap"]

ClientT = TypeVar("ClientT")
T = TypeVar("T")
_log = logging.getLogger("memhold.integrations")

BUDGET = 4_000
"""Tokens that memory may add to a request, where nobody says another number."""
_APIS: Mapping[str, tuple[API, ...]] = {"openai": (ChatCompletions(), Responses()), "anthropic": (Messages(),)}
_RAW = frozenset({"aiohttp", "httpcore", "httpx", "httpx2", "niquests", "requests", "urllib", "urllib3"})
_NOTHING = Known()
_RAW_HEADER = "x-stainless-raw-response"


def wrap(client: ClientT, scope: SyncScope | AsyncScope, *, budget: int = BUDGET) -> ClientT:
    """A client like the one given, of the same class, which remembers; the one given stays as it is.

    Each request through it to chat completions, responses (openai) or messages (anthropic) is answered with what memory
    knows, and is kept with its reply, in the scope's session: what the user says and a tool returns before the model is
    asked, the reply once it is there, with its calls. Of a stream that is broken off, what came is kept, and marked in
    the message's metadata (`interrupted`). When the call returns, or the stream ends, the turn is durable. A history
    that is sent again with each request is kept once. The application's own instructions are sent and not kept.

    What the program sends reaches the model unchanged; memory stands beside it. Where memory is gone or takes more than
    5 seconds, the request goes on without it: the log (`memhold.integrations`) says so, `remembering(client)` says what
    was missing, and what could not be kept waits in the process and is kept with a later call.

    Args:
        client: `OpenAI`, `AsyncOpenAI`, `Anthropic` or `AsyncAnthropic`, or a class of theirs for another host.
        scope: Whose memory, and which session: `mem.scope(user="alice", session="s1")`. For a client that is not async
            the store must be opened with `Memhold.open`.
        budget: Tokens that memory may add to a request.

    Raises:
        InvalidInput: it is no client of these SDKs (for a raw HTTP client the message says what to do instead), the
            scope is an `AsyncMemhold`'s and the client is not async, or the budget is under 100.
    """
    apis, waits = _kind_of(client)
    if budget < 100:
        raise InvalidInput(f"budget is {budget!r:.20}; pass a number of tokens from 100 on")
    if not waits and not isinstance(scope, SyncScope):
        raise InvalidInput(
            f"{type(client).__name__} is not async, so that it cannot wait for an AsyncMemhold; "
            "open the store with Memhold.open, or take the async client"
        )
    return cast("ClientT", _wrapped(client, _Memory(apis, waits, Conversation(Reach(scope), budget=budget))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembering:
    """How a wrapped client's memory fares: what its last request had to do without, and how many messages wait.

    `degraded` names `add` (the turn is not durable yet), `context` (nothing was brought), or the slots of the context
    that could not be asked. `waiting` messages are kept with a later call; until then they are in this process only.
    """

    degraded: tuple[str, ...]
    waiting: int


def remembering(client: object) -> Remembering:
    """How the memory of a wrapped client fares.

    Raises:
        InvalidInput: the client was not wrapped.
    """
    memory = vars(client).get("_memhold") if hasattr(client, "__dict__") else None
    if not isinstance(memory, _Memory):
        raise InvalidInput(f"this {type(client).__name__} was not wrapped; use the client that memhold.wrap returned")
    return Remembering(degraded=memory.conversation.degraded, waiting=memory.conversation.waiting)


def _kind_of(client: object) -> tuple[Sequence[API], bool]:
    """Which APIs a client posts to, and whether it is async."""
    for one in type(client).__mro__:
        root, _, rest = one.__module__.partition(".")
        if root in _APIS and rest == "_base_client" and one.__name__ in {"SyncAPIClient", "AsyncAPIClient"}:
            return _APIS[root], one.__name__ == "AsyncAPIClient"
    if isinstance(client, type):
        raise InvalidInput(f"{client.__name__} is a class; pass a client: memhold.wrap({client.__name__}(), scope)")
    home = client.__name__ if isinstance(client, ModuleType) else type(client).__module__
    name = f"the module {home}" if isinstance(client, ModuleType) else type(client).__name__
    if home.partition(".")[0] in _RAW:
        raise InvalidInput(
            f"{name} sends requests whose meaning memhold.wrap does not know. Take the openai or anthropic SDK with "
            "your URL (OpenAI(base_url=…)); or call scope.context(messages) before a request, send its messages, and "
            "call scope.add([...]) with the user's message and the reply after it"
        )
    raise InvalidInput(
        f"{name} is no client that memhold.wrap knows; pass OpenAI(), AsyncOpenAI(), Anthropic() or AsyncAnthropic(). "
        "For anything else call scope.context(messages) before a request and scope.add([...]) after it"
    )


@dataclass(frozen=True, slots=True)
class _Memory:
    apis: Sequence[API]
    waits: bool
    conversation: Conversation

    def asked(self, path: str, body: Any) -> Request | None:
        """The request, read; None where it goes to another API, or cannot be read."""
        api = next((one for one in self.apis if path.partition("?")[0] == one.path), None)
        return None if api is None else _guarded(lambda: Request.of(api, _plain(body)), None)


def _wrapped(client: Any, memory: _Memory) -> Any:
    """A copy of the client that posts through memory, as do its own copies."""
    fresh = type(client).copy(client)
    fresh.post = _posting_async(fresh.post, memory) if memory.waits else _posting(fresh.post, memory)

    def copied(*args: Any, **options: Any) -> Any:
        return _wrapped(type(fresh).copy(fresh, *args, **options), memory)

    fresh.copy = fresh.with_options = copied
    fresh._memhold = memory  # noqa: SLF001 - found again by `remembering`
    return fresh


Post = Callable[..., Any]


def _posting(post: Post, memory: _Memory) -> Post:
    talk = memory.conversation

    def posted(path: str, *, body: Any = None, **options: Any) -> Any:
        asked = memory.asked(path, body)
        if asked is None:
            return post(path, body=body, **options)
        known = _guarded(lambda: talk.before_now(asked), _NOTHING)
        answer = post(path, body=asked.knowing(known) or body, **options)
        watched = _guarded(_raw(answer, options), None)
        if hasattr(watched, "__stream__"):
            came = asked.api.gathering()
            kept = partial(_guarded, lambda: talk.after_now(asked, came.reply()), None)
            seen = watched._iterator = _seen(_events(watched), came, kept)  # noqa: SLF001 - where an SDK's stream reads
            watched.close = _closing(watched, seen)
        else:
            _guarded(lambda: talk.after_now(asked, asked.api.reply(_plain(watched))), None)
        return answer

    return posted


def _posting_async(post: Post, memory: _Memory) -> Post:
    talk = memory.conversation

    async def posted(path: str, *, body: Any = None, **options: Any) -> Any:
        asked = memory.asked(path, body)
        if asked is None:
            return await post(path, body=body, **options)
        known = await _guarded_async(lambda: talk.before(asked), _NOTHING)
        answer = await post(path, body=asked.knowing(known) or body, **options)
        watched = _guarded(_raw(answer, options), None)
        if isawaitable(watched):
            watched = await watched
        if hasattr(watched, "__stream__"):
            came = asked.api.gathering()
            kept = partial(_guarded_async, lambda: talk.after(asked, came.reply()), None)
            seen = watched._iterator = _seen_async(_events(watched), came, kept)  # noqa: SLF001 - where an SDK's stream reads
            watched.close = _closing_async(watched, seen)
        else:
            await _guarded_async(lambda: talk.after(asked, asked.api.reply(_plain(watched))), None)
        return answer

    return posted


def _raw(answer: Any, options: Mapping[str, Any]) -> Callable[[], Any]:
    """How an answer is read: as the SDK has read it, or, where it was asked for raw, as it would read it."""
    headers = (options.get("options") or {}).get("headers") or {}
    how = next((value for name, value in headers.items() if name.lower() == _RAW_HEADER), None)
    if how is None:
        return lambda: answer
    if how == "stream":
        _log.warning("the reply to a request through with_streaming_response is not kept; use stream=True")
        return lambda: None
    return cast("Callable[[], Any]", answer.parse)


def _seen(events: Iterator[Any], came: Gathering, ended: Callable[[], None]) -> Iterator[Any]:
    """The events of a stream as they come; what came is kept when it ends, however it ends."""
    try:
        for event in events:
            _guarded(lambda: came.take(_plain(event)), None)  # noqa: B023 - called at once
            yield event
    finally:
        ended()


async def _seen_async(
    events: AsyncIterator[Any], came: Gathering, ended: Callable[[], Awaitable[None]]
) -> AsyncIterator[Any]:
    try:
        async for event in events:
            _guarded(lambda: came.take(_plain(event)), None)  # noqa: B023 - called at once
            yield event
    finally:
        await ended()


def _closing(stream: Any, seen: Any) -> Callable[[], None]:
    """How a stream is closed: what came is kept first. It does not hold the stream, which may be dropped unclosed."""
    held = weakref.ref(stream)

    def close() -> None:
        seen.close()
        if (one := held()) is not None:
            type(one).close(one)

    return close


def _closing_async(stream: Any, seen: Any) -> Callable[[], Awaitable[None]]:
    held = weakref.ref(stream)

    async def close() -> None:
        await seen.aclose()
        if (one := held()) is not None:
            await type(one).close(one)

    return close


def _events(stream: Any) -> Any:
    """A stream's events, from a copy of it: one that held the stream would keep a dropped one from being closed."""
    apart = copy(stream)
    vars(apart).pop("_iterator", None)
    return apart.__stream__()


def _plain(said: Any) -> Any:
    """What the SDK posts or has read as plain JSON, as it writes it: a program may post what it was answered."""
    if hasattr(said, "model_dump"):
        return said.model_dump(mode="json", exclude_unset=True, by_alias=True, warnings=False)
    if isinstance(said, Mapping):
        return {name: _plain(value) for name, value in said.items()}
    return [_plain(one) for one in said] if isinstance(said, list | tuple) else said


def _guarded(work: Callable[[], T], otherwise: T) -> T:
    """What the work gives: a request or reply of a form that nobody here knows ends no call of the user's."""
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - the edge: whatever an SDK hands over
        return _told(error, otherwise)


async def _guarded_async(work: Callable[[], Awaitable[T]], otherwise: T) -> T:
    try:
        return await work()
    except Exception as error:  # noqa: BLE001 - the edge: whatever an SDK hands over
        return _told(error, otherwise)


def _told(error: Exception, otherwise: T) -> T:
    _log.warning("memory could not read what the SDK posted or was answered: %s", type(error).__name__)
    return otherwise
