"""Structured logs on standard error: what happened, to which request, how long it took; never what anybody said."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

__all__ = ["set_up_logs"]

_QUIET = ("uvicorn.access", "uvicorn.error", "httpx2", "httpcore", "mcp")


def set_up_logs(form: str, stream: TextIO | None = None, *, process: int | None = None) -> None:
    """Send every log of this process to a stream (standard error), as lines of text or of JSON.

    With `process` each line says that number: which of several it comes from. Of an exception only its type and the
    places are written: its message may be somebody's words.
    """
    said = {} if process is None else {"process": process}
    out = logging.StreamHandler(sys.stderr if stream is None else stream)
    out.setFormatter(_Lines(form, said))
    root = logging.getLogger()
    root.handlers[:] = [out]
    root.setLevel(logging.INFO)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


class _Lines(logging.Formatter):
    """A record as one line; what was passed as `extra` goes with it, and of an exception its shape."""

    def __init__(self, form: str, said: Mapping[str, Any]) -> None:
        super().__init__()
        self._form = form
        self._said = said

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        more = {
            **self._said,
            **{name: value for name, value in record.__dict__.items() if name not in _OF_A_RECORD},
            **(_shape_of(record.exc_info[1]) if record.exc_info and record.exc_info[1] else {}),
        }
        time = datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z")
        event, level = record.getMessage(), record.levelname.lower()
        if self._form == "json":
            line = {"event": event, "level": level, "logger": record.name, **more, "timestamp": time}
            return json.dumps(line, default=repr)
        return " ".join((time, f"[{level}]", event, f"[{record.name}]", *(f"{key}={more[key]}" for key in more)))


_OF_A_RECORD = frozenset({*logging.makeLogRecord({}).__dict__, "message", "asctime"})
"""What every record has, and is no extra."""


def _shape_of(error: BaseException) -> dict[str, Any]:
    return {"error": type(error).__name__, "at": _places(error)}


def _places(error: BaseException) -> list[str]:
    places = []
    trace = error.__traceback__
    while trace is not None:
        places.append(f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return places[-12:]
