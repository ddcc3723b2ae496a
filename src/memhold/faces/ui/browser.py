"""One browser at the pages: what its cookie stands for, and what a form must bring to be its own."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

__all__ = ["BROWSER", "ENTER", "HOME", "OPEN_UI_PATHS", "SIGN_IN", "Browser"]

BROWSER: Final = "memhold.browser"
"""The key of the ASGI scope under which the `Browser` of a request to the pages stands."""

HOME: Final = "/ui"
SIGN_IN: Final = "/ui/sign-in"
ENTER: Final = "/ui/enter"
OPEN_UI_PATHS: Final = frozenset(
    {SIGN_IN, ENTER, "/ui/assets/page.css", "/ui/assets/page.js", "/ui/assets/htmx.min.js", "/ui/assets/icon.svg"}
)
"""Served to anybody: how to come in, and what the pages look like. They tell nothing of anybody."""


@dataclass(slots=True, kw_only=True)
class Browser:
    """A browser, from when it came in until it leaves or is quiet for long.

    Attributes:
        secret: the token that its requests bring; None where it brought none (and may need none).
        user: for whom it chose to look; None for the token's own.
        renewed: whether it came in or left with this request, so that its cookie must be another one.
        key: what its forms are known by.
    """

    secret: str | None = field(default=None, repr=False)
    user: str | None = None
    renewed: bool = False
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    def enter(self, secret: str) -> None:
        """Come in with a token; whether it counts, the guard says at the next request."""
        self.secret, self.user, self.renewed = secret, None, True
        self.key = secrets.token_bytes(32)

    def leave(self) -> None:
        """Forget the token: no form of before is taken any more."""
        self.secret, self.user, self.renewed = None, None, True
        self.key = secrets.token_bytes(32)

    def form_token(self, whose: str) -> str:
        """What a form brings that this browser was given for the memory of `whose`, so that no other is changed."""
        return hmac.new(self.key, whose.encode("utf-8", "surrogatepass"), sha256).hexdigest()

    def is_own(self, token: str, whose: str) -> bool:
        """Whether a form is this browser's, and was made for the memory of `whose`."""
        given = token.encode("utf-8", "surrogatepass")
        return hmac.compare_digest(self.form_token(whose).encode("ascii"), given)
