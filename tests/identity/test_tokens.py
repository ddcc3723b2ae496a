"""Tokens: made, told once, checked at every request, revoked at once; a caller never learns why one is refused."""

from __future__ import annotations

import logging
import re
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhold import AsyncMemhold
from memhold.errors import InvalidInput, InvalidScope, NotFound, StoreCorrupt
from memhold.testing import FakeClock
from memhold.values.access_tokens import AccessToken, NewToken, StoredToken
from memhold.verbs.token_text import (
    TOKEN_PATTERN,
    Pass,
    Presented,
    judge,
    judge_pass,
    kept_digest,
    mint,
    present,
    token_digest,
)
from tests.interfaces.conftest import CommandLine, run

__all__ = ["run"]

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECRET = b"s" * 32


def kept(presented: Presented, **fields) -> StoredToken:
    token = AccessToken(id=presented.id, namespace="acme", created_at=NOW, **fields)
    return StoredToken(token=token, digest=kept_digest(SECRET, presented, token))


@given(st.binary(min_size=42, max_size=42))
def test_what_is_minted_is_read_back(raw: bytes) -> None:
    pieces = {10: raw[:10], 32: raw[10:]}
    made, text = mint(pieces.__getitem__)
    assert present(text) == made
    assert re.fullmatch(TOKEN_PATTERN, text)
    assert judge(made, kept(made), secret=SECRET, now=NOW) is None


@given(st.binary(min_size=42, max_size=42), st.integers(0, 79), st.sampled_from("abz27_0"))
def test_one_wrong_character_never_passes(raw: bytes, place: int, letter: str) -> None:
    _, text = mint({10: raw[:10], 32: raw[10:]}.__getitem__)
    place %= len(text)
    if text[place] != letter:
        assert present(text[:place] + letter + text[place + 1 :]) in {"malformed", "mistyped"}


def test_each_fault_has_its_name() -> None:
    made, text = mint(bytes)
    assert present(text + "\n") == present("") == present("mh_" + "é" * 77) == "malformed"
    other = Presented(id=made.id, secret="b" * 52)
    assert judge(made, None, secret=SECRET, now=NOW) == "unknown"
    assert judge(other, kept(made), secret=SECRET, now=NOW) == "wrong"
    assert judge(made, kept(made), secret=b"x" * 32, now=NOW) == "wrong"
    assert judge(made, kept(made, revoked_at=NOW), secret=SECRET, now=NOW) == "revoked"
    assert judge(made, kept(made, expires_at=NOW), secret=SECRET, now=NOW) == "expired"
    assert judge(made, kept(made, expires_at=NOW), secret=SECRET, now=NOW - timedelta(microseconds=1)) is None
    # Who does not know the secret never learns that a token was revoked.
    assert judge(other, kept(made, revoked_at=NOW), secret=SECRET, now=NOW) == "wrong"


CHANGED = {
    "id": "b" * 16, "namespace": "acmf", "user": "alicd", "agent": "x", "rights": ("read", "write", "admin"), "label": "lapton",
    "created_at": NOW + timedelta(microseconds=1), "expires_at": NOW + timedelta(days=2), "actor": "userr",
}  # fmt: skip


def test_a_token_whose_row_rotted_opens_nothing() -> None:
    made, _ = mint(bytes)
    whole = kept(made, user="alice", expires_at=NOW + timedelta(days=1), label="laptop")
    given = Pass(token_id=made.id, user="alice", rights=("read",), expires_at=NOW + timedelta(minutes=5))
    assert judge(made, whole, secret=SECRET, now=NOW) is judge_pass(given, whole, secret=SECRET, now=NOW) is None
    for name, value in CHANGED.items():
        rotten = replace(whole, token=replace(whole.token, **{name: value}))
        assert judge(made, rotten, secret=SECRET, now=NOW) == "damaged", name
        assert judge_pass(given, rotten, secret=SECRET, now=NOW) == "damaged", name
    # What is known of a token later on, and one that was made before rows were sealed.
    used = replace(whole, token=replace(whole.token, last_used="2026-01-02"))
    unsealed = replace(whole, digest=token_digest(SECRET, made))
    for other in (used, unsealed):
        assert judge(made, other, secret=SECRET, now=NOW) is None
    assert judge(Presented(id=made.id, secret="b" * 52), unsealed, secret=SECRET, now=NOW) == "wrong"


@pytest.mark.parametrize("rot", ["namespace = 'defcult'", "expires_at = expires_at + 1"])
async def test_doctor_says_which_token_rotted(tmp_path: Path, rot: str) -> None:
    path = tmp_path / "memory.db"
    made = await _rotten_token(path, rot)
    async with AsyncMemhold.open(path, worker=False, embedding="none") as mem:
        assert await mem.admin.tokens.check(made.secret) is None
        [found] = [one for one in await mem.admin.doctor() if one.severity == "wrong"]
        assert (found.check, made.token.id in found.what) == ("rows", True)
        await mem.admin.tokens.revoke(made.token.id)
        assert not [one for one in await mem.admin.doctor() if one.severity == "wrong"]


@pytest.mark.parametrize("rot", ["label = x'00'", "created_at = 'soon'", "rights = CAST(x'ff' AS TEXT)"])
async def test_a_token_that_cannot_be_read_is_an_error_of_ours(tmp_path: Path, rot: str) -> None:
    path = tmp_path / "memory.db"
    made = await _rotten_token(path, rot)
    async with AsyncMemhold.open(path, worker=False, embedding="none") as mem:
        for ask in (lambda: mem.admin.tokens.check(made.secret), mem.admin.tokens.list):
            with pytest.raises(StoreCorrupt):
                await ask()
        [found] = [one for one in await mem.admin.doctor() if one.severity == "wrong"]
        assert found.check == "rows"
        assert "doctor" not in found.what  # whoever reads it has run it


async def _rotten_token(path: Path, rot: str) -> NewToken:
    async with AsyncMemhold.open(path, worker=False, embedding="none") as mem:
        made = await mem.admin.tokens.create(user="alice", expires_in=timedelta(days=1))
        assert not [one for one in await mem.admin.doctor() if one.severity == "wrong"]
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(f"UPDATE token SET {rot}")  # noqa: S608 - of this test
    return made


def files_with(folder: Path, text: str) -> list[str]:
    return [file.name for file in folder.iterdir() if text.encode() in file.read_bytes()]


async def test_a_token_lets_in_until_it_is_revoked_by_another_process(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    path, clock = tmp_path / "memory.db", FakeClock()
    async with AsyncMemhold.open(path, clock=clock) as one, AsyncMemhold.open(path, clock=clock) as other:
        made = await one.admin.tokens.create(
            namespace="acme", user="alice", rights=["write", "read"], label="laptop", expires_in=timedelta(days=90)
        )
        found = await other.admin.tokens.check(made.secret)
        assert found == made.token
        assert found.scope.namespace == "acme"
        assert found.rights == ("read", "write")
        assert (await one.admin.tokens.list())[0].last_used == "2026-01-01"
        await other.admin.tokens.revoke(made.token.id)
        assert await one.admin.tokens.check(made.secret) is None
        assert await one.admin.tokens.check(made.secret[:-1] + "x") is None
        revoked = (await one.admin.tokens.revoke(made.token.id)).revoked_at
        assert revoked == clock.now()
        late = await one.admin.tokens.create(namespace="acme", expires_in=timedelta(hours=1))
        clock.advance(3600)
        assert await other.admin.tokens.check(late.secret) is None
    told = [record.getMessage() for record in caplog.records if record.name == "memhold.access"]
    assert [line.rpartition(": ")[2] for line in told] == ["revoked", "malformed", "expired"]
    secret_part = made.secret.split("_")[2]
    assert secret_part[:20] not in caplog.text
    assert made.secret not in repr(made)
    assert files_with(tmp_path, secret_part[:20]) == []


async def test_the_store_keeps_a_keyed_hash(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with AsyncMemhold.open(path) as mem:
        made = await mem.admin.tokens.create(user="alice")
        # By the same library: two copies of SQLite in one process undo each other's locks, and map files that go away.
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            digest, key = connection.execute(
                "SELECT token.digest, store.value FROM token, store WHERE store.name = 'secret'"
            ).get
        presented = present(made.secret)
        assert isinstance(presented, Presented)
        assert digest == kept_digest(key, presented, made.token)


async def test_what_cannot_be_made_is_refused() -> None:
    async with AsyncMemhold.open("memory://") as mem:
        tokens = mem.admin.tokens
        for wrong in ({"rights": []}, {"rights": ["root"]}, {"label": "a\nb"}, {"expires_in": timedelta(0)}):
            with pytest.raises(InvalidInput):
                await tokens.create(**wrong)
        with pytest.raises(InvalidScope):
            await tokens.create(user="")
        with pytest.raises(NotFound):
            await tokens.revoke("nothing")
        made = await tokens.create(namespace="acme")
        with pytest.raises(NotFound):
            await tokens.revoke(made.token.id, namespace="umbrella")
        assert await tokens.check(made.secret) is not None
        assert await tokens.list(namespace="umbrella") == ()


def test_the_commands_make_list_and_revoke(run: CommandLine) -> None:
    made = run(
        "token", "create", "--namespace", "acme", "--user", "bob", "--can", "read,admin", "--expires", "90d", "--json"
    ).json
    assert present(made["secret"])
    assert made["token"]["rights"] == ["read", "admin"]
    plain = run("token", "create", "--label", "cron job")
    assert plain.out.startswith("mh_")
    assert plain.out.count("\n") == 1
    assert "alice" in plain.err
    listed = run("token", "list", "--all", "--json")
    assert made["secret"].split("_")[2] not in listed.out
    assert [(token["namespace"], token["user"]) for token in listed.json["tokens"]] == [
        ("acme", "bob"),
        ("default", "alice"),
    ]
    assert "cron job" in run("token", "list").out
    assert run("token", "revoke", made["token"]["id"]).code == 0
    assert run("token", "list", "--namespace", "acme", "--json").json["tokens"][0]["revoked_at"] is not None
    assert run("token", "revoke", "mh_none", "--json").error["type"] == "NotFound"
    for wrong in (("--can", "root"), ("--expires", "soon"), ("--expires", "0d")):
        assert run("token", "create", *wrong).code == 2
