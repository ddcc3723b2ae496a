"""A name that is not there: what was meant is said, to one who mistyped and to one who knows another system."""

from __future__ import annotations

from pathlib import Path

import pytest

from memhold import AsyncMemhold, Memhold
from memhold.errors import InvalidSetting
from memhold.values.hints import WORDS
from memhold.verbs.declaration import verbs_of
from memhold.verbs.scope import AsyncScope

PLAIN = {"worker": False, "embedding": "none"}


@pytest.mark.parametrize(
    ("word", "hint"),
    [("search", "'recall'"), ("delete", "'forget'"), ("get_all", "'list'"), ("recal", "'recall'"), ("forgett", "'forget'")],
)  # fmt: skip
def test_a_scope_says_what_it_calls_that(word: str, hint: str) -> None:
    with Memhold.open("memory://", **PLAIN) as mem, pytest.raises(AttributeError, match=f"did you mean {hint}") as told:
        getattr(mem.scope(user="u"), word)
    assert told.value.name == word


async def test_an_async_scope_and_a_store_say_so_too() -> None:
    async with AsyncMemhold.open("memory://", **PLAIN) as mem:
        with pytest.raises(AttributeError, match="did you mean 'recall'"):
            mem.scope(user="u").search  # noqa: B018 - it is to be refused
        for word, verb in {"add": "add", "search": "recall", "remember": "remember"}.items():
            with pytest.raises(AttributeError, match=rf"has no '{word}'; write \.scope\(user=…\)\.{verb}\(…\)"):
                getattr(mem, word)
    with Memhold.open("memory://", **PLAIN) as sync:
        with pytest.raises(AttributeError, match=r"has no 'get_all'; write \.scope\(user=…\)\.list\(…\)"):
            sync.get_all  # noqa: B018 - as above
        assert not hasattr(sync, "nothing_like_it")


def test_a_setting_that_is_mistyped_is_named() -> None:
    with pytest.raises(InvalidSetting, match=r"unknown setting 'timezon'; did you mean 'timezone'\?$"):
        Memhold.open("memory://", timezon="Europe/Paris")
    with pytest.raises(InvalidSetting, match=r"unknown setting 'qqqq'; known are adjudication, "):
        Memhold.open("memory://", qqqq=1)


def test_every_word_of_another_system_leads_to_something_that_is_there() -> None:
    verbs = verbs_of(AsyncScope)
    known = {*verbs, *(name for verb in verbs.values() for name in verb.parameters), "user", "agent", "session"}
    assert not {word: ours for word, ours in WORDS.items() if ours not in known}


def test_a_command_of_another_system_is_answered_with_ours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from memhold.cli.main import main

    for word, ours in {"search": "recall", "delete": "forget", "recal": "recall"}.items():
        assert main([word, "x", "--db", str(tmp_path / "m.db")]) == 2
        assert f"Did you mean '{ours}'" in capsys.readouterr().err
    assert not (tmp_path / "m.db").exists()
