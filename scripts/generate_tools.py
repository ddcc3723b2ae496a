"""Keep the lists of tools that the declarations make: `python scripts/generate_tools.py`.

A test fails where one is behind. A server on standard input answers with what is kept, before it has loaded a
declaration.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from memhold.faces.mcp.listing import KEPT, KEPT_DOCUMENTS, listing_of
from memhold.faces.mcp.tools import DOCUMENT_TOOLS, TOOLS, ToolSpec

LISTS: Mapping[Path, Mapping[str, ToolSpec]] = {KEPT: TOOLS, KEPT_DOCUMENTS: DOCUMENT_TOOLS}


def generated() -> Mapping[Path, str]:
    """The lists as they stand in `faces/mcp`, by file."""
    return {path: json.dumps(listing_of(tools), indent=1, ensure_ascii=False) + "\n" for path, tools in LISTS.items()}


if __name__ == "__main__":
    for path, text in generated().items():
        path.write_text(text, encoding="utf-8")
