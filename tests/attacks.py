"""Texts that make a regular expression or an analysis work as hard as it can, found from what it reads itself.

A pattern is slow on a text that repeats what one of its parts takes and then fails, or that begins it again and again.
So the parts are read from its parse tree: what stands before a repetition, what is repeated, and what may end it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from time import process_time
from typing import Any

# ruff: noqa: RUF001 - punctuation of every script

__all__ = ["EVERYWHERE", "Attack", "attacks_on", "grows_too_fast"]

Attack = Callable[[int], str]
"""A text of about so many characters."""

MANY = 30
"""Repetitions that are bounded below this are not pumped: they cost a factor, not a power."""
_CATEGORIES = {
    codes.CATEGORY_DIGIT: "1", codes.CATEGORY_NOT_DIGIT: "a", codes.CATEGORY_SPACE: " ", codes.CATEGORY_NOT_SPACE: "a",
    codes.CATEGORY_WORD: "a", codes.CATEGORY_NOT_WORD: "-",
}  # fmt: skip
_CANDIDATES = "a1 -_.A\n\t,;:/'\"é中かカ한!@#<[({`%€\u00a0"
_ENDS = ("", "\x00", "\n")
_PLAIN = (
    *"aA1é中 \t\n.,;:!?-_/@'\"`<>([{#*|=+~。！？、「“\u00a0\u0301",
    "a.", "a,", "a ", "a-", "a/", "a_", "a@", "a'", "a\n", "1.", "1,", "1 ", "1:", "1/", "1-", "A.", "Ab ", "aB", "a: ",
    ". ", ", ", "- ", "\n ", " \n", "\n\n", "? ", "中 ", "中a", "中。", "a中", "`a`", "``", "```\n", "\n```", "```", "<a>", "</",
    "<think>", "http://a", "a@a.", "--a", "[m1] ", "mem_", "not ", "I am ", "my ", "one ", "twenty-", "in ", "on Monday ",
    "2026-11-22 ", "May 1 ", "data:", "eyJ", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "password=", "token: ", '{"', "\\", '\\"',
    "the user ", "because ", "vs ", "3 km ", "10,000", "a=b&",
)  # fmt: skip


def _repeated(prefix: str, pump: str, suffix: str) -> Attack:
    return lambda size: prefix + pump * max(1, size // max(1, len(pump))) + suffix


def _parted(first: str, second: str, suffix: str) -> Attack:
    return lambda size: first * (size // (2 * len(first))) + second * (size // (2 * len(second))) + suffix


EVERYWHERE: dict[str, Attack] = {
    f"{unit!r} repeated": _repeated("", unit, "\x00" if len(unit) == 1 else "") for unit in _PLAIN
}
"""Attacks that ask for no pattern: what texts are made of, over and over."""


def attacks_on(pattern: re.Pattern[str]) -> dict[str, Attack]:
    """Attacks on one pattern, by a name that says what they repeat."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
    found: dict[str, Attack] = {}
    pumps: list[str] = []
    for prefix, bodies in islice(_repetitions(tree, ""), 30):
        for pump in bodies:
            pumps.append(pump)
            for suffix in _ENDS:
                found[f"{prefix!r} {pump!r}* {suffix!r}"] = _repeated(prefix, pump, suffix)
            found[f"({prefix!r} {pump!r})*"] = _repeated("", prefix + pump, "")
            found[f"({prefix!r} {pump!r} newline)*"] = _repeated("", prefix + pump + "\n", "")
        if prefix:
            found[f"{prefix!r}*"] = _repeated("", prefix, "\x00")
            found[f"({prefix!r} newline)*"] = _repeated("", prefix + "\n", "")
    different = list(dict.fromkeys(pumps))[:5]
    for first in different:
        found[f"{first!r}*"] = _repeated("", first, "\x00")
        for second in different:
            found[f"{first!r}* {second!r}*"] = _parted(first, second, "\x00")
    whole = next(_samples(tree), "")
    if whole:
        found[f"{whole!r} as a whole, repeated"] = _repeated("", whole, "")
        found[f"{whole[:-1]!r} cut, repeated"] = _repeated("", whole[:-1] or whole, "")
    different_texts: dict[str, tuple[str, Attack]] = {}
    for name, attack in found.items():
        different_texts.setdefault(attack(_MANY[1]), (name, attack))
    return dict(different_texts.values())


def _repetitions(tree: Any, before: str) -> Iterator[tuple[str, list[str]]]:
    """Each repetition of a tree: an example of what stands before it, and examples of what is repeated."""
    for op, value in tree:
        if op in {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}:
            _, most, body = value
            if most > MANY:
                yield before, list(dict.fromkeys(one for one in islice(_samples(body), 3) if one))
            yield from _repetitions(body, before)
        elif op is codes.SUBPATTERN:
            yield from _repetitions(value[-1], before)
        elif op is codes.BRANCH:
            for branch in value[1]:
                yield from _repetitions(branch, before)
        elif op is codes.ATOMIC_GROUP:
            yield from _repetitions(value, before)
        elif op in {codes.ASSERT, codes.ASSERT_NOT}:
            yield from _repetitions(value[1], before)
        before += next(_samples([(op, value)]), "")


def _samples(tree: Any) -> Iterator[str]:
    """Texts that a tree takes, or nearly: assertions are passed over."""
    parts = [list(islice(_sample(op, value), 4)) or [""] for op, value in tree]
    if not parts:
        yield ""
        return
    for number in range(max(map(len, parts))):
        yield "".join(part[number % len(part)] for part in parts)


def _sample(op: Any, value: Any) -> Iterator[str]:
    if op is codes.LITERAL:
        yield chr(value)
    elif op is codes.NOT_LITERAL:
        yield from (c for c in _CANDIDATES if ord(c) != value)
    elif op is codes.ANY:
        yield from "a "
    elif op is codes.IN:
        yield from _of_set(value)
    elif op in {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}:
        least, most, body = value
        for one in _samples(body):
            yield one * (least or min(most, 1))
    elif op is codes.SUBPATTERN:
        yield from _samples(value[-1])
    elif op is codes.ATOMIC_GROUP:
        yield from _samples(value)
    elif op is codes.BRANCH:
        for branch in value[1]:
            yield from islice(_samples(branch), 1)


def _of_set(items: Sequence[Any]) -> Iterator[str]:
    negated = items[0][0] is codes.NEGATE
    if not negated:
        for op, value in items:
            if op is codes.LITERAL:
                yield chr(value)
            elif op is codes.RANGE:
                yield chr(value[0])
            elif op is codes.CATEGORY:
                yield _CATEGORIES.get(value, "a")
        return
    # What the set leaves out is asked of the set itself.
    source = re.compile(_as_set(items[1:]))
    yield from (c for c in _CANDIDATES if source.fullmatch(c) is None)


def _as_set(items: Sequence[Any]) -> str:
    letters = {
        codes.CATEGORY_DIGIT: r"\d", codes.CATEGORY_NOT_DIGIT: r"\D", codes.CATEGORY_SPACE: r"\s",
        codes.CATEGORY_NOT_SPACE: r"\S", codes.CATEGORY_WORD: r"\w", codes.CATEGORY_NOT_WORD: r"\W",
    }  # fmt: skip
    said = ""
    for op, value in items:
        if op is codes.LITERAL:
            said += re.escape(chr(value))
        elif op is codes.RANGE:
            said += f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
        elif op is codes.CATEGORY:
            said += letters[value]
    return f"[{said}]"


def grows_too_fast(run: Callable[[str], object], attack: Attack) -> str | None:
    """How the work grows, where that is faster than in proportion to the text; else None.

    Processor times of a text and of longer ones are compared, the least of several readings. What looks too fast is
    read again and more often: another program of the machine makes one reading long, not all of them.
    """
    said = None
    for times in (1, 3, 6):
        said = _growth(run, attack, times)
        if said is None:
            return None
    return said


_FEW = (10, 20)
"""Characters at which only exponential work shows: there it is still bearable."""
_SOME = (400, 800)
"""Where cubic work shows."""
_MANY = (1100, 3300)
"""Where quadratic work shows: 9 times the work for 3 times the text. Texts of more than 1024 characters take other ways
than short ones, so the shorter of the two is one of them."""
_BOUNDS = {_FEW: 50.0, _SOME: 6.0, _MANY: 6.0}
_TICK = 20e-6
"""What shorter work counts as: a pattern whose steps are bounded takes 7 to 60 microseconds for such texts, by where they
fall in it. Work that grows takes milliseconds by the longest."""
_ENDLESS = 0.5
"""Seconds of a processor that no text of a stage's shorter size takes in proportion, a thousand times what any needs:
where a reading of the stage before missed it, the longer one would take minutes."""


def _growth(run: Callable[[str], object], attack: Attack, times: int) -> str | None:
    known, base = 0, _TICK
    for sizes, bound in _BOUNDS.items():
        short, long = (attack(size) for size in sizes)
        # A text that is little longer than one before takes no less: its own time is asked for only where that decides.
        if leap := sizes[0] > 2 * known:
            base = max(_least(run, short, times), _TICK)
            if base > _ENDLESS:
                return f"{base:.1f} seconds of work for {len(short)} characters"
        taken = _least(run, long, times)
        if taken > bound * base and not leap:
            base = max(_least(run, short, times), _TICK)
        if (growth := taken / base) > bound and len(long) < 5 * len(short):
            return f"{growth:.0f} times the work for {len(long) / max(1, len(short)):.0f} times the text"
        known, base = sizes[1], max(taken, _TICK)
    return None


def _least(run: Callable[[str], object], text: str, times: int) -> float:
    best = float("inf")
    for _ in range(times):
        begun = process_time()
        run(text)
        best = min(best, process_time() - begun)
    return best
