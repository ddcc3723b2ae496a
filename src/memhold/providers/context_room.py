"""Whether a model's context takes what we ask: what a refusal shows of it, what its server says, and what to do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Final

import httpx2

from memhold.asking.room import least_context
from memhold.ports.models import ChatModel, ChatReply, ChatRequest
from memhold.providers.chat.text import items, table
from memhold.providers.entry import Entry, endpoint, key_header
from memhold.providers.failures.classify import Verdict
from memhold.providers.failures.errors import model_error
from memhold.text.token_estimate import estimate_tokens
from memhold.values.errors import ModelError

__all__ = ["CONTEXT_TOO_SMALL", "Roomed", "needed", "told_by_server", "too_small", "widen"]

CONTEXT_TOO_SMALL: Final = "context_too_small"
"""The code of a failure that no smaller question cures."""
_BYTES: Final = 1_000_000
_SECONDS: Final = 5.0


def needed(entry: Entry) -> int:
    """Tokens that the context of a link must take, for the least that it is asked."""
    return least_context(by_turns=entry.by_turns)


def too_small(entry: Entry, seen: int) -> str:
    """What is wrong, in words, where a context takes so many tokens."""
    return f"its context takes {seen:,} tokens, and the least that it is asked takes {needed(entry):,}"


def widen(entry: Entry) -> str:
    """What to do about it."""
    least = f"a larger context, {needed(entry):,} tokens or more"
    if entry.protocol == "ollama-chat":
        return f"give it {least} (`context_window` of its entry), or name another model"
    if entry.served_locally:
        return f"give it {least} (llama.cpp: `-c`, LM Studio: context length), or name another model"
    return f"name a model with {least}"


class Roomed:
    """A model whose refusal of a question that is no longer than the least says so, with the tokens in it.

    The class stays `shorten`: a link with a larger context is asked. What is only too long for now passes as it is.
    """

    def __init__(self, model: ChatModel, entry: Entry) -> None:
        self._model = model
        self._entry = entry

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self._model.name

    async def chat(self, request: ChatRequest) -> ChatReply:
        """The wrapped model's answer.

        Raises:
            ModelError: what the model raised; with the code `CONTEXT_TOO_SMALL` where no smaller question cures it.
        """
        try:
            return await self._model.chat(request)
        except ModelError as error:
            reason = self._reason(request, error) if error.cls == "shorten" else ""
            if not reason:
                raise
            told = f"{reason}; {widen(self._entry)}"
            verdict = Verdict(cls="shorten", code=CONTEXT_TOO_SMALL, reason=told, rule=error.rule, said=error.said)
            raise model_error(self.name, verdict, status=error.status, cause=error.cause) from None

    def _reason(self, request: ChatRequest, error: ModelError) -> str:
        least = needed(self._entry)
        if error.context is not None:
            return too_small(self._entry, error.context) if error.context < least else ""
        size = _tokens(request)
        if size + (request.max_tokens or 0) > least:
            return ""
        return f"it did not take a question of about {size:,} tokens, and the least that it is asked takes {least:,}"


def _tokens(request: ChatRequest) -> int:
    tool = request.tool
    asked = [] if tool is None else [tool.description, json.dumps(dict(tool.parameters), default=str)]
    return estimate_tokens("\n".join([request.system, *(turn.text for turn in request.turns), *asked]))


# ------------------------------------------------------------------------------------------------ what a server says


async def told_by_server(entry: Entry, key: str | None = None) -> int | None:
    """Tokens that the context of a local server's model takes, as the server says; None where it says nothing.

    llama.cpp (`meta.n_ctx`) and vLLM (`max_model_len`) say it in their list of models, LM Studio and Ollama on paths of
    their own, for a model that is loaded: ask after a call. A server that cuts a long prompt says it nowhere else.
    """
    if not entry.served_locally or not entry.base_url:
        return None
    headers = key_header(entry.base_url, key)
    async with httpx2.AsyncClient(timeout=_SECONDS, trust_env=False, follow_redirects=False, headers=headers) as client:
        for url in (
            endpoint(entry.base_url, "/models"),
            endpoint(entry.base_url, "/api/v0/models", version=""),
            endpoint(entry.base_url, "/api/ps", version=""),
        ):
            found = _context_of(entry.model, await _got(client, url))
            if found is not None:
                return found
    return None


async def _got(client: httpx2.AsyncClient, url: str) -> Mapping[str, Any]:
    try:
        async with asyncio.timeout(_SECONDS):
            answer = await client.get(url)
        return table(json.loads(answer.content[:_BYTES]))
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, TimeoutError, ValueError, RecursionError):
        return {}


def _context_of(model: str, told: Mapping[str, Any]) -> int | None:
    wanted = model.removesuffix(_LATEST)
    for rows in (items(told.get("data")), items(told.get("models"))):
        named = [row for row in rows if wanted in {str(row.get(name)).removesuffix(_LATEST) for name in _NAMES}]
        for row in named or (rows if len(rows) == 1 else []):
            for value in (table(row.get("meta")).get("n_ctx"), *(row.get(name) for name in _TOLD)):
                if type(value) is int and 0 < value <= 10**9:
                    return value
    return None


_NAMES: Final = ("id", "name", "model")
_LATEST: Final = ":latest"
"""The tag that Ollama adds to a name without one."""
_TOLD: Final = ("max_model_len", "loaded_context_length", "context_length")
