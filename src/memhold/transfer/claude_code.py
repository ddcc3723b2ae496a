"""Claude Code transcripts: JSONL, one event a line, as the tool keeps them below its `projects` folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from typing import Any

from memhold.transfer.claude_lines import is_prompt, is_queued, prompt_of, turn_of, writer_of_line
from memhold.transfer.items import Item, Line, any_time, make_item, session_name
from memhold.transfer.source import Source
from memhold.values.errors import InvalidInput
from memhold.values.records import ABANDONED, Author

__all__ = ["read_claude_code"]

KIND = "claude-code"
_SOON = timedelta(minutes=1)
"""How long after it was taken from the queue a prompt may stand in a line of its own; later it was said again."""
_MOST_WAITING = 100
_OTHERS = frozenset(
    {"agent-color", "agent-metadata", "agent-name", "agent-setting", "ai-title", "atis-latch", "attachment"}
    | {"attribution-snapshot", "bridge-session", "content-replacement", "custom-title", "file-history-delta"}
    | {"file-history-snapshot", "fork-context-ref", "frame-link", "isolation-latch", "last-prompt"}
    | {
        "marble-origami-commit",
        "marble-origami-snapshot",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "relocated",
    }
    | {"speculation-accept", "started", "result", "summary", "system", "tag", "task-summary", "tools-used"}
    | {"worktree-state"}
)
"""The kinds of lines that nobody said, as Claude Code 1.0 to 2.1 writes them."""


@dataclass(slots=True)
class _Transcript:
    """What was read of a transcript so far that tells of the lines to come.

    `waiting` are prompts that were typed while the agent worked, with their lines; `sent` those that were taken from
    there, with when: the same prompt may follow as a line of its own. `tools` are the names of the calls by their ids.
    """

    abandoned: frozenset[str]
    waiting: list[dict[str, Any]] = field(default_factory=list)
    sent: dict[str, Any] = field(default_factory=dict)
    tools: dict[str, str] = field(default_factory=dict)


def read_claude_code(source: Source) -> Iterator[Item]:
    """The lines of type `user` and `assistant`, in the order of the file, in the Anthropic shape.

    A session is the transcript's `sessionId`; what a subagent said (`isSidechain`) is a session of its own. `message`
    is kept with its role and content; `uuid` names it, so a resumed transcript that repeats earlier lines adds nothing.
    Who wrote what is told by `memhold.transfer.claude_lines`. Where two wrote one text, each has a part of it; what a
    person answered in a result stands behind it once more, as theirs. A prompt that was put into a running turn is
    taken in once, from where it was queued or where it was put in. What was rewound says so in its metadata, where the
    file shows it.

    Left out, and counted: every other type of line, and what neither the person nor the model said: notes
    that the tool injects (`isMeta`), its summaries of text that stands before them (`isCompactSummary`), the
    answers it makes up when a request fails, and lines of the model's thinking alone. A type that is not known here is
    named.
    """
    seen = _Transcript(abandoned=_abandoned(source))
    for number, line in source.records():
        record, message = _message(source, line, seen)
        if message is None:
            continue
        if not isinstance(message, dict):
            source.bad(number, "it has no `message`")
            continue
        item = _item(source, record, message, number, seen)
        if item is not None:
            yield item


def _message(source: Source, record: dict[str, Any], seen: _Transcript) -> tuple[dict[str, Any], Any]:
    """A line and its message; None where it brings none, which was counted."""
    kind = record.get("type")
    if kind == "queue-operation":
        typed = _from_queue(record, seen)
        return (record, None) if typed is None else (typed, {"role": "user", "content": typed["content"]})
    if is_queued(record):
        prompt = record["attachment"]["prompt"]
        if writer_of_line(record) == "user" and _is_known(record, prompt, seen):
            return record, None
        return record, {"role": "user", "content": prompt}
    message = record.get("message")
    if kind in ("user", "assistant") and _said(record, message):
        if not isinstance(message, dict):
            return record, ()
        known = kind == "user" and is_prompt(record) and _is_known(record, message.get("content"), seen)
        return record, None if known else message
    named = kind if isinstance(kind, str) else type(kind).__name__
    known = kind in ("user", "assistant") or named in _OTHERS
    source.leave_out("lines that nobody said" if known else f"lines of the unknown kind {named!r:.60}")
    return record, None


def _from_queue(record: dict[str, Any], seen: _Transcript) -> dict[str, Any] | None:
    """The prompt that a line of the queue takes from it into the running turn, as the line that queued it; else None.

    What is taken at the end of a turn follows as a line of its own, and what the person takes back was never said.
    """
    text, operation = record.get("content"), record.get("operation")
    if operation == "enqueue":
        # A command and a finished task come with lines of their own.
        if isinstance(text, str) and text.strip() and not text.lstrip().startswith(("/", "<")):
            seen.waiting.append(record)
            del seen.waiting[:-_MOST_WAITING]
        return None
    if operation not in {"remove", "popAll"} or not seen.waiting:
        return None
    places = [at for at, one in enumerate(seen.waiting) if text is None or one["content"] == text]
    if not places:
        return None
    taken = seen.waiting.pop(places[0])
    if operation == "popAll":
        return None
    seen.sent[taken["content"].strip()] = record.get("timestamp")
    return taken


def _is_known(record: Mapping[str, Any], prompt: Any, seen: _Transcript) -> bool:
    """Whether the prompt of a line was taken from the queue just before; it does not wait there any longer."""
    text = prompt_of(prompt)
    for at, one in enumerate(seen.waiting):
        if one["content"].strip() == text:
            del seen.waiting[at]
            return False
    return text in seen.sent and not _later(record.get("timestamp"), seen.sent.pop(text))


def _later(said: Any, taken: Any) -> bool:
    """Whether a line is so much later than another that it says the same again."""
    try:
        first, second = any_time(taken, UTC), any_time(said, UTC)
    except InvalidInput:
        return False
    return first is not None and second is not None and second - first > _SOON


def _said(record: Mapping[str, Any], message: Any) -> bool:
    injected = ("isMeta", "isCompactSummary", "isApiErrorMessage")
    if any(record.get(name) is True for name in injected):
        return False
    if not isinstance(message, dict):
        return True
    content = message.get("content")
    # Each block of an answer has a line of its own; a thought shows nothing, and counts as no answer.
    thought = isinstance(content, list) and all(
        isinstance(block, dict) and block.get("type") in {"thinking", "redacted_thinking"} for block in content
    )
    return message.get("model") != "<synthetic>" and bool(content) and not thought


def _abandoned(source: Source) -> frozenset[str]:
    """The lines of branches that were given up: of prompts behind one line the last goes on, the others do not."""
    first: dict[str, list[str]] = {}
    parents: list[tuple[str, str]] = []
    looked = Source(path=source.path, zone=source.zone, now=source.now, on_error="skip", limits=source.limits)
    for _, record in looked.records():
        ident, parent = record.get("uuid"), record.get("parentUuid")
        if isinstance(ident, str) and isinstance(parent, str):
            parents.append((ident, parent))
            if is_prompt(record):
                first.setdefault(parent, []).append(ident)
    found = {ident for prompts in first.values() for ident in dict.fromkeys(prompts) if ident != prompts[-1]}
    if found:
        for ident, parent in parents:
            if parent in found:
                found.add(ident)
    return frozenset(found)


def _item(
    source: Source, record: Mapping[str, Any], message: Mapping[str, Any], number: int, seen: _Transcript
) -> Item | None:
    try:
        moment = any_time(record.get("timestamp"), source.zone)
    except InvalidInput as error:
        source.bad(number, str(error))
        return None
    session = record.get("sessionId")
    session = session if isinstance(session, str) and session.strip() else source.path.stem
    agent = record.get("agentId")
    if record.get("isSidechain") is True:
        session = f"{session}:{agent if isinstance(agent, str) and agent else 'sidechain'}"
    ident = record.get("uuid")
    named = isinstance(ident, str) and bool(ident)
    metadata: dict[str, Any] = {"source": KIND, "source_id": ident if named else _unnamed(record, number)}
    for ours, theirs in (("cwd", "cwd"), ("git_branch", "gitBranch")):
        if isinstance(value := record.get(theirs), str) and value:
            metadata[ours] = value
    if isinstance(model := message.get("model"), str):
        metadata["model"] = model
    if ident in seen.abandoned:
        metadata[ABANDONED] = True
    role, content = message.get("role", record.get("type")), message.get("content")
    body: dict[str, Any] = {"role": role, "content": content}
    if role == "user":
        body["content"], writers = turn_of(record, content, _tool(content, seen))
        if writers is not None:
            body["written_by"] = writers
    elif isinstance(content, list):
        _note_calls(content, seen)
    body["metadata"] = metadata
    if moment is not None:
        body["event_time"] = moment
    return make_item(
        source,
        Line(
            message=body,
            kind=KIND,
            session=session_name(KIND, session),
            conversation="" if named else session,
            source_id=str(metadata["source_id"]),
            line=number,
            # What stands in the user's role there is what the agent asked of its subagent.
            said=Author(origin="agent", name=KIND) if record.get("isSidechain") is True else None,
        ),
    )


def _unnamed(record: Mapping[str, Any], number: int) -> str:
    """What a line without an id is called: a prompt of the queue after when it was typed."""
    return f"queued {record.get('timestamp')}" if record.get("type") == "queue-operation" else str(number)


def _note_calls(content: list[Any], seen: _Transcript) -> None:
    for block in content:
        if isinstance(block, dict) and block.get("type") == "tool_use" and isinstance(block.get("id"), str):
            seen.tools[block["id"]] = str(block.get("name"))


def _tool(content: Any, seen: _Transcript) -> str | None:
    """The name of the tool whose result a line brings; empty where the call is not in the transcript."""
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "tool_result":
            return seen.tools.pop(str(block.get("tool_use_id")), "")
    return None
