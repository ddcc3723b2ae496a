"""Structured logs on standard error: what happened, to which request, how long it took; never what anybody said."""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any, TextIO

import structlog

__all__ = ["set_up_logs"]

_QUIET = ("uvicorn.access", "uvicorn.error", "httpx2", "httpcore", "mcp")


def set_up_logs(form: str, stream: TextIO | None = None, *, process: int | None = None) -> None:
    """Send every log of this process to a stream (standard error), as lines of text or of JSON.

    With `process` each line says that number: which of several it comes from. Of an exception only its type and the
    places are written: its message may be somebody's words.
    """
    said = {} if process is None else {"process": process}
    shared: list[Any] = [
        lambda _, __, event: {**said, **event},
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _shape_of_exception,
    ]
    shown: Any = structlog.processors.JSONRenderer() if form == "json" else structlog.dev.ConsoleRenderer(colors=False)
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, shown]
    )
    out = logging.StreamHandler(sys.stderr if stream is None else stream)
    out.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [out]
    root.setLevel(logging.INFO)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


def _shape_of_exception(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    found = event.pop("exc_info", None)
    error = sys.exc_info()[1] if found is True else found[1] if isinstance(found, tuple) else found
    if isinstance(error, BaseException):
        event["error"] = type(error).__name__
        event["at"] = _places(error)
    return event


def _places(error: BaseException) -> list[str]:
    places = []
    trace = error.__traceback__
    while trace is not None:
        places.append(f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return places[-12:]
