"""What is asked and what comes back: queries, hits, receipts, reports. Frozen and plain, as in `model`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from memhold.values.errors import InvalidInput
from memhold.values.filters import Filters
from memhold.values.records import (
    Change,
    HitKind,
    Memory,
    Message,
    Origin,
    Scope,
    Standing,
    State,
    Suspicion,
    Tier,
    WrittenBy,
)
from memhold.values.repr_parts import ids_shown, one_of, opening

__all__ = [
    "DAMAGED",
    "Changes",
    "Compacted",
    "Consolidated",
    "Due",
    "Ended",
    "Erasure",
    "Expected",
    "Hit",
    "Merging",
    "Messages",
    "ModelHealth",
    "OpenSuspicion",
    "Outcome",
    "Page",
    "Query",
    "Reason",
    "Recall",
    "Receipt",
    "Remembered",
    "Residue",
    "Retained",
    "Status",
    "Visibility",
    "missing_sentences",
    "missing_told",
    "trouble_told",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Visibility:
    """Where a write can be found: true, false, or None for "not known".

    `recent`: by recency and by id; `words`: by its words; `meaning`: by its vector; `consolidated`: it is part of a
    memory.
    """

    recent: bool | None = True
    words: bool | None = True
    meaning: bool | None = None
    consolidated: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What a write returns once it is durable.

    `replayed` says that the same idempotency key had been seen and nothing was written now; `forgotten` that what the
    first call wrote was forgotten since. `redacted` counts the secrets that were replaced before storage. `notice` is a
    sentence for whoever runs this: what was written is safe, and waits for a model that does not work.
    """

    ids: tuple[str, ...]
    change_ids: tuple[str, ...] = ()
    replayed: bool = False
    forgotten: bool = False
    visibility: Visibility = field(default_factory=Visibility)
    redacted: int = 0
    notice: str | None = None

    def __repr__(self) -> str:
        states = [name for name in ("replayed", "forgotten") if getattr(self, name)]
        if self.redacted:
            states.append(f"{self.redacted} redacted")
        return f"<Receipt {'; '.join([ids_shown(self.ids) or 'no ids', *states])}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A receipt and the memory that it is for; `memory` is None only when a replay finds it forgotten."""

    receipt: Receipt
    memory: Memory | None


_OF_LISTS = (
    "agent", "origin", "actor", "session_prefix", "subject", "written_since", "written_until", "unconfirmed_since",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Query(Filters):
    """Everything that a recall asks, as one value through all layers. Its filters only ever narrow.

    Raises:
        InvalidInput: a filter is one of lists and of forgetting, which no index of words knows.
    """

    text: str = ""
    conversation: tuple[str, ...] = ()
    limit: int = 10
    offset: int = 0
    asker: str | None = None
    browse: bool = False
    signals: tuple[str, ...] | None = None
    neighbours: int = 0
    explain: bool = False
    expect: str | None = None
    snapshot: str | None = None
    cursor: str | None = None
    also: tuple[Mapping[str, Any], ...] = ()

    def __post_init__(self) -> None:
        Filters.__post_init__(self)
        if named := [name for name in _OF_LISTS if getattr(self, name) is not None]:
            raise InvalidInput(f"recall does not filter by {named[0]}; list and forget do")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a hit is there: the signal, its rank in that signal (from 1), the signal's score (0 to 1), and the words.

    `part` is what the signal adds to the hit's score; all parts together are the score. `signal` may also name what
    moved the hit beside the signals: `newer`, `follows`, `answers` (it was said to one of the best, a question),
    `outdated`, `given up` or `asker` (another person says it of themselves), of which the last three take from it, or
    `rerank`, which adds or takes.
    """

    signal: str
    rank: int
    score: float
    words: tuple[str, ...] = ()
    part: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A value that a text says and that holds no longer: the fact of it, since when it does not, and what holds now.

    `since` is when it ended, of a value that was corrected when that was told. `now` (of the fact `now_fact`) is None
    where nothing took its place, or what did is gone too.
    """

    fact: str
    value: str
    since: datetime
    now: str | None = None
    now_fact: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One answer of a recall: a message or a memory, with what it stands on and why it was found.

    `score` compares hits of one answer only. `superseded_by` names the memory that replaced a value which this hit
    still mentions. `outdated` are the values that this text says and that hold no longer: replaced, removed or
    corrected (where `superseded_by` is None, nothing took their place). The `sources` of a message are messages that
    say the same, and memories that quote it, and were folded into it. `neighbours` are the turns around a message,
    where they were asked for. `excerpt` is what is asked: of a text of more than 600 characters its sentences that
    match, about so long, with "…" where something is left out; of a shorter one the sentence that is nearest in
    meaning, None where it has one, or nothing was asked by meaning. `origin` says who said it and `actor` the name
    of that, `last_confirmed_at` when a person last said that it is so. `together` are the notes that add to this
    one, which compaction found: they are told with it, whether the question finds them or not. A document has its
    `path`, and the first 4,000 characters of its text. Of a message, `text` is what one writer wrote of it:
    `written_by` says who, and `speaker` the name that they came with, if any; `role` is the provider's. Of a memory
    `speaker` is the name of the person who stated it, where it came with one. `scope` is whose memory it stands in,
    where the read named further scopes (`also`; None elsewhere): its id is known there, and its score compares with
    hits of that scope only. `quote` are the words that a model's statement rests on, `standing` whether something
    speaks against it, and `doubts` what.
    """

    id: str
    kind: HitKind
    text: str
    score: float
    tier: Tier | None
    state: State
    created_at: datetime
    event_time: datetime
    sources: tuple[str, ...]
    why: tuple[Reason, ...]
    role: str | None = None
    written_by: WrittenBy | None = None
    speaker: str | None = None
    session: str | None = None
    agent: str | None = None
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    superseded_by: str | None = None
    outdated: tuple[Ended, ...] = ()
    pinned: bool = False
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    neighbours: tuple[Message, ...] = ()
    together: tuple[Memory, ...] = ()
    origin: Origin = "user"
    actor: str | None = None
    last_confirmed_at: datetime | None = None
    excerpt: str | None = None
    path: tuple[str, ...] = ()
    scope: Scope | None = None
    quote: str = ""
    standing: Standing = "stated"
    doubts: tuple[str, ...] = ()

    @property
    def doubtful(self) -> bool:
        """Whether something speaks against it."""
        return self.standing == "doubtful"

    def __repr__(self) -> str:
        state = "" if self.state == "active" else f" {self.state}"
        return f"<Hit {self.kind}{state} {self.score:.3f} {opening(self.text)} {self.id}>"


DAMAGED = "damaged"
"""What an answer says to be degraded by, where rows that it came upon do not agree with their digests, or the file is
damaged where no row is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """Where one message or memory stands in an answer, and what keeps it out of it.

    `kept_out` is None where it is on the page. Else: "limit" (it stands behind the page), "repeats" (`by` says the same
    and stands for it), "signals" (none found it), "superseded" (by `by`, where something took its place), "state: …" (a
    memory's, such as expired or merged), "filter: …" (which of the query's; it may be several), "snapshot" (it came
    after the moment that is asked), "hidden", "forgotten", or "unknown" (the scope has no such thing).
    `rank` is its place in the answer, from 1, or where it would stand if nothing kept it out; None where nothing is
    there to rank. `why` are the signals that speak for it, `silent` those that were asked and say nothing of it.
    """

    id: str
    kept_out: str | None
    rank: int | None = None
    score: float = 0.0
    by: str | None = None
    why: tuple[Reason, ...] = ()
    silent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """The answer to a recall.

    `total` counts everything that matched. `cursor` is for the next page (None after the last): with it, what is found
    all along is shown exactly once, whatever is written, hidden or forgotten in between. `next_offset` is where the
    next page begins by count.
    `degraded` names the signals that are configured and could not be asked (and "damaged", where rows on the disk are:
    `damaged` are their ids, left out of the answer; without ids the file is, and what cannot be reached in it is not
    here), `not_configured` the signals that are off; `lag` counts what a signal has not indexed yet. `confidence` says
    how likely it is that the answer is among the hits (0 to 1, None where nothing was asked): below
    `recall.confidence.THRESHOLD` take it for "nothing relevant". Pass `snapshot` back with an offset, and the pages are
    of one moment. `account` is the whole story of the ranking, where `explain` asked for it, `expected` the story of
    the one that `expect` named.
    """

    hits: tuple[Hit, ...]
    total: int
    next_offset: int | None = None
    degraded: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()
    not_configured: tuple[str, ...] = ()
    lag: Mapping[str, int] = field(default_factory=dict)
    confidence: float | None = None
    snapshot: str | None = None
    cursor: str | None = None
    account: Mapping[str, Any] | None = None
    expected: Expected | None = None

    def __repr__(self) -> str:
        parts = [f"{one_of(len(self.hits), 'hit')} of {self.total}"]
        if self.confidence is not None:
            parts.append(f"confidence {self.confidence:.2f}")
        if self.degraded:
            parts.append(f"degraded: {', '.join(self.degraded)}")
        return f"<Recall {'; '.join(parts)}>"


def missing_sentences(degraded: Sequence[str], damaged: Sequence[str] = ()) -> list[str]:
    """What `missing_told` says, as sentences."""
    return [f"{line[0].upper()}{line[1:]}." for line in missing_told(degraded, damaged)]


def missing_told(degraded: Sequence[str], damaged: Sequence[str]) -> list[str]:
    """What could not be asked and what was left out as damaged, as lines for a person; every face says these."""
    asked = [f"{name} could not be asked; there may be more" for name in degraded if name not in {DAMAGED, "words"}]
    if "words" in degraded:
        asked.append("the words index is damaged, and was read from the texts; run 'memhold doctor'")
    if damaged:
        rows = one_of(len(damaged), "damaged row")
        asked.append(f"{rows} left out ({ids_shown(tuple(damaged))}); run 'memhold doctor'")
    elif DAMAGED in degraded:
        asked.append("the file is damaged, and what cannot be reached in it is not here; run 'memhold doctor'")
    return asked


def trouble_told(degraded: Sequence[str], damaged: Sequence[str]) -> list[str]:
    """What is wrong with a scope as its status has it, and what to do, as lines for a person; every face says these."""
    told = [line for name, line in _TROUBLE.items() if name in degraded]
    if damaged:
        rows = one_of(len(damaged), "damaged row")
        told.append(f"{rows} ({ids_shown(tuple(damaged))}): run 'memhold doctor', which says what to do")
    elif DAMAGED in degraded:
        told.append("the file is damaged, and answers may lack what cannot be reached in it: run 'memhold doctor'")
    return told


_TROUBLE: Mapping[str, str] = {
    "words": (
        "the words index is damaged, and what it lacks is read from the texts at each question: run 'memhold reindex'"
    ),
    "meaning": (
        "questions are answered without meaning, or without that of some items: run 'memhold settle', and"
        " 'memhold doctor' where that does not help"
    ),
}


class Messages(tuple[Message, ...]):  # noqa: SLOT001 - a tuple of any length can have no slots
    """Messages of a session, in their order: a tuple that also says what is missing from it.

    `damaged` are ids of messages that stand between these and are damaged on the disk: they are left out.
    """

    damaged: tuple[str, ...]

    def __new__(cls, found: Iterable[Message] = (), damaged: Iterable[str] = ()) -> Messages:
        """Messages, and the ids of those that are damaged."""
        made = super().__new__(cls, found)
        made.damaged = tuple(damaged)
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of a listing, oldest first; pass `cursor` back for the next one (None after the last).

    `damaged` are ids of rows that stand between these and are damaged on the disk: they are left out.
    """

    items: tuple[Memory, ...]
    cursor: str | None
    damaged: tuple[str, ...] = ()

    def __repr__(self) -> str:
        more = "" if self.cursor is None else "; more behind the cursor"
        return f"<Page {one_of(len(self.items), 'memory', 'memories')}{more}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """A stretch of the audit trail, oldest first, effects without content.

    `cursor` is the `seq` up to which it was read: pass it as `after` for what comes next; with `more` there is some.
    `damaged` are ids of changes between these that are damaged on the disk: they are left out.
    """

    items: tuple[Change, ...]
    cursor: int
    more: bool = False
    damaged: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Changes {one_of(len(self.items), 'change')}; cursor {self.cursor}{'; more' if self.more else ''}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """What a forget did, or would do (`dry_run`): ids by what they were, and how far the bytes are gone.

    `erased` is true once no byte is left in the store's files; until then `waiting_for` says what holds them ("reader":
    an open read of some process, "rebuild": the file is written anew behind the call, "room": there is none on the disk
    to do so, "mirror": the files of the setting `mirror` cannot be written, "store": the store failed once it had
    forgotten), and that is due work. On PostgreSQL it is
    true once no query of any session can reach a byte of it ("vacuum": its tables are vacuumed behind the call); its
    log, standbys and archives are PostgreSQL's. `quotations` are messages that stay and lose a quotation of what
    goes. No surface returns any of it from the moment of the
    acknowledgement. `replayed` says that the same idempotency key had been seen and nothing was forgotten now.
    `below` names the namespaces below the scope's own from which something of it went; a replay does not tell them.
    """

    messages: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    due_again: tuple[str, ...] = ()
    quotations: tuple[str, ...] = ()
    change_id: str | None = None
    hard: bool = True
    dry_run: bool = False
    erased: bool = False
    waiting_for: str | None = None
    replayed: bool = False
    below: tuple[str, ...] = ()

    def __repr__(self) -> str:
        counts = {
            "message": self.messages,
            "memory": self.memories,
            "hidden": self.hidden,
            "due again": self.due_again,
            "quotation": self.quotations,
            "namespace below": self.below,
        }
        gone = [_counted(name, ids) for name, ids in counts.items() if ids]
        parts = [", ".join(gone) or "nothing"]
        if self.dry_run:
            parts.append("dry run")
        elif self.waiting_for:
            parts.append(f"waiting for: {self.waiting_for}")
        elif self.erased:
            parts.append("erased")
        return f"<Erasure {'; '.join(parts)}>"


def _counted(name: str, ids: tuple[str, ...]) -> str:
    plural = {"memory": "memories", "hidden": "hidden", "due again": "due again"}.get(name)
    return one_of(len(ids), name, plural)


@dataclass(frozen=True, slots=True, kw_only=True)
class Residue:
    """Where the bytes of a text still stand, in the store's files and those of its mirror: file name and count.

    Of a store on PostgreSQL it names tables in place of files, and how many of their values hold the text.
    """

    found: Mapping[str, int]
    files: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidated:
    """What a `consolidate` did: the summaries it made, the RAW windows that no model took yet, and what still waits.

    `set_aside` are RAW memories that are not tried again by themselves, `waiting` counts messages. `last_error` says
    why something waits or is set aside: no model is configured, or what the models answered, without content.
    """

    summaries: tuple[str, ...] = ()
    raw: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()
    waiting: int = 0
    last_error: str | None = None


Outcome = Literal[
    "copies", "group", "pair", "superseded", "linked", "suspected", "rolled_up", "told_anew", "kept_apart", "waiting",
    "too_long", "failed", "stale",
]  # fmt: skip
"""What became of some memories: the first four were merged (or superseded), the others stay as they were.

Of summaries that are `rolled_up`, `memory` is the roll-up that tells them; one that is `told_anew` said what no longer
holds. `linked` ones are told together; of `suspected` ones a person has to say which is true (`suspicions`).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merging:
    """What a compaction did with some memories, or would do (`dry_run`), and why.

    `memory` is what stands for them now. `distance` is that of the two farthest (0 is the same), `characters` what a
    call about them shows. `waiting` has no vector yet (`dry_run`); `too_long` was not asked at all; `stale` changed
    meanwhile and is looked at again; `failed` is tried again, `reason` says why without content.
    """

    outcome: Outcome
    sources: tuple[str, ...]
    reason: str
    memory: str | None = None
    distance: float = 0.0
    characters: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """What one run of compaction did, group by group.

    `merged` counts memories that others now stand for. `more` says that another run has something to look at;
    `judged` that a model is configured to judge near-duplicates: without one only exact copies are merged.
    """

    groups: tuple[Merging, ...] = ()
    merged: int = 0
    more: bool = False
    judged: bool = True
    dry_run: bool = False
    last_error: str | None = None

    @property
    def counts(self) -> dict[str, int]:
        """How many groups had each outcome."""
        found: dict[str, int] = {}
        for group in self.groups:
            found[group.outcome] = found.get(group.outcome, 0) + 1
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Retained:
    """A memory that the rules of a `retain` do not keep, and which rule that is; `change_id` is what hid it."""

    id: str
    kind: HitKind
    rule: Literal["age", "inactivity", "count"]
    change_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSuspicion:
    """A suspicion with the two memories it is about, as they now stand; `memory` is the newer statement."""

    suspicion: Suspicion
    memory: Memory
    other: Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """One piece of due work: what state implies must be done. It names things by id and holds no content."""

    namespace: str
    user: str | None
    kind: str
    ref: str
    due_at: datetime
    attempts: int = 0
    last_error: str | None = None
    token: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelHealth:
    """How a configured model fares, as far as calls of any process have shown.

    `answers` is false where its last call failed or its key is not set, None where nobody asked it yet. `since` is when
    the failures in a row began, `reason` what is wrong, `said` the provider's first words with everything masked that
    is not of errors, `advice` what to do. `unloads` counts the calls that found the model unloaded, since ever; `form`
    is how it is asked for arguments, where that was found out (`tool`, `schema`, `object`, `text`).
    """

    model: str
    answers: bool | None = None
    url: str | None = None
    key_variable: str | None = None
    since: datetime | None = None
    reason: str = ""
    said: str = ""
    advice: str = ""
    unloads: int = 0
    form: str | None = None

    @property
    def told(self) -> str:
        """The same in one sentence, for people; empty where nothing is wrong."""
        if self.answers is not False:
            return ""
        at = f" at {self.url}" if self.url and self.url not in f"{self.model} {self.reason}" else ""
        since = f" since {self.since:%Y-%m-%d %H:%M} UTC" if self.since is not None else ""
        said = f" (it said: {self.said})" if self.said else ""
        return f"the model {self.model}{at} does not work{since}: {self.reason}{said}; {self.advice}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What a scope holds and what is still to be done for it; counts by kind, tier and state.

    `memories`, `tiers` and `states` count memories of every state, `active` those that hold, by kind.
    `due` is work that could be done now, `waiting` work for later: expiries to come, retries, housekeeping. `pending`
    counts messages that no consolidation took in yet, `raw` memories that wait for a model, `set_aside` those of them
    that are not tried again by themselves, `parked` due work that waits for its next try or a model. `models` says of
    each model that is configured how it fares; `windows` counts the windows of messages that wait for one.
    `open_suspicions` counts what a person should settle: contradictions, and keys that may be one concept.
    `retracted_not_stated` counts the memories of an older store that were retracted since they rested on no person's
    words; while more are looked for, `writers` is due. `unquoted` counts what a model made of an older store that is
    still to be given the words of its line. `redacted` counts the secrets that were replaced in this scope since this
    process opened the store. `uncompared` counts notes that compaction has not compared with others yet (at most 140),
    `compact_calls_left` the calls that it may still make by itself today (UTC) for the whole store: where that is 0,
    they wait for tomorrow. None where no model judges.
    `degraded` names what any `recall` would lack now ("words", "meaning", and "damaged" where rows or the file are),
    `damaged` the ids of damaged rows that were met on the way here; `doctor` looks at every row.
    """

    messages: int
    sessions: int
    memories: Mapping[str, int]
    tiers: Mapping[str, int]
    states: Mapping[str, int]
    due: Mapping[str, int]
    waiting: Mapping[str, int]
    leased: int
    raw: int
    oldest_due_at: datetime | None
    last_error: str | None
    store: str
    schema: int
    pending: int = 0
    set_aside: int = 0
    parked: int = 0
    models: Mapping[str, ModelHealth] = field(default_factory=dict)
    windows: int = 0
    open_suspicions: int = 0
    retracted_not_stated: int = 0
    unquoted: int = 0
    redacted: int = 0
    uncompared: int = 0
    compact_calls_left: int | None = None
    degraded: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()
    active: Mapping[str, int] = field(default_factory=dict)
