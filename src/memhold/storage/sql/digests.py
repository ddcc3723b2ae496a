"""Rows of content: their columns, and a digest, a CRC over every column that never changes in its row.

It is kept in the row itself. It is for rot (a flipped bit, a page of other bytes), not for tampering. Left out are
columns that upkeep rewrites without reading the rest: what hides a row, when a revision ended, how often a fact was
asked for, when it expires.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from zlib import crc32

from memhold.values.records import micros

__all__ = [
    "ADVICE",
    "BLOCKS",
    "CHANGE",
    "CONTENT",
    "FILLED",
    "KEYS",
    "MEMORY",
    "MESSAGE",
    "SESSION",
    "block_digests",
    "change_digest",
    "columns_of",
    "detail_digest",
    "digests_of",
    "facts_digest",
    "id_of",
    "memory_digest",
    "message_digest",
    "select_content",
    "session_digest",
    "session_problem",
    "shown_id",
    "sound_messages",
    "sound_row",
    "update_digests",
    "with_columns",
    "with_digest",
]

Row = Sequence[Any]

MESSAGE = (
    *("number", "seq", "embed", "event_time", "recorded_at"),
    *("id", "session_id", "agent_id", "role", "shape", "change_id", "body", "text", "metadata", "quotes", "origin"),
    *("actor", "written_by"),
)
"""The columns of a message as every statement reads them: numbers, texts, and two that may be absent. `crc` stands
behind them."""
MEMORY = (
    *("rev", "number", "pinned", "event_time", "valid_from", "created_at", "recorded_at"),
    *("id", "agent_id", "session_id", "kind", "state", "tier", "subject", "attribute", "value", "fact_key"),
    *("operation", "text", "topics", "entities", "metadata", "importance", "origin", "trust", "superseded_by", "actor"),
    *("quotes", "standing", "doubts"),
    *("valid_to", "last_confirmed_at", "evidence", "expires_at", "unrecorded_at"),
)
"""The columns of a memory: numbers, texts, and five that may change or be absent. `crc` stands behind them."""
CHANGE = (
    *("seq", "at"),
    *("id", "verb", "reason", "by", "sources", "spans", "undoes"),
    *("undone_by", "detail"),
)
"""The columns of a change: numbers, texts, and two that may change. `crc` and `detail_crc` stand behind them."""
SESSION = (
    *("id", "session_id", "number", "last_seq", "cursor", "rev", "created_at", "last_at", "ended_at"),
    *("window_start", "asked", "pending_tokens", "torn", "metadata"),
)
"""The columns of a session, which is written as a whole: its digest covers all of them. `crc` stands behind them."""
KEYS: Mapping[str, tuple[str, ...]] = {
    "message": ("namespace", "user_id", "number"),
    "memory": ("namespace", "user_id", "id", "rev"),
    "change": ("namespace", "user_id", "seq"),
    "word_block": ("namespace", "user_id", "first"),
    "session": ("namespace", "user_id", "session_id"),
    "vector_block": ("namespace", "user_id", "generation", "first"),
}
"""The tables with digests, and the columns that name a row of them."""
FILLED: Mapping[int, tuple[str, ...]] = {
    6: ("message", "memory", "change"),
    11: ("session",),
    12: ("word_block", "vector_block"),
}
"""The migrations after which rows of tables get their digests. A column that a later one adds is NULL in these rows,
and changes no digest.

Blocks that have some by then keep them, and the migration adds their place: one that was damaged stays so."""
BLOCKS = {"word_block": "records_crc", "vector_block": "marks_crc"}
"""The tables of blocks, and the digest to which their place is added."""
CONTENT = {"message": "msg_", "memory": "mem_", "change": "chg_", "session": "ses_"}
"""The tables whose rows have an id, and what theirs begin with."""
_ERASE = (
    "they are left out of every answer; restore a backup of before (one that holds such rows is refused), 'memhold"
    " forget' each of them, or erase them all with 'memhold doctor --repair rows'"
)
ADVICE = {
    "message": _ERASE,
    "memory": _ERASE,
    "session": (
        "nothing more is written to them; restore a backup of before, or let stand what is in them with 'memhold doctor"
        " --repair rows'"
    ),
    "change": (
        "history and undo of what they touched are refused; restore a backup of before, or go on without what they said"
        " with 'memhold doctor --repair rows': they then stand in the history as damaged"
    ),
}
"""What to do about rows that do not agree with their digests, by the table of content that they stand in."""
_COLUMNS = {
    "message": MESSAGE, "memory": MEMORY, "change": CHANGE, "session": SESSION,
    "word_block": ("records", "entries"), "vector_block": ("marks", "vectors"),
}  # fmt: skip
_DIGESTS = {
    **dict.fromkeys(("message", "memory", "session"), ("crc",)),
    "change": ("crc", "detail_crc"),
    "word_block": ("records_crc", "entries_crc"),
    "vector_block": ("marks_crc", "vectors_crc"),
}
_PLACE = re.compile(r"\{(:?)(message|memory|change|session)(?::(\w+))?\}")

_NONE = -1
"""The digest of a row in which something is not even of its kind: no row has it."""
_FAULTS = (TypeError, UnicodeEncodeError)
_PRIME = 4_294_967_291
"""The largest below 2**32: no power of two is a multiple of it, so a flipped bit of a number always shows."""
_MEMORY_TEXTS, _VALID_TO, _CONFIRMED, _LEFT_OUT = slice(7, 30), 30, 31, slice(32, 35)
_EARLIEST, _LATEST = micros(datetime.min.replace(tzinfo=UTC)), micros(datetime.max.replace(tzinfo=UTC))
_CHANGE_TEXTS = slice(2, 9)
_ENDED_AT, _METADATA = SESSION.index("ended_at"), SESSION.index("metadata")


def message_digest(row: Row) -> int:
    """The digest that a message's row should have."""
    try:
        return _message_digests((row,))[0]
    except _FAULTS:
        return _NONE


def sound_messages(found: Sequence[Row]) -> bool:
    """Whether every one of these rows of messages agrees with its digest; many at once cost half of one by one."""
    try:
        return _message_digests(found) == [row[len(MESSAGE)] for row in found]
    except _FAULTS:
        return False


def _message_digests(found: Sequence[Row]) -> list[int]:
    # Written out: it is done for each row that is read. An actor that is absent counts as an empty one; rows that do
    # not say who wrote them have the digests of before.
    joined = "\x1f".join
    return [
        crc32(
            (joined(row[5:16]) + f"\x1f{row[16] or ''}" + ("" if row[17] is None else f"\x1f{row[17]}")).encode(),
            (row[0] + row[1] + row[2] + row[3] + row[4]) % _PRIME,
        )
        for row in found
    ]


def memory_digest(row: Row) -> int:
    """The digest that a memory's row should have."""
    try:
        numbers = sum(row[:7]) + (row[_VALID_TO] or 0) + (row[_CONFIRMED] or 0)
        for other in row[_LEFT_OUT]:
            # Not in the digest, but no time or count all the same.
            if other and not _EARLIEST <= other <= _LATEST:
                return _NONE
        return crc32("\x1f".join(filter(None, row[_MEMORY_TEXTS])).encode(), numbers % _PRIME)
    except _FAULTS:
        return _NONE


def change_digest(row: Row) -> int:
    """The digest that a change's row should have, but for its detail, which a forget empties."""
    try:
        return crc32("\x1f".join(filter(None, row[_CHANGE_TEXTS])).encode(), sum(row[:2]) % _PRIME)
    except _FAULTS:
        return _NONE


def detail_digest(detail: str) -> int:
    """The digest of a change's detail; that of `{}` stands in the statements that empty it."""
    try:
        return crc32(detail.encode())
    except (AttributeError, UnicodeEncodeError):
        return _NONE


def session_digest(row: Row) -> int:
    """The digest that a session's row should have."""
    try:
        numbers = sum(row[2:_ENDED_AT]) + (row[_ENDED_AT] or 0) + sum(row[_ENDED_AT + 1 : _METADATA])
        return crc32("\x1f".join((row[0], row[1], row[_METADATA])).encode(), numbers % _PRIME)
    except _FAULTS:
        return _NONE


def block_digests(first: int, one: bytes, other: bytes) -> tuple[int, int]:
    """The digests of a block of words or of vectors: CRCs of its two parts, to the one of which its place is added.

    A block that stands elsewhere would be of other documents. What is appended goes on with the CRC without the place.
    """
    try:
        return crc32(one) + first, crc32(other)
    except _FAULTS:
        return _NONE, _NONE


def session_problem(session_id: str) -> str:
    """What is said where a damaged session is to be written to."""
    shown = shown_id("session", session_id)
    return f"{shown} is damaged on the disk; run 'memhold doctor', then 'memhold doctor --repair rows'"


def facts_digest(store_id: str, secret: bytes) -> int:
    """The digest of what a file says of itself."""
    return crc32(secret, crc32(store_id.encode()))


def with_columns(sql: str) -> str:
    """A statement with `{message}`, `{memory:m}`, `{:change}` and their like spelled out."""

    def spelled(found: re.Match[str]) -> str:
        before = f"{found[3]}." if found[3] else found[1]
        return ", ".join(f"{before}{name}" for name in (*_COLUMNS[found[2]], *_DIGESTS[found[2]]))

    return _PLACE.sub(spelled, sql)


def select_content(table: str, lacking: Collection[str] = ()) -> str:
    """A statement that reads every row of a table with digests: its key, its columns, its digests.

    A column that the table is `lacking` still is read as NULL.
    """
    columns = (*KEYS[table], *("NULL" if name in lacking else name for name in _COLUMNS[table]), *_DIGESTS[table])
    return f"SELECT {', '.join(columns)} FROM {table}"  # noqa: S608 - names of this module


def columns_of(table: str) -> tuple[str, ...]:
    """The columns of a table that its digests cover, and some that they leave out."""
    return _COLUMNS[table]


def digests_of(table: str, row: Row) -> tuple[int, ...]:
    """The digests that a row of `select_content` should have, as its last columns hold them."""
    content = row[len(KEYS[table]) : len(KEYS[table]) + len(_COLUMNS[table])]
    match table:
        case "message":
            return (message_digest(content),)
        case "memory":
            return (memory_digest(content),)
        case "change":
            return (change_digest(content), detail_digest(content[CHANGE.index("detail")]))
        case "session":
            return (session_digest(content),)
        case _:
            return block_digests(row[len(KEYS[table]) - 1], *content)


def sound_row(table: str, row: Row) -> bool:
    """Whether a row of `select_content` agrees with its digests."""
    wanted = digests_of(table, row)
    return wanted == tuple(row[-len(wanted) :])


def id_of(table: str, row: Row) -> str:
    """The id of a row of `select_content` of a table of content, as it can be shown."""
    return shown_id(table, row[len(KEYS[table]) + _COLUMNS[table].index("id")])


def shown_id(table: str, item: Any) -> str:
    """An id that may have rotted, as text that can be printed and passed, and that says of what kind it is."""
    prefix = CONTENT[table]
    return f"{prefix}{str(item)[len(prefix) :]}".encode("utf-8", "backslashreplace").decode()


def update_digests(table: str, parameter: str) -> str:
    """A statement that sets the digests of one row: parameters are the digests, then the key."""
    changed = ", ".join(f"{name} = {parameter}" for name in _DIGESTS[table])
    named = " AND ".join(f"{name} = {parameter}" for name in KEYS[table])
    return f"UPDATE {table} SET {changed} WHERE {named}"  # noqa: S608 - names of this module


def with_digest(params: dict[str, Any], columns: tuple[str, ...], digest: Callable[[Row], int]) -> dict[str, Any]:
    """The parameters of an insert, their digest among them; those in the order of the columns need no sorting."""
    row = [*params.values()] if (*params,) == columns else [params.setdefault(name) for name in columns]
    params["crc"] = digest(row)
    return params
