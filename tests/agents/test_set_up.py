"""`memhold agent`: into a client's own files, and out again, with everything else as it was."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest

import memhold
from memhold.errors import InvalidInput
from memhold.faces.agents.hook import EVENTS
from memhold.faces.agents.running import end
from memhold.faces.agents.set_up import AGENTS, hooks_of, set_up, state_of, take_out
from memhold.faces.mcp.install import CLIENTS, Place, python_alone
from memhold.faces.mcp.listing import kept_listing
from memhold.faces.mcp.prompts import CORE_INSTRUCTIONS, IN_PROJECT
from memhold.faces.mcp.where import with_where
from tests.interfaces.conftest import process
from tests.patience import until

SERVER = ["/opt/memhold", "mcp", "--db", "/home/a b/memory.db"]
OPTIONS = ["--db", "/home/a b/memory.db", "--user", "Zoë"]
MINE = {"hooks": [{"type": "command", "command": "say done"}]}
SETTINGS: dict[str, Any] = {
    "model": "opus",
    "hooks": {
        "Stop": [MINE, {"hooks": [{"type": "command", "command": "memhold hook Stop --user me"}]}],
        "PostToolUse": [{"matcher": "Edit", **MINE}],
        "Notification": [],
        "SessionEnd": [],
    },
    "theme": "dark ☾",
}


SAID = json.dumps(SETTINGS, ensure_ascii=False).replace('"theme"', '\n   "theme"')
"""The same as a person wrote it: no program would set it so."""


def place(folder: Path) -> Place:
    return Place(system="linux", home=folder, environment={})


def held(agent: str, folder: Path) -> dict[str, Any]:
    path = CLIENTS[agent].path(place(folder))
    if not path.exists():
        return {}
    text = path.read_text(encoding="utf-8")
    return tomllib.loads(text) if CLIENTS[agent].toml else json.loads(text)


BEFORE = {
    "claude-code": '{"a": 1, "mcpServers": {"other": {"command": "x"}}, "z": 2}',
    "codex": '# mine\nmodel = "o9"\n\n[mcp_servers.other]\ncommand = "x"\n\n\n',
    "opencode": '{"mcp": {"other": {"type": "local"}}, "plugin": ["theirs", ["other", {}]], "theme": "t"}',
}


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("there", [True, False])
def test_in_and_out_leaves_what_was_there(agent: str, there: bool, tmp_path: Path) -> None:  # noqa: FBT001
    path, hooks = CLIENTS[agent].path(place(tmp_path)), hooks_of(agent, place(tmp_path))
    if there:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(BEFORE[agent], encoding="utf-8")
        if hooks != path:
            hooks.parent.mkdir(parents=True, exist_ok=True)
            hooks.write_text(SAID, encoding="utf-8")
    before = held(agent, tmp_path)
    done = set_up(agent, SERVER, OPTIONS, place(tmp_path))
    assert (done.tools, done.hooks) == (True, AGENTS[agent])
    copy = path.with_name(f"{path.name}.before-memhold")
    assert (copy.read_text(encoding="utf-8") == BEFORE[agent]) if there else not copy.exists()
    first = {one: Path(one).read_bytes() for one in done.files}
    assert set_up(agent, SERVER, OPTIONS, place(tmp_path)) == done
    assert {one: Path(one).read_bytes() for one in done.files} == first
    gone = take_out(agent, place(tmp_path))
    assert (gone.tools, gone.hooks) == (False, ())
    assert held(agent, tmp_path) == before
    assert list(held(agent, tmp_path)) == list(before)
    assert path.exists() == there
    if there:
        assert path.read_text(encoding="utf-8") == BEFORE[agent]
    if hooks != path:
        assert hooks.exists() == there
        if there:
            assert hooks.read_text(encoding="utf-8") == SAID
    assert take_out(agent, place(tmp_path)) == gone
    assert sorted(one for one in tmp_path.rglob("*") if one.is_file()) == sorted({path, hooks} if there else ())
    assert there or {one.name for one in tmp_path.rglob("*")} <= {".config"}, "the agent's folder was ours alone"


@pytest.mark.parametrize("agent", AGENTS)
def test_the_copy_is_of_what_the_user_had_and_stays_where_it_is_needed(agent: str, tmp_path: Path) -> None:
    path = CLIENTS[agent].path(place(tmp_path))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(BEFORE[agent], encoding="utf-8")
    copy = path.with_name(f"{path.name}.before-memhold")
    set_up(agent, SERVER, OPTIONS, place(tmp_path))
    set_up(agent, [*SERVER, "--user", "another"], ["--db", "/other.db"], place(tmp_path))
    assert copy.read_text(encoding="utf-8") == BEFORE[agent]
    added = 'model = "mine"\n' if agent == "codex" else None
    text = path.read_text(encoding="utf-8")
    path.write_text(f"{added}{text}" if added else json.dumps({**json.loads(text), "mine": 1}), encoding="utf-8")
    take_out(agent, place(tmp_path))
    assert copy.read_text(encoding="utf-8") == BEFORE[agent]
    assert "mine" in path.read_text(encoding="utf-8")


def test_a_comment_that_the_user_wrote_since_stays(tmp_path: Path) -> None:
    path = CLIENTS["codex"].path(place(tmp_path))
    path.parent.mkdir(parents=True)
    path.write_text(BEFORE["codex"], encoding="utf-8")
    set_up("codex", SERVER, OPTIONS, place(tmp_path))
    path.write_text(f"# since\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
    take_out("codex", place(tmp_path))
    assert path.read_text(encoding="utf-8").startswith("# since\n# mine\n")
    assert [one.name for one in path.parent.iterdir()] == ["config.toml"]


@pytest.mark.parametrize("agent", AGENTS)
def test_installed_twice_where_nothing_was_it_leaves_nothing(agent: str, tmp_path: Path) -> None:
    set_up(agent, SERVER, OPTIONS, place(tmp_path))
    set_up(agent, [*SERVER, "--user", "another"], ["--db", "/other.db"], place(tmp_path))
    take_out(agent, place(tmp_path))
    assert [one for one in tmp_path.rglob("*") if one.is_file()] == []


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_a_hook_that_a_person_put_beside_ours_stays_and_ours_goes(agent: str, tmp_path: Path) -> None:
    """One may be written into the group that is there."""
    set_up(agent, SERVER, OPTIONS, place(tmp_path))
    path = hooks_of(agent, place(tmp_path))
    told = json.loads(path.read_text())
    (ours,) = told["hooks"]["PreCompact"][0]["hooks"]
    told["hooks"]["PreCompact"][0]["hooks"] += MINE["hooks"]
    path.write_text(json.dumps(told))
    assert "PreCompact" in state_of(agent, place(tmp_path)).hooks
    set_up(agent, SERVER, OPTIONS, place(tmp_path))
    assert json.loads(path.read_text())["hooks"]["PreCompact"] == [MINE, {"hooks": [ours]}]
    assert take_out(agent, place(tmp_path)).hooks == ()
    assert json.loads(path.read_text()) == {"hooks": {"PreCompact": [MINE]}}


def test_hooks_that_an_earlier_memhold_wrote_at_more_events_go(tmp_path: Path) -> None:
    """One at the end of each turn took no note that the prompt's had not, and held the turn up (decision 0045)."""
    set_up("claude-code", SERVER, OPTIONS, place(tmp_path))
    path = hooks_of("claude-code", place(tmp_path))
    now = json.loads(path.read_text())
    ours = json.dumps(now["hooks"]["PreCompact"][0])
    more = {event: [json.loads(ours.replace("PreCompact", event))] for event in ("Stop", "SubagentStop")}
    path.write_text(json.dumps({"hooks": {**now["hooks"], **more}}))
    before = state_of("claude-code", place(tmp_path))
    assert before.hooks == EVENTS
    assert "Stop, SubagentStop holds turns up" in before.note
    after = set_up("claude-code", SERVER, OPTIONS, place(tmp_path))
    assert (after.hooks, after.note) == (AGENTS["claude-code"], "")
    assert json.loads(path.read_text()) == now


@pytest.mark.parametrize("agent", AGENTS)
def test_no_module_of_a_project_is_run_by_its_hooks(agent: str, tmp_path: Path) -> None:
    """A hook runs in the folder of what was cloned; neither it nor the Memhold that it starts looks for modules there."""
    project, meeting = tmp_path / "cloned", Path(tempfile.mkdtemp(prefix="mh-"))
    project.mkdir()
    for name in ("argparse", "asyncio", "contextlib", "json", "memhold"):
        (project / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r})\n")
    db = tmp_path / "memory.db"
    set_up(agent, SERVER, ["--db", str(db)], place(tmp_path))
    told = json.loads(hooks_of(agent, place(tmp_path)).read_text())
    if agent == "opencode":
        command = [*told["plugin"][0][1]["hook"], "SessionStart"]
    else:
        command = shlex.split(told["hooks"]["SessionStart"][0]["hooks"][0]["command"])
    # An empty entry, as `export PYTHONPATH=$PYTHONPATH:/opt/x` leaves it, is the folder too.
    env = {**os.environ, "XDG_RUNTIME_DIR": str(meeting), "HOME": str(tmp_path), "PYTHONPATH": ":/opt/x"}
    say = json.dumps({"transcript_path": str(tmp_path / "t.jsonl"), "session_id": "s", "cwd": str(project)})
    done = subprocess.run(
        command, input=say, text=True, capture_output=True, cwd=project, env=env, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [*tmp_path.glob("memory.db.spool/*.json")]
    # The Memhold that it started listens, or has failed for good.
    until(lambda: [*meeting.glob("memhold/*.sock")] or (tmp_path / "ran").exists())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(meeting))
        # It is told so again where it was too busy to listen.
        until(lambda: end(str(db)) or not [*meeting.glob("memhold/*.sock")])
    assert not (tmp_path / "ran").exists()
    shutil.rmtree(meeting, ignore_errors=True)


def test_a_memory_that_is_found_by_a_variable_of_pythons_is_found_by_its_hooks(tmp_path: Path) -> None:
    root = Path(memhold.__file__).parents[1]
    (tmp_path / "link").symlink_to(root)
    for named, alone in (
        ({}, True),
        ({"PYTHONPATH": f":{tmp_path}"}, True),
        ({"PYTHONPATH": str(Path(click.__file__).parents[1])}, False),  # what it needs is found there alone
        ({"PYTHONPATH": f"/opt/x:{root}"}, False),
        ({"PYTHONPATH": f"{tmp_path / 'link'}"}, False),
        ({"PYTHONUSERBASE": "/opt/x"}, False),
    ):
        assert python_alone(named) == [sys.executable, *(["-E"] if alone else []), "-P"], named


@pytest.mark.parametrize("flag", ["-P", "-E"])
@pytest.mark.parametrize("agent", AGENTS)
def test_hooks_that_run_modules_of_the_project_are_told_of(agent: str, flag: str, tmp_path: Path) -> None:
    """Those of before `-P` and `-E` run on: whoever asks is to know."""
    set_up(agent, SERVER, OPTIONS, place(tmp_path))
    path = hooks_of(agent, place(tmp_path))
    fresh = state_of(agent, place(tmp_path)).note
    assert "earlier" not in fresh
    path.write_text(path.read_text().replace(f" {flag} ", " ", 1).replace(f'"{flag}",', ""))
    held = state_of(agent, place(tmp_path))
    assert held.hooks == AGENTS[agent]
    assert f"'memhold agent install {agent}'" in held.note
    assert set_up(agent, SERVER, OPTIONS, place(tmp_path)).note == fresh


def test_opencodes_plug_in_is_told_what_to_call(tmp_path: Path) -> None:
    done = set_up("opencode", SERVER, OPTIONS, place(tmp_path))
    (config,) = map(Path, done.files)
    (spec, given) = json.loads(config.read_text())["plugin"][0]
    assert Path(spec.removeprefix("file://")).read_text().count("export default") == 1
    assert given == {"hook": [sys.executable, "-E", "-P", "-m", "memhold.faces.agents.hook", *OPTIONS]}
    # One that a former Memhold left, in another place, is ours too.
    config.write_text(json.dumps({"plugin": [["file:///gone/memhold/faces/agents/opencode.ts", given], "theirs"]}))
    set_up("opencode", SERVER, OPTIONS, place(tmp_path))
    assert json.loads(config.read_text())["plugin"] == ["theirs", [spec, given]]
    config.write_text('{"plugin": "theirs"}')
    with pytest.raises(InvalidInput, match="left as it is"):
        set_up("opencode", SERVER, OPTIONS, place(tmp_path))
    assert config.read_text() == '{"plugin": "theirs"}'


def test_codex_runs_hooks_that_are_on_and_trusted(tmp_path: Path) -> None:
    done = set_up("codex", SERVER, OPTIONS, place(tmp_path))
    config, hooks = (Path(one) for one in done.files)
    assert "once you have trusted them" in done.note
    before = config.read_text()
    config.write_text(f"[features]\nhooks = false\n\n{before}")
    assert "hooks are off" in state_of("codex", place(tmp_path)).note
    config.write_text(f'{before}\n[hooks.state."{hooks}:stop:0:0"]\ntrusted_hash = "sha256:00"\n')
    assert state_of("codex", place(tmp_path)).note == ""
    assert take_out("codex", place(tmp_path)).note == ""


def test_what_the_user_changed_since_stays(tmp_path: Path) -> None:
    set_up("claude-code", SERVER, OPTIONS, place(tmp_path))
    hooks = hooks_of("claude-code", place(tmp_path))
    changed = json.loads(hooks.read_text())
    changed["hooks"]["SessionEnd"].append(MINE)
    changed["model"] = "haiku"
    hooks.write_text(json.dumps(changed))
    take_out("claude-code", place(tmp_path))
    assert json.loads(hooks.read_text()) == {"model": "haiku", "hooks": {"SessionEnd": [MINE]}}


def test_another_set_up_takes_the_place_of_ours(tmp_path: Path) -> None:
    set_up("claude-code", SERVER, OPTIONS, place(tmp_path))
    set_up("claude-code", SERVER, ["--db", "/other.db"], place(tmp_path))
    hooks = hooks_of("claude-code", place(tmp_path))
    groups = json.loads(hooks.read_text())["hooks"]
    assert {len(one) for one in groups.values()} == {1}
    assert "/other.db" in groups["SessionEnd"][0]["hooks"][0]["command"]
    assert "Zoë" not in hooks.read_text()


@pytest.mark.parametrize("text", ["{ nothing", "[1]", '{"hooks": []}', '{"hooks": 5}'])
def test_a_file_that_is_something_else_is_left_alone(text: str, tmp_path: Path) -> None:
    hooks = hooks_of("claude-code", place(tmp_path))
    hooks.parent.mkdir()
    hooks.write_text(text)
    with pytest.raises(InvalidInput, match="left as it is"):
        set_up("claude-code", SERVER, OPTIONS, place(tmp_path))
    with pytest.raises(InvalidInput, match="left as it is"):
        take_out("claude-code", place(tmp_path))
    assert hooks.read_text() == text
    assert not state_of("claude-code", place(tmp_path)).hooks
    assert not (tmp_path / ".claude.json").exists()


def files(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {str(one): (one.stat().st_mode, one.read_bytes()) for one in folder.rglob("*") if one.is_file()}


_HELD = '{\n    "a": 1.50,\n    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "m\\u00efne"}]}]}\n}\n'
_TABLE = '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "x"\n'
ODD: dict[str, tuple[bytes, bytes]] = {
    "a byte order mark": (b"\xef\xbb\xbf" + _HELD.encode(), b"\xef\xbb\xbf" + _TABLE.encode()),
    "lines of Windows": (_HELD.replace("\n", "\r\n").encode(), _TABLE.replace("\n", "\r\n").encode()),
    "lines of both": (_HELD.replace("\n", "\r\n", 1).encode(), _TABLE.replace("\n", "\r\n", 1).encode()),
    "no last line end": (_HELD.strip().encode(), _TABLE.strip().encode()),
    "nothing": (b"", b""),
    "white space": (b" \n\n", b"\n\n"),
    "holders of nothing": (b'{"hooks": {}, "mcpServers": {}, "mcp": {}, "plugin": []}', b"[mcp_servers]\n"),
    "half a pair": (b'{"a": "\\ud800"}', b'a = "\\u00ef"\n'),
}
"""Files of JSON and of TOML as people have them."""


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("linked", [False, True], ids=["", "a link"])
@pytest.mark.parametrize("odd", ODD)
def test_odd_files_are_the_same_again_byte_for_byte(agent: str, odd: str, linked: bool, tmp_path: Path) -> None:  # noqa: FBT001
    path, hooks = CLIENTS[agent].path(place(tmp_path)), hooks_of(agent, place(tmp_path))
    for number, one in enumerate({path, hooks}):
        one.parent.mkdir(parents=True, exist_ok=True)
        real = tmp_path / f"kept-{number}" if linked else one
        real.write_bytes(ODD[odd][one.suffix == ".toml"])
        real.chmod(0o640)
        if linked:
            one.symlink_to(real)
    before = files(tmp_path)
    for _ in range(2):
        done = set_up(agent, SERVER, OPTIONS, place(tmp_path))
        assert (done.tools, done.hooks) == (True, AGENTS[agent])
    written = path.read_bytes()
    assert written.startswith(b"\xef\xbb\xbf") == (odd == "a byte order mark")
    assert (b"\r\n" in written) == odd.startswith("lines")
    for _ in range(2):
        take_out(agent, place(tmp_path))
        assert files(tmp_path) == before


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(
    "text",
    [
        b"{ nothing",
        b"\xff\xfe{\x00}\x00",
        b'{"a": ' + b"[" * 100_000,
        b"[]",
        b'{"hooks": {"PreCompact": {"a": 1}}, "mcp": 1}',
    ],
)
def test_a_file_that_cannot_be_changed_changes_none(agent: str, text: bytes, tmp_path: Path) -> None:
    path, hooks = CLIENTS[agent].path(place(tmp_path)), hooks_of(agent, place(tmp_path))
    for one in (path, hooks):
        one.parent.mkdir(parents=True, exist_ok=True)
        one.write_bytes(SAID.encode())
    (hooks if b"PreCompact" in text else path).write_bytes(text)
    before = files(tmp_path)
    with pytest.raises(InvalidInput, match="left as it is"):
        set_up(agent, SERVER, OPTIONS, place(tmp_path))
    assert state_of(agent, place(tmp_path)).hooks == ()
    assert files(tmp_path) == before


def test_a_folder_that_cannot_be_written_is_told_by_the_name_of_the_clients_file(tmp_path: Path) -> None:
    def refuses(**_: object) -> None:
        raise PermissionError(13, "Permission denied", str(tmp_path / "..claude.json.x8y"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.mkstemp", refuses)
        with pytest.raises(PermissionError) as refused:
            set_up("claude-code", SERVER, OPTIONS, place(tmp_path))
    assert refused.value.filename == str(tmp_path / ".claude" / "settings.json")


def test_the_commands(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": "", "CODEX_HOME": "", "CLAUDE_CONFIG_DIR": ""}
    options = ("--user", "alice", "--session", "s", "--db", str(tmp_path / "memory.db"))
    done = process("agent", "install", "claude-code", *options, env=home, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "it listed 5 tools" in done.stdout
    shown = json.loads(process("agent", "status", "--json", env=home, cwd=tmp_path).stdout)["agents"]
    assert [(one["agent"], one["tools"], len(one["hooks"])) for one in shown] == [
        ("claude-code", True, len(AGENTS["claude-code"])),
        ("codex", False, 0),
        ("opencode", False, 0),
    ]
    settings = json.loads((tmp_path / ".claude" / "settings.json").read_text())
    (group,) = settings["hooks"]["SessionEnd"]
    assert "--user alice" in group["hooks"][0]["command"]
    # The plug-in's tools and hooks stand back: one set is enough.
    told = json.dumps({"transcript_path": str(tmp_path / "t.jsonl"), "session_id": "s"})
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    asked = [
        {"method": "initialize", "id": 1, "params": hello},
        {"method": "tools/list", "id": 2, "params": {}},
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in asked)

    def plugged() -> tuple[int, bool]:
        out = process("mcp", "--plugin", *options[4:], env=home, cwd=tmp_path, input=lines).stdout
        hook = [sys.executable, "-m", "memhold.faces.agents.hook", "Stop", "--plugin", *options[4:]]
        subprocess.run(hook, input=told, text=True, check=True, env={**os.environ, **home}, timeout=60)
        (listed,) = (found for line in out.splitlines() if (found := json.loads(line)).get("id") == 2)
        return len(listed["result"]["tools"]), bool([*tmp_path.glob("memory.db.spool/*.json")])

    assert plugged() == (0, False)
    gone = process("agent", "uninstall", "claude-code", env=home, cwd=tmp_path)
    assert "no tools, no hooks" in gone.stdout
    assert plugged() == (10, True)
    assert not (tmp_path / ".claude.json").exists()
    assert not (tmp_path / ".claude" / "settings.json").exists()


async def test_a_coding_agent_is_told_of_five_tools_in_few_words() -> None:
    """They stand in every request: as a client sends them they take no more than 1,800 tokens, of 3.5 characters each."""
    listing = with_where(kept_listing(core=True))
    assert set(listing) == {"remember", "recall", "correct", "forget", "memory_status"}
    sent = [
        {"name": name, "description": one["tool"]["description"], "input_schema": one["tool"]["inputSchema"]}
        for name, one in listing.items()
    ]
    assert len(json.dumps(sent) + CORE_INSTRUCTIONS + IN_PROJECT) <= 1_800 * 3.5
