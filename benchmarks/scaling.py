"""What a store of a given size needs, from what was measured, with its queues simulated: a table of docs/scaling.md.

`python -m benchmarks.scaling` prints it. Every input is an option, so that it can be done again with numbers of your
own machine (`python -m benchmarks stores`) and prices of your own provider.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from math import ceil
from random import Random

BLOAT = 1.3
"""Tables and indexes in use are larger than freshly written ones: dead rows between two vacuums, half-full pages."""
PEAK = 3.0
"""How much busier the busiest hour is than the mean."""
CORES = 2
"""Of a machine: that many processes of a server answer recalls beside each other."""
SECONDS_A_DAY = 86_400
CALLS = 50_000
"""Calls that a simulated queue takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Inputs: bytes of a memory with its indexes and vector, adds a second of one primary, seconds of a recall."""

    bytes_each: float
    adds: float
    recall_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What one line of the table asks: users, memories of each, and the messages and recalls of each a day."""

    users: int
    each: int
    adds: float
    recalls: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What is paid a month, and how: a gigabyte, a machine, copies of each primary, how busy anything may be."""

    gigabyte: float
    machine: float
    copies: int
    load: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What it takes: bytes, calls a second at the peak, machines, 95th percentiles of calls in seconds, the price."""

    stored: float
    adds: float
    recalls: float
    primaries: int
    servers: int
    add_p95: float
    recall_p95: float
    price: float


def p95(arrivals: float, seconds: float) -> float:
    """The 95th percentile of the seconds that a call takes, waiting included, simulated call by call.

    A queue before one server, exponential times between calls and of service, by Lindley's recursion (1952).

    Args:
        arrivals: calls a second.
        seconds: mean service time; `arrivals * seconds` below 1.
    """
    random, waited, taken = Random(1), 0.0, []
    for _ in range(CALLS):
        service = random.expovariate(1 / seconds)
        taken.append(waited + service)
        waited = max(0.0, waited + service - random.expovariate(arrivals))
    return sorted(taken)[int(0.95 * CALLS)]


def needs(size: Size, measured: Measured, prices: Prices) -> Needs:
    """Calculate one line: as many machines as keep each below the load that is allowed, and what calls then take.

    Adds wait for the primary, as if it did one after the other; recalls wait for one core of a server.
    """
    stored = size.users * size.each * measured.bytes_each * BLOAT
    adds, recalls = (size.users * daily / SECONDS_A_DAY * PEAK for daily in (size.adds, size.recalls))
    primaries = max(1, ceil(adds / (measured.adds * prices.load)))
    servers = max(1, ceil(recalls * measured.recall_seconds / (CORES * prices.load)))
    return Needs(
        stored=stored,
        adds=adds,
        recalls=recalls,
        primaries=primaries,
        servers=servers,
        add_p95=p95(adds / primaries, 1 / measured.adds),
        recall_p95=p95(recalls / (servers * CORES), measured.recall_seconds),
        price=stored * prices.copies / 1e9 * prices.gigabyte + (primaries * prices.copies + servers) * prices.machine,
    )


SIZES = tuple(
    Size(users=users, each=100, adds=20, recalls=10) for users in (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
)


def table(measured: Measured, prices: Prices) -> list[str]:
    """The lines of the table."""
    lines = [
        "| users | memories | stored | adds/s, recalls/s, peak | primaries, servers | add p95, recall p95 | a month |",
        "|---|---|---|---|---|---|---|",
    ]
    for size in SIZES:
        one = needs(size, measured, prices)
        lines.append(
            f"| {size.users:,} | {size.users * size.each:,} | {one.stored / 1e9:,.1f} GB |"
            f" {one.adds:,.1f}, {one.recalls:,.1f} | {one.primaries}, {one.servers} |"
            f" {one.add_p95 * 1e3:.0f} ms, {one.recall_p95 * 1e3:.0f} ms | {one.price:,.0f} |"
        )
    return lines


def main() -> None:
    """Print the table for the options given."""
    parser = argparse.ArgumentParser(description=__doc__)
    asked = (
        ("--bytes-each", 2062.0, "bytes of a memory, indexes and vector included"),
        ("--adds", 330.0, "adds a second of one primary, over many namespaces"),
        ("--recall-ms", 33.5, "milliseconds of one recall"),
        ("--load", 0.5, "how busy a machine may be at the peak"),
        ("--gb-month", 0.1, "price of a gigabyte and month, in your currency"),
        ("--machine-month", 50.0, "price of a machine of two cores and month"),
        ("--copies", 2.0, "primary and standbys"),
    )
    for name, usual, what in asked:
        parser.add_argument(name, type=float, default=usual, help=what)
    given = parser.parse_args()
    measured = Measured(bytes_each=given.bytes_each, adds=given.adds, recall_seconds=given.recall_ms / 1e3)
    prices = Prices(gigabyte=given.gb_month, machine=given.machine_month, copies=int(given.copies), load=given.load)
    print("\n".join(table(measured, prices)))


if __name__ == "__main__":
    main()
