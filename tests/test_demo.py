"""The demo keeps its promises, and can fail."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from memhold.cli import demo
from memhold.cli.demo import KILLED_AFTER, Stage, run_demo
from memhold.cli.main import main


def test_the_demo_passes_and_leaves_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(demo.tempfile, "tempdir", str(tmp_path))
    assert main(["demo", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["ok"]
    assert answer["seconds"] < 60
    assert len(answer["checks"]) > 15
    assert list(tmp_path.iterdir()) == []


def test_it_says_what_it_does_and_why(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    stage = Stage(quiet=False)
    run_demo(tmp_path, stage)
    out = capsys.readouterr().out
    assert stage.passed
    assert f"{KILLED_AFTER} messages were acknowledged before it died" in out or "messages were acknowledged" in out
    assert "superseded: ramen (until 2025-03-11); sushi (until 2025-04-20)" in out


@pytest.mark.parametrize(
    ("name", "value"),
    [("KILLED_AFTER", 10_000), ("NEEDLE", "nothing says this")],
    ids=["nobody is killed", "nothing goes"],
)
def test_it_fails_where_a_promise_does_not_hold(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, value: object
) -> None:
    monkeypatch.setattr(demo, name, value)
    assert main(["demo", "--json"]) == 1
    assert not json.loads(capsys.readouterr().out)["ok"]


def test_killed_means_killed() -> None:
    stage = Stage(quiet=True)
    stage.expect("something", holds=-signal.SIGKILL == -9)
    stage.expect("something else", holds=False)
    assert not stage.passed
    assert not Stage(quiet=True).passed
