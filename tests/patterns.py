"""Every regular expression of the package, collected as it is compiled, and how it is used where it stands.

Importing this module starts nothing: the patterns are collected in a fresh interpreter when they are asked for.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import os
import pkgutil
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from subprocess import run as run_process
from types import ModuleType

import memhold
from memhold.values.errors import MemholdError

__all__ = ["READING", "Compiled", "analyses", "compile_sites", "compiled", "lines_of", "modules"]

ROOT = Path(memhold.__file__).parent
MODULES = ("re", "lazily")
"""What compiles patterns."""
_NAMED = re.compile(rf"\b(?:{'|'.join(MODULES)})\.")
"""Most files name neither: they need no parser."""

_COLLECTOR = """
import json, re, sys
compiled, real = [], re.compile

def recording(pattern, flags=0):
    found = real(pattern() if callable(pattern) else pattern, flags)
    frame = sys._getframe(1)
    said = found.pattern if isinstance(found.pattern, str) else found.pattern.decode("latin-1")
    compiled.append((frame.f_globals.get("__name__", ""), frame.f_lineno, said, found.flags))
    return found

re.compile = recording
from memhold.text import lazily
lazily.compile = recording
from tests.patterns import modules, warmed
names = [module.__name__ for module in modules()]
warmed()
re.compile = real
json.dump([one for one in compiled if one[0] in names], sys.stdout)
"""


def modules() -> Iterator[ModuleType]:
    """Every module of the package that the installed extras let in."""
    for found in pkgutil.walk_packages([str(ROOT)], "memhold."):
        if found.name.rpartition(".")[2] == "__main__":
            continue
        try:
            yield importlib.import_module(found.name)
        except ModuleNotFoundError as error:
            if (error.name or "memhold").startswith("memhold"):
                raise


def warmed() -> None:
    """Compile what is compiled at its first use: of functions without arguments that give patterns, and of the redactor."""
    from memhold.fidelity.sentences import sentences
    from memhold.fidelity.values import Line, Statement
    from memhold.fidelity.weigh import weigh
    from memhold.journal.secrets import SecretRedactor

    SecretRedactor("refuse")
    said = "I don't pay 3 euros on the 4th of May at half past 9, e.g. today. Next"
    line = Line(text=said, written_by="user", at=datetime(2026, 1, 1, tzinfo=UTC))
    weigh(Statement(text=said), (said,), (line,))
    sentences(said, ("en",))
    for module in modules():
        for function in vars(module).values():
            said = getattr(function, "__annotations__", {})
            if callable(function) and list(said) == ["return"] and "re.Pattern" in str(said["return"]):
                function()


@dataclass(frozen=True, slots=True)
class Compiled:
    """A pattern, where it was compiled, and the methods it is used by there (empty: not known)."""

    module: str
    line: int
    pattern: str
    flags: int
    uses: frozenset[str]

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.pattern[:80]!r}"

    def run(self) -> Callable[[str], object]:
        """What the package does with it: an anchored use looks at the beginning of the text alone."""
        pattern = re.compile(self.pattern, self.flags)
        if self.uses == {"fullmatch"}:
            return pattern.fullmatch
        if self.uses and self.uses <= {"match", "fullmatch"}:
            return pattern.match
        return lambda text: sum(1 for _ in pattern.finditer(text))


@cache
def compiled(shared: Path) -> tuple[Compiled, ...]:
    """Every pattern that is compiled when the package is imported and used, and every one in a call of `re`.

    What one process found stands in the file `shared` for the others of a run.
    """
    if not shared.exists():
        own = shared.with_suffix(f".{os.getpid()}")
        own.write_text(json.dumps([(*astuple(one)[:-1], sorted(one.uses)) for one in _found()]))
        own.replace(shared)
    return tuple(Compiled(*one, frozenset(uses)) for *one, uses in json.loads(shared.read_text()))


def _found() -> Iterator[Compiled]:
    done = run_process(
        [sys.executable, "-c", _COLLECTOR], cwd=ROOT.parent.parent, capture_output=True, text=True, check=True
    )
    found: dict[Compiled, None] = {}
    for module, line, pattern, flags in json.loads(done.stdout):
        uses, first, _ = _sites(module).get(line, (frozenset(), line, line))
        one = Compiled(module, first, pattern, flags, uses)
        found.setdefault(one, None)
    for module in modules():
        for call in _calls(module):
            pattern, flags = call.args[0], 0
            if isinstance(pattern, ast.Constant) and isinstance(pattern.value, str) and _of(call) != "compile":
                found[Compiled(module.__name__, call.lineno, pattern.value, flags, frozenset({_of(call)}))] = None
    return iter(found)


def _calls(module: ModuleType) -> Iterator[ast.Call]:
    file = module.__file__
    if file is None or not file.endswith(".py") or not _NAMED.search(Path(file).read_text(encoding="utf-8")):
        return
    for node in ast.walk(_tree(Path(file))):
        if isinstance(node, ast.Call) and node.args and _of(node) not in {"", "escape"}:
            yield node


def _of(call: ast.Call) -> str:
    """The name of the function of `re` (or `lazily`) that is called; empty where it is another call."""
    function = call.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id in MODULES:
        return function.attr
    return ""


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def _sites(module: str) -> dict[int, tuple[frozenset[str], int, int]]:
    """By line: how what is compiled there is used, and the lines of the statement."""
    file = importlib.import_module(module).__file__
    assert file is not None
    methods: dict[str, list[str]] = {}
    names: Counter[str] = Counter()
    assigned: list[tuple[str, int, int]] = []
    for node in ast.walk(_tree(Path(file))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            methods.setdefault(node.value.id, []).append(node.attr)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            names[node.id] += 1
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if _of(node.value) == "compile" and isinstance(target, ast.Name):
                assigned.append((target.id, node.lineno, node.end_lineno or node.lineno))
    found = {}
    for name, first, last in assigned:
        used = methods.get(name, [])
        # Where the pattern itself is handed on, nothing is known of its use.
        uses = frozenset(used) if names[name] == len(used) else frozenset()
        found.update(dict.fromkeys(range(first, last + 1), (uses, first, last)))
    return found


def analyses() -> dict[str, Callable[[str], object]]:
    """What looks at texts that callers and models write, by name: each public function of a text and nothing else.

    Beside them stand those that want something more.
    """
    found: dict[str, Callable[[str], object]] = {}
    for module in modules():
        if module.__name__.split(".")[1] not in READING:
            continue
        for name, function in vars(module).items():
            plain = inspect.unwrap(function) if callable(function) else function
            if not inspect.isfunction(plain) or plain.__module__ != module.__name__ or name.startswith("_"):
                continue
            first, *others = list(inspect.signature(plain).parameters.values()) or [None]
            if first is None or first.annotation not in {"str", str} or any(o.default is o.empty for o in others):
                continue
            if f"{module.__name__}.{name}" in OUR_OWN:
                continue
            if not inspect.iscoroutinefunction(plain):
                found[f"{module.__name__}.{name}"] = _to_the_end(plain)
    return {**found, **_with_more()}


READING = (
    "values", "text", "messages", "asking", "index", "journal", "facts", "recall", "consolidate", "compact", "context",
)  # fmt: skip
"""The rooms that read what people and models say."""


OUR_OWN = {
    "memhold.asking.prompts.prompt": "reads a file of ours, whose name it gets",
    "memhold.facts.keys.lexicon.lexicon": "reads a file of ours, whose name it gets",
    "memhold.facts.keys.text.read_text": "reads a file of ours, whose name it gets",
    "memhold.facts.keys.text.script": "takes one character",
    "memhold.values.jsonable.body_from_json": "reads what we wrote",
    "memhold.facts.keys.cardinality.cardinality": "keeps its answers; what is behind it is attacked by itself",
}
"""What gets no text of anybody, and why."""


def _to_the_end(function: Callable[[str], object]) -> Callable[[str], object]:
    def run(text: str) -> object:
        try:
            answer = function(text)
        except (MemholdError, ValueError) as error:
            return error
        return list(answer) if isinstance(answer, Iterator) else answer

    return run


def _with_more() -> dict[str, Callable[[str], object]]:
    from memhold.fidelity.times import times
    from memhold.journal.append import prepare
    from memhold.journal.secrets import SecretRedactor
    from memhold.messages.ingest import parse_messages
    from memhold.text.details import details, holds
    from memhold.text.normal_form import normal_form

    now = datetime(2026, 11, 22, tzinfo=UTC)
    redactor = SecretRedactor("refuse")
    detail = details("We run it at `x`")[0]
    more: dict[str, Callable[[str], object]] = {
        "memhold.fidelity.times.times": lambda text: times(text, now),
        "memhold.text.details.holds": lambda text: holds(text, detail),
        "memhold.text.normal_form.normal_form": lambda text: normal_form("NFKC", text),
        "memhold.journal.secrets.spans": lambda text: redactor.spans(text, "note"),
        "memhold.journal.append.prepare": lambda text: prepare(
            parse_messages({"role": "user", "content": text}, now=now), None, secret=b"s" * 32
        ),
    }
    return {name: _to_the_end(run) for name, run in more.items()}


def compile_sites() -> set[tuple[str, int]]:
    """Where the sources compile a pattern: module and line."""
    return {(module.__name__, call.lineno) for module in modules() for call in _calls(module) if _of(call) == "compile"}


def lines_of(one: Compiled) -> range:
    """The lines of the statement that compiles a pattern."""
    _, first, last = _sites(one.module).get(one.line, (None, one.line, one.line))
    return range(first, last + 1)
