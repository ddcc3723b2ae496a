"""What a person does on the page, in Debian's Chromium: `test_page.py` runs it in an environment with playwright.

Takes a JSON object on standard input (the link, Chromium's place, axe-core's, where pictures go) and prints a line of
JSON for each journey: its name, and what was wrong.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from playwright.sync_api import BrowserContext, Page, Route, expect, sync_playwright

PAGES = {
    "now": "/ui",
    "recall": "/ui/recall",
    "sessions": "/ui/sessions",
    "settle": "/ui/settle",
    "forget": "/ui/forget",
    "health": "/ui/health",
    "whose": "/ui/whose",
    "door": "/ui/sign-in",
}
PATIENCE = 90_000
"""How many milliseconds anything may take to appear: what ends a journey that is broken, on a machine however busy."""
LOOKS = {"light": (1280, "light"), "dark": (1280, "dark"), "phone": (390, "light"), "reflow": (320, "light")}
"""Widths and colours; 320 pixels are 1,280 enlarged four times, at which nothing may need scrolling to the side."""
AXE = "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']})"


class Visitor:
    """A browser that has come in; everything that it asks for, prints or is asked by a page is kept."""

    def __init__(self, context: BrowserContext, base: str) -> None:
        self.context = context
        self.base = base
        self.elsewhere: list[str] = []
        self.complaints: list[str] = []
        context.set_default_timeout(PATIENCE)

    def page(self) -> Page:
        """An empty tab, watched."""
        page = self.context.new_page()
        page.on("request", lambda one: None if one.url.startswith(self.base) else self.elsewhere.append(one.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda line: self.complaints.append(line.text) if "Security Policy" in line.text else None)
        page.on("dialog", lambda dialog: (self.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        return page

    def at(self, path: str) -> Page:
        """A tab on a path."""
        page = self.page()
        page.goto(f"{self.base}{path}")
        return page


def asked_of_the_test(asked: Mapping[str, Any], harm: str) -> None:
    """Ask the test for a harm from outside, and wait until it is done."""
    Path(asked[harm]).touch()
    done = Path(f"{asked[harm]}.done")
    end = monotonic() + 10 * PATIENCE / 1000
    while not done.exists():
        assert monotonic() < end, f"{harm} was not done"
        sleep(0.05)


def picture(page: Page, asked: Mapping[str, Any], name: str) -> None:
    """A picture of a state that a person brought about, beside those of every page."""
    page.screenshot(path=Path(asked["pictures"]) / f"{name}.png")


def line(page: Page, words: str) -> Any:
    """The row whose value has some words; those of others may quote them."""
    return page.locator("li.row", has=page.locator(".value", has_text=words))


def correct_recall_undo(visitor: Visitor, asked: Mapping[str, Any]) -> None:
    page = visitor.at("/ui")
    line(page, "kimchi").get_by_role("button", name="Correct").click()
    page.get_by_label("The right value").fill("bibimbap")
    page.keyboard.press("Enter")
    done = line(page, "bibimbap")
    expect(done.get_by_role("status")).to_contain_text("Corrected.")
    picture(page, asked, "state-corrected")
    other = visitor.at("/ui/recall")
    other.get_by_label("Question").fill("what is her favorite food")
    other.get_by_role("button", name="Ask").click()
    expect(other.locator(".hit").first).to_contain_text("bibimbap")
    done.get_by_role("button", name="Undo").click()
    expect(line(page, "kimchi").get_by_role("status")).to_contain_text("Undone.")
    line(page, "kimchi").get_by_role("button", name="Redo").click()
    expect(line(page, "bibimbap")).to_be_visible()
    line(page, "bibimbap").get_by_role("button", name="Undo").click()
    expect(line(page, "kimchi")).to_be_visible()


def two_tabs(visitor: Visitor, asked: Mapping[str, Any]) -> None:
    first, second = visitor.at("/ui"), visitor.at("/ui")
    for tab in (first, second):
        line(tab, "barley tea").get_by_role("button", name="Correct").click()
    first.get_by_label("The right value").fill("green tea")
    first.keyboard.press("Enter")
    expect(line(first, "green tea").get_by_role("status")).to_contain_text("Corrected.")
    field = second.get_by_label("The right value")
    field.fill("oolong")
    field.press("Enter")
    expect(second.get_by_role("alert").filter(has_text="Somebody changed it")).to_contain_text("green tea")
    picture(second, asked, "state-changed-meanwhile")
    expect(second.get_by_label("The right value")).to_have_value("oolong")


def found_as_one_types(visitor: Visitor, _: Mapping[str, Any]) -> None:
    page = visitor.at("/ui")
    page.keyboard.press("/")
    page.keyboard.type("window seats")
    expect(line(page, "window seats")).to_be_visible()
    expect(page.locator("li.row", has_text="kimchi")).to_have_count(0)
    assert "window" not in page.url


def timeline_slides(visitor: Visitor, _: Mapping[str, Any]) -> None:
    page = visitor.at("/ui")
    line(page, "Busan").get_by_role("link", name="Timeline").click()
    page.get_by_label("What was so at").fill("10")
    _, today, then = (page.locator("#moment dd").nth(place) for place in range(3))
    expect(today).to_have_text("Lisbon")
    page.get_by_label("as it was known at").fill("5")
    expect(then).to_have_text("nothing yet")


def explain_a_miss(visitor: Visitor, _: Mapping[str, Any]) -> None:
    page = visitor.at("/ui/recall")
    page.get_by_label("Question").fill("favorite food")
    page.get_by_text("Filters, another time").click()
    page.get_by_label("Among").select_option("note")
    page.get_by_label("What do you miss?").fill("kimchi jjigae")
    page.get_by_role("button", name="Ask").click()
    expect(page.get_by_text("A filter keeps it out")).to_be_visible()


def _let_in(page: Page, waiting: list[Route]) -> None:
    """Let a script that was held back go on, once it was asked for."""
    while not waiting:
        page.wait_for_timeout(20)
    waiting.pop().continue_()


def what_is_done_early_counts(visitor: Visitor, _: Mapping[str, Any]) -> None:
    """What is pressed and typed before htmx is there waits for it; without it nothing becomes an address."""
    waiting: list[Route] = []
    page = visitor.page()
    page.route("**/htmx.min.js", lambda route: waiting.append(route))  # noqa: PLW0108 - it wants a function's signature
    page.goto(f"{visitor.base}/ui/settle", wait_until="commit")
    expect(page.locator(".card").first).to_be_visible()
    page.keyboard.press("d")
    _let_in(page, waiting)
    expect(page.locator(".card.settled")).to_contain_text("What the user told stays.")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".card.settled")).to_have_count(0)
    page.goto(f"{visitor.base}/ui", wait_until="commit")
    page.get_by_label("Find").first.fill("window seats")
    _let_in(page, waiting)
    expect(line(page, "window seats")).to_be_visible()
    expect(page.locator("li.row", has_text="kimchi")).to_have_count(0)
    bare = visitor.page()
    bare.route("**/*.js", lambda route: route.abort())
    bare.goto(f"{visitor.base}/ui")
    bare.get_by_label("Find").first.fill("canary")
    bare.keyboard.press("Enter")
    expect(bare.get_by_label("Find").first).to_have_value("canary")
    assert {one.url for one in (page, bare)} == {f"{visitor.base}/ui"}


def settle_by_keyboard(visitor: Visitor, asked: Mapping[str, Any]) -> None:
    page = visitor.at("/ui/settle")
    page.keyboard.press("d")
    card = page.locator(".card.settled")
    expect(card).to_contain_text("What the user told stays.")
    expect(card.get_by_role("button", name="Undo")).to_be_focused()
    invented = page.locator("section", has_text="Not kept").locator("li.card", has_text="pizza")
    invented.press("n")
    gone = page.locator(".card.settled", has_text="Dismissed")
    expect(gone.get_by_role("button", name="Undo")).to_be_focused()
    picture(page, asked, "state-settled")
    page.reload()
    expect(page.locator("li.card").first).to_be_visible()
    expect(invented).to_have_count(0)


def the_focus_stays_in_place(visitor: Visitor, _: Mapping[str, Any]) -> None:
    """What takes the place of what had the focus has it: a keyboard never begins again at the top."""
    page = visitor.at("/ui")
    row = line(page, "会议纪要要用中文写")
    for act, way in (("Correct", "The right text"), ("Forget", "Hide it")):
        row.get_by_role("button", name=act).press("Enter")
        form = page.locator("li.row.editing")
        if act == "Correct":
            expect(form.get_by_label(way)).to_be_focused()
        else:
            expect(form).to_be_focused()
            form.get_by_role("radio").first.focus()
            page.keyboard.press("ArrowUp")
            expect(form.get_by_role("button", name=way)).to_be_visible()
            expect(form.get_by_role("radio", name=way.split()[0])).to_be_focused()
        page.keyboard.press("Escape")
        expect(row.get_by_role("button", name=act)).to_be_focused()
    page = visitor.at("/ui/settle")
    cards = page.locator("section", has_text="Noted by agents").locator("li.card")
    settled = page.locator(".card.settled")
    cards.first.press("n")
    expect(cards.first.get_by_role("button", name="Undo")).to_be_focused()
    page.keyboard.press("n")
    expect(settled).to_have_count(2)
    expect(settled.last.get_by_role("button", name="Undo")).to_be_focused()
    page.keyboard.press("Enter")
    expect(settled).to_have_count(1)
    expect(page.locator("li.card:focus")).to_contain_text("lemonade")
    settled.get_by_role("button", name="Undo").press("Enter")
    expect(cards.first).to_be_focused()
    expect(settled).to_have_count(0)
    page = visitor.at("/ui/forget")
    page.get_by_role("textbox", name="These words").fill("kimchi")
    page.keyboard.press("Enter")
    page.locator("#plan").get_by_role("button", name="Show what would go").press("Enter")
    expect(page.locator("#plan form")).to_be_focused()


def replay_a_session(visitor: Visitor, _: Mapping[str, Any]) -> None:
    page = visitor.at("/ui/sessions")
    page.get_by_label("Which conversation").select_option("work")
    page.get_by_text("1 tool call, answered").click()
    expect(page.get_by_text("3 flights: TP 1930")).to_have_count(2)
    page.get_by_role("textbox", name="The new message").fill("Which flight did we take?")
    expect(page.locator("#context")).to_contain_text("Which flight did we take?")
    page.get_by_label("Budget").fill("1")
    expect(page.locator("#context")).to_contain_text("budget 1,000")
    expect(page.locator("label .chosen")).to_have_text("1,000")


def forget_with_a_proof(visitor: Visitor, asked: Mapping[str, Any]) -> None:
    page = visitor.at("/ui/forget")
    page.get_by_role("textbox", name="These words").fill("QX7T2M")
    page.get_by_role("button", name="Show what would go").click()
    page.locator("#plan").get_by_role("button", name="Show what would go").click()
    expect(page.locator(".going")).to_contain_text("2 messages")
    picture(page, asked, "state-what-would-go")
    page.get_by_role("button", name="Erase for good").click()
    expect(page.get_by_text("not one byte of it is left")).to_be_visible()
    picture(page, asked, "state-proof")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the proof").click()
    proof = json.loads(Path(saved.value.path()).read_text(encoding="utf-8"))
    assert proof["found"] == 0, proof


def other_users_are_apart(visitor: Visitor, _: Mapping[str, Any]) -> None:
    for path in PAGES.values():
        page = visitor.at(path)
        assert "canary" not in page.content(), path
        page.close()


def a_model_goes_down(visitor: Visitor, asked: Mapping[str, Any]) -> None:
    page = visitor.at("/ui/health")
    expect(page.get_by_text("does not answer", exact=True)).to_have_count(0)
    asked_of_the_test(asked, "stop_model")
    expect(page.get_by_text("does not answer", exact=True)).to_be_visible()


def looks(visitor: Visitor, asked: Mapping[str, Any]) -> None:
    """Every page in light, dark and on a phone: nothing for axe, nothing wider than the screen, a picture of each."""
    state = visitor.context.storage_state()
    pictures = Path(asked["pictures"])
    pictures.mkdir(parents=True, exist_ok=True)
    axe = Path(asked["axe"]).read_text(encoding="utf-8")
    faults = []
    now = visitor.at("/ui")
    person = now.locator("a[href$='/about']").first.get_attribute("href") or ""
    paths = {**PAGES, "person": person, "timeline": person.removesuffix("/about")}
    now.close()
    for look, (width, scheme) in LOOKS.items():
        context = visitor.context.browser.new_context(  # type: ignore[union-attr]
            viewport={"width": width, "height": 860}, color_scheme=scheme, storage_state=state
        )
        one = Visitor(context, visitor.base)
        for name, path in paths.items():
            page = one.at(path)
            if name in {"person", "timeline"}:
                page.get_by_label("What was so at").fill("900")
                page.wait_for_selector("#moment dl")
            if name == "health":
                page.wait_for_selector("#size .line")
            if name == "recall":
                page.get_by_label("Question").fill("where does she live")
                page.get_by_role("button", name="Ask").click()
                page.wait_for_selector(".hit")
            if name == "sessions":
                page.wait_for_selector(".budget")
            page.screenshot(path=pictures / f"{name}-{look}.png", full_page=width < 760)
            page.evaluate(f"{axe}; true")
            found = page.evaluate(AXE)["violations"]
            faults += [f"{name} {look}: {each['id']} {each['nodes'][0]['html'][:120]}" for each in found]
            if page.evaluate("document.documentElement.scrollWidth") > width:
                faults.append(f"{name} {look}: wider than the screen")
            page.close()
        faults += one.complaints + one.elsewhere
        context.close()
    assert not faults, faults


def the_server_dies(visitor: Visitor, asked: Mapping[str, Any]) -> None:
    page = visitor.at("/ui")
    asked_of_the_test(asked, "stop_server")
    page.get_by_label("Find").first.fill("tea")
    expect(page.locator("#offline")).to_be_visible()
    picture(page, asked, "state-server-gone")
    asked_of_the_test(asked, "start_server")
    page.wait_for_url("**/ui/sign-in")


def readme_pictures(visitor: Visitor, asked: Mapping[str, Any]) -> None:
    """What is believed, in light, and why a question was answered so, in dark."""
    state = visitor.context.storage_state()
    made = visitor.context.browser
    assert made is not None
    shots = {"now": ("/ui", "light"), "recall": ("/ui/recall", "dark")}
    for name, (path, scheme) in shots.items():
        context = made.new_context(
            viewport={"width": 1200, "height": 640},
            color_scheme=scheme,
            storage_state=state,  # type: ignore[arg-type]
        )
        page = Visitor(context, visitor.base).at(path)
        if name == "recall":
            page.get_by_label("Question").fill("where does she live")
            page.get_by_role("button", name="Ask").click()
            page.wait_for_selector(".hit")
        page.screenshot(path=Path(asked["pictures"]) / f"{name}.png")
        context.close()


JOURNEYS: list[Callable[[Visitor, Mapping[str, Any]], None]] = [
    looks, correct_recall_undo, two_tabs, found_as_one_types, timeline_slides, explain_a_miss,
    what_is_done_early_counts, settle_by_keyboard, the_focus_stays_in_place,
    replay_a_session, forget_with_a_proof, other_users_are_apart,
    a_model_goes_down, the_server_dies,
]  # fmt: skip


def main() -> None:
    """Do every journey, one after another, in one browser."""
    asked = json.load(sys.stdin)
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        # Chromium's own sandbox wants rights that a container has not; what it opens is ours alone.
        browser = playwright.chromium.launch(executable_path=asked["chromium"], args=["--no-sandbox"])
        visitor = Visitor(browser.new_context(viewport={"width": 1280, "height": 860}), asked["base"])
        visitor.page().goto(asked["link"])
        named = asked.get("journeys")
        for journey in JOURNEYS if named is None else [globals()[name] for name in named]:
            wrong = ""
            try:
                journey(visitor, asked)
            except Exception:  # noqa: BLE001 - the edge: each is told of, and the others go on
                wrong = traceback.format_exc(limit=3)[-1500:]
            for page in visitor.context.pages:
                page.close()
            print(json.dumps({"name": journey.__name__, "wrong": wrong}), flush=True)
        seen = {
            "name": "nothing_runs_and_nothing_goes_elsewhere",
            "wrong": "\n".join(visitor.complaints + visitor.elsewhere),
        }
        print(json.dumps(seen), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
