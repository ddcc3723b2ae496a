"""What is declared of a verb, once: parameters and answer stand in its signature, its words in its docstring.

`verb` marks a method of a Protocol and adds what a signature cannot say: what it needs, its route, its tool, its
command. `verbs_of` reads a Protocol into values, from which the sync face, REST, MCP, the command line and the
reference follow. No face reads the fields of another's declaration.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from memhold.values.bounds import Bounds

__all__ = ["Command", "Http", "Parameter", "Right", "Tool", "Verb", "verb", "verbs_of"]

Right = Literal["read", "write", "admin"]
F = TypeVar("F", bound=Callable[..., Any])
_MARK = "__memhold_verb__"
_SECTION = re.compile(r"^(Args|Raises):\n((?:    .*(?:\n|$)|\n)+)", re.MULTILINE)
_ENTRY = re.compile(r"^    (\S[^:\n]*): ((?:.*(?:\n|$))(?:        .*(?:\n|$))*)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Http:
    """The route of a verb. Parameters that `path` names stand there; others in the body, or in the query of a GET.

    Attributes:
        status: what a first success answers.
        in_session: whether the query's `session` says where it goes; otherwise it belongs to no session.
        operation: its name in OpenAPI, where that is not the verb's own.
        by_hand: what is irregular, and therefore written in `faces/rest`; None where the route follows from this.
        examples: bodies to show, by name.
    """

    method: Literal["GET", "POST", "DELETE"]
    path: str
    tag: str
    status: int = 200
    in_session: bool = False
    operation: str | None = None
    by_hand: str | None = None
    examples: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """The MCP tool of a verb: what a model is told, and which parameters it is shown.

    Attributes:
        use: when to use it, in the words that a model follows.
        shows: the parameters that a model may pass, with "session" where it may say which conversation is meant.
        by_hand: what is irregular, and therefore written in `faces/mcp`; None where the tool follows from this.
    """

    name: str
    title: str
    use: str
    shows: tuple[str, ...] = ()
    destructive: bool = False
    idempotent: bool = False
    by_hand: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """The command of a verb.

    Attributes:
        section: the heading under which the help lists it.
        line: what the help says of it.
        example: a call, to end its own help.
        words: the parameters that stand without an option, in order.
        options: the option of a parameter whose name `cli` does not find by itself (a list's is singular, an
            `idempotency_key` is --key, a `session` that narrows --in-session, an `actor` that does --by).
        create: whether it makes a store where none is.
        by_hand: what is irregular, and therefore written in `cli` by hand; None where it follows from this.
    """

    name: str
    section: str
    line: str
    example: str = ""
    words: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    create: bool = False
    by_hand: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter: its type as it is written and its sentence; `required` where it has no default."""

    name: str
    annotation: str
    doc: str
    default: Any = None
    required: bool = False
    keyword_only: bool = True


@dataclass(frozen=True, kw_only=True, eq=False)
class Verb:
    """One verb, as it was declared."""

    name: str
    needs: Right
    summary: str
    doc: str
    parameters: Mapping[str, Parameter]
    answer: str
    errors: Mapping[str, str]
    http: Http | None = None
    tool: Tool | None = None
    command: Command | None = None
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    source: Callable[..., Any]

    @property
    def idempotent(self) -> bool:
        """Whether it takes an idempotency key: sent twice with one key, it is done once."""
        return "idempotency_key" in self.parameters

    @cached_property
    def types(self) -> Mapping[str, Any]:
        """The type of each parameter, and of the answer under "return"."""
        from memhold.verbs import types

        return types.hints(self.source)


def verb(
    needs: Right,
    *,
    http: Http | None = None,
    tool: Tool | None = None,
    command: Command | None = None,
    bounds: Mapping[str, Bounds] = MappingProxyType({}),
) -> Callable[[F], F]:
    """Declare a method as a verb; a face that is not named cannot do it.

    `bounds` are the least and the most that its numbers may be: every face refuses what is beyond, and every schema
    says so.
    """

    def marked(method: F) -> F:
        setattr(method, _MARK, {"needs": needs, "http": http, "tool": tool, "command": command, "bounds": bounds})
        return method

    return marked


@cache
def verbs_of(protocol: type) -> Mapping[str, Verb]:
    """The verbs that a Protocol declares, by name, in the order in which they stand there."""
    found = {name: getattr(member, _MARK) for name, member in vars(protocol).items() if hasattr(member, _MARK)}
    return MappingProxyType({name: _read(getattr(protocol, name), said) for name, said in found.items()})


def _read(method: Callable[..., Any], said: Mapping[str, Any]) -> Verb:
    text = inspect.getdoc(method) or ""
    sections = {name: _entries(body) for name, body in _SECTION.findall(text)}
    doc = _SECTION.sub("", text).strip()
    told = sections.get("Args", {})
    signature = inspect.signature(method)
    parameters = {
        one.name: Parameter(
            name=one.name,
            annotation=str(one.annotation),
            doc=told.pop(one.name, ""),
            default=None if one.default is one.empty else one.default,
            required=one.default is one.empty,
            keyword_only=one.kind is one.KEYWORD_ONLY,
        )
        for one in signature.parameters.values()
        if one.name != "self"
    }
    if unknown := said["bounds"].keys() - parameters.keys():
        raise ValueError(f"{method.__qualname__} bounds {min(unknown)!r}, which it does not take")
    if told:
        raise ValueError(f"{method.__qualname__} documents {min(told)!r}, which it does not take; mend the docstring")
    return Verb(
        name=method.__name__,
        summary=doc.split("\n\n")[0].replace("\n", " "),
        doc=doc,
        parameters=MappingProxyType(parameters),
        answer=str(signature.return_annotation),
        errors=sections.get("Raises", {}),
        source=method,
        **said,
    )


def _entries(body: str) -> dict[str, str]:
    return {name: " ".join(text.split()) for name, text in _ENTRY.findall(body)}
