"""The forward pass of Nomic's BERT in NumPy, with its vocabulary, from a GGUF file.

Source of the architecture: Nussbaum et al., "Nomic Embed" (2024): BERT with rotary positions (Su et al., "RoFormer",
2021) in the place of learnt ones, gated units (Shazeer, "GLU Variants", 2020), and no biases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from memhold.providers.embedding.gguf import read_gguf
from memhold.providers.embedding.wordpiece import WordPiece
from memhold.values.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memhold.values.arrays import Floats

__all__ = ["Nomic", "read_nomic"]

_BEGINS = "\u2581"
"""What a piece that begins a word has in front of it in this format; the others have none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    """One layer's weights, transposed so that rows are multiplied from the left; query, key and value in one."""

    qkv: Floats
    out: Floats
    norm: tuple[Floats, Floats]
    up: Floats
    gate: Floats
    down: Floats
    last_norm: tuple[Floats, Floats]


@dataclass(frozen=True, slots=True, kw_only=True)
class Nomic:
    """The weights of the encoder. It is thread-safe: nothing in it changes."""

    words: Floats
    norm: tuple[Floats, Floats]
    layers: tuple[_Layer, ...]
    heads: int
    epsilon: float
    base: float
    """By how much the turns of the slowest pair of places are slower than those of the fastest."""

    @property
    def width(self) -> int:
        """The length of a token's vector."""
        return int(self.words.shape[1])

    def tokens(self, numbers: NDArray[np.int64], mask: NDArray[np.bool_]) -> Floats:
        """The last layer's vectors, shape (texts, tokens, width), for padded token numbers and where they are real."""
        batch, length = numbers.shape
        embedded: Floats = self.words[numbers].reshape(-1, self.width)
        x = self._normed(embedded, self.norm)
        shade = np.where(mask, np.float32(0), np.float32(-1e9))[:, None, None, :]
        turns = self._turns(length)
        for layer in self.layers:
            x = self._layer(x, layer, shade, turns, (batch, length))
        return x.reshape(batch, length, self.width)

    def _turns(self, length: int) -> tuple[Floats, Floats]:
        """Cosine and sine of the angle by which each place turns each pair of a head's numbers."""
        half = self.width // self.heads // 2
        speed = self.base ** -(np.arange(half, dtype=np.float64) / half)
        angle = np.arange(length)[:, None] * speed[None, :]
        return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)

    def _layer(
        self, x: Floats, layer: _Layer, shade: Floats, turns: tuple[Floats, Floats], shape: tuple[int, int]
    ) -> Floats:
        size = self.width // self.heads
        split = (x @ layer.qkv).reshape(*shape, 3, self.heads, size).transpose(2, 0, 3, 1, 4)
        scores = _turned(split[0], turns) @ _turned(split[1], turns).swapaxes(-1, -2)
        scores *= np.float32(1 / math.sqrt(size))
        scores += shade
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        seen = (scores @ split[2]).transpose(0, 2, 1, 3).reshape(-1, self.width)
        x = self._normed(x + seen @ layer.out, layer.norm)
        gate: Floats = x @ layer.gate
        # x * sigmoid(x); beyond 80 the sigmoid is 0 or 1 in 32 bits, and the exponential would overflow.
        gate /= 1 + np.exp(-np.clip(gate, -80, 80))
        gate *= x @ layer.up
        return self._normed(x + gate @ layer.down, layer.last_norm)

    def _normed(self, x: Floats, norm: tuple[Floats, Floats]) -> Floats:
        x = x - x.mean(axis=-1, keepdims=True)
        x /= np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(self.epsilon))
        x *= norm[0]
        x += norm[1]
        return x


def _turned(x: Floats, turns: tuple[Floats, Floats]) -> Floats:
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    cosine, sine = turns
    turned: Floats = np.concatenate([first * cosine - second * sine, second * cosine + first * sine], axis=-1)
    return turned


def read_nomic(path: Path) -> tuple[Nomic, WordPiece]:
    """The encoder and its tokenizer.

    Raises:
        InvalidInput: another architecture, quantised weights, or a damaged file.
    """
    held = read_gguf(path)
    about = held.about
    if about.get("general.architecture") != "nomic-bert" or about.get("tokenizer.ggml.model") != "bert":
        raise InvalidInput(f"{path} is a {about.get('general.architecture')!s:.40} model; nomic-bert runs here")

    def weight(name: str) -> Floats:
        if name not in held.tensors:
            raise InvalidInput(f"{path}: the weights {name} are missing or quantised; take the file with 16 bits")
        return np.ascontiguousarray(held.tensors[name], dtype=np.float32)

    def pair(name: str) -> tuple[Floats, Floats]:
        return weight(f"{name}.weight"), weight(f"{name}.bias")

    def turned(name: str) -> Floats:
        return np.ascontiguousarray(weight(f"{name}.weight").T)

    def layer(number: int) -> _Layer:
        base = f"blk.{number}"
        return _Layer(
            qkv=turned(f"{base}.attn_qkv"),
            out=turned(f"{base}.attn_output"),
            norm=pair(f"{base}.attn_output_norm"),
            up=turned(f"{base}.ffn_up"),
            gate=turned(f"{base}.ffn_gate"),
            down=turned(f"{base}.ffn_down"),
            last_norm=pair(f"{base}.layer_output_norm"),
        )

    try:
        model = Nomic(
            words=weight("token_embd.weight") + weight("token_types.weight")[0],
            norm=pair("token_embd_norm"),
            layers=tuple(layer(number) for number in range(int(about["nomic-bert.block_count"]))),
            heads=int(about["nomic-bert.attention.head_count"]),
            epsilon=float(about["nomic-bert.attention.layer_norm_epsilon"]),
            base=float(about["nomic-bert.rope.freq_base"]),
        )
        return model, _wordpiece(about["tokenizer.ggml.tokens"])
    except KeyError as error:
        raise InvalidInput(f"{path} does not tell {error}") from error


def _wordpiece(pieces: Sequence[str]) -> WordPiece:
    """The tokenizer of a list of pieces: those that begin a word are marked, and not those that go on with one."""
    named = {}
    for number, piece in enumerate(pieces):
        if piece.startswith(_BEGINS):
            named[piece.removeprefix(_BEGINS)] = number
        else:
            named[piece if piece.startswith("[") and piece.endswith("]") else f"##{piece}"] = number
    return WordPiece(vocabulary=named, unknown=named["[UNK]"], start=named["[CLS]"], end=named["[SEP]"])
