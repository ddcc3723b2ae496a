"""Where this user's files are, where nobody names a place."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["data_folder", "models_folder"]


def data_folder() -> Path:
    """The folder of stores: `$XDG_DATA_HOME/memhold`, `~/.local/share/memhold`, or macOS's own folder."""
    if sys.platform == "darwin":
        base = Path("~/Library/Application Support")
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share")
    return base.expanduser() / "memhold"


def models_folder() -> Path:
    """The folder of embeddings that were fetched, one folder each."""
    return data_folder() / "models"
