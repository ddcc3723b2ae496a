"""What a consolidation starts from: an explicit range of the journal at one revision, and the facts it may touch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memhold.journal.archive import uncovered
from memhold.journal.windows import When, skipped, spoken, units, window
from memhold.ports.transaction import Listing, ReadTx
from memhold.text.analysis import analyse
from memhold.text.token_estimate import estimate_tokens
from memhold.values.records import Memory, Message, Session

__all__ = [
    "FRONT",
    "Snapshot",
    "is_kept",
    "redo_snapshot",
    "shown",
    "take",
    "torn_messages",
    "waiting_raw",
    "window_snapshot",
]

MAX_MESSAGES = 2_000
"""Most messages that one snapshot reads; what lies behind them is the next window."""
MAX_KNOWN = 60
"""Most facts that are shown to a model."""
KNOWN_TOKENS = 1_200
"""Tokens that these facts take at most, so that they leave a small model room for the window."""
MAX_FACTS_READ = 5_000
FRONT = "raw"
"""The ref of the due item under which a scope's RAW windows are done again, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A window: `messages` in order, of one session and agent. `replaces` is what stood for it until now, if anything.

    `session` is as it was read; a window that is done again moves no cursor.
    """

    session: Session
    messages: tuple[Message, ...]
    known: tuple[Memory, ...]
    replaces: tuple[Memory, ...] = ()

    @property
    def agent(self) -> str | None:
        """Whose window it is."""
        return self.messages[0].agent

    @property
    def raw_id(self) -> str | None:
        """The id under which a window that is done again waits."""
        return raw_window(self.replaces[0]) if self.replaces else None


def window_snapshot(tx: ReadTx, session_id: str, when: When) -> Snapshot | None:
    """The session's next window, or None when none is due yet."""
    session = tx.find_session(session_id)
    if session is None:
        return None
    waiting = _waiting(tx, session)
    if len(waiting) >= MAX_MESSAGES:
        # The last unit may go on behind what was read.
        waiting = waiting[: units(waiting)[-1] or MAX_MESSAGES]
    messages = window(waiting, session, when, tx.now)
    return None if not messages else take(tx, session, messages)


def _waiting(tx: ReadTx, session: Session) -> list[Message]:
    """The first turns behind the cursor, however many items stand between them."""
    found: list[Message] = []
    after = session.cursor
    while len(found) < MAX_MESSAGES and (
        page := tx.messages(session.name, after=after, limit=MAX_MESSAGES, every_agent=True)
    ):
        found += spoken(page)
        after = page[-1].seq
    return found[:MAX_MESSAGES]


def torn_messages(tx: ReadTx, session: Session) -> list[Message]:
    """Messages up to the cursor whose memory was taken by forgetting."""
    return uncovered(tx, session) if session.torn else []


def take(tx: ReadTx, session: Session, messages: Sequence[Message], replaces: Sequence[Memory] = ()) -> Snapshot:
    """A snapshot of these messages with the facts that they may touch."""
    agent = messages[0].agent
    listing = Listing(kinds=("fact",), agent=agent, limit=MAX_FACTS_READ)
    gone = {memory.id for memory in replaces}
    facts = [fact for fact in tx.list_memories(listing) if fact.agent == agent and fact.id not in gone]
    known = touched(facts, (message.text for message in messages))
    return Snapshot(session=session, messages=tuple(messages), known=known, replaces=tuple(replaces))


def touched(facts: Sequence[Memory], texts: Iterable[str]) -> tuple[Memory, ...]:
    """The facts that share the most words with the texts, then the newest, in order of their number.

    At most 60, and no more than a small model has room for.
    """
    words: set[str] = set()
    for text in texts:
        words.update(analyse(text[:4_000]).counts)
    ranked = sorted(facts, key=lambda fact: (-len(words & analyse(fact.text).counts.keys()), -fact.number))
    chosen: list[Memory] = []
    room = KNOWN_TOKENS
    for fact in ranked[:MAX_KNOWN]:
        room -= estimate_tokens(shown(fact))
        if room < 0:
            break
        chosen.append(fact)
    return tuple(sorted(chosen, key=lambda fact: fact.number))


def shown(fact: Memory) -> str:
    """A known fact as a model reads it; a long value is cut. Without its time, which small models copy into values."""
    flat = " ".join((fact.value or "").split())[:300]
    return f"{fact.subject} | {fact.attribute} | {flat}"


# --------------------------------------------------------------------------------------------- windows to do again


def raw_window(memory: Memory) -> str:
    """The window that a RAW memory is a part of: the id of its first memory."""
    held = memory.metadata.get("raw")
    name = held.get("window") if isinstance(held, dict) else None
    return name if isinstance(name, str) else memory.id


def is_kept(memory: Memory) -> bool:
    """Whether a RAW memory stays as it is: set aside, or kept by the user's wish."""
    held = memory.metadata.get("raw")
    return isinstance(held, dict) and bool(held.get("set_aside") or held.get("kept"))


def waiting_raw(
    tx: ReadTx, when: When, *, only: str | None = None, passed: frozenset[str] = frozenset()
) -> tuple[Memory, ...]:
    """The memories of the oldest window that waits for a model (RAW, or made by rules); of `only`, where it is named.

    Windows that are set aside, kept by the user's wish, or named in `passed` are passed over, and so are those of
    sessions that are never consolidated.
    """
    listing = Listing(kinds=("raw", "summary"), limit=2**62)
    found: dict[str, list[Memory]] = {}
    for memory in tx.list_memories(listing):
        provisional = memory.kind == "raw" or memory.origin == "rules"
        if provisional and not is_kept(memory) and not skipped(memory.session or "", when):
            found.setdefault(raw_window(memory), []).append(memory)
    names = [name for name in found if (name not in passed if only is None else name == only)]
    return tuple(found[names[0]]) if names else ()


def redo_snapshot(tx: ReadTx, ref: str, now: datetime, when: When) -> Snapshot | None:
    """The window that is to be done again under this due item; None when there is none any more."""
    later = {due.ref for due in tx.due() if due.kind == "redo" and due.ref != FRONT}
    old = waiting_raw(tx, when, passed=frozenset(later)) if ref == FRONT else waiting_raw(tx, when, only=ref)
    if not old or old[0].created_at > now:
        return None
    messages = tx.find_messages(list(dict.fromkeys(source for memory in old for source in memory.sources)))
    session = tx.session(old[0].session or "")
    if session is None or not messages:
        return None
    return take(tx, session, sorted(messages, key=lambda message: message.seq), old)
