"""What a store of a given size needs, calculated from what was measured: the table of docs/scaling.md.

`python -m benchmarks.scaling` prints it. Every input is an option, so that it can be done again with numbers of your
own machine (`holdfast bench stores`) and prices of your own provider.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from math import ceil

BLOAT = 1.3
"""Tables and indexes in use are larger than freshly written ones: dead rows between two vacuums, half-full pages."""
PEAK = 3.0
"""How much busier the busiest hour is than the mean."""
SECONDS_A_DAY = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Inputs: bytes of a memory with its indexes and vector, adds a second of one primary, seconds of one add."""

    bytes_each: float
    adds: float
    add_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What one line of the table asks: users, memories of each, and messages that each adds a day."""

    users: int
    each: int
    daily: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What it takes: bytes, adds a second at the peak, primaries, seconds of an add at the peak, price a month."""

    stored: float
    peak: float
    primaries: int
    seconds: float
    price: float


def needs(size: Size, measured: Measured, *, load: float, gb_month: float, copies: int) -> Needs:
    """Calculate one line.

    Primaries are as many as keep each below `load` of what it can do; an add then waits as in a queue with one server
    and exponential times (M/M/1, Kleinrock 1975): service time over the share that is idle.
    """
    stored = size.users * size.each * measured.bytes_each * BLOAT
    peak = size.users * size.daily / SECONDS_A_DAY * PEAK
    primaries = max(1, ceil(peak / (measured.adds * load)))
    busy = peak / (primaries * measured.adds)
    return Needs(
        stored=stored,
        peak=peak,
        primaries=primaries,
        seconds=measured.add_seconds / (1 - busy),
        price=stored * copies / 1e9 * gb_month,
    )


SIZES = tuple(Size(users=users, each=100, daily=20) for users in (1_000, 10_000, 100_000, 1_000_000, 10_000_000))


def table(measured: Measured, *, load: float, gb_month: float, copies: int) -> list[str]:
    """The lines of the table."""
    lines = ["| users | memories | stored | adds/s at the peak | primaries | mean add at the peak | storage a month |"]
    lines.append("|---|---|---|---|---|---|---|")
    for size in SIZES:
        one = needs(size, measured, load=load, gb_month=gb_month, copies=copies)
        lines.append(
            f"| {size.users:,} | {size.users * size.each:,} | {one.stored / 1e9:,.1f} GB | {one.peak:,.1f} |"
            f" {one.primaries} | {one.seconds * 1e3:.0f} ms | {one.price:,.0f} |"
        )
    return lines


def main() -> None:
    """Print the table for the options given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--bytes-each", type=float, default=2062.0, help="bytes of a memory, indexes and vector included"
    )
    parser.add_argument("--adds", type=float, default=330.0, help="adds a second of one primary, over many namespaces")
    parser.add_argument("--add-ms", type=float, default=10.0, help="milliseconds of one add")
    parser.add_argument("--load", type=float, default=0.5, help="how busy a primary may be at the peak")
    parser.add_argument("--gb-month", type=float, default=0.1, help="price of a gigabyte and month, in your currency")
    parser.add_argument("--copies", type=int, default=2, help="primary and standbys")
    given = parser.parse_args()
    measured = Measured(bytes_each=given.bytes_each, adds=given.adds, add_seconds=given.add_ms / 1e3)
    print("\n".join(table(measured, load=given.load, gb_month=given.gb_month, copies=given.copies)))


if __name__ == "__main__":
    main()
