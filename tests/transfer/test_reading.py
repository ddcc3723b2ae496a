"""What is wrong with files, how much memory they take, and what a second or an interrupted import does."""

from __future__ import annotations

import json
import sys
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memhold.errors import UnreadableImport
from memhold.transfer import source as source_module
from memhold.transfer.formats import read_batches
from memhold.transfer.source import Source
from tests.transfer.samples import LOCOMO, NOW, REALMEM, Killed, Ledger, conversation, said, transcript_line

# ------------------------------------------------------------------------------------------ damage

BAD_LINES = [
    b"not json",
    b'{"role": "user"',
    b"[1]",
    b'"text"',
    b'{"role": "tool", "content": "x"}',
    b'{"role": "ghost", "content": "x"}',
    b'{"what": 1}',
    b'{"role": "user", "content": "\xff\xfe"}',
    b'{"role": "user", "content": "caf\xe9"}',
    b'{"role": "user", "content": "x", "timestamp": "soon"}',
    b'{"role": "user", "content": "x", "event_time": "2999-01-01T00:00:00Z"}',
    b'{"role": "user", "content": "x", "metadata": 3}',
    b'{"role": "user", "content": "x", "n": ' + b"9" * 5000 + b"}",
    b'{"role": "user", "content": "x", "n": NaN}',
    b'{"a":' * 100_000,
]


@pytest.mark.parametrize("bad", BAD_LINES, ids=range(len(BAD_LINES)))
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
async def test_a_bad_line_in_the_middle(put, ledger, bring, bad, end):
    good = [json.dumps(said(t)).encode() for t in ("a", "b", "c")]
    path = put(end.join([good[0], b"", good[1], bad, good[2], b""]))
    with pytest.raises(UnreadableImport) as caught:
        await bring(ledger, path)
    assert caught.value.line == 4
    assert "line 4" in str(caught.value)
    assert ledger.said() == ["a", "b"]
    report = await bring(ledger, path, on_error="skip")
    assert ledger.said() == ["a", "b", "c"]
    assert (report.read, report.added, report.skipped) == (3, 1, 1)
    assert report.problems[0].line == 4


async def test_entries_without_content_are_ignored_and_no_damage(put, ledger, bring):
    path = put([said("a"), said(""), said(None, "assistant"), said([]), said(" \n"), said("b")])
    report = await bring(ledger, path)
    assert (report.read, sum(report.left_out.values()), report.skipped) == (2, 4, 0)
    assert ledger.said() == ["a", "b"]


async def test_a_cut_last_line_is_named_and_mended_later(put, ledger, bring):
    whole = "".join(json.dumps(said(t)) + "\n" for t in ("a", "b", "c"))
    with pytest.raises(UnreadableImport, match="cut") as caught:
        await bring(ledger, put(whole[:-8]))
    assert caught.value.line == 3
    assert ledger.said() == ["a", "b"]
    assert (await bring(ledger, put(whole))).added == 1
    assert ledger.said() == ["a", "b", "c"]


@pytest.mark.parametrize("format_name", [None, "openai-jsonl", "markdown", "anthropic-json"])
@pytest.mark.skipif(sys.platform != "linux", reason="a file that no read of its beginning succeeds on is Linux's")
async def test_a_disk_that_fails_says_which_file(ledger, bring, format_name):
    path = Path("/proc/self/mem")
    with pytest.raises(UnreadableImport, match="Input/output error") as caught:
        await bring(ledger, path, format=format_name)
    assert caught.value.path == str(path)


@pytest.mark.parametrize("on_error", ["stop", "skip"])
async def test_a_cut_document_brings_what_stands_before_the_cut(put, ledger, bring, on_error):
    text = json.dumps([conversation(f"c{i}") for i in range(3)], indent=1)
    with pytest.raises(UnreadableImport, match="cut") as caught:
        await bring(ledger, put(text[: text.index('"c2"')]), on_error=on_error)
    assert list(ledger.sessions) == ["chatgpt:c0", "chatgpt:c1"]
    assert caught.value.line > 1
    assert (await bring(ledger, put(text))).added == 2


@pytest.mark.parametrize("cut", range(1, 60))
async def test_no_cut_of_a_document_passes_as_whole(put, bring, cut):
    text = json.dumps([said("a\U0001f600"), said("b", "assistant", n=-1.5e10, t=True)])
    with pytest.raises(UnreadableImport):
        await bring(Ledger(), put(text[:-cut]), format="anthropic-json")


@pytest.mark.parametrize(
    "text", ['[{"role" "user"}]', "[{}] x", "[1,]", "[{},,{}]", '{"messages": [}', "[tru]", "{1: 2}"]
)
async def test_a_malformed_document_is_refused_with_its_line(put, ledger, bring, text):
    with pytest.raises(UnreadableImport) as caught:
        await bring(ledger, put(f"\n\n{text}"), format="anthropic-json", on_error="skip")
    assert caught.value.line == 3


@pytest.mark.parametrize("chunk", range(1, 40))
def test_where_a_document_is_cut_into_chunks_makes_no_difference(put, monkeypatch, chunk):
    text = (
        '\n{"n": 1234567890.25, "t": true, "s": "\\ud83d\\ude00\\u00e9\\n\\"", '
        '"m":\n [ -17, {"a": [null]}, 99 , "x"] , "e": 1.5E-7, "z": -5}'
    )
    monkeypatch.setattr(source_module, "_CHUNK", chunk)
    source = Source(path=put(text), zone=NOW.tzinfo, now=NOW)
    pieces = [(p.key, p.index, p.value, p.line) for p in source.pieces(stream=frozenset({"m"}))]
    assert pieces == [
        ("n", None, 1234567890.25, 2),
        ("t", None, True, 2),
        ("s", None, '\U0001f600é\n"', 2),
        ("m", None, None, 2),
        ("m", 0, -17, 3),
        ("m", 1, {"a": [None]}, 3),
        ("m", 2, 99, 3),
        ("m", 3, "x", 3),
        ("e", None, 1.5e-7, 3),
        ("z", None, -5, 3),
    ]


@pytest.mark.parametrize("name", ["anthropic-json", "realmem"])
async def test_a_document_without_its_list_is_said_to_have_none(put, ledger, bring, name):
    with pytest.raises(UnreadableImport, match="no list named"):
        await bring(ledger, put(doc={"a": 1}), format=name)
    assert (await bring(ledger, put(doc={"a": 1}), format=name, on_error="skip")).skipped == 1


async def test_damage_early_in_a_large_document_is_found_without_reading_on(put):
    broken = '[{"role": "user" oops}, ' + ",".join([json.dumps(said("x" * 1000))] * 5000) + "]"
    source = Source(path=put(broken), zone=NOW.tzinfo, now=NOW)
    with pytest.raises(UnreadableImport):
        list(read_batches(source, "anthropic-json"))
    assert source.position < 300_000 < source.size


@pytest.mark.parametrize(
    ("name", "doc", "sessions"),
    [
        ("anthropic-json", [said("a"), 3, said("x", "ghost"), said("b")], 1),
        (
            "chatgpt",
            [conversation("a"), {"mapping": 3}, 7, {**conversation("x"), "create_time": "?"}, conversation("b")],
            2,
        ),
        ("locomo", [{"no": 1}, {"conversation": {"session_1": [], "session_1_date_time": "?"}}, *LOCOMO], 2),
        ("realmem", {"dialogues": [3, {"dialogue_turns": [], "session_uuid": "u"}, *REALMEM["dialogues"]]}, 1),
    ],
)
async def test_wrong_elements_are_counted_and_left_out(put, ledger, bring, name, doc, sessions):
    path = put(doc=doc)
    with pytest.raises(UnreadableImport):
        await bring(Ledger(), path, format=name)
    report = await bring(ledger, path, format=name, on_error="skip")
    assert report.skipped >= 2
    assert len(ledger.sessions) == sessions


async def test_bytes_that_are_not_utf8_spoil_only_their_element(put, ledger, bring):
    path = put(b'[{"role":"user","content":"a"},{"role":"user","content":"\xe9"},{"role":"user","content":"b"}]')
    assert (await bring(ledger, path, on_error="skip")).skipped == 1
    assert ledger.said() == ["a", "b"]


async def test_a_line_longer_than_memory_allows_is_refused(put, ledger, bring, monkeypatch):
    monkeypatch.setattr(source_module, "MAX_PIECE", 1000)
    path = put([said("a"), said("x" * 5000), said("b")])
    with pytest.raises(UnreadableImport) as caught:
        await bring(ledger, path, format="openai-jsonl")
    assert caught.value.line == 2
    report = await bring(ledger, path, format="openai-jsonl", on_error="skip")
    assert ledger.said() == ["a", "b"]
    assert report.skipped == 1


async def test_a_message_over_the_limit_is_named(put, ledger, bring):
    path = put([said("a"), said("x" * 2_000_000), said("b")])
    with pytest.raises(UnreadableImport, match="more bytes than"):
        await bring(ledger, path)
    assert (await bring(ledger, path, on_error="skip")).skipped == 1


# ------------------------------------------------------------------------------------------ again and again

ALL = {
    "openai-jsonl": ([said(f"t{i % 3}") for i in range(300)], None),
    "anthropic-json": (None, {"messages": [said(f"t{i % 3}") for i in range(300)], "system": "S"}),
    "chatgpt": (None, [conversation(f"c{i}", [f"t{j}" for j in range(40)]) for i in range(8)]),
    "claude-code": ([transcript_line(ident=f"u{i}") for i in range(300)], None),
    "locomo": (None, LOCOMO),
    "realmem": (None, REALMEM),
}


@pytest.mark.parametrize("name", ALL)
async def test_a_second_import_adds_nothing(put, ledger, bring, name):
    content, doc = ALL[name]
    first = await bring(ledger, put(content, doc=doc))
    assert first.format == name
    assert first.added == first.read == len(ledger.all) > 0
    before = json.dumps(ledger.sessions, default=str)
    second = await bring(ledger, put(content, doc=doc))
    assert (second.read, second.added) == (first.read, 0)
    assert json.dumps(ledger.sessions, default=str) == before


@pytest.mark.parametrize("name", ALL)
async def test_an_interrupted_import_goes_on(put, bring, name):
    content, doc = ALL[name]
    whole, broken = Ledger(), Ledger()
    await bring(whole, put(content, doc=doc))
    for _ in range(whole.batches):
        broken.dies_after = broken.batches + 1
        with suppress(Killed):
            await bring(broken, put(content, doc=doc))
    broken.dies_after = None
    await bring(broken, put(content, doc=doc))
    assert broken.sessions == whole.sessions


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(["ok", "yes", "no"]), min_size=1, max_size=300), st.lists(st.integers(0, 300), max_size=4)
)
async def test_a_growing_file_ends_as_if_read_at_once(tmp_path_factory, texts, sizes):
    from memhold.transfer.importing import Reading, import_file

    path = tmp_path_factory.mktemp("grow") / "chat.jsonl"
    growing, whole = Ledger(), Ledger()
    for size in [*sorted(s for s in sizes if 0 < s < len(texts)), len(texts)]:
        path.write_text("".join(json.dumps(said(t)) + "\n" for t in texts[:size]))
        await import_file(growing, path, Reading(), now=NOW)
    await import_file(whole, path, Reading(), now=NOW)
    assert growing.sessions == whole.sessions
    assert growing.said() == texts


async def test_another_zone_makes_no_other_message(put, ledger, bring):
    from datetime import timedelta, timezone

    await bring(ledger, put(doc=LOCOMO))
    assert (await bring(ledger, put(doc=LOCOMO), zone=timezone(timedelta(hours=5)))).added == 0


async def test_an_edited_conversation_brings_its_new_branch(put, ledger, bring):
    await bring(ledger, put(doc=[conversation("c", ("a", "b"))]))
    edited = conversation("c", ("a", "B!"))
    assert (await bring(ledger, put(doc=[edited]))).added == 1
    assert ledger.said() == ["a", "b", "B!"]


async def test_progress_grows_to_the_size_of_the_file(put, ledger, bring):
    seen = []
    path = put([said(f"t{i}" * 500) for i in range(1000)])
    await bring(ledger, path, progress=seen.append)
    assert [p.position for p in seen] == sorted(p.position for p in seen)
    assert seen[0].position < path.stat().st_size == seen[-1].position == seen[-1].size
    assert seen[-1].done == seen[-1].added == 1000


# ------------------------------------------------------------------------------------------ memory


def _fifty_megabytes(path, name):
    text = "tide " * 4000
    with path.open("w") as out:
        if name == "openai-jsonl":
            for i in range(2_600):
                out.write(json.dumps(said(f"{i} {text}")) + "\n")
        elif name == "anthropic-json":
            out.write('{"messages": [')
            out.write(",\n".join(json.dumps(said(f"{i} {text}")) for i in range(2_600)))
            out.write('], "system": "S"}')
        else:
            out.write("[")
            out.write(",".join(json.dumps(conversation(f"c{i}", [text] * 20)) for i in range(130)))
            out.write("]")
    assert path.stat().st_size > 50_000_000


@pytest.mark.parametrize("name", ["openai-jsonl", "anthropic-json", "chatgpt"])
def test_fifty_megabytes_are_read_in_bounded_memory(tmp_path, name):
    path = tmp_path / "big"
    _fifty_megabytes(path, name)
    source = Source(path=path, zone=NOW.tzinfo, now=NOW)
    messages = 0
    tracemalloc.start()
    try:
        for batch in read_batches(source, name):
            messages += len(batch.messages)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert messages >= 2_600
    assert peak < 12_000_000
    assert source.position == path.stat().st_size
