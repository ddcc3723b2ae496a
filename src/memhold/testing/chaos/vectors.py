"""A deterministic embedding without a model: words and their parts hashed into a unit vector, alike for like texts."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from hashlib import blake2b

__all__ = ["DIMENSION", "hash_vector"]

DIMENSION = 64
"""Length of the vectors where nothing else is asked for."""

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_COMMON = frozenset((
    "a", "an", "and", "are", "as", "at", "be", "but", "for", "he", "her", "his", "i", "in", "is", "it",
    "my", "of", "on", "or", "she", "that", "the", "they", "this", "to", "was", "we", "you", "your",
))  # fmt: skip


def hash_vector(text: str, dimension: int = DIMENSION) -> list[float]:
    """The unit vector of a text: words weigh 1, their character trigrams (bigrams for CJK) .3, common English words .1.

    The same text and dimension give the same vector everywhere; texts that share words or word parts are near.
    """
    total = [0.0] * dimension
    for token, weight in _tokens(text):
        place, sign = _slot(token, dimension)
        total[place] += sign * weight
    norm = math.sqrt(sum(value * value for value in total))
    if norm == 0.0:
        place, sign = _slot(text, dimension)
        total[place], norm = sign, 1.0
    return [value / norm for value in total]


def _tokens(text: str) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = []
    for word in _WORD.findall(text.casefold()):
        found.append((word, 0.1 if word in _COMMON else 1.0))
        if _CJK.search(word):
            found.extend((word[i : i + 2], 0.3) for i in range(len(word) - 1))
        elif word not in _COMMON:
            found.extend((f"^{word}$"[i : i + 3], 0.3) for i in range(len(word)))
    return found


@lru_cache(maxsize=65_536)
def _slot(token: str, dimension: int) -> tuple[int, float]:
    digest = int.from_bytes(blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
    return (digest >> 1) % dimension, 1.0 if digest & 1 else -1.0
