"""The table of what model calls cost has every row that it promises."""

from __future__ import annotations

from benchmarks.models import run


def test_the_rows_name_what_was_compared():
    rows = run(quick=True)
    compared = {row.against.rsplit(" ", 2)[0] for row in rows if row.against}
    assert compared >= {"bare request", "adapter"}
    assert all(row.ratio is not None and row.ratio > 0 for row in rows if row.against)
    assert sum("KiB a call" in row.value for row in rows) == 1
