"""The words of a text that are letters and nothing else: what is held against lists of words."""

from __future__ import annotations

from memhold.text import lazily

__all__ = ["LETTER_WORD", "WIDE"]

LETTER_WORD = lazily.compile(r"[^\W\d_]+")
WIDE = lazily.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]")
"""A character of Han, kana, or Hangul: most words have no capital there, and many no space between them."""
