"""What a page shows of a memory, wherever it came from; and lists of them by what they are about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memhold.values.answers import Hit
from memhold.values.origins import shown_name, told_by, words_of
from memhold.values.records import Memory, Message

__all__ = ["Group", "Row", "by_subject", "row_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One thing that is known, as a line of a page. `rev` is None where it was not told: of a hit."""

    id: str
    kind: str
    text: str
    state: str
    origin: str
    actor: str | None
    since: datetime
    until: datetime | None = None
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    tier: str | None = None
    pinned: bool = False
    rev: int | None = None
    confirmed_at: datetime | None = None
    superseded_by: str | None = None
    session: str | None = None
    writer: str | None = None
    speaker: str | None = None
    topics: tuple[str, ...] = ()
    asked_at: datetime | None = None
    quote: str = ""
    doubts: tuple[str, ...] = ()
    doubtful: bool = False

    @property
    def counts_use(self) -> bool:
        """Whether being asked for decides that it stays, as of a fact of the mid tier."""
        return self.kind == "fact" and self.tier == "mid" and self.state == "active"

    @property
    def main(self) -> str:
        """What is read first: a fact's value, else the text."""
        return self.value if self.kind == "fact" and self.value is not None else self.text

    @property
    def about(self) -> str | None:
        """Of whom or what a fact is; None where it is of the user."""
        return None if self.subject is None or self.subject.casefold() == "user" else self.subject

    @property
    def told(self) -> str:
        """All of it in one line, as "home city, sister: Seoul": what a list or a label names it by."""
        named = ", ".join(part for part in (self.attribute, self.about) if part)
        return f"{named}: {self.main}" if self.kind == "fact" and named else self.main

    @property
    def correctable(self) -> bool:
        """Whether it is one thing that was told, so that a person can say it right."""
        return self.kind in {"fact", "note", "instruction"} and self.state == "active"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Rows about one subject."""

    title: str
    rows: tuple[Row, ...]


def row_of(item: Memory | Hit | Message) -> Row:
    """The line of a memory, a hit or a message."""
    if isinstance(item, Message):
        return Row(
            id=item.id, kind="message", text=words_of(item), state="active", origin=item.origin, actor=item.actor,
            since=item.event_time, session=item.session, writer=told_by(item), speaker=shown_name(item.speaker),
        )  # fmt: skip
    return Row(
        id=item.id,
        kind=item.kind,
        text=words_of(item) if isinstance(item, Hit) else item.text,
        state=item.state,
        origin=item.origin,
        actor=item.actor,
        since=item.valid_from or item.event_time,
        until=item.valid_to,
        subject=item.subject,
        attribute=item.attribute,
        value=item.value,
        tier=item.tier,
        pinned=item.pinned,
        rev=item.rev if isinstance(item, Memory) else None,
        confirmed_at=item.last_confirmed_at,
        superseded_by=item.superseded_by,
        session=item.session,
        writer=told_by(item) or None if isinstance(item, Hit) else None,
        speaker=shown_name(item.speaker),
        topics=item.topics,
        quote=item.quote,
        doubts=item.doubts,
        doubtful=item.doubtful,
    )


def by_subject(rows: Iterable[Row]) -> Sequence[Group]:
    """Facts by whom they are about, the user first, each by attribute."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.subject or "user", []).append(row)
    names = sorted(found, key=lambda name: (name.casefold() != "user", name.casefold()))
    return [
        Group(
            title=name, rows=tuple(sorted(found[name], key=lambda row: ((row.attribute or "").casefold(), row.since)))
        )
        for name in names
    ]
