"""Which formats can be imported, and which one a file is in, by its content and never by its name."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

from memhold.transfer.chatgpt import read_chatgpt
from memhold.transfer.chats import read_anthropic_json, read_openai_jsonl
from memhold.transfer.claude_ai import read_claude_ai
from memhold.transfer.claude_code import read_claude_code
from memhold.transfer.claude_mem import read_claude_mem
from memhold.transfer.codex import read_codex
from memhold.transfer.datasets import read_locomo, read_realmem
from memhold.transfer.export import FORMAT, read_own
from memhold.transfer.items import BATCH_MESSAGES, Beside, Item, Part, Placed, Restored, batched
from memhold.transfer.langgraph_store import is_langgraph_row, read_langgraph
from memhold.transfer.letta import is_letta_agent, read_letta
from memhold.transfer.mem0 import ENTITIES, is_payload, read_mem0, read_mem0_history
from memhold.transfer.memories import is_working_memory, read_agent_memory, read_graphiti, read_mcp_memory
from memhold.transfer.mempalace import read_mempalace
from memhold.transfer.notes import looks_like_markdown, read_markdown
from memhold.transfer.opencode import read_opencode
from memhold.transfer.opencode_sessions import is_session
from memhold.transfer.source import MAX_PIECE, Piece, Source
from memhold.transfer.sqlite_files import SQLITE, rows, sqlite_file, tables_of
from memhold.values.errors import InvalidSetting, UnreadableImport

__all__ = ["OF_AGENTS", "READERS", "detect", "format_of", "read_batches"]

Reader = Callable[[Source], Iterator[Item] | Iterator[Item | Restored | Placed | Beside]]

READERS: Mapping[str, Reader] = MappingProxyType(
    {
        "openai-jsonl": read_openai_jsonl,
        "anthropic-json": read_anthropic_json,
        "chatgpt": read_chatgpt,
        "claude-ai": read_claude_ai,
        "claude-code": read_claude_code,
        "codex": read_codex,
        "opencode": read_opencode,
        "mem0": read_mem0,
        "mem0-history": read_mem0_history,
        "mcp-memory": read_mcp_memory,
        "graphiti": read_graphiti,
        "agent-memory-server": read_agent_memory,
        "claude-mem": read_claude_mem,
        "letta": read_letta,
        "langgraph": read_langgraph,
        "mempalace": read_mempalace,
        "markdown": read_markdown,
        "locomo": read_locomo,
        "realmem": read_realmem,
        "memhold": read_own,
    }
)
"""Every format by its name, with what reads it."""
OF_AGENTS = frozenset({"claude-code", "codex", "opencode"})
"""What coding agents keep: it holds what their tools printed, and with it secrets that nobody meant to keep."""

_PROBED_LINES = 50
_TRANSCRIPT_KEYS = frozenset({"sessionId", "parentUuid", "leafUuid", "isSidechain", "isSnapshotUpdate"})
_SIGNS: Mapping[str, str] = {"dialogues": "realmem"}
_LETTA_SIGNS = frozenset({"core_memory", "in_context_message_indices"})
_OF_TABLES: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"observations", "sdk_sessions"}), "claude-mem"),
    (frozenset({"store", "store_migrations"}), "langgraph"),
    (frozenset({"entities", "triples"}), "mempalace"),
)
_LISTS: Mapping[str, str] = {
    "results": "mem0",
    "memories": "agent-memory-server",
    "edges": "graphiti",
    "facts": "graphiti",
}
"""Members under which other systems list their memories; the first entry tells whose it is, else the member's name."""


def detect(path: Path) -> str:
    """The name of the format that a file is in. Only its beginning is read.

    Raises:
        UnreadableImport: the file is not there, empty, an archive, not to be imported as it is, or in no known format.
    """
    found = format_of(path)
    if found is None:
        said = f"{path}: it is in no known format; name one of {', '.join(READERS)}"
        raise UnreadableImport(said, path=str(path), line=None)
    return found


def format_of(path: Path) -> str | None:
    """The name of the format that a file is in, None where it is in none that is known.

    Raises:
        UnreadableImport: the file is not there, empty, an archive, or not to be imported as it is.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        said = f"{path}: it is a pipe or a device, and what is imported is read more than once; save it as a file first"
        raise UnreadableImport(said, path=str(path), line=None)
    if not path.is_file() and not is_session(path):
        raise UnreadableImport(f"{path}: there is no such file", path=str(path), line=None)
    source = Source(path=path, zone=UTC, now=datetime.max.replace(tzinfo=UTC), on_error="skip")
    with source.open_bytes() as file:
        head = file.read(len(SQLITE))
        if head == SQLITE:
            return _of_database(source)
        if head.startswith((b"PK\x03\x04", b"\x1f\x8b")):
            raise source.unreadable(None, "it is an archive; unpack it and import the file inside")
        lines = len(file.readline(MAX_PIECE)) < MAX_PIECE
    opening = source.opening()
    if not opening:
        raise source.unreadable(None, "it is empty")
    by_lines = _by_lines(source) if lines and opening != "[" else None
    first_is_whole = by_lines is not None and not (source.problems and source.problems[0].line == 1)
    found = by_lines if first_is_whole else _by_document(source, opening) or by_lines
    if found is None and opening not in "[{" and looks_like_markdown(source):
        return "markdown"
    return found


def read_batches(source: Source, format_name: str, *, most: int = BATCH_MESSAGES) -> Iterator[Part]:
    """The contents of a file in batches of at most `most` messages, in bounded memory.

    Raises:
        InvalidSetting: there is no such format.
        UnreadableImport: see `Source.bad`; what stands before the place was yielded.
    """
    if format_name not in READERS:
        raise InvalidSetting(f"the format {format_name!r} is unknown; use one of {', '.join(READERS)}", name="format")
    return batched(READERS[format_name](source), source, most=most)


def _of_database(source: Source) -> str | None:
    """The format that the tables of a SQLite file tell, or what is in them.

    Raises:
        UnreadableImport: it cannot be opened, is a store of Memhold's, or does not say whose memory it is.
    """
    with sqlite_file(source) as base:
        tables = tables_of(source, base)
        if {"word_block", "memory", "owner"} <= tables:
            said = (
                "it is a store of Memhold's; open it with --db, or write it out with 'memhold export' and import that"
            )
            raise source.unreadable(None, said)
        if "history" in tables and _has(source, base, "pragma_table_info('history')", "name = 'old_memory'"):
            said = (
                "it is mem0's history, which does not say whose each memory is: import mem0's vector store "
                "(the folder of Qdrant or FAISS, or chroma.sqlite3); where it is all one person's, name the format "
                "'mem0-history'"
            )
            raise source.unreadable(None, said)
        for named, found in _OF_TABLES:
            if named <= tables:
                return found
        if {"embeddings", "embedding_metadata", "collections"} <= tables:
            if _has(source, base, "collections", "name LIKE 'mempalace_%'"):
                return "mempalace"
            mem0 = f"key = 'data' AND id IN (SELECT id FROM embedding_metadata WHERE key IN ('hash', '{ENTITIES}'))"  # noqa: S608 - a name of ours
            return "mem0" if _has(source, base, "embedding_metadata", mem0) else None
        return "mem0" if tables == {"points"} else None


def _has(source: Source, base: sqlite3.Connection, table: str, where: str) -> bool:
    return any(rows(source, base, f"SELECT 1 FROM {table} WHERE {where} LIMIT 1"))  # noqa: S608 - texts of ours


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
        if is_langgraph_row(record):
            return "langgraph"
        if record.keys() >= {"agent_type", "core_memory"}:
            return "letta"
        if record.get("type") in ("entity", "relation") and {"observations", "relationType"} & record.keys():
            return "mcp-memory"
        if isinstance(record.get("messages"), list):
            if _is_opencode(record.get("info")):
                return "opencode"
            if "long_term_memory_strategy" in record or any(map(is_working_memory, record["messages"])):
                return "agent-memory-server"
            return "anthropic-json" if len(records) == 1 and not source.skipped else "openai-jsonl"
    return None


def _by_document(source: Source, opening: str) -> str | None:
    """The format that an array's first element tells, or an object's members; an empty array holds no messages.

    An object with an empty list of memories and nothing beside it is of whoever calls the list so.
    """
    empty = "anthropic-json" if opening == "[" else None
    beside = False
    try:
        for piece in source.pieces(stream=frozenset(_SIGNS) | _LISTS.keys() | {"messages"}):
            if piece.key == "messages" and piece.index is not None:
                return "agent-memory-server" if is_working_memory(piece.value) else "anthropic-json"
            if piece.key == "messages" and piece.value is None:
                empty = "anthropic-json"
            elif piece.key is None or (piece.key in _LISTS and piece.index is not None):
                return _of_element(piece.value)
            elif piece.key in _LISTS and piece.value is None:
                empty = empty or _LISTS[piece.key]
            elif (found := _of_member(piece)) is not None or piece.index is not None:
                return found
            else:
                beside = beside or (isinstance(piece.value, list | dict) and bool(piece.value))
    except UnreadableImport:
        return None
    return None if beside and empty in _LISTS.values() else empty


def _of_member(piece: Piece) -> str | None:
    if piece.key == "info" and _is_opencode(piece.value):
        return "opencode"
    if piece.key in _LETTA_SIGNS or (piece.key == "agents" and _any(piece.value, is_letta_agent)):
        return "letta"
    if piece.key == "docstore" and isinstance(piece.value, dict) and _any([*piece.value.values()], is_payload):
        return "mem0"
    return _SIGNS.get(piece.key or "") if piece.value is None and piece.index is None else None


def _any(values: Any, tells: Callable[[Any], bool]) -> bool:
    return isinstance(values, list) and any(isinstance(one, dict) and tells(one) for one in values)


def _is_opencode(info: Any) -> bool:
    return isinstance(info, dict) and str(info.get("id")).startswith("ses_")


def _of_element(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("mapping"), dict):
        return "chatgpt"
    if isinstance(value.get("conversation"), dict):
        return "locomo"
    if isinstance(value.get("chat_messages"), list):
        return "claude-ai"
    if isinstance(value.get("memory"), str) and "id" in value:
        return "mem0"
    if isinstance(value.get("fact"), str) and "uuid" in value:
        return "graphiti"
    if isinstance(value.get("text"), str) and {"memory_type", "memory_hash", "extracted_from"} & value.keys():
        return "agent-memory-server"
    return "anthropic-json" if "role" in value or "messages" in value else None
