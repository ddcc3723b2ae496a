"""The pieces of a window: the journal's messages and the caller's, each once, in the provider's shape."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memhold.context.convert import in_shape
from memhold.journal.windows import is_result
from memhold.messages.anthropic_pairs import person_wrote
from memhold.messages.fences import charged, without_fences
from memhold.messages.ingest import OWN_KEYS
from memhold.messages.openai_pairs import user_wrote
from memhold.messages.records import records_in
from memhold.messages.shapes import read_message, without_reasoning
from memhold.messages.window import Body, blank, entries_of, is_system
from memhold.text.token_estimate import Count, estimate_message, estimate_tokens
from memhold.values.records import PEOPLE, Message, Shape, WrittenBy, speaker_of

__all__ = [
    "CONTINUES",
    "Costs",
    "Piece",
    "is_person",
    "joined",
    "newest_person",
    "only_recalled",
    "overlap",
    "retold",
    "text_of",
    "with_first",
    "with_recalled",
    "words_of",
]

CONTINUES = "[The conversation continues here.]"
"""The user's message that closes a window whose provider demands one, where neither journal nor caller has any."""
_MARKS: dict[WrittenBy, str] = {
    "assistant": "[Reported by an assistant, not confirmed by the user]",
    "tool": "[Reported by a tool, not confirmed by the user]",
    "harness": "[Text of a client program, not the user's words]",
}
"""What stands before words of a turn of the user's that somebody else wrote.

A name that a client gives itself is no part of it: it could be anything, also a claim."""
_SAID = ("role", "content", "tool_calls", "tool_call_id", "function_call", "refusal")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One message of the window: its body, its id and seq where the journal has it, whether the caller gave it.

    What has no id nobody but the caller has: no question finds it.
    """

    body: Body
    id: str | None = None
    seq: int | None = None
    given: bool = False
    short: bool = False


@dataclass(frozen=True, slots=True)
class Costs:
    """Estimates by object: a window is measured many times while it is fitted, and each body is counted once."""

    known: dict[int, tuple[Body, int]] = field(default_factory=dict)
    count: Count = estimate_tokens

    def __call__(self, body: Body) -> int:
        """The estimate of one message, in tokens."""
        found = self.known.get(id(body))
        if found is None or found[0] is not body:
            found = self.known[id(body)] = (body, estimate_message(body, self._charge))
        return found[1]

    def _charge(self, text: str) -> int:
        return charged(text, self.count)


def is_person(body: Body, shape: Shape) -> bool:
    """Whether a person wrote the message."""
    return user_wrote(body) if shape == "openai" else person_wrote(body)


def newest_person(pieces: Sequence[Piece], shape: Shape) -> int | None:
    """The position of the newest message that a person wrote."""
    return next((at for at in range(len(pieces) - 1, -1, -1) if is_person(pieces[at].body, shape)), None)


def overlap(journal: Sequence[Body], given: Sequence[Body]) -> int:
    """How many of the caller's messages the journal's end already holds, so that they are not shown twice.

    The journal's last messages are looked for in the caller's, the longest match first: the caller may pass what it
    has just added, or a whole history. Messages are the same where role, content and calls are.
    """
    names = _names(journal, given)
    ours, theirs = [_said(body, names) for body in journal], [_said(body, names) for body in given]
    for end in range(len(theirs), 0, -1):
        length = min(end, len(ours))
        if length and ours[-length:] == theirs[end - length : end]:
            return end
    return 0


def _names(*several: Sequence[Body]) -> frozenset[str]:
    """The names that speakers of some messages came with."""
    return frozenset(name for bodies in several for body in bodies if (name := speaker_of(str(body["role"]), body)))


def _said(body: Body, names: Collection[str] = ()) -> list[Any]:
    """What tells messages apart; the mark of an earlier context is no part of it, nor one of these names in front."""
    said = [_unmarked(body.get(name)) if name == "content" else body.get(name) or None for name in _SAID]
    at = _SAID.index("content")
    return said if not names else [*said[:at], _unnamed(said[at], names), *said[at + 1 :]]


def _unnamed(content: Any, names: Collection[str]) -> Any:
    """The content without the name that a shape which has no place for it put in front (`led_by`)."""
    if isinstance(content, str):
        head, colon, rest = content.partition(": ")
        return rest if colon and head in names else content
    if isinstance(content, list) and content and isinstance(text := content[0].get("text"), str):
        return [{**content[0], "text": _unnamed(text, names)}, *content[1:]]
    return content


def _mark(message: Message) -> str:
    """What stands before words that a call brought as the user's; empty before all others."""
    return _MARKS.get(message.written_by, "") if message.role == "user" and not is_result(message) else ""


def _marked(body: Body, mark: str) -> Body:
    """The message with a mark in front of its words; one that says nothing stays as it is."""
    content = body.get("content")
    if content is None or blank(content):
        return body
    marked = f"{mark} {content}" if isinstance(content, str) else [{"type": "text", "text": mark}, *content]
    return {**body, "content": marked}


def _unmarked(content: Any) -> Any:
    """The content without such a mark; None where it is none."""
    for mark in _MARKS.values():
        if isinstance(content, str) and content.startswith(f"{mark} "):
            return content[len(mark) + 1 :]
        if isinstance(content, list | tuple) and content and content[0] == {"type": "text", "text": mark}:
            return [*content[1:]]
    return content or None


def retold(journal: Sequence[Body], given: Sequence[Body]) -> dict[int, int]:
    """Where the caller's messages stand in the journal, by place, if they tell anew what it holds; else nothing.

    So it is where a message was changed, answered again, left out or put in between. They are known by those that each
    side has once, in one order, and by the same ones next to these. Fewer than two, or less than half of what the
    journal has from the first on, may have been said again.
    """
    names = _names(journal, given)
    ours, theirs = [repr(_said(body, names)) for body in journal], [repr(_said(body, names)) for body in given]
    often, again = Counter(ours), Counter(theirs)
    at = {said: place for place, said in enumerate(ours) if often[said] == again[said] == 1}
    places = [place for place, said in enumerate(theirs) if said in at]
    found = {places[one]: at[theirs[places[one]]] for one in _rising([at[theirs[place]] for place in places])}
    for step in (1, -1):
        held = set(found.values())
        for place, same in sorted(found.items(), reverse=step < 0):
            here, there = place + step, same + step
            while (
                0 <= here < len(theirs)
                and 0 <= there < len(ours)
                and here not in found
                and there not in held
                and theirs[here] == ours[there]
            ):
                found[here] = there
                held.add(there)
                here, there = here + step, there + step
    if len(found) < 2 or 2 * len(found) < len(ours) - min(found.values()):
        return {}
    return found


def _rising(numbers: Sequence[int]) -> list[int]:
    """The places of the longest rising run of numbers, gaps allowed."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for place, number in enumerate(numbers):
        length = bisect_left(ends, number)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1], last[length : length + 1] = [number], [place]
    found: list[int] = []
    place = last[-1] if last else -1
    while place >= 0:
        found.append(place)
        place = before[place]
    return found[::-1]


def joined(
    given: Sequence[Body], window: Sequence[Message], shape: Shape, *, secret: bytes, before: Sequence[Message] = ()
) -> tuple[list[Body], list[Piece]]:
    """The caller's leading instructions, and the window: the journal's messages, then what is new of the caller's.

    Where the caller passes a history that begins before the window, so does what is returned. Its messages are known by
    those that the session has `before` the window. Where the caller tells anew what the session holds, the caller's is
    what was said from there on.

    An instruction in the journal that the caller gives too, or that stood before, is not repeated. What any of them
    quotes in a fence of this store is left out: it was recalled for an earlier request, and may no longer hold.

    Raises:
        InvalidMessage: one of the caller's messages is of neither shape.
    """
    plain = [_own(body) for body in given if not only_recalled(body, secret)]
    lead = 0
    while lead < len(plain) and is_system(plain[lead]):
        lead += 1

    def shaped(body: Body, mark: str = "") -> list[Body]:
        bare = without_fences(body, secret)
        if bare is not body and blank(bare.get("content")) and not bare.get("tool_calls"):
            return []
        return in_shape(_marked(bare, mark) if mark else bare, shape)

    systems = [one for body in plain[:lead] for one in shaped(body)]
    spoken = plain[lead:]
    journal = [message for message in (*before, *window) if not is_system(message.body)]
    bodies = [message.body for message in journal]
    known = overlap(bodies, spoken)
    told = retold(bodies, spoken) if known < min(len(bodies), len(spoken)) else {}
    if len(told) <= known:
        told = {}
    said = [_said(body) for body in (*systems, *(body for body in spoken if told and is_system(body)))]
    first = journal[min(told.values())].seq if told else None
    pieces: list[Piece] = []
    for message in window:
        if first is not None and message.seq >= first and not is_system(message.body):
            continue
        if is_system(message.body) and message.origin == "user":
            if _said(message.body) in said:
                continue
            said.append(_said(message.body))
        ranked = shaped(_ranked(message), _mark(message))
        pieces += [Piece(body=body, id=message.id, seq=message.seq) for body in ranked]
    if told:
        retelling = [
            Piece(body=one, id=same.id, seq=same.seq, given=True) if same else Piece(body=one, given=True)
            for place, body in enumerate(spoken)
            for same in [journal[told[place]] if place in told else None]
            for one in shaped(body)
        ]
        entries_of([*systems, *(piece.body for piece in (*pieces, *retelling))], shape)
        return systems, [*pieces, *retelling]
    older = max(0, known - sum(not is_system(message.body) for message in window))
    held = [*[None] * (known - len(journal)), *journal[max(0, len(journal) - known) :]]
    earlier = [
        Piece(body=one, id=same.id, seq=same.seq, given=True) if same else Piece(body=one, given=True)
        for body, same in zip(spoken[:older], held, strict=False)
        for one in shaped(body)
    ]
    after = [Piece(body=one, given=True) for body in spoken[known:] for one in shaped(body)]
    found = [*earlier, *pieces, *after]
    entries_of([*systems, *(piece.body for piece in found)], shape)
    return systems, found


def only_recalled(body: Body, secret: bytes) -> bool:
    """Whether a message holds recalled text of this store and nothing else: part of an earlier context, come back."""
    if body.get("tool_calls") or "<memhold-recall " not in str(body.get("content")):
        return False
    return blank(without_fences(body, secret).get("content"))


def _ranked(message: Message) -> Body:
    """A message at the rank that it may have, and without thoughts: what no application instructs is an agent's."""
    if message.origin == "user" or not is_system(message.body):
        return without_reasoning(message.body)
    return {"role": "assistant", "content": message.text}


def _own(body: Body) -> Body:
    return {name: value for name, value in body.items() if name not in OWN_KEYS} if OWN_KEYS & body.keys() else body


def with_recalled(window: Sequence[Body], recalled: str, shape: Shape) -> Iterator[Body]:
    """The window with recalled text before the newest user's message, whose own parts stay as they are.

    In the OpenAI shape it is a user's message of its own; in the Anthropic shape a block of text of the user's turn,
    behind the results that must come first. A window without a user's message begins with it. It is never an
    instruction: whatever was said may be found, and nobody vouches for it.
    """
    wrote = user_wrote if shape == "openai" else person_wrote
    newest = next((at for at in range(len(window) - 1, -1, -1) if wrote(window[at])), None)
    if not recalled:
        yield from window
    elif newest is None:
        yield from with_first(window, recalled, shape)
    else:
        yield from window[:newest]
        yield from with_first(window[newest:], recalled, shape)


def with_first(window: Sequence[Body], recalled: str, shape: Shape) -> list[Body]:
    """Messages with recalled text in front, as a user's; in the Anthropic shape in the turn of a user who is first."""
    if shape == "anthropic" and window and window[0]["role"] == "user":
        return [_led(window[0], recalled), *window[1:]]
    return [{"role": "user", "content": recalled}, *window]


def _led(body: Body, recalled: str) -> Body:
    content = body["content"]
    parts: list[Mapping[str, Any]] = [{"type": "text", "text": content}] if isinstance(content, str) else [*content]
    results = [part for part in parts if part.get("type") == "tool_result"]
    rest = [part for part in parts if part.get("type") != "tool_result"]
    return {**body, "content": [*results, {"type": "text", "text": recalled}, *rest]}


def words_of(given: Sequence[Body], secret: bytes) -> str:
    """What the newest message of a person among the caller's says, without what it quotes; empty where none does."""
    for body in reversed(given):
        content = without_fences(body, secret).get("content")
        if body.get("role") == "user" and not blank(content):
            found = records_in(read_message({"role": "user", "content": content}))
            if text := next((one.text for one in found if one.written_by in PEOPLE), ""):
                return text
    return ""


def text_of(body: Body) -> str:
    """The words of a message without its images and calls."""
    content = body.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content or () if part.get("type") == "text")
