"""What the MCP tools answer: the same answer as plain data for programs and as text for the model that asked.

Recalled text stands in a fence in the text, and every plain answer that holds some says in `notice` what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memhold.messages.fences import NOTICE, fence
from memhold.recall.confidence import THRESHOLD
from memhold.values.answers import Erasure, Recall, Receipt, Remembered, Status
from memhold.values.jsonable import iso, to_jsonable
from memhold.values.records import Change, Memory

if TYPE_CHECKING:
    from memhold.context.answer import Context
    from memhold.values.answers import Hit

__all__ = [
    "Answer",
    "context_answer",
    "counted",
    "erasure_answer",
    "fenced",
    "history_answer",
    "memory_line",
    "recall_answer",
    "receipt_answer",
    "remembered_answer",
    "status_answer",
    "wire_text",
]

SHOWN_CHARS = 4_000
"""Longest text of one item in an answer, in characters; the rest is a resource away."""
_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A tool's answer: what a model reads, and the same as data."""

    text: str
    data: Mapping[str, Any]


def wire_text(text: str) -> str:
    """Text that UTF-8 can carry: half a surrogate pair becomes U+FFFD."""
    return text if text.isascii() else _HALF.sub("\ufffd", text)


def fenced(ids: Sequence[str], lines: Iterable[str], *, secret: bytes) -> str:
    """Recalled lines in a fence of this store."""
    return fence(ids, [wire_text(line) for line in lines], secret=secret).text


def counted(number: int, noun: str) -> str:
    """A number and its noun: "1 message", "2 messages", "2 memories"."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun[:-1]}ies" if noun.endswith("y") else f"{number:,} {noun}s"


def _some(**values: Any) -> dict[str, Any]:
    """The values that are there, as JSON can hold them."""
    return {name: to_jsonable(value) for name, value in values.items() if value is not None and value != ()}


def _cut(text: str, item: str) -> tuple[str, bool]:
    if len(text) <= SHOWN_CHARS:
        return wire_text(text), False
    rest = len(text) - SHOWN_CHARS
    return wire_text(f"{text[:SHOWN_CHARS]}… ({rest:,} more characters: read memhold://items/{item})"), True


def _line(item: str, about: Sequence[str], text: str) -> str:
    # Lines of a memory are set in, so that none of them can stand for an entry of its own.
    body = text.replace("\r", "").replace("\n", "\n    ")
    return f"{item} ({', '.join(about)}) {body}"


def memory_line(memory: Memory) -> str:
    """A memory as one entry of a fence: id, kind, day, what is special about it, text."""
    about = [memory.kind, f"{memory.event_time:%Y-%m-%d}"]
    about += [] if memory.state == "active" else [memory.state]
    about += ["pinned"] if memory.pinned else []
    return _line(memory.id, about, _cut(memory.text, memory.id)[0])


# ------------------------------------------------------------------------------------------------ writing


def _receipt(receipt: Receipt) -> dict[str, Any]:
    plain: dict[str, Any] = to_jsonable(receipt)
    return plain


def _again(receipt: Receipt) -> str | None:
    if receipt.forgotten:
        return "This was written before with the same key, and forgotten since; nothing was written now."
    if receipt.replayed:
        return f"This was written before with the same key ({' '.join(receipt.ids)}); nothing was written twice."
    return None


def _redacted(receipt: Receipt) -> str:
    return f" {counted(receipt.redacted, 'secret')} in it was left out." if receipt.redacted else ""


def receipt_answer(receipt: Receipt, said: str) -> Answer:
    """What a write gave: `said`, or that it had been written before."""
    text = _again(receipt) or f"{said}{_redacted(receipt)}"
    return Answer(text=text, data=_receipt(receipt))


def remembered_answer(remembered: Remembered, verb: str) -> Answer:
    """A receipt and the memory that now says it."""
    receipt, memory = remembered.receipt, remembered.memory
    data = {"receipt": _receipt(receipt)}
    if memory is None:
        return Answer(text=_again(receipt) or "There was no such value; nothing was changed.", data=data)
    data["memory"] = _memory(memory)
    named = f"{memory.attribute}" if memory.kind == "fact" else "the note"
    said = _again(receipt) or f"{verb} {named} as {memory.id} (revision {memory.rev}, {memory.state})."
    if receipt.change_ids and not receipt.replayed:
        said += f" Change {receipt.change_ids[-1]}."
    return Answer(text=wire_text(f"{said}{_redacted(receipt)}"), data=data)


def _memory(memory: Memory) -> dict[str, Any]:
    text, truncated = _cut(memory.text, memory.id)
    return _some(
        id=memory.id,
        kind=memory.kind,
        text=text,
        truncated=truncated or None,
        state=memory.state,
        tier=memory.tier,
        rev=memory.rev,
        subject=memory.subject,
        attribute=memory.attribute,
        event_time=memory.event_time,
        valid_from=memory.valid_from,
        valid_to=memory.valid_to,
        pinned=memory.pinned or None,
        superseded_by=memory.superseded_by,
    )


def erasure_answer(done: Erasure) -> Answer:
    """What was forgotten, or would be, and how far the bytes are gone."""
    items = f"{counted(len(done.messages), 'message')} and {counted(len(done.memories), 'memory')}"
    data = to_jsonable(done)
    if done.replayed:
        return Answer(text=f"This was forgotten before with the same key: {items}.", data=data)
    if done.dry_run:
        listed = " ".join((*done.memories[:50], *done.messages[:50]))
        return Answer(text=f"This would forget {items}: {listed or 'nothing'}. Nothing was changed.", data=data)
    if not (done.messages or done.memories or done.hidden):
        return Answer(text="Nothing matched; nothing was forgotten.", data=data)
    if not done.hard:
        text = f"Hid {counted(len(done.hidden), 'item')}: no answer shows them. Change {done.change_id} can be undone."
        return Answer(text=text, data=data)
    gone = "Their bytes are gone from the store." if done.erased else "Their bytes are being erased behind this answer."
    return Answer(text=f"Forgot {items}; no answer shows them again. {gone}", data=data)


# ------------------------------------------------------------------------------------------------ reading


def recall_answer(found: Recall, *, secret: bytes, asked: bool) -> Answer:
    """Hits in a fence, in their order, and what could not be looked at."""
    data = _some(
        notice=NOTICE,
        hits=[_hit(hit) for hit in found.hits],
        total=found.total,
        next_offset=found.next_offset,
        snapshot=found.snapshot,
        cursor=found.cursor,
        degraded=list(found.degraded),
        not_configured=list(found.not_configured),
        lag=found.lag,
        confidence=found.confidence,
    )
    notes = [_shortfall(found)] if found.degraded else []
    if not found.hits:
        nothing = "Nothing matches." if asked else "There is nothing here yet."
        return Answer(text=" ".join([nothing, *notes]), data=data)
    if found.confidence is not None and found.confidence < THRESHOLD:
        notes.insert(0, "None of these matches well: probably nothing relevant is known.")
    if found.next_offset is not None:
        notes.append(f"{found.total:,} matched; for more ask the same with cursor {found.cursor}.")
    lines = [_line(hit.id, _about(hit), _cut(hit.text, hit.id)[0]) for hit in found.hits]
    shown = fenced([hit.id for hit in found.hits], lines, secret=secret)
    return Answer(text="\n".join([*notes, shown]), data=data)


def _shortfall(found: Recall) -> str:
    return f"Could not look by {' and '.join(found.degraded)}: there may be more than this."


def _about(hit: Hit) -> list[str]:
    who = [hit.role] if hit.role else []
    about = [hit.kind, *who, f"{hit.event_time:%Y-%m-%d}"]
    about += [] if hit.state == "active" else [hit.state]
    about += [f"said before {hit.superseded_by}, which says otherwise"] if hit.superseded_by else []
    about += ["says something that no longer holds"] if hit.outdated and not hit.superseded_by else []
    return about


def _hit(hit: Hit) -> dict[str, Any]:
    text, truncated = _cut(hit.text, hit.id)
    why = [f"{one.signal} #{one.rank}" + (f" ({', '.join(one.words)})" if one.words else "") for one in hit.why]
    return _some(
        id=hit.id,
        kind=hit.kind,
        text=text,
        truncated=truncated or None,
        score=round(hit.score, 6),
        state=hit.state,
        tier=hit.tier,
        event_time=hit.event_time,
        role=hit.role,
        session=hit.session,
        subject=hit.subject,
        attribute=hit.attribute,
        value=None if hit.value is None else _cut(hit.value, hit.id)[0],
        valid_from=hit.valid_from,
        valid_to=hit.valid_to,
        superseded_by=hit.superseded_by,
        outdated=list(hit.outdated) or None,
        pinned=hit.pinned or None,
        sources=list(hit.sources[:20]),
        why=[wire_text(one) for one in why],
    )


def context_answer(found: Context, *, form: str) -> Answer:
    """The window, as one text or as messages."""
    data = _some(
        strategy=found.strategy,
        used=found.used,
        budget=found.budget,
        reserve=found.reserve,
        shown=list(found.shown),
        dropped=[_some(slot=one.slot, id=one.id, reason=one.reason, count=one.count) for one in found.dropped[:100]],
        degraded=list(found.degraded),
    )
    text = wire_text(found.as_text())
    late = [f"Could not be asked in time: {', '.join(found.degraded)}."] if found.degraded else []
    if form == "text":
        data["text"] = text
    else:
        data["messages"] = [_wired(message) for message in found.messages]
        if found.system is not None:
            data["system"] = wire_text(found.system)
    return Answer(text="\n\n".join([*late, text or "Nothing was said yet, and nothing is known."]), data=data)


def _wired(value: Any) -> Any:
    if isinstance(value, str):
        return wire_text(value)
    if isinstance(value, Mapping):
        return {name: _wired(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_wired(item) for item in value]
    return value


def history_answer(item: str, changes: Sequence[Change], *, limit: int, secret: bytes) -> Answer:
    """Every change that touched an item, oldest first; the newest ones where there are more than `limit`."""
    kept = changes[-limit:] if len(changes) > limit else changes
    data = {"notice": NOTICE, "id": item, "total": len(changes), "changes": [_change(change) for change in kept]}
    lines = [_change_line(change) for change in kept]
    ids = list(dict.fromkeys([item, *(effect.memory_id for change in kept for effect in change.effects)]))
    left = f"{len(changes) - len(kept):,} older changes are left out.\n" if len(kept) < len(changes) else ""
    return Answer(text=left + fenced(ids, lines, secret=secret), data=data)


def _change(change: Change) -> dict[str, Any]:
    effects = [
        _some(
            memory_id=effect.memory_id,
            before=None if effect.before is None else _state(effect.before),
            after=None if effect.after is None else _state(effect.after),
        )
        for effect in change.effects[:50]
    ]
    return _some(
        id=change.id,
        verb=change.verb,
        reason=change.reason,
        by=change.by.origin if change.by.name is None else f"{change.by.origin} {change.by.name}",
        at=change.at,
        sources=list(change.sources[:50]),
        effects=effects,
        undoes=change.undoes,
        undone_by=change.undone_by,
    )


def _state(memory: Memory) -> dict[str, Any]:
    text, _ = _cut(memory.text, memory.id)
    return _some(text=text, state=memory.state, valid_from=memory.valid_from, valid_to=memory.valid_to)


def _change_line(change: Change) -> str:
    undone = f", undone by {change.undone_by}" if change.undone_by else ""
    parts = []
    for effect in change.effects[:50]:
        before, after = effect.before, effect.after
        if before is not None and after is not None and before.state != after.state:
            parts.append(f"{effect.memory_id} {before.state} -> {after.state}: {_cut(after.text, after.id)[0]}")
        elif after is not None:
            until = f" until {_day(after.valid_to)}" if after.valid_to else ""
            told = f"{after.state}, from {_day(after.valid_from)}{until}"
            parts.append(f"{effect.memory_id} {told}: {_cut(after.text, after.id)[0]}")
        else:
            parts.append(f"{effect.memory_id} (content gone)")
    body = "; ".join(parts) or change.reason
    return _line(change.id, [change.verb, f"{change.at:%Y-%m-%d %H:%M}", f"by {change.by.origin}{undone}"], body)


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"


def status_answer(found: Status) -> Answer:
    """What is here and what is still to be done."""
    data = {name: value for name, value in to_jsonable(found).items() if value is not None}
    kinds = ", ".join(counted(count, kind) for kind, count in sorted(found.memories.items())) or "no memories"
    lines = [f"{counted(found.messages, 'message')} in {counted(found.sessions, 'session')}; {kinds}."]
    if found.pending:
        lines.append(f"{counted(found.pending, 'message')} wait to be consolidated; they are searchable meanwhile.")
    if found.raw:
        lines.append(f"{counted(found.raw, 'window')} stand as raw text until a model reads them.")
    if found.due:
        since = "" if found.oldest_due_at is None else f" since {iso(found.oldest_due_at)}"
        lines.append(f"Work that is due{since}: {', '.join(f'{n} {kind}' for kind, n in found.due.items())}.")
    resting = [name for name, state in found.models.items() if state != "closed"]
    if resting:
        lines.append(f"Models that do not answer: {', '.join(resting)}. Saving and recalling go on without them.")
    if found.last_error:
        lines.append(f"Last error of that work: {found.last_error}.")
    if found.open_suspicions:
        lines.append(f"{counted(found.open_suspicions, 'suspicion')} for a person to settle (memhold suspicions list).")
    return Answer(text=wire_text("\n".join(lines)), data=data)
