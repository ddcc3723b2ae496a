"""Who wrote a message, read from what a store or an export has of it: the safe way where it does not say. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memhold.messages.shapes import read_message
from memhold.values.errors import InvalidMessage
from memhold.values.origins import writer_of
from memhold.values.records import WRITERS, Message, Origin, Passage, WrittenBy

__all__ = ["claim_of", "former_passages"]


def former_passages(role: str, body: Mapping[str, Any], text: str, origin: Origin) -> tuple[Passage, ...]:
    """One passage for the whole text, since it has one document in the indexes: of the writer who counts least.

    So what a tool returned beside what a person typed makes nobody's word of either.
    """
    if not role:
        return ()
    try:
        kinds = [piece.kind for piece in read_message(body).pieces]
    except InvalidMessage:
        kinds = []
    writers = [writer_of(kind, role, origin) for kind in kinds or ["attachment"]]
    least = max(writers, key=WRITERS.index)
    return (Passage(start=0, end=len(text), written_by=least),)


def claim_of(message: Message) -> WrittenBy | list[WrittenBy | None] | None:
    """Who wrote a message as the key `written_by` of a message that is added says it; None where nobody knows."""
    content = message.body.get("content")
    if len(message.writers) <= 1 or not isinstance(content, list):
        return max(message.writers, key=WRITERS.index, default=None)
    parts: list[WrittenBy | None] = [None] * len(content)
    for piece in read_message(message.body).pieces:
        if piece.block is not None:
            parts[piece.block] = next((one.written_by for one in message.passages if one.end >= piece.end), None)
    return parts
