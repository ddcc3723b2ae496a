"""Writing what was said where a client keeps it, in its form: a file of lines, or opencode's database."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from memhold.testing.coding_agents.protocols import Client

__all__ = ["Transcript"]

_TABLES = """
CREATE TABLE IF NOT EXISTS session (id text PRIMARY KEY, parent_id text, directory text NOT NULL,
  time_created integer NOT NULL);
CREATE TABLE IF NOT EXISTS message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer,
  data text);
CREATE TABLE IF NOT EXISTS part (id text PRIMARY KEY, message_id text, session_id text, time_created integer,
  time_updated integer, data text);
"""
"""As opencode 1.18.33 makes them, without the columns of other uses."""


class Transcript:
    """One session's. `path` is what hooks are told of; with opencode it names the session below its database."""

    def __init__(self, client: Client, session: str, home: Path, folder: Path, environment: Mapping[str, str]) -> None:
        self._client = client
        self._session = session
        self._folder = folder
        self._last: str | None = None
        now = datetime.now(UTC)
        match client:
            case "claude-code":
                own = Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude")
                place = re.sub(r"[^A-Za-z0-9]", "-", str(folder))
                self.path = own / "projects" / place / f"{session}.jsonl"
            case "codex":
                own = Path(environment.get("CODEX_HOME") or home / ".codex")
                name = f"rollout-{now:%Y-%m-%dT%H-%M-%S}-{session}.jsonl"
                self.path = own / "sessions" / f"{now:%Y}" / f"{now:%m}" / f"{now:%d}" / name
            case "opencode":
                own = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share") / "opencode"
                self.path = own / "opencode.db" / session

    def begins(self) -> None:
        """What stands there before anybody spoke: Codex and opencode write something, Claude Code nothing."""
        if self._client == "codex":
            self._line({"type": "session_meta", "payload": {"id": self._session, "cwd": str(self._folder)}})
        elif self._client == "opencode":
            self.path.parent.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path.parent)) as database:
                database.executescript(_TABLES)
                row = (self._session, str(self._folder), self._now())
                database.execute("INSERT OR IGNORE INTO session VALUES (?, NULL, ?, ?)", row)
                database.commit()

    def says(self, role: str, text: str, *, shown: str = "") -> None:
        """A message; with what a hook had the model shown beside it, in the place where the client keeps that."""
        match self._client:
            case "claude-code":
                content = text if role == "user" else [{"type": "text", "text": text}]
                self._line({"type": role, "message": {"role": role, "content": content}})
                if shown:
                    attached = {"type": "hook_additional_context", "content": [shown]}
                    self._line({"type": "attachment", "attachment": attached})
            case "codex":
                self._item(role, "input_text" if role == "user" else "output_text", text, f"{role}.text")
                if shown:
                    self._item("developer", "input_text", shown, "hooks.additional_context")
            case "opencode":
                self._row(role, text, shown)

    def shows(self, text: str) -> None:
        """What the model is shown at the start of the session, before anybody spoke."""
        if self._client == "claude-code":
            self._line({"type": "attachment", "attachment": {"type": "hook_additional_context", "content": [text]}})
        elif self._client == "codex":
            self._item("developer", "input_text", text, "hooks.additional_context")

    def _item(self, role: str, kind: str, text: str, whose: str) -> None:
        passed_on = {"content_item_kinds": [whose]}
        payload = {
            "type": "message",
            "role": role,
            "content": [{"type": kind, "text": text}],
            "internal_chat_message_metadata_passthrough": passed_on,
        }
        self._line({"type": "response_item", "payload": payload})

    def _line(self, record: Mapping[str, Any]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        told: dict[str, Any] = {"timestamp": datetime.now(UTC).isoformat().replace("+00:00", "Z")}
        if self._client == "claude-code":
            told |= {"parentUuid": self._last, "isSidechain": False, "uuid": str(uuid4())}
            told |= {"sessionId": self._session, "cwd": str(self._folder)}
            self._last = told["uuid"]
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**told, **record}) + "\n")

    def _row(self, role: str, text: str, shown: str) -> None:
        moment, message = self._now(), f"msg_{uuid4().hex}"
        times = {"created": moment} if role == "user" else {"created": moment, "completed": moment}
        parts = [
            {"type": "text", "text": text},
            *([{"type": "text", "text": shown, "synthetic": True}] if shown else []),
        ]
        with closing(sqlite3.connect(self.path.parent)) as database:
            row = (message, self._session, moment, moment, json.dumps({"role": role, "time": times}))
            database.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", row)
            for place, part in enumerate(parts):
                held = (f"prt_{message[4:]}{place}", message, self._session, moment, moment, json.dumps(part))
                database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", held)
            database.commit()

    def _now(self) -> int:
        """Milliseconds, later each time: rows are told apart by them."""
        self._moment = max(getattr(self, "_moment", 0) + 1, int(datetime.now(UTC).timestamp() * 1000))
        return self._moment
