"""Token estimate (placeholder replaced below)."""

from typing import Any
from collections.abc import Mapping


def estimate_message(message: Mapping[str, Any]) -> int:
    return len(str(message))
