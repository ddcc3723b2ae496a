"""The shipped prompts, each with the version that is stored with what it made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["Prompt", "prompt"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt and its version, which is stored with what it made."""

    name: str
    version: str
    text: str


@cache
def prompt(name: str = "consolidate") -> Prompt:
    """The shipped prompt of that name; its first line says its version."""
    text = files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")
    head, _, body = text.partition("\n")
    return Prompt(name=name, version=f"{name}/{head.removeprefix('version:').strip()}", text=body.strip())
