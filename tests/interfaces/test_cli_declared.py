"""Commands follow from the declarations: every parameter is there, input is judged alike, a new verb is a command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

import click
import pytest

from memhold import Memhold
from memhold.cli.declared_commands import command_of
from memhold.cli.main import BY_HAND, VERBS, cli
from memhold.cli.printing import as_json, show_answer
from memhold.errors import MemholdError
from memhold.verbs.arguments import from_text, sendable
from memhold.verbs.declaration import Command, Verb, verb, verbs_of
from memhold.verbs.scope import AsyncScope

from .conftest import CommandLine

ROOT = Path(__file__).parents[2]
REGULAR = [one for name, one in VERBS.items() if name not in BY_HAND]


def command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def test_only_these_commands_of_verbs_are_written_by_hand() -> None:
    declared = {name for name, one in VERBS.items() if one.command is not None and one.command.by_hand is not None}
    assert set(BY_HAND) == declared
    assert declared == {
        "add", "compact", "consolidate", "context", "export", "forget", "import", "residue", "retain", "status",
        "suspicions",
    }  # fmt: skip


@pytest.mark.parametrize("one", REGULAR, ids=lambda one: one.name)
def test_a_regular_command_takes_all_that_its_verb_takes(one: Verb) -> None:
    assert one.command is not None
    names = {found.name.removeprefix("verb_") for found in command(one.command.name).params if found.name}
    assert set(one.parameters) <= names


# ------------------------------------------------------------------------------------------------ what had drifted


def test_a_second_pet_stands_beside_the_first_and_a_second_job_replaces_it(run: CommandLine) -> None:
    for attribute, value in (("pet", "a cat"), ("pet", "a dog"), ("employer", "Acme"), ("employer", "Initech")):
        assert run("remember", "--attribute", attribute, "--value", value).code == 0
    assert [memory["value"] for memory in run("list", "--json").json["items"]] == ["a cat", "a dog", "Initech"]
    run("remember", "--attribute", "pet", "--value", "a parrot", "--operation", "set")
    held = [memory["value"] for memory in run("list", "--kind", "fact", "--json").json["items"]]
    assert held == ["Initech", "a parrot"]


def test_metadata_goes_in_and_is_asked_for(run: CommandLine) -> None:
    run("remember", "likes tea", "--metadata", '{"source": "form", "page": 3}')
    run("remember", "likes window seats", "--metadata", '{"source": "chat"}')
    [hit] = run("recall", "--metadata", '{"source": "form"}', "--json").json["hits"]
    assert (hit["text"], hit["metadata"]) == ("likes tea", {"source": "form", "page": 3})


def test_a_revision_that_is_past_is_refused(run: CommandLine) -> None:
    memory = run("remember", "likes window seats", "--json").json["memory"]
    for words in (("correct", memory["id"], "likes aisle seats"), ("pin", memory["id"]), ("unpin", memory["id"])):
        refused = run(*words, "--rev", "7", "--json")
        assert (refused.code, refused.error["type"]) == (1, "RevisionConflict")
    assert run("pin", memory["id"], "--rev", str(memory["rev"]), "--key", "k").code == 0
    assert run("pin", memory["id"], "--rev", str(memory["rev"]), "--key", "k").out.startswith("written before")


def test_the_session_of_the_line_narrows_no_search(run: CommandLine) -> None:
    run("add", "I moved to Lisbon.", "--session", "s1")
    run("remember", "likes Lisbon", "--session", "s1")
    assert run("recall", "Lisbon", "--session", "s2", "--json").json["total"] == 2
    assert run("recall", "Lisbon", "--in-session", "s2", "--json").json["total"] == 0
    assert run("recall", "Lisbon", "--session", "s2", "--in-session", "s1", "--json").json["total"] == 2
    assert len(run("list", "--session", "s2", "--json").json["items"]) == 1
    assert run("list", "--in-session", "s2", "--json").json["items"] == []
    assert run("sessions").out.splitlines()[-1].split()[:2] == ["s1", "1"]
    assert [one["name"] for one in run("sessions", "--json").json["items"]] == ["s1"]


def test_forget_does_not_take_the_session_of_the_line_for_its_target(run: CommandLine) -> None:
    item = run("add", "keep this", "--session", "s1", "--json").json["ids"][0]
    refused = run("forget", "--session", "s1", "--yes")
    assert refused.code == 2
    assert "pass --in-session NAME to forget a conversation" in refused.err
    assert run("get", item).code == 0
    assert run("forget", "--in-session", "s1", "--dry-run", "--json").json["messages"] == [item]


# ------------------------------------------------------------------------------------------------ what is given


def test_a_list_is_given_one_by_one_and_any_state_is_every_state(run: CommandLine) -> None:
    run("remember", "likes Porto", "--topic", "travel", "--topic", "cities, old")
    run("remember", "--attribute", "city", "--value", "Porto")
    run("remember", "--attribute", "city", "--value", "Lisbon")
    [note] = run("list", "--kind", "note", "--json").json["items"]
    assert note["topics"] == ["travel", "cities, old"]
    assert len(run("list", "--kind", "note", "--kind", "fact", "--json").json["items"]) == 2
    assert len(run("list", "--state", "any", "--json").json["items"]) == 3
    assert len(run("list", "--state", "superseded", "--json").json["items"]) == 1


WRONG: tuple[tuple[str, dict[str, Any], tuple[str, ...]], ...] = (
    ("recall", {"limit": "many"}, ("recall", "--limit", "many")),
    ("recall", {"limit": 0}, ("recall", "--limit", "0")),
    ("recall", {"kinds": ("thought",)}, ("recall", "--kind", "thought")),
    ("recall", {"metadata": "{"}, ("recall", "--metadata", "{")),
    ("recall", {"cursor": "bogus"}, ("recall", "--cursor", "bogus")),
    ("recall", {"as_of": "yesteryear"}, ("recall", "--as-of", "yesteryear")),
    ("list", {"states": ("gone",)}, ("list", "--state", "gone")),
    ("messages", {"after": "first"}, ("messages", "--after", "first")),
    ("summaries", {"level": "year"}, ("summaries", "--level", "year")),
    ("remember", {}, ("remember",)),
    ("remember", {"text": "a note", "importance": "huge"}, ("remember", "a note", "--importance", "huge")),
    ("remember", {"text": "a note", "operation": "swap"}, ("remember", "a note", "--operation", "swap")),
    ("get", {"item_id": "chg_1"}, ("get", "chg_1")),
    ("correct", {"memory_id": "mem_1", "value": "x", "rev": "one"}, ("correct", "mem_1", "x", "--rev", "one")),
    ("forget", {}, ("forget", "--yes")),
    ("forget", {"kinds": ("thought",)}, ("forget", "--kind", "thought", "--yes")),
    ("forget", {"everything": True, "wait": "long"}, ("forget", "--everything", "--wait", "long", "--yes")),
    ("retain", {"most": "few"}, ("retain", "--most", "few")),
    ("context", {"messages": [], "budget": "small"}, ("context", "--budget", "small")),
    ("context", {"messages": [], "shape": "round"}, ("context", "--shape", "round")),
    ("residue", {"text": "ab"}, ("residue", "ab")),
)


@pytest.mark.parametrize(("name", "arguments", "line"), WRONG, ids=str)
def test_wrong_input_has_the_words_that_python_has(
    run: CommandLine, name: str, arguments: dict[str, Any], line: tuple[str, ...]
) -> None:
    run("add", "hello")
    with Memhold.open(run.db, worker=False) as mem, pytest.raises(MemholdError) as raised:
        getattr(mem.scope(user="alice"), name)(**arguments)
    refused = run(*line, "--json")
    assert (refused.code, refused.out) == (2, "")
    assert refused.error["type"] == type(raised.value).__name__
    assert refused.error["message"] == str(raised.value)


def test_wrong_input_makes_no_store(run: CommandLine) -> None:
    assert run("remember", "a note", "--importance", "huge").code == 2
    assert not Path(run.db).exists()


def test_what_is_missing_is_named(run: CommandLine) -> None:
    run("add", "hello")
    for name, needed in (("correct", "MEMORY_ID and VALUE"), ("history", "ITEM_ID"), ("get", "ITEM_ID")):
        refused = run(name, "--json")
        assert refused.code == 2
        assert refused.error["message"].startswith(f"{name} needs {needed}; for example: memhold {name} mem_0198c2f0")


# ------------------------------------------------------------------------------------------------ any type


class Odd(Protocol):
    """Verbs with types that no verb has yet."""

    @verb("read", command=Command(name="odd", section="Memory", line="Odd.", words=("sizes",)))
    async def odd(
        self,
        sizes: tuple[int, ...] = (),
        *,
        share: float | None = None,
        span: timedelta | None = None,
        loud: bool = True,
    ) -> tuple[str, ...]:
        """Something odd, as `sizes` and `span` say.

        Args:
            sizes: Whole numbers.
            share: Part of it.
            span: How long.
            loud: Whether it is.
        """
        ...


def test_options_of_any_type_are_read() -> None:
    odd = verbs_of(Odd)["odd"]
    assert odd.command is not None
    made = command_of(odd, odd.command)
    context = made.make_context("odd", ["3", "4", "--share", ".5", "--span", "90", "--no-loud"])
    given = {one: context.params[f"verb_{one}"] for one in sendable(odd)}
    assert from_text(odd, given) == {"sizes": (3, 4), "share": 0.5, "span": timedelta(seconds=90), "loud": False}
    assert "as SIZES and --span say" in (made.help or "")


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (("one", "two\x1b[2J"), "one\ntwo [2J\n"),
        ("a line\nanother", "a line\nanother\n"),
        (7, "7\n"),
        ({"found": 3, "none": None, "names": ["x"]}, 'found: 3\nnames: ["x"]\n'),
        ((), ""),
    ],
)
def test_an_answer_of_any_type_is_printed(answer: Any, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    odd = verbs_of(Odd)["odd"]
    show_answer(odd, {}, answer)
    assert capsys.readouterr().out == shown
    assert isinstance(as_json(odd, answer), dict)


@pytest.mark.parametrize("one", verbs_of(AsyncScope).values(), ids=lambda one: one.name)
def test_every_verb_could_have_a_regular_command(one: Verb) -> None:
    made = command_of(one, Command(name=one.name, section="Memory", line="A line."))
    assert made.get_help(click.Context(made))


# ------------------------------------------------------------------------------------------------ a new verb

DECLARED = '''
    @verb(
        "read",
        command=Command(
            name="longest", section="Measuring", line="Find the longest words.", words=("least",),
            example="memhold longest 5 --in-session s1",
        ),
    )
    async def longest(
        self, least: int, *, session: str | None = None, roles: Sequence[str] = (), limit: int = 3
    ) -> tuple[str, ...]:
        """The longest words that were said, each of `least` characters or more.

        Args:
            least: Fewest characters.
            session: Only of this conversation.
            roles: Only said by these.
            limit: Most words.
        """
        ...
'''
DONE = """

def longest(
    tx: ReadTx, least: int, *, session: str | None, roles: Sequence[str], limit: int
) -> tuple[str, ...]:
    said = tx.messages(session or "", after=0, limit=100)
    words = [word for one in said if not roles or one.role in roles for word in one.text.split()]
    return tuple(sorted((word for word in words if len(word) >= least), key=len, reverse=True)[:limit])
"""
ROW = '    "longest": Unit(module="memhold.verbs.journal_verbs", name="longest", reads=True),\n'


@pytest.fixture
def copied(tmp_path: Path) -> Any:
    """A copy of the package with one verb more: its declaration, its unit of work and its row. Nothing of `cli` is changed."""
    shutil.copytree(
        ROOT / "src" / "memhold", tmp_path / "src" / "memhold", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    verbs = tmp_path / "src" / "memhold" / "verbs"
    with (verbs / "scope.py").open("a", encoding="utf-8") as file:
        file.write(DECLARED)
    with (verbs / "journal_verbs.py").open("a", encoding="utf-8") as file:
        file.write(DONE)
    before, status, after = (verbs / "local_scope.py").read_text(encoding="utf-8").partition('    "status": ')
    (verbs / "local_scope.py").write_text(before + ROW + status + after, encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "src"), "MEMHOLD_DB": str(tmp_path / "m.db"), "COLUMNS": "100"}
    subprocess.run([sys.executable, "scripts/generate_sync.py"], cwd=tmp_path, env=env, check=True)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "memhold", *arguments]
        return subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)

    return run


def test_a_new_verb_is_a_command(copied: Any) -> None:
    assert "Measuring:\n  longest  Find the longest words.\n" in copied("--help").stdout
    about = copied("longest", "--help").stdout
    assert "The longest words that were said, each of LEAST characters or more." in about
    assert "LEAST  Fewest characters." in about
    assert "--in-session TEXT" in about
    assert "Only said by these. [repeatable]" in about
    assert "Most words. [default: 3]" in about
    assert "memhold longest 5 --in-session s1" in about
    for text, role in (("a small zeppelin", "user"), ("an extraordinary journey", "assistant")):
        assert copied("add", text, "--session", "s1", "--role", role).returncode == 0
    assert copied("longest", "6", "--in-session", "s1").stdout == "extraordinary\nzeppelin\njourney\n"
    answer = copied("longest", "6", "--in-session", "s1", "--role", "user", "--json")
    assert json.loads(answer.stdout) == {"longest": ["zeppelin"]}
    refused = copied("longest", "six", "--json")
    assert refused.returncode == 2
    assert json.loads(refused.stderr)["error"]["message"] == "least is 'six'; pass a whole number"
