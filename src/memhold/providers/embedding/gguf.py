"""A GGUF file's metadata and its unquantised tensors. No code from it, no other library.

Source of the format: the specification in ggml's documentation (version 3; version 2 has the same layout).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from memhold.values.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Gguf", "read_gguf"]

_NUMBERS: Final = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_TEXT, _LIST = 8, 9
_DTYPES: Final = {0: "<f4", 1: "<f2"}
_MOST: Final = 1 << 24
"""More entries than this in a list, or bytes in a text, no file of an embedding has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gguf:
    """What the file tells of itself, and its tensors by name, memory-mapped; quantised ones are left out."""

    about: Mapping[str, Any]
    tensors: Mapping[str, NDArray[Any]]


class _Reader:
    """Values in a row from the head of a file; what ends before it should is damaged."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        self._data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        _at_most(size, min(_MOST, len(self._data) - self.at))
        self.at += size
        return self._data[self.at - size : self.at].tobytes()

    def number(self, kind: str) -> Any:
        return struct.unpack(kind, self.take(struct.calcsize(kind)))[0]

    def text(self) -> str:
        return self.take(self.number("<Q")).decode("utf-8")

    def value(self, kind: int, *, inside: bool = False) -> Any:
        if kind == _TEXT:
            return self.text()
        if kind in _NUMBERS:
            return self.number(_NUMBERS[kind])
        if kind != _LIST or inside:
            raise ValueError
        kind = self.number("<I")
        return [self.value(kind, inside=True) for _ in range(_at_most(self.number("<Q"), _MOST))]


def _at_most(size: int, limit: int) -> int:
    if size > limit:
        raise ValueError
    return size


def read_gguf(path: Path) -> Gguf:
    """A GGUF file.

    Raises:
        InvalidInput: the file is not in this format, or is cut.
    """
    data = np.memmap(path, dtype=np.uint8, mode="r") if path.stat().st_size else np.zeros(0, dtype=np.uint8)
    reader = _Reader(data)
    try:
        about, placed = _head(reader)
        align = int(about.get("general.alignment", 32))
        start = -(-reader.at // align) * align
        held = {}
        for name, shape, kind, offset in placed:
            if kind in _DTYPES:
                size = prod(shape) * np.dtype(_DTYPES[kind]).itemsize
                flat = data[start + offset : start + offset + size]
                held[name] = flat.view(_DTYPES[kind]).reshape(shape)
    except (ValueError, ZeroDivisionError) as error:
        raise InvalidInput(f"{path} is not a GGUF file, or is cut") from error
    return Gguf(about=about, tensors=held)


_Placed = tuple[str, tuple[int, ...], int, int]
"""A tensor's name, shape (the outermost first, as NumPy has it), type and place behind the head."""


def _head(reader: _Reader) -> tuple[dict[str, Any], list[_Placed]]:
    if reader.take(4) != b"GGUF" or reader.number("<I") not in {2, 3}:
        raise ValueError
    tensors, entries = (_at_most(reader.number("<Q"), _MOST) for _ in range(2))
    about = {reader.text(): reader.value(reader.number("<I")) for _ in range(entries)}
    return about, [_tensor(reader) for _ in range(tensors)]


def _tensor(reader: _Reader) -> _Placed:
    name, count = reader.text(), _at_most(reader.number("<I"), 4)
    shape = tuple(reader.number("<Q") for _ in range(count))[::-1]
    return name, shape, reader.number("<I"), reader.number("<Q")
