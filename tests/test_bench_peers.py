"""`bench peers`: quality, speed and durability of each store in one table, on a conversation made here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks import side_by_side
from benchmarks.__main__ import main
from benchmarks.side_by_side import HEADER, Line, side_by_side_quality

TURNS = {
    1: ["My sister moved to Lisbon.", "How lovely! Is she happy there?", "She is, and she paints boats."],
    2: ["I bought a blue kayak.", "Where will you paddle?", "On the lake near the mill."],
}
QUESTIONS: list[dict[str, Any]] = [
    {"question": "Who moved to Lisbon?", "answer": "the sister", "evidence": ["D1:1"], "category": 4},
    {"question": "Which kayak was bought?", "answer": "a blue one", "evidence": ["D2:1"], "category": 4},
    {"question": "Any zeppelins?", "answer": "never said", "evidence": ["D2:3"], "category": 4},
    {"question": "Nobody asked for this.", "answer": "", "evidence": [], "category": 5},
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    conversation: dict[str, Any] = {"speaker_a": "Ann", "speaker_b": "Ben"}
    for number, texts in TURNS.items():
        conversation[f"session_{number}_date_time"] = f"1:56 pm on {number} May, 2023"
        conversation[f"session_{number}"] = [
            {"speaker": ("Ann", "Ben")[at % 2], "dia_id": f"D{number}:{at + 1}", "text": text}
            for at, text in enumerate(texts)
        ]
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([{"sample_id": "c1", "conversation": conversation, "qa": QUESTIONS}]), encoding="utf-8")
    return path


def _absent(_: Path) -> Any:
    raise ModuleNotFoundError("No module named 'peer'")


def _broken(_: Path) -> Any:
    raise RuntimeError("no such option")


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    """The peer that needs no further package, one that is not installed and one that fails."""
    chosen = {"FTS5, plain": side_by_side._PEERS["FTS5, plain"], "Absent": _absent, "Broken": _broken}
    monkeypatch.setattr(side_by_side, "_PEERS", chosen)
    return chosen


async def test_each_store_has_its_quality_its_times_and_its_durability(data: Path, peers: Mapping[str, Any]) -> None:
    ours, plain, absent, broken = await side_by_side_quality(data)
    assert [line.store for line in (ours, plain, absent, broken)] == ["Memhold", *peers]
    # Two of the three questions that have evidence name words of it; nothing was said of the third.
    assert plain.recall == pytest.approx((2 / 3,) * 4)
    assert ours.recall[0] >= plain.recall[0] - 1e-9
    assert list(ours.recall) == sorted(ours.recall)
    for line in (ours, plain):
        assert line.durable == "SQLite, journal wal, synchronous FULL"
        assert line.add_seconds > 0
        assert line.recall_seconds > 0
    assert absent == Line(store="Absent", missing="not installed")
    assert broken == Line(store="Broken", missing="failed: RuntimeError: no such option")


async def test_durability_is_read_from_the_file(tmp_path: Path) -> None:
    peer = side_by_side._PEERS["FTS5, plain"](tmp_path)
    peer._db.pragma("synchronous", 1)  # type: ignore[attr-defined]
    assert peer.durable() == "SQLite, journal wal, synchronous NORMAL"
    peer._db.pragma("journal_mode", "delete")  # type: ignore[attr-defined]
    assert peer.durable() == "SQLite, journal delete, synchronous NORMAL"


@pytest.mark.usefixtures("peers")
def test_the_command_prints_one_table(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["peers", "--data", str(data), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["store"] for row in rows] == ["Memhold", "FTS5, plain", "Absent", "Broken"]
    assert set(rows[0]) == set(HEADER)
    assert (rows[1]["R@10"], rows[1]["note"], rows[2]["R@10"]) == ("0.667", "", "")
    assert main(["peers", "--data", str(data)]) == 0
    table = capsys.readouterr().out
    assert all(name in table for name in ("durable", "synchronous FULL", "not installed", "recall p50"))


def test_a_file_that_is_no_locomo_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "other.json"
    path.write_text('{"messages": []}', encoding="utf-8")
    assert main(["peers", "--data", str(path)]) != 0
    assert capsys.readouterr().err
