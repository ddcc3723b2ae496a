"""What a server counts, for Prometheus: requests, streams, due work, models. No label names anybody.

Names and units follow the conventions of Prometheus: base units in the name, counters end in `_total`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from memhold._version import __version__
from memhold.ports.maintenance import Readiness
from memhold.values.answers import ModelHealth

__all__ = ["CONTENT_TYPE", "Metrics"]

CONTENT_TYPE = CONTENT_TYPE_LATEST
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """The counts of one server, in a registry of its own.

    A route is its template, so that the number of series is that of the routes, whatever is asked.
    """

    def __init__(self, *, held: Callable[[], float] = lambda: 0.0) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        labels = ("method", "route", "status")
        self._requests = Counter(
            "memhold_http_requests", "Requests that were answered.", labels, registry=self.registry
        )
        self._seconds = Histogram(
            "memhold_http_request_duration_seconds",
            "Time until the last byte of an answer was handed over; of streams until they ended.",
            ("method", "route"),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._running = Gauge("memhold_http_requests_in_progress", "Requests that are running.", registry=self.registry)
        self._streams = Gauge(
            "memhold_change_streams_open", "Streams of changes that are open.", registry=self.registry
        )
        self._due = Gauge("memhold_work_due", "Pieces of work that are due.", registry=self.registry)
        self._writes = Gauge("memhold_store_takes_writes", "1 where the store takes writes.", registry=self.registry)
        self._models = Gauge(
            "memhold_model_answers", "1 where a model answered last, or was not asked yet; 0 where it does not work.",
            ("model", "url", "key_variable", "reason"), registry=self.registry,
        )  # fmt: skip
        self._since = Gauge(
            "memhold_model_failing_since_timestamp_seconds", "When its failures in a row began; 0: none stands.",
            ("model",), registry=self.registry,
        )  # fmt: skip
        self._counted: dict[str, int] = {}
        self._unloads = Counter(
            "memhold_model_unloads", "Calls that found their model unloaded, over all processes.", ("model",),
            registry=self.registry,
        )  # fmt: skip
        self._waiting = Gauge(
            "memhold_work_waiting_for_models", "Pieces of work that wait for a model, now or later.",
            registry=self.registry,
        )  # fmt: skip
        longest = Gauge(
            "memhold_event_loop_longest_hold_seconds", "The longest time in which nobody was answered.",
            registry=self.registry,
        )  # fmt: skip
        longest.set_function(held)
        built = Gauge("memhold_build_info", "The release.", ("version",), registry=self.registry)
        built.labels(__version__).set(1)

    def begun(self) -> None:
        """A request has begun."""
        self._running.inc()

    def ended(self, *, method: str, route: str, status: int, seconds: float) -> None:
        """A request has ended."""
        self._running.dec()
        known = method if method in {"GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"} else "OTHER"
        self._requests.labels(known, route, str(status)).inc()
        self._seconds.labels(known, route).observe(seconds)

    def text(self, readiness: Readiness, *, streams: int) -> bytes:
        """Everything as Prometheus reads it."""
        self._streams.set(streams)
        self._due.set(readiness.due)
        self._writes.set(1 if readiness.writes else 0)
        self._waiting.set(readiness.waiting)
        self._set_models(readiness.models)
        return generate_latest(self.registry)

    def _set_models(self, models: Mapping[str, ModelHealth]) -> None:
        for gauge in (self._models, self._since):
            gauge.clear()
        for name, one in models.items():
            self._models.labels(name, one.url or "", one.key_variable or "", one.reason).set(one.answers is not False)
            self._since.labels(name).set(0 if one.since is None else one.since.timestamp())
            self._unloads.labels(name).inc(max(0, one.unloads - self._counted.get(name, 0)))
            self._counted[name] = max(one.unloads, self._counted.get(name, 0))
