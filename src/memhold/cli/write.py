"""Commands that write: add, remember, correct, pin, unpin, undo, end-session."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from memhold.cli.frame import Frame, clean, command, moment, opened
from memhold.values.errors import InvalidInput

if TYPE_CHECKING:
    from memhold.values.answers import Receipt, Remembered

__all__ = [
    "add_command",
    "correct_command",
    "end_session_command",
    "pin_command",
    "remember_command",
    "undo_command",
    "unpin_command",
]

_KEYED = "With the same --key, run it again: it is written once. Without one, look with 'memhold recall' first."
_KEY_HELP = "Idempotency key: the same call with the same key is one write."


def _read_messages(text: str) -> Any:
    """Messages from JSON text: a list, one object, an object with `messages`, or one object a line.

    Raises:
        InvalidInput: it is none of these.
    """
    try:
        found = json.loads(text)
    except ValueError:
        try:
            found = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as error:
            raise InvalidInput(f"standard input is neither JSON nor JSON lines: {error}") from None
    if isinstance(found, dict) and isinstance(found.get("messages"), list):
        found = found["messages"]
    if not isinstance(found, Mapping | Sequence) or isinstance(found, str) or not found:
        raise InvalidInput("standard input holds no messages; give a list of objects with role and content")
    return found


@command(
    "add",
    example='memhold add "I moved to Lisbon." --user alice --session s1',
    resume=_KEYED,
)
@click.argument("text", required=False)
@click.option("--role", default="user", show_default=True, help="Who says TEXT.")
@click.option("--time", "event_time", metavar="TIME", help="When TEXT was said (ISO-8601 with a zone).")
@click.option("--key", help=_KEY_HELP)
def add_command(frame: Frame, text: str | None, role: str, event_time: str | None, key: str | None) -> None:
    """Append messages to a session's journal.

    TEXT is one message; without it, messages are read as JSON from standard input, in the OpenAI chat or the Anthropic
    shape: a list, one object, or one object a line.
    """
    messages: Any
    if text is not None:
        messages = {"role": role, "content": text}
        if event_time is not None:
            messages["event_time"] = moment(event_time)
    elif sys.stdin.isatty():
        raise click.UsageError("give TEXT, or messages as JSON on standard input")
    else:
        messages = _read_messages(sys.stdin.read())
    with opened(frame, create=True) as (_, scope):
        receipt = scope.add(messages, idempotency_key=key)
    frame.show(receipt, lambda: _say(receipt, "stored"))


def _say(receipt: Receipt, done: str) -> None:
    if receipt.forgotten:
        click.echo("written before and forgotten since; nothing was written")
    elif receipt.replayed:
        click.echo(f"written before with this key: {' '.join(receipt.ids)}")
    else:
        click.echo(f"{done} {' '.join(receipt.ids) or 'nothing'}")


def _say_memory(remembered: Remembered, done: str) -> None:
    _say(remembered.receipt, done)
    if remembered.memory is not None:
        memory = remembered.memory
        click.echo(f"{memory.kind} · {memory.state} · {memory.tier} · rev {memory.rev} · {clean(memory.text, 200)}")


@command(
    "remember",
    example='memhold remember --attribute "favorite food" --value sushi --user alice',
    resume=_KEYED,
)
@click.argument("text", required=False)
@click.option("--attribute", help="What the fact is about.")
@click.option("--value", help="What it is.")
@click.option("--subject", default="user", show_default=True, help="Of whom or what.")
@click.option("--operation", type=click.Choice(["set", "add", "remove"]), default="set", show_default=True)
@click.option("--time", "event_time", metavar="TIME", help="Since when it holds (ISO-8601 with a zone).")
@click.option("--importance", type=click.Choice(["low", "mid", "high"]), default="mid", show_default=True)
@click.option("--pinned", is_flag=True, help="Long-term: it never expires and is never merged away.")
@click.option("--expires", metavar="TIME", help="When it leaves its tier.")
@click.option("--topic", "topics", multiple=True, help="May be given several times.")
@click.option("--entity", "entities", multiple=True, help="May be given several times.")
@click.option("--key", help=_KEY_HELP)
def remember_command(frame: Frame, text: str | None, key: str | None, **told: Any) -> None:
    """Remember a note or a fact.

    TEXT is a note. --attribute and --value are a fact: it supersedes what its attribute said before.
    """
    told["event_time"] = moment(told["event_time"])
    told["expires_at"] = moment(told.pop("expires"))
    with opened(frame, create=True) as (_, scope):
        remembered = scope.remember(text, **told, idempotency_key=key)
    frame.show(remembered, lambda: _say_memory(remembered, "remembered"))


@command("correct", example='memhold correct mem_0198c2f0 "kimchi jjigae" --user alice', resume=_KEYED)
@click.argument("memory_id")
@click.argument("value")
@click.option("--rev", type=int, help="Only if it is still at this revision.")
@click.option("--key", help=_KEY_HELP)
def correct_command(frame: Frame, memory_id: str, value: str, rev: int | None, key: str | None) -> None:
    """Replace what was never true.

    The old value of the fact or note is retracted, not superseded: it does not come back for any time.
    """
    with opened(frame) as (_, scope):
        remembered = scope.correct(memory_id, value, rev=rev, idempotency_key=key)
    frame.show(remembered, lambda: _say_memory(remembered, "corrected, now"))


@command("pin", example="memhold pin mem_0198c2f0 --user alice")
@click.argument("memory_id")
def pin_command(frame: Frame, memory_id: str) -> None:
    """Keep a memory long-term.

    A pinned memory never expires and is never merged away.
    """
    with opened(frame) as (_, scope):
        remembered = scope.pin(memory_id)
    frame.show(remembered, lambda: _say_memory(remembered, "pinned"))


@command("unpin", example="memhold unpin mem_0198c2f0 --user alice")
@click.argument("memory_id")
def unpin_command(frame: Frame, memory_id: str) -> None:
    """Take a pin away.

    The memory stays in its tier.
    """
    with opened(frame) as (_, scope):
        remembered = scope.unpin(memory_id)
    frame.show(remembered, lambda: _say_memory(remembered, "unpinned"))


@command("undo", example="memhold undo chg_0198c2f0 --user alice", resume=_KEYED)
@click.argument("change_id")
@click.option("--cascade", is_flag=True, help="Undo first what stands on it.")
@click.option("--key", help=_KEY_HELP)
def undo_command(frame: Frame, change_id: str, *, cascade: bool, key: str | None) -> None:
    """Undo a change, as a new change.

    'memhold history ID' shows the changes. Undoing an undo is redo; an add and a hard forget cannot be undone.
    """
    with opened(frame) as (_, scope):
        receipt = scope.undo(change_id, cascade=cascade, idempotency_key=key)
    frame.show(receipt, lambda: _say(receipt, f"undone by {' '.join(receipt.change_ids)}; it touched"))


@command("end-session", example="memhold end-session --user alice --session s1", resume="Run it again: it closes once.")
def end_session_command(frame: Frame) -> None:
    """Close a session; its window is kept, searchable.

    Without a model its messages become RAW memories, complete and in order; the next message begins a new window.
    """
    with opened(frame) as (_, scope):
        receipt = scope.end_session()
    done = "closed; its window is kept as" if receipt.ids else "closed an empty window, kept"
    frame.show(receipt, lambda: _say(receipt, done))
