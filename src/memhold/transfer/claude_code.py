"""Claude Code transcripts: JSONL, one event a line, as the tool keeps them below its `projects` folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memhold.transfer.items import Item, any_time, make_item, session_name
from memhold.transfer.source import Source
from memhold.values.errors import InvalidInput
from memhold.values.records import Author

__all__ = ["read_claude_code"]

KIND = "claude-code"


def read_claude_code(source: Source) -> Iterator[Item]:
    """The lines of type `user` and `assistant`, in the order of the file, in the Anthropic shape.

    A session is the transcript's `sessionId`; what a subagent said (`isSidechain`) is a session of its own. `message`
    is kept with its role and content; `uuid` names it, so a resumed transcript that repeats earlier lines adds nothing.
    Left out, and counted: every other type of line, and what neither the person nor the model said: notes
    that the tool injects (`isMeta`), its summaries of text that stands before them (`isCompactSummary`), the
    answers it makes up when a request fails, and lines of the model's thinking alone.
    """
    for number, record in source.records():
        message = record.get("message")
        if record.get("type") not in ("user", "assistant") or not _said(record, message):
            source.leave_out("lines that nobody said")
            continue
        if not isinstance(message, dict):
            source.bad(number, "it has no `message`")
            continue
        item = _item(source, record, message, number)
        if item is not None:
            yield item


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


def _item(source: Source, record: Mapping[str, Any], message: Mapping[str, Any], number: int) -> Item | None:
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
    metadata = {"source": KIND, "source_id": ident if named else str(number)}
    for ours, theirs in (("cwd", "cwd"), ("git_branch", "gitBranch")):
        if isinstance(value := record.get(theirs), str) and value:
            metadata[ours] = value
    if isinstance(model := message.get("model"), str):
        metadata["model"] = model
    body: dict[str, Any] = {"role": message.get("role", record.get("type")), "content": message.get("content")}
    body["metadata"] = metadata
    if moment is not None:
        body["event_time"] = moment
    return make_item(
        source,
        body,
        kind=KIND,
        session=session_name(KIND, session),
        conversation="" if named else session,
        source_id=str(metadata["source_id"]),
        line=number,
        # What stands in the user's role there is what the agent asked of its subagent.
        said=Author(origin="agent", name=KIND) if record.get("isSidechain") is True else None,
    )
