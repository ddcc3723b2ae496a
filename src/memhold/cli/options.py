"""What every command shares: the options that say which store and whose memory, and opening it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from memhold.cli.output import JSON_HELP, clean, say_object
from memhold.cli.paging import paged
from memhold.ports.data_home import default_db, file_of
from memhold.values.errors import NotAStore

if TYPE_CHECKING:
    from memhold.faces.python.open import Memhold
    from memhold.faces.python.sync import SyncScope

__all__ = [
    "KEYED",
    "RESUME",
    "CommonOptions",
    "command",
    "common_options",
    "default_db",
    "need_store",
    "opened",
    "options_of",
    "resume_hint",
    "shortened",
    "store_is_there",
]

F = TypeVar("F", bound=Callable[..., Any])

RESUME = "Run the same command again."
KEYED = "With the same --key, run it again: it is written once. Without one, look with 'memhold recall' first."


@dataclass(slots=True, kw_only=True)
class CommonOptions:
    """The options that every command takes, and what to say when it is stopped."""

    db: str
    namespace: str
    user: str | None
    agent: str | None
    session: str | None
    actor: str
    as_json: bool
    debug: bool
    resume: str = RESUME

    def show(self, value: Any, people: Callable[[], None]) -> None:
        """Print an answer: one JSON object for programs, or what `people` prints.

        Raises:
            TypeError: it would be no object; a list needs a name.
        """
        if self.as_json:
            from memhold.values.jsonable import to_jsonable

            plain = to_jsonable(value)
            if not isinstance(plain, dict):
                raise TypeError(f"--json prints an object, not a {type(plain).__name__}")
            say_object(plain)
        else:
            with paged():
                people()


def common_options(run: F) -> F:
    """The options of the group and of every command; one that is given later wins."""
    options = (
        click.option(
            "--db", envvar="MEMHOLD_DB", metavar="PATH", help=f"The store. [default: {shortened(default_db())}]"
        ),
        click.option("--namespace", envvar="MEMHOLD_NAMESPACE", help="The isolation boundary. [default: default]"),
        click.option("--user", envvar="MEMHOLD_USER", help="Whose memory; absent means of no user."),
        click.option("--agent", envvar="MEMHOLD_AGENT", help="Which agent's; absent reads all of the user's."),
        click.option(
            "--actor",
            envvar="MEMHOLD_ACTOR",
            help="In whose name it writes: user, agent or agent:NAME. [default: user]",
        ),
        click.option(
            "--session", help="The conversation that is written, continued or ended; no filter of what is searched."
        ),
        click.option("--json", "as_json", is_flag=True, help=JSON_HELP),
        click.option("--debug", is_flag=True, help="Show the traceback of an error."),
    )
    for option in reversed(options):
        run = option(run)
    return run


def shortened(path: str) -> str:
    """A path as people write it: their home folder as `~`."""
    home = str(Path.home())
    return f"~{path[len(home) :]}" if path.startswith(home + os.sep) else path


def options_of(ctx: click.Context, given: Mapping[str, Any]) -> CommonOptions:
    """The common options from those of the group, or of a command inside it."""
    base = ctx.find_object(CommonOptions)
    if base is None:
        base = CommonOptions(
            db=default_db(),
            namespace="default",
            user=None,
            agent=None,
            session=None,
            actor="user",
            as_json=False,
            debug=False,
        )
    said = {name: value for name, value in given.items() if value is not None and value is not False}
    # What stands in the environment was taken by the group; a command's own option must come from its line.
    if ctx.parent is not None:
        line = click.core.ParameterSource.COMMANDLINE
        said = {name: value for name, value in said.items() if ctx.get_parameter_source(name) is line}
    return replace(base, **said)


_COMMON = ("db", "namespace", "user", "agent", "session", "actor", "as_json", "debug")


def command(
    name: str,
    *,
    example: str,
    resume: str = RESUME,
    parameters: Sequence[click.Parameter] = (),
    cls: type[click.Command] = click.Command,
) -> Callable[[Callable[..., Any]], click.Command]:
    """A command whose function gets the common options first.

    Args:
        name: How it is called.
        example: A call, to end its help.
        resume: What is said after Ctrl-C.
        parameters: Arguments and options that stand before those of the function's own decorators.
        cls: What reads its line.
    """

    def decorated(run: Callable[..., Any]) -> click.Command:
        @click.pass_context
        def with_common(ctx: click.Context, /, **given: Any) -> Any:
            common = options_of(ctx, {key: given.pop(key) for key in _COMMON})
            common.resume = resume
            ctx.obj = common
            _STATE.resume = resume
            return run(common, **given)

        with_common.__doc__ = run.__doc__
        own = [*parameters, *reversed(getattr(run, "__click_params__", []))]
        own.sort(key=lambda one: not isinstance(one, click.Argument))
        epilog = f"\b\nExample:\n  {example}"
        made: click.Command = click.command(name, cls, epilog=epilog, params=own)(common_options(with_common))
        return made

    return decorated


@contextmanager
def opened(
    common: CommonOptions, *, create: bool = False, worker: bool = False, **settings: Any
) -> Iterator[tuple[Memhold, SyncScope]]:
    """The store and the scope that the options name, without background work. Only a writing command makes a new one.

    Raises:
        NotAStore: there is no store at that place.
    """
    from memhold.faces.python.open import Memhold

    if not create:
        need_store(common)
    with Memhold.open(common.db, worker=worker, **settings) as mem:
        _taken_in(mem, common.db)
        yield (
            mem,
            mem.scope(
                namespace=common.namespace,
                user=common.user,
                agent=common.agent,
                session=common.session,
                actor=common.actor,
            ),
        )


def _taken_in(mem: Memhold, location: str) -> None:
    """What hooks took note of stands in the journal before anything is asked of it; what cannot, is said."""
    from memhold.faces.agents.spool import spool_of

    if spool_of(location).is_dir():
        from memhold.faces.agents.take_in import take_in_now

        try:
            take_in_now(mem, location, seconds=_OTHERS_SECONDS)
        except OSError as error:
            said = f"memhold: what hooks took note of is not taken in: {error.filename}: {error.strerror}"
            click.echo(clean(said), err=True)


def need_store(common: CommonOptions) -> None:
    """Refuse to look where nothing is: an empty answer would say "nothing known".

    Raises:
        NotAStore: there is no file at that place.
    """
    from memhold.wiring.postgres import is_postgres, postgres_is_there, shown

    if is_postgres(common.db):
        if not postgres_is_there(common.db):
            raise NotAStore(f"there is no store at {shown(common.db)}; add something first", path=shown(common.db))
        return
    file = file_of(common.db)
    if file is None:
        return
    if not file.exists():
        raise NotAStore(f"there is no store at {common.db}; name it with --db, or add something first", path=common.db)
    if _is_empty(file) and _is_empty(file.with_name(f"{file.name}-wal")):
        what = "an empty file: what was in it is gone, or it is none yet"
        raise NotAStore(
            f"{common.db} is {what}; 'memhold restore' brings a backup back, adding something makes a new one",
            path=common.db,
        )


def _is_empty(file: Path) -> bool:
    """Whether a regular file of no bytes stands there, or nothing."""
    try:
        found = file.stat()
    except OSError:
        return True
    return stat.S_ISREG(found.st_mode) and not found.st_size


def store_is_there(common: CommonOptions) -> bool:
    """Whether `need_store` finds something."""
    try:
        need_store(common)
    except NotAStore:
        return False
    return True


_OTHERS_SECONDS = 5.0
"""How long another process that takes in is waited for: a command is to see what was said before it."""


class _State:
    """What the last command said about going on after Ctrl-C: its context is gone when that is caught."""

    resume = RESUME


_STATE = _State()


def resume_hint() -> str:
    """How to go on after the command at hand was stopped."""
    return _STATE.resume
