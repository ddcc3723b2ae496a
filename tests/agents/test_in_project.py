"""What a command shows that is run in a repository: the project's memory and one's own, and which these are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memhold import Memhold
from memhold.cli.main import main
from tests.agents.test_project import git, repository

NAMESPACE = "project/github.com/acme/shop"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMHOLD_DB", str(tmp_path / "m.db"))
    monkeypatch.setenv("MEMHOLD_USER", "alice")
    shop = repository(tmp_path / "shop", "git@github.com:acme/shop.git")
    monkeypatch.chdir(shop)
    with Memhold.open(tmp_path / "m.db", worker=False) as mem:
        mem.scope(namespace=NAMESPACE, user="alice").add({"role": "user", "content": "The API listens on port 8443."})
        mem.scope(user="alice").remember("Likes short answers about an API")
    return shop


@pytest.mark.usefixtures("shop")
def test_recall_context_and_status_look_into_both_and_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recall", "which port does the API use?"]) in {0, 3}
    said = capsys.readouterr()
    assert "8443" in said.out
    assert "short answers" in said.out
    assert NAMESPACE in said.err
    assert main(["context", "which port does the API use?"]) in {0, 3}
    said = capsys.readouterr()
    assert "8443" in said.out
    assert "short answers" in said.out
    assert main(["status"]) == 0
    assert f"the memory of the project here, {NAMESPACE}: 1 message" in capsys.readouterr().out
    # Whoever names a memory asks that one.
    assert main(["recall", "which port does the API use?", "--namespace", "other"]) in {0, 3}
    assert "8443" not in capsys.readouterr().out


def test_outside_of_a_project_and_in_one_without_a_memory_it_is_ones_own(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in (tmp_path, repository(tmp_path / "new")):
        monkeypatch.chdir(folder)
        assert main(["recall", "which port does the API use?"]) in {0, 3}
        said = capsys.readouterr()
        assert "8443" not in said.out
        assert "your own" not in said.err
    assert shop.is_dir()


def test_a_project_with_two_names_is_told_of(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["project"]) == 0
    assert NAMESPACE in capsys.readouterr().out
    from memhold.faces.agents.project import note_project

    note_project(shop)
    git(shop, "remote", "set-url", "origin", "https://github.com/acme/store.git")
    assert main(["recall", "which port does the API use?"]) in {0, 3}
    assert "8443" in capsys.readouterr().out
    assert main(["project", "--join", NAMESPACE, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["namespace"] == NAMESPACE
