"""Stores that nobody closes: they say so, and give back what they hold; where descriptors run out, that is said."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest

from memhold import AsyncMemhold, Memhold

DESCRIPTORS = Path("/dev/fd")
MANY = """
import os, sys, threading, time
from memhold import Memhold
def handle(i):
    mem = Memhold.open(sys.argv[1], embedding="none")
    return mem.scope(user="u").remember(f"note {i}")
most = 0
for i in range(500):
    handle(i)
    most = max(most, len(os.listdir("/dev/fd")))
with Memhold.open(sys.argv[1], embedding="none") as mem:
    kept = len(mem.scope(user="u").list(limit=1000).items)
ends = time.monotonic() + 60
while threading.active_count() > 1 and time.monotonic() < ends:
    time.sleep(0.01)  # the last that was dropped still closes
print(most, kept, threading.active_count())
"""


def run(*arguments: str, warn: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, "-W", warn, "-c", *arguments], env=environment, capture_output=True, text=True, check=True
    )


def test_five_hundred_opens_without_a_close_hold_few_descriptors_and_lose_nothing(tmp_path: Path) -> None:
    done = run(MANY, str(tmp_path / "m.db"), warn="ignore")
    most, kept, threads = map(int, done.stdout.split())
    assert most < 60
    assert kept == 500
    assert threads == 1


def test_a_store_that_is_collected_warns_and_its_scopes_keep_it_open(tmp_path: Path) -> None:
    scope = Memhold.open(str(tmp_path / "m.db"), embedding="none").scope(user="u")
    gc.collect()
    scope.remember("told through a scope whose store nobody holds")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        del scope
        gc.collect()
    assert [str(one.message) for one in told if issubclass(one.category, ResourceWarning)] == [
        f"{tmp_path / 'm.db'} was never closed; open it by 'with', or call close()"
    ]
    with Memhold.open(str(tmp_path / "m.db"), embedding="none") as mem:
        assert len(mem.scope(user="u").list().items) == 1


def test_a_store_that_is_closed_warns_of_nothing(tmp_path: Path) -> None:
    with Memhold.open(str(tmp_path / "m.db"), embedding="none") as mem:
        mem.scope(user="u").remember("kept")
    del mem
    gc.collect()  # warnings are errors here


@pytest.mark.parametrize("ends", [False, True], ids=["its loop runs", "its loop is over"])
def test_an_async_store_that_is_collected_warns_and_gives_all_back(tmp_path: Path, *, ends: bool) -> None:
    held: list[object] = []

    async def leave() -> None:
        mem = await AsyncMemhold.open(str(tmp_path / "m.db"), embedding="none")
        await mem.scope(user="u").remember("kept")
        held.append(mem)
        if not ends:
            del mem
            held.clear()
            gc.collect()
            async with AsyncMemhold.open(str(tmp_path / "other.db"), embedding="none"):
                pass

    before = set(threading.enumerate())
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        asyncio.run(leave())
        held.clear()
        gc.collect()
    assert [one.category for one in told if "was never closed" in str(one.message)] == [ResourceWarning]
    until = time.monotonic() + 30
    while {one.name for one in set(threading.enumerate()) - before} and time.monotonic() < until:
        time.sleep(0.01)
    assert set(threading.enumerate()) <= before
    assert not any("m.db" in os.path.realpath(one) for one in DESCRIPTORS.iterdir())


CROWD = """
import os, resource, sys
from memhold import Memhold
from memhold.errors import StoreError
Memhold.open("memory://", embedding="none", worker=False).close()
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
for spare in range(24):
    taken = {int(one) for one in os.listdir("/dev/fd")}
    free = [number for number in range(200) if number not in taken]
    resource.setrlimit(resource.RLIMIT_NOFILE, (free[spare], hard))
    try:
        mem = Memhold.open(sys.argv[1], embedding="none", worker=False)
    except StoreError as error:
        print(type(error).__name__, error)
    else:
        mem.close()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
"""


@pytest.mark.parametrize("there", [False, True])
def test_where_descriptors_run_out_that_is_said_and_nothing_else(tmp_path: Path, *, there: bool) -> None:
    place = tmp_path / "m.db"
    if there:
        Memhold.open(str(place), embedding="none", worker=False).close()
    said = run(CROWD, str(place), warn="ignore").stdout.splitlines()
    told = "cannot be opened: too many files are open; close stores that are open, or allow more (ulimit -n)"
    assert said
    assert {*said} <= {f"StoreError {one} {told}" for one in (place, "memhold.toml")}
