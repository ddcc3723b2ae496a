"""Other constants than the shipped ones, for a test: smaller windows, shorter pauses, fewer calls."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from memhold.facts import changed_notes
from memhold.journal import windows
from memhold.providers import wrappers

__all__ = ["bounds", "quick_retries", "when"]


def bounds(patch: pytest.MonkeyPatch, **values: Any) -> None:
    """Compaction within these bounds, in stores that are opened from now on."""
    patch.setattr(changed_notes, "Bounds", partial(changed_notes.Bounds, **values))


def when(patch: pytest.MonkeyPatch, **values: Any) -> None:
    """Windows that are due and shown like this."""
    patch.setattr(windows, "When", partial(windows.When, **values))


def quick_retries(patch: pytest.MonkeyPatch, seconds: float = 0.001) -> None:
    """A first pause of so many seconds before a model is asked again."""
    patch.setattr(wrappers, "Backoff", partial(wrappers.Backoff, first=seconds))
