"""Long texts analysed by processes of their own: the same terms, whatever becomes of the processes."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memhold import AsyncMemhold
from memhold.journal.append import analyse_said
from memhold.verbs.analysis_pool import CHARGED, ELSEWHERE_BYTES, AnalysisPool

LONG = " ".join(f"word{number}" for number in range(12_000))


async def test_the_terms_are_those_of_this_process_and_the_work_is_accounted_for():
    pool, spent = AnalysisPool(1), []
    token = CHARGED.set(spent.append)
    try:
        said = [("user", LONG), ("assistant", "Tea at noon"), ("user", "Always answer in French."), ("user", "")]
        assert await pool.analysed(said) == tuple(analyse_said(role, text) for role, text in said)
    finally:
        CHARGED.reset(token)
        await pool.close()
    assert len(spent) == 1
    assert spent[0] > 0
    assert not multiprocessing.active_children()


async def test_a_process_that_dies_costs_no_write_and_the_next_text_has_a_fresh_one(tmp_path):
    async with AsyncMemhold.open(tmp_path / "memory.db", worker=False, analysis_processes=1, embedding="none") as mem:
        scope = mem.scope(user="alice", session="s")
        await scope.add({"role": "user", "content": LONG + " first"})
        (first,) = multiprocessing.active_children()
        os.kill(first.pid, signal.SIGKILL)
        writes = [scope.add({"role": "user", "content": f"{LONG} marker{number}"}) for number in range(4)]
        assert all(receipt.ids for receipt in await asyncio.gather(*writes))
        await scope.add({"role": "user", "content": LONG + " last"})
        (fresh,) = multiprocessing.active_children()
        assert fresh.pid != first.pid
        for word in ("first", *(f"marker{number}" for number in range(4)), "last"):
            assert len((await scope.recall(word, signals=["words"])).hits) >= 1, word
    assert not multiprocessing.active_children()


async def test_short_texts_start_no_process(tmp_path):
    async with AsyncMemhold.open(tmp_path / "memory.db", worker=False, analysis_processes=1, embedding="none") as mem:
        await mem.scope(user="alice").add({"role": "user", "content": LONG[: ELSEWHERE_BYTES - 1000]})
        assert not multiprocessing.active_children()


async def test_a_closed_pool_starts_nothing():
    pool = AnalysisPool(1)
    await pool.close()
    assert await pool.analysed([("user", "Tea")]) == (analyse_said("user", "Tea"),)
    assert not multiprocessing.active_children()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
async def test_the_process_has_no_file_of_the_store_open(tmp_path):
    async with AsyncMemhold.open(tmp_path / "memory.db", worker=False, analysis_processes=1, embedding="none") as mem:
        await mem.scope(user="alice").add({"role": "user", "content": LONG})
        (child,) = multiprocessing.active_children()
        opened = _opened(child.pid)
    assert not [name for name in opened if str(tmp_path) in name]


_KILLED = """
import asyncio, multiprocessing, os, signal
from memhold.verbs.analysis_pool import AnalysisPool

async def main():
    await AnalysisPool(1).analysed([("user", "Tea")])
    print(multiprocessing.active_children()[0].pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_killed_parent_leaves_no_process_behind(tmp_path):
    script = tmp_path / "killed.py"
    script.write_text(_KILLED)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL
    child = int(done.stdout)
    ends = time.monotonic() + 120
    while _lives(child) and time.monotonic() < ends:
        time.sleep(0.05)
    if _lives(child):
        os.kill(child, signal.SIGKILL)
        pytest.fail("the process went on without its parent")


def _opened(pid: int) -> list[str]:
    return [str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()]


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
