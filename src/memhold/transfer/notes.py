"""Memory that is kept as Markdown: `MEMORY.md` files, folders of coding agents, basic-memory, Memhold's own export.

Each item of a list and each paragraph becomes a note, with what it stands under in front: apart from its page, "now at
the airport" says nothing. Nothing of a page names its parts, so a line that was changed there is another note here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memhold.facts.remember import fact_text
from memhold.transfer.items import Note, Restored, any_time, fingerprint, make_note, says_name
from memhold.transfer.markdown import of_the_page
from memhold.transfer.source import WRONG_BYTES, Source
from memhold.values.errors import InvalidInput

__all__ = ["looks_like_markdown", "read_markdown"]

KIND = "markdown"
_HEADING = re.compile(r"(#{1,6})[ \t]+(\S.*)")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+(\S.*)")
_FENCE = re.compile(r"[ \t]*(```|~~~)")
_MEMBER = re.compile(r"([A-Za-z_][\w-]*+):[ \t]*+(.*)")
_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}))?(?:[ \t]+UTC\b)?")
_ONLY_DAY = re.compile(_DAY.pattern + r"[ \t]*(?:·.*)?")
_OWN_LABELS = re.compile(r"[ \t]\*\((since \d{4}-\d{2}-\d{2}(?:, [^*()]{1,400})?)\)\*$")
_OWN_NAME = re.compile(r"\*\*([^*]{1,400})\*\*(?=: )")
_ESCAPED = re.compile(r"\\([\\`*_\[\]<>&|~!$#\-+=.):/])|(`[^`\n]++`)")  # within code a backslash is one
_OWN_SECTIONS = frozenset({"user", "For now", "Without a subject"})
_CATEGORY = re.compile(r"\[(?![xX]\])([\w-]{1,60})\][ \t]+(\S.*)", re.DOTALL)
_TAG = re.compile(r"(?<![\w#])#([\w-]{1,60})")
_LINKED = re.compile(r"(\S[^\[\]]{0,100})[ \t]\[\[([^\[\]]{1,200})\]\]([ \t]\([^()]{1,200}\))?$")
_PROBED = 50
_LONGEST_HEADING = 400
_LONGEST_MEMBER = 2_000
"""What stands above a note is kept with each one below it: so no more of a heading or of a front matter is kept."""
_SAYS_NOTHING = frozenset({"memory", "memories", "history", "notes", "observations", "relations"})
"""Headings, ours and basic-memory's among them, that say of what kind a page or a section is, not what it is about."""


@dataclass(slots=True)
class _Page:
    """Where the reading is: the headings above, what the front matter says, and the part that is being gathered."""

    sections: list[str] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)
    held: list[str] = field(default_factory=list)
    line: int = 0
    item: bool = False
    fenced: str | None = None
    code: bool = False
    bare: int = 0


def looks_like_markdown(source: Source) -> bool:
    """Whether the first lines of a text have a heading, a list or front matter; JSON is none."""
    for number, line, _ in source.lines():
        if number > _PROBED:
            break
        if (number == 1 and (line.lstrip("\ufeff").rstrip() == "---")) or _HEADING.match(line) or _ITEM.match(line):
            return True
    return False


def read_markdown(source: Source) -> Iterator[Restored]:
    """The items and paragraphs of a page, below its title and their headings; the last heading is a topic too.

    A day in a heading, or the `since` of Memhold's own export, is from when a note holds. An observation of
    basic-memory (`[category] text #tag`) has its category and tags as topics, a relation reads as a sentence.
    """
    page = _Page()
    lines = source.lines()
    for number, raw, _ in lines:
        line = raw.rstrip("\r\n")
        line = line.removeprefix("\ufeff") if number == 1 else line
        if WRONG_BYTES.search(line):
            source.bad(number, "it holds bytes that are not UTF-8")
            continue
        if number == 1 and line.rstrip() == "---":
            page.about = _kept_with_each(source, _front_matter(source, lines))
            continue
        yield from _read(source, page, number, line)
    yield from _end(source, page)
    _leave_bare(source, page)


def _read(source: Source, page: _Page, number: int, line: str) -> Iterator[Restored]:
    fence = _FENCE.match(line)
    if page.fenced is not None or fence:
        # Code is kept whole, with what it stands in.
        if fence and page.fenced in {None, fence[1]}:
            page.fenced = fence[1] if page.fenced is None else None
        page.code = True
        _gather(page, number, line)
        return
    if heading := _HEADING.match(line):
        yield from _end(source, page)
        level = len(heading[1])
        if page.bare >= level:
            _leave_bare(source, page)
        page.bare = level
        page.sections[level - 1 :] = ["" for _ in range(level - 1 - len(page.sections))] + [
            _plain(heading[2][:_LONGEST_HEADING])
        ]
        return
    if item := _ITEM.match(line):
        yield from _end(source, page)
        page.item = True
        _gather(page, number, item[1])
    elif line.strip() and (line[0] in " \t" or page.held or not page.item):
        _gather(page, number, line if page.item and line[0] in " \t" else line.strip())
    elif not line.strip():
        yield from _end(source, page)


def _leave_bare(source: Source, page: _Page) -> None:
    if page.bare:
        source.leave_out("headings with nothing below them")
    page.bare = 0


def _gather(page: _Page, number: int, line: str) -> None:
    page.line = page.line if page.held else number
    page.held.append(line)


def _end(source: Source, page: _Page) -> Iterator[Restored]:
    """The part that was gathered, as a note."""
    text, item, code = "\n".join(page.held).strip(), page.item, page.code
    page.held, page.item, page.code = [], False, False
    if not text or set(text) <= set("-*_= "):
        return
    page.bare = 0
    sections = [one for one in page.sections if one]
    if not item and not code and of_the_page(text, sections):
        source.leave_out("lines that tell of the page itself")
        return
    own = None if code else _OWN_LABELS.search(text)
    said = text if code else _own_line(text[: own.start()], sections) if own else _plain(text)
    topics = sections[-1:]
    metadata: dict[str, Any] = dict(page.about)
    if sections:
        metadata["section"] = " / ".join(sections)
    if own:
        metadata["labels"] = own[1]
    observed = item and own is None and not code
    if observed and (seen := _CATEGORY.fullmatch(said)):
        topics, said = [seen[1], *_TAG.findall(said)], seen[2]
        below = [*_about(page), seen[1]]
    elif observed and (linked := _LINKED.fullmatch(said)) and isinstance(title := page.about.get("title"), str):
        said = f"{title} {linked[1].replace('_', ' ')} {linked[2]}{linked[3] or ''}"
        below = []
    else:
        below = _about(page) if own is None else []
    below = [one for one in below if not says_name(said, one)]
    gap = "\n" if code else " "
    since = _since(source, own[1].removeprefix("since ") if own else sections[-1] if sections else "")
    note = make_note(
        source,
        Note(
            text=f"{' / '.join(below)}:{gap}{said}" if below else said,
            kind=KIND,
            entry=fingerprint(*sections, said),
            line=page.line,
            since=since,
            topics=topics,
            metadata=metadata,
        ),
    )
    if note is not None:
        yield note


def _about(page: _Page) -> list[str]:
    """What a part stands under: the page's title and its headings, without days and what says nothing."""
    named = page.about.get("title") or page.about.get("name")
    found: list[str] = []
    for one in [*([named] if isinstance(named, str) else []), *page.sections]:
        said = one.split(" of the namespace below", 1)[0].casefold()
        if (
            said
            and said not in _SAYS_NOTHING
            and not _ONLY_DAY.fullmatch(one)
            and (not found or found[-1].casefold() != said)
        ):
            found.append(one)
    return found


def _since(source: Source, told: str) -> datetime | None:
    day = _DAY.match(told)
    if day is None:
        return None
    zone = "+00:00" if day[0].endswith("UTC") else ""
    try:
        return any_time(f"{day[1]}T{day[2] or '00:00'}{zone}", source.zone)
    except InvalidInput:
        return None  # a number that looks like a day; it stays in the heading


def _own_line(text: str, sections: list[str]) -> str:
    """A line of Memhold's own pages: a fact of somebody else than the user stands below their name."""
    attribute = _OWN_NAME.match(text)
    subject = sections[-1] if sections else "user"
    if attribute is None or subject in _OWN_SECTIONS:
        return _plain(text)
    return fact_text(subject, _plain(attribute[1]), _plain(text[attribute.end() + 1 :]))


def _plain(text: str) -> str:
    """A text without what only Markdown reads: Memhold's own bold names, and what it escaped."""
    return _ESCAPED.sub(r"\1\2", _OWN_NAME.sub(r"\1", text)).strip()


def _kept_with_each(source: Source, told: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in told.items() if len(name) + len(str(value)) <= _LONGEST_MEMBER}
    if len(kept) < len(told):
        source.leave_out("members of the front matter that are too long to keep with each note", len(told) - len(kept))
    return kept


def _front_matter(source: Source, lines: Iterator[tuple[int, str, bool]]) -> dict[str, Any]:
    """The members of the block at the top: texts, and lists of texts; what is nested deeper stays as it is written."""
    found: dict[str, Any] = {}
    name = ""
    for _, raw, _ in lines:
        line = raw.rstrip()
        if line in {"---", "..."}:
            return found
        if member := _MEMBER.fullmatch(line):
            name = member[1]
            value = member[2].strip().strip("\"'")
            listed = value[1:-1].split(",") if value.startswith("[") and value.endswith("]") else None
            found[name] = value if listed is None else [one.strip().strip("\"'") for one in listed if one.strip()]
        elif name and (item := _ITEM.match(line.strip())):
            held = found[name]
            found[name] = [*(held if isinstance(held, list) else [held] if held else []), item[1].strip("\"'")]
        elif line.strip() and not line.startswith("#"):
            name = name or "front matter"
            held = found.get(name) or ""
            found[name] = [*held, line] if isinstance(held, list) else f"{held}\n{line}".strip("\n")
    source.bad(1, "the front matter that begins there has no end ('---')")
    return found
