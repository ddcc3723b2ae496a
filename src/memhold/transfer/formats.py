"""Which formats can be imported, and which one a file is in, by its content and never by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

from memhold.transfer.chatgpt import read_chatgpt
from memhold.transfer.chats import read_anthropic_json, read_openai_jsonl
from memhold.transfer.claude_code import read_claude_code
from memhold.transfer.codex import read_codex
from memhold.transfer.datasets import read_locomo, read_realmem
from memhold.transfer.export import FORMAT, read_own
from memhold.transfer.items import BATCH_MESSAGES, Batch, Item, Restored, batched
from memhold.transfer.opencode import read_opencode
from memhold.transfer.source import MAX_PIECE, Piece, Source
from memhold.values.errors import InvalidSetting, UnreadableImport

__all__ = ["READERS", "detect", "read_batches"]

Reader = Callable[[Source], Iterator[Item] | Iterator[Item | Restored]]

READERS: Mapping[str, Reader] = MappingProxyType(
    {
        "openai-jsonl": read_openai_jsonl,
        "anthropic-json": read_anthropic_json,
        "chatgpt": read_chatgpt,
        "claude-code": read_claude_code,
        "codex": read_codex,
        "opencode": read_opencode,
        "locomo": read_locomo,
        "realmem": read_realmem,
        "memhold": read_own,
    }
)
"""Every format by its name, with what reads it."""

_PROBED_LINES = 50
_TRANSCRIPT_KEYS = frozenset({"sessionId", "parentUuid", "leafUuid", "isSidechain", "isSnapshotUpdate"})
_SIGNS: Mapping[str, str] = {"dialogues": "realmem", "messages": "anthropic-json"}


def detect(path: Path) -> str:
    """The name of the format that a file is in. Only its beginning is read.

    Raises:
        UnreadableImport: the file is not there, empty, an archive, or in no known format.
    """
    if not path.is_file():
        raise UnreadableImport(f"{path}: there is no such file", path=str(path), line=None)
    source = Source(path=path, zone=UTC, now=datetime.max.replace(tzinfo=UTC), on_error="skip")
    with path.open("rb") as file:
        head = file.read(4)
        if head.startswith((b"PK\x03\x04", b"\x1f\x8b")):
            raise source.unreadable(None, "it is an archive; unpack it and import the file inside")
        lines = len(file.readline(MAX_PIECE)) < MAX_PIECE
    opening = source.opening()
    if not opening:
        raise source.unreadable(None, "it is empty")
    by_lines = _by_lines(source) if lines and opening != "[" else None
    first_is_whole = by_lines is not None and not (source.problems and source.problems[0].line == 1)
    found = by_lines if first_is_whole else _by_document(source, opening) or by_lines
    if found is None:
        raise source.unreadable(None, f"it is in no known format; name one of {', '.join(READERS)}")
    return found


def read_batches(source: Source, format_name: str, *, most: int = BATCH_MESSAGES) -> Iterator[Batch | Restored]:
    """The contents of a file in batches of at most `most` messages, in bounded memory.

    Raises:
        InvalidSetting: there is no such format.
        UnreadableImport: see `Source.bad`; what stands before the place was yielded.
    """
    if format_name not in READERS:
        raise InvalidSetting(f"the format {format_name!r} is unknown; use one of {', '.join(READERS)}", name="format")
    return batched(READERS[format_name](source), source, most=most)


def _by_lines(source: Source) -> str | None:
    """The format that the first lines tell, each an object of its own."""
    records = [record for _, record in islice(source.records(), _PROBED_LINES)]
    if records and records[0].get("type") == "header" and records[0].get("format") == FORMAT:
        return "memhold"
    if records and records[0].get("type") == "session_meta" and isinstance(records[0].get("payload"), dict):
        return "codex"
    for record in records:
        if _TRANSCRIPT_KEYS & record.keys():
            return "claude-code"
        if "role" in record:
            return "openai-jsonl"
        if isinstance(record.get("messages"), list):
            if _is_opencode(record.get("info")):
                return "opencode"
            return "anthropic-json" if len(records) == 1 and not source.skipped else "openai-jsonl"
    return None


def _by_document(source: Source, opening: str) -> str | None:
    """The format that an array's first element tells, or an object's members; an empty array holds no messages."""
    try:
        for piece in source.pieces(stream=frozenset(_SIGNS)):
            if piece.key is None:
                return _of_element(piece.value)
            if (found := _of_member(piece)) is not None or piece.index is not None:
                return found
    except UnreadableImport:
        return None
    return "anthropic-json" if opening == "[" else None


def _of_member(piece: Piece) -> str | None:
    if piece.key == "info" and _is_opencode(piece.value):
        return "opencode"
    return _SIGNS.get(piece.key or "") if piece.value is None else None


def _is_opencode(info: Any) -> bool:
    return isinstance(info, dict) and str(info.get("id")).startswith("ses_")


def _of_element(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("mapping"), dict):
        return "chatgpt"
    if isinstance(value.get("conversation"), dict):
        return "locomo"
    return "anthropic-json" if "role" in value or "messages" in value else None
