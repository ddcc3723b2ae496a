"""Which project a folder belongs to: one for every clone, worktree and sub-folder of a repository."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memhold.faces.agents.project import (
    MARK,
    PLACE,
    former_namespace,
    join_project,
    note_project,
    project_namespace,
    project_of,
    remote_identity,
)
from memhold.values.errors import InvalidInput
from memhold.values.records import Scope

REMOTES = {
    "git@github.com:Acme/Shop.git": "github.com/acme/shop",
    "https://github.com/Acme/Shop": "github.com/acme/shop",
    "https://user:s3cret@github.com/acme/shop.git/": "github.com/acme/shop",
    "ssh://git@github.com:22/acme/shop.git": "github.com/acme/shop",
    "git://github.com/acme/shop": "github.com/acme/shop",
    "ssh://git@ssh.github.com:443/acme/shop.git": "github.com/acme/shop",
    "ssh://git@altssh.gitlab.com:443/acme/shop.git": "gitlab.com/acme/shop",
    "ssh://git@git.example.org:7999/Team/Shop.git": "git.example.org:7999/Team/Shop",
    "git.example.org:Team/Shop": "git.example.org/Team/Shop",
    "https://gitlab.com/a/b/c%20d.git": "gitlab.com/a/b/c d",
    "/srv/git/shop.git": None,
    "file:///srv/git/shop.git": None,
    "../shop": None,
    "C:/git/shop": None,
    "https://host:port/x": None,
    "https://github.com/": None,
    "": None,
}


@pytest.mark.parametrize("url", REMOTES)
def test_a_remote_is_called_the_same_however_it_is_reached(url: str) -> None:
    assert remote_identity(url) == REMOTES[url]


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def repository(folder: Path, remote: str | None = None) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init")
    git(folder, "commit", "--allow-empty", "-m", "first")
    if remote is not None:
        git(folder, "remote", "add", "origin", remote)
    return folder


def test_sub_folders_worktrees_and_clones_share_one(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop", "git@github.com:acme/shop.git")
    (shop / "a" / "b").mkdir(parents=True)
    git(shop, "worktree", "add", str(tmp_path / "elsewhere" / "wt"))
    clone = repository(tmp_path / "other" / "copy", "https://tok:en@github.com/acme/shop")
    git(clone, "remote", "add", "fork", "https://github.com/me/shop")
    found = {project_of(one) for one in (shop, shop / "a" / "b", tmp_path / "elsewhere" / "wt", clone)}
    assert found == {"github.com/acme/shop"}
    assert project_namespace(clone) == "project/github.com/acme/shop"


SHORT_FORMS = """
[url "git@github.com:"]
\tinsteadOf = gh:
[url "https://github.com/acme/"]
\tinsteadOf = "gh:acme/"
"""
ALIASES = """
# two accounts on one host
Host github-work github-home
  User git
  HostName github.com
Match host github-work
  HostName elsewhere.example.org
host *.example.org
  hostname proxy.example.org
Host=GitHub-Work
  HostName too-late.example.org
"""


def test_what_the_persons_own_files_call_a_remote_is_the_same_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (tmp_path / ".gitconfig").write_text(SHORT_FORMS)
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text(ALIASES)
    for number, url in enumerate(
        (
            "gh:acme/shop",
            "github-work:acme/shop",
            "ssh://git@github-home/acme/shop.git",
            "GH:acme/shop",
            "a.example.org:x",
        )
    ):
        place = repository(tmp_path / f"shop{number}", url)
        told = subprocess.run(["git", "remote", "get-url", "origin"], cwd=place, check=True, capture_output=True)
        assert remote_identity(told.stdout.decode().strip()) in {
            project_of(place),
            "github-work/acme/shop",
            "github-home/acme/shop",
        }
        wanted = {3: "gh/acme/shop", 4: "a.example.org/x"}.get(number, "github.com/acme/shop")
        assert project_of(place) == wanted


def test_without_a_remote_the_place_is_the_project(tmp_path: Path) -> None:
    one, two = repository(tmp_path / "a" / "shop"), repository(tmp_path / "b" / "shop", "/srv/git/shop.git")
    git(one, "worktree", "add", str(tmp_path / "wt"))
    (one / "sub").mkdir()
    assert project_of(one) == project_of(tmp_path / "wt") == project_of(one / "sub")
    assert (project_of(one) or "").startswith("local/shop-")
    assert project_of(one) != project_of(two)


def test_a_repository_that_gets_a_remote_is_known_by_its_former_name(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    (shop / "apps" / "web").mkdir(parents=True)
    (shop / "apps" / "web" / MARK).touch()
    git(shop, "worktree", "add", str(tmp_path / "wt"))
    places = (shop, shop / "apps", shop / "apps" / "web", tmp_path / "wt")
    before = [project_namespace(one) for one in places]
    assert [former_namespace(one) for one in places] == [None] * len(places)
    git(shop, "remote", "add", "origin", "git@github.com:acme/shop.git")
    assert [former_namespace(one) for one in places] == before
    assert project_namespace(shop / "apps" / "web") == "project/github.com/acme/shop:apps/web"
    assert former_namespace(tmp_path) is None


def test_a_monorepo_can_split_and_no_mark_reaches_another_repository(tmp_path: Path) -> None:
    mono = repository(tmp_path / "mono", "git@github.com:acme/mono.git")
    (mono / "apps" / "web" / "src").mkdir(parents=True)
    (mono / "apps" / "web" / MARK).write_text("github.com/somebody/else\n")
    assert project_of(mono / "apps" / "web" / "src") == "github.com/acme/mono:apps/web"
    assert project_of(mono / "apps") == "github.com/acme/mono"
    (mono / MARK).touch()
    assert project_of(mono) == "github.com/acme/mono"
    (tmp_path / MARK).touch()
    assert project_of(mono / "apps") == "github.com/acme/mono"


def test_outside_of_a_repository_there_is_no_project(tmp_path: Path) -> None:
    (tmp_path / MARK).touch()
    assert project_of(tmp_path) is None
    assert project_namespace(tmp_path / "not" / "there") is None
    (tmp_path / ".git").write_text("this is no link\n")
    assert project_of(tmp_path) is None
    (tmp_path / ".git").write_text("gitdir: gone\n")
    assert (project_of(tmp_path) or "").startswith("local/")


@pytest.mark.parametrize(
    "written",
    [
        '[remote "origin"] url = https://h/a/b.git',
        '[remote "origin"]\n\turl = https://h/a/b.git # ours',
        '[remote "origin"]\n\turl = "https://h/a/b.git" ; ours',
        '[remote "origin"] # url = https://h/c/d\n\turl=https://h/a/b',
        '[remote "origin"] # [remote "other"] url = https://h/c/d\n\turl=https://h/a/b',
    ],
)
def test_a_remote_that_a_person_wrote_down_is_read_as_git_reads_it(tmp_path: Path, written: str) -> None:
    place = repository(tmp_path / "shop")
    (place / ".git" / "config").write_text(written + "\n")
    told = subprocess.run(["git", "remote", "get-url", "origin"], cwd=place, check=True, capture_output=True, text=True)
    assert project_of(place) == remote_identity(told.stdout.strip()) == "h/a/b"


@settings(deadline=None)
@given(st.text(max_size=400))
def test_every_identity_is_a_name(text: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / ".git" / "config"
        config.parent.mkdir()
        config.write_text(f'[core]\n\tbare = false\n[remote "origin"]\n\turl = https://h/{text}\n', "utf-8", "replace")
        namespace = project_namespace(Path(folder))
        assert namespace is not None
        assert Scope(namespace=namespace).namespace == namespace
        assert namespace.startswith("project/")


def test_a_long_name_is_cut_and_still_its_own(tmp_path: Path) -> None:
    one = repository(tmp_path / "one", f"https://h/{'x' * 300}a")
    two = repository(tmp_path / "two", f"https://h/{'x' * 300}b")
    assert project_namespace(one) != project_namespace(two)
    assert len(project_namespace(one) or "") == 256


def test_a_repository_keeps_its_name_where_it_is_moved_and_a_copy_has_its_own(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    name = project_namespace(shop)
    note_project(shop)
    shutil.copytree(shop, tmp_path / "copy")
    assert project_namespace(tmp_path / "copy") not in {None, name}
    moved = shop.rename(tmp_path / "store")
    assert project_namespace(moved) == name
    (moved / "sub").mkdir()
    assert project_namespace(moved / "sub") == name
    git(moved, "remote", "add", "origin", "git@github.com:acme/shop.git")
    assert (project_namespace(moved), former_namespace(moved)) == ("project/github.com/acme/shop", name)


def test_one_whose_remote_is_renamed_reads_on_and_may_be_joined(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop", "git@github.com:acme/shop.git")
    note_project(shop)
    git(shop, "remote", "set-url", "origin", "https://github.com/acme/shop")
    old = "project/github.com/acme/shop"
    assert project_namespace(shop) == old
    git(shop, "remote", "set-url", "origin", "https://github.com/acme/store")
    assert (project_namespace(shop), former_namespace(shop)) == ("project/github.com/acme/store", old)
    join_project(shop, old)
    assert (project_namespace(shop), former_namespace(shop)) == (old, "project/github.com/acme/store")
    for name in ("default", "project/", "project/a\nb"):
        with pytest.raises(InvalidInput):
            join_project(shop, name)
    with pytest.raises(InvalidInput):
        join_project(tmp_path, old)


@pytest.mark.parametrize("text", ["", "x", "a\0b\n/\n", "local/x\n", "\n\n\n", "local/x\n/nowhere\nnonsense\n"])
def test_a_note_that_is_none_changes_nothing_or_only_the_name(tmp_path: Path, text: str) -> None:
    shop = repository(tmp_path / "shop")
    name = project_namespace(shop)
    (shop / ".git" / PLACE).write_text(text)
    assert project_namespace(shop) in {name, "project/local/x"}
