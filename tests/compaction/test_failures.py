"""What breaks compaction in the field, by name: the sources are there, or the merged memory is."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from memhold import AsyncMemhold
from memhold.errors import ModelError
from memhold.ports.models import ChatReply
from memhold.testing import ChaosServer
from memhold.testing.chaos import FAULTS, Misbind
from tests import constants
from tests.compaction.conftest import Opened
from tests.compaction.test_merging import BOTH, ONE, TWO, close, told
from tests.compaction.worlds import Judge, Vectors, around, call, living, merged, united, whole
from tests.consolidation.chains import http_chain, patience

SPOILT = [name for name, fault in FAULTS.items() if not isinstance(fault.act, Misbind) and name not in {"ok", "refuse"}]
MENDED = {"fenced-json", "arguments-string", "arguments-object", "two-calls", "thinking"}
SAID = ("The staging server listens on port 8080", "The staging server listens on port 8080 for http")


def judged(reply) -> Judge:
    return Judge(lambda _: reply)


# ------------------------------------------------------------------------------------------------ replies

BAD_REPLIES = {
    "an empty reply deletes all sources": ChatReply(model="judge", text=""),
    "an empty text": call(merged("")),
    "a blank text": call(merged("   ")),
    "error text": call(merged("Error: could not get response")),
    "a refusal": call(merged("I'm sorry, but I can't help with that.")),
    "prose": ChatReply(model="judge", text="They say the same: the garden gate squeaks."),
    "NO_MERGE as a bare prefix": ChatReply(model="judge", text="NO_MERGED facts about the gate"),
    "**NO_MERGE** in bold": ChatReply(model="judge", text="**NO_MERGE**"),
    "the word as the text": call(merged("**NO_MERGE**")),
    "another tool": call(merged(BOTH), name="save_memory"),
    "empty arguments": call({}),
    "nulls": call(dict.fromkeys(merged(BOTH))),
    "a list": call([merged(BOTH)]),
    "an unknown decision": call({**merged(BOTH), "decision": "NO_MERGE"}),
    "an unknown id": call({"groups": [{"relation": "same", "ids": ["s1", "s9"]}]}),
    "a missing id": call({"groups": [], "apart": ["s1"]}),
    "an id in two groups": call({"groups": [{"relation": "adds", "ids": ["s1", "s2"]}], "apart": ["s2"]}),
    "a merge that cites none": call({"groups": [{"relation": "same", "ids": [], "text": BOTH}], "apart": ["s1", "s2"]}),
    "200 topics": call({**merged(BOTH), "topics": [f"topic {number}" for number in range(200)]}),
    "cut at the limit": ChatReply(model="judge", text="", tool_calls=call(merged(BOTH)).tool_calls, finish="length"),
    "Markdown": call(merged("**the garden gate** squeaks")),
    "longer than the sources": call(merged(BOTH + " and the gate squeaks and squeaks and squeaks")),
    "an invented number": call(merged("the garden gate squeaks 42")),
    "an invented name": call(merged("the garden gate of Anna squeaks")),
    "a not that came": call(merged("the garden gate squeaks not")),
}


@pytest.mark.parametrize("location", ["memory"], indirect=True)
async def test_a_group_a_relation_is_a_verdict_though_some_are_empty(opened: Opened) -> None:
    """Seen of a real small model: a group for each relation, and nothing in those that hold of none."""
    empty = [{"relation": "contradicts", "ids": []}, {"relation": "apart", "ids": []}]
    judge, vectors = judged(call({"groups": [{"relation": "adds", "ids": ["s1", "s2"]}, *empty]})), close(ONE, TWO)
    alice = (await opened(judge, vectors)).scope(user="alice")
    await told(alice, ONE, TWO)
    assert (await alice.compact()).counts == {"linked": 1}


@pytest.mark.parametrize("location", ["memory"], indirect=True)
async def test_the_schema_takes_the_ids_that_are_shown_and_no_other(opened: Opened) -> None:
    """A real small model named notes that it was not shown in three of five replies; under a grammar of the schema none can."""
    judge, vectors = judged(call(merged(BOTH))), close(ONE, TWO)
    alice = (await opened(judge, vectors)).scope(user="alice")
    await told(alice, ONE, TWO)
    await alice.compact()
    [tool] = judge.tools
    groups = tool.parameters["properties"]["groups"]
    held = groups["items"]["properties"]
    assert held["ids"]["items"]["enum"] == ["s1", "s2"]
    assert held["current"]["enum"] == ["", "s1", "s2"]
    assert (held["ids"]["minItems"], held["ids"]["maxItems"], groups["maxItems"]) == (1, 2, 2)


JUDGED = {"Markdown", "longer than the sources", "an invented number", "an invented name", "a not that came"}
"""Texts that lose no hard detail: whether they are right is the judge's decision, and it can be taken back."""
REFUSED_TEXTS = {"the word as the text"}


@pytest.mark.parametrize(
    ("location", "name"),
    [
        *(("memory", name) for name in sorted(BAD_REPLIES.keys() - REFUSED_TEXTS - JUDGED)),
        *((store, "an unknown id") for store in ("sqlite", "postgresql")),
    ],
    indirect=["location"],
)
async def test_a_reply_that_is_no_verdict_settles_nothing(opened: Opened, name: str) -> None:
    """It waits with its reason, and is asked about again."""
    judge, vectors = judged(BAD_REPLIES[name]), close(ONE, TWO)
    alice = (await opened(judge, vectors)).scope(user="alice")
    ids = await told(alice, ONE, TWO)
    done = await alice.compact()
    assert (done.counts, done.more) == ({"failed": 1}, True)
    assert done.last_error is not None
    assert "squeaks" not in done.last_error
    assert [memory.id for memory in await living(alice)] == ids
    assert len(judge.asked) == 1, "never the same one with the same prompt"
    assert sorted(vectors.asked) == sorted([ONE, TWO]), "nothing is embedded that does not stand"
    judge._decide = lambda _: merged(BOTH)
    assert (await alice.compact()).merged == 2


@pytest.mark.parametrize(
    ("location", "name"),
    [
        *(("memory", name) for name in sorted(REFUSED_TEXTS)),
        *((store, "the word as the text") for store in ("sqlite", "postgresql")),
    ],
    indirect=["location"],
)
async def test_a_text_that_is_refused_leaves_all(opened: Opened, name: str) -> None:
    """They stay, and are told together; nobody is asked again."""
    judge, vectors = judged(BAD_REPLIES[name]), close(ONE, TWO)
    alice = (await opened(judge, vectors)).scope(user="alice")
    ids = await told(alice, ONE, TWO)
    done = await alice.compact()
    assert done.counts == {"linked": 1}
    assert [memory.id for memory in await living(alice)] == ids
    assert len(judge.asked) == 1
    assert sorted(vectors.asked) == sorted([ONE, TWO]), "nothing is embedded that does not stand"
    assert (await alice.compact()).groups == ()
    await whole(alice)


@pytest.mark.parametrize("location", ["memory"], indirect=True)
@pytest.mark.parametrize("name", sorted(JUDGED))
async def test_what_is_merged_can_be_brought_back(opened: Opened, name: str) -> None:
    alice = (await opened(judged(BAD_REPLIES[name]), close(ONE, TWO))).scope(user="alice")
    ids = await told(alice, ONE, TWO)
    assert (await alice.compact()).counts == {"pair": 1}
    [made] = await living(alice)
    assert [(await alice.get(one)).state for one in ids] == ["merged", "merged"]
    [change] = [one for one in await alice.history(made.id) if one.verb == "compact"]
    await alice.undo(change.id)
    assert [memory.id for memory in await living(alice)] == ids
    await whole(alice)


DETAILS = {
    "a number": ("4711", "the vault code is {} at night", "the vault code is {}"),
    "a date": ("2025-03-14", "the lease ends on {} at noon", "the lease ends on {}"),
    "a hash": ("9f86d081884c7d65", "the image digest begins with {} today", "the image digest begins with {}"),
    "a path": ("/etc/nginx/conf.d/api.conf", "the proxy reads {} at start", "the proxy reads {}"),
    "a version": ("v2.14.0-rc1", "the client is pinned to {} for now", "the client is pinned to {}"),
    "an address": ("https://intra.example/wiki?id=7", "the wiki page is {} for all", "the wiki page is {}"),
    "code": ("`retry(max=3)`", "the loader calls {} twice", "the loader calls {}"),
    "a name": ("Marguerite", "the piano belongs to {} again", "the piano belongs to {}"),
    "Cyrillic name": ("Светлана", "пианино принадлежит теперь {} дома", "пианино принадлежит {}"),
    "Korean text, Latin name": ("Kubernetes", "우리는 {} 위에서 배포한다 매일", "우리는 {} 위에서 배포한다"),
    "Chinese text, number": ("8443", "端口是{}并且加密", "端口是{}"),
    "Arabic digits": ("٤٧١", "رقم الغرفة {} في الطابق", "رقم الغرفة {}"),
    "katakana": ("トヨタ", "彼は{}で長く働いている", "彼は{}で働いている"),
}


@pytest.mark.parametrize(
    ("location", "name"),
    [*(("memory", name) for name in DETAILS), *((store, next(iter(DETAILS))) for store in ("sqlite", "postgresql"))],
    indirect=["location"],
)
async def test_concrete_details_do_not_vanish(opened: Opened, name: str) -> None:
    detail, *patterns = DETAILS[name]
    texts = [pattern.format(detail) for pattern in patterns]
    kept = texts[0]
    gone = kept.replace(detail, "").replace("  ", " ")
    judge = judged(call(merged(gone)))
    vectors = Vectors({text: around(2.0 * n) for n, text in enumerate(texts)})
    alice = (await opened(judge, vectors)).scope(user="alice")
    await told(alice, *texts)
    await alice.compact()
    left = await living(alice)
    assert gone not in {memory.text for memory in left}
    assert all(detail in memory.text for memory in left)
    bob = (await opened(judged(call(merged(kept))), vectors)).scope(user="bob")
    await told(bob, *texts)
    await bob.compact()
    assert all(detail in memory.text for memory in await living(bob))


# ------------------------------------------------------------------------------------------------ the embedder


async def test_the_embedder_is_down(opened: Opened) -> None:
    """Sources are deleted, then the merged text fails to embed: 2 memories -> 0. Ours: the merge is abandoned."""
    vectors, judge = close(ONE, TWO), judged(call(merged(BOTH)))
    mem = await opened(judge, vectors)
    alice = mem.scope(user="alice")
    ids = await told(alice, ONE, TWO)
    await mem.settle()
    vectors.error = ModelError("down", model="chosen", cls="retry", reason="scripted")
    done = await alice.compact()
    assert (done.counts, done.more) == ({"failed": 1}, True)
    assert done.last_error.startswith("ModelError")
    assert [memory.id for memory in await living(alice)] == ids
    vectors.error = None
    assert (await alice.compact()).merged == 2


@pytest.mark.parametrize("how", ["says so", "is known", "refuses"])
async def test_the_embedder_refuses_the_length(opened: Opened, how: str) -> None:
    """The merged text exceeds the embedder's window: both stay, and nobody is asked again."""
    vectors, judge = close(ONE, TWO), judged(call(merged(BOTH)))
    mem = await opened(judge, vectors)
    alice = mem.scope(user="alice")
    ids = await told(alice, ONE, TWO)
    await mem.settle()
    if how == "says so":
        vectors.longest = len(BOTH) - 1
    elif how == "is known":
        vectors.max_chars = len(BOTH) - 1
    else:
        vectors.error = ModelError("no", model="chosen", cls="poison", reason="scripted")
    assert (await alice.compact()).counts == {"linked": 1}
    assert [memory.id for memory in await living(alice)] == ids
    assert (await alice.compact()).groups == ()
    assert len(judge.asked) == 1


async def test_a_damaged_run_does_not_embed_the_store_again(opened: Opened) -> None:
    """An idle run re-embeds the entire store. Ours: zero model calls, zero embedding calls."""
    vectors, judge = close(ONE, TWO), judged(call(merged(BOTH)))
    mem = await opened(judge, vectors)
    alice = mem.scope(user="alice")
    await told(alice, ONE, TWO)
    while (await alice.compact()).more:
        pass
    await mem.settle()
    asked = (len(judge.asked), len(vectors.asked))
    for _ in range(3):
        await alice.compact()
        await mem.settle()
    assert (len(judge.asked), len(vectors.asked)) == asked


# ------------------------------------------------------------------------------------------------ real HTTP


@pytest.mark.parametrize(
    ("lasting", "name"),
    [*(("sqlite", name) for name in SPOILT), ("postgresql", "fenced-json"), ("postgresql", "html-502")],
    indirect=["lasting"],
)
async def test_each_fault_of_a_provider(lasting: str, name: str) -> None:
    async with ChaosServer() as server:
        chain = http_chain(server, "only", seconds=patience(name))
        async with AsyncMemhold.open(lasting, worker=False, compaction=chain) as mem:
            alice = mem.scope(user="alice")
            ids = await told(alice, *SAID)
            server.always(name)
            done = await alice.compact()
            if name in MENDED:
                assert done.merged == 2
            else:
                assert done.merged == 0
                assert [memory.id for memory in await living(alice)] == ids
                assert set(done.counts) == {"failed"}, name
            server.plan.clear()
            server.release()
            if "failed" in done.counts:
                assert (await alice.compact()).merged == 2, "what could not be asked is asked again"
            await whole(alice)
        await chain.close()


async def test_a_merge_is_embedded_once_and_never_extracted_from(
    tmp_path: Path, lasting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted on the server: one chat call, one embedding of the merged text, and no consolidation of it."""
    constants.bounds(monkeypatch, memories=2)
    async with ChaosServer() as server:
        chain = http_chain(server, "only")
        tables = f'[models.far]\nprotocol = "openai-embeddings"\nmodel = "far"\nbase_url = "{server.url}/v1"\n'
        (tmp_path / "models.toml").write_text(tables)
        async with AsyncMemhold.open(
            lasting, worker=False, consolidation=chain, embedding="far",
            models=str(tmp_path / "models.toml"),
        ) as mem:  # fmt: skip
            alice = mem.scope(user="alice")
            await told(alice, *SAID)
            await mem.settle()
            [made] = await living(alice)
            await mem.settle()
        await chain.close()
        chats = [one for one in server.requests if "chat" in one.path]
        assert len(chats) == 1
        assert all("merge_memories" in str(one.body) for one in chats)
        inputs = [text for one in server.requests if "embedding" in one.path for text in one.body["input"]]
        assert inputs.count(made.text) == 1
        assert all(inputs.count(text) == 1 for text in SAID)


# ------------------------------------------------------------------------------------------------ at the same time


async def test_two_workers_merge_once(opened: Opened, clock) -> None:
    judge = judged(call(merged(BOTH)))
    vectors = close(ONE, TWO)
    first = await opened(judge, vectors)
    alice = first.scope(user="alice")
    await told(alice, ONE, TWO)

    async def tick() -> None:
        while True:
            # Slowly: a lease must not run out while a slow disk writes.
            clock.advance(0.0002)
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    results = await asyncio.gather(alice.compact(), alice.compact(), alice.compact())
    ticking.cancel()
    assert sorted(done.merged for done in results) == [0, 0, 2]
    assert len(judge.asked) == 1
    assert len(await living(alice)) == 1


class Interrupting(Judge):
    """Somebody does something while the judge thinks."""

    def __init__(self, meanwhile) -> None:
        super().__init__(lambda texts: merged(united(texts)))
        self.meanwhile = meanwhile

    async def chat(self, request):
        if len(self.asked) == 0:
            await self.meanwhile()
        return await super().chat(request)


@pytest.mark.parametrize("what", ["forget", "pin", "correct", "lease"])
async def test_what_changes_while_the_judge_thinks_is_not_merged(opened: Opened, clock, what: str) -> None:
    ids: list[str] = []

    async def meanwhile() -> None:
        if what == "forget":
            await alice.forget(ids[0])
        elif what == "pin":
            await alice.pin(ids[0])
        elif what == "correct":
            await alice.correct(ids[0], "the garden gate is silent")
        else:
            # Another worker takes the work over: this one's token is too old.
            clock.advance(timedelta(minutes=5))
            upkeep = alice._tx.runtime.store.upkeep
            assert await upkeep.claim(owner="other", kinds=("compact",), limit=1, seconds=1)
            clock.advance(timedelta(minutes=5))

    judge = Interrupting(meanwhile)
    alice = (await opened(judge, close(ONE, TWO))).scope(user="alice")
    ids += await told(alice, ONE, TWO)
    done = await alice.compact()
    assert done.counts == {"stale": 1}
    assert ids[1] in [memory.id for memory in await living(alice)]
    assert all(memory.state != "merged" for memory in (await alice.list(states=None)).items)
    await whole(alice)
    if what == "lease":
        assert (await alice.compact()).merged == 2


async def test_an_embedding_of_another_generation_merges_nothing(opened: Opened) -> None:
    """Vectors of two models are never compared: a process with another embedder leaves near-duplicates alone."""
    judge, vectors = judged(call(merged(BOTH))), close(ONE, TWO)
    mem = await opened(judge, vectors)
    alice = mem.scope(user="alice")
    await told(alice, ONE, TWO)
    await mem.settle()
    vectors.fingerprint = "chosen:2"
    assert (await alice.compact()).groups == ()
    assert judge.asked == []
    vectors.fingerprint = "chosen:1"
    assert (await alice.compact()).merged == 2


async def test_lost_due_work_is_found_by_the_doctor(opened: Opened) -> None:
    alice = (await opened()).scope(user="alice")
    await told(alice, ONE)
    await alice._tx.write(lambda tx: tx.clear_due("compact", "memories"))
    from memhold.history.checkup import rebuild_due

    await alice._tx.write(rebuild_due)
    assert "compact" in (await alice.status()).due
    await alice.compact()
    assert await alice._tx.write(rebuild_due) == 0, "what was looked at is not due"


class Unpicklable(Exception):
    """As some providers raise them: with a lock inside, and arguments that must be there."""

    def __init__(self, message: str, *, response: object) -> None:
        super().__init__(message)
        self.response, self.lock = response, threading.RLock()


@pytest.mark.parametrize("where", ["judge", "embedder"])
async def test_a_providers_exception_that_cannot_be_pickled(opened: Opened, clock, where: str) -> None:
    """The worker crashes while reporting the failure, and the task disappears. Ours: plain text, tried again."""
    error = Unpicklable("the garden gate", response=object())
    vectors = close(ONE, TWO)

    def decide(_):
        if where == "judge":
            return error
        vectors.error = error
        return merged(BOTH)

    judge = Judge(decide)
    mem = await opened(judge, vectors, bounds={"memories": 2})
    alice = mem.scope(user="alice")
    await told(alice, ONE, TWO)
    settling = asyncio.ensure_future(mem.settle())
    while not settling.done():
        await clock.elapse(where == "judge")  # the time in which the chain asks a judge again
        await asyncio.sleep(0.001)
    assert not settling.result()
    status = await alice.status()
    if where == "embedder":
        assert (status.parked, status.last_error) == (1, "MemholdError: Unpicklable")
    vectors.error, judge._decide = None, lambda _: merged(BOTH)
    clock.advance(timedelta(minutes=10))
    assert await mem.settle(timeout=300)
    assert [memory.text for memory in await living(alice)] == [BOTH]
