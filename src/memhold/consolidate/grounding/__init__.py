"""What of a model's reply the lines of the window say: said, only inferred, or nothing that stands there. Pure.

Words alone cannot tell a fair paraphrase from an invention, so hard details decide: numbers and units, names, dates,
polarity, and about whom it is. What has one that no line has is left out. The rest is `said` where its content words
stand in lines, else `inferred`, which needs a line of the user's that it cites. What was shown beside the lines (known
facts, recalled text) is no source. See docs/decisions/0035-grounding.md.
"""

from memhold.consolidate.grounding.claims import Claim, Finding, Line
from memhold.consolidate.grounding.finding import WRONG_SUBJECT, find
from memhold.consolidate.grounding.replies import ground, poor

__all__ = ["WRONG_SUBJECT", "Claim", "Finding", "Line", "find", "ground", "poor"]
