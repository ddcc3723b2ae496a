"""What callers ask for: a session that ends, and consolidation now. One transaction each, no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memhold.consolidate.raw import REASONS
from memhold.consolidate.snapshot import FRONT, is_kept, waiting_raw
from memhold.journal.visibility import ended
from memhold.journal.windows import When, open_calls, skipped, spoken, units
from memhold.ports.transaction import Listing, ReadTx, WriteTx
from memhold.values.answers import Consolidated, Receipt, Visibility
from memhold.values.records import Memory, Message, Session

__all__ = ["ask_ahead", "ask_for", "consolidated", "end", "make_due", "why_raw"]

EVERY = 2**62
"""No limit, as a count."""


def end(tx: WriteTx, session: Session, when: When) -> Receipt:
    """The session's window leaves the prompt; what of it waits is due now. Nothing is read or hidden."""
    if skipped(session.name, when):
        moved = replace(session, cursor=session.last_seq, rev=session.rev + 1, pending_tokens=0)
    else:
        moved = replace(session, asked=session.last_seq)
    moved = ended(tx, moved)
    if moved != session:
        tx.put_session(moved)
    if moved.asked > moved.cursor:
        tx.put_due("consolidate", session.id, tx.now)
    return Receipt(ids=(), visibility=Visibility(consolidated=moved.cursor == moved.last_seq))


def make_due(tx: WriteTx, session: Session, when: When) -> int:
    """Make what waits in this session due now; returns up to which message (`seq`), 0 where nothing of it is.

    For whoever is about to lose the session's older messages (a compaction of a prompt) and at `consolidate`. Nothing
    leaves the prompt, no model is asked, and repeating it changes nothing; a worker finds it by the state alone. A call
    at the very end that has no result yet is left for the next window, with its result.
    """
    if skipped(session.name, when):
        return 0
    last = _closed(spoken(tx.messages(session.name, after=session.cursor, every_agent=True)))
    if last > session.asked:
        tx.put_session(replace(session, asked=last))
    if last > session.cursor or session.torn:
        tx.put_due("consolidate", session.id, tx.now)
    return last


def ask_for(tx: WriteTx, sessions: Sequence[Session], when: When) -> int:
    """Make everything that waits in these sessions due now; returns the first document number that is free."""
    for session in sessions:
        make_due(tx, session, when)
    if waiting_raw(tx, when):
        tx.put_due("redo", FRONT, tx.now)
    return tx.take_numbers(0)


def ask_ahead(tx: WriteTx, name: str, last: int) -> None:
    """Make a session due now up to a message, where it waits for more than that; the prompt keeps what it shows."""
    session = tx.session(name)
    if session is None or not max(session.cursor, session.asked) < last <= session.last_seq:
        return
    tx.put_session(replace(session, asked=last))
    tx.put_due("consolidate", session.id, tx.now)


def _closed(waiting: Sequence[Message]) -> int:
    if not waiting:
        return 0
    if not open_calls(waiting):
        return waiting[-1].seq
    return waiting[units(waiting)[-1]].seq - 1


def consolidated(tx: ReadTx, sessions: Sequence[str], first: int) -> Consolidated:
    """What was made since a document number, and what still waits."""
    agent = tx.scope.agent
    made = tx.list_memories(Listing(kinds=("summary", "raw"), agent=agent, after=first - 1, limit=EVERY))
    raw = tx.list_memories(Listing(kinds=("raw",), agent=agent, limit=EVERY))
    held = [session for name in sessions if (session := tx.session(name)) is not None]
    errors = [due.last_error for due in tx.due() if due.kind in {"consolidate", "redo"} and due.last_error]
    return Consolidated(
        summaries=tuple(memory.id for memory in made if memory.kind == "summary"),
        raw=tuple(memory.id for memory in raw if not is_kept(memory)),
        set_aside=tuple(memory.id for memory in raw if is_kept(memory)),
        waiting=sum(session.last_seq - session.cursor for session in held),
        last_error=errors[-1] if errors else why_raw(raw),
    )


def why_raw(raw: Sequence[Memory]) -> str | None:
    """Why the newest of these windows is RAW, one that waits before one that is set aside; None where none says."""
    told = [(not is_kept(memory), reason) for memory in raw if (reason := _reason_of(memory))]
    return next((reason for waits in (True, False) for waiting, reason in reversed(told) if waiting is waits), None)


def _reason_of(memory: Memory) -> str | None:
    """Why a window is RAW, with what the last model answered; no content. None where it is by the user's wish."""
    held = memory.metadata.get("raw")
    if not isinstance(held, dict) or not held.get("reason") or held.get("kept"):
        return None
    tried = [one for one in held.get("attempts") or () if isinstance(one, dict)]
    why = REASONS.get(held["reason"], str(held["reason"]))
    return f"{why}: {_told(tried[-1])}" if tried else why


def _told(attempt: Mapping[str, Any]) -> str:
    """An attempt in words: which model, what went wrong, and the provider's first words, masked."""
    said = f" (it said: {attempt['said']})" if attempt.get("said") else ""
    return f"{attempt.get('model')}: {attempt.get('reason')}{said}"
