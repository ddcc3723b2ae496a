"""Makes a release in `dist/` out of what is committed: `make release`. It uploads nothing and tags nothing.

Wheel and source distribution are built twice, in two places, and must be the same to the byte. They are looked through
(`wrong_in_wheel`, `wrong_in_source`), by twine too; the wheel is installed into a clean environment of each Python that
is here and shows its demo there. Beside them stand what an installation holds (CycloneDX) and the hashes of all.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from email.message import Message
from email.parser import Parser
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
NAME = PROJECT["name"]
PYTHONS = ("3.11", "3.12", "3.13")
MOST_BYTES = 12 * 1024 * 1024
"""Largest wheel or source distribution: the built-in embedding's table is 7 MB of it."""
MOST_OF_A_FILE = 8 * 1024 * 1024
STRANGE = re.compile(
    r"(^|/)(tests?|benchmarks|reality|node_modules|__pycache__|\.[^/]+)(/|$)|(^|/)(test_[^/]+|conftest)\.py$"
    r"|\.(db|sqlite3?|db-wal|db-shm|log|pem|key|env|pyc|so|whl|zip|gz)$"
)
"""Paths that no distribution holds: tests, caches, stores, keys, other archives."""
BESIDE = {"CHANGELOG.md", "LICENSE", "NOTICE", "PKG-INFO", "README.md", "SECURITY.md", "pyproject.toml", ".gitignore"}
"""What a source distribution holds beside the package."""


def run(command: Sequence[str | Path], **more: object) -> str:
    """What a command prints.

    Raises SystemExit with all that it said where it fails.
    """
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)  # type: ignore[call-overload]
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return str(done.stdout)


# ------------------------------------------------------------------------------------------------ what may be in them


def wrong_in_wheel(wheel: Path, package: Mapping[str, bytes], version: str) -> Iterator[str]:
    """What a wheel must not be let out with; `package` is the committed package, by paths such as memhold/errors.py."""
    yield from _too_large(wheel.name, wheel.stat().st_size)
    if wheel.name != f"{NAME}-{version}-py3-none-any.whl":
        yield f"{wheel.name} is no name of a wheel of {NAME} {version}"
    with zipfile.ZipFile(wheel) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    about = f"{NAME}-{version}.dist-info/"
    ours = {name: content for name, content in held.items() if not name.startswith(about)}
    yield from _wrong_files(held)
    yield from (f"is not in the package: {name}" for name in sorted(ours.keys() - package.keys()))
    yield from (f"is missing: {name}" for name in sorted(package.keys() - ours.keys()))
    yield from (
        f"is not what is committed: {name}" for name in sorted(ours) if package.get(name) not in {None, ours[name]}
    )
    wanted = {f"{about}{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt")}
    wanted |= {f"{about}licenses/{name}" for name in PROJECT["license-files"]}
    yield from (f"is missing: {name}" for name in sorted(wanted - held.keys()))
    if f"{about}RECORD" in held:
        yield from _wrong_record(held[f"{about}RECORD"].decode(), held, f"{about}RECORD")
    if f"{about}METADATA" in held:
        yield from _wrong_metadata(Parser().parsestr(held[f"{about}METADATA"].decode()), version)


def wrong_in_source(source: Path, package: Mapping[str, bytes], version: str) -> Iterator[str]:
    """What a source distribution must not be let out with."""
    yield from _too_large(source.name, source.stat().st_size)
    top = f"{NAME}-{version}/"
    if source.name != f"{NAME}-{version}.tar.gz":
        yield f"{source.name} is no name of a source distribution of {NAME} {version}"
    with tarfile.open(source) as archive:
        members = archive.getmembers()
        yield from (f"is no plain file: {member.name}" for member in members if not (member.isfile() or member.isdir()))
        read = {member.name: archive.extractfile(member) for member in members if member.isfile()}
        held = {name: file.read() for name, file in read.items() if file is not None}
    yield from (f"stands outside of {top}: {name}" for name in held if not name.startswith(top))
    below = {name.removeprefix(top): content for name, content in held.items()}
    ours = {name.removeprefix("src/"): content for name, content in below.items() if name.startswith("src/")}
    yield from _wrong_files({name: content for name, content in below.items() if name not in BESIDE})
    yield from (
        f"does not belong there: {name}" for name in sorted(below) if not name.startswith("src/") and name not in BESIDE
    )
    yield from (f"is missing: {name}" for name in sorted((BESIDE - {".gitignore"}) - below.keys()))
    yield from (f"is not in the package: {name}" for name in sorted(ours.keys() - package.keys()))
    yield from (f"is missing: {name}" for name in sorted(package.keys() - ours.keys()))
    yield from (
        f"is not what is committed: {name}" for name in sorted(ours) if package.get(name) not in {None, ours[name]}
    )


def _too_large(name: str, size: int) -> Iterator[str]:
    if size > MOST_BYTES:
        yield f"{name} has {size:,} bytes, more than {MOST_BYTES:,}"


def _wrong_files(held: Mapping[str, bytes]) -> Iterator[str]:
    for name, content in sorted(held.items()):
        if STRANGE.search(name) or ".." in PurePosixPath(name).parts or name.startswith("/"):
            yield f"does not belong there: {name}"
        if len(content) > MOST_OF_A_FILE:
            yield f"has {len(content):,} bytes, more than {MOST_OF_A_FILE:,}: {name}"
        if b"-----BEGIN PRIVATE KEY-----" in content and not name.endswith(".py"):
            yield f"holds a private key: {name}"
        if re.search(rb"[\s\"'(](/home/\w+/|/Users/\w+/|/work/wt/)", content) and name.endswith(
            (".toml", ".json", ".txt")
        ):
            yield f"tells of the machine that it was built on: {name}"


def _wrong_record(record: str, held: Mapping[str, bytes], itself: str) -> Iterator[str]:
    rows = {row[0]: row[1] for row in csv.reader(io.StringIO(record)) if row}
    yield from (f"is not in RECORD: {name}" for name in sorted(held.keys() - rows.keys()))
    yield from (f"is in RECORD and not there: {name}" for name in sorted(rows.keys() - held.keys()))
    for name in sorted(held.keys() & rows.keys() - {itself}):
        digest = base64.urlsafe_b64encode(hashlib.sha256(held[name]).digest()).rstrip(b"=").decode()
        if rows[name] != f"sha256={digest}":
            yield f"is not what RECORD says: {name}"


def _wrong_metadata(told: Message, version: str) -> Iterator[str]:
    wanted = {"Name": NAME, "Version": version, "Requires-Python": PROJECT["requires-python"]}
    wanted |= {"License-Expression": PROJECT["license"], "Summary": PROJECT["description"]}
    yield from (
        f"METADATA says {told[key]!r} for {key}, not {value!r}" for key, value in wanted.items() if told[key] != value
    )
    lacking = set(PROJECT["optional-dependencies"]) - set(told.get_all("Provides-Extra") or ())
    yield from (f"METADATA lacks the extra {name}" for name in sorted(lacking))
    links = re.findall(r"\]\((?!https?://|mailto:)([^)]*)\)", str(told.get_payload()))
    yield from (f"the description has a link that leads nowhere from an index: {link}" for link in links)


# ------------------------------------------------------------------------------------------------ making them


def committed(into: Path) -> Path:
    """The committed files in a folder, and nothing that lies about in this one."""
    into.mkdir(parents=True)
    archive = into.with_suffix(".tar")
    run(["git", "archive", "-o", archive, "HEAD"], cwd=ROOT)
    with tarfile.open(archive) as held:
        held.extractall(into, filter="data")
    return into


def package_of(tree: Path) -> dict[str, bytes]:
    """The package's files of a tree, by their paths in a wheel."""
    files = sorted(path for path in (tree / "src" / NAME).rglob("*") if path.is_file())
    return {path.relative_to(tree / "src").as_posix(): path.read_bytes() for path in files}


def built(tree: Path, out: Path) -> list[Path]:
    """Wheel and source distribution of a tree, with the time of the commit in place of today's."""
    epoch = run(["git", "log", "-1", "--format=%ct"], cwd=ROOT).strip()
    environment = os.environ | {"SOURCE_DATE_EPOCH": epoch}
    run([sys.executable, "-m", "hatchling", "build", "-d", out], cwd=tree, env=environment)
    return sorted(out.iterdir())


def sha256(path: Path) -> str:
    """The hash of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def interpreters() -> dict[str, Path]:
    """The Pythons of this machine that the classifiers name: of pyenv or uv, or on the path."""
    found = {}
    for version in PYTHONS:
        kept = [*Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}")]
        kept += Path.home().glob(f".local/share/uv/python/cpython-{version}.*/bin/python{version}")
        on_path = shutil.which(f"python{version}")
        if kept or on_path:
            found[version] = max(kept) if kept else Path(str(on_path))
    return found


def tried(python: Path, wheel: Path, folder: Path) -> Path:
    """Install the wheel alone in a clean environment and show its demo; returns that environment's Python."""
    run([python, "-m", "venv", folder])
    own = folder / "bin" / "python"
    run([own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel])
    clean = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": os.environ.get("LANG", "C.UTF-8")}
    run([own, "-m", "pip", "check"], env=clean)
    run([folder / "bin" / NAME, "demo"], env=clean, cwd=folder)
    return own


def parts_list(python: Path, out: Path) -> None:
    """What an environment holds beside pip, as CycloneDX; the same for the same packages."""
    run([python, "-m", "pip", "uninstall", "--quiet", "--yes", "setuptools", "pip"])
    command = [
        Path(sys.executable).with_name("cyclonedx-py"),
        "environment",
        "--output-reproducible",
        "--mc-type",
        "library",
    ]
    run([*command, "--pyproject", ROOT / "pyproject.toml", "--output-format", "JSON", "-o", out, python])


def main() -> None:
    """Make, look through, try, and write down."""
    if run(["git", "status", "--porcelain"], cwd=ROOT).strip():
        raise SystemExit("commit first: a release is made of what is committed")
    version = run(
        [sys.executable, "-c", "from _version import __version__; print(__version__)"], cwd=ROOT / "src" / NAME
    ).strip()
    if not re.search(
        rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE
    ):
        raise SystemExit(f"CHANGELOG.md has no section '## [{version}] - DATE'")
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        trees = [committed(work / "one"), committed(work / "another" / "place")]
        one, other = (built(tree, work / f"dist{number}") for number, tree in enumerate(trees))
        if [sha256(path) for path in one] != [sha256(path) for path in other]:
            raise SystemExit("two builds of one commit differ")
        source, wheel = one if one[0].suffix == ".gz" else reversed(one)
        package = package_of(trees[0])
        wrong = [*wrong_in_wheel(wheel, package, version), *wrong_in_source(source, package, version)]
        if wrong:
            raise SystemExit("\n".join(wrong))
        print(f"built twice with one hash; {len(package)} files of the package, and nothing beside them")
        run([sys.executable, "-m", "twine", "check", "--strict", wheel, source])
        shutil.rmtree(DIST, ignore_errors=True)
        DIST.mkdir()
        pythons = interpreters()
        for number, (python, path) in enumerate(sorted(pythons.items())):
            own = tried(path, wheel, work / python)
            print(f"Python {python}: installed alone, and its demo keeps what it promises")
            if number == 0:
                parts_list(own, DIST / f"{NAME}-{version}.core.cdx.json")
        if missing := sorted(set(PYTHONS) - set(pythons)):
            print(f"not tried, for it is not on this machine: Python {', '.join(missing)}")
        for path in (wheel, source):
            shutil.copy(path, DIST)
    made = sorted(DIST.iterdir())
    (DIST / "SHA256SUMS").write_text("".join(f"{sha256(path)}  {path.name}\n" for path in made), encoding="utf-8")
    print(*(f"{path.stat().st_size:>10,}  {path.relative_to(ROOT)}" for path in sorted(DIST.iterdir())), sep="\n")


if __name__ == "__main__":
    main()
