"""Notes of models as rows of `model_link`, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from memhold.storage.sql.rows import readable
from memhold.values.errors import StoreCorrupt
from memhold.values.records import from_micros, micros

if TYPE_CHECKING:
    from memhold.ports.models import LinkNote

__all__ = ["link_notes", "link_params"]


def link_params(note: LinkNote) -> dict[str, Any]:
    """The parameters of `put_link`."""
    since = note.failing_since
    times = {"seen_at": micros(note.seen_at), "failing_since": None if since is None else micros(since)}
    return asdict(note) | times


def link_notes(found: Iterable[Sequence[Any]]) -> list[LinkNote]:
    """The rows of `read_links` as notes; one that cannot be read tells nothing, and keeps no store from opening."""
    notes = []
    for row in found:
        with suppress(StoreCorrupt):
            notes.append(_link_note(row))
    return notes


@readable
def _link_note(row: Sequence[Any]) -> LinkNote:
    from memhold.ports.models import LinkNote

    model, url, form, asked, seen_at, since, cls, status, code, reason, said, unloads = row
    return LinkNote(
        model=model,
        url=url,
        form=form,
        asked=asked,
        seen_at=from_micros(seen_at),
        failing_since=None if since is None else from_micros(since),
        cls=cls,
        status=status,
        code=code,
        reason=reason,
        said=said,
        unloads=unloads,
    )
