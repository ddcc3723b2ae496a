"""Rows of an add are bound in the order of their columns: their digests are taken of them as they stand."""

from __future__ import annotations

from datetime import UTC, datetime

from memhold.storage.sql.digests import CHANGE, MESSAGE, SESSION
from memhold.storage.sql.rows import change_params, message_params, session_params
from memhold.values.records import Author, Change, Message, Session

NOW = datetime(2026, 11, 26, tzinfo=UTC)


def test_parameters_stand_in_the_order_of_the_columns() -> None:
    session = Session(id="ses_1", name="s", number=1, created_at=NOW, last_at=NOW)
    change = Change(id="chg_1", seq=0, verb="add", reason="messages arrived", by=Author(origin="user"), at=NOW)
    message = Message(
        id="msg_1",
        number=0,
        session="s",
        seq=1,
        role="user",
        body={"role": "user", "content": "tea"},
        shape="openai",
        text="tea",
        event_time=NOW,
        recorded_at=NOW,
        change_id="chg_1",
    )
    assert (*session_params(session),) == (*SESSION, "crc")
    assert (*change_params(change, 1),) == (*CHANGE, "crc", "detail_crc")
    assert (*message_params(message),) == (*MESSAGE, "crc")
