"""What one call may bring."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one call may bring.

    `message_bytes` bounds a whole message as JSON in UTF-8, images written as data URLs included: 8 MiB holds the
    largest image that a provider takes (5 MiB, a third more as base64). `text_bytes` bounds what a person would read
    in it, which is what gets indexed: 1 MiB is more than most models read at once. `batch_messages` and `batch_bytes`
    bound a call, so that one write never keeps the others waiting for long. `ahead` is how far a time may lie in the
    future: clocks differ, and a zone mistaken for another is at most a day off.
    """

    message_bytes: int = 8 * 1024 * 1024
    text_bytes: int = 1024 * 1024
    batch_messages: int = 10_000
    batch_bytes: int = 64 * 1024 * 1024
    ahead: timedelta = timedelta(days=1)
