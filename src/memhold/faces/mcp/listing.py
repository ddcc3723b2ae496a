"""The list of tools as a client reads it: made from the declarations, or as it was kept beside this module.

Making it reads every declaration and the types of every verb, which is a third of what starting a server on standard
input may cost. So `tools.json` keeps what is made; `scripts/generate_tools.py` writes it, and a test fails where it is
behind.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memhold.faces.mcp.tools import ToolSpec

__all__ = ["CORE", "KEPT", "KEPT_DOCUMENTS", "Listing", "kept_listing", "listing_of"]

CORE = ("remember", "recall", "correct", "forget", "memory_status")
"""The tools of a coding agent whose hooks bring in what is said and tell what is known."""
_RARE = frozenset({"speaker", "asker", "known_at", "entities", "topics", "rev", "idempotency_key"})
"""Arguments that such an agent is not told of; they count where it brings them."""
KEPT = Path(__file__).with_name("tools.json")
KEPT_DOCUMENTS = Path(__file__).with_name("document_tools.json")

Listing = Mapping[str, Mapping[str, Any]]
"""By a tool's name: `needs`, the right that it takes, and `tool`, what a client is told of it."""


def listing_of(tools: Mapping[str, ToolSpec]) -> Listing:
    """What is listed of these tools, in their order."""
    from memhold.faces.mcp.tools import input_schema

    return {
        name: {
            "needs": spec.verb.needs,
            "tool": {
                "name": name,
                "title": spec.tool.title,
                "description": spec.tool.use,
                "inputSchema": input_schema(spec),
                "annotations": {
                    "readOnlyHint": spec.read_only,
                    "destructiveHint": spec.tool.destructive,
                    "idempotentHint": spec.tool.idempotent,
                    "openWorldHint": False,
                },
            },
        }
        for name, spec in tools.items()
    }


def kept_listing(*, documents: bool = False, core: bool = False) -> Listing:
    """What is listed of `TOOLS`, and with `documents` of `DOCUMENT_TOOLS`, without reading a declaration.

    With `core` only the tools of `CORE` and those of documents.
    """
    files = (KEPT, KEPT_DOCUMENTS) if documents else (KEPT,)
    return {
        name: _short(one) if core else one
        for file in files
        for name, one in json.loads(file.read_text(encoding="utf-8")).items()
        if not core or name in CORE or file == KEPT_DOCUMENTS
    }


def _short(one: Mapping[str, Any]) -> Mapping[str, Any]:
    tool = one["tool"]
    schema = tool["inputSchema"]
    left = {name: told for name, told in schema["properties"].items() if name not in _RARE}
    return {**one, "tool": {**tool, "inputSchema": {**schema, "properties": left}}}
