"""A coding agent's memory on a server: the token that covers it, and the proof that what was set up works."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import click

from memhold.cli.options import CommonOptions
from memhold.faces.agents.project import project_namespace
from memhold.values.access_tokens import Right
from memhold.values.errors import MemholdError

__all__ = ["proved", "with_token"]

NEEDED: tuple[Right, ...] = ("read", "write", "projects")
_ELSEWHERE = "project/memhold-proof"
"""The project in which the proof is made where the command is not run in a repository."""


def with_token(common: CommonOptions) -> str | None:
    """See that this account has a token of the server that covers a person's memory and their projects'; how it is.

    Whoever may make tokens there gets one made, with these rights alone. It is kept in a file of this account's. None
    where the memory is on no server.

    Raises:
        ClickException: the token that is there does not cover it, and may make none.
        MemholdError: the server cannot be asked.
    """
    if not common.db.startswith(("http://", "https://")):
        return None
    return asyncio.run(_token(common))


async def _token(common: CommonOptions) -> str | None:
    from memhold.faces.remote.local_token import keep_token
    from memhold.faces.remote.remote_store import RemoteStore, reach

    transport, who = await reach(common.db, {})
    async with RemoteStore(transport, who) as mem:
        covers = who.rights >= {*NEEDED} and (who.scope.user == common.user or "act" in who.rights)
        if not covers:
            if "admin" not in who.rights:
                user = "" if common.user is None else f" --user {common.user}"
                how = f"memhold token create{user} --can {','.join(NEEDED)}"
                raise click.ClickException(
                    f"the token for {common.db} does not cover your memory and your projects'; have one made where the"
                    f" server is, with '{how}', and pass it as MEMHOLD_TOKEN"
                )
            made = await mem.admin.tokens.create(
                namespace=common.namespace, user=common.user, rights=NEEDED, label="coding agents"
            )
            os.environ["MEMHOLD_TOKEN"] = made.secret  # what is tried next is tried with it
            return f"a token was made, and is kept in {keep_token(common.db, made.secret)}"
    given = os.environ.get("MEMHOLD_TOKEN")
    return f"the token is kept in {keep_token(common.db, given)}" if given else None


def proved(common: CommonOptions) -> str:
    """What one round trip showed, in a project's memory and in the person's own: something is kept, read and erased.

    Raises:
        ClickException: it failed.
    """
    from memhold.faces.python.open import Memhold

    places = (project_namespace(Path.cwd()) or _ELSEWHERE, common.namespace)
    with Memhold.open(common.db, worker=False) as mem:
        for place in places:
            try:
                scope = mem.scope(namespace=place, user=common.user, agent=common.agent, actor=common.actor)
                (made,) = scope.remember("Memhold proves that this memory can be written.").receipt.ids
                scope.get(made)
                scope.forget(made)
            except (MemholdError, OSError) as error:
                where = "outside of repositories" if place == common.namespace else "in a repository"
                raise click.ClickException(f"memory does not work {where}: {error}") from error
    return "kept, read and erased a line in a repository and outside"
