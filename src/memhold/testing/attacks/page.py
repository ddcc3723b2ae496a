"""Attacks on the page at `/ui`: forms of other sites, cookies, scripts in what is stored, words in addresses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import httpx2

from memhold.testing.attacks.attack import attack, expect
from memhold.testing.attacks.target import Target

__all__ = [
    "cookies",
    "forged_forms",
    "pages_in_frames",
    "pages_of_others",
    "scripts_in_what_is_stored",
    "the_sign_in",
    "words_in_addresses",
]

_FORM: Final = {"content-type": "application/x-www-form-urlencoded"}
_SCRIPT: Final = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'><svg/onload=alert(1)>{{7*7}}"


@dataclass
class _Browser:
    """A browser that came in: its cookie, and the word that its forms bring."""

    target: Target
    cookie: str = ""
    form: str = ""

    def get(self, path: str, **headers: str) -> httpx2.Response:
        return self._kept(self.target.ask("GET", path, headers=self._sent(headers)))

    def post(self, path: str, *, origin: str | None = "", form: str | None = None, **fields: str) -> httpx2.Response:
        headers = {} if origin is None else {"origin": origin or self.target.url}
        given = {"form_token": self.form if form is None else form, **fields}
        return self._kept(self.target.ask("POST", path, data=given, headers=self._sent(headers)))

    def _sent(self, headers: dict[str, str]) -> dict[str, str]:
        return {**headers, **({"cookie": self.cookie} if self.cookie else {})}

    def _kept(self, answer: httpx2.Response) -> httpx2.Response:
        if given := answer.headers.get("set-cookie"):
            self.cookie = str(given).partition(";")[0]
        if found := re.search(r'name="form_token" value="([0-9a-f]{64})"', answer.text):
            self.form = found[1]
        return answer


def _came_in(target: Target, token: str) -> _Browser:
    browser = _Browser(target)
    browser.post("/ui/sign-in", token=token)
    page = browser.get("/ui")
    expect(page.status_code == 200, f"nobody comes in: it was answered {page.status_code}")
    return browser


def _held(target: Target, token: str) -> list[str]:
    return [one["text"] for one in target.ask("GET", "/v1/memories", token).json()["items"]]


@attack(
    "forms of other sites: with the person's cookie, without the form's word, with another person's, from other origins",
    seen="refused, and nothing is written",
    threats=("T9", "ASI09"),
)
def forged_forms(target: Target) -> None:
    mine, other = target.tenant(), target.tenant()
    browser, stranger = _came_in(target, mine.secret), _came_in(target, other.secret)
    own, theirs = browser.form, stranger.form
    for origin, form in (
        ("https://evil.example", own), ("null", own), (f"{target.url}.evil.example", own), (None, ""), ("", ""),
        ("", "0" * 64), ("", theirs), (None, theirs),
    ):  # fmt: skip
        answer = browser.post("/ui/remember", origin=origin, form=form, value="written by another site")
        expect(answer.status_code in {403, 409, 422}, f"from {origin!r}: it was answered {answer.status_code}")
    cross = target.ask("POST", "/ui/remember", headers={"cookie": browser.cookie, "sec-fetch-site": "cross-site"},
                       data={"form_token": own, "value": "x"})  # fmt: skip
    expect(cross.status_code == 403, f"a form of another site was answered {cross.status_code}")
    for path in ("/ui/remember?value=x", "/ui/leave", "/ui/health/doctor", "/ui/demo"):
        expect(browser.get(path).status_code in {404, 405}, f"GET {path} does something")
    expect(_held(target, mine.secret) == [], "something was written")
    written = browser.post("/ui/remember", form=own, value="written by the person")
    expect(written.status_code in {200, 303}, f"the person's own form was answered {written.status_code}")
    expect(_held(target, mine.secret) == ["written by the person"], "the person's own form wrote nothing")


@attack(
    "the cookie: read by scripts, sent along from other sites, used for the API, guessed, set by somebody else before",
    seen="HttpOnly, SameSite=Strict, for /ui alone; it opens nothing else; one that was there before is replaced",
    threats=("T9", "ASI03"),
)
def cookies(target: Target) -> None:
    mine = target.tenant()
    planted = _Browser(target, cookie=f"memhold_ui_{target.address[1]}={'a' * 43}")
    before = planted.cookie
    entered = planted.post("/ui/sign-in", token=mine.secret)
    said = entered.headers.get("set-cookie", "")
    for word in ("HttpOnly", "SameSite=Strict", "Path=/ui"):
        expect(word in said, f"the cookie is not {word}")
    expect("Secure" in said or not target.url.startswith("https:"), "the cookie is sent without TLS")
    expect(planted.cookie not in {before, ""}, "the cookie that was there before counts now")
    expect(mine.secret not in said, "the cookie is the token")
    stolen = _Browser(target, cookie=before)
    expect(stolen.get("/ui").status_code == 303, "whoever set the cookie before is in")
    for path in ("/v1/status", "/v1/memories", "/metrics/", "/openapi.json"):
        answer = target.ask("GET", path, headers={"cookie": planted.cookie})
        expect(answer.status_code in {401, 404}, f"{path}: the cookie opens it ({answer.status_code})")
    planted.get("/ui")
    left = planted.cookie
    planted.post("/ui/leave")
    expect(_Browser(target, cookie=left).get("/ui").status_code == 303, "the cookie counts after leaving")
    back = _came_in(target, mine.secret)
    target.revoke(mine)
    expect(back.get("/ui").status_code in {303, 401}, "the cookie counts after its token was revoked")


@attack(
    "script, markup and templates in every field: notes, facts, messages, sessions, topics, the search, a wrong token",
    seen="they are shown as text, and the page forbids scripts that are not its own",
    threats=("T11", "T15", "ASI09"),
)
def scripts_in_what_is_stored(target: Target) -> None:
    mine = target.tenant().secret
    note = target.ask("POST", "/v1/memories", mine, json={"text": _SCRIPT, "topics": [_SCRIPT[:60]]}).json()["memory"][
        "id"
    ]
    target.ask(
        "POST", "/v1/memories", mine, json={"attribute": _SCRIPT[:60], "value": _SCRIPT, "subject": _SCRIPT[:60]}
    )
    said = {"messages": [{"role": "user", "content": _SCRIPT}]}
    target.ask("POST", "/v1/messages", mine, json=said, params={"session": _SCRIPT[:60]})
    browser = _came_in(target, mine)
    pages = [
        browser.get(path) for path in ("/ui", "/ui/timeline", "/ui/sessions", "/ui/recall", "/ui/settle", "/ui/health")
    ]
    pages += [browser.post("/ui/now", q=_SCRIPT), browser.post("/ui/recall", query=_SCRIPT)]
    pages += [browser.get(f"/ui/memories/{note}"), _Browser(target).post("/ui/sign-in", token=_SCRIPT)]
    shown = 0
    for page in pages:
        expect(page.status_code < 500, f"{page.request.url.path}: it was answered {page.status_code}")
        shown += "&lt;script&gt;alert(1)" in page.text
        for raw in ("<script>alert(1)", "<img src=x", "<svg/onload", "{{49}}"):
            expect(raw not in page.text, f"{page.request.url.path}: {raw} stands in the page")
        policy = page.headers.get("content-security-policy", "")
        expect(
            "default-src 'none'" in policy and "unsafe-" not in policy, f"{page.request.url.path}: scripts are allowed"
        )
    expect(shown, "no page shows what was stored")


@attack(
    "the page in a frame of another site, read from another site, kept by caches, named to other sites",
    seen="frames are forbidden, nothing is kept, no address is passed on",
    threats=("T15", "ASI09"),
)
def pages_in_frames(target: Target) -> None:
    browser = _came_in(target, target.tenant().secret)
    for path in ("/ui", "/ui/sign-in", "/ui/sessions", "/ui/health", "/v1/status", "/"):
        headers = browser.get(path).headers
        expect("frame-ancestors 'none'" in headers.get("content-security-policy", ""), f"{path}: it can be framed")
        expect(headers.get("referrer-policy") in {"no-referrer", "same-origin"}, f"{path}: its address is passed on")
        expect("no-store" in headers.get("cache-control", ""), f"{path}: it is kept")
        expect(headers.get("x-content-type-options") == "nosniff", f"{path}: its type is guessed")
    framed = target.ask("GET", "/ui", headers={"cookie": browser.cookie, "sec-fetch-site": "cross-site", "sec-fetch-dest": "iframe",
                                               "sec-fetch-mode": "no-cors"})  # fmt: skip
    expect(framed.status_code == 403, f"another site's page may load it ({framed.status_code})")


@attack(
    "words in addresses: what is stored, searched for, corrected, and the token itself",
    seen="no link, form or redirect of the page has any of it: addresses go to histories and logs",
    threats=("T8", "ASI03"),
)
def words_in_addresses(target: Target) -> None:
    mine = target.tenant()
    word = "quicksilverish"
    target.ask("POST", "/v1/memories", mine.secret, json={"text": f"likes {word}"})
    target.ask("POST", "/v1/memories", mine.secret, json={"attribute": word, "value": word})
    browser = _came_in(target, mine.secret)
    pages = [browser.get(path) for path in ("/ui", "/ui/timeline", "/ui/recall", "/ui/sessions", "/ui/settle")]
    pages += [browser.post("/ui/now", q=word), browser.post("/ui/recall", query=word)]
    expect(any(word in page.text for page in pages), "no page shows what was stored")
    for page in pages:
        places = re.findall(r'(?<![a-z-])(?:href|src|action|hx-[a-z-]{1,20})="([^"]*)"', page.text)
        places += [page.headers.get(name, "") for name in ("location", "hx-push-url", "hx-redirect", "hx-replace-url")]
        for place in places:
            expect(word not in place and mine.secret not in place, f"{page.request.url.path}: {place[:80]}")
        expect(
            'method="get"' not in page.text.lower(), f"{page.request.url.path}: a form puts its fields into the address"
        )


@attack(
    "the sign-in: from another site, to another site afterwards, with words that count once, 100 wrong tokens",
    seen="refused; it leads to the page alone; nobody comes in, and who is in stays in",
    threats=("T9", "T4", "ASI03"),
)
def the_sign_in(target: Target) -> None:
    mine = target.tenant()
    browser = _came_in(target, mine.secret)
    foreign = _Browser(target).post("/ui/sign-in", origin="https://evil.example", token=mine.secret)
    expect(foreign.status_code == 403, f"another site signs people in ({foreign.status_code})")
    for path in ("/ui/sign-in?next=https://evil.example", "/ui/sign-in?next=//evil.example", "/ui//evil.example"):
        answer = _Browser(target).post(path, token=mine.secret)
        place = answer.headers.get("location", "")
        expect(place == "" or re.fullmatch(r"/ui[a-z/-]*", place), f"it leads to {place}")
    for word in ("", "x", "a" * 5000):
        answer = target.ask("GET", "/ui/enter", params={"once": word})
        expect(answer.status_code in {403, 404}, f"a made up word was answered {answer.status_code}")
    for number in range(100):
        guess = _Browser(target)
        guess.post("/ui/sign-in", token=f"mh_{'a' * 16}_{number:052d}00000000")
        if number % 10 == 0:
            expect(guess.get("/ui").status_code in {303, 401, 429}, "a made up token comes in")
    expect(browser.get("/ui").status_code == 200, "who was in is out")


@attack(
    "one person's page asked for another's: ids, sessions, users, by a token of one user and by one that reads alone",
    seen="nothing of another's is shown, and who may read alone changes nothing",
    threats=("T3", "ASI03"),
)
def pages_of_others(target: Target) -> None:
    from memhold.testing.attacks.identity import CANARY, victim

    other, ids = victim(target)
    before = _held(target, other.secret)
    mine = target.tenant()
    browser = _came_in(target, mine.secret)
    tries: list[Any] = [
        browser.get(f"/ui/memories/{ids['memory']}"),
        browser.get("/ui/sessions/s"),
        browser.get("/ui/sessions"),
    ]
    tries += [
        browser.post("/ui/whose", user=str(other.user)),
        browser.get("/ui"),
        browser.post("/ui/recall", query="harbour"),
    ]
    tries += [
        browser.post(f"/ui/memories/{ids['memory']}/{act}", value="x") for act in ("correct", "pin", "forget", "undo")
    ]
    for answer in tries:
        expect(CANARY not in answer.text, f"{answer.request.url.path}: what another told is shown")
    reader = _came_in(target, target.tenant("read", user=other.user).secret)
    for path in ("/ui/remember", f"/ui/memories/{ids['memory']}/correct", f"/ui/memories/{ids['memory']}/pin"):
        answer = reader.post(path, value="x")
        expect(answer.status_code == 403, f"{path}: it was answered {answer.status_code}")
    expect(_held(target, other.secret) == before, "something was written")
