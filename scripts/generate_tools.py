"""Keep the list of tools that the declarations make: `python scripts/generate_tools.py`.

A test fails where it is behind. A server on standard input answers with what is kept, before it has loaded a
declaration.
"""

from __future__ import annotations

import json

from memhold.faces.mcp.listing import KEPT, listing_of
from memhold.faces.mcp.tools import TOOLS


def generated() -> str:
    """The list as it stands in `faces/mcp/tools.json`."""
    return json.dumps(listing_of(TOOLS), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    KEPT.write_text(generated(), encoding="utf-8")
