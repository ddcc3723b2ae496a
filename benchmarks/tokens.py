"""The token estimates against real tokenizers: the one for any model must never be under them, a family's is near."""

from __future__ import annotations

import base64
import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from random import Random
from types import ModuleType
from typing import Any

from benchmarks.measure import Row
from memhold.providers.vocabularies import tokenizer_of
from memhold.text.token_estimate import FAMILIES, estimate_for, estimate_tokens

__all__ = ["corpus", "estimate_rows"]

EMOJI = "😀🎉👍🏽👨‍👩‍👧‍👦🇰🇷❤️🔥🚀✅🫠"


def recorded() -> Mapping[str, Any]:
    """Texts of many kinds with their counts by six real tokenizers."""
    text = files("benchmarks").joinpath("token_counts.json").read_text(encoding="utf-8")
    found: Mapping[str, Any] = json.loads(text)
    return found


def corpus(count: int, seed: int = 7) -> Iterator[tuple[str, str]]:
    """So many pieces of a mixed corpus, each with its kind: prose of many languages, code, JSON, base64, emoji, mixed.

    The same seed gives the same pieces, but for code, which is the standard library of the running Python.
    """
    random = Random(seed)
    texts = {name: case["text"] for name, case in recorded().items()}
    code = [_source(module) for module in (json, base64, inspect, json.decoder, json.encoder)]
    for _ in range(count):
        kind = random.choice(["prose", "prose", "code", "json", "base64", "emoji", "mixture"])
        length = random.choice([40, 200, 1000, 4000])
        match kind:
            case "prose":
                kind = random.choice(sorted(texts))
                yield kind, _slice(random, texts[kind], length)
            case "code":
                yield kind, _slice(random, random.choice(code), length)
            case "json":
                rows = [{"id": random.randrange(10**9), "name": _slice(random, texts["korean"], 12), "ok": True}] * 9
                yield (
                    kind,
                    json.dumps(rows, ensure_ascii=random.random() < 0.5, indent=random.choice([None, 2]))[:length],
                )
            case "base64":
                yield kind, base64.b64encode(random.randbytes(length)).decode()
            case "emoji":
                yield kind, "".join(random.choices([*EMOJI, " ", "nice "], k=length // 4))
            case _:
                parts = [_slice(random, text, length // 4) for text in random.sample([*texts.values(), *code], 4)]
                yield kind, random.choice(["\n", " ", ""]).join(parts)


def _source(module: ModuleType) -> str:
    return inspect.getsource(module)


def _slice(random: Random, text: str, length: int) -> str:
    start = random.randrange(max(1, len(text) - length))
    return text[start : start + length]


def estimate_rows(count: int = 5_000) -> Sequence[Row]:
    """How far the estimates lie over six recorded tokenizers, by text and by family, and over those installed."""
    cases = recorded().values()
    largest = [max(case["counts"].values()) for case in cases]
    estimated = [estimate_tokens(case["text"]) for case in cases]
    rows = _rows(f"{len(largest)} recorded texts, largest of six", largest, estimated)
    for (name, case), most, guess in zip(recorded().items(), largest, estimated, strict=True):
        over = guess / case["counts"]["o200k"] - 1
        rows.append(Row(name=f"token estimate, {name}", value=f"{guess / most - 1:+.0%}", against=f"o200k {over:+.0%}"))
    for family in FAMILIES:
        real = sum(case["counts"][family] for case in cases)
        off = sum(map(estimate_for(family), (case["text"] for case in cases))) / real - 1
        rows.append(Row(name=f"estimate of {family}", value=f"{off:+.1%}", against="10 %", ratio=abs(off), bar=0.1))
    pieces = [text for _, text in corpus(count)]
    guesses = [estimate_tokens(text) for text in pieces]
    for model in ("gpt-5", "gpt-4"):
        found = tokenizer_of(model)
        if found is not None:
            rows += _rows(f"{count:,} pieces, {found[0]}", [found[1](text) for text in pieces], guesses)
    return rows


def _rows(name: str, real: Sequence[int], estimated: Sequence[int]) -> list[Row]:
    under = sum(guess < count for guess, count in zip(estimated, real, strict=True))
    least = min(guess / count for guess, count in zip(estimated, real, strict=True) if count)
    excess = sum(estimated) / sum(real) - 1
    return [
        Row(
            name=f"token estimate, {name}",
            value=f"{under} under; least {least - 1:+.1%}",
            against=f"average excess {excess:.1%}",
            ratio=float(under),
            bar=0.0,
        )
    ]
