"""However wrong a body is, few errors are built for it: each model of a body, found by walking the faces."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError
from starlette.requests import Request

import memhold.faces
from memhold.faces.last_resort import LastResort

MANY = 5_000
MOST = 20
ANSWERS = {"MessagePage", "Pages", "Settled", "Text", "WhoAsks"}
"""Models of what a server says, which nobody sends it."""


def bodies() -> list[type[BaseModel]]:
    for found in pkgutil.walk_packages(memhold.faces.__path__, "memhold.faces."):
        importlib.import_module(found.name)
    found, left = [], [BaseModel]
    while left:
        one = left.pop()
        left += one.__subclasses__()
        if one.__module__.startswith("memhold.faces.") and one.__name__ not in ANSWERS:
            found.append(one)
    return sorted(found, key=lambda one: one.__name__)


def errors_of(body: type[BaseModel], given: dict[str, Any]) -> int:
    try:
        body.model_validate(given)
    except ValidationError as error:
        return error.error_count()
    return 0


@pytest.mark.parametrize("body", bodies(), ids=lambda one: one.__name__)
def test_a_wrong_body_is_refused_by_few_errors(body: type[BaseModel]) -> None:
    wrong: list[dict[str, Any]] = [{f"unknown{number}": 1 for number in range(MANY)}]
    for name in body.model_fields:
        wrong += [{name: [None] * MANY}, {name: [{}] * MANY}, {name: [{"id": "a", "topics": [0] * MANY}] * 3}]
        wrong += [{name: {f"x{number}": object() for number in range(MANY)}}]
    for given in wrong:
        assert errors_of(body, given) <= MOST, next(iter(given))


def test_a_field_that_nobody_knows_is_named_with_those_that_are() -> None:
    from memhold.faces.compat.ams_values import SearchBody

    with pytest.raises(ValidationError, match=r"'colour' is not known here; known are: .*limit, .*text"):
        SearchBody.model_validate({"text": "tea", "colour": "red"})


async def test_a_body_that_its_client_cuts_is_no_failure_of_the_server(caplog: pytest.LogCaptureFixture) -> None:
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "body": await Request(scope, receive).body()})

    async def cut() -> dict[str, str]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await LastResort(app)({"type": "http", "headers": []}, cut, send)
    assert (sent, caplog.messages) == ([], [])
