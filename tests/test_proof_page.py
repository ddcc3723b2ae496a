"""The page of `make proof` says of every proof what became of it, also of one that counts nothing or was not run."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.proof import outcome, page, prove

PASSED = '<testsuites><testsuite><testcase name="a" time="2.5"/></testsuite></testsuites>'
SKIPPED = (
    '<testsuites><testsuite><testcase><skipped message="no PostgreSQL | here"/></testcase></testsuite></testsuites>'
)
FAILED = "<testsuites><testsuite><testcase><failure/></testcase></testsuite></testsuites>"


def test_what_a_report_says() -> None:
    assert [outcome(PASSED), outcome(SKIPPED), outcome(FAILED)] == [2.5, "not run: no PostgreSQL | here", "failed"]


def test_one_page(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text('{"proof": "one", "runs": 1000, "seconds": 61.4, "note": {"kills": 1000}}')
    told = page(tmp_path, {"two": outcome(SKIPPED), "three": "failed"}, 4)
    assert "| one | 1,000 | 61 | passed: kills 1,000 |" in told
    assert "| two | | | **not run: no PostgreSQL / here** |" in told
    assert "| three | | | **failed** |" in told
    assert "4 more proofs are to be run" in told


@pytest.mark.parametrize(
    ("body", "said", "kept"),
    [
        ("def test_it(): pass", "", ["test_it.json"]),
        ("import pytest\n@pytest.mark.skip(reason='none here')\ndef test_it(): pass", "not run: none here", []),
        ("def test_it(): assert False", "failed", []),
    ],
)
def test_what_has_nothing_to_count_is_done_too(tmp_path: Path, body: str, said: str, kept: list[str]) -> None:
    test = tmp_path / "test_one.py"
    test.write_text(body)
    assert prove(f"{test}::test_it", tmp_path) == said
    assert [path.name for path in tmp_path.glob("*.xml")] == []
    assert [path.name for path in tmp_path.glob("*.json")] == kept
