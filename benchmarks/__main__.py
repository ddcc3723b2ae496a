"""`python -m benchmarks`: quality of recall on LoCoMo, RealMem or data of your own, and speed."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from memhold.cli.output import failed

if TYPE_CHECKING:
    from benchmarks.measure import Row
    from benchmarks.recall import Half, Quality

__all__ = ["benchmarks", "main"]

_EMBEDDING = click.option("--embedding", default="builtin", help="none, builtin, a model directory or a catalog entry.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
_HALF = click.option("--half", type=click.Choice(["first", "second"]), help="Only the conversations of one half.")
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group(
    "benchmarks",
    invoke_without_command=True,
    epilog="Example: python -m benchmarks locomo --data locomo10.json --embedding none",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120, "terminal_width": 120},
)
@click.option("--quick", is_flag=True, help="Small enough for a look.")
@click.pass_context
def benchmarks(context: click.Context, *, quick: bool) -> None:
    """Measure recall and speed, on your data and your machine.

    Everything goes through the public verbs in a store of its own, which is removed at the end. Without a subcommand
    every table that needs no data is printed, one after the other.
    """
    if context.invoked_subcommand is None:
        for name, line in _SPEED.items():
            click.echo(f"\n{name}: {line}")
            _rows(partial(_measured, name, quick=quick), as_json=False)


@benchmarks.command("locomo")
@click.option("--data", type=_FILE, required=True, help="The data set's JSON file.")
@_EMBEDDING
@_HALF
@_JSON
def locomo(data: Path, embedding: str, half: Half | None, *, as_json: bool) -> None:
    """Measure recall on LoCoMo, by category of question, and how far its confidence can be trusted.

    Weights are set on the first half of the conversations (by a hash of their names) and reported on the second.
    """
    from benchmarks.locomo import locomo_quality

    _quality(locomo_quality(data, embedding=embedding, half=half), as_json=as_json)


@benchmarks.command("realmem")
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    required=True,
    help="The folder of the data set's JSON files.",
)
@_EMBEDDING
@_HALF
@click.option("--conversation", is_flag=True, help="Only queries with turns before them, with and without these.")
@_JSON
def realmem(data: Path, embedding: str, half: Half | None, *, conversation: bool, as_json: bool) -> None:
    """Measure recall of earlier sessions on RealMem."""
    from benchmarks.realmem import realmem_quality

    _quality(realmem_quality(data, embedding=embedding, half=half, conversation=conversation), as_json=as_json)


@benchmarks.command("recall")
@click.option("--messages", type=_FILE, required=True, help="JSONL: id, session, role, text, time.")
@click.option("--questions", type=_FILE, required=True, help="JSONL: question, evidence (ids).")
@_EMBEDDING
@_JSON
def recall(messages: Path, questions: Path, embedding: str, *, as_json: bool) -> None:
    """Measure recall on messages and questions of your own."""
    from benchmarks.recall import recall_quality

    _quality(recall_quality(messages, questions, embedding=embedding), as_json=as_json)


@benchmarks.command("everyday")
@click.option("--data", type=_FILE, required=True, help="A JSON file of worlds (benchmarks/worlds.py says its form).")
@click.option("--contexts/--no-contexts", default=True, show_default=True, help="Also what `context` holds.")
@click.option("--model", help="The model whose tokens `context` counts.")
@click.option("--replies", type=_FILE, multiple=True, help="Consolidated by these replies (benchmarks/replayed.py).")
@_EMBEDDING
@_JSON
def everyday(
    data: Path, embedding: str, model: str | None, replies: tuple[Path, ...], *, contexts: bool, as_json: bool
) -> None:
    """Measure recall and context on everyday questions to an assistant, beside plain systems."""
    from benchmarks.everyday import everyday_quality

    _plain(
        everyday_quality(data, embedding=embedding, contexts=contexts, model=model, replies=replies), as_json=as_json
    )


@benchmarks.command("signals")
@click.option("--worlds", type=_FILE, multiple=True, help="A JSON file of worlds; may be given several times.")
@click.option("--locomo", type=_FILE, help="LoCoMo's JSON file.")
@click.option("--realmem", type=click.Path(exists=True, file_okay=False, path_type=Path), help="RealMem's folder.")
@_EMBEDDING
@_JSON
def signals(
    worlds: tuple[Path, ...], locomo: Path | None, realmem: Path | None, embedding: str, *, as_json: bool
) -> None:
    """Measure what each signal of recall brings: R@10 with each of them left out."""
    from benchmarks.signals import signals_quality

    _plain(signals_quality(worlds, locomo=locomo, realmem=realmem, embedding=embedding), as_json=as_json)


@benchmarks.command("briefings")
@click.option("--part", type=click.Choice(["first", "second", "third"]), default="first", help="Tuned on the first.")
@_JSON
def briefings(part: Literal["first", "second", "third"], *, as_json: bool) -> None:
    """Measure how much of what was decided is told when the next session starts, on made-up projects."""
    from benchmarks.briefings import briefings_quality

    _plain(briefings_quality(part), as_json=as_json)


@benchmarks.command("instructions")
@click.option("--worlds", type=_FILE, multiple=True, help="A JSON file of worlds; may be given several times.")
@click.option("--locomo", type=_FILE, help="LoCoMo's JSON file.")
@_JSON
def instructions(worlds: tuple[Path, ...], locomo: Path | None, *, as_json: bool) -> None:
    """Measure how many of the standing instructions that are recognised are some, by labels of 200 turns."""
    from benchmarks.instructions import instructions_quality

    _plain(instructions_quality(worlds, locomo=locomo), as_json=as_json)


@benchmarks.command("profiles")
@click.option("--data", type=_FILE, required=True, help="JSONL: lang, facts, questions.")
@_EMBEDDING
@_JSON
def profiles(data: Path, embedding: str, *, as_json: bool) -> None:
    """Measure whether facts are found by the questions that people ask of them, beside plain systems."""
    from benchmarks.profiles import profiles_quality

    _plain(profiles_quality(data, embedding=embedding), as_json=as_json)


@benchmarks.command("merges")
@click.option("--data", type=_FILE, required=True, help="JSONL: lang, notes, relation, good_merges, bad_merges.")
@_EMBEDDING
@_JSON
def merges(data: Path, embedding: str, *, as_json: bool) -> None:
    """Measure which related notes the judge sees, what a verdict settles, and which texts pass."""
    from benchmarks.merges import merges_quality

    _plain(merges_quality(data, embedding=embedding), as_json=as_json)


@benchmarks.command("losses")
@click.option("--only", multiple=True, metavar="PEER/SCENARIO", help="Only these: PEER, /SCENARIO or both; repeatable.")
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(".reality/losses"),
    show_default=True,
    help="Where environments and results are kept.",
)
@click.option("--again", is_flag=True, help="Measure anew what was measured before.")
@click.option("--quick", is_flag=True, help="A quarter of the messages.")
@click.option("--costs", is_flag=True, help="Instead: what 1,000 messages cost with each.")
@click.option("--model", "line", help="With --costs: a real model in one line, such as http://127.0.0.1:8080/v1#NAME.")
@click.option("--turns", type=click.IntRange(1, 40), default=10, show_default=True, help="With --model: so many turns.")
@click.option("--pid", type=click.IntRange(min=1), help="With --model: its server here, to count its processor time.")
@click.option(
    "--recall",
    "sets",
    multiple=True,
    metavar="NAME=PATH",
    help="Instead: what each finds again of a file of worlds, LoCoMo's file or RealMem's folder; repeatable.",
)
@click.option(
    "--page", type=click.Path(dir_okay=False, path_type=Path), help="Write the page of all that was measured."
)
@_JSON
def losses(
    only: tuple[str, ...],
    keep: Path,
    sets: tuple[str, ...],
    page: Path | None,
    line: str | None,
    turns: int,
    pid: int | None,
    *,
    again: bool,
    quick: bool,
    costs: bool,
    as_json: bool,
) -> None:
    """Measure what is lost, doubled, stale or leaked when things go wrong: Memhold and its peers.

    Each peer is installed into an environment of its own. A run that was stopped goes on where it was.
    """
    from benchmarks.losses import page as pages
    from benchmarks.losses.run import Results, run, run_costs, run_real_costs, run_recall

    if line is not None and not costs:
        raise click.BadParameter("it goes with --costs", param_hint="--model")
    keep = keep.resolve()
    try:
        with _telling():
            if line is not None:
                results = run_real_costs(keep, line, turns, only, pid=pid, again=again)
            elif costs:
                results = run_costs(keep, only, again=again)
            elif sets:
                named = {name: Path(path) for name, _, path in (one.partition("=") for one in sets)}
                results = run_recall(keep, named, only, again=again)
            else:
                results = run(keep, only, size=0.25 if quick else 1.0, again=again)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--only") from None
    if page is not None:
        page.write_text(pages.page(Results.all(keep)), encoding="utf-8")
    if as_json:
        click.echo(json.dumps(results.held, indent=2))
        return
    if line is not None:
        _table(pages.real_cost_table(results))
        return
    _table(pages.cost_table(results) if costs else pages.recall_table(results) if sets else pages.table(results))


@benchmarks.command("peers")
@click.option("--data", type=_FILE, required=True, help="LoCoMo's JSON file.")
@_JSON
def peers(data: Path, *, as_json: bool) -> None:
    """Measure Memhold beside mem0, LangGraph, Chroma and plain FTS5.

    The same texts, questions and vectors, in turn; a peer that is not installed is said to be so.
    """
    from benchmarks.side_by_side import HEADER, side_by_side_quality

    with _telling():
        lines = [line.cells() for line in asyncio.run(side_by_side_quality(data))]
    if as_json:
        click.echo(json.dumps([dict(zip(HEADER, line, strict=True)) for line in lines], indent=2))
        return
    _table([HEADER, *lines])


_SPEED = {
    "core": "Measure the durable core: adds, adders, recall by words, start-up.",
    "speed": "Measure how fast recall and the meaning index are.",
    "context": "Measure context and its token estimate; check made-up histories by the providers' rules.",
    "consolidation": "Measure what is lost, and what it costs, when models fail.",
    "compaction": "Measure what compaction costs where little is new.",
    "documents": "Measure reads of documents by how many there are: by path beside by id, listings, searches.",
    "facts": "Score keys of facts: exact, the old rule, ours.",
    "server": "Measure the server: requests a second and start-up, beside a bare endpoint.",
    "models": "Measure what a call through a chain costs over a bare one.",
}
"""The tables that need no data: each is a module of `benchmarks`."""


def _measured(name: str, *, quick: bool) -> Iterable[Row]:
    from importlib import import_module

    module = import_module(f"benchmarks.{name}")
    found: Iterable[Row]
    match name:
        case "speed":
            found = asyncio.run(module.recall_speed(quick=quick))
        case "context":
            found = module.run(20, 500) if quick else module.run()
        case "facts":
            found = module.run()
        case _:
            found = module.run(quick=quick)
    return found


def _speed_command(name: str, line: str) -> click.Command:
    @click.command(name, help=line)
    @click.option("--quick", is_flag=True, help="Small enough for a look.")
    @_JSON
    def measure(*, quick: bool, as_json: bool) -> None:
        _rows(lambda: _measured(name, quick=quick), as_json=as_json)

    return measure


for _name, _line in _SPEED.items():
    if _name not in {"compaction", "documents"}:
        benchmarks.add_command(_speed_command(_name, _line))


@benchmarks.command("compaction", help=_SPEED["compaction"])
@click.option("--notes", type=click.IntRange(min=20), default=10_000, show_default=True, help="Most notes there are.")
@click.option("--quick", is_flag=True, help="Small enough for a look.")
@_JSON
def compaction(*, notes: int, quick: bool, as_json: bool) -> None:
    """Measure what compaction costs; each row is printed as soon as it is measured."""
    from benchmarks.compaction import run

    _rows(lambda: run(quick=quick, notes=notes), as_json=as_json)


@benchmarks.command("documents", help=_SPEED["documents"])
@click.option("--db", metavar="URL", help="postgresql://…, an empty database; left out: files.")
@click.option("--quick", is_flag=True, help="Small enough for a look.")
@_JSON
def documents(db: str | None, *, quick: bool, as_json: bool) -> None:
    """Measure reads of documents, on SQLite or on PostgreSQL."""
    from benchmarks.documents import run

    _rows(lambda: run(quick=quick, place=db), as_json=as_json)


@benchmarks.command("stores")
@click.option("--db", required=True, metavar="URL", help="postgresql://…; its role must be allowed to create a schema.")
@click.option("--quick", is_flag=True, help="Small enough for a look.")
@_JSON
def stores(db: str, *, quick: bool, as_json: bool) -> None:
    """Measure PostgreSQL beside SQLite: adds, adders, processes, recall."""
    from benchmarks.stores import run

    _rows(lambda: run(db, quick=quick), as_json=as_json)


@benchmarks.command("standbys")
@click.option("--db", required=True, metavar="URL", help="postgresql://…; its role must be allowed to create a schema.")
@click.option(
    "--read-url", "read_urls", multiple=True, metavar="URL", help="The same database on a standby; repeatable."
)
@click.option("--quick", is_flag=True, help="Small enough for a look.")
@_JSON
def standbys(db: str, read_urls: tuple[str, ...], *, quick: bool, as_json: bool) -> None:
    """Measure recall from the primary alone and with standbys of yours."""
    from benchmarks.standbys import run

    _rows(lambda: run(db, read_urls, quick=quick), as_json=as_json)


@benchmarks.command("large")
@click.option("--db", required=True, metavar="URL", help="postgresql://…; its role must be allowed to create a schema.")
@click.option("--messages", default=1_000_000, show_default=True, help="How many in one scope.")
@click.option("--quick", is_flag=True, help="Small enough for a look.")
@_JSON
def large(db: str, messages: int, *, quick: bool, as_json: bool) -> None:
    """Measure one scope of a million messages on PostgreSQL: with HNSW and without."""
    from benchmarks.large import run

    _rows(lambda: run(db, messages=messages, quick=quick), as_json=as_json)


@benchmarks.command("pages")
@click.option("--memories", default=10_000, show_default=True, help="How many the store has.")
@click.option("--db", metavar="FILE", help="A store to use, and to fill up; left out: a new one.")
@click.option("--quick", is_flag=True, help="Small enough for a look.")
@_JSON
def pages(memories: int, db: str | None, *, quick: bool, as_json: bool) -> None:
    """Measure how long the server works on each page (ratio: seconds)."""
    from benchmarks.pages import run

    _rows(lambda: run(memories, db=db, quick=quick), as_json=as_json)


@benchmarks.command("turns")
@click.option("--users", type=click.IntRange(min=10), default=2000, show_default=True, help="How many are asked.")
@click.option("--messages", type=click.IntRange(min=1), default=50, show_default=True, help="Of each user.")
@click.option("--cache-mb", type=click.IntRange(min=1), default=32, show_default=True, help="The small cache.")
@click.option("--db", metavar="FILE", help="A store to use, and to fill up; left out: a new one.")
@click.option("--quick", is_flag=True, help="Small enough for a look.")
@_JSON
def turns(users: int, messages: int, cache_mb: int, db: str | None, *, quick: bool, as_json: bool) -> None:
    """Measure the memory of a library and a server while many users are asked in turn."""
    from benchmarks.turns import run

    _rows(lambda: run(users=users, messages=messages, cache_mb=cache_mb, db=db, quick=quick), as_json=as_json)


def _quality(work: Coroutine[Any, Any, Quality], *, as_json: bool) -> None:
    from benchmarks.recall import table

    with _telling():
        found = asyncio.run(work)
    plain = found.plain()
    if as_json:
        click.echo(json.dumps(plain, indent=2))
        return
    _table(table(found))
    times = plain["recall_ms"]
    click.echo(
        f"{plain['questions']} questions, {plain['messages']} messages, embedding {found.embedding}: "
        f"{plain['seconds']} s, one recall p50 {times['p50']} ms, p95 {times['p95']} ms, {plain['peak_mb']} MB"
    )
    for name, value in found.notes.items():
        click.echo(f"{name}: {value}")


@benchmarks.command("embedders")
@_JSON
def embedders(*, as_json: bool) -> None:
    """Measure what a recall costs while the embedder hangs or is gone, beside words alone."""
    from benchmarks.embedders import run

    _rows(run, as_json=as_json)


@benchmarks.command("real")
@click.option("--model", "line", required=True, help="The model in one line, such as http://127.0.0.1:8080/v1#NAME.")
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), required=True, help="Where replies are kept.")
@click.option("--data", type=_FILE, help="Worlds of sessions; without it the bundled conversation.")
@click.option("--windows", type=click.IntRange(min=1), default=10, help="Most windows of the data.")
@click.option("--asked", type=click.Choice(["whole", "turns"]), default="whole", help="In one call, or turn by turn.")
@click.option(
    "--peer",
    "peers",
    multiple=True,
    metavar="NAME=PYTHON",
    help="mem0 or langmem, and a Python that has it (LangMem asks through langchain-openai); repeatable.",
)
@click.option("--bare", is_flag=True, help="Read the same replies as text, as of a server without tools and schemas.")
@click.option("--questions", type=click.IntRange(min=0), default=0, help="Most questions about them that are answered.")
@_JSON
def real(
    line: str,
    keep: Path,
    data: Path | None,
    windows: int,
    asked: Literal["whole", "turns"],
    peers: tuple[str, ...],
    questions: int,
    *,
    bare: bool,
    as_json: bool,
) -> None:
    """Turn windows into memory with a real model: what it is worth, and what of it stands in the lines.

    A run that was interrupted goes on where it was, and a later one replays what was recorded.
    """
    from benchmarks.real import demo_windows, everyday_windows, run

    chosen = demo_windows() if data is None else everyday_windows(data, windows)
    named = {name: Path(python) for name, _, python in (one.partition("=") for one in peers)}
    if unknown := [name for name, python in named.items() if name not in {"mem0", "langmem"} or not python.is_file()]:
        raise click.BadParameter(f"{', '.join(unknown)}: write mem0=PYTHON or langmem=PYTHON", param_hint="--peer")
    _rows(
        lambda: list(run(line, keep, chosen, asked=asked, bare=bare, data=data, peers=named, questions=questions)),
        as_json=as_json,
    )


@benchmarks.command("fidelity")
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    required=True,
    help="The folder of conversations, replies and errors (benchmarks/fidelity.py says their form).",
)
@click.option("--ablate/--no-ablate", default=True, show_default=True, help="Also without each rule.")
@_JSON
def fidelity(data: Path, *, ablate: bool, as_json: bool) -> None:
    """Weigh labelled statements by what they quote: truths stated and left out, errors not stated."""
    from benchmarks.fidelity import fidelity_rows

    _rows(lambda: list(fidelity_rows(data, ablate=ablate)), as_json=as_json)


def _plain(work: Coroutine[Any, Any, Mapping[str, Any]], *, as_json: bool) -> None:
    with _telling():
        found = asyncio.run(work)
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        if isinstance(value, dict):
            click.echo(f"\n{name}")
            _table([(f"  {key}", _cell(one)) for key, one in value.items()] or [("",)])
        else:
            click.echo(f"{name}: {value}")


def _cell(value: object) -> str:
    return ", ".join(f"{key} {one}" for key, one in value.items()) if isinstance(value, dict) else str(value)


def _rows(measure: Callable[[], Iterable[Row]], *, as_json: bool) -> None:
    """Print what is measured: a list as a table, rows that come one by one each as it comes."""
    header, held = ("what", "value", "against", "bar"), {True: "holds", False: "FAILS", None: ""}
    with _telling():
        found = measure()
        if as_json:
            names = ("name", "value", "against", "ratio", "bar", "holds")
            click.echo(json.dumps([{name: getattr(row, name) for name in names} for row in found], indent=2))
            return
        lines = ((row.name, row.value, row.against, held[row.holds]) for row in found)
        if isinstance(found, Sequence):
            _table([header, *lines])
            return
        for line in chain([header], lines):
            _table([[cell.ljust(width) for cell, width in zip(line, _WIDTHS, strict=True)]])


_WIDTHS = (27, 44, 55, 0)
"""Of the columns of a table whose rows are printed before the next are known."""


@contextmanager
def _telling() -> Iterator[None]:
    """Show on standard error what is measured while it is."""
    from benchmarks.measure import log

    class Shown(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            click.echo(f"… {record.getMessage()}", err=True)

    shown, level = Shown(), log.level
    log.addHandler(shown)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(shown)
        log.setLevel(level)


def _table(rows: Iterable[Sequence[str]]) -> None:
    lines = list(rows)
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    for line in lines:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one benchmark, or all that need no data, and return the exit code."""
    try:
        code = benchmarks.main(arguments, prog_name="python -m benchmarks", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - the edge: a file of data may be anything
        _, line, status = failed(error)
        click.echo(line, err=True)
        return status
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    sys.exit(main())
