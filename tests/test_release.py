"""What `make release` would not let out: each check finds the fault that it is for, and lets what is right through."""

from __future__ import annotations

import io
import os
import runpy
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from memhold._version import __version__
from tests.documents import ROOT

RELEASE = runpy.run_path(str(ROOT / "scripts" / "release.py"))
ABOUT = f"memhold-{__version__}.dist-info/"
TOP = f"memhold-{__version__}/"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both distributions of this tree, built twice, the second time in another place."""
    out = tmp_path_factory.mktemp("made")
    for number, cwd in enumerate((ROOT, out / "copy")):
        if number:
            for name in ("src/memhold", *RELEASE["BESIDE"] - {"PKG-INFO"}):
                (cwd / name).parent.mkdir(parents=True, exist_ok=True)
                copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
                copy(ROOT / name, cwd / name)
        command = [sys.executable, "-m", "hatchling", "build", "-d", str(out / str(number))]
        environment = os.environ | {"SOURCE_DATE_EPOCH": "1790000000"}
        subprocess.run(command, cwd=cwd, env=environment, capture_output=True, check=True, timeout=300)
    return out


@pytest.fixture(scope="module")
def package() -> dict[str, bytes]:
    held: dict[str, bytes] = RELEASE["package_of"](ROOT)
    return {name: content for name, content in held.items() if "__pycache__" not in name}


@pytest.fixture(scope="module")
def wheel_files(made: Path) -> dict[str, bytes]:
    (wheel,) = (made / "0").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def source_files(made: Path) -> dict[str, bytes]:
    (source,) = (made / "0").glob("*.gz")
    with tarfile.open(source) as archive:
        read = {member.name: archive.extractfile(member) for member in archive.getmembers()}
        return {name: file.read() for name, file in read.items() if file is not None}


def test_two_builds_in_two_places_have_one_hash(made: Path) -> None:
    first, second = (
        {path.name: RELEASE["sha256"](path) for path in (made / number).iterdir()} for number in ("0", "1")
    )
    assert len(first) == 2
    assert first == second


def test_what_this_tree_builds_is_let_through(made: Path, package: dict[str, bytes]) -> None:
    (wheel,), (source,) = (made / "0").glob("*.whl"), (made / "0").glob("*.gz")
    assert list(RELEASE["wrong_in_wheel"](wheel, package, __version__)) == []
    assert list(RELEASE["wrong_in_source"](source, package, __version__)) == []


Held = dict[str, bytes]


def put(name: str, content: bytes = b"x = 1\n") -> Callable[[Held], object]:
    return lambda held: held.update({name: content})


def without(name: str) -> Callable[[Held], object]:
    return lambda held: held.pop(name)


def changed(name: str, before: bytes, after: bytes) -> Callable[[Held], object]:
    return lambda held: held.update({name: held[name].replace(before, after)})


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (put("tests/test_errors.py"), "does not belong there: tests/test_errors.py"),
        (put("memhold/conftest.py"), "does not belong there: memhold/conftest.py"),
        (put("memhold/memory.db"), "does not belong there: memhold/memory.db"),
        (put("memhold/.env"), "does not belong there: memhold/.env"),
        (put("../escapes.py"), "does not belong there: ../escapes.py"),
        (put("memhold/left_over.py"), "is not in the package: memhold/left_over.py"),
        (put("memhold/left_over.py"), "is not in RECORD: memhold/left_over.py"),
        (without("memhold/py.typed"), "is missing: memhold/py.typed"),
        (without(f"{ABOUT}licenses/NOTICE"), f"is missing: {ABOUT}licenses/NOTICE"),
        (without(f"{ABOUT}METADATA"), f"is missing: {ABOUT}METADATA"),
        (changed("memhold/_version.py", b"0", b"9"), "is not what is committed: memhold/_version.py"),
        (changed("memhold/_version.py", b"0", b"9"), "is not what RECORD says: memhold/_version.py"),
        (changed(f"{ABOUT}METADATA", b"Version: ", b"Version: 1"), "METADATA says '1"),
        (changed(f"{ABOUT}METADATA", b"Provides-Extra: server", b"X: server"), "METADATA lacks the extra server"),
        (changed(f"{ABOUT}METADATA", b"# Memhold", b"# [Memhold](docs/index.md)"), "leads nowhere from an index: docs/"),
        (put("memhold/key.txt", b"-----BEGIN PRIVATE KEY-----"), "holds a private key: memhold/key.txt"),
        (put("memhold/where.toml", b'path = "/home/me/x"'), "tells of the machine that it was built on"),
        (put("memhold/large.bin", bytes(9 * 1024 * 1024)), "more than 8,388,608: memhold/large.bin"),
        (put("memhold/large.bin", os.urandom(6 * 1024 * 1024)), "bytes, more than 12,582,912"),
    ],
)  # fmt: skip
def test_a_bad_wheel_is_not_let_out(
    made: Path, wheel_files: Held, package: Held, tmp_path: Path, spoil: Callable[[Held], object], said: str
) -> None:
    (wheel,) = (made / "0").glob("*.whl")
    held = dict(wheel_files)
    spoil(held)
    bad = tmp_path / wheel.name
    with zipfile.ZipFile(bad, "w") as archive:
        for name, content in held.items():
            archive.writestr(name, content)
    assert any(said in one for one in RELEASE["wrong_in_wheel"](bad, package, __version__))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (put(f"{TOP}tests/test_errors.py"), "does not belong there: tests/test_errors.py"),
        (put(f"{TOP}docs/index.md"), "does not belong there: docs/index.md"),
        (put(f"{TOP}src/memhold/left_over.py"), "is not in the package: memhold/left_over.py"),
        (put("elsewhere/x.py"), f"stands outside of {TOP}: elsewhere/x.py"),
        (without(f"{TOP}src/memhold/py.typed"), "is missing: memhold/py.typed"),
        (without(f"{TOP}LICENSE"), "is missing: LICENSE"),
        (changed(f"{TOP}src/memhold/_version.py", b"0", b"9"), "is not what is committed: memhold/_version.py"),
    ],
)
def test_a_bad_source_distribution_is_not_let_out(
    made: Path, source_files: Held, package: Held, tmp_path: Path, spoil: Callable[[Held], object], said: str
) -> None:
    (source,) = (made / "0").glob("*.gz")
    held = dict(source_files)
    spoil(held)
    bad = tmp_path / source.name
    with tarfile.open(bad, "w:gz", compresslevel=1) as archive:
        for name, content in held.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    assert any(said in one for one in RELEASE["wrong_in_source"](bad, package, __version__))


def test_another_versions_name_is_not_let_out(made: Path, package: dict[str, bytes]) -> None:
    (wheel,) = (made / "0").glob("*.whl")
    assert any(
        "is no name of a wheel of memhold 9.9" in one for one in RELEASE["wrong_in_wheel"](wheel, package, "9.9")
    )
