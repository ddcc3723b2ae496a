"""Builds the documents as a site of plain files in `build/site/html`: `make site`.

The pages are `docs/` and the changelog. Zensical renders them and refuses a link or an anchor that leads nowhere; what
it made is then looked at as a browser would: every link, every anchor, and nothing that a page would fetch from
elsewhere. The site needs no server: opened from a disk it can be searched too.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PARTS = Path(__file__).parent / "site"
OUT = ROOT / "build" / "site"

SECTIONS: Mapping[str, Sequence[str]] = {
    "Tutorials": ("quickstart.md", "tutorials/chat-bot.md", "tutorials/web-app.md", "tutorials/claude-code.md"),
    "How-to": (
        "how-to/mcp.md", "models.md", "ui.md", "how-to/import.md",
        "how-to/serve.md", "compatibility.md", "redaction.md",
    ),
    "Frameworks": ("integrations/index.md", "integrations/wrap.md"),
    "Reference": ("reference/verbs.md", "reference/command-line.md", "reference/settings.md", "words.md"),
    "Explanation": ("architecture.md", "consolidation.md", "recall.md", "context.md", "facts.md"),
    "Numbers": ("numbers.md", "comparison.md", "proof.md"),
    "Decisions": ("decisions/index.md",),
    "Changes": ("changelog.md",),
}  # fmt: skip
"""The site's parts, and the pages that come first in them; a page that no list names stands behind, by its folder."""
FOLDERS = {
    "tutorials": "Tutorials",
    "how-to": "How-to",
    "integrations": "Frameworks",
    "reference": "Reference",
    "decisions": "Decisions",
    ".": "Explanation",
}
UNSEARCHED = "---\nsearch:\n  exclude: true\n---\n\n"
"""Stands above what would stand in the way of somebody who looks for how to do a thing: decisions and changes."""
OPENED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src"}
"""What a browser fetches by itself when it meets an element; of `link`, what is no `canonical`."""
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")


def paged(path: str) -> str:
    """Where a file of the repository stands among the site's pages: a folder's README is its index."""
    return re.sub(r"(^|/)README\.md$", r"\1index.md", path)


def relinked(text: str, page: Path) -> str:
    """A page's text with its links to files of the repository as links between the site's pages.

    What is in the repository and not on the site (the README, the licence) stays as its words.
    """
    here = Path(paged(site_path(page) or ""))

    def link(found: re.Match[str]) -> str:
        target, _, anchor = found[2].partition("#")
        if not target or urlsplit(target).scheme:
            return found[0]
        file = (page.parent / target).resolve()
        there = site_path(file)
        if there is None:
            return found[1] if file.exists() else found[0]  # what is nowhere is refused by the generator
        to = Path(os.path.relpath(paged(there), here.parent)).as_posix()
        return f"[{found[1]}]({to}{f'#{anchor}' if anchor else ''})"

    return _LINK.sub(link, text)


def site_path(path: Path) -> str | None:
    """The path of a file of the repository below the site's pages, or None where it is not on the site."""
    if path == ROOT / "CHANGELOG.md":
        return "changelog.md"
    return path.relative_to(DOCS).as_posix() if path.is_relative_to(DOCS) else None


def collect(pages: Path) -> list[str]:
    """Copy what the site shows; returns the paths of its pages."""
    shutil.rmtree(pages, ignore_errors=True)
    sources = [ROOT / "CHANGELOG.md", *sorted(path for path in DOCS.rglob("*") if path.is_file())]
    found = []
    for path in sources:
        name = paged(site_path(path) or "")
        target = pages / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            text = relinked(path.read_text("utf-8"), path)
            unsearched = FOLDERS.get(Path(name).parent.as_posix()) == "Decisions" or name == "changelog.md"
            target.write_text(f"{UNSEARCHED if unsearched else ''}{text}", encoding="utf-8")
            found.append(name)
        else:
            shutil.copy(path, target)
    for part in ("iframe-worker.js", "iframe-worker.LICENSE.txt", "site.css"):
        shutil.copy(PARTS / part, pages)
    shutil.copy(ROOT / "src" / "memhold" / "faces" / "ui" / "assets" / "icon.svg", pages)
    return found


def navigation(pages: Sequence[str]) -> str:
    """The navigation as a line of TOML: every page once, in the part that lists it or has its folder."""
    listed = {name for names in SECTIONS.values() for name in names}
    parts: dict[str, list[str]] = {
        title: [name for name in names if name in pages] for title, names in SECTIONS.items()
    }
    for name in pages:
        if name not in listed and name != "index.md":
            parts[FOLDERS[Path(name).parent.as_posix()]].append(name)
    shown = [f"{{ {json.dumps(title)} = {json.dumps(names)} }}" for title, names in parts.items() if names]
    return f'nav = [{{ "Start" = "index.md" }}, {", ".join(shown)}]'


class Page(HTMLParser):
    """What a built page links to, what can be linked to in it, and what a browser would fetch for it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element says."""
        told = {name: value or "" for name, value in attrs}
        if "id" in told:
            self.names.add(told["id"])
        if tag == "a" and "href" in told:
            self.links.append(told["href"])
        if tag in OPENED and OPENED[tag] in told:
            self.fetched.append(told[OPENED[tag]])
        if tag == "link" and told.get("rel") != "canonical":
            self.fetched.append(told.get("href", ""))


def wrong_in(site: Path) -> Iterator[str]:
    """Whatever on a built site leads nowhere, or would be fetched from elsewhere."""
    pages = {path: Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        if path.name == "404.html":  # a server's own page: its links begin at the root
            continue
        name = path.relative_to(site)
        for link in page.links:
            yield from (f"{name}: {why}: {link}" for why in _wrong_link(link, path, pages))
        for link in page.fetched:
            if urlsplit(link).netloc or urlsplit(link).scheme not in {"", "data"}:
                yield f"{name}: fetched from elsewhere: {link}"
            elif not (path.parent / unquote(urlsplit(link).path)).exists():
                yield f"{name}: is not there: {link}"
    for path in sorted(site.rglob("*.css")):
        for link in re.findall(r"(?:url\(|@import\s+)[\"']?((?:https?:)?//[^\"')]+)", path.read_text("utf-8")):
            yield f"{path.relative_to(site)}: fetched from elsewhere: {link}"


def _wrong_link(link: str, path: Path, pages: Mapping[Path, Page]) -> Iterator[str]:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.exists():
        yield "leads nowhere"
    elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].names:
        yield "no such anchor"


def build(out: Path = OUT) -> Path:
    """Build the site below a folder; returns where its files are.

    Raises SystemExit with what is wrong, each in a line.
    """
    shutil.rmtree(out, ignore_errors=True)
    names = collect(out / "pages")
    settings = (
        (PARTS / "zensical.toml").read_text("utf-8").replace("[project]\n", f"[project]\n{navigation(names)}\n", 1)
    )
    (out / "zensical.toml").write_text(settings, encoding="utf-8")
    zensical = [Path(sys.executable).with_name("zensical"), "build", "--strict", "--clean"]
    done = subprocess.run(
        zensical,
        cwd=out,
        env=os.environ | {"NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stdout.decode())
    site = out / "html"
    for path in site.rglob("*.html"):
        # For a page that is opened from a disk the theme would fetch this one script from a host of others.
        to_top = "../" * (len(path.relative_to(site).parts) - 1)
        text = path.read_text("utf-8").replace("https://unpkg.com/iframe-worker/shim", f"{to_top}iframe-worker.js")
        path.write_text(text, encoding="utf-8")
    if wrong := list(wrong_in(site)):
        raise SystemExit("\n".join(wrong))
    return site


if __name__ == "__main__":
    print(f"open {build() / 'index.html'}")
