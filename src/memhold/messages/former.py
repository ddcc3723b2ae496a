"""Who wrote a message that was stored before that was kept: read from its role and its body, the safe way. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memhold.messages.shapes import read_message
from memhold.values.errors import InvalidMessage
from memhold.values.records import WRITERS, Origin, Passage
from memhold.values.written_by import writer_of

__all__ = ["former_passages"]


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
