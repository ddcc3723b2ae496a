"""BERT's WordPiece tokenization: text to token numbers, as the reference tokenizer makes them, without a library.

Source: Devlin et al., "BERT" (2019), and its published tokenizer (basic splitting, then greedy longest match first).
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memhold.text.normal_form import normal_form
from memhold.values.errors import InvalidInput

__all__ = ["WordPiece", "read_wordpiece"]

_LONGEST_WORD = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class WordPiece:
    """A vocabulary and the settings of its text clean-up."""

    vocabulary: Mapping[str, int]
    unknown: int
    start: int
    end: int
    lowercase: bool = True
    strip_accents: bool = True
    split_chinese: bool = True

    def encode(self, text: str) -> list[int]:
        """The token numbers of a text, without the marks of its beginning and end."""
        numbers: list[int] = []
        for word in self._words(text):
            numbers.extend(self._pieces(word))
        return numbers

    def _words(self, text: str) -> Iterator[str]:
        cleaned = "".join(" " if _is_blank(c) else c for c in text if not _is_control(c))
        if self.split_chinese:
            cleaned = "".join(f" {c} " if _is_chinese(c) else c for c in cleaned)
        for word in cleaned.split():
            plain = word.lower() if self.lowercase else word
            if self.strip_accents:
                plain = "".join(c for c in normal_form("NFD", plain) if unicodedata.category(c) != "Mn")
            yield from _split_marks(plain)

    def _pieces(self, word: str) -> list[int]:
        if len(word) > _LONGEST_WORD:
            return [self.unknown]
        numbers: list[int] = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                number = self.vocabulary.get(word[start:end] if start == 0 else f"##{word[start:end]}")
                if number is not None:
                    numbers.append(number)
                    start = end
                    break
            else:
                return [self.unknown]
        return numbers


def read_wordpiece(folder: Path, *, start: str = "[CLS]", end: str = "[SEP]") -> WordPiece:
    """The tokenizer of a model directory: `vocab.txt`, with the clean-up that `tokenizer.json` or its config names.

    `start` and `end` are the model's marks of where a text begins and ends.

    Raises:
        InvalidInput: no such vocabulary, or a tokenizer of another kind.
    """
    normalizer, vocabulary = _described(folder)
    path = folder / "vocab.txt"
    if path.is_file():
        words = path.read_text(encoding="utf-8").split("\n")
        vocabulary = {word.rstrip("\r"): number for number, word in enumerate(words) if word.rstrip("\r")}
    missing = [mark for mark in ("[UNK]", start, end) if mark not in vocabulary]
    if missing:
        raise InvalidInput(f"{folder} holds no WordPiece vocabulary (vocab.txt with {', '.join(missing)})")
    lowercase = bool(normalizer.get("lowercase", normalizer.get("do_lower_case", True)))
    accents = normalizer.get("strip_accents")
    return WordPiece(
        vocabulary=vocabulary,
        unknown=vocabulary["[UNK]"],
        start=vocabulary[start],
        end=vocabulary[end],
        lowercase=lowercase,
        strip_accents=lowercase if accents is None else bool(accents),
        split_chinese=bool(normalizer.get("handle_chinese_chars", normalizer.get("tokenize_chinese_chars", True))),
    )


def _described(folder: Path) -> tuple[Mapping[str, Any], dict[str, int]]:
    """The clean-up settings, and the vocabulary where tokenizer.json holds one."""
    path = folder / "tokenizer.json"
    if path.is_file():
        described = json.loads(path.read_text(encoding="utf-8"))
        model = described.get("model") or {}
        if model.get("type", "WordPiece") != "WordPiece":
            raise InvalidInput(f"{path}: a {model['type']} tokenizer needs the onnx extra and its own library")
        return described.get("normalizer") or {}, dict(model.get("vocab") or {})
    config = folder / "tokenizer_config.json"
    return (json.loads(config.read_text(encoding="utf-8")) if config.is_file() else {}), {}


def _is_blank(c: str) -> bool:
    return c in " \t\n\r" or unicodedata.category(c) == "Zs"


def _is_control(c: str) -> bool:
    if c in "\t\n\r":
        return False
    return c in "\x00\ufffd" or unicodedata.category(c) in {"Cc", "Cf", "Co", "Cs"}


def _is_chinese(c: str) -> bool:
    code = ord(c)
    return (
        0x4E00 <= code <= 0x9FFF
        or 0x3400 <= code <= 0x4DBF
        or 0x20000 <= code <= 0x2A6DF
        or 0x2A700 <= code <= 0x2CEAF
        or 0xF900 <= code <= 0xFAFF
        or 0x2F800 <= code <= 0x2FA1F
    )


def _is_mark(c: str) -> bool:
    code = ord(c)
    ascii_mark = 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126
    return ascii_mark or unicodedata.category(c).startswith("P")


def _split_marks(word: str) -> Iterator[str]:
    held = ""
    for c in word:
        if _is_mark(c):
            if held:
                yield held
            yield c
            held = ""
        else:
            held += c
    if held:
        yield held
