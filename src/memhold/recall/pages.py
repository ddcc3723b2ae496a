"""Pages of a recall: the moment that they are all of, and the cursor, which names what was shown already.

A position in a ranking is no place to go on from: a forget changes the scores of what stays. So a cursor carries the
moment of its first page and the numbers of the documents that were shown, and the next page is the best of the rest.
What is found all along is shown exactly once, whatever is written, hidden, forgotten or replaced in between.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING

from memhold.index.words import best_first
from memhold.ports.idempotency import keyed_digest
from memhold.ports.transaction import ReadTx
from memhold.values.answers import Query
from memhold.values.errors import InvalidInput, TooLarge
from memhold.values.jsonable import to_jsonable
from memhold.values.records import Scope, from_micros, micros

if TYPE_CHECKING:
    from memhold.index.repeats import Repeats
    from memhold.values.arrays import Floats, Mask, Rows

__all__ = ["MAX_CURSOR", "Place", "best_left", "place_of", "read_snapshot", "unshown"]

MAX_CURSOR = 500_000
"""Longest cursor, in characters: at about one and a half for each hit that was shown, over 300,000 hits."""
_FORM = "c1"
_SEAL = 12
_SNAPSHOT = re.compile(r"n[0-9]{1,18}\.t[0-9]{1,17}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a recall stands: the moment of its first page, and what was shown since, as document numbers in order."""

    ceiling: int
    now: datetime
    shown: tuple[int, ...] = ()
    secret: bytes = b""

    @property
    def snapshot(self) -> str:
        """The moment alone."""
        return f"n{self.ceiling}.t{micros(self.now)}"

    def cursor(self, query: Query, scope: Scope, shown: Iterable[int]) -> str:
        """The text to go on with once these were shown too; it fits this question in this scope and no other."""
        numbers = sorted({*self.shown, *shown})
        steps = [after - before for before, after in pairwise([-1, *numbers])]
        body = b"".join(map(_packed, [self.ceiling, micros(self.now), *steps]))
        return _FORM + base64.urlsafe_b64encode(_seal(self.secret, query, scope, body) + body).decode().rstrip("=")


def place_of(tx: ReadTx, query: Query, secret: bytes) -> Place:
    """Where a query goes on: at its cursor, at its snapshot, or now.

    Raises:
        InvalidInput: the cursor is damaged, of another question, scope or store, or of a later state of this one.
        TooLarge: it has more than 500,000 characters.
    """
    if query.cursor is not None:
        place = _read(query, tx.scope, secret)
        if place.ceiling > tx.document_count():
            raise InvalidInput(
                "the cursor names messages that this store does not have, as after restoring an older backup; "
                "leave the cursor out to begin again"
            )
        return place
    ceiling, now = read_snapshot(query.snapshot) or (tx.document_count(), tx.now)
    return Place(ceiling=ceiling, now=now, secret=secret)


def read_snapshot(text: str | None) -> tuple[int, datetime] | None:
    """The number of documents and the time of a snapshot.

    Raises:
        InvalidInput: it is none.
    """
    if text is None:
        return None
    number, _, moment = text.partition(".")
    if _SNAPSHOT.fullmatch(text) is None:
        raise InvalidInput(f"{text!r:.40} is not a snapshot of a recall; pass the one that the first page gave")
    return int(number[1:]), from_micros(int(moment[1:]))


def _read(query: Query, scope: Scope, secret: bytes) -> Place:
    text = query.cursor or ""
    if len(text) > MAX_CURSOR:
        message = f"the cursor has {len(text)} characters; at most {MAX_CURSOR} are read"
        raise TooLarge(message, size=len(text), limit=MAX_CURSOR)
    foreign = InvalidInput(
        f"{text!r:.40} is not a cursor of this question here; pass the one that the last page gave, with the same "
        "question, filters, scope and store"
    )
    try:
        data = base64.b64decode(text.removeprefix(_FORM) + "=" * (-(len(text) - len(_FORM)) % 4), b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise foreign from None
    seal, body = data[:_SEAL], data[_SEAL:]
    if not text.startswith(_FORM) or not hmac.compare_digest(seal, _seal(secret, query, scope, body)):
        raise foreign
    ceiling, now, *steps = _unpacked(body)
    shown, number = [], -1
    for step in steps:
        number += step
        shown.append(number)
    return Place(ceiling=ceiling, now=from_micros(now), shown=tuple(shown), secret=secret)


def _seal(secret: bytes, query: Query, scope: Scope, body: bytes) -> bytes:
    """What binds a cursor to a store, a scope and a question; how a page is shown may differ from page to page."""
    same = replace(query, limit=1, offset=0, neighbours=0, explain=False, expect=None, snapshot=None, cursor=None)
    asked = json.dumps(to_jsonable(same), sort_keys=True, default=repr)
    whose = json.dumps([scope.namespace, scope.user, scope.agent])
    return keyed_digest(secret, "recall cursor", whose, asked, body.hex())[:_SEAL]


def _packed(number: int) -> bytes:
    """A number from 0 in bytes of 7 bits, the lowest first; the eighth bit says that more follow."""
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


def _unpacked(body: bytes) -> Iterator[int]:
    number = shift = 0
    for byte in body:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield number
            number = shift = 0


# --------------------------------------------------------------------------------------------- what is left to show


def unshown(may: Mask, shown: Rows, repeats: Repeats | None) -> Mask:
    """What is found and was not shown, without what says the same as something that was and is still found."""
    if not len(shown):
        return may
    left = may.copy()
    left[shown] = False
    if repeats is not None:
        for row in shown[may[shown]].tolist():
            left[repeats.of(row)] = False
    return left


def best_left(order: Rows, may: Mask, score: Floats, repeats: Repeats | None) -> Rows:
    """An order of texts without those that may not be shown; where only the best copy may not, the next best stands."""
    if bool(may[order].all()):
        return order
    import numpy as np

    order = order.copy()
    if repeats is not None:
        for place in np.flatnonzero(~may[order] & (repeats.group[order] >= 0)).tolist():
            same = repeats.of(int(order[place]))
            order[place] = next(iter(best_first(score, same[may[same]], 1).tolist()), order[place])
    kept: Rows = order[may[order]]
    return kept
