"""Every verb through every face that its declaration names: the same answer, and the same words for the same mistake."""

from __future__ import annotations

import json
import math
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memhold import AsyncMemhold, Memhold
from memhold.cli.declared_commands import option_of
from memhold.cli.main import main
from memhold.errors import InvalidInput, MemholdError, NotFound, TooLarge
from memhold.faces.mcp import tools
from memhold.faces.mcp.calls import run_tool
from memhold.faces.mcp.tools import Caller
from memhold.faces.remote.wire import key_header
from memhold.values.jsonable import to_jsonable
from memhold.values.principal import Principal
from memhold.values.records import Scope
from memhold.verbs.arguments import sendable, to_json
from memhold.verbs.checking import fits
from memhold.verbs.declaration import Verb, verbs_of
from memhold.verbs.documents import AsyncDocuments
from memhold.verbs.scope import AsyncScope
from memhold.verbs.store_protocols import AsyncAdmin, AsyncStore, AsyncTokens
from tests.rest.serving import OWN, Live, live

Call = Callable[[str, Mapping[str, Any]], Awaitable[Any]]
VERBS = verbs_of(AsyncScope)
TURN = [{"role": "user", "content": "I moved to Lisbon."}, {"role": "assistant", "content": "How is it there?"}]
FACES = ("async", "sync", "remote", "rest", "command line")


class Refused(Exception):
    """What a face says when it refuses; its words are those of the error."""


# ------------------------------------------------------------------------------------------------ the faces


@asynccontextmanager
async def face(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> AsyncIterator[Call]:
    """A way to call a verb of the scope of alice, session s1, in an empty store of its own."""
    match name:
        case "async":
            async with AsyncMemhold.open("memory://", worker=False) as mem:
                yield _python(mem.scope(user="alice", session="s1"))
        case "sync":
            with Memhold.open("memory://", worker=False) as memhold:
                scope = memhold.scope(user="alice", session="s1")

                async def call(verb: str, given: Mapping[str, Any]) -> Any:
                    return _answered(lambda: getattr(scope, verb)(**given))

                yield call
        case "remote":
            async with live() as server:
                mem = await server.opened(user="alice")
                yield _python(mem.scope(user="alice", session="s1"))
        case "rest":
            async with live() as server:
                yield _rest(server)
        case _:
            yield _command_line(str(tmp_path / "memory.db"), capsys)


def _answered(run: Callable[[], Any]) -> Any:
    try:
        return to_jsonable(run())
    except MemholdError as error:
        raise Refused(str(error)) from None


def _python(scope: AsyncScope) -> Call:
    async def call(verb: str, given: Mapping[str, Any]) -> Any:
        try:
            return to_jsonable(await getattr(scope, verb)(**given))
        except MemholdError as error:
            raise Refused(str(error)) from None

    return call


def _rest(server: Live) -> Call:
    async def call(verb: str, given: Mapping[str, Any]) -> Any:
        http = VERBS[verb].http
        assert http is not None
        left = dict(given)
        path = http.path
        for name in [name for name in left if f"{{{name}}}" in path]:
            path = path.replace(f"{{{name}}}", str(left.pop(name)))
        headers = {"idempotency-key": left.pop("idempotency_key")} if "idempotency_key" in left else {}
        if "rev" in left:
            headers["if-match"] = f'"{left.pop("rev")}"'
        query = {"session": "s1"} if http.in_session else {}
        sent = {name: _wire(VERBS[verb], name, value) for name, value in left.items()}
        async with server.client(await server.token(user="alice")) as client:
            if http.method == "GET":
                texts = {name: _text(value) for name, value in sent.items()}
                answer = await client.get(f"/v1{path}", params={**query, **texts}, headers=headers)
            else:
                answer = await client.post(f"/v1{path}", params=query, json=sent, headers=headers)
        if not answer.is_success:
            raise Refused(answer.json()["detail"])
        return answer.json()

    return call


def _wire(verb: Verb, name: str, value: Any) -> Any:
    try:
        return to_json(verb, {name: value}).get(name, value)
    except MemholdError:
        return value


def _text(value: Any) -> Any:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else value


def _command_line(db: str, capsys: pytest.CaptureFixture[str]) -> Call:
    async def call(verb: str, given: Mapping[str, Any]) -> Any:
        command = VERBS[verb].command
        assert command is not None
        line = [command.name, *(str(given[name]) for name in command.words if given.get(name) is not None)]
        for name, value in given.items():
            if name in command.words:
                continue
            option = f"--{option_of(VERBS[verb], command, name)}"
            for one in value if isinstance(value, list | tuple) else [value]:
                line += [option] if one is True else [option, json.dumps(one) if isinstance(one, dict) else str(one)]
        import asyncio

        code = await asyncio.to_thread(main, [*line, "--db", db, "--user", "alice", "--session", "s1", "--json"])
        said = capsys.readouterr()
        if code not in {0, 3}:
            raise Refused(json.loads(said.err.strip().splitlines()[-1])["error"]["message"])
        return json.loads(said.out)

    return call


# ------------------------------------------------------------------------------------------------ the verbs


async def told(call: Call) -> dict[str, str]:
    """A fact and its change, from which the other verbs go on."""
    done = await call("remember", {"attribute": "city", "value": "Porto"})
    return {"memory": done["memory"]["id"], "change": done["receipt"]["change_ids"][0]}


def shape(answer: Any) -> Any:
    """An answer without what differs from store to store: ids, times and digests."""
    if isinstance(answer, dict):
        return {
            name: shape(value)
            for name, value in answer.items()
            if name not in {"store", "schema", "models", "account", "snapshot"}
        }
    if isinstance(answer, list):
        return [shape(one) for one in answer]
    return type(answer).__name__ if isinstance(answer, str) and ("_" in answer or ":" in answer) else answer


CASES: Mapping[str, Callable[[Mapping[str, str]], Mapping[str, Any]]] = {
    "remember": lambda _: {"text": "Prefers window seats", "topics": ["travel"], "metadata": {"from": "a form"}},
    "correct": lambda ids: {"memory_id": ids["memory"], "value": "Lisbon", "rev": 1},
    "pin": lambda ids: {"memory_id": ids["memory"], "rev": 1},
    "confirm": lambda ids: {"memory_id": ids["memory"], "rev": 1},
    "drop": lambda ids: {"memory_id": ids["memory"]},
    "dismiss": lambda _: {"change_id": "chg_0198c2f0", "place": 0},
    "unpin": lambda ids: {"memory_id": ids["memory"]},
    "undo": lambda ids: {"change_id": ids["change"], "redo": True},
    "recall": lambda _: {"query": "which city", "kinds": ["fact"], "limit": 3, "also": [{"agent": "none"}]},
    "list": lambda _: {"kinds": ["fact"], "states": ["active"], "origin": "user", "limit": 5},
    "history": lambda ids: {"item_id": ids["memory"]},
    "summaries": lambda _: {"query": "city", "limit": 2},
    "end_session": lambda _: {"idempotency_key": "the end"},
    "sessions": lambda _: {"prefix": "s", "order": "newest", "limit": 1},
    "copy_session": lambda _: {"to": "s2", "until": 1},
    "get": lambda ids: {"item_id": ids["memory"]},
}
"""Arguments of the verbs that are regular on each of these faces."""


def test_every_regular_verb_has_a_case() -> None:
    regular = {
        name
        for name, verb in VERBS.items()
        if verb.command is not None and verb.command.by_hand is None and verb.http is not None and name != "messages"
    }
    assert regular == CASES.keys()


@pytest.mark.parametrize("verb", CASES)
async def test_a_verb_gives_the_same_answer_on_every_face(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {}
    for name in FACES:
        async with face(name, tmp_path, capsys) as call:
            ids = await told(call)
            path = dict(CASES[verb](ids))
            if (name, verb) == ("rest", "get"):
                continue  # messages and memories have a path each
            try:
                answer = await call(verb, path)
            except Refused as refused:
                answer = refused.args
            found[name] = shape(
                next(iter(answer.values()))
                if isinstance(answer, dict) and set(answer) <= {"changes", "sessions"}
                else answer
            )
    first = found.pop("async")
    for name, answer in found.items():
        assert answer == first, name


WRONG: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("recall", {"query": None}),
    ("recall", {"query": "x", "limit": 0}),
    ("recall", {"query": "x", "limit": "ten"}),
    ("recall", {"query": "x", "kinds": ["dream"]}),
    ("recall", {"query": "x", "cursor": "not one"}),
    ("recall", {"query": "x", "neighbours": -1}),
    ("remember", {}),
    ("remember", {"text": "a note", "attribute": "city", "value": "Porto"}),
    ("remember", {"text": "a note", "importance": "huge"}),
    ("remember", {"attribute": "city", "value": "Porto", "operation": "merge"}),
    ("remember", {"text": "a note", "topics": [""]}),
    ("correct", {"memory_id": "mem_0198c2f0", "value": "x"}),
    ("pin", {"memory_id": "chg_0198c2f0"}),
    ("pin", {"memory_id": "mem_0198c2f0", "rev": 0}),
    ("read_message", {"message_id": "msg_0198c2f0", "offset": -1}),
    ("read_message", {"message_id": "msg_0198c2f0", "limit": "many"}),
    ("undo", {"change_id": "chg_0198c2f0"}),
    ("undo", {}),
    ("list", {"origin": "somebody"}),
    ("confirm", {"memory_id": "chg_0198c2f0"}),
    ("list", {"limit": 0}),
    ("list", {"kinds": ["dream"]}),
    ("list", {"cursor": "not one"}),
    ("history", {"item_id": "mem_0198c2f0"}),
    ("summaries", {"level": "year"}),
    ("messages", {"limit": 0}),
    ("changes", {"limit": 0}),
    ("suspicions", {"settled": "perhaps"}),
    ("settle_suspicion", {"suspicion_id": "sus_1", "verdict": "maybe"}),
    ("forget", {}),
    ("forget", {"item_id": "mem_0198c2f0", "everything": True}),
    ("forget", {"item_id": "mem_0198c2f0", "sources": "burn"}),
    ("context", {"budget": 0}),
    ("context", {"strategy": "magic"}),
    ("context", {"shape": "cube"}),
    ("retain", {}),
)
"""Wrong arguments, by verb."""


def _shown(verb: Verb, given: Mapping[str, Any]) -> bool:
    """Whether a model can say it: the verb is a tool, and is shown these parameters."""
    return verb.tool is not None and verb.tool.by_hand is None and set(given) <= set(verb.tool.shows)


@pytest.mark.parametrize(("verb", "given"), WRONG, ids=lambda one: one if isinstance(one, str) else json.dumps(one))
async def test_a_mistake_is_refused_in_the_same_words_on_every_face(
    verb: str, given: Mapping[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declared = VERBS[verb]
    said = {}
    for name in FACES:
        if name == "command line" and not _typed(declared, given):
            continue
        async with face(name, tmp_path, capsys) as call:
            await told(call)
            with pytest.raises(Refused) as caught:
                await call(verb, given)
            said[name] = str(caught.value)
    assert len(set(said.values())) == 1, said
    assert len(said["async"]) < 1000


MCP = [(verb, given) for verb, given in WRONG if _shown(VERBS[verb], given)]


@pytest.mark.parametrize(("verb", "given"), MCP, ids=lambda one: one if isinstance(one, str) else json.dumps(one))
async def test_a_model_is_told_of_a_mistake_in_the_words_of_every_face(verb: str, given: Mapping[str, Any]) -> None:
    tool = VERBS[verb].tool
    assert tool is not None
    async with AsyncMemhold.open("memory://", worker=False) as mem:
        scope = mem.scope(user="alice", session="s1")
        with pytest.raises(Refused) as words:
            await _python(scope)(verb, given)

        async def caller() -> Caller:
            return Caller(
                memhold=mem, principal=Principal(scope=Scope(user="alice"), rights=frozenset({"read", "write"}))
            )

        with pytest.raises(tools.Refused, match=re.escape(str(words.value))):
            await run_tool(tools.TOOLS[tool.name], given, caller)


def _typed(verb: Verb, given: Mapping[str, Any]) -> bool:
    """Whether a command line can say it: text is always text there, and a choice is judged by the options themselves."""
    regular = verb.command is not None and verb.command.by_hand is None
    return regular and all(value is not None for value in given.values())


OF_NO_TYPE: tuple[Any, ...] = (
    None,
    -1,
    2**70,
    10**400,
    10**5000,
    -(10**5000),
    1.5,
    True,
    [],
    [None],
    [5],
    {},
    {"a": 1},
    [["a"]],
    "half \ud800",
    b"x",
    timedelta(1),
    math.inf,
)
"""Values of which each argument takes some and refuses others: not all callers are type-checked."""
NEEDED: Mapping[str, Any] = {
    "memory_id": "mem_0198c2f0", "item_id": "mem_0198c2f0", "message_id": "msg_0198c2f0", "change_id": "chg_0198c2f0",
    "suspicion_id": "sus_0198c2f0", "verdict": "same", "place": 0, "value": "x", "to": "s9", "ids": ["mem_0198c2f0"],
    "lines": ["Likes tea."], "metadata": {"a": 1}, "path": ["notes"], "content": "x", "query": "x", "messages": TURN,
}  # fmt: skip
"""What the other arguments are, where a verb needs them."""
HALF = "half a character"


async def test_whatever_an_argument_is_it_is_refused_in_the_same_words_here_and_behind_a_server() -> None:
    """Each argument of each verb, each value: nothing but our own errors, and the same ones."""
    different = []
    async with AsyncMemhold.open("memory://", worker=False) as mem, live() as server:
        behind = (await server.opened(user="alice")).scope(user="alice", session="s1")
        here = mem.scope(user="alice", session="s1")
        for home, ours, theirs in ((AsyncScope, here, behind), (AsyncDocuments, here.documents, behind.documents)):
            for verb in verbs_of(home).values():
                if verb.http is None or verb.name in {"import_file", "export"}:
                    continue
                needed = {name: NEEDED[name] for name, one in verb.parameters.items() if one.required}
                for name in sendable(verb):
                    for value in OF_NO_TYPE:
                        given = {**needed, name: value}
                        said = [await _said(one, verb, given) for one in (ours, theirs)]
                        if said[0] != said[1] and HALF not in said[1]:  # which no address can carry
                            different.append((verb.name, name, value, *said))
    assert different == []


async def test_a_verb_of_the_store_refuses_what_is_of_no_type_here_and_behind_a_server() -> None:
    needed = {"target": "copy", "token_id": "0198c2f0", "secret": "mh_x", "user": "bob"}
    different = []
    async with AsyncMemhold.open("memory://", worker=False) as mem, live() as server:
        behind = await server.opened(user="alice", rights=OWN)
        for home, ours, theirs in (
            (AsyncStore, mem, behind),
            (AsyncAdmin, mem.admin, behind.admin),
            (AsyncTokens, mem.admin.tokens, behind.admin.tokens),
        ):
            for verb in verbs_of(home).values():
                given = {name: needed[name] for name, one in verb.parameters.items() if one.required}
                for name, value in ((name, value) for name in verb.parameters for value in OF_NO_TYPE):
                    if fits(value, verb.types[name]) and (value is None or name not in verb.bounds):
                        continue
                    said = [await _said(one, verb, {**given, name: value}) for one in (ours, theirs)]
                    if said[0] != said[1] or not said[0].startswith(f"InvalidInput: {name} is "):
                        different.append((verb.name, name, value, *said))
        for face in (mem, behind):
            with pytest.raises(NotFound, match="no token"):
                await face.admin.tokens.revoke("half \ud800")
    assert different == []


async def _said(face: Any, verb: Verb, given: Mapping[str, Any]) -> str:
    try:
        await getattr(face, verb.name)(**given)
    except MemholdError as error:
        return f"{type(error).__name__}: {error}"
    return "done"


async def test_any_key_counts_behind_a_server_too() -> None:
    async with live() as server:
        alice = (await server.opened(user="alice")).scope(user="alice")
        for key in ("turn-1", " turn-1 ", " two\nlines ", "half \ud800", "\x00", "열쇠"):
            first = await alice.remember(f"a note of {key!r}", idempotency_key=key)
            assert (await alice.remember(f"a note of {key!r}", idempotency_key=key)).receipt.replayed
            assert not first.receipt.replayed
        here = server.memhold.scope(user="alice")
        for key in ("turn-2", " turn-2 ", "two\nlines", "half \udc00", "\x85", "new \U0001fae8"):
            first = await alice.remember(f"of {key!r}", idempotency_key=key)
            again = await here.remember(f"of {key!r}", idempotency_key=key)
            assert (again.receipt.replayed, again.receipt.ids) == (True, first.receipt.ids), key
        assert key_header("new \U0001fae8") == "new \U0001fae8".encode(), "whatever Unicode this Python knows"
        for key, said in (("", "has 0 characters; pass 1 to 512"), ("x\n" * 300, "has 600 characters")):
            with pytest.raises(InvalidInput, match=said):
                await alice.remember("a note", idempotency_key=key)


async def test_what_no_address_can_carry_is_refused_by_its_name() -> None:
    async with live() as server:
        alice = (await server.opened(user="alice")).scope(user="alice")
        assert (await alice.summaries("日" * 3000)).hits == ()
        with pytest.raises(TooLarge, match=r"query takes 90,000 bytes in the address of a call"):
            await alice.summaries("日" * 10_000)
        with pytest.raises(InvalidInput, match=r"actor is 'agent:.*, of which a part is half a character"):
            await alice.list(actor="agent:\ud800")


async def test_a_time_that_is_none_is_named_by_its_argument() -> None:
    async with live() as server, server.client(await server.token(user="alice")) as http:
        answer = await http.post("/v1/recall", json={"query": "x", "since": "yesteryear"})
        assert answer.json()["detail"].startswith("since is 'yesteryear', no time that is understood; pass 2026-11-01")
        answer = await http.post("/v1/recall", json={"query": "x", "since": "7d", "until": "today"})
        assert answer.status_code == 200


async def test_what_a_verb_does_not_take_is_refused_with_what_it_takes() -> None:
    async with live() as server, server.client(await server.token(user="alice")) as http:
        answer = await http.post("/v1/recall", json={"question": "x"})
        assert answer.status_code == 422
        assert "recall does not know 'question'; known are: query, limit" in answer.json()["detail"]
        answer = await http.post("/v1/suspicions/sus_1/settle", json={})
        assert answer.json()["detail"] == "settle_suspicion needs verdict; pass it"


async def test_a_question_that_is_no_text_is_invalid_input() -> None:
    async with AsyncMemhold.open("memory://", worker=False) as mem:
        with pytest.raises(MemholdError, match="query is None; pass text"):
            await mem.scope(user="alice").recall(None)  # type: ignore[arg-type]


def test_what_a_face_cannot_do_is_declared() -> None:
    """No verb is missing from a face by accident: these are the ones, each for its reason."""
    assert [name for name, verb in VERBS.items() if verb.http is None] == ["residue"], (
        "its files hold others' memory too"
    )
    silent = {
        "read_message", "changes", "settle_suspicion", "fence", "session_metadata", "set_session_metadata",
        "last_recalled",
    }  # fmt: skip
    assert {name for name, verb in VERBS.items() if verb.command is None} == silent


@pytest.mark.parametrize("name", ["async", "remote", "rest"])
async def test_a_question_may_bring_a_long_conversation(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only its last turns are looked at; whoever has all of them need not cut them off first."""
    talk = [{"role": "user", "content": f"Line {number} of what we talk about."} for number in range(10_000)]
    talk.append({"role": "user", "content": "Tell me of my cello."})
    async with face(name, tmp_path, capsys) as call:
        said = ("My cello was built in Cremona.", "The shed was built of larch.")
        await call("add", {"messages": [{"role": "user", "content": text} for text in said]})
        answer = await call("recall", {"query": "where was it built?", "messages": talk, "limit": 1})
    assert [hit["text"] for hit in answer["hits"]] == ["My cello was built in Cremona."]
