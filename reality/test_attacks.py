"""Every attack of `docs/attacks.md` against a server that runs, with `python -m memhold.testing.attacks`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from memhold.testing.attacks import ATTACKS
from reality.outside import run


def test_a_server_holds_under_every_attack(tmp_path: Path) -> None:
    done = run([sys.executable, "-m", "memhold.testing.attacks", "--json"], seconds=800, cwd=tmp_path)
    assert done.out.startswith("{"), done.err[-3000:]
    told = json.loads(done.out)
    for one in told["attacks"]:
        print(f"{one['result']:9}  {one['name']}{': ' if one['told'] else ''}{one['told']}")
    print("longest hold of the event loop, seconds:", told["longest_hold_seconds"])
    assert {one["name"]: one["told"] for one in told["attacks"] if one["result"] != "held"} == {}
    assert (done.code, told["held"]) == (0, len(ATTACKS))
    assert told["held"] >= 40
