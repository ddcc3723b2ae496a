"""The files of a published embedding, fetched once: from its home, another URL or a folder, and checked by hash."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from http.client import HTTPException
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from memhold.ports.durable_files import make_folder, replace_text, sync_folder
from memhold.providers.embedding.official import Official, PinnedFile
from memhold.values.errors import InvalidInput, ModelError

__all__ = ["fetched"]

_BLOCK = 1 << 20
_IDLE_SECONDS, _LONGEST_SECONDS = 60.0, 3600.0
_LOCK = threading.Lock()
"""One fetch at a time: whoever waits finds the files there."""


def fetched(
    model: Official, folder: Path, *, source: str = "", told: Callable[[str, int, int], None] = lambda *_: None
) -> Path:
    """The folder of a model with all its files, each of its published content; what is missing is fetched first.

    `source` is another place to take them from: a folder, or a URL that the files' names are put behind. `told` hears
    of each file how many of its bytes are there. A file is in its place only once its hash is right.

    Raises:
        ModelError: a file cannot be had, or is another one; the message says what to copy where.
        InvalidInput: the source is neither a folder nor an HTTP URL.
    """
    with _LOCK:
        if _complete(model, folder):
            return folder
        try:
            make_folder(folder)
            for one in model.files:
                if not _there(folder / one.name, one):
                    _fetch(model, one, folder, source or model.home, told)
            for name, content in model.recipe.items():
                make_folder((folder / name).parent)
                replace_text(folder / name, json.dumps(content, indent=1), private=False)
        except OSError as error:
            raise _unfetched(model, folder, source or model.home, f"{type(error).__name__}: {error}") from error
    return folder


def _complete(model: Official, folder: Path) -> bool:
    """Whether all is there: `modules.json` comes last, once every hash was right."""
    sizes = ((folder / one.name, one.size) for one in model.files)
    return (folder / "modules.json").is_file() and all(
        path.is_file() and path.stat().st_size == size for path, size in sizes
    )


def _there(path: Path, wanted: PinnedFile) -> bool:
    if not path.is_file() or path.stat().st_size != wanted.size:
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == wanted.sha256


def _fetch(
    model: Official, wanted: PinnedFile, folder: Path, source: str, told: Callable[[str, int, int], None]
) -> None:
    part = folder / f"{wanted.name}.part-{os.getpid()}"
    digest, size = hashlib.sha256(), 0
    try:
        with part.open("wb") as out:
            for block in _blocks(source, wanted):
                size += len(block)
                if size > wanted.size:
                    break
                digest.update(block)
                out.write(block)
                told(wanted.name, size, wanted.size)
            out.flush()
            os.fsync(out.fileno())
        if size != wanted.size or digest.hexdigest() != wanted.sha256:
            what = f"{wanted.name} from there is not the published one ({size:,} bytes, {wanted.size:,} are right)"
            raise _unfetched(model, folder, source, what)
        part.replace(folder / wanted.name)
        sync_folder(folder)
    except HTTPException as error:
        raise _unfetched(model, folder, source, type(error).__name__) from error
    finally:
        part.unlink(missing_ok=True)


def _blocks(source: str, wanted: PinnedFile) -> Iterator[bytes]:
    until = time.monotonic() + _LONGEST_SECONDS
    with _opened(source, wanted) as stream:
        while block := stream.read(_BLOCK):
            yield block
            if time.monotonic() > until:
                raise TimeoutError(f"no end after {_LONGEST_SECONDS:.0f} s")


def _opened(source: str, wanted: PinnedFile) -> IO[bytes]:
    if urlsplit(source).scheme in {"http", "https"}:
        url = source.rstrip("/") + "/" + wanted.name
        try:
            stream: IO[bytes] = urllib.request.urlopen(url, timeout=_IDLE_SECONDS)  # noqa: S310 - the scheme is checked
        except urllib.error.HTTPError as error:
            error.close()
            raise OSError(f"it answers {error.code}") from None
        return stream
    if "://" in source or not Path(source).expanduser().is_dir():
        raise InvalidInput(f"{source!r:.120} is neither a folder nor an http URL; name where the model's files are")
    return (Path(source).expanduser() / wanted.name).open("rb")


def _unfetched(model: Official, folder: Path, source: str, why: str) -> ModelError:
    files = " and ".join(f"{one.name} ({one.size:,} bytes, sha256 {one.sha256})" for one in model.files)
    return ModelError(
        f"embedding {model.name} ({model.label}) cannot be fetched from {source} ({why}); copy {files} into {folder},"
        f" or run `memhold models get {model.name} --from FOLDER` where they are",
        model=model.name,
        cls="park",
    )
