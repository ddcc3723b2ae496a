"""claude-mem's database (SQLite)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from memhold.transfer.items import Conversation, Item, Note, Restored, any_time, make_note
from memhold.transfer.source import Source
from memhold.transfer.sqlite_files import readable, rows, sqlite_file, tables_of

__all__ = ["read_claude_mem"]

KIND = "claude-mem"
_SUMMED_UP = ("request", "investigated", "learned", "completed", "next_steps", "notes")
_LISTS = ("facts", "concepts", "files_read", "files_modified", "files_edited")
_PASSED_OVER = {
    "tool_uses": "calls of tools, which observations are made of",
    "pending_messages": "calls of tools of which no observation was made yet",
    "telegram_wrapups": "messages that claude-mem sent out",
}
_NOT_KEPT = frozenset({"id", "text", "title", "subtitle", "narrative", "facts", "created_at", "created_at_epoch"})


def read_claude_mem(source: Source) -> Iterator[Item | Restored]:
    """What people asked, as messages, each observation and each summary as a note.

    A session is the agent's own. Projects stay in the metadata; calls of tools are left out and counted. What
    claude-mem keeps for itself alone (what it synced, its search index) is no memory.
    """
    with sqlite_file(source) as base:
        tables = tables_of(source, base)
        if tables and tables.isdisjoint({"user_prompts", "observations", "session_summaries"}):
            raise source.unreadable(None, "it has none of the tables of claude-mem")
        for table in ("user_prompts", "observations", "session_summaries"):
            if table in tables:
                asked = f"SELECT * FROM {table} ORDER BY created_at_epoch, id"  # noqa: S608 - of the three above
                for row in readable(source, base, table, asked, of=table):
                    with source.naming(None, f"row {row['id']!r:.40} of {table}: "):
                        one = _READ[table](source, row)
                        if one is not None:
                            yield one
        for table in sorted(_PASSED_OVER.keys() & tables):
            (count,) = rows(source, base, f"SELECT count(*) AS rows FROM {table}")  # noqa: S608 - of those above
            if count["rows"]:
                source.leave_out(_PASSED_OVER[table], count["rows"])


def _prompt(source: Source, row: Mapping[str, Any]) -> Item | None:
    # Older versions have the second name.
    names = ("content_session_id", "claude_session_id")
    session = next((str(row[name]) for name in names if name in row), "")
    whole = Conversation(source=source, kind=KIND, ident=session, line=None)
    body = {"role": "user", "content": row.get("prompt_text")}
    return whole.item(f"prompt {row['id']}", body, at=any_time(row["created_at_epoch"], source.zone))


def _observation(source: Source, row: Mapping[str, Any]) -> Restored | None:
    return _note(source, row, f"observation {row['id']}", _observed(row))


def _summary(source: Source, row: Mapping[str, Any]) -> Restored | None:
    told = "\n".join(f"{name.replace('_', ' ')}: {row[name]}" for name in _SUMMED_UP if _said(row, name))
    return _note(source, row, f"summary {row['id']}", told, but=frozenset(_SUMMED_UP))


_READ = {"user_prompts": _prompt, "observations": _observation, "session_summaries": _summary}


def _observed(row: Mapping[str, Any]) -> str:
    """What an observation says: its title, what was found, and the facts that its parts do not say already."""
    parts = [row[name] for name in ("title", "subtitle", "narrative", "text") if _said(row, name)]
    told = "\n".join(dict.fromkeys(parts))
    facts = [fact for fact in _listed(row, "facts") if isinstance(fact, str) and fact not in told]
    return "\n".join([told, *(f"- {fact}" for fact in facts)]).strip()


def _note(
    source: Source, row: Mapping[str, Any], entry: str, text: str, *, but: frozenset[str] = frozenset()
) -> Restored | None:
    kept = {name: row[name] for name in row if name not in _NOT_KEPT | but and row[name] is not None}
    kept |= {name: listed for name in _LISTS if name in kept and (listed := _listed(row, name))}
    return make_note(
        source,
        Note(
            text=text,
            kind=KIND,
            entry=entry,
            line=None,
            since=any_time(row["created_at_epoch"], source.zone),
            topics=_listed(row, "concepts"),
            metadata=kept,
        ),
    )


def _said(row: Mapping[str, Any], name: str) -> bool:
    return isinstance(said := row.get(name), str) and bool(said.strip())


def _listed(row: Mapping[str, Any], name: str) -> list[Any]:
    """A column that holds a JSON list."""
    if not _said(row, name):
        return []
    try:
        found = json.loads(row[name])
    except (ValueError, RecursionError):
        return []
    return found if isinstance(found, list) else []
