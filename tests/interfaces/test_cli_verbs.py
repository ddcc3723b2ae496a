"""The verbs on the command line: what they print for people and programs, and what they exit with."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from memhold import Memhold
from memhold.cli import forget as cli_forget
from memhold.faces.remote.wire import MAX_BODY
from memhold.testing import ScriptedChat

from .conftest import CommandLine


def test_add_takes_a_text_and_recall_finds_it_with_why(run: CommandLine) -> None:
    assert run("add", "I moved to Lisbon.", "--session", "s1").code == 0
    found = run("recall", "where is Lisbon")
    assert found.code == 0
    assert "user: I moved to Lisbon." in found.out
    assert "words #1 (Lisbon)" in found.out
    assert "1 of 1" in found.err
    assert "1 item found by words alone as yet: 'memhold settle'" in found.err
    assert run("settle").out == "all due work is done\n"
    assert "words alone" not in run("recall", "where is Lisbon").err


def test_a_message_of_a_fact_that_was_replaced_says_so(run: CommandLine) -> None:
    model = ScriptedChat()
    with Memhold.open(run.db, worker=False, consolidation=model) as mem:
        for city, said in (("Oslo", "I live in Oslo."), ("Ghent", "I live in Ghent now.")):
            fact = {"subject": "user", "attribute": "home city", "value": city, "operation": "set", "quote": said}
            fact |= {"importance": "mid", "sources": ["m1"]}
            model.script([{"history_entry": said, "facts": [fact], "notes": []}])
            scope = mem.scope(user="alice", session=city)
            scope.add([{"role": "user", "content": said}])
            scope.end_session()
            assert mem.settle()
        [now] = scope.list(kinds=("fact",)).items
    hits = run("recall", "where do I live", "--json", "--kind", "message").json["hits"]
    assert {hit["text"]: hit["superseded_by"] for hit in hits} == {
        "I live in Ghent now.": None,
        "I live in Oslo.": now.id,
    }
    lines = run("recall", "where do I live", "--kind", "message").out.splitlines()
    [marked] = [line for line in lines if "replaced by" in line]
    assert f"user: I live in Oslo. [replaced by {now.id}, no longer so since " in marked


def test_what_is_counted_is_said_as_people_say_it(run: CommandLine) -> None:
    run("add", "I moved to Lisbon.", "--session", "s1")
    assert "messages: 1 in 1 session\n" in run("status").out
    run("add", "Tea gets cold.", "--session", "s2")
    assert "messages: 2 in 2 sessions\n" in run("status").out
    assert "1 of 1, and 1 more that is nearest; confidence" in run("recall", "where is Lisbon").err
    assert "nothing matches; the nearest 2; confidence" in run("recall", "zzxqv").err


def test_a_recall_goes_on_at_its_cursor_in_another_process(run: CommandLine) -> None:
    assert run("add", stdin=json.dumps([{"role": "user", "content": f"Lisbon, {n}"} for n in range(3)])).code == 0
    first = run("recall", "Lisbon", "--limit", "2", "--json").json
    assert run("forget", first["hits"][0]["id"], "--yes").code == 0
    rest = run("recall", "Lisbon", "--cursor", first["cursor"], "--json").json
    assert (len(rest["hits"]), rest["cursor"]) == (1, None)
    assert rest["hits"][0]["id"] not in {hit["id"] for hit in first["hits"]}
    refused = run("recall", "Porto", "--cursor", first["cursor"])
    assert refused.code == 2
    assert "is not a cursor of this question" in refused.err


def test_add_reads_messages_from_standard_input(run: CommandLine) -> None:
    lines = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]
    for text in (json.dumps(lines), "\n".join(map(json.dumps, lines)), json.dumps({"messages": lines})):
        assert len(run("add", "--json", "--session", "s1", stdin=text).json["ids"]) == 2
    held = run("messages", "--session", "s1", "--json").json["messages"]
    assert [message["body"] for message in held] == lines * 3


@pytest.mark.parametrize("text", ["", "not json", "[]", '"text"', "3", "[" * 100_000])
def test_add_refuses_what_holds_no_messages(run: CommandLine, text: str) -> None:
    refused = run("add", stdin=text)
    assert refused.code == 2
    assert "standard input" in refused.err
    assert refused.out == ""


def test_add_reads_no_more_than_a_server_takes(run: CommandLine) -> None:
    for text in ("x" * (MAX_BODY + 2), "字" * (MAX_BODY // 3 + 1)):  # of each so many bytes
        refused = run("add", "--json", stdin=text)
        assert (refused.code, refused.error["type"]) == (1, "TooLarge")
    assert "memhold import" in refused.error["message"]


def test_add_without_text_on_a_terminal_is_a_usage_error(run: CommandLine) -> None:
    assert run("add").code == 2


def test_the_same_key_is_one_write_and_other_content_a_conflict(run: CommandLine) -> None:
    first = run("add", "hello", "--key", "k", "--json").json
    again = run("add", "hello", "--key", "k", "--json").json
    assert again["ids"] == first["ids"]
    assert again["replayed"]
    conflict = run("add", "other", "--key", "k", "--json")
    assert conflict.code == 1
    assert conflict.error["type"] == "IdempotencyConflict"
    assert conflict.error["key"] == "k"


def test_a_fact_is_superseded_corrected_told_of_and_undone(run: CommandLine) -> None:
    run("remember", "--attribute", "favorite food", "--value", "sushi")
    new = run("remember", "--attribute", "favorite food", "--value", "ramen", "--json").json
    (listed,) = run("list", "--json").json["items"]
    assert listed["value"] == "ramen"
    right = run("correct", listed["id"], "udon", "--json").json["memory"]
    changes = run("history", right["id"], "--json").json["changes"]
    assert [change["verb"] for change in changes] == ["remember", "remember", "correct"]
    story = run("history", right["id"]).out
    assert re.search(r"food: ramen \[active, since 20[\d: -]+\] -> favorite food: ramen \[retracted, since", story), (
        story
    )
    assert run("undo", new["receipt"]["change_ids"][0]).code == 1
    assert run("undo", changes[-1]["id"]).code == 0
    assert "ramen" in run("list").out


def test_pin_unpin_get_list_and_status(run: CommandLine) -> None:
    memory = run("remember", "likes window seats", "--json").json["memory"]
    assert run("pin", memory["id"], "--json").json["memory"]["tier"] == "long"
    assert not run("unpin", memory["id"], "--json").json["memory"]["pinned"]
    assert run("get", memory["id"], "--json").json["text"] == "likes window seats"
    assert "text: likes window seats" in run("get", memory["id"]).out
    assert run("list", "--kind", "fact", "--json").json["items"] == []
    assert "memories: 1 note" in run("status").out


def test_end_session_keeps_the_window(run: CommandLine) -> None:
    run("add", "I moved to Lisbon.", "--session", "s1")
    assert len(run("end-session", "--session", "s1", "--json").json["ids"]) == 1
    assert run("list", "--kind", "raw", "--json").json["items"][0]["text"].endswith("user: I moved to Lisbon.")


def test_an_undo_that_is_only_planned_says_so(run: CommandLine) -> None:
    told = run("remember", "likes tea", "--json").json
    change, memory = told["receipt"]["change_ids"][0], told["memory"]["id"]
    assert run("undo", change, "--dry-run").out.strip() == f"would undo {change}; it would touch {memory}"
    done = run("undo", change).out.strip()
    assert done.startswith("undone by chg_")
    assert done.endswith(f"; it touched {memory}")


def test_forget_asks_unless_told(run: CommandLine) -> None:
    item = run("add", "my secret word is petrichor", "--json").json["ids"][0]
    refused = run("forget", item, stdin="")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert run("forget", item, "--dry-run", "--json").json["messages"] == [item]
    assert run("residue", "petrichor").code == 1
    gone = run("forget", item, "--yes", "--json").json
    assert gone["messages"] == [item]
    assert gone["erased"]
    assert run("residue", "petrichor", "--json").json["found"] == {}
    assert run("get", item).code == 1


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1), ("", 130)])
def test_on_a_terminal_it_asks(run: CommandLine, answer: str, code: int) -> None:
    item = run("add", "hello", "--json").json["ids"][0]
    run.monkeypatch.setattr(cli_forget, "_at_terminal", lambda: True)
    asked = run("forget", item, stdin=answer)
    assert asked.code == code
    assert "1 message and 0 memories would go" in asked.out
    assert run("get", item).code == (1 if code == 0 else 0)


def test_a_conversation_is_forgotten_by_its_name(run: CommandLine) -> None:
    run("add", "keep this", "--session", "s1")
    run("add", "drop this", "--session", "s2")
    assert len(run("forget", "--in-session", "s2", "--yes", "--json").json["messages"]) == 1
    assert "keep this" in run("recall").out
    assert "drop" not in run("recall").out


def test_a_hidden_item_comes_back_by_undo(run: CommandLine) -> None:
    item = run("add", "hello there", "--json").json["ids"][0]
    hidden = run("forget", item, "--hide", "--yes", "--json").json
    assert hidden["hidden"] == [item]
    assert run("get", item).code == 1
    assert run("undo", hidden["change_id"]).code == 0
    assert run("get", item).code == 0


def test_a_degraded_answer_is_printed_and_exits_with_3(run: CommandLine, tmp_path: Path) -> None:
    run("add", "hello there")
    run("reindex", "--to", "builtin")
    run.monkeypatch.setenv("MEMHOLD_EMBEDDING", str(tmp_path / "a model that is gone"))
    answer = run("recall", "hello", "--json")
    assert answer.code == 3
    assert answer.json["degraded"] == ["meaning"]
    assert [hit["text"] for hit in answer.json["hits"]] == ["hello there"]
    assert "meaning could not be asked" in run("recall", "hello").err


def test_scopes_are_apart_and_options_stand_before_or_after(run: CommandLine) -> None:
    item = run("add", "for alice", "--json").json["ids"][0]
    assert run("--user", "bob", "recall", "alice", "--json").json["total"] == 0
    assert run("recall", "alice", "--namespace", "other", "--json").json["total"] == 0
    assert run("--user", "bob", "recall", "alice", "--user", "alice", "--json").json["total"] == 1
    missing = run("get", item, "--user", "bob", "--json")
    assert (missing.code, missing.error["type"]) == (1, "NotFound")


@pytest.mark.parametrize(
    "arguments",
    [
        ["recall", "x", "--user", ""],
        ["recall", "x", "--as-of", "some day"],
        ["recall", "x", "--limit", "0"],
        ["list", "--cursor", "bogus"],
        ["forget", "--yes"],
        ["get", "chg_1"],
        ["nothing-of-ours"],
        ["recall", "--no-such-option"],
        ["remember"],
    ],
)
def test_a_wrong_line_exits_with_2_and_one_json_error(run: CommandLine, arguments: list[str]) -> None:
    run("add", "hello")
    wrong = run(*arguments, "--json")
    assert wrong.code == 2
    assert wrong.out == ""
    assert wrong.error["message"]


def test_reading_where_no_store_is_says_so_and_makes_none(run: CommandLine) -> None:
    for name in ("recall", "list", "status", "messages", "usage", "doctor", "settle", "reindex"):
        missing = run(name)
        assert missing.code == 1
        assert "there is no store" in missing.err
    assert not Path(run.db).exists()


def test_an_error_is_one_line_and_debug_shows_where(run: CommandLine) -> None:
    Path(run.db).write_text("this is no store, but it is somebody's file" * 10)
    failed = run("status")
    assert failed.code == 1
    assert failed.err.count("\n") == 1
    assert "Traceback" not in failed.err
    with pytest.raises(Exception, match="not a Memhold file"):
        run("status", "--debug")


def test_what_a_terminal_would_obey_is_not_printed(run: CommandLine) -> None:
    run("add", "harmless \x1b[2J\x1b]0;owned\x07 text")
    assert "\x1b" not in run("recall", "harmless").out
    assert "\x07" not in run("messages").out


def test_the_new_store_is_private(run: CommandLine) -> None:
    nested = Path(run.db).parent / "new" / "memory.db"
    assert run("add", "hello", "--db", str(nested)).code == 0
    assert nested.stat().st_mode & 0o777 == 0o600
    assert nested.parent.stat().st_mode & 0o777 == 0o700


def test_explain_draws_how_the_question_was_read_and_what_each_arm_gave(run: CommandLine) -> None:
    run("add", "I moved to Lisbon in spring.", "--session", "s1")
    run("add", "Rex is the dog.", "--session", "s1")
    run("reindex", "--to", "builtin")
    found = run("recall", "who moved to Lisbon in May 2023?", "--explain")
    assert found.code == 0
    lines = [line.split("\t") for line in found.out.splitlines()]
    assert ["words", "moved, Lisbon, May, 2023"] in lines
    assert ["time", "May 2023: 2023-05-01 to 2023-06-01"] in lines
    assert ["looked at", "2 of 2 messages and memories"] in lines
    [words] = [line for line in lines if line[:2] == ["words", "1"]]
    assert int(words[2]) >= 1
    [first] = [line for line in lines if len(line) > 3 and line[0] == "1" and line[1].replace(".", "").isdigit()]
    assert float(first[1]) == pytest.approx(sum(float(cell) for cell in first[2:] if cell), abs=0.01)
    plain = run("recall", "who moved to Lisbon?", "--json", "--explain").json
    assert plain["account"]["signals"]["words"]["found"] >= 1


def test_neighbours_are_printed_beside_their_hit(run: CommandLine) -> None:
    lines = [{"role": "user", "content": text} for text in ("before it", "the zeppelin", "after it")]
    run("add", "--session", "s1", stdin=json.dumps(lines))
    found = run("recall", "zeppelin", "--neighbours", "1", "--limit", "1")
    assert "user: before it" in found.out
    assert "user: after it" in found.out


def test_reindex_to_another_embedding_says_how_far_it_is(run: CommandLine) -> None:
    for number in range(3):
        run("add", f"line {number}", "--session", "s1")
    done = run("reindex", "--to", "builtin", "--json")
    assert done.code == 0
    assert (done.json["state"], done.json["documents"], done.json["of"]) == ("current", 3, 3)
    assert "embedding='builtin'" in done.err
    again = run("reindex", "--to", "builtin")
    assert again.code == 0
    assert "3 of 3" in again.out
    assert run("recall", "line 1", "--json").json["degraded"] == []
    refused = run("reindex", "--to", "none")
    assert refused.code == 2
    assert "makes no vectors" in refused.err


def test_a_receipt_says_whether_meaning_will_find_it(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("add", "hello", "--json").json["visibility"]["meaning"] is None
    monkeypatch.setenv("MEMHOLD_EMBEDDING", "none")
    assert run("add", "hello again", "--json").json["visibility"]["meaning"] is False
    assert run("remember", "likes tea", "--json").json["receipt"]["visibility"]["meaning"] is False
