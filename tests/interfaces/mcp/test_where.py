"""A connection in a project: its memory and the person's own, side by side, each write in one of them."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memhold import Memhold
from memhold.faces.mcp.listing import kept_listing
from memhold.faces.mcp.where import PLACED, fused, with_where
from memhold.values.answers import Hit, Recall
from tests.interfaces.mcp.conftest import call, ids_in, over_stdio, refused

MOST_TOKENS = 2_700
EPOCH = datetime(2025, 1, 1, tzinfo=UTC)
PROJECT = "project/github.com/acme/shop"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / "src").mkdir(parents=True)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "remote", "add", "origin", "git@github.com:acme/shop.git"], cwd=folder, check=True)
    return folder


def options(tmp_path: Path) -> tuple[str, ...]:
    return ("--db", str(tmp_path / "memory.db"), "--user", "alice", "--project", "auto")


async def test_each_write_goes_to_one_memory_and_a_read_looks_into_both(shop: Path, tmp_path: Path) -> None:
    async with over_stdio(shop / "src", *options(tmp_path)) as client:
        assert client.instructions is not None
        assert "where=personal" in client.instructions
        saved = await call(client, "remember", text="Uses pnpm for the build")
        assert saved.startswith("Project memory:\nRemembered")
        mine = await call(client, "remember", text="Alice likes short answers about the build", where="personal")
        assert mine.startswith("Personal memory:\nRemembered")
        found = await call(client, "recall", query="build")
        project, personal = found.split("\n\nPersonal memory:\n")
        assert ids_in(project) == ids_in(saved)[:1]
        assert ids_in(personal) == ids_in(mine)[:1]
        assert ids_in(await call(client, "recall", query="build", where="personal")) == ids_in(mine)[:1]
        one = await call(client, "recall", query="build", limit=1)
        assert ids_in(one) == ids_in(saved)[:1]
        assert "Personal" not in one
        context = await call(client, "get_context", message="How do we build?", budget=2000)
        assert "pnpm" in context.partition("Personal memory:")[0]
        assert "short answers" in context.partition("Personal memory:")[2]
        for item in (saved, mine):
            assert "remember" in await call(client, "memory_history", item_id=ids_in(item)[0])
            await call(client, "forget", item_id=ids_in(item)[0])
        assert "pnpm" not in await call(client, "recall", query="build pnpm")
    with Memhold.open(tmp_path / "memory.db", worker=False) as mem:
        assert mem.scope(namespace=PROJECT, user="alice").residue("pnpm").found == {}


async def test_the_person_is_the_same_in_every_project_and_a_project_in_no_other(shop: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    async with over_stdio(shop, *options(tmp_path)) as client:
        await call(client, "add_message", text="we chose sqlite here")
        await call(client, "add_memory", prompt="call me Al", response="Fine.", where="personal")
    async with over_stdio(other, *options(tmp_path)) as client:
        assert "sqlite" not in await call(client, "recall", query="what did we choose: sqlite")
        assert "call me Al" in await call(client, "recall", query="call me")
    async with over_stdio(tmp_path, *options(tmp_path)) as client:  # no repository: the personal memory alone
        assert not any("where" in tool.input_schema["properties"] for tool in (await client.list_tools()).tools)
        assert "call me Al" in await call(client, "recall", query="call me")
        assert "Personal memory" not in await call(client, "memory_status")
    with Memhold.open(tmp_path / "memory.db", worker=False) as mem:
        assert [one.text for one in mem.scope(namespace=PROJECT, user="alice").messages()] == ["we chose sqlite here"]
        assert len(mem.scope(user="alice").messages()) == 2


async def test_what_was_kept_before_the_repository_had_a_remote_is_read_and_forgotten_too(
    shop: Path, tmp_path: Path
) -> None:
    config = shop / ".git" / "config"
    with_remote = config.read_text()
    config.write_text("")
    async with over_stdio(shop, *options(tmp_path)) as client:
        old = await call(client, "remember", text="The build uses pnpm")
        await call(client, "add_message", text="the build server is called pomelo", session="s")
    config.write_text(with_remote)
    async with over_stdio(shop, *options(tmp_path)) as client:
        new = await call(client, "remember", text="The build takes ten minutes")
        found = await call(client, "recall", query="build")
        assert {*ids_in(old)[:1], *ids_in(new)[:1]} <= {*ids_in(found)}
        assert "Project memory under its other name:\n" in found
        assert ids_in(old)[0] not in ids_in(await call(client, "recall", query="build", where="personal"))
        context = await call(client, "get_context", message="How do we build?", budget=2000)
        assert "pnpm" in context
        assert "ten minutes" in context.partition("under its other name")[0]
        assert ids_in(old)[0] in await call(client, "memory_history", item_id=ids_in(old)[0])
        item = await client.read_resource(f"memhold://items/{ids_in(old)[0]}")
        assert "pnpm" in item.contents[0].text  # type: ignore[union-attr]
        await call(client, "forget", where="project", session="s")
        assert "pomelo" not in await call(client, "recall", query="pomelo")
        await call(client, "forget", item_id=ids_in(old)[0])
    async with over_stdio(shop, *options(tmp_path)) as client:  # nothing is left there
        assert "of before" not in await call(client, "recall", query="build pnpm pomelo")


async def test_what_is_unclear_is_refused_and_nothing_is_changed(shop: Path, tmp_path: Path) -> None:
    async with over_stdio(shop, *options(tmp_path)) as client:
        saved = await call(client, "add_message", text="kept")
        assert "must say where" in await refused(client, "forget", session="x")
        assert "one of project, personal" in await refused(client, "recall", query="x", where="everywhere")
        assert "leave it out" in await refused(client, "memory_history", item_id=ids_in(saved)[0], where="project")
        assert "pass where" in await refused(client, "recall", query="x", cursor="abc")
        assert "connection" in await refused(client, "recall", query="x", namespace="other")
        assert "nothing with the id" in await refused(client, "memory_history", item_id="mem_" + "0" * 32)
        assert "kept" in await call(client, "recall", query="kept")
        item = await client.read_resource(f"memhold://items/{ids_in(saved)[0]}")
        assert "kept" in item.contents[0].text  # type: ignore[union-attr]


def test_the_list_says_where_and_costs_little_more() -> None:
    encoding = pytest.importorskip("bpe_openai").get_encoding("o200k_base")
    listed = [one["tool"] for one in with_where(kept_listing()).values()]
    every = [one["tool"] for one in with_where(kept_listing(documents=True)).values()]
    assert {tool["name"] for tool in every if "where" in tool["inputSchema"]["properties"]} == PLACED
    assert len(encoding.encode(json.dumps(listed, ensure_ascii=False, separators=(",", ":")))) < MOST_TOKENS
    assert not any("where" in one["tool"]["inputSchema"]["properties"] for one in kept_listing().values())


def answer(*names: str) -> Recall:
    hits = tuple(
        Hit(
            id=name,
            kind="note",
            text=name,
            score=1.0,
            tier="mid",
            state="active",
            created_at=EPOCH,
            event_time=EPOCH,
            sources=(),
            why=(),
        )
        for name in names
    )
    return Recall(hits=hits, total=len(hits))


@pytest.mark.parametrize(
    ("limit", "project", "personal"), [(4, "ab", "xy"), (3, "ab", "x"), (1, "a", ""), (10, "abcdefg", "xyz")]
)
def test_the_best_of_each_come_first(limit: int, project: str, personal: str) -> None:
    found = fused([("project", answer(*"abcdefg")), ("personal", answer(*"xyz"))], limit)
    assert ["".join(hit.id for hit in one.hits) for _, one in found] == [one for one in (project, personal) if one]
