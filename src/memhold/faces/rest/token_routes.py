"""Routes for tokens: made, listed and revoked by who may, and exchanged by a service for one of its users."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal
from urllib.parse import parse_qsl

from fastapi import Body, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from memhold.faces.bodies import KnownOnly
from memhold.faces.remote.wire import EXCHANGE, FORM, USER_TYPE
from memhold.faces.rest.frame import Routes, caller, example, json_response
from memhold.values.access_tokens import AccessToken, NewToken, Right
from memhold.values.errors import ScopeDenied
from memhold.values.origins import acting
from memhold.values.principal import Principal, acting_for
from memhold.values.records import MAX_NAME
from memhold.verbs.store_protocols import AsyncStore

__all__ = ["TOKEN_TYPE", "token_routes"]

TOKEN_TYPE: Final = "urn:ietf:params:oauth:token-type:access_token"  # noqa: S105 - the name of a type
_LONGEST_SECONDS: Final = 100 * 366 * 86_400
_KNOWN: Final = ("grant_type", "subject_token", "subject_token_type", "requested_token_type", "scope", "expires_in")


class TokenBody(KnownOnly):
    """A token to make, in the caller's namespace."""

    model_config = ConfigDict(strict=True, json_schema_extra={"additionalProperties": False})

    user: str | None = Field(default=None, min_length=1, max_length=MAX_NAME)
    agent: str | None = Field(default=None, min_length=1, max_length=MAX_NAME)
    rights: list[Right] = Field(default=["read", "write"], min_length=1, max_length=8)
    label: str = Field(default="", max_length=200)
    actor: str | None = Field(default=None, description="Left out: the caller's own.")
    expires_in: int | None = Field(
        default=None, ge=1, le=_LONGEST_SECONDS, description="Seconds; left out: as long as the caller's token."
    )


class Exchanged(BaseModel):
    """The answer of RFC 8693: a token of one user."""

    access_token: str
    issued_token_type: str
    token_type: Literal["Bearer"]
    expires_in: int
    scope: str


_EXAMPLES: Final = example(
    of_one_user={"user": "alice", "label": "laptop"},
    of_a_service={"rights": ["read", "write", "act"], "label": "webapp"},
)


Now = Callable[[], datetime]


def token_routes(routes: Routes, memhold: AsyncStore, now: Now) -> None:
    """The routes `/v1/tokens` and `/v1/token-exchange`."""
    _looked_after(routes, memhold, now)
    _exchange(routes, memhold)


def _looked_after(routes: Routes, memhold: AsyncStore, now: Now) -> None:
    @routes.get("/tokens", answer=list[AccessToken], operation_id="list_tokens", summary="The tokens of the namespace")
    async def tokens(request: Request) -> Response:
        """Without their secrets, the oldest first; revoked and expired ones too."""
        own = caller(request, "admin").scope.namespace
        return await json_response(await memhold.admin.tokens.list(namespace=own))

    @routes.post("/tokens", answer=NewToken, operation_id="create_token", summary="Make a token", status_code=201)
    async def create(request: Request, body: Annotated[TokenBody, Body(openapi_examples=_EXAMPLES)]) -> Response:
        """Make a token of the caller's namespace; its `secret` is told now and kept nowhere.

        It has no right that the caller's own token has not, and ends with it at the latest.
        """
        principal = caller(request, "admin")
        own, life = principal.scope, None if body.expires_in is None else timedelta(seconds=body.expires_in)
        made = await memhold.admin.tokens.create(
            namespace=own.namespace,
            user=body.user,
            agent=body.agent,
            rights=_no_more(body.rights, principal),
            label=body.label,
            actor=acting(own.actor, body.actor),
            expires_in=_no_longer(life, principal, now()),
        )
        return await json_response(made, 201)

    @routes.delete("/tokens/{token_id}", answer=AccessToken, operation_id="revoke_token", summary="Revoke a token")
    async def revoke(request: Request, token_id: str) -> Response:
        """From now on no process lets it in, nor what it was exchanged for. Revoking it again changes nothing."""
        own = caller(request, "admin").scope.namespace
        return await json_response(await memhold.admin.tokens.revoke(token_id, namespace=own))


def _no_more(rights: Sequence[Right], principal: Principal) -> Sequence[Right]:
    """The rights of a token to make.

    Raises:
        ScopeDenied: the caller has not all of them.
    """
    missing = next((right for right in rights if right not in principal.rights), None)
    if missing is not None:
        said = f"this token may not {missing}, so it gives nobody that right; make the token where the store is"
        raise ScopeDenied(said, right=missing)
    return rights


def _no_longer(life: timedelta | None, principal: Principal, now: datetime) -> timedelta | None:
    """How long a token to make counts: what was asked for, else as long as the caller's.

    Raises:
        ScopeDenied: it would outlive the caller's.
    """
    if principal.expires_at is None:
        return life
    # A second less: it is made a moment after this.
    left = principal.expires_at - now - timedelta(seconds=1)
    if left <= timedelta(0) or (life is not None and life > left):
        seconds = max(0, int(left.total_seconds()))
        said = f"this token ends in {seconds} seconds, and what it makes ends with it; ask for no more than that"
        raise ScopeDenied(said, right="admin")
    return left if life is None else life


_FORM: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            FORM: {
                "schema": {
                    "type": "object",
                    "required": ["grant_type", "subject_token", "subject_token_type"],
                    "additionalProperties": False,
                    "properties": {
                        "grant_type": {"const": EXCHANGE},
                        "subject_token": {"type": "string", "minLength": 1, "description": "The user's name."},
                        "subject_token_type": {"const": USER_TYPE},
                        "requested_token_type": {"const": TOKEN_TYPE},
                        "scope": {"type": "string", "description": "read, write or both, with a space between."},
                        "expires_in": {"type": "integer", "minimum": 1, "maximum": 3600, "description": "Seconds."},
                    },
                }
            }
        },
    },
    "responses": {
        "400": {
            "description": "It is no such exchange (RFC 6749, 5.2).",
            "content": {
                "application/json": {
                    "schema": {
                        "type": "object",
                        "required": ["error", "error_description"],
                        "properties": {"error": {"type": "string"}, "error_description": {"type": "string"}},
                    }
                }
            },
        }
    },
}


def _exchange(routes: Routes, memhold: AsyncStore) -> None:
    @routes.post(
        "/token-exchange", answer=Exchanged, operation_id="exchange_token", openapi_extra=_FORM,
        summary="A short-lived token of one user",
    )  # fmt: skip
    async def exchange(request: Request) -> Response:
        """Exchange a service's token, as RFC 8693 says, for one of a user that lives minutes."""
        principal = caller(request, "act")
        form = _form(request.headers.get("content-type", ""), await request.body())
        if (fault := _fault(form)) is not None:
            return await json_response({"error": fault[0], "error_description": fault[1]}, 400)
        user = acting_for(principal, form["subject_token"]).scope.user
        bearer = request.headers.get("authorization", "").partition(" ")[2].strip()
        made = await memhold.admin.tokens.exchange(
            bearer,
            user=str(user),
            rights=_rights(form.get("scope")),
            expires_in=timedelta(seconds=int(form.get("expires_in", 900))),
        )
        ends, begins = made.token.expires_at, made.token.created_at
        assert ends is not None  # noqa: S101 - what is exchanged has an end
        answer = Exchanged(
            access_token=made.secret,
            issued_token_type=TOKEN_TYPE,
            token_type="Bearer",  # noqa: S106 - the name of a scheme
            expires_in=int((ends - begins).total_seconds()),
            scope=" ".join(made.token.rights),
        )
        return await json_response(answer.model_dump())


def _form(kind: str, raw: bytes) -> dict[str, str]:
    """The parameters of a form; none for what is none, or names one twice."""
    if kind.partition(";")[0].strip().lower() != FORM:
        return {}
    try:
        pairs = parse_qsl(raw.decode(), keep_blank_values=True, strict_parsing=True, errors="strict", max_num_fields=20)
    except ValueError:
        return {}
    return dict(pairs) if len(pairs) == len(dict(pairs)) else {}


def _fault(form: dict[str, str]) -> tuple[str, str] | None:
    """What is wrong with an exchange, by the names of RFC 6749 and RFC 8693; None where nothing is."""
    if not form:
        return "invalid_request", f"send a form ({FORM}) that names each parameter once"
    if unknown := form.keys() - set(_KNOWN):
        return "invalid_request", f"{min(unknown)!r:.60} is not known here; known are: {', '.join(_KNOWN)}"
    if form.get("grant_type") != EXCHANGE:
        return "unsupported_grant_type", f"grant_type must be {EXCHANGE}"
    if form.get("subject_token_type") != USER_TYPE or not form.get("subject_token"):
        return "invalid_request", f"subject_token must be the user's name, and subject_token_type {USER_TYPE}"
    if form.get("requested_token_type", TOKEN_TYPE) != TOKEN_TYPE:
        return "invalid_request", f"requested_token_type can be {TOKEN_TYPE} alone"
    if "scope" in form and (not form["scope"].split() or {*form["scope"].split()} - {"read", "write"}):
        return "invalid_scope", "scope is read, write or both, with a space between"
    seconds = form.get("expires_in", "1")
    if not (seconds.isascii() and seconds.isdecimal() and len(seconds) <= 4 and 0 < int(seconds) <= 3600):
        return "invalid_request", "expires_in must be 1 to 3600 seconds"
    return None


def _rights(scope: str | None) -> tuple[Right, ...] | None:
    words = (scope or "").split()
    return tuple(right for right in ("read", "write") if right in words) if words else None
