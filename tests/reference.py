"""The parts of the documents that follow from others: verb signatures, commands and their options, the README's table.

`python -m tests.reference` writes them anew; `test_docs.py` fails where a page is behind.
"""

from __future__ import annotations

import inspect
import itertools
import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC
from pathlib import Path
from typing import Any

import click

from memhold.cli.main import cli, sections
from memhold.cli.options import default_db
from memhold.testing.attacks import ATTACKS
from memhold.testing.attacks.threats import OUT_OF_REACH, THREATS
from memhold.verbs.declaration import Verb, verbs_of
from memhold.verbs.documents import AsyncDocuments
from memhold.verbs.scope import AsyncScope
from memhold.verbs.store_protocols import AsyncAdmin, AsyncStore, AsyncTokens
from tests.documents import ROOT

__all__ = [
    "ATTACKS_PAGE",
    "COMMAND_LINE",
    "MCP",
    "VERBS",
    "signature",
    "verbs",
    "with_attacks",
    "with_commands",
    "with_signatures",
    "with_tools",
]

VERBS = ROOT / "docs" / "reference" / "verbs.md"
README = ROOT / "README.md"
COMPARISON = ROOT / "docs" / "comparison.md"
COMPARED = ("15 % fail", "the model answers in prose for a while", "the same turn sent twice",
            "forget, then a scan of every byte", "update, then ask")  # fmt: skip
"""The columns of the page's first table that the README shows."""
COMMAND_LINE = ROOT / "docs" / "reference" / "command-line.md"
MCP = ROOT / "docs" / "reference" / "mcp.md"
ATTACKS_PAGE = ROOT / "docs" / "attacks.md"
FACES = {AsyncScope: "", AsyncDocuments: "documents.", AsyncStore: "", AsyncAdmin: "", AsyncTokens: "tokens."}
"""The Protocols that declare verbs, and what stands before a verb's name in its heading."""
LINE = 110
_VERB = re.compile(
    r"^### ([\w.]+)\n\n```python\n.*?^```$(?:\n\n<!-- declared -->.*?<!-- end -->)?", re.MULTILINE | re.DOTALL
)
_GENERATED = re.compile(r"(<!-- (commands|options|tools|resources|prompts) -->\n).*?(<!-- end -->)", re.DOTALL)


def verbs() -> Mapping[str, Callable[..., Any]]:
    """Every public verb by its name."""
    found: dict[str, Callable[..., Any]] = {}
    for face, before in FACES.items():
        for bare, verb in inspect.getmembers(face, inspect.isfunction):
            if not bare.startswith("_"):
                name = f"{before}{bare}"
                assert name not in found, f"two faces have a verb {name}: the reference has one heading for it"
                found[name] = verb
    return found


def declarations() -> Mapping[str, Verb]:
    """Every declared verb by the name that it has in the reference."""
    return {f"{before}{name}": one for face, before in FACES.items() for name, one in verbs_of(face).items()}


def _said(name: str, verb: Verb) -> str:
    """What is declared of a verb: where it is reached, its arguments, its errors."""
    group = f"{name.rpartition('.')[0]} ".lstrip()
    places = [f"needs the right to {verb.needs}"]
    places += [f"`{verb.http.method} /v1{verb.http.path}`"] if verb.http is not None else []
    places += [f"tool `{verb.tool.name}`"] if verb.tool is not None else []
    places += [f"`memhold {group}{verb.command.name}`"] if verb.command is not None else []
    lines = [
        f"{verb.doc}\n",
        f"{places[0].capitalize()}; {'; '.join(places[1:])}.\n" if places[1:] else f"{places[0].capitalize()}.\n",
    ]
    if verb.parameters:
        lines += ["| argument | |", "|---|---|"]
        lines += [f"| `{name}` | {_cell(one.doc)} |" for name, one in verb.parameters.items()]
        lines += [""]
    lines += [f"- `{name.replace(', ', '`, `')}`: {_cell(text)}" for name, text in verb.errors.items()]
    return "\n".join(lines).rstrip()


def signature(name: str, verb: Callable[..., Any]) -> str:
    """A signature with its annotations as they are written: on one line, or one argument a line."""
    found = inspect.signature(verb)
    parts: list[str] = []
    for parameter in found.parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        default = "" if parameter.default is parameter.empty else f" = {_default(parameter.default)}"
        parts.append(f"{parameter.name}: {parameter.annotation}{default}")
    line = f"{name}({', '.join(parts)}) -> {found.return_annotation}"
    if len(line) <= LINE:
        return line
    return "\n".join([f"{name}(", *(f"    {part}," for part in parts), f") -> {found.return_annotation}"])


def _default(value: object) -> str:
    return "UTC" if value is UTC else json.dumps(value) if isinstance(value, str) else repr(value)


def with_signatures(text: str) -> str:
    """The page of the verbs with every signature as the code has it."""
    known = verbs()

    def renewed(match: re.Match[str]) -> str:
        name = match[1]
        assert name in known, f"docs/reference/verbs.md: there is no verb {name}"
        declared = declarations().get(name)
        said = "" if declared is None else f"\n\n<!-- declared -->\n{_said(name, declared)}\n<!-- end -->"
        return f"### {name}\n\n```python\n{signature(name, known[name])}\n```{said}"

    return _VERB.sub(renewed, text)


def with_commands(text: str) -> str:
    """The page of the command line with every command and option as the code has it."""
    made = {"options": _options(cli.params), "commands": "\n".join(_commands())}
    return _GENERATED.sub(lambda match: f"{match[1]}\n{made[match[2]].strip()}\n\n{match[3]}", text)


def _commands() -> Iterable[str]:
    context = click.Context(cli)
    common = {parameter.name for parameter in cli.params} | {"help"}
    for section, names in sections().items():
        yield f"## {section}\n"
        for name in names:
            found = cli.get_command(context, name)
            assert found is not None
            yield from _command(name, found, common)


def _command(name: str, found: click.Command, common: set[str | None]) -> Iterable[str]:
    context = click.Context(found, info_name=name)
    arguments = [p.make_metavar(context) for p in found.params if isinstance(p, click.Argument)]
    yield f"### {name}\n\n`{' '.join(['memhold', name, *arguments])}`\n"
    yield inspect.cleandoc(found.help or "").replace("\b\n", "") + "\n"
    example = re.search(r"Example:\n\s*(.*)", found.epilog or "")
    if example:
        yield f"Example: `{example[1]}`\n"
    own = [p for p in found.params if p.name not in common]
    if any(p.get_help_record(context) for p in own):
        yield _options(own) + "\n"
    if name in {"mcp", "documents"} and isinstance(found, click.Group):
        for sub in [*found.commands] or found.list_commands(context):
            command = found.get_command(context, sub)
            assert command is not None
            yield from _command(f"{name} {sub}", command, common)


def _options(parameters: Iterable[click.Parameter]) -> str:
    context = click.Context(cli)
    rows = ["| argument or option | |", "|---|---|"]
    for parameter in parameters:
        record = parameter.get_help_record(context)
        if record is not None:
            rows.append(f"| `{_cell(record[0])}` | {_cell(record[1])} |")
    return "\n".join(rows)


def with_tools(text: str) -> str:
    """The page of MCP with every tool, resource and prompt as the code has it."""
    from memhold.faces.mcp.prompts import PROMPTS
    from memhold.faces.mcp.resources import ITEM, RESOURCES

    resources = [f"| `{spec.uri}` | {spec.description} |" for spec in RESOURCES.values()]
    resources.append(f"| `{ITEM}` | A memory or message as a whole. |")
    prompts = [
        f"| `{spec.name}` | {spec.description} | {', '.join(f'`{name}`' for name in spec.arguments)} |"
        for spec in PROMPTS.values()
    ]
    made = {
        "tools": "\n".join(_tools()),
        "resources": "\n".join(["| uri | |", "|---|---|", *resources]),
        "prompts": "\n".join(["| prompt | | arguments |", "|---|---|---|", *prompts]),
    }
    return _GENERATED.sub(lambda match: f"{match[1]}\n{made[match[2]].strip()}\n\n{match[3]}", text)


def _tools() -> Iterable[str]:
    from memhold.faces.mcp.tools import DOCUMENT_TOOLS, TOOLS, input_schema

    for name, spec in {**TOOLS, **DOCUMENT_TOOLS}.items():
        hints = [f"needs the right to {spec.verb.needs}"]
        hints += ["idempotent"] if spec.tool.idempotent else []
        hints += ["destructive"] if spec.tool.destructive else []
        hints += ["offered with `--documents`"] if name in DOCUMENT_TOOLS else []
        yield f"## {name}\n\n{spec.tool.use}\n\n{'; '.join(hints).capitalize()}.\n"
        schema = input_schema(spec)
        if schema["properties"]:
            yield "| argument | | |\n|---|---|---|"
            for argument, one in schema["properties"].items():
                about = f"{one['description']} {_bounds(one, needed=argument in schema.get('required', ()))}".strip()
                yield f"| `{argument}` | {_cell(_type(one))} | {_cell(about)} |"
            yield ""


def with_attacks(text: str) -> str:
    """The page of the attacks with the tables of the code."""
    attacks = "".join(
        f"| `{one.name}` | {_cell(one.does)} | {_cell(one.seen)} | {' '.join(one.threats)} |\n"
        for one in ATTACKS.values()
    )
    threats = "".join(f"| {threat} | {name} | {_answered(threat)} |\n" for threat, name in THREATS.items())
    made = {"attacks": attacks, "threats": threats}
    return re.sub(
        r"(<!-- (attacks|threats) -->\n).*?(<!-- end -->)",
        lambda found: found[1] + made[found[2]] + found[3],
        text,
        flags=re.DOTALL,
    )


def _answered(threat: str) -> str:
    against = [f"`{one.name}`" for one in ATTACKS.values() if threat in one.threats]
    if not against:
        return f"nothing: {OUT_OF_REACH[threat]}"
    return ", ".join(against) if len(against) <= 6 else f"{len(against)} attacks"


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    return "time" if schema.get("format") == "date-time" else str(schema.get("type", "text or JSON"))


def _bounds(schema: Mapping[str, Any], *, needed: bool) -> str:
    said = ["needed"] if needed else []
    said += [f"default {_written(schema['default'])}"] if "default" in schema else []
    return f"({'; '.join(said)})" if said else ""


def _written(default: object) -> str:
    return str(default).lower() if isinstance(default, bool) else str(default)


def _cell(text: str) -> str:
    # The default of --db is another one on each kind of machine.
    home = str(Path.home())
    text = text.replace(default_db(), "PLACE").replace(default_db().replace(home, "~"), "PLACE")
    return re.sub(r"\s+", " ", text.replace(" [default: PLACE]", "").replace("|", "\\|"))


def with_comparison(text: str, page: str) -> str:
    """The README with its table anew: some columns of the page's first, in rows where all of them were run."""
    lines = itertools.dropwhile(lambda line: not line.startswith("| memory |"), page.splitlines())
    table = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in itertools.takewhile(lambda line: line.startswith("|"), lines)
    ]
    places = [0, *(table[0].index(name) for name in COMPARED)]
    shown = [[row[place] for place in places] for row in table]
    text_of = "".join(f"| {' | '.join(row)} |\n" for row in shown if "not run" not in row)
    return re.sub(
        r"(<!-- comparison -->\n).*?(<!-- end -->)", lambda of: of[1] + text_of + of[2], text, flags=re.DOTALL
    )


if __name__ == "__main__":
    VERBS.write_text(with_signatures(VERBS.read_text(encoding="utf-8")), encoding="utf-8")
    COMMAND_LINE.write_text(with_commands(COMMAND_LINE.read_text(encoding="utf-8")), encoding="utf-8")
    ATTACKS_PAGE.write_text(with_attacks(ATTACKS_PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    MCP.write_text(with_tools(MCP.read_text(encoding="utf-8")), encoding="utf-8")
    README.write_text(with_comparison(README.read_text("utf-8"), COMPARISON.read_text("utf-8")), encoding="utf-8")
