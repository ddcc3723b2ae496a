"""`memhold setup`: find a model, try it, write it to `memhold.toml`, and show a window of the user's own text."""

from __future__ import annotations

import errno
import json
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from memhold.cli.options import CommonOptions, command
from memhold.cli.output import clean
from memhold.ports.durable_files import replace_text

if TYPE_CHECKING:
    from memhold.providers.discover import Offer

__all__ = ["setup_command", "with_setting"]

_NOTHING = (
    "no model was found: start a local server (Ollama, LM Studio, llama.cpp, vLLM), set the variable of a key"
    " (OPENAI_API_KEY, ANTHROPIC_API_KEY, …), or name one with --consolidation. Without one all that is said is kept"
    " and can be found; only summaries and facts out of conversations wait for a model"
)
_HOSTED = "no model runs on this machine, and a hosted one is taken only by its name: --consolidation {}"
_NO_OTHER = frozenset({errno.EBUSY, errno.EACCES, errno.EPERM})
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


@command("setup", example="memhold setup", resume="Run it again: the file is written in one step.")
@click.option("--consolidation", "line", metavar="LINE", help="The model, such as ollama:qwen3; asks nobody.")
@click.option(
    "--file", "path", type=click.Path(dir_okay=False, path_type=Path), default="memhold.toml", help="The file."
)
@click.option(
    "--text", "source", type=click.File(encoding="utf-8"), help="Your own text to turn into memory; - for stdin."
)
@click.option("--yes", is_flag=True, help="Ask nothing: take the first model of this machine.")
def setup_command(common: CommonOptions, *, line: str | None, path: Path, source: IO[str] | None, yes: bool) -> None:
    """Choose the model that consolidates, and see it work.

    Looks for servers on their usual ports of this machine and for keys in the environment, proposes what is there,
    tries the one that you choose with a real call, writes it to memhold.toml, and shows one window of your own text
    turned into memory. No hosted vendor is asked anything unless you choose it.
    """
    from memhold.providers.entry import shown as without_secrets
    from memhold.wiring import models_view
    from memhold.wiring.setup import offers

    quiet = common.as_json
    offered = [] if line is not None else offers()
    found, embeddings = [one for one in offered if not one.embeds], [one.line for one in offered if one.embeds]
    chosen = line or _chosen(found, ask=not yes and not quiet)
    if chosen is None:
        raise click.ClickException(_HOSTED.format(clean(found[0].line)) if found else _NOTHING)
    before, after = _rewritten(path, "consolidation", chosen)
    rows = models_view(None).test(chosen)
    for row in rows if not quiet else ():
        form = f", asked by {row['form']}" if row.get("form") else ""
        click.echo(clean(f"{row['model']}: {_told(row)}{form} ({row['seconds']:.1f} s)", 1_000))
    if not any(row["reachable"] and row["tools"] is not False for row in rows):
        named = without_secrets(chosen)
        raise click.ClickException(f"{named} does not work ({clean(_told(rows[0]))}); nothing was written")
    if after != before:
        _put(path, after)
    if not quiet:
        click.echo(f"{path} says consolidation = {json.dumps(without_secrets(chosen), ensure_ascii=False)}")
    text = source.read() if source is not None else "" if yes or quiet else _typed()
    shown = _window(text, chosen) if text.strip() else None
    common.show(
        {
            "offers": [one.line for one in found],
            "embeddings": embeddings,
            "consolidation": without_secrets(chosen),
            "file": str(path),
            "tested": rows,
            "window": shown,
        },
        lambda: _say_end(shown, embeddings, after),
    )


def _put(path: Path, text: str) -> None:
    """Write a file of settings in one step; a link stays one: what it leads to is replaced."""
    try:
        replace_text(path.resolve(), text, private=False)
    except OSError as error:
        if error.errno not in _NO_OTHER or not path.is_file():
            raise
        # A file that is mounted by itself, or whose folder is another's: nothing can take its place.
        path.write_text(text, encoding="utf-8")


def with_setting(text: str, name: str, value: str) -> str:
    """The text of a settings file with one setting in it: in the place of the old value, else above the first table."""
    said = f"{name} = {json.dumps(value, ensure_ascii=False)}"
    table = _TABLE.search(text)
    end = table.start() if table is not None else len(text)
    head, rest = text[:end], text[end:]
    line = re.compile(rf"""^[ \t]*(["']?){re.escape(name)}\1[ \t]*=.*$""", re.MULTILINE)
    if line.search(head) is not None:
        return line.sub(lambda _: said, head, count=1) + rest
    gap = "\n" if rest else ""
    return f"{head}{'' if not head or head.endswith(chr(10)) else chr(10)}{said}\n{gap}{rest}"


def _told(row: Mapping[str, Any]) -> str:
    """What a test showed; an error begins with the model's name, which stands before this anyway."""
    return str(row["text"]).removeprefix(f"{row['model']}: ")


def _rewritten(path: Path, name: str, value: str) -> tuple[str, str]:
    """What a file of settings says, and what it is to say.

    Raises:
        ClickException: it cannot be written there, or a line of it in another's place would break it.
    """
    from memhold.providers.entry import shown as without_secrets

    if not path.parent.is_dir():
        raise click.ClickException(f"there is no folder {path.parent}; make it, or name another file with --file")
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    after = with_setting(before, name, value)
    if not _only_sets(before, after, name, value):
        said = json.dumps(without_secrets(value), ensure_ascii=False)
        raise click.ClickException(f"no line of {path} can be set by itself; write {name} = {said} there yourself")
    return before, after


def _only_sets(before: str, after: str, name: str, value: str) -> bool:
    """Whether what was written holds what stood there before, and one setting, as TOML reads both."""
    try:
        return tomllib.loads(before) | {name: value} == tomllib.loads(after)
    except tomllib.TOMLDecodeError:
        return False


def _chosen(found: Sequence[Offer], *, ask: bool) -> str | None:
    """The line of the offer that is taken: the first of this machine, or the one that is chosen."""
    own = [one for one in found if one.local]
    if not ask or not found:
        return own[0].line if own else None
    click.echo("Models that could keep your memory:")
    for number, one in enumerate(found, 1):
        click.echo(clean(f"  {number}. {one.line} ({one.where})"))
    default = 1 if own else None
    number = click.prompt("Which one", type=click.IntRange(1, len(found)), default=default)
    return found[number - 1].line


def _typed() -> str:
    if not sys.stdin.isatty():
        return ""
    click.echo("Say a few things about yourself, a line each; an empty line ends (or skips this):")
    lines: list[str] = []
    while said := click.prompt("", default="", show_default=False, prompt_suffix="> ").strip():
        lines.append(said)
    return "\n".join(lines)


def _window(text: str, line: str) -> dict[str, Any]:
    """What a model makes of a text, each line of it a message of the user's; kept nowhere."""
    from memhold.faces.python.open import Memhold

    said = [{"role": "user", "content": one.strip()} for one in text.splitlines() if one.strip()]
    with Memhold.open("memory://", worker=False, consolidation=line, embedding="none") as mem:
        scope = mem.scope(user="you", session="setup")
        scope.add(said)
        made = scope.consolidate()
        held = scope.list(limit=200).items
        dropped = [one for change in scope.changes(limit=10).items for one in change.detail.get("ungrounded", ())]
    return {
        "entry": [one.text for one in held if one.kind == "summary"],
        "facts": [f"{one.attribute}: {one.value}" for one in held if one.kind == "fact"],
        "notes": [one.text for one in held if one.kind == "note"],
        "left_out": len(dropped),
        "last_error": made.last_error,
    }


def _say_end(shown: Mapping[str, Any] | None, embeddings: Sequence[str], written: str) -> None:
    """What became of the text, and how meaning is told by an embedding that is served here, where none is named yet."""
    _say_window(shown)
    if embeddings and "embedding" not in tomllib.loads(written):
        said = json.dumps(embeddings[0], ensure_ascii=False)
        click.echo(
            clean(
                f"meaning is told by the built-in embedding; {embeddings[0]} is served here too: to take that, run"
                f" memhold reindex --to {embeddings[0]} where there is a store already, and write"
                f" embedding = {said} above the first table of the file",
                1_000,
            )
        )


def _say_window(shown: Mapping[str, Any] | None) -> None:
    if shown is None:
        return
    for name, title in (("entry", "History"), ("facts", "Facts"), ("notes", "Notes")):
        for place, text in enumerate(shown[name]):
            click.echo(clean(f"{title if place == 0 else '':8}{text}", 400))
    if shown["left_out"]:
        click.echo(f"left out, since no line says it: {shown['left_out']}")
    if not shown["entry"]:
        click.echo(
            clean(f"it became no memory yet: {shown['last_error'] or 'the model found nothing worth keeping'}", 1_000)
        )
