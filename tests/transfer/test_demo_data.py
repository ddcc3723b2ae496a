from __future__ import annotations

import json
import re
from importlib.resources import files

from memhold.messages.ingest import parse_messages
from tests.transfer.samples import NOW

DATA = files("memhold") / "data"
LINES = [json.loads(line) for line in (DATA / "demo_conversation.jsonl").read_text("utf-8").splitlines()]
QUESTIONS = json.loads((DATA / "demo_questions.json").read_text("utf-8"))


async def test_the_demo_conversation_is_imported_whole(ledger, bring):
    report = await bring(ledger, DATA / "demo_conversation.jsonl")
    assert (report.format, report.read, report.skipped) == ("openai-jsonl", len(LINES), 0)
    assert report.sessions == 5
    assert len({m["event_time"].date() for m in ledger.all}) == 5
    times = [m["event_time"] for m in ledger.all]
    assert times == sorted(times)


def test_the_demo_conversation_has_what_breaks_memories():
    assert len(LINES) >= 60
    calls = [c["id"] for m in LINES for c in m.get("tool_calls", ())]
    answered = [m["tool_call_id"] for m in LINES if m["role"] == "tool"]
    assert len(calls) >= 12
    assert len(calls) - len(set(answered)) == 1
    assert any("interrupted" in str(m["content"]) for m in LINES)
    assert max(len(str(m["content"])) for m in LINES) > 1000
    assert any("```python" in str(m["content"]) for m in LINES)
    korean = [m for m in LINES if re.search("[가-힣]{2}", str(m["content"]))]
    assert len(korean) >= 12


def test_each_question_is_answered_where_it_says():
    drafts = [parse_messages(m, now=NOW)[0] for m in LINES]
    assert len(QUESTIONS) == 8
    for question in QUESTIONS:
        assert question["answers"]
        for place in question["answers"]:
            assert question["expect"] in drafts[place].text
        for place in question["stale"]:
            assert question["expect"] not in drafts[place].text
            assert place < min(question["answers"])
    assert sum(1 for q in QUESTIONS if q["stale"]) >= 3
