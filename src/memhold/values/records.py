"""The values that everything else passes around: frozen, plain, without behaviour that reaches outside.

Times are aware UTC `datetime`s with microseconds. A `number` is the position of a message or memory in the indexes
of its scope (namespace and user): dense, never reused, and of no meaning outside.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from memhold.values.errors import NaiveTime
from memhold.values.names import MAX_NAME, checked_actor, checked_name
from memhold.values.repr_parts import one_of, opening

__all__ = [
    "ABANDONED",
    "COPY_OF",
    "DOCUMENT",
    "HOLDS_FROM",
    "KINDS",
    "LINEAGE",
    "MAX_NAME",
    "MAX_TEXT",
    "NOTE_KIND",
    "ORIGINS",
    "OWN_KEYS",
    "PATH_MARK",
    "ROTTEN",
    "SPEAKER",
    "STATES",
    "TIERS",
    "TOGETHER",
    "Author",
    "Change",
    "Effect",
    "Evidence",
    "FactKey",
    "Fill",
    "HitKind",
    "Importance",
    "Kind",
    "Memory",
    "MemoryQuote",
    "Message",
    "Operation",
    "Origin",
    "Quote",
    "Scope",
    "Session",
    "Shape",
    "Span",
    "Standing",
    "State",
    "Suspicion",
    "Tier",
    "Trust",
    "from_micros",
    "micros",
    "speaker_of",
]

Kind = Literal["fact", "note", "summary", "raw", "rollup", "instruction", "document"]
HitKind = Literal["message", "fact", "note", "summary", "raw", "rollup", "instruction", "document"]
Tier = Literal["mid", "long"]
State = Literal["active", "superseded", "retracted", "merged", "expired", "forgotten"]
Importance = Literal["low", "mid", "high"]
Origin = Literal["user", "agent", "tool", "import", "rules", "model"]
Trust = Literal["user", "assistant", "tool"]
WrittenBy = Literal["user", "participant", "assistant", "tool", "attachment", "harness"]
Operation = Literal["set", "add"]
Standing = Literal["stated", "doubtful"]
Shape = Literal["openai", "anthropic"]
Fill = Literal["all", "useful"]
"""Whether a context tells all that has room, or only what is likely to help."""

LINEAGE = "merged"
"""The key of a merged memory's metadata under which stands what it was made of."""
TOGETHER = "together"
"""The key of a memory's metadata under which stand the ids of those that are told together with it."""
NOTE_KIND = "note_kind"
"""The key of a note's metadata under which stands what kind of note a model read: plan, decision, cause, …"""
HOLDS_FROM = "memhold.holds_from"
"""The key of a plan's metadata under which stands from when on it is to hold, where a line says so."""
OWN_KEYS = frozenset({LINEAGE, TOGETHER, NOTE_KIND, HOLDS_FROM})
"""Keys of a memory's metadata that Memhold itself writes; all others are the caller's."""
ABANDONED = "memhold.abandoned"
"""The key of a message's metadata that is true where its conversation was taken back to before it and went on without:
such a message ranks behind others."""
SPEAKER = "memhold.speaker"
"""The key of a memory's metadata under which stands the name of the person who stated it, where they came with one."""
COPY_OF = "memhold.copy_of"
"""The key of a message's metadata under which stands the id of the message that it is a copy of."""
MAX_TEXT = 100_000
"""Longest text or value of one memory, in characters; longer material belongs into the journal or a document."""
DOCUMENT = "memhold.document"
"""The key of a document's metadata under which Memhold keeps what it is: see `Memory.about_document`."""
PATH_MARK = "\x1f"
"""Stands behind each name in a document's `key`: lower than any character of a name, so that keys sort as paths."""
KINDS: tuple[Kind, ...] = ("fact", "note", "summary", "raw", "rollup", "instruction", "document")
STATES: tuple[State, ...] = ("active", "superseded", "retracted", "merged", "expired", "forgotten")
TIERS: tuple[Tier, ...] = ("mid", "long")
WRITERS: tuple[WrittenBy, ...] = ("user", "participant", "assistant", "tool", "attachment", "harness")
"""Who may have written a passage, the people first."""
PEOPLE: frozenset[WrittenBy] = frozenset({"user", "participant"})
"""The writers whose own words these are."""
ORIGINS: tuple[Origin, ...] = ("user", "agent", "tool", "import", "rules", "model")


def micros(moment: datetime) -> int:
    """Microseconds since 1970 of an aware time.

    Raises:
        NaiveTime: the time has no zone.
    """
    if moment.tzinfo is not UTC and moment.utcoffset() is None:
        raise NaiveTime(f"{moment!r} has no time zone; pass an aware datetime, for example datetime.now(UTC)")
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(value: int) -> datetime:
    """The aware UTC time of a count of microseconds since 1970; the inverse of `micros`."""
    return _EPOCH + timedelta(microseconds=value)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Whose memory a verb works on.

    There is no "all": an absent user means memories of no user, never of every user. On reads an absent agent means
    all agents of this user, and an absent session means every session; on writes they mean no agent and the unnamed
    session.

    `actor` says in whose name it writes: "user" (a person, through an application), "agent" or "tool", each perhaps
    with a name ("agent:claude-code"). It says nothing of whose memory it is, and narrows no read.

    Names are held in composed form (NFC): two spellings of one name are one scope.

    Raises:
        InvalidScope: a name or the actor cannot be used; see `memhold.values.names`.
    """

    namespace: str = "default"
    user: str | None = None
    agent: str | None = None
    session: str | None = None
    actor: str = "user"

    def __post_init__(self) -> None:
        if self.actor != "user":
            object.__setattr__(self, "actor", checked_actor(self.actor))
        for name in ("namespace", "user", "agent", "session"):
            value = getattr(self, name)
            if value is not None or name == "namespace":
                object.__setattr__(self, name, checked_name(value, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A stretch of a message's `text` that Memhold itself had written: characters `start` to before `end`.

    `ids` are the messages and memories that it shows. It is recalled text, and no new evidence of anything.
    """

    start: int
    end: int
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A stretch of a message's `text` that one writer wrote: characters `start` to before `end`."""

    start: int
    end: int
    written_by: WrittenBy


_SPEAKING = frozenset({"user", "assistant"})


def speaker_of(role: str, body: Mapping[str, Any]) -> str | None:
    """The name that a person or an assistant of a conversation came with; None where it came without one.

    The name of a tool is that of what was called, and names of system messages are an application's.
    """
    name = body.get("name") if role in _SPEAKING else None
    return name.strip() or None if isinstance(name, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One entry of the journal.

    `body` is the message as the caller gave it (after redaction), and is returned equal. `text` is what a person would
    read in it: what is indexed and shown. `change_id` is the change that appended it. `quotes` are the stretches of
    `text` that came out of this store, in order; see `memhold.messages.fences`. `origin` says who said it, `actor` the
    name of what brought it (a client, an application, a format), where it has one: `role` is only what it claims to be.
    An item that came without a role has the role "" and no text.

    `passages` say who wrote which stretch of `text`, in order: several where what a person typed stands beside what was
    returned or attached (`memhold.values.origins` decides it, once, when the message arrives). The indexes hold it
    once for each of its writers, under consecutive `numbers`.
    """

    id: str
    number: int
    session: str
    seq: int
    role: str
    body: Mapping[str, Any]
    shape: Shape
    text: str
    event_time: datetime
    recorded_at: datetime
    change_id: str
    agent: str | None = None
    embed: bool = True
    metadata: Mapping[str, Any] = field(default_factory=dict)
    quotes: tuple[Quote, ...] = ()
    origin: Origin = "user"
    actor: str | None = None
    passages: tuple[Passage, ...] = ()

    @property
    def writers(self) -> tuple[WrittenBy, ...]:
        """Who wrote something of it, each once, in the order of the text."""
        return tuple(dict.fromkeys(one.written_by for one in self.passages))

    @property
    def written_by(self) -> WrittenBy:
        """Who wrote it; of a message that several wrote, a person before an assistant, and that before all else."""
        writers = self.writers
        return min(writers, key=WRITERS.index) if writers else "harness"

    @property
    def typed(self) -> bool:
        """Whether a person wrote something of it."""
        return any(one.written_by in PEOPLE for one in self.passages)

    @property
    def speaker(self) -> str | None:
        """The name that a person or an assistant of a conversation came with; None where it came without one."""
        return speaker_of(self.role, self.body)

    @property
    def works(self) -> bool:
        """Whether it makes calls, or a tool wrote something of it."""
        return bool(self.tool_calls) or "tool" in self.writers

    @property
    def numbers(self) -> range:
        """The numbers of its documents in the indexes, one for each of its writers."""
        return range(self.number, self.number + max(1, len(self.writers)))

    @property
    def opaque(self) -> bool:
        """Whether it is an item without a role: kept as it is, found by nothing, and no turn of any conversation."""
        return not self.role

    @property
    def copy_of(self) -> str | None:
        """The message that this one is a copy of; it is found and learnt from there."""
        value = self.metadata.get(COPY_OF)
        return value if isinstance(value, str) else None

    @property
    def content(self) -> Any:
        """The content as it was given: text, a list of parts or blocks, or None."""
        return self.body.get("content")

    @property
    def tool_calls(self) -> Sequence[Mapping[str, Any]]:
        """The calls that this message makes, in the shape it came in; empty when there are none."""
        if self.shape == "openai":
            return tuple(self.body.get("tool_calls") or ())
        content = self.body.get("content")
        blocks = content if isinstance(content, list) else ()
        return tuple(block for block in blocks if block.get("type") == "tool_use")

    @property
    def tool_call_id(self) -> str | None:
        """The call that this message answers, in the OpenAI shape; None for others."""
        value = self.body.get("tool_call_id")
        return value if isinstance(value, str) else None

    def __repr__(self) -> str:
        return f"<Message {self.role or 'item'} {opening(self.text)} {self.id}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One session of a scope's user: where its journal ends, and how far it has been dealt with.

    Messages with `cursor < seq` wait for consolidation; those up to `asked` wait for nothing else than a worker. What a
    prompt continues is `window_start < seq`: it may begin before the cursor (the last turns stay in the prompt) or
    behind it (the session was ended, and what it held is worked on behind). `pending_tokens` estimates what waits;
    `torn` says that forgetting took what held messages up to the cursor. `metadata` is the application's own.
    `rev` moves when the cursor moves or when forgetting touches what waits, never on append.
    """

    id: str
    name: str
    number: int
    last_seq: int = 0
    cursor: int = 0
    window_start: int = 0
    asked: int = 0
    pending_tokens: int = 0
    torn: bool = False
    rev: int = 0
    created_at: datetime
    last_at: datetime
    ended_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def grown(self, *, last_seq: int, at: datetime, pending_tokens: int) -> Session:
        """The session after messages up to `last_seq` were appended to it: it is open, whatever it was."""
        return Session(
            id=self.id,
            name=self.name,
            number=self.number,
            last_seq=last_seq,
            cursor=self.cursor,
            window_start=self.window_start,
            asked=self.asked,
            pending_tokens=pending_tokens,
            torn=self.torn,
            rev=self.rev,
            created_at=self.created_at,
            last_at=at,
            metadata=self.metadata,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryQuote:
    """Words of a message that a memory rests on, verbatim."""

    message_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What is derived or told, in one of its revisions.

    The content (kind, subject, attribute, value, text) never changes: another value is another memory that supersedes
    this one. What changes from revision to revision is its state, tier, validity, evidence and labels. `valid_from` and
    `valid_to` say when it held; `recorded_at` and `unrecorded_at` when this revision was what Memhold knew.

    `origin` says who said it and `actor` the name of that (a client, a model, a format); neither ever changes.
    `last_confirmed_at` is when a person last said that it is so, None where nobody has.

    `quotes` are the words of messages that a model's statement rests on, the first the one it is told from; they are
    erased with their message. `standing` is `doubtful` where something speaks against it: `doubts` say what, in words
    for people. What is doubtful displaces nothing and stands in no system message.
    """

    id: str
    number: int
    kind: Kind
    text: str
    state: State = "active"
    tier: Tier = "mid"
    agent: str | None = None
    session: str | None = None
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    key: str | None = None
    operation: Operation = "set"
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    importance: Importance = "mid"
    pinned: bool = False
    origin: Origin = "user"
    trust: Trust = "user"
    evidence: int = 0
    sources: tuple[str, ...] = ()
    event_time: datetime
    valid_from: datetime
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    created_at: datetime
    recorded_at: datetime
    unrecorded_at: datetime | None = None
    superseded_by: str | None = None
    rev: int = 1
    actor: str | None = None
    last_confirmed_at: datetime | None = None
    quotes: tuple[MemoryQuote, ...] = ()
    standing: Standing = "stated"
    doubts: tuple[str, ...] = ()

    @property
    def doubtful(self) -> bool:
        """Whether something speaks against it; older releases called that `inferred`, in its metadata."""
        return self.standing == "doubtful" or self.metadata.get("standing") == "inferred"

    @property
    def quote(self) -> str:
        """The words that it rests on first; empty where it rests on none, as what somebody wrote themselves."""
        return self.quotes[0].text if self.quotes else ""

    def without_quotes(self, of: Collection[str]) -> Memory:
        """The same without its quotes of these messages."""
        return replace(self, quotes=tuple(one for one in self.quotes if one.message_id not in of))

    @property
    def path(self) -> tuple[str, ...]:
        """The path of a document; empty for every other kind."""
        return tuple((self.key or "").split(PATH_MARK)[:-1]) if self.kind == "document" else ()

    @property
    def about_document(self) -> Mapping[str, Any]:
        """What a document is: `json` (its text is JSON), `index` (words and meaning may find it), `created_at`.

        The latter is in microseconds since 1970. `fields` are there where only these may be found. Empty for every
        other kind.
        """
        about = self.metadata.get(DOCUMENT) if self.kind == "document" else None
        return about if isinstance(about, Mapping) else {}

    @property
    def speaker(self) -> str | None:
        """The name of the person who stated it; None where nobody did, or without a name."""
        name = self.metadata.get(SPEAKER)
        return name if isinstance(name, str) and name.strip() else None

    @property
    def holds_from(self) -> datetime | None:
        """From when on a plan is to hold; None where no line says so, and of what is no plan."""
        given = self.metadata.get(HOLDS_FROM)
        return datetime.fromisoformat(given) if isinstance(given, str) else None

    @property
    def shown(self) -> bool:
        """Whether recall finds it without being asked for the past: it holds, or only its life in the tier is over."""
        return self.state == "active" or (self.state == "expired" and self.valid_to is None)

    def __repr__(self) -> str:
        return f"<Memory {self.kind} {self.state} {opening(self.text)} {self.id}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One thing that speaks of a fact: it was stated (`set`, `add`, `remove`), asked for, or told until when it holds.

    `turn` names the turn it came in: a fact has at most one piece of evidence a turn. `at` is the event time that it
    speaks about. Evidence of a change that was undone does not count.
    """

    memory_id: str
    turn: str
    at: datetime
    operation: Literal["set", "add", "remove", "asked", "until"]
    change_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactKey:
    """A subject and attribute as some fact words it, and the key of the timeline that the fact is in."""

    subject: str
    attribute: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """Something that a person should settle: two keys that may be one concept, or a statement against what was told.

    It names memories and a rule, and holds no content. For a `key`, `memory_id` is the fact under the newer key and
    `other_id` one under the older; for a `contradiction`, the statement that was kept apart and what the user told.
    `settled` is the verdict while the change `settled_by` stands. `looked` says who has looked at it: `likeness` (an
    embedding, which left it open; a model may still decide) or `decided` (for good, also where that was undone).
    """

    id: str
    kind: Literal["key", "contradiction"]
    memory_id: str
    other_id: str
    rule: str
    at: datetime
    change_id: str
    settled: Literal["same", "different"] | None = None
    settled_by: str | None = None
    looked: Literal["likeness", "decided"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """By whom a change was made.

    The user, an agent or a tool (with its name), a model (its name, the prompt's version), rules, an import (format).
    """

    origin: Origin
    name: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a change did to one memory: from which revision to which; revision 0 means "was not there".

    `before` and `after` are filled when a change is read and its content was not forgotten since.
    """

    memory_id: str
    rev_before: int
    rev_after: int
    before: Memory | None = None
    after: Memory | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of a session's journal, `first` to `last` inclusive.

    What an add appended, what a consolidation took in.
    """

    session: str
    first: int
    last: int


ROTTEN = "damaged"
"""The verb of a change that was damaged on the disk and was let stand: when, and what it touched, is all that is known.

It cannot be undone, and blocks the undoing of what it may stand on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One entry of the audit trail.

    It holds ids, times and a reason without content; before and after live in the revisions that its effects name.
    `detail` is what else there is to say (a model's reply, counts); it may hold content, and is lost when anything it
    speaks of is forgotten. A consolidation moves its sessions' cursors from `first - 1` to `last` of each span.
    """

    id: str
    seq: int
    verb: str
    reason: str
    by: Author
    at: datetime
    sources: tuple[str, ...] = ()
    effects: tuple[Effect, ...] = ()
    spans: tuple[Span, ...] = ()
    detail: Mapping[str, Any] = field(default_factory=dict)
    undoes: str | None = None
    undone_by: str | None = None

    def __repr__(self) -> str:
        undone = f"; undone by {self.undone_by}" if self.undone_by else ""
        return f"<Change {self.verb} by {self.by.origin}; {one_of(len(self.effects), 'effect')}{undone}; {self.id}>"
