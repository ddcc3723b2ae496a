"""The TypeScript client as npm packs it, in Node.js, Deno and workerd, against real servers: one that is killed too."""

from __future__ import annotations

import asyncio
import json
import random
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from memhold import Memhold
from memhold.testing.chaos import ChaosServer, Reply
from reality.outside import ROOT, Node, node_tools, run
from tests.documents import blocks
from tests.inventing import store_with_what_was_not_kept
from tests.rest.test_serve_process import Running, running

pytestmark = pytest.mark.bound(600)

CLIENT = ROOT / "clients" / "typescript"
PROGRAMS = CLIENT / "test" / "run"
LINES = 24
KILLS = 3


@pytest.fixture(scope="module")
def node() -> Node:
    return node_tools("typescript")


@pytest.fixture(scope="module")
def archive(node: Node, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `npm pack` makes of the package, built from a copy of its sources."""
    folder = tmp_path_factory.mktemp("client")
    package = folder / "typescript"
    shutil.copytree(CLIENT, package, ignore=shutil.ignore_patterns("node_modules", "dist", "*.tgz"))
    (package / "node_modules").symlink_to(node.modules)
    packed = run(["npm", "pack", "--loglevel=error"], seconds=400, cwd=package, env=environment(node, folder))
    assert packed.code == 0, packed.out + packed.err
    [made] = package.glob("*.tgz")
    return made


@pytest.fixture(scope="module")
def app(node: Node, archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stranger's folder with the package installed, and what else its programs import beside it."""
    folder = tmp_path_factory.mktemp("app")
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    command: list[str | Path] = ["npm", "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", archive]
    installed = run(command, seconds=200, cwd=folder, env=environment(node, folder))
    assert installed.code == 0, installed.err
    assert {path.name for path in (folder / "node_modules").iterdir()} - {".package-lock.json"} == {"memhold"}
    for path in node.modules.iterdir():
        if path.name not in {".bin", ".package-lock.json"}:
            (folder / "node_modules" / path.name).symlink_to(path)
    for program in PROGRAMS.iterdir():
        shutil.copy(program, folder)
    return folder


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Running, str]]:
    """A server, and a service's token that may do everything."""
    service = token(tmp_path, rights=["read", "write", "act", "admin"])
    asyncio.run(store_with_what_was_not_kept(str(tmp_path / "memory.db"), user="doubter"))
    with running(tmp_path) as server:
        yield server, service


def token(folder: Path, **bound: object) -> str:
    with Memhold.open(folder / "memory.db", worker=False) as mem:
        return mem.admin.tokens.create(label="webapp", **bound).secret  # type: ignore[arg-type]


def environment(node: Node, home: Path, **more: str) -> dict[str, str]:
    return node.environment(home) | {"npm_config_cache": str(home / ".npm")} | more


def test_the_package_holds_what_runs_and_nothing_else(archive: Path) -> None:
    listed = run(["tar", "tzf", archive], seconds=60).out.split()
    sources = {path.relative_to(CLIENT / "src").with_suffix("") for path in (CLIENT / "src").rglob("*.ts")}
    built = {f"package/dist/{source}{ending}" for source in sources for ending in (".js", ".d.ts")}
    assert set(listed) == built | {"package/package.json", "package/README.md", "package/LICENSE"}


def test_what_is_sent_and_sent_again(node: Node, app: Path, tmp_path: Path) -> None:
    shutil.copy(CLIENT / "test" / "transport.test.mjs", app)
    done = run([node.program, "--test", "transport.test.mjs"], seconds=200, cwd=app, env=environment(node, tmp_path))
    assert done.code == 0, done.out + done.err
    assert re.search(r"pass (\d\d)\b", done.out), done.out


def program(node: Node, runtime: str, file: str) -> list[str | Path]:
    """How a runtime runs a program; what workerd runs is wrapped by one for Node.js."""
    if runtime == "deno":
        return [node.modules / "deno" / "deno", "run", "--allow-env", "--allow-net=127.0.0.1", "--allow-read", file]
    return [node.program, file]


@pytest.mark.parametrize("runtime", ["node", "deno", "workerd"])
def test_every_verb_in_each_runtime_and_every_operation_is_reached(
    runtime: str, node: Node, app: Path, served: tuple[Running, str], tmp_path: Path
) -> None:
    server, service = served
    journey = json.dumps({"url": server.url, "service": service, "name": runtime})
    env = environment(node, tmp_path, JOURNEY=journey)
    file = "workerd.mjs" if runtime == "workerd" else "plain.mjs"
    done = run(program(node, runtime, file), seconds=200, cwd=app, env=env)
    assert done.code == 0, done.out[-3000:] + done.err[-3000:]
    seen = set(json.loads(done.out))
    bearer = {"authorization": f"Bearer {service}"}
    paths = httpx2.get(f"{server.url}/openapi.json", headers=bearer, timeout=30, trust_env=False).json()["paths"]
    for path, methods in paths.items():
        place = re.compile(re.sub(r"\{\w+\}", "[^/]+", path))
        for method in methods:
            assert any(place.fullmatch(one.split(" ")[1]) and one.startswith(method.upper()) for one in seen), path


def test_a_server_that_is_killed_in_the_middle_of_writes_loses_none_and_doubles_none(
    node: Node, app: Path, tmp_path: Path
) -> None:
    secret, port = token(tmp_path, user="alice"), free_port()
    journey = json.dumps({"url": f"http://127.0.0.1:{port}", "token": secret, "lines": LINES})
    env = environment(node, tmp_path, JOURNEY=journey)
    acknowledged: list[int] = []
    writer = None
    try:
        for life in range(KILLS + 1):
            with running(tmp_path, "--port", str(port)) as server:
                if writer is None:
                    writer = subprocess.Popen(
                        [node.program, "writer.mjs"], stdout=subprocess.PIPE, cwd=app, env=env, text=True
                    )
                assert writer.stdout is not None
                wanted = LINES * (life + 1) // (KILLS + 1)
                while len(acknowledged) < wanted:
                    line = writer.stdout.readline()
                    assert line, f"the writer ended with {writer.wait(60)} after {len(acknowledged)} lines"
                    acknowledged.append(int(line))
                server.kill()
        assert writer is not None
        assert writer.wait(60) == 0
    finally:
        if writer is not None:
            writer.kill()
            writer.communicate()
    with Memhold.open(tmp_path / "memory.db", worker=False) as mem:
        scope = mem.scope(user="alice", session="killed")
        assert sorted(one.text for one in scope.messages()) == sorted(f"line {line}" for line in range(LINES))
        documents = scope.documents.list(["line"], content=True, limit=1000).items
        assert sorted(one.content["line"] for one in documents) == list(range(LINES))
        assert {len(scope.history(one.id)) for one in documents} == {1}
    assert sorted(acknowledged) == list(range(LINES))


def free_port() -> int:
    """A port that is free, and that no connection of a client is given as its own while nobody listens there."""
    while True:
        port = random.randrange(20_000, 30_000)
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) != 0:
                return port


def test_a_typed_program_compiles_and_its_windows_go_into_calls_of_both_sdks(
    node: Node, app: Path, tmp_path: Path
) -> None:
    options = {
        "strict": True, "exactOptionalPropertyTypes": True, "noUncheckedIndexedAccess": True, "target": "ES2022",
        "module": "NodeNext", "lib": ["ES2023"], "types": ["node"], "noEmit": True,
    }  # fmt: skip
    compiled(node, app, options, "verbs.ts")
    secret = token(tmp_path, user="alice")
    with running(tmp_path) as server, ChaosServer(seed=1) as provider:
        provider.say(lambda _: Reply(text="All right."))
        env = environment(
            node, tmp_path, MEMHOLD_URL=server.url, MEMHOLD_TOKEN=secret, MODEL_URL=provider.url, MODEL="chaos"
        )
        done = run([node.program, "--no-warnings", "verbs.ts"], seconds=200, cwd=app, env=env)
        assert done.code == 0, done.err
        assert json.loads(done.out) == [True, "ramen", ["Prefers window seats"], True, 36, 1, 1, True]
        bodies = [one.body for one in provider.asked()]
    assert [body["messages"][-1]["role"] for body in bodies] == ["user", "user"]


def compiled(node: Node, app: Path, options: dict[str, object], program: str) -> None:
    (app / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "files": [program]}))
    done = run([node.program, node.modules / "typescript" / "bin" / "tsc", "-p", app], seconds=300, cwd=app)
    assert done.code == 0, done.out


@pytest.mark.parametrize("runtime", ["node", "deno"])
def test_an_agent_of_mastra_remembers_in_its_second_run_and_no_turn_ends_where_the_server_is_gone(
    runtime: str, node: Node, app: Path, served: tuple[Running, str], tmp_path: Path
) -> None:
    server, service = served
    env = environment(node, tmp_path, JOURNEY=json.dumps({"url": server.url, "service": service}))
    done = run(program(node, runtime, "mastra.mjs"), seconds=200, cwd=app, env=env)
    assert done.code == 0, done.out[-3000:] + done.err[-3000:]
    assert done.out.endswith("remembered\n")


def test_the_processor_is_of_mastras_types(node: Node, app: Path) -> None:
    options = {
        "strict": True, "target": "ES2022", "module": "NodeNext", "lib": ["ES2023", "DOM"], "types": ["node"],
        "skipLibCheck": True, "noEmit": True,
    }  # fmt: skip
    compiled(node, app, options, "mastra_typed.ts")


@pytest.mark.parametrize("page", ["clients/typescript/README.md", "docs/how-to/typescript.md"])
@pytest.mark.parametrize("runtime", ["node", "deno"])
def test_what_a_page_shows_runs_and_prints_what_it_says(
    page: str, runtime: str, node: Node, app: Path, tmp_path: Path
) -> None:
    found = blocks(ROOT / page)
    shown = [one for one in found if one.language in {"js", "text"} and not one.skipped]
    (app / "page.mjs").write_text("\n".join(one.text for one in shown if one.language == "js"), encoding="utf-8")
    secret = token(tmp_path, user="alice")
    with running(tmp_path) as server:
        env = environment(node, tmp_path, MEMHOLD_URL=server.url, MEMHOLD_TOKEN=secret)
        done = run(program(node, runtime, "page.mjs"), seconds=200, cwd=app, env=env)
    assert done.code == 0, done.err
    assert done.out == "".join(one.text for one in shown if one.language == "text")
