"""Spans around the verbs, and logs that hold shape only."""

from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from memhold import AsyncMemhold
from memhold.errors import NotFound
from memhold.server.logs import set_up_logs
from memhold.server.telemetry import OPERATIONS, Traced
from memhold.verbs.scope import AsyncScope


async def test_verbs_are_spans_by_the_conventions_and_say_nothing_of_anybody() -> None:
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    async with AsyncMemhold.open("memory://", worker=False) as mem:
        alice = Traced(mem, provider.get_tracer("memhold")).scope(user="user-canary", session="s-canary")
        told = await alice.remember("canary note")
        await alice.add([{"role": "user", "content": "canary said"}] * 2)
        await alice.recall("canary question")
        await alice.forget(told.memory.id)
        with pytest.raises(NotFound):
            await alice.get(told.memory.id)
    spans = kept.get_finished_spans()
    assert [span.name for span in spans] == [
        "upsert_memory",
        "create_memory",
        "search_memory",
        "delete_memory",
        "search_memory",
    ]
    counts = [span.attributes.get("gen_ai.memory.record.count") for span in spans]
    assert counts == [1, 2, 2, 1, None]
    assert spans[0].attributes["gen_ai.memory.record.id"] == told.memory.id
    assert {span.attributes["gen_ai.provider.name"] for span in spans} == {"memhold"}
    assert [span.attributes["gen_ai.operation.name"] for span in spans] == [span.name for span in spans]
    assert (spans[-1].attributes["error.type"], spans[-1].status.is_ok) == ("NotFound", False)
    assert "canary" not in "".join(span.to_json() for span in spans)


def test_each_operation_is_a_verb() -> None:
    assert set(OPERATIONS) <= {name for name in dir(AsyncScope) if not name.startswith("_")}


def test_telemetry_that_cannot_work_says_so(tmp_path: Path) -> None:
    serve = "from memhold.cli.main import main; import sys; sys.exit(main(['serve', '--db', 'x.db', '--port', '0', '--telemetry']))"
    gone = "import sys; sys.modules['opentelemetry.sdk'] = None; sys.modules['opentelemetry.sdk.trace'] = None; "
    for code, said in ((gone + serve, "pip install 'memhold[telemetry]'"), (serve, "opentelemetry-exporter-")):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize("form", ["json", "text"])
def test_logs_hold_the_shape_of_an_exception_and_not_its_words(form: str) -> None:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    out = io.StringIO()
    try:
        set_up_logs(form, out)
        try:
            int("canary")
        except ValueError:
            logging.getLogger("memhold.x").exception("something failed", extra={"request_id": "r1"})
    finally:
        root.handlers[:] = before
        root.setLevel(level)
    text = out.getvalue()
    assert "canary" not in text
    assert "ValueError" in text
    assert "test_telemetry.py" in text
    if form == "json":
        line = json.loads(text)
        assert (line["event"], line["level"], line["logger"], line["request_id"]) == (
            "something failed",
            "error",
            "memhold.x",
            "r1",
        )
