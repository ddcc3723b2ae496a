"""How many tokens a text costs at most: an estimate from the scripts and the runs that it is made of.

For models whose vocabulary no installed library carries. The estimate is linear in counts of characters by class and by
the class before them. The weights are the solution of a linear program: the least average
excess that is nowhere under the largest count of five real tokenizers (o200k, cl100k, Claude 2, Tekken, and a 32k
SentencePiece with byte fallback) on 6,267 pieces of 25 to 8,000 characters: prose of 24 languages, code, JSON, tables,
logs, URLs, hex, base64, emoji, runs of blanks. MARGIN comes on top. With it the excess over the largest of the five is
26 % on average; fitted on half of the documents, 10 of 3,127 pieces of the other half were under, by 10.7 % at most.

Invariants: the empty text costs nothing; a text never costs more than its UTF-8 bytes and one (no vocabulary with byte
fallback can need more); a prefix never costs more than the whole; the same text always costs the same.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Count", "Counted", "estimate_message", "estimate_tokens"]

Count = Callable[[str], int]
"""How many tokens a text has: the estimate, or a tokenizer of the model's family."""

MARGIN = 1.05
"""On top of the fitted weights, for texts that were not measured."""
FRAME = 4
"""On top of any text, as the first and last words of a short one may cost more than their share."""
MESSAGE = 8
"""Tokens of a message beside its content: role and delimiters (OpenAI documents 3 or 4; chat templates reach 8)."""
IMAGE = 1_600
"""Tokens of an image: the most that OpenAI and Anthropic document for one of standard resolution."""
BASE64_PER_TOKEN = 8
"""Characters of encoded audio or of an encoded document that count as one token."""

_START, _SPACE, _BREAK, _LOWER, _UPPER, _DIGIT, _MARK, _LATIN = range(8)
_CYRILLIC, _HANGUL, _KANA, _HAN, _TWO, _RARE, _ASTRAL, _ABUGIDA = range(8, 16)
_LETTERS = (_LOWER, _UPPER, _LATIN)
_ANY = tuple(range(16))
_NO_LETTER = tuple(one for one in _ANY if one not in _LETTERS)
_BINS = 16
_PAIRS = 256

_WEIGHTS: tuple[tuple[tuple[int, ...], tuple[int, ...], float], ...] = (
    (_ANY, (_DIGIT,), 1.0),
    (tuple(one for one in _ANY if one != _DIGIT), (_DIGIT,), 0.01),
    ((_MARK,), (_DIGIT,), 0.21),
    (_LETTERS, (_DIGIT,), 0.13),
    (_ANY, (_MARK,), 0.45),
    (_NO_LETTER, _LETTERS, 1.03),
    (tuple(one for one in _NO_LETTER if one != _SPACE), _LETTERS, 0.12),
    ((_LOWER, _LATIN), (_UPPER,), 2.19),
    ((_UPPER,), (_UPPER,), 0.41),
    (_NO_LETTER, (_UPPER,), 0.16),
    (_ANY, (_LATIN,), 3.24),
    (_ANY, (_CYRILLIC,), 0.5),
    (tuple(one for one in _ANY if one != _CYRILLIC), (_CYRILLIC,), 0.26),
    ((_SPACE,), (_CYRILLIC,), 0.96),
    (_ANY, (_HANGUL,), 1.3),
    ((_SPACE,), (_HANGUL,), 0.83),
    (_ANY, (_KANA,), 1.0),
    ((_SPACE,), (_KANA,), 1.19),
    (_ANY, (_HAN,), 1.41),
    ((_SPACE,), (_HAN,), 2.15),
    (_ANY, (_TWO,), 1.29),
    (_ANY, (_RARE,), 3.0),
    ((_SPACE,), (_RARE,), 2.06),
    (_ANY, (_ASTRAL,), 3.63),
    ((_SPACE,), (_ASTRAL,), 3.5),
    (_ANY, (_ABUGIDA,), 2.13),
    ((_DIGIT,), (_SPACE,), 1.25),
    ((_SPACE,), (_SPACE,), 0.23),
    ((_BREAK,), (_SPACE,), 0.24),
    (_ANY, (_BREAK,), 0.87),
    (tuple(one for one in _ANY if one != _BREAK), (_BREAK,), 0.33),
)
"""Tokens for each character of a class behind one of these classes; all that fit a character are added up."""
_UNREPEATED: Mapping[int, float] = {_MARK: 0.35}
"""Tokens more for a character of the class unless the same character stands before it."""
_PLACES: tuple[tuple[int, int, float], ...] = (
    (4, 5, 0.05),
    (6, 7, 0.36),
    (8, 9, 0.54),
    (10, 12, 0.23),
    (13, 14, 0.92),
    (15, 15, 0.78),
)
"""Tokens more for a letter at these places of its word, the first letter being 1 and the last row for all beyond."""


def estimate_tokens(text: str) -> int:
    """An upper estimate of the tokens of `text` for current model families, without any vocabulary.

    Pure and deterministic. A prefix never costs more than the whole, and nothing costs more than its UTF-8 bytes + 1.
    """
    if not text:
        return 0
    import numpy as np

    counted = float(np.dot(_counts(text), _weights()))
    return min(len(text.encode("utf-8", "surrogatepass")) + 1, math.ceil(MARGIN * counted) + FRAME)


class Counted:
    """A `Count` that remembers what the texts that were counted last cost; safe to share between threads.

    A window and a profile are counted anew each turn, and change little. Texts are known by their BLAKE2b digest of 128
    bits, so that none of them stays in memory here, which `forget` could not reach.
    """

    __slots__ = ("_count", "_most", "_older", "_recent")

    def __init__(self, count: Count = estimate_tokens, texts: int = 20_000) -> None:
        self._count = count
        self._most = max(1, texts // 2)
        self._recent: dict[bytes, int] = {}
        self._older: dict[bytes, int] = {}

    def __call__(self, text: str) -> int:
        """What the text costs, as the count itself gives it."""
        key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        found = self._recent.get(key)
        if found is None:
            found = self._older.get(key)
            if found is None:
                found = self._count(text)
            if len(self._recent) >= self._most:  # what was not asked for since the last time goes
                self._older, self._recent = self._recent, {}
            self._recent[key] = found
        return found


def estimate_message(message: Mapping[str, Any], count: Count = estimate_tokens) -> int:
    """An upper estimate of the tokens of one message of either shape: its text, its calls, its images and its frame.

    `count` is for the texts; frames, images and encoded files are estimated in any case.
    """
    rest = {key: value for key, value in message.items() if key not in {"role", "content"} and value is not None}
    total = MESSAGE + (count(_plain(rest)) if rest else 0)
    content = message.get("content")
    if isinstance(content, str):
        return total + count(content)
    return total + sum(_part(part, count) for part in content or ())


def _part(part: Mapping[str, Any], count: Count) -> int:
    kind = part.get("type")
    if kind in {"image", "image_url", "input_image"}:
        return IMAGE
    if kind == "text":
        return count(str(part.get("text", "")))
    encoded = _encoded(part)
    if encoded:
        return encoded // BASE64_PER_TOKEN + MESSAGE
    inner = part.get("content")
    if kind == "tool_result" and isinstance(inner, list | tuple):
        frame = {key: value for key, value in part.items() if key != "content"}
        return count(_plain(frame)) + sum(_part(one, count) for one in inner)
    return count(_plain(part))


def _encoded(part: Mapping[str, Any]) -> int:
    """Characters of base64 in an audio or document part."""
    holders = [part.get(key) for key in ("source", "input_audio", "file")]
    values = [holder.get(key) for holder in holders if isinstance(holder, Mapping) for key in ("data", "file_data")]
    is_text = any(isinstance(holder, Mapping) and holder.get("type") == "text" for holder in holders)
    return 0 if is_text else sum(len(value) for value in values if isinstance(value, str))


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _counts(text: str) -> NDArray[np.float64]:
    """How often each pair of classes, each repeated character's class, and each place in a word occurs."""
    import numpy as np

    if text.isascii():
        points: NDArray[Any] = np.frombuffer(text.encode(), dtype=np.uint8)
        classes = _classes()[:128].take(points)
    else:
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        classes = _classes().take(points, mode="clip")  # what is beyond the table is its last entry
    codes = classes.copy()
    codes[1:] += classes[:-1] << 4
    pairs = np.bincount(codes, minlength=_PAIRS)
    repeated = np.bincount(classes[1:][points[1:] == points[:-1]], minlength=16)
    return np.concatenate([pairs, repeated, _in_words(_letters().take(classes))]).astype(np.float64)


def _in_words(letters: NDArray[np.bool_]) -> NDArray[np.float64]:
    """How many letters stand at each place of their word, from 1; the last entry counts all beyond."""
    import numpy as np

    padded = np.zeros(len(letters) + 2, dtype=np.bool_)
    padded[1:-1] = letters
    edges = np.flatnonzero(padded[1:] != padded[:-1])
    lengths = edges[1::2] - edges[::2]
    by_length = np.bincount(np.minimum(lengths, _BINS - 1), minlength=_BINS)
    places = np.cumsum(by_length[::-1])[::-1].astype(np.float64)
    places[0] = 0
    places[-1] = np.maximum(lengths - (_BINS - 2), 0).sum()
    return places


@cache
def _weights() -> NDArray[np.float64]:
    """The weight of each entry of `_counts`."""
    import numpy as np

    weights = np.zeros(_PAIRS + 16 + _BINS)
    for before, classes, weight in _WEIGHTS:
        for pair in (16 * first + second for first in before for second in classes):
            weights[pair] += weight
    for name, weight in _UNREPEATED.items():
        weights[[16 * before + name for before in _ANY]] += weight
        weights[_PAIRS + name] -= weight
    for first, last, weight in _PLACES:
        weights[_PAIRS + 16 + first : _PAIRS + 16 + last + 1] += weight
    return weights


@cache
def _letters() -> NDArray[np.bool_]:
    import numpy as np

    return np.isin(np.arange(16), _LETTERS)


@cache
def _classes() -> NDArray[np.uint8]:
    """The class of each character of the basic plane; the last entry stands for all beyond it."""
    import numpy as np

    table = np.full(0x10000, _RARE, dtype=np.uint8)
    table[0x80:0x800] = _TWO
    table[0x00:0x20] = _TWO
    table[0x21:0x7F] = _MARK
    table[0x2010:0x2030] = _TWO
    table[ord("0") : ord("9") + 1] = _DIGIT
    table[ord("A") : ord("Z") + 1] = _UPPER
    table[ord("a") : ord("z") + 1] = _LOWER
    table[ord(" ")] = _SPACE
    table[[9, 10, 11, 12, 13]] = _BREAK
    table[0xC0:0x180] = _LATIN
    table[0x400:0x530] = _CYRILLIC
    table[0x900:0xF00] = _ABUGIDA
    table[0x10A0:0x1100] = _ABUGIDA
    table[0x3000:0x30FF] = _KANA
    table[0x3130:0x3190] = _KANA
    table[0xFF00:0xFFEF] = _KANA
    table[0xAC00:0xD7A4] = _common(0xAC00, 0xD7A4, {"euc_kr": (0xB0, 0xC8)}, _HANGUL)
    first_levels = {"gb2312": (0xB0, 0xD7), "shift_jis": (0x88, 0x97), "big5": (0xA4, 0xC6)}
    table[0x4E00:0xA000] = _common(0x4E00, 0xA000, first_levels, _HAN)
    table[0xFFFF] = _ASTRAL
    return table


def _common(first: int, end: int, charsets: Mapping[str, tuple[int, int]], name: int) -> list[int]:
    """`name` for the characters in the everyday rows (lead bytes) of a national character set, rare for the others."""
    common = {
        text
        for charset, (low, high) in charsets.items()
        for text in map(chr, range(first, end))
        if text.encode(charset, "ignore")[:1] and low <= text.encode(charset, "ignore")[0] <= high
    }
    return [name if chr(point) in common else _RARE for point in range(first, end)]
