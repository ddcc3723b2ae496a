"""Units of work that wait for a writer, by namespace."""

from __future__ import annotations

import asyncio
import heapq
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from memhold.storage.open_state import given_up, settle
from memhold.values.errors import StoreClosed
from memhold.values.records import Scope

__all__ = ["Done", "Job", "Queue"]


@dataclass(order=True, slots=True)
class Job:
    """A unit of work, whose it is and who waits for it."""

    priority: int
    place: int
    scope: Scope = field(compare=False)
    work: Callable[[Any], Any] = field(compare=False)
    future: asyncio.Future[Any] = field(compare=False)


Done = tuple[Job, Any, BaseException | None]


class Queue:
    """Jobs in order of priority and arrival; those of a namespace go to one thread at a time."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[Job]] = {}
        self._held: set[str] = set()
        self._places = 0
        self._idle = 0
        self._closed = False
        self._gives_up_at: float | None = None
        self._changed = threading.Condition()

    def put(self, scope: Scope, work: Callable[[Any], Any], priority: int, future: asyncio.Future[Any]) -> bool:
        """Add a job; whether one more thread would find something to do.

        Raises:
            StoreClosed: nothing is accepted any more.
        """
        with self._changed:
            if self._closed:
                raise StoreClosed("the store is closed; open it again")
            self._places += 1
            job = Job(priority, self._places, scope, work, future)
            heapq.heappush(self._waiting.setdefault(scope.namespace, []), job)
            self._changed.notify()
            free = sum(namespace not in self._held for namespace in self._waiting)
            return free > self._idle

    def first(self) -> Job | None:
        """Wait for the first job of a namespace that no thread holds, and hold it; None once all is done and closed."""
        with self._changed:
            while True:
                self._drop_late()
                free = [jobs[0] for namespace, jobs in self._waiting.items() if namespace not in self._held]
                if free:
                    job = min(free)
                    self._held.add(job.scope.namespace)
                    return self._pop(job.scope.namespace)
                if self._closed and not self._waiting:
                    return None
                self._idle += 1
                self._changed.wait()
                self._idle -= 1

    def another(self, scope: Scope) -> Job | None:
        """The next job of a namespace that the caller holds: of those that are as urgent, first the same user's."""
        with self._changed:
            self._drop_late()
            jobs = self._waiting.get(scope.namespace)
            if not jobs:
                return None
            mine = [job for job in jobs if job.priority == jobs[0].priority and job.scope.user == scope.user]
            if not mine:
                return self._pop(scope.namespace)
            job = min(mine)
            jobs.remove(job)
            heapq.heapify(jobs)
            if not jobs:
                del self._waiting[scope.namespace]
            return job

    def release(self, namespace: str) -> None:
        """Let another thread have the namespace."""
        with self._changed:
            self._held.discard(namespace)
            self._changed.notify_all()

    def close(self, gives_up_at: float) -> None:
        """Accept nothing more; after that time (monotonic) what waits fails."""
        with self._changed:
            self._closed = True
            self._gives_up_at = gives_up_at
            self._changed.notify_all()

    def _pop(self, namespace: str) -> Job:
        jobs = self._waiting[namespace]
        job = heapq.heappop(jobs)
        if not jobs:
            del self._waiting[namespace]
        return job

    def _drop_late(self) -> None:
        if self._gives_up_at is not None and time.monotonic() > self._gives_up_at:
            left, self._waiting = self._waiting, {}
            settle([(job, None, given_up()) for jobs in left.values() for job in jobs])
