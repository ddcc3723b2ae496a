"""What `deploy/` sets are settings that exist, and what it waits for is longer than a stop takes."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from memhold.server.settings import ServeSettings
from memhold.wiring.settings import Settings

DEPLOY = Path(__file__).parents[2] / "deploy"
OPTIONS = {"DB", "NAMESPACE", "USER", "AGENT", "TOKEN"}
KNOWN = {field.name.upper() for group in (Settings, ServeSettings) for field in fields(group)} | OPTIONS


@pytest.mark.parametrize("path", sorted(DEPLOY.iterdir()), ids=lambda path: path.name)
def test_every_name_is_a_setting(path: Path) -> None:
    named = set(re.findall(r"MEMHOLD_([A-Z_]+)(?=[=:]| )", path.read_text())) - {"NAME"}
    assert named
    assert named <= KNOWN


def test_nobody_is_killed_while_it_stops() -> None:
    longest = ServeSettings().stop_seconds + Settings().drain_seconds + Settings().close_timeout
    waits = [re.search(r"stop_grace_period: (\d+)s", (DEPLOY / "compose.yaml").read_text())]
    waits += [re.search(r"TimeoutStopSec=(\d+)", (DEPLOY / "memhold.service").read_text())]
    assert all(found is not None and int(found[1]) > longest for found in waits)


def test_the_port_is_the_default_everywhere() -> None:
    for name in ("Dockerfile", "compose.yaml"):
        assert str(ServeSettings().port) in (DEPLOY / name).read_text()
