"""What `deploy/` says holds: its settings, paths, ports, commands, probes, metrics and SQL are tried on the program."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from configparser import ConfigParser
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from memhold import AsyncMemhold
from memhold.cli.main import main
from memhold.ports.maintenance import Readiness
from memhold.ports.stores import CLOSE_SECONDS
from memhold.server.listening import BACKLOG
from memhold.server.metrics import Metrics
from memhold.server.settings import ServeSettings
from memhold.values.answers import ModelHealth
from memhold.wiring.settings import Settings
from tests.identity.asgi import ask
from tests.identity.whole import whole
from tests.postgres_server import Databases

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
OPTIONS = {"DB", "NAMESPACE", "USER", "AGENT", "TOKEN"}
KNOWN = {field.name.upper() for group in (Settings, ServeSettings) for field in fields(group)} | OPTIONS
OURS = {"NAME", "PG_PASSWORD"}
"""What these files themselves take from the environment."""
FILES = sorted(path for path in DEPLOY.iterdir() if path.is_file())
COMPOSED = ("compose.yaml", "compose.postgres.yaml")


def loaded(name: str) -> list[Any]:
    return list(yaml.safe_load_all((DEPLOY / name).read_text()))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_name_is_a_setting(path: Path) -> None:
    named = set(re.findall(r"MEMHOLD_([A-Z_]+)", path.read_text())) - OURS
    assert named <= KNOWN
    assert named or path.name in {"grafana.json", "memhold.socket", "postgres.sql"}


def test_nobody_is_killed_while_it_stops() -> None:
    longest = ServeSettings().stop_seconds + Settings().drain_seconds + CLOSE_SECONDS
    waits = [re.search(r"stop_grace_period: (\d+)s", (DEPLOY / name).read_text()) for name in COMPOSED]
    waits += [re.search(r"TimeoutStopSec=(\d+)", (DEPLOY / "memhold.service").read_text())]
    waits += [re.search(r"terminationGracePeriodSeconds: (\d+)", (DEPLOY / "kubernetes.yaml").read_text())]
    assert all(found is not None and int(found[1]) > longest for found in waits)


def test_the_units_of_systemd_belong_together() -> None:
    """A socket starts the service of its own name, which takes what it hands over and lets its first process stop."""
    units = {path.name: ConfigParser(strict=False, interpolation=None) for path in DEPLOY.glob("memhold.so*")}
    for name, unit in units.items():
        unit.read(DEPLOY / name)
    [(_, sock)] = units.items()
    host, _, port = sock["Socket"]["ListenStream"].rpartition(":")
    assert (host, int(port)) == (ServeSettings().host, ServeSettings().port)
    assert int(sock["Socket"]["Backlog"]) == BACKLOG
    assert sock["Install"]["WantedBy"] == "sockets.target"
    # As many lines as there are would each be a connection's own process.
    assert "Accept" not in sock["Socket"]
    service = (DEPLOY / "memhold.service").read_text()
    assert re.search(r"^KillMode=mixed$", service, re.MULTILINE)
    assert re.search(r"^ExecReload=/bin/kill -HUP \$MAINPID$", service, re.MULTILINE)


def test_the_port_is_the_default_everywhere() -> None:
    for name in ("Dockerfile", *COMPOSED, "kubernetes.yaml", "memhold.socket"):
        assert str(ServeSettings().port) in (DEPLOY / name).read_text()


def commands() -> Iterator[tuple[str, list[str]]]:
    """Each command of ours that these files run or tell to run, by where it stands."""
    for path in FILES:
        text = path.read_text()
        for line in re.findall(
            r"run --rm memhold (.+)$|^ExecStart=\S+/memhold (.+)$| -- (--db .+)$", text, re.MULTILINE
        ):
            yield path.name, shlex.split(next(filter(None, line)))
    yield "Dockerfile", json.loads(re.findall(r"^CMD (.+)$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)[-1])
    for one in loaded("kubernetes.yaml"):
        for container in one["spec"].get("template", {}).get("spec", {}).get("containers", ()):
            yield "kubernetes.yaml", container["args"]


def test_every_command_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    found = list(commands())
    assert {name for name, _ in found} >= {"Dockerfile", *COMPOSED, "memhold.service", "kubernetes.yaml"}
    for name, line in found:
        # Its help is told only after every option of it was read.
        assert main([*line, "--help"]) == 0, (name, line, capsys.readouterr().err)
    assert main(["serve", "--no-such-option", "--help"]) == 2


def test_every_path_is_there() -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    copied = [
        line.split()[1:-1] for line in dockerfile.splitlines() if line.startswith("COPY ") and "--from" not in line
    ]
    assert copied
    for source in (one for line in copied for one in line):
        assert (ROOT / source).exists(), source
    wanted = re.search(r"'\.\[([a-z,]+)\]'", dockerfile)
    assert wanted is not None
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(wanted[1].split(",")) <= extras.keys()
    for name in COMPOSED:
        [told] = loaded(name)
        built = told["services"]["memhold"]["build"]
        assert (DEPLOY / built["context"] / built["dockerfile"]).is_file()
        for service in told["services"].values():
            for volume in service.get("volumes", ()):
                source = volume.partition(":")[0]
                assert (DEPLOY / source).is_file() if source.startswith(".") else source in told["volumes"], volume
    for path in FILES:
        for named in re.findall(r"(?<![\w/])deploy/[\w.]+|docs/[\w/-]+\.md", path.read_text()):
            assert (ROOT / named).exists() or named == "deploy/.env", (path.name, named)


async def test_probes_are_answered_and_other_names_are_not() -> None:
    [pod] = [one["spec"]["template"]["spec"] for one in loaded("kubernetes.yaml") if one["kind"] == "Deployment"]
    [container] = pod["containers"]
    probes = [container[name]["httpGet"] for name in ("livenessProbe", "readinessProbe")]
    async with whole("memory://", host="0.0.0.0") as server:
        for probe in probes:
            [host] = probe["httpHeaders"]
            named = ("host", host["value"])
            assert (await ask(server.app, probe["path"], host=named, client=("10.0.0.1", 5))).status == 200
            # Why the header is there: by its address a pod is not known.
            assert (await ask(server.app, probe["path"], host=("host", "10.0.0.7:8484"))).status == 421
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert {probe["port"] for probe in probes} <= ports.keys()
    [service] = [one["spec"] for one in loaded("kubernetes.yaml") if one["kind"] == "Service"]
    assert {port["targetPort"] for port in service["ports"]} <= ports.keys()
    labels = [one["spec"]["selector"] for one in loaded("kubernetes.yaml")]
    assert all((one.get("matchLabels") or one) == {"app": "memhold"} for one in labels)


def test_the_board_shows_metrics_that_there_are() -> None:
    ready = Readiness(writes=True, models={"m": ModelHealth(model="m", answers=True)})
    metrics = Metrics()
    metrics.begun()
    metrics.ended(method="GET", route="/", status=200, seconds=0.1)
    text = metrics.text(ready, streams=0).decode()
    told = {*re.findall(r"^(\w+)[ {]", text, re.MULTILINE), *re.findall(r"^# TYPE (\w+)", text, re.MULTILINE)}
    board = json.loads((DEPLOY / "grafana.json").read_text())
    shown = {name for panel in board["panels"] for one in panel["targets"] for name in _named(one["expr"])}
    assert shown - told == set()
    families = {
        name for name in re.findall(r"^# TYPE (memhold_\w+)", text, re.MULTILINE) if not name.endswith("_created")
    }
    left_out = {name for name in families if not any(one.startswith(name) for one in shown)}
    assert left_out == {"memhold_build_info", "memhold_model_failing_since_timestamp_seconds"}
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])


def _named(expression: str) -> list[str]:
    return re.findall(r"\b(?:memhold|process)_\w+", expression)


async def test_the_sql_makes_a_role_that_is_bound_and_a_database_that_opens(databases: Databases) -> None:
    text = (DEPLOY / "postgres.sql").read_text()
    given = {r"\bmemhold\b": "memhold_deployed", r"\bmemory\b": "memory_deployed", ":'password'": "'secret'"}
    for was, now in given.items():
        text = re.sub(was, now, text)
    database = "postgres"
    for line in text.splitlines():
        if line.startswith("\\connect "):
            database = line.split()[1]
        elif line and not line.startswith(("--", "\\")):
            databases.server.sql(line, database)
    [bound] = databases.server.sql("SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = 'memhold_deployed'")
    assert bound == (False, False)
    async with AsyncMemhold.open(databases.server.url("memory_deployed", "memhold_deployed"), worker=False) as memhold:
        await memhold.scope(user="alice").remember("Likes tea")
        assert (await memhold.admin.ready()).writes
