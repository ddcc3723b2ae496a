"""One request to the pages: who asks, whose memory it is, what its form holds, and how it is answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response

from memhold.faces.rest.frame import caller, scope_for
from memhold.faces.ui.browser import BROWSER, Browser
from memhold.faces.ui.rendering import html
from memhold.values.errors import InvalidInput
from memhold.values.principal import Principal, Right, principal_of
from memhold.verbs.scope import AsyncScope
from memhold.verbs.store_protocols import AsyncStore

__all__ = ["Visit", "form_of", "shown", "whose"]

_MOST_FIELDS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """What a page is made from. Its scope is the caller's, and comes from the guard alone."""

    memhold: AsyncStore
    request: Request
    right: Right
    form: Mapping[str, Sequence[str]] = field(default_factory=dict)
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def principal(self) -> Principal:
        """Who asks."""
        return principal_of(self.request.scope)

    @property
    def browser(self) -> Browser:
        """The browser that the answer goes to."""
        found: Browser = self.request.scope[BROWSER]
        return found

    def scope(self, session: str | None = None) -> AsyncScope:
        """The verbs of the caller's scope, where it has the right that the route needs.

        Raises:
            ScopeDenied: it has not.
            InvalidScope: it is a service's, and names no user.
        """
        return scope_for(self.memhold, self.request, self.right, session)

    def may(self, right: Right) -> bool:
        """Whether the caller has a right: what it may not do is not offered."""
        return right in self.principal.rights

    @property
    def runs_it(self) -> bool:
        """Whether it is whoever runs the store: what is of every namespace is told to nobody else."""
        return self.principal.runs_store

    def said(self, name: str, default: str = "") -> str:
        """The last value of a field of the form."""
        values = self.form.get(name)
        return values[-1] if values else default

    def number(self, name: str, default: int) -> int:
        """A field that holds a number; the default where it is left out.

        Raises:
            InvalidInput: it holds another thing.
        """
        text = self.said(name).strip()
        if not text:
            return default
        if not (text.isascii() and text.isdecimal() and len(text) < 12):
            raise InvalidInput(f"{name} is no number; write digits alone")
        return int(text)

    @property
    def own_form(self) -> bool:
        """Whether the form is this browser's, and made for the memory that is looked at now."""
        return self.browser.is_own(self.said("form_token"), whose(self.principal))

    def caller(self) -> Principal:
        """Who asks, where it may do what the route needs.

        Raises:
            ScopeDenied: it may not.
        """
        return caller(self.request, self.right)

    def part(self, template: str, status: int = 200, /, **values: Any) -> Response:
        """A page, or a part of one that is put in its place."""
        return shown(self.request, template, values, status=status, now=self.now)


def shown(
    request: Request, template: str, values: Mapping[str, Any], *, status: int = 200, now: datetime | None = None
) -> Response:
    """A template with what every page says: whose memory it is, what may be done, and what its forms must bring."""
    principal, browser = principal_of(request.scope), request.scope[BROWSER]
    own = principal.scope
    given = {
        "form_token": browser.form_token(whose(principal)),
        "now": now or datetime.now(UTC),
        "may_write": "write" in principal.rights,
        "may_admin": "admin" in principal.rights,
        "namespace": own.namespace,
        "user": own.user,
        "agent": own.agent,
        "chooses": "act" in principal.rights,
        "signed_in": browser.secret is not None,
        "fresh_key": uuid4().hex,
        "here": "",
    }
    return html(template, {**given, **values}, status=status)


def whose(principal: Principal) -> str:
    """The memory that a form is made for: namespace, user and agent as one text."""
    own = principal.scope
    return "\x1f".join((own.namespace, own.user or "", own.agent or ""))


def form_of(kind: str, raw: bytes) -> dict[str, list[str]]:
    """The fields of a form, each with its values in order.

    Raises:
        InvalidInput: it is no form, or has too many fields.
    """
    if not raw:
        return {}
    if kind.partition(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        raise InvalidInput("the page sends forms alone")
    found: dict[str, list[str]] = {}
    try:
        pairs = parse_qsl(raw.decode(), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise InvalidInput(f"the form cannot be read; it may have {_MOST_FIELDS} fields of UTF-8 text") from None
    for name, value in pairs:
        # Lines of a text field come with carriage returns, which nobody typed.
        found.setdefault(name, []).append(value.replace("\r\n", "\n"))
    return found
