"""What a server counts, for Prometheus: requests, streams, due work, models. No label names anybody.

Names and units follow the conventions of Prometheus: base units in the name, counters end in `_total`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from memhold._version import __version__
from memhold.ports.maintenance import Readiness
from memhold.ports.models import Tally
from memhold.server.count_files import CountFiles

__all__ = ["BUDGETS", "CONTENT_TYPE", "Metrics"]

CONTENT_TYPE = CONTENT_TYPE_LATEST
BUDGETS: Final = ("bytes", "work", "requests", "failures")
"""What may be spent: bytes, processor time and requests of a token, tokens that do not count of an address."""
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """The counts of one server, in a registry of its own.

    A route is its template, so that the number of series is that of the routes, whatever is asked. With `folder` it
    is one process of several: all count there, and whichever is asked answers with the sum (the greatest, of the
    longest hold), those that have ended included. What the store says is told once, as it says it.
    """

    def __init__(self, *, held: Callable[[], float] = lambda: 0.0, folder: Path | None = None) -> None:
        self._held = held
        self._folder = folder
        self._files = None if folder is None else CountFiles(folder)
        self.registry = CollectorRegistry()
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
        self._running = self._gauge("memhold_http_requests_in_progress", "Requests that are running.")
        self._streams = self._gauge("memhold_change_streams_open", "Streams of changes that are open.")
        self._cached = self._gauge(
            "memhold_cache_bytes", "Memory that indexes and vectors of scopes hold between questions."
        )
        self._processes = self._gauge("memhold_serving_processes", "Processes that serve.")
        self._processes.set(1)
        self._refused = Counter(
            "memhold_budget_refusals", "Requests that were refused because a budget was spent.", ("budget",),
            registry=self.registry,
        )  # fmt: skip
        for budget in BUDGETS:
            self._refused.labels(budget)
        self._longest = Gauge(
            "memhold_event_loop_longest_hold_seconds", "The longest time in which nobody was answered.",
            registry=self.registry, multiprocess_mode="livemax",
        )  # fmt: skip
        self._store = _Store()

    def _gauge(self, name: str, what: str) -> Gauge:
        return Gauge(name, what, registry=self.registry, multiprocess_mode="livesum")

    def begun(self) -> None:
        """A request has begun."""
        self._running.inc()

    def ended(self, *, method: str, route: str, status: int, seconds: float) -> None:
        """A request has ended."""
        self._running.dec()
        known = method if method in {"GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"} else "OTHER"
        self._requests.labels(known, route, str(status)).inc()
        self._seconds.labels(known, route).observe(seconds)

    def refused(self, budget: str) -> None:
        """A request was refused because a budget was spent: one of `BUDGETS`."""
        self._refused.labels(budget).inc()

    def look(self, *, streams: int, cached_bytes: int | None = None) -> None:
        """Note what this process holds now; each of several does so by itself, since another one may be asked."""
        self._streams.set(streams)
        self._longest.set(self._held())
        if cached_bytes is not None:
            self._cached.set(cached_bytes)

    def text(self, readiness: Readiness, *, streams: int, usage: Sequence[Tally] = ()) -> bytes:
        """Everything as Prometheus reads it; `usage` is what models were used for, since ever."""
        self.look(streams=streams, cached_bytes=readiness.cached_bytes)
        self._store.look(readiness, usage)
        told = CollectorRegistry()
        if self._folder is None:
            told.register(self.registry)
            ProcessCollector(registry=told)
        else:
            MultiProcessCollector(told, str(self._folder))  # type: ignore[no-untyped-call]
            told.register(_Processes(self._folder))
        PlatformCollector(registry=told)
        told.register(self._store)
        with nullcontext() if self._files is None else self._files.unchanged():
            return generate_latest(told)


class _Store(Collector):
    """What the store says, over all processes: due work, models, and what they were used for since ever."""

    def __init__(self) -> None:
        self._readiness = Readiness(writes=True)
        self._tallies: Sequence[Tally] = ()
        self._unloads: dict[str, int] = {}

    def look(self, readiness: Readiness, tallies: Sequence[Tally]) -> None:
        """Note what it says now."""
        self._readiness, self._tallies = readiness, tallies
        for name, one in readiness.models.items():
            # A store that forgets a model's health must not make a counter go back.
            self._unloads[name] = max(one.unloads, self._unloads.get(name, 0))

    def collect(self) -> Iterator[Metric]:
        """Its gauges and counters."""
        now = self._readiness
        yield GaugeMetricFamily("memhold_work_due", "Pieces of work that are due.", now.due)
        yield GaugeMetricFamily("memhold_store_takes_writes", "1 where the store takes writes.", int(now.writes))
        damaged = "1 where the file is damaged, as far as the process that is asked has looked."
        yield GaugeMetricFamily("memhold_store_damaged", damaged, int("damaged" in now.degraded))
        waiting = "Pieces of work that wait for a model, now or later."
        yield GaugeMetricFamily("memhold_work_waiting_for_models", waiting, now.waiting)
        built = GaugeMetricFamily("memhold_build_info", "The release.", labels=("version",))
        built.add_metric((__version__,), 1)
        yield built
        yield from self._models()
        yield from self._usage()

    def _models(self) -> Iterator[Metric]:
        answers = GaugeMetricFamily(
            "memhold_model_answers", "1 where a model answered last, or was not asked yet; 0 where it does not work.",
            labels=("model", "url", "key_variable", "reason"),
        )  # fmt: skip
        since = GaugeMetricFamily(
            "memhold_model_failing_since_timestamp_seconds", "When its failures in a row began; 0: none stands.",
            labels=("model",),
        )  # fmt: skip
        unloads = CounterMetricFamily(
            "memhold_model_unloads", "Calls that found their model unloaded, over all processes.", labels=("model",)
        )
        for name, one in self._readiness.models.items():
            answers.add_metric((name, one.url or "", one.key_variable or "", one.reason), int(one.answers is not False))
            since.add_metric((name,), 0 if one.since is None else one.since.timestamp())
        for name, count in self._unloads.items():
            unloads.add_metric((name,), count)
        yield from (answers, since, unloads)

    def _usage(self) -> Iterator[Metric]:
        labels = ("model", "purpose")
        calls = CounterMetricFamily("memhold_model_calls", "Calls of models.", labels=labels)
        failed = CounterMetricFamily("memhold_model_calls_failed", "Those that gave no answer.", labels=labels)
        tokens = CounterMetricFamily("memhold_model_tokens", "Tokens sent and received.", labels=(*labels, "way"))
        cost = CounterMetricFamily("memhold_model_cost_usd", "Money of the calls that have a price.", labels=labels)
        for (model, purpose), found in groupby(sorted(self._tallies, key=_whose), key=_whose):
            every = list(found)
            calls.add_metric((model, purpose), sum(one.calls for one in every))
            failed.add_metric((model, purpose), sum(one.calls - one.answered for one in every))
            tokens.add_metric((model, purpose, "in"), sum(one.input_tokens for one in every))
            tokens.add_metric((model, purpose, "out"), sum(one.output_tokens for one in every))
            cost.add_metric((model, purpose), sum(one.usd for one in every))
        yield from (calls, failed, tokens, cost)


class _Processes(Collector):
    """Memory, processor time and open files of each process that serves, by its number in the system."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def collect(self) -> Iterator[Metric]:
        """The metrics of one process, with the label `pid`."""
        families: dict[str, Metric] = {}
        for path in sorted(self._folder.glob("gauge_livesum_*.db")):
            pid = path.stem.rpartition("_")[2]
            for one in ProcessCollector(registry=None, pid=partial(str, pid)).collect():
                family = families.setdefault(one.name, Metric(one.name, one.documentation, one.type))
                for sample in one.samples:
                    family.add_sample(sample.name, {**sample.labels, "pid": pid}, sample.value)
        yield from families.values()


def _whose(tally: Tally) -> tuple[str, str]:
    return tally.model, tally.purpose
