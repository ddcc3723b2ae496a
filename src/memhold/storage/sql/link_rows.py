"""Notes of models as rows of `model_link`, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from memhold.values.records import from_micros, micros

if TYPE_CHECKING:
    from memhold.ports.models import LinkNote

__all__ = ["link_note", "link_params"]


def link_params(note: LinkNote) -> dict[str, Any]:
    """The parameters of `put_link`."""
    since = note.failing_since
    times = {"seen_at": micros(note.seen_at), "failing_since": None if since is None else micros(since)}
    return asdict(note) | times


def link_note(row: Sequence[Any]) -> LinkNote:
    """A row of `read_links` as a note."""
    from memhold.ports.models import LinkNote

    model, url, form, seen_at, since, cls, status, code, reason, said, unloads = row
    return LinkNote(
        model=model,
        url=url,
        form=form,
        seen_at=from_micros(seen_at),
        failing_since=None if since is None else from_micros(since),
        cls=cls,
        status=status,
        code=code,
        reason=reason,
        said=said,
        unloads=unloads,
    )
