"""Structured logs on standard error: what happened, to which request, how long it took; never what anybody said."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
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
    out = logging.StreamHandler(sys.stderr if stream is None else stream)
    out.setFormatter(_JsonLines(said) if form == "json" else _text_lines(said))
    root = logging.getLogger()
    root.handlers[:] = [out]
    root.setLevel(logging.INFO)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


def _text_lines(said: Mapping[str, Any]) -> logging.Formatter:
    shared: list[Any] = [
        lambda _, __, event: {**said, **event},
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _shape_of_exception,
    ]
    shown: Any = structlog.dev.ConsoleRenderer(colors=False)
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, shown]
    )


class _JsonLines(logging.Formatter):
    """A record as one line of JSON; written out, since each request has one: the chain above costs three times it."""

    def __init__(self, said: Mapping[str, Any]) -> None:
        super().__init__()
        self._said = said

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record, with what was passed as `extra`."""
        line = {
            **self._said,
            "event": record.getMessage(),
            "level": record.levelname.lower(),
            "logger": record.name,
            **{name: value for name, value in record.__dict__.items() if name not in _OF_A_RECORD},
            "timestamp": datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z"),
        }
        if record.exc_info:
            line = _shape_of_exception(None, "", {**line, "exc_info": record.exc_info})
        return json.dumps(line, default=repr)


_OF_A_RECORD = frozenset({*logging.makeLogRecord({}).__dict__, "message", "asctime"})
"""What every record has, and is no extra."""


def _shape_of_exception(_: Any, __: str, event: dict[str, Any]) -> dict[str, Any]:
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
