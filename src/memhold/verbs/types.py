"""The types that the declarations name, for whoever reads them at run time.

A type is imported when a verb that names it is asked for: a help text needs few of them.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

__all__ = ["hints"]

_COMMON: Mapping[str, Any] = {
    "Any": Any, "Callable": Callable, "Literal": Literal, "Mapping": Mapping, "Path": Path, "Sequence": Sequence,
    "UTC": UTC, "datetime": datetime, "timedelta": timedelta, "tuple": tuple, "tzinfo": tzinfo,
}  # fmt: skip
_OURS: Mapping[str, tuple[str, ...]] = {
    "memhold.context.answer": ("Context",),
    "memhold.history.forget": ("Sources",),
    "memhold.ports.maintenance": ("Finding", "Manifest", "Readiness", "Rebuilt", "Usage", "Vectors"),
    "memhold.ports.models": ("Tally",),
    "memhold.ports.vector_blocks": ("Generation",),
    "memhold.transfer.importing": ("Progress", "Report"),
    "memhold.values.access_tokens": ("AccessToken", "NewToken"),
    "memhold.values.answers": (
        "Changes", "Compacted", "Consolidated", "Erasure", "Messages", "OpenSuspicion", "Page", "Query", "Recall",
        "Receipt", "Remembered", "Residue", "Retained", "Status",
    ),
    "memhold.values.documents": ("Document", "DocumentHits", "DocumentPage", "DocumentWrite", "Order"),
    "memhold.values.records": (
        "Change", "Fill", "HitKind", "Importance", "Kind", "Memory", "Message", "Origin", "Scope", "Shape", "State",
        "Tier",
    ),
    "memhold.values.sessions": ("SessionOrder", "SessionPage"),
    "memhold.verbs.files": ("ExportFormat", "Exported"),
}  # fmt: skip
_HOMES = {name: (module, name) for module, names in _OURS.items() for name in names}
_HOMES["TokenRight"] = ("memhold.values.access_tokens", "Right")


def hints(method: Callable[..., Any]) -> dict[str, Any]:
    """The types of a declared method's parameters and answer."""
    named = set(re.findall(r"\w+", " ".join(map(str, method.__annotations__.values()))))
    ours = {name: getattr(import_module(module), known) for name, (module, known) in _HOMES.items() if name in named}
    return typing.get_type_hints(method, globalns={**_COMMON, **ours}, localns={})
