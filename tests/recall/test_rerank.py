"""A reranker orders the best of a first page anew; one that hangs, lies or is gone is named, and the rest answers."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from memhold.errors import InvalidSetting, ModelError
from memhold.faces.python.open import AsyncMemhold, Memhold
from memhold.providers.rerank import HttpReranker

Answer = Callable[[Mapping[str, Any]], tuple[int, Any]]


def _wanted(text: str) -> float:
    return 9.0 if "teal" in text else -len(text) / 100


def _jina(body: Mapping[str, Any]) -> tuple[int, Any]:
    if "documents" not in body:
        return 422, {"detail": "documents: field required"}
    scored = [{"index": at, "relevance_score": _wanted(text)} for at, text in enumerate(body["documents"])]
    return 200, {"model": body.get("model"), "results": sorted(scored, key=lambda one: -one["relevance_score"])}


def _tei(body: Mapping[str, Any]) -> tuple[int, Any]:
    if "texts" not in body:
        return 422, {"error": "missing field `texts`"}
    return 200, [{"index": at, "score": _wanted(text)} for at, text in enumerate(body["texts"])]


@contextmanager
def _serving(answer: Answer) -> Iterator[tuple[str, list[tuple[Mapping[str, Any], str | None]]]]:
    """A server on loopback: its URL, and what it was sent with which key."""
    seen: list[tuple[Mapping[str, Any], str | None]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            seen.append((body, self.headers.get("authorization")))
            status, told = answer(body)
            data = told if isinstance(told, bytes) else json.dumps(told).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/rerank#small", seen
    finally:
        server.shutdown()
        server.server_close()


@asynccontextmanager
async def _told(rerank: object, **settings: Any) -> AsyncIterator[AsyncMemhold]:
    async with AsyncMemhold.open("memory://", worker=False, embedding="none", rerank=rerank, **settings) as memhold:
        scope = memhold.scope(user="alice", session="s")
        texts = [f"Kettle number {number} is red, the kettle I like." for number in range(25)]
        texts[7] = "There is one teal kettle."
        await scope.add([{"role": "user", "content": text} for text in texts])
        yield memhold


@pytest.mark.asyncio
@pytest.mark.parametrize(("answer", "field"), [(_jina, "documents"), (_tei, "texts")])
async def test_each_form_of_server_puts_its_best_first_and_pages_hold_each_once(answer: Answer, field: str) -> None:
    with _serving(answer) as (url, seen):
        async with _told(url) as memhold:
            scope = memhold.scope(user="alice")
            page = await scope.recall("the red kettle I like", limit=4)
            assert page.hits[0].text == "There is one teal kettle."
            assert "rerank" in {reason.signal for reason in page.hits[0].why}
            assert page.degraded == ()
            assert [hit.score for hit in page.hits] == sorted((hit.score for hit in page.hits), reverse=True)
            for hit in page.hits:
                assert sum(reason.part for reason in hit.why) == pytest.approx(hit.score, abs=1e-5)
            [moved] = [reason for reason in page.hits[0].why if reason.signal == "rerank"]
            assert moved.part > 0.1, "it says what the reranker added"
            ids = [hit.id for hit in page.hits]
            while page.cursor is not None:
                page = await scope.recall("the red kettle I like", limit=4, cursor=page.cursor)
                ids += [hit.id for hit in page.hits]
            assert len(ids) == len({*ids}) == page.total == 25
            asked = len(seen)
            await scope.recall("the red kettle I like")
            assert len(seen) == asked + 1, "the form that the server refused is not tried again"
    last, key = seen[-1]
    assert len(last[field]) == 25
    assert last["query"] == "the red kettle I like"
    assert key is None


def _fewer(body: Mapping[str, Any]) -> tuple[int, Any]:
    return 200, {"results": _jina(body)[1]["results"][:-1]}


def _twice(body: Mapping[str, Any]) -> tuple[int, Any]:
    return 200, {"results": [{"index": 0, "relevance_score": 1.0} for _ in body["documents"]]}


def _nan(body: Mapping[str, Any]) -> tuple[int, Any]:
    return 200, {"results": [{"index": at, "relevance_score": float("nan")} for at, _ in enumerate(body["documents"])]}


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "answer",
    [
        _fewer,
        _twice,
        _nan,
        lambda _: (500, {}),
        lambda _: (401, {}),
        lambda _: (422, {}),
        lambda _: (200, b"[" * 50_000),
        lambda _: (200, {"results": [True]}),
        lambda _: (200, {"results": [{"index": True, "relevance_score": None}]}),
    ],
)
async def test_what_is_no_score_for_each_text_is_named_and_the_rest_answers(answer: Answer) -> None:
    async with _told("") as memhold:
        plain = await memhold.scope(user="alice").recall("the red kettle I like")
    with _serving(answer) as (url, _):
        async with _told(url) as memhold:
            found = await memhold.scope(user="alice").recall("the red kettle I like")
    assert found.degraded == ("rerank",)
    assert [hit.text for hit in found.hits] == [hit.text for hit in plain.hits]


class OldFirst:
    """A reranker that likes what was so before."""

    async def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:  # noqa: ARG002
        return [1.0 if "Leeds" in text else 0.5 - at / 100 for at, text in enumerate(texts)]

    async def close(self) -> None:
        pass


@pytest.mark.asyncio
async def test_the_parts_add_up_where_what_was_replaced_is_kept_behind_in_spite_of_the_reranker() -> None:
    said = (
        "I live in Leeds, and I live in a house that I live with.",
        "We moved, I live in Hull.",
        "I saw a red kettle.",
    )
    async with AsyncMemhold.open("memory://", worker=False, embedding="none", rerank=OldFirst()) as memhold:
        scope = memhold.scope(user="alice", session="s")
        await scope.add([{"role": "user", "content": text} for text in said])
        first = (await scope.remember(attribute="home", value="Leeds")).receipt.ids[0]
        await scope.remember(attribute="home", value="Hull")
        answer = await scope.recall("Do I live in Leeds, is Leeds my home?", include_superseded=True)
    for hit in answer.hits:
        assert sum(reason.part for reason in hit.why) == pytest.approx(hit.score, abs=1e-5), hit.text
        assert len({reason.signal for reason in hit.why}) == len(hit.why)
    [old] = [hit for hit in answer.hits if hit.id == first]
    assert {reason.signal: reason.part < 0 for reason in old.why}["outdated"]
    assert answer.hits.index(old) > min(at for at, hit in enumerate(answer.hits) if "Hull" in hit.text)


class Slow:
    """A reranker that never answers, or whose server is gone."""

    def __init__(self, *, gone: bool = False) -> None:
        self.gone, self.closed, self.cancelled = gone, False, False

    async def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        del question, texts
        if self.gone:
            raise ModelError("it is gone", model="slow", cls="park")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return []

    async def close(self) -> None:
        self.closed = True


@pytest.mark.asyncio
async def test_a_server_is_refused_for_a_number_that_is_none() -> None:
    with _serving(_nan) as (url, _), pytest.raises(ModelError, match="no finite number"):
        await HttpReranker(url).scores("which", ["one", "two"])


@pytest.mark.asyncio
async def test_one_that_hangs_is_left_at_the_deadline_and_named() -> None:
    for reranker in (Slow(), Slow(gone=True)):
        async with _told(reranker, recall_timeout=0.05) as memhold:
            found = await memhold.scope(user="alice").recall("the red kettle I like")
        assert found.degraded == ("rerank",)
        assert len(found.hits) == 10
        assert reranker.cancelled is not reranker.gone
        assert reranker.closed


class Backwards:
    """A reranker that likes the shortest texts best."""

    async def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        del question
        return [-float(len(text)) for text in texts]

    async def close(self) -> None:
        pass


@pytest.mark.asyncio
async def test_what_was_replaced_stays_behind_what_replaced_it() -> None:
    async with AsyncMemhold.open("memory://", worker=False, embedding="none", rerank=Backwards()) as memhold:
        scope = memhold.scope(user="alice", session="s")
        await scope.remember(attribute="city", value="Ulm", subject="user")
        await scope.remember(attribute="city", value="Llanfairpwllgwyngyll", subject="user")
        found = await scope.recall("Which city is it, Ulm or another city?", include_superseded=True)
    assert [hit.value for hit in found.hits] == ["Llanfairpwllgwyngyll", "Ulm"]


def test_the_key_comes_from_the_named_variable_through_the_sync_face(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_RERANK_KEY", "k-1")
    with _serving(_jina) as (url, seen):
        monkeypatch.setenv("MEMHOLD_RERANK", url)
        monkeypatch.setenv("MEMHOLD_RERANK_KEY_ENV", "MY_RERANK_KEY")
        with Memhold.open(str(tmp_path / "m.db"), worker=False, embedding="none") as memhold:
            scope = memhold.scope(user="alice", session="s")
            for text in ("A red kettle, a red kettle.", "The teal kettle."):
                scope.add([{"role": "user", "content": text}])
            assert scope.recall("red kettle").hits[0].text == "The teal kettle."
    assert seen[0][0]["model"] == "small"
    assert seen[0][1] == "Bearer k-1"


@pytest.mark.parametrize(
    "setting", ["jina", "ftp://host/rerank", "http://", "http://u:secret@host/rerank", "http://[::1"]
)
def test_what_is_no_endpoint_is_said_without_repeating_it(setting: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        HttpReranker(setting)
    assert "http://host:port/rerank" in str(refused.value)
    assert "secret" not in str(refused.value)
