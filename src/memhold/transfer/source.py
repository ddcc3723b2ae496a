"""A file that is being imported, read piece by piece in bounded memory.

JSONL is read line by line; one large JSON document is read element by element. Encodings are told by their first bytes
(UTF-8, UTF-16 and UTF-32, with a byte order mark or without); a byte that is wrong in its encoding is never guessed at.
"""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from json import JSONDecodeError, JSONDecoder
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memhold.messages.limits import Limits
from memhold.messages.own_calls import OwnCalls
from memhold.transfer.opencode_sessions import document_of, is_session
from memhold.values.errors import InvalidInput, UnreadableImport

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["KEPT_PROBLEMS", "MAX_PIECE", "WRONG_BYTES", "OnError", "Piece", "Problem", "Source"]

OnError = Literal["stop", "skip"]

MAX_PIECE = 64 * 1024 * 1024
"""Longest line, and longest element of a document, in characters: it is what memory must hold at once."""

_CHUNK = 64 * 1024
_NEAR_END = 16  # no token that a cut can break in two is longer: -Infinity, \\uXXXX\\uXXXX
KEPT_PROBLEMS = 100
"""How many problems a report tells one by one."""
WRONG_BYTES = re.compile("[\udc80-\udcff]")
"""Bytes that are not UTF-8, as they stand in a text that was read."""
_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What could not be read: the line (from 1; of a document, the line where the element begins) and why."""

    line: int | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of one JSON document: an element of an array (`index`), or a member of the top object (`key`).

    The elements of a streamed member carry both; one piece with neither index nor value opens it.
    """

    key: str | None = None
    index: int | None = None
    value: Any = None
    line: int


@dataclass(slots=True, kw_only=True)
class Source:
    """An import file and how far its reading is: `position` of `size` bytes, and what could not be read so far.

    The path of a session inside opencode's database (`opencode.db/ses_…`) is read as `opencode export` writes it.

    With `on_error="stop"` the first problem raises `UnreadableImport`; with "skip" it is counted (`skipped`; the first
    hundred are kept in `problems`) and reading goes on. `left_out` counts, by what it is, what is well formed and has
    no place in a memory.
    """

    path: Path
    zone: tzinfo
    now: datetime
    on_error: OnError = "stop"
    limits: Limits = field(default_factory=Limits)
    position: int = 0
    skipped: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    own_calls: OwnCalls = field(default_factory=OwnCalls)
    _session: bytes | None = field(default=None, init=False, repr=False)

    @property
    def size(self) -> int:
        """The file's size in bytes, now."""
        return len(self._document()) if is_session(self.path) else self.path.stat().st_size

    def open_bytes(self) -> io.BufferedReader:
        """What is read, from its beginning: the file, or the session of opencode that the path names."""
        if is_session(self.path):
            return io.BufferedReader(io.BytesIO(self._document()))
        try:
            return io.BufferedReader(_File(self))
        except OSError as error:
            raise self.unreadable(None, f"it cannot be read: {error.strerror}") from error

    def _document(self) -> bytes:
        # One snapshot: what is read twice is the same both times.
        if self._session is None:
            try:
                self._session = document_of(self.path)
            except OSError as error:
                raise UnreadableImport(str(error), path=str(self.path), line=None) from error
        return self._session

    def bad(self, line: int | None, why: str) -> None:
        """Something cannot be read: stop here, or count it.

        Raises:
            UnreadableImport: `on_error` is "stop"; `path` and `line` say where.
        """
        if self.on_error == "stop":
            said = f"{why}; mend it, or leave such entries out: on_error='skip', on the command line --on-error skip"
            raise self.unreadable(line, said)
        self.skipped += 1
        if len(self.problems) < KEPT_PROBLEMS:
            self.problems.append(Problem(line=line, why=why))

    @contextmanager
    def naming(self, line: int | None, where: str = "") -> Iterator[None]:
        """What is `InvalidInput` in here cannot be read: `bad` is told of it, with this line."""
        try:
            yield
        except UnreadableImport:
            raise  # told already
        except InvalidInput as error:
            self.bad(line, f"{where}{error}")

    def leave_out(self, what: str, count: int = 1) -> None:
        """Count something that is well formed and is not taken; `what` says, in the plural, what it is."""
        self.left_out[what] += count

    def unreadable(self, line: int | None, why: str) -> UnreadableImport:
        """The error for a file that cannot be read on from this line."""
        where = f"{self.path}, line {line}" if line else str(self.path)
        return UnreadableImport(f"{where}: {why}", path=str(self.path), line=line)

    def opening(self) -> str:
        """The first character that is no white space; empty for an empty file."""
        with self._open() as (raw, text):
            return _Document(self, raw, text).peek()

    def records(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """The objects of a JSONL file with their line numbers from 1; blank lines are passed over."""
        for number, line, ended in self.lines():
            if not line.strip():
                continue
            if WRONG_BYTES.search(line):
                self.bad(number, "it holds bytes that are not UTF-8")
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                why = str(error) if isinstance(error, ValueError) else "it is nested too deeply"
                cut = "" if ended else " (the last line has no end: the file may be cut, or still being written)"
                self.bad(number, f"it is not JSON: {why}{cut}")
                continue
            if not isinstance(record, dict):
                self.bad(number, f"it is a JSON {type(record).__name__}, not an object")
                continue
            yield number, record

    def lines(self) -> Iterator[tuple[int, str, bool]]:
        """The lines with their numbers from 1, and whether each has an end."""
        with self._open() as (raw, text):
            number = 0
            while True:
                number += 1
                try:
                    line = text.readline(MAX_PIECE)
                    too_long = len(line) == MAX_PIECE and not line.endswith("\n")
                    while too_long and (rest := text.readline(MAX_PIECE)) and not rest.endswith("\n"):
                        pass
                except UnicodeError as error:
                    raise self.unreadable(number, f"it cannot be read as {text.encoding}: {error}") from None
                self.position = raw.tell()
                if not line:
                    return
                if too_long:
                    self.bad(number, f"it is longer than {MAX_PIECE:,} characters")
                    continue
                yield number, line, line.endswith("\n")

    def pieces(self, *, stream: frozenset[str] = frozenset()) -> Iterator[Piece]:
        """The elements of a document that is an array, or the members of one that is an object, in their order.

        Members named in `stream` whose value is an array come element by element.

        Raises:
            UnreadableImport: the document is malformed or cut from some line on; what came before it was yielded.
        """
        with self._open() as (raw, text):
            document = _Document(self, raw, text)
            match document.peek():
                case "[":
                    yield from document.array(None)
                case "{":
                    yield from document.members(stream)
                case "":
                    return
                case _:
                    raise self.unreadable(document.line, "it is neither a JSON array nor an object")
            if document.peek():
                raise self.unreadable(document.here(), "something stands after the end of the JSON document")

    def elements(self, member: str) -> Iterator[Piece]:
        """The elements of a document that is an array, or of the array that is this member of its object."""
        others, found = False, False
        for piece in self.pieces(stream=frozenset({member})):
            if piece.index is not None:
                yield piece
            elif piece.key == member and piece.value is None:
                found = True
            else:
                others = True
        if others and not found:
            self.bad(1, f"there is no list named {member!r} in it")

    def _open(self) -> _Opened:
        return _Opened(self)


class _File(io.FileIO):
    """The file; a read that fails says so as an import does."""

    def __init__(self, source: Source) -> None:
        super().__init__(source.path, "rb")
        self._source = source

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        try:
            return super().readinto(buffer)
        except OSError as error:
            raise self._source.unreadable(None, f"it cannot be read: {error.strerror}") from error


class _Opened:
    """The file, opened as bytes and as text in the encoding that its first bytes tell."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def __enter__(self) -> tuple[io.BufferedReader, io.TextIOWrapper]:
        raw = self._source.open_bytes()
        try:
            encoding = json.detect_encoding(raw.peek(4)[:4])
        except BaseException:
            raw.close()
            raise
        errors = "surrogateescape" if encoding.startswith("utf-8") else "strict"
        self._text = io.TextIOWrapper(raw, encoding=encoding, errors=errors, newline="\n")
        return raw, self._text

    def __exit__(self, *_: object) -> None:
        self._text.close()


class _Document:
    """A window over one JSON document: grows to hold the element being read, and lets go of what was read."""

    _decoder = JSONDecoder()

    def __init__(self, source: Source, raw: io.BufferedReader, text: io.TextIOWrapper) -> None:
        self._source = source
        self._raw = raw
        self._text = text
        self._buffer = ""
        self._at = 0
        self._ended = False
        self.line = 1

    def here(self) -> int:
        """The line of the next character."""
        return self.line + self._buffer.count("\n", 0, self._at)

    def peek(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            found = _SPACE.match(self._buffer, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._buffer) or self._ended:
                return self._buffer[self._at : self._at + 1]
            self._fill(_CHUNK)

    def array(self, key: str | None) -> Iterator[Piece]:
        """The elements of the array that begins here."""
        self._expect("[")
        index = 0
        while self.peek() != "]":
            if index:
                self._expect(",")
                self.peek()
            line = self.here()
            value, clean = self._value()
            if clean:
                yield Piece(key=key, index=index, value=value, line=line)
            else:
                self._source.bad(line, "it holds bytes that are not UTF-8")
            index += 1
        self._expect("]")

    def members(self, stream: frozenset[str]) -> Iterator[Piece]:
        """The members of the object that begins here."""
        self._expect("{")
        first = True
        while self.peek() != "}":
            if not first:
                self._expect(",")
                self.peek()
            first = False
            line = self.here()
            key, _ = self._value()
            if not isinstance(key, str):
                raise self._source.unreadable(line, "it is not JSON: a member has no name")
            self._expect(":")
            if key in stream and self.peek() == "[":
                yield Piece(key=key, line=line)
                yield from self.array(key)
                continue
            self.peek()
            value, clean = self._value()
            if clean:
                yield Piece(key=key, value=value, line=line)
            else:
                self._source.bad(line, "it holds bytes that are not UTF-8")
        self._expect("}")

    def _expect(self, char: str) -> None:
        found = self.peek()
        if found != char:
            what = f"{found!r} stands where {char!r} must" if found else "the file ends too early: it is cut"
            raise self._source.unreadable(self.here(), f"it is not JSON: {what}")
        self._at += 1

    def _value(self) -> tuple[Any, bool]:
        """The next value, and whether all its bytes were right."""
        while True:
            try:
                value, end = self._decoder.raw_decode(self._buffer, self._at)
            except RecursionError:
                raise self._source.unreadable(self.here(), "it is nested too deeply") from None
            except ValueError as error:
                if self._ended or not self._may_be_cut(error):
                    cut = "the file ends too early: it is cut" if self._ended and self._may_be_cut(error) else error
                    raise self._source.unreadable(self.here(), f"it is not JSON: {cut}") from None
            else:
                if end + _NEAR_END < len(self._buffer) or self._ended:  # a cut number reads as a shorter one
                    clean = not WRONG_BYTES.search(self._buffer, self._at, end)
                    self._at = end
                    return value, clean
            held = len(self._buffer) - self._at
            if held > MAX_PIECE:
                raise self._source.unreadable(self.here(), f"one element is longer than {MAX_PIECE:,} characters")
            self._fill(max(_CHUNK, held))

    def _may_be_cut(self, error: ValueError) -> bool:
        if not isinstance(error, JSONDecodeError):
            return False
        return error.msg.startswith("Unterminated string") or error.pos >= len(self._buffer) - _NEAR_END

    def _fill(self, size: int) -> None:
        self.line += self._buffer.count("\n", 0, self._at)
        try:
            more = self._text.read(size)
        except UnicodeError as error:
            raise self._source.unreadable(self.line, f"it cannot be read as {self._text.encoding}: {error}") from None
        self._buffer = self._buffer[self._at :] + more
        self._at = 0
        self._ended = not more
        self._source.position = self._raw.tell()
