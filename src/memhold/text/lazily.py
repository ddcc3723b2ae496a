"""Regular expressions that are compiled when they are first asked.

Compiling those of the rooms that read texts takes a fifth of the time in which a store opens, and neither opening
nor a status or a list asks any of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

__all__ = ["compile", "compile_all"]

_made: list[_Lazy] = []


class _Lazy:
    """Stands for a compiled pattern until its first use, and hands its methods on from then."""

    def __init__(self, pattern: str | Callable[[], str], flags: int) -> None:
        self._asked = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        pattern, flags = self._asked
        compiled = re.compile(pattern if isinstance(pattern, str) else pattern(), flags)
        # What is set on the object is found without coming here again. Two threads at once set the same thing twice.
        vars(self).update({each: getattr(compiled, each) for each in dir(compiled) if not each.startswith("_")})
        return getattr(compiled, name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and pickled as what it was made of: a copy that is not made yet would ask for itself for ever."""
        return compile, self._asked

    def __repr__(self) -> str:
        return f"lazily.compile{self._asked!r}"


def compile(pattern: str | Callable[[], str], flags: int = 0) -> re.Pattern[str]:  # noqa: A001 - `lazily.compile` stands where `re.compile` did
    """What `re.compile` gives, as far as its methods and attributes go; functions of `re` take none.

    A pattern that is put together of much is given by what makes it: it is made at the first use, too.

    Raises:
        re.error: the pattern is none; only at its first use (a test compiles all of them).
    """
    lazy = _Lazy(pattern, flags)
    _made.append(lazy)
    return cast("re.Pattern[str]", lazy)


def compile_all() -> None:
    """Compile what was not asked yet: for a process whose first answer may not take longer than the others."""
    for lazy in [*_made]:
        lazy.flags  # noqa: B018 - asking is what compiles it
