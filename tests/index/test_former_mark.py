"""A mark of earlier versions in the words index is no fault, changes no answer, and is gone once it is built anew."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any, cast

import pytest

from memhold.faces.python.open import AsyncMemhold
from memhold.index.documents import FORMER, message_entry
from memhold.messages.fences import said
from memhold.ports.postings import term_key
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.text.analysis import analyse
from memhold.values.records import Message

pytestmark = pytest.mark.asyncio
SAID = ("I live in Oslo.", "I live in Ghent now.", "My sister plays chess.")


def _marked(tx: WriteTx, messages: tuple[Message, ...]) -> None:
    """Build the index as an earlier version did, which marked the first two."""
    tx.clear_index()
    for place, one in enumerate(messages):
        session = tx.session(one.session)
        assert session is not None
        entry = message_entry(one, analyse(said(one)), session=session.number, agent=0)
        tx.index([replace(entry, terms={**entry.terms, FORMER: 1}) if place < 2 else entry])


def _marks(tx: ReadTx) -> int:
    """How many entries of the words index are of the mark."""
    entries = (value for block in tx.blocks() for (value,) in struct.iter_unpack("<Q", block.entries))
    return sum(value >> 16 == term_key(FORMER) for value in entries)


async def test_an_index_of_an_earlier_version_answers_as_a_new_one(lasting: str) -> None:
    async with AsyncMemhold.open(lasting, worker=False, embedding="none") as memhold:
        alice = memhold.scope(user="alice", session="s")
        for text in SAID:
            await alice.add([{"role": "user", "content": text}])
        asked = "Where do I live?"
        before = (await alice.recall(asked)).hits
        messages, store = await alice.messages(), cast("Any", memhold)._store._runtime.store
        scope = alice.scope
        await store.write(scope, lambda tx: _marked(tx, messages))
        assert await store.read(scope, _marks) == 2
        assert (await alice.recall(asked)).hits == before
        assert [one for one in await memhold.admin.doctor() if one.check == "words"] == []
        await memhold.admin.reindex()
        assert await store.read(scope, _marks) == 0
        assert (await alice.recall(asked)).hits == before
