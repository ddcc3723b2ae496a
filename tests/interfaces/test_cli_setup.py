"""`memhold setup` and `memhold models test`: what is found is proposed, tried, kept where it belongs, and shown."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memhold import Memhold
from memhold.cli.main import cli
from memhold.cli.setup import with_setting
from memhold.providers.catalog import load_catalog
from memhold.providers.discover import Offer, hosted_offers, local_offers
from memhold.testing.chaos import ChaosServer
from tests.scripted_server import Answer, Asked, ScriptedServer, sent


@pytest.fixture
def server() -> Iterator[ChaosServer]:
    with ChaosServer() as made:
        yield made


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in (
        "OPENAI_BASE_URL",
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "GROQ_API_KEY",
        "OPENROUTER_API_KEY",
        "MEMHOLD_CONSOLIDATION",
    ):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def offered(monkeypatch: pytest.MonkeyPatch, *lines: Offer) -> None:
    monkeypatch.setattr("memhold.wiring.setup.offers", lambda: list(lines))


class Picky(ScriptedServer):
    """A server that takes no JSON schema, and answers a question for a JSON object with one."""

    def __init__(self) -> None:
        self.forms: list[str | None] = []
        super().__init__(self._answer)

    def _answer(self, asked: Asked) -> Answer:
        if asked.body is None:
            return sent({"data": [{"id": one} for one in ("chat-a", "nomic-embed-text", "chat-b")]})
        form = (asked.body.get("response_format") or {}).get("type")
        self.forms.append(form)
        if form == "json_schema":
            return sent({"error": {"message": "Invalid schema for response_format 'x'", "param": "schema"}}, 400)
        probe = "save_memory" not in asked.body["messages"][0]["content"]
        held = (
            {"food": "sushi", "quote": "My favorite food is sushi."}
            if probe
            else {"history_entry": "I live in Oslo.", "facts": [], "notes": []}
        )
        message = {"role": "assistant", "content": json.dumps(held)}
        return sent({"choices": [{"message": message, "finish_reason": "stop"}]})


@pytest.fixture
def picky() -> Iterator[Picky]:
    with Picky() as made:
        yield made


# ------------------------------------------------------------------------------------------------ models test


def said(db: str, line: str, session: str) -> str | None:
    """The form that is known after a window was consolidated."""
    with Memhold.open(db, worker=False, consolidation=line) as mem:
        alice = mem.scope(user="alice", session=session)
        alice.add([{"role": "user", "content": "I live in Oslo."}])
        assert alice.consolidate().summaries
        return alice.status().models[line].form


def test_the_form_that_works_is_found_out_and_kept_in_the_store_alone(here: Path, picky: Picky) -> None:
    line, db = f"{picky.url}/v1#mine", str(here / "m.db")
    with Memhold.open(db, worker=False) as mem:
        mem.scope(user="alice").remember("a note")
    done = CliRunner().invoke(cli, ["models", "test", line, "--db", db, "--json"])
    assert done.exit_code == 0, done.output
    [row] = json.loads(done.stdout)["models"]
    assert (row["tools"], row["form"]) == (True, "object")
    assert not (here / "memhold.toml").exists()
    picky.forms.clear()
    assert said(db, line, "s") == "object"
    assert picky.forms == ["json_object"], "no form that is known to fail is tried again"


def test_a_form_that_fails_at_work_is_stepped_down_from_once_and_for_good(here: Path, picky: Picky) -> None:
    line, db = f"{picky.url}/v1#mine", str(here / "m.db")
    assert said(db, line, "one") == "object"
    assert picky.forms == ["json_schema", "json_object"]
    picky.forms.clear()
    assert said(db, line, "two") == "object"
    assert picky.forms == ["json_object"]


def test_a_table_shows_a_port_between_colons_and_a_name_in_brackets_as_they_are(here: Path) -> None:
    (here / "memhold.toml").write_text('[models."a :1234: [b]"]\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\n')
    done = CliRunner().invoke(cli, ["models"])
    assert "a :1234: [b]" in done.stdout


# ------------------------------------------------------------------------------------------------ what is found


async def test_local_servers_are_asked_for_their_models_and_whoever_is_none_has_none(picky: Picky) -> None:
    found = await local_offers({"ollama": picky.url, "vllm": "http://127.0.0.1:1"})
    assert [one.line for one in found if not one.embeds] == ["ollama:chat-a", "ollama:chat-b"]
    assert [one.line for one in found if one.embeds] == ["ollama:nomic-embed-text"]
    assert all(one.local for one in found)


@pytest.mark.parametrize(
    "body", [b"<html>hello</html>", b"[1, 2]", b'{"data": 7}', b'{"data": [{"id": 7}]}', b"\xff\xfe"]
)
def test_a_page_in_place_of_a_list_of_models_is_no_model(body: bytes) -> None:
    with ScriptedServer(lambda _: Answer(type="text/html", body=body)) as page:
        assert asyncio.run(local_offers({"ollama": page.url})) == []


def test_a_hosted_vendor_is_proposed_where_its_key_is_set_and_not_elsewhere() -> None:
    table = load_catalog()
    assert hosted_offers(table, {}) == []
    found = hosted_offers(table, {"OPENAI_API_KEY": "x", "GROQ_API_KEY": " "})
    assert {one.line.partition(":")[0] for one in found} == {"openai"}
    assert not any(one.local for one in found)


# ------------------------------------------------------------------------------------------------ setup


def test_setup_proposes_tries_writes_and_shows_the_users_own_text(
    here: Path, server: ChaosServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = f"{server.url}/v1#mine"
    offered(monkeypatch, Offer(line=line, where=server.url, local=True))
    (here / "mine.txt").write_text("I live in Oslo.\nMy favorite food is sushi.\n")
    done = CliRunner().invoke(cli, ["setup", "--text", "mine.txt"], input="1\n")
    assert done.exit_code == 0, done.output
    assert (here / "memhold.toml").read_text() == f'consolidation = "{line}"\n'
    assert "works, asked by schema" in done.output
    assert "History" in done.output
    assert "Oslo" in done.output
    from memhold.wiring.settings import load_settings

    assert load_settings({}).consolidation == line


def test_a_file_in_whose_place_nothing_can_be_put_is_written_itself(
    here: Path, server: ChaosServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is mounted by itself into a container, say. A full disk is told, and leaves it as it was."""
    file, line, failing = here / "memhold.toml", f"{server.url}/v1#mine", errno.ENOSPC

    def refused(*_: object) -> None:
        raise OSError(failing, os.strerror(failing))

    file.write_text("cache_mb = 8\n")
    monkeypatch.setattr(Path, "replace", refused)
    done = CliRunner().invoke(cli, ["setup", "--consolidation", line, "--yes"])
    assert done.exit_code != 0
    assert file.read_text() == "cache_mb = 8\n"
    failing = errno.EBUSY
    done = CliRunner().invoke(cli, ["setup", "--consolidation", line, "--yes"])
    assert done.exit_code == 0, done.output
    assert file.read_text() == f'cache_mb = 8\nconsolidation = "{line}"\n'
    assert [one.name for one in here.iterdir()] == ["memhold.toml"]


def test_a_model_that_does_not_work_is_not_written(here: Path) -> None:
    done = CliRunner().invoke(cli, ["setup", "--consolidation", "http://127.0.0.1:1/v1#mine"])
    assert done.exit_code == 1
    assert "does not work" in done.output
    assert "http://127.0.0.1:1" in done.output
    assert not (here / "memhold.toml").exists()


def test_nothing_found_says_what_to_do_and_no_hosted_vendor_is_taken_unasked(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered(monkeypatch)
    done = CliRunner().invoke(cli, ["setup"])
    assert done.exit_code == 1
    assert "start a local server" in done.output
    assert "Without one all that is said is kept" in done.output
    offered(monkeypatch, Offer(line="openai:gpt-4.1-mini", where="with the key", local=False))
    done = CliRunner().invoke(cli, ["setup", "--yes"])
    assert done.exit_code == 1
    assert "--consolidation openai:gpt-4.1-mini" in done.output
    assert not (here / "memhold.toml").exists()


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    head=st.lists(
        st.sampled_from(["# a word", "drain_seconds = 3", 'consolidation = "old"', ""]), unique=True, max_size=4
    ),
    table=st.sampled_from(["", '[models.mine]\nmodel = "x"\nconsolidation = "not ours"\n']),
    value=st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30),
)
def test_a_setting_is_written_once_and_nothing_else_changes(head: list[str], table: str, value: str) -> None:
    before = "\n".join([*head, table])
    after = tomllib.loads(with_setting(before, "consolidation", value))
    was = tomllib.loads(before)
    assert after.pop("consolidation") == value
    was.pop("consolidation", None)
    assert after == was


def test_an_embedding_that_is_served_here_is_offered_and_never_the_model_that_consolidates(
    server: ChaosServer, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat, embedding = f"{server.url}#m", f"{server.url}#nomic-embed-text"
    offered(
        monkeypatch,
        Offer(line=embedding, where=server.url, local=True, embeds=True),
        Offer(line=chat, where=server.url, local=True),
    )
    done = CliRunner().invoke(cli, ["setup", "--yes"])
    assert done.exit_code == 0, done.output
    assert f"memhold reindex --to {embedding}" in done.output
    assert tomllib.loads((here / "memhold.toml").read_text()) == {"consolidation": chat}
    assert json.loads(CliRunner().invoke(cli, ["setup", "--json"]).stdout)["embeddings"] == [embedding]
    with (here / "memhold.toml").open("a") as file:
        file.write('embedding = "builtin"\n')
    assert "reindex" not in CliRunner().invoke(cli, ["setup", "--yes"]).output


def test_an_embedding_in_one_line_is_tried_as_one(server: ChaosServer) -> None:
    done = CliRunner().invoke(cli, ["models", "test", f"{server.url}/v1#nomic-embed-text", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["models"][0]["text"].endswith("dimensions")


@pytest.mark.usefixtures("here")
def test_a_key_that_is_not_set_is_said_once() -> None:
    done = CliRunner().invoke(cli, ["setup", "--consolidation", "openai:gpt-x"])
    line = "openai:gpt-x: the variable OPENAI_API_KEY is not set; set OPENAI_API_KEY where this runs (0.0 s)"
    assert done.output.splitlines()[0] == line


@pytest.mark.parametrize(
    "before",
    [
        'consolidation = """\nollama:old\n"""\n',
        'consolidation = [\n  "ollama:old",\n  "lmstudio:old",\n]\n',
        'mirror = """\n[x]\n"""\n',
        "oops = = 1\n",
    ],
)
def test_setup_leaves_a_file_alone_that_a_line_would_break(server: ChaosServer, here: Path, before: str) -> None:
    mine = here / "mine.toml"
    mine.write_text(before)
    done = CliRunner().invoke(cli, ["setup", "--consolidation", f"{server.url}#m", "--file", str(mine)])
    assert done.exit_code != 0
    assert f'write consolidation = "{server.url}#m" there yourself' in done.output
    assert mine.read_text() == before


def test_setup_takes_the_place_of_a_setting_whose_name_stands_in_quotes(server: ChaosServer, here: Path) -> None:
    (here / "memhold.toml").write_text('"consolidation" = "ollama:old"\n')
    done = CliRunner().invoke(cli, ["setup", "--consolidation", f"{server.url}#m"])
    assert done.exit_code == 0, done.output
    assert tomllib.loads((here / "memhold.toml").read_text()) == {"consolidation": f"{server.url}#m"}


def test_setup_into_a_folder_that_is_not_there_says_so_before_a_model_is_asked(here: Path) -> None:
    asked: list[Asked] = []

    def answer(one: Asked) -> Answer:
        asked.append(one)
        return Answer(status=500)

    with ScriptedServer(answer) as server:
        line = f"{server.url}/v1#m"
        done = CliRunner().invoke(cli, ["setup", "--consolidation", line, "--file", str(here / "no" / "memhold.toml")])
    assert f"there is no folder {here / 'no'}" in done.output
    assert not asked


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_setup_prints_no_password_of_a_url_and_writes_the_line_as_it_is(
    server: ChaosServer, here: Path, form: list[str]
) -> None:
    line = server.url.replace("://", "://joe:hunter2@") + "#m"
    done = CliRunner().invoke(cli, ["setup", "--consolidation", line, "--yes", *form])
    assert done.exit_code == 0, done.output
    assert "hunter2" not in done.output
    assert line in (here / "memhold.toml").read_text(encoding="utf-8")


def test_setup_of_a_server_that_is_not_there_prints_no_password(here: Path) -> None:
    done = CliRunner().invoke(cli, ["setup", "--consolidation", "http://joe:hunter2@127.0.0.1:9/v1#m", "--yes"])
    assert done.exit_code != 0
    assert "hunter2" not in done.output
    assert not (here / "memhold.toml").exists()
