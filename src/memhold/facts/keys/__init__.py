"""Keys of facts: when two of them are the same concept, and what a new value does to the old one. Pure."""

from memhold.facts.keys.cardinality import (
    Cardinality,
    Decision,
    Operation,
    Wording,
    cardinality,
    decide,
    nothing,
    wording,
)
from memhold.facts.keys.compare import GREY_BAND, Aliases, Key, Verdict, canonical, compare, pair_of
from memhold.facts.keys.lexicon import LANGUAGES
from memhold.facts.keys.measure import Judged, Pair, Report, SafeThreshold, lowest_safe_threshold, measure, pairs_from
from memhold.facts.keys.thresholds import threshold_of

__all__ = [
    "GREY_BAND",
    "LANGUAGES",
    "Aliases",
    "Cardinality",
    "Decision",
    "Judged",
    "Key",
    "Operation",
    "Pair",
    "Report",
    "SafeThreshold",
    "Verdict",
    "Wording",
    "canonical",
    "cardinality",
    "compare",
    "decide",
    "lowest_safe_threshold",
    "measure",
    "nothing",
    "pair_of",
    "pairs_from",
    "threshold_of",
    "wording",
]
