"""The types that the declarations name, for whoever reads them at run time: a help text does without their imports."""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any, Literal

from memhold.context.answer import Context
from memhold.history.forget import Sources
from memhold.ports.maintenance import Finding, Manifest, Readiness, Rebuilt, Usage, Vectors
from memhold.ports.models import Tally
from memhold.ports.vector_blocks import Generation
from memhold.transfer.importing import Progress, Report
from memhold.values.access_tokens import AccessToken, NewToken
from memhold.values.access_tokens import Right as TokenRight
from memhold.values.answers import (
    Changes,
    Compacted,
    Consolidated,
    Erasure,
    OpenSuspicion,
    Page,
    Query,
    Recall,
    Receipt,
    Remembered,
    Residue,
    Retained,
    Status,
)
from memhold.values.records import (
    Change,
    HitKind,
    Importance,
    Kind,
    Memory,
    Message,
    Scope,
    Shape,
    State,
    Tier,
)
from memhold.verbs.files import Exported, ExportFormat

__all__ = ["hints"]

_KNOWN = {
    one.__name__: one
    for one in (
        AccessToken, Change, Changes, Compacted, Consolidated, Context, Erasure, Exported, Finding, Generation,
        Manifest, Memory, Message, NewToken, OpenSuspicion, Page, Path, Progress, Query,
        Readiness, Rebuilt, Recall, Receipt,
        Remembered, Report, Residue, Retained, Scope, Status, Tally, Usage, Vectors, datetime, timedelta, tzinfo,
    )
} | {
    "Any": Any, "Callable": Callable, "ExportFormat": ExportFormat, "HitKind": HitKind, "Importance": Importance,
    "Kind": Kind, "Literal": Literal, "Mapping": Mapping, "Sequence": Sequence, "Shape": Shape, "Sources": Sources,
    "State": State, "Tier": Tier, "TokenRight": TokenRight, "UTC": UTC, "tuple": tuple,
}  # fmt: skip


def hints(method: Callable[..., Any]) -> dict[str, Any]:
    """The types of a declared method's parameters and answer."""
    return typing.get_type_hints(method, globalns=dict(_KNOWN), localns={})
