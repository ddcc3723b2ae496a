"""Every peer through every scenario, one by one: kept as it comes, so that a run can be stopped and goes on."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.losses.cost import measured, measured_really
from benchmarks.losses.disk import NoCompiler
from benchmarks.losses.environments import Environment, Missing, environment_of
from benchmarks.losses.peers import PEERS, Peer
from benchmarks.losses.recall import found_by_child, found_by_memhold, read_set
from benchmarks.losses.scenarios import SCENARIOS, Scenario, bench
from benchmarks.measure import doing
from memhold.providers.naming import entry_in_line

__all__ = ["Results", "applies", "chosen", "run", "run_costs", "run_real_costs", "run_recall"]


def _empty() -> dict[str, Any]:
    return {name: {} for name in ("runs", "costs", "real", "recall", "days", "versions", "missing")}


@dataclass(slots=True)
class Results:
    """What was measured: `runs` by "peer/scenario"; `costs`, `missing`, `versions` by peer; `recall` by set and row.

    `real` are costs with a real model, by peer. `days` tells when our own rows of a set were. Each kind of
    measurement has a file of its own in one folder, so that two of them may go on at once.
    """

    path: Path
    held: dict[str, Any]

    @classmethod
    def of(cls, keep: Path, kind: str) -> Results:
        """Those of one kind."""
        path = keep / f"{kind}.json"
        return cls(path, _empty() | (json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}))

    @classmethod
    def all(cls, keep: Path) -> Results:
        """Those of every kind, for the page."""
        whole = cls(keep / "all", _empty())
        for kind in ("costs", "recall", "losses"):
            for name, value in cls.of(keep, kind).held.items():
                whole.held[name] = whole.held[name] | value if isinstance(value, dict) else value
        return whole

    def keep(self) -> None:
        """Write them; what stood there before is replaced in one step."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(self.held, indent=1, sort_keys=True), encoding="utf-8")
        part.replace(self.path)

    def outcome(self, peer: str, scenario: str) -> Mapping[str, Any] | None:
        """The figures of one run; None where there are none."""
        found: Mapping[str, Any] | None = self.held["runs"].get(f"{peer}/{scenario}")
        return found


def applies(peer: Peer, scenario: Scenario) -> bool:
    """Whether a scenario can happen to a peer: a model that fails is nothing to who asks none."""
    if peer.recall_only:
        return False
    if scenario.needs == "model":
        return peer.asks
    return scenario.needs != "embedder" or peer.embeds or peer.name == "memhold"


def chosen(only: Sequence[str]) -> list[tuple[Peer, Scenario]]:
    """The runs that `PEER`, `/SCENARIO` or `PEER/SCENARIO` name; all of them where nothing is named.

    Raises:
        ValueError: a name is none.
    """
    found: list[tuple[Peer, Scenario]] = []
    for peers, scenarios in _each(only):
        found += [(p, s) for p in peers for s in scenarios if applies(p, s) and (p, s) not in found]
    return found


def _each(only: Sequence[str]) -> Iterator[tuple[list[Peer], list[Scenario]]]:
    for one in only or ("/",):
        peer, _, scenario = one.partition("/")
        if (peer and peer not in PEERS) or (scenario and scenario not in SCENARIOS):
            raise ValueError(f"{one}: write PEER/SCENARIO of {', '.join(PEERS)} and {', '.join(SCENARIOS)}")
        yield (
            [PEERS[peer]] if peer else list(PEERS.values()),
            [SCENARIOS[scenario]] if scenario else list(SCENARIOS.values()),
        )


def run(keep: Path, only: Sequence[str] = (), *, size: float = 1.0, again: bool = False) -> Results:
    """Measure what is not measured yet; `keep` holds the environments and the results."""
    results = Results.of(keep, "losses")
    wanted = chosen(only)
    left = [(p, s) for p, s in wanted if again or results.outcome(p.name, s.name) is None]
    made: dict[str, Environment | None] = {}
    for place, (peer, scenario) in enumerate(left, 1):
        environment = _environment(peer, keep, made, results)
        if environment is None:
            continue
        doing(f"{place} of {len(left)}: {peer.label}, {scenario.label}")
        results.held["runs"][f"{peer.name}/{scenario.name}"] = _one(peer, scenario, environment, size)
        results.held |= {"date": _today(), "machine": _machine()}
        results.keep()
    return results


def run_costs(keep: Path, only: Sequence[str] = (), *, again: bool = False) -> Results:
    """What 1,000 messages cost with each peer, where it is not measured yet."""
    results = Results.of(keep, "costs")
    made: dict[str, Environment | None] = {}
    for peer in _named(only):
        if peer.recall_only or (peer.name in results.held["costs"] and not again):
            continue
        environment = _environment(peer, keep, made, results)
        if environment is not None:
            doing(f"{peer.label}: what it costs")
            with bench(peer, environment) as place:
                results.held["costs"][peer.name] = measured(place).plain()
            results.keep()
    return results


def run_real_costs(
    keep: Path, model: str, turns: int, only: Sequence[str] = (), *, pid: int | None = None, again: bool = False
) -> Results:
    """What so many turns cost with a real model, named in one line, for each peer that asks one; `pid` is its server.

    Raises:
        ValueError: the line names no model at a URL.
    """
    results = Results.of(keep, "costs")
    url = entry_in_line(model).base_url
    if url is None:
        raise ValueError(f"{model}: write http://HOST:PORT/v1#NAME")
    made: dict[str, Environment | None] = {}
    for peer in _named(only):
        if not peer.asks or (peer.name in results.held["real"] and not again):
            continue
        environment = _environment(peer, keep, made, results)
        if environment is not None:
            doing(f"{peer.label}: what {2 * turns} messages cost with a real model")
            found = measured_really(peer, environment, url, keep / "asked", turns, pid)
            results.held["real"][peer.name] = found.plain() | {"model": model.partition("#")[2], "day": _today()}
            results.keep()
    return results


def run_recall(keep: Path, sets: Mapping[str, Path], only: Sequence[str] = (), *, again: bool = False) -> Results:
    """What each store finds again, by set; what was measured is not measured again.

    Only stores that rank what they kept as it was said: what others keep is a model's.

    Raises:
        UnreadableImport: a set has none of the forms.
    """
    results = Results.of(keep, "recall")
    made: dict[str, Environment | None] = {}
    for name, path in sets.items():
        conversations = read_set(path)
        known = results.held["recall"].setdefault(name, {})
        for row, embedding in (("Memhold, words only", "none"), ("Memhold", "builtin")):
            if again or row not in known:
                known[row] = found_by_memhold(conversations, embedding)
                results.held["days"][name] = _today()
                results.keep()
        for peer in _named(only):
            if not peer.ranks or (peer.label in known and not again):
                continue
            environment = _environment(peer, keep, made, results)
            if environment is not None:
                known[peer.label] = found_by_child(peer, environment, conversations)
                results.keep()
    return results


def _named(only: Sequence[str]) -> list[Peer]:
    return list(dict.fromkeys(peer for peers, _ in _each(only) for peer in peers))


def _environment(peer: Peer, keep: Path, made: dict[str, Environment | None], results: Results) -> Environment | None:
    """A peer's environment, asked for once a run; None where it cannot be had, which the results then say."""
    if peer.name not in made:
        try:
            made[peer.name] = found = environment_of(peer, keep)
            results.held["versions"][peer.name] = found.versions
            results.held["missing"].pop(peer.name, None)
        except Missing as error:
            made[peer.name] = None
            results.held["missing"][peer.name] = {"command": error.command, "said": error.said}
        results.keep()
    return made[peer.name]


def _one(peer: Peer, scenario: Scenario, environment: Environment, size: float) -> dict[str, Any]:
    began = time.monotonic()
    try:
        with bench(peer, environment, size) as place:
            found = scenario.run(place).plain()
    except NoCompiler as error:
        return {"not_run": f"no C compiler: {error}"}
    return found | {"seconds": round(time.monotonic() - began, 1), "size": size}


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
