"""Who said something, and whose word counts more: the one place where that is decided. Pure.

What is recorded is never upgraded: a line that a model's tool call brings is the agent's, whatever role it claims.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from memhold.values.errors import ScopeDenied
from memhold.values.names import checked_actor
from memhold.values.records import PEOPLE, Author, Memory, Message, Origin, Passage, Trust, WrittenBy

if TYPE_CHECKING:
    from memhold.values.answers import Hit

__all__ = [
    "AGENT",
    "USER",
    "acting",
    "author_of",
    "authority",
    "from_user",
    "join_passages",
    "lines_origin",
    "name_of",
    "named",
    "no_more_than",
    "passages_by",
    "said_by",
    "said_no_more_than",
    "shown_name",
    "spoken_by",
    "text_by",
    "told_by",
    "weight",
    "with_quote",
    "words_of",
    "writer_of",
]

_BY_ROLE: dict[str, WrittenBy] = {
    "tool": "tool",
    "function": "tool",
    "system": "harness",
    "developer": "harness",
}
_BY_KIND: dict[str, WrittenBy] = {"result": "tool", "attachment": "attachment", "call": "assistant"}
_BY_ORIGIN: dict[Origin, WrittenBy] = {"user": "user", "import": "user", "tool": "tool"}


def writer_of(
    kind: str, role: str, origin: Origin, *, other_person: bool = False, claim: WrittenBy | None = None
) -> WrittenBy:
    """Who wrote a piece of a message.

    Args:
        kind: what the piece is, as `memhold.messages.shapes.PieceKind` has it.
        role: the role of its message.
        origin: who brought the message: an application in its user's name, an agent, a tool, an import.
        other_person: whether the message bears the name of a person who is not the scope's user.
        claim: what the caller says, if anything.
    """
    found = _by_table(kind, role, origin, other_person=other_person)
    if claim is None or (claim in PEOPLE and found not in PEOPLE and _BY_ORIGIN.get(origin) != "user"):
        return found
    return claim


def _by_table(kind: str, role: str, origin: Origin, *, other_person: bool) -> WrittenBy:
    fixed = _BY_ROLE.get(role) or _BY_KIND.get(kind)
    if fixed is not None:
        return fixed
    by_user = _BY_ORIGIN.get(origin, "assistant")
    if other_person and by_user == "user":
        return "participant"
    return "assistant" if role == "assistant" else by_user


def join_passages(pieces: Sequence[tuple[int, int, WrittenBy]]) -> tuple[Passage, ...]:
    """Passages of pieces in order: what one writer wrote in a row is one."""
    found: list[Passage] = []
    for start, end, writer in pieces:
        first = found.pop().start if found and found[-1].written_by == writer else start
        found.append(Passage(start=first, end=end, written_by=writer))
    return tuple(found)


def passages_by(message: Message, *writers: WrittenBy) -> tuple[Passage, ...]:
    """What these writers wrote of a message, in order."""
    return tuple(one for one in message.passages if one.written_by in writers)


def text_by(message: Message, *writers: WrittenBy) -> str:
    """The words of a message that these writers wrote, its quotes included, a passage a line; empty where none are."""
    return "\n".join(message.text[one.start : one.end] for one in passages_by(message, *writers))


USER = 6
"""The authority of what the user told, or confirmed."""
_USERS_LINE = 5
AGENT = 4
_WEIGHTS: dict[Origin, int] = {"user": USER, "agent": AGENT, "import": 3, "rules": 2, "tool": 1}


@lru_cache(maxsize=1024)
def author_of(actor: str) -> Author:
    """The author of what is written in the name of a checked actor, such as "agent:claude-code"."""
    kind, _, name = actor.partition(":")
    return Author(origin=cast("Origin", kind), name=name or None)


def acting(own: str, asked: str | None) -> str:
    """The actor that a request writes as: its connection's own, or one that it names and that says no more.

    The name of a connection that writes for users, such as a web application's, stays before what it names.

    Raises:
        InvalidScope: what is named is no actor.
        ScopeDenied: it is more than the connection's own: an agent's token does not write in the user's name.
    """
    if asked is None:
        return own
    wanted = checked_actor(asked)
    kind, _, name = wanted.partition(":")
    held, _, bound = own.partition(":")
    if held == "user" and bound and name != bound:
        return checked_actor(f"{kind}:{bound}/{name}" if name else f"{kind}:{bound}")
    if held == "user" or wanted == own or (kind == held and not bound and name) or (held == "agent" and kind == "tool"):
        return wanted
    raise ScopeDenied(f"this connection writes as {own!r}, not as {wanted!r:.80}; leave the actor out")


def no_more_than(author: Author, by: Author) -> Author:
    """Who said something that somebody else brings in a file: never more than the one who brings it.

    What an agent or a tool brings bears its name, whatever the file calls: so it is found with all that it wrote.
    """
    if by.origin == "user":
        return author
    return replace(author, name=by.name or author.name) if _said(author) <= _said(by) else by


def _said(author: Author) -> int:
    return AGENT if author.origin == "model" else _WEIGHTS[author.origin]


def said_no_more_than(memory: Memory, by: Author) -> Memory:
    """A memory of a file as whoever brings it may bring it: a person's yes and the user's word are not an agent's."""
    if by.origin == "user":
        return memory
    if authority(memory) <= _WEIGHTS[by.origin]:
        return replace(memory, actor=by.name or memory.actor)
    trust: Trust = "tool" if by.origin == "tool" else "assistant"
    return replace(memory, origin=by.origin, actor=by.name, trust=trust, last_confirmed_at=None)


def named(author: Author) -> str:
    """An author as a person reads it: "agent claude-code"."""
    return author.origin if author.name is None else f"{author.origin} {author.name}"


def lines_origin(brought: Origin, writer: WrittenBy) -> Origin:
    """The origin of a line of the journal: who said it, by who brought it and who wrote it.

    An application that acts for the user saw who spoke. What an agent brings is its own, but for what it says a tool
    returned, which counts less. An import stays an import.
    """
    if brought not in {"user", "agent"}:
        return brought
    return "tool" if writer in {"tool", "attachment"} else "agent" if writer == "assistant" else brought


def told_by(line: Message | Hit) -> str:
    """Who wrote a line, as a person reads it: its writer, with the client that only reports words as the user's.

    A name that a client gives itself stands in quotes: it could be anything, also a claim.
    """
    reports = line.written_by == "assistant" and line.role != "assistant"
    return f"assistant{name_of(line.actor)} (reports it of the user)" if reports else line.written_by or ""


def spoken_by(line: Message | Hit) -> str:
    """The same with the name that a person or an assistant came with in the place of their writer, where one did."""
    told = told_by(line)
    return shown_name(line.speaker) or told if told == line.written_by else told


def words_of(line: Message | Hit) -> str:
    """What a line says, without the name in front of it that `spoken_by` gives."""
    return line.text.removeprefix(f"{line.speaker}: ") if shown_name(line.speaker) else line.text


def with_quote(item: Memory | Hit, text: str) -> str:
    """A text of an item; of one in doubt with the words that it rests on: whoever reads it judges for themselves."""
    return f"{text}; the words were: “{item.quote}”" if item.doubtful and item.quote else text


def shown_name(speaker: str | None) -> str:
    """A speaker's name as it stands in front of what they said; empty where there is none that can stand there.

    A name never passes for a role, nor for the end of a line.
    """
    name = " ".join((speaker or "").split())[:_LONGEST]
    return "" if name.casefold() in _ROLE_WORDS or not name.isprintable() else name


_LONGEST = 64
_ROLE_WORDS = frozenset({"assistant", "attachment", "developer", "function", "harness", "system", "tool", "user"})


def name_of(actor: str | None) -> str:
    """The name that a client gave itself, behind a space and in quotes that it cannot end; empty where it gave none."""
    return "" if actor is None else ' "' + actor.replace('"', "'") + '"'


def weight(origin: Origin, trust: Trust, *, confirmed: bool = False) -> int:
    """The authority of a statement: user > model from the user's lines > agent > import > rules > tool.

    What a model read in other lines counts as those do.
    """
    if confirmed:
        return USER
    if origin == "model":
        return {"user": _USERS_LINE, "assistant": AGENT, "tool": _WEIGHTS["tool"]}[trust]
    if origin == "agent" and trust == "user":
        return _USERS_LINE
    return min(_WEIGHTS[origin], _WEIGHTS["tool"] if trust == "tool" else USER)


def authority(memory: Memory) -> int:
    """The authority of what a memory says; a person's yes makes it the user's word."""
    return weight(memory.origin, memory.trust, confirmed=memory.last_confirmed_at is not None)


def said_by(memory: Memory) -> tuple[Origin | None, str | None]:
    """Whose word a memory is, as far as words of several may become one: the user's, what was learnt, or whose it is.

    What an agent or an import said never becomes one with the user's, nor with another client's; nor what two people
    said who came with different names.
    """
    if from_user(memory):
        return "user", memory.speaker
    return (memory.origin, memory.actor) if memory.origin in {"agent", "tool", "import"} else (None, None)


def from_user(memory: Memory) -> bool:
    """Whether the user told it, confirmed it, or said it in a line that a model read it in: what may instruct a model.

    What is doubtful is not.
    """
    if memory.origin == "user" or memory.last_confirmed_at is not None:
        return True
    return memory.origin == "model" and memory.trust == "user" and not memory.doubtful
