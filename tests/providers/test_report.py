"""The rows that the command line shows, from a probe of the chaos server to the printed table."""

from __future__ import annotations

import json
from datetime import date

import pytest
from click.testing import CliRunner

from memhold.cli.models import models_group
from memhold.ports.models import ChatReply, Tally
from memhold.providers.catalog import load_catalog
from memhold.providers.chat import chat_model
from memhold.providers.entry import Entry
from memhold.providers.failures.classify import classify_rows
from memhold.providers.report import catalog_rows, note_rows, price_of_consolidation, probe_chat, usage_rows
from memhold.providers.view import ModelsView
from memhold.testing.chaos import ChaosServer
from memhold.testing.clock import FakeClock
from memhold.wiring.system import SystemClock


@pytest.mark.parametrize(
    ("fault", "reachable", "tools", "cls"),
    [
        ("ok", True, True, None),
        ("prose", True, False, None),
        ("lmstudio-no-models", True, False, "park"),
        ("reset", False, False, "retry"),
    ],
)
async def test_a_probe_is_a_real_call(fault, reachable, tools, cls):
    async with ChaosServer() as server:
        server.always(fault)
        entry = Entry(
            name="a",
            protocol="openai-chat",
            model="m",
            base_url=server.url,
            structured="tool",
            price_in=1.0,
            price_out=10.0,
        )
        model = chat_model(entry, keys=lambda _: None)
        probe = await probe_chat(entry, model, clock=SystemClock())
        await model.close()
        assert (probe.reachable, probe.tools, probe.cls) == (reachable, tools, cls)
        assert probe.usd == pytest.approx(0.014)
        assert len(server.asked(model="m")) == 1


@pytest.mark.parametrize(("finish", "said"), [("refusal", "but refuses"), ("stop", "but not with the arguments")])
async def test_a_probe_says_whether_a_model_refuses_or_only_talks(finish, said):
    class Talks:
        name = "m"

        async def chat(self, _):
            return ChatReply(model="m", text="Well.", finish=finish)

    entry = Entry(name="a", protocol="openai-chat", model="m", base_url="http://127.0.0.1:9/v1")
    assert said in (await probe_chat(entry, Talks(), clock=SystemClock())).text


def test_a_test_of_a_server_that_is_not_there_says_what_to_do():
    table = load_catalog("", '[models.gone]\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\n')
    (row,) = ModelsView(table, keys=lambda _: None, clock=SystemClock()).test("gone")
    assert "no server answers at http://127.0.0.1:9" in row["text"]
    assert "start the server at" in row["text"]


def test_the_embedding_that_the_settings_name_is_tried_as_one():
    named = {"embedding": "http://127.0.0.1:9/v1#e"}
    (row,) = ModelsView(load_catalog(), keys=lambda _: None, clock=SystemClock(), named=named).test("embedding")
    assert row["model"] == named["embedding"]
    assert row["tools"] is None, "no embedding is asked for arguments"
    assert row["reachable"] is False


def test_the_price_of_one_consolidation():
    catalog = load_catalog()
    assert price_of_consolidation(catalog.models["llama-3.3-70b-versatile"]) == pytest.approx(0.004172)
    assert price_of_consolidation(catalog.models["openrouter"]) is None


class Commands:
    catalog = load_catalog(environment={})

    def rows(self, *, hidden):
        return catalog_rows(self.catalog, hidden=hidden)

    def notes(self):
        return note_rows(self.catalog.notes)

    def test(self, chain):
        works = chain == "consolidation"
        values = {"reachable": works, "tools": works, "seconds": 0.1, "usd_per_consolidation": None, "class": None}
        return [{"model": "a", **values, "text": "works"}]

    def usage(self, *, days, by_day):
        tally = Tally(day=date(2026, 1, 1), model="a", purpose="consolidation", calls=2, failures={"retry": 1})
        return usage_rows([tally] * (days or 2), days=by_day)

    def classify(self, lines):
        return classify_rows(lines)


def ran(*arguments, source=None):
    done = CliRunner().invoke(models_group(lambda _: Commands()), list(arguments), input=source)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    return done


def test_hidden_models_are_listed_only_with_all():
    shown, everything = (json.loads(ran(*flags).stdout) for flags in (["--json"], ["--all", "--json"]))
    names = {row["name"] for row in shown["models"]}
    assert "qwen3-32b" not in names
    assert {row["name"] for row in everything["models"]} - names == {
        "llama-3.3-70b-versatile",
        "qwen3-32b",
        "llama-4-scout",
    }
    assert any("GROQ_API_KEY" in note["text"] for note in shown["notes"])
    assert "claude-haiku-4-5" in ran().stdout


def test_a_line_in_is_a_line_out():
    source = '{"kind": "chat", "status": 402, "headers": {}, "body": "", "class": "park"}\nrubbish\n'
    lines = json.loads(ran("classify", "--file", "-", "--json", source=source).stdout)["errors"]
    assert [line["got"] for line in lines] == ["park", None]
    assert lines[0]["class"] == "park"


def test_usage_and_test_print_and_exit():
    (row,) = json.loads(ran("usage", "--json").stdout)["usage"]
    assert (row["calls"], row["failures"]) == (4, {"retry": 2})
    assert "retry:2" in ran("usage", "--by-day").stdout
    assert ran("test").exit_code == 0
    assert ran("test", "conversation").exit_code == 1


# ------------------------------------------------------------------------------------------------ the commands' side

TABLE = """
[chains]
consolidation = "a"
embeddings = "e"
[models.a]
model = "auto"
base_url = "{url}"
fallback = "b"
[models.b]
model = "m-b"
base_url = "{url}"
api_key_env = "ACME_KEY"
fallback = "r"
[models.r]
model = "rules"
protocol = "rules"
[models.e]
model = "auto"
protocol = "openai-embeddings"
base_url = "{url}"
fallback = "o"
[models.o]
model = "bge-m3"
protocol = "ollama-embeddings"
base_url = "{url}"
fallback = "builtin"
[models.builtin]
model = "builtin"
protocol = "builtin-embeddings"
"""


def test_the_view_calls_each_link_once():
    with ChaosServer() as server:
        view = ModelsView(load_catalog("", TABLE.format(url=server.url)), keys=lambda _: None, clock=SystemClock())
        chat, vectors = view.test("consolidation"), view.test("embeddings")
        shown = [(row["model"], row["reachable"], row["tools"], row["class"]) for row in chat]
        assert shown == [("a", True, True, None), ("b", False, False, "auth"), ("r", True, None, None)]
        assert "ACME_KEY" in chat[1]["text"]
        assert [(row["model"], row["reachable"]) for row in vectors] == [("e", True), ("o", True), ("builtin", True)]
        assert all("dimensions" in row["text"] for row in vectors)
        assert [one.path for one in server.requests].count("/v1/chat/completions") == 1


def test_the_view_reads_usage_from_a_day_on():
    asked = []

    def kept(since):
        asked.append(since)
        return [Tally(day=date(2026, 1, 1), model="a", purpose="p", calls=1)]

    view = ModelsView(load_catalog(), keys=lambda _: None, clock=FakeClock(), kept=kept)
    assert view.usage(days=None, by_day=False)[0]["calls"] == 1
    view.usage(days=7, by_day=True)
    assert asked == [None, date(2025, 12, 26)]
    assert [row["got"] for row in view.classify(['{"status": 401}'])] == ["auth"]
    assert ModelsView(load_catalog(), keys=lambda _: None, clock=FakeClock()).usage(days=1, by_day=False) == []
