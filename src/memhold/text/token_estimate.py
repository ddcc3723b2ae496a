"""How many tokens a text costs: an estimate for models whose vocabulary no installed library carries.

Words that are one token in each of six published vocabularies (o200k, cl100k, Llama 3, Claude 2, Tekken, and a 32k
SentencePiece with byte fallback) cost one. All else is linear in counts of its characters: by class and the class
before, by pairs of letters, by themselves in alphabets, by place in their word. A family's weights are those of least
squares that weigh what is under nine times as much as what is over; for an unknown model the target is the largest of
the six, and what is under weighs 66 times as much in everyday text of ten languages, elsewhere 500 times.
`scripts/fit_token_estimate.py` fits them, on pieces of 30 to 2,000 characters: 380 languages (the Declaration of Human
Rights), prose of 13 (FastAPI's manual), conversations, single everyday lines, code, JSON, logs, tables, hex, base64,
emoji. What they are like on other texts stands in docs/context.md.

Invariants: the empty text costs nothing; a text never costs more than its UTF-8 bytes and one (no vocabulary with byte
fallback can need more); the same text always costs the same; more lines never cost less.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "FAMILIES",
    "FRAME",
    "SIZES",
    "Count",
    "Counted",
    "estimate_for",
    "estimate_message",
    "estimate_tokens",
    "what_costs",
]

FAMILIES = ("o200k", "cl100k", "llama3", "claude2", "tekken")
"""Vocabularies that have an estimate of their own."""

Count = Callable[[str], int]
"""How many tokens a text has: the estimate, or a tokenizer of the model's family."""

MARGIN, FRAME = 1.02, 3
"""On top of the weights for an unknown model: for texts that were not measured, and for the edges of short ones."""
MESSAGE = 8
"""Tokens of a message beside its content: role and delimiters (OpenAI documents 3 or 4; chat templates reach 8)."""
IMAGE = 1_600
"""Tokens of an image: the most that OpenAI and Anthropic document for one of standard resolution."""
BASE64_PER_TOKEN = 8
"""Characters of encoded audio or of an encoded document that count as one token."""

_NAMES = (
    "start space break lower upper digit stop mark latin cyrillic cyrillic_upper greek arabic hebrew hangul1 hangul2"
    " hangul hiragana katakana wide han1 han2 han two rare astral abugida thai punctuation"
)
_CLASS = {name: number for number, name in enumerate(_NAMES.split())}
_CLASSES, _LETTERS, _PLACES, _LONGEST = 32, 62, 16, 20
_ONE_BY_ONE, _SCRIPTS, _END = 0x600, 0x900, 0xE80
"""Alphabets below the first and between the others have a weight for each character."""
SIZES = (_CLASSES * _CLASSES, _ONE_BY_ONE + _END - _SCRIPTS, _LETTERS * _LETTERS, _CLASSES, _PLACES)
"""Weights of: pairs of classes, single characters, pairs of letters, classes unless repeated, places in a word."""


def estimate_tokens(text: str) -> int:
    """An upper estimate of the tokens of `text` for any current model family, without any vocabulary.

    Pure and deterministic. Nothing costs more than its UTF-8 bytes + 1.
    """
    return _bounded(text, MARGIN * _cost(text, "unknown") + FRAME) if text else 0


def estimate_for(family: str) -> Count:
    """An estimate for one of `FAMILIES`: within a tenth of the truth for texts of some length, over or under it."""
    return lambda text: _bounded(text, _cost(text, family)) if text else 0


def _bounded(text: str, cost: float) -> int:
    return min(len(text.encode("utf-8", "surrogatepass")) + 1, math.ceil(cost))


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


def _cost(text: str, family: str) -> float:
    """The weights of a family, summed over what stands in a text."""
    import numpy as np

    *tables, places = _weights(family)
    known, *found, lengths = what_costs(text)
    near = np.minimum(lengths, _PLACES - 2)
    letters = float(places.take(near).sum() + places[-1] * (lengths - near).sum())
    return known + letters + sum(float(table.take(at).sum()) for table, at in zip(tables, found, strict=True))


def what_costs(text: str) -> tuple[int, NDArray[np.intp], NDArray[np.intp], NDArray[np.intp], NDArray[np.intp], Any]:
    """Words of one token, the entries of each table of `SIZES` but the last, once for each time, and lengths of words.

    For the script that fits the weights, and for whoever sums them.
    """
    import numpy as np

    tables = _tables()
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    classes = tables.classes.take(points, mode="clip")  # what is beyond is the last entry
    letters = tables.letters.take(points, mode="clip")
    before, letter_before = np.zeros_like(classes), np.zeros_like(letters)
    before[1:], letter_before[1:] = classes[:-1], letters[:-1]
    first = np.ones(len(points), dtype=np.bool_)
    first[1:] = points[1:] != points[:-1]
    known, rest, lengths = _words(points, classes)
    spelt = rest & (letters > 0)
    single = tables.single.take(points, mode="clip")[rest]
    return (
        known,
        (before * _CLASSES + classes)[rest],
        single[single >= 0],
        (letter_before * _LETTERS + letters)[spelt],
        classes[rest & first],
        lengths,
    )


def _words(points: NDArray[np.uint32], classes: NDArray[np.intp]) -> tuple[int, NDArray[np.bool_], NDArray[np.intp]]:
    """How many words are one token everywhere, what stands outside of them, and the lengths of the other words.

    A word is known by a hash of its letters, behind a space or at the beginning: there it is one token, space and all.
    """
    import numpy as np

    tables = _tables()
    rest = np.ones(len(points), dtype=np.bool_)
    padded = np.zeros(len(points) + 2, dtype=np.bool_)
    padded[1:-1] = tables.in_words.take(classes)
    edges = np.flatnonzero(padded[1:] != padded[:-1])
    starts, ends = edges[::2], edges[1::2]
    lengths = ends - starts
    if not len(starts):
        return 0, rest, lengths
    inside = np.flatnonzero(padded[1:-1])
    place = np.minimum(inside - np.repeat(starts, lengths), len(tables.powers) - 1)
    sums = np.zeros(len(inside) + 1, dtype=np.uint64)
    np.cumsum(points[inside].astype(np.uint64) * tables.powers.take(place), out=sums[1:])
    upto = np.cumsum(lengths)
    hashes = ((sums[upto] - sums[upto - lengths]) >> np.uint64(32)).astype(np.uint32)
    found = np.minimum(np.searchsorted(tables.words, hashes), len(tables.words) - 1)
    behind = (starts == 0) | (classes[np.maximum(starts - 1, 0)] == _CLASS["space"])
    known = (tables.words[found] == hashes) & (lengths <= _LONGEST) & behind
    rest[inside[np.repeat(known, lengths)]] = False
    return int(known.sum()), rest, lengths[~known]


@dataclass(frozen=True, slots=True)
class _Tables:
    """What is known of characters and words, whatever the family."""

    classes: NDArray[np.intp]
    letters: NDArray[np.intp]
    single: NDArray[np.intp]
    in_words: NDArray[np.bool_]
    powers: NDArray[np.uint64]
    words: NDArray[np.uint32]


@cache
def _data() -> Mapping[str, NDArray[Any]]:
    """What was fitted, and what was read from the vocabularies: hashes of words, characters of one token and of two."""
    import numpy as np

    with (files(__package__) / "data" / "token_weights.npz").open("rb") as file, np.load(file) as held:
        return dict(held)


@cache
def _weights(family: str) -> tuple[NDArray[np.float64], ...]:
    """The weights of a family in the order of `SIZES`: of words by their length, and of each letter beyond."""
    import numpy as np

    whole = _data()[f"w_{family}"] / 100
    *parts, places = np.split(whole, np.cumsum(SIZES)[:-1])
    places[0] = 0
    return (*parts, np.append(np.cumsum(places[:-1]), places[-1]))


@cache
def _tables() -> _Tables:
    import numpy as np

    data = _data()
    in_words = np.zeros(_CLASSES, dtype=np.bool_)
    in_words[[_CLASS[name] for name in ("lower", "upper", "latin", "cyrillic", "cyrillic_upper", "greek")]] = True
    powers = np.cumprod(np.full(64, 0x9E3779B97F4A7C15, np.uint64), dtype=np.uint64)
    single = np.full(0x10001, -1, dtype=np.intp)
    single[:_ONE_BY_ONE] = range(_ONE_BY_ONE)
    single[_SCRIPTS:_END] = range(_ONE_BY_ONE, SIZES[1])
    return _Tables(_classes(data).astype(np.intp), _letters().astype(np.intp), single, in_words, powers, data["words"])


def _letters() -> NDArray[np.uint8]:
    """The letter of each character of the basic plane, in either case: Latin 1 to 27, Cyrillic 28 to 61, 0 for none."""
    import numpy as np

    table = np.zeros(0x10001, dtype=np.uint8)
    table[0xC0:0x180] = table[0x1E00:0x1F00] = 27
    table[[0xD7, 0xF7]] = 0
    table[0x400:0x530] = 61
    for first, count, number in ((0x61, 26, 1), (0x41, 26, 1), (0x430, 32, 28), (0x410, 32, 28)):
        table[first : first + count] = range(number, number + count)
    table[[0x451, 0x401]] = 60
    return table


def _classes(data: Mapping[str, NDArray[Any]]) -> NDArray[np.uint8]:
    """The class of each character of the basic plane; the last entry stands for all beyond it."""
    import numpy as np

    table = np.full(0x10001, _CLASS["rare"], dtype=np.uint8)
    for first, end, name in _RANGES:
        table[first:end] = _CLASS[name]
    table[[ord(mark) for mark in ".,'-?!:;\"()"]] = _CLASS["stop"]
    table[[9, 10, 11, 12, 13]] = _CLASS["break"]
    table[ord(" ")] = _CLASS["space"]
    for first, end, charsets, name in _COMMON:
        table[first:end] = [_CLASS[name if _common(chr(one), charsets) else "rare"] for one in range(first, end)]
    for row, number in (("once", 1), ("twice", 2)):
        held = data[row]
        table[held] = np.where(held < 0xAC00, _CLASS[f"han{number}"], _CLASS[f"hangul{number}"])
    return table


_RANGES = (
    (0x80, 0x800, "two"),
    (0x00, 0x20, "two"),
    (0x21, 0x7F, "mark"),
    (0x2010, 0x2030, "punctuation"),
    (0x30, 0x3A, "digit"),
    (0x41, 0x5B, "upper"),
    (0x61, 0x7B, "lower"),
    (0xC0, 0x180, "latin"),
    (0x1E00, 0x1F00, "latin"),
    (0x370, 0x400, "greek"),
    (0x400, 0x430, "cyrillic_upper"),
    (0x430, 0x530, "cyrillic"),
    (0x590, 0x600, "hebrew"),
    (0x600, 0x700, "arabic"),
    (0x900, 0xE00, "abugida"),
    (0xE00, 0xE80, "thai"),
    (0x10A0, 0x1100, "abugida"),
    (0x3000, 0x3040, "wide"),
    (0x3040, 0x30A0, "hiragana"),
    (0x30A0, 0x3100, "katakana"),
    (0xFF00, 0xFFEF, "wide"),
    (0x3130, 0x3190, "hangul2"),
    (0xFFFF, 0x10001, "astral"),
)
_COMMON = (
    (0xAC00, 0xD7A4, {"euc_kr": (0xB0, 0xC8)}, "hangul"),
    (0x4E00, 0xA000, {"gb2312": (0xB0, 0xD7), "shift_jis": (0x88, 0x97), "big5": (0xA4, 0xC6)}, "han"),
)


def _common(text: str, charsets: Mapping[str, tuple[int, int]]) -> bool:
    """Whether a character stands in the everyday rows (lead bytes) of one of these national character sets."""
    encoded = [(text.encode(name, "ignore")[:1], rows) for name, rows in charsets.items()]
    return any(lead and low <= lead[0] <= high for lead, (low, high) in encoded)
