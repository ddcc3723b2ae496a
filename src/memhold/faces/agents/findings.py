"""The turns of a coding agent's session: what a person asked for, and what came of it. Pure.

A turn is told as one thing: the request, the words with which the agent closed it, the files that it changed, and the
commands that it ran, with how they ended. What a command printed is a tool's, and is no part of that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from memhold.messages.fences import unquoted
from memhold.messages.shapes import read_message
from memhold.values.origins import text_by, words_of
from memhold.values.records import ABANDONED, PEOPLE, Message

if TYPE_CHECKING:
    from memhold.values.answers import Hit

__all__ = ["Turn", "turns_in", "words_in"]

_EDITS = frozenset({"edit", "write", "multiedit", "notebookedit", "apply_patch", "patch", "str_replace_editor"})
_PATHS = ("file_path", "filePath", "notebook_path", "path")
_COMMANDS = ("command", "cmd")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (\S.*)$", re.MULTILINE)
_EXIT = re.compile(r'(?i)\bexit(?:ed with)?[ _]code"?:? ?(\d+)')
_EXIT_CHARS = 400
"""How far into a result its exit code is looked for."""
_MOST = 3
"""So many files and so many commands of a turn are told."""
_COMMAND_CHARS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One request of a person's and what came of it.

    `before` are the agent's words that it answers, None where there are none, and `said` those that closed it. `files`
    were changed in it, `ran` are its last commands, each with whether it failed at first and at last. It goes from the
    place `first` to `last` of its session.
    """

    asked: Message | Hit
    before: Message | None = None
    said: tuple[Message | Hit, ...] = ()
    files: tuple[str, ...] = ()
    ran: tuple[tuple[str, bool, bool], ...] = ()
    first: int = 0
    last: int = 0

    @property
    def work(self) -> str:
        """What was done in it, in a few words; empty where nothing was."""
        more = " …" if len(self.files) > _MOST else ""
        told = [f"changed {', '.join(self.files[:_MOST])}{more}"] if self.files else []
        for command, first, last in self.ran:
            how = "failed" if last else "failed, then passed" if first else "passed"
            told.append(f"ran `{command}` ({how})")
        return "; ".join(told)


def turns_in(messages: Sequence[Message]) -> list[Turn]:
    """The turns of a stretch of a session, oldest first; what stands before its first request is of no turn."""
    found: list[list[Message]] = [[]]
    for one in messages:
        if one.metadata.get(ABANDONED) is True:
            continue
        if one.typed and words_in(one):
            found.append([])
        found[-1].append(one)
    closed = [_closing(group) for group in found]
    return [_turn(group, closed[at], closed[at + 1]) for at, group in enumerate(found[1:])]


def words_in(line: Message | Hit) -> str:
    """What a line says in words: a person's own, or an agent's without its calls, and nothing that it quotes."""
    if not isinstance(line, Message):
        return words_of(line)
    if line.quotes:
        return unquoted(line).strip()
    if line.typed:
        return text_by(line, *PEOPLE).strip()
    read = read_message(line.body)
    return "\n".join(read.text[one.start : one.end] for one in read.pieces if one.kind == "words").strip()


def _closing(group: Sequence[Message]) -> Message | None:
    said = (one for one in reversed(group) if one.written_by == "assistant" and words_in(one))
    return next(said, None)


def _turn(group: Sequence[Message], before: Message | None, found: Message | None) -> Turn:
    failed = {ident: bad for one in group for ident, bad in _results(one.body)}
    files: dict[str, None] = {}
    ran: dict[str, tuple[bool, bool]] = {}
    for one in group:
        for ident, name, given in _calls(one.body):
            files.update(dict.fromkeys(_changed(name, given, one.metadata.get("cwd"))))
            command = _command(given)
            if command and ident in failed:
                first = ran.pop(command, (failed[ident], False))[0]
                ran[command] = first, failed[ident]
    last = [(command, *how) for command, how in ran.items()]
    mended = [one for one in last if one[1]]
    told = tuple(dict.fromkeys([*mended[-_MOST:], *last[-1:]]))
    return Turn(
        asked=group[0],
        before=before,
        said=() if found is None else (found,),
        files=tuple(files),
        ran=told,
        first=group[0].seq,
        last=group[-1].seq,
    )


def _calls(body: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """The id, the name and the arguments of each call of a message."""
    for block in _objects(body.get("content")):
        if block.get("type") == "tool_use" and isinstance(given := block.get("input"), Mapping):
            yield str(block.get("id")), str(block.get("name")), given
    for call in _objects(body.get("tool_calls")):
        function = call.get("function")
        if isinstance(function, Mapping):
            text = str(function.get("arguments"))
            try:
                given = json.loads(text)
            except (ValueError, RecursionError):
                given = None
            yield (
                str(call.get("id")),
                str(function.get("name")),
                given if isinstance(given, Mapping) else {"input": text},
            )


def _results(body: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Which call each result of a message answers, and whether that failed."""
    for block in _objects(body.get("content")):
        if block.get("type") == "tool_result":
            yield str(block.get("tool_use_id")), block.get("is_error") is True or _exited(block.get("content"))
    if body.get("role") == "tool":
        yield str(body.get("tool_call_id")), _exited(body.get("content"))


def _exited(content: Any) -> bool:
    text = content if isinstance(content, str) else str(next(iter(_objects(content)), {}).get("text", ""))
    code = _EXIT.search(text, 0, _EXIT_CHARS) or _EXIT.search(text, max(0, len(text) - _EXIT_CHARS))
    return code is not None and int(code[1]) != 0


def _objects(value: Any) -> Iterable[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _command(given: Mapping[str, Any]) -> str:
    command = next((given[name] for name in _COMMANDS if given.get(name)), "")
    if isinstance(command, list):  # `["bash", "-lc", "make test"]`
        command = command[-1] if len(command) == 3 and command[1] in {"-c", "-lc"} else " ".join(map(str, command))
    flat = " ".join(str(command).split())
    return flat if len(flat) <= _COMMAND_CHARS else f"{flat[:_COMMAND_CHARS]}…"


def _changed(name: str, given: Mapping[str, Any], folder: object) -> list[str]:
    """The files that a call changed, below the folder in which it worked."""
    if name.lower() not in _EDITS and "*** Begin Patch" not in str(given.get("input", "")):
        return []
    named = [str(given[one]) for one in _PATHS if given.get(one)]
    named += _PATCHED.findall("\n".join(str(value) for value in given.values() if isinstance(value, str)))
    return [_below(path.strip(), folder) for path in named]


def _below(path: str, folder: object) -> str:
    if isinstance(folder, str) and PurePath(path).is_relative_to(folder):
        return PurePath(path).relative_to(folder).as_posix()
    return path
