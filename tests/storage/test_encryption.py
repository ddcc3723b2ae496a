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

from holdfast import Holdfast
from holdfast.errors import InvalidSetting

FOLDER = Path(os.environ.get("HOLDFAST_TEST_ENCRYPTED", Path(sys.prefix) / "encrypted"))
needs_ciphers = pytest.mark.skipif(
    not (FOLDER / "apsw").is_dir(), reason=f"no apsw-sqlite3mc in {FOLDER}: make installs it"
)

WHOLE = """
import sys
from pathlib import Path
from holdfast import Holdfast
from holdfast.errors import BackupDamaged, NotAStore

path, copy, back = sys.argv[1:4]
with Holdfast.open(path, key="a 'quoted' key", worker=False) as hf:
    alice = hf.scope(user="alice", session="s")
    alice.add([{"role": "user", "content": "the heron stands in the reeds"}])
    gone = alice.remember("the heron is a secret").memory
    log = Path(path + "-wal").read_bytes()
    assert b"heron" not in Path(path).read_bytes() + log and len(log) > 1000
    assert alice.forget(gone.id).erased
    assert [finding.what for finding in hf.admin.doctor() if finding.severity == "wrong"] == []
    hf.admin.backup(copy)
for wrong in ("", "another key"):
    try:
        Holdfast.open(path, key=wrong, worker=False)
    except NotAStore as error:
        assert "key" in str(error) and "another key" not in str(error), error
    else:
        raise AssertionError("opened without the key")
with Holdfast.open(path, key="a 'quoted' key", worker=False) as hf:
    assert "quoted" not in repr(hf._core._runtime)
    assert hf.scope(user="alice").recall("heron").total == 1
try:
    Holdfast.restore(copy, back)
except BackupDamaged:
    pass
else:
    raise AssertionError("restored without the key")
Holdfast.restore(copy, back, key="a 'quoted' key")
assert b"heron" not in Path(back).read_bytes()
with Holdfast.open(back, key="a 'quoted' key", worker=False) as hf:
    assert hf.scope(user="alice").recall("heron").total == 1
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
        Holdfast.open(tmp_path / "memory.db", key="s3cret")
    assert "s3cret" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
