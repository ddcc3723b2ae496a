"""What the page on scaling calculates is what the calculation says."""

from __future__ import annotations

from benchmarks.scaling import Measured, Size, needs, table

from tests.documents import ROOT

MEASURED = Measured(bytes_each=2062.0, adds=330.0, add_seconds=0.010)


def test_the_page_shows_what_is_calculated() -> None:
    page = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")
    for line in table(MEASURED, load=0.5, gb_month=0.1, copies=2):
        assert line in page


def test_primaries_are_enough_and_no_more() -> None:
    size = Size(users=1_000_000, each=100, daily=20)
    found = needs(size, MEASURED, load=0.5, gb_month=0.1, copies=2)
    assert found.primaries * MEASURED.adds * 0.5 >= found.peak > (found.primaries - 1) * MEASURED.adds * 0.5
    assert found.seconds > MEASURED.add_seconds
    doubled = needs(Size(users=2_000_000, each=100, daily=20), MEASURED, load=0.5, gb_month=0.1, copies=2)
    assert doubled.price == 2 * found.price
