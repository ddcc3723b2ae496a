"""`conversations.json` of a data export of Claude.ai."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memhold.transfer.items import Conversation, Item, any_time
from memhold.transfer.source import Source
from memhold.values.errors import InvalidInput

__all__ = ["read_claude_ai"]

KIND = "claude-ai"
_ROLES: Mapping[str, str] = {"human": "user", "assistant": "assistant"}


def read_claude_ai(source: Source) -> Iterator[Item]:
    """One session for each conversation, in the order of its messages, each with its time.

    The text of an attachment stands behind what was written; the name of a file without text is kept as metadata.
    """
    for piece in source.pieces():
        conversation = piece.value
        messages = conversation.get("chat_messages") if isinstance(conversation, dict) else None
        if not isinstance(messages, list):
            source.bad(piece.line, "it is not a conversation with `chat_messages`")
            continue
        ident = conversation.get("uuid")
        ident = ident if isinstance(ident, str) and ident else f"{source.path.stem}-{piece.index}"
        title = conversation.get("name")
        whole = Conversation(source=source, kind=KIND, ident=ident, line=piece.line)
        for place, message in enumerate(messages):
            with source.naming(piece.line, f"chat_messages[{place}]: "):
                item = _item(whole, message, place, title if isinstance(title, str) else None)
                if item is not None:
                    yield item


def _item(whole: Conversation, message: Any, place: int, title: str | None) -> Item | None:
    if not isinstance(message, dict):
        raise InvalidInput("it is not an object")
    sender = message.get("sender")
    role = _ROLES.get(sender) if isinstance(sender, str) else None
    if role is None:
        raise InvalidInput(f"it has the sender {sender!r:.40}")
    named = message.get("uuid")
    beside = [*_dicts(message.get("files")), *(one for one in _dicts(message.get("attachments")) if not _held(one))]
    return whole.item(
        named if isinstance(named, str) and named else str(place),
        {"role": role, **_said(message)},
        at=any_time(message.get("created_at"), whole.source.zone),
        title=title and title.strip() and title,
        files=[name for one in beside if isinstance(name := one.get("file_name"), str) and name],
    )


def _said(message: Mapping[str, Any]) -> dict[str, Any]:
    """What was written: the parts of type text, or the older `text`; then each attachment's text under its name."""
    parts = [part["text"] for part in _dicts(message.get("content")) if isinstance(part.get("text"), str)]
    written = "\n".join(part for part in parts if part.strip())
    if not written and isinstance(message.get("text"), str):
        written = message["text"]
    held = [
        f"[{one.get('file_name') or 'attachment'}]\n{one['extracted_content']}"
        for one in _dicts(message.get("attachments"))
        if _held(one)
    ]
    if not held:
        return {"content": written}
    typed = [written] if written.strip() else []
    content = [{"type": "text", "text": text} for text in (*typed, *held)]
    return {"content": content, "written_by": [*(None for _ in typed), *("attachment" for _ in held)]}


def _held(attachment: Mapping[str, Any]) -> bool:
    return isinstance(text := attachment.get("extracted_content"), str) and bool(text.strip())


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
