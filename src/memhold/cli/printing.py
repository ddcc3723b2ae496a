"""How the answers of verbs are printed for people: by the answer's type, in one way that works for any other type."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args, get_origin

import click

from memhold.cli.output import clean, say_text, table
from memhold.messages.records import records_of
from memhold.values.answers import Expected, Hit, Messages, Page, Recall, Receipt, Remembered, missing_told
from memhold.values.documents import Document, DocumentHits, DocumentPage, DocumentWrite
from memhold.values.jsonable import to_jsonable
from memhold.values.origins import named, shown_name, spoken_by, with_quote, words_of
from memhold.values.records import Change, Memory, Message
from memhold.values.repr_parts import one_of
from memhold.values.sessions import SessionPage
from memhold.verbs.declaration import Verb

__all__ = ["as_json", "say_missing", "say_receipt", "show_answer"]

Arguments = Mapping[str, Any]

_TEXT = 240
_SOURCES = 5
_DONE = {
    "remember": "remembered",
    "correct": "corrected, now",
    "pin": "pinned",
    "unpin": "unpinned",
    "copy_session": "copied as",
    "end_session": "closed; its window is kept as",
}
"""What a receipt is said to be, by verb."""


def as_json(verb: Verb, answer: Any) -> Any:
    """The answer as one JSON object; a list stands under what it lists."""
    if dataclasses.is_dataclass(answer) or isinstance(answer, Mapping):
        return answer
    if isinstance(answer, Messages):
        return {"messages": answer, "damaged": answer.damaged}
    listed = get_args(verb.types["return"]) if get_origin(verb.types["return"]) is tuple else ()
    named = listed and dataclasses.is_dataclass(listed[0])
    return {f"{listed[0].__name__.lower()}s" if named else verb.name: answer}


def show_answer(verb: Verb, arguments: Arguments, answer: Any) -> None:
    """Print what a verb answered to these arguments."""
    listed = isinstance(answer, tuple)
    kind = type(answer[0]) if listed and answer else type(answer)
    if verb.name == "summaries":
        _say_summaries(answer)
    elif isinstance(answer, Receipt | Remembered):
        _say_written(verb, answer, arguments)
    elif kind in _BY_TYPE:
        _BY_TYPE[kind](answer, arguments)
    elif listed:
        for one in answer:
            click.echo(_line(one))
    elif dataclasses.is_dataclass(answer) or isinstance(answer, Mapping):
        _say_fields(answer, arguments)
    else:
        for line in str(answer).splitlines():
            click.echo(clean(line))


def _line(value: Any) -> str:
    """A value on one line: a text as it is, the fields of anything else that are not empty."""
    if isinstance(value, str):
        return clean(value) or "(unnamed)"
    plain = to_jsonable(value)
    return " · ".join(_field(one) for one in plain.values() if _says(one)) if isinstance(plain, dict) else _field(plain)


def _field(plain: Any) -> str:
    return clean(plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False))


def _says(plain: Any) -> bool:
    return plain not in (None, [], {}, "")


def _say_fields(answer: Any, _: Arguments) -> None:
    for name, value in to_jsonable(answer).items():
        if _says(value):
            click.echo(f"{name}: {_field(value)}")


def _say_written(verb: Verb, answer: Receipt | Remembered, arguments: Arguments) -> None:
    receipt = answer if isinstance(answer, Receipt) else answer.receipt
    done = _DONE.get(verb.name, "done;")
    if verb.name == "undo":
        changes = " ".join(receipt.change_ids)
        planned = bool(arguments.get("dry_run"))
        done = f"would undo {changes}; it would touch" if planned else f"undone by {changes}; it touched"
    if verb.name == "end_session" and not (receipt.ids or receipt.replayed or receipt.forgotten):
        click.echo(_ended(receipt))
    else:
        say_receipt(receipt, done)
    if receipt.notice:
        click.echo(receipt.notice, err=True)
    if isinstance(answer, Remembered) and answer.memory is not None:
        memory = answer.memory
        click.echo(f"{memory.kind} · {memory.state} · {memory.tier} · rev {memory.rev} · {clean(memory.text, 200)}")


def _ended(receipt: Receipt) -> str:
    """What became of a session without memories of its own yet: its window waits for the model, or there is none."""
    if receipt.visibility.consolidated is False:
        return "closed; its window is kept, searchable, and becomes memory behind this"
    return "closed; there was nothing in its window that is not memory yet"


def say_receipt(receipt: Receipt, done: str) -> None:
    """Print what a write did: `done` stands before the ids."""
    if receipt.forgotten:
        click.echo("written before and forgotten since; nothing was written")
    elif receipt.replayed:
        click.echo(f"written before with this key: {' '.join(receipt.ids)}")
    else:
        click.echo(f"{done} {' '.join(receipt.ids) or 'nothing'}")


def say_missing(degraded: Sequence[str], damaged: Sequence[str]) -> None:
    """Say what an answer lacks, beside it."""
    for missing in missing_told(degraded, damaged):
        click.echo(f"degraded: {missing}", err=True)


def _say_recall(found: Recall, arguments: Arguments) -> None:
    offset = arguments.get("offset", 0)
    rows = [
        (str(place), hit.kind, f"{hit.event_time:%Y-%m-%d}", _shown(hit), _why(hit), hit.id)
        for place, hit in enumerate(found.hits, start=offset + 1)
    ]
    table(("#", "kind", "when", "text", "why", "id"), rows, wide=3)
    for place, hit in enumerate(found.hits, start=offset + 1):
        for message in hit.neighbours:
            for who, text in _told(message):
                click.echo(f"  beside {place}, {message.seq}: {who}: {text}")
    rest = f"; more with --offset {found.next_offset}" if found.next_offset is not None else ""
    sure = "" if found.confidence is None else f"; confidence {found.confidence:.2f}"
    click.echo(f"{_counted(found, offset)}{rest}{sure}", err=True)
    if found.expected is not None:
        _say_expected(found.expected)
    if found.account is not None:
        _say_account(found, found.account)
    say_missing(found.degraded, found.damaged)
    if waiting := found.lag.get("meaning", 0):
        # Short enough for a narrow terminal.
        click.echo(f"{one_of(waiting, 'item')} found by words alone as yet: 'memhold settle'", err=True)


def _counted(found: Recall, offset: int) -> str:
    """How many are shown of how many that a signal found; the nearest, which fill the page behind those, apart."""
    shown, matched = len(found.hits), max(0, min(len(found.hits), found.total - offset))
    if shown == matched:
        return f"{shown} of {found.total}"
    nearest = f"{shown - matched} more that {'is' if shown - matched == 1 else 'are'} nearest"
    return f"{matched} of {found.total}, and {nearest}" if matched else f"nothing matches; the nearest {shown}"


def _say_expected(one: Expected) -> None:
    """Where the one that was expected stands, and what kept it out."""
    place = "nowhere" if one.rank is None else f"rank {one.rank}"
    rows = [("stands at" if one.kept_out is None else "would stand at", place)]
    rows += [("kept out by", one.kept_out)] if one.kept_out else []
    rows += [("for it", one.by)] if one.by else []
    rows += [(reason.signal, f"rank {reason.rank}, {reason.part:.3f}") for reason in one.why]
    rows += [("says nothing", ", ".join(one.silent))] if one.silent else []
    click.echo()
    table(("expected", clean(one.id)), rows, wide=1)


def _say_account(found: Recall, account: Mapping[str, Any]) -> None:
    """How the question was read, what each signal weighs and found, and what it gave to each hit of the page."""
    read = [("words", ", ".join(account["words"])), ("function words", ", ".join(account["function_words"]))]
    read += [("time", f"{text}: {start:%Y-%m-%d} to {end:%Y-%m-%d}") for text, start, end in account["times"]]
    read += [("goes on", "with what was said lately")] if account["goes_on"] else []
    read += [("looked at", f"{account['allowed']} of {account['documents']} messages and memories")]
    read += [("missing", str(account["missing"]))] if account["missing"] else []
    read += [("being built", f"vectors of {account['building']}")] if account["building"] else []
    click.echo()
    table(("question", "read as"), [(name, clean(text, _TEXT)) for name, text in read if text], wide=1)
    signals = [
        (name, f"{signal['weight']:g}", str(signal["found"]), str(signal["scored"]))
        for name, signal in account["signals"].items()
    ]
    click.echo()
    table(("signal", "weight", "found", "scored"), signals, wide=3)
    parts = [{reason.signal: f"{reason.part:.3f}" for reason in hit.why} for hit in found.hits]
    rows = [
        (str(place), f"{hit.score:.3f}", *(part.get(signal, "") for signal in account["signals"]))
        for place, (hit, part) in enumerate(zip(found.hits, parts, strict=True), start=1)
    ]
    click.echo()
    table(("hit", "score", *account["signals"]), rows, wide=1 + len(account["signals"]))


def _shown(hit: Hit) -> str:
    marks: list[str] = [] if hit.state == "active" else [hit.state]
    if hit.scope is not None:
        marks.append(f"of {clean(hit.scope.namespace)}, user {clean(hit.scope.user or 'nobody')}")
    if hit.doubtful:
        marks.append("doubtful")
    if hit.superseded_by is not None:
        marks.append(f"replaced by {hit.superseded_by}")
    marks += [f"no longer so since {one.since:%Y-%m-%d}: {clean(one.value, 60)}" for one in hit.outdated]
    if hit.written_by is None and (name := shown_name(hit.speaker)):
        marks.append(f"said by {name}")
    who = f"{clean(spoken_by(hit))}: " if hit.written_by else ""
    mark = f" [{', '.join(marks)}]" if marks else ""
    beside = "".join(f"\n+ {clean(with_quote(one, one.text), _TEXT)}" for one in hit.together)
    return f"{who}{clean(with_quote(hit, words_of(hit)), _TEXT)}{mark}{beside}"


def _why(hit: Hit) -> str:
    return "; ".join(
        f"{reason.signal} #{reason.rank}" + (f" ({clean(', '.join(reason.words), 60)})" if reason.words else "")
        for reason in hit.why
    )


def _say_summaries(found: Recall) -> None:
    rows = [(*_when(hit), _window(hit), *_where(hit), hit.id) for hit in found.hits]
    table(("when", "kind", "text", "session, or made of", "id"), rows, wide=2)
    rest = f"; more with --offset {found.next_offset}" if found.next_offset is not None else ""
    click.echo(f"{len(found.hits)} of {found.total}{rest}", err=True)
    say_missing(found.degraded, found.damaged)


def _when(hit: Hit) -> tuple[str, str]:
    if hit.kind == "rollup":
        return clean(str(hit.metadata.get("period", ""))), clean(str(hit.metadata.get("level", hit.kind)))
    return f"{hit.event_time:%Y-%m-%d %H:%M}", hit.kind


def _where(hit: Hit) -> tuple[str]:
    """The session of a window; what a roll-up was made of."""
    return ("\n".join(hit.sources) if hit.kind == "rollup" else clean(hit.session or ""),)


def _window(hit: Hit) -> str:
    return clean(hit.text, _TEXT if hit.kind == "raw" else None)


def _say_changes(changes: tuple[Change, ...], _: Arguments) -> None:
    for change in changes:
        _say_change(change)


def _say_change(change: Change) -> None:
    by = named(change.by)
    undone = f" · undone by {change.undone_by}" if change.undone_by else ""
    click.echo(f"{change.at:%Y-%m-%d %H:%M:%S} {change.verb}: {clean(change.reason)} · by {by} · {change.id}{undone}")
    reasons = change.detail.get("why", {})
    for effect in change.effects:
        before, after = _brief(effect.before), _brief(effect.after)
        said = effect.after.sources if effect.after is not None and effect.before is None else ()
        why = reasons.get(effect.memory_id)
        more = f" · {clean(why)}" if why else ""
        more += f" · from {', '.join(said[:_SOURCES])}{', …' if len(said) > _SOURCES else ''}" if said else ""
        click.echo(f"  {effect.memory_id} rev {effect.rev_before} -> {effect.rev_after}: {before} -> {after}{more}")


def _brief(memory: Memory | None) -> str:
    if memory is None:
        return "—"
    held: str = memory.state
    if memory.kind == "fact":
        since, until = (None if at is None else f"{at:%Y-%m-%d %H:%M}" for at in (memory.valid_from, memory.valid_to))
        held += f", since {since}" if until is None else f", {since} to {until}"
    return f"{clean(memory.text, 80)} [{held}]"


def _say_page(page: Page, _: Arguments) -> None:
    rows = [
        (memory.kind, memory.state, f"{memory.valid_from:%Y-%m-%d}", clean(memory.text, _TEXT), memory.id)
        for memory in page.items
    ]
    table(("kind", "state", "since", "text", "id"), rows, wide=3)
    if page.cursor is not None:
        click.echo(f"more with --cursor {page.cursor}", err=True)
    say_missing((), page.damaged)


def _say_messages(messages: Messages | Message, arguments: Arguments) -> None:
    if isinstance(messages, Message):
        _say_fields(messages, arguments)
        return
    rows = [(str(m.seq), f"{m.event_time:%Y-%m-%d %H:%M}", *told, m.id) for m in messages for told in _told(m)]
    table(("#", "when", "by", "text", "id"), rows, wide=3)
    say_missing((), messages.damaged)


def _told(message: Message) -> list[tuple[str, str]]:
    """What each writer wrote; of an item, which nobody did, its type."""
    if message.opaque:
        return [("(item)", clean(str(message.body.get("type"))))]
    return [(clean(spoken_by(one)), clean(words_of(one), _TEXT)) for one in records_of(message)]


def _say_sessions(page: SessionPage, _: Arguments) -> None:
    rows = [
        (
            clean(one.name) or "(unnamed)",
            str(one.messages),
            f"{one.created_at:%Y-%m-%d %H:%M}",
            f"{one.last_at:%Y-%m-%d %H:%M}",
        )
        for one in page.items
    ]
    table(("session", "messages", "began", "last"), rows, wide=0)
    if page.cursor is not None:
        click.echo(f"more with --cursor {page.cursor}", err=True)


def _say_written_document(done: DocumentWrite, _: Arguments) -> None:
    say_receipt(done.receipt, "put as")
    if done.document is not None:
        click.echo(_about_document(done.document))


def _about_document(one: Document) -> str:
    who = "" if one.origin == "user" else f" · by {one.origin}{f' {clean(one.actor)}' if one.actor else ''}"
    kind = "text" if isinstance(one.content, str) else "JSON"
    return f"{clean(' / '.join(one.path))} · rev {one.rev} · {one.size} bytes of {kind} · {one.state}{who}"


def _say_document(one: Document, _: Arguments) -> None:
    """The content alone, so that it can go on into a file or a pipe; what else is known of it goes beside it."""
    say_text(
        one.content if isinstance(one.content, str) else f"{json.dumps(one.content, ensure_ascii=False, indent=2)}\n"
    )
    click.echo(_about_document(one), err=True)


def _say_documents(page: DocumentPage, _: Arguments) -> None:
    rows = [
        (" / ".join(map(clean, one.path)), f"{one.updated_at:%Y-%m-%d %H:%M}", str(one.size), str(one.rev))
        for one in page.items
    ]
    table(("path", "written", "bytes", "rev"), rows, wide=0)
    if page.cursor is not None:
        click.echo(f"more with --cursor {page.cursor}", err=True)
    say_missing((), page.damaged)


def _say_found_documents(found: DocumentHits, arguments: Arguments) -> None:
    rows = [
        (str(place), " / ".join(map(clean, hit.document.path)), _opening_of(hit.document), str(hit.document.rev))
        for place, hit in enumerate(found.hits, start=arguments.get("offset", 0) + 1)
    ]
    table(("#", "path", "text", "rev"), rows, wide=2)
    rest = f"; more with --offset {found.next_offset}" if found.next_offset is not None else ""
    click.echo(f"{len(found.hits)} of {found.total}{rest}", err=True)
    say_missing(found.degraded, found.damaged)


def _opening_of(one: Document) -> str:
    return clean(one.content if isinstance(one.content, str) else json.dumps(one.content, ensure_ascii=False), _TEXT)


_BY_TYPE: Mapping[type, Callable[[Any, Arguments], None]] = {
    Change: _say_changes,
    Document: _say_document,
    DocumentHits: _say_found_documents,
    DocumentPage: _say_documents,
    DocumentWrite: _say_written_document,
    Message: _say_messages,
    Messages: _say_messages,
    Page: _say_page,
    Recall: _say_recall,
    SessionPage: _say_sessions,
}
"""How an answer of a type is printed, or a list of such; every other is printed field by field."""
