"""Tool pairs in the Anthropic messages shape.

The rules (Messages API reference, its page on handling tool calls, and its 400s): consecutive messages of one role are
read as one turn (and refused by older servers of the shape); the first is a user's; each `tool_use` of a turn has
exactly one `tool_result` at the start of the very next user message, and a `tool_result` stands nowhere else;
`tool_use` ids are unique in the request; each role has blocks of its own, and thinking
its signature; text blocks are not blank; an assistant's message does not end with thinking, and the final one not with
whitespace; a server tool's result stands behind its use. System messages may stand in the list (the caller lifts them
out); no rule sees them, but none is left between a call and its result.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from memhold.messages.window import (
    EMPTY_RESULT,
    NO_RESULT,
    OMITTED,
    Body,
    Entry,
    Policy,
    Repair,
    RepairAction,
    blank,
    in_order,
    is_system,
    owners,
    quoted_result,
)

__all__ = [
    "Block",
    "answered_servers",
    "anthropic_starts",
    "anthropic_units",
    "blocks_of",
    "is_thinking",
    "lone_text",
    "one_result",
    "person_wrote",
    "repair_anthropic",
    "sendable_block",
    "with_blocks",
    "without_blanks",
]

Block = Mapping[str, Any]

_SERVER_USES = frozenset({"server_tool_use", "mcp_tool_use"})
_ASSISTANT_BLOCKS = _SERVER_USES | {"tool_use", "thinking", "redacted_thinking"}
_USER_BLOCKS = frozenset({"image", "document"})


def blocks_of(message: Body) -> list[Block]:
    """The message's content as blocks; text stands for one block of text."""
    content = message.get("content")
    if content is None:
        return []
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def with_blocks(message: Body, blocks: Sequence[Block]) -> Body:
    """The message with other blocks, everything else of it unchanged."""
    return {**message, "content": list(blocks)}


def is_thinking(block: Block) -> bool:
    """Whether the block is thinking, shown or redacted."""
    return block["type"] in {"thinking", "redacted_thinking"}


def sendable_block(block: Block, role: str) -> Block | None:
    """The block as a message of this role may hold it, the same object where it may; None where it may not."""
    kind = block["type"]
    if role == "user":
        if kind in _ASSISTANT_BLOCKS or kind.endswith("_tool_result"):
            return None
        return _sendable_result(block) if kind == "tool_result" else block
    if kind == "tool_result" or (kind == "thinking" and not block.get("signature")):
        return None
    if kind in _USER_BLOCKS:
        return {"type": "text", "text": f"[{kind}]"}
    if kind != "tool_use" or (_named_anthropic_blocks(block) and isinstance(block.get("input"), Mapping)):
        return block
    given = block.get("input")
    return {
        **block,
        "name": block["name"] if _named_anthropic_blocks(block) else "unknown",
        "input": given if isinstance(given, Mapping) else {},
    }


def _named_anthropic_blocks(block: Block) -> bool:
    return isinstance(block.get("name"), str) and bool(block["name"])


def _sendable_result(block: Block) -> Block:
    """A result without null, and an error that says something."""
    if block.get("is_error") and blank(block.get("content")):
        return {**block, "content": EMPTY_RESULT}
    if "content" in block and block["content"] is None:
        return {key: value for key, value in block.items() if key != "content"}
    return block


def without_blanks(blocks: Sequence[Block]) -> tuple[list[Block], bool]:
    """The blocks without blank text, in tool results too; and whether there was any."""
    kept: list[Block] = []
    changed = False
    for block in blocks:
        content = block.get("content")
        if block["type"] == "text" and not block["text"].strip():
            changed = True
        elif block["type"] == "tool_result" and isinstance(content, list | tuple):
            inner = [part for part in content if part["type"] != "text" or part["text"].strip()]
            if len(inner) < len(content):
                changed = True
                rest = {key: value for key, value in block.items() if key != "content"}
                kept.append({**rest, "content": inner} if inner else rest)
            else:
                kept.append(block)
        else:
            kept.append(block)
    return kept, changed


def one_result(results: Sequence[Block]) -> Block:
    """Several results of one call as one block: all their content in order, an error if one of them was."""
    content: list[Block] = []
    for result in results:
        inner = result.get("content")
        if isinstance(inner, str):
            content.extend([{"type": "text", "text": inner}] if inner.strip() else [])
        else:
            content.extend(inner or ())
    joined = {**results[0], "content": content}
    if not any(result.get("is_error") for result in results):
        return joined
    return {**joined, "is_error": True, "content": content or EMPTY_RESULT}


def lone_text(block: Block) -> list[Block]:
    """A block of a user's message that has lost its call: a result becomes text, images and documents stay."""
    if block["type"] != "tool_result":
        return [block]
    content = block.get("content")
    if isinstance(content, str) or blank(content):
        return [{"type": "text", "text": quoted_result(content if isinstance(content, str) else "")}]
    text = "\n".join(part["text"] for part in content or () if part["type"] == "text")
    return [{"type": "text", "text": quoted_result(text)}, *(p for p in content or () if p["type"] in _USER_BLOCKS)]


def answered_servers(messages: Sequence[Body]) -> dict[int, set[int]]:
    """Where halves of server tools' pairs stand: block numbers by message position.

    A server tool's result may come in a later message of the same exchange (behind the results of client tools), so
    only a person's message closes what is open. A use that is open at the very end may still be continued.
    """
    lost: dict[int, set[int]] = {}
    waiting: dict[str | None, tuple[int, int]] = {}
    for position, message in enumerate(messages):
        blocks = blocks_of(message)
        if message["role"] == "user":
            if any(block["type"] != "tool_result" for block in blocks):
                for at, number in waiting.values():
                    lost.setdefault(at, set()).add(number)
                waiting = {}
            continue
        for number, block in enumerate(blocks):
            if block["type"] in _SERVER_USES:
                earlier = waiting.pop(block.get("id"), None)
                if earlier is not None:
                    lost.setdefault(earlier[0], set()).add(earlier[1])
                waiting[block.get("id")] = (position, number)
            elif block["type"].endswith("_tool_result") and waiting.pop(block.get("tool_use_id"), None) is None:
                lost.setdefault(position, set()).add(number)
    return lost


_LEGAL_ID = re.compile(r"[a-zA-Z0-9_-]+\Z")


def person_wrote(message: Body) -> bool:
    """Whether the message is a user's and holds more than tool results and blanks."""
    if message["role"] != "user":
        return False
    kept, _ = without_blanks(blocks_of(message))
    return any(block["type"] != "tool_result" and sendable_block(block, "user") is not None for block in kept)


def anthropic_starts(entries: Sequence[Entry]) -> list[int]:
    """Positions at which a window may begin: a person's message behind which no result of an earlier call stands."""
    found = []
    clear = True
    for position in range(len(entries) - 1, -1, -1):
        entry = entries[position]
        if entry.role != "user":
            clear = True
            continue
        clear = clear and not _has(entry.message, "tool_result")
        if clear and person_wrote(entry.message):
            found.append(position)
    return found[::-1]


def anthropic_units(entries: Sequence[Entry]) -> list[int]:
    """Positions at which an assistant's turn, with the user's turn behind it, begins."""
    return [
        position
        for position, entry in enumerate(entries)
        if entry.role == "assistant" and (position == 0 or entries[position - 1].role != "assistant")
    ]


def repair_anthropic(entries: Sequence[Entry], policy: Policy) -> tuple[list[Entry], list[Repair]]:
    """The entries as the Messages API accepts them, and what was changed."""
    repairs: list[Repair] = []
    systems = [entry for entry in entries if is_system(entry.message) and not _silent(entry, repairs)]
    spoken = [entry for entry in entries if not is_system(entry.message)]
    spoken = [kept for entry in spoken if (kept := _cleaned(entry, repairs)) is not None]
    turns = _turns(_thoughts(_turns(_servers(spoken, repairs), repairs), repairs), repairs)
    if policy.unanswered == "remove":
        turns = _turns(_thoughts(_answered(turns, policy, repairs), repairs), repairs)
    turns = _turns(_paired(turns, policy, repairs), repairs)
    systems = _moved(systems, turns, repairs)
    turns = _unique(_opened(turns, repairs), repairs)
    return in_order([*_closed(turns, repairs), *systems]), repairs


def _repair(entry: Entry, action: RepairAction, reason: str) -> Repair:
    return Repair(index=entry.index, action=action, reason=reason)


def _silent(system: Entry, repairs: list[Repair]) -> bool:
    if not blank(system.message.get("content")):
        return False
    repairs.append(_repair(system, "removed", "an empty message"))
    return True


def _has(message: Body, kind: str) -> bool:
    content = message.get("content")
    return isinstance(content, list | tuple) and any(block["type"] == kind for block in content)


def _cleaned(entry: Entry, repairs: list[Repair]) -> Entry | None:
    """The entry without blank text and without blocks that its role cannot send; None where nothing is left."""
    kept, blanks = without_blanks(blocks_of(entry.message))
    sent = [sendable_block(block, entry.role) for block in kept]
    allowed = [block for block in sent if block is not None]
    extra = sorted(entry.message.keys() - {"role", "content"})
    if not allowed:
        repairs.append(_repair(entry, "removed", "an empty message"))
        return None
    for block, held in zip(kept, sent, strict=True):
        if held is None:
            repairs.append(_repair(entry, "removed", f"a {block['type']} that the {entry.role} cannot send"))
        elif held is not block:
            repairs.append(_repair(entry, "cleaned", f"a {block['type']} that could not be sent as it was"))
    if blanks:
        repairs.append(_repair(entry, "cleaned", "blank text"))
    if extra:
        repairs.append(_repair(entry, "cleaned", f"a message has no {', '.join(extra)}"))
        entry = replace(entry, message={"role": entry.role, "content": entry.message.get("content")})
    if not blanks and all(new is old for new, old in zip(sent, kept, strict=True)):
        return entry
    return replace(entry, message=with_blocks(entry.message, allowed))


def _servers(spoken: Sequence[Entry], repairs: list[Repair]) -> list[Entry]:
    """The entries without server tools' uses that were never answered, and without answers to nothing."""
    lost = answered_servers([entry.message for entry in spoken])
    out = []
    for position, entry in enumerate(spoken):
        gone = lost.get(position)
        if gone:
            repairs.extend(_repair(entry, "removed", "half of a server tool's pair") for _ in gone)
            rest = [block for number, block in enumerate(blocks_of(entry.message)) if number not in gone]
            if not rest:
                continue
            entry = replace(entry, message=with_blocks(entry.message, rest))  # noqa: PLW2901
        out.append(entry)
    return out


def _turns(spoken: Sequence[Entry], repairs: list[Repair]) -> list[Entry]:
    """One message a turn: the API reads consecutive messages of a role as one, and older servers refuse them."""
    turns: list[Entry] = []
    for entry in spoken:
        if turns and turns[-1].role == entry.role:
            blocks = [*blocks_of(turns[-1].message), *blocks_of(entry.message)]
            turns[-1] = replace(turns[-1], message=with_blocks(turns[-1].message, blocks))
            repairs.append(_repair(entry, "merged", "continues the message before it, of the same role"))
        else:
            turns.append(entry)
    return turns


def _thoughts(turns: Sequence[Entry], repairs: list[Repair]) -> list[Entry]:
    """The turns without thinking at the end of an assistant's: an interrupted thought cannot be sent."""
    out: list[Entry] = []
    for turn in turns:
        rest = list(blocks_of(turn.message))
        length = len(rest)
        while turn.role == "assistant" and rest and is_thinking(rest[-1]):
            rest.pop()
        if len(rest) == length:
            out.append(turn)
            continue
        repairs.append(_repair(turn, "removed", "thinking that leads to nothing"))
        if rest:
            out.append(replace(turn, message=with_blocks(turn.message, rest)))
    return out


@dataclass(frozen=True, slots=True, kw_only=True)
class _Match:
    """The calls of an assistant's turn and the results of the user's turn behind it, matched."""

    calls: list[Block]
    results: list[Block]
    owner: list[int | None]

    @property
    def missing(self) -> list[int]:
        answered = set(self.owner)
        return [number for number in range(len(self.calls)) if number not in answered]


def _match(call: Entry, answer: Entry | None) -> _Match:
    calls = [block for block in blocks_of(call.message) if block["type"] == "tool_use"]
    behind = blocks_of(answer.message) if answer else ()
    results = [block for block in behind if block["type"] == "tool_result"]
    keys = [block.get("id") for block in calls]
    return _Match(calls=calls, results=results, owner=owners(keys, [block.get("tool_use_id") for block in results]))


def _stays_open(turns: Sequence[Entry], position: int, policy: Policy) -> bool:
    """Whether the calls of this turn may still be answered: nothing but results stands behind them."""
    if not policy.keep_open or len(turns) - position > 2:
        return False
    behind = turns[position + 1 :]
    return all(block["type"] == "tool_result" for turn in behind for block in blocks_of(turn.message))


def _answered(turns: Sequence[Entry], policy: Policy, repairs: list[Repair]) -> list[Entry]:
    """The turns without calls that have no result (the policy `remove`)."""
    out: list[Entry] = []
    for position, turn in enumerate(turns):
        if turn.role == "user" or _stays_open(turns, position, policy):
            out.append(turn)
            continue
        match = _match(turn, turns[position + 1] if position + 1 < len(turns) else None)
        lost = [match.calls[number] for number in match.missing]
        rest = [block for block in blocks_of(turn.message) if not any(block is one for one in lost)]
        repairs.extend(_repair(turn, "removed", "a call without a result") for _ in lost)
        if not lost:
            out.append(turn)
        elif rest:
            out.append(replace(turn, message=with_blocks(turn.message, rest)))
    return out


def _paired(turns: Sequence[Entry], policy: Policy, repairs: list[Repair]) -> list[Entry]:
    """The turns with every call answered at the start of the next one."""
    out: list[Entry] = []
    for position, turn in enumerate(turns):
        answer = turns[position + 1] if position + 1 < len(turns) else None
        match = _match(turn, answer)
        if turn.role == "assistant":
            out.append(turn)
            if match.calls and answer is None and not policy.keep_open:
                results = _one_each(turn, turn, match, repairs)
                message = {"role": "user", "content": results}
                out.append(Entry(index=turn.index, place=(turn.index, 1), message=message))
            continue
        before = turns[position - 1] if position else None
        match = _match(before, turn) if before else match
        if before is None or not match.calls:
            out.extend(_orphaned(turn, repairs, opening=not out))
            continue
        keep_open = _stays_open(turns, position - 1, policy)
        out.append(_settled(before, turn, match, repairs, keep_open=keep_open))
    return out


def _settled(call: Entry, answer: Entry, match: _Match, repairs: list[Repair], *, keep_open: bool) -> Entry:
    """The user's turn behind a call: one result for each call at its start, then all that a person wrote."""
    results = _one_each(call, answer, match, repairs, complete=not keep_open)
    blocks = blocks_of(answer.message)
    rest = [block for block in blocks if block["type"] != "tool_result"]
    wanted = [*results, *rest]
    if len(wanted) == len(blocks) and all(a is b for a, b in zip(wanted, blocks, strict=True)):
        return answer
    lead = blocks[: len(match.results)]
    if any(block["type"] != "tool_result" for block in lead):
        repairs.append(_repair(answer, "moved", "results come first in the message behind their call"))
    return replace(answer, message=with_blocks(answer.message, wanted))


def _one_each(
    call: Entry, answer: Entry, match: _Match, repairs: list[Repair], *, complete: bool = True
) -> list[Block]:
    """Exactly one result for each call, in the order in which they came; without completion only those that came."""
    by_call: dict[int, list[Block]] = {}
    for number, result in zip(match.owner, match.results, strict=True):
        if number is None:
            repairs.append(_repair(answer, "removed", "a result without a call"))
        else:
            by_call.setdefault(number, []).append(result)
    found: list[Block] = []
    for several in by_call.values():
        found.append(several[0] if len(several) == 1 else one_result(several))
        repairs.extend(_repair(answer, "merged", "one result for one call") for _ in several[1:])
    for number in match.missing if complete else ():
        key = match.calls[number].get("id") or ""
        repairs.append(_repair(call, "completed", f"no result for {key or 'the call'}"))
        found.append({"type": "tool_result", "tool_use_id": key, "content": NO_RESULT, "is_error": True})
    return found


def _orphaned(turn: Entry, repairs: list[Repair], *, opening: bool) -> list[Entry]:
    """A user's turn behind no call: its results go, or become text where nothing else opens the window."""
    blocks = blocks_of(turn.message)
    rest = [block for block in blocks if block["type"] != "tool_result"]
    if len(rest) == len(blocks):
        return [turn]
    if opening and not rest:
        repairs.append(_repair(turn, "anchored", "a result without a call is the only opening"))
        return [replace(turn, message=with_blocks(turn.message, [part for one in blocks for part in lone_text(one)]))]
    repairs.extend(_repair(turn, "removed", "a result without a call") for _ in blocks[len(rest) :])
    return [replace(turn, message=with_blocks(turn.message, rest))] if rest else []


def _moved(systems: Sequence[Entry], turns: Sequence[Entry], repairs: list[Repair]) -> list[Entry]:
    """The system messages, those between a call and the message that answers it placed behind that."""
    found = list(systems)
    for call, answer in pairwise(turns):
        if not _has(call.message, "tool_use"):
            continue
        for number, system in enumerate(found):
            if call.place < system.place < answer.place:
                repairs.append(_repair(system, "moved", "stood between a call and its result"))
                found[number] = replace(system, place=(answer.place[0], 2))
    return found


def _opened(spoken: list[Entry], repairs: list[Repair]) -> list[Entry]:
    if not spoken or spoken[0].role == "user":
        return spoken
    first = spoken[0]
    repairs.append(_repair(first, "inserted", "the provider wants a user's message first"))
    return [Entry(index=first.index, place=(first.index, -1), message={"role": "user", "content": OMITTED}), *spoken]


def _unique(turns: Sequence[Entry], repairs: list[Repair]) -> list[Entry]:
    """The turns with an id of its own for each call, in the call and in its result."""
    reserved = {block.get("id") for turn in turns for block in blocks_of(turn.message) if block["type"] == "tool_use"}
    used: set[str] = set()
    out: list[Entry] = []
    names: list[tuple[str | None, str]] = []
    for turn in turns:
        if turn.role == "assistant":
            olds = [block.get("id") for block in blocks_of(turn.message) if block["type"] == "tool_use"]
            names = [(old or None, _fresh(old, reserved, used)) for old in olds]
            out.append(_renamed(turn, "tool_use", "id", [new for _, new in names], repairs))
        else:
            out.append(_renamed(turn, "tool_result", "tool_use_id", _named(turn, names), repairs))
    return out


def _named(turn: Entry, names: Sequence[tuple[str | None, str]]) -> list[str]:
    """The new id of each result of this turn: the first of an old id names the first call that had it."""
    olds = [block.get("tool_use_id") for block in blocks_of(turn.message) if block["type"] == "tool_result"]
    return [names[number][1] for number in owners([old for old, _ in names], olds) if number is not None]


def _fresh(old: str | None, reserved: set[Any], used: set[str]) -> str:
    new = old or ""
    if not _LEGAL_ID.match(new) or new in used:
        stem = re.sub(r"[^a-zA-Z0-9_-]", "_", new) or "call"
        number = 2
        while f"{stem}_{number}" in reserved or f"{stem}_{number}" in used:
            number += 1
        new = f"{stem}_{number}"
    used.add(new)
    return new


def _renamed(entry: Entry, kind: str, key: str, names: Sequence[str], repairs: list[Repair]) -> Entry:
    left = iter(names)
    blocks = blocks_of(entry.message)
    renamed = [
        {**block, key: name} if block["type"] == kind and (name := next(left)) != block.get(key) else block
        for block in blocks
    ]
    if all(new is old for new, old in zip(renamed, blocks, strict=True)):
        return entry
    repairs.append(_repair(entry, "renamed", "a call's id is unique in a request"))
    return replace(entry, message=with_blocks(entry.message, renamed))


def _closed(spoken: list[Entry], repairs: list[Repair]) -> list[Entry]:
    """The entries; whitespace goes from the last text of a final assistant, also before a server tool's result."""
    if not spoken or spoken[-1].role != "assistant" or _has(spoken[-1].message, "tool_use"):
        return spoken
    last = spoken[-1]
    blocks = blocks_of(last.message)
    at = next((number for number in range(len(blocks) - 1, -1, -1) if blocks[number]["type"] == "text"), None)
    if at is None or (text := blocks[at]["text"]) == text.rstrip():
        return spoken
    repairs.append(_repair(last, "cleaned", "whitespace at the end of the final message"))
    if isinstance(last.message["content"], str):
        message: Body = {**last.message, "content": text.rstrip()}
    else:
        message = with_blocks(last.message, [*blocks[:at], {**blocks[at], "text": text.rstrip()}, *blocks[at + 1 :]])
    return [*spoken[:-1], replace(last, message=message)]
