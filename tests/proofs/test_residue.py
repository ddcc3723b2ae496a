"""Forgetting is real: after a forget and its scrub, a scan of every byte of the data directory finds nothing of it.

Histories are random: inserts, updates and deletes of many sizes, so that pages fill, split and move cells before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import apsw
import pytest

from memhold import AsyncMemhold
from memhold.testing import FakeClock
from memhold.verbs.scope import AsyncScope

SESSIONS = ("alpha", "beta", "")
SIZES = (0, 3, 40, 300, 900, 3_000, 12_000)


@dataclass
class Story:
    """A random history in one scope; every text holds a marker that is nowhere else."""

    random: Random
    tag: str
    marks: dict[str, list[str]] = field(default_factory=dict)
    items: list[str] = field(default_factory=list)
    count: int = 0

    def mark(self, what: str) -> str:
        self.count += 1
        return f"{self.tag}{what}{self.count:05d}{self.random.getrandbits(64):016x}"

    def text(self, mark: str) -> str:
        size = self.random.choice(SIZES)
        filler = " ".join(f"w{self.random.randrange(500)}" for _ in range(size // 5))
        return f"{mark} {filler} {mark[::-1]}"

    def keep(self, item: str, marks: list[str]) -> None:
        self.items.append(item)
        self.marks.setdefault(item, []).extend(marks)


async def say(story: Story, scope: AsyncScope) -> None:
    batch: list[dict[str, Any]] = []
    marks: list[list[str]] = []
    for _ in range(story.random.choice((1, 1, 2, 9))):
        content, name, meta, argument = (story.mark(what) for what in ("content", "name", "meta", "arg"))
        call = {
            "id": story.mark("call"),
            "type": "function",
            "function": {"name": "f", "arguments": f'{{"q": "{argument}"}}'},
        }
        batch.append(
            {
                "role": "assistant",
                "name": name,
                "content": story.text(content),
                "metadata": {meta: meta},
                "tool_calls": [call],
            }
        )
        marks.append([content, name, meta, argument, call["id"]])
    key = story.mark("key")
    receipt = await scope.add(batch, idempotency_key=key)
    for item, held in zip(receipt.ids, marks, strict=True):
        story.keep(item, [*held, key])


async def tell(story: Story, scope: AsyncScope) -> None:
    marks = [story.mark(what) for what in ("note", "topic", "entity", "meta", "key")]
    note, topic, entity, meta, key = marks
    text = story.text(note)
    if story.random.random() < 0.5:
        told = await scope.remember(text, topics=[topic], entities=[entity], metadata={"m": meta}, idempotency_key=key)
    else:
        subject, attribute = story.mark("subject"), story.mark("attribute")
        marks += [subject, attribute]
        named = {"subject": subject, "attribute": attribute, "value": text}
        told = await scope.remember(
            **named, topics=[topic], entities=[entity], metadata={"m": meta}, idempotency_key=key
        )
    assert told.memory is not None
    story.keep(told.memory.id, marks)


async def change(story: Story, scope: AsyncScope) -> None:
    """Pins, corrections and undos write the same content again, in new revisions and at other places."""
    memories = [item for item in story.items if item.startswith("mem_")]
    if not memories:
        return
    item = story.random.choice(memories)
    memory = await scope.get(item)
    if story.random.random() < 0.6:
        pinned = bool(getattr(memory, "pinned", False))
        done = await (scope.unpin(item) if pinned else scope.pin(item))
        if story.random.random() < 0.5 and done.receipt.change_ids:
            await scope.undo(done.receipt.change_ids[0])
    elif getattr(memory, "state", "") == "active":
        mark = story.mark("fixed")
        fixed = await scope.correct(item, story.text(mark))
        assert fixed.memory is not None
        story.keep(fixed.memory.id, [*story.marks[item], mark])


async def live(story: Story, scopes: list[AsyncScope], steps: int) -> None:
    for _ in range(steps):
        verb = story.random.choices((say, tell, change), (5, 5, 4))[0]
        await verb(story, story.random.choice(scopes))


def residue(folder: Path, marks: list[str]) -> list[tuple[str, str]]:
    """Where each mark stands, forwards and backwards, in the bytes of the folder's files."""
    found = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        found += [(path.name, mark) for mark in marks for text in (mark, mark[::-1]) if text.encode() in data]
    return found


@pytest.mark.proof
async def test_a_byte_scan_finds_nothing(tmp_path: Path, runs: Callable[[int, int], range]) -> None:
    forgotten = 0
    for seed in runs(2, 150):
        random = Random(seed)
        folder = tmp_path / str(seed)
        story, other = Story(random, "A"), Story(random, "B")
        async with AsyncMemhold.open(str(folder / "memory.db"), worker=False) as mem:
            alice = [
                mem.scope(user="alice", session=name or None, agent=agent) for name in SESSIONS for agent in (None, "a")
            ]
            bob = [mem.scope(user="bob", session="alpha")]
            everyone = mem.scope(user="alice")
            for _ in range(4):
                await live(story, alice, 25)
                await live(other, bob, 10)
                random.shuffle(story.items)
                gone: list[str] = []
                for _ in range(min(10, len(story.items))):
                    item = story.items.pop()
                    if item in gone:
                        continue
                    report = await everyone.forget(item)
                    gone += [*report.messages, *report.memories]
                    assert report.erased
                await mem.settle()
                story.items = [item for item in story.items if item not in gone]
                kept = {mark for item in story.items for mark in story.marks[item]}
                marks = [mark for item in set(gone) for mark in story.marks[item] if mark not in kept]
                forgotten += len(marks)
                assert residue(folder, marks) == [], f"seed {seed}"
            ended = story.mark("sessionname")
            named = mem.scope(user="alice", session=ended)
            await live(story, [named], 6)
            await named.end_session()
            report = await everyone.forget(session=ended)
            marks = [
                ended,
                *(mark for item in (*report.messages, *report.memories) for mark in story.marks.get(item, [])),
            ]
            assert residue(folder, marks) == [], f"seed {seed}"
            story.items = [item for item in story.items if item not in {*report.messages, *report.memories}]
            await everyone.forget(everything=True)
            assert residue(folder, [mark for marks in story.marks.values() for mark in marks]) == [], f"seed {seed}"
            assert residue(folder, [mark for item in other.items for mark in other.marks[item]][:3]) != []
    assert forgotten > 100


@pytest.mark.proof
async def test_copies_of_moved_cells_go_too(tmp_path: Path, runs: Callable[[int, int], range]) -> None:
    """Rows that grow in the middle of a tree make SQLite move their neighbours; what it leaves behind is wiped."""
    for seed in (24, *runs(0, 100)):  # 24 left copies before the scrub looked for them
        random, folder = Random(seed), tmp_path / str(seed)
        async with AsyncMemhold.open(str(folder / "memory.db"), worker=False) as mem:
            alice = mem.scope(user="alice")
            marks: dict[str, str] = {}
            for _ in range(12):
                named = [f"M{random.getrandbits(96):024x}" for _ in range(20)]
                batch = [
                    {"role": "user", "content": f"{m} {'x' * random.choice([10, 100, 400, 900, 1500])}{m}"}
                    for m in named
                ]
                marks.update(zip((await alice.add(batch)).ids, named, strict=True))
            ids = random.sample(list(marks), len(marks))
            for item in ids[:160]:
                hidden = await alice.forget(item, hard=False)
                if random.random() < 0.7:
                    await alice.undo(hidden.change_id or "")
            random.shuffle(ids)
            for turn in range(4):
                gone = ids[turn * 20 : turn * 20 + 20]
                for item in gone:
                    assert (await alice.forget(item)).erased
                assert residue(folder, [marks[item] for item in gone]) == [], f"seed {seed}"


async def test_an_agents_name_goes_with_everything(tmp_path: Path) -> None:
    """Names may be content too; the user's own stays, since tombstones must say whose they are."""
    async with AsyncMemhold.open(str(tmp_path / "memory.db"), worker=False) as mem:
        await mem.scope(user="alice", agent="agentname7731", session="sessionname7731").remember("Likes tea")
        await mem.scope(user="alice").forget(everything=True)
        assert residue(tmp_path, ["agentname7731", "sessionname7731"]) == []


async def test_what_stood_in_namespaces_below_is_in_no_byte_and_no_mirror(tmp_path: Path) -> None:
    async with AsyncMemhold.open(str(tmp_path / "memory.db"), worker=False, mirror=str(tmp_path / "mirror")) as mem:
        own, below = (mem.scope(namespace=name, user="alice") for name in ("acme", "acme//shop"))
        for scope, secret in ((own, "secret5521"), (below, "secret7731")):
            await scope.remember(f"Has the note {secret}")
        assert await mem.settle(timeout=30)
        assert len(residue(tmp_path, ["secret5521", "secret7731"])) > 1
        assert (await own.forget(everything=True)).erased
        assert residue(tmp_path, ["secret5521", "secret7731"]) == []


async def test_while_a_reader_holds_the_log_it_says_so(tmp_path: Path) -> None:
    path, clock = tmp_path / "memory.db", FakeClock()
    async with AsyncMemhold.open(str(path), worker=False, busy_timeout=0.2, clock=clock) as mem:
        alice = mem.scope(user="alice")
        told = await alice.remember("secret7f3a41 note")
        assert told.memory is not None
        reader = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM memory").get == 1
        report = await alice.forget(told.memory.id, wait=0)
        assert (report.erased, report.waiting_for) == (False, "reader")
        assert (await alice.recall("secret7f3a41")).total == 0
        assert (await alice.status()).due["scrub"] == 1
        assert (await alice.residue("secret7f3a41")).found
        assert not await mem.settle(timeout=1)
        reader.execute("ROLLBACK")
        reader.close()
        clock.advance(2)
        assert await mem.settle(timeout=60)
        assert (await alice.residue("secret7f3a41")).found == {}
        assert (await alice.status()).due == {}


async def test_the_scan_can_fail(tmp_path: Path) -> None:
    """With SQLite's secure delete off the same history leaves something: the scan sees it."""
    path = tmp_path / "memory.db"
    async with AsyncMemhold.open(str(path), worker=False) as mem:
        alice = mem.scope(user="alice")
        told = await alice.remember("secret7f3a41 note " + "filler " * 50)
    weak = apsw.Connection(str(path))
    weak.execute("PRAGMA secure_delete = OFF")
    weak.execute("DELETE FROM memory WHERE id = ?", (told.receipt.ids[0],))
    weak.close()
    assert residue(tmp_path, ["secret7f3a41"]) != []
