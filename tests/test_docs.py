"""The documents are true: what can be run runs, what lists things lists all of them, what links leads somewhere."""

from __future__ import annotations

import ast
import os
import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

import memhold
from memhold import Memhold, errors
from memhold._version import __version__
from memhold.errors import MemholdError
from memhold.journal import archive
from memhold.server.settings import ServeSettings
from memhold.testing import ChaosServer
from memhold.testing.chaos.replies import Asked, Reply
from memhold.transfer.formats import READERS
from memhold.wiring.settings import PREFIX, Settings, load_settings
from tests import reference
from tests.command_line import forked
from tests.documents import ROOT, anchors, blocks, links, run_blocks, unfenced
from tests.test_structure import ORDER

DOCS = ROOT / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))
RUN = [
    ROOT / "README.md",
    DOCS / "index.md",
    DOCS / "quickstart.md",
    *TUTORIALS,
    *sorted((DOCS / "how-to").glob("*.md")),
]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
RUN_IN_REALITY = {"docs/how-to/typescript.md": ("js",)}
"""Pages with blocks of languages that only `make reality` has, which runs them: reality/test_typescript.py."""
MOST_SKIPPED = 4
CODE = ("src", "tests", "reality", "benchmarks", "scripts")
ELSEWHERE = {"chat.py", "tests/test_full_integration.py"}
"""Modules that pages name and that are not ours: the reader's, and the Agent Memory Server's."""


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def marked(path: Path, marker: str) -> str:
    """What stands between a page's `<!-- marker -->` and the `<!-- end -->` behind it."""
    found = re.search(rf"<!-- {marker} -->\n(.*?)<!-- end -->", path.read_text(encoding="utf-8"), re.DOTALL)
    assert found, f"{path} has no {marker}"
    return found[1]


def rows(text: str) -> list[list[str]]:
    """The rows of the tables in a text whose first cell is code, cell by cell."""
    found = re.findall(r"^\| (`.*) \|$", text, re.MULTILINE)
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)] for row in found]


def codes(cell: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", cell))


# ------------------------------------------------------------------------------------------------ what can be run


@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_what_a_page_shows_can_be_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(PREFIX):
            monkeypatch.delenv(name)
    with ChaosServer() as model:
        model.say(tutorials_model)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{model.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "of nobody")
        assert run_blocks(page, tmp_path, memhold=forked()) > 0
    assert bool(model.requests) == ('"OPENAI_BASE_URL"' in page.read_text("utf-8"))


def tutorials_model(asked: Asked) -> Reply | None:
    """The tutorials' model: it answers out of what it is sent, so that what memory did not bring it does not know."""
    if asked.offers or not asked.texts or "What can I cook" not in asked.texts[-1][1]:
        return None  # takes notes, or says what it was told
    sent = "".join(text for _, text in asked.texts)
    return Reply(text="A vegetable curry, without peanuts." if "peanuts" in sent else "Tell me first what you eat.")


def test_the_example_of_the_package_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line[4:] for line in (memhold.__doc__ or "").splitlines() if line.startswith("    ")]
    *setup, last = lines
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec("\n".join([*setup, f"    found = {last.strip()}"]), names)  # noqa: S102 - the example is ours
    assert names["found"] == "I moved to Lisbon."


def test_hardly_a_block_is_skipped() -> None:
    skipped = [(name_of(page), block.skipped) for page in RUN for block in blocks(page) if block.skipped]
    assert len(skipped) <= MOST_SKIPPED, skipped


def test_every_block_that_looks_like_code_is_of_a_kind_that_is_run() -> None:
    known = {"python", "console", "text"}
    strange = [
        (name_of(page), b.line)
        for page in RUN
        for b in blocks(page)
        if b.language not in {*known, *RUN_IN_REALITY.get(name_of(page), ())} and not b.skipped and not b.file
    ]
    assert strange == []
    whole = (ROOT / "reality" / "test_typescript.py").read_text("utf-8")
    assert all(f'"{page}"' in whole for page in RUN_IN_REALITY)


def test_the_first_screen_forgets_its_bytes(tmp_path: Path) -> None:
    """README: what its first screen forgot is nowhere below the folder, whoever looks."""
    run_blocks(ROOT / "README.md", tmp_path, languages={"python"})
    files = [path for path in tmp_path.iterdir() if path.is_file()]
    assert {"memory.db"} <= {path.name for path in files}
    assert [path.name for path in files if b"Lisbon, to a flat" in path.read_bytes()] == []
    assert any(b"sushi" in path.read_bytes() for path in files)


# ------------------------------------------------------------------------------------------------ commands that are named


def test_the_commands_that_prove_a_promise_select_tests() -> None:
    """Every path of a `pytest` command is there, and every word behind -k is in the name of a test or of its file."""
    named = set(re.findall(r"`[^`]*\bpytest ([^`]+)`", "".join(page.read_text("utf-8") for page in PAGES)))
    assert named
    for command in named:
        paths = [ROOT / word for word in re.findall(r"tests/[\w/.]+", command)]
        for path in paths:
            assert path.exists(), f"{command}: there is no {path}"
        selected = re.search(r'-k "([^"]+)"', command)
        for word in re.split(r" or | and | not ", selected[1]) if selected else ():
            assert any(word in known for path in paths for known in _test_names(path)), (
                f"{command}: no test has {word!r}"
            )


def _test_names(path: Path) -> set[str]:
    """Names that `-k` can meet in a test file: of its tests, their parameters' pages, and of the suites it subclasses."""
    text = path.read_text(encoding="utf-8")
    for suite in ("VerbSuite", "StoreSuite"):
        if suite in text:
            cases = (ROOT / "src" / "memhold" / "testing").glob(f"{suite.removesuffix('Suite').lower()}_suite_*.py")
            text += "".join(page.read_text("utf-8") for page in cases)
    names = set(re.findall(r"def (test_\w+)", text)) | {path.name}
    return names | ({name_of(page) for page in RUN} if path.name == "test_docs.py" else set())


def test_the_numbers_of_the_proofs_are_those_that_run() -> None:
    told = re.search(
        r"\(([\d,]+) kills, ([\d,]+) power\s+cuts of the store and ([\d,]+) while other files are written, ([\d,]+) damaged"
        r" files, ([\d,]+) I/O errors, an hour of ordinary work, ([\d,]+) histories of forgetting, ([\d,]+) of several",
        (ROOT / "README.md").read_text("utf-8"),
    )
    assert told
    proofs = ("crash", "power_cut", "power_cut_files", "damage", "disk_faults", "residue", "two_processes")
    for number, name in zip(told.groups(), proofs, strict=True):
        text = (ROOT / "tests" / "proofs" / f"test_{name}.py").read_text("utf-8")
        assert re.search(rf"runs\(\d+, {number.replace(',', '')}\)", text), name


def test_make_targets_that_are_named_are_there() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = set(re.findall(r"`make (\w+)`", "".join(page.read_text("utf-8") for page in PAGES)))
    assert named <= targets


def places(cell: str) -> set[str]:
    """What looks like a path in a cell's code: it has a slash or a file's ending, and is no command."""
    return {
        one for one in codes(cell) if re.fullmatch(r"[\w./*-]+", one) and ("/" in one or re.search(r"\.\w{2,5}$", one))
    }


def stands(place: str) -> bool:
    """Whether a path of CONTRIBUTING's table is there: of the checkout or of the package; NNNN_name stands for one."""
    pattern = re.sub(r"NNNN([-_])name", r"[0-9][0-9][0-9][0-9]\1*", place).rstrip("/")
    return any(next(root.glob(pattern), None) is not None for root in (ROOT, ROOT / "src" / "memhold"))


def test_where_a_change_lands_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Where a change lands")[2].partition("\n## ")[0]
    named = {place for line in text.splitlines() if line.startswith("| ") for place in places(line)}
    assert len(named) > 40
    assert sorted(place for place in named if not stands(place)) == []
    assert not stands("pipeline/")
    assert not stands("verbs/nothing.py")
    assert places("| `pipeline/` | `make lock`, `testing/verb_suite_*.py` |") == {
        "pipeline/",
        "testing/verb_suite_*.py",
    }


def modules(page: Path) -> set[str]:
    """The modules of ours that a page names outside its blocks of code, by the ends of their paths.

    The tests that the pages of the adapters name are the frameworks' own.
    """
    named = set(re.findall(r"`([\w/]+\.py)`", unfenced(page))) - ELSEWHERE
    theirs = r"(?:.*/)?test_\w+\.py" if page.parent == DOCS / "integrations" else r"\Z."
    return {one for one in named if not re.fullmatch(theirs, one)}


def test_modules_that_pages_name_are_there() -> None:
    ours = {f"/{path.relative_to(ROOT).as_posix()}" for folder in CODE for path in (ROOT / folder).rglob("*.py")}
    assert [path for path in ours if path.endswith("/verbs/scope.py")]
    gone = {
        (name_of(page), module)
        for page in PAGES
        for module in modules(page)
        if not any(path.endswith(f"/{module}") for path in ours)
    }
    assert gone == set()


# ------------------------------------------------------------------------------------------------ links


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        target, _, anchor = link.partition("#")
        leads_to = (page.parent / target).resolve() if target else page
        assert leads_to.exists(), f"{name_of(page)}: {link}"
        assert not anchor or anchor in anchors(leads_to), f"{name_of(page)}: {link}"


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, ahead = set(), [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        ahead += [(page.parent / link.partition("#")[0]).resolve() for link in links(page) if not link.startswith("#")]
    assert {name_of(page) for page in PAGES} <= {name_of(page) for page in reached}


def test_no_page_tells_of_the_machine_that_it_was_written_on() -> None:
    for page in PAGES:
        assert not re.search(r"/(work|tmp|root|home)/\w", page.read_text("utf-8")), page


# ------------------------------------------------------------------------------------------------ references


def test_the_settings_are_those_of_the_code() -> None:
    told = {codes(row[0]).pop(): row[1] for row in rows(marked(DOCS / "reference" / "settings.md", "settings"))}
    assert told == {
        field.name: str(field.default).lower() if isinstance(field.default, bool) else str(field.default)
        for field in fields(Settings)
    }


def test_the_settings_of_a_server_are_those_of_the_code() -> None:
    told = {codes(row[0]).pop(): row[1] for row in rows(marked(DOCS / "reference" / "settings.md", "serve settings"))}
    wanted = {field.name: str(field.default).lower() or "empty" for field in fields(ServeSettings)}
    assert told == wanted
    folder = ROOT / "src" / "memhold"
    files = ("server/listening.py", "server/serving.py", "server/supervising.py", "cli/serve.py")
    read = "".join((folder / name).read_text("utf-8") for name in files)
    assert [name for name in wanted if f"settings.{name}" not in read] == []


def test_each_setting_is_read() -> None:
    """A setting that nothing reads would be a promise that nothing keeps."""
    modules = [ast.parse(path.read_text("utf-8")) for path in (ROOT / "src" / "memhold" / "wiring").glob("*.py")]
    used = {node.attr for tree in modules for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert {field.name for field in fields(Settings)} <= used


def test_settings_are_few() -> None:
    """What nobody can choose sensibly is a constant with its reason, not one more line to read."""
    assert len(fields(Settings)) + len(fields(ServeSettings)) <= 60


@pytest.mark.parametrize("again", [False, True], ids=["ended", "kept again"])
def test_a_long_window_is_cut_between_messages(monkeypatch: pytest.MonkeyPatch, *, again: bool) -> None:
    monkeypatch.setattr(archive, "RAW_CHARS", 100)
    with Memhold.open("memory://", worker=False) as mem:
        alice = mem.scope(user="alice", session="s")
        alice.add([{"role": "user", "content": f"{turn} " + "x" * 60} for turn in range(6)])
        kept = alice.end_session().ids
        if again:
            alice.forget(kept[0], sources="keep")
            mem.settle()
        texts = [memory.text for memory in alice.list(kinds=["raw"]).items]
        assert len(texts) == 6
        assert max(map(len, texts)) <= 100


def test_the_settings_that_the_page_shows_are_accepted(tmp_path: Path) -> None:
    page = DOCS / "reference" / "settings.md"
    shown = next(block.text for block in blocks(page) if block.language == "toml")
    (tmp_path / "memhold.toml").write_text(shown)
    assert (
        load_settings({}, environment={}, folder=tmp_path).idempotency_days == tomllib.loads(shown)["idempotency_days"]
    )
    exported = next(block.text for block in blocks(page) if block.language == "console")
    name, value = exported.removeprefix("$ export ").strip().split("=")
    assert load_settings({}, environment={name: value}, folder=tmp_path / "none").idempotency_days == int(value)


ERRORS = DOCS / "reference" / "errors.md"
ERROR_CLASSES = {name: getattr(errors, name) for name in errors.__all__ if isinstance(getattr(errors, name), type)}


def test_the_errors_are_those_of_the_code() -> None:
    raised = {name for name, each in ERROR_CLASSES.items() if issubclass(each, MemholdError)}
    told = [codes(row[0]).pop() for row in rows(marked(ERRORS, "errors"))]
    assert sorted(told) == sorted(raised)
    for name in set(errors.__all__) - raised:
        assert f"`{name}`" in unfenced(ERRORS)


def test_the_tree_of_errors_is_that_of_the_classes() -> None:
    tree = next(block.text for block in blocks(ERRORS) if block.language == "text")
    above: list[str] = []
    drawn = {}
    for line in tree.splitlines():
        found = re.match(r"([│├└─ ]*)(\w+)", line)
        assert found, line
        depth = len(found[1]) // 4
        above[depth:] = [found[2]]
        drawn[found[2]] = above[-2] if depth else "Exception"
    raised = {name: each for name, each in ERROR_CLASSES.items() if issubclass(each, MemholdError)}
    assert drawn == {name: each.__bases__[0].__name__ for name, each in raised.items()}


@pytest.mark.parametrize("row", rows(marked(ERRORS, "errors")), ids=lambda row: row[0].strip("`"))
def test_the_attributes_of_an_error_are_those_of_its_class(row: list[str]) -> None:
    error = ERROR_CLASSES[row[0].strip("`")]
    own = set(vars(error).get("__annotations__", {}))
    own |= {name for name, member in vars(error).items() if isinstance(member, property)}
    assert codes(row[1]) == own


def test_the_verbs_are_those_of_the_code() -> None:
    text = reference.VERBS.read_text(encoding="utf-8")
    told = set(re.findall(r"^### ([\w.]+)$", text, re.MULTILINE))
    assert told == set(reference.verbs()), "add the verb to docs/reference/verbs.md, then run python -m tests.reference"
    assert reference.with_signatures(text) == text, "run python -m tests.reference"


def test_each_verb_names_the_errors_of_its_docstring() -> None:
    sections = dict(re.findall(r"^### ([\w.]+)\n(.*?)(?=^##|\Z)", unfenced(reference.VERBS), re.MULTILINE | re.DOTALL))
    common = codes(unfenced(reference.VERBS).partition("## Opening")[0])
    untold = {}
    for name, verb in reference.verbs().items():
        raised = set(re.findall(r"\w+", (verb.__doc__ or "").partition("Raises:")[2])) & set(ERROR_CLASSES)
        untold[name] = raised - codes(sections[name]) - common
    assert {name: missing for name, missing in untold.items() if missing} == {}


def test_the_commands_are_those_of_the_code() -> None:
    text = reference.COMMAND_LINE.read_text(encoding="utf-8")
    assert reference.with_commands(text) == text, "run python -m tests.reference"
    assert "### recall" in text


def test_the_mcp_tools_are_those_of_the_code() -> None:
    text = reference.MCP.read_text(encoding="utf-8")
    assert reference.with_tools(text) == text, "run python -m tests.reference"
    assert "## add_message" in text


def test_the_attacks_are_those_of_the_code() -> None:
    text = reference.ATTACKS_PAGE.read_text(encoding="utf-8")
    assert reference.with_attacks(text) == text, "run python -m tests.reference"
    assert "| `forged-fences` |" in text
    assert "| ASI06 | Memory & Context Poisoning | `" in text


def test_the_formats_are_those_of_the_code() -> None:
    told = [codes(row[0]).pop() for row in rows(marked(DOCS / "how-to" / "import.md", "formats"))]
    assert told == list(READERS)


def test_the_layers_name_every_part() -> None:
    told = set().union(*(codes(row[0]) for row in rows(unfenced(DOCS / "architecture.md"))))
    assert told == set(ORDER) - {"__main__"}, "docs/architecture.md, Layers"


def test_every_decision_is_in_the_index() -> None:
    index = DOCS / "decisions" / "README.md"
    pages = [path.name for path in index.parent.glob("*.md") if path != index]
    assert sorted(links(index)) == sorted(pages)
    numbers = [name[:4] for name in pages if name[:4].isdecimal()]
    assert len(numbers) == len(set(numbers)), "two decisions have one number"


def test_a_decision_is_short_and_the_records_are_few() -> None:
    pages = [path for path in (DOCS / "decisions").glob("*.md") if path.name != "README.md"]
    assert len(pages) <= 30
    words = {path.name: len(re.findall(r"\S*\w\S*", path.read_text("utf-8"))) for path in pages}
    assert {name: count for name, count in words.items() if count > 400} == {}


def test_the_changelog_tells_of_this_version() -> None:
    assert re.search(
        rf"^## \[.*\] {re.escape(__version__)}|^## \[{re.escape(__version__)}\]",
        (ROOT / "CHANGELOG.md").read_text("utf-8"),
        re.MULTILINE,
    )
