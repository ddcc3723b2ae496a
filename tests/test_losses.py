"""`python -m benchmarks losses`: what is counted, what a power cut leaves, and Memhold's own row on a few messages."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks.__main__ import main
from benchmarks.losses.cost import Spent, scaled
from benchmarks.losses.disk import OPENED, NoCompiler, Operation, cut, recorded, recorder
from benchmarks.losses.environments import environment_of
from benchmarks.losses.inside.servers import Answered, Rest, Servers, free_port
from benchmarks.losses.judging import judged
from benchmarks.losses.model import says
from benchmarks.losses.page import page
from benchmarks.losses.peers import PEERS
from benchmarks.losses.recall import Question, found_by_memhold, read_set
from benchmarks.losses.run import Results, applies, chosen, run
from benchmarks.losses.said import told
from benchmarks.losses.scenarios import SCENARIOS, bench
from memhold.testing.chaos.replies import Asked, Offer, Reply
from memhold.testing.chaos.server import Request

FINE: dict[str, Any] = {"kept": 1}


def test_each_message_counts_as_what_became_of_it() -> None:
    kept, lost, hinted, refused, late, twice = told(6)
    pairs = [(one, FINE) for one in (kept, lost, twice, twice)]
    pairs += [(hinted, {"kept": 0}), (refused, {"error": "Full: no room"}), (late, {"error": "Full: no room"})]
    entries = [["message", kept.text], ["fact", kept.word], ["message", late.text], *[["message", twice.text]] * 2]
    found = judged(pairs, entries)
    assert (found.said, found.acked, found.kept, found.lost, found.hinted) == (6, 4, 2, 2, 1)
    assert (found.refused, found.kept_though_refused, found.doubled, found.made) == (2, 1, 1, 1)
    assert found.told == {"Full": 2}


def test_what_is_said_is_said_once() -> None:
    words = [one.word for seed in range(3) for one in told(40, seed=seed)]
    assert len(set(words)) == len(words)
    assert told(5) == told(5)
    assert {one.thing for one in told(5)} == {one.thing for one in told(5, again=True)}


def written(inode: int, data: bytes, at: int = 0) -> Operation:
    return Operation("W", inode, at, data)


def test_a_power_cut_keeps_what_was_synced_and_names_that_were_known(tmp_path: Path) -> None:
    root, whole = tmp_path / "store", tmp_path / "whole"
    whole.mkdir(mode=0o700)
    (whole / "unseen").write_bytes(b"no record tells of it")

    def named(name: str) -> bytes:
        return str(root / name).encode()

    record = [
        Operation("C", 1, 0, named("log")), written(1, b"old"), Operation("A", 0, 0, OPENED),
        written(1, b"new"), Operation("F", 1, 0, b""), Operation("A", 0, 0, b"first\n"),
        written(1, b"NEWER"), Operation("C", 2, 0, named("part")), written(2, b"part"),
        Operation("R", 0, 0, named("part") + b"\x01" + named("done")), Operation("A", 0, 0, b"second\n"),
        Operation("F", 1, 0, b""), Operation("U", 0, 0, named("log")), Operation("D", 3, 0, str(root).encode()),
    ]  # fmt: skip

    def left(at: int) -> tuple[list[str], dict[str, bytes]]:
        acked = cut(record, at, "nothing", Random(0), whole, root)
        return acked, {path.name: path.read_bytes() for path in root.iterdir()}

    unseen = {"unseen": b"no record tells of it"}
    assert left(4) == (["opened"][:0], {"log": b"old", **unseen})
    assert left(11) == (["first", "second"], {"log": b"new", **unseen})
    assert left(12) == (["first", "second"], {"log": b"NEWER", "done": b"", **unseen})
    assert left(14)[1] == {"done": b"", **unseen}
    some = {
        bytes(cut(record, 7, "some", Random(seed), whole, root) and (root / "log").read_bytes()) for seed in range(9)
    }
    assert some == {b"new", b"NEWER"}
    assert root.stat().st_mode & 0o777 == 0o700  # a database may refuse a folder that others can read


def test_the_recorder_sees_what_a_program_syncs(tmp_path: Path) -> None:
    root = tmp_path / "store"
    root.mkdir()
    if shutil.which("cc") is None and shutil.which("gcc") is None:
        with pytest.raises(NoCompiler):
            recorder(root, tmp_path)
        return
    disk = recorder(root, tmp_path)
    program = f"""
import os
acked = os.open({str(disk.acked)!r}, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
os.write(acked, b"opened\\n")
for name, sync in (("safe", True), ("lost", False)):
    file = os.open({str(root)!r} + "/" + name, os.O_CREAT | os.O_WRONLY)
    os.write(file, name.encode())
    os.fsync(file) if sync else None
    os.write(acked, name.encode() + b"\\n")
open({str(disk.full)!r}, "w").close()
try:
    os.write(file, b"more")
except OSError as error:
    os.write(acked, f"errno-{{error.errno}}\\n".encode())
"""
    subprocess.run([sys.executable, "-c", program], env=disk.variables, check=True)
    operations = recorded(disk.log)
    whole = tmp_path / "whole"
    root.rename(whole)
    assert cut(operations, len(operations), "nothing", Random(0), whole, root) == ["safe", "lost", "errno-28"]
    assert (root / "safe").read_bytes() == b"safe"
    assert not (root / "lost").exists()
    assert (whole / "lost").read_bytes() == b"lost"


def test_a_torn_record_ends_where_it_is_torn(tmp_path: Path) -> None:
    head = struct.Struct("<cQqI")
    (tmp_path / "log").write_bytes(head.pack(b"W", 1, 0, 2) + b"ab" + head.pack(b"W", 1, 2, 9) + b"cut")
    assert recorded(tmp_path / "log") == [written(1, b"ab")]


def test_the_model_answers_each_prompt_in_its_form() -> None:
    mem0 = Asked(
        protocol="openai",
        model="m",
        texts=(("user", "## New Messages\nuser: My cat is Zorlin7.\n\n## Current Date\n"),),
    )
    reply = says(mem0)
    assert reply is not None
    assert json.loads(reply.text)["memory"][0]["text"] == "User's cat is Zorlin7."
    shown = (
        '<instance id=7 schema_type="Memory">\n{"content": "User\'s cat is Ba1."}\n</instance>'
        "\n<session_1>\nMy cat is now Ke2.\nMy gym is Lo3.\n</session_1>"
    )
    offers = tuple(Offer(name=name, schema={}) for name in ("Memory", "PatchDoc"))
    reply = says(Asked(protocol="openai", model="m", texts=(("user", shown),), offers=offers))
    assert reply is not None
    patched, new = reply.calls
    assert (patched.name, patched.arguments["json_doc_id"]) == ("PatchDoc", "7")
    assert new.arguments == {"content": "User's gym is Lo3."}
    assert says(Asked(protocol="openai", model="m", texts=(("user", "Hello"),))) is None


def test_letta_is_answered_by_calls_of_its_tools() -> None:
    offers = tuple(Offer(name=name, schema={}) for name in ("conversation_search", "memory_insert", "memory_replace"))
    block = ("system", "<human>\nUser's cat is Ba1.\n</human>")

    def replied(*texts: tuple[str, str]) -> Reply:
        found = says(Asked(protocol="openai", model="m", texts=(block, *texts), offers=offers))
        assert found is not None
        return found

    (new,) = replied(("user", "My gym is Lo3.")).calls
    assert (new.name, new.arguments) == ("memory_insert", {"label": "human", "new_string": "User's gym is Lo3."})
    (changed,) = replied(("user", "My cat is now Ke2.")).calls
    assert (changed.name, changed.arguments["old_string"]) == ("memory_replace", "User's cat is Ba1.")
    assert changed.arguments["new_string"] == "User's cat is Ke2."
    done = replied(("user", "My gym is Lo3."), ("assistant", ""), ("tool", "OK"))
    assert (done.calls, bool(done.text)) == ((), True)


def test_agent_memory_server_is_answered_in_the_form_of_each_prompt() -> None:
    def replied(prompt: str) -> str:
        found = says(Asked(protocol="openai", model="m", texts=(("user", prompt),)))
        assert found is not None
        return found.text

    talk = (
        "You are a long-memory manager. …\nMessage:\n[USER]: My cat is Ba1.\n[USER]: My cat is now Ke2.\nMy gym is Lo3."
    )
    found = json.loads(replied(f"{talk}\n\nSTEP-BY-STEP PROCESS:\n1. My dog is No4."))["memories"]
    assert [one["text"] for one in found] == ["User's cat is Ke2.", "User's gym is Lo3."]
    merge = "You are a memory merging assistant.\nThe memories:\n1: User's cat is Ba1.\n2: User's gym is Lo3.\n"
    assert replied(merge) == "User's cat is Ba1. User's gym is Lo3."
    asked = "Text:\nUser's cat is Ba1.\n\nReturn a JSON object with "
    assert json.loads(replied(f'{asked}a "topics" array')) == {"topics": ["cat"]}
    assert json.loads(replied(f'{asked}an "entities" array')) == {"entities": ["User"]}


def test_who_comes_second_uses_the_servers_of_the_first(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    first, port = Servers(str(tmp_path)), free_port()
    first.start("site", [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"], port)
    second = Servers(str(tmp_path))
    assert (first.ours, second.ours, second.ports) == (True, False, {"site": port})
    second.close()
    with pytest.raises(Answered, match="404"):
        Rest(port).ask("GET", "/nothing")
    first.close()
    third = Servers(str(tmp_path))
    assert (third.ours, third.ports) == (True, {})
    with pytest.raises(RuntimeError, match=r"gone does not start \(exit code 3\)"):
        third.start("gone", [sys.executable, "-c", "raise SystemExit(3)"], port)


def test_what_can_be_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    assert [(peer.name, scenario.name) for peer, scenario in chosen(["mem0/kill"])] == [("mem0", "kill")]
    everything = chosen([])
    assert {peer.name for peer, _ in everything} == {peer.name for peer in PEERS.values() if not peer.recall_only}
    assert chosen(["letta+archive"]) == []
    assert {scenario.name for _, scenario in everything} == set(SCENARIOS)
    assert not applies(PEERS["chroma"], SCENARIOS["prose"])
    assert main(["losses", "--only", "mem0/nothing"]) == 2
    assert "PEER/SCENARIO" in capsys.readouterr().err


def test_a_peer_that_cannot_be_installed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "npm").write_text("#!/bin/sh\necho the registry is away >&2\nexit 1\n")
    (tmp_path / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    results = run(tmp_path / "keep", ["server-memory/kill", "server-memory/twice"])
    assert results.held["runs"] == {}
    told = results.held["missing"]["server-memory"]
    assert told["said"] == "the registry is away"
    assert told["command"].endswith("@modelcontextprotocol/server-memory")
    assert "the registry is away" in page(Results.all(tmp_path / "keep"))


@pytest.mark.parametrize("name", ["forget", "update", "twice"])
def test_memhold_loses_doubles_and_keeps_nothing_stale(name: str, tmp_path: Path) -> None:
    peer = PEERS["memhold"]
    with bench(peer, environment_of(peer, tmp_path), 0.1) as place:
        found = SCENARIOS[name].run(place)
    assert (found.said, found.acked, found.kept) == (found.said, found.said, found.said)
    assert found.said >= 2
    assert (found.lost, found.refused, found.doubled, found.stale or 0, found.unmarked or 0) == (0, 0, 0, 0, 0)
    assert found.made == found.said, found.note
    assert (found.served or 0, found.left or 0) == (0, 0)


def test_the_page_says_what_was_measured(tmp_path: Path) -> None:
    results = Results.of(tmp_path, "losses")
    lost = judged([(one, FINE) for one in told(3)], [])
    results.held["runs"]["chroma/kill"] = lost.plain()
    forgotten = judged([(one, FINE) for one in told(15)], [["message", one.text] for one in told(15)])
    forgotten.served, forgotten.left = 0, 5
    results.held["runs"]["chroma/forget"] = forgotten.plain()
    results.held["versions"]["chroma"] = {"chromadb": "1.2.3"}
    results.held["missing"]["zep"] = {"command": "get zep", "said": "no | such"}
    results.keep()
    again = Results.all(tmp_path)
    text = page(again)
    assert "| Chroma as a memory | asks no model |" in text
    assert "3 lost of 3" in text
    assert "| Chroma as a memory | 3 | 3 | 0 | 3 | 0 | 0 |  | 3 of the lost: success |" in text
    assert "bytes of 5 of 5 deleted" in text
    assert "still found 0, bytes left 5 | no error |" in text
    assert "| zep | `get zep` | no / such |" in text
    assert "- nowhere in what was measured" in text


def test_the_page_says_where_others_are_better(tmp_path: Path) -> None:
    results = Results.of(tmp_path, "losses")
    stale, fresh = judged([], []), judged([], [])
    stale.stale, fresh.stale = 2, 0
    refusing, taking = judged([], []), judged([], [])
    refusing.refused, taking.refused = 10, 0
    results.held["runs"] = {"memhold+alone/update": stale.plain(), "langmem/update": fresh.plain()}
    results.held["runs"] |= {"memhold/disk-full": refusing.plain(), "chroma/disk-full": taking.plain()}
    dear = {
        "calls": 1,
        "tokens_in": 9,
        "tokens_out": 1,
        "embeds": 0,
        "processor": 2.0,
        "wait": 1.0,
        "size": 9,
        "empty": 1,
        "failed": 0,
        "settled": True,
    }
    results.held["costs"] = {"memhold": dear, "chroma": dear | {"size": 8, "wait": 5.0}}
    results.held["recall"] = {
        "set": {
            name: {"R@5": 0.1, "R@10": at, "questions": 2}
            for name, at in (("Memhold", 0.2), ("LangGraph SqliteStore", 0.3))
        }
    }
    results.held["days"] = {"set": "2026-11-25"}
    text = page(results)
    assert "| memory | set (2 questions, 2026-11-25) |" in text
    assert "- update, then ask: LangMem on SqliteStore (than Memhold, no model)" in text
    assert "- disk full for a while: Chroma as a memory (than Memhold)" in text
    assert "- bytes on the disk: Chroma as a memory (than Memhold with a model)" in text
    assert "- found again, set: LangGraph SqliteStore" in text
    assert "the wait for one write:" not in text


def test_a_cost_counts_once_what_an_empty_store_takes() -> None:
    idle = Spent(processor=3.0, size=40_000_000, waits=(), failed=(), settled=True)
    busy = Spent(processor=5.0, size=42_000_000, waits=(0.1, 0.3, 0.2), failed=(None, "Full", None), settled=False)
    chat = {"messages": [{"role": "user", "content": "My cat is Zorlin7."}]}
    asked = [
        Request(at=datetime.now(UTC), method="POST", path=path, model="m", body=body, headers={}, fault="")
        for path, body in (("/v1/chat/completions", chat), ("/v1/embeddings", {"input": "cat"}))
    ]
    cost = scaled(idle, busy, asked)
    assert (cost.size, cost.empty, cost.processor, cost.wait) == (50_000_000, 40_000_000, 10.0, 200.0)
    assert (cost.calls, cost.embeds, cost.failed, cost.settled) == (5, 5, 1, False)


def test_who_did_not_take_all_is_told_with_what_it_finds(tmp_path: Path) -> None:
    results = Results.of(tmp_path, "recall")
    found = {"R@5": 0.1, "R@10": 0.2, "questions": 2}
    results.held["recall"] = {"set": {"Letta, its archive": found | {"unkept": 3}, "Chroma as a memory": found}}
    results.held["versions"] = {"letta+archive": {"letta": "1.2.3"}, "chroma": {"chromadb": "1.2.3"}}
    text = page(results)
    assert "| Letta, its archive | 0.100, 0.200 (3 messages not taken) |" in text
    assert "| Chroma as a memory | 0.100, 0.200 |" in text
    assert text.count("| Letta, its archive |") == 2, "its row of recall, and how it is set up; none of losses"


def test_sets_are_read_in_order_and_measured_by_their_gold(tmp_path: Path) -> None:
    at = "2026-05-01T09:00:00+00:00"
    messages = [{"id": str(n), "role": "user", "content": f"thing {n}", "time": at} for n in range(3)]
    asked = [{"q": "which?", "kind": "list", "gold": ["0", "2"]}, {"q": "any?", "kind": "list", "gold": []}]
    world = {"name": "w", "lang": "en", "sessions": [{"id": "s", "messages": messages}], "questions": asked}
    (tmp_path / "worlds.json").write_text(json.dumps([world]))
    (conversation,) = read_set(tmp_path / "worlds.json")
    said, question = conversation.steps
    assert isinstance(said, tuple)
    assert [turn.id for turn in said] == ["0", "1", "2"]
    assert isinstance(question, Question)
    assert question.share(["2", "1"]) == 0.5
    for embedding in ("none", "builtin"):
        assert found_by_memhold([conversation], embedding) == {"R@5": 1.0, "R@10": 1.0, "questions": 1}
