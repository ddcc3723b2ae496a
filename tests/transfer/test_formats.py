from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from memhold.errors import InvalidSetting, UnreadableImport
from memhold.transfer.datasets import locomo_time, realmem_time
from memhold.transfer.export import ExportFile
from memhold.transfer.formats import READERS, detect
from memhold.values.records import Scope
from tests.transfer.samples import LOCOMO, REALMEM, conversation, said, transcript_line

SEOUL = timezone(timedelta(hours=9))


def own_export(path):
    with path.open("wb") as out:
        ExportFile(out, scope=Scope(), exported_at=datetime(2025, 1, 1, tzinfo=UTC), memhold="1").end()
    return path


# ------------------------------------------------------------------------------------------ detection

LINES = [said("a"), said("b", "assistant")]


@pytest.mark.parametrize(
    ("expected", "content", "doc"),
    [
        ("openai-jsonl", LINES, None),
        ("openai-jsonl", [said("a")], None),
        ("openai-jsonl", [{"messages": LINES}, {"messages": LINES}], None),
        ("openai-jsonl", "not json\n" + json.dumps(said("a")) + "\n" + json.dumps(said("b")), None),
        ("anthropic-json", None, LINES),
        ("anthropic-json", None, {"messages": LINES}),
        ("anthropic-json", json.dumps({"model": "m", "system": "s", "messages": LINES}, indent=2), None),
        ("anthropic-json", json.dumps(LINES, indent=2), None),
        ("anthropic-json", None, [{"messages": LINES}]),
        ("anthropic-json", "[]", None),
        ("anthropic-json", " [ ]\n", None),
        ("chatgpt", None, [conversation()]),
        ("chatgpt", json.dumps([conversation()], indent=1), None),
        ("claude-code", [transcript_line()], None),
        ("claude-code", [{"type": "summary", "summary": "S", "leafUuid": "x"}, transcript_line()], None),
        ("claude-code", [{"type": "queue-operation", "sessionId": "x"}], None),
        ("locomo", None, LOCOMO),
        ("realmem", None, REALMEM),
        ("realmem", json.dumps(REALMEM, indent=4), None),
    ],
)
def test_the_format_is_told_by_content(put, expected, content, doc):
    assert detect(put(content, doc=doc, name="any.bin")) == expected


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
async def test_encodings_are_told_by_their_first_bytes(put, ledger, bring, encoding):
    path = put("\r\n".join(json.dumps(said(t), ensure_ascii=False) for t in ("다리", "é")).encode(encoding))
    assert detect(path) == "openai-jsonl"
    await bring(ledger, path)
    assert ledger.said() == ["다리", "é"]
    path = put(json.dumps([said("다리")], ensure_ascii=False).encode(encoding), name="doc")
    assert detect(path) == "anthropic-json"


def test_memholds_own_export_is_told(tmp_path):
    assert detect(own_export(tmp_path / "x")) == "memhold"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b" \r\n ", "empty"),
        (b"PK\x03\x04rest", "archive"),
        (b"\x1f\x8b\x08\x00", "archive"),
        (b"just prose\nand more", "no known format"),
        (b'{"a": 1}', "no known format"),
        (b"[1, 2]", "no known format"),
        (b'[{"role"', "no known format"),
        (b"3", "no known format"),
        (bytes(range(256)), "cannot be read"),
    ],
)
async def test_what_is_no_import_is_refused(put, ledger, bring, content, says):
    path = put(content)
    with pytest.raises(UnreadableImport, match=says) as caught:
        await bring(ledger, path)
    assert caught.value.path == str(path)


async def test_a_folder_a_missing_file_and_an_unknown_format_are_refused(tmp_path, put, ledger, bring):
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(UnreadableImport):
            await bring(ledger, path)
    with pytest.raises(InvalidSetting):
        await bring(ledger, put(LINES), format="csv")


async def test_an_empty_file_of_a_named_format_brings_nothing(put, ledger, bring):
    for name in READERS.keys() - {"memhold"}:
        report = await bring(ledger, put(b"", name=name), format=name)
        assert (report.read, report.added) == (0, 0)


# ------------------------------------------------------------------------------------------ chats


async def test_openai_jsonl_keeps_messages_and_reads_sessions_and_times(put, ledger, bring):
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    path = put(
        [
            said("a", session="s1", timestamp="2025-01-01T09:00:00"),
            said("b", session="s1", created_at=1_700_000_000),
            said("c", session="s2", timestamp=1_700_000_000_123, metadata={"mine": 1}),
            {"role": "assistant", "content": None, "tool_calls": [call], "session": "s2"},
        ]
    )
    report = await bring(ledger, path, zone=SEOUL)
    assert (report.format, report.read, report.added, report.sessions) == ("openai-jsonl", 4, 4, 2)
    first, second = ledger.sessions["s1"]
    assert first["event_time"] == datetime(2025, 1, 1, 0, tzinfo=UTC)
    assert second["event_time"] == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    third, fourth = ledger.sessions["s2"]
    assert third["event_time"].microsecond == 123_000
    assert third["metadata"] == {"mine": 1, "source": "openai-jsonl", "source_id": "3"}
    assert {k: v for k, v in fourth.items() if k != "metadata"} == {
        "role": "assistant",
        "content": None,
        "tool_calls": [call],
    }


async def test_equal_lines_are_different_messages_and_files_do_not_mix(put, ledger, bring):
    one = put([said("be brief", "system"), said("ok"), said("ok")], name="one.jsonl")
    two = put([said("be brief", "system"), said("ok"), said("fine")], name="two.jsonl")
    await bring(ledger, one)
    await bring(ledger, two)
    assert sorted(ledger.sessions.values(), key=len) == list(ledger.sessions.values())
    assert [[m["content"] for m in s] for s in ledger.sessions.values()] == [
        ["be brief", "ok", "ok"],
        ["be brief", "ok", "fine"],
    ]


async def test_conversations_a_line(put, ledger, bring):
    path = put([{"messages": LINES}, {"id": "named", "system": "S", "messages": LINES}], name="train.jsonl")
    await bring(ledger, path)
    assert ledger.said("train:1") == ["a", "b"]
    assert ledger.said("named") == ["S", "a", "b"]


@pytest.mark.parametrize("order", [("system", "messages"), ("messages", "system")])
async def test_anthropic_json_with_a_system_text_first(put, ledger, bring, order):
    members = {"system": [{"type": "text", "text": "S"}], "messages": LINES, "id": "conv"}
    doc = {"model": "m", **{name: members[name] for name in order}, "id": "conv", "max_tokens": 5}
    await bring(ledger, put(doc=doc))
    (messages,) = ledger.sessions.values()
    assert [m["role"] for m in messages] == ["system", "user", "assistant"]
    assert list(ledger.sessions) == ["conv"]
    assert messages[0]["content"] == [{"type": "text", "text": "S"}]


async def test_anthropic_blocks_come_back_equal(put, ledger, bring):
    blocks = [{"type": "thinking", "thinking": "x", "signature": "y"}, {"type": "tool_use", "id": "t", "name": "f"}]
    doc = [said(blocks, "assistant"), said([{"type": "tool_result", "tool_use_id": "t", "content": ""}])]
    await bring(ledger, put(doc=doc))
    assert [{k: m[k] for k in ("role", "content")} for m in ledger.all] == doc


# ------------------------------------------------------------------------------------------ ChatGPT


async def test_chatgpt_takes_the_current_branch_with_its_times(put, ledger, bring):
    talk = conversation(texts=("hi", "old answer"))
    mapping = talk["mapping"]
    mapping["other"] = json.loads(json.dumps(mapping["c1-1"]))
    mapping["other"] |= {"id": "other"}
    mapping["other"]["message"]["content"]["parts"] = ["new answer"]
    mapping["c1-0"]["children"].append("other")
    talk["current_node"] = "other"
    await bring(ledger, put(doc=[talk, conversation("c2", ("bye",))]))
    assert ledger.said("chatgpt:c1") == ["hi", "new answer"]
    assert ledger.said("chatgpt:c2") == ["bye"]
    first = ledger.sessions["chatgpt:c1"][0]
    assert first["event_time"] == datetime(2023, 11, 14, 22, 13, 20, 250_000, tzinfo=UTC)
    assert first["metadata"] == {"source": "chatgpt", "source_id": "c1-0", "title": "T"}


async def test_chatgpt_tools_pictures_and_hidden_nodes(put, ledger, bring):
    talk = conversation(texts=("sys", "run it", "print(1)", "1", "look", "thinking", "hidden", "done"))
    nodes = [talk["mapping"][f"c1-{i}"]["message"] for i in range(8)]
    nodes[0]["author"]["role"] = "system"
    nodes[0]["content"]["parts"] = [""]
    nodes[1]["author"]["role"] = "user"
    nodes[2] |= {"author": {"role": "assistant"}, "recipient": "python"}
    nodes[2]["content"] = {"content_type": "code", "language": "python", "text": "print(1)"}
    nodes[3] |= {"author": {"role": "tool", "name": "python"}, "create_time": None}
    nodes[3]["content"] = {"content_type": "execution_output", "text": "1"}
    nodes[4] |= {"author": {"role": "user"}}
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1"}
    nodes[4]["content"] = {"content_type": "multimodal_text", "parts": [picture, "look", {"odd": 1}]}
    nodes[5]["content"] = {"content_type": "thoughts", "thoughts": [{"content": "hm"}]}
    nodes[6]["metadata"] = {"is_visually_hidden_from_conversation": True}
    nodes[7]["author"] = {"role": "assistant"}
    report = await bring(ledger, put(doc=[talk]))
    bodies = [{k: v for k, v in m.items() if k not in {"metadata", "event_time"}} for m in ledger.all]
    assert bodies == [
        said("run it"),
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1-2", "type": "function", "function": {"name": "python", "arguments": '{"input": "print(1)"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1-2", "name": "python", "content": "1"},
        said(
            [
                {"type": "image_url", "image_url": {"url": "file-service://file-1"}},
                {"type": "text", "text": "look"},
            ]
        ),
        said("done", "assistant"),
    ]
    assert sum(report.left_out.values()) == 3
    assert ledger.all[2]["event_time"] == ledger.all[1]["event_time"]


async def test_chatgpt_survives_a_cycle_and_a_missing_leaf(put, ledger, bring):
    looped = conversation("loop", ("a", "b"))
    looped["mapping"]["loop-0"]["parent"] = "loop-1"
    lost = conversation("lost", ("c", "d"))
    lost["current_node"] = "gone"
    await bring(ledger, put(doc=[looped, lost]))
    assert ledger.said("chatgpt:loop") == ["a", "b"]
    assert ledger.said("chatgpt:lost") == ["c", "d"]


# ------------------------------------------------------------------------------------------ Claude Code


async def test_claude_code_takes_what_was_said(put, ledger, bring):
    use = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "a\nb"}
    answer = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "usage": {}, "content": [use]}
    path = put(
        [
            {"type": "summary", "summary": "S", "leafUuid": "x"},
            transcript_line(ident="u1", cwd="/repo", gitBranch="main"),
            transcript_line("assistant", "u2", message=answer),
            transcript_line(ident="u3", message={"role": "user", "content": [result]}, toolUseResult={"stdout": "a"}),
            transcript_line(ident="u4", isMeta=True),
            transcript_line(ident="u5", isCompactSummary=True),
            transcript_line("assistant", "u6", message={**answer, "model": "<synthetic>"}),
            transcript_line("assistant", "u7", message={**answer, "content": [use]}, isSidechain=True, agentId="ag"),
            {"type": "system", "subtype": "hook", "content": "noise", "uuid": "u8", "sessionId": "s-1"},
        ]
    )
    report = await bring(ledger, path)
    assert (report.read, sum(report.left_out.values())) == (4, 5)
    assert ledger.said("claude-code:s-1") == ["text of u1", [use], [result]]
    assert ledger.said("claude-code:s-1:ag") == [[use]]
    first, second, _ = ledger.sessions["claude-code:s-1"]
    assert first["event_time"] == datetime(2025, 5, 1, 10, 0, 0, 123_000, tzinfo=UTC)
    assert first["metadata"] == {"source": "claude-code", "source_id": "u1", "cwd": "/repo", "git_branch": "main"}
    assert second["metadata"]["model"] == "m-1"
    assert "usage" not in second


async def test_a_resumed_transcript_adds_only_what_is_new(put, ledger, bring):
    await bring(ledger, put([transcript_line(ident="u1"), transcript_line(ident="u2")], name="a.jsonl"))
    again = [transcript_line(ident=i, sessionId="s-2") for i in ("u1", "u2", "u3")]
    report = await bring(ledger, put(again, name="b.jsonl"))
    assert (report.read, report.added) == (3, 1)
    assert ledger.said("claude-code:s-2") == ["text of u3"]


# ------------------------------------------------------------------------------------------ data sets


async def test_locomo_keeps_speakers_captions_and_session_times(put, ledger, bring):
    await bring(ledger, put(doc=LOCOMO), zone=SEOUL)
    assert list(ledger.sessions) == ["conv-1:session_2", "conv-1:session_10"]
    first, second = ledger.sessions["conv-1:session_2"]
    assert (first["role"], first["name"], first["content"]) == ("user", "Ann", "look\n[image: a red kite]")
    assert (second["role"], second["name"]) == ("assistant", "Ben")
    assert first["metadata"] == {"source": "locomo", "source_id": "D2:1", "images": ["u"]}
    assert first["event_time"] == datetime(2023, 6, 9, 3, 30, tzinfo=UTC)
    assert "GOLD" not in repr(ledger.all)


async def test_realmem_keeps_queries_and_leaves_answers_out(put, ledger, bring):
    await bring(ledger, put(doc=REALMEM))
    one, two, three = ledger.sessions["realmem:aa"]
    assert [m["role"] for m in (one, two, three)] == ["user", "assistant", "user"]
    assert one["metadata"] == {"source": "realmem", "source_id": "aa:0", "query_id": "q1", "is_query": True}
    assert three["name"] == "Grandma"
    assert one["event_time"] == datetime(2025, 3, 15, tzinfo=UTC)
    assert "GOLD" not in repr(ledger.all)


def test_times_of_data_sets():
    assert locomo_time("12:05 am on 1 June, 2023", UTC) == datetime(2023, 6, 1, 0, 5, tzinfo=UTC)
    assert locomo_time(" 12:00 PM on 29 February, 2024", UTC) == datetime(2024, 2, 29, 12, tzinfo=UTC)
    assert realmem_time("2025-12-15 (Monday) 09:30", UTC) == datetime(2025, 12, 15, 9, 30, tzinfo=UTC)
    assert realmem_time("2025-12-15", SEOUL) == datetime(2025, 12, 14, 15, tzinfo=UTC)
    for wrong in ("1:00 pm on 31 June, 2023", "25:00 pm on 1 June, 2023", "June", None, 3):
        with pytest.raises(ValueError, match="time"):
            locomo_time(wrong, UTC)
    for wrong in ("2025-02-30", "Monday", None):
        with pytest.raises(ValueError, match=r"time|day"):
            realmem_time(wrong, UTC)
