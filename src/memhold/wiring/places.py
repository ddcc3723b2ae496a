"""Where this user's files are, where nobody names a place."""

from __future__ import annotations

from pathlib import Path

from memhold.ports.data_home import data_home

__all__ = ["models_folder"]


def models_folder() -> Path:
    """The folder of embeddings that were fetched, one folder each."""
    return data_home() / "models"
