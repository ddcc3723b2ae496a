"""One visible name is one user, session or namespace, whoever names it and through whichever door."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memhold import Memhold
from memhold.errors import InvalidScope, InvalidSetting
from memhold.server.oauth import OAuth
from memhold.values.names import MAX_NAME, checked_name, usable_name
from memhold.values.records import Scope
from tests.interfaces.conftest import CommandLine, run

from .test_oauth import Issuer, Time, door, issuer, signed, time
from .whole import whole

__all__ = ["issuer", "run", "time"]

COMPOSED, DECOMPOSED = "josé", "jose\u0301"
# What is seen as `josé` and is not: edge spaces, other spaces, zero-width, bidi and format characters, fillers.
IMPOSTORS = (
    "josé ", " josé", "josé\u00a0", "\u3000josé", "jos\u200bé", "josé\u200d", "jos\u200cé", "\u202ajosé", "josé\u2069", "\ufeffjosé",
    "jo\u00adsé", "josé\u034f", "josé\ufe0f", "josé\u3164", "josé\U000e0041", "josé\u061c", "jose\u200b\u0301", "josé\n", "josé\x00",
)  # fmt: skip
# Persian and Sinhala words, a Malayalam name in its older spelling, Devanagari with an explicit halant.
WITH_JOINERS = ("می\u200cخواهم", "ශ්\u200dරී", "രാജന്\u200d", "क्\u200cष")  # noqa: RUF001


@pytest.mark.parametrize("name", IMPOSTORS, ids=ascii)
def test_an_impostor_is_refused_with_the_name_to_use(name: str) -> None:
    with pytest.raises(InvalidScope, match=f"use '{COMPOSED}'"):
        Scope(user=name)


def test_two_spellings_are_one_user() -> None:
    assert Scope(user=DECOMPOSED) == Scope(user=COMPOSED)
    assert Scope(user=DECOMPOSED).user == COMPOSED
    for field in ("namespace", "agent", "session"):
        assert Scope(**{field: DECOMPOSED}) == Scope(**{field: COMPOSED})


@pytest.mark.parametrize("name", WITH_JOINERS, ids=ascii)
def test_joiners_stay_in_words_that_need_them(name: str) -> None:
    assert checked_name(name, "user") == name
    for elsewhere in (f"\u200c{name}", f"{name}\u200c", f"{name} \u200d", name.replace("\u200c", "\u200c\u200c")):
        if elsewhere != name:
            with pytest.raises(InvalidScope):
                checked_name(elsewhere, "user")


def test_what_is_too_long_or_blank_says_so() -> None:
    assert checked_name("e\u0301" * MAX_NAME, "user") == "é" * MAX_NAME
    for long in ("x" * (MAX_NAME + 1), "é" * (MAX_NAME + 1), "\u0301\u0327" * 500_000):
        with pytest.raises(InvalidScope, match="shorten it"):
            checked_name(long, "user")
    for blank in ("\u200b", "\u2800", "   ", "\u3164\u00ad"):
        with pytest.raises(InvalidScope, match="can be seen"):
            checked_name(blank, "user")


ANY = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("aé e\u0301\u200b\u200c\u200d\u00a0\u202e\u034f\ufe0f\u3000\n\x00\u2800بيकष\u094d\u0dca"),
    ),
    max_size=20,
)


@given(ANY)
@example("ب\u200c\u200bب")
@example("e\u200b\u0301 ")
def test_a_name_that_passes_is_final_and_what_is_offered_passes(text: str) -> None:
    clean = usable_name(text)
    assert usable_name(clean) == clean
    if clean:
        assert checked_name(clean, "user") == clean
    if unicodedata.normalize("NFC", text) == clean != "":
        assert checked_name(text, "user") == clean
    else:
        with pytest.raises(InvalidScope, match=re.escape(f"use {clean!r}") if clean else "."):
            checked_name(text, "user")


MARKS = ["", " ", "\u00a0", "\u200b", "\u200d", "\u202e", "\u2066", "\ufe0f"]


@given(ANY, st.sampled_from(MARKS), st.integers(0, 20))
def test_no_two_users_have_one_visible_name(text: str, mark: str, place: int) -> None:
    """What is put unseen into a name, or as a space at its edge, is refused or leaves the same user."""
    name = usable_name(text)
    inside = bool(mark.strip()) and mark != "\u200d"
    place = min(place, len(name)) if inside else (0 if place % 2 else len(name))
    for other in (f"{name[:place]}{mark}{name[place:]}", unicodedata.normalize("NFD", name)):
        try:
            assert checked_name(other, "user") == name or other.endswith("\u0d4d\u200d")
        except InvalidScope:
            assert not name or other != name


def test_the_python_face_and_the_command_line(run: CommandLine) -> None:
    assert run("remember", "--user", DECOMPOSED, "--session", "cafe\u0301", "Likes tea").code == 0
    listed = run("recall", "--user", COMPOSED, "--session", "caf\u00e9", "tea", "--json")
    assert [hit["text"] for hit in listed.json["hits"]] == ["Likes tea"]
    refused = run("remember", "--user", f"{COMPOSED}\u200b", "Likes tea", "--json")
    assert (refused.code, COMPOSED in refused.error["message"]) == (2, True), refused
    with Memhold.open(run.db) as mem:
        alice = mem.scope(user=COMPOSED)
        for spelling in ("cafe\u0301", "caf\u00e9"):
            assert alice.recall("tea", session=spelling).total == 1
            assert len(alice.list(session=spelling).items) == 1
        for call in (alice.recall, alice.forget, alice.list):
            with pytest.raises(InvalidScope):
                call(session="caf\u00e9 ")
        assert len(alice.forget(session="cafe\u0301").memories) == 1


async def test_every_door_of_the_server(tmp_path: Path) -> None:
    async with whole(str(tmp_path / "memory.db")) as server:
        one = await server.tenant("one", "cafe\u0301", DECOMPOSED)
        two = await server.tenant("two", "caf\u00e9", COMPOSED)
        with pytest.raises(InvalidScope, match=f"use '{COMPOSED}'"):
            await server.tenant("three", "caf\u00e9", f"{COMPOSED}\u202e")
        assert len(await server.memhold.admin.tokens.list(namespace="cafe\u0301")) == 2
        added = await server.call("POST", "/v1/messages", one.token, said("green tea"), session="s\u0301")
        assert added.status == 201
        for spelling in ("s\u0301", "\u015b"):
            found = await server.call("POST", "/v1/recall", two.token, {"query": "tea", "session": spelling})
            assert len(found.json["hits"]) == 1, spelling
        refused = await server.call("POST", "/v1/messages", one.token, said("x"), session="\u015b\u200b")
        assert (refused.status, "use '\u015b'" in refused.json["detail"]) == (422, True), refused.body
        tool = await server.tool("add_memory", one.token, prompt="p", response="r", session="\u015b\u200b")
        assert tool.json["result"]["isError"] is True
        assert "use '\u015b'" in str(tool.json["result"]["content"][0]["text"])
        body: dict[str, Any] = {"messages": [], "namespace": "cafe\u0301", "user_id": DECOMPOSED}
        kept = await server.call("PUT", "/v1/working-memory/s%CC%81", two.token, body)
        assert kept.status == 200, kept.body
        sessions = await server.call("GET", "/v1/working-memory/", two.token, namespace="caf\u00e9", user_id=DECOMPOSED)
        assert "\u015b" in sessions.json["sessions"], sessions.body
        assert len(sessions.json["sessions"]) == len(set(sessions.json["sessions"]))


def said(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


async def test_the_subject_of_a_jwt(issuer: Issuer, time: Time) -> None:
    check = door(issuer, time)
    plain, spelt = await check(signed(issuer, sub=COMPOSED)), await check(signed(issuer, sub=DECOMPOSED))
    assert plain is not None
    assert plain == spelt, "one user, and one bucket of the rate limit"
    for name in IMPOSTORS:
        assert await check(signed(issuer, sub=name)) is None
    claimed = door(issuer, time, namespace_claim="org", agent_claim="client")
    first = await claimed(signed(issuer, org="cafe\u0301", client="cafe\u0301"))
    assert first is not None
    assert first.scope == Scope(namespace="caf\u00e9", user="alice", agent="caf\u00e9")
    assert await claimed(signed(issuer, org="acme\u200b")) is None


def test_the_namespace_of_the_settings() -> None:
    assert OAuth(issuer="https://i", jwks_url="https://i/k", namespace="cafe\u0301").namespace == "caf\u00e9"
    with pytest.raises(InvalidSetting, match="use 'acme'"):
        OAuth(issuer="https://i", jwks_url="https://i/k", namespace="acme ")
