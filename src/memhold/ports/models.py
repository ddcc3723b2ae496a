"""What the pipeline needs from models: chat and embedding, as narrow Protocols with their values."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, Protocol, TypeVar

from memhold.values.errors import Attempt, ChainFailed, FailureClass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Accepted",
    "Advice",
    "ChatModel",
    "ChatReply",
    "ChatRequest",
    "ChatTurn",
    "EmbeddingModel",
    "LinkBook",
    "LinkNote",
    "ModelChain",
    "Rejected",
    "Reranker",
    "Steps",
    "Tally",
    "TaskFailed",
    "Tool",
    "ToolCall",
    "Usage",
    "UsageBook",
]

T = TypeVar("T")
Advice = Literal["retry", "park", "shorten", "poison", "refused"]

MAX_TOKENS: Final = 1_000_000_000
"""Tokens over which a provider's count is no count: the largest windows take a few millions."""

_CLASS_OF: Final[dict[Advice, FailureClass]] = {
    "retry": "retry",
    "park": "park",
    "shorten": "shorten",
    "poison": "poison",
    "refused": "next",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool that a model may call: `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that a model made.

    `arguments` is exactly what it sent: an object when it is well-formed, else anything.
    """

    id: str
    name: str
    arguments: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTurn:
    """One turn of a request to a model."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """What a model is asked: a system text, turns, and at most one tool that it must call (`tool`).

    `steps` is the same in several short requests, for links that are asked so; others pass over it. With `partial` what
    came before a reply went in circles is the answer, as one that ran into its limit (`finish` is "length"); without it
    that is a failure.
    """

    system: str
    turns: tuple[ChatTurn, ...]
    purpose: str
    tool: Tool | None = None
    max_tokens: int = 4096
    temperature: float | None = None
    partial: bool = False
    steps: Steps | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """One request as several: `joined` makes the one reply of theirs, in their order; None is a step without one."""

    requests: tuple[ChatRequest, ...]
    joined: Callable[[Sequence[ChatReply | None]], ChatReply]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens that a call took, as the provider counted them; None where it did not say, or said what no count is."""

    input_tokens: int | None = None
    output_tokens: int | None = None

    def __post_init__(self) -> None:
        for name in ("input_tokens", "output_tokens"):
            value = getattr(self, name)
            if type(value) is not int or not 0 <= value <= MAX_TOKENS:
                object.__setattr__(self, name, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """A model's answer, collected from its stream; reasoning text is left out.

    `prompt` is the version of the prompt that was answered, where it is another than the request's. Of a reply that is
    put together of several, `unread` says for each that was no answer what it lacked: shapes, no content.
    """

    model: str
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish: Literal["stop", "tool", "length", "refusal", "other"] = "stop"
    usage: Usage = Usage()
    prompt: str | None = None
    unread: tuple[str, ...] = ()


class ChatModel(Protocol):
    """A model, or a wrapper that is one: retrying, limited, measured."""

    @property
    def name(self) -> str:
        """The name of the catalog entry."""
        ...

    async def chat(self, request: ChatRequest) -> ChatReply:
        """One answer.

        Raises:
            ModelError: the call failed; it carries its class, status and the provider's code.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted(Generic[T]):
    """What `accept` made of a reply, and the calls that led to it."""

    value: T
    reply: ChatReply
    attempts: tuple[Attempt, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A reply that is no answer to the task. `reason` is a shape ("no tool call"), never content."""

    reason: str
    refused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFailed:
    """No model gave an acceptable answer.

    `advice` says what to do with the work, `retry_after` the soonest time for it in seconds, where a provider or a
    resting link named one.
    """

    advice: Advice
    attempts: tuple[Attempt, ...]
    retry_after: float | None = None

    def by_its_input(self, *, but: Container[str] = ()) -> bool:
        """Whether models were there, `but` those that do not count, and gave no good answer to this one input."""
        asked = [one for one in self.attempts if one.cls is not None and one.model not in but]
        return self.advice == "retry" and bool(asked) and all(one.cls in {"resample", "next"} for one in asked)

    def error(self, chain: str) -> ChainFailed:
        """The same as an error."""
        calls = "; ".join(dict.fromkeys(_told(one) for one in self.attempts))
        return ChainFailed(
            f"{chain}: no model of the chain answered ({calls or 'none could be asked in time'});"
            " run 'memhold models test'",
            model=chain,
            cls=_CLASS_OF[self.advice],
            advice=self.advice,
            attempts=self.attempts,
            retry_after=self.retry_after,
            reason="no model of the chain answered",
            rule="chain",
        )


def _told(one: Attempt) -> str:
    status = f", HTTP {one.status}" if one.status else ""
    said = f", it said: {one.said}" if one.said else ""
    return f"{one.model}: {one.reason or one.cls}{status}{said}"


class ModelChain(Protocol):
    """Models that are asked in order until one gives an acceptable answer."""

    @property
    def models(self) -> Sequence[str]:
        """The names of the links, in the order in which they are asked."""
        ...

    @property
    def window(self) -> int | None:
        """The tokens that the first link's window takes; None where that is not known."""
        ...

    async def ask(
        self, request: ChatRequest, accept: Callable[[ChatReply], T | Rejected], *, can_shorten: bool = False
    ) -> Accepted[T] | TaskFailed:
        """What `accept` makes of the first reply that it does not reject, or why there is none."""
        ...


class EmbeddingModel(Protocol):
    """What turns texts into vectors of one generation."""

    @property
    def fingerprint(self) -> str:
        """Which generation its vectors belong to: the model and every setting that changes a vector."""
        ...

    @property
    def dimension(self) -> int | None:
        """The length of its vectors; None until the first answer taught it."""
        ...

    async def embed(self, texts: Sequence[str], *, purpose: Literal["document", "query"]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dimension), row i for text i.

        Raises:
            ModelError: the call failed; nothing of the batch was embedded.
        """
        ...


class Reranker(Protocol):
    """What says how well texts answer a question, each read together with it."""

    async def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """One finite number for each text, in their order; the greater the better.

        Raises:
            ModelError: the call failed, or the answer is not that.
        """
        ...

    async def close(self) -> None:
        """Let go of connections. Idempotent."""
        ...


_NANO = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counts for one day (UTC), model and purpose. `nanousd` is 1e-9 USD; `unpriced` calls have no price in it.

    `retries` are calls beyond the first to the same model; `milliseconds` is the time of all calls together.
    """

    day: date
    model: str
    purpose: str
    calls: int = 0
    answered: int = 0
    retries: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    milliseconds: int = 0
    nanousd: int = 0
    unpriced: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)

    @property
    def usd(self) -> float:
        """The money, in USD, of the calls that have a price."""
        return self.nanousd / _NANO

    @property
    def seconds_a_call(self) -> float:
        """Mean latency; 0 without calls."""
        return self.milliseconds / 1000 / self.calls if self.calls else 0.0


_APART: Final = timedelta(minutes=5)
"""So long after a call another process may still write what it saw of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkNote:
    """What calls have shown of one model at one server. Shapes and times, no content.

    `failing_since` is the first of the failures in a row that stand (None: its last call was answered), `reason` what
    went wrong in our words, `said` the provider's first words, masked. `form` is the form in which it takes a question
    for arguments, `asked` how much at a time (`turns`: it quotes nothing), where that was found out. `unloads` counts
    calls that found the model unloaded.
    """

    model: str
    url: str = ""
    seen_at: datetime
    form: str | None = None
    asked: str | None = None
    failing_since: datetime | None = None
    cls: FailureClass | None = None
    status: int | None = None
    code: str | None = None
    reason: str = ""
    said: str = ""
    unloads: int = 0

    def after(self, earlier: LinkNote) -> LinkNote:
        """Both as one: the later call decides, the longer trouble and a known form stay, unloads add up.

        Processes write what they saw a few seconds apart, so the time of the call says which is the later; but one that
        lies further ahead was written by a clock that was wrong.
        """
        late, old = (earlier, self) if timedelta() < earlier.seen_at - self.seen_at < _APART else (self, earlier)
        since = late.failing_since
        if since is not None and late is self and old.failing_since is not None:
            since = min(since, old.failing_since)
        form, asked = self.form or earlier.form, self.asked or earlier.asked
        return replace(late, form=form, asked=asked, failing_since=since, unloads=self.unloads + earlier.unloads)


class LinkBook(Protocol):
    """Where it is kept how links fare, over processes and scopes."""

    async def put(self, notes: Sequence[LinkNote]) -> None:
        """Lay each note over what is kept of its model and URL (`LinkNote.after`); all or none."""
        ...

    async def read(self) -> list[LinkNote]:
        """What is kept, by model and URL."""
        ...


class UsageBook(Protocol):
    """Where tallies are kept."""

    async def add(self, tallies: Sequence[Tally]) -> None:
        """Add each to what is kept for its day, model and purpose; all or none."""
        ...

    async def read(self, since: date | None = None) -> list[Tally]:
        """What is kept from that day on, by day, model and purpose."""
        ...
