"""Doubles of models that run in the process: they answer by script, else sensibly, and record what they were asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from memhold.ports.models import ChatReply, ChatRequest, ToolCall, Usage
from memhold.testing.chaos.replies import Asked, Offer, Reply, answer_to, tokens
from memhold.testing.chaos.vectors import DIMENSION, hash_vector
from memhold.values.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["AskedToEmbed", "HashEmbedding", "ScriptedChat", "ScriptedEmbedding", "ScriptedReply", "sensible_reply"]

ScriptedReply = ChatReply | Mapping[str, Any] | str | BaseException | Callable[[ChatRequest], ChatReply]
"""What a script may hold: a reply, arguments for the demanded tool, a text, an error, or a function of the request."""


def sensible_reply(request: ChatRequest, *, model: str = "scripted") -> ChatReply:
    """What the chaos server would answer: the demanded tool filled from the conversation, by rules. Deterministic."""
    offers = (Offer(name=request.tool.name, schema=request.tool.parameters),) if request.tool is not None else ()
    texts = (("system", request.system), *((turn.role, turn.text) for turn in request.turns))
    asked = Asked(
        protocol="openai",
        model=model,
        texts=texts,
        offers=offers,
        choice=offers[0].name if offers else "none",
        max_tokens=request.max_tokens,
    )
    return _collected(answer_to(asked), asked)


def _collected(reply: Reply, asked: Asked) -> ChatReply:
    calls = tuple(
        ToolCall(
            id=f"call_{number}", name=call.name, arguments=call.arguments if call.written is None else call.written
        )
        for number, call in enumerate(reply.calls)
    )
    finish: Literal["stop", "tool", "length"] = (
        "length" if reply.finish == "length" else "tool" if reply.finish == "tool" else "stop"
    )
    usage = Usage(
        input_tokens=sum(tokens(text) for _, text in asked.texts),
        output_tokens=tokens(reply.text + "".join(call.text for call in reply.calls)),
    )
    return ChatReply(model=asked.model, text=reply.text, tool_calls=calls, finish=finish, usage=usage)


class ScriptedChat:
    """A `ChatModel` that gives the scripted replies in order, then `otherwise` for ever (None: a sensible reply).

    An error in the script is raised. `asked` holds every request, those that were answered with an error included.
    """

    def __init__(
        self, replies: Iterable[ScriptedReply] = (), *, name: str = "scripted", otherwise: ScriptedReply | None = None
    ) -> None:
        self._name = name
        self._replies = deque(replies)
        self._otherwise = otherwise
        self.asked: list[ChatRequest] = []

    @property
    def name(self) -> str:
        """The name of the catalog entry that it stands for."""
        return self._name

    @property
    def waiting(self) -> int:
        """How many scripted replies were not asked for yet."""
        return len(self._replies)

    def script(self, replies: Iterable[ScriptedReply]) -> None:
        """Add replies behind those that wait."""
        self._replies.extend(replies)

    async def chat(self, request: ChatRequest) -> ChatReply:
        """The next reply of the script."""
        self.asked.append(request)
        reply = self._replies.popleft() if self._replies else self._otherwise
        if reply is None:
            return sensible_reply(request, model=self._name)
        if isinstance(reply, BaseException):
            raise reply
        if isinstance(reply, str):
            return ChatReply(model=self._name, text=reply)
        if isinstance(reply, Mapping):
            if request.tool is None:
                raise InvalidInput("the script holds arguments, but the request demands no tool")
            call = ToolCall(id="call_0", name=request.tool.name, arguments=dict(reply))
            return ChatReply(model=self._name, text="", tool_calls=(call,), finish="tool")
        return reply(request) if callable(reply) else reply


class HashEmbedding:
    """An `EmbeddingModel` without a model: hashed words as unit vectors, alike for like texts. Deterministic.

    Raises:
        InvalidInput: the dimension is not positive.
    """

    def __init__(self, dimension: int = DIMENSION) -> None:
        if dimension < 1:
            raise InvalidInput(f"a dimension is at least 1, not {dimension}")
        self._dimension = dimension

    @property
    def fingerprint(self) -> str:
        """Another dimension is another generation."""
        return f"hash:{self._dimension}"

    @property
    def dimension(self) -> int:
        """The length of its vectors."""
        return self._dimension

    async def embed(self, texts: Sequence[object], *, purpose: Literal["document", "query"]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dimension), row i for text i; the purpose changes nothing.

        Raises:
            InvalidInput: an input is None, empty or blank.
        """
        import numpy as np

        rows: list[list[float]] = []
        for index, text in enumerate(texts):
            if not isinstance(text, str) or not text.strip():
                raise InvalidInput(f"text {index} cannot be embedded for a {purpose}: it is empty or no text")
            rows.append(hash_vector(text, self._dimension))
        return np.asarray(rows, dtype=np.float32).reshape(len(texts), self._dimension)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedToEmbed:
    """One call that an embedding double got."""

    texts: tuple[str, ...]
    purpose: Literal["document", "query"]


class ScriptedEmbedding:
    """An `EmbeddingModel` that meets the scripted errors in order (None for none), then embeds as `HashEmbedding` does.

    `poison` names texts: a call whose texts contain one of them raises `poison_error`. `asked` records every call.
    """

    def __init__(
        self,
        errors: Iterable[BaseException | None] = (),
        *,
        dimension: int = DIMENSION,
        poison: Sequence[str] = (),
        poison_error: BaseException | None = None,
    ) -> None:
        if poison and poison_error is None:
            raise InvalidInput("name the error that a poisonous text meets")
        self._errors = deque(errors)
        self._inner = HashEmbedding(dimension)
        self._poison = tuple(poison)
        self._poison_error = poison_error
        self.asked: list[AskedToEmbed] = []

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the vectors underneath."""
        return self._inner.fingerprint

    @property
    def dimension(self) -> int:
        """The length of its vectors."""
        return self._inner.dimension

    def script(self, errors: Iterable[BaseException | None]) -> None:
        """Add errors behind those that wait."""
        self._errors.extend(errors)

    async def embed(self, texts: Sequence[str], *, purpose: Literal["document", "query"]) -> NDArray[np.float32]:
        """Vectors, or the next error of the script."""
        self.asked.append(AskedToEmbed(texts=tuple(texts), purpose=purpose))
        error = self._errors.popleft() if self._errors else None
        if error is None and any(bad in text for bad in self._poison for text in texts):
            error = self._poison_error
        if error is not None:
            raise error
        return await self._inner.embed(texts, purpose=purpose)
