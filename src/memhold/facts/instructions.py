"""Standing instructions: what the user says how to be answered is kept as said, until a later one ends it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from memhold.facts.remember import Writer
from memhold.facts.revisions import memory_digest, revise
from memhold.index.documents import index_memories
from memhold.journal.change import Basis, note_change
from memhold.messages.fences import unquoted
from memhold.ports.transaction import WriteTx
from memhold.text.contraries import ends, names_nothing
from memhold.text.instructions import ends_only, is_own_wish, tells_state
from memhold.values.names import folded
from memhold.values.origins import text_by
from memhold.values.records import SPEAKER, Author, Effect, Memory, MemoryQuote, Message

__all__ = ["MOST_STANDING", "keep_instructions", "learn_instruction"]

MOST_STANDING = 200
"""The newest standing instructions that a new one is held against, and the most that a context looks at."""
RULES = Author(origin="rules", name="instructions")


def keep_instructions(tx: WriteTx, said: Mapping[str, Sequence[str]], *, writer: Writer) -> str | None:
    """Keep what messages, by id, say how to be answered: each clause is a memory of kind `instruction`, word for word.

    What says the same as one of the same person's that stands, or the contrary of the same, takes its place; what only
    takes one back ends it. What another person than the user says is theirs, by name. What was forgotten with its
    source kept is not kept again. Returns the id of the change, which `undo` takes back; None where nothing was new.
    """
    effects: list[Effect] = []
    standing = tx.newest_memories("instruction", tier="long", agent=writer.agent, limit=MOST_STANDING)
    for message in tx.find_messages(list(said)):
        for clause in said[message.id]:
            fresh = None if ends_only(clause) else _instruction(tx, message, clause, writer)
            digest = None if fresh is None else memory_digest(writer.secret, fresh)
            if digest is not None and tx.blocked(digest):
                continue
            over = _over([one for one in standing if _said_by(message, one)], clause, message.session)
            effects += [_ended(tx, one, message.event_time, by=None if fresh is None else fresh.id) for one in over]
            standing = [one for one in standing if one not in over]
            if fresh is not None:
                fresh = replace(fresh, number=tx.take_numbers(1))
                standing = [fresh, *standing]
                tx.put_memory(fresh, digest=digest)
                index_memories(tx, [fresh])
                effects.append(Effect(memory_id=fresh.id, rev_before=0, rev_after=1))
    if not effects:
        return None
    gave = any(one.rev_before == 0 for one in effects)
    reason = "the user gave a standing instruction" if gave else "the user took a standing instruction back"
    change_id = writer.ids.new("chg")
    return note_change(
        tx, change_id, "instruct", reason, by=RULES, effects=_joined(effects), basis=Basis(sources=said)
    ).id


def _said_by(message: Message, wish: Memory) -> bool:
    """Whether a wish is of the person who speaks: of the same name, or both the user's."""
    name = message.speaker
    if name is not None and wish.speaker is not None and folded(name) == folded(wish.speaker):
        return True
    return message.written_by == "user" and wish.subject is None


def learn_instruction(tx: WriteTx, message: Message, quote: str, *, writer: Writer) -> Effect | None:
    """Keep what a model read in a user's message as a standing instruction, in the words that it quotes.

    None where these are not the user's own words alone, where the message gave an instruction when it arrived, where
    it was forgotten with its source kept, or where a later one speaks of the same. It ends nothing itself: what the
    rules do not read as an instruction may be meant beside what stands.
    """
    if not is_own_wish(quote, text_by(message, "user")) or unquoted(message) != message.text:
        return None
    if any(one.kind == "instruction" for one in tx.derived([message.id])):
        return None
    standing = tx.newest_memories("instruction", tier="long", agent=writer.agent, limit=MOST_STANDING)
    if any(one.event_time >= message.event_time and ends(one.text, quote) for one in standing):
        return None
    fresh = _instruction(tx, message, quote, writer)
    fresh = replace(fresh, quotes=(MemoryQuote(message_id=message.id, text=quote),))
    digest = memory_digest(writer.secret, fresh)
    if tx.blocked(digest) or tx.same_content(kind="instruction", digest=digest, agent=fresh.agent) is not None:
        return None
    tx.put_memory(replace(fresh, number=tx.take_numbers(1)), digest=digest)
    kept = tx.find_memories([fresh.id])
    index_memories(tx, kept)
    return Effect(memory_id=fresh.id, rev_before=0, rev_after=1)


def _over(standing: Sequence[Memory], clause: str, session: str) -> list[Memory]:
    """What a clause ends: what it names, else ("forget that rule") the newest wish of the session."""
    if not names_nothing(clause):
        return [one for one in standing if ends(clause, one.text)]
    return [one for one in standing if one.session == (session or None) and not tells_state(one.text)][:1]


def _ended(tx: WriteTx, old: Memory, at: datetime, *, by: str | None) -> Effect:
    return revise(tx, old, state="superseded", superseded_by=by, valid_to=max(old.valid_from, at))


def _joined(effects: Sequence[Effect]) -> tuple[Effect, ...]:
    """One effect a memory: what one call made and ended at once went from nothing to its last revision."""
    found: dict[str, Effect] = {}
    for one in effects:
        held = found.get(one.memory_id)
        found[one.memory_id] = one if held is None else replace(held, rev_after=one.rev_after)
    return tuple(found.values())


def _instruction(tx: WriteTx, message: Message, clause: str, writer: Writer) -> Memory:
    return Memory(
        id=writer.ids.new("mem"),
        number=-1,
        kind="instruction",
        text=clause,
        tier="long",
        agent=writer.agent,
        session=message.session or None,
        subject=message.speaker if message.written_by == "participant" else None,
        metadata={} if message.speaker is None else {SPEAKER: message.speaker},
        origin=writer.author.origin,
        sources=(message.id,),
        event_time=message.event_time,
        valid_from=message.event_time,
        created_at=tx.now,
        recorded_at=tx.now,
    )
