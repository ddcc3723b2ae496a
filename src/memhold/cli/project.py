"""`memhold project`: which project's memory coding agents have in a folder, and joining it to another one's."""

from __future__ import annotations

from pathlib import Path

import click

from memhold.cli.options import CommonOptions, command
from memhold.faces.agents.project import former_namespace, join_project, project_namespace

__all__ = ["project_command"]


@command("project", example="memhold project src")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path())
@click.option("--join", "other", metavar="NAMESPACE", help="Go on as this project, whatever its remote is called.")
def project_command(common: CommonOptions, *, folder: Path, other: str | None) -> None:
    """Show which project's memory a folder belongs to.

    Coding agents share a namespace there. It is named after the repository's remote, or after its place where it has
    none; a repository that is moved keeps it. Pass it as --namespace to any command. Outside of a repository there is
    none, and agents have the user's own memory alone. What was kept under its former name is read too.

    With --join its repository goes on as the project of that namespace, as when it was cloned anew under another name.
    Nothing is moved, and what was kept under its own name is still read.
    """
    if other is not None:
        join_project(folder, other)
    namespace, former = project_namespace(folder), former_namespace(folder)
    lines = [namespace or "no repository: the personal memory alone"]
    lines += [] if former is None else [f"read too, as it is its other name: {former}"]
    common.show({"namespace": namespace, "former": former}, lambda: click.echo("\n".join(lines)))
