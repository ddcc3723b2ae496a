"""The HTTP clients against the chaos server: order, counts, dimension, long texts, poison, and what failures say."""

from __future__ import annotations

import asyncio
import logging

import httpx2
import numpy as np
import pytest

from memhold.errors import InvalidInput, ModelError
from memhold.index.isolate_failures import embed_isolating_failures
from memhold.providers import body
from memhold.providers.embedding.batching import Limits
from memhold.providers.embedding.gate import PriorityGate
from memhold.providers.embedding.ollama import OllamaEmbedding, embed_url
from memhold.providers.embedding.openai import OpenAIEmbedding, embeddings_url
from memhold.testing import ChaosServer, HashEmbedding
from memhold.testing.chaos import Character, answer, rows
from memhold.wiring.system import SystemClock


def openai(**more):
    return OpenAIEmbedding(clock=SystemClock(), **more)


CLIENTS = [openai, OllamaEmbedding]
TEXTS = ["the cat sat", "a tax return", "커피를 끊었어요", "I moved to Oslo"]


@pytest.fixture
async def server():
    async with ChaosServer() as made:
        yield made


@pytest.fixture
async def connect(server):
    made = []

    def make(client=openai, **more):
        made.append(client(model="e", base_url=server.url, **more))
        return made[-1]

    yield make
    for one in made:
        await one.close()


async def expected(texts):
    return await HashEmbedding().embed(texts, purpose="document")


@pytest.mark.parametrize("client", CLIENTS)
async def test_row_i_is_text_i_over_many_batches(connect, server, client):
    texts = [f"text number {n} of {n * 7}" for n in range(50)]
    model = connect(client, limits=Limits(max_texts=8))
    assert model.dimension is None
    vectors = await model.embed(texts, purpose="document")
    assert np.allclose(vectors, await expected(texts), atol=1e-6)
    assert vectors.dtype == np.float32
    assert [len(one.body["input"]) for one in server.requests] == [8] * 6 + [2]
    assert model.dimension == 64
    assert (await model.embed([], purpose="document")).shape == (0, 64)


async def test_what_is_sent(connect, server):
    hosted = connect(api_key="k", query_prefix="q: ", headers={"x-title": "t"})
    await hosted.embed(["x"], purpose="query")
    ollama = connect(OllamaEmbedding, keep_alive="10m")
    await ollama.embed(["x"], purpose="document")
    first, second = server.requests
    assert (first.path, first.body["input"], first.headers["authorization"]) == ("/v1/embeddings", ["q: x"], "Bearer k")
    assert first.headers["x-title"] == "t"
    assert second.path == "/api/embed"
    assert (second.body["truncate"], second.body["keep_alive"]) == (False, "10m")


@pytest.mark.parametrize("tail", ["", "/", "/v1", "/v1/", "/v1/embeddings"])
async def test_base_urls_with_and_without_v1(server, tail):
    model = openai(model="e", base_url=server.url + tail)
    await model.embed(["x"], purpose="document")
    await model.close()
    assert server.requests[0].path == "/v1/embeddings"


def test_urls():
    assert embeddings_url("https://api.groq.com/openai/v1") == "https://api.groq.com/openai/v1/embeddings"
    assert embeddings_url("https://openrouter.ai/api") == "https://openrouter.ai/api/v1/embeddings"
    assert embeddings_url("https://x.test/v1beta/openai") == "https://x.test/v1beta/openai/embeddings"
    for tail in ("", "/", "/v1", "/api", "/api/embed"):
        assert embed_url("http://h:1" + tail) == "http://h:1/api/embed"
    for url in ("127.0.0.1:1234", "ftp://h", ""):
        with pytest.raises(InvalidInput):
            embeddings_url(url)


async def test_a_fingerprint_names_what_changes_a_vector(connect):
    same = connect().fingerprint
    assert connect(api_key="k", timeout=3).fingerprint == same
    assert connect(dimensions=8).fingerprint != same
    assert connect(query_prefix="q").fingerprint != same
    assert connect(limits=Limits(overlong="truncate")).fingerprint != same
    assert connect(OllamaEmbedding).fingerprint != same


# ------------------------------------------------------------------------------------------- answers that do not fit


async def test_shuffled_vectors_are_put_in_order(connect, server):
    server.script(["shuffled-vectors"])
    assert np.allclose(await connect().embed(TEXTS, purpose="document"), await expected(TEXTS), atol=1e-6)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    "name", ["fewer-vectors", "duplicate-index", "null-vector", "nan-vector", "zero-vector", "empty-vectors"]
)
async def test_vectors_that_do_not_fit_are_an_error(connect, server, client, name):
    if client is OllamaEmbedding and name == "duplicate-index":
        name = "fewer-vectors"  # Ollama's answer has no indices
    server.script([name])
    with pytest.raises(ModelError) as caught:
        await connect(client).embed(TEXTS, purpose="document")
    assert (caught.value.cls, caught.value.code) == ("resample", "bad_vectors")
    assert len(server.requests) == 1


async def test_the_dimension_is_pinned(connect, server):
    model = connect()
    await model.embed(TEXTS, purpose="document")
    server.change(dimension=32)
    with pytest.raises(ModelError, match="64 are pinned") as caught:
        await model.embed(TEXTS, purpose="document")
    assert (caught.value.cls, caught.value.code) == ("park", "dimension_changed")
    server.change(dimension=64)
    assert (await model.embed(TEXTS, purpose="document")).shape == (4, 64)
    with pytest.raises(ModelError, match="8 are pinned"):
        await connect(dimension=8).embed(TEXTS, purpose="document")


# ------------------------------------------------------------------------------------------- failures


@pytest.mark.parametrize("name", ["reset", "disconnect", "cut", "truncated-json", "html", "html-502", "error-in-200"])
async def test_every_other_trouble_is_a_model_error_after_one_request(connect, server, name):
    server.script([name])
    with pytest.raises(ModelError) as caught:
        await connect().embed(TEXTS, purpose="document")
    assert caught.value.cls in {"retry", "resample", "next"}
    assert len(server.requests) == 1


@pytest.mark.parametrize("row", [row for row in rows() if row.kind == "embedding"], ids=lambda row: row.name)
async def test_each_embedding_row_gets_its_class(connect, server, row):
    server.always(row.fault)
    with pytest.raises(ModelError) as caught:
        await connect(unload_retry_count=0).embed(["short"], purpose="document")
    assert (caught.value.cls, caught.value.status) == (row.label, row.status)


async def test_nobody_listens_and_nobody_answers(connect, server):
    server.script(["hang"])
    with pytest.raises(ModelError) as caught:
        await connect(timeout=0.05).embed(["x"], purpose="document")
    assert (caught.value.cls, caught.value.slow, caught.value.status) == ("retry", True, None)
    server.refuse()
    with pytest.raises(ModelError) as caught:
        await connect().embed(["x"], purpose="document")
    assert caught.value.cause == "ConnectError"


@pytest.mark.parametrize("bad", [None, "", "  \n", 5])
async def test_inputs_are_never_none_or_empty(connect, server, bad):
    with pytest.raises(InvalidInput, match="text 1 cannot be embedded"):
        await connect().embed(["fine", bad], purpose="document")
    assert server.requests == []


async def test_half_a_surrogate_pair_does_not_fail_the_batch(connect):
    assert (await connect().embed(["broken \ud83d text"], purpose="document")).shape == (1, 64)


async def test_the_diagnostic_line_has_shape_only(connect, server, caplog, capsys, monkeypatch):
    monkeypatch.delenv("MEMHOLD_DEBUG_CONTENT", raising=False)
    server.always("html-502")
    texts = ["mail me at jo@example.org about the merger", "x" * 10]
    with caplog.at_level(logging.WARNING), pytest.raises(ModelError):
        await connect().embed(texts, purpose="document")
    (line,) = [one.getMessage() for one in caplog.records if "call failed" in one.getMessage()]
    assert line.endswith("status 502, class retry, 2 inputs, types str, lengths 10 to 42, median 42")
    assert "merger" not in caplog.text + capsys.readouterr().err
    monkeypatch.setenv("MEMHOLD_DEBUG_CONTENT", "1")
    with pytest.raises(ModelError):
        await connect().embed(texts, purpose="document")
    shown = capsys.readouterr().err
    assert "merger" in shown
    assert "jo@example.org" not in shown
    assert "merger" not in caplog.text


# ------------------------------------------------------------------------------------------- long texts


async def test_a_long_text_is_split_with_a_warning_that_counts(connect, server, caplog):
    model = connect(limits=Limits(max_chars=50))
    with caplog.at_level(logging.WARNING):
        vectors = await model.embed(["short", "word " * 30, "more words " * 20], purpose="document")
    assert vectors.shape == (3, 64)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    sent = [text for one in server.requests for text in one.body["input"]]
    assert max(len(text) for text in sent) <= 50
    assert "".join(sent) == "short" + "word " * 30 + "more words " * 20
    assert model.overlong == 2
    assert "2 of 3 texts, 2 since the start" in caplog.text


async def test_or_truncated_on_purpose(connect, server):
    await connect(limits=Limits(max_chars=20, overlong="truncate")).embed(["abc " * 30], purpose="document")
    assert [one.body["input"] for one in server.requests] == [["abc abc abc abc abc "]]


async def test_the_default_cap_is_six_thousand(connect, server):
    await connect().embed(["x" * 6_000, "y" * 6_001], purpose="document")
    assert sorted(len(text) for text in server.requests[0].body["input"]) == [1, 6000, 6000]


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_server_with_a_smaller_window_is_learnt(client):
    async with ChaosServer(character=Character(max_input_tokens=200)) as server:
        model = client(model="e", base_url=server.url)
        assert (await model.embed(["word " * 600, "short"], purpose="document")).shape == (2, 64)
        tries = len(server.requests)
        # the pair, then 3,000 alone; three pieces, then 1,500 alone; then all pieces of 750
        longest = [max(len(text) for text in one.body["input"]) for one in server.requests]
        assert longest == [3000, 3000, 1500, 1500, 750]
        await model.embed(["word " * 600], purpose="document")
        assert len(server.requests) == tries + 1
        server.change(max_input_tokens=1)
        with pytest.raises(ModelError) as caught:
            await model.embed(["word " * 600], purpose="document")
        assert caught.value.cls == "shorten"
        await model.close()


async def test_a_batch_that_is_too_much_in_sum_is_halved_and_the_limit_stays(connect, server):
    too_much = "This model's maximum context length is 8192 tokens, however you requested 9000 tokens."
    server.script([answer(400, {"error": {"message": too_much}})])
    model = connect()
    assert np.allclose(await model.embed(TEXTS, purpose="document"), await expected(TEXTS), atol=1e-6)
    assert [len(one.body["input"]) for one in server.requests] == [4, 2, 2]
    await model.embed(["x" * 6000], purpose="document")
    assert model.overlong == 0


# ------------------------------------------------------------------------------------------- poison


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("place", [0, 41, 99])
async def test_one_poisonous_text_in_a_hundred_is_set_apart(client, place):
    texts = [f"good text {n}" for n in range(100)]
    texts[place] = "BAD text"
    async with ChaosServer(character=Character(refuses=("BAD",))) as server:
        model = client(model="e", base_url=server.url, limits=Limits(max_texts=100))
        apart = await embed_isolating_failures(model, texts)
        await model.close()
    assert list(apart.poisoned) == [place]
    assert apart.poisoned[place].cls == "poison"
    assert apart.indices == tuple(n for n in range(100) if n != place)
    assert np.allclose(apart.vectors, await expected([texts[n] for n in apart.indices]), atol=1e-6)
    assert len(server.requests) <= 15


async def test_a_text_whose_vector_is_missing_is_set_apart():
    class Holes:
        fingerprint, dimension = "holes", 64

        async def embed(self, texts, *, purpose):
            if "hole" in texts:
                raise ModelError("a vector is missing", model="e", cls="resample", code="bad_vectors")
            return await HashEmbedding().embed(texts, purpose=purpose)

    apart = await embed_isolating_failures(Holes(), ["a", "hole", "b"])
    assert (apart.indices, list(apart.poisoned)) == ((0, 2), [1])


async def test_trouble_that_is_not_about_a_text_is_not_bisected(connect, server):
    server.always("html-502")
    with pytest.raises(ModelError):
        await embed_isolating_failures(connect(), [f"t{n}" for n in range(100)])
    assert len(server.requests) <= 2


async def test_when_everything_is_refused_it_gives_up_early():
    async with ChaosServer(character=Character(refuses=("t",))) as server:
        model = openai(model="e", base_url=server.url, limits=Limits(max_texts=100))
        with pytest.raises(ModelError):
            await embed_isolating_failures(model, [f"t{n}" for n in range(100)])
        await model.close()
        assert len(server.requests) < 80


# ------------------------------------------------------------------------------------------- who goes first


async def test_queries_go_before_documents(connect, server):
    server.script(["hang"])
    model = connect(gate=PriorityGate(1), limits=Limits(max_texts=1))
    came = asyncio.Event()
    server.watch(lambda _: came.set())
    first = asyncio.create_task(model.embed(["doc 1", "doc 2"], purpose="document"))
    await came.wait()
    second = asyncio.create_task(model.embed(["doc 3"], purpose="document"))
    await asyncio.sleep(0)
    query = asyncio.create_task(model.embed(["query"], purpose="query"))
    await asyncio.sleep(0)
    server.release()
    await asyncio.gather(first, second, query)
    assert [one.body["input"][0] for one in server.requests] == ["doc 1", "query", "doc 3", "doc 2"]


def answering(status, text, headers=None, seen=None):
    """A client whose server gives this to every request, and notes what it was sent."""

    def reply(request):
        if seen is not None:
            seen.append(request)
        return httpx2.Response(status, text=text, headers=headers)

    return httpx2.AsyncClient(transport=httpx2.MockTransport(reply))


GOOD = '{"error": null, "data": [{"index": 0, "embedding": [3, 4]}], "usage": {"prompt_tokens": 7}}'


async def test_an_error_of_null_is_none():
    async with answering(200, GOOD) as client:
        model = openai(model="e", base_url="http://h", client=client)
        assert (await model.embed(["a"], purpose="query")).tolist() == [[pytest.approx(0.6), pytest.approx(0.8)]]


async def test_the_key_is_asked_for_at_each_call_and_azure_has_a_header_of_its_own():
    seen, keys = [], iter(["one", "two", "three"])
    async with answering(200, GOOD, seen=seen) as client:
        model = openai(model="e", base_url="https://h", client=client, api_key=lambda: next(keys))
        await model.embed(["a"], purpose="query")
        await model.embed(["a"], purpose="query")
        azure = openai(
            model="e",
            base_url="https://x.openai.azure.com/openai/deployments/e?api-version=1",
            client=client,
            api_key=lambda: next(keys),
        )
        await azure.embed(["a"], purpose="query")
    assert [one.headers.get("authorization") for one in seen] == ["Bearer one", "Bearer two", None]
    assert seen[2].headers["api-key"] == "three"
    assert str(seen[2].url) == "https://x.openai.azure.com/openai/deployments/e/embeddings?api-version=1"


async def test_a_redirect_is_not_followed_and_takes_no_key_along():
    seen = []
    async with answering(307, "", {"location": "https://elsewhere.test/"}, seen) as client:
        model = openai(model="e", base_url="https://h", client=client, api_key="secret")
        with pytest.raises(ModelError) as raised:
            await model.embed(["a"], purpose="query")
    assert (raised.value.cls, len(seen)) == ("park", 1)
    assert "secret" not in repr(raised.value.values)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"data": ' + "[" * 100_000, "5", "null", '{"data": {}}', ""])
async def test_no_answer_breaks_it(text):
    async with answering(200, text) as client:
        model = openai(model="e", base_url="http://h", client=client)
        with pytest.raises(ModelError):
            await model.embed(["a"], purpose="document")


async def test_an_answer_without_an_end_is_let_go(monkeypatch):
    monkeypatch.setattr(body, "ANSWER_LIMIT", 1000)
    async with answering(200, GOOD + " " * 1000) as client:
        model = openai(model="e", base_url="http://h", client=client)
        with pytest.raises(ModelError) as raised:
            await model.embed(["a"], purpose="document")
    assert (raised.value.cls, raised.value.code) == ("resample", "endless")


async def test_each_request_is_recorded_with_what_it_took():
    noted = []
    async with answering(200, GOOD) as client:
        model = openai(model="e", base_url="http://h", client=client, record=lambda *one: noted.append(one))
        await model.embed(["a"], purpose="query")
    async with answering(503, "busy") as client:
        model = openai(model="e", base_url="http://h", client=client, record=lambda *one: noted.append(one))
        with pytest.raises(ModelError):
            await model.embed(["a"], purpose="document")
    (good, bad) = noted
    assert (good[0], good[1].cls, good[2].input_tokens) == ("query", None, 7)
    assert (bad[0], bad[1].cls, bad[1].status, bad[2].input_tokens) == ("document", "retry", 503, None)
