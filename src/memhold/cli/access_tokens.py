"""Commands for the tokens that a server lets in."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from memhold.cli.options import CommonOptions, command, opened
from memhold.cli.output import clean, table
from memhold.values.access_tokens import RIGHTS, Right

if TYPE_CHECKING:
    from memhold.values.access_tokens import AccessToken

__all__ = ["token_command"]

_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


class _Rights(click.ParamType[tuple[Right, ...]]):
    """Rights, separated by commas."""

    name = "rights"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[Right, ...]:
        asked = {part.strip() for part in str(value).split(",")}
        if not asked <= set(RIGHTS):
            self.fail(f"{value!r:.60} is none of {', '.join(RIGHTS)}, separated by commas", param, ctx)
        return tuple(right for right in RIGHTS if right in asked)


class _Life(click.ParamType[timedelta]):
    """A length of time such as 90d."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        found = re.fullmatch(r"([1-9]\d{0,4})([hdw])", str(value).strip())
        if found is None:
            self.fail(f"{value!r:.60} is no length of time; write 12h, 90d or 8w", param, ctx)
        return timedelta(**{_UNITS[found[2]]: int(found[1])})


@click.group(
    "token", epilog="Example: memhold token create --namespace acme --user alice --can read,write --expires 90d"
)
def token_command() -> None:
    """Make, list and revoke tokens for a server."""


@command(
    "create",
    example="memhold token create --namespace acme --user alice --can read,write --expires 90d --label laptop",
    resume="Look with 'memhold token list': one that was made and not seen is of no use; revoke it.",
)
@click.option(
    "--can",
    "asked",
    type=_Rights(),
    multiple=True,
    default=("read,write",),
    metavar="RIGHTS",
    help="read, write, admin, act, projects; separated by commas, or given again.",
)
@click.option("--expires", type=_Life(), metavar="TIME", help="12h, 90d, 8w. [default: never]")
@click.option("--label", default="", show_default=False, metavar="TEXT", help="What it is for.")
def token_create(
    common: CommonOptions, *, asked: tuple[tuple[Right, ...], ...], expires: timedelta | None, label: str
) -> None:
    """Make a token for the scope of --namespace, --user and --agent, that writes as --actor.

    With --can act,… and no --user it is a service's: it works for any user of the namespace, whom each request names.
    With --can projects,… it covers the user's memories of projects too, as coding agents keep them.
    The token is printed once and kept nowhere: the store holds a keyed hash of it.
    """
    with opened(common, create=True) as (mem, _):
        made = mem.admin.tokens.create(
            namespace=common.namespace,
            actor=common.actor,
            user=common.user,
            agent=common.agent,
            rights=tuple(right for right in RIGHTS if any(right in some for some in asked)),
            label=label,
            expires_in=expires,
        )

    def people() -> None:
        click.echo(made.secret)
        click.echo(f"{_line(made.token)}; it is shown this once", err=True)

    common.show(made, people)


def _line(token: AccessToken) -> str:
    until = "never expires" if token.expires_at is None else f"expires {token.expires_at:%Y-%m-%d %H:%M} UTC"
    return f"{token.id} · {_whose(token)} · {','.join(token.rights)} · {until}"


def _whose(token: AccessToken) -> str:
    names = [token.namespace, token.user or "no user", *([token.agent] if token.agent else [])]
    acting = "" if token.actor == "user" else f" as {clean(token.actor)}"
    return "/".join(clean(name) for name in names) + acting


def _state(token: AccessToken) -> str:
    if token.revoked_at is not None:
        return f"revoked {token.revoked_at:%Y-%m-%d}"
    return "" if token.expires_at is None else f"expires {token.expires_at:%Y-%m-%d}"


@command("list", example="memhold token list --namespace acme")
@click.option("--all", "everybody", is_flag=True, help="The tokens of every namespace.")
def token_list(common: CommonOptions, *, everybody: bool) -> None:
    """List the tokens of the namespace, without their secrets."""
    with opened(common) as (mem, _):
        found = mem.admin.tokens.list(namespace=None if everybody else common.namespace)

    def people() -> None:
        names = ("id", "scope", "rights", "last used", "state", "label")
        rows = [
            (
                token.id,
                _whose(token),
                ",".join(token.rights),
                token.last_used or "never",
                _state(token),
                clean(token.label),
            )
            for token in found
        ]
        table(names, rows, wide=len(names) - 1)
        if not found:
            where = "" if everybody else f" in the namespace {common.namespace!r}; --all lists those of every namespace"
            click.echo(f"No tokens{where}.")

    common.show({"tokens": found}, people)


@command("revoke", example="memhold token revoke b2xk7qd3mzn4afwe", resume="Run it again: it changes nothing twice.")
@click.argument("token")
def token_revoke(common: CommonOptions, *, token: str) -> None:
    """Revoke a token by its id, at once and for every process."""
    with opened(common) as (mem, _):
        revoked = mem.admin.tokens.revoke(token)
    common.show(revoked, lambda: click.echo(f"revoked {_line(revoked)}"))


for _each in (token_create, token_list, token_revoke):
    token_command.add_command(_each)
