"""Verb suite: a recall is paged through while others write, forget, hide, correct and tidy up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from memhold.testing.verb_suite_base import Harness, Verbs, facts, fields, user
from memhold.values.errors import InvalidInput

__all__ = ["MEANWHILE", "PagingCases", "paged_meanwhile"]

MEANWHILE = (
    "nothing",
    "add",
    "say otherwise",
    "say again",
    "note",
    "forget the next",
    "forget a shown one",
    "forget a neighbour",
    "hide",
    "undo the hiding",
    "supersede",
    "correct",
    "consolidate",
    "compact",
    "index",
)
"""What can happen between two pages."""
_ALL = 1000
_TEXTS = (
    "green tea in the morning",
    "the ferry leaves at nine",
    "tea with the dog",
    "ok",
    "where did I put the kettle",
    "tea",
    "My favorite tea is oolong.",
    "a green door",
)
_QUESTION = "when do I drink green tea"


async def paged_meanwhile(harness: Harness, steps: Sequence[tuple[str, int]], *, limit: int = 3) -> None:
    """Page through a recall with one step after each page, and check that what was there all along is shown once.

    A step is one of `MEANWHILE` and a number that picks what it is done to.
    """
    alice = harness.scope(user="alice", session="s1")
    await _told(alice)
    await harness.settle()
    first = await alice.recall(_QUESTION, limit=_ALL)
    through = _found(first)
    shown: dict[str, Any] = {}
    page = await alice.recall(_QUESTION, limit=limit)
    meanwhile = iter(steps)
    hidden: list[str] = []
    for _ in range(_ALL):
        again = [hit.id for hit in page.hits if hit.id in shown]
        assert not again, f"shown twice: {again}"
        shown |= {hit.id: hit for hit in page.hits}
        if page.cursor is None:
            break
        step, pick = next(meanwhile, ("nothing", 0))
        await _happens(harness, alice, (step, pick), shown=shown, hidden=hidden)
        through &= _found(await alice.recall(_QUESTION, limit=_ALL))
        page = await alice.recall(_QUESTION, limit=limit, cursor=page.cursor)
    told = {one for hit in shown.values() for one in (hit.id, *hit.sources)}
    assert through <= told, f"never shown: {sorted(through - told)}"
    whole = set(fields(first, "id"))
    standing = _found(await alice.recall(_QUESTION, limit=_ALL))
    said = [(hit.text, hit.role, hit.kind) for name, hit in shown.items() if name in whole & standing]
    assert len(said) == len(set(said)), "a text was shown twice"


async def _told(alice: Verbs) -> None:
    messages = []
    for number in range(24):
        text = _TEXTS[number % len(_TEXTS)]
        role = "user" if number % 3 else "assistant"
        messages.append({"role": role, "content": text if number % 2 else f"{text} {number}"})
    await alice.add(messages)
    for number in range(4):
        await alice.remember(f"tea is drunk at {number}")
    await alice.remember(attribute="favorite tea", value="green tea")


def _found(answer: Any) -> set[str]:
    return {one for hit in answer.hits for one in (hit.id, *hit.sources)}


async def _happens(
    harness: Harness, alice: Verbs, step: tuple[str, int], *, shown: Mapping[str, Any], hidden: list[str]
) -> None:
    what, pick = step
    match what:
        case "add":
            await alice.add([user(f"green tea again, {pick}"), {"role": "assistant", "content": "noted"}])
        case "say otherwise":
            await alice.add([user(f"My favorite tea is number {pick} now.")])
        case "say again":
            await alice.add([user(_TEXTS[pick % len(_TEXTS)])])
        case "note":
            await alice.remember(f"green tea, noted {pick}")
        case "forget the next" | "hide":
            rest = [hit.id for hit in (await alice.recall(_QUESTION, limit=_ALL)).hits if hit.id not in shown]
            if rest and what == "hide":
                hidden.append((await alice.forget(rest[pick % len(rest)], hard=False)).change_id)
            elif rest:
                await alice.forget(rest[pick % len(rest)])
        case "forget a shown one":
            rest = [one for one in fields(await alice.recall(_QUESTION, limit=_ALL), "id") if one in shown]
            if rest:
                await alice.forget(rest[pick % len(rest)])
        case "forget a neighbour":
            messages = await alice.messages()
            if messages:
                await alice.forget(messages[pick % len(messages)].id)
        case "undo the hiding":
            if hidden:
                await alice.undo(hidden.pop())
        case "supersede":
            await alice.remember(attribute="favorite tea", value=f"tea number {pick}")
        case "correct":
            if await facts(alice):
                [fact] = (await alice.list(kinds=("fact",))).items
                await alice.correct(fact.id, f"black tea {pick}")
        case "consolidate":
            await alice.consolidate()
        case "compact":
            await alice.compact()
        case "index":
            await harness.advance(timedelta(hours=1))
            await harness.settle()


@pytest.mark.asyncio
class PagingCases:
    """What a cursor promises, on any face and store."""

    @pytest.mark.parametrize("seed", range(4))
    async def test_what_is_there_all_along_is_shown_once_whatever_happens(self, harness: Harness, seed: int) -> None:
        drawn = Random(seed)
        steps = [(drawn.choice(MEANWHILE), drawn.randrange(100)) for _ in range(40)]
        await paged_meanwhile(harness, steps, limit=drawn.choice((1, 2, 3)))

    async def test_pages_by_cursor_join_to_the_whole(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        await _told(alice)
        await harness.settle()
        for asked in ({}, {"kinds": ["message"]}, {"include_superseded": True}):
            for question in (_QUESTION, ""):
                whole = await alice.recall(question, limit=_ALL, **asked)
                joined: list[Any] = []
                cursor: str | None = None
                while not joined or cursor is not None:
                    page = await alice.recall(question, limit=4, cursor=cursor, **asked)
                    assert (page.total, page.snapshot is None) == (whole.total, False)
                    joined += page.hits
                    cursor = page.cursor
                    assert page.next_offset == (None if cursor is None else len(joined))
                assert fields(whole, "id") == [hit.id for hit in joined]
                assert fields(whole, "superseded_by") == [hit.superseded_by for hit in joined]
                assert whole.cursor is None

    async def test_a_cursor_goes_on_from_an_offset(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        await _told(alice)
        whole = await alice.recall(_QUESTION, limit=_ALL)
        page = await alice.recall(_QUESTION, limit=2, offset=5)
        rest = await alice.recall(_QUESTION, limit=_ALL, cursor=page.cursor)
        assert fields(rest, "id") == fields(whole, "id")[7:]

    async def test_a_cursor_of_something_else_is_refused(self, harness: Harness) -> None:
        alice, bob = (harness.scope(user=name, session="s1") for name in ("alice", "bob"))
        for scope in (alice, bob):
            await _told(scope)
        cursor = (await alice.recall(_QUESTION, limit=2)).cursor
        damaged = cursor[:-2] + ("AA" if cursor[-2:] != "AA" else "BB")
        for scope, question, asked in (
            (bob, _QUESTION, {"cursor": cursor}),
            (alice, "tea", {"cursor": cursor}),
            (alice, _QUESTION, {"cursor": cursor, "kinds": ["message"]}),
            (alice, _QUESTION, {"cursor": damaged}),
            (alice, _QUESTION, {"cursor": "c1"}),
            (alice, _QUESTION, {"cursor": "n5"}),
            (alice, _QUESTION, {"cursor": ""}),
            (alice, _QUESTION, {"cursor": "c1\u00e9"}),
            (alice, _QUESTION, {"cursor": cursor, "offset": 2}),
            (alice, _QUESTION, {"cursor": cursor, "snapshot": "n5.t5"}),
        ):
            with pytest.raises(InvalidInput, match="cursor"):
                await scope.recall(question, **asked)
        assert len((await alice.recall(_QUESTION, limit=50, neighbours=1, cursor=cursor)).hits) > 2

    async def test_a_copy_that_passes_a_filter_stands_for_the_one_that_does_not(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        for lang in ("en", "fr", "en"):
            await alice.add([user("green tea", metadata={"lang": lang})])
        for lang, copies in (("en", 1), ("fr", 0), ("de", None)):
            answer = await alice.recall("tea", metadata={"lang": lang})
            assert answer.total == len(answer.hits) == (copies is not None)
            assert [len(hit.sources) for hit in answer.hits] == ([] if copies is None else [copies])
            assert all(hit.metadata["lang"] == lang for hit in answer.hits)

    async def test_the_history_is_paged_by_cursor_too(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        for day in range(4):
            told = harness.scope(user="alice", session=f"day {day}")
            await told.add([user(f"On day {day} we drank green tea.")])
            await told.end_session()
            await harness.settle()
        for query in (None, "green tea"):
            whole = [hit.id for hit in (await alice.summaries(query, raw=True)).hits]
            seen: list[str] = []
            page = await alice.summaries(query, raw=True, limit=1)
            for _ in whole:
                seen += [hit.id for hit in page.hits]
                if page.cursor is None:
                    break
                page = await alice.summaries(query, raw=True, limit=1, cursor=page.cursor)
            assert seen == whole
            assert len(whole) == 4
        foreign = (await alice.summaries(raw=True, limit=1)).cursor
        with pytest.raises(InvalidInput, match="cursor"):
            await alice.summaries("green tea", raw=True, limit=1, cursor=foreign)
