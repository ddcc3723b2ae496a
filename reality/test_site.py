"""The documents as Zensical builds them, opened from the disk in Chromium: read, searched, and asking nobody."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from pathlib import Path

import pytest

from reality.outside import PYTHONS, ROOT, TRIES, python_with, run

BROWSE = """
import json, sys
from playwright.sync_api import sync_playwright
chromium, site, pictures = sys.argv[1:]
told = {}
with sync_playwright() as player:
    browser = player.chromium.launch(executable_path=chromium)
    for look, (width, scheme) in {"light": (1280, "light"), "dark": (1280, "dark"), "phone": (390, "light")}.items():
        page = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme).new_page()
        page.set_default_timeout(60_000)
        elsewhere, errors = [], []
        own = ("file:", "data:", "blob:", "about:")
        page.on("request", lambda one: None if one.url.startswith(own) else elsewhere.append(one.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        wide = []
        for name in ("index", "tutorials/chat-bot", "how-to/mcp", "reference/verbs", "numbers"):
            page.goto(f"file://{site}/{name}.html")
            page.get_by_role("heading", level=1).first.wait_for()
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                wide.append(name)
            page.screenshot(path=f"{pictures}/site-{name.replace('/', '-')}-{look}.png")
        page.locator(".md-search__button:visible, label[for=__search]:visible").first.click()
        page.wait_for_function("document.activeElement.shadowRoot")  # the dialog has the keyboard
        page.keyboard.type("peanuts")
        page.locator("a[href*='chat-bot.html?h=']:visible", has_text="peanuts").first.wait_for()
        page.screenshot(path=f"{pictures}/site-search-{look}.png")
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        told[look] = {"elsewhere": elsewhere, "errors": errors, "wide": wide, "ground": ground}
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def site() -> Path:
    tries = (run(["make", ".venv/tools/.installed"], seconds=300, cwd=ROOT) for _ in range(TRIES))
    failed = list(itertools.takewhile(lambda done: done.code, tries))
    if len(failed) == TRIES:
        pytest.skip(f"requirements-tools.lock cannot be installed ({TRIES} tries): {failed[-1].last[:300]}")
    done = run(["make", "site"], seconds=300, cwd=ROOT)
    assert done.code == 0, done.out + done.err
    return ROOT / "build" / "site" / "html"


def test_it_can_be_read_and_searched_from_a_disk_and_asks_nobody(site: Path, tmp_path: Path) -> None:
    """Light, dark and on a phone; `build/pictures` has what it looks like."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    python = python_with(PYTHONS[0], "playwright", name="browser")
    pictures = ROOT / "build" / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    script = tmp_path / "browse.py"
    script.write_text(BROWSE, encoding="utf-8")
    done = run([python, script, chromium, site, pictures], seconds=400)
    assert done.code == 0, done.out + done.err
    told = json.loads(done.out)
    grounds = {look: one.pop("ground") for look, one in told.items()}
    assert [one for one in told.values() if any(one.values())] == []
    assert grounds["light"] == grounds["phone"] != grounds["dark"]


def test_a_link_that_leads_nowhere_ends_the_build(site: Path, tmp_path: Path) -> None:
    """Zensical itself refuses a page and an anchor that are not there."""
    shutil.copytree(site.parent / "pages", tmp_path / "pages")
    shutil.copy(site.parent / "zensical.toml", tmp_path)
    zensical = ROOT / ".venv" / "tools" / "bin" / "zensical"
    page = tmp_path / "pages" / "numbers.md"
    for wrong in ("[a](gone.md)", "[a](recall.md#gone)"):
        page.write_text(f"# Numbers\n\n{wrong}\n", encoding="utf-8")
        done = run([zensical, "build", "--strict", "--clean"], seconds=200, cwd=tmp_path)
        assert done.code != 0
        assert "gone" in re.sub(r"\x1b\[[\d;]*m", "", done.out + done.err)
