"""Which project a folder belongs to, so that every agent, clone and worktree of it shares one memory.

A project is a repository: what its remote is called, wherever it was cloned to; one without a remote is the place where
it stood when it was first worked in, which is written into its folder of git's and goes along when that is moved.
Nothing is asked of git, since starting it takes longer than all the rest.
"""

from __future__ import annotations

import errno
import os
import re
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

TYPE_CHECKING = False  # type checkers take it for true; what a hook loads holds its client up
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "MARK",
    "PLACE",
    "former_namespace",
    "join_project",
    "note_project",
    "project_namespace",
    "project_of",
    "remote_identity",
]

_PROJECT, _LOCAL = "project/", "local/"
MARK = ".memhold-project"
"""An empty file of this name makes its folder, inside a repository, a project of its own."""
PLACE = "memhold-project"
"""The file, in a repository's folder of git's, that says what its project is called and where that stood then.

Its third line says that a person joined it to that project: then no remote calls it otherwise."""
_JOINED = "joined"
_SHORT_NAME = 200
"""A name of plain letters that is no longer than this is fit as it is: the rules need not be loaded."""
_SECTION = re.compile(r'\s*\[\s*(remote|url)\s+"((?:[^"\\]|\\.)*)"\s*\]', re.IGNORECASE)
_VALUE = re.compile(r'\s*+(url|insteadof)\s*+=\s*+("[^"]*"|[^"\s#;](?:[^#;]*[^\s#;])?)\s*(?:[#;].*)?$', re.IGNORECASE)
"""What follows a `#` or `;` outside of quotes is a comment."""
_SSH_LINE = re.compile(r"\s*+(hostname|host|match)(?:\s*+=|\s)\s*+(\S(?:.*\S)?)\s*$", re.IGNORECASE)
_SHORT = re.compile(r"(?:[^@/\s]+@)?([^:/\s]+):(?!//)(.+)")
"""The form of scp: `git@host:owner/name.git`."""
_SAME_HOST = {
    "ssh.github.com": "github.com",
    "www.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}
"""Names under which the same host is reached where port 22 is closed, by its own documents."""
_CASELESS = frozenset({"github.com", "gitlab.com", "bitbucket.org"})
"""Hosts that take a path in any case: two spellings there are one repository."""


def project_of(folder: Path) -> str | None:
    """The identity of the project that a folder belongs to; None outside of any repository.

    Sub-folders and worktrees have the identity of their repository. It holds no password and no user name of a remote.
    A file that cannot be read counts as not there.
    """
    found = _repository(folder)
    if found is None:
        return None
    common, part = found
    noted, joined = _noted(common)
    if noted is not None and joined:
        return f"{noted}{part}"
    return f"{_of_remote(common) or _of_place(common, noted)}{part}"


def note_project(folder: Path) -> None:
    """Write down what the project of a folder is called, unless that was done: it is known again where it is moved to.

    Where that cannot be written nothing is.
    """
    found = _repository(folder)
    if found is not None and not (found[0] / PLACE).exists():
        with suppress(OSError):
            _write(found[0], _of_remote(found[0]) or _of_place(found[0]))


def join_project(folder: Path, namespace: str) -> None:
    """Have a folder's repository go on as the project of that namespace; nothing that was kept anywhere is moved.

    Raises:
        InvalidInput: it is no namespace of a project's, or the folder is in no repository.
        OSError: it cannot be written.
    """
    from memhold.values.errors import InvalidInput

    found = _repository(folder)
    if found is None:
        raise InvalidInput(f"{folder} is in no repository")
    identity = namespace.removeprefix(_PROJECT)
    if identity == namespace or not identity.isprintable() or not identity.strip():
        raise InvalidInput(f"{namespace!r:.100} is no project's memory: its name begins with {_PROJECT}")
    _write(found[0], identity, _JOINED)


def project_namespace(folder: Path) -> str | None:
    """The namespace of the project's memory: `project/<identity>`, cut and marked where that is too long for a name."""
    identity = project_of(folder)
    return None if identity is None else _namespace(identity)


def former_namespace(folder: Path) -> str | None:
    """The other name under which the project's memory may be kept; None where there is none.

    That is what it was called before its repository had this remote; and of one that was joined to a project, what it
    would be called otherwise.
    """
    found = _repository(folder)
    if found is None:
        return None
    common, part = found
    noted, joined = _noted(common)
    own = _of_remote(common)
    names = (f"{name}{part}" for name in (own if joined else noted, _of_place(common)) if name is not None)
    now = project_of(folder)
    former = next((name for name in names if name != now), None)
    return None if former is None else _namespace(former)


def _namespace(identity: str) -> str:
    name = f"{_PROJECT}{identity}"
    if len(name) <= _SHORT_NAME and name.isascii() and name.isprintable() and " " not in name:
        return name
    from memhold.values.names import MAX_NAME, usable_name

    name = usable_name(name)
    if len(name) <= MAX_NAME:
        return name
    mark = _digest(name)
    return f"{name[: MAX_NAME - len(mark) - 1]}-{mark}"


def remote_identity(url: str, *, hosts: Mapping[str, str] = MappingProxyType({})) -> str | None:
    """What a remote is called, however it is reached: `github.com/owner/name`; None for a path on this machine.

    `hosts` are names of hosts that the person's SSH knows under another one.
    """
    if "://" in url:
        from urllib.parse import unquote, urlsplit

        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            return None
        host, path = (parts.hostname or "").lower(), unquote(parts.path)
        if parts.scheme == "file" or not host:
            return None
        host = hosts.get(host, host) if "ssh" in parts.scheme else host
        if port not in {None, 22, 80, 443, 9418}:
            host = f"{host}:{port}"
    elif (short := _SHORT.fullmatch(url)) is not None and len(short[1]) > 1:
        host, path = short[1].lower(), short[2]
        host = hosts.get(host, host)
    else:
        return None
    host = _SAME_HOST.get(host, host)
    path = path.strip("/").removesuffix(".git").strip("/")
    return f"{host}/{path.lower() if host in _CASELESS else path}" if path else None


def _common_folder(root: Path) -> Path | None:
    """Where the repository whose tree begins here keeps what its worktrees share; None where no tree begins here."""
    place = root / ".git"
    if place.is_dir():
        return place
    try:
        text = place.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    if not text.startswith("gitdir:"):
        return None
    own = (root / text.removeprefix("gitdir:").strip()).resolve()
    try:
        shared = (own / "commondir").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return own
    return (own / shared).resolve()


def _repository(folder: Path) -> tuple[Path, str] | None:
    """The folder that a repository's worktrees share, and which part of it a mark makes a project of its own.

    A name that no folder can have (a NUL, half a surrogate, too long) is outside of any repository.
    """
    try:
        return _above(folder.absolute())
    except ValueError:
        return None
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        return None


def _above(place: Path) -> tuple[Path, str] | None:
    marked: Path | None = None
    for root in (place, *place.parents):
        if marked is None and (root / MARK).is_file():
            marked = root
        common = _common_folder(root)
        if common is not None:
            part = (root if marked is None else marked).relative_to(root).as_posix()
            return common, "" if part == "." else f":{part}"
    return None


def _of_place(common: Path, noted: str | None = None) -> str:
    """What a repository is called that has no remote: where it stands, or stood when that was noted."""
    if noted is not None and noted.startswith(_LOCAL):
        return noted
    home = _home(common)
    return f"{_LOCAL}{home.name}-{_digest(str(home))}"


def _home(common: Path) -> Path:
    # A worktree stands elsewhere; its repository is where the shared folder is.
    return (common.parent if common.name == ".git" else common).resolve()


def _of_remote(common: Path) -> str | None:
    remote = _remote(common / "config")
    return None if remote is None else remote_identity(remote, hosts=_ssh_hosts())


def _noted(common: Path) -> tuple[str | None, bool]:
    """What was noted of a repository, and whether a person joined it to that; of a copy of another one nothing."""
    lines = _lines(common / PLACE)
    if len(lines) < 2 or not lines[0].strip() or not lines[0].isprintable():
        return None, False
    identity, home = lines[0], Path(lines[1])
    copied = home != _home(common) and _lines((_common_folder(home) or home) / PLACE)[:2] == lines[:2]
    return (None, False) if copied else (identity, lines[2:3] == [_JOINED])


def _write(common: Path, identity: str, *more: str) -> None:
    from memhold.ports.durable_files import replace_text

    replace_text(common / PLACE, "\n".join((identity, str(_home(common)), *more, "")))


def _remote(config: Path) -> str | None:
    """The URL of `origin`, else of the first remote, as git makes it out: a short form of the user's own is told."""
    own = _values(config)
    found: dict[str, str] = {}
    for kind, name, key, value in own:
        if (kind, key) == ("remote", "url"):
            found.setdefault(name, value)
    url = found.get("origin") or next(iter(found.values()), None)
    if url is None:
        return None
    folder = os.environ.get("XDG_CONFIG_HOME")
    users = (Path.home() / ".gitconfig", (Path(folder) if folder else Path.home() / ".config") / "git" / "config")
    told = [one for file in users for one in _values(file)] + own
    forms = {value: name for kind, name, key, value in told if (kind, key) == ("url", "insteadof")}
    # Of several that fit, git takes the longest.
    short = max((form for form in forms if url.startswith(form)), key=len, default=None)
    return url if short is None else forms[short] + url[len(short) :]


def _values(file: Path) -> list[tuple[str, str, str, str]]:
    """What a file of git's says of remotes and of short forms: kind and name of the section, key, value."""
    found: list[tuple[str, str, str, str]] = []
    section: re.Match[str] | None = None
    for line in _lines(file):
        if line.lstrip().startswith("["):
            section = _SECTION.match(line)
        # A value may stand behind the head of its section.
        behind = section.end() if section is not None and section.string is line else 0
        if section is not None and (value := _VALUE.match(line, behind)) is not None:
            found.append((section[1].lower(), section[2], value[1].lower(), value[2].strip('"')))
    return found


def _ssh_hosts() -> dict[str, str]:
    """The names that the person's SSH has for hosts, without patterns; as ssh takes it, what is said first holds."""
    found: dict[str, str] = {}
    named: list[str] = []
    for line in _lines(Path.home() / ".ssh" / "config"):
        told = _SSH_LINE.match(line)
        if told is None:
            continue
        key, value = told[1].lower(), told[2]
        if key == "hostname":
            for name in named:
                found.setdefault(name, value.lower())
        else:
            named = [one.lower() for one in value.split() if not set(one) & set("*?!%")] if key == "host" else []
    return found


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _digest(text: str) -> str:
    from hashlib import sha256

    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
