"""Memory of Microsoft's Agent Framework: `Agent(…, context_providers=[MemholdHistoryProvider(mem, user="alice")])`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from memhold.context.convert import in_shape
from memhold.faces.python.open import AsyncMemhold
from memhold.faces.python.sync import SyncStore
from memhold.integrations.framework import lacking
from memhold.integrations.reach import Reach
from memhold.integrations.record import Recorder, newest_messages
from memhold.integrations.sdk.api import Body, words
from memhold.integrations.sdk.conversation import Conversation
from memhold.integrations.turns import call_of, result_of
from memhold.integrations.wrap import BUDGET
from memhold.values.records import Message as Kept

try:
    from agent_framework import Content, ContextProvider, HistoryProvider, InMemoryHistoryProvider, Message
except ImportError as error:
    raise lacking("memhold.integrations.agent_framework", "agent-framework-core", "1.23", error) from error

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_framework import AgentSession, SessionContext, SupportsAgentRun

__all__ = ["MemholdContextProvider", "MemholdHistoryProvider"]

_OURS = "agent_framework"
"""Where a message's metadata has what the chat shape of the journal does not hold."""
_ITEM = "agent_framework.message"
"""The type of an item that holds a message as it is: instructions, and a message without contents."""
_TALKING = frozenset({"user", "assistant", "tool"})
_NO_RESULT = "[no result: the run was broken off]"
_MOST_SESSIONS = 1_000

T = TypeVar("T")


class _Sessions(Generic[T]):
    """What is held of each session in this process; at a thousand, those go for which nothing waits."""

    def __init__(self, make: Callable[[str | None], T], waits: Callable[[T], object]) -> None:
        self._make, self._waits = make, waits
        self._held: dict[str | None, T] = {}

    def of(self, session: str | None) -> T:
        """The one of this session."""
        if session not in self._held:
            if len(self._held) >= _MOST_SESSIONS:
                self._held = {name: one for name, one in self._held.items() if self._waits(one)}
            self._held[session] = self._make(session)
        return self._held[session]


class MemholdHistoryProvider(HistoryProvider):
    """A `HistoryProvider` over an open store: a session of the framework's is a session of the user's.

    What comes back equals what was saved, but for thoughts that a provider does not take back; messages that others
    recorded in the session stand among them. What is loaded for a run is valid for a provider: a call whose run was
    broken off has a result that says so, and no result stands without its call. Recording never ends a run: what the
    store cannot take waits, is among what is loaded, and is written with the next call for its session that finds the
    store.
    """

    def __init__(
        self,
        store: SyncStore | AsyncMemhold,
        *,
        user: str | None = None,
        namespace: str = "default",
        agent: str | None = None,
        most: int | None = None,
        source_id: str = "memhold_history",
        **options: Any,
    ) -> None:
        """Over `Memhold.open(…)`, or an `AsyncMemhold` on its loop.

        Args:
            store: The open store.
            user: Whose memory it is.
            namespace: Sets users apart from others of the same name.
            agent: Which agent of the user's.
            most: So many of the newest messages are loaded; without it all are.
            source_id: What the framework calls this provider.
            options: What every history provider takes: `load_messages`, `store_inputs`, `store_outputs`, ….
        """
        super().__init__(source_id, **options)
        self._most = most

        def recorder(session: str | None) -> Recorder:
            return Recorder(Reach.within(store, user=user, namespace=namespace, agent=agent, session=session))

        self._sessions = _Sessions(recorder, lambda one: one.waiting)

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[Message]:
        """The messages of a session in their order; only what waits where the store is gone."""
        del state, kwargs
        recorder = self._sessions.of(session_id)
        await recorder.record([])
        none: Sequence[Kept] = ()
        held = await recorder.look(lambda scope: newest_messages(scope, self._most), otherwise=none)
        said = [(one.body, one.metadata) for one in held]
        waiting = [(one, one.get("metadata") or {}) for one in recorder.waiting]
        found = _joined([*said, *waiting])
        return found if self._most is None else found[-self._most :]

    async def save_messages(
        self, session_id: str | None, messages: Sequence[Message], *, state: dict[str, Any] | None = None, **kwargs: Any
    ) -> None:
        """Append messages; durable when it returns, but where the log says that memory is not there."""
        del state, kwargs
        await self._sessions.of(session_id).record([body for one in messages for body in _kept(one)])

    async def before_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Load the session, with calls and results in pairs."""
        await super().before_run(agent=agent, session=session, context=context, state=state)
        if loaded := context.context_messages.get(self.source_id):
            context.context_messages[self.source_id] = _paired(loaded, context.input_messages)


class MemholdContextProvider(ContextProvider):
    """A `ContextProvider` over an open store: what is known of the user beside the conversation, of all sessions.

    What the user told and wants stands in the instructions, all else fenced as data in messages of the user's. The
    conversation is recorded too, each message once, calls with their results, unless a `MemholdHistoryProvider` of the
    same agent does that. Neither ends a run: what could not be written waits, and is written with the next call for its
    session that finds the store; what could not be read is left out.
    """

    def __init__(
        self,
        store: SyncStore | AsyncMemhold,
        *,
        user: str | None = None,
        namespace: str = "default",
        agent: str | None = None,
        budget: int = BUDGET,
        source_id: str = "memhold",
    ) -> None:
        """Over `Memhold.open(…)`, or an `AsyncMemhold` on its loop.

        Args:
            store: The open store.
            user: Whose memory it is.
            namespace: Sets users apart from others of the same name.
            agent: Which agent of the user's.
            budget: Tokens that memory may add to a run.
            source_id: What the framework calls this provider.
        """
        super().__init__(source_id)

        def conversation(session: str | None) -> Conversation:
            reach = Reach.within(store, user=user, namespace=namespace, agent=agent, session=session)
            return Conversation(reach, budget=budget)

        self._sessions = _Sessions(conversation, lambda one: one.waiting)

    async def before_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Record what the user says now, and bring what is known."""
        del state
        said = _said([*_history(agent, session, context), *context.input_messages])
        context.metadata[self.source_id] = said  # behind the run the history has the run in it
        conversation = self._sessions.of(context.session_id)
        tell = conversation.known if _has_history(agent) else conversation.beside
        known = await tell(said, model=_model(agent, context))
        if known.standing:
            context.extend_instructions(self.source_id, known.standing)
        if data := (*known.noted, *known.recalled):
            context.extend_messages(self, [Message("user", ["\n\n".join(data)])])

    async def after_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Record what the agent did and said."""
        del session, state
        if not _has_history(agent) and context.response is not None:
            before = context.metadata.get(self.source_id) or _said(context.input_messages)
            await self._sessions.of(context.session_id).keep([*before, *_said(context.response.messages)])


def _providers(agent: SupportsAgentRun) -> Sequence[ContextProvider]:
    return getattr(agent, "context_providers", None) or ()


def _model(agent: SupportsAgentRun, context: SessionContext) -> str | None:
    """The model of a run: what the run names, else the agent, else its client."""
    options = (context.options, getattr(agent, "default_options", None) or {})
    named = next((one["model"] for one in options if one.get("model")), None)
    found = named or getattr(getattr(agent, "client", None), "model", None)
    return found if isinstance(found, str) else None


def _has_history(agent: SupportsAgentRun) -> bool:
    return any(isinstance(one, MemholdHistoryProvider) for one in _providers(agent))


def _history(agent: SupportsAgentRun, session: AgentSession, context: SessionContext) -> Sequence[Message]:
    """The session's earlier turns that the framework sends: loaded before us, or by its own provider behind us."""
    loading = {one.source_id for one in _providers(agent) if isinstance(one, HistoryProvider)}
    behind = session.state.get(InMemoryHistoryProvider.DEFAULT_SOURCE_ID) or {}
    loaded: Sequence[Message] = context.get_messages(sources=loading)
    return loaded or list(behind.get("messages", ()))


# ----------------------------------------------------------------------- the framework's messages as the journal's


def _said(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """A conversation as messages of the OpenAI chat shape, without instructions."""
    return [body for one in messages if one.role in _TALKING for body, _ in _plain(one)]


def _kept(message: Message) -> Iterator[Mapping[str, Any]]:
    """A message as the journal keeps it, in one or several; the first has what is true of the whole."""
    whole = message.to_dict()
    contents = whole.pop("contents", None) or []
    talking = message.role in _TALKING
    plain = _plain(message) if talking else []
    if not plain:
        yield {"type": _ITEM, "message": {**whole, "contents": [*map(_bare, contents)] if talking else contents}}
        return
    for number, (body, places) in enumerate(plain):
        told = {"contents": [_bare(contents[place]) for place in places], **({} if number else {"message": whole})}
        yield {**body, "metadata": {_OURS: told}}


def _plain(message: Message) -> list[tuple[dict[str, Any], list[int]]]:
    """The bodies of a message with the places of the contents in each: what is said with its calls, and each result."""
    parts: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    places: list[int] = []
    results: list[tuple[dict[str, Any], list[int]]] = []
    for place, content in enumerate(message.contents):
        if content.type == "function_result":
            results.append((result_of(content.call_id, content.result or ""), [place]))
            continue
        places.append(place)
        if content.type == "function_call":
            calls.append(call_of(content.call_id, content.name, content.arguments or {}))
        elif content.type != "text_reasoning":  # thoughts are the model's own
            text = content.text or "" if content.type == "text" else f"[{content.media_type or content.type}]"
            parts.append({"type": "text", "text": text})
    if not parts and not calls:
        return results
    role = "assistant" if calls or message.role == "tool" else message.role
    said: dict[str, Any] = {"role": role, "content": parts or None, **({"tool_calls": calls} if calls else {})}
    if len(parts) == 1:
        said["content"] = parts[0]["text"]
    return [(said, places), *results]


def _bare(content: Mapping[str, Any]) -> dict[str, Any]:
    """A content without the words that stand in the body: what is erased there must not live on here."""
    kind = content["type"]
    gone = {"text"} if kind == "text" else {"arguments"} if kind == "function_call" else set()
    if kind == "function_result":
        gone = {"result", *({"items"} if all(one["type"] == "text" for one in content.get("items") or ()) else ())}
    return {name: value for name, value in content.items() if name not in gone and value not in ({}, None)}


# ----------------------------------------------------------------------- and back


def _joined(said: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> list[Message]:
    """Messages of the journal as the framework's; what was one is one again."""
    found: list[Message] = []
    for body, metadata in said:
        told = metadata.get(_OURS) or {}
        if body.get("type") == _ITEM:
            found.append(Message.from_dict(dict(body["message"])))
        elif told and "message" not in told and found:
            found[-1].contents.extend(_contents(body, told["contents"]))
        elif told:
            found.append(_message(told.get("message") or {}, body, told["contents"]))
        else:  # others recorded it
            found += [_message({}, one, None) for one in in_shape(body, "openai") if one.get("role") in _TALKING]
    return found


def _message(whole: Mapping[str, Any], body: Body, bare: Sequence[Mapping[str, Any]] | None) -> Message:
    message: Message = Message.from_dict({"type": "message", "role": body["role"], **whole, "contents": []})
    message.contents.extend(_contents(body, bare))
    return message


def _contents(body: Body, bare: Sequence[Mapping[str, Any]] | None) -> list[Content]:
    """The contents of one body, in their order; of one that others recorded, its words and calls."""
    given = body.get("content")
    if body.get("role") == "tool":
        answered = Content.from_function_result(body["tool_call_id"], result=words(given))
        return [Content.from_dict({**answered.to_dict(), **one}) for one in bare or [{}]]
    texts = [given] if isinstance(given, str) else [one.get("text") or f"[{one['type']}]" for one in given or ()]
    calls = list(body.get("tool_calls") or ())
    if bare is None:
        bare = [*({"type": "text"} for _ in texts), *({"type": "function_call"} for _ in calls)]
    left_texts, left_calls = iter(texts), iter(calls)
    found: list[Content] = []
    for one in bare:
        match one["type"]:
            case "text":
                found.append(Content.from_dict({**one, "text": next(left_texts, "")}))
            case "function_call":
                found.append(_call(one, next(left_calls, {})))
            case "text_reasoning":  # a provider takes it back with what it sealed only
                found += [Content.from_dict(dict(one))] if one.get("protected_data") else []
            case _:
                next(left_texts, None)  # its mark
                found.append(Content.from_dict(dict(one)))
    return found


def _call(bare: Mapping[str, Any], call: Mapping[str, Any]) -> Content:
    asked = call.get("function") or call.get("custom") or {}
    arguments = asked.get("arguments", asked.get("input")) or ""
    plain = Content.from_function_call(call.get("id") or "", asked.get("name") or "", arguments=arguments)
    return Content.from_dict({**plain.to_dict(), **bare})


def _paired(loaded: Sequence[Message], given: Sequence[Message]) -> list[Message]:
    """The messages with each call and its result in pairs; what `given` answers, or a person is asked, stays open."""
    whole = _in_pairs(loaded, given)
    found: list[Message] = []
    for message in loaded:
        kept = [one for one in message.contents if one.type != "function_result" or id(one) in whole]
        if kept or message.role not in _TALKING:
            found.append(copy(message))
            found[-1].contents = kept
        lacking = [one.call_id for one in kept if _calls(one) and id(one) not in whole]
        found += [Message("tool", [Content.from_function_result(ident, result=_NO_RESULT)]) for ident in lacking]
    return found


def _in_pairs(loaded: Sequence[Message], given: Sequence[Message]) -> set[int]:
    """Which calls and results of the loaded messages have each other, or stay open."""
    whole: set[int] = set()
    waiting: dict[str, int] = {}
    for content in _all(loaded):
        if _calls(content):
            waiting[content.call_id] = id(content)
        elif content.type == "function_result" and content.call_id in waiting:
            whole |= {waiting.pop(content.call_id), id(content)}
    answered = {one.call_id for one in _all(given) if one.type == "function_result"}
    asked = {one.function_call.call_id for one in _all(loaded, given) if one.function_call is not None}
    return whole | {waiting[ident] for ident in waiting.keys() & (answered | asked)}


def _calls(content: Content) -> bool:
    return content.type == "function_call" and not content.informational_only


def _all(*lists: Sequence[Message]) -> Iterator[Content]:
    return (content for messages in lists for message in messages for content in message.contents)
