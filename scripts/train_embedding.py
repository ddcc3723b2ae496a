"""Train the rows of the built-in embedding on texts that a stronger teacher, all-mpnet-base-v2, has read. Once.

    pip install torch sentence-transformers
    python scripts/distill_embedding.py MINILM --out START
    python scripts/train_embedding.py --start START --teacher MPNET --personas SPC --intents CLINC --wordnet WORDNET \
      --work WORK

START is the table that `distill_embedding.py` writes, MPNET the teacher's folder (Apache-2.0). The texts are
Synthetic-Persona-Chat (the folder of its CSV files, CC BY 4.0), CLINC150 (its `data_full.json`, CC BY 3.0) and WordNet
3.0 (the folder with `data.noun`; Debian's package wordnet-base). WORK keeps the teacher's vectors, so the reading,
which takes most of the time, can be interrupted and goes on where it was. The table is written into the package, or to
--out.

Each step takes texts at random and asks of every one which of the others it is near to. The table is to answer as its
teacher does: each makes a distribution of its cosines (softmax), and the loss is the cross entropy of the two, over the
vectors as they are used, centred by `BACKGROUND`. That is what a ranking needs, and it leaves the table its own
dimensions ("Relational Knowledge Distillation", Park et al. 2019). `docs/decisions/0005-builtin-embedding.md` has the
reasons and measures.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
import sys
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final

import numpy as np
import torch
from distill_embedding import quantised, write_table
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from torch.nn import functional

from memhold.index.embedding import BACKGROUND
from memhold.providers.embedding.builtin.model import BUILTIN_DIRECTORY
from memhold.providers.embedding.builtin.pieces import PieceReader

TEACHER: Final = "sentence-transformers/all-mpnet-base-v2"
WEIGHTS: Final = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
TEXTS: Final = "c239a1f9dd5b46a137d0024fc33176551d65dffe41abc5472892ed62e3452780"
SEED: Final = 7
RUNS: Final = 3
GLOSSES: Final = 50_000
READ_AT_ONCE: Final = 4_096
BATCH: Final = 1_024
ROUNDS: Final = 8
RATE: Final = 2e-3
# Of the teacher's cosines and of the table's, whose differences are larger once they are centred.
KNOWN: Final = 0.04
FOUND: Final = 0.07

Array = NDArray[np.float32]


def texts_of(personas: Path, intents: Path, wordnet: Path) -> list[str]:
    """The texts of all three, in an order that the seed decides."""
    people, talk = _personas(personas)
    intended = (one[0] for kind in _json(intents).values() for one in kind)
    chosen = random.Random(SEED)
    texts: list[str] = []
    for part, most in (
        (people, None),
        (talk, None),
        (intended, None),
        (_glosses(wordnet), GLOSSES),
    ):
        every = sorted(set(_usable(part)))
        texts += chosen.sample(every, len(every) if most is None else most)
    chosen.shuffle(texts)
    return texts


def _json(path: Path) -> dict[str, list[list[str]]]:
    found: dict[str, list[list[str]]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _usable(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        flat = re.sub(r"\s+", " ", text).strip()
        if 2 <= len(flat.split()) <= 48 and len(flat) < 300:
            yield flat


def _personas(folder: Path) -> tuple[list[str], list[str]]:
    """What the two people of each conversation are, a line each; and their turns, whole and by sentence."""
    people: list[str] = []
    talk: list[str] = []
    for path in sorted(folder.glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            for name, value in ((name, value) for row in csv.DictReader(file) for name, value in row.items() if value):
                if "persona" in name.lower():
                    people += value.split("\n")
                else:
                    turns = [re.sub(r"^User ?\d: ?", "", line) for line in value.split("\n")]
                    talk += [*turns, *(part for turn in turns for part in re.split(r"(?<=[.!?])\s+", turn))]
    return people, talk


def _glosses(folder: Path) -> Iterator[str]:
    """What each word means, with the word and without, and the sentences that show its use."""
    for part in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"data.{part}").read_text(encoding="utf-8").splitlines():
            if not line.startswith("  "):
                head, gloss = line.split(" | ", 1)
                parts = [one.strip() for one in gloss.strip().split(";")]
                yield f"{head.split()[4].replace('_', ' ')}: {parts[0]}"
                yield from (one.strip('"') for one in parts)


def teacher_vectors(texts: list[str], teacher: Path, work: Path) -> Array:
    """The teacher's vectors, unit length, in bfloat16; what `work` holds of an earlier run is not made again.

    Raises:
        SystemExit: the weights are not the known ones, or `work` is of other texts.
    """
    weights = teacher / "model.safetensors"
    if not weights.is_file() or sha256(weights.read_bytes()).hexdigest() != WEIGHTS:
        raise SystemExit(f"refused: {teacher} does not hold the known weights of {TEACHER}")
    work.mkdir(parents=True, exist_ok=True)
    named, kept, next_one = work / "texts.sha256", work / "teacher.npy", work / "next.npy"
    if kept.exists() and named.read_text(encoding="utf-8") != digest_of(texts):
        raise SystemExit(f"refused: {kept} is of other texts; name another --work")
    named.write_text(digest_of(texts), encoding="utf-8")
    done = [np.load(kept)] if kept.exists() else []
    model = SentenceTransformer(str(teacher), device="cpu").to(torch.bfloat16)
    model.max_seq_length = 64
    for start in range(sum(map(len, done)), len(texts), READ_AT_ONCE):
        part = texts[start : start + READ_AT_ONCE]
        vectors = model.encode(part, batch_size=128, normalize_embeddings=True, convert_to_tensor=True)
        done.append(vectors.float().numpy().astype(np.float16))
        np.save(next_one, np.concatenate(done))
        next_one.replace(kept)
        print(f"{start + len(part)} of {len(texts)} texts read", file=sys.stderr)
    return np.concatenate(done).astype(np.float32)


def digest_of(texts: list[str]) -> str:
    """Names the texts and their order."""
    return sha256("\n".join(texts).encode()).hexdigest()


def half_way(start: Array, pieces: list[list[int]], vectors: Array, background: list[list[int]]) -> Array:
    """The rows half way to the mean of what `RUNS` trainings make of them.

    `pieces` are each text's rows, `vectors` what its teacher says. All the way they are better than before, and half
    way better still at nearly everything ("Robust fine-tuning of zero-shot models", Wortsman et al. 2022). Trainings
    that begin alike differ by chance, and their mean is as good as the best of them ("Model soups", the same 2022).
    """
    before = start / np.median(np.linalg.norm(start, axis=1))
    after = [trained(before, pieces, vectors, background, seed=SEED + run) for run in range(RUNS)]
    rows: Array = (before + np.mean(after, axis=0)) / 2
    return rows


def trained(before: Array, pieces: list[list[int]], vectors: Array, background: list[list[int]], *, seed: int) -> Array:
    """The rows after `ROUNDS` passes over the texts, in an order that the seed decides."""
    order = np.random.default_rng(seed)
    rows = torch.tensor(before)
    optimiser = torch.optim.Adam([rows.requires_grad_()], lr=RATE, betas=(0.9, 0.99))
    usable = np.array([place for place, text in enumerate(pieces) if text])
    steps = ROUNDS * (len(usable) // BATCH)
    rate = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: max(0.02, 1 - step / steps))
    for turn in range(ROUNDS):
        losses = []
        shuffled = order.permutation(usable)
        for first in range(0, len(usable) - BATCH + 1, BATCH):
            batch = shuffled[first : first + BATCH]
            touched, slope, loss = _step(rows, [*background, *(pieces[place] for place in batch)], vectors[batch])
            rows.grad = torch.zeros_like(rows)
            rows.grad[touched] = slope
            optimiser.step()
            rate.step()
            losses.append(loss)
        print(f"seed {seed}, round {turn + 1} of {ROUNDS}: loss {np.mean(losses):.4f}", file=sys.stderr)
    return rows.detach().numpy()


def _step(rows: torch.Tensor, texts: list[list[int]], vectors: Array) -> tuple[torch.Tensor, torch.Tensor, float]:
    """Which rows a batch touches, the loss's slope along each, and the loss; the first texts are the background."""
    named = torch.tensor([row for text in texts for row in text])
    touched, places = torch.unique(named, return_inverse=True)
    held = rows.detach()[touched].requires_grad_()
    starts = torch.tensor(np.cumsum([0, *(len(text) for text in texts[:-1])]))
    units = functional.normalize(functional.embedding_bag(places, held, starts, mode="sum"), dim=1)
    behind = len(texts) - len(vectors)
    said = functional.normalize(units[behind:] - units[:behind].mean(0), dim=1)
    wanted = functional.normalize(torch.tensor(vectors), dim=1)
    itself = torch.eye(len(said), dtype=torch.bool)
    found = (said @ said.T / FOUND).masked_fill(itself, -1e4).log_softmax(1)
    known = (wanted @ wanted.T / KNOWN).masked_fill(itself, -1e4).softmax(1)
    loss = -(known * found).sum(1).mean()
    return touched, torch.autograd.grad(loss, held)[0], loss.item()


def main() -> int:
    """Train, write the table, and say which it is."""
    parser = argparse.ArgumentParser(description="Train the built-in embedding's rows on texts its teacher has read.")
    for name in ("start", "teacher", "personas", "intents", "wordnet", "work"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=BUILTIN_DIRECTORY)
    asked = parser.parse_args()
    described = json.loads((asked.start / "table.json").read_text(encoding="utf-8"))
    if "start" in described:
        raise SystemExit(f"refused: {asked.start} is trained already; --start is what distill_embedding.py writes")
    vocabulary = (asked.start / "vocabulary.txt").read_text(encoding="utf-8").split("\n")
    reader = PieceReader({piece: row for row, piece in enumerate(vocabulary)})
    start = np.load(asked.start / "codes.npy") * np.load(asked.start / "scales.npy").astype(np.float32)[:, None]
    texts = texts_of(asked.personas, asked.intents, asked.wordnet)
    if digest_of(texts) != TEXTS:
        raise SystemExit(f"refused: {len(texts)} texts, and not those that the table was trained on")
    vectors = teacher_vectors(texts, asked.teacher, asked.work)
    read = [list(reader.read(text).rows) for text in texts]
    rows = half_way(start, read, vectors, [list(reader.read(text).rows) for text in BACKGROUND])
    made = {
        "start": described["digest"],
        "teacher": {"name": TEACHER, "licence": "Apache-2.0", "sha256": {"model.safetensors": WEIGHTS}},
        "texts": {"count": len(texts), "sha256": digest_of(texts)},
        "settings": {
            "rounds": ROUNDS,
            "batch": BATCH,
            "rate": RATE,
            "temperatures": [KNOWN, FOUND],
            "seed": SEED,
            "runs": RUNS,
        },
    }
    print(f"digest {write_table(asked.out, vocabulary, *quantised(rows.astype(np.float64)), made)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
