"""Time and ids as the running system gives them; tests pass their own (`memhold.testing`)."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import Literal
from uuid import uuid4

import uuid_utils

__all__ = ["SystemClock", "TimeOrderedIds"]


class SystemClock:
    """The wall clock and the running loop's sleep."""

    def now(self) -> datetime:
        """The current time, aware UTC."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Sleep on the running event loop."""
        await asyncio.sleep(seconds)


class TimeOrderedIds:
    """UUID version 7 (RFC 9562): sortable by time, 74 random bits, so never guessed and never the same twice."""

    def new(self, prefix: Literal["msg", "mem", "chg", "ses", "sus"]) -> str:
        """A new id such as `mem_0198c2f0a1b27c3e9d4f…` (32 hexadecimal digits)."""
        if time.time() < 0:
            # It counts milliseconds since 1970, and ends the process where there are none.
            return f"{prefix}_{uuid4().hex}"
        return f"{prefix}_{uuid_utils.uuid7().hex}"
