"""The page of `make proof` says of every proof what became of it, also of one that counts nothing or was not run."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from benchmarks.proof import Progress, commit, last_times, longest_first, outcome, page, prove, rows_of, run_lanes

PASSED = '<testsuites><testsuite><testcase name="a" time="2.5"/></testsuite></testsuites>'
SKIPPED = (
    '<testsuites><testsuite><testcase><skipped message="no PostgreSQL | here"/></testcase></testsuite></testsuites>'
)
FAILED = "<testsuites><testsuite><testcase><failure/></testcase></testsuite></testsuites>"


def test_what_a_report_says() -> None:
    assert [outcome(PASSED), outcome(SKIPPED), outcome(FAILED)] == [2.5, "not run: no PostgreSQL | here", "failed"]


def test_one_page(tmp_path: Path) -> None:
    note = '{"kills": 1000, "held": ["lost", 2]}'
    row = f'{{"proof": "test_one", "runs": 1000, "seconds": 61.4, "commit": "1a2b", "note": {note}}}'
    (tmp_path / "one.json").write_text(row)
    told = page(tmp_path, {"test_two": outcome(SKIPPED), "test_three": "failed"}, 4)
    assert "| test_one | 1,000 | 61 | 1a2b | passed: kills 1,000, held lost and 2 |" in told
    assert f"| test_two | - | - | {commit()} | **not run: no PostgreSQL / here** |" in told
    assert f"| test_three | - | - | {commit()} | **failed** |" in told
    # What is run by itself takes the place of its own row alone.
    earlier = {name: line.replace("1a2b", "0f0f") for name, line in rows_of(told).items()}
    assert [*earlier] == ["test_one", "test_three", "test_two"]
    again = rows_of(page(tmp_path, {}, 0, {**earlier, "test_zero": "| test_zero | 1 | 2 | 0f0f | passed |"}))
    assert again["test_one"] == rows_of(told)["test_one"]
    assert again["test_zero"] == "| test_zero | 1 | 2 | 0f0f | passed |"
    assert "4 more proofs are to be run" in told


@pytest.mark.parametrize(
    ("body", "said", "kept"),
    [
        ("def test_it(): pass", "", ["test_it.json"]),
        ("import pytest\n@pytest.mark.skip(reason='none here')\ndef test_it(): pass", "not run: none here", []),
        ("def test_it(): assert False", "failed", []),
        (
            (
                "import pytest\n@pytest.mark.filterwarnings('error')\n"
                "def test_it(record_property): record_property('lag', 1)"
            ),
            "",
            ["test_it.json"],
        ),
    ],
)
def test_what_has_nothing_to_count_is_done_too(tmp_path: Path, body: str, said: str, kept: list[str]) -> None:
    test = tmp_path / "test_one.py"
    test.write_text(body)
    assert prove(f"{test}::test_it", tmp_path) == said
    assert [path.name for path in tmp_path.glob("*.xml")] == []
    assert [path.name for path in tmp_path.glob("*.json")] == kept


def test_what_took_longest_the_last_time_is_begun_first_and_what_nobody_knows_before_it(tmp_path: Path) -> None:
    for state, seconds in (("new", 5), ("old", 70)):
        (tmp_path / state).mkdir()
        for name in ("one", "two[sqlite]") if state == "old" else ("two[sqlite]",):
            kept = tmp_path / state / f"{name}.json"
            kept.write_text(f'{{"proof": "{name}", "runs": 1, "seconds": {seconds}}}')
            os.utime(kept, (1, 1 if state == "old" else 2))
    took = last_times(tmp_path)
    assert took == {"one": 70, "two[sqlite]": 5}
    assert longest_first(["a.py::two[sqlite]", "a.py::one", "b.py::three"], took) == [
        "b.py::three",
        "a.py::one",
        "a.py::two[sqlite]",
    ]


def test_lanes_are_worked_side_by_side_and_each_proof_once() -> None:
    met, done = threading.Barrier(3, timeout=60), []

    def work(proof: str, lane: int) -> None:
        if proof in {"a", "b", "soak"}:
            met.wait()  # nobody comes by unless all three run at once
        done.append((proof, lane))

    run_lanes([["a", "b", "c", "d"], ["soak"]], work, side_by_side=2)
    assert sorted(done) == [("a", 0), ("b", 0), ("c", 0), ("d", 0), ("soak", 1)]


def test_nothing_more_is_begun_once_one_raised() -> None:
    begun, raised = [], threading.Event()

    def work(proof: str, lane: int) -> None:
        begun.append(proof)
        if lane:
            raised.set()
            raise RuntimeError("no disk")
        raised.wait(60)
        stopped.wait(0.5)

    stopped = threading.Event()
    with pytest.raises(RuntimeError, match="no disk"):
        run_lanes([[str(number) for number in range(200)], ["soak"]], work, side_by_side=1)
    assert "199" not in begun


def test_what_is_done_is_not_begun_again(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text('{"proof": "one", "runs": 1000, "seconds": 61.4}')
    progress = Progress(tmp_path, ["x.py::one", "x.py::two"])
    assert progress.left(["x.py::one", "x.py::two"]) == ["x.py::two"]
