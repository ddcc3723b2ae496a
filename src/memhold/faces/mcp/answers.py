"""What a tool answers, as the text that a model reads: a few words of ours, and recalled text in a fence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memhold.context.answer import Context
from memhold.recall.confidence import THRESHOLD
from memhold.recall.excerpt import EXCERPT_CHARS, Asked, excerpt
from memhold.text.analysis import analyse_query
from memhold.values.answers import Erasure, Hit, Recall, Receipt, Remembered, Status, missing_sentences, trouble_told
from memhold.values.documents import Document, DocumentHits, DocumentPage, DocumentWrite
from memhold.values.jsonable import iso, to_jsonable
from memhold.values.origins import name_of, named, shown_name, spoken_by, with_quote, words_of
from memhold.values.records import PEOPLE, Change, Memory

if TYPE_CHECKING:
    from memhold.verbs.scope import AsyncScope

__all__ = ["Answer", "Recalled", "answer_of", "entry", "memory_entry", "rendered", "wire_text"]

SHOWN_CHARS = 4_000
"""Longest text of one item in an answer, in characters; the rest is a resource away."""
SHOWN_DOCUMENT = 50_000
"""Longest content of a document that is shown as a whole, in characters."""
SHOWN_CHANGES = 50
"""Most changes of a history that are shown, the newest ones."""
SHOWN_IDS = 50
_HALF = re.compile("[\ud800-\udfff]")
_ID = re.compile(r"\b(?:mem|msg)_[0-9a-z_]+")
_SAID = {
    "end_session": "Ended; what was said is kept and searchable, and the next message begins anew.",
    "remember": "Remembered",
    "correct": "Corrected",
}
"""What became of a call, by the verb; "Done" is said of others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """Recalled lines for a fence, and the ids that they show."""

    ids: tuple[str, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is said, and what of the memory is shown below it."""

    said: str = ""
    recalled: Recalled | None = None


async def rendered(scope: AsyncScope, answer: Answer) -> str:
    """The answer as one text, with what was recalled in a fence of the scope's store."""
    if answer.recalled is None:
        return wire_text(answer.said)
    lines = [wire_text(line) for line in answer.recalled.lines]
    shown = await scope.fence(answer.recalled.ids, lines)
    return "\n".join(part for part in (wire_text(answer.said), shown) if part)


def wire_text(text: str) -> str:
    """Text that UTF-8 can carry: half a surrogate pair becomes U+FFFD."""
    return text if text.isascii() else _HALF.sub("\ufffd", text)


def answer_of(verb: str, given: Mapping[str, Any], answer: Any) -> Answer:
    """What a verb that was called with these arguments gave; of a kind that is not known here, all of it as JSON."""
    match answer:
        case Receipt():
            return Answer(said=_receipt(verb, answer))
        case Remembered():
            return Answer(said=_remembered(verb, answer))
        case Erasure():
            return Answer(said=_erasure(answer))
        case Document():
            return _document(answer)
        case DocumentWrite():
            return Answer(said=_document_write(answer))
        case DocumentPage():
            return _documents(answer.items, answer.cursor, missing_sentences((), answer.damaged))
        case DocumentHits():
            return _found_documents(answer, str(given.get("query") or ""))
        case Recall():
            return _recall(answer, asked=bool(str(given.get("query") or "").strip()))
        case Context():
            return Answer(said=_context(answer))
        case Status():
            return Answer(said=_status(answer))
        case tuple() if answer and all(isinstance(one, Change) for one in answer):
            return _history(str(given.get("item_id", "")), answer)
        case _:
            return _anything(answer)


def _anything(answer: Any) -> Answer:
    items = answer if isinstance(answer, tuple | list) else (answer,)
    lines = tuple(json.dumps(to_jsonable(one), ensure_ascii=False) for one in items)
    if not lines:
        return Answer(said="There is nothing.")
    ids = tuple(dict.fromkeys(found for line in lines for found in _ID.findall(line)))
    return Answer(recalled=Recalled(ids=ids, lines=lines))


def counted(number: int, noun: str) -> str:
    """A number and its noun: "1 message", "2 messages", "2 memories"."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun[:-1]}ies" if noun.endswith("y") else f"{number:,} {noun}s"


# ------------------------------------------------------------------------------------------------ entries


def entry(
    item: str, about: Iterable[str], text: str, *, most: int | None = SHOWN_CHARS, excerpt: str | None = None
) -> str:
    """One entry of a fence: id, what is to be said of it, its text; of one over `most` characters the excerpt.

    Further lines of a text are set in, so that none of them can stand for an entry of its own.
    """
    if most is not None and len(text) > most:
        shown = excerpt or f"{text[:most]}…"
        text = f"{shown} ({len(text) - len(shown):,} more characters: read memhold://items/{item})"
    body = text.replace("\r", "").replace("\n", "\n    ")
    return f"{item} ({', '.join(about)}) {body}"


def memory_entry(memory: Memory) -> str:
    """A memory as one entry of a fence: id, kind, day, what is special about it, text."""
    about = [memory.kind, _day(memory.event_time)]
    about += [] if memory.state == "active" else [memory.state]
    about += ["pinned"] if memory.pinned else []
    about += _noted(memory)
    return entry(memory.id, about, with_quote(memory, memory.text))


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"


# ------------------------------------------------------------------------------------------------ writing


def _again(receipt: Receipt) -> str | None:
    if receipt.forgotten:
        return "This was written before with the same key, and forgotten since; nothing was written now."
    if receipt.replayed:
        return f"This was written before with the same key ({' '.join(receipt.ids)}); nothing was written twice."
    return None


def _redacted(receipt: Receipt) -> str:
    return f" {counted(receipt.redacted, 'secret')} in it was left out." if receipt.redacted else ""


def _receipt(verb: str, receipt: Receipt) -> str:
    notice = f" For whoever runs this: {receipt.notice}." if receipt.notice else ""
    return (_again(receipt) or f"{_SAID.get(verb) or _saved(receipt)}{_redacted(receipt)}") + notice


def _saved(receipt: Receipt) -> str:
    if not receipt.ids:
        return "Done."
    by_meaning = "and never by meaning" if receipt.visibility.meaning is False else "by meaning a little later"
    return f"Saved as {' '.join(receipt.ids)}; found by words and by recency at once, {by_meaning}."


def _remembered(verb: str, remembered: Remembered) -> str:
    receipt, memory = remembered.receipt, remembered.memory
    if again := _again(receipt):
        return again
    if memory is None:
        return "There was no such value; nothing was changed."
    change = f" Change {receipt.change_ids[-1]}." if receipt.change_ids else ""
    if memory.state == "retracted" and verb in {"remember", "correct"}:
        return f"Kept apart as {memory.id}: the user told otherwise. It holds only once a person settles it.{change}"
    done = _SAID.get(verb, "Done:")
    return (
        f"{done} the {memory.kind} as {memory.id} (revision {memory.rev}, {memory.state}).{change}{_redacted(receipt)}"
    )


def _erasure(done: Erasure) -> str:
    items = f"{counted(len(done.messages), 'message')} and {counted(len(done.memories), 'memory')}"
    if done.replayed:
        return f"This was forgotten before with the same key: {items}."
    if done.dry_run:
        listed = " ".join((*done.memories[:SHOWN_IDS], *done.messages[:SHOWN_IDS]))
        return f"This would forget {items}: {listed or 'nothing'}. Nothing was changed."
    if not (done.messages or done.memories or done.hidden):
        return "Nothing matched; nothing was forgotten."
    if not done.hard:
        return f"Hid {counted(len(done.hidden), 'item')}: no answer shows them. Change {done.change_id} can be undone."
    gone = "Their bytes are gone from the store." if done.erased else "Their bytes are being erased behind this answer."
    return f"Forgot {items}; no answer shows them again. {gone}"


# ------------------------------------------------------------------------------------------------ reading


def _recall(found: Recall, *, asked: bool) -> Answer:
    late = missing_sentences(found.degraded, found.damaged)
    if not found.hits:
        return Answer(said=" ".join(["Nothing matches." if asked else "There is nothing here yet.", *late]))
    doubted = found.confidence is not None and found.confidence < THRESHOLD
    notes = ["None of these matches well: probably nothing relevant is known."] if doubted else []
    notes += late
    if found.cursor is not None:
        notes.append(f"{found.total:,} matched; for more ask the same with cursor {found.cursor}")
    told: set[str] = set()
    lines = [line for hit in found.hits for line in _lines(hit, told)]
    ids = dict.fromkeys(one for hit in found.hits for one in (hit.id, *(other.id for other in hit.together)))
    recalled = Recalled(ids=tuple(ids), lines=tuple(lines))
    return Answer(said="\n".join(notes), recalled=recalled)


def _lines(hit: Hit, told: set[str]) -> list[str]:
    """A hit, and right behind it what is told with it, each once in an answer."""
    if hit.id in told:
        return []
    others = [one for one in hit.together if one.id not in told]
    told |= {hit.id, *(one.id for one in others)}
    own = entry(hit.id, _about(hit), with_quote(hit, words_of(hit)), excerpt=hit.excerpt)
    return [own, *(memory_entry(one) for one in others)]


def _about(hit: Hit) -> list[str]:
    about = [hit.kind, *filter(None, [spoken_by(hit)]), _day(hit.event_time)]
    about += [] if hit.state == "active" else [hit.state]
    about += ["pinned"] if hit.pinned else []
    about += _noted(hit)
    about += [f"said before {hit.superseded_by}, which says otherwise"] if hit.superseded_by else []
    about += [f"no longer so since {_day(one.since)}: {' '.join(one.value.split())[:60]}" for one in hit.outdated]
    return about


def _noted(item: Memory | Hit) -> list[str]:
    """By whom it was noted, where that is not the user, and whether it is in doubt: nothing passes for their word."""
    if item.doubtful:
        return ["doubtful"]
    if (name := shown_name(item.speaker)) and not (isinstance(item, Hit) and item.written_by):
        return [f"said by {name}"]
    told = isinstance(item, Hit) and item.written_by not in {None, *PEOPLE}
    if told or item.origin not in {"agent", "tool", "import"}:
        return []
    by = {"agent": "the assistant", "tool": "a tool", "import": "an import"}[item.origin]
    confirmed = "confirmed by the user" if item.last_confirmed_at is not None else "not confirmed"
    return [f"noted by {by}{name_of(item.actor)}", confirmed]


def _context(found: Context) -> str:
    late = missing_sentences(found.degraded, found.damaged)
    return "\n\n".join([*late, found.as_text() or "Nothing was said yet, and nothing is known."])


def _history(item: str, changes: Sequence[Change]) -> Answer:
    """Every change that touched an item, oldest first; the newest ones where there are many."""
    kept = changes[-SHOWN_CHANGES:]
    older = len(changes) - len(kept)
    ids = dict.fromkeys([item, *(effect.memory_id for change in kept for effect in change.effects)])
    recalled = Recalled(ids=tuple(ids), lines=tuple(_change(change) for change in kept))
    return Answer(said=f"{counted(older, 'older change')} left out." if older else "", recalled=recalled)


def _change(change: Change) -> str:
    undone = f", undone by {change.undone_by}" if change.undone_by else ""
    parts = []
    for effect in change.effects[:50]:
        before, after = effect.before, effect.after
        if before is not None and after is not None and before.state != after.state:
            parts.append(f"{effect.memory_id} {before.state} -> {after.state}: {_cut(after)}")
        elif after is not None:
            until = f" until {_day(after.valid_to)}" if after.valid_to else ""
            parts.append(f"{effect.memory_id} {after.state}, from {_day(after.valid_from)}{until}: {_cut(after)}")
        else:
            parts.append(f"{effect.memory_id} (content gone)")
    about = [change.verb, f"{change.at:%Y-%m-%d %H:%M}", f"by {named(change.by)}{undone}"]
    return entry(change.id, about, "; ".join(parts) or change.reason, most=None)


def _cut(memory: Memory) -> str:
    text = with_quote(memory, memory.text)
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}… (read memhold://items/{memory.id})"


def _document(one: Document) -> Answer:
    text = one.content if isinstance(one.content, str) else json.dumps(one.content, ensure_ascii=False)
    rest = len(text) - SHOWN_DOCUMENT
    said = f"It has {rest:,} more characters than are shown." if rest > 0 else ""
    line = entry(one.id, _about_document(one), text[:SHOWN_DOCUMENT], most=None)
    return Answer(said=said, recalled=Recalled(ids=(one.id,), lines=(line,)))


def _about_document(one: Document) -> list[str]:
    about = [f"document {json.dumps(one.path, ensure_ascii=False)}", f"revision {one.rev}", _day(one.updated_at)]
    about += [] if one.state == "active" else [one.state]
    by = {"agent": "the assistant", "tool": "a tool", "import": "an import"}.get(one.origin)
    return about + ([f"written by {by}{name_of(one.actor)}"] if by else [])


def _document_write(done: DocumentWrite) -> str:
    if again := _again(done.receipt):
        return again
    if done.document is None:
        return "Done."
    change = f" Change {done.receipt.change_ids[-1]}." if done.receipt.change_ids else " It stood there already."
    return f"Put as {done.document.id} (revision {done.document.rev}).{change}{_redacted(done.receipt)}"


def _documents(items: Sequence[Document], cursor: str | None, late: Sequence[str]) -> Answer:
    if not items:
        return Answer(said=" ".join(["There are none.", *late]))
    more = [f"For more ask the same with cursor {cursor}"] if cursor is not None else []
    lines = tuple(entry(one.id, _about_document(one), f"{one.size:,} bytes") for one in items)
    return Answer(said="\n".join([*late, *more]), recalled=Recalled(ids=tuple(one.id for one in items), lines=lines))


def _found_documents(found: DocumentHits, question: str) -> Answer:
    late = missing_sentences(found.degraded)
    if not found.hits:
        return Answer(said=" ".join(["Nothing matches.", *late]))
    doubted = found.confidence is not None and found.confidence < THRESHOLD
    notes = ["None of these matches well: probably nothing relevant is there."] if doubted else []
    notes += late
    notes += [f"For more ask the same with offset {found.next_offset}"] if found.next_offset is not None else []
    shown = [(one.document, one.document.content) for one in found.hits]
    texts = [text if isinstance(text, str) else json.dumps(text, ensure_ascii=False) for _, text in shown]
    lines = tuple(
        entry(one.id, _about_document(one), text, excerpt=_around(text, question))
        for (one, _), text in zip(shown, texts, strict=True)
    )
    return Answer(said="\n".join(notes), recalled=Recalled(ids=tuple(one.id for one, _ in shown), lines=lines))


def _around(text: str, question: str) -> str | None:
    """What of a text too long to be shown has the words of a question."""
    if len(text) <= SHOWN_CHARS:
        return None
    return excerpt(text, EXCERPT_CHARS, Asked(words=analyse_query(question)), number=0, count=len)


def _held(found: Status, kind: str) -> str:
    """How many there are of a kind, and how many of those hold, where others are past or in doubt."""
    count, active = found.memories[kind], found.active.get(kind, 0)
    return counted(count, kind) if count == active else f"{counted(count, kind)} ({active} current)"


def _status(found: Status) -> str:
    kinds = ", ".join(_held(found, kind) for kind in sorted(found.memories)) or "no memories"
    lines = [f"{counted(found.messages, 'message')} in {counted(found.sessions, 'session')}; {kinds}."]
    if found.pending:
        lines.append(f"Waiting to be consolidated, and searchable meanwhile: {counted(found.pending, 'message')}.")
    if found.raw:
        lines.append(f"Kept as raw text until a model reads it: {counted(found.raw, 'window')}.")
    if found.due:
        since = "" if found.oldest_due_at is None else f" since {iso(found.oldest_due_at)}"
        lines.append(f"Work that is due{since}: {', '.join(f'{n} {kind}' for kind, n in found.due.items())}.")
    down = [one for one in found.models.values() if one.answers is False]
    lines += [f"{one.told[:1].upper()}{one.told[1:]}." for one in down]
    if down:
        lines.append(f"Windows that wait for a model: {found.windows}. Saving and recalling go on without it.")
    if found.last_error:
        lines.append(f"Last error of that work: {found.last_error}.")
    if found.uncompared:
        when = "; today's calls are used up, it goes on tomorrow" if found.compact_calls_left == 0 else ""
        lines.append(f"Waiting to be compared with the others: {counted(found.uncompared, 'note')}{when}.")
    lines += [f"{line[0].upper()}{line[1:]}." for line in trouble_told(found.degraded, found.damaged)]
    if found.open_suspicions:
        lines.append(f"{counted(found.open_suspicions, 'suspicion')} for a person to settle (memhold suspicions list).")
    return "\n".join(lines)
