"""What the command line shows of models, as plain rows: the catalog, a probe of each link, the usage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memhold.fidelity.quotes import in_line
from memhold.ports.models import ChatModel, ChatRequest, ChatTurn, EmbeddingModel, Tally, Tool
from memhold.ports.stores import Clock
from memhold.providers.catalog import Catalog, Note
from memhold.providers.entry import Entry, shown
from memhold.providers.ledger import merged
from memhold.values.errors import ModelError

__all__ = [
    "PROBE_TOOL",
    "Probe",
    "catalog_rows",
    "note_rows",
    "price_of_consolidation",
    "probe_chat",
    "probe_embedding",
    "usage_rows",
]

# One window of 60 messages with tool calls is about 6,000 tokens, its summary and facts about 800.
_TOKENS_IN: Final = 6_000
_TOKENS_OUT: Final = 800

_PROSE: Final = "answers, but not with the arguments that it was asked for; name another model"
_NO_QUOTE: Final = "works, but does not quote the line as it was asked to: it is asked turn by turn"
_REFUSES: Final = "answers, but refuses what it was asked for; name another model"

_SAID: Final = "My favorite food is sushi. Save it with the tool."

PROBE_TOOL: Final = Tool(
    name="save",
    description="Save the user's favorite food.",
    parameters={
        "type": "object",
        "properties": {
            "food": {"type": "string", "description": "The food, one word"},
            "quote": {"type": "string", "description": "The words of the user that say it, copied exactly"},
        },
        "required": ["food", "quote"],
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What one real call to a link showed.

    `tools` is None for an embedding model; `usd` is one consolidation's price; `form` is how it gave arguments,
    `context` the tokens that its context takes, as its server or its entry tells; `quotes` whether it gave the words of
    the line.
    """

    model: str
    reachable: bool
    tools: bool | None
    seconds: float
    usd: float | None
    cls: str | None = None
    text: str = "works"
    form: str | None = None
    quotes: bool = False
    status: int | None = None
    code: str | None = None
    reason: str = ""
    said: str = ""
    context: int | None = None

    def row(self) -> dict[str, Any]:
        """The same as a plain row."""
        return {
            "model": self.model,
            "reachable": self.reachable,
            "tools": self.tools,
            "form": self.form,
            "context": self.context,
            "seconds": round(self.seconds, 3),
            "usd_per_consolidation": self.usd,
            "class": self.cls,
            "text": self.text,
        }


def price_of_consolidation(entry: Entry) -> float | None:
    """USD for one consolidation (6,000 tokens in, 800 out); for an embedding model, the same tokens in."""
    return entry.cost(_TOKENS_IN, 0 if entry.embeds else _TOKENS_OUT)


async def probe_chat(entry: Entry, model: ChatModel, *, clock: Clock) -> Probe:
    """Call a link once and see whether it calls a tool. A listed model that cannot load fails here."""
    turns = (ChatTurn(role="user", text=_SAID),)
    request = ChatRequest(system="", turns=turns, purpose="test", tool=PROBE_TOOL, max_tokens=512, temperature=0.0)
    begun = clock.now()
    try:
        reply = await model.chat(request)
    except ModelError as error:
        return _failed(entry, error, clock, begun, tools=False)
    calls = [call for call in reply.tool_calls if call.name == PROBE_TOOL.name and isinstance(call.arguments, dict)]
    quotes = any(in_line(str(call.arguments.get("quote", "")), _SAID) for call in calls)
    works = "works" if quotes else _NO_QUOTE
    text = works if calls else _REFUSES if reply.finish == "refusal" else _PROSE
    seconds = (clock.now() - begun).total_seconds()
    usd = price_of_consolidation(entry)
    return Probe(
        model=entry.name, reachable=True, tools=bool(calls), seconds=seconds, usd=usd, text=text, quotes=quotes
    )


async def probe_embedding(entry: Entry, model: EmbeddingModel, *, clock: Clock) -> Probe:
    """Embed one word with a link."""
    begun = clock.now()
    try:
        vectors = await model.embed(["sushi"], purpose="query")
    except ModelError as error:
        return _failed(entry, error, clock, begun, tools=None)
    seconds = (clock.now() - begun).total_seconds()
    text = f"works, {vectors.shape[1]} dimensions"
    usd = price_of_consolidation(entry)
    return Probe(model=entry.name, reachable=True, tools=None, seconds=seconds, usd=usd, text=text)


def _failed(entry: Entry, error: ModelError, clock: Clock, begun: Any, *, tools: bool | None) -> Probe:
    return Probe(
        model=entry.name,
        reachable=error.status is not None,
        tools=tools,
        seconds=(clock.now() - begun).total_seconds(),
        usd=price_of_consolidation(entry),
        cls=error.cls,
        text=str(error),
        status=error.status,
        code=error.code,
        reason=error.reason,
        said=error.said,
    )


def catalog_rows(catalog: Catalog, *, hidden: bool = False) -> list[dict[str, Any]]:
    """One row a model, the hidden ones only when asked, with the chains that it is a link of."""
    chains: dict[str, list[str]] = {}
    for chain in catalog.chains:
        for entry in catalog.chain(chain):
            chains.setdefault(entry.name, []).append(chain)
    return [
        {
            "name": entry.name,
            "label": entry.label or entry.name,
            "description": entry.description,
            "protocol": entry.protocol,
            "model": entry.model,
            "base_url": None if entry.base_url is None else shown(entry.base_url),
            "api_key_env": entry.api_key_env,
            "fallback": entry.fallback,
            "tier": entry.tier,
            "hidden": entry.hidden,
            "context_window": entry.context_window,
            "price_in": entry.price_in,
            "price_out": entry.price_out,
            "speed": entry.speed,
            "chains": chains.get(entry.name, []),
        }
        for entry in catalog.models.values()
        if hidden or not entry.hidden
    ]


def note_rows(notes: Sequence[Note]) -> list[dict[str, Any]]:
    """What loading noted, as rows."""
    return [{"level": note.level, "model": note.model, "code": note.code, "text": note.text} for note in notes]


def usage_rows(tallies: Iterable[Tally], *, days: bool = False) -> list[dict[str, Any]]:
    """Usage by model and purpose (with `days` also by day), as rows; money in USD."""
    return [
        {
            **({"day": one.day.isoformat()} if days else {}),
            "model": one.model,
            "purpose": one.purpose,
            "calls": one.calls,
            "answered": one.answered,
            "retries": one.retries,
            "failures": dict(one.failures),
            "input_tokens": one.input_tokens,
            "output_tokens": one.output_tokens,
            "seconds_a_call": round(one.seconds_a_call, 3),
            "usd": round(one.usd, 9),
            "unpriced": one.unpriced,
        }
        for one in merged(tallies, days=days)
    ]
