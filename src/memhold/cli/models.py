"""`memhold models`: the catalog, a real call to each link, the usage, and what an error means."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Protocol

import click

from memhold.cli.options import CommonOptions
from memhold.cli.output import JSON_HELP, say_object, table, wrapped
from memhold.cli.paging import paged
from memhold.providers.embedding.official import OFFICIAL, Official
from memhold.values.errors import InvalidInput

__all__ = ["ModelsCommands", "models_command", "models_group"]

Row = Mapping[str, Any]

_WIDE = 400
_OFFERED = ("name", "what", "mb", "licence", "there", "folder")
_TESTED = ("model", "reachable", "tools", "form", "context", "seconds", "usd_per_consolidation", "class", "text")
_USED = (
    "model",
    "purpose",
    "calls",
    "answered",
    "retries",
    "failures",
    "input_tokens",
    "output_tokens",
    "seconds_a_call",
    "usd",
    "unpriced",
)


def _also_before(context: click.Context, _: click.Parameter, given: bool) -> bool:  # noqa: FBT001 - click gives it
    """Whether `--json` stands behind the command, or before it as every command takes it."""
    common = context.find_object(CommonOptions)
    if common is not None and given:
        common.as_json = True
    return given or (common is not None and common.as_json)


_JSON = click.option("--json", "as_json", is_flag=True, callback=_also_before, help=JSON_HELP)


class ModelsCommands(Protocol):
    """What the commands ask for; wiring gives it."""

    def rows(self, *, hidden: bool) -> Sequence[Row]:
        """The catalog."""
        ...

    def notes(self) -> Sequence[Row]:
        """What loading the catalog noted."""
        ...

    def test(self, chain: str) -> Sequence[Row]:
        """One real call to each link of a chain."""
        ...

    def usage(self, *, days: int | None, by_day: bool) -> Sequence[Row]:
        """What models were used for, of the last days or since ever."""
        ...

    def classify(self, lines: Iterable[str]) -> Iterable[Row]:
        """Rows of errors with their class."""
        ...


def _of_catalog(context: click.Context) -> ModelsCommands:
    """Over the catalog that wiring builds, with the usage of the store that is named."""
    from memhold.wiring import models_view
    from memhold.wiring.postgres import is_postgres

    common = context.find_object(CommonOptions)
    there = common is not None and (is_postgres(common.db) or Path(common.db).is_file())
    return models_view(common.db if common is not None and there else None)


@click.command("get", epilog="Example: memhold models get minilm")
@click.argument("name", required=False)
@click.option("--from", "source", metavar="PLACE", default="", help="A folder or URL that has the files.")
@_JSON
def get(*, name: str | None, source: str, as_json: bool) -> None:
    """Fetch a published embedding, or list those that can be had, with size and licence."""
    if name is None:
        _show("embeddings", [_offer(one) for one in OFFICIAL.values()], _OFFERED, as_json=as_json)
        return
    model = OFFICIAL.get(name)
    if model is None:
        raise InvalidInput(f"no embedding {name!r:.40} can be fetched; known are {', '.join(OFFICIAL)}")
    _get(model, source, as_json=as_json)


def models_group(commands: Callable[[click.Context], ModelsCommands]) -> click.Group:
    """The group `models`, over what `commands` gives for a context."""

    @click.group("models", invoke_without_command=True, epilog="Example: memhold models --all")
    @click.option("--all", "hidden", is_flag=True, help="Show hidden models too.")
    @_JSON
    @click.pass_context
    def models(context: click.Context, *, hidden: bool, as_json: bool) -> None:
        """List the models of the catalog."""
        if context.invoked_subcommand is not None:
            return
        asked = commands(context)
        rows, notes = asked.rows(hidden=hidden), asked.notes()
        if as_json:
            say_object({"models": list(rows), "notes": list(notes)})
            return
        _table(
            rows, ("name", "label", "tier", "protocol", "context_window", "price_in", "price_out", "speed", "chains")
        )
        for note in notes:
            line = f"{note['level']}: {note['model']}: {note['text']}"
            click.echo(wrapped(line) if sys.stderr.isatty() else line, err=True)

    @models.command("test")
    @click.argument("chain", default="consolidation")
    @click.option("--db", metavar="PATH", callback=_of_store, expose_value=False, help="The store.")
    @_JSON
    @click.pass_context
    def test(context: click.Context, *, chain: str, as_json: bool) -> None:
        """Call each link of CHAIN (or the model in one line); the form that works is kept in the store of --db."""
        rows = commands(context).test(chain)
        _show("models", rows, _TESTED, as_json=as_json)
        if not any(row["reachable"] and row["tools"] is not False and row["class"] is None for row in rows):
            context.exit(1)

    @models.command("usage")
    @click.option("--db", metavar="PATH", callback=_of_store, expose_value=False, help="The store.")
    @click.option("--days", type=click.IntRange(min=1), help="Only the last DAYS days.")
    @click.option("--by-day", is_flag=True, help="One line a day.")
    @_JSON
    @click.pass_context
    def usage(context: click.Context, *, days: int | None, by_day: bool, as_json: bool) -> None:
        """Show calls, tokens, failures and money by model and purpose."""
        rows = commands(context).usage(days=days, by_day=by_day)
        _show("usage", rows, ("day", *_USED) if by_day else _USED, as_json=as_json)

    @models.command("classify")
    @click.option("--file", "source", type=click.File(encoding="utf-8"), required=True, help="JSON lines; - for stdin.")
    @_JSON
    @click.pass_context
    def classify(context: click.Context, *, source: IO[str], as_json: bool) -> None:
        """Say what each error means: rows of kind, status, headers, body or error go in, and come out with `got`."""
        rows = commands(context).classify(source)
        _show("errors", list(rows), ("kind", "status", "got", "delay", "code", "rule"), as_json=as_json)

    models.add_command(get)
    return models


def _offer(model: Official) -> Row:
    from memhold.wiring.places import models_folder

    folder = models_folder() / model.name
    return {
        "name": model.name,
        "what": model.label,
        "mb": round(model.size / 1e6),
        "licence": model.licence,
        "home": model.home,
        "folder": str(folder),
        "there": (folder / "modules.json").is_file(),
    }


def _get(model: Official, source: str, *, as_json: bool) -> None:
    """Fetch a model with its progress on stderr, and say where it is and how it is used."""
    from memhold.providers.embedding.fetching import fetched
    from memhold.wiring.places import models_folder

    offer = _offer(model)
    click.echo(f"{model.label}: {offer['mb']} MB, {model.licence}, from {source or model.home}", err=True)
    last = [-1]

    def told(name: str, size: int, whole: int) -> None:
        tenth = 10 * size // whole
        if tenth != last[0]:
            last[0] = tenth
            click.echo(f"{name}: {size / 1e6:,.0f} of {whole / 1e6:,.0f} MB", err=True)

    folder = fetched(model, models_folder() / model.name, source=source, told=told)
    if as_json:
        say_object({**offer, "there": True})
    else:
        click.echo(
            f'{model.name} is in {folder}; use it with embedding="{model.name}" (an existing store: reindex --to)'
        )


def _of_store(context: click.Context, _: click.Parameter, path: str | None) -> None:
    """A store named behind the command, as every command on a store takes it."""
    common = context.find_object(CommonOptions)
    if path is not None and common is not None:
        common.db = path


def _show(name: str, rows: Sequence[Row], columns: Sequence[str], *, as_json: bool) -> None:
    """Print rows: one JSON object with them under their name, or a table."""
    if as_json:
        say_object({name: list(rows)})
    else:
        with paged():
            _table(rows, columns)


def _table(rows: Sequence[Row], columns: Sequence[str]) -> None:
    if sys.stdout.isatty():
        # A row has more columns than a terminal has room for: behind the first two each says what it is.
        told = [
            [f"{name.replace('_', ' ')} {cell}" for name in columns[2:] if (cell := _cell(row.get(name))) != "-"]
            for row in rows
        ]
        named = [[_cell(row.get(name)) for name in columns[:2]] for row in rows]
        table(columns[:3], [[*two, " · ".join(rest)] for two, rest in zip(named, told, strict=True)], wide=1)
        return
    from rich.console import Console
    from rich.table import Table

    drawn = Table(*columns, box=None, pad_edge=False)
    for row in rows:
        drawn.add_row(*(_cell(row.get(column)) for column in columns))
    # A pipe has no width; cut columns would be lost there.
    # What others call their models, and a port between colons, is no markup and no emoji.
    Console(width=_WIDE, markup=False, emoji=False, highlight=False).print(drawn)


def _cell(value: object) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case dict():
            return " ".join(f"{key}:{count}" for key, count in value.items()) or "-"
        case list() | tuple():
            return " ".join(map(str, value)) or "-"
        case _:
            return str(value)


models_command = models_group(_of_catalog)
