"""What a store of a given size needs, from what was measured, with its queues simulated: two tables of docs/scaling.md.

`python -m benchmarks.scaling` prints them. Every input is an option, so that it can be done again with numbers of your
own machine (`python -m benchmarks stores`) and prices of your own provider.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from math import ceil
from random import Random

from memhold.wiring.settings import Settings

BLOAT = 1.3
"""Tables and indexes in use are larger than freshly written ones: dead rows between two vacuums, half-full pages."""
PEAK = 3.0
"""How much busier the busiest hour is than the mean."""
CORES = 2
"""Of a machine: that many processes of a server answer recalls beside each other."""
SECONDS_A_DAY = 86_400
CONNECTIONS = 2 * Settings().postgres_connections + 1
"""Of a process at most: for reading, for writing, and one that listens."""
MOST_CONNECTIONS = 100
"""`max_connections` as PostgreSQL comes."""
CALLS = 50_000
"""Calls that a simulated queue takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Inputs: bytes of a memory with its indexes and vector, adds a second of one primary, seconds of a recall.

    `namespace_adds` are adds a second of one namespace, which one transaction at a time writes.
    """

    bytes_each: float
    adds: float
    namespace_adds: float
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
    """What it takes: bytes, calls a second at the peak, machines, 95th percentiles of calls in seconds, the price.

    `cores` are busy at the peak, over all machines; `connections` are the most that the servers open.
    """

    stored: float
    adds: float
    recalls: float
    primaries: int
    servers: int
    cores: float
    connections: int
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
        cores=recalls * measured.recall_seconds + adds / measured.adds * CORES,
        connections=servers * CORES * CONNECTIONS,
        add_p95=p95(adds / primaries, 1 / measured.adds),
        recall_p95=p95(recalls / (servers * CORES), measured.recall_seconds),
        price=stored * prices.copies / 1e9 * prices.gigabyte + (primaries * prices.copies + servers) * prices.machine,
    )


EACH, ADDS, RECALLS = 100, 20, 10
"""Memories of a user, and messages and recalls a day."""
USERS = (1_000, 5_000, 10_000, 100_000, 500_000, 1_000_000, 10_000_000)
SIZES = tuple(Size(users=users, each=EACH, adds=ADDS, recalls=RECALLS) for users in USERS)


def table(measured: Measured, prices: Prices) -> list[str]:
    """The lines of the table."""
    head = (
        "users", "memories", "stored", "adds/s, recalls/s, peak", "busy cores", "primaries, servers", "connections",
        "add p95, recall p95", "a month",
    )  # fmt: skip
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for size in SIZES:
        one = needs(size, measured, prices)
        lines.append(
            f"| {size.users:,} | {size.users * size.each:,} | {one.stored / 1e9:,.1f} GB |"
            f" {one.adds:,.1f}, {one.recalls:,.1f} | {one.cores:,.1f} | {one.primaries}, {one.servers} |"
            f" {one.connections:,} |"
            f" {one.add_p95 * 1e3:.0f} ms, {one.recall_p95 * 1e3:.0f} ms | {one.price:,.0f} |"
        )
    return lines


def limits(measured: Measured, prices: Prices) -> list[str]:
    """The lines of the other table: how many users one of each thing bears, the first to give way first."""
    add, recall = (daily / SECONDS_A_DAY * PEAK for daily in (ADDS, RECALLS))
    server = CORES * prices.load / measured.recall_seconds / recall
    servers = MOST_CONNECTIONS // CONNECTIONS // CORES
    bears = {
        f"one server of {CORES} cores, which ranks what is recalled": server,
        "one namespace, which one transaction at a time writes": measured.namespace_adds * prices.load / add,
        "one primary, which writes for all": measured.adds * prices.load / add,
        f"`max_connections` of {MOST_CONNECTIONS}, {CONNECTIONS} a process": servers * server,
        "1 TB of disk": 1e12 / (EACH * measured.bytes_each * BLOAT),
    }
    told = sorted(bears.items(), key=lambda one: one[1])
    return [f"| {what} | {int(users / 1000) * 1000:,} |" for what, users in told]


def main() -> None:
    """Print both tables for the options given."""
    parser = argparse.ArgumentParser(description=__doc__)
    asked = (
        ("--bytes-each", 2062.0, "bytes of a memory, indexes and vector included"),
        ("--adds", 330.0, "adds a second of one primary, over many namespaces"),
        ("--namespace-adds", 145.0, "adds a second of one namespace"),
        ("--recall-ms", 33.5, "milliseconds of one recall"),
        ("--load", 0.5, "how busy a machine may be at the peak"),
        ("--gb-month", 0.1, "price of a gigabyte and month, in your currency"),
        ("--machine-month", 50.0, "price of a machine of two cores and month"),
        ("--copies", 2.0, "primary and standbys"),
    )
    for name, usual, what in asked:
        parser.add_argument(name, type=float, default=usual, help=what)
    given = parser.parse_args()
    measured = Measured(
        bytes_each=given.bytes_each,
        adds=given.adds,
        namespace_adds=given.namespace_adds,
        recall_seconds=given.recall_ms / 1e3,
    )
    prices = Prices(gigabyte=given.gb_month, machine=given.machine_month, copies=int(given.copies), load=given.load)
    print(
        "\n".join([*table(measured, prices), "", "| what gives way | users |", "|---|---|", *limits(measured, prices)])
    )


if __name__ == "__main__":
    main()
