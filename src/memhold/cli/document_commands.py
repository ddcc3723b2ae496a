"""`memhold documents`: text and JSON at paths. A path is written name by name: `memhold documents read notes paris`."""

from __future__ import annotations

import json
from typing import Any, TextIO

import click

from memhold.cli.declared_commands import by_hand, command_of
from memhold.cli.options import CommonOptions, opened
from memhold.cli.printing import show_answer
from memhold.documents.content import MAX_BYTES
from memhold.values.errors import InvalidInput, TooLarge
from memhold.verbs.declaration import verbs_of
from memhold.verbs.documents import AsyncDocuments

__all__ = ["documents_command"]


@click.group("documents", epilog="Example: memhold documents list notes --user alice")
def documents_command() -> None:
    """Read, put and find documents by name: text and JSON at a path."""


@by_hand(
    "put",
    takes=("path", "if_rev", "metadata", "expires_at", "index", "fields", "idempotency_key"),
    protocol=AsyncDocuments,
    resume="Run it again with the same --key: it is written once.",
)
@click.option("--text", help="The content, as text.")
@click.option("--json-content", metavar="JSON", help="The content, as JSON.")
@click.option("--file", type=click.File(encoding="utf-8"), help="A file with the content, - for standard input.")
def _put(
    common: CommonOptions, arguments: dict[str, Any], *, text: str | None, json_content: str | None, file: Any
) -> None:
    """Put a text or JSON at a path.

    The content is --text, --json-content or --file. What stood there is kept: 'memhold undo' brings it back.
    """
    if sum(one is not None for one in (text, json_content, file)) != 1:
        raise click.UsageError("pass the content as --text, as --json-content or as --file (- for standard input)")
    content: Any = text if text is not None else _read(file) if file is not None else _parsed(json_content or "")
    with opened(common, create=True) as (_, scope):
        done = scope.documents.put(content=content, **arguments)
    common.show(done, lambda: show_answer(verbs_of(AsyncDocuments)["put"], arguments, done))


def _read(file: TextIO) -> str:
    """All that a file holds; of one that never ends, or is too long, no more than shows that."""
    text = file.read(MAX_BYTES + 1)
    if len(text) > MAX_BYTES:
        raise TooLarge(
            f"{file.name} has more than the {MAX_BYTES:,} bytes that fit one document: split it over several paths",
            size=len(text),
            limit=MAX_BYTES,
        )
    return text


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput("--json-content is not JSON of moderate depth; quote it for the shell") from None


documents_command.add_command(_put)
for _verb in verbs_of(AsyncDocuments).values():
    if _verb.command is not None and _verb.command.by_hand is None:
        _made = command_of(_verb, _verb.command, lambda scope: scope.documents)
        _made.short_help = _verb.command.line
        documents_command.add_command(_made)
