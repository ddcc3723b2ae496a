"""A token with the right `projects`: its user's memories of projects beside their own, and nobody else's."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from memhold import AsyncMemhold
from memhold.errors import InvalidInput, ScopeDenied
from tests.rest.serving import Live, live

SHOP = "project/github.com/acme/shop"
OURS = ("read", "write", "projects")


@pytest_asyncio.fixture
async def server() -> AsyncIterator[Live]:
    async with live() as made:
        yield made


async def test_it_reaches_its_users_projects_and_its_own_memory_alone(server: Live) -> None:
    token = await server.token(OURS, user="alice")
    async with AsyncMemhold.open(server.url, token=token) as mem:
        shop = mem.scope(namespace=SHOP, user="alice")
        await shop.remember("The API listens on port 8443")
        await mem.scope(user="alice").remember("Likes short answers")
        found = await shop.recall("port", also=[{"namespace": "default"}])
        assert {hit.text for hit in found.hits} == {"The API listens on port 8443", "Likes short answers"}
        for denied in ({"namespace": SHOP, "user": "bob"}, {"namespace": "other", "user": "alice"}):
            with pytest.raises(ScopeDenied):
                await mem.scope(**denied).recall("port")
    assert (await server.memhold.scope(namespace=SHOP, user="alice").recall("")).total == 1


async def test_the_server_itself_refuses_whatever_a_client_claims(server: Live) -> None:
    there = {"x-memhold-namespace": SHOP}
    for rights, names, status in (
        (("read", "write"), {"user": "alice"}, 403),
        (("read", "write", "admin"), {"user": "alice"}, 403),
        (OURS, {"user": "alice"}, 200),
    ):
        async with server.client(await server.token(rights, **names)) as http:
            assert (await http.post("/v1/recall", json={"query": "x"}, headers=there)).status_code == status
    async with server.client(await server.token((*OURS, "admin", "act"))) as http:
        # Nothing is looked after there: no token is listed or made in a project's name.
        assert (await http.get("/v1/tokens", headers=there)).status_code == 403
        for bad in ("other", "projects/x", "project", "default/x"):
            answer = await http.post("/v1/recall", json={"query": "x"}, headers={"x-memhold-namespace": bad})
            assert answer.status_code == 403, bad
        for both in ([("x-memhold-namespace", SHOP)] * 2,):
            assert (await http.post("/v1/recall", json={"query": "x"}, headers=both)).status_code == 400


async def test_a_token_of_another_namespace_has_no_projects(server: Live) -> None:
    """Whoever looks after one namespace would else reach a person of the same name in all projects."""
    with pytest.raises(InvalidInput):
        await server.memhold.admin.tokens.create(namespace="acme", user="alice", rights=OURS)
    async with server.client(await server.token(("read", "write", "admin"), namespace="acme", user="boss")) as http:
        answer = await http.post("/v1/tokens", json={"user": "alice", "rights": ["read", "projects"]})
        assert answer.status_code in {400, 403, 422}
