"""Which project a folder belongs to, so that every agent, clone and worktree of it shares one memory.

A project is a repository: what its remote is called, wherever it was cloned to; one without a remote is the place where
it stands. Nothing is asked of git, since starting it takes longer than all the rest.
"""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote, urlsplit

from memhold.values.names import MAX_NAME, usable_name

__all__ = ["MARK", "project_namespace", "project_of", "remote_identity"]

MARK = ".memhold-project"
"""An empty file of this name makes its folder, inside a repository, a project of its own."""
_SECTION = re.compile(r'\s*\[\s*remote\s+"(.*)"\s*\]')
_URL = re.compile(r"\s*+url\s*+=\s*+(\S(?:.*\S)?)\s*$", re.IGNORECASE)
_SHORT = re.compile(r"(?:[^@/\s]+@)?([^:/\s]+):(?!//)(.+)")
"""The form of scp: `git@host:owner/name.git`."""
_CASELESS = frozenset({"github.com", "gitlab.com", "bitbucket.org"})
"""Hosts that take a path in any case: two spellings there are one repository."""


def project_of(folder: Path) -> str | None:
    """The identity of the project that a folder belongs to; None outside of any repository.

    Sub-folders and worktrees have the identity of their repository. It holds no password and no user name of a remote.
    A file that cannot be read counts as not there.
    """
    place = folder.absolute()
    marked: Path | None = None
    for one in (place, *place.parents):
        if marked is None and (one / MARK).is_file():
            marked = one
        common = _common_folder(one)
        if common is not None:
            return _named(one, common, marked)
    return None


def project_namespace(folder: Path) -> str | None:
    """The namespace of the project's memory: `project/<identity>`, cut and marked where that is too long for a name."""
    identity = project_of(folder)
    if identity is None:
        return None
    name = usable_name(f"project/{identity}")
    if len(name) <= MAX_NAME:
        return name
    mark = _digest(name)
    return f"{name[: MAX_NAME - len(mark) - 1]}-{mark}"


def remote_identity(url: str) -> str | None:
    """What a remote is called, however it is reached: `github.com/owner/name`; None for a path on this machine."""
    if "://" in url:
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            return None
        host, path = (parts.hostname or "").lower(), unquote(parts.path)
        if parts.scheme == "file" or not host:
            return None
        if port not in {None, 22, 80, 443, 9418}:
            host = f"{host}:{port}"
    elif (short := _SHORT.fullmatch(url)) is not None and len(short[1]) > 1:
        host, path = short[1].lower(), short[2]
    else:
        return None
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


def _named(root: Path, common: Path, marked: Path | None) -> str:
    remote = _remote(common / "config")
    identity = None if remote is None else remote_identity(remote)
    if identity is None:
        # A worktree stands elsewhere; its repository is where the shared folder is.
        home = (common.parent if common.name == ".git" else common).resolve()
        identity = f"local/{home.name}-{_digest(str(home))}"
    return identity if marked is None or marked == root else f"{identity}:{marked.relative_to(root).as_posix()}"


def _remote(config: Path) -> str | None:
    """The URL of `origin`, else of the first remote."""
    try:
        lines = config.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    found: dict[str, str] = {}
    remote: str | None = None
    for line in lines:
        if line.lstrip().startswith("["):
            section = _SECTION.match(line)
            remote = None if section is None else section[1]
        elif remote is not None and (url := _URL.match(line)) is not None:
            found.setdefault(remote, url[1].strip('"'))
    return found.get("origin") or next(iter(found.values()), None)


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
