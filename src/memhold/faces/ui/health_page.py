"""Health: whether models answer, what waits, what it costs, how large the store is, and what doctor finds; live."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from starlette.responses import Response

from memhold.faces.ui.plots import cost_columns, growth_of, last_days, layers_of
from memhold.faces.ui.visit import Visit
from memhold.ports.maintenance import Usage
from memhold.ports.models import Tally
from memhold.values.answers import trouble_told
from memhold.values.errors import InvalidInput, MemholdError

__all__ = ["doctor_part", "health_page", "health_part", "size_part"]

_DAYS: Final = 30
_GROWTH_DAYS: Final = 90


async def health_page(visit: Visit) -> Response:
    """The whole page."""
    return visit.part("health.html", here="/ui/health", **await _found(visit), **await _cost(visit))


async def health_part(visit: Visit) -> Response:
    """What may have changed since a moment ago."""
    return visit.part("health_now.html", **await _found(visit))


async def size_part(visit: Visit) -> Response:
    """What the namespace holds, its bytes, and how it grew: every row is read, so it is asked for by itself, once."""
    visit.caller()
    own = visit.principal.scope.namespace
    days = last_days(visit.now.date(), _GROWTH_DAYS)
    try:
        every = await visit.memhold.admin.usage(days=_GROWTH_DAYS)
    except InvalidInput as error:
        return visit.part("size.html", usage=None, growth=None, told=str(error))
    usage = next((one for one in every if one.namespace == own), Usage(namespace=own))
    return visit.part("size.html", usage=usage, growth=growth_of(usage, days), told=None)


async def _found(visit: Visit) -> dict[str, Any]:
    status = await visit.scope().status()
    trouble = trouble_told(status.degraded, status.damaged)
    return {
        "status": status,
        "trouble": trouble,
        "ready": await visit.memhold.admin.ready() if visit.may("admin") else None,
    }


async def _cost(visit: Visit) -> dict[str, Any]:
    """Of the whole store: told to whoever runs it, and to no holder of a token of one namespace."""
    if not visit.runs_it:
        return {"days": [], "tallies": [], "cost_told": None}
    try:
        tallies = await visit.memhold.admin.model_usage(days=_DAYS)
    except MemholdError as error:
        return {"days": [], "tallies": [], "cost_told": str(error)}
    columns = cost_columns(tallies, last_days(visit.now.date(), _DAYS))
    return {"days": columns, "tallies": _by_model(tallies), "cost_told": None}


def _by_model(tallies: Sequence[Tally]) -> list[dict[str, Any]]:
    """The sums of each layer of the plot, in its order."""
    rows = []
    for layer in layers_of(tallies):
        own = [one for one in tallies if (one.model, one.purpose) == (layer.model, layer.purpose)]
        rows.append({
            "layer": layer,
            "answered": sum(one.answered for one in own),
            "tokens": sum(one.input_tokens + one.output_tokens for one in own),
        })  # fmt: skip
    return rows


async def doctor_part(visit: Visit) -> Response:
    """Look at everything now; of what is another namespace's nothing is told."""
    visit.caller()
    own = f"namespace {visit.principal.scope.namespace!r},"
    found = await visit.memhold.admin.doctor()
    if not visit.runs_it:
        found = tuple(one for one in found if not one.where or one.where.startswith(own))
    return visit.part("doctor.html", found=found)
