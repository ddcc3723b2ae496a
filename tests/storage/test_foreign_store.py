"""A store of another package is opened by its scheme, and judged by the public suite."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import pytest_asyncio

from memhold import Memhold
from memhold.testing import StoreSuite, store_at
from memhold.testing.clock import FakeClock
from memhold.testing.ids import SeededIds
from memhold.values.errors import InvalidInput
from memhold.wiring import stores
from memhold.wiring.postgres import shown

ROOT = Path(__file__).parents[2]
MODULE = '''
"""A store of somebody else's: memory, and a list of what was opened."""
from memhold.ports.store_factory import OpenedStore
from memhold.storage.inmemory import InMemoryStore

OPENED = []


async def open_shelf(location, *, settings, clock, ids):
    OPENED.append((location, settings.busy_timeout))
    return OpenedStore(store=InMemoryStore(clock, ids))


async def open_wrong(location, *, settings, clock, ids):
    return InMemoryStore(clock, ids)
'''
PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "memhold-{name}"
version = "1.0"
[project.entry-points."memhold.stores"]
{points}
[tool.hatch.build.targets.wheel]
packages = ["memhold_{name}"]
"""


def installed(folder: Path, name: str, points: str) -> str:
    """Build a wheel of a package that registers these entry points and unpack it; the folder to put on the path."""
    source, site = folder / f"{name}-source", folder / f"{name}-site"
    (source / f"memhold_{name}").mkdir(parents=True)
    (source / f"memhold_{name}" / "__init__.py").write_text(MODULE)
    (source / "pyproject.toml").write_text(PROJECT.format(name=name, points=points))
    build = f"from hatchling.build import build_wheel; print(build_wheel({str(folder)!r}))"
    done = subprocess.run([sys.executable, "-c", build], cwd=source, check=True, capture_output=True, text=True)
    with zipfile.ZipFile(folder / done.stdout.split()[-1]) as wheel:
        wheel.extractall(site)
    return str(site)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> str:
    return installed(
        tmp_path_factory.mktemp("shelf"),
        "shelf",
        'shelf = "memhold_shelf:open_shelf"\nSQLite = "memhold_shelf:open_shelf"',
    )


class TestForeignStore(StoreSuite):
    """The public suite over a store that is opened by its location."""

    @pytest_asyncio.fixture
    async def open_store(self, shelf, monkeypatch):
        monkeypatch.syspath_prepend(shelf)
        opened = []

        async def open_store(clock, ids):
            opened.append(await store_at("shelf://attic", clock, ids))
            return opened[-1]

        yield open_store
        for store in opened:
            await store.close()


def test_memhold_opens_it(shelf: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(shelf)
    with Memhold.open("shelf://attic?dusty=1", worker=False, busy_timeout=7, embedding="none") as mem:
        mem.scope(user="a").add([{"role": "user", "content": "The key is under the mat."}])
        assert [hit.text for hit in mem.scope(user="a").recall("key").hits] == ["The key is under the mat."]
        with pytest.raises(InvalidInput, match="keeps no files"):
            mem.scope(user="a").residue("mat")
    opened = sys.modules["memhold_shelf"].OPENED
    assert opened[-1] == ("shelf://attic?dusty=1", 7.0)


def test_a_scheme_of_ours_cannot_be_taken(shelf: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(shelf)
    with Memhold.open(f"sqlite:///{tmp_path}/a.db", worker=False):
        pass
    assert (tmp_path / "a.db").exists()


def test_an_unknown_scheme_lists_what_is_known(shelf: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(shelf)
    with pytest.raises(InvalidInput) as refused:
        Memhold.open("shalf://me:secret@attic", worker=False)
    said = str(refused.value)
    assert "'shalf'" in said
    assert "secret" not in said
    for known in ("memory://", "postgresql://", "shelf://", "sqlite://"):
        assert known in said


def test_two_packages_with_one_scheme_are_named(shelf: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(shelf)
    monkeypatch.syspath_prepend(installed(tmp_path, "rack", 'shelf = "memhold_rack:open_shelf"'))
    with pytest.raises(InvalidInput, match="memhold-rack, memhold-shelf"):
        Memhold.open("shelf://attic", worker=False)


def test_one_that_cannot_be_loaded_or_gives_no_store_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = 'gone = "memhold_broken:open_gone"\nbare = "memhold_broken:open_wrong"'
    monkeypatch.syspath_prepend(installed(tmp_path, "broken", points))
    with pytest.raises(InvalidInput, match="memhold-broken cannot be loaded: AttributeError"):
        Memhold.open("gone://x", worker=False)
    with pytest.raises(InvalidInput, match="gave a InMemoryStore; make it return an OpenedStore"):
        Memhold.open("bare://x", worker=False)


def test_our_stores_are_registered_as_any_other() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    points = project["entry-points"]["memhold.stores"]
    loaded = {name: EntryPoint(name, value, "memhold.stores").load() for name, value in points.items()}
    assert loaded == stores._OWN


def test_opening_a_file_reads_no_metadata(tmp_path: Path) -> None:
    script = (
        "import sys; from memhold import Memhold;"
        f"Memhold.open({str(tmp_path / 'a.db')!r}, worker=False, embedding='none').close();"
        "sys.exit('memhold.wiring.foreign_stores' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


async def test_each_of_our_schemes_opens(tmp_path: Path) -> None:
    for location in (str(tmp_path / "a.db"), f"sqlite:///{tmp_path}/b.db", "memory://"):
        await (await store_at(location, FakeClock(), SeededIds(1))).close()
    with pytest.raises(InvalidInput, match="has no name"):
        await store_at("memory://x", FakeClock(), SeededIds(1))
    with pytest.raises(InvalidInput, match="pass a file path"):
        await store_at("sqlite://x", FakeClock(), SeededIds(1))


def test_a_password_is_not_shown() -> None:
    assert shown("shelf://me:secret@attic/x") == "shelf://me:***@attic/x"
    assert shown("notes/memory.db") == "notes/memory.db"
