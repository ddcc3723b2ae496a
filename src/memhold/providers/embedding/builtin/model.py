"""The built-in embedding: a static table of token vectors, read from the package. No download, no service, no model.

A text's vector is the sum of its pieces' rows, at unit length. The rows were distilled from all-MiniLM-L6-v2 by
`scripts/distill_embedding.py` and trained after all-mpnet-base-v2 by `scripts/train_embedding.py` (both Apache-2.0, see
NOTICE); `table.json` names the teacher and the settings, and by digest the start, the texts and every file.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256, shake_128
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn

from memhold.providers.embedding.builtin.glossary import glossaries_digest, glossary_texts
from memhold.providers.embedding.builtin.pieces import ANALYSIS, PieceReader, Pieces
from memhold.values.errors import ModelDamaged

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["BUILTIN_DIRECTORY", "BuiltinEmbedding", "builtin_embedding"]

BUILTIN_DIRECTORY: Final = Path(__file__).with_name("table")

_FILES: Final = ("codes.npy", "scales.npy", "vocabulary.txt")
# The weight of what has no row, a gram or an emoji, in lengths of the median row: it matches itself, and says nothing.
# A power of two, so that every sum stays exact.
_BARE_WEIGHT: Final = 0.125
# Below this many characters a call is shorter than the hop to a thread and back would be.
_INLINE_CHARS: Final = 4_096
# Pieces that are looked up at once; a longer text is counted first, so its memory is bounded by the vocabulary.
_ROWS_AT_ONCE: Final = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class _Description:
    """What `table.json` says: `files` holds each file's bytes and SHA-256, `digest` is the SHA-256 over those."""

    digest: str
    dimension: int
    rows: int
    files: Mapping[str, tuple[int, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """Row i is `codes[i] * scales[i]`, and row i + rows half of it; the median row is as long as a vector of signs."""

    reader: PieceReader
    codes: NDArray[np.int8]
    scales: NDArray[np.float64]


class BuiltinEmbedding:
    """The default `EmbeddingModel`: 256 dimensions, tens of thousands of short texts a second on one core.

    It knows English, and everyday words of the languages that have a glossary, each as an English word or as two that
    are near it.

    The same text gives the same bits, alone or in any batch: products of an int8 and a float16 add up exactly in
    float64 whatever the order, so no linear algebra library can change them. Word order does not count. Words that
    neither the teacher nor a glossary knows get a fixed pseudo-random direction for each of their letter grams, so they
    match themselves and nothing else. A text without any piece, such as "", has one fixed direction of its own. There
    is no length limit: a long text counts to its end.

    Files are opened on first use, the table is memory-mapped. Safe to share between threads and tasks.

    Args:
        directory: where the table is; the one of the package unless given.
    """

    static = True

    def __init__(self, directory: Path = BUILTIN_DIRECTORY) -> None:
        self._directory = directory

    @property
    def fingerprint(self) -> str:
        """Names the table and the glossaries by their digests, and the version of the text analysis.

        Raises:
            ModelDamaged: the description of the table cannot be read.
        """
        return f"builtin-{self.dimension}-{self._described.digest[:16]}-a{ANALYSIS}-g{glossaries_digest()[:8]}"

    @property
    def dimension(self) -> int:
        """256 for the table of the package.

        Raises:
            ModelDamaged: the description of the table cannot be read.
        """
        return self._described.dimension

    async def embed(self, texts: Sequence[str], *, purpose: Literal["document", "query"]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dimension), float32, row i for text i; `purpose` makes no difference here.

        Any string has a vector. Long batches, and the first call, which opens the files, run on a thread.

        Raises:
            ModelDamaged: a file is missing, or its size or header is not what its description says.
        """
        del purpose
        if "_table" in self.__dict__ and sum(map(len, texts)) <= _INLINE_CHARS:
            return self.vectors(texts)
        return await asyncio.to_thread(self.vectors, texts)

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The same as `embed`, on the calling thread."""
        import numpy as np

        table = self._table
        sums = np.zeros((len(texts), self.dimension), np.float64)
        for total, text in zip(sums, texts, strict=True):
            _add_pieces(total, table, table.reader.read(text))
        lengths = np.sqrt((sums * sums).sum(axis=1))
        for i in np.flatnonzero(lengths == 0):
            sums[i] = _directions(("",), self.dimension)
            lengths[i] = self.dimension**0.5
        unit: NDArray[np.float32] = (sums / lengths[:, None]).astype(np.float32)
        return unit

    def verify(self) -> None:
        """Read every file whole and compare its SHA-256 with the description: what `doctor` asks for.

        Raises:
            ModelDamaged: a file is missing or differs in a byte; `path`, `expected`, `found`.
        """
        digests = []
        for name, (_, expected) in self._described.files.items():
            found = sha256(self._read(name)).hexdigest()
            if found != expected:
                _damaged(self._directory / name, f"sha256 {expected}", f"sha256 {found}")
            digests.append(found)
        found = sha256("".join(digests).encode()).hexdigest()
        if found != self._described.digest:
            _damaged(self._directory / "table.json", f"digest {self._described.digest}", f"digest {found}")

    def _read(self, name: str) -> bytes:
        try:
            return (self._directory / name).read_bytes()
        except OSError as error:
            _damaged(self._directory / name, "a readable file", type(error).__name__)

    @cached_property
    def _described(self) -> _Description:
        path = self._directory / "table.json"
        try:
            described = json.loads(self._read(path.name))
            return _Description(
                digest=str(described["digest"]),
                dimension=int(described["dimension"]),
                rows=int(described["rows"]),
                files={
                    name: (int(described["files"][name]["bytes"]), str(described["files"][name]["sha256"]))
                    for name in _FILES
                },
            )
        except (ValueError, KeyError, TypeError) as error:
            _damaged(path, "the description of a table", type(error).__name__)

    @cached_property
    def _table(self) -> _Table:
        import numpy as np

        described = self._described
        for name, (expected, _) in described.files.items():
            path = self._directory / name
            size = path.stat().st_size if path.is_file() else None
            if size != expected:
                _damaged(path, f"{expected} bytes", "no such file" if size is None else f"{size} bytes")
        codes = self._array("codes.npy", np.dtype(np.int8), (described.rows, described.dimension))
        scales = self._array("scales.npy", np.dtype("<f2"), (described.rows,))
        if not (np.isfinite(scales) & (scales > 0)).all():
            _damaged(self._directory / "scales.npy", "finite positive scales", "others")
        pieces = self._read("vocabulary.txt").decode("utf-8", "replace").split("\n")
        vocabulary = {piece: row for row, piece in enumerate(pieces)}
        if len(vocabulary) != described.rows:
            path = self._directory / "vocabulary.txt"
            _damaged(path, f"{described.rows} different lines", f"{len(vocabulary)} different lines")
        return _Table(
            reader=PieceReader(vocabulary, glossary_texts()),
            codes=codes,
            scales=np.concatenate([scales.astype(np.float64), scales.astype(np.float64) / 2]),
        )

    def _array(self, name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
        import numpy as np

        path = self._directory / name
        expected = f"{dtype.str}{shape}"
        try:
            array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, OSError, EOFError) as error:
            _damaged(path, expected, type(error).__name__)
        if array.dtype != dtype or array.shape != shape:
            _damaged(path, expected, f"{array.dtype.str}{array.shape}")
        # The plain view of the same mapping: indexing numpy.memmap itself costs more than the lookup.
        return array.view(np.ndarray)


@cache
def builtin_embedding() -> BuiltinEmbedding:
    """The built-in embedding of this process: whatever is opened shares its table, and the words that it has read."""
    return BuiltinEmbedding()


def _add_pieces(total: NDArray[np.float64], table: _Table, pieces: Pieces) -> None:
    import numpy as np

    rows = np.array(pieces.rows, np.intp)
    if len(rows) > _ROWS_AT_ONCE:
        rows, counts = np.unique(rows, return_counts=True)
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            part = rows[start : start + _ROWS_AT_ONCE]
            weights = table.scales.take(part) * counts[start : start + _ROWS_AT_ONCE]
            total += weights @ table.codes.take(part, axis=0, mode="wrap").astype(np.float64)
    elif len(rows):
        total += table.scales.take(rows) @ table.codes.take(rows, axis=0, mode="wrap").astype(np.float64)
    for bare in (pieces.grams, pieces.symbols):
        for start in range(0, len(bare), _ROWS_AT_ONCE):
            total += _BARE_WEIGHT * _directions(bare[start : start + _ROWS_AT_ONCE], len(total))


def _directions(grams: Sequence[str], dimension: int) -> NDArray[np.float64]:
    """The sum of the grams' signs: +1 or -1 in each dimension, from the bits of SHAKE-128 of the gram."""
    import numpy as np

    digests = b"".join(shake_128(gram.encode("utf-8", "surrogatepass")).digest(dimension // 8) for gram in grams)
    bits = np.unpackbits(np.frombuffer(digests, np.uint8).reshape(len(grams), -1), axis=1)
    signs: NDArray[np.float64] = 2.0 * bits.sum(axis=0, dtype=np.float64) - len(grams)
    return signs


def _damaged(path: Path, expected: str, found: str) -> NoReturn:
    raise ModelDamaged(
        f"the built-in embedding is damaged: {path.name} should be {expected}, found {found}; reinstall memhold",
        model="builtin",
        cls="park",
        path=str(path),
        expected=expected,
        found=found,
    )
