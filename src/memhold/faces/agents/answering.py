"""The Memhold that runs for the hooks of one store: `python -m memhold.faces.agents.answering --db STORE`.

It keeps the store open, takes in what hooks took note of, does due work, and tells hooks what a session should know.
A session's first hook starts it; one runs for a store, and it ends by itself when nobody has asked for a while, and at
once where the store cannot be opened.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memhold.faces.agents.running import END, MOST_BYTES, OFF, START_SECONDS, meeting_place
from memhold.faces.python.background_open import BackgroundStore
from memhold.ports.data_home import file_of, leave_folder
from memhold.ports.file_locks import try_lock
from memhold.ports.signals import heard
from memhold.text import lazily
from memhold.values.errors import MemholdError, StoreBusy

if TYPE_CHECKING:
    from memhold.faces.agents.briefing import Whose
    from memhold.verbs.store_protocols import AsyncStore

__all__ = ["IDLE_SECONDS", "answer_hooks", "main"]

IDLE_SECONDS = 1_800.0
"""After how long without a question it ends."""
PROMPT_TOKENS = 400
START_TOKENS = 800
"""Most tokens that a session's start and each prompt of the user bring into the model's window."""
_LOOKED_EVERY = 2.0
"""How often the notes of hooks are looked at, in seconds."""
CAUGHT_UP_SECONDS = 0.15
"""How long a session that starts waits for what the one before it said to be taken in."""
_SESSIONS = 1_000
"""Of how many sessions it is known what they were shown."""
_TURN = 0.05
"""How often it is looked whether somebody waits still, in seconds."""
_ENDING_SECONDS = 5.0
"""How long one that ends is waited for by the one that follows it."""
_MARKS_KEPT = 7 * 86_400


class _Answers:
    """What one running Memhold answers, and what it has told whom."""

    def __init__(self, opening: BackgroundStore, *, caught_up_within: float) -> None:
        self._opening = opening
        self._caught_up_within = caught_up_within
        self._shown: OrderedDict[str, set[str]] = OrderedDict()
        self._late: dict[str, tuple[str, set[str]]] = {}
        self.woken = asyncio.Event()
        self.ended = asyncio.Event()
        self.asked_at = time.monotonic()
        self.serving = 0
        """How many questions are being answered now."""
        self._file = _file_of(opening.location)

    def is_removed(self) -> bool:
        """Whether the store's file is gone, or another one stands in its place: what is here is nobody's any longer."""
        now = _file_of(self._opening.location)
        self._file = self._file or now
        return self._file is not None and now != self._file

    def end_without_store(self, opened: asyncio.Task[None]) -> None:
        """End at once where the opening failed: nothing can be served."""
        if not opened.cancelled() and opened.exception() is not None:
            self.ended.set()

    async def to(self, request: Mapping[str, Any], *, gone: Callable[[], bool] = lambda: False) -> dict[str, Any]:
        """The answer to one request; one that asks nothing wakes what takes in.

        Where the one who asked is `gone` by then, nothing counts as told.
        """
        self.asked_at = time.monotonic()
        event = request.get("event")
        if event == END:
            self.ended.set()
        if event not in {"SessionStart", "UserPromptSubmit"}:
            self.woken.set()
            return {"state": "ready"}
        self.serving += 1
        try:
            return await self._answered(str(event), request, gone)
        finally:
            self.serving -= 1

    async def _answered(self, event: str, request: Mapping[str, Any], gone: Callable[[], bool]) -> dict[str, Any]:
        opened = self._opening.begin()
        if not opened.done():
            await asyncio.wait({opened}, timeout=_waits(request))
        if not opened.done():
            failure = self._opening.failure
            return {"state": "opening"} if failure is None else {"state": "off", "why": failure}
        try:
            text = await self._told(event, request, gone)
        except (MemholdError, OSError) as error:
            return {"state": "off", "why": f"the store cannot be read ({type(error).__name__}: {error})"}
        return {"state": "ready", "text": text}

    async def _told(self, event: str, request: Mapping[str, Any], gone: Callable[[], bool]) -> str:
        from memhold.faces.agents.briefing import at_prompt, at_start
        from memhold.faces.agents.working_tree import worked_on

        store = await self._opening.store()
        whose = _whose(request)
        session = str(request.get("session"))
        starts = event == "SessionStart" and request.get("source") != "resume"
        # What a start is owed it was not told, whatever an answer held that came too late.
        begins = starts or (event == "UserPromptSubmit" and request.get("owed") is True)
        late, told = self._late.pop(session, ("", set[str]())) if event == "UserPromptSubmit" else ("", set[str]())
        shown = set() if begins else self._shown.get(session, set()) | told
        texts = [] if begins else [late]
        if begins:
            if isinstance(folder := request.get("folder"), str):
                whose = replace(whose, files=await asyncio.to_thread(worked_on, Path(folder)))
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(self._opening.take_in()), self._caught_up_within)
            compacted = request.get("source") == "compact"
            texts.append(await at_start(store, whose, START_TOKENS, shown=shown, with_own=compacted))
        if event == "UserPromptSubmit":
            prompt = request.get("prompt")
            texts.append(await at_prompt(store, whose, str(prompt or ""), PROMPT_TOKENS, shown=shown))
        text = "\n\n".join(text for text in texts if text)
        if not gone():
            self._keep(session, shown)
        elif not begins and text:
            self._late[session] = text, shown  # the next prompt brings it
            while len(self._late) > _SESSIONS:
                self._late.pop(next(iter(self._late)))
        return text

    def _keep(self, name: str, shown: set[str]) -> None:
        """Remember the ids that stand in the session's window because it was told them."""
        self._shown[name] = shown
        self._shown.move_to_end(name)
        while len(self._shown) > _SESSIONS:
            self._shown.popitem(last=False)


def _file_of(location: str) -> tuple[int, int] | None:
    """Which file a store is in; None of one that is not there yet, or in no file."""
    file = file_of(location)
    try:
        found = None if file is None else file.stat()
    except OSError:
        return None
    return None if found is None else (found.st_dev, found.st_ino)


def _waits(request: Mapping[str, Any]) -> float:
    """How long whoever asks waits for a store that is being opened."""
    given = request.get("waits")
    return min(max(0.0, given), START_SECONDS) if isinstance(given, float) else 0.0


def _whose(request: Mapping[str, Any]) -> Whose:
    from memhold.faces.agents.briefing import Whose

    def text(name: str) -> str | None:
        found = request.get(name)
        return found if isinstance(found, str) and found else None

    return Whose(
        project=text("project"),
        former=text("former"),
        namespace=text("namespace") or "default",
        user=text("user"),
        agent=text("agent"),
        session=text("session"),
    )


async def answer_hooks(
    location: str,
    *,
    idle: float = IDLE_SECONDS,
    caught_up_within: float = CAUGHT_UP_SECONDS,
    settings: Mapping[str, Any] | None = None,
) -> bool:
    """Answer hooks until nobody has asked for `idle` seconds, or SIGTERM or SIGINT comes; then close in order.

    A session's start waits `caught_up_within` seconds at most for what was said before it to be taken in. False at
    once where another process answers for this store.

    Raises:
        MemholdError, OSError: the store cannot be opened, and not because another program holds it. Hooks that come
            after are told why (`why_off`).
    """
    place = meeting_place(location)
    with _only_one(place) as mine:
        if not mine:
            return False
        _without_old_marks(place.parent)
        opening = BackgroundStore(location, settings or {}, ahead=("memhold.faces.agents.briefing",))
        answers = _Answers(opening, caught_up_within=caught_up_within)
        server = await _listening(place, answers)
        warmed = asyncio.create_task(_warmed(opening, place, answers))
        warmed.add_done_callback(answers.end_without_store)
        with heard((signal.SIGTERM, signal.SIGINT), answers.ended.set):
            try:
                while not answers.ended.is_set() and time.monotonic() - answers.asked_at < idle:
                    if answers.is_removed():
                        break
                    await _first(answers.ended, answers.woken, seconds=min(_LOOKED_EVERY, idle))
                    answers.woken.clear()
                    if await opening.take_in():
                        # Somebody is at work, also where nothing was asked for long.
                        answers.asked_at = time.monotonic()
            finally:
                # Whoever comes now finds nobody, and starts another one: it waits for nothing that is closed here.
                server.close()
                place.unlink(missing_ok=True)
                warmed.cancel()
                await opening.close()
        if warmed.done() and not warmed.cancelled():
            await warmed
    return True


async def _warmed(opening: BackgroundStore, place: Path, answers: _Answers) -> None:
    """Open the store, and answer once where the next question comes from: what it loads takes longer than a hook waits.

    Raises:
        MemholdError, OSError: the store cannot be opened, which is left to be read beside the meeting place. Where
            another program holds it, the next question tries again.
    """
    try:
        store = await opening.store()
    except StoreBusy:
        return
    except (MemholdError, OSError) as error:
        with suppress(OSError):
            place.with_suffix(OFF).write_text(str(error) or type(error).__name__, encoding="utf-8")
        raise
    place.with_suffix(OFF).unlink(missing_ok=True)
    while answers.serving:  # noqa: ASYNC110 - nobody is held up by it
        await asyncio.sleep(_TURN)  # somebody waits for an answer: that warms too, and comes first
    with suppress(MemholdError, OSError):
        await _warm(store, opening.location)
    await asyncio.to_thread(lazily.compile_all)


async def _warm(store: AsyncStore, location: str) -> None:
    """Ask for whom the newest note of a hook was left: nothing that is found counts as used."""
    from memhold.faces.agents.briefing import Whose, at_start
    from memhold.faces.agents.spool import newest_note

    note = newest_note(location)
    user, agent = ("memhold:nobody", None) if note is None else (note.user, note.agent)
    project = None if note is None else note.namespace
    whose = Whose(project=project, namespace="default", user=user, agent=agent, session=None)
    await at_start(store, whose, START_TOKENS, shown=set())
    for _, namespace in await whose.places(store):
        await whose.scope(store, namespace).recall("warm", limit=1, browse=True)


async def _first(*events: asyncio.Event, seconds: float) -> None:
    tasks = [asyncio.create_task(one.wait()) for one in events]
    await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()


async def _listening(place: Path, answers: _Answers) -> asyncio.Server:
    async def met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, ValueError, TimeoutError):
            request = json.loads(await asyncio.wait_for(reader.readline(), 5))
            if isinstance(request, dict):
                if answers.is_removed():
                    answers.ended.set()  # whoever asks finds nobody, and starts another one
                    raise ConnectionError
                # A hook that waits no longer has closed its end.
                writer.write(json.dumps(await answers.to(request, gone=reader.at_eof)).encode() + b"\n")
                await writer.drain()
        writer.close()

    return await asyncio.start_unix_server(met, sock=_bound(place), limit=MOST_BYTES)


def _bound(place: Path) -> socket.socket:
    """A socket in the place of one that a killed process left."""
    place.unlink(missing_ok=True)
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    line.bind(str(place))
    place.chmod(0o600)
    return line


@contextmanager
def _only_one(place: Path) -> Iterator[bool]:
    with place.with_suffix(".lock").open("a") as lock:
        ends = time.monotonic() + _ENDING_SECONDS
        while not (mine := try_lock(lock.fileno())) and not place.exists() and time.monotonic() < ends:
            time.sleep(0.02)  # one that listens no longer is about to end
        yield mine


def _without_old_marks(folder: Path) -> None:
    """What hooks left about sessions that are long over."""
    for mark in (one for kind in ("owed", "told", "late", "off") for one in folder.glob(f"*.{kind}")):
        with suppress(OSError):
            if time.time() - mark.stat().st_mtime > _MARKS_KEPT:
                mark.unlink()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until idle; 1 where it cannot."""
    parser = argparse.ArgumentParser(prog="python -m memhold.faces.agents.answering", description=__doc__)
    parser.add_argument("--db", required=True)
    parser.add_argument("--idle", type=float, default=IDLE_SECONDS, metavar="SECONDS")
    given = parser.parse_args(arguments)
    os.umask(0o077)
    leave_folder()
    try:
        asyncio.run(answer_hooks(given.db, idle=given.idle))
    except (MemholdError, OSError) as error:
        sys.stderr.write(f"memhold: hooks are not answered ({error})\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
