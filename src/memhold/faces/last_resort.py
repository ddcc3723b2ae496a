"""The last resort of an application: what nobody foresaw is answered too, and the log gets no value of anybody's."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any, Final

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from memhold.faces.problems import PREFIX, Problem, send_problem

__all__ = ["LastResort"]

log: Final = logging.getLogger("memhold.rest")


class LastResort:
    """ASGI middleware: what nobody foresaw is answered with a problem that tells nothing.

    The log gets the place, never a value. A client that went away before its body was whole is no failure.
    """

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def noting(message: MutableMapping[str, Any]) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except ClientDisconnect:
            return  # nobody hears an answer, and nothing failed here
        except Exception as error:  # noqa: BLE001 - the edge: a request must end with an answer
            log.error("a request failed with %s at %s", type(error).__name__, _place(error))  # noqa: TRY400 - no values
            if not begun:
                title = "The server failed in a way that nobody foresaw; nothing is known of the call."
                await send_problem(send, Problem(type=f"{PREFIX}Internal", title=title, status=500, detail=title))


def _place(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "?" if trace is None else f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
