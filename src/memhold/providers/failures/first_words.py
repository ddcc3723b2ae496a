"""The first words of a provider's error, with everything masked that is not the language of errors.

A word is kept only where the table of failures or English grammar has it; what else a body holds (names, ids, keys,
numbers, addresses, and whatever of a request it quotes) becomes `…`. So no word of a user can pass that is not also a
word of errors, and no secret at all.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from memhold.providers.failures.rules import RULES

__all__ = ["first_words"]

_LITERAL = re.compile(r"[a-z]{2,}")
_ESCAPE = re.compile(r"\\[a-zA-Z]|\(\?[a-zA-Z:!=<]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MOST: Final = 14
_LEAST: Final = 2
_MASK: Final = "…"
_READ: Final = 1_000
_AROUND: Final = ".,:;!?()[]\"'`"
_GRAMMAR: Final = _words(
    "a about after again all an and any are as at be because been before but by can cannot could did do does for "
    "from had has have if in into is it its may more most must no not of on only or our please should than that "
    "the their there this to too under until up use was we were when which while will with without would you your "
)
_ERRORS: Final = _words(
    "account additional api authentication authorization bad balance billing body check code configured "
    "connection contact correct credit credits crashed details enough error exceeded expired exist failed "
    "forbidden found has incorrect information input internal invalid key keys limit loaded longer many memory "
    "message missing model models param parameter permission plan please provided quota reached rejected request "
    "requested required requests response resource retry revoked server service status support text timeout token "
    "tokens tool type unable unauthorized unexpected unknown unsupported upgrade usage used user valid value "
    "version while wrong "
)


@cache
def _known() -> frozenset[str]:
    """The words of the table's patterns, of grammar, and of errors in general."""
    found: set[str] = set()
    for rule in RULES:
        if rule.words is not None:
            found.update(_LITERAL.findall(_ESCAPE.sub(" ", rule.words.pattern)))
    return frozenset(found) | _GRAMMAR | _ERRORS


def first_words(words: str) -> str:
    """The first 14 words of an error, masked, with `…` for what follows; empty where fewer than two of them are known.

    `words` are lower case, as a `Document` holds them.
    """
    kept: list[str] = []
    known = 0
    for word in words[:_READ].split():
        bare = word.strip(_AROUND)
        if not bare:
            continue
        if len(kept) == _MOST:
            kept += [] if kept[-1] == _MASK else [_MASK]
            break
        if bare in _known():
            known += 1
            kept.append(bare)
        elif not kept or kept[-1] != _MASK:
            kept.append(_MASK)
    return " ".join(kept) if known >= _LEAST else ""
