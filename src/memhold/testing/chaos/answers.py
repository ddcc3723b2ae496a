"""From a request and a fault to the bytes of an answer. Pure: what the server is like is an argument."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never
from urllib.parse import urlsplit

from memhold.testing.chaos.dialects import asked_of, error_body, reply_body, reply_events
from memhold.testing.chaos.embedding import EmbedAsked, EmbedProtocol, embed_asked_of, embed_body, misbind
from memhold.testing.chaos.faults import Answer, Cable, Damage, Fault, Fine, Misbind, Spoil
from memhold.testing.chaos.plan import RequestKind
from memhold.testing.chaos.replies import Asked, Protocol, Reply, answer_to, spoil, tokens
from memhold.testing.chaos.rules import anthropic_violations, openai_violations
from memhold.testing.chaos.vectors import DIMENSION
from memhold.testing.chaos.wire import Outgoing

__all__ = [
    "Answering",
    "Character",
    "Route",
    "chat_answer",
    "damaged",
    "embed_answer",
    "listing",
    "misbound",
    "refusal",
    "route",
    "unloaded",
]

Answering = Callable[[Asked], Reply | None]
"""What a model says to a chat request; None where it says what is sensible."""

_JSON = {"content-type": "application/json"}
_LATE = '{"error":{"message":"The server had an error while answering","type":"server_error","code":"server_error"}}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Character:
    """What the models of a server are like. `models` None means that any name is served.

    An input to embed that holds a word of `refuses` is an error 400, and so is any request that holds one of `rejects`.
    """

    models: tuple[str, ...] | None = None
    api_key: str | None = None
    dimension: int = DIMENSION
    max_input_tokens: int | None = None
    refuses: tuple[str, ...] = ()
    rejects: tuple[str, ...] = ()
    no_tools: tuple[str, ...] = ()
    no_forcing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Where a request goes: its kind, and its protocol in either of the two tables."""

    kind: RequestKind
    path: str
    chat: Protocol | None = None
    embed: EmbedProtocol | None = None

    @property
    def dialect(self) -> Protocol:
        """In which protocol errors are written."""
        if self.chat is not None:
            return self.chat
        return "ollama" if self.embed in {"ollama", "ollama-old"} or self.path.startswith("/api/") else "openai"


def route(target: str) -> Route:
    """The route of a request target; paths work with and without `/v1`, and under a prefix such as `/openai/v1`."""
    path = urlsplit(target).path
    if path.endswith("/api/chat"):
        return Route(kind="chat", path=path, chat="ollama")
    if path.endswith("/chat/completions"):
        return Route(kind="chat", path=path, chat="openai")
    if path.endswith("/responses"):
        return Route(kind="chat", path=path, chat="responses")
    if path.endswith("/messages"):
        return Route(kind="chat", path=path, chat="anthropic")
    if path.endswith("/api/embed"):
        return Route(kind="embedding", path=path, embed="ollama")
    if path.endswith("/api/embeddings"):
        return Route(kind="embedding", path=path, embed="ollama-old")
    if path.endswith("/embeddings"):
        return Route(kind="embedding", path=path, embed="openai")
    return Route(kind="other", path=path)


def _json(value: Any, status: int = 200) -> Outgoing:
    return Outgoing(status=status, headers=_JSON, parts=(json.dumps(value, ensure_ascii=False).encode(),))


def _error(where: Route, status: int, text: str, *, param: str | None = None, code: str | None = None) -> Outgoing:
    body = error_body(where.dialect, status, text, param=param, code=code)
    return Outgoing(status=status, headers=_JSON, parts=(body.encode(),))


# --------------------------------------------------------------------------------------------- without a fault


def refusal(where: Route, body: Any, model: str, headers: Mapping[str, str], character: Character) -> Outgoing | None:
    """The error of a request that no fault is needed for: no key, no such model, not an object."""
    if character.api_key is not None and character.api_key not in {
        headers.get("x-api-key"),
        headers.get("authorization", "").removeprefix("Bearer "),
    }:
        text = "invalid x-api-key" if where.chat == "anthropic" else "Incorrect API key provided."
        return _error(where, 401, text, code="invalid_api_key")
    if where.kind == "other":
        return None
    if not isinstance(body, Mapping):
        return _error(where, 400, "We could not parse the JSON body of your request.")
    if not model:
        return _error(where, 400, "you must provide a model parameter")
    if character.models is not None and model not in character.models:
        texts = {
            "openai": f"The model `{model}` does not exist or you do not have access to it.",
            "anthropic": f"model: {model}",
        }
        return _error(where, 404, texts.get(where.dialect, f"model '{model}' not found"), code="model_not_found")
    if character.rejects and any(word in json.dumps(body, ensure_ascii=False) for word in character.rejects):
        return _error(where, 400, "Invalid value: messages[0].content", param="messages[0].content")
    return None


def unloaded(where: Route, model: str, *, evicted: bool) -> Outgoing:
    """What a local server says while the model is not there: 400 as LM Studio does it, 503 as Ollama does."""
    if where.dialect == "ollama":
        return _error(where, 503, "server busy, please try again.  maximum pending requests exceeded")
    if evicted:
        return _json({"error": "Model was unloaded while the request was still in queue.."}, 400)
    return _json({"error": f'Failed to load model "{model}". Error: Operation canceled.'}, 400)


def listing(where: Route, method: str, body: Any, models: Sequence[str]) -> Outgoing:
    """The endpoints that list and show models. What is listed need not be loaded."""
    if where.path.endswith("/api/tags") and method == "GET":
        return _json(
            {"models": [{"name": name, "model": name, "size": 1, "details": {"family": "chaos"}} for name in models]}
        )
    if where.path.endswith("/api/show") and method == "POST":
        name = str(body.get("model", "")) if isinstance(body, Mapping) else ""
        if name not in models:
            return _error(where, 404, f"model '{name}' not found")
        info = {"general.architecture": "chaos", "chaos.context_length": 8192}
        return _json(
            {"details": {"family": "chaos"}, "model_info": info, "capabilities": ["completion", "tools", "embedding"]}
        )
    if where.path.endswith("/messages/count_tokens") and method == "POST" and isinstance(body, Mapping):
        counted = asked_of("anthropic", body)
        return _json({"input_tokens": sum(tokens(text) for _, text in counted.texts) + 4 * len(counted.texts)})
    if where.path.endswith("/models") and method == "GET":
        return _json(
            {"object": "list", "data": [{"id": name, "object": "model", "owned_by": "chaos"} for name in models]}
        )
    return _error(where, 404, f"Invalid URL ({method} {where.path})")


# --------------------------------------------------------------------------------------------- chat


def _chat_problem(where: Route, body: Mapping[str, Any], asked: Asked, character: Character) -> Outgoing | None:
    messages = [one for one in body.get("messages") or () if isinstance(one, Mapping)]
    if where.chat == "openai" and (broken := openai_violations(messages)):
        return _error(where, 400, broken[0].text, param=broken[0].param, code=broken[0].code)
    if where.chat == "anthropic":
        if wrong := anthropic_violations(messages, body.get("system")):
            return _error(where, 400, wrong[0].text)
        if not isinstance(body.get("max_tokens"), int):
            return _error(where, 400, "max_tokens: Field required")
        if wrong_thinking := _thinking_problem(body, asked):
            return _error(where, 400, wrong_thinking)
    if asked.offers and asked.model in character.no_tools:
        return _error(where, 400, f"{asked.model} does not support tools")
    if asked.offers and asked.choice not in {"auto", "none"} and asked.model in character.no_forcing:
        return _error(where, 400, f"{asked.model} does not support this tool_choice")
    size = sum(tokens(text) for _, text in asked.texts)
    limit = character.max_input_tokens
    if limit is not None and size > limit:
        if where.chat == "anthropic":
            return _error(where, 400, f"prompt is too long: {size} tokens > {limit} maximum")
        text = (
            f"This model's maximum context length is {limit} tokens. However, your messages resulted in {size} tokens. "
            "Please reduce the length of the messages."
        )
        return _error(where, 400, text, param="messages", code="context_length_exceeded")
    return None


def _thinking_problem(body: Mapping[str, Any], asked: Asked) -> str | None:
    """What Anthropic refuses beside a model that thinks."""
    if asked.thinking == "no":
        return None
    if asked.choice not in {"auto", "none"}:
        return "Thinking may not be enabled when tool_choice forces tool use."
    budget = body["thinking"].get("budget_tokens")
    if isinstance(budget, int) and budget >= body["max_tokens"]:
        return "`max_tokens` must be greater than `thinking.budget_tokens`."
    return None


def chat_answer(
    where: Route,
    body: Mapping[str, Any],
    fault: Fault,
    character: Character,
    number: int,
    said: Answering | None = None,
) -> Outgoing:
    """The answer to a chat request: the rules' 400, or the model's reply, spoilt where the fault says so.

    The reply is what `said` gives; where it gives none, the sensible one.
    """
    asked = asked_of(where.dialect, body)
    problem = _chat_problem(where, body, asked, character)
    if problem is not None:
        return problem
    reply = (said(asked) if said is not None else None) or answer_to(asked)
    if isinstance(fault.act, Spoil):
        reply = spoil(reply, fault.act.how, asked)
    if not asked.stream:
        return _json(reply_body(reply, asked, number))
    kind = "application/x-ndjson" if where.chat == "ollama" else "text/event-stream"
    return Outgoing(status=200, headers={"content-type": kind}, parts=reply_events(reply, asked, number), stream=True)


# --------------------------------------------------------------------------------------------- embeddings


def _embed_problem(where: Route, asked: EmbedAsked, character: Character) -> Outgoing | None:
    if asked.problem is not None:
        return _error(where, 400, asked.problem)
    if any(word in text for word in character.refuses for text in asked.texts):
        return _error(where, 400, "invalid input type")
    limit = character.max_input_tokens
    longest = max((tokens(text) for text in asked.texts), default=0)
    if limit is not None and longest > limit and not asked.truncate:
        if where.dialect == "ollama":
            return _error(where, 400, "the input length exceeds the context length")
        text = f"This model's maximum context length is {limit} tokens, however you requested {longest} tokens."
        return _error(where, 400, text)
    return None


def embed_answer(where: Route, body: Mapping[str, Any], character: Character) -> Outgoing:
    """The answer to an embedding request: vectors in order, or why there are none."""
    asked = embed_asked_of(where.embed or "openai", body)
    problem = _embed_problem(where, asked, character)
    if problem is not None:
        return problem
    return _json(embed_body(asked, character.dimension, character.max_input_tokens))


def misbound(answered: Outgoing, fault: Fault) -> Outgoing:
    """A good embedding answer with vectors that do not fit; any other answer as it is."""
    if not isinstance(fault.act, Misbind) or answered.status != 200:
        return answered
    return _json(misbind(json.loads(answered.body), fault.act.how))


# --------------------------------------------------------------------------------------------- damage


def damaged(good: Outgoing, fault: Fault, dialect: Protocol) -> Outgoing:
    """A good answer after a fault: replaced, cut or interrupted. Trouble below HTTP leaves it as it is."""
    act = fault.act
    match act:
        case Answer():
            headers = {"content-type": "application/json", **act.headers}
            return Outgoing(status=act.status, headers=headers, parts=(act.body.encode(),))
        case Damage():
            return _damaged(good, act, dialect)
        case Fine() | Cable() | Spoil() | Misbind():
            return good
        case _:
            assert_never(act)


def _damaged(good: Outgoing, act: Damage, dialect: Protocol) -> Outgoing:
    late = (error_body(dialect, 500, "Internal server error") if dialect != "openai" else _LATE).encode()
    match act.how:
        case "truncated-json":
            whole = good.body
            return replace(good, parts=(whole[: len(whole) * 2 // 3],))
        case "error-in-200":
            return Outgoing(status=200, headers=_JSON, parts=(late,))
        case "sse-error" | "sse-cut":
            if not good.stream:
                kept = late if act.how == "sse-error" else good.body[: len(good.body) // 2]
                return replace(good, parts=(kept,))
            begun = list(good.parts[: max(1, len(good.parts) // 2)])
            if act.how == "sse-cut":
                return replace(good, parts=begun)
            line = late + b"\n" if dialect == "ollama" else b"event: error\ndata: " + late + b"\n\n"
            return replace(good, parts=[*begun, line])
        case _:
            assert_never(act.how)
