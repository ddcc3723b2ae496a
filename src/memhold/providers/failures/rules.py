"""The classifier's table: what providers answer when they fail, in the order in which the lines are asked.

A line matches a document by one of its `codes` (structured fields, in normal form: see `reading.normal`), or by its
`words` (a pattern over the lower-case words), where `statuses` and `kind` allow it. The first line that matches the
innermost document decides; only then come the documents around it. Specific lines stand before general ones: what a
provider says of this request before what it says of itself. `why` is the only text of a line that reaches an error.
"""

from __future__ import annotations

from typing import Final

from memhold.providers.failures.rule import Rule
from memhold.providers.failures.rules_link import KEY, MODEL, MONEY, OVERLOADED, TRAFFIC
from memhold.providers.failures.rules_request import (
    LENGTH,
    MODEL_FAILED,
    PARAMETERS,
    PAYLOAD,
    REFUSAL,
    REQUEST,
    TOOLS,
)

__all__ = ["RULES", "Rule"]

RULES: Final[tuple[Rule, ...]] = (
    *MODEL_FAILED,
    *KEY,
    *OVERLOADED,
    *MONEY,
    *LENGTH,
    *REFUSAL,
    *TOOLS,
    *PAYLOAD,
    *MODEL,
    *PARAMETERS,
    *TRAFFIC,
    *REQUEST,
)
