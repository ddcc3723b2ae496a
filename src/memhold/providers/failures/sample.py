"""The one place where a word of content may leave: to stderr, redacted and short, where a variable asks for it."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Final

__all__ = ["show_sample"]

_CHARACTERS: Final = 200
# Addresses, anything of 8 characters and more with a digit in it (keys, ids, hashes), and numbers.
_SECRET = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w.-]+|(?<![\w-])(?=[\w-]*\d)[\w-]{8,}|\d{3,}")


def show_sample(what: str, text: str, environment: Mapping[str, str]) -> None:
    """Write at most 200 redacted characters to stderr where MEMHOLD_DEBUG_CONTENT is 1; else nothing."""
    if environment.get("MEMHOLD_DEBUG_CONTENT") == "1" and text:
        sys.stderr.write(f"memhold: {what} (MEMHOLD_DEBUG_CONTENT): {_SECRET.sub('***', text)[:_CHARACTERS]!r}\n")
