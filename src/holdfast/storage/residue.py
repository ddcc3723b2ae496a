"""Looking for the bytes of a text below a folder: the proof that forgetting is real."""

from __future__ import annotations

import json
import mmap
from collections.abc import Iterable
from pathlib import Path

from holdfast.answers import Residue
from holdfast.errors import InvalidInput

__all__ = ["MIN_CHARS", "scan"]

MIN_CHARS = 4
"""Shorter texts stand in any file by chance."""


def scan(files: Iterable[Path], text: str) -> Residue:
    """Count where the text stands in the files, as UTF-8, as UTF-16 and as JSON with escapes.

    Raises:
        InvalidInput: the text has fewer than 4 characters.
    """
    if len(text) < MIN_CHARS:
        raise InvalidInput(f"residue needs at least {MIN_CHARS} characters to look for")
    needles = {text.encode("utf-8", "surrogatepass"), text.encode("utf-16-le", "surrogatepass")}
    needles.add(json.dumps(text)[1:-1].encode())
    found: dict[str, int] = {}
    looked = size = 0
    for path in files:
        looked += 1
        size += path.stat().st_size
        count = _count(path, needles)
        if count:
            found[path.name] = count
    return Residue(found=found, files=looked, bytes=size)


def _count(path: Path, needles: Iterable[bytes]) -> int:
    if path.stat().st_size == 0:
        return 0
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
        total = 0
        for needle in needles:
            at = view.find(needle)
            while at >= 0:
                total += 1
                at = view.find(needle, at + 1)
        return total
