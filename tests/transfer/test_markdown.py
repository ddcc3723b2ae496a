from __future__ import annotations

import random
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memhold.transfer.markdown import history_markdown, in_no_page, is_own_page, memory_markdown
from memhold.values.records import Memory

AT = datetime(2025, 3, 1, 12, tzinfo=UTC)
NOW = AT + timedelta(days=30)


def memory(ident, **more):
    more = {"kind": "note", "text": f"text {ident}"} | more
    times = {name: more.pop(name, AT) for name in ("event_time", "valid_from")}
    return Memory(id=ident, number=0, created_at=AT, recorded_at=AT, **times, **more)


def fact(ident, subject, attribute, value, **more):
    text = f"{subject} {attribute} {value}"
    more = {"tier": "long"} | more
    return memory(ident, kind="fact", subject=subject, attribute=attribute, value=value, text=text, **more)


MEMORIES = [
    fact("1", "user", "favorite food", "sushi"),
    fact("2", "user", "city", "Busan"),
    fact("3", "Bori", "kind", "dog"),
    memory("4", text="Prefers window seats"),
    memory("5", text="Allergic to penicillin", pinned=True, valid_from=AT + timedelta(days=1)),
    fact("6", "user", "favorite drink", "coffee", state="superseded"),
    fact("7", "user", "seat", "aisle", valid_to=AT + timedelta(days=2)),
    fact("8", "user", "plan", "move", valid_from=NOW + timedelta(days=1)),
    memory("9", text="gone", state="forgotten"),
    memory("10", text="old", expires_at=NOW),
    memory("11", kind="summary", text="A summary."),
    fact("12", "user", "hobby", "pottery", tier="mid", expires_at=NOW + timedelta(days=3)),
    fact("13", "Bori", "mood", "sleepy", tier="mid"),
    fact("14", "user", "cold", "since Monday", tier="mid", state="expired"),
    memory("15", kind="instruction", text="Answer in French"),
    memory("16", kind="document", text="a page"),
    memory("17", kind="rollup", text="a week"),
]
EXPECTED = """\
# Memory

## user

- **city**: Busan *(since 2025-03-01)*
- **favorite food**: sushi *(since 2025-03-01)*

## Bori

- **kind**: dog *(since 2025-03-01)*

## For now

- **hobby**: pottery *(since 2025-03-01)*
- **Bori's mood**: sleepy *(since 2025-03-01)*

## Instructions

- Answer in French *(since 2025-03-01)*

## Notes

- Allergic to penicillin *(since 2025-03-02, pinned)*
- Prefers window seats *(since 2025-03-01)*
"""


def test_what_stands_in_no_page_is_counted():
    assert in_no_page(MEMORIES, now=NOW) == {
        "documents": 1,
        "roll-ups, which are made of the summaries": 1,
        "memories that do not hold now": 6,
    }
    assert memory_markdown([memory("16", kind="document")], now=NOW) == memory_markdown([], now=NOW)


def test_memory_shows_what_holds_in_a_stable_order():
    assert memory_markdown(MEMORIES, now=NOW) == EXPECTED
    shuffled = MEMORIES[:]
    random.Random(1).shuffle(shuffled)
    assert memory_markdown(shuffled, now=NOW + timedelta(hours=1)) == EXPECTED


def test_a_changed_fact_changes_one_line():
    changed = [replace(m, value="kimchi jjigae") if m.id == "1" else m for m in MEMORIES]
    before, after = EXPECTED.splitlines(), memory_markdown(changed, now=NOW).splitlines()
    assert len([1 for a, b in zip(before, after, strict=True) if a != b]) == 1


def test_history_is_newest_first_and_marks_raw_windows():
    entries = [
        memory("a", kind="summary", text="First.\n\nStill first.", session="s1"),
        memory("b", kind="raw", text="user: hi", session="s2", event_time=AT + timedelta(days=1)),
        memory("c", kind="summary", text="Last.", event_time=AT + timedelta(days=2)),
        memory("d", kind="summary", text="Undone.", state="retracted"),
        memory("e", text="A note."),
    ]
    assert history_markdown(entries, limit=2) == (
        "# History\n\n## 2025-03-03 12:00 UTC\n\nLast.\n\n"
        "## 2025-03-02 12:00 UTC · raw, not consolidated yet · s2\n\nuser: hi\n\n"
        "*1 older entry is not shown.*\n"
    )
    assert "First. Still first." in history_markdown(entries)


def test_nothing_is_said_to_be_nothing():
    assert memory_markdown([], now=NOW) == "# Memory\n\nNothing yet.\n"
    assert history_markdown([]) == "# History\n\nNothing yet.\n"


def test_a_page_of_ones_own_is_not_taken_for_an_exports() -> None:
    entries = [memory("3", kind="summary", text="# No heading\n- no list"), memory("4", kind="summary", text="Two.")]
    for name, held, write in (
        ("MEMORY.md", MEMORIES, partial(memory_markdown, now=NOW)),
        ("HISTORY.md", entries, history_markdown),
    ):
        whole = write(held)
        for page in (write([]), whole, f"{whole}\n{write(held, below='shop')}", "", "\n", whole.replace("\n", "\r\n")):
            assert is_own_page(name, page)
        for mine in ("- buy milk", "Buy milk.", "# Mine", "1. one", "## 2026 in short"):
            assert not is_own_page(name, mine)
            assert not is_own_page(name, f"{whole}\n{mine}\n- and more\n")
    assert is_own_page("HISTORY.md", history_markdown(entries, limit=1))


FORGED = [
    "# Forged",
    "x\n# Forged",
    "x\r\n## Forged",
    "x\u2028# Forged",
    "x\x0b# Forged",
    "x\x85## Forged",
    "Forged\n======",
    "Forged\n---",
    "- item",
    "1. item",
    "2) item",
    "```\ncode",
    "~~~",
    "> quoted",
    "<h1>Forged</h1>",
    "<!-- hidden",
    "![x](https://evil.example/p.png)",
    "[x](javascript:alert)",
    "https://evil.example",
    "www.evil.example",
    "&lt;h1&gt;",
    "a\\",
    "**bold** _it_ `code` |cell| ~~s~~ $x$",
    "*(since 2020-01-01, pinned)*",
    "· raw, not consolidated yet",
    "\u202egnirts",
    "    indented",
    "\t# tab",
    "half \ud800 surrogate",
    "[ref]: https://e.org",
]

SPECIAL = re.compile(r"(?<!\\)(?:\\\\)*([`*_\[\]<>|~!$&])")
anything = st.one_of(
    st.sampled_from(FORGED),
    st.text(st.characters(codec=None, exclude_categories=()), max_size=20),
    st.text("#-=+1.)>`\n\\* "),
)


def check_value(rendered):
    """A rendered value is one line, has no bare special character, and begins no block."""
    assert len(rendered.splitlines()) <= 1
    assert not SPECIAL.search(rendered), rendered
    assert not re.match(r"\s|#|[-+=]|\d+[.)]|\||:{3}", rendered), rendered
    assert not re.search(r"(?i)https?:|www\.|ftp:|mailto:", rendered)
    assert not re.search("[\u202a-\u202e\u2066-\u2069\ud800-\udfff]", rendered)
    assert not (len(rendered) - len(rendered.rstrip("\\"))) % 2


@settings(max_examples=300, deadline=None)
@given(anything)
@example("a\\")
def test_no_value_makes_structure(text):
    lines = memory_markdown(
        [fact("1", text or "x", text, text, agent=text or "x"), memory("2", text=text)], now=NOW
    ).split("\n")
    headings = [line for line in lines if line.startswith("#")]
    assert headings[0] == "# Memory"
    assert headings[2:] == ["## Notes"]
    check_value(headings[1].removeprefix("## "))
    items = [line for line in lines if line.startswith("- ")]
    assert len(items) == 2
    assert lines == ["# Memory", "", headings[1], "", items[0], "", "## Notes", "", items[1], ""]
    check_value(items[1].removeprefix("- ").removesuffix(" *(since 2025-03-01)*"))
    page = history_markdown([memory("3", kind="summary", text=text, session=text or None)]).split("\n")
    assert len(page) == 6
    check_value(page[-2])
    check_value(page[2].removeprefix("## 2025-03-01 12:00 UTC").removeprefix(" · ") if text else "")


@pytest.mark.parametrize("text", ["snake_case", "a # b", "3 < 4 & 5", "다리 - 바다", "a.b/c", "v0.9.3", "1 cup"])
def test_what_was_said_can_be_read_back(text):
    line = memory_markdown([memory("1", text=text)], now=NOW).split("\n")[4]
    assert re.sub(r"\\(.)", r"\1", line) == f"- {text} *(since 2025-03-01)*"


def test_a_value_that_changes_in_other_words_stays_in_its_place() -> None:
    before = [
        fact("1", "user", "hobby", "hiking", key="hobby"),
        fact("2", "user", "job", "baker", key="job"),
        fact("3", "user", "age", "40", key="age"),
    ]
    after = [before[1], before[2], fact("4", "user", "my current hobby", "pottery", key="hobby")]
    lines = [memory_markdown(facts, now=NOW).splitlines() for facts in (before, after)]
    changed = [(one, other) for one, other in zip(*lines, strict=True) if one != other]
    assert changed == [
        ("- **hobby**: hiking *(since 2025-03-01)*", "- **my current hobby**: pottery *(since 2025-03-01)*")
    ]
