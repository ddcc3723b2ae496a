"""What every part may ask for, and the bound that each has."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

from memhold.testing.chaos import ChaosServer
from reality.agents import agents_of_npm
from reality.outside import HERE, ROOT, Node, clean_environment, run
from tests.proofs.conftest import runs

__all__ = ["runs"]

BOUND_SECONDS = 900
TOGETHER = ("test_page", "test_typescript", "test_site")
"""Modules that bring something up once for all their parts: each goes to one worker, before all others."""
LONGEST = ("test_small_model", "test_load", "test_attacks", "test_api", "test_agents_killed")
"""Modules whose parts last longest: they come next, so that none of them is begun when all else is done."""


class Parts(LoadScopeScheduling):  # type: ignore[misc]
    """Every worker takes the next part that is free, or the next module of those that stay together."""

    def _split_scope(self, nodeid: str) -> str:
        module = nodeid.partition("::")[0]
        return module if Path(module).stem in TOGETHER else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Parts:
    """Who goes where: `xdist_group` does nothing with pytest 9.2."""
    return Parts(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first."""
    order = [HERE / f"{name}.py" for name in (*TOGETHER, *LONGEST)]
    items.sort(key=lambda item: order.index(item.path) if item.path in order else len(order))


@pytest.fixture(autouse=True)
def bounded(request: pytest.FixtureRequest) -> Iterator[None]:
    """End a part that is not done after its bound (900 s, or what its marker `bound` says): it hangs, and fails."""
    marker = request.node.get_closest_marker("bound")
    seconds = marker.args[0] if marker else BOUND_SECONDS

    def ended(_signal: int, _frame: FrameType | None) -> None:
        pytest.fail(f"it was ended: not done after {seconds} s")

    former = signal.signal(signal.SIGALRM, ended)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, former)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheel (`whl`) and the source distribution (`gz`), built now from this tree: the same bytes in each worker."""
    out = tmp_path_factory.mktemp("dist")
    done = run([ROOT / ".venv" / "bin" / "hatchling", "build", "-d", out], seconds=300, cwd=ROOT)
    assert done.code == 0, done.err
    found = {path.suffix[1:]: path for path in out.iterdir()}
    assert set(found) == {"whl", "gz"}
    return found


@pytest.fixture(scope="session")
def wheel(built: dict[str, Path]) -> Path:
    """The wheel, built now from this tree."""
    return built["whl"]


@pytest.fixture
def clean(tmp_path: Path) -> dict[str, str]:
    """The environment of a person who has just logged in; their home is the test's folder."""
    return clean_environment(tmp_path)


@pytest.fixture(scope="module")
def node() -> Node:
    """Node with the coding agents; a part that needs other packages of npm has a fixture of that name."""
    return agents_of_npm()


@pytest.fixture
def provider() -> Iterator[ChaosServer]:
    """What stands in for the vendor whom a coding agent asks."""
    with ChaosServer() as server:
        yield server
