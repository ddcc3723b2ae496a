"""Under what a result is applied: the lease, the checks that the world is what was read, and where the cursor goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from memhold.consolidate.snapshot import Snapshot
from memhold.journal.windows import When, due_at, kept_from, spoken, weight
from memhold.ports.stores import Ids, Lease
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.values.errors import Attempt
from memhold.values.records import Session

__all__ = ["ApplyGuard", "Means", "Verdict", "mirrored", "move", "plain_attempts", "standing", "unchanged"]

Verdict = Literal["done", "stale", "lost"]
"""`stale`: read again, something that was read is gone. `lost`: somebody else holds the work now."""
MAX_ATTEMPTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyGuard:
    """The lease under which a result is applied."""

    kind: str
    ref: str
    token: int

    @classmethod
    def under(cls, lease: Lease) -> ApplyGuard:
        """What is applied under a lease."""
        return cls(kind=lease.due.kind, ref=lease.due.ref, token=lease.token)

    @classmethod
    def nothing(cls) -> ApplyGuard:
        """What never stands: for a look that applies nothing."""
        return cls(kind="", ref="", token=0)

    def stands(self, tx: ReadTx) -> bool:
        """Whether it is still the newest lease on the work."""
        due = tx.due_item(self.kind, self.ref)
        return due is not None and due.token == self.token


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What every apply needs beside its transaction."""

    ids: Ids
    secret: bytes
    when: When
    mirror: bool = False


def unchanged(tx: ReadTx, snapshot: Snapshot, hold: ApplyGuard) -> Verdict:
    """Whether everything that was shown to the model is still there."""
    if not hold.stands(tx):
        return "lost"
    messages = [message.id for message in snapshot.messages]
    known = [memory.id for memory in snapshot.known]
    there = len(tx.find_messages(messages)) == len(messages) and len(tx.find_memories(known)) == len(known)
    return "done" if there else "stale"


def standing(tx: ReadTx, snapshot: Snapshot, hold: ApplyGuard) -> tuple[Session | None, Verdict]:
    """The session as it is now, where the window can be applied to it; else why it cannot."""
    verdict = unchanged(tx, snapshot, hold)
    if verdict != "done":
        return None, verdict
    session = tx.find_session(snapshot.session.id)
    if session is None or session.cursor != snapshot.session.cursor:
        return None, "stale"
    if session.rev != snapshot.session.rev:
        # Forgetting touched the window: the answer holds only if what is there now is what was read.
        now = spoken(tx.messages(session.name, after=session.cursor, until=snapshot.messages[-1].seq, every_agent=True))
        if [message.id for message in now] != [message.id for message in snapshot.messages]:
            return None, "stale"
    return session, "done"


def plain_attempts(attempts: Sequence[Attempt]) -> list[dict[str, Any]]:
    """Attempts as plain data: the newest twenty."""
    kept = ("model", "cls", "status", "code", "reason", "said", "seconds")
    return [{name: asdict(one)[name] for name in kept} for one in attempts[-MAX_ATTEMPTS:]]


def move(tx: WriteTx, session: Session, last: int, means: Means) -> None:
    """The cursor moves past the window; the prompt keeps its last turns; what still waits is due in its time."""
    live = spoken(tx.messages(session.name, after=session.window_start, every_agent=True))
    kept = min(kept_from(live, means.when.keep), last)
    moved = replace(
        session,
        cursor=last,
        window_start=max(session.window_start, kept),
        pending_tokens=weight([message for message in live if message.seq > last]),
        rev=session.rev + 1,
    )
    if session.window_start > last:
        moved = replace(moved, pending_tokens=weight(tx.messages(session.name, after=last, every_agent=True)))
    tx.put_session(moved)
    again = due_at(moved, means.when, tx.now)
    if again is not None:
        tx.put_due("consolidate", session.id, again)


def mirrored(tx: WriteTx, means: Means) -> None:
    """The scope's files are to be written again."""
    if means.mirror:
        tx.put_due("mirror", "files", tx.now)
