"""The documents as a site: links between its pages, its navigation, and what is refused of a built one.

That Zensical builds it, and what a browser makes of it, is shown in `reality/test_site.py`.
"""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path

import pytest

from tests import reference
from tests.documents import ROOT

SCRIPT = runpy.run_path(str(ROOT / "scripts" / "build_site.py"))
DOCS = ROOT / "docs"
PAGE = '<html><link href="site.css"><h2 id="told">x</h2><a href="a/b.html#there">b</a><a href="#told">here</a></html>'
OTHER = '<html><h2 id="there">x</h2><a href="../index.html">up</a><a href="https://elsewhere.example/">out</a></html>'


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "a").mkdir()
    (tmp_path / "index.html").write_text(PAGE)
    (tmp_path / "a" / "b.html").write_text(OTHER)
    (tmp_path / "site.css").write_text("p { color: red }")
    return tmp_path


@pytest.mark.parametrize(
    ("page", "link", "made"),
    [
        ("how-to/serve.md", "[c](../../CHANGELOG.md)", "[c](../changelog.md)"),
        ("how-to/serve.md", "[d](../decisions/README.md#x)", "[d](../decisions/index.md#x)"),
        ("decisions/README.md", "[d](0030-declarations.md)", "[d](0030-declarations.md)"),
        ("numbers.md", "[the README](../README.md)", "the README"),
        ("numbers.md", "[a](#b) [c](https://d.example/e)", "[a](#b) [c](https://d.example/e)"),
        ("numbers.md", "[gone](nowhere.md)", "[gone](nowhere.md)"),
    ],
)
def test_links_lead_to_the_sites_pages(page: str, link: str, made: str) -> None:
    assert SCRIPT["relinked"](link, DOCS / page) == made


def test_the_changelogs_links_lead_there_too() -> None:
    assert SCRIPT["relinked"]("[51](docs/decisions/0051-x.md)", ROOT / "CHANGELOG.md") == "[51](decisions/0051-x.md)"


def test_every_page_stands_once_in_the_navigation(tmp_path: Path) -> None:
    pages = SCRIPT["collect"](tmp_path)
    assert {path.relative_to(DOCS).as_posix().replace("README", "index") for path in DOCS.rglob("*.md")} < set(pages)
    shown = tomllib.loads(SCRIPT["navigation"](pages))["nav"]
    names = [one for part in shown for held in part.values() for one in ([held] if isinstance(held, str) else held)]
    assert sorted(names) == sorted(pages)
    listed = {name for part in SCRIPT["SECTIONS"].values() for name in part}
    assert listed - set(pages) <= {"comparison.md", "proof.md"}


def test_the_readmes_table_is_of_the_comparison() -> None:
    columns = ["memory", "5 % fail", *reference.COMPARED]
    rows = [
        columns,
        ["---"] * 7,
        ["**Memhold**", "x", *"abcde"],
        ["other", "x", *"fghij"],
        ["half", "x", "k", *["not run"] * 4],
    ]
    page = "\n".join(
        ["# A page", "", *(f"| {' | '.join(row)} |" for row in rows), "", "| memory | said |", "| --- | --- |"]
    )
    made = reference.with_comparison("above\n<!-- comparison -->\nformer\n<!-- end -->\nbelow\n", page)
    *_, first, second, end, below = made.splitlines()
    assert (first, second) == ("| **Memhold** | a | b | c | d | e |", "| other | f | g | h | i | j |")
    assert (end, below, "former" in made, "half" in made) == ("<!-- end -->", "below", False, False)


def test_what_is_right_is_let_through(site: Path) -> None:
    assert list(SCRIPT["wrong_in"](site)) == []


@pytest.mark.parametrize(
    ("file", "before", "after", "said"),
    [
        ("index.html", "a/b.html#there", "a/c.html", "index.html: leads nowhere: a/c.html"),
        ("index.html", "b.html#there", "b.html#gone", "index.html: no such anchor: a/b.html#gone"),
        ("index.html", "#told", "#untold", "index.html: no such anchor: #untold"),
        ("a/b.html", "../index.html", "index.html", "a/b.html: leads nowhere: index.html"),
        ("index.html", '"site.css"', '"gone.css"', "index.html: is not there: gone.css"),
        (
            "index.html",
            '"site.css"',
            '"//cdn.example/x.css"',
            "index.html: fetched from elsewhere: //cdn.example/x.css",
        ),
        ("a/b.html", "<h2", '<script src="https://cdn.example/x.js"></script><h2', "a/b.html: fetched from elsewhere"),
        (
            "site.css",
            "red",
            "url('https://cdn.example/x.png')",
            "site.css: fetched from elsewhere: https://cdn.example",
        ),
    ],
)
def test_what_leads_nowhere_or_elsewhere_is_found(site: Path, file: str, before: str, after: str, said: str) -> None:
    path = site / file
    path.write_text(path.read_text().replace(before, after))
    (found,) = SCRIPT["wrong_in"](site)
    assert found.startswith(said)
