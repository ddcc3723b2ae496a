"""Store suite: what a message quotes, rewriting a message, and the newest memories of a kind and tier."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memhold.ports.stores import Ids, Store
from memhold.testing.store_suite_rows import ALICE, OTHERS, add_fact, add_note, say
from memhold.values.records import MemoryQuote, Passage, Quote

__all__ = ["QuoteCases"]

_ONE = Quote(start=0, end=4, ids=("mem_a", "mem_b"))
_TWO = Quote(start=6, end=9, ids=("mem_b",))


@pytest.mark.asyncio
class QuoteCases:
    """Quotes are found by what they quote, in their scope alone."""

    async def test_quotes_come_back_and_are_found_by_each_id(self, store: Store, ids: Ids) -> None:
        [plain, quoting] = await store.write(
            ALICE, lambda tx: [*say(tx, ids, "plain"), *say(tx, ids, "said by it", quotes=(_ONE, _TWO))]
        )
        assert await store.read(ALICE, lambda tx: tx.find_messages([plain.id, quoting.id])) == [plain, quoting]
        assert await store.read(ALICE, lambda tx: tx.messages("s1")) == [plain, quoting]
        for wanted in (["mem_a"], ["mem_b"], ["mem_b", "mem_a", "mem_x"]):
            assert await store.read(ALICE, lambda tx, w=wanted: tx.quoting(w)) == [quoting]  # type: ignore[misc]
        assert await store.read(ALICE, lambda tx: tx.quoting(["mem_x"])) == []
        for other in OTHERS:
            assert await store.read(other, lambda tx: tx.quoting(["mem_a", "mem_b"])) == []

    async def test_a_hidden_message_still_quotes_and_an_erased_one_does_not(self, store: Store, ids: Ids) -> None:
        [one, two] = await store.write(ALICE, lambda tx: say(tx, ids, "said by it", "and by it", quotes=(_ONE,)))
        await store.write(ALICE, lambda tx: tx.hide([one.id], "chg_x"))
        assert await store.read(ALICE, lambda tx: tx.quoting(["mem_a"])) == [one, two]
        await store.write(ALICE, lambda tx: tx.erase_messages([one.id], "chg_y"))
        assert await store.read(ALICE, lambda tx: tx.quoting(["mem_a"])) == [two]

    async def test_a_rewritten_message_has_its_new_body_text_and_quotes_alone(self, store: Store, ids: Ids) -> None:
        [one] = await store.write(ALICE, lambda tx: say(tx, ids, "said by it", quotes=(_ONE,)))
        kept = (replace(_TWO, start=0, end=3),)
        text = "[…] by it"
        whole = (Passage(start=0, end=len(text), written_by="user"),)
        changed = replace(one, body={"role": "user", "content": text}, text=text, quotes=kept, passages=whole)
        stray = replace(changed, role="assistant", seq=9, session="s9")
        await store.write(ALICE, lambda tx: tx.rewrite_message(stray))
        for other in OTHERS:
            await store.write(other, lambda tx: tx.rewrite_message(replace(one, text="stolen")))
        assert await store.read(ALICE, lambda tx: tx.find_messages([one.id])) == [changed]
        assert await store.read(ALICE, lambda tx: tx.quoting(["mem_a"])) == []
        assert await store.read(ALICE, lambda tx: tx.quoting(["mem_b"])) == [changed]
        await store.write(ALICE, lambda tx: tx.rewrite_message(replace(one, id="msg_of_nobody")))
        assert await store.read(ALICE, lambda tx: tx.find_messages(["msg_of_nobody"])) == []

    async def test_a_memory_is_given_quotes_in_the_revision_that_it_is(self, store: Store, ids: Ids) -> None:
        note = await store.write(ALICE, lambda tx: add_note(tx, ids, "n", metadata={"a": [1]}, sources=("msg_a",)))
        own = (MemoryQuote(message_id="msg_a", text="the words"),)
        told = replace(note, quotes=own, standing="doubtful", doubts=("it says more than the line",))
        for other in OTHERS:
            await store.write(other, lambda tx: tx.put_quotes([replace(told, doubts=("stolen",))]))
        await store.write(ALICE, lambda tx: tx.put_quotes([replace(told, text="another", rev=7), told]))
        assert await store.read(ALICE, lambda tx: tx.find_memories([note.id])) == [told]
        await store.write(ALICE, lambda tx: tx.put_quotes([replace(told, standing="stated", doubts=())]))
        assert await store.read(ALICE, lambda tx: tx.revisions(note.id)) == [replace(note, quotes=own)]

    async def test_the_quotes_of_a_source_go_with_it_from_every_revision(self, store: Store, ids: Ids) -> None:
        one, two = (MemoryQuote(message_id=name, text=f"words of {name}") for name in ("msg_a", "msg_b"))
        first = await store.write(
            ALICE, lambda tx: add_note(tx, ids, "n", sources=("msg_a", "msg_b"), quotes=(one, two))
        )
        other = await store.write(ALICE, lambda tx: add_note(tx, ids, "m", sources=("msg_b",), quotes=(two,)))
        await store.write(ALICE, lambda tx: tx.put_memory(replace(first, pinned=True, rev=2)))
        await store.write(ALICE, lambda tx: tx.hide([first.id], "chg_x"))
        await store.write(ALICE, lambda tx: tx.drop_sources(["msg_a", "msg_none"]))
        await store.write(ALICE, lambda tx: tx.reveal("chg_x"))
        kept = await store.read(ALICE, lambda tx: tx.revisions(first.id))
        assert [(memory.rev, memory.sources, memory.quotes) for memory in kept] == [
            (rev, ("msg_b",), (two,)) for rev in (1, 2)
        ]
        assert await store.read(ALICE, lambda tx: tx.find_memories([other.id])) == [other]

    async def test_the_newest_memories_come_by_kind_state_tier_agent_and_session(self, store: Store, ids: Ids) -> None:
        notes = await store.write(ALICE, lambda tx: [add_note(tx, ids, f"n{at}", tier="long") for at in range(4)])
        mine = await store.write(ALICE, lambda tx: add_note(tx, ids, "mine", tier="long", agent="a", session="s1"))
        await store.write(ALICE, lambda tx: add_note(tx, ids, "mid"))
        await store.write(ALICE, lambda tx: add_fact(tx, ids, "city", "Faro", tier="long"))
        gone = await store.write(ALICE, lambda tx: add_note(tx, ids, "gone", tier="long", state="retracted"))
        await store.write(ALICE, lambda tx: tx.hide([notes[3].id], "chg_x"))
        read = store.read
        assert await read(ALICE, lambda tx: tx.newest_memories("note", tier="long", limit=2)) == [mine, notes[2]]
        assert await read(ALICE, lambda tx: tx.newest_memories("note", tier="long", agent="b", limit=9)) == notes[2::-1]
        found = await read(ALICE, lambda tx: tx.newest_memories("note", tier="long", session="s1", limit=9))
        assert found == [mine]
        found = await read(ALICE, lambda tx: tx.newest_memories("note", state="retracted", tier="long", limit=9))
        assert found == [gone]
        for other in OTHERS:
            assert await read(other, lambda tx: tx.newest_memories("note", tier="long", limit=9)) == []
