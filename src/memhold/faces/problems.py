"""Errors on the wire: RFC 9457 problems, one type for each class of error, and back again.

A problem is `{type, title, status, detail, values}`: the type is `urn:memhold:problem:` and the name of the class,
`values` its plain attributes. What a client raises from it is the same class with the same message and attributes.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from memhold.values.errors import (
    AccessDenied,
    Conflict,
    Forgotten,
    InvalidInput,
    MemholdError,
    ModelError,
    NotFound,
    RateLimited,
    RevisionConflict,
    ScopeDenied,
    StoreBusy,
    StoreClosed,
    StoreError,
    StoreFull,
    StoreReadOnly,
    TooLarge,
    TwoUsers,
    Unauthenticated,
)
from memhold.values.jsonable import to_jsonable

__all__ = ["MEDIA_TYPE", "PREFIX", "Problem", "problem_of", "send_problem"]

MEDIA_TYPE = "application/problem+json"
PREFIX = "urn:memhold:problem:"

_STATUS: tuple[tuple[type[MemholdError], int], ...] = (
    (TooLarge, 413),
    (TwoUsers, 400),
    (InvalidInput, 422),
    (NotFound, 404),
    (RevisionConflict, 412),
    (Conflict, 409),
    (Forgotten, 410),
    (Unauthenticated, 401),
    (RateLimited, 429),
    (ScopeDenied, 403),
    (AccessDenied, 403),
    (StoreFull, 507),
    (StoreBusy, 503),
    (StoreClosed, 503),
    (StoreReadOnly, 503),
    (StoreError, 503),
    (ModelError, 502),
    (MemholdError, 500),
)
"""The status of each class: the first line that it is one of."""

_RETRY_SECONDS = 1
"""What a store that is busy asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One problem as it crosses."""

    type: str
    title: str
    status: int
    detail: str
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def headers(self) -> dict[str, str]:
        """The headers that go with it, by lower-case name."""
        found = {"content-type": MEDIA_TYPE, "cache-control": "no-store"}
        wait = self.values.get("retry_after")
        if isinstance(wait, int | float) and self.status in {429, 502, 503}:
            found["retry-after"] = str(max(1, round(wait)))
        elif self.type == f"{PREFIX}StoreBusy":
            found["retry-after"] = str(_RETRY_SECONDS)
        return found

    def body(self) -> bytes:
        """The problem as JSON text."""
        return json.dumps(to_jsonable(self)).encode()


def problem_of(error: MemholdError) -> Problem:
    """The problem that an error crosses as.

    What failed on the server's side tells its class and no more: its message may name the server's files.
    """
    name = type(error).__name__
    status = next(code for one, code in _STATUS if isinstance(error, one))
    title = _title(type(error))
    inside = status >= 500
    values = {key: value for key, value in error.values.items() if not (inside and key in {"path", "name"})}
    return Problem(
        type=PREFIX + name,
        title=title,
        status=status,
        detail=title if inside and not isinstance(error, ModelError) else str(error),
        values=_plain_values(values),
    )


def _title(cls: type[MemholdError]) -> str:
    return " ".join((cls.__doc__ or cls.__name__).split("\n\n")[0].split())


def _plain_values(values: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for name, value in values.items():
        try:
            found[name] = to_jsonable(value)
        except InvalidInput:
            found[name] = str(value)
    return found


async def send_problem(
    send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
    problem: Problem,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Answer an ASGI request with a problem; `headers` are added to the problem's own."""
    body = problem.body()
    every = {**problem.headers, "content-length": str(len(body)), **(headers or {})}
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in every.items()]
    await send({"type": "http.response.start", "status": problem.status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
