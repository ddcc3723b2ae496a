"""Whatever a text is, looking at it takes work in proportion to its length: every pattern, every analysis of the package.

A caller writes the text, so a pattern that takes quadratic time on one stops a server for everybody. Patterns are
collected as they are compiled, so a new one is tested without being named here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import cache
from itertools import islice
from pathlib import Path

import pytest

import memhold
from memhold.fidelity.nearest import nearest
from tests.attacks import EVERYWHERE, Attack, attacks_on, grows_too_fast
from tests.patterns import READING, Compiled, analyses, compile_sites, compiled, lines_of

ROOMS = sorted(one.stem for one in Path(memhold.__file__).parent.iterdir() if one.suffix == ".py" or one.is_dir())


MOST = 12
"""Attacks of a module's own patterns on each of its functions."""
UNREACHED = {
    "memhold.faces.mcp.install": "compiled of our own name, for a file of settings that is read by lines",
    "memhold.server.oauth": "compiled of the operator's own setting, and only short claims are looked at",
    "memhold.cli.setup": "compiled of a setting's name, for the user's own file of settings",
    "memhold.context.answer": "compiled of names, which it escapes, and only the beginnings of lines are looked at",
    "memhold.recall.excerpt": "compiled of a question's words, which it escapes: alternatives without a repetition",
    "memhold.fidelity.tense": "compiled of the words of the files, which it escapes: alternatives without a repetition",
    "memhold.languages.tables": "compiled of the words of the files, which it escapes: no repetition without a bound",
    "memhold.text.lazily": "compiles what stands elsewhere, where it is seen",
}


@pytest.fixture(scope="module")
def patterns(tmp_path_factory: pytest.TempPathFactory) -> tuple[Compiled, ...]:
    """Every pattern of the package: the workers of a run tell one another."""
    base = tmp_path_factory.getbasetemp()
    return compiled((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "patterns.json")


def test_each_compile_of_the_package_was_seen(patterns: tuple[Compiled, ...]) -> None:
    seen = {(one.module, line) for one in patterns for line in lines_of(one)}
    assert not {place for place in compile_sites() - seen if place[0] not in UNREACHED}


@pytest.mark.parametrize("room", ROOMS)
def test_a_pattern_takes_work_in_proportion_to_the_text(room: str, patterns: tuple[Compiled, ...]) -> None:
    own = [one for one in patterns if one.module.split(".")[1] == room]
    found = {str(one): _attacked(one.run(), _attacks(one)) for one in own}
    assert not {name: growth for name, growth in found.items() if growth is not None}


@pytest.mark.parametrize("room", READING)
def test_an_analysis_takes_work_in_proportion_to_the_text(room: str, patterns: tuple[Compiled, ...]) -> None:
    found = {}
    for name, run in analyses().items():
        if name.split(".")[1] == room:
            own = {
                key: attack
                for one in patterns
                if name.startswith(f"{one.module}.")
                for key, attack in _attacks(one).items()
            }
            # A module of many patterns has thousands: each was attacked by them above, and some of each do here.
            some = dict(islice(own.items(), 0, None, 1 + len(own) // MOST))
            found[name] = _attacked(run, EVERYWHERE | some)
    assert not {name: growth for name, growth in found.items() if growth is not None}


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (lambda text: nearest("The user has 3 x", text), "x = 1. "),
        (lambda text: nearest("The user has 3 x", text), "x = 1 "),
    ],
    ids=["sentences of a line", "a line of one sentence"],
)
def test_a_word_that_is_told_often_takes_work_in_proportion(run: Callable[[str], object], said: str) -> None:
    assert grows_too_fast(run, lambda size: (said * size)[: 4 * size]) is None


@pytest.mark.parametrize(
    "pattern", [r"\s+x", r"(?:abc|b|bca)+d", r"[^.!?]+[.!?]", r"<a>.*?</a>", r"(?:ab)*\s*(?:ab)*@"]
)
def test_work_that_grows_faster_is_noticed(pattern: str) -> None:
    one = Compiled("tests", 1, pattern, 0, frozenset())
    assert _attacked(one.run(), _attacks(one)) is not None


@pytest.mark.parametrize("pattern", [r"(?<!\s)\s++x", r"a{1,20}b", r"[^.!?]+[.!?]?", r"\w+"])
def test_work_in_proportion_is_no_fault(pattern: str) -> None:
    one = Compiled("tests", 1, pattern, 0, frozenset())
    assert _attacked(one.run(), _attacks(one)) is None


@cache
def _attacks(one: Compiled) -> dict[str, Attack]:
    return attacks_on(re.compile(one.pattern, one.flags))


def _attacked(run: Callable[[str], object], attacks: dict[str, Attack]) -> str | None:
    """The first attack under which the work grows faster than the text."""
    for name, attack in attacks.items():
        if (growth := grows_too_fast(run, attack)) is not None:
            return f"{growth}, for {name}"
    return None
