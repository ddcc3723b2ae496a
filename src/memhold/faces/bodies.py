"""What the models of request bodies share: however wrong a body is, few errors are built for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from json import JSONDecodeError
from typing import Annotated, Any, NoReturn, TypeVar

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, FailFast, model_validator
from pydantic_core import PydanticCustomError
from starlette.routing import request_response

from memhold.values.hints import did_you_mean
from memhold.verbs.beside_loop import LONG_BYTES

__all__ = ["Items", "KnownOnly", "Once", "Plain", "read_json", "read_long_json"]

T = TypeVar("T")


class _AtFirst(FailFast):
    """pydantic's own mark, which Python 3.11 cannot put into a union: it asks for a hash."""

    def __hash__(self) -> int:
        return hash(self.fail_fast)


Items = Annotated[list[T], _AtFirst()]
"""A list that is refused at its first wrong item: an error for each of 100,000 takes longer than reading them."""


def read_json(raw: bytes) -> Any:
    """A body's JSON, in which each object names a thing once and each number is one.

    Raises:
        JSONDecodeError: it is no such JSON. Where a name stands twice, readers differ in which of the two they take.
    """

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(found)
        if len(made) != len(found):
            raise JSONDecodeError("an object names one thing twice", "", 0)
        return made

    try:
        return json.loads(raw, parse_constant=_no_number, object_pairs_hook=pairs)
    except RecursionError:
        raise JSONDecodeError("it is nested too deeply", "", 0) from None
    except JSONDecodeError:
        raise
    except ValueError:
        raise JSONDecodeError("a number of it is too long, or it is not UTF-8", "", 0) from None


async def read_long_json(raw: bytes) -> Any:
    """The same, of a long body on a thread, for others are served meanwhile.

    Raises:
        JSONDecodeError: as `read_json` does.
    """
    return await asyncio.to_thread(read_json, raw) if len(raw) > LONG_BYTES else read_json(raw)


def _no_number(name: str) -> NoReturn:
    raise JSONDecodeError(f"{name} is no number", "", 0)


class _OnceRequest(Request):
    async def json(self) -> Any:
        return await read_long_json(await self.body())


class Once(APIRoute):
    """A route whose body is read by `read_json`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What serves it."""
        serve = super().get_route_handler()

        async def served(request: Request) -> Response:
            return await serve(_OnceRequest(request.scope, request.receive))

        return served


class Plain(APIRoute):
    """A route whose function takes the request and nothing else: it is called without asking what it depends on.

    FastAPI looks for parameters, a body and dependencies at each request, and closes what these may have opened; here
    there are none.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **said: Any) -> None:
        super().__init__(path, endpoint, **said)
        self.app = request_response(self.endpoint)


class KnownOnly(BaseModel):
    """A body that is refused where it has a field that nobody knows; the answer names one, and those that are known."""

    model_config = ConfigDict(extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _known(cls, given: Any) -> Any:
        known = cls.model_fields.keys()
        named = given if isinstance(given, dict) else ()
        if (unknown := next((name for name in named if name not in known), None)) is not None:
            said = "the field {field} is not known here{hint}; known are: {known}"
            hint = did_you_mean(str(unknown), known)
            values = {"field": repr(str(unknown)[:60]), "hint": hint, "known": ", ".join(sorted(known))}
            raise PydanticCustomError("unknown_field", said, values)
        return given
