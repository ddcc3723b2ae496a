"""Reading an answer's bytes: never more than a limit, and in lines as servers mean them."""

from __future__ import annotations

import codecs
import re
from collections.abc import AsyncIterator
from typing import Final

import httpx2

__all__ = ["ANSWER_LIMIT", "ERROR_LIMIT", "Endless", "Garbled", "beginning", "lines", "whole"]

ANSWER_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of a whole answer. 64 vectors of 8,192 numbers are 13 MB as JSON; no chat answer comes near."""
ERROR_LIMIT: Final = 200_000
"""Bytes of an error that are read; its beginning says what it is."""

_ENDS = re.compile(r"\r\n|\n|\r")


class Endless(Exception):
    """An answer went on past the limit; it was let go."""


class Garbled(Exception):
    """An answer is no UTF-8: what a replacement character would stand for is lost."""


async def whole(response: httpx2.Response) -> str:
    """The body as text (JSON is UTF-8: RFC 8259, section 8.1).

    Raises:
        Endless: it is over `ANSWER_LIMIT`.
        Garbled: it is no UTF-8.
    """
    try:
        return b"".join([part async for part in _counted(response)]).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Garbled from None


async def beginning(response: httpx2.Response) -> str:
    """The first `ERROR_LIMIT` bytes of a body, as text."""
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_bytes():
        parts.append(part[: ERROR_LIMIT - size])
        size += len(part)
        if size >= ERROR_LIMIT:
            break
    return b"".join(parts).decode("utf-8", "replace")


async def lines(response: httpx2.Response) -> AsyncIterator[str]:
    """The lines of a body, without their ends: CRLF, LF and CR (the HTML standard, section 9.2.5), and nothing else.

    A line separator (U+2028), a form feed or U+0085 stands raw in JSON texts and ends no line.

    Raises:
        Endless: all lines together are over `ANSWER_LIMIT`.
        Garbled: they are no UTF-8.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    held: list[str] = []  # the beginning of a line, in pieces: a long one is not joined for each of them
    after_return = False
    async for part in _counted(response):
        try:
            text = decoder.decode(part)
        except UnicodeDecodeError:
            raise Garbled from None
        if after_return and text:
            text, after_return = text.removeprefix("\n"), False
        first, *rest = _ENDS.split(text)
        held.append(first)
        for line in rest:
            yield "".join(held).removeprefix("\ufeff")
            held = [line]
        after_return = after_return or text.endswith("\r")
    if last := "".join(held):
        yield last


async def _counted(response: httpx2.Response) -> AsyncIterator[bytes]:
    size = 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > ANSWER_LIMIT:
            raise Endless
        yield part
