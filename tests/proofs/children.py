"""What a child process of a proof is started with."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]


def environment() -> dict[str, str]:
    """This process's, in which a child also finds the modules of the tests."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path}
