"""Patterns that are compiled when they are first asked."""

from __future__ import annotations

import copy
import pickle
import re
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from subprocess import run

import pytest

from memhold.text import lazily

OPENS = """
import re._compiler, sys
made, real = [], re._compiler.compile

def recording(pattern, flags=0):
    frame = sys._getframe(1)
    while frame and not frame.f_globals.get("__name__", "").startswith("memhold"):
        frame = frame.f_back
    made.append(frame.f_globals["__name__"] if frame else "")
    return real(pattern, flags)

re._compiler.compile = recording
from memhold import Memhold
Memhold.open(sys.argv[1]).close()
print(sorted({name for name in made if name.startswith("memhold.text")}))
"""


@pytest.fixture(autouse=True)
def _own_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of these tests, one of which is none, are not for others to compile."""
    monkeypatch.setattr(lazily, "_made", [])


def test_it_answers_as_a_compiled_one_does() -> None:
    lazy, compiled = lazily.compile(r"(?P<a>b+)\s", re.IGNORECASE), re.compile(r"(?P<a>b+)\s", re.IGNORECASE)
    text = "a BB c bbb d"
    assert [match.span() for match in lazy.finditer(text)] == [match.span() for match in compiled.finditer(text)]
    assert lazy.sub("x", text) == compiled.sub("x", text)
    assert (lazy.pattern, lazy.flags, lazy.groupindex) == (compiled.pattern, compiled.flags, compiled.groupindex)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])  # noqa: S301 - ours
def test_a_copy_is_one_too(copied: Callable[[re.Pattern[str]], re.Pattern[str]]) -> None:
    lazy = lazily.compile("a(b+)", re.IGNORECASE)
    assert copied(lazy).findall("ABB ab") == lazy.findall("ABB ab") == copied(lazy).findall("ABB ab") == ["BB", "b"]


def test_one_that_is_none_says_so_at_its_first_use() -> None:
    lazy = lazily.compile("(")
    with pytest.raises(re.error, match="unterminated subpattern"):
        lazy.search("")


def test_threads_may_ask_it_first_at_once() -> None:
    for number in range(50):
        lazy = lazily.compile(f"a{{{number}}}b")
        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(lambda _, lazy=lazy, text="a" * number + "b": lazy.fullmatch(text), range(4)))


def test_all_that_was_not_asked_yet_can_be_compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lazy = lazily.compile(r"never\s+asked")
    lazily.compile_all()
    monkeypatch.setattr(re, "compile", pytest.fail)
    assert lazy.search("never asked") is not None


def test_opening_a_store_compiles_none_of_those_that_read_texts(tmp_path: object) -> None:
    done = run([sys.executable, "-c", OPENS, f"{tmp_path}/memory.db"], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
