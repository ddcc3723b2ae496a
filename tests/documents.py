"""Reads the project's Markdown as a reader does: code blocks in order, what they print, links, tables."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["ROOT", "Block", "anchors", "blocks", "links", "run_blocks", "unfenced"]

ROOT = Path(__file__).parents[1]
_FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'title="([\w.-]+)"')
_SKIP = re.compile(r"<!-- skip: (?P<reason>.{10,}) -->\s*\Z")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_EXIT = re.compile(r"\s+# exit (\d+)$")
TIMEOUT_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block: its language, its text, the line it begins on, the file that it is, and why it is not run (None: it is)."""

    language: str
    text: str
    line: int
    file: str | None = None
    skipped: str | None = None


def blocks(path: Path) -> list[Block]:
    text = path.read_text(encoding="utf-8")
    found = []
    for match in _FENCE.finditer(text):
        skip = _SKIP.search(text[: match.start()])
        line = text.count("\n", 0, match.start()) + 2
        reason = skip["reason"] if skip else None
        title = _TITLE.search(match[2])
        file = title[1] if title else None
        found.append(Block(language=match[1], text=match[3], line=line, file=file, skipped=reason))
    return found


def unfenced(path: Path) -> str:
    """The text without its code blocks."""
    return _FENCE.sub("", path.read_text(encoding="utf-8"))


def links(path: Path) -> list[str]:
    """The targets of all links that stay within the project."""
    return [
        target for target in _LINK.findall(unfenced(path)) if "://" not in target and not target.startswith("mailto:")
    ]


def anchors(path: Path) -> set[str]:
    """The names under which a page's headings can be linked to, as GitHub makes them."""
    headings = re.findall(r"^#{1,6} (.+)$", unfenced(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def run_blocks(
    path: Path,
    folder: Path,
    *,
    languages: Collection[str] = ("python", "console"),
    memhold: Sequence[str] = (sys.executable, "-m", "memhold"),
) -> int:
    """Run every `python` and `console` block of a page in order, in a folder; returns how many ran.

    Blocks share their variables. A `text` block after a `python` block is exactly what that one prints. In a `console`
    block the lines behind `$ ` are run; the others show what comes out and are compared, where `...` stands for
    anything. A command must exit with 0, or with what `# exit N` behind it says. A block with `title="NAME"`, of any
    language, is a file that the reader saves: it is written into the folder, and run by what comes after. `memhold` is
    how the command of that name begins. The module imports nothing of ours: environments of frameworks run pages too.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    environment = _environment(folder, memhold)
    printed: str | None = None
    ran = 0
    with contextlib.chdir(folder), _modules_of(folder):
        for block in blocks(path):
            if block.language == "text" and printed is not None:
                assert _told(block.text) == _told(printed), f"{path}:{block.line}: it prints\n{printed}"
            printed = None
            if block.skipped is not None:
                continue
            if block.file is not None:
                Path(block.file).write_text(block.text, encoding="utf-8")
            elif block.language == "python" and "python" in languages:
                printed = _python(path, block, names)
                ran += 1
            elif block.language == "console" and "console" in languages:
                _console(path, block, environment)
                ran += 1
    return ran


@contextlib.contextmanager
def _modules_of(folder: Path) -> Iterator[None]:
    """Inside, what a page saved as a module can be imported, as from the folder that a reader is in."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None) or "").startswith(f"{folder}{os.sep}"):
                del sys.modules[name]


def _python(path: Path, block: Block, names: dict[str, Any]) -> str:
    # Blank lines in front let a traceback name the line of the page.
    code = compile("\n" * (block.line - 1) + block.text, str(path), "exec", dont_inherit=True)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, names)  # noqa: S102 - the documents are ours
    return out.getvalue()


def _environment(folder: Path, memhold: Sequence[str]) -> dict[str, str]:
    """An environment in which `memhold` is this source tree's and `python` what runs it, with nothing set from outside."""
    bin_folder = folder / ".bin"
    bin_folder.mkdir()
    for name, runs in (("memhold", memhold), ("python", (sys.executable,))):
        script = bin_folder / name
        script.write_text(f'#!/bin/sh\nexec {shlex.join(runs)} "$@"\n')
        script.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMHOLD_")}
    return kept | {
        "PATH": f"{bin_folder}:{kept['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "HOME": str(folder),
        # On a machine that is busy with other tests no answer is degraded for its slowness.
        "MEMHOLD_RECALL_TIMEOUT": "60",
    }


def _console(path: Path, block: Block, environment: dict[str, str]) -> None:
    for entry in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, shown = entry.partition("\n")
        while command.endswith("\\"):
            more, _, shown = shown.partition("\n")
            command = f"{command[:-1]}{more.strip()}"
        expected = _EXIT.search(command)
        command = _EXIT.sub("", command)
        done = subprocess.run(
            ["/bin/sh", "-c", _dry(command)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
        where = f"{path}:{block.line}: {command}"
        assert done.returncode == int(expected[1] if expected else 0), f"{where}\n{done.stdout}{done.stderr}"
        if shown.strip():
            wanted = ".*?".join(re.escape(part) for part in _told(shown).split("..."))
            assert re.fullmatch(wanted, _told(done.stdout), re.DOTALL), f"{where}\nprints\n{done.stdout}"


def _dry(command: str) -> str:
    """Make targets are the outer loop itself: that they are there is all that is looked at. Nothing is installed either:
    that what is named is ours is test_packaging's."""
    if command.startswith(("pip install ", "pip uninstall ")):
        return "true"
    return (
        f"make -n -C {shlex.quote(str(ROOT))} {command.removeprefix('make ')}"
        if command.startswith("make ")
        else command
    )


def _told(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
