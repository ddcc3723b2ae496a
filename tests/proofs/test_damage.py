"""A file that rotted: no raw error, and no other answer without a word.

Each run damages one finished file in one way (a flipped bit, a page of zeros, two pages swapped, a cut) and asks it
everything. An answer is as it was, or says what is missing, or is an error of ours.
"""

from __future__ import annotations

import logging
import shutil
import traceback
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from memhold import AsyncMemhold
from memhold.errors import MemholdError
from memhold.values.jsonable import to_jsonable
from memhold.verbs.scope import AsyncScope
from tests.proofs.conftest import NOTES

PAGE = 4096
RAW = "raw "
LATER = "told once the file was looked at"
WORDS = ["gardening", "weather", "Lisbon", "tomatoes", "winter", "neighbour", "violin", "bicycle", "harvest", "letter"]
PLAIN = {"worker": False, "embedding": "none", "consolidation": None}


async def planted(path: Path) -> list[str]:
    """A store at rest, and ids of what is in it."""
    random = Random(5)
    async with AsyncMemhold.open(str(path), **PLAIN) as mem:
        ids: list[str] = []
        for session in ("s", "t"):
            scope = mem.scope(user="alice", session=session)
            for turn in range(30):
                said = " ".join(random.choices(WORDS, k=12))
                ids += (await scope.add([{"role": "user", "content": f"{turn} {said}"}])).ids
            for number in range(6):
                told = await scope.remember(
                    attribute=f"{session} thing {number}", value=" ".join(random.choices(WORDS, k=3))
                )
                ids.append(told.memory.id)
            await scope.remember(attribute=f"{session} thing 0", value="another")
            await scope.forget((await scope.remember(f"gone {session}")).memory.id)
        await mem.scope(user="bob").remember("of another user")
        await mem.settle()
    return ids


def damaged(data: bytes, random: Random) -> bytes:
    """The bytes of a file with one fault."""
    spoilt, pages = bytearray(data), len(data) // PAGE
    match random.choice(("bit", "bit", "bit", "bit", "zeros", "swap", "cut")):
        case "bit":
            spoilt[random.randrange(len(data))] ^= 1 << random.randrange(8)
        case "zeros":
            page = random.randrange(pages)
            spoilt[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)
        case "swap":
            one, other = random.sample(range(pages), 2)
            first, second = data[one * PAGE : (one + 1) * PAGE], data[other * PAGE : (other + 1) * PAGE]
            spoilt[one * PAGE : (one + 1) * PAGE], spoilt[other * PAGE : (other + 1) * PAGE] = second, first
        case _:
            del spoilt[random.randrange(len(data)) :]
    return bytes(spoilt)


def questions(mem: AsyncMemhold, ids: list[str], folder: Path) -> Iterator[tuple[str, Callable[[], Awaitable[Any]]]]:
    """Everything that a store is asked, by name."""
    scope = mem.scope(user="alice", session="s")
    everyone = mem.scope(user="alice")
    yield "messages", lambda: scope.messages(limit=1000)
    yield "messages t", lambda: mem.scope(user="alice", session="t").messages(limit=1000)
    yield "list", lambda: everyone.list(states=None, limit=1000)
    for item in ids[:: len(ids) // 6]:
        yield f"get {item}", lambda item=item: everyone.get(item)
        yield f"history {item}", lambda item=item: everyone.history(item)
    yield "changes", lambda: everyone.changes(limit=1000)
    yield "sessions", everyone.sessions
    yield "status", lambda: _status(everyone)
    yield "forget", lambda: everyone.forget(everything=True, dry_run=True)
    yield "export", lambda: _export(everyone, folder / "export.jsonl")
    # Last, since being asked for is written down.
    for text in ("", "gardening in winter", "s thing 3"):
        yield f"recall {text!r}", lambda text=text: everyone.recall(text, limit=100)
    yield "context", lambda: _context(scope)


async def _context(scope: AsyncScope) -> Any:
    return await scope.context([{"role": "user", "content": "gardening"}], budget=4000)


async def _status(scope: AsyncScope) -> Any:
    found = await scope.status()
    return {"messages": found.messages, "memories": dict(found.memories)}


async def _export(scope: AsyncScope, path: Path) -> Any:
    done = await scope.export(path)
    return {"lines": _lines(path), "damaged": done.damaged}


def _lines(path: Path) -> list[str]:
    """What an export holds, without its first line and its last, which say when it was made."""
    return path.read_text(encoding="utf-8").splitlines()[1:-1]


def comparable(answer: Any) -> Any:
    plain = to_jsonable(answer)
    if isinstance(plain, dict):
        plain = {name: value for name, value in plain.items() if name not in {"snapshot", "cursor", "files"}}
        for name in {"messages", "memories", "hidden"} & plain.keys():
            plain[name] = (
                sorted(plain[name]) if isinstance(plain[name], list) and "budget" not in plain else plain[name]
            )
        if "hits" in plain:
            # What an answer is now; its scores move with the time that has passed.
            plain = {"hits": sorted((hit["id"], hit["text"], hit["state"]) for hit in plain["hits"]), **_said(plain)}
    return plain


def _said(plain: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: plain[name] for name in ("total", "degraded", "damaged")}


def told(answer: Any) -> bool:
    """Whether an answer itself says that something is missing."""
    plain = to_jsonable(answer)
    return isinstance(plain, dict) and bool(plain.get("damaged") or plain.get("degraded"))


def ended(error: Exception) -> str:
    """How a question ended: our error by its class, any other as what must not be."""
    if isinstance(error, MemholdError):
        return type(error).__name__
    at = traceback.extract_tb(error.__traceback__)[-1]
    return f"{RAW}{error!r:.150} at {at.filename.rpartition('/')[2]}:{at.lineno}"


async def asked(path: Path, ids: list[str], folder: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """By question what came: answers, and how those that are no plain answer ended."""
    answers: dict[str, Any] = {}
    ends: dict[str, str] = {}
    async with AsyncMemhold.open(str(path), **PLAIN) as mem:
        for name, ask in questions(mem, ids, folder):
            try:
                found = await ask()
            except Exception as error:  # noqa: BLE001 - what must not come is what is looked for
                ends[name] = ended(error)
                continue
            answers[name] = comparable(found)
            if told(found):
                ends[name] = "told"
        try:
            wrong = [finding for finding in await mem.admin.doctor() if finding.severity == "wrong"]
            ends["doctor"] = "wrong" if wrong else ""
        except Exception as error:  # noqa: BLE001 - what must not come is what is looked for
            ends["doctor"] = ended(error)
        try:
            await mem.admin.backup(folder / "backup")
            ends["backup"] = ""
        except Exception as error:  # noqa: BLE001 - what must not come is what is looked for
            ends["backup"] = ended(error)
        scope = mem.scope(user="alice", session="s")
        try:
            ends["recall afterwards"] = "told" if told(await scope.recall("gardening in winter")) else ""
        except Exception as error:  # noqa: BLE001 - what must not come is what is looked for
            ends["recall afterwards"] = ended(error)
        for name, write in {
            "add": lambda: scope.add([{"role": "user", "content": "afterwards"}]),
            "remember": lambda: scope.remember(attribute="s thing 1", value="new"),
            "end_session": scope.end_session,
            "settle": lambda: mem.settle(timeout=5),
            "forget everything": lambda: mem.scope(user="alice").forget(everything=True),
        }.items():
            try:
                await write()
            except Exception as error:  # noqa: BLE001 - what must not come is what is looked for
                ends[name] = ended(error)
    return answers, ends


@pytest.mark.proof
async def test_a_damaged_file_is_never_another_store(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    runs: Callable[[int, int], range],
    caplog: pytest.LogCaptureFixture,
) -> None:
    whole = tmp_path / "whole.db"
    ids = await planted(whole)
    data = whole.read_bytes()
    copy = tmp_path / "same" / "whole.db"
    copy.parent.mkdir(mode=0o700)
    shutil.copy(whole, copy)
    clean, ends = await asked(copy, ids, copy.parent)
    assert ends == {"doctor": "", "backup": "", "recall afterwards": ""}, "the undamaged file says nothing"
    silent: list[str] = []
    counted = {"as it was": 0, "refused to open": 0, "told": 0, LATER: 0}
    for run in runs(24, 1000):
        folder = tmp_path / f"r{run}"
        folder.mkdir(mode=0o700)
        path = folder / "memory.db"
        path.write_bytes(damaged(data, Random(f"damage {run}")))
        path.chmod(0o600)
        caplog.clear()
        with caplog.at_level(logging.WARNING, logger="memhold"):
            try:
                answers, ends = await asked(path, ids, folder)
            except Exception as error:  # noqa: BLE001 - what must not come is what is looked for
                if not isinstance(error, MemholdError):
                    silent.append(f"{run}: open: {ended(error)}")
                counted["refused to open"] += 1
                shutil.rmtree(folder)
                continue
        silent += [f"{run}: {name}: {end}" for name, end in ends.items() if end.startswith(RAW)]
        logged = "damaged and left out" in caplog.text
        other = [name for name, answer in answers.items() if answer != clean[name] and not ends.get(name)]
        other = [name for name in other if not (logged and name.startswith(("messages", "history")))]
        # Where the trees of the file are damaged and not a row, SQLite reads on beside what it cannot reach: answers say
        # it once somebody looked at the file, as `doctor` did here and a store that stays open does by itself.
        if other and (ends["doctor"], ends["backup"]) == ("wrong", "StoreCorrupt") and ends["recall afterwards"]:
            counted[LATER] += 1
        elif other:
            silent.append(f"{run}: {other}; {ends}")
        elif any(ends.values()) and not ends["backup"]:
            silent.append(f"{run}: backup is called good; {ends}")
        else:
            counted["told" if any(ends.values()) else "as it was"] += 1
        shutil.rmtree(folder)
    NOTES[request.node.name] = counted
    assert not silent, "\n".join(silent)
