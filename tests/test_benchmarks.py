"""`python -m benchmarks` in the checkout: every table has its options, its help and its JSON."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from benchmarks.__main__ import _rows, benchmarks
from benchmarks.compaction import _costs
from benchmarks.instructions import LABELS, instructions_quality
from benchmarks.measure import Row
from tests.documents import ROOT

TABLE = {"--quick", "--json"}
QUALITY = {"--embedding", "--json"}
OPTIONS = {
    "briefings": {"--part", "--json"},
    "compaction": TABLE | {"--notes"},
    "consolidation": TABLE,
    "context": TABLE,
    "core": TABLE,
    "documents": TABLE | {"--db"},
    "facts": TABLE,
    "instructions": {"--worlds", "--locomo", "--json"},
    "large": TABLE | {"--db", "--messages"},
    "locomo": QUALITY | {"--data", "--half"},
    "merges": QUALITY | {"--data"},
    "models": TABLE,
    "pages": TABLE | {"--db", "--memories"},
    "peers": {"--data", "--json"},
    "realmem": QUALITY | {"--data", "--half", "--conversation"},
    "recall": QUALITY | {"--messages", "--questions"},
    "server": TABLE,
    "speed": TABLE,
    "stores": TABLE | {"--db"},
    "turns": TABLE | {"--cache-mb", "--db", "--messages", "--users"},
}
"""What each table has taken since it was a command of the package; more may come, none may go."""


def asked(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)


def test_help_names_every_table_with_its_whole_sentence() -> None:
    done = asked("--help")
    assert done.returncode == 0, done.stderr
    listed = dict(re.findall(r"^  (\w+) {2,}(.+)$", done.stdout.partition("Commands:")[2], re.MULTILINE))
    assert set(OPTIONS) <= set(listed)
    assert [name for name, line in listed.items() if not line.endswith(".") or line.endswith("...")] == []
    assert asked("-h").stdout == done.stdout


@pytest.mark.parametrize("name", OPTIONS)
def test_each_table_has_its_options_and_says_what_each_is(name: str) -> None:
    command = benchmarks.commands[name]
    options = {word: option for option in command.params for word in option.opts}
    assert set(OPTIONS[name]) <= set(options)
    assert [word for word, option in options.items() if isinstance(option, click.Option) and not option.help] == []
    assert command.help


def test_a_quick_table_runs_in_the_checkout() -> None:
    done = asked("facts", "--quick", "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert rows["ten stories, ours"]["value"] == "10 of 10"
    assert {"name", "value", "against", "ratio", "bar", "holds"} == set(rows["ten stories, ours"])


def test_merges_are_measured_on_a_file_of_notes(tmp_path: Path) -> None:
    at = ("2026-01-12T09:00:00+00:00", "2026-03-02T18:20:00+00:00")
    pairs = [
        ("same", "The gate squeaks since 2019", "The garden gate has squeaked since 2019",
         ["The garden gate squeaks since 2019"], ["The garden gate squeaks since 2018"]),
        ("newer_replaces", "The depot is in Graz", "The depot moved from Graz to Linz",
         ["The depot is in Linz"], ["The depot is in Graz"]),
        ("different", "Ilse keeps hens", "Oskar keeps bees", [], ["Ilse keeps bees"]),
    ]  # fmt: skip
    lines = [
        {
            "lang": "en",
            "notes": [{"text": text, "time": time} for text, time in zip((first, second), at, strict=True)],
            "relation": relation,
            "good_merges": good,
            "bad_merges": [{"text": text, "why": "made up", "loses": relation == "same"} for text in bad],
        }
        for relation, first, second, good, bad in pairs
    ]
    data = tmp_path / "notes.jsonl"
    data.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    done = asked("merges", "--data", str(data), "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["clusters"] == 3
    for name in ("looked_at", "settled"):
        assert found[name] == {"same": 1.0, "newer_replaces": 1.0, "different": 1.0}
    assert (found["good_accepted"]["all"], found["bad_refused"]["all"]) == (1.0, 1.0)
    assert found["lossy_accepted"] == {"all": 0.0}
    assert found["wrong_verdicts_refused"]["newer_replaces as replaced by the oldest"] == 1.0


def test_rows_that_come_one_by_one_are_printed_as_they_come(capsys: pytest.CaptureFixture[str]) -> None:
    def measured() -> Iterator[Row]:
        yield Row(name="few notes", value="2 calls", ratio=1.0, bar=2.0)
        seen.append(capsys.readouterr().out)
        yield Row(name="many notes", value="9 calls", ratio=3.0, bar=2.0)

    seen: list[str] = []
    _rows(measured, as_json=False)
    assert [line.split()[0] for line in seen[0].splitlines()] == ["what", "few"]
    assert re.fullmatch(r"many notes +9 calls +FAILS\n", capsys.readouterr().out)
    _rows(measured, as_json=True)
    assert [row["holds"] for row in json.loads(capsys.readouterr().out)] == [True, False]


def test_calls_of_compaction_are_counted_up_to_so_many_notes() -> None:
    rows = list(_costs([20]))
    assert [row.name for row in rows] == ["20 notes, alike", "20 notes, preferences", "20 notes, unrelated"]
    assert all(row.holds for row in rows)


def test_a_name_that_is_no_table_is_refused() -> None:
    done = asked("nothing")
    assert done.returncode == 2
    assert "nothing" in done.stderr


def test_every_table_that_the_documents_name_is_there() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py"), ROOT / "Makefile"]
    text = "\n".join(page.read_text("utf-8") for page in pages)
    named = set(re.findall(r"python -m benchmarks ([a-z]\w+)", text))
    assert named
    assert named <= set(benchmarks.commands)
    modules = set(re.findall(r"python -m benchmarks\.(\w+)", text))
    assert all((ROOT / "benchmarks" / f"{name}.py").exists() for name in modules)
    assert re.findall(r"(?:memhold|`) ?bench [a-z]+", text) == []


async def test_the_precision_of_instructions_is_that_of_what_was_labelled(tmp_path: Path) -> None:
    said = ["Always answer in metric.", "Call me Sam.", "Never use tables.", "We had soup.", "No tea, ever."]
    messages = [
        {"id": str(n), "role": "user", "content": text, "time": "2026-01-01T09:00:00Z"} for n, text in enumerate(said)
    ]
    messages.append({**messages[0], "id": "5", "role": "assistant"})
    world = {"name": "w", "lang": "en", "sessions": [{"id": "s", "messages": messages}], "questions": []}
    (tmp_path / "worlds.json").write_text(json.dumps([world]))
    (tmp_path / "labels.json").write_text(json.dumps({"w:0": True, "w:1": False, "w:3": False, "w:4": True}))
    found = await instructions_quality([tmp_path / "worlds.json"], labels=tmp_path / "labels.json")
    assert (found["turns"], found["labelled"], found["recognised"]) == (5, 4, 3)
    assert (found["precision"], found["recall of the labelled"]) == (0.5, 0.5)
    assert (found["wrong"], found["missed"], found["not labelled"]) == (["w:1"], ["w:4"], ["w:2"])
    assert len(json.loads(LABELS.read_text(encoding="utf-8"))) == 200
