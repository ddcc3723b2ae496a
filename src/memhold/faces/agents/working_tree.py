"""Which files are worked on in a folder: those changed in its working tree, and those of its branch's own commits."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from pathlib import Path

__all__ = ["worked_on"]

_SECONDS = 1.0
_COMMITS = "20"
_GIT = ("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--no-optional-locks")
"""Nothing that a repository brings is run."""
_TREE = ("status", "--porcelain", "--no-renames", "--untracked-files=normal")
_BRANCH = ("log", "--name-only", "--format=", "-n", _COMMITS, "--ignore-missing", "HEAD")
_SHARED = ("main", "master", "origin/HEAD", "origin/main", "origin/master")
"""What is in one of these is everybody's."""


def worked_on(folder: Path) -> frozenset[str]:
    """The files, from the repository's root; none where git is not there, knows none, or takes long."""
    changed = [line[3:].strip('"') for line in _lines(folder, *_TREE)]
    own = _lines(folder, *_BRANCH, "--not", *_SHARED)
    return frozenset(one for one in (*changed, *own) if one and not one.endswith("/"))


def _lines(folder: Path, *words: str) -> list[str]:
    with suppress(OSError, ValueError, subprocess.SubprocessError):
        done = subprocess.run(  # noqa: S603 - words of ours and a folder
            [*_GIT, "-C", str(folder), *words], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
        return done.stdout.splitlines()
    return []
