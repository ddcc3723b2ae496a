from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memhold.errors import UnreadableImport
from memhold.transfer.export import ExportFile, Header, Revisions, read_export, verify_export
from memhold.values.records import Author, Change, Effect, Memory, Message, Scope, Session

AT = datetime(2025, 3, 1, 12, 0, 0, 5, tzinfo=UTC)


def message(i, body, **more):
    return Message(
        id=f"msg_{i}",
        change_id="chg_0",
        number=i,
        session="work",
        seq=i,
        role=body["role"],
        body=body,
        shape="openai",
        text="text",
        event_time=AT + timedelta(minutes=i),
        recorded_at=AT,
        **more,
    )


def memory(i, **more):
    more = {"kind": "note", "text": f"note {i}"} | more
    return Memory(id=f"mem_{i}", number=i, event_time=AT, valid_from=AT, created_at=AT, recorded_at=AT, **more)


SESSIONS = [Session(id="ses_1", name="work", number=1, last_seq=3, created_at=AT, last_at=AT)]
MESSAGES = [
    message(1, {"role": "user", "content": "nul \x00 and half \ud800, 다리", "x": [1.0, 10**40]}),
    message(2, {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "f"}}]}),
    message(3, {"role": "user", "content": "bye"}, embed=False, agent="helper", metadata={"k": 1}),
]
OLD = memory(1)
MEMORIES = [(OLD, replace(OLD, rev=2, pinned=True)), (memory(2, kind="fact", subject="user", attribute="city"),)]
CHANGES = [
    Change(
        id="chg_1",
        seq=1,
        verb="remember",
        reason="told",
        by=Author(origin="user"),
        at=AT,
        effects=(Effect(memory_id="mem_1", rev_before=0, rev_after=1),),
    )
]


def export(path, **more):
    values = {"sessions": SESSIONS, "messages": MESSAGES, "memories": MEMORIES, "changes": CHANGES} | more
    with path.open("wb") as out:
        return written(out, scope=Scope(user="ann"), memhold="1.0", **values)


def written(out, scope=None, memhold="1", **values):
    file = ExportFile(out, scope=scope or Scope(), exported_at=AT, memhold=memhold)
    file.write(**values)
    file.end()
    return file.counts


def test_an_export_reads_back_equal(tmp_path):
    path = tmp_path / "x.jsonl"
    assert export(path) == {"session": 1, "message": 3, "memory": 2, "change": 1}
    header, *values = read_export(path)
    assert header == Header(version=3, namespace="default", user="ann", exported_at=AT, memhold="1.0")
    assert values == [*SESSIONS, *MESSAGES, *(Revisions(revisions=m) for m in MEMORIES), *CHANGES]
    assert verify_export(path) == header
    for line in path.read_bytes().splitlines():
        json.loads(line)


def test_the_same_values_give_the_same_bytes():
    outs = []
    for _ in range(2):
        out = io.BytesIO()
        written(out, messages=iter(MESSAGES))
        outs.append(out.getvalue())
    assert outs[0] == outs[1]


async def test_export_then_import_brings_messages_and_memories(tmp_path, ledger, bring):
    path = tmp_path / "x.jsonl"
    export(path)
    report = await bring(ledger, path)
    assert (report.format, report.read, report.added, sum(report.left_out.values())) == ("memhold", 5, 5, 1)
    assert list(ledger.sessions) == ["work"]
    own = {"event_time", "metadata", "embed"}
    assert [{k: v for k, v in m.items() if k not in own} for m in ledger.all] == [m.body for m in MESSAGES]
    assert [m["event_time"] for m in ledger.all] == [m.event_time for m in MESSAGES]
    assert [m["embed"] for m in ledger.all] == [True, True, False]
    assert ledger.all[2]["metadata"] == {"k": 1}
    assert ledger.memories == MEMORIES
    assert (await bring(ledger, path)).added == 0


async def test_an_export_is_refused_at_any_cut(tmp_path, ledger, bring):
    path = tmp_path / "x.jsonl"
    export(path)
    whole = path.read_bytes()
    for cut in range(1, len(whole) - 1, 37):
        path.write_bytes(whole[:cut])
        with pytest.raises(UnreadableImport) as caught:
            verify_export(path)
        assert caught.value.line == whole[:cut].count(b"\n") + 1
        with pytest.raises(UnreadableImport):
            await bring(ledger, path, format="memhold", on_error="skip")
    assert ledger.batches == 0
    assert ledger.memories == []


@pytest.mark.parametrize("offset", range(0, 3000, 61))
async def test_an_export_is_refused_when_a_byte_has_changed(tmp_path, ledger, bring, offset):
    path = tmp_path / "x.jsonl"
    export(path)
    data = bytearray(path.read_bytes())
    data[offset % (len(data) - 1)] ^= 1
    path.write_bytes(data)
    with pytest.raises(UnreadableImport):
        await bring(ledger, path, format="memhold")
    assert ledger.batches == 0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda lines: [lines[0].replace('"version":3', '"version":4'), *lines[1:]], "upgrade"),
        (lambda lines: lines[1:], "header"),
        (lambda lines: lines[:-1], "no footer"),
        (lambda lines: [*lines, lines[-1]], "after the footer"),
        (lambda lines: [lines[0], *lines[2:]], "counts"),
        (lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]], "checksum"),
        (lambda lines: [lines[0], '{"type":"ghost","value":1}', *lines[1:]], "ghost"),
        (lambda lines: [lines[0], '{"type":"memory","value":[]}', *lines[1:]], "memory"),
        (lambda lines: [lines[0], "[]", *lines[1:]], "object"),
        (lambda lines: [lines[0], lines[1].replace('"name"', '"nome"'), *lines[2:]], "nome"),
    ],
)
def test_every_kind_of_damage_is_named(tmp_path, change, says):
    path = tmp_path / "x.jsonl"
    export(path)
    path.write_text("".join(f"{line}\n" for line in change(path.read_text().splitlines())))
    with pytest.raises(UnreadableImport, match=says):
        verify_export(path)


def test_an_export_of_nothing_is_whole(tmp_path):
    path = tmp_path / "x.jsonl"
    export(path, sessions=(), messages=(), memories=(), changes=())
    assert verify_export(path).user == "ann"


def test_writing_is_streamed():
    out = io.BytesIO()
    seen = []

    def messages():
        for i in range(3):
            seen.append(out.getvalue().count(b"\n"))
            yield message(i, {"role": "user", "content": "x"})

    written(out, messages=messages())
    assert seen == [1, 2, 3]
