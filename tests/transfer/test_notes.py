"""Memory that is kept as Markdown, and Memhold's own pages, which read back as they were written."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memhold.errors import UnreadableImport
from memhold.transfer.formats import READERS, detect
from memhold.transfer.markdown import history_markdown, memory_markdown
from memhold.transfer.mirror import write_mirror
from memhold.transfer.source import Source
from memhold.values.records import Memory, Scope

THEN = datetime(2025, 3, 1, tzinfo=UTC)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
NOTE = Memory(
    id="mem_1", number=0, kind="note", text="", event_time=THEN, valid_from=THEN, created_at=THEN, recorded_at=THEN
)
PAGE = """---
title: Coffee brewing
tags: [coffee, "slow"]
---

# Coffee brewing

## Observations
- [method] Pour over gives more clarity #brewing
- I like light roasts
  because they are fruity
1. First the water

## Relations
- relates_to [[Tea]]
- grown_in [[Peru]] (mostly)

## 2026-02-03 09:30

Bought a new grinder.
It is loud.

```sh
# not a heading
- not an item
```
"""


def read(path: Path, **options):
    source = Source(path=path, zone=UTC, now=NOW, **options)
    return [one.revisions[-1] for one in READERS["markdown"](source)]


def test_an_item_that_only_holds_the_letters_of_its_page_says_whose_it_is(put):
    (note,) = read(put("---\ntitle: Al\n---\n\n- Allergic to nuts\n"))
    assert note.text == "Al: Allergic to nuts"


def test_a_page_of_basic_memory(put):
    path = put(PAGE)
    assert detect(path) == "markdown"
    found = {one.text: one for one in read(path)}
    assert list(found) == [
        "Coffee brewing / method: Pour over gives more clarity #brewing",
        "Coffee brewing: I like light roasts\n  because they are fruity",
        "Coffee brewing: First the water",
        "Coffee brewing relates to Tea",
        "Coffee brewing grown in Peru (mostly)",
        "Coffee brewing: Bought a new grinder.\nIt is loud.",
        "Coffee brewing:\n```sh\n# not a heading\n- not an item\n```",
    ]
    method = found["Coffee brewing / method: Pour over gives more clarity #brewing"]
    assert method.topics == ("method", "brewing")
    assert method.metadata["tags"] == ["coffee", "slow"]
    assert method.metadata["section"] == "Coffee brewing / Observations"
    # A day that is still to come is none from which something holds.
    assert found["Coffee brewing: Bought a new grinder.\nIt is loud."].valid_from == NOW


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("# Anna\n## Health\n- allergic to penicillin", "Anna / Health: allergic to penicillin"),
        ("---\ntitle: Anna\n---\n# anna\nA friend.", "Anna: A friend."),
        ("---\nname: user-tastes\n---\nTea, never coffee.", "user-tastes: Tea, never coffee."),
        ("# Anna\n## Work\n- Anna works in Porto", "Work: Anna works in Porto"),
        ("# Memory\n## 2026-02-03\n- likes tea", "likes tea"),
        ("- likes tea", "likes tea"),
    ],
)
def test_a_part_says_what_it_stands_under(put, page, said):
    assert [one.text for one in read(put(page))] == [said]


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("# Memory\n\n- likes tea", True),
        ("some text\n\n* likes tea", True),
        ("---\ntitle: x\n---\ntext", True),
        ("plain words and nothing else", False),
        ('{"half": ', False),
    ],
)
def test_it_is_told_by_its_lines(put, text, markdown):
    path = put(text)
    if markdown:
        assert detect(path) == "markdown"
    else:
        with pytest.raises(UnreadableImport):
            detect(path)


def test_front_matter_without_an_end_is_named_and_swallows_nothing_in_silence(put):
    with pytest.raises(UnreadableImport, match="has no end"):
        read(put("---\ntitle: x\n- a note"))


def test_what_looks_like_markdown_of_ours_and_is_not_stays_as_it_is_written(put):
    code = "```\nre: \\[a\\] **x**: y\n```"
    path = put(f"# 2026-99-99 bolts\n- use `\\.` and \\*\n- [x] done\n\n{code}\n")
    assert [one.text for one in read(path)] == [
        "2026-99-99 bolts: use `\\.` and *",
        "2026-99-99 bolts: [x] done",
        f"2026-99-99 bolts:\n{code}",
    ]


def test_what_is_nested_in_the_front_matter_stays_as_it_is_written(put):
    (one,) = read(put("---\ntitle: t\nmetadata:\n  author: me\ntext: >\n  long\n---\n- x\n"))
    assert (one.metadata["metadata"], one.metadata["text"]) == ("  author: me", ">\n  long")


def test_headings_that_say_it_all_and_bytes_that_say_nothing_are_named(tmp_path):
    (tmp_path / "a.md").write_bytes(b"# Never push\n## To main\n# Caf\xe9\n# A\n## B\n- c\n# D")
    source = Source(path=tmp_path / "a.md", zone=UTC, now=NOW, on_error="skip")
    assert [one.revisions[-1].text for one in READERS["markdown"](source)] == ["A / B: c"]
    assert source.left_out == {"headings with nothing below them": 2}
    assert [one.line for one in source.problems] == [3]


VISIBLE = st.text(st.characters(exclude_categories=("C", "Z")) | st.just(" "), min_size=1, max_size=60).filter(
    str.strip
)


@given(notes=st.lists(VISIBLE, min_size=1, max_size=5, unique=True), value=VISIBLE)
@example(notes=["[todo] buy tea #shop", "knows [[Tea]]"], value="[x] y")
def test_our_own_pages_read_back_as_they_were_written(tmp_path_factory, notes, value):
    folder = tmp_path_factory.mktemp("own")
    held = [replace(NOTE, id=f"mem_{at}", text=" ".join(text.split())) for at, text in enumerate(notes)]
    fact = replace(NOTE, id="mem_f", kind="fact", subject="user", attribute="home town", value=value, tier="long")
    hers = replace(fact, id="mem_g", subject="Anna")
    (folder / "MEMORY.md").write_text(memory_markdown([*held, fact, hers], now=NOW), encoding="utf-8")
    found = read(folder / "MEMORY.md")
    flat = " ".join(value.split())
    assert sorted(one.text for one in found) == sorted(
        [f"home town: {flat}", f"Anna's home town: {flat}", *(m.text for m in held)]
    )
    assert {one.valid_from for one in found} == {THEN}
    summaries = [replace(one, kind="summary", session="trip") for one in held]
    (folder / "HISTORY.md").write_text(history_markdown(summaries), encoding="utf-8")
    found = read(folder / "HISTORY.md")
    assert sorted(one.text for one in found) == sorted(one.text for one in summaries)
    assert {one.valid_from for one in found} == {THEN}


def test_what_our_own_pages_say_of_themselves_is_no_memory(tmp_path):
    held = [replace(NOTE, id=f"mem_{at}", kind="summary", text=text) for at, text in enumerate(["Nothing yet.", "x"])]
    scope = Scope(user="anna")
    written = write_mirror(tmp_path / "mirror", scope, held, now=NOW, rev=7, summaries=1)
    (tmp_path / "MEMORY.md").write_text(memory_markdown([], now=NOW), encoding="utf-8")
    (tmp_path / "HISTORY.md").write_text(history_markdown(held[:1]), encoding="utf-8")
    found = {}
    for path in (written / "HISTORY.md", written / "MEMORY.md", tmp_path / "MEMORY.md", tmp_path / "HISTORY.md"):
        source = Source(path=path, zone=UTC, now=NOW)
        texts = [one.revisions[-1].text for one in READERS["markdown"](source)]
        found[str(path.relative_to(tmp_path))] = (texts, dict(source.left_out))
    own = "lines that tell of the page itself"
    assert list(found.values()) == [(["x"], {own: 2}), ([], {own: 2}), ([], {own: 1}), (["Nothing yet."], {})]
