"""What stands before a text, and how long one may be, where an embedding is behind a server: what is really sent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memhold import Memhold
from memhold.providers.catalog import load_catalog
from memhold.providers.entry import prefixes_of
from memhold.values.errors import InvalidSetting, ModelError
from memhold.wiring.models import embedding_of
from tests.scripted_server import Answer, Asked, ScriptedServer, sent

QUESTION = "where do I live?"


class Embedder(ScriptedServer):
    """Both protocols, each text a vector; it lists one model, and keeps what was sent."""

    def __init__(self, listed: str) -> None:
        self.texts: list[str] = []
        self._listed = listed
        super().__init__(self._answer)

    def _answer(self, asked: Asked) -> Answer:
        if asked.body is None:
            return sent({"data": [{"id": self._listed}]})
        self.texts += asked.body["input"]
        rows = [[1.0, float(len(text)), float(text.count("o"))] for text in asked.body["input"]]
        if asked.path.endswith("/api/embed"):
            return sent({"embeddings": rows})
        return sent({"data": [{"index": place, "embedding": row} for place, row in enumerate(rows)]})


@pytest.fixture
def server() -> Iterator[Embedder]:
    with Embedder("text-embedding-nomic-embed-text-v1.5") as made:
        yield made


def asked(embedding: str, said: str = "I live in Oslo.") -> None:
    with Memhold.open("memory://", worker=False, embedding=embedding) as mem:
        alice = mem.scope(user="alice")
        alice.add([{"role": "user", "content": said}])
        mem.settle()
        assert alice.recall(QUESTION).degraded == ()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def in_catalog(here: Path, **fields: object) -> str:
    rows = [f"{name} = {value!r}" for name, value in fields.items()]
    (here / "memhold.toml").write_text("\n".join(["[models.mine]", *rows]))
    return "mine"


@pytest.mark.parametrize("name", ["", "#nomic-embed-text", "#text-embedding-nomic-embed-text-v1.5"])
def test_nomic_behind_a_server_is_asked_with_the_words_that_it_was_trained_with(server: Embedder, name: str) -> None:
    asked(f"{server.url}/v1{name}")
    assert f"search_query: {QUESTION}" in server.texts
    assert "search_document: I live in Oslo." in server.texts
    assert all(text.startswith(("search_query: ", "search_document: ")) for text in server.texts)


def test_a_model_of_which_nothing_is_known_gets_the_texts_alone(server: Embedder) -> None:
    asked(f"{server.url}/v1#some-model")
    assert {QUESTION, "I live in Oslo."} <= set(server.texts)


@pytest.mark.parametrize("protocol", ["openai-embeddings", "ollama-embeddings"])
def test_an_entry_says_what_stands_before_a_text(here: Path, server: Embedder, protocol: str) -> None:
    name = in_catalog(
        here, model="x", protocol=protocol, base_url=server.url, query_prefix="Q: ", document_prefix="D: "
    )
    asked(name)
    assert {f"Q: {QUESTION}", "D: I live in Oslo."} <= set(server.texts)


def test_an_entry_that_says_nothing_before_a_text_is_believed(here: Path, server: Embedder) -> None:
    url = f"{server.url}/v1"
    asked(in_catalog(here, model="nomic-embed-text", base_url=url, query_prefix="", document_prefix=""))
    assert {QUESTION, "I live in Oslo."} <= set(server.texts)


@pytest.mark.parametrize("protocol", ["openai-embeddings", "ollama-embeddings"])
def test_no_text_that_is_sent_is_longer_than_the_entry_allows(here: Path, server: Embedder, protocol: str) -> None:
    name = in_catalog(
        here, model="x", protocol=protocol, base_url=server.url, max_chars=100, context_window=8192, query_prefix="Q: "
    )
    asked(name, "gold and silver and old books " * 40)
    assert max(len(text) for text in server.texts) <= 100 + len("Q: ")
    assert len(server.texts) > 24, "the text is not cut off, but sent in pieces"


def test_another_prefix_is_another_generation(here: Path, server: Embedder) -> None:
    path = str(here / "m.db")
    with Memhold.open(path, worker=False, embedding=f"{server.url}/v1#some-model") as mem:
        mem.scope(user="alice").remember("I live in Oslo")
        mem.settle()
    name = in_catalog(here, model="some-model", base_url=f"{server.url}/v1", protocol="openai-embeddings",
                      query_prefix="Q: ")  # fmt: skip
    with Memhold.open(path, worker=False, embedding=name) as mem:
        assert mem.scope(user="alice").recall(QUESTION).degraded == ("meaning",)


@pytest.mark.parametrize(
    ("model", "before"),
    [
        ("nomic-embed-text", "search_query: "),
        ("nomic-ai/nomic-embed-text-v2-moe", "search_query: "),
        ("intfloat/multilingual-e5-base", "query: "),
        ("text-embedding-e5-large-v2", "query: "),
        ("intfloat/multilingual-e5-large-instruct", ""),
        ("nomic-embed-code", ""),
        ("bge-m3", ""),
        ("some5-base", ""),
    ],
)
def test_what_names_tell(model: str, before: str) -> None:
    assert prefixes_of(model)[0] == before


@pytest.mark.parametrize("field", ["max_chars = 0", "max_chars = 'x'", "query_prefix = 7"])
def test_what_is_no_prefix_and_no_length_is_refused(field: str) -> None:
    user = f'[models.mine]\nmodel = "x"\nbase_url = "http://127.0.0.1:9/v1"\n{field}\n'
    with pytest.raises(InvalidSetting, match=field.split(maxsplit=1)[0]):
        load_catalog(user=user)


async def test_what_has_no_store_asks_the_same_server_in_the_same_words(server: Embedder) -> None:
    embedding = embedding_of(f"{server.url}/v1", None, None)
    assert embedding is not None
    await embedding.query(QUESTION)
    assert f"search_query: {QUESTION}" in server.texts


@pytest.mark.parametrize("name", ["http://127.0.0.1:9/v1#m", "openrouter:no/such", "/no/such/folder", "no-such"])
async def test_what_does_not_load_is_refused_there_too(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)
    embedding = embedding_of(name, None, None)
    assert embedding is not None
    with pytest.raises((ModelError, InvalidSetting)):
        await embedding.query(QUESTION)
