"""Memories as Markdown that a person can read: `MEMORY.md` for what holds now, `HISTORY.md` for the summaries.

What a memory says is escaped, so it reads as it was written and makes no structure: no heading, list, link, picture or
HTML of a page comes from a value. The same values give the same text, whatever order they come in.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby, pairwise

from memhold.values.records import Memory

__all__ = ["history_markdown", "in_no_page", "is_own_page", "memory_markdown", "of_the_page"]

_TOLD = frozenset({"fact", "instruction", "note"})
"""The kinds of `MEMORY.md`."""
_SPECIAL = re.compile(r"([\\`*_\[\]<>&|~!$])")
_LEADING = re.compile(r"^(#|[-+=]|\d+(?=[.)]))")
_SPACES = re.compile(r"\s+")
_NOTHING = "Nothing yet."
_OF_THE_PAGE = re.compile(
    r"\*\d+ older entr(?:y is|ies are) not shown\.\*|As of [^()]{1,40} \(revision \d+\)\. Memhold writes this file.*"
)
_TIMED = re.compile(r"## \d{4}-\d\d-\d\d \d\d:\d\d UTC")
_BARE_LINK = re.compile(r"(?i)\b(https?|ftp|mailto):|\bwww\.")


def memory_markdown(memories: Iterable[Memory], *, now: datetime, below: str | None = None) -> str:
    """`MEMORY.md`: the profile, then what else holds at `now`.

    The profile is the long-term facts, by subject ("user" first) and attribute. Below it stand the facts that are not
    lasting yet ("For now"), the instructions, and the notes, pinned first. Only what is active is shown, each on one
    line with the day from which it holds. Nothing in it changes unless a memory does, so a diff of two exports shows
    what changed. `below` is the namespace below that these are of, where they are of such a one.
    """
    held = [m for m in memories if m.kind in _TOLD and _holds(m, now)]
    every = sorted((m for m in held if m.kind == "fact"), key=_fact_order)
    facts = [m for m in every if m.tier == "long"]
    passing = [m for m in every if m.tier != "long"]
    wishes, notes = (
        sorted((m for m in held if m.kind == kind), key=lambda m: (not m.pinned, m.event_time, m.id))
        for kind in ("instruction", "note")
    )
    lines = [_title("Memory", below), ""]
    for subject, group in groupby(facts, key=lambda m: m.subject or ""):
        lines += [f"## {_inline(subject) or 'Without a subject'}", "", *map(_fact, group), ""]
    if passing:
        lines += ["## For now", "", *map(_passing, passing), ""]
    if wishes:
        lines += ["## Instructions", "", *map(_note, wishes), ""]
    if notes:
        lines += ["## Notes", "", *map(_note, notes), ""]
    if not held:
        lines += [_NOTHING, ""]
    return "\n".join(lines)


def history_markdown(memories: Iterable[Memory], *, limit: int | None = None, below: str | None = None) -> str:
    """`HISTORY.md`: the active summaries and raw windows, newest first, at most `limit`, a paragraph each.

    A raw window, which no model has read yet, is marked as such in its heading.
    """
    entries = [m for m in memories if _in_history(m)]
    entries.sort(key=lambda m: (m.event_time, m.id), reverse=True)
    shown = entries[:limit]
    lines = [_title("History", below), ""]
    for memory in shown:
        session = f" · {_inline(memory.session)}" if memory.session else ""
        raw = " · raw, not consolidated yet" if memory.kind == "raw" else ""
        lines += [f"## {memory.event_time:%Y-%m-%d %H:%M} UTC{raw}{session}", "", _inline(memory.text), ""]
    if left := len(entries) - len(shown):
        lines += [f"*{left} older {'entry is' if left == 1 else 'entries are'} not shown.*", ""]
    if not entries:
        lines += [_NOTHING, ""]
    return "\n".join(lines)


def is_own_page(name: str, text: str) -> bool:
    """Whether `MEMORY.md` or `HISTORY.md` has the form in which these are written, or nothing in it.

    A page that somebody wrote themselves, or wrote something into, has another.
    """
    lines = [line for line in text.splitlines() if line]
    if not lines:
        return True
    title = f"# {name.removesuffix('.md').capitalize()}"
    form = _of_memory if name == "MEMORY.md" else _of_history
    given = (title, "As of ", _NOTHING)
    return lines[0].startswith(title) and all(
        line.startswith(given) or form(before, line) for before, line in pairwise(lines)
    )


def of_the_page(text: str, sections: Sequence[str]) -> bool:
    """Whether a paragraph below these headings tells of one of these pages and of no memory.

    That is what is not shown, when it was written, or that nothing is there yet.
    """
    return _OF_THE_PAGE.fullmatch(text) is not None or (text == _NOTHING and len(sections) == 1)


def _of_memory(_: str, line: str) -> bool:
    return line.startswith("## ") or (line.startswith("- ") and " *(since " in line and line.endswith(")*"))


def _of_history(before: str, line: str) -> bool:
    if line.startswith("#"):
        return _TIMED.match(line) is not None
    return _TIMED.match(before) is not None or (line.startswith("*") and line.endswith(" not shown.*"))


def in_no_page(memories: Iterable[Memory], *, now: datetime) -> Counter[str]:
    """How many of these memories stand in neither page, by what they are."""
    left_out: Counter[str] = Counter()
    for memory in memories:
        if memory.kind == "document":
            left_out["documents"] += 1
        elif memory.kind == "rollup":
            left_out["roll-ups, which are made of the summaries"] += 1
        elif not (_in_history(memory) or (memory.kind in _TOLD and _holds(memory, now))):
            left_out["memories that do not hold now"] += 1
    return left_out


def _in_history(memory: Memory) -> bool:
    return memory.kind in {"summary", "raw"} and memory.state == "active"


def _title(what: str, below: str | None) -> str:
    return f"# {what}" if below is None else f"# {what} of the namespace below: {_inline(below)}"


def _holds(memory: Memory, now: datetime) -> bool:
    return (
        memory.state == "active"
        and memory.valid_from <= now
        and (memory.valid_to is None or memory.valid_to > now)
        and (memory.expires_at is None or memory.expires_at > now)
    )


def _fact_order(memory: Memory) -> tuple[bool, str, str, str, str, str]:
    subject = memory.subject or ""
    # By the key, which a value told again in other words keeps: its line stays where it was.
    attribute = memory.key or memory.attribute or ""
    return (subject != "user", subject.casefold(), subject, attribute.casefold(), memory.agent or "", memory.id)


def _fact(memory: Memory) -> str:
    said = f"**{_inline(memory.attribute)}**: {_inline(memory.value)}" if memory.attribute else _inline(memory.text)
    return f"- {said}{_labels(memory)}"


def _passing(memory: Memory) -> str:
    whose = "" if memory.subject == "user" or not memory.subject else f"{_inline(memory.subject)}'s "
    said = (
        f"**{whose}{_inline(memory.attribute)}**: {_inline(memory.value)}" if memory.attribute else _inline(memory.text)
    )
    return f"- {said}{_labels(memory)}"


def _note(memory: Memory) -> str:
    return f"- {_inline(memory.text)}{_labels(memory)}"


def _labels(memory: Memory) -> str:
    labels = [f"since {memory.valid_from:%Y-%m-%d}"]
    if memory.pinned:
        labels.append("pinned")
    if memory.agent:
        labels.append(f"agent {_inline(memory.agent)}")
    return f" *({', '.join(labels)})*"


def _inline(text: str | None) -> str:
    """Text on one line, with everything escaped that Markdown, or HTML in it, would read as more than text."""
    flat = _SPACES.sub(" ", "".join(c if _visible(c) else " " for c in text or "")).strip()
    escaped = _LEADING.sub(_lead, _SPECIAL.sub(r"\\\1", flat))
    return _BARE_LINK.sub(lambda found: found[0][:-1] + "\\" + found[0][-1], escaped)


def _lead(found: re.Match[str]) -> str:
    """A number is escaped at its point, anything else in front: a digit cannot be escaped."""
    return f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}"


def _visible(char: str) -> bool:
    """Whether a character shows: control, bidirectional-override and surrogate characters do not."""
    if unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}:
        return False
    return not ("\u202a" <= char <= "\u202e" or "\u2066" <= char <= "\u2069")
