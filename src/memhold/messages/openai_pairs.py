"""Tool pairs in the OpenAI chat shape.

The rules (Chat Completions reference, and the 400s that its servers answer): an assistant message with `tool_calls` is
followed at once by one or more `tool` messages for each of its ids; a `tool` message stands nowhere else; `tool_calls`
is never null or empty; content is never null but beside a call. The legacy `function_call` is answered by a `function`
message of that name. Ids may repeat from turn to turn, so only adjacent messages are ever paired.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
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
    led_by,
    owners,
    quoted_result,
)
from memhold.values.records import speaker_of

__all__ = [
    "LONGEST_ID",
    "legal_name",
    "legal_speaker",
    "openai_starts",
    "openai_units",
    "repair_openai",
    "sendable_call",
    "sendable_function",
    "user_wrote",
    "without_media",
]

LONGEST_ID = 40
LONGEST_NAME = 64
_MEDIA: Mapping[str, str] = {"image_url": "[image]", "input_audio": "[audio]", "file": "[file]"}
_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_NO_SPEAKER = re.compile(r"[\s<|\\/>]+")


def legal_name(name: Any) -> str:
    """The name of what is called, as it may be sent."""
    return _NO_NAME.sub("_", name)[:LONGEST_NAME] if isinstance(name, str) and name else "unknown"


def legal_speaker(message: Body) -> str | None:
    """The speaker's name as it may be sent, None where it can only be left out."""
    name = message.get("name")
    return (_NO_SPEAKER.sub("_", name).strip("_") or None) if isinstance(name, str) else None


def sendable_call(call: Body) -> Body:
    """The call with a type, a legal name and text for what it is given; the same object where it has them."""
    kind, said = ("custom", "input") if "custom" in call else ("function", "arguments")
    function = sendable_function(call.get(kind), said)
    if call.get("type") == kind and function is call.get(kind):
        return call
    return {**call, "type": kind, kind: function}


def sendable_function(function: Any, said: str = "arguments") -> Body:
    """What is called, with a legal name and text for what it is given (some servers give objects)."""
    held: Body = function if isinstance(function, Mapping) else {}
    name, given = legal_name(held.get("name")), held.get(said)
    if held is function and held.get("name") == name and isinstance(given, str):
        return function
    empty = "{}" if said == "arguments" else ""
    if given is None:
        given = empty
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, default=str)
    return {**held, "name": name, said: text}


def without_media(content: Any) -> Any:
    """Content for a message that is no user's: what it shows is named in text; the same object where it is all text."""
    if not isinstance(content, list | tuple) or not any(part["type"] in _MEDIA for part in content):
        return content
    return [{"type": "text", "text": _MEDIA[part["type"]]} if part["type"] in _MEDIA else part for part in content]


_RESULT_ROLES = frozenset({"tool", "function"})


def user_wrote(message: Body) -> bool:
    """Whether the message is a user's and says something."""
    return message["role"] == "user" and not blank(message.get("content"))


def openai_starts(entries: Sequence[Entry], *, user_first: bool) -> list[int]:
    """Positions at which a window may begin: a user's message, or an assistant's call unless a user must be first."""
    return [
        position
        for position, entry in enumerate(entries)
        if user_wrote(entry.message) or (not user_first and entry.role == "assistant" and _calls(entry.message))
    ]


def openai_units(entries: Sequence[Entry]) -> list[int]:
    """Positions at which a call with its results, or any other message that stands alone, begins."""
    return [position for position, entry in enumerate(entries) if entry.role not in _RESULT_ROLES]


def repair_openai(entries: Sequence[Entry], policy: Policy) -> tuple[list[Entry], list[Repair]]:
    """The entries as an OpenAI server accepts them, and what was changed."""
    repairs: list[Repair] = []
    clean = [kept for entry in entries if (kept := _cleaned(entry, repairs)) is not None]
    spoken = [entry for entry in clean if not is_system(entry.message)]
    systems = [entry for entry in clean if is_system(entry.message)]
    taken = _Taken(call_id for entry in spoken for call_id in _ids(entry.message))
    out: list[Entry] = []
    heads: list[Entry] = []
    position = 0
    while position < len(spoken):
        entry = spoken[position]
        position += 1
        if entry.role in _RESULT_ROLES:
            if out:
                repairs.append(_repair(entry, "removed", "a result without a call"))
            else:
                heads.append(entry)
            continue
        if entry.role != "assistant" or not _calls(entry.message):
            out.append(entry)
            continue
        begin = position
        while position < len(spoken) and spoken[position].role in _RESULT_ROLES:
            position += 1
        unit = _unit(entry, spoken[begin:position], policy, taken, repairs, trailing=position == len(spoken))
        out.extend(unit)
        systems = _moved(systems, unit, repairs)
    out = _opened(out, heads, policy, repairs)
    return in_order([*out, *systems]), repairs


def _repair(entry: Entry, action: RepairAction, reason: str) -> Repair:
    return Repair(index=entry.index, action=action, reason=reason)


def _calls(message: Body) -> list[Body]:
    calls = list(message.get("tool_calls") or ())
    return [*calls, message["function_call"]] if message.get("function_call") else calls


def _ids(message: Body) -> list[str]:
    return [call["id"] for call in message.get("tool_calls") or () if call.get("id")]


def _with(entry: Entry, **changes: Any) -> Entry:
    message = {**entry.message, **changes}
    kept = {key: value for key, value in message.items() if value is not _GONE}
    return Entry(index=entry.index, place=entry.place, message=kept)


_GONE = object()


def _cleaned(entry: Entry, repairs: list[Repair]) -> Entry | None:
    """The entry without nulls that a server refuses; None where nothing is said in it."""
    entry = _alone(entry, repairs)
    message = entry.message
    if entry.role in _RESULT_ROLES:
        return entry
    if is_system(message):
        if not blank(message.get("content")):
            return entry
        repairs.append(_repair(entry, "removed", "an empty message"))
        return None
    null = [key for key in ("tool_calls", "function_call") if key in message and not message[key]]
    if entry.role == "user" or not _calls(message):
        says_otherwise = entry.role == "assistant" and any(message.get(key) for key in ("refusal", "audio"))
        if blank(message.get("content")) and not says_otherwise:
            repairs.append(_repair(entry, "removed", "an empty message"))
            return None
    if entry.role == "assistant" and null:
        repairs.append(_repair(entry, "cleaned", f"empty {' and '.join(null)}"))
        entry = _with(entry, **dict.fromkeys(null, _GONE))
    content = message.get("content")
    if isinstance(content, list | tuple) and not content:
        repairs.append(_repair(entry, "cleaned", "an empty list of parts"))
        entry = _with(entry, content=None)
    return entry


def _alone(entry: Entry, repairs: list[Repair]) -> Entry:
    """The entry without images that are no user's, and with a name of its speaker that can be sent."""
    message = entry.message
    content = message.get("content")
    if entry.role != "user" and (told := without_media(content)) is not content:
        repairs.append(_repair(entry, "cleaned", "only a user's message shows images and files"))
        entry = _with(entry, content=told)
    if "name" in message and entry.role != "function" and (name := legal_speaker(message)) != message["name"]:
        repairs.append(_repair(entry, "cleaned", "a speaker's name has no white space"))
        if name is None and (speaker := speaker_of(entry.role, message)):  # what cannot be sent as a name, is said
            entry = _with(entry, content=led_by(speaker, entry.message.get("content")))
        entry = _with(entry, name=name or _GONE)
    return entry


def _unit(
    call: Entry, results: Sequence[Entry], policy: Policy, taken: _Taken, repairs: list[Repair], *, trailing: bool
) -> list[Entry]:
    """A call with its results: matched by position and id within the unit, completed or cut as the policy says."""
    call, keys, old_keys = _identified(call, taken, repairs)
    tools = len(call.message.get("tool_calls") or ())
    owner = [
        number if number is not None and (number < tools) == (result.role == "tool") else None
        for number, result in zip(owners(old_keys, [_answers(result) for result in results]), results, strict=True)
    ]
    kept: list[Entry] = []
    for result, number in zip(results, owner, strict=True):
        if number is None:
            repairs.append(_repair(result, "removed", "a result without a call"))
        else:
            kept.append(_answering(result, keys[number], repairs))
    answered = set(owner)
    missing = [number for number in range(len(keys)) if number not in answered]
    if not missing or (trailing and policy.keep_open):
        return [call, *kept]
    if policy.unanswered == "remove":
        stripped = _without_calls(call, missing, repairs)
        return [stripped, *kept] if stripped is not None else []
    place = (kept[-1].index if kept else call.index, 1)
    for number in missing:
        repairs.append(_repair(call, "completed", f"no result for {keys[number] or 'the call'}"))
        kept.append(Entry(index=call.index, place=place, message=_no_result(call.message, number, keys[number])))
    return [call, *kept]


def _answers(result: Entry) -> str | None:
    if result.role == "function":
        return f"function:{result.message.get('name') or ''}"
    key = result.message.get("tool_call_id")
    return f"tool:{key}" if key else None


class _Taken(set[str]):
    """Ids that are taken, and for each stem the number below which all are: thousands of calls may have one id."""

    def __init__(self, ids: Iterable[str]) -> None:
        super().__init__(ids)
        self.numbers: dict[str, int] = {}


def _identified(call: Entry, taken: _Taken, repairs: list[Repair]) -> tuple[Entry, list[str], list[str | None]]:
    """The call with an id of its own for each of its calls; the ids, and the keys that its results may name."""
    tools = list(call.message.get("tool_calls") or ())
    old: list[str | None] = [f"tool:{tool['id']}" if tool.get("id") else None for tool in tools]
    keys: list[str] = []
    own: set[str] = set()
    for position, tool in enumerate(tools):
        key = tool.get("id")
        if not key or key in own or len(key) > LONGEST_ID:
            key = _unused((key or "call")[: LONGEST_ID - 8], taken)
            taken.add(key)
            tools[position] = {**tool, "id": key}
            repairs.append(_repair(call, "renamed", f"a call without an id that can be sent is now {key}"))
        keys.append(key)
        own.add(key)
        if (sent := sendable_call(tools[position])) is not tools[position]:
            tools[position] = sent
            repairs.append(_repair(call, "cleaned", "a call has a type, a legal name, and text for its arguments"))
    if any(new is not given for new, given in zip(tools, call.message.get("tool_calls") or (), strict=True)):
        call = _with(call, tool_calls=tools)
    legacy = call.message.get("function_call")
    if legacy:
        keys.append(legal_name(legacy.get("name")))
        old.append(f"function:{legacy.get('name') or ''}")
        if (function := sendable_function(legacy)) is not legacy:
            call = _with(call, function_call=function)
            repairs.append(_repair(call, "cleaned", "a call has a legal name, and text for its arguments"))
    return call, keys, old


def _unused(stem: str, taken: _Taken) -> str:
    number = taken.numbers.get(stem, 2)
    while f"{stem}_{number}" in taken:
        number += 1
    taken.numbers[stem] = number
    return f"{stem}_{number}"


def _answering(result: Entry, key: str, repairs: list[Repair]) -> Entry:
    if result.role == "tool" and result.message.get("tool_call_id") != key:
        repairs.append(_repair(result, "renamed", f"the result now names {key}"))
        result = _with(result, tool_call_id=key)
    if result.role == "function" and result.message.get("name") != key:
        repairs.append(_repair(result, "renamed", f"the result now names {key}"))
        result = _with(result, name=key)
    if blank(result.message.get("content")):
        repairs.append(_repair(result, "cleaned", "an empty result"))
        result = _with(result, content=EMPTY_RESULT)
    return result


def _no_result(message: Body, number: int, key: str) -> Body:
    if number < len(message.get("tool_calls") or ()):
        return {"role": "tool", "tool_call_id": key, "content": NO_RESULT}
    return {"role": "function", "name": key, "content": NO_RESULT}


def _without_calls(call: Entry, missing: Sequence[int], repairs: list[Repair]) -> Entry | None:
    tools = list(call.message.get("tool_calls") or ())
    rest = [tool for number, tool in enumerate(tools) if number not in missing]
    repairs.extend(_repair(call, "removed", "a call without a result") for _ in missing)
    call = _with(call, tool_calls=rest or _GONE)
    if len(tools) in missing:
        call = _with(call, function_call=_GONE)
    return None if not _calls(call.message) and blank(call.message.get("content")) else call


def _moved(systems: Sequence[Entry], unit: Sequence[Entry], repairs: list[Repair]) -> list[Entry]:
    """The system messages, those between a call and its last result placed after that."""
    if len(unit) < 2:
        return list(systems)
    first, last = unit[0].place, unit[-1].place
    found = []
    for system in systems:
        between = first < system.place < last
        if between:
            repairs.append(_repair(system, "moved", "stood between a call and its result"))
        found.append(Entry(index=system.index, place=(last[0], 2), message=system.message) if between else system)
    return found


def _opened(out: list[Entry], heads: Sequence[Entry], policy: Policy, repairs: list[Repair]) -> list[Entry]:
    """The window with an opening: results without a call become text where nothing else can open it."""
    needs = not out if not policy.user_first else not (out and out[0].role == "user")
    if out and not any(entry.role == "user" for entry in out):
        needs = True
    if not needs or not heads:
        repairs.extend(_repair(head, "removed", "a result without a call") for head in heads)
        if needs and policy.user_first and out:
            opening = Entry(index=out[0].index, place=(out[0].index, -1), message={"role": "user", "content": OMITTED})
            repairs.append(_repair(opening, "inserted", "the provider wants a user's message first"))
            return [opening, *out]
        return out
    repairs.extend(_repair(head, "anchored", "a result without a call is the only opening") for head in heads)
    return [*(_as_text(head) for head in heads), *out]


def _as_text(head: Entry) -> Entry:
    content = head.message.get("content")
    text = content if isinstance(content, str) else "\n".join(part.get("text") or "" for part in content or ())
    return Entry(index=head.index, place=head.place, message={"role": "user", "content": quoted_result(text)})
