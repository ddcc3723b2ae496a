"""Whether a text says no to something, by the words of its likeliest language. Pure."""

from __future__ import annotations

from functools import lru_cache

from memhold.languages.tables import languages, speech, spoken

__all__ = ["negates"]


@lru_cache(maxsize=4096)
def negates(text: str) -> bool:
    """Whether something in the text says no, or may."""
    low, own = text.lower(), speech(spoken(text)[:1] or tuple(languages()))
    ends = [0, *(place for span in own.found("says", "no_negation", low) for place in span), len(low)]
    low = " ".join(low[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True))
    return any(own.has("says", name, low) for name in ("negation", "negation_behind"))
