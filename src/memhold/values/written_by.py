"""Who wrote which part of a message: the one table that decides it, once, when a message arrives. Pure.

A provider's role says where a message stands in a window, not who wrote it: in one shape tools answer in the user's
turn, and clients of coding agents put texts of their own there.

| the piece | its message | its author | written by |
|---|---|---|---|
| any | role `tool` or `function` | any | `tool` |
| any | role `system` or `developer` | any | `harness` |
| a tool's result | any other | any | `tool` |
| a document, an image, a file, a search result, a block of an unknown type | any other | any | `attachment` |
| a call | any other | any | `assistant` |
| words | role `assistant` | any | `assistant` |
| words | role `assistant`, with the name of a second person | user, import | `participant` |
| words | role `user` | user, import | `user` |
| words | role `user`, with the name of another person than the user | user, import | `participant` |
| words | role `user` | agent, model, rules | `assistant` |
| words | role `user` | tool | `tool` |

Whose a name is, is told by the names of the conversation (`memhold.messages.people`): those that came with the last
messages of the session and with the ones that arrive together. What was decided for a stored message stays.

- Role `user`: the user's where it is the name of the scope's user, or where nobody with another name speaks in this
  role. Else it is another person's: of a family or a meeting in which nobody is the scope's user, everybody is another.
- Role `assistant`: a second person's where lines of the role `user` bear names too, none of which is this one. Not the
  name of the scope's user, not where the assistant calls tools in this conversation, and not where the scope is an
  agent's: then it is a program's name. A name on the assistant alone makes no second person.
- Names are one where they are equal composed (NFC), in lower case, with single spaces.

A caller who knows more may say so (`written_by` on the message, for all of it or block by block). It is taken at its
word where it writes in a user's name; a claim of an agent's or a tool's never makes a person of what is none.
"""

from __future__ import annotations

from collections.abc import Sequence

from memhold.values.records import PEOPLE, Message, Origin, Passage, WrittenBy

__all__ = ["join_passages", "passages_by", "text_by", "writer_of"]

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
