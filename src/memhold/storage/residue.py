"""Looking for the bytes of a text below a folder: the proof that forgetting is real."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from memhold.values.answers import Residue
from memhold.values.errors import InvalidInput

__all__ = ["MIN_CHARS", "checked_text", "scan"]

MIN_CHARS = 4
"""Shorter texts stand in any file by chance."""


def scan(files: Mapping[Path, str], text: str, *, chunks: Callable[[str], Iterator[bytes]]) -> Residue:
    """Count where the text stands in the files, as UTF-8, as UTF-16 and as JSON with escapes.

    `files` says under which name each is told. `chunks` reads a file piece by piece; a store reads its own files in the
    way that does them no harm.

    Raises:
        InvalidInput: the text has fewer than 4 characters.
    """
    checked_text(text)
    needles = {text.encode("utf-8", "surrogatepass"), text.encode("utf-16-le", "surrogatepass")}
    needles.add(json.dumps(text)[1:-1].encode())
    found: dict[str, int] = {}
    size = 0
    for path, name in files.items():
        length, count = _count(chunks(str(path)), needles)
        size += length
        if count:
            found[name] = found.get(name, 0) + count
    return Residue(found=found, files=len(files), bytes=size)


def checked_text(text: str) -> None:
    """Refuse a text that stands anywhere by chance.

    Raises:
        InvalidInput: the text has fewer than 4 characters.
    """
    if len(text) < MIN_CHARS:
        raise InvalidInput(f"residue needs at least {MIN_CHARS} characters to look for; pass a longer text")


def _count(pieces: Iterator[bytes], needles: Iterable[bytes]) -> tuple[int, int]:
    """How long the pieces are together, and how often the needles stand in them, also across their edges."""
    length = total = 0
    tails = dict.fromkeys(needles, b"")
    for piece in pieces:
        length += len(piece)
        for needle, tail in tails.items():
            view = tail + piece
            at = view.find(needle)
            while at >= 0:
                total += 1
                at = view.find(needle, at + 1)
            tails[needle] = view[-(len(needle) - 1) :]
    return length, total
