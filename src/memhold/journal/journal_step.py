"""The small units of due work that call no model: keys whose time has come, windows to keep raw again."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from memhold.journal.archive import archive, uncovered
from memhold.journal.change import KEPT_AGAIN, UPKEEP, note_change
from memhold.ports.stores import Ids
from memhold.ports.transaction import WriteTx

__all__ = ["drop_expired_keys", "keep_raw"]


def drop_expired_keys(tx: WriteTx) -> None:
    """Keys that nobody may send again any more; the next look is a day on, so that keys go in lots."""
    soonest = tx.drop_expired_keys()
    if soonest is not None:
        tx.put_due("keys", "expired", max(soonest, tx.now + timedelta(days=1)))


def keep_raw(tx: WriteTx, session_id: str, ids: Ids, secret: bytes) -> None:
    """Messages behind the cursor that nothing holds any more (their summary was forgotten) are kept raw again."""
    session = tx.find_session(session_id)
    if session is None:
        return
    messages = uncovered(tx, session)
    if session.torn:
        tx.put_session(replace(session, torn=False))
    if not messages:
        return
    _, effects = archive(tx, messages, secret=secret, ids=ids)
    note_change(tx, ids.new("chg"), "archive", KEPT_AGAIN, by=UPKEEP, effects=effects)
