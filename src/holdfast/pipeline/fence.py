"""Recalled text inside a conversation: what stands in a Holdfast fence is quoted, and is not learnt again.

A fence is two lines around the text. The first carries ids and a tag that only this store can make, so nobody hides
text from consolidation by typing a fence, and text that was recalled is known again wherever it is pasted.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Sequence

__all__ = ["OWN_TOOLS", "fenced", "quotations", "without_quotations"]

OWN_TOOLS = frozenset(
    {"recall", "get_context", "memory_history", "memory_status", "holdfast_recall", "holdfast_context"}
)
"""Tools of Holdfast whose results are recalled text as a whole."""

_FENCE = re.compile(
    r"^<holdfast-recall ids=\"(?P<ids>[\w, -]*)\" tag=\"(?P<tag>[0-9a-f]{16})\">\n(?P<text>.*?)\n</holdfast-recall>$",
    re.DOTALL | re.MULTILINE,
)


def fenced(text: str, ids: Sequence[str], *, secret: bytes) -> str:
    """The text in a fence that names what it was recalled from."""
    listed = ", ".join(ids)
    body = text.replace("</holdfast-recall>", "<\\/holdfast-recall>")
    return f'<holdfast-recall ids="{listed}" tag="{_tag(listed, body, secret)}">\n{body}\n</holdfast-recall>'


def quotations(text: str, *, secret: bytes) -> list[str]:
    """The texts that stand in genuine fences of this store, in order."""
    return [found["text"] for found in _FENCE.finditer(text) if _genuine(found, secret)]


def without_quotations(text: str, *, secret: bytes) -> str:
    """The text with every genuine fence replaced by a word that says so; what a user typed stays as it is."""
    return _FENCE.sub(lambda found: "(recalled memory)" if _genuine(found, secret) else found[0], text)


def _genuine(found: re.Match[str], secret: bytes) -> bool:
    return hmac.compare_digest(found["tag"], _tag(found["ids"], found["text"], secret))


def _tag(ids: str, text: str, secret: bytes) -> str:
    key = hmac.new(secret, b"holdfast fence", hashlib.sha256).digest()
    return hmac.new(key, f"{ids}\0{text}".encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:16]
