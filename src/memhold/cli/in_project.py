"""The memory of the repository that a command is run in: it is looked into beside the person's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memhold.cli.output import clean, wrapped
from memhold.values.errors import MemholdError

if TYPE_CHECKING:
    from memhold.cli.options import CommonOptions
    from memhold.faces.python.sync import SyncScope, SyncStore

__all__ = ["beside_own", "projects_here"]

_OWN = "default"


def projects_here(mem: SyncStore, common: CommonOptions) -> tuple[str, ...]:
    """The namespaces of the project that the command is run in, its present name first, where something is kept there.

    None where another namespace was named.
    """
    from memhold.faces.agents.project import former_namespace, project_namespace

    names = (project_namespace(Path.cwd()), former_namespace(Path.cwd())) if common.namespace == _OWN else ()
    return tuple(name for name in names if name is not None and _holds(mem, common, name))


def _holds(mem: SyncStore, common: CommonOptions, namespace: str) -> bool:
    try:
        return (
            mem.scope(namespace=namespace, user=common.user, agent=common.agent).recall("", limit=1, browse=True).total
            > 0
        )
    except MemholdError:
        return False  # a server's token that covers no projects


def beside_own(
    mem: SyncStore, common: CommonOptions, scope: SyncScope, arguments: Mapping[str, Any]
) -> tuple[SyncScope, Mapping[str, Any]]:
    """The scope that a read asks, and its arguments: in a project that is the project's memory, with the own beside it.

    Which memories are asked is said on standard error.
    """
    here = () if "also" in arguments else projects_here(mem, common)
    if not here:
        return scope, arguments
    first = mem.scope(
        namespace=here[0], user=common.user, agent=common.agent, session=common.session, actor=common.actor
    )
    if not common.as_json:
        click.echo(wrapped(f"in the project's memory ({clean(', '.join(here), 200)}) and your own"), err=True)
    return first, {**arguments, "also": [{"namespace": name} for name in (*here[1:], _OWN)]}
