"""What is let stand of rows of sessions and changes that are damaged: what is still known of them, as rows again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memhold.storage.sql.blocks import Row
from memhold.storage.sql.digests import CHANGE, SESSION, change_digest, detail_digest, session_digest
from memhold.storage.sql.rows import change_params
from memhold.values.records import ROTTEN, Author, Change, from_micros

__all__ = ["DamagedChange", "damaged_changes", "standing_change", "standing_sessions"]

_CRC = len(CHANGE)
_SEQ, _AT = CHANGE.index("seq"), CHANGE.index("at")
_METADATA = SESSION.index("metadata")


def standing_sessions(found: Sequence[Row]) -> list[dict[str, Any]]:
    """What to set in those of these rows that are damaged; metadata that is no JSON object any more is emptied.

    One in which something is not of its kind stays as it is.
    """
    made = []
    for row in found:
        if session_digest(row) == row[len(SESSION)]:
            continue
        kept = [*row]
        kept[_METADATA] = row[_METADATA] if _is_object(row[_METADATA]) else "{}"
        digest = session_digest(kept)
        if digest >= 0:
            made.append({"session_id": row[SESSION.index("session_id")], "metadata": kept[_METADATA], "crc": digest})
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedChange:
    """A change whose row is damaged, and between which times it was (microseconds)."""

    id: str
    row: Row
    earliest: int
    latest: int


def damaged_changes(found: Sequence[Row], *, now: int) -> Iterator[DamagedChange]:
    """Those of all changes of a scope, in their order, that are damaged; not one whose id or place is none any more."""
    sound = [
        (change_digest(row), detail_digest(row[CHANGE.index("detail")])) == tuple(row[_CRC : _CRC + 2]) for row in found
    ]
    times = [row[_AT] if known else None for row, known in zip(found, sound, strict=True)]
    for place, row in enumerate(found):
        item = row[CHANGE.index("id")]
        if not sound[place] and _is_text(item) and isinstance(row[_SEQ], int):
            before = (at for at in reversed(times[:place]) if at is not None)
            behind = (at for at in times[place + 1 :] if at is not None)
            yield DamagedChange(id=item, row=row, earliest=next(before, 0), latest=next(behind, now))


def standing_change(damaged: DamagedChange, forgotten: Sequence[str]) -> dict[str, Any]:
    """The columns of a damaged change as it stands from now on; `forgotten` is what marks of forgetting say it forgot.

    Its id, its place and when it was (between its neighbours) stay; it touched what its effects say. Where its detail
    alone is damaged, that alone is emptied.
    """
    row = damaged.row
    held = dict(zip(CHANGE, row, strict=False))
    if change_digest(row) == row[_CRC]:
        return {**held, "detail": "{}", "crc": row[_CRC], "detail_crc": detail_digest("{}")}
    at = held["at"] if isinstance(held["at"], int) else damaged.earliest
    change = Change(
        id=damaged.id,
        seq=0,
        verb="forget" if forgotten else ROTTEN,
        reason="it was damaged on the disk, and what it said is not known",
        by=Author(origin="rules", name="doctor"),
        at=from_micros(max(damaged.earliest, min(at, damaged.latest))),
        sources=tuple(forgotten),
    )
    known = change_params(change, held["seq"])
    return {**known, "undone_by": held["undone_by"] if _is_text(held["undone_by"]) else None}


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value.isprintable()


def _is_object(text: object) -> bool:
    try:
        return isinstance(json.loads(str(text).encode()), dict)
    except ValueError:
        return False
