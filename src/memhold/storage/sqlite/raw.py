"""Reading the bytes of a file that SQLite has open, without harm to its locks.

POSIX drops all of a process's locks on a file when any of its descriptors of that file is closed, so the file is read
through SQLite, which knows of its own locks (sqlite.org/howtocorrupt.html, section 2.2).
"""

from __future__ import annotations

from collections.abc import Iterator

import apsw

__all__ = ["chunks", "has_stale_cells", "head"]

CHUNK = 4 * 1024 * 1024
CONTENT = (
    *("agent", "memory", "memory_fact", "memory_former_path", "memory_path", "memory_wording"),
    *("message", "session", "word_block"),
)
"""The trees whose cells may hold what a person said or named; those of ids, digests and counters are left out."""

_INTERIOR = frozenset({2, 5})
_INDEX = frozenset({2, 10})


def chunks(path: str, size: int = CHUNK) -> Iterator[bytes]:
    """The bytes of a file, from the beginning, in pieces of `size`."""
    file = apsw.VFSFile("", path, [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        length = file.xFileSize()
        for at in range(0, length, size):
            yield file.xRead(min(size, length - at), at)
    finally:
        file.xClose()


def head(path: str, size: int) -> bytes:
    """The first bytes of a file, fewer where it is shorter."""
    return next(chunks(path, size), b"")


def has_stale_cells(connection: apsw.Connection, path: str) -> bool:
    """Whether the unused middle of a content page holds bytes: cells that SQLite moved away and did not wipe.

    `secure_delete` wipes a cell that is deleted, not the copies that balancing a tree leaves between the cell pointers
    and the cells (file format, section 1.6). The file must hold everything: call it after a full checkpoint.
    """
    size = int(connection.pragma("page_size"))
    trees = connection.execute(
        "SELECT name FROM sqlite_schema WHERE rootpage > 0 AND tbl_name IN (SELECT value FROM json_each(?))"
        " AND (name IN (SELECT value FROM json_each(?)) OR name LIKE 'sqlite_autoindex_message_2'"
        " OR name LIKE 'sqlite_autoindex_session_%')",
        (_json(CONTENT), _json(CONTENT)),
    )
    names = _json([name for (name,) in trees])
    found = connection.execute(
        "SELECT pageno FROM dbstat WHERE name IN (SELECT value FROM json_each(?)) AND pagetype <> 'overflow'"
        " ORDER BY pageno",
        (names,),
    )
    wanted = iter([int(page) - 1 for (page,) in found])
    page = next(wanted, None)
    first = 0
    for chunk in chunks(path, CHUNK - CHUNK % size):
        count = len(chunk) // size
        while page is not None and page < first + count:
            if _stale(chunk[(page - first) * size : (page - first + 1) * size], 100 if page == 0 else 0):
                return True
            page = next(wanted, None)
        first += count
    return False


def _stale(page: bytes, header: int) -> bool:
    kind = page[header]
    # The interior pages of a table hold numbers alone.
    if kind in _INTERIOR and kind not in _INDEX:
        return False
    cells = int.from_bytes(page[header + 3 : header + 5], "big")
    begin = header + (12 if kind in _INTERIOR else 8) + 2 * cells
    end = int.from_bytes(page[header + 5 : header + 7], "big") or 65_536
    return any(page[begin:end])


def _json(names: object) -> str:
    import json

    return json.dumps(names)
