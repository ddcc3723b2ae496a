"""Where messages enter: what the caller gave becomes drafts that the journal can keep, or a clear refusal.

Memhold's own keys on a message are `event_time`, `metadata`, `embed` and `written_by`. They are taken off; everything
else is the message, is kept as it is, and comes back equal. An item without a role is kept whole, those keys too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from memhold.messages.limits import Limits
from memhold.messages.shapes import Piece, is_item, listed_messages, read_message
from memhold.values.errors import InvalidInput, InvalidMessage, NaiveTime, TooLarge
from memhold.values.jsonable import body_from_json, body_json, json_copy, parse_time
from memhold.values.names import folded
from memhold.values.origins import join_passages, writer_of
from memhold.values.records import PEOPLE, WRITERS, Message, Origin, Passage, Shape, WrittenBy, speaker_of

__all__ = ["HEARD", "OWN_KEYS", "Draft", "attribute", "body_from_json", "body_json", "parse_messages", "told_apart"]

OWN_KEYS = frozenset({"event_time", "metadata", "embed", "written_by"})
"""The keys of a message that are Memhold's and no part of its body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A message that was read and found good, before the journal gives it an id.

    `body` is a plain copy of what the caller gave, without Memhold's own keys; later changes to the caller's dict do
    not reach it. `size` is body and metadata in bytes, as JSON. `caller_id` is the body's own `id`, which stays in it.
    `pieces` are those of `text`, `claims` what the caller says of who wrote each, `writers` who did: see `attribute`,
    which also keeps by whom it was brought (`origin`) and whether its name is another person's than the user's.
    """

    role: str
    body: Mapping[str, Any]
    shape: Shape
    text: str
    size: int
    event_time: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    embed: bool = True
    caller_id: str | None = None
    pieces: tuple[Piece, ...] = ()
    claims: tuple[WrittenBy | None, ...] = ()
    writers: tuple[WrittenBy, ...] = ()
    origin: Origin = "user"
    other_person: bool = False

    @property
    def speaker(self) -> str | None:
        """The name that a person or an assistant came with, as `Message.speaker` has it."""
        return speaker_of(self.role, self.body)

    @property
    def works(self) -> bool:
        """Whether it makes calls, or answers some."""
        return any(piece.kind in {"call", "result"} for piece in self.pieces) or self.role in {"tool", "function"}

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Who wrote which stretch of the text, in order; empty until it was attributed."""
        pieces = zip(self.pieces, self.writers, strict=False)
        return join_passages([(piece.start, piece.end, writer) for piece, writer in pieces])

    @property
    def typed(self) -> bool:
        """Whether a person wrote something of it."""
        return any(writer in PEOPLE for writer in self.writers)

    @property
    def written_by(self) -> WrittenBy:
        """Who wrote it; of a message that several wrote, a person before an assistant, and that before all else."""
        return min(self.writers, key=WRITERS.index, default="harness")


def attribute(draft: Draft, origin: Origin, *, other_person: bool = False) -> Draft:
    """The draft with who wrote each of its pieces, where `origin` says who brings it.

    `other_person` says that its name is another person's than the user's (`memhold.messages.people`).
    """
    claims = draft.claims or (None,) * len(draft.pieces)
    writers = [
        writer_of(one.kind, draft.role, origin, other_person=other_person, claim=claim)
        for one, claim in zip(draft.pieces, claims, strict=True)
    ]
    return replace(draft, writers=tuple(writers), origin=origin, other_person=other_person)


def parse_messages(
    raw: Mapping[str, Any] | Iterable[Mapping[str, Any]], *, now: datetime, limits: Limits | None = None
) -> tuple[Draft, ...]:
    """Drafts of the messages, in their order: all of them, or an error and none.

    Accepted on each message, beside the message itself: `event_time` (an aware datetime or ISO-8601 text with a zone;
    at most a day after `now`), `metadata` (a dict of JSON), `embed` (false: not to be found by meaning), `written_by`
    (who wrote it, or a list with one for each part of its content). One message may be passed without a list around it.
    NUL and lone surrogates are kept and come back; `text` shows them as U+FFFD.

    Raises:
        InvalidMessage: a message is malformed, empty, has an unknown role, an id that stood before in this batch, or a
            time in the future; `index` says which one, and `empty` is true where there is nothing in it.
        NaiveTime: an `event_time` has no zone; `index` says which one.
        TooLarge: a message or the batch is over a limit; `size`, `limit`, and `index` for a message.
    """
    limits = limits or Limits()
    drafts: list[Draft] = []
    seen: dict[str, int] = {}
    total = 0
    for index, message in enumerate(listed_messages(raw)):
        if index >= limits.batch_messages:
            raise _too_large("the batch has more messages than", index + 1, limits.batch_messages, None)
        draft = _draft(message, index, now, limits)
        total += draft.size
        if total > limits.batch_bytes:
            raise _too_large("the batch has more bytes than", total, limits.batch_bytes, None)
        if draft.caller_id is not None and seen.setdefault(draft.caller_id, index) != index:
            first = seen[draft.caller_id]
            raise _invalid(index, f"its id {draft.caller_id!r:.80} is that of message {first} too; ids must differ")
        drafts.append(draft)
    return tuple(drafts)


def _draft(message: object, index: int, now: datetime, limits: Limits) -> Draft:
    if type(message) is not dict and not isinstance(message, Mapping):
        hint = "; pass its model_dump()" if hasattr(message, "model_dump") else "; pass a dict with role and content"
        raise _invalid(index, f"it is a {type(message).__name__}{hint}")
    own: Mapping[str, Any] = {} if is_item(message) else message
    try:
        body = json_copy({name: value for name, value in message.items() if name not in OWN_KEYS or not own})
        metadata = _metadata(own.get("metadata"))
        size = _size(body) + (_size(metadata) if metadata else 0)
        if size > limits.message_bytes:
            raise _too_large(f"message {index} has more bytes than", size, limits.message_bytes, index)
        read = read_message(body)
        role, shape, text = read.role, read.shape, read.text
        claims = _claims(own.get("written_by"), read.pieces, body.get("content"))
        if len(text) * 4 > limits.text_bytes and (length := len(text.encode())) > limits.text_bytes:
            raise _too_large(f"the text of message {index} has more bytes than", length, limits.text_bytes, index)
        event_time = _event_time(own, now, limits.ahead)
    except NaiveTime as error:
        raise NaiveTime(f"message {index}: {error}", index=index) from None
    except TooLarge:
        raise
    except InvalidInput as error:
        raise _invalid(index, str(error), **error.values) from None
    embed = own.get("embed", True) if own else False
    if not isinstance(embed, bool):
        raise _invalid(index, "embed must be true or false")
    caller_id = body.get("id")
    return Draft(
        role=role,
        body=body,
        shape=shape,
        text=text,
        size=size,
        event_time=event_time,
        metadata=metadata,
        embed=embed,
        caller_id=caller_id if isinstance(caller_id, str) else None,
        pieces=read.pieces,
        claims=claims,
    )


def _claims(value: object, pieces: tuple[Piece, ...], content: object) -> tuple[WrittenBy | None, ...]:
    """What the caller says of who wrote each piece; a list has one for each part of the content."""
    if value is None:
        return ()
    parts = len(content) if isinstance(content, list) else 0
    if isinstance(value, list | tuple):
        if len(value) != parts:
            raise InvalidInput(
                f"written_by lists {len(value)} for {parts} parts; pass one for each part, or one for all"
            )
        named = [None if one is None else _writer(one) for one in value]
        return tuple(None if piece.block is None else named[piece.block] for piece in pieces)
    return (_writer(value),) * len(pieces)


def _writer(value: object) -> WrittenBy:
    for known in WRITERS:
        if value == known:
            return known
    raise InvalidInput(f"written_by is {value!r:.40}; pass one of {', '.join(WRITERS)}")


def _metadata(value: object) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInput(f"metadata is a {type(value).__name__}; pass a dict")
    copied: dict[str, Any] = json_copy(value)
    return copied


def _event_time(own: Mapping[str, Any], now: datetime, ahead: timedelta) -> datetime | None:
    value = own.get("event_time")
    if value is None:
        if isinstance(own.get("time"), str | int | float | datetime):
            raise InvalidInput("it has a time, which nothing reads; pass when it was said as event_time")
        return None
    moment = parse_time(value)
    if moment > now + ahead:
        raise InvalidInput(
            f"its event_time {moment.isoformat()} lies more than {ahead} after now; "
            "event_time is when it was said: leave it out, or put a planned date into the text or metadata"
        )
    return moment


def _size(body: Mapping[str, Any]) -> int:
    text = body_json(body)
    return len(text) if text.isascii() else len(text.encode())


def _invalid(index: int, why: str, **values: Any) -> InvalidMessage:
    return InvalidMessage(f"message {index}: {why}", **(values | {"index": index}))


def _too_large(what: str, size: int, limit: int, index: int | None) -> TooLarge:
    hint = "split it, or pass a reference instead of the data" if index is not None else "send it in several calls"
    values = {"size": size, "limit": limit} | ({} if index is None else {"index": index})
    return TooLarge(f"{what} the limit allows ({size:,} > {limit:,}); {hint}", **values)


HEARD = 64
"""The last messages of a session whose names are known when the next ones arrive."""


@dataclass(frozen=True, slots=True)
class _Voices:
    """The names that stand in the role user, and whether the assistant works with tools here: then it is a program."""

    names: frozenset[str]
    works: bool

    @staticmethod
    def of(messages: Iterable[Message | Draft]) -> _Voices:
        held = list(messages)
        return _Voices(
            frozenset(folded(one.speaker) for one in held if one.role == "user" and one.typed and one.speaker),
            any(one.works for one in held),
        )

    def another(self, draft: Draft, user: str | None) -> bool:
        """Whether the name of a message is another person's than the user's."""
        name = folded(draft.speaker or "")
        if not name or name == folded(user or ""):
            return False
        if draft.role == "user":
            return bool(self.names - {name})
        return draft.role == "assistant" and bool(self.names) and name not in self.names and not self.works


def told_apart(
    drafts: Sequence[Draft], before: Iterable[Message] = (), *, user: str | None, agent: str | None
) -> tuple[Draft, ...]:
    """The drafts, which say who brought them, with what other people than the user wrote as theirs.

    Who another person is stands in `memhold.values.origins`. It is decided by the names in the drafts and in the
    messages of the session `before` them. What an `agent` keeps as its own has no second person in the role assistant.
    A draft of which that changes nothing is the same object.
    """
    if not any(draft.speaker for draft in drafts):
        return tuple(drafts)
    voices = _Voices.of([*before, *drafts])

    def told(draft: Draft) -> Draft:
        own = draft.role == "assistant" and agent is not None
        other = not own and voices.another(draft, user)
        return draft if other == draft.other_person else attribute(draft, draft.origin, other_person=other)

    return tuple(told(draft) for draft in drafts)
