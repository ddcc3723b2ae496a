"""Commands from the declarations of verbs: their arguments, options and help, the call, and the answer.

A verb with a regular command needs nothing here. One that is written by hand takes those of its options that are
regular from its declaration too, so that their names, types and sentences are the same.
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import click
from click.shell_completion import CompletionItem

from memhold.cli.in_project import beside_own
from memhold.cli.options import KEYED, RESUME, CommonOptions, command, opened
from memhold.cli.output import clean, wrapped
from memhold.values.errors import InvalidInput, MemholdError
from memhold.verbs.arguments import from_text, sendable
from memhold.verbs.checking import check, known_names
from memhold.verbs.declaration import Command, Parameter, Verb, verbs_of
from memhold.verbs.scope import AsyncScope

if TYPE_CHECKING:
    from memhold.faces.python.open import Memhold
    from memhold.faces.python.sync import SyncScope

__all__ = ["by_hand", "command_of", "option_of"]

_OPTIONS = {"idempotency_key": "key", "session": "in-session", "actor": "by"}
"""What an option is called whose parameter has another name; `--session` says where every command works, `--actor` in
whose name it writes."""
_METAVARS: Mapping[Any, str] = {int: "integer", float: "number", datetime: "time", timedelta: "seconds"}
_OF_VERB = "verb_"
"""Before a parameter's name where click keeps it: a verb's `session` is another than the common one."""
_ANY = "any"
_USERS = 1000
"""Among so many users a name that was typed is looked for; where there are more, nothing is said."""
_NAMED_USERS = 3
_NAMED = re.compile(r"`(\w+)`")
_TIMES = "TIME is a day (2026-01-31), a time (2026-01-31T09:00, with a zone or as here), yesterday, or 7d (days ago)."


class _AsWritten(click.ParamType[str]):
    """Text as it stands on the line: the declaration judges it, in the words that every face has."""

    def __init__(self, name: str, choices: Sequence[str]) -> None:
        self.name = name
        self.choices = choices

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:  # noqa: ARG002 - click gives them
        if not self.choices:
            return None
        return f"[{'|'.join(self.choices)}]" if isinstance(param, click.Option) else None

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - as above
        return [CompletionItem(one) for one in self.choices if one.startswith(incomplete)]


def command_of(verb: Verb, declared: Command, reach: Callable[[SyncScope], Any] = lambda scope: scope) -> click.Command:
    """The regular command of a verb: it calls the verb of the scope and prints what comes back.

    `reach` gives what has the verb as a method.
    """
    known = sendable(verb)
    resume = KEYED if verb.idempotent else RESUME

    def run(common: CommonOptions, **given: Any) -> None:
        from memhold.cli.printing import as_json, show_answer

        arguments = _arguments(verb, _of_verb(given), known)
        with opened(common, create=declared.create) as (mem, scope):
            asked, said = beside_own(mem, common, scope, arguments) if verb.name == "recall" else (scope, arguments)
            answer = getattr(reach(asked), verb.name)(**said)
            elsewhere = _whose_else(mem, common) if not common.as_json and _is_empty(answer) else ""

        def people() -> None:
            show_answer(verb, arguments, answer)
            if elsewhere:
                click.echo(wrapped(elsewhere), err=True)

        common.show(as_json(verb, answer), people)
        if getattr(answer, "degraded", ()) or getattr(answer, "damaged", ()):
            raise click.exceptions.Exit(3)

    run.__doc__ = _help(verb, declared)
    parameters = [_parameter(verb, declared, name) for name in known]
    return command(declared.name, example=declared.example, resume=resume, parameters=parameters)(run)


def _is_empty(answer: Any) -> bool:
    """Whether a question found nothing: no hit, no item of a list."""
    return any(part == () for part in (answer, getattr(answer, "hits", None), getattr(answer, "items", None)))


def _whose_else(mem: Memhold, common: CommonOptions) -> str:
    """Whose memory the store holds, where the user was left out or is none of those; else nothing."""
    try:
        users = mem.admin.users(namespace=common.namespace, limit=_USERS)
    except MemholdError:
        return ""  # a server tells it only to who may know
    if not users or len(users) == _USERS or common.user in users:
        return ""
    named = ", ".join(clean(one, 40) for one in users[:_NAMED_USERS]) + (", …" if len(users) > _NAMED_USERS else "")
    asked = "no user was named" if common.user is None else f"there is no user {clean(common.user, 40)!r}"
    return f"{asked}; the store knows {named}: name one with --user"


def by_hand(
    verb_name: str, *, takes: Sequence[str] = (), resume: str = RESUME, protocol: type = AsyncScope
) -> Callable[[Callable[..., Any]], click.Command]:
    """A command that is written by hand for a verb of a Protocol, named and exemplified by its declaration.

    The function gets the common options, then those of the verb's parameters in `takes` that were given, read and
    judged as for a regular command, then its own options.
    """
    verb = verbs_of(protocol)[verb_name]
    declared = verb.command
    if declared is None:
        raise ValueError(f"{verb_name} has no command; declare one")

    def decorated(run: Callable[..., Any]) -> click.Command:
        def read(common: CommonOptions, **given: Any) -> Any:
            own = {name: value for name, value in given.items() if not name.startswith(_OF_VERB)}
            return run(common, _arguments(verb, _of_verb(given), takes), **own)

        read.__doc__ = run.__doc__
        read.__click_params__ = getattr(run, "__click_params__", [])  # type: ignore[attr-defined]  # click's own place
        parameters = [_parameter(verb, declared, name) for name in takes]
        return command(declared.name, example=declared.example, resume=resume, parameters=parameters)(read)

    return decorated


def _of_verb(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name.removeprefix(_OF_VERB): value for name, value in given.items() if name.startswith(_OF_VERB)}


def _arguments(verb: Verb, given: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """What a verb is called with; what is not on the line is left out.

    Raises:
        InvalidInput, NaiveTime: something is missing (a word, as its help names it) or of another type.
    """
    said = {name: value for name, value in given.items() if value is not None and value != ()}
    words = () if verb.command is None else verb.command.words
    missing = [one.upper() for one in words if one in known and one not in said and verb.parameters[one].required]
    if missing and verb.command is not None:
        needed = " and ".join(missing)
        raise InvalidInput(f"{verb.command.name} needs {needed}; for example: {verb.command.example}")
    known_names(verb, said, known=known)
    arguments = from_text(verb, said)
    check(verb, arguments)
    return arguments


def _parameter(verb: Verb, declared: Command, name: str) -> click.Parameter:
    parameter = verb.parameters[name]
    kept, parts = f"{_OF_VERB}{name}", _parts(verb.types[name])
    lists = [get_args(one)[0] for one in parts if _is_list(one)]
    kind = _kind(_parts(lists[0]) if lists else parts, more=(_ANY,) if lists and _may_be_any(verb, name) else ())
    sentence = _sentence(verb, declared, parameter)
    if name in declared.words:
        metavar = name.upper() if parameter.required else f"[{name.upper()}]"
        many = {"nargs": -1, "metavar": f"{metavar}..."} if lists else {"metavar": metavar}
        return click.Argument([kept], type=kind, required=False, help=sentence, **many)
    option = option_of(verb, declared, name)
    if bool in parts:
        both = f"--{option}/--no-{option}" if parameter.default else f"--{option}"
        return click.Option([both, kept], is_flag=True, default=None, help=sentence)
    return click.Option([f"--{option}", kept], type=kind, multiple=bool(lists), help=sentence)


def _kind(parts: Sequence[Any], *, more: Sequence[str]) -> _AsWritten:
    choices = tuple(value for one in parts if get_origin(one) is Literal for value in get_args(one))
    if any(_is_mapping(one) for one in parts):
        return _AsWritten("json", ())
    return _AsWritten(next((_METAVARS[one] for one in parts if one in _METAVARS), "text"), (*choices, *more))


def option_of(verb: Verb, declared: Command, name: str) -> str:
    """What the option of a parameter is called, without its dashes."""
    if name in declared.options:
        return declared.options[name]
    if any(_is_list(one) for one in _parts(verb.types[name])):  # what is in it is given one by one
        name = re.sub(r"ies$", "y", name).removesuffix("s")
    return _OPTIONS.get(name, name).replace("_", "-")


def _sentence(verb: Verb, declared: Command, parameter: Parameter) -> str:
    """The parameter's sentence, with what else the line has to know of it."""
    text = _as_typed(verb, declared, parameter.doc, but=parameter.name)
    lists = any(_is_list(one) for one in _parts(verb.types[parameter.name]))
    default = parameter.default
    if isinstance(default, tuple):
        default = ", ".join(map(str, default))
    told = ["repeatable"] if lists and parameter.name not in declared.words else []
    told += [f"default: {default}"] if not isinstance(default, bool) and default not in {None, ""} else []
    return f"{text} [{'; '.join(told)}]" if told else text


def _as_typed(verb: Verb, declared: Command, text: str, *, but: str = "") -> str:
    """Text about a verb with its parameters named as they are typed: `value` as --value, a word as VALUE."""

    def typed(match: re.Match[str]) -> str:
        name = match[1]
        if name not in verb.parameters or name == but:
            return match[0]
        return name.upper() if name in declared.words else f"--{option_of(verb, declared, name)}"

    return _NAMED.sub(typed, text)


def _help(verb: Verb, declared: Command) -> str:
    paragraphs = [_as_typed(verb, declared, verb.doc)]
    if any(datetime in _parts(verb.types[name]) for name in sendable(verb)):
        paragraphs.append(_TIMES)
    answer = verb.types["return"]
    told = getattr(answer, "__dataclass_fields__", {})
    if "degraded" in told:
        paragraphs.append("Exit code 3 where a part could not be asked; what the others found is printed.")
    elif "damaged" in told:
        paragraphs.append("Exit code 3 where rows are damaged on the disk; the others are printed.")
    return "\n\n".join(paragraphs)


def _may_be_any(verb: Verb, name: str) -> bool:
    """Whether it narrows by itself, and can be told not to."""
    return verb.parameters[name].default is not None and type(None) in get_args(verb.types[name])


def _parts(declared: Any) -> tuple[Any, ...]:
    return get_args(declared) if get_origin(declared) in {typing.Union, types.UnionType} else (declared,)


def _is_list(declared: Any) -> bool:
    origin = get_origin(declared)
    return isinstance(origin, type) and issubclass(origin, Sequence)


def _is_mapping(declared: Any) -> bool:
    origin = get_origin(declared)
    return isinstance(origin, type) and issubclass(origin, Mapping)
