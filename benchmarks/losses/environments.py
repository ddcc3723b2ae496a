"""Environments of the peers' own, from PyPI and npm by name, newest releases: nothing of theirs is ours.

Each is kept in a folder and made once; what an installer said where it failed is kept beside it and told.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.losses.peers import Peer
from benchmarks.measure import doing

__all__ = ["Environment", "Missing", "environment_of"]

_SECONDS = 1_200


class Missing(Exception):
    """A peer cannot be had here: the command that was tried, and the end of what it said."""

    def __init__(self, command: str, said: str) -> None:
        super().__init__(f"{command}: {said}")
        self.command, self.said = command, said


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Where a peer runs: the Python of its child, its own variables, and the versions of what it was installed from."""

    python: Path
    variables: dict[str, str]
    versions: dict[str, str]


def environment_of(peer: Peer, folder: Path) -> Environment:
    """The environment of a peer in this folder of environments; made where it is not there.

    Raises:
        Missing: it cannot be installed.
    """
    if peer.environment is None:
        return Environment(
            python=Path(sys.executable), variables={}, versions=_versions(Path(sys.executable), ("memhold",))
        )
    place = folder / peer.environment
    if not (place / "installed").exists():
        doing(f"{peer.label}: installing {' '.join((*peer.pip, *peer.npm))}")
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        _install(peer, place)
        (place / "installed").touch()
    if peer.npm:
        modules = place / "node_modules"
        found = {name: _npm_version(modules / name) for name in peer.npm}
        variables = {"LOSSES_NODE_MODULES": str(modules)}
        return Environment(python=Path(sys.executable), variables=variables, versions=found)
    python = place / "bin" / "python"
    variables = {"LOSSES_BESIDE": str(place / "beside")} if peer.beside else {}
    return Environment(
        python=python,
        variables=variables,
        versions=_versions(python, tuple(re.split(r"[<>=]", one)[0] for one in peer.pip)),
    )


def _install(peer: Peer, place: Path) -> None:
    if peer.npm:
        npm = shutil.which("npm")
        if npm is None:
            raise Missing(f"npm install {' '.join(peer.npm)}", "npm is not on this machine")
        _run([npm, "install", "--no-audit", "--no-fund", "--loglevel=error", *peer.npm], place)
        return
    _run([_python(peer), "-m", "venv", str(place)], place)
    python = str(place / "bin" / "python")
    _run([python, "-m", "pip", "install", "--quiet", "--upgrade", "pip"], place)  # old ones fail on extras of extras
    _run([python, "-m", "pip", "install", "--quiet", *peer.pip], place)
    if peer.beside:
        files = ["--no-deps", "--only-binary=:all:", "--python-version=3.11", "--dest=wheels"]
        _run([python, "-m", "pip", "download", "--quiet", *files, *peer.beside], place)
        for wheel in (place / "wheels").glob("*.whl"):
            shutil.unpack_archive(wheel, place / "beside", "zip")


def _python(peer: Peer) -> str:
    """The first Python of this machine, beginning with this one, that a peer can run on."""
    line = f"import sys\nassert sys.version_info >= {peer.least}"
    if peer.loads:
        line += "\nimport sqlite3\nsqlite3.connect(':memory:').enable_load_extension(True)"
    kept = sorted(map(str, Path.home().glob(".pyenv/versions/3.1?.*/bin/python3")))
    for one in (
        sys.executable,
        "/usr/bin/python3",
        *kept,
        *filter(None, map(shutil.which, ("python3.12", "python3.13"))),
    ):
        if Path(one).exists() and subprocess.run([one, "-c", line], capture_output=True, check=False).returncode == 0:
            return one
    lacking = "whose SQLite loads extensions" if peer.loads else "of {}.{} or newer".format(*peer.least)
    raise Missing(f"pip install {' '.join(peer.pip)}", f"no Python {lacking} is on this machine")


def _run(command: list[str], place: Path) -> None:
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith("WARNING")]
        short = " ".join([Path(command[0]).name, *command[1:]])
        raise Missing(short, said[-1][:300] if said else f"exit code {done.returncode}")


def _npm_version(package: Path) -> str:
    told = json.loads((package / "package.json").read_text(encoding="utf-8"))
    return str(told["version"])


def _versions(python: Path, packages: tuple[str, ...]) -> dict[str, str]:
    line = "import json, sys\nfrom importlib.metadata import version\n"
    line += "print(json.dumps({n: version(n) for n in sys.argv[1:]}))"
    done = subprocess.run(
        [python, "-c", line, *packages], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found
