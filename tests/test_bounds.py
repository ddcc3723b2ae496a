"""The least and the most of each number: declared once, refused by every face in the same words, shown by every schema."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import pytest

from memhold import AsyncMemhold, Query
from memhold.errors import InvalidInput
from memhold.faces.mcp.tools import TOOLS, input_schema
from memhold.verbs.checking import check
from memhold.verbs.declaration import Verb, verbs_of
from memhold.verbs.documents import AsyncDocuments
from memhold.verbs.json_schema import property_of
from memhold.verbs.scope import AsyncScope
from tests.rest.serving import live

BOUNDED = [
    (verb, name, least, most)
    for home in (AsyncScope, AsyncDocuments)
    for verb in verbs_of(home).values()
    for name, (least, most) in verb.bounds.items()
]
ELSEWHERE = {"batch"}
"""How many are imported at once is checked there: the most is a setting."""


@pytest.mark.parametrize(("verb", "name", "least", "most"), BOUNDED, ids=lambda one: getattr(one, "name", str(one)))
def test_a_number_is_bounded_where_its_schema_says(verb: Verb, name: str, least: int, most: int | None) -> None:
    told = property_of(verb, verb.parameters[name], nullable=False)
    assert (told["minimum"], told.get("maximum")) == (least, most)
    check(verb, {name: least})
    with pytest.raises(InvalidInput, match=f"{name} is {least - 1}; it must be"):
        check(verb, {name: least - 1})
    if most is not None:
        check(verb, {name: most})
        with pytest.raises(InvalidInput, match=f"it must be {least} to {most}"):
            check(verb, {name: most + 1})


def test_no_number_of_a_verb_is_without_bounds() -> None:
    for verb in (*verbs_of(AsyncScope).values(), *verbs_of(AsyncDocuments).values()):
        numbers = {name for name, one in verb.parameters.items() if re.search(r"\b(int|float)\b", one.annotation)}
        assert numbers - ELSEWHERE == set(verb.bounds), verb.name


def test_the_tools_show_them() -> None:
    shown = {name: input_schema(spec)["properties"] for name, spec in TOOLS.items()}
    assert (shown["recall"]["limit"]["minimum"], shown["recall"]["limit"]["maximum"]) == (1, 1000)
    assert shown["get_context"]["budget"]["minimum"] == 1


async def test_every_face_says_the_same() -> None:
    async with live() as server:
        token = await server.token(user="alice")
        remote = (await server.opened(user="alice")).scope(user="alice")
        said = "limit is 1001; it must be 1 to 1000"
        calls: list[Any] = [server.memhold.scope(user="alice"), remote]
        for scope in calls:
            for call in (scope.recall("x", limit=1001), scope.list(limit=1001), scope.changes(limit=1001)):
                with pytest.raises(InvalidInput, match=said):
                    await call
            assert (await scope.recall("x", limit=1000)).hits == ()
        async with server.client(token) as http:
            refused = await http.post("/v1/recall", json={"query": "x", "limit": 1001})
            assert said in refused.json()["detail"]
            told = (await http.get("/openapi.json")).json()["paths"]["/v1/recall"]["post"]["requestBody"]["content"]
            limit = told["application/json"]["schema"]["properties"]["limit"]
            assert (limit["minimum"], limit["maximum"]) == (1, 1000)
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "recall", "arguments": {"query": "x", "limit": 1001}}}  # fmt: skip
            headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}
            assert said in json.dumps((await http.post("/mcp", json=body, headers=headers)).json())


async def test_a_question_as_one_value_is_bounded_too() -> None:
    async with AsyncMemhold.open("memory://", worker=False) as mem:
        with pytest.raises(InvalidInput, match="limit is 1001; it must be 1 to 1000"):
            await mem.scope(user="alice").recall(Query(text="x", limit=1001))


async def test_what_nobody_was_given_as_a_place_is_refused_by_each_store(location: str) -> None:
    """Of SQLite and PostgreSQL these came back as errors of the driver, and over HTTP as a failure of the server."""
    async with AsyncMemhold.open(location, worker=False, embedding="none") as mem:
        alice = mem.scope(user="alice", session="s")
        for number in (2**53, 2**63, 10**25):
            for call in (alice.changes(after=number), alice.messages(after=number), alice.messages(before=number)):
                with pytest.raises(InvalidInput, match="it must be"):
                    await call
        for cursor in (f"n{2**63}", "n" + "9" * 5000, "n\u0663", "n", "n1\n"):
            with pytest.raises(InvalidInput, match="is not a cursor"):
                await alice.list(cursor=cursor)
        half = base64.urlsafe_b64encode(json.dumps(["path", "\ud800"]).encode()).decode()
        with pytest.raises(InvalidInput, match="is not a cursor"):
            await alice.documents.list(cursor=half)
        assert (await alice.changes(after=2**53 - 1)).items == ()
