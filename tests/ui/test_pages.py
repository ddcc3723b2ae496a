"""The pages over plain HTTP: who comes in, what one sees and sets right, and what stays somebody else's."""

from __future__ import annotations

import logging
import re
import zlib
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import pytest

from memhold.faces.ui.browser import OPEN_UI_PATHS
from memhold.faces.ui.pages import ui_app
from memhold.faces.ui.rendering import ASSETS, HEADERS
from memhold.server.ui_serving import OnceOnly
from memhold.values.errors import NotFound
from tests.ui.person import Person, Seen, Served, hidden, of, person

ATTACK = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'"
HTMX = "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130"
"""The hash of dist/htmx.min.js in the npm package htmx.org 4.0.1, which stands in assets/ unchanged."""
UI = Path(str(files("memhold.faces.ui")))


def row_of(page: str, memory_id: str) -> str:
    found = re.search(rf'<li class="row[^"]*" id="row-{memory_id}">.*?</li>', page, re.DOTALL)
    assert found, f"no line of {memory_id}"
    return found[0]


# ------------------------------------------------------------------------------------------------ who comes in


async def test_a_person_comes_in_with_a_token_and_is_out_when_it_is_revoked(server: Served) -> None:
    made = await server.memhold.admin.tokens.create(user="alice")
    async with person(server) as someone:
        out = await someone.get("/ui")
        assert (out.status_code, out.headers["location"]) == (303, "/ui/sign-in")
        refused = await someone.come_in("mh_nothing")
        assert refused.status_code == 401
        assert "does not count" in refused.text
        assert (await someone.get("/ui")).status_code == 303
        page = await someone.come_in(made.secret)
        assert page.status_code == 200
        assert "alice" in Seen(page.text).text
        cookie = next(iter(someone.client.cookies.jar))
        assert (cookie.path, cookie.has_nonstandard_attr("HttpOnly")) == ("/ui", True)
        assert cookie.get_nonstandard_attr("SameSite") == "Strict"
        assert made.secret not in (cookie.value or "")
        await server.memhold.admin.tokens.revoke(made.token.id)
        part = await someone.post("/ui/now", q="x")
        assert (part.status_code, part.headers["hx-redirect"]) == (401, "/ui/sign-in")
        assert (await someone.get("/ui")).status_code == 303


async def test_who_leaves_is_out_and_no_cookie_of_before_counts(alice: Person) -> None:
    before = dict(alice.client.cookies)
    assert (await alice.post("/ui/leave", part=False)).headers["location"] == "/ui/sign-in"
    assert (await alice.get("/ui")).status_code == 303
    alice.client.cookies.update(before)
    assert (await alice.get("/ui")).status_code == 303


async def test_every_path_is_open_by_name_or_asks_who_one_is(server: Served, alice: Person) -> None:
    paths = {(method, route.path) for route in ui_app(server.memhold).routes for method in route.methods or ()}
    async with person(server) as nobody:
        for method, path in sorted(paths):
            if path == "/ui/assets/{name}":
                continue
            answer = await nobody.client.request(method, path.replace("{id}", "mem_1"))
            assert (answer.status_code in {200, 303, 403, 422}) is True
            if path not in OPEN_UI_PATHS:
                assert answer.headers.get("location") == "/ui/sign-in", path
            assert answer.headers["content-security-policy"] == HEADERS["content-security-policy"]
            assert answer.headers["cache-control"] == "no-store"
        for name, kind in ASSETS.items():
            loaded = await nobody.get(f"/ui/assets/{name}")
            assert (loaded.status_code, loaded.headers["content-type"]) == (200, kind)
    assert (await alice.get("/ui/assets/%2e%2e/pages.py")).status_code == 404


def test_a_link_counts_once_and_not_for_long() -> None:
    now = [0.0]
    once = OnceOnly("token", clock=lambda: now[0])
    assert once.redeem("another") is None
    assert once.redeem(once.word) == "token"
    assert once.redeem(once.word) is None
    late = OnceOnly("token", clock=lambda: now[0])
    now[0] = 121.0
    assert late.redeem(late.word) is None


async def test_a_form_of_elsewhere_or_for_another_person_changes_nothing(server: Served) -> None:
    async with person(server, await server.token(("read", "write", "admin", "act"))) as service:
        assert "alice" not in (await service.get("/ui/whose")).text
        await service.post("/ui/whose", part=False, user="alice")
        assert "alice" in (await service.get("/ui")).text
        of_alice = service.form
        kept = (await of(server).remember("Alice's note")).memory
        assert (await service.post("/ui/remember", form="0" * 64, value="x")).status_code == 409
        foreign = await service.client.post(
            "/ui/remember", data={"form_token": of_alice, "value": "x"}, headers={"origin": "https://evil.example"}
        )
        assert foreign.status_code == 403
        await service.post("/ui/whose", part=False, user="bob")
        await service.get("/ui")
        late = await service.post("/ui/remember", form=of_alice, value="meant for alice")
        assert (late.status_code, "another person" in late.text) == (409, True)
        assert (await service.post(f"/ui/memories/{kept.id}/pin")).status_code == 404
    assert [one.text for one in (await of(server).list()).items] == ["Alice's note"]
    assert (await of(server, "bob").list()).items == ()


async def test_who_may_read_sees_all_and_changes_nothing(server: Served) -> None:
    told = (await of(server).remember(attribute="home city", value="Lisbon")).memory
    async with person(server, await server.token(("read",), user="alice")) as reader:
        page = await reader.get("/ui")
        assert "Lisbon" in page.text
        assert "read only" in page.text
        posts = [attrs.get("hx-post") for attrs in Seen(page.text).named("form")]
        assert {path for path in posts if path} == {"/ui/now"}
        for path in (f"/ui/memories/{told.id}/correct", "/ui/remember", "/ui/undo", f"/ui/memories/{told.id}/forget"):
            assert (await reader.post(path, value="Porto", change="chg_1")).status_code == 403
        assert (await reader.get(f"/ui/memories/{told.id}/correct")).status_code == 403
    assert (await of(server).get(told.id)).state == "active"


# ------------------------------------------------------------------------------------------------ seen and set right


async def test_what_was_told_is_undone_and_done_again_in_its_place(server: Served, alice: Person) -> None:
    await of(server).remember(attribute="home city", value="Lisbon")
    told = await alice.post("/ui/remember", attribute="home city", value="Busan")
    assert "Known from now on." in told.text
    for word, holds in (("Undo", "Lisbon"), ("Redo", "Busan"), ("Undo", "Lisbon")):
        assert hidden(told.text, "word") == word
        names = ("change", "back", "forth", "word", "told")
        told = await alice.post("/ui/undo", **{name: hidden(told.text, name) for name in names})
        assert told.headers["hx-trigger"] == "told", "the list above shows it"
        assert [one.value for one in (await of(server).list(["fact"])).items] == [holds]
    again = await alice.post("/ui/remember", attribute="home city", value="Lisbon")
    assert "Known already." in again.text
    assert 'name="word"' not in again.text


async def test_what_is_believed_stands_by_subject_and_is_found_as_one_types(server: Served, alice: Person) -> None:
    await of(server).remember(attribute="home city", value="Lisbon")
    await of(server).remember(attribute="name", value="دينا", subject="sister")
    await of(server).remember("会议纪要要用中文写")
    await of(server, actor="agent:cursor").remember("Uses uv in every project")
    page = await alice.get("/ui")
    text = Seen(page.text).text
    assert text.index("About the user") < text.index("Lisbon") < text.index("sister") < text.index("دينا")
    assert "noted by an agent: cursor" in text
    found = Seen((await alice.post("/ui/now", q="uv project")).text).text
    assert "Uses uv" in found
    assert "Lisbon" not in found
    by_agents = Seen((await alice.post("/ui/now", origin="agent")).text).text
    assert "Uses uv" in by_agents
    assert "Lisbon" not in by_agents
    assert "Nothing found" in (await alice.post("/ui/now", q="quantum chromodynamics", kind="instruction")).text
    assert (await alice.post("/ui/now", kind="everything")).status_code == 422


async def test_looking_counts_as_no_use(server: Served, alice: Person) -> None:
    told = (await of(server, actor="agent:cursor").remember(attribute="editor", value="helix")).memory
    for question in ("editor", "which editor", "helix"):
        assert "helix" in (await alice.post("/ui/now", q=question)).text
    await server.memhold.settle()
    assert (await of(server).get(told.id)).evidence == told.evidence


async def test_a_search_goes_on_behind_its_first_page_also_for_who_said_it(server: Served, alice: Person) -> None:
    for number in range(110):
        await of(server).remember(f"Tandem tour {number}: tandem, tandem")
    await of(server, actor="agent:helper").remember(
        "A tour that the helper noted, once on the tandem, in the long rain of a week"
    )
    await alice.get("/ui")
    seen: list[str] = []
    fields = {"q": "tandem"}
    while True:
        page = (await alice.post("/ui/now", **fields)).text
        seen += re.findall(r"Tandem tour \d+|the helper noted", page)
        cursor = re.search(r'name="cursor" value="([^"]+)"', page)
        if cursor is None:
            break
        fields = {"q": "tandem", "cursor": cursor[1]}
    assert len(set(seen)) == 111
    by_agent = (await alice.post("/ui/now", q="tandem", origin="agent")).text
    assert "the helper noted" in by_agent
    assert "Tandem tour" not in by_agent


async def test_more_than_a_page_is_read_page_by_page(server: Served, alice: Person) -> None:
    for number in range(103):
        await of(server).remember(f"note number {number}")
    first = (await alice.get("/ui")).text
    assert first.count('<li class="row note"') == 100
    rest = (await alice.post("/ui/now", cursor=hidden(first, "cursor"))).text
    assert rest.count('<li class="row note"') == 3
    assert 'name="cursor"' not in rest


async def test_a_correction_is_recalled_and_undone_and_done_again_in_its_place(server: Served, alice: Person) -> None:
    told = (await of(server).remember(attribute="home city", value="Lisbon")).memory
    form = (await alice.get(f"/ui/memories/{told.id}/correct")).text
    fields = {name: hidden(form, name) for name in ("rev", "key", "row")}
    done = (await alice.post(f"/ui/memories/{told.id}/correct", value="Porto", **fields)).text
    assert "Corrected." in done
    assert "Porto" in Seen(done).text
    again = (await alice.post(f"/ui/memories/{told.id}/correct", value="Porto", **fields)).text
    assert hidden(again, "change") == hidden(done, "change"), "sent twice, it is one write"

    async def values() -> list[str | None]:
        return [hit.value for hit in (await of(server).recall("home city", kinds=["fact"])).hits]

    assert await values() == ["Porto"]
    steps = {name: hidden(done, name) for name in ("change", "back", "forth", "word")}
    undone = (await alice.post("/ui/undo", **steps)).text
    assert "Lisbon" in Seen(undone).text
    assert await values() == ["Lisbon"]
    steps = {name: hidden(undone, name) for name in ("change", "back", "forth", "word")}
    assert steps["word"] == "Redo"
    assert "Porto" in Seen((await alice.post("/ui/undo", **steps)).text).text
    assert await values() == ["Porto"]


async def test_the_second_of_two_tabs_is_told_and_loses_nothing(server: Served, alice: Person) -> None:
    told = (await of(server).remember(attribute="home city", value="Lisbon")).memory
    tabs = [(await alice.get(f"/ui/memories/{told.id}/correct")).text for _ in range(2)]
    path = f"/ui/memories/{told.id}/correct"
    await alice.post(path, value="Porto", **{name: hidden(tabs[0], name) for name in ("rev", "key", "row")})
    second = await alice.post(path, value="Faro", **{name: hidden(tabs[1], name) for name in ("rev", "key", "row")})
    assert second.status_code == 409
    assert "It now says “ Porto ”" in Seen(second.text).text
    assert 'value="Faro"' in second.text
    current = (await of(server).list(["fact"])).items
    assert [one.value for one in current] == ["Porto"]
    fields = {name: hidden(second.text, name) for name in ("rev", "key", "row")}
    kept = await alice.post(f"/ui/memories/{current[0].id}/correct", value="Faro", **fields)
    assert "Faro" in Seen(kept.text).text
    assert [one.value for one in (await of(server).list(["fact"])).items] == ["Faro"]


async def test_a_form_of_before_a_pin_is_told_too(server: Served, alice: Person) -> None:
    told = (await of(server).remember(attribute="home city", value="Lisbon")).memory
    form = (await alice.get(f"/ui/memories/{told.id}/correct")).text
    await of(server).pin(told.id)
    fields = {name: hidden(form, name) for name in ("rev", "key", "row")}
    late = await alice.post(f"/ui/memories/{told.id}/correct", value="Faro", **fields)
    assert (late.status_code, 'value="Faro"' in late.text) == (409, True)
    assert (await of(server).get(told.id)).state == "active"


async def test_forgetting_shows_what_goes_and_hiding_can_be_undone(server: Served, alice: Person) -> None:
    note = (await of(server).remember("The code is QX7T2M")).memory
    path = f"/ui/memories/{note.id}"
    plan = await alice.get(f"{path}/forget")
    assert "1 memory would go." in plan.text
    assert (await alice.post(f"{path}/forget/preview", way="hide")).status_code == 200
    gone = (await alice.post(f"{path}/forget", way="hide")).text
    assert (await of(server).list()).items == ()
    steps = {name: hidden(gone, name) for name in ("change", "back", "forth", "word")}
    assert "QX7T2M" in (await alice.post("/ui/undo", **steps)).text
    erased = await alice.post(f"{path}/forget", way="erase")
    assert "1 memory and 0 messages" in erased.text
    assert 'name="change"' not in erased.text
    with pytest.raises(NotFound):
        await of(server).get(note.id)
    assert (await alice.post(f"{path}/forget", way="elsewhere")).status_code == 422


async def test_pins_are_put_and_taken_away(server: Served, alice: Person) -> None:
    note = (await of(server).remember("Prefers tea")).memory
    assert "Unpin" in (await alice.post(f"/ui/memories/{note.id}/pin")).text
    assert (await of(server).get(note.id)).pinned
    assert ">Pin<" in (await alice.post(f"/ui/memories/{note.id}/unpin")).text


async def test_a_timeline_tells_what_held_and_what_was_known_then(server: Served, alice: Person) -> None:
    scope = of(server)
    when = server.clock.now()
    await scope.remember(attribute="home city", value="Lisbon", event_time=when.replace(year=when.year - 3))
    new = (
        await scope.remember(attribute="home city", value="Busan", event_time=when.replace(year=when.year - 1))
    ).memory
    page = (await alice.get(f"/ui/memories/{new.id}")).text
    assert page.count('<rect class="bar') == 2
    assert "active → superseded" in Seen(page).text
    past = (await alice.post(f"/ui/memories/{new.id}/at", at=f"{when.year - 2}-01-01")).text
    held, _, known = Seen(past).text.partition("as it was known at")
    assert "Lisbon" in held
    assert "nothing yet" in known
    back = await alice.post(f"/ui/memories/{new.id}/undo", part=False, change=hidden(page, "change"))
    assert back.headers["location"] == f"/ui/memories/{new.id}"
    assert [one.value for one in (await scope.list(["fact"])).items] == ["Lisbon"]


# ------------------------------------------------------------------------------------------------ what stays apart


async def test_script_in_every_field_stays_text(server: Served) -> None:
    scope = of(server, session="<b>s")
    await scope.add([{"role": "user", "content": ATTACK}, {"role": "assistant", "content": ATTACK}])
    fact = (await scope.remember(attribute=f"a {ATTACK}", value=ATTACK, subject=f"s {ATTACK}", topics=[ATTACK])).memory
    note = (await of(server, actor="agent:<i>x").remember(f"note {ATTACK}")).memory
    await scope.correct(note.id, f"other {ATTACK}")
    async with person(server, await server.token(user="alice")) as someone:
        for page in await _every_page(server, someone, fact.id):
            seen = Seen(page)
            assert all((attrs.get("src") or "").startswith("/ui/assets/") for attrs in seen.named("script"))
            assert all(attrs.get("src") == "/ui/assets/icon.svg" for attrs in seen.named("img"))
            assert not [
                name for _, attrs in seen.elements for name in attrs if name.startswith("on") or name == "style"
            ]
            assert not seen.named("b")
            assert not seen.named("i")


async def test_no_page_shows_what_is_anothers_and_no_log_or_address_shows_content(
    server: Served, alice: Person, caplog: pytest.LogCaptureFixture
) -> None:
    bob = of(server, "bob", session="canarysession")
    await bob.add([{"role": "user", "content": "canarybob said this"}])
    theirs = (await bob.remember(attribute="canaryattribute", value="canarybob")).memory
    mine = (await of(server).remember("alicecanary is a note")).memory
    with caplog.at_level(logging.DEBUG):
        pages = await _every_page(server, alice, theirs.id)
        pages += await _every_page(server, alice, mine.id)
        pages += [(await alice.post("/ui/now", q=word)).text for word in ("canarybob", "canaryattribute")]
    assert not [
        page
        for page in pages
        if "canarybob" in page.replace('value="canarybob"', "")
        or "canaryattr" in page.replace('value="canaryattribute"', "")
    ]
    assert any("alicecanary" in page for page in pages)
    assert "canary" not in caplog.text
    addresses = [value for page in pages for _, attrs in Seen(page).elements for name, value in attrs.items()
                 if name in {"href", "src", "action", "hx-get", "hx-post"}]  # fmt: skip
    assert addresses
    assert not [one for one in addresses if one and ("canary" in one or not one.startswith(("/ui", "#")))]


async def _every_page(server: Served, someone: Person, memory_id: str) -> list[str]:
    """Every page and part that a GET gives, whichever are added later."""
    paths = sorted({route.path for route in ui_app(server.memhold).routes if "GET" in (route.methods or ())})
    paths = [path for path in paths if not path.startswith(("/ui/assets", "/ui/enter", "/ui/sign-in"))]
    return [(await someone.get(path.replace("{id}", memory_id))).text for path in paths]


def test_what_is_vendored_is_what_its_makers_gave_and_all_is_small() -> None:
    assert sha256((UI / "assets" / "htmx.min.js").read_bytes()).hexdigest() == HTMX
    assert "Zero-Clause BSD" in (UI / "assets" / "htmx.LICENSE.txt").read_text("utf-8")
    every = [path for path in UI.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sum(path.stat().st_size for path in every if path.suffix != ".py") < 125_000, "what a browser may load"
    assert sum(len(zlib.compress(path.read_bytes())) for path in every) < 100_000, "what it takes in the wheel"
    for path in UI.rglob("*.html"):
        text = path.read_text("utf-8")
        # Without its script a form does nothing: the browser's own way is to put what it holds into the address.
        assert all('method="post"' in form or 'method="dialog"' in form for form in re.findall("<form[^>]*", text)), (
            path
        )
        assert not re.search(r"\bstyle=|\son\w+=|javascript:|https?://|\|safe|<script>", text), path.name
