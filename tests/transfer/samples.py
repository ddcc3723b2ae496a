"""A store as an import sees it, and a small file of each format."""

from __future__ import annotations

from datetime import UTC, datetime

NOW = datetime(2025, 6, 1, 12, tzinfo=UTC)


class Killed(Exception):
    """The process ended between two batches."""


class Ledger:
    """A store as an import sees it: messages by session, memories, and the keys it has had."""

    def __init__(self) -> None:
        self.sessions: dict[str, list[dict]] = {}
        self.memories: list[tuple] = []
        self.keys: set[str] = set()
        self.batches = 0
        self.dies_after: int | None = None

    async def add(self, batch):
        assert len(batch.messages) == len(batch.keys) == len(batch.source_ids) > 0
        if self.dies_after is not None and self.batches >= self.dies_after:
            raise Killed
        self.batches += 1
        new = 0
        for message, key in zip(batch.messages, batch.keys, strict=True):
            if key not in self.keys:
                self.keys.add(key)
                self.sessions.setdefault(batch.session, []).append(dict(message))
                new += 1
        return new

    async def keep(self, beside):
        self.beside = [*getattr(self, "beside", []), beside]

    async def restore(self, restored):
        if restored.key in self.keys:
            return 0
        self.keys.add(restored.key)
        self.memories.append(restored.revisions)
        return 1

    async def place(self, placed):
        if placed.key in self.keys:
            return 0
        self.keys.add(placed.key)
        return 1

    @property
    def all(self) -> list[dict]:
        return [message for session in self.sessions.values() for message in session]

    def said(self, session: str | None = None) -> list:
        return [m["content"] for m in (self.all if session is None else self.sessions[session])]


def said(text, role="user", **more):
    return {"role": role, "content": text, **more}


def conversation(ident="c1", texts=("hi", "hello"), start=1_700_000_000.25):
    mapping = {"root": {"id": "root", "message": None, "parent": None, "children": [f"{ident}-0"]}}
    for i, text in enumerate(texts):
        node = f"{ident}-{i}"
        mapping[node] = {
            "id": node,
            "parent": f"{ident}-{i - 1}" if i else "root",
            "children": [f"{ident}-{i + 1}"] if i + 1 < len(texts) else [],
            "message": {
                "id": node,
                "author": {"role": "assistant" if i % 2 else "user"},
                "create_time": start + i,
                "content": {"content_type": "text", "parts": [text]},
                "recipient": "all",
                "metadata": {},
            },
        }
    leaf = f"{ident}-{len(texts) - 1}"
    return {"title": "T", "create_time": start, "mapping": mapping, "current_node": leaf, "conversation_id": ident}


def transcript_line(kind="user", ident="u1", **more):
    message = more.pop("message", {"role": kind, "content": f"text of {ident}"})
    line = {"type": kind, "uuid": ident, "parentUuid": None, "sessionId": "s-1", "isSidechain": False}
    return {**line, "timestamp": "2025-05-01T10:00:00.123Z", "message": message, **more}


LOCOMO = [
    {
        "sample_id": "conv-1",
        "qa": [{"question": "q?", "answer": "GOLD", "evidence": ["D1:1"]}],
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Ben",
            "session_10_date_time": "12:05 am on 1 June, 2023",
            "session_10": [{"speaker": "Ann", "dia_id": "D10:1", "text": "last"}],
            "session_2_date_time": "12:30 pm on 9 June, 2023",
            "session_2": [
                {"speaker": "Ann", "dia_id": "D2:1", "text": "look", "blip_caption": "a red kite", "img_url": ["u"]},
                {"speaker": "Ben", "dia_id": "D2:2", "text": "nice"},
            ],
        },
    }
]
REALMEM = {
    "_metadata": {"person_name": "P"},
    "dialogues": [
        {
            "session_uuid": "aa",
            "current_time": "2025-03-15 (Saturday)",
            "extracted_memory": ["GOLD"],
            "dialogue_turns": [
                {"speaker": "User", "content": "one", "is_query": True, "query_id": "q1"},
                {"speaker": "Assistant", "content": "two", "is_query": False, "memory_session_uuids": ["GOLD"]},
                {"speaker": "Grandma", "content": "three", "is_query": False},
            ],
        }
    ],
}
