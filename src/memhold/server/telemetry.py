"""Spans around the verbs for OpenTelemetry, by its conventions for GenAI memory (in development as of 1.41).

Source: github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/gen-ai-spans.md, "Memory". A span is named
after its operation. The opt-in attributes, which hold what was said, are never written, and no user is named.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, cast

from memhold.values.answers import Erasure, Page, Recall, Receipt, Remembered
from memhold.values.errors import InvalidSetting
from memhold.values.records import Memory, Message
from memhold.verbs.scope import AsyncScope
from memhold.verbs.store_protocols import AsyncStore

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

__all__ = ["OPERATIONS", "Traced", "tracer_of"]

OPERATIONS = {
    "add": "create_memory",
    "remember": "upsert_memory",
    "correct": "update_memory",
    "pin": "update_memory",
    "unpin": "update_memory",
    "undo": "update_memory",
    "settle_suspicion": "update_memory",
    "forget": "delete_memory",
    "recall": "search_memory",
    "context": "search_memory",
    "get": "search_memory",
    "list": "search_memory",
    "messages": "search_memory",
    "history": "search_memory",
}
"""The operation that each verb is; what is not here has no span."""


def tracer_of() -> Tracer:
    """Where spans go: to the provider that this process has, else to the exporter that `OTEL_TRACES_EXPORTER` names.

    Raises:
        InvalidSetting: OpenTelemetry or the exporter is not installed.
    """
    try:
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise InvalidSetting("telemetry needs more: pip install 'memhold[telemetry]'", name="telemetry") from None
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        name = os.environ.get("OTEL_TRACES_EXPORTER", "otlp")
        found = next(iter(entry_points(group="opentelemetry_traces_exporter", name=name)), None)
        if found is None:
            said = f"there is no exporter {name!r:.40}: install opentelemetry-exporter-{name}, or name another in"
            raise InvalidSetting(f"{said} OTEL_TRACES_EXPORTER", name="telemetry")
        provider = TracerProvider()
        provider.add_span_processor(BatchSpanProcessor(found.load()()))
        trace.set_tracer_provider(provider)
    return trace.get_tracer("memhold")


class Traced:
    """A store whose verbs are spans; everything else is the store's own."""

    def __init__(self, store: AsyncStore, tracer: Tracer) -> None:
        self._store = store
        self._tracer = tracer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def scope(self, **names: Any) -> AsyncScope:
        """The verbs of a scope, each a span."""
        return cast("AsyncScope", TracedScope(self._store.scope(**names), self._tracer))


class TracedScope:
    """A scope whose verbs are spans."""

    def __init__(self, scope: AsyncScope, tracer: Tracer) -> None:
        self._scope = scope
        self._tracer = tracer

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._scope, name)
        operation = OPERATIONS.get(name)
        return found if operation is None else _spanned(found, operation, name, self._tracer)


def traced(store: AsyncStore, tracer: Tracer) -> AsyncStore:
    """The store, with a span around each verb that reads or writes memory."""
    return cast("AsyncStore", Traced(store, tracer))


def _spanned(
    run: Callable[..., Awaitable[Any]], operation: str, verb: str, tracer: Tracer
) -> Callable[..., Awaitable[Any]]:
    async def spanned(*args: Any, **named: Any) -> Any:
        first = {"gen_ai.operation.name": operation, "gen_ai.provider.name": "memhold", "memhold.verb": verb}
        with tracer.start_as_current_span(
            operation, attributes=first, record_exception=False, set_status_on_exception=False
        ) as span:
            from opentelemetry.trace import StatusCode

            try:
                answer = await run(*args, **named)
            except Exception as error:
                span.set_attribute("error.type", type(error).__name__)
                span.set_status(StatusCode.ERROR)
                raise
            for name, value in _said(answer).items():
                span.set_attribute(name, value)
            return answer

    return spanned


def _said(answer: Any) -> dict[str, Any]:
    """Ids and counts of an answer."""
    match answer:
        case Receipt(ids=ids):
            return _records(ids)
        case Remembered(receipt=receipt):
            return _records(receipt.ids)
        case Erasure(messages=messages, memories=memories, hidden=hidden):
            return {"gen_ai.memory.record.count": len(messages) + len(memories) + len(hidden)}
        case Recall(hits=hits, degraded=degraded):
            return {"gen_ai.memory.record.count": len(hits), "memhold.degraded": list(degraded)}
        case Page(items=items):
            return {"gen_ai.memory.record.count": len(items)}
        case Memory() | Message():
            return _records((answer.id,))
        case tuple():
            return {"gen_ai.memory.record.count": len(answer)}
    return {}


def _records(ids: tuple[str, ...]) -> dict[str, Any]:
    count: dict[str, Any] = {"gen_ai.memory.record.count": len(ids)}
    return count | {"gen_ai.memory.record.id": ids[0]} if len(ids) == 1 else count
