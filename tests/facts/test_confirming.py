"""What was forgotten is not confirmed by trying out what it said."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest

from memhold import AsyncMemhold, Memhold
from memhold.errors import IdempotencyConflict
from memhold.facts.revisions import memory_digest, said_digest
from memhold.ports.idempotency import keyed_digest


def _said(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


async def test_a_key_answers_every_guess_alike_once_what_it_wrote_was_forgotten(location: str) -> None:
    async with AsyncMemhold.open(location, worker=False, embedding="none") as mem:
        alice = mem.scope(user="alice", session="s")
        said = (await alice.add(_said("a quokka"), idempotency_key="one")).ids[0]
        with pytest.raises(IdempotencyConflict):
            await alice.add(_said("a wombat"), idempotency_key="one")
        await alice.forget(said, idempotency_key="two")
        told = [await alice.add(_said(guess), idempotency_key="one") for guess in ("a quokka", "a wombat")]
        assert told[0] == told[1]
        assert (told[0].replayed, told[0].forgotten) == (True, True)
        # A forget under a key that came before is of something else, and says so.
        with pytest.raises(IdempotencyConflict):
            await alice.forget(session="s", idempotency_key="two")


def test_the_file_alone_confirms_no_guess(tmp_path: Path) -> None:
    with Memhold.open(tmp_path / "m.db", worker=False, embedding="none") as mem:
        alice = mem.scope(user="alice", session="s")
        alice.add(_said("a quokka"), idempotency_key="one")
        note = alice.remember("a quokka").memory
        alice.forget(everything=True, sources="keep", wait=5)
    file = apsw.Connection(str(tmp_path / "m.db"), flags=apsw.SQLITE_OPEN_READONLY)
    secret = bytes(file.execute("SELECT value FROM store WHERE name = 'secret'").get)
    kept = [bytes(row[0]) for row in file.execute("SELECT fingerprint FROM idempotency")]
    kept += [bytes(row[0]) for row in file.execute("SELECT digest FROM tombstone WHERE digest IS NOT NULL")]
    assert kept
    guessed = json.dumps([_said("a quokka"), None, "s"], sort_keys=True)
    assert keyed_digest(secret, "idempotency fingerprint", "add", guessed) not in kept
    assert {said_digest(secret, note), memory_digest(secret, note)}.isdisjoint(kept)
