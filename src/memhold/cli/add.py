"""The command that writes messages: one from its line, or many from standard input."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import click

from memhold.cli.declared_commands import by_hand
from memhold.cli.options import KEYED, CommonOptions, opened
from memhold.cli.printing import say_receipt
from memhold.faces.remote.wire import MAX_BODY
from memhold.values.errors import InvalidInput, TooLarge

__all__ = ["add_command"]


def _read_messages(text: str) -> Any:
    """Messages from JSON text: a list, one object, an object with `messages`, or one object a line.

    Raises:
        InvalidInput: it is none of these.
        TooLarge: it has more than a server takes in one request.
    """
    if (size := len(text.encode("utf-8", "surrogatepass"))) > MAX_BODY:
        said = f"standard input has more than {MAX_BODY:,} bytes; add it in parts, or as a file with 'memhold import'"
        raise TooLarge(said, size=size, limit=MAX_BODY)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        try:
            found = [json.loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"standard input is neither JSON nor JSON lines: {error}") from None
    if isinstance(found, dict) and isinstance(found.get("messages"), list):
        found = found["messages"]
    if not isinstance(found, Mapping | Sequence) or isinstance(found, str) or not found:
        raise InvalidInput("standard input holds no messages; give a list of objects with role and content")
    return found


def _moment(text: str) -> datetime:
    from memhold.fidelity.moments import read_moment
    from memhold.wiring.settings import load_settings, zone_of

    return read_moment("--time", text, datetime.now(UTC), zone_of(load_settings({}).timezone))


@by_hand("add", takes=("idempotency_key",), resume=KEYED)
@click.argument("text", required=False, help="One message; left out, messages are read from standard input.")
@click.option("--role", default="user", show_default=True, help="Who says TEXT.")
@click.option("--time", "event_time", metavar="TIME", help="When TEXT was said: 2026-01-31T09:00, yesterday, 7d.")
def add_command(
    common: CommonOptions, given: dict[str, Any], *, text: str | None, role: str, event_time: str | None
) -> None:
    """Append messages to a session's journal.

    TEXT is one message; without it, messages are read as JSON from standard input, in the OpenAI chat or the Anthropic
    shape: a list, one object, or one object a line; 16 MiB at most.
    """
    messages: Any
    if text is not None:
        messages = {"role": role, "content": text}
        if event_time is not None:
            messages["event_time"] = _moment(event_time)
    elif sys.stdin.isatty():
        raise click.UsageError("give TEXT, or messages as JSON on standard input")
    else:
        messages = _read_messages(sys.stdin.read(MAX_BODY + 1))
    with opened(common, create=True) as (_, scope):
        receipt = scope.add(messages, **given)
    common.show(receipt, lambda: say_receipt(receipt, "stored"))
