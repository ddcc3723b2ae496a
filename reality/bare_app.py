"""The least that a service of this kind can be: FastAPI, which reads a body and commits its row, once a request.

`python -m reality.bare_app LOCATION` prints its port; LOCATION is a file of SQLite, or of PostgreSQL.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from threading import Lock
from uuid import uuid4

import apsw
import psycopg
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

TABLE = "CREATE TABLE message (id text PRIMARY KEY, session text NOT NULL, role text NOT NULL, content text NOT NULL)"
Insert = Callable[[tuple[str, str, str, str]], None]


class Message(BaseModel):
    """One message."""

    role: str
    content: str


class Messages(BaseModel):
    """What is posted."""

    messages: list[Message]


def into_sqlite(path: str) -> Insert:
    """Rows into a file that is as durable as ours."""
    connection = apsw.Connection(path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute(TABLE)

    def insert(row: tuple[str, str, str, str]) -> None:
        connection.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)

    return insert


def into_postgres(url: str) -> Insert:
    """Rows into a database."""
    connection = psycopg.connect(url, autocommit=True)
    connection.execute(TABLE)

    def insert(row: tuple[str, str, str, str]) -> None:
        connection.execute("INSERT INTO message VALUES (%s, %s, %s, %s)", row)

    return insert


def app_of(insert: Insert) -> FastAPI:
    """The application."""
    app, lock = FastAPI(), Lock()

    @app.post("/v1/messages", status_code=201)
    def add(body: Messages, session: str = "") -> dict[str, list[str]]:
        ids = []
        for one in body.messages:
            ids.append(uuid4().hex)
            with lock:
                insert((ids[-1], session, one.role, one.content))
        return {"ids": ids}

    return app


def main() -> None:
    """Serve until ended."""
    location = sys.argv[1]
    insert = into_postgres(location) if location.startswith("postgresql:") else into_sqlite(location)
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.bind(("127.0.0.1", 0))
    sock.listen()
    print(sock.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app_of(insert), log_config=None, access_log=False)).run([sock])


if __name__ == "__main__":
    main()
