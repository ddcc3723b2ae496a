"""A summary that says what no longer holds is told anew, once for each such value: what is asked, read and applied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from memhold.asking.prompts import prompt
from memhold.asking.replies import Fault, arguments_of, text_of
from memhold.compact.apply import Merger, unchanged
from memhold.compact.asking import PURPOSE
from memhold.consolidate.apply_guard import ApplyGuard, Verdict
from memhold.consolidate.entry import untimed
from memhold.facts.outdated import outdated, reads_as_current
from memhold.facts.revisions import revise
from memhold.facts.rollups import _superseded, withdraw
from memhold.fidelity.merges import lost
from memhold.index.documents import index_memories
from memhold.journal.change import Basis, note_change
from memhold.ports.idempotency import keyed_digest
from memhold.ports.models import ChatReply, ChatRequest, ChatTurn, Rejected, Tool
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.text.details import content_terms
from memhold.values.answers import Ended
from memhold.values.records import Author, Effect, Memory

__all__ = ["TRIED", "Untold", "apply_telling", "not_told", "read_telling", "telling_request", "untold"]

TRIED = "told_anew"
"""The key of a summary's metadata for the facts for which no model told it anew: none is asked about them again."""
MAX_ANSWER_TOKENS = 4_096
MOST_LONGER = 400
"""Characters by which a telling may be longer than the entry, for each value."""
LEAST_KEPT = 0.8
"""The share of an entry's content words, but for the values that ended, that stand in its telling."""
TELL_ANEW: Final = Tool(
    name="tell_anew",
    description="The entry again, with what no longer holds told as what was.",
    parameters={
        "type": "object",
        "properties": {"text": {"type": "string", "description": "the whole entry, in plain text"}},
        "required": ["text"],
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Untold:
    """A summary and the values that it says as if they still held."""

    summary: Memory
    values: tuple[Ended, ...]


def untold(tx: ReadTx) -> list[Untold]:
    """The active summaries of a model's that say what no longer holds and were not asked about for it, oldest first.

    One of the rules is done again by a model in any case.
    """
    past = outdated(tx)
    found = (one for one in tx.find_numbers(sorted(past)) if isinstance(one, Memory))
    told = [one for one in found if one.kind == "summary" and one.state == "active" and one.origin == "model"]
    each = [Untold(summary=one, values=past[one.number].values) for one in told]
    return [one for one in each if not {value.fact for value in one.values} <= set(one.summary.metadata.get(TRIED, ()))]


def telling_request(asked: Untold) -> ChatRequest:
    """One call about one summary."""
    text = f"The entry:\n\n{asked.summary.text}\n\nWhat of it no longer holds:\n\n" + "\n".join(
        map(_line, asked.values)
    )
    return ChatRequest(
        system=prompt("tell_anew").text,
        turns=(ChatTurn(role="user", text=text),),
        purpose=PURPOSE,
        tool=TELL_ANEW,
        max_tokens=MAX_ANSWER_TOKENS,
        temperature=0.0,
    )


def _line(ended: Ended) -> str:
    now = "" if ended.now is None else f"; now: {_flat(ended.now)}"
    return f"- {_flat(ended.value)} (until {ended.since:%Y-%m-%d}){now}"


def _flat(text: str) -> str:
    return " ".join(text.split())


def read_telling(reply: ChatReply, asked: Untold) -> str | Rejected:
    """The telling that a reply holds, checked against the entry; else what is wrong with it.

    It keeps what the entry says, invents nothing, and says no value that ended as if it held.
    """
    whole = asked.summary.text
    try:
        most = len(whole) + MOST_LONGER * len(asked.values)
        text = text_of(arguments_of(reply, TELL_ANEW).get("text"), "text", most)
    except Fault as fault:
        return Rejected(reason=str(fault), refused=fault.refused)
    if any(reads_as_current(value, text) for value in asked.values):
        return Rejected(reason="it still says what no longer holds as if it held")
    ended = frozenset[str]().union(*(content_terms(value.value) for value in asked.values))
    kept = content_terms(untimed(whole)) - ended
    if len(kept & content_terms(text)) < LEAST_KEPT * len(kept):
        return Rejected(reason="it leaves out what the entry says")
    known = "\n".join((whole, *(_line(value) for value in asked.values)))
    if invented := lost(known, asked.summary.event_time, [(untimed(text), asked.summary.event_time)]):
        return Rejected(reason=f"it says what no line has: {', '.join(invented)}")
    return text


def apply_telling(tx: WriteTx, asked: Untold, text: str, by: Author, hold: ApplyGuard, merger: Merger) -> Verdict:
    """The telling takes the place of the summary, and what was rolled up from that is rolled up anew, at once.

    It stands on the same lines, and on the facts that hold now: it goes when one of them is forgotten.
    """
    old = asked.summary
    verdict = unchanged(tx, (old,), hold)
    if verdict != "done":
        return verdict
    facts = tuple(dict.fromkeys(value.now_fact for value in asked.values if value.now_fact is not None))
    if len(tx.find_memories(facts)) < len(facts):
        return "stale"
    made = replace(
        old,
        id=merger.ids.new("mem"),
        number=tx.take_numbers(1),
        text=_dated(old.text, text),
        rev=1,
        origin=by.origin,
        actor=by.name,
        sources=tuple(dict.fromkeys((*old.sources, *facts))),
        created_at=tx.now,
        recorded_at=tx.now,
    )
    tx.put_memory(made, digest=keyed_digest(merger.secret, made.kind, made.id))
    index_memories(tx, [made])
    effects = [Effect(memory_id=made.id, rev_before=0, rev_after=1), _superseded(tx, old, by=made.id)]
    effects += withdraw(tx, [old.id])
    _changed(tx, asked, "told anew: what it said no longer holds", by, effects, merger)
    return "done"


def _dated(entry: str, text: str) -> str:
    """A telling with the time of its window in front, as the entry has it."""
    stamp = entry.removesuffix(untimed(entry))
    return text if text.startswith(stamp.strip()) else f"{stamp}{text}"


def not_told(tx: WriteTx, asked: Untold, reason: str, by: Author, hold: ApplyGuard, merger: Merger) -> Verdict:
    """The summary stays, marked; for these values no model is asked again."""
    verdict = unchanged(tx, (asked.summary,), hold)
    if verdict == "done":
        tried = dict.fromkeys((*asked.summary.metadata.get(TRIED, ()), *(value.fact for value in asked.values)))
        effect = revise(tx, asked.summary, metadata={**asked.summary.metadata, TRIED: list(tried)})
        _changed(tx, asked, f"not told anew: {reason}", by, [effect], merger)
    return verdict


def _changed(tx: WriteTx, asked: Untold, reason: str, by: Author, effects: Sequence[Effect], merger: Merger) -> None:
    sources = (asked.summary.id, *(value.fact for value in asked.values))
    note_change(tx, merger.ids.new("chg"), "tell_anew", reason, by=by, effects=effects, basis=Basis(sources=sources))
    if merger.mirror:
        tx.put_due("mirror", "files", tx.now)
