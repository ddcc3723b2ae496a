"""`memhold ui`: the pages alone, on this machine, for whoever runs it; over a store of its own or a server's."""

from __future__ import annotations

import asyncio
import secrets
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from hmac import compare_digest
from typing import Any, Final

from memhold.faces.python.open import AsyncMemhold
from memhold.faces.ui.browser import ENTER
from memhold.faces.ui.pages import ui_app
from memhold.ports.data_home import is_served
from memhold.ports.signals import heard
from memhold.server.browsers import Browsers
from memhold.server.guard import Guard, GuardRules
from memhold.server.guard_rules import BodyLimits, Rate, allowed_hosts
from memhold.server.listening import bound
from memhold.server.serving import UvicornServer, uvicorn_config
from memhold.server.settings import ServeSettings
from memhold.values.principal import RIGHTS, Principal
from memhold.values.records import Scope
from memhold.verbs.store_protocols import AsyncStore

__all__ = ["OnceOnly", "serve_ui", "ui_only"]

_ONCE_SECONDS: Final = 120.0
_STOP_SECONDS: Final = 2.0
_BACKLOG: Final = 128
_BROWSED: Final = Rate(per_second=200.0, burst=2000)
"""One person at one browser, typing in a search field: far more than anybody does."""


class OnceOnly:
    """A word that stands for a token once, and not for long."""

    def __init__(self, token: str, *, clock: Callable[[], float]) -> None:
        self.word = secrets.token_urlsafe(32)
        self._token = token
        self._clock = clock
        self._until = clock() + _ONCE_SECONDS
        self._used = False

    def redeem(self, word: str) -> str | None:
        """The token; None for another word, a second time, or too late."""
        if not compare_digest(word.encode("utf-8", "surrogatepass"), self.word.encode()):
            return None
        used, self._used = self._used, True
        return None if used or self._clock() > self._until else self._token


def ui_only(memhold: AsyncStore, principal: Principal, token: str, redeem: Callable[[str], str | None]) -> Browsers:
    """The pages behind their guard: whoever has the token is the principal, and nobody else is anybody."""

    async def nobody(bearer: str) -> Principal | None:
        del bearer
        return None

    rules = GuardRules(
        hosts=allowed_hosts("127.0.0.1"), local=principal, local_token=token, rate=_BROWSED, work_rate=_BROWSED,
        bodies=BodyLimits(others=2 * 1024 * 1024),
    )  # fmt: skip
    guard = Guard(ui_app(memhold, redeem=redeem), rules=rules, authenticate=nobody)
    return Browsers(guard, secure=False)


async def serve_ui(
    location: str,
    *,
    opened: Mapping[str, Any],
    local: Scope,
    port: int = 0,
    ready: Callable[[str], None],
) -> None:
    """Serve the pages of a store on loopback until SIGINT or SIGTERM; `ready` gets the link that counts once.

    Over a server's store whoever looks has the rights of the token it is opened with.
    """
    loop = asyncio.get_running_loop()
    async with _opened(location, opened, local) as (memhold, principal):
        token = secrets.token_urlsafe(32)
        once = OnceOnly(token, clock=loop.time)
        with bound(ServeSettings(port=port)) as sock:
            sock.listen(_BACKLOG)
            app = ui_only(memhold, principal, token, once.redeem)
            server = UvicornServer(uvicorn_config(app, ServeSettings(stop_seconds=_STOP_SECONDS)))
            with _stopping(server):
                ready(f"http://127.0.0.1:{sock.getsockname()[1]}{ENTER}?once={once.word}")
                await server.serve([sock])


@asynccontextmanager
async def _opened(
    location: str, opened: Mapping[str, Any], local: Scope
) -> AsyncIterator[tuple[AsyncStore, Principal]]:
    if is_served(location):
        from memhold.faces.remote.remote_store import RemoteStore, reach

        transport, principal = await reach(location, {})
        store = RemoteStore(transport, principal)
        try:
            yield store, principal
        finally:
            await store.close()
        return
    async with AsyncMemhold.open(location, **opened) as memhold:
        yield memhold, Principal(scope=local, rights=frozenset(RIGHTS))


@contextmanager
def _stopping(server: UvicornServer) -> Iterator[None]:
    """A signal ends the server; the store is closed after it."""

    def stop() -> None:
        server.force_exit = server.should_exit
        server.should_exit = True

    with heard((signal.SIGINT, signal.SIGTERM), stop):
        yield
