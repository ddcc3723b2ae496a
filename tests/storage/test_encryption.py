"""A file that is encrypted: unreadable without its key, whole with it; a clear refusal where SQLite cannot encrypt.

`apsw-sqlite3mc` stands in the place of `apsw`, so it is installed into a folder of its own (`make` does), and what
needs it runs in a child process that looks there first.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from memhold import Memhold
from memhold.errors import InvalidSetting

FOLDER = Path(os.environ.get("MEMHOLD_TEST_ENCRYPTED", Path(sys.prefix) / "encrypted"))
needs_ciphers = pytest.mark.skipif(
    not (FOLDER / "apsw").is_dir(), reason=f"no apsw-sqlite3mc in {FOLDER}: make installs it"
)

WHOLE = """
import sys
from pathlib import Path
from memhold import Memhold
from memhold.errors import NotAStore

path, copy, back = sys.argv[1:4]
with Memhold.open(path, key="a 'quoted' key", worker=False) as mem:
    alice = mem.scope(user="alice", session="s")
    alice.add([{"role": "user", "content": "the heron stands in the reeds"}])
    gone = alice.remember("the heron is a secret").memory
    log = Path(path + "-wal").read_bytes()
    assert b"heron" not in Path(path).read_bytes() + log and len(log) > 1000
    assert alice.forget(gone.id).erased
    assert [finding.what for finding in mem.admin.doctor() if finding.severity == "wrong"] == []
    mem.admin.backup(copy)
for wrong in ("", "another key"):
    try:
        Memhold.open(path, key=wrong, worker=False)
    except NotAStore as error:
        assert "key" in str(error) and "another key" not in str(error), error
    else:
        raise AssertionError("opened without the key")
with Memhold.open(path, key="a 'quoted' key", worker=False) as mem:
    assert "quoted" not in repr(mem._core._store._runtime)
    assert mem.scope(user="alice").recall("heron").total == 1
try:
    Memhold.restore(copy, back)
except NotAStore as error:
    assert "is encrypted" in str(error), error
else:
    raise AssertionError("restored without the key")
Memhold.restore(copy, back, key="a 'quoted' key")
assert b"heron" not in Path(back).read_bytes()
with Memhold.open(back, key="a 'quoted' key", worker=False) as mem:
    assert mem.scope(user="alice").recall("heron").total == 1
print("whole")
"""


@needs_ciphers
def test_an_encrypted_store_is_whole_with_its_key_and_nothing_without(tmp_path: Path) -> None:
    places = [str(tmp_path / name) for name in ("memory.db", "copy", "back.db")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(FOLDER), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, "-c", WHOLE, *places], capture_output=True, text=True, env=environment, check=False
    )
    assert (done.stdout, done.stderr) == ("whole\n", "")


@pytest.mark.skipif(hasattr(apsw, "mc_version"), reason="the SQLite that is installed encrypts")
def test_without_ciphers_a_key_is_refused_and_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="apsw-sqlite3mc") as caught:
        Memhold.open(tmp_path / "memory.db", key="s3cret")
    assert "s3cret" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
