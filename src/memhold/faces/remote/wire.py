"""What crosses between a client and a server beside plain values: errors, zones, messages and times as given."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any, cast
from zoneinfo import ZoneInfo

from memhold.messages.shapes import listed_messages
from memhold.ports.idempotency import carried, checked_key
from memhold.values import errors
from memhold.values.errors import Attempt, InvalidInput, InvalidMessage, MemholdError, NaiveTime, StoreError
from memhold.values.jsonable import from_jsonable, iso, json_copy

__all__ = [
    "ACTOR",
    "DAMAGED_ROWS",
    "EXCHANGE",
    "FORM",
    "LEFT_OUT",
    "MAX_BODY",
    "PREFIX",
    "UPLOAD",
    "USER_TYPE",
    "error_of",
    "key_header",
    "sent_messages",
    "sent_time",
    "zone_name",
    "zone_of",
]

PREFIX = "urn:memhold:problem:"
"""What the type of a problem of ours begins with (`interfaces.problems` writes it; a test compares the two)."""

ACTOR = "memhold-actor"
"""The header that says in whose name a request writes, as far as its token allows."""

LEFT_OUT = "memhold-left-out"
"""The header that says how much there is of what an export has no place for."""

DAMAGED_ROWS = "memhold-damaged"
"""The header with the ids of rows that are damaged on the disk and in no export, the first 200 of them."""

UPLOAD = "the upload"
"""What a server calls the file that it was sent."""

MAX_BODY = 16 * 1024 * 1024
"""Bytes of a request that brings a conversation, as a server takes them where nobody sets it otherwise."""

FORM = "application/x-www-form-urlencoded"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
"""What an exchange of tokens calls itself (RFC 8693)."""
USER_TYPE = "urn:memhold:params:oauth:token-type:user"
"""What is exchanged for: the name of a user, for whom the service that sends it vouches."""

_OFFSET = re.compile(r"[+-][0-9]{2}:[0-9]{2}")


def error_of(body: Any, status: int) -> MemholdError | None:
    """The error that a problem tells of, of the same class; None where it is none of ours."""
    if not isinstance(body, Mapping) or not str(body.get("type", "")).startswith(PREFIX):
        return None
    known: Any = getattr(errors, str(body["type"]).removeprefix(PREFIX), None)
    if not (isinstance(known, type) and issubclass(known, MemholdError)):
        known = StoreError if status >= 500 else MemholdError
    given = body.get("values")
    values = {
        str(name): _back(str(name), value) for name, value in (given if isinstance(given, Mapping) else {}).items()
    }
    return cast("MemholdError", known(str(body.get("detail") or body.get("title") or status), **values))


def _back(name: str, value: Any) -> Any:
    """An attribute as the error had it: lists were tuples, and attempts are values."""
    if not isinstance(value, list):
        return value
    if name == "attempts":
        return tuple(from_jsonable(Attempt, one) for one in value)
    return tuple(value)


def zone_name(zone: tzinfo) -> str:
    """A zone as text: its name in the tz database, or its offset.

    Raises:
        InvalidInput: it has neither.
    """
    key = getattr(zone, "key", None)
    if isinstance(key, str):
        return key
    offset = zone.utcoffset(None)
    if offset is None or offset.total_seconds() % 60:
        raise InvalidInput(f"the zone {zone!r:.60} has no name; pass a zoneinfo.ZoneInfo or a fixed offset")
    minutes = int(offset.total_seconds() // 60)
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def zone_of(text: str) -> tzinfo:
    """The zone that `zone_name` wrote.

    Raises:
        InvalidInput: there is none of that name.
    """
    if _OFFSET.fullmatch(text):
        hours, minutes = int(text[1:3]), int(text[4:])
        if hours < 24 and minutes < 60:
            span = timedelta(hours=hours, minutes=minutes)
            return timezone(-span if text[0] == "-" else span)
    try:
        return ZoneInfo(text)
    except (KeyError, ValueError, OSError):
        raise InvalidInput(f"the zone {text!r:.60} is unknown; name one such as Europe/Lisbon or +09:00") from None


def sent_time(value: Any) -> Any:
    """A time of a call as text; whatever is no datetime is left for the server to judge.

    Raises:
        NaiveTime: it has no zone.
    """
    return iso(value) if isinstance(value, datetime) else value


def sent_messages(messages: Any) -> Any:
    """Messages as JSON can carry them; a text is left to the verb.

    Raises:
        InvalidMessage, NaiveTime: one of them cannot be; `index` says which.
    """
    if messages is None or isinstance(messages, str):
        return messages
    found = [_sent_message(message, index) for index, message in enumerate(listed_messages(messages))]
    return found[0] if isinstance(messages, Mapping) else found


def _sent_message(message: Any, index: int) -> Any:
    try:
        if isinstance(message, Mapping) and "event_time" in message:
            message = {**message, "event_time": sent_time(message["event_time"])}
        return json_copy(message)
    except NaiveTime:
        raise
    except InvalidInput as error:
        raise InvalidMessage(f"message {index}: {error}", index=index) from None


def key_header(key: str) -> bytes:
    """An idempotency key as the bytes of its header; of one that a header cannot carry, a digest in its place.

    Raises:
        InvalidInput: it is empty, or longer than 512 characters.
    """
    return carried(checked_key(key)).encode()
