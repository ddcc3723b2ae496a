"""Nothing but a few guarded places needs what only POSIX systems have; the rest runs without it."""

from __future__ import annotations

import ast
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memhold.ports.file_locks import ByteLocks

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "memhold"

MODULES = frozenset("crypt fcntl grp nis posix pty pwd readline resource spwd syslog termios tty".split())  # noqa: SIM905
"""What `import` does not find on Windows (the library's reference, "Availability")."""
_OS = """
    O_CLOEXEC O_DIRECTORY O_NOATIME O_NOFOLLOW O_NONBLOCK O_SYNC chown chroot ctermid fchdir fchmod fchown fdatasync
    fork forkpty geteuid getegid getgid getgroups getloadavg getpgid getpgrp getpriority getresuid getsid getuid
    getxattr initgroups killpg lchown lockf major minor mkfifo mknod nice openpty pathconf pipe2 posix_fadvise
    posix_fallocate posix_spawn pread preadv pwrite pwritev register_at_fork sched_getaffinity sched_setaffinity
    sched_yield sendfile set_blocking seteuid setgid setgroups setpgid setpriority setsid setuid statvfs sync sysconf
    tcgetpgrp uname wait wait3 wait4 waitid WEXITSTATUS WIFEXITED WIFSIGNALED WNOHANG WTERMSIG
"""
_SIGNAL = """
    ITIMER_REAL SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGUSR1 SIGUSR2 SIGWINCH alarm
    pause pthread_kill pthread_sigmask setitimer siginterrupt sigpending sigtimedwait sigwait sigwaitinfo
"""
MEMBERS = {
    "os": frozenset(_OS.split()),
    "signal": frozenset(_SIGNAL.split()),
    "socket": frozenset({"AF_UNIX", "SO_REUSEPORT", "send_fds", "recv_fds"}),
    "asyncio": frozenset({"open_unix_connection", "start_unix_server", "get_child_watcher"}),
    "loop": frozenset({"add_signal_handler", "create_unix_server", "create_unix_connection"}),
}
FOLDERS = ("/tmp", "/dev/", "/proc/", "/etc/", "/var/", "/usr/", "/run/")  # noqa: S108

GUARDED = {
    "ports/file_locks.py": {"fcntl"},  # else the locks of Windows: tested below
    "ports/data_home.py": {"pwd", "os.getuid"},  # an account's own folder, where HOME is empty
    "ports/durable_files.py": {"os.O_DIRECTORY"},
    "ports/signals.py": {"loop.add_signal_handler"},
    "server/listening.py": {"resource"},
    "transfer/apart.py": {"os.nice", "resource"},
    "server/serving.py": {"signal.SIGHUP"},
    # Several workers are refused where there is no SIGHUP.
    "server/supervising.py": {"signal.SIGHUP", "signal.SIGUSR2"},
    "server/worker_process.py": {"signal.SIGUSR2"},
    "server/expiry_table.py": {"fcntl", "os.sched_yield"},
    "testing/attacks/target.py": {"/proc/"},  # a server's memory, where the system tells it
    "cli/demo.py": {"signal.SIGKILL"},
    "testing/coding_agents/running.py": {"os.killpg", "signal.SIGKILL"},
    "faces/mcp/stdio.py": {"loop.add_signal_handler"},
    # The Memhold that answers hooks is there where one account alone can reach a socket: see `meeting_place`.
    "faces/agents/running.py": {"socket.AF_UNIX", "os.getuid", "/tmp"},  # noqa: S108
    "faces/agents/starting.py": {"os.posix_spawn"},
    "faces/agents/answering.py": {"socket.AF_UNIX", "asyncio.start_unix_server"},
}
"""Where it stands behind a look at whether it is there, with what."""


def posix_only(text: str) -> set[str]:
    """What a module names that Windows has not."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import(names=names):
                found |= {one.name for one in names if one.name.split(".")[0] in MODULES}
            case ast.ImportFrom(module=str(module), names=names):
                if module.split(".")[0] in MODULES:
                    found.add(module)
                found |= {f"{module}.{one.name}" for one in names if one.name in MEMBERS.get(module, ())}
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if name in MEMBERS.get(owner, ()):
                found.add(f"{owner}.{name}")
            case ast.Constant(value=str(value)) if value.startswith(FOLDERS):
                found.add(value)
    return found


def test_what_only_posix_has_stands_in_few_places() -> None:
    found = {
        str(path.relative_to(SOURCE).as_posix()): names
        for path in sorted(SOURCE.rglob("*.py"))
        if (names := posix_only(path.read_text(encoding="utf-8")))
    }
    assert found == GUARDED


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("def f():\n    import fcntl\n", "fcntl"),
        ("from resource import getrlimit", "resource"),
        ("from os import fork", "os.fork"),
        ("import os\nos.getuid()", "os.getuid"),
        ("x = '/tmp/file'", "/tmp/file"),  # noqa: S108
        ("loop.add_signal_handler(1, f)", "loop.add_signal_handler"),
    ],
)
def test_the_walk_sees_it(text: str, name: str) -> None:
    assert posix_only(text) == {name}


# ------------------------------------------------------------------------------------------ locks of bytes


def _locking(handle: int, mode: int, count: int) -> None:
    """What `msvcrt.locking` does, as POSIX can: bytes from the handle's position, without waiting."""
    assert mode == 2
    at = os.lseek(handle, 0, os.SEEK_CUR)
    fcntl.fcntl(handle, 37, _open_file_lock(at, count))  # F_OFD_SETLK: of the open file, as on Windows


def _open_file_lock(start: int, length: int) -> bytes:
    import struct

    return struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="locks of an open file are Linux's")
def test_locks_of_bytes_keep_others_out_and_leave_the_file_as_it_is(tmp_path: Path) -> None:
    locks = ByteLocks(_locking)
    path = tmp_path / "file"
    with path.open("a+b") as first, path.open("a+b") as second:
        first.write(b"abc")
        first.flush()
        first.seek(1)
        assert locks(first.fileno(), False)
        assert first.tell() == os.lseek(first.fileno(), 0, os.SEEK_CUR) == 1
        assert not locks(second.fileno(), False)
        assert second.read() == b"abc"
        first.close()
        assert locks(second.fileno(), True)
    assert path.read_bytes() == b"abc"


# ------------------------------------------------------------------------------------------ without any of it

WITHOUT = """
import asyncio, importlib.util, multiprocessing, signal, socket, ssl, subprocess, sys, tempfile, types, os, fcntl, struct
import asyncio.unix_events, concurrent.futures.process, multiprocessing.popen_fork, selectors, uuid, shutil
import apsw, numpy, numpy.linalg, numpy.fft, numpy.random, platform  # they have their own ways on Windows

def locking(handle, mode, count):
    at = os.lseek(handle, 0, os.SEEK_CUR)
    real.fcntl(handle, 37, struct.pack("hhqqi", real.F_WRLCK, os.SEEK_SET, at, count, 0))

real, unix, pair = fcntl, socket.AF_UNIX, socket.socketpair
socket.socketpair = lambda *_: pair(unix)
for name in {modules!r}:
    sys.modules[name] = None
sys.modules["msvcrt"] = types.SimpleNamespace(locking=locking)
for owner, names in (("os", {os_names!r}), ("signal", {signal_names!r}), ("socket", {socket_names!r})):
    for name in names:
        if hasattr(sys.modules[owner], name):
            delattr(sys.modules[owner], name)
def unheard(self, *_):
    raise NotImplementedError
asyncio.unix_events._UnixSelectorEventLoop.add_signal_handler = unheard

from memhold import Memhold
with Memhold.open("memory.db", embedding="none") as mem:
    anna = mem.scope(user="anna")
    anna.add([{{"role": "user", "content": "I live in Porto"}}])
    kept = anna.remember("Prefers window seats")
    gone = anna.remember("A secret")
    assert anna.recall("window seats").hits
    anna.forget(gone.memory.id)
    anna.export("out.jsonl")
    anna.export("pages", format="markdown")
    mem.admin.backup("backup")
    assert not [one for one in mem.admin.doctor() if one.severity == "wrong"], mem.admin.doctor()
Memhold.restore("backup", "memory.db", force=True)
from memhold.cli.main import cli
import io, json, click
told = json.dumps({{"transcript_path": os.path.abspath("s1.jsonl"), "session_id": "s1"}})
with open("s1.jsonl", "w") as transcript:
    said = {{"role": "user", "content": "said to an agent"}}
    transcript.write(json.dumps({{"type": "user", "uuid": "u1", "sessionId": "s1", "message": said}}) + chr(10))
for line in (
    ["remember", "Likes tea", "--user", "anna", "--db", "memory.db"],
    ["recall", "tea", "--user", "anna", "--db", "memory.db"],
    ["import", "out.jsonl", "--user", "bruno", "--db", "memory.db"],
    ["add", "What do I drink?", "--session", "s", "--user", "anna", "--db", "memory.db"],
    ["context", "And now?", "--session", "s", "--user", "anna", "--db", "memory.db"],
    ["list", "--json", "--user", "anna", "--db", "memory.db"],
    ["status", "--user", "anna", "--db", "memory.db"],
    ["forget", "--in-session", "s", "--yes", "--user", "anna", "--db", "memory.db"],
    ["residue", "What do I drink?", "--user", "anna", "--db", "memory.db"],
    ["export", "again.jsonl", "--user", "anna", "--db", "memory.db"],
    ["backup", "another", "--db", "memory.db"],
    ["agent", "status"],
    ["project"],
    ["hook", "Stop", "--user", "anna", "--db", "memory.db"],
    ["messages", "--session", "claude-code:s1", "--user", "anna", "--db", "memory.db"],
    ["doctor", "--db", "memory.db"],
    ["settle", "--db", "memory.db"],
    ["--db", "memory.db"],
):
    sys.stdin = io.TextIOWrapper(io.BytesIO(told.encode()))
    try:
        cli.main(line, standalone_mode=False)
    except SystemExit as ended:
        assert not ended.code, (line, ended.code)
    except click.exceptions.Exit as ended:
        assert not ended.exit_code, (line, ended.exit_code)
with Memhold.open("memory.db", embedding="none") as mem:
    (heard,) = mem.scope(user="anna", session="claude-code:s1").messages()
    assert heard.text == "said to an agent", heard
from memhold.ports import file_locks
assert isinstance(file_locks._locks, file_locks.ByteLocks)
print("all of it ran")
"""

_OF_THE_LIBRARY = frozenset(
    {"wait", "waitid", "WNOHANG", "register_at_fork", "statvfs", "pipe2", "sysconf", "O_NOFOLLOW", "O_CLOEXEC"}
)
"""What Python's own modules use here after their import, and have other ways for on Windows."""


@pytest.mark.skipif(sys.platform != "linux", reason="what is taken away here is there on Linux")
def test_the_library_the_store_and_the_command_line_run_without_it(tmp_path: Path) -> None:
    script = WITHOUT.format(
        modules=sorted(MODULES),
        os_names=sorted(MEMBERS["os"] - _OF_THE_LIBRARY),
        signal_names=sorted(MEMBERS["signal"] - {"pthread_sigmask"}),
        socket_names=sorted(MEMBERS["socket"]),
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("all of it ran\n")
