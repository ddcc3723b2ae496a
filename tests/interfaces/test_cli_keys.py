"""`memhold keys` and `memhold suspicions`: verdicts explained, files of pairs judged, doubts listed and settled."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.inventing import store_with_what_was_not_kept
from tests.scripted_server import Answer, Asked, ScriptedServer, sent

from .conftest import CommandLine

PAIRS = [
    {"a": "favorite food", "b": "most favorite food", "label": "same", "lang": "en"},
    {"a": {"subject": "wife", "attribute": "birthday"}, "b": "wife's birthday", "label": "same", "lang": "en"},
    {"a": "cat name", "b": "dog name", "label": "different", "lang": "en"},
    {"a": "wife's job", "b": "wife's vocation", "label": "different", "lang": "en"},
    {"a": "좋아하는 음식", "b": "싫어하는 음식", "label": "different", "lang": "ko"},
    {"a": "job", "b": "shoe size", "label": "same", "lang": "en"},
]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(json.dumps(pair, ensure_ascii=False) for pair in PAIRS) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("a", "b", "verdict", "rule"),
    [
        ("cat's name", "name of the cat", "same", "canonical"),
        ("job", "occupation", "same", "alignment"),
        ("mother's name", "grandmother's name", "different", "possessor"),
        ("likes", "dislikes", "different", "polarity"),
        ("wife's job", "wife's vocation", "unsure", "substitution"),
    ],
)
def test_a_verdict_comes_with_its_rule_and_reason(run: CommandLine, a: str, b: str, verdict: str, rule: str) -> None:
    answer = run("keys", "compare", a, b, "--json").json
    assert (answer["verdict"], answer["rule"]) == (verdict, rule)
    assert answer["reason"]
    said = run("keys", "compare", a, b)
    assert (said.code, said.out.split(" · ")[:2]) == (0, [verdict, rule])


@pytest.mark.parametrize("arguments", [(), ("one",), ("one", "two", "three")])
def test_two_keys_or_a_file(run: CommandLine, pairs: Path, arguments: tuple[str, ...]) -> None:
    assert run("keys", "compare", *arguments).code == 2
    assert run("keys", "compare", "one", "two", "--pairs", str(pairs)).code == 2


def test_a_file_of_pairs_is_one_object_with_each_mistake(run: CommandLine, pairs: Path) -> None:
    report = run("keys", "compare", "--pairs", str(pairs), "--embedding", "none", "--json").json
    counts = {name: report[name] for name in ("pairs", "same", "different", "recognised", "unsure")}
    assert counts == {"pairs": 6, "same": 3, "different": 3, "recognised": 2, "unsure": 1}
    assert report["recognised_share"] == 0.6667
    assert report["false_merges"] == []
    [missed] = report["missed"]
    assert (missed["a"], missed["b"], bool(missed["reason"])) == ("job", "shoe size", True)
    said = run("keys", "compare", "--pairs", str(pairs)).out
    assert "2 of 3 same recognised" in said
    assert "missed: job / shoe size" in said


def test_an_embedding_lifts_at_its_threshold_and_prints_the_safe_one(run: CommandLine, pairs: Path) -> None:
    shipped = run("keys", "compare", "--pairs", str(pairs), "--embedding", "builtin", "--json").json
    assert (shipped["false_merges"], shipped["threshold"]) == ([], 0.97)
    assert shipped["lowest_safe_threshold"] > 0
    loose = run(
        "keys", "compare", "--pairs", str(pairs), "--embedding", "builtin", "--threshold", "0.01", "--json"
    ).json
    [merged] = loose["false_merges"]
    assert (merged["b"], merged["rule"]) == ("wife's vocation", "similarity")
    assert merged["similarity"] < shipped["lowest_safe_threshold"]


def test_an_embedding_in_one_line_compares_keys(run: CommandLine) -> None:
    def answer(asked: Asked) -> Answer:
        texts = asked.body["input"]
        return sent({"data": [{"index": place, "embedding": [1.0, len(text)]} for place, text in enumerate(texts)]})

    with ScriptedServer(answer) as server:
        line = f"{server.url}/v1#some-model"
        done = run("keys", "compare", "cat name", "wife's job", "--embedding", line, "--json")
    assert done.json["similarity"] > 0.9


def test_what_cannot_be_used_is_said(run: CommandLine, tmp_path: Path) -> None:
    unknown = run("keys", "compare", "a", "b", "--embedding", "no-such-model")
    assert (unknown.code, "no-such-model" in unknown.err) == (2, True)
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"a": "x"}\n')
    broken = run("keys", "compare", "--pairs", str(bad))
    assert (broken.code, "line 1" in broken.err) == (1, True)
    binary = tmp_path / "binary.jsonl"
    binary.write_bytes(b"\xff\xfe")
    assert "not UTF-8" in run("keys", "compare", "--pairs", str(binary)).err


def test_what_was_not_kept_is_dismissed(run: CommandLine) -> None:
    change = asyncio.run(store_with_what_was_not_kept(run.db))
    [window] = run("summaries", "--json").json["hits"]
    [said] = [one for one in run("history", window["id"], "--json").json["changes"] if one["id"] == change]
    assert {one["value"] for one in said["detail"]["ungrounded"]} == {"pizza", "forty"}
    done = run("dismiss", change, "1", "--json").json
    assert run("dismiss", change, "1", "--json").json["change_ids"] == [], "dismissed twice, it is dismissed once"
    told = run("history", done["ids"][0])
    assert "dismissed by the user" in told.out
    assert "forty" not in told.out + repr(done)
    assert "pizza" not in told.out + repr(done)
    assert run("undo", *done["change_ids"]).code == 0
    assert len(run("dismiss", change, "1", "--json").json["change_ids"]) == 1
    assert run("dismiss", change, "0").code == 0
    assert "has 2" in run("dismiss", change, "2").err


def test_doubts_are_listed_and_settled(run: CommandLine) -> None:
    assert run("remember", "a note").code == 0
    assert run("suspicions", "list").out == "Nothing to settle.\n"
    for attribute, value in (("wife's job", "teacher"), ("wife's vocation", "baker")):
        assert run("remember", "--attribute", attribute, "--value", value).code == 0
    [doubt] = run("suspicions", "list", "--json").json["suspicions"]
    ident = doubt["suspicion"]["id"]
    listed = run("suspicions", "list").out
    assert listed.startswith(ident)
    assert "may be the same as" in listed
    assert run("suspicions", "list", "--limit", "1").out == listed
    assert run("suspicions", "list", "--after", ident).out == "Nothing to settle.\n"
    status = run("status")
    assert "to settle: 1" in status.out
    assert ident in status.out
    held = run("status", "--json").json
    assert (held["open_suspicions"], held["suspicions"][0]["suspicion"]["id"]) == (1, ident)
    found = [one for one in run("doctor", "--json").json["findings"] if one["check"] == "suspicions"]
    assert [(one["severity"], ident in one["what"]) for one in found] == [("note", True)]
    assert "baker" not in json.dumps(found), "the whole store's report shows nobody's content"
    settled = run("suspicions", "same", ident, "--json").json
    assert [one["value"] for one in run("list", "--kind", "fact", "--json").json["items"]] == ["baker"]
    assert run("suspicions", "list").out == "Nothing to settle.\n"
    assert "settled: same" in run("suspicions", "list", "--settled").out
    assert run("suspicions", "different", ident).code == 1
    assert run("undo", settled["change_ids"][0]).code == 0
    assert run("suspicions", "different", ident).code == 0
    assert sorted(one["value"] for one in run("list", "--kind", "fact", "--json").json["items"]) == ["baker", "teacher"]
    assert run("suspicions", "same", "sus_none").code == 1
