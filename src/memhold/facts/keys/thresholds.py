"""From which similarity on two keys are one concept: a number that belongs to an embedding generation."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files

__all__ = ["threshold_of"]


@cache
def _measured() -> tuple[tuple[str, Mapping[str, float]], ...]:
    text = (files(__package__) / "data" / "thresholds.toml").read_text(encoding="utf-8")
    return tuple((one.pop("fingerprint"), one) for one in tomllib.loads(text)["generation"])


def threshold_of(fingerprint: str, own: float = 0.0) -> Mapping[str, float] | None:
    """The threshold of a generation, by language, as `compare` takes it; None where nobody measured one.

    `own` is what the user measured for their embedding; it wins over what is shipped. 0 means that there is none.
    """
    if own:
        return {"en": own}
    return next((found for pattern, found in _measured() if fnmatchcase(fingerprint, pattern)), None)
