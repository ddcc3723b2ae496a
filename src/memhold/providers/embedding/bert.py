"""The forward pass of BERT and MPNet in NumPy, from weights in a safetensors file. No other library, no code from it.

Sources of the architectures: Devlin et al., "BERT" (2019); Song et al., "MPNet" (2020), whose attention knows how far
apart two tokens are, in the buckets of Raffel et al., "T5" (2020). Of the file format: the safetensors README (length
of the header in 8 bytes, the header as JSON, then the tensors).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memhold.values.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Bert", "erf", "read_bert", "read_safetensors"]

_FARTHEST = 128
"""From this many tokens apart on all distances are one bucket."""

_LONGEST_HEADER = 100_000_000
_DTYPES: Mapping[str, str] = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4"}


def read_safetensors(path: Path) -> dict[str, NDArray[Any]]:
    """Every tensor of a safetensors file, by name: memory-mapped, but for bfloat16, which is widened to float32.

    Raises:
        InvalidInput: the file is not in this format, or is cut.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > min(size - 8, _LONGEST_HEADER):
            raise InvalidInput(f"{path} is not a safetensors file, or is cut")
        try:
            header = json.loads(file.read(length))
        except ValueError as error:
            raise InvalidInput(f"{path} is not a safetensors file: its header is no JSON") from error
    data = np.memmap(path, dtype=np.uint8, mode="r", offset=8 + length)
    tensors: dict[str, NDArray[Any]] = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] not in _DTYPES:
            continue
        begin, end = entry["data_offsets"]
        if end > data.size:
            raise InvalidInput(f"{path} is cut: the tensor {name} ends beyond the file")
        flat = data[begin:end].view(_DTYPES[entry["dtype"]])
        if entry["dtype"] == "BF16":
            flat = (flat.astype(np.uint32) << 16).view(np.float32)
        tensors[name] = flat.reshape(entry["shape"])
    return tensors


# Rational approximation of erf on [-4, 4] as used by Eigen and XLA; tested against math.erf to 1e-6.
_ERF_OVER = (
    -2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05,
    -7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02,
)  # fmt: skip
_ERF_UNDER = (
    -1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03,
    -1.42647390514189e-02,
)  # fmt: skip


def erf(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """The error function, element by element, to about 1e-6."""
    x = np.clip(x, -4.0, 4.0)
    square = x * x
    over = np.full_like(x, _ERF_OVER[0])
    for factor in _ERF_OVER[1:]:
        over *= square
        over += np.float32(factor)
    under = np.full_like(x, _ERF_UNDER[0])
    for factor in _ERF_UNDER[1:]:
        under *= square
        under += np.float32(factor)
    over *= x
    over /= under
    return over


def _gelu(x: NDArray[np.float32]) -> NDArray[np.float32]:
    grown = erf(x * np.float32(1 / math.sqrt(2)))
    grown += np.float32(1)
    grown *= x
    grown *= np.float32(0.5)
    return grown


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    """One layer's weights, transposed so that rows are multiplied from the left; query, key and value in one."""

    qkv: NDArray[np.float32]
    qkv_bias: NDArray[np.float32]
    out: NDArray[np.float32]
    out_bias: NDArray[np.float32]
    norm: tuple[NDArray[np.float32], NDArray[np.float32]]
    up: NDArray[np.float32]
    up_bias: NDArray[np.float32]
    down: NDArray[np.float32]
    down_bias: NDArray[np.float32]
    last_norm: tuple[NDArray[np.float32], NDArray[np.float32]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bert:
    """The weights of an encoder. It is thread-safe: nothing in it changes.

    `positions` begins with that of a text's first token. `distances` is MPNet's: by bucket of the distance between two
    tokens what each head adds to their score; None in BERT.
    """

    words: NDArray[np.float32]
    positions: NDArray[np.float32]
    norm: tuple[NDArray[np.float32], NDArray[np.float32]]
    layers: tuple[_Layer, ...]
    heads: int
    epsilon: float
    distances: NDArray[np.float32] | None = None

    @property
    def width(self) -> int:
        """The length of a token's vector."""
        return int(self.words.shape[1])

    @property
    def longest(self) -> int:
        """How many tokens a text may have, its marks included."""
        return int(self.positions.shape[0])

    def tokens(self, numbers: NDArray[np.int64], mask: NDArray[np.bool_]) -> NDArray[np.float32]:
        """The last layer's vectors, shape (texts, tokens, width), for padded token numbers and where they are real."""
        batch, length = numbers.shape
        x = self.words[numbers] + self.positions[:length]
        x = self._normed(x.reshape(-1, self.width), self.norm)
        shade = np.where(mask, np.float32(0), np.float32(-1e9))[:, None, None, :]
        if self.distances is not None:
            shade = shade + self.distances[_buckets(length, len(self.distances))].transpose(2, 0, 1)
        for layer in self.layers:
            x = self._layer(x, layer, shade, batch, length)
        return x.reshape(batch, length, self.width)

    def _layer(
        self, x: NDArray[np.float32], layer: _Layer, shade: NDArray[np.float32], batch: int, length: int
    ) -> NDArray[np.float32]:
        size = self.width // self.heads
        split = (x @ layer.qkv + layer.qkv_bias).reshape(batch, length, 3, self.heads, size).transpose(2, 0, 3, 1, 4)
        scores = split[0] @ split[1].swapaxes(-1, -2)
        scores *= np.float32(1 / math.sqrt(size))
        scores += shade
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        seen = (scores @ split[2]).transpose(0, 2, 1, 3).reshape(-1, self.width)
        x = self._normed(x + (seen @ layer.out + layer.out_bias), layer.norm)
        grown = _gelu(x @ layer.up + layer.up_bias)
        return self._normed(x + (grown @ layer.down + layer.down_bias), layer.last_norm)

    def _normed(
        self, x: NDArray[np.float32], norm: tuple[NDArray[np.float32], NDArray[np.float32]]
    ) -> NDArray[np.float32]:
        x = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(self.epsilon))
        x /= spread
        x *= norm[0]
        x += norm[1]
        return x


def _buckets(length: int, count: int) -> NDArray[np.int64]:
    """By the places of two tokens the bucket of their distance: half of them for each direction, near ones by one."""
    ahead = np.arange(length)[None, :] - np.arange(length)[:, None]
    half = count // 2
    exact = half // 2
    apart = np.abs(ahead)
    with np.errstate(divide="ignore"):
        grown = np.log(apart.astype(np.float32) / np.float32(exact)) / np.float32(math.log(_FARTHEST / exact))
    far = np.minimum(exact + (np.maximum(grown, 0) * (half - exact)).astype(np.int64), half - 1)
    return np.asarray(np.where(ahead > 0, half, 0) + np.where(apart < exact, apart, far), dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    """What an architecture calls its weights, below `encoder.layer.N.` but for `distances`."""

    qkv: tuple[str, str, str]
    out: str
    norm: str
    distances: str | None = None
    first: int = 0
    """The place of a text's first token."""


_ARCHITECTURES: Mapping[str, _Names] = {
    "bert": _Names(
        qkv=("attention.self.query", "attention.self.key", "attention.self.value"),
        out="attention.output.dense",
        norm="attention.output.LayerNorm",
    ),
    "mpnet": _Names(
        qkv=("attention.attn.q", "attention.attn.k", "attention.attn.v"),
        out="attention.attn.o",
        norm="attention.LayerNorm",
        distances="encoder.relative_attention_bias.weight",
        first=2,
    ),
}


def read_bert(folder: Path) -> Bert:
    """The encoder of a folder with `config.json` and `model.safetensors`.

    Raises:
        InvalidInput: another architecture, or weights that are missing or damaged.
    """
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    kind, act = config.get("model_type", "bert"), config.get("hidden_act", "gelu")
    names = _ARCHITECTURES.get(kind)
    if names is None or act != "gelu" or config.get("position_embedding_type", "absolute") != "absolute":
        known = " and ".join(_ARCHITECTURES)
        raise InvalidInput(
            f"{folder} is a {kind} model ({act}); in NumPy only {known} with gelu run, others need an ONNX file"
        )
    tensors = read_safetensors(folder / "model.safetensors")
    stem = f"{kind}." if any(name.startswith(f"{kind}.") for name in tensors) else ""

    def weight(name: str) -> NDArray[np.float32]:
        if stem + name not in tensors:
            raise InvalidInput(f"{folder}: the weights {name} are missing")
        return np.ascontiguousarray(tensors[stem + name], dtype=np.float32)

    def pair(name: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return weight(f"{name}.weight"), weight(f"{name}.bias")

    def turned(name: str) -> NDArray[np.float32]:
        return np.ascontiguousarray(weight(f"{name}.weight").T)

    def layer(number: int) -> _Layer:
        base = f"encoder.layer.{number}"
        parts = [f"{base}.{one}" for one in names.qkv]
        return _Layer(
            qkv=np.ascontiguousarray(np.concatenate([turned(one) for one in parts], axis=1)),
            qkv_bias=np.concatenate([weight(f"{one}.bias") for one in parts]),
            out=turned(f"{base}.{names.out}"),
            out_bias=weight(f"{base}.{names.out}.bias"),
            norm=pair(f"{base}.{names.norm}"),
            up=turned(f"{base}.intermediate.dense"),
            up_bias=weight(f"{base}.intermediate.dense.bias"),
            down=turned(f"{base}.output.dense"),
            down_bias=weight(f"{base}.output.dense.bias"),
            last_norm=pair(f"{base}.output.LayerNorm"),
        )

    positions = weight("embeddings.position_embeddings.weight")[names.first :]
    if kind == "bert":
        positions = positions + weight("embeddings.token_type_embeddings.weight")[0]
    return Bert(
        words=weight("embeddings.word_embeddings.weight"),
        positions=positions,
        norm=pair("embeddings.LayerNorm"),
        layers=tuple(layer(number) for number in range(int(config["num_hidden_layers"]))),
        heads=int(config["num_attention_heads"]),
        epsilon=float(config.get("layer_norm_eps", 1e-12)),
        distances=None if names.distances is None else weight(names.distances),
    )
