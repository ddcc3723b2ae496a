"""`memhold mcp install`: one entry more in a client's file, and everything else as it was."""

from __future__ import annotations

import json
import os
import stat
import sys
import tomllib
from pathlib import Path

import pytest

from memhold.errors import InvalidInput
from memhold.faces.mcp.install import CLIENTS, Place, install, snippet
from memhold.faces.mcp.tools import TOOLS
from memhold.faces.mcp.trial import try_start
from tests.interfaces.conftest import process

COMMAND = ["/opt/memhold", "mcp", "--db", "/home/a b/memory.db", "--user", 'Zoë "Z" O\\Neil']
JSON = [name for name, client in CLIENTS.items() if not client.toml]


def place(folder: Path, system: str = "linux", **environment: str) -> Place:
    return Place(system=system, home=folder, environment=environment)


PLACES = {
    ("claude-code", "linux"): ".claude.json",
    ("claude-code", "darwin"): ".claude.json",
    ("claude-code", "win32"): ".claude.json",
    ("claude-desktop", "linux"): ".config/Claude/claude_desktop_config.json",
    ("claude-desktop", "darwin"): "Library/Application Support/Claude/claude_desktop_config.json",
    ("claude-desktop", "win32"): "AppData/Roaming/Claude/claude_desktop_config.json",
    ("cursor", "linux"): ".cursor/mcp.json",
    ("cursor", "darwin"): ".cursor/mcp.json",
    ("cursor", "win32"): ".cursor/mcp.json",
    ("codex", "linux"): ".codex/config.toml",
    ("codex", "darwin"): ".codex/config.toml",
    ("codex", "win32"): ".codex/config.toml",
    ("vscode", "linux"): ".config/Code/User/mcp.json",
    ("vscode", "darwin"): "Library/Application Support/Code/User/mcp.json",
    ("vscode", "win32"): "AppData/Roaming/Code/User/mcp.json",
    ("opencode", "linux"): ".config/opencode/opencode.json",
    ("opencode", "darwin"): ".config/opencode/opencode.json",
    ("opencode", "win32"): ".config/opencode/opencode.json",
}


@pytest.mark.parametrize(("client", "system"), PLACES)
def test_each_client_keeps_its_list_where_it_does(client: str, system: str, tmp_path: Path) -> None:
    assert CLIENTS[client].path(place(tmp_path, system)) == tmp_path / PLACES[client, system]


def test_the_environment_moves_some_of_them(tmp_path: Path) -> None:
    moved = {
        "codex": ("CODEX_HOME", "linux", "config.toml"),
        "claude-code": ("CLAUDE_CONFIG_DIR", "linux", ".claude.json"),
        "vscode": ("XDG_CONFIG_HOME", "linux", "Code/User/mcp.json"),
        "claude-desktop": ("APPDATA", "win32", "Claude/claude_desktop_config.json"),
    }
    for client, (name, system, file) in moved.items():
        there = place(tmp_path, system, **{name: str(tmp_path / "elsewhere")})
        assert CLIENTS[client].path(there) == tmp_path / "elsewhere" / file


@pytest.mark.parametrize("client", CLIENTS)
def test_a_new_file_holds_the_entry_and_is_private(client: str, tmp_path: Path) -> None:
    done = install(client, COMMAND, place(tmp_path))
    text = done.path.read_text()
    assert text == snippet(client, COMMAND)
    held = tomllib.loads(text) if CLIENTS[client].toml else json.loads(text)
    entry = held[CLIENTS[client].keys[0]]["memhold"]
    started = entry["command"] if isinstance(entry["command"], list) else [entry["command"], *entry["args"]]
    assert started == COMMAND
    assert (done.changed, done.backup) == (True, None)
    assert stat.S_IMODE(done.path.stat().st_mode) == 0o600
    assert not install(client, COMMAND, place(tmp_path)).changed
    assert {path.name for path in done.path.parent.iterdir()} == {done.path.name}


@pytest.mark.parametrize("client", JSON)
def test_everything_else_in_a_json_file_stays(client: str, tmp_path: Path) -> None:
    path = CLIENTS[client].path(place(tmp_path))
    path.parent.mkdir(parents=True, exist_ok=True)
    key = CLIENTS[client].keys[0]
    before = {
        "z": 1,
        "théme": "dark ☾",
        key: {"other": {"command": "x"}, "memhold": {"command": "old"}},
        "a": [1.5, None],
    }
    path.write_text(json.dumps(before, indent=4, ensure_ascii=False), encoding="utf-8")
    path.chmod(0o640)
    done = install(client, COMMAND, place(tmp_path))
    after = json.loads(path.read_text(encoding="utf-8"))
    assert list(after) == list(before)
    assert after[key].pop("memhold") != before[key].pop("memhold")
    assert after == before
    assert "☾" in path.read_text(encoding="utf-8")
    assert '\n    "z"' in path.read_text(encoding="utf-8")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert done.backup is not None
    assert json.loads(done.backup.read_text(encoding="utf-8"))[key]["memhold"] == {"command": "old"}


TOMLS = {
    "empty": "",
    "comments": '# mine\nmodel = "o9" # best\n\n[mcp_servers.other]\ncommand = "x" # keep\n',
    "old entry": '[mcp_servers.memhold]\ncommand = "old"\nargs = ["[x]"]\n\n[mcp_servers.memhold.env]\nA = "1"\n\n[tui]\nb = 2\n',
    "quoted": '[mcp_servers."memhold"]\ncommand = "old"\n[[profiles]]\nname = "p"\n',
    "no newline": 'model = "o9"',
    "brackets in text": 'notice = """\n[mcp_servers.memhold]\nis a table\n"""\n',
}


@pytest.mark.parametrize("before", TOMLS.values(), ids=TOMLS)
def test_everything_else_in_a_toml_file_stays(before: str, tmp_path: Path) -> None:
    path = CLIENTS["codex"].path(place(tmp_path))
    path.parent.mkdir(parents=True)
    path.write_text(before)
    try:
        install("codex", COMMAND, place(tmp_path))
    except InvalidInput:
        # Text that only looks like the table: nothing is better than a guess.
        assert "notice" in before
        assert path.read_text() == before
        return
    after, wanted = tomllib.loads(path.read_text()), tomllib.loads(before)
    wanted.setdefault("mcp_servers", {})["memhold"] = {
        "command": COMMAND[0],
        "args": COMMAND[1:],
        "startup_timeout_sec": 20,
    }
    assert after == wanted
    assert all(line in path.read_text() for line in before.splitlines() if "#" in line)


REFUSED = {
    ("cursor", "{ not json"): "not plain JSON",
    ("vscode", '{\n  // mine\n  "servers": {}\n}'): "not plain JSON",
    ("cursor", "[1, 2]"): "no object",
    ("cursor", '{"mcpServers": []}'): "no object",
    ("codex", "a = = b"): "not TOML",
    ("codex", "mcp_servers = 3"): "no table",
    ("codex", 'mcp_servers = { memhold = { command = "x" } }'): "cannot be replaced",
}


@pytest.mark.parametrize(("client", "before"), REFUSED, ids=lambda value: str(value)[:20])
def test_a_file_that_cannot_be_read_is_left_alone(client: str, before: str, tmp_path: Path) -> None:
    path = CLIENTS[client].path(place(tmp_path))
    path.parent.mkdir(parents=True)
    path.write_text(before)
    with pytest.raises(InvalidInput, match=REFUSED[client, before]) as refused:
        install(client, COMMAND, place(tmp_path))
    assert str(path) in str(refused.value)
    assert "left as it is" in str(refused.value)
    assert path.read_text() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_link_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text("{}")
    link = CLIENTS["cursor"].path(place(tmp_path))
    link.parent.mkdir()
    link.symlink_to(real)
    install("cursor", COMMAND, place(tmp_path))
    assert link.is_symlink()
    assert "memhold" in real.read_text()


def test_a_write_that_fails_leaves_the_file_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = CLIENTS["cursor"].path(place(tmp_path))
    path.parent.mkdir()
    path.write_text('{"a": 1}')

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        install("cursor", COMMAND, place(tmp_path))
    assert path.read_text() == '{"a": 1}'
    assert {one.name for one in path.parent.iterdir()} <= {"mcp.json", "mcp.json.before-memhold"}


# ------------------------------------------------------------------------------------------------ the command


def test_the_command_prints_and_writes(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": "", "CODEX_HOME": "", "CLAUDE_CONFIG_DIR": ""}
    options = ("--user", "alice", "--namespace", "acme", "--db", "sqlite:///memory.db")
    printed = process("mcp", "install", "cursor", "--print", *options, env=home, cwd=tmp_path)
    assert printed.returncode == 0, printed.stderr
    entry = json.loads(printed.stdout)["mcpServers"]["memhold"]
    db = str(tmp_path / "memory.db")
    assert entry["args"][-7:] == ["mcp", "--db", db, "--namespace", "acme", "--user", "alice"]
    assert Path(entry["command"]).is_absolute()
    assert not (tmp_path / ".cursor").exists()
    written = process("mcp", "install", "cursor", *options, "--json", env=home, cwd=tmp_path)
    told = json.loads(written.stdout)
    assert 0 < told.pop("seconds") < CLIENTS["cursor"].waits
    assert told == {
        "path": str(tmp_path / ".cursor" / "mcp.json"),
        "changed": True,
        "backup": None,
        "tools": list(TOOLS),
        "status": "0 messages in 0 sessions; no memories.",
    }
    assert json.loads((tmp_path / ".cursor" / "mcp.json").read_text())["mcpServers"]["memhold"] == entry
    again = process("mcp", "install", "cursor", *options, env=home, cwd=tmp_path)
    assert "has it already" in again.stdout
    (tmp_path / ".cursor" / "mcp.json").write_text("{ nothing")
    refused = process("mcp", "install", "cursor", *options, env=home, cwd=tmp_path)
    assert refused.returncode == 2
    assert "left as it is" in refused.stderr
    assert process("mcp", "install", "nonesuch", env=home).returncode == 2


def test_a_server_that_cannot_serve_is_not_written(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "CODEX_HOME": ""}
    refused = process("mcp", "install", "codex", "--user", "a\u200bb", "--db", str(tmp_path / "m.db"), env=home)
    assert refused.returncode != 0
    assert "nothing was written" in refused.stderr
    assert not (tmp_path / ".codex").exists()


def test_a_store_that_cannot_be_opened_is_said(tmp_path: Path) -> None:
    (tmp_path / "broken.db").write_text("this is no store, and it is longer than a header of one\n" * 10)
    home = {"HOME": str(tmp_path), "CODEX_HOME": ""}
    written = process("mcp", "install", "codex", "--db", str(tmp_path / "broken.db"), env=home)
    assert written.returncode == 0, written.stderr
    assert "it listed 10 tools" in written.stdout
    assert "cannot be opened" in written.stdout


def script(folder: Path, text: str) -> list[str]:
    path = folder / "server.py"
    path.write_text(text)
    return [sys.executable, str(path)]


def test_a_trial_gives_the_environment_that_the_client_passes_on(tmp_path: Path) -> None:
    noting = "import json, os, pathlib; pathlib.Path('env.json').write_text(json.dumps(dict(os.environ)))"
    where = Place(
        system="linux", home=tmp_path, environment={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SECRET": "s"}
    )
    for client, passed in {"codex": False, "claude-desktop": False, "claude-code": True, "opencode": True}.items():
        environment = CLIENTS[client].environment(where)
        done = try_start(script(tmp_path, noting), environment=environment, folder=tmp_path, seconds=30)
        assert done.problem == "it ended with exit code 0"
        seen = json.loads((tmp_path / "env.json").read_text())
        assert ("SECRET" in seen, seen["HOME"]) == (passed, str(tmp_path))


WRONG = {
    "import sys; sys.exit('no such store')": "it ended with exit code 1: no such store",
    "import time; print('{}', flush=True); time.sleep(600)": "it listed no tools within 4 s",
    'print(\'{"id": 2, "result": {"tools": 5}}\', flush=True); input()': "not as the protocol wants",
    'print(\'{"id": 2, "error": {}}\', flush=True)': "it ended with exit code 0",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_trial_says_what_went_wrong_and_leaves_nothing_running(text: str, tmp_path: Path) -> None:
    noting = f"import os, pathlib; pathlib.Path('pid').write_text(str(os.getpid()))\n{text}"
    # The one that sleeps is ended; how long the others take to start is the machine's affair.
    seconds = 4 if "sleep" in text else 60
    done = try_start(script(tmp_path, noting), environment=os.environ, folder=tmp_path, seconds=seconds)
    assert done.problem is not None
    assert WRONG[text] in done.problem
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_trial_of_what_is_not_there(tmp_path: Path) -> None:
    done = try_start([str(tmp_path / "nothing")], environment={}, folder=tmp_path, seconds=2)
    assert done.problem == f"{tmp_path / 'nothing'} cannot be started (No such file or directory)"
