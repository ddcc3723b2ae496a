"""What the page on scaling calculates is what the calculation says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.scaling import Measured, Prices, Size, limits, needs, p95, table
from tests.documents import ROOT

MEASURED = Measured(bytes_each=2062.0, adds=330.0, namespace_adds=145.0, recall_seconds=0.0335)
PRICES = Prices(gigabyte=0.1, machine=50.0, copies=2, load=0.5)
SIZE = Size(users=1_000_000, each=100, adds=20, recalls=10)


def test_the_page_shows_what_is_calculated() -> None:
    page = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")
    for line in table(MEASURED, PRICES):
        assert line in page
    told = [line.rstrip("|") for line in limits(MEASURED, PRICES)]
    places = [page.index(line) for line in told]
    assert places == sorted(places)


def test_machines_are_enough_and_no_more() -> None:
    found = needs(SIZE, MEASURED, PRICES)
    assert found.primaries * MEASURED.adds * 0.5 >= found.adds > (found.primaries - 1) * MEASURED.adds * 0.5
    busy = found.recalls * MEASURED.recall_seconds / 2
    assert found.servers * 0.5 >= busy > (found.servers - 1) * 0.5
    doubled = needs(replace(SIZE, each=200), MEASURED, PRICES)
    assert doubled.price - found.price == pytest.approx(found.stored * 2 / 1e9 * 0.1)


def test_what_gives_way_does_so_where_the_table_needs_another() -> None:
    told = {
        line.split("|")[1].strip().split(",")[0]: int(line.split("|")[2].replace(",", ""))
        for line in limits(MEASURED, PRICES)
    }
    for what, of in (("one server of 2 cores", "servers"), ("one primary", "primaries")):
        bears = replace(SIZE, users=told[what])
        assert getattr(needs(bears, MEASURED, PRICES), of) == 1
        assert getattr(needs(replace(bears, users=bears.users + 1000), MEASURED, PRICES), of) == 2
    at_most = needs(replace(SIZE, users=told["`max_connections` of 100"]), MEASURED, PRICES)
    assert at_most.connections <= 100 < at_most.connections + 2 * 9


def test_a_queue_waits_as_the_theory_says() -> None:
    # Of a queue with one server and exponential times (Kleinrock 1975): ln 20 times the mean of the whole.
    assert p95(50.0, 0.01) == pytest.approx(2.996 * 0.01 / (1 - 0.5), rel=0.05)
    assert p95(1.0, 0.01) == pytest.approx(2.996 * 0.01 / (1 - 0.01), rel=0.05)
