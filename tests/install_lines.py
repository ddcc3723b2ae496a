"""Finds what a text tells somebody to install: `pip install`, `pipx`, `uv add`, `uvx`, `npx`, `npm install`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Install", "installs"]

_COMMAND = re.compile(
    r"\b(?P<tool>pip3?\s+(?:install|download)|pipx\s+(?:install|run|inject)|uv\s+(?:pip\s+install|tool\s+(?:install|run)|add)"
    r"|uvx|npx|npm\s+(?:install|i|exec|add)|pnpm\s+(?:add|dlx)|yarn\s+(?:add|dlx)|bunx)\b(?P<rest>[^\n]*)"
)
_END = re.compile(r"`|&&|\|\||[;|)]|\s#|\\n|\.(?:\s|$)|\s-> ")
_WORD = re.compile(r"\s*(?:'(?P<single>[^'\s]+)'|\"(?P<double>[^\"\s]+)\"|(?P<plain>[^\s'\"]+))(?P<glued>['\"]?)")
_TAKES_VALUE = {
    "-r",
    "-c",
    "-d",
    "-t",
    "-p",
    "-i",
    "--dest",
    "--target",
    "--constraint",
    "--requirement",
    "--python",
    "--index-url",
}
_NAMES_IT = {"--from", "--with", "--package"}
_RUNS = {"uvx", "npx", "bunx", "pipx run", "uv tool run", "pnpm dlx", "yarn dlx", "npm exec"}
_REQUIREMENT = re.compile(r"(?P<name>\.|@?[A-Za-z0-9{}][\w.\-/{}]*)(?:\[(?P<extras>[^\]]*)\])?(?:[=<>~!@].*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Install:
    """One distribution that a text names for installing; `name` is `.` for the tree that the reader is in."""

    tool: str
    name: str
    extras: tuple[str, ...]
    line: int


def installs(text: str) -> Iterator[Install]:
    """Every distribution that a text tells its reader to install, with the line where it stands."""
    joined = re.sub(r"\\\n\s*", " ", text)
    for found in _COMMAND.finditer(joined):
        tool = re.sub(r"\s+", " ", found["tool"])
        for word in _named(tool, _END.split(found["rest"], maxsplit=1)[0]):
            match = _REQUIREMENT.fullmatch(word)
            name, extras = (match["name"], match["extras"] or "") if match else (word, "")
            yield Install(
                tool=tool,
                name=name,
                extras=tuple(one.strip() for one in extras.split(",") if one.strip()),
                line=joined.count("\n", 0, found.start()) + 1,
            )


def _named(tool: str, rest: str) -> list[str]:
    """The requirements among the words behind a tool; of a tool that runs something, only what it installs for that."""
    words = _words(rest)
    named: list[str] = []
    for word in words:
        if word in _NAMES_IT:
            named += next(words, "").split(",")
        elif word in _TAKES_VALUE:
            next(words, None)
        elif not word.startswith("-") and not (tool in _RUNS and named):
            named.append(word.rstrip(",:"))
    return [word for word in named if word]


def _words(rest: str) -> Iterator[str]:
    """The words of a command, up to the quote that closes the text which it stands in."""
    place = 0
    while (found := _WORD.match(rest, place)) is not None:
        yield found["single"] or found["double"] or found["plain"]
        if found["glued"]:
            return
        place = found.end()
