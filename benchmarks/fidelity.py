"""What becomes of true statements and of planted errors when they are weighed by the words that they quote.

The folder has conversations, the statements that a careful model made of them, and errors such as models make:
`windows.json` with `statements.jsonl` (no quotes: the nearest sentence of a cited line stands for one),
`everyday_replies_*.json` with `everyday_errors_*.jsonl` beside `../everyday/everyday.json`, and any `talks*.jsonl`
(a talk a line: `lang`, `at`, `lines`, `items` with `line`, `quote`, `true`, `error`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.measure import Row, doing
from memhold.consolidate.contract import Learned, Noted
from memhold.consolidate.weighing import Shown, weighed_anew
from memhold.fidelity.nearest import nearest
from memhold.fidelity.values import Line, Statement, Weight, WrittenBy
from memhold.fidelity.weigh import RULES, Rule, weigh

__all__ = ["Labelled", "fidelity_rows", "labelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A statement with what it quotes, whether it is true, and else what is wrong with it."""

    data: str
    lang: str
    statement: Statement
    quotes: tuple[str, ...]
    lines: tuple[Line, ...]
    cited: tuple[int, ...]
    error: str | None

    def weight(self, rules: Sequence[Rule] = RULES, *, supplied: bool = False) -> Weight:
        """How it stands; `supplied`: as of a link asked turn by turn, with the sentence of its line for a quote."""
        quotes = self.quotes
        if supplied:
            quotes = tuple(nearest(self.statement.text, self.lines[place].text) for place in self.cited[:1])
        return weigh(self.statement, quotes, self.lines, cited=self.cited, rules=rules, supplied=supplied)

    def anew(self) -> str:
        """How it stands as an older release kept it: with the lines that it cites, and without a quote."""
        told = self.statement
        shown = [Shown(place=place, line=self.lines[at]) for place, at in enumerate(self.cited, 1)]
        sources = tuple(one.place for one in shown)
        if not told.attribute:
            return weighed_anew(Noted(text=told.text, importance="mid", sources=sources), shown).standing
        fact = Learned(
            subject=told.subject,
            attribute=told.attribute,
            value=told.text,
            operation="set",
            importance="mid",
            sources=sources,
        )
        return weighed_anew(fact, shown).standing


def labelled(folder: Path) -> list[Labelled]:
    """Everything that a folder has."""
    found: list[Labelled] = []
    if (folder / "windows.json").exists():
        found += _windows(folder)
    if list(folder.glob("everyday_replies_*.json")):
        found += _everyday(folder)
    for path in sorted(folder.glob("talks*.jsonl")):
        found += _talks(path)
    return found


def _lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _line(message: Mapping[str, Any], at: datetime) -> Line:
    speaker = message.get("name") or message.get("speaker") or ""
    writer: WrittenBy = message.get("written_by") or ("participant" if speaker else message["role"])
    text = message.get("content") or message.get("text") or json.dumps(message.get("tool_calls"))
    return Line(text=text, written_by=writer, at=at, speaker=speaker)


def _statement(item: Mapping[str, Any]) -> Statement:
    if item.get("text"):
        return Statement(text=item["text"])
    return Statement(text=item["value"], subject=item["subject"], attribute=item["attribute"])


def _windows(folder: Path) -> Iterator[Labelled]:
    windows = {one["id"]: one for one in json.loads((folder / "windows.json").read_text(encoding="utf-8"))["windows"]}
    for item in _lines_of(folder / "statements.jsonl"):
        window = windows[item["window"]]
        lines = tuple(_line(message, datetime.fromisoformat(window["at"])) for message in window["messages"])
        statement = Statement(text=item["statement"])
        if item["kind"] == "fact":
            subject, _, rest = item["statement"].partition(" | ")
            attribute, _, value = rest.partition(" = ")
            statement = Statement(text=value, subject=subject, attribute=attribute)
        cited = tuple(int(source) - 1 for source in item["sources"])
        yield Labelled(
            data="windows",
            lang=item["lang"],
            statement=statement,
            quotes=tuple(nearest(statement.whole, lines[place].text) for place in cited[:1]),
            lines=lines,
            cited=cited,
            error=item["error"] if not item["true"] else None,
        )


def _everyday(folder: Path) -> Iterator[Labelled]:
    worlds = {one["name"]: one for one in json.loads((folder.parent / "everyday" / "everyday.json").read_text("utf-8"))}
    replies = [
        one
        for path in sorted(folder.glob("everyday_replies_*.json"))
        for one in json.loads(path.read_text("utf-8"))["worlds"]
    ]
    items: list[tuple[str, str, Mapping[str, Any], str | None]] = [
        (world["name"], session["id"], item, None)
        for world in replies
        for session in world["sessions"]
        for item in (*session["facts"], *session["notes"])
    ]
    errors = [one for path in sorted(folder.glob("everyday_errors_*.jsonl")) for one in _lines_of(path)]
    items += [(one["world"], one["session"], one, one["error"]) for one in errors]
    for name, session_id, item, error in items:
        session = next(one for one in worlds[name]["sessions"] if one["id"] == session_id)
        places = {message["id"]: at for at, message in enumerate(session["messages"])}
        yield Labelled(
            data="everyday",
            lang=worlds[name]["lang"],
            statement=_statement(item),
            quotes=(item["quote"],),
            lines=tuple(_line(one, datetime.fromisoformat(one["time"])) for one in session["messages"]),
            cited=(places[item["source"]],),
            error=error,
        )


def _talks(path: Path) -> Iterator[Labelled]:
    for talk in _lines_of(path):
        lines = tuple(_line(line, datetime.fromisoformat(talk["at"])) for line in talk["lines"])
        for item in talk["items"]:
            yield Labelled(
                data=path.stem,
                lang=talk["lang"],
                statement=_statement(item),
                quotes=(item["quote"],),
                lines=lines,
                cited=(item["line"] - 1,),
                error=item["error"],
            )


_BARS = {"windows": (0.93, 0.03, 0.50, 0.97), "everyday": (0.93, 0.03, 0.50, 0.97)}
_TALKS = (0.88, 0.03, 0.45, 0.965)
"""Of each set: true statements stated, left out; errors not stated; precision where one of twenty is an error."""
_ERRORS = 0.05


def fidelity_rows(folder: Path, *, ablate: bool = True) -> Iterator[Row]:
    """What became of each set; then what each rule costs in true statements and gains in errors, switched off once."""
    every = labelled(folder)
    for data in dict.fromkeys(one.data for one in every):
        yield from _of_set(data, [(one, one.weight().standing) for one in every if one.data == data])
    yield from _anew([(one, one.anew()) for one in every if one.cited])
    if not ablate:
        return
    for how, supplied in (("", False), (", turn by turn", True)):
        whole = [one.weight(supplied=supplied).standing for one in every]
        for rule in RULES:
            name = f"without {rule.__name__.strip('_')}{how}"
            doing(name)
            others = [other for other in RULES if other is not rule]
            rest = [one.weight(others, supplied=supplied).standing for one in every]
            more = [one.error for one, now, then in zip(every, whole, rest, strict=True) if now != then]
            true = more.count(None)
            yield Row(
                name=name, value=f"{true} more true statements stated", against=f"{len(more) - true} more errors stated"
            )


def _of_set(data: str, weighed: Sequence[tuple[Labelled, str]]) -> Iterator[Row]:
    stated_bar, out_bar, caught_bar, precise_bar = _BARS.get(data, _TALKS)
    truths = [standing for one, standing in weighed if one.error is None]
    errors = [standing for one, standing in weighed if one.error is not None]
    stated, out = (truths.count(name) / max(1, len(truths)) for name in ("stated", "unfounded"))
    caught = 1 - errors.count("stated") / max(1, len(errors))
    right, wrong = (1 - _ERRORS) * stated, _ERRORS * (1 - caught)
    precise = right / (right + wrong) if right else 0.0
    for name, share, of, bar, at_most in (
        ("true statements stated", stated, truths, stated_bar, False),
        ("true statements left out", out, truths, out_bar, True),
        ("errors not stated", caught, errors, caught_bar, False),
        ("precision at 5 % errors", precise, weighed, precise_bar, False),
    ):
        yield Row(
            name=f"{data}: {name}", value=f"{share:.3f}", against=f"{len(of)}", ratio=share, bar=bar, at_most=at_most
        )
    yield Row(name=f"{data}: errors not stated, by kind", value=_shares(weighed, lambda one: one.error or ""))
    yield Row(name=f"{data}: errors not stated, by language", value=_shares(weighed, lambda one: one.lang))


def _anew(weighed: Sequence[tuple[Labelled, str]]) -> Iterator[Row]:
    """What becomes of the same where an older release kept it: doubtful is the worst that a migration makes of it."""
    for name, wanted, right in (("true statements stated", "stated", True), ("errors in doubt", "doubtful", False)):
        found = [standing for one, standing in weighed if (one.error is None) is right]
        share = found.count(wanted) / max(1, len(found))
        yield Row(name=f"kept before quotes: {name}", value=f"{share:.3f}", against=f"{len(found)}", ratio=share)


def _shares(weighed: Sequence[tuple[Labelled, str]], key: Callable[[Labelled], str]) -> str:
    wrong = [(key(one), standing != "stated") for one, standing in weighed if one.error is not None]
    names = sorted({name for name, _ in wrong})
    return ", ".join(
        f"{name} {sum(c for n, c in wrong if n == name)}/{sum(n == name for n, _ in wrong)}" for name in names
    )
