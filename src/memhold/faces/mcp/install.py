"""Where each MCP client keeps its list of servers, and how Memhold is written into it without touching the rest."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memhold.ports.data_home import home
from memhold.ports.durable_files import make_folder, sync_file, sync_folder
from memhold.values.errors import InvalidInput

__all__ = [
    "CLIENTS",
    "Client",
    "Installed",
    "Place",
    "bring_back",
    "changed_json",
    "install",
    "is_installed",
    "launcher",
    "place_of",
    "planned",
    "python_alone",
    "remove",
    "snippet",
    "with_entry",
    "without_entry",
]

NAME = "memhold"
_TOML_HEADER = re.compile(r"^\s*\[")
_REQUIRED = re.compile(r"[^A-Za-z0-9._-]")
"""What ends the name in a requirement."""
_BARE_KEY = re.compile(r"^[A-Za-z0-9_-]+$")
_MARK = "\ufeff"
_COPY = ".before-memhold"
"""Behind a file's name: the copy of what stood in it before us."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The machine that is asked: its kind, the user's home folder and the environment."""

    system: str
    home: Path
    environment: Mapping[str, str]

    def config(self) -> Path:
        """Where applications of this system keep what the user set."""
        if self.system == "darwin":
            return self.home / "Library" / "Application Support"
        if self.system == "win32":
            return Path(self.environment.get("APPDATA") or self.home / "AppData" / "Roaming")
        return self.xdg()

    def xdg(self) -> Path:
        """`$XDG_CONFIG_HOME`, or where it is by default."""
        return Path(self.environment.get("XDG_CONFIG_HOME") or self.home / ".config")


def place_of() -> Place:
    """This machine."""
    return Place(system=sys.platform, home=home(), environment=os.environ)


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One MCP client: its file, the keys that lead to its servers, and an entry in its words.

    Attributes:
        passes: the variables of its environment that it gives to a server; None where it gives all.
        waits: for how long it waits for a server to start, in seconds, by what the entry says or by itself.
        in_folder: whether it starts a server in the folder of the project that is worked on.
    """

    title: str
    path: Callable[[Place], Path]
    keys: tuple[str, ...]
    entry: Callable[[Sequence[str]], dict[str, Any]]
    toml: bool = False
    passes: frozenset[str] | None = None
    waits: float = 30.0
    in_folder: bool = False

    def environment(self, place: Place) -> dict[str, str]:
        """What a server that this client starts finds in its environment."""
        return {name: one for name, one in place.environment.items() if self.passes is None or name in self.passes}


def _split(command: Sequence[str]) -> dict[str, Any]:
    return {"command": command[0], "args": list(command[1:])}


def _typed(command: Sequence[str]) -> dict[str, Any]:
    return {"type": "stdio", **_split(command)}


def _claude_code(command: Sequence[str]) -> dict[str, Any]:
    # Otherwise the first request names the tools and no more, and the model must look for them before it remembers.
    return {**_typed(command), "alwaysLoad": True}


CODEX_WAITS = 20


def _codex(command: Sequence[str]) -> dict[str, Any]:
    # Not `required`: with that Codex ends where a server cannot start. One that is late is in the next request.
    return {**_split(command), "startup_timeout_sec": CODEX_WAITS}


def _opencode(command: Sequence[str]) -> dict[str, Any]:
    return {"type": "local", "command": list(command), "enabled": True}


def _opencode_path(place: Place) -> Path:
    # It reads this folder on every system; of the two names the one that is there already.
    folder = place.xdg() / "opencode"
    commented = folder / "opencode.jsonc"
    return commented if commented.exists() else folder / "opencode.json"


_SDK_PASSES = frozenset({"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"})
"""What the protocol's TypeScript SDK passes on of its own accord."""
_CODEX_PASSES = _SDK_PASSES | {"LANG", "LC_ALL", "TMPDIR", "TZ", "__CF_USER_TEXT_ENCODING"}

CLIENTS: Mapping[str, Client] = {
    "claude-code": Client(
        title="Claude Code",
        path=lambda place: (
            Path(place.environment["CLAUDE_CONFIG_DIR"]) / ".claude.json"
            if place.environment.get("CLAUDE_CONFIG_DIR")
            else place.home / ".claude.json"
        ),
        keys=("mcpServers",),
        entry=_claude_code,
        in_folder=True,
    ),
    "claude-desktop": Client(
        title="Claude Desktop",
        path=lambda place: place.config() / "Claude" / "claude_desktop_config.json",
        keys=("mcpServers",),
        entry=_split,
        passes=_SDK_PASSES,
    ),
    "cursor": Client(
        title="Cursor",
        path=lambda place: place.home / ".cursor" / "mcp.json",
        keys=("mcpServers",),
        entry=_split,
    ),
    "codex": Client(
        title="Codex",
        path=lambda place: Path(place.environment.get("CODEX_HOME") or place.home / ".codex") / "config.toml",
        keys=("mcp_servers",),
        entry=_codex,
        toml=True,
        passes=_CODEX_PASSES,
        waits=CODEX_WAITS,
        in_folder=True,
    ),
    "vscode": Client(
        title="VS Code",
        path=lambda place: place.config() / "Code" / "User" / "mcp.json",
        keys=("servers",),
        entry=_typed,
    ),
    "opencode": Client(title="opencode", path=_opencode_path, keys=("mcp",), entry=_opencode, in_folder=True),
}
"""Every client by the name that the command line takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What an installation did: the file, whether it changed, and the copy of what stood there before."""

    client: str
    path: Path
    changed: bool
    backup: Path | None


def python_alone(environment: Mapping[str, str]) -> list[str]:
    """How our modules are run in a folder of which nothing is to be imported: this Python, and what it is told.

    `-P` keeps the folder out. `-E` does so where PYTHONPATH has an empty or a relative entry, which is the folder too;
    it is left out where one of Python's variables says where this Memhold is, or something that it needs.
    """
    named = {Path(one).resolve() for one in environment.get("PYTHONPATH", "").split(os.pathsep) if one}
    needed = _stands_in(named) or any(environment.get(name) for name in ("PYTHONHOME", "PYTHONUSERBASE"))
    return [sys.executable, "-P"] if needed else [sys.executable, "-E", "-P"]


def _stands_in(folders: Set[Path]) -> bool:
    """Whether this Memhold is in one of these folders, or a package that it needs is there and nowhere else."""
    if not folders:
        return False
    if Path(__file__).resolve().parents[3] in folders:
        return True
    from importlib.metadata import distributions  # a third of what this module takes to load

    others = [one for one in sys.path if Path(one).resolve() not in folders]
    seen, left = {NAME}, [NAME]
    while left:
        name = left.pop()
        found = next(iter(distributions(name=name)), None)
        if found is None:  # it is not installed, as what an extra needs may be
            continue
        if name != NAME and not any(distributions(name=name, path=others)):
            return True
        # Of our own extras too: whoever installed one uses it.
        needs = [one for one in found.requires or () if name == NAME or "extra ==" not in one]
        more = {_REQUIRED.split(one, maxsplit=1)[0] for one in needs} - seen
        seen |= more
        left += more
    return False


def launcher(*, in_folder: bool = False) -> list[str]:
    """How a client starts Memhold: by an absolute path, since applications do not have a shell's PATH.

    With `in_folder` it starts it in the folder of a project, of which no module is to be run.
    """
    if in_folder:
        return [*python_alone(os.environ), "-m", "memhold"]
    beside = Path(sys.executable).with_name("memhold.exe" if sys.platform == "win32" else "memhold")
    if beside.exists():
        return [str(beside)]
    found = shutil.which("memhold")
    return [str(Path(found).absolute())] if found else [sys.executable, "-P", "-m", "memhold"]


def snippet(client: str, command: Sequence[str]) -> str:
    """What has to stand in the client's file, as text."""
    one = CLIENTS[client]
    entry = one.entry(command)
    if one.toml:
        return _toml_block(one, entry)
    wrapped: dict[str, Any] = {NAME: entry}
    for key in reversed(one.keys):
        wrapped = {key: wrapped}
    return json.dumps(wrapped, indent=2, ensure_ascii=False) + "\n"


def install(client: str, command: Sequence[str], place: Place) -> Installed:
    """Write the entry into the client's file; everything else in it stays.

    The file is replaced in one step, and what stood there is kept beside it. Where the entry is there already, nothing
    is written. A link is followed.

    Raises:
        InvalidInput: the file cannot be read as what it should be; it was left as it is.
        OSError: it cannot be written.
    """
    path, before, after = planned(client, command, place)
    if after == before:
        return Installed(client=client, path=path, changed=False, backup=None)
    kept = path.with_name(f"{path.name}{_COPY}").exists()
    backup = _write(path, before, after, keep=not (kept and is_installed(client, place)))
    return Installed(client=client, path=path, changed=True, backup=backup)


def planned(client: str, command: Sequence[str], place: Place) -> tuple[Path, str, str]:
    """The client's file, what stands in it, and what would with our entry; nothing is written.

    Raises:
        InvalidInput: the file cannot be read as what it should be.
    """
    one = CLIENTS[client]
    path = Path(os.path.realpath(one.path(place)))
    try:
        before = _text_of(path)
    except (UnicodeDecodeError, IsADirectoryError) as error:
        raise InvalidInput(f"{path} is no text file ({error}); it was left as it is. Use --print") from None
    return path, before, (_merged_toml if one.toml else _merged_json)(before, client, command, path)


def _text_of(path: Path) -> str:
    """A file's text with the line ends and the byte order mark that it has; empty where there is no file."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def _end_of(text: str) -> str:
    """How the lines of a text end."""
    return "\r\n" if "\r\n" in text else "\n"


def _json_of(text: str) -> Any:
    """What a text of JSON says; nothing is an empty object.

    Raises:
        ValueError: it is none.
    """
    plain = text.removeprefix(_MARK)
    try:
        return json.loads(plain) if plain.strip() else {}
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _toml_of(text: str) -> dict[str, Any]:
    """What a text of TOML says.

    Raises:
        ValueError: it is none.
    """
    try:
        return tomllib.loads(text.removeprefix(_MARK))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _json_like(before: str, held: object) -> str:
    """JSON with the indent, the line ends and the byte order mark of what stood there."""
    text = json.dumps(held, indent=_indent(before), ensure_ascii=False) + "\n"
    try:
        text.encode()
    except UnicodeEncodeError:  # half a pair of surrogates, as JSON may say it
        text = json.dumps(held, indent=_indent(before)) + "\n"
    mark = _MARK if before.startswith(_MARK) else ""
    return mark + text.replace("\n", _end_of(before))


def is_installed(client: str, place: Place) -> bool:
    """Whether the client's file has an entry of ours; False where it cannot be read."""
    one = CLIENTS[client]
    try:
        text = _text_of(one.path(place))
        return _has_entry(client, _toml_of(text) if one.toml else _json_of(text))
    except (OSError, ValueError):
        return False


def _has_entry(client: str, held: Any) -> bool:
    for key in (*CLIENTS[client].keys, NAME):
        if not isinstance(held, dict) or key not in held:
            return False
        held = held[key]
    return True


def remove(client: str, place: Place) -> bool:
    """Take our entry out of the client's file, and what held only it; everything else stays. Whether it was there.

    Raises:
        InvalidInput: the file cannot be read as what it should be; it was left as it is.
        OSError: it cannot be written.
    """
    if not is_installed(client, place):
        return False
    one = CLIENTS[client]
    path = Path(os.path.realpath(one.path(place)))
    if not one.toml:
        return changed_json(path, lambda held: without_entry(client, held), keep=False)
    before = _text_of(path)
    (top,) = one.keys
    after = "".join(_without_table(before.splitlines(keepends=True), top))
    held, left = _toml_of(before), _toml_of(after)
    servers = {name: value for name, value in held[top].items() if name != NAME}
    if {top: {}, **left} != {**held, top: servers}:
        raise InvalidInput(f"{path} holds {top}.{NAME} in a way that cannot be taken out; it was left as it is")
    _write(path, before, after.rstrip("\r\n") + _end_of(before) if after.strip(f"{_MARK} \t\r\n") else "", keep=False)
    return True


def bring_back(client: str, path: Path) -> bool:
    """Put what stood in a file before us back, byte for byte, where the file holds the same again; whether it did.

    A copy with an entry of ours, of who wrote one by hand or installed twice, only goes. One that differs in something
    else stays, and so does the file: it was changed since, or something of it was not brought back.

    Raises:
        OSError: it cannot be put back, or removed.
    """
    path = Path(os.path.realpath(path))
    copy = path.with_name(f"{path.name}{_COPY}")
    if not copy.exists():
        return False
    kept = _read(copy)
    ours = _has_entry(client, kept)
    before = without_entry(client, kept) if ours else kept
    if _without_empty(before) != _without_empty(_read(path)):
        return False
    if ours or _is_toml_with_other_words(copy, path):
        copy.unlink()
    else:
        copy.replace(path)
    sync_folder(path.parent)
    return True


def _without_empty(held: Any) -> Any:
    """What was read, but for the lists and objects that hold nothing: ours may have been all that stood in one."""
    if isinstance(held, dict):
        left = {name: _without_empty(value) for name, value in held.items()}
        return {name: value for name, value in left.items() if value is not None} or None
    return held if held not in ([], "") else None


def _is_toml_with_other_words(copy: Path, path: Path) -> bool:
    """Whether the two differ in what only a person reads: comments, and where lines are empty."""
    if path.suffix != ".toml" or not path.exists():
        return False
    return copy.read_bytes().rstrip(b"\r\n") != path.read_bytes().rstrip(b"\r\n")


def _read(path: Path) -> Any:
    """What a file of JSON or TOML holds, None where it is not there; a text that is neither is itself."""
    try:
        text = _text_of(path)
    except (OSError, UnicodeDecodeError):
        return object()  # equal to nothing
    if not text:
        return None
    for reader in (_json_of, _toml_of):
        with suppress(ValueError):
            return reader(text)
    return text


def with_entry(client: str, held: Mapping[str, Any], command: Sequence[str], path: Path) -> dict[str, Any]:
    """What a client's file of JSON holds, with our entry put in, or put in the place of the old one.

    Raises:
        InvalidInput: something else stands where the servers should.
    """
    one = CLIENTS[client]

    def put(inner: Any, keys: Sequence[str]) -> dict[str, Any]:
        if not isinstance(inner, Mapping):
            raise InvalidInput(f"{path} holds no object at {'.'.join(one.keys)}; it was left as it is. Use --print")
        if not keys:
            return {**inner, NAME: one.entry(command)}
        return {**inner, keys[0]: put(inner.get(keys[0], {}), keys[1:])}

    return put(held, one.keys)


def without_entry(client: str, held: Mapping[str, Any]) -> dict[str, Any]:
    """What a client's file of JSON holds, without our entry, and without the objects that held nothing else."""

    def left(inner: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
        key, *deeper = keys
        if not isinstance(found := inner.get(key), Mapping):
            return dict(inner)
        kept = left(found, deeper) if deeper else {}
        return {name: (kept if name == key else value) for name, value in inner.items() if name != key or kept}

    return left(held, (*CLIENTS[client].keys, NAME)) if _has_entry(client, held) else dict(held)


def changed_json(path: Path, change: Callable[[dict[str, Any]], dict[str, Any]], *, keep: bool = True) -> bool:
    """Change an object in a file of JSON in one step; whether it changed. What stood there is kept beside it (`keep`).

    Raises:
        InvalidInput: the file is no plain JSON object, or `change` refused; it was left as it is.
        OSError: it cannot be written.
    """
    path = Path(os.path.realpath(path))
    try:
        before = _text_of(path)
        held = _json_of(before)
    except ValueError as error:
        raise InvalidInput(f"{path} is not plain JSON ({error}); it was left as it is") from None
    if not isinstance(held, dict):
        raise InvalidInput(f"{path} holds no object; it was left as it is")
    after = change(held)
    if after == held:
        return False
    _write(path, before, _json_like(before, after) if after else "", keep=keep)
    return True


def _indent(text: str) -> str:
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return found[1] if found else "  "


def _merged_json(before: str, client: str, command: Sequence[str], path: Path) -> str:
    try:
        held = _json_of(before)
    except ValueError as error:
        raise InvalidInput(
            f"{path} is not plain JSON ({error}); it was left as it is."
            " Where it has comments, add what --print shows by hand"
        ) from None
    after = with_entry(client, held, command, path)
    return before if after == held else _json_like(before, after)


def _merged_toml(before: str, name: str, command: Sequence[str], path: Path) -> str:
    """The text with the table put in, or put in the place of the old one; checked by reading it again."""
    client = CLIENTS[name]
    entry = client.entry(command)
    try:
        held = _toml_of(before)
    except ValueError as error:
        raise InvalidInput(f"{path} is not TOML ({error}); it was left as it is") from None
    (top,) = client.keys
    servers = held.get(top, {})
    if not isinstance(servers, dict):
        raise InvalidInput(f"{path} holds no table {top}; it was left as it is. Use --print")
    if servers.get(NAME) == entry:
        return before
    lines = _without_table(before.splitlines(keepends=True), top)
    kept, end = "".join(lines), _end_of(before)
    gap = "" if not kept or kept.endswith(2 * end) else end if kept.endswith(end) else 2 * end
    after = f"{kept}{gap}{_toml_block(client, entry).replace(chr(10), end)}"
    wanted = {**held, top: {**servers, NAME: dict(entry)}}
    with suppress(ValueError):
        if _toml_of(after) == wanted:
            return after
    raise InvalidInput(f"{path} holds {top}.{NAME} in a way that cannot be replaced; it was left as it is. Use --print")


def _without_table(lines: Sequence[str], top: str) -> list[str]:
    """The lines without the table of our name and its sub-tables."""
    ours = re.compile(rf"^\s*\[\s*{top}\s*\.\s*(\"{NAME}\"|'{NAME}'|{NAME})\s*[\].]")
    kept: list[str] = []
    inside = False
    for line in lines:
        if _TOML_HEADER.match(line.removeprefix(_MARK)):
            inside = bool(ours.match(line.removeprefix(_MARK)))
        if not inside:
            kept.append(line)
    return kept


def _toml_block(client: Client, entry: Mapping[str, Any]) -> str:
    lines = [f"[{'.'.join((*client.keys, NAME))}]"]
    lines += [f"{key} = {_toml_value(value)}" for key, value in entry.items() if _BARE_KEY.match(key)]
    return "\n".join(lines) + "\n"


def _toml_value(value: Any) -> str:
    """A text, number, truth value, or a list: as JSON writes them, but for U+007F, which TOML wants escaped."""
    if isinstance(value, list):
        return f"[{', '.join(_toml_value(item) for item in value)}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def _write(path: Path, before: str, after: str, *, keep: bool) -> Path | None:
    """Replace the file in one step, with its mode, and say where what stood there is kept; None where nothing is.

    Without `keep` what stood there holds our part: the copy of what was there before us stays as it is.
    Of a file in which nothing is left there is none.
    """
    make_folder(path.parent)
    backup = None
    mode = 0o600
    if path.exists():
        mode = path.stat().st_mode & 0o777
        backup = path.with_name(f"{path.name}{_COPY}")
        if keep and (not backup.exists() or before):
            shutil.copy2(path, backup)
            sync_file(backup)
            sync_folder(path.parent)
        backup = backup if backup.exists() else None
    if not after:
        path.unlink(missing_ok=True)
        sync_folder(path.parent)
        return backup
    try:
        handle, made = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        error.filename = str(path)  # nobody knows the other name
        raise
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        Path(made).chmod(mode)
        Path(made).replace(path)
        sync_folder(path.parent)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise
    return backup
