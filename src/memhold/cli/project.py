"""`memhold project`: which project's memory coding agents have in a folder."""

from __future__ import annotations

from pathlib import Path

import click

from memhold.cli.options import CommonOptions, command
from memhold.faces.agents.project import former_namespace, project_namespace

__all__ = ["project_command"]


@command("project", example="memhold project src")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path())
def project_command(common: CommonOptions, *, folder: Path) -> None:
    """Show which project's memory a folder belongs to.

    Coding agents share a namespace there. It is named after the repository's remote, or after its place where it has
    none. Pass it as --namespace to any command. Outside of a repository there is none, and agents have the user's own
    memory alone. What was kept before the repository had a remote stands under its former name, and is read too.
    """
    namespace, former = project_namespace(folder), former_namespace(folder)
    lines = [namespace or "no repository: the personal memory alone"]
    lines += [] if former is None else [f"before it had a remote: {former}"]
    common.show({"namespace": namespace, "former": former}, lambda: click.echo("\n".join(lines)))
