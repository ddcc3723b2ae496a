"""Commands that read: recall, history, get, list, messages, status."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from memhold.cli.frame import Frame, clean, command, moment, opened, table

if TYPE_CHECKING:
    from memhold.ports.models import Tally
    from memhold.values.answers import Hit, OpenSuspicion, Recall, Status
    from memhold.values.records import Change, Memory, Message

__all__ = [
    "get_command",
    "history_command",
    "list_command",
    "messages_command",
    "recall_command",
    "status_command",
]

_HIT_KINDS = ["message", "fact", "note", "summary", "raw", "rollup"]
_STATES = ["active", "superseded", "retracted", "merged", "expired"]
_TEXT = 240
_SOURCES = 5


@command("recall", example='memhold recall "where does she live" --user alice')
@click.argument("query", default="")
@click.option("--limit", type=int, default=10, show_default=True)
@click.option("--offset", type=int, default=0, help="Where the page begins.")
@click.option("--cursor", help="`cursor` of the page before (--json); nothing is skipped or shown twice.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(_HIT_KINDS), help="May be given several times.")
@click.option("--role", "roles", multiple=True, help="Messages of this role; may be given several times.")
@click.option("--topic", "topics", multiple=True)
@click.option("--entity", "entities", multiple=True)
@click.option("--since", metavar="TIME", help="Of this time or later (ISO-8601 with a zone).")
@click.option("--until", metavar="TIME", help="Of before this time.")
@click.option("--as-of", metavar="TIME", help="What held at that time.")
@click.option("--known-at", metavar="TIME", help="What was known at that time.")
@click.option("--include-superseded", is_flag=True, help="Past values too, marked.")
@click.option("--neighbours", type=int, default=0, help="So many turns before and after each message.")
@click.option("--explain", is_flag=True, help="How the question was read, and what each signal gave.")
def recall_command(frame: Frame, query: str, **asked: Any) -> None:
    """Find messages and current memories.

    Without QUERY the newest are listed. Looks across all sessions unless --session narrows it. Exit code 3 where a part
    of the search could not be asked; what the others found is printed.
    """
    for name in ("since", "until", "as_of", "known_at"):
        asked[name] = moment(asked[name])
    for name in ("kinds", "roles"):
        asked[name] = asked[name] or None
    with opened(frame) as (_, scope):
        found = scope.recall(query, session=frame.session, **asked)
    frame.show(found, lambda: _say_recall(found, asked["offset"]))
    if found.degraded:
        raise click.exceptions.Exit(3)


def _say_recall(found: Recall, offset: int) -> None:
    rows = [
        (str(place), hit.kind, f"{hit.event_time:%Y-%m-%d}", _shown(hit), _why(hit), hit.id)
        for place, hit in enumerate(found.hits, start=offset + 1)
    ]
    table(("#", "kind", "when", "text", "why", "id"), rows, wide=3)
    for place, hit in enumerate(found.hits, start=offset + 1):
        for message in hit.neighbours:
            click.echo(f"  beside {place}, {message.seq}: {message.role}: {clean(message.text, _TEXT)}")
    rest = f"; more with --offset {found.next_offset}" if found.next_offset is not None else ""
    sure = "" if found.confidence is None else f"; confidence {found.confidence:.2f}"
    click.echo(f"{len(found.hits)} of {found.total}{rest}{sure}", err=True)
    if found.account is not None:
        _say_account(found, found.account)
    for signal in found.degraded:
        click.echo(f"degraded: {signal} could not be asked; there may be more", err=True)


def _say_account(found: Recall, account: Mapping[str, Any]) -> None:
    """How the question was read, what each signal weighs and found, and what it gave to each hit of the page."""
    read = [("words", ", ".join(account["words"])), ("function words", ", ".join(account["function_words"]))]
    read += [("time", f"{text}: {start:%Y-%m-%d} to {end:%Y-%m-%d}") for text, start, end in account["times"]]
    read += [("before or after", clause) for clause in account["anchors"]]
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
    if hit.superseded_by is not None:
        marks.append(f"replaced by {hit.superseded_by}")
    elif hit.outdated:
        marks.append("says something that no longer holds")
    who = f"{hit.role}: " if hit.role else ""
    mark = f" [{', '.join(marks)}]" if marks else ""
    return f"{who}{clean(hit.text, _TEXT)}{mark}"


def _why(hit: Hit) -> str:
    return "; ".join(
        f"{reason.signal} #{reason.rank}" + (f" ({clean(', '.join(reason.words), 60)})" if reason.words else "")
        for reason in hit.why
    )


@command("history", example="memhold history mem_0198c2f0 --user alice")
@click.argument("item_id", metavar="ID")
def history_command(frame: Frame, item_id: str) -> None:
    """Show every change that touched an item.

    Of a fact it is the story of its attribute: every value, from when to when, and why it changed.
    """
    with opened(frame) as (_, scope):
        changes = scope.history(item_id)
    frame.show({"changes": changes}, lambda: _say_changes(changes))


def _say_changes(changes: tuple[Change, ...]) -> None:
    for change in changes:
        _say_change(change)


def _say_change(change: Change) -> None:
    by = change.by.origin if change.by.name is None else f"{change.by.origin} {change.by.name}"
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


@command("get", example="memhold get mem_0198c2f0 --user alice --json")
@click.argument("item_id", metavar="ID")
def get_command(frame: Frame, item_id: str) -> None:
    """Show one message or memory.

    The id of another scope is not found, as one that never was.
    """
    with opened(frame) as (_, scope):
        item = scope.get(item_id)
    frame.show(item, lambda: _say_fields(item))


def _say_fields(item: Message | Memory) -> None:
    from memhold.values.jsonable import to_jsonable

    for name, value in to_jsonable(item).items():
        if value not in (None, [], {}, ""):
            shown = clean(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            click.echo(f"{name}: {shown}")


@command("list", example="memhold list --kind fact --user alice")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(_HIT_KINDS[1:]), help="May be given several times.")
@click.option("--state", "states", multiple=True, type=click.Choice(_STATES), help="[default: active]")
@click.option("--all", "all_states", is_flag=True, help="In whatever state.")
@click.option("--limit", type=int, default=100, show_default=True)
@click.option("--cursor", help="Where the last page ended.")
def list_command(
    frame: Frame, kinds: tuple[Any, ...], states: tuple[Any, ...], *, all_states: bool, limit: int, cursor: str | None
) -> None:
    """List memories, oldest first.

    --session narrows it to memories of that session.
    """
    wanted = None if all_states else states or ("active",)
    with opened(frame) as (_, scope):
        page = scope.list(kinds or None, wanted, session=frame.session, limit=limit, cursor=cursor)
    frame.show(page, lambda: _say_page(page.items, page.cursor))


def _say_page(memories: tuple[Memory, ...], cursor: str | None) -> None:
    rows = [
        (memory.kind, memory.state, f"{memory.valid_from:%Y-%m-%d}", clean(memory.text, _TEXT), memory.id)
        for memory in memories
    ]
    table(("kind", "state", "since", "text", "id"), rows, wide=3)
    if cursor is not None:
        click.echo(f"more with --cursor {cursor}", err=True)


@command("messages", example="memhold messages --user alice --session s1")
@click.option("--after", type=int, default=0, help="Only those with a higher number in the session.")
@click.option("--limit", type=int, default=1000, show_default=True)
def messages_command(frame: Frame, after: int, limit: int) -> None:
    """Show a session's messages.

    In order, as they were given; without --session, those of the unnamed one.
    """
    with opened(frame) as (_, scope):
        found = scope.messages(after=after, limit=limit)
    frame.show({"messages": found}, lambda: _say_messages(found))


def _say_messages(messages: tuple[Message, ...]) -> None:
    rows = [(str(m.seq), f"{m.event_time:%Y-%m-%d %H:%M}", m.role, clean(m.text, _TEXT), m.id) for m in messages]
    table(("#", "when", "role", "text", "id"), rows, wide=3)


@command("status", example="memhold status --user alice")
def status_command(frame: Frame) -> None:
    """Show what a scope holds and what is due.

    Counts of messages, sessions and memories, and the work that is still to be done for them.
    """
    with opened(frame) as (store, scope):
        found = scope.status()
        to_settle = scope.suspicions() if found.open_suspicions else ()
        used = store.admin.model_usage()
    # Models are used for the whole store, so their line is not the scope's.
    from memhold.values.jsonable import to_jsonable

    answer = {**to_jsonable(found), "models": _models_used(used), "suspicions": to_settle}
    frame.show(answer, lambda: _say_status(found, used, to_settle))


def _models_used(used: tuple[Tally, ...]) -> dict[str, float]:
    counts = {name: sum(getattr(one, name) for one in used) for name in ("calls", "answered", "retries", "unpriced")}
    tokens = sum(one.input_tokens + one.output_tokens for one in used)
    return {**counts, "tokens": tokens, "usd": round(sum(one.usd for one in used), 9)}


def _say_status(found: Status, used: tuple[Tally, ...], to_settle: tuple[OpenSuspicion, ...]) -> None:
    click.echo(f"messages: {found.messages} in {found.sessions} sessions")
    for name, counts in (("memories", found.memories), ("tiers", found.tiers), ("states", found.states)):
        click.echo(f"{name}: {_counted(counts)}")
    click.echo(f"raw, not consolidated yet: {found.raw}")
    click.echo(f"due: {_counted(found.due)}")
    if found.last_error is not None:
        click.echo(f"last error: {clean(found.last_error)}")
    if to_settle:
        from memhold.cli.keys import suspicion_line

        click.echo(f"to settle: {len(to_settle)} (memhold suspicions)")
        for one in to_settle:
            click.echo(f"  {suspicion_line(one)}")
    spent = _models_used(used)
    unpriced = f" and {spent['unpriced']} calls without a price" if spent["unpriced"] else ""
    failed = spent["calls"] - spent["answered"]
    click.echo(f"models, whole store: {spent['calls']} calls, {failed} failed, {spent['usd']:.4f} USD{unpriced}")
    click.echo(f"store: {found.store}, schema {found.schema}")


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "none"
