"""Memory of a pydantic-ai agent: `Agent(…, toolsets=[MemholdToolset(mem, user="alice")])`, and histories that last."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from memhold.context.convert import in_shape
from memhold.faces.python.open import AsyncMemhold
from memhold.faces.python.sync import SyncStore
from memhold.integrations.framework import lacking
from memhold.integrations.reach import Call, Reach
from memhold.integrations.record import Recorder, newest_messages
from memhold.integrations.sdk.api import Body, words
from memhold.integrations.turns import call_of, json_text, result_of
from memhold.values.answers import Hit, missing_sentences
from memhold.values.errors import InvalidInput, MemholdError
from memhold.values.origins import told_by
from memhold.values.records import Message
from memhold.verbs.scope import AsyncScope

try:
    from pydantic_ai.exceptions import ToolFailed
    from pydantic_ai.messages import (
        ModelMessage,
        ModelMessagesTypeAdapter,
        UserPromptPart,
        repair_messages,
    )
    from pydantic_ai.run import AgentRunResult
    from pydantic_ai.toolsets import FunctionToolset
except ImportError as error:
    raise lacking("memhold.integrations.pydantic_ai", "pydantic-ai-slim", "2.60", error) from error

__all__ = ["MemholdHistory", "MemholdToolset"]

_OURS = "pydantic_ai"
"""Where a message's metadata has what the chat shape of the journal does not hold."""
_ITEM = "pydantic_ai.message"
"""The type of an item that holds a message of which nothing was said: instructions, or a request to try again."""
_TALKING = frozenset({"user", "assistant", "tool"})
_RESULTS = frozenset({"tool-return", "retry-prompt"})
_SAID = frozenset({"user-prompt", "text"})
_AS_JSON: list[Any] = []
"""In place of words that are JSON of a value, and not a text."""
_NO_CALL: Body = {}
_UNKEPT = frozenset({"instructions"})
"""What a run sends anew by itself."""
_RECALL = """Look up what is known of the user from earlier conversations: facts, preferences, what was said.

Args:
    query: What you want to know, in plain words.
    limit: How many memories at most.
"""
_REMEMBER = """Keep something for later conversations: one fact, preference or decision that the user would want kept.

Args:
    text: What is to be kept, as one sentence that is understood without this conversation.
"""


T = TypeVar("T")


class MemholdToolset(FunctionToolset[Any]):
    """Two tools over an open store: `memhold_recall` and `memhold_remember`.

    What is recalled comes fenced as data, and is never learnt again as something new; what the model keeps is the
    agent's word, and not the user's. A store that is gone fails the tool and not the run: the model is told.
    """

    def __init__(
        self,
        store: SyncStore | AsyncMemhold,
        *,
        user: str | None = None,
        namespace: str = "default",
        agent: str | None = None,
        limit: int = 10,
        **toolset: Any,
    ) -> None:
        """Over `Memhold.open(…)`, or an `AsyncMemhold` on its loop.

        Args:
            store: The open store.
            user: Whose memory it is.
            namespace: Sets users apart from others of the same name.
            agent: Which agent of the user's.
            limit: How many memories a look-up gives, where the model does not say.
            toolset: What every `FunctionToolset` takes: `id`, `instructions`, `requires_approval`, ….
        """
        reach = Reach.within(
            store, user=user, namespace=namespace, agent=agent, actor=f"agent:{agent or 'pydantic-ai'}"
        )

        async def memhold_recall(query: str, limit: int = limit) -> str:
            return await _asked(reach, lambda scope: _recalled(scope, query, max(1, min(limit, 100))))

        async def memhold_remember(text: str) -> str:
            await _asked(reach, lambda scope: scope.remember(text))
            return "Kept."

        memhold_recall.__doc__, memhold_remember.__doc__ = _RECALL, _REMEMBER
        super().__init__([memhold_recall, memhold_remember], **toolset)


class MemholdHistory:
    """The history of one session, for `message_history`: it outlives the process, and memory reads its turns.

    What comes back equals what was added, but for instructions, which a run sends anew, and thoughts that a provider
    does not take back; messages that others recorded in the session stand among them. It is valid for a provider: a
    window begins with a user's prompt, a call whose run was broken off has a result that says so, and no result stands
    without its call. Recording raises nothing of Memhold's: what the store cannot take waits, is among the messages,
    and is written with the next call that finds the store.
    """

    def __init__(
        self,
        store: SyncStore | AsyncMemhold,
        *,
        session: str,
        user: str | None = None,
        namespace: str = "default",
        agent: str | None = None,
        most: int | None = None,
    ) -> None:
        """Over `Memhold.open(…)`, or an `AsyncMemhold` on its loop.

        Args:
            store: The open store.
            session: Which conversation of the user's.
            user: Whose memory it is.
            namespace: Sets users apart from others of the same name.
            agent: Which agent of the user's.
            most: At most so many of the journal's newest messages are given; without it all are.
        """
        self._recorder = Recorder(Reach.within(store, user=user, namespace=namespace, agent=agent, session=session))
        self._most = most
        self._known: set[str] = set()

    async def messages(self, *, keep_open: bool = False) -> list[ModelMessage]:
        """The messages, repaired; only what waits where the store is gone.

        Args:
            keep_open: Whether calls of the last response stay open, for a run that is resumed with their results.
        """
        await self._recorder.record([])
        return self._read(await self._recorder.look(self._newest, otherwise=()), keep_open=keep_open)

    def messages_sync(self, *, keep_open: bool = False) -> list[ModelMessage]:
        """`messages`, for code that is not async."""
        self._recorder.record_now([])
        return self._read(self._recorder.look_now(self._newest, otherwise=()), keep_open=keep_open)

    async def add(self, said: AgentRunResult[Any] | Sequence[ModelMessage]) -> None:
        """Append what is new of a run's result, or of messages; durable when it returns, unless the log says not.

        Messages that this history gave or was given before are not added again.
        """
        await self._recorder.record(self._new(said))

    def add_sync(self, said: AgentRunResult[Any] | Sequence[ModelMessage]) -> None:
        """`add`, for code that is not async."""
        self._recorder.record_now(self._new(said))

    async def _newest(self, scope: AsyncScope) -> Sequence[Message]:
        return await newest_messages(scope, self._most)

    def _read(self, held: Sequence[Message], *, keep_open: bool) -> list[ModelMessage]:
        said = [(one.body, one.metadata) for one in held]
        said += [(one, one.get("metadata") or {}) for one in self._recorder.waiting]
        found = ModelMessagesTypeAdapter.validate_python(_joined(said))
        self._known |= {_name(one) for one in _plain(found)}
        if self._most is not None:
            starts = (at for at, one in enumerate(found) if any(isinstance(part, UserPromptPart) for part in one.parts))
            found = found[next(starts, len(found)) :] if len(held) >= self._most else found
        return repair_messages(found, repair_last_response=not keep_open)

    def _new(self, said: AgentRunResult[Any] | Sequence[ModelMessage]) -> list[Body]:
        messages = said.new_messages() if isinstance(said, AgentRunResult) else said
        fresh = [one for one in _plain(messages) if _name(one) not in self._known]
        self._known |= {_name(one) for one in fresh}
        return [body for one in fresh for body in _kept(one)]


async def _asked(reach: Reach, call: Call[T]) -> T:
    try:
        return await reach.ask(call)
    except InvalidInput as error:
        raise ToolFailed(f"memory refused that: {error}") from error
    except MemholdError as error:
        raise ToolFailed(f"memory is not there now ({type(error).__name__}); go on without it") from error


async def _recalled(scope: AsyncScope, query: str, limit: int) -> str:
    found = await scope.recall(query, limit=limit)
    blind = "".join(f"{one}\n" for one in missing_sentences(found.degraded, found.damaged))
    if not found.hits:
        return f"{blind}Nothing is known of that."
    return blind + await scope.fence([hit.id for hit in found.hits], [_line(hit) for hit in found.hits])


def _line(hit: Hit) -> str:
    by = told_by(hit) or (f"noted by the {hit.origin}" if hit.origin != "user" else hit.kind)
    old = ", no longer so" if hit.superseded_by or hit.outdated else ""
    return f"- {by}, {hit.event_time:%Y-%m-%d}{old}: {hit.text}"


# ------------------------------------------------------------------------- the framework's messages as the journal's

Part = dict[str, Any]


def _plain(messages: Sequence[ModelMessage]) -> list[dict[str, Any]]:
    """Messages as JSON, without what a run sends anew."""
    told: list[dict[str, Any]] = ModelMessagesTypeAdapter.dump_python(list(messages), mode="json", exclude_none=True)
    return [{name: value for name, value in one.items() if name not in _UNKEPT} for one in told]


def _name(message: Body) -> str:
    """What tells a message from any other: its times and run are its own."""
    parts = [part for part in message["parts"] if part["part_kind"] != "thinking"]
    said = {name: message.get(name) for name in ("kind", "timestamp", "run_id")}
    return json.dumps([said, parts], sort_keys=True, default=str)


def _kept(message: Body) -> Iterator[Body]:
    """A message as the journal keeps it, in one or several; the first has what is true of the whole."""
    whole = {name: value for name, value in message.items() if name != "parts"}
    bodies = _bodies(message)
    if not bodies:
        yield {"type": _ITEM, "message": dict(message)}
    for number, (body, parts) in enumerate(bodies):
        told = {"parts": parts, **({} if number else {"message": whole})}
        yield {**body, "metadata": {_OURS: told}}


def _bodies(message: Body) -> list[tuple[Body, list[Part]]]:
    """Each result by itself, then what is said with its calls; each with its parts, whose words stand in the body."""
    found: list[tuple[Body, list[Part]]] = []
    rest: list[Part] = []
    texts: list[str] = []
    calls: list[Part] = []
    for part in message["parts"]:
        kind = part["part_kind"]
        if kind == "thinking" and not part.get("signature"):  # a provider takes it back with its signature only
            continue
        if kind in _RESULTS and part.get("tool_name"):
            found.append((result_of(part.get("tool_call_id"), json_text(part["content"])), [_bare(part)]))
            continue
        rest.append(_bare(part))
        if kind == "tool-call":
            calls.append(call_of(part["tool_call_id"], part["tool_name"], part.get("args") or {}))
        elif kind in _SAID:
            texts += map(_text, _listed(part["content"]))
    said: list[Part] = [{"type": "text", "text": text} for text in texts]
    content = texts[0] if len(texts) == 1 else said or None
    if content or calls:
        role = "user" if message["kind"] == "request" else "assistant"
        found.append(({"role": role, "content": content, **({"tool_calls": calls} if calls else {})}, rest))
    elif found:
        found[-1][1].extend(rest)
    return found


def _listed(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [content]


def _text(content: Any) -> str:
    return content if isinstance(content, str) else f"[{content.get('kind', 'file')}]"


def _bare(part: Part) -> Part:
    """A part without the words that stand in the body: what is erased there must not live on here."""
    match part["part_kind"]:
        case "tool-return":
            return {**part, "content": None if isinstance(part["content"], str) else _AS_JSON}
        case "tool-call":
            return {**part, "args": _AS_JSON if isinstance(part.get("args"), dict) else None}
        case "user-prompt" | "text":
            bare = [None if isinstance(one, str) else one for one in _listed(part["content"])]
            return {**part, "content": bare if isinstance(part["content"], list) else None}
        case _:
            return part


# ------------------------------------------------------------------------- and back


def _joined(said: Sequence[tuple[Body, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Messages of the journal as the framework's, in JSON; what was one is one again."""
    found: list[dict[str, Any]] = []
    names: dict[str, str] = {}
    for body, metadata in said:
        told = metadata.get(_OURS) or {}
        if body.get("type") == _ITEM:
            found.append(body["message"])
        elif told and "message" not in told and found:
            found[-1]["parts"] += _parts(body, told["parts"])
        elif told:
            found.append({**(told.get("message") or _kind_of(body)), "parts": _parts(body, told["parts"])})
        else:  # others recorded it
            found += [_foreign(one, names) for one in in_shape(body, "openai") if one.get("role") in _TALKING]
    return [one for one in found if one["parts"]]


def _parts(body: Body, bare: Sequence[Part]) -> list[Part]:
    """The parts of one body, with their words."""
    given = body.get("content")
    texts = iter([given] if isinstance(given, str) else [one.get("text") or "" for one in given or ()])
    calls = iter(body.get("tool_calls") or ())
    found: list[Part] = []
    for part in bare:
        match part["part_kind"]:
            case "tool-return":
                found.append({**part, "content": _whole(part["content"], next(texts, ""))})
            case "tool-call":
                asked = next(calls, _NO_CALL).get("function") or {}
                found.append({**part, "args": _whole(part["args"], asked.get("arguments") or "{}")})
            case "user-prompt" | "text":
                filled = [_filled(one, next(texts, "")) for one in _listed(part["content"])]
                found.append({**part, "content": filled if isinstance(part["content"], list) else filled[0]})
            case _:
                found.append(part)
    return found


def _filled(bare: Any, text: str) -> Any:
    return text if bare is None else bare


def _whole(bare: Any, text: str) -> Any:
    """The value that a text was written from; a text that was changed since is no JSON any more."""
    if bare is None:
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _kind_of(body: Body) -> dict[str, Any]:
    return {"kind": "response" if body.get("role") == "assistant" else "request"}


def _foreign(body: Body, names: dict[str, str]) -> dict[str, Any]:
    """A message that others recorded; `names` are the calls seen so far."""
    text = words(body.get("content"))
    if body["role"] == "tool":
        ident = body["tool_call_id"]
        part = {"part_kind": "tool-return", "tool_call_id": ident, "tool_name": names.get(ident, "unnamed")}
        return _kind_of(body) | {"parts": [{**part, "content": text}]}
    if body["role"] == "user":
        return _kind_of(body) | {"parts": [{"part_kind": "user-prompt", "content": text}]}
    parts: list[Part] = [{"part_kind": "text", "content": text}] if text else []
    for call in body.get("tool_calls") or ():
        asked = call.get("function") or call.get("custom") or {}
        names[call["id"]] = asked.get("name") or "unnamed"
        args = asked.get("arguments", asked.get("input")) or "{}"
        parts.append(
            {"part_kind": "tool-call", "tool_call_id": call["id"], "tool_name": names[call["id"]], "args": args}
        )
    return _kind_of(body) | {"parts": parts}
