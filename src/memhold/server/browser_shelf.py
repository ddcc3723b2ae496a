"""Where it stands what a browser's cookie is for: in this process, or where every process of a server finds it."""

from __future__ import annotations

import contextlib
import json
import os
import time
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Final, Protocol

from memhold.faces.ui.browser import Browser

__all__ = ["BrowserShelf", "InMemory", "KeptBrowser", "OnDisk"]

_IDLE_SECONDS: Final = 12 * 3600.0


@dataclass(slots=True)
class KeptBrowser:
    """A browser, when it was last seen, and which token counted for it; None where none ever did."""

    browser: Browser
    seen: float
    token: str | None = None


class BrowserShelf(Protocol):
    """Browsers by their cookie. One that was quiet for 12 hours is not there any more."""

    def get(self, cookie: str) -> KeptBrowser | None:
        """The browser of a cookie, which is seen with that; None where there is none."""
        ...

    def put(self, cookie: str, kept: KeptBrowser) -> None:
        """Keep a browser, or what has become of it."""
        ...

    def drop(self, cookie: str) -> None:
        """Let go of one."""
        ...

    def make_room(self, most: int) -> None:
        """Let go of some until there are so many, of each token the one that was seen longest ago.

        First go those whose token never counted, then those of the token that has most.
        """
        ...


class InMemory:
    """A shelf of one process; it ends with it."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._kept: OrderedDict[str, KeptBrowser] = OrderedDict()

    def get(self, cookie: str) -> KeptBrowser | None:
        """The browser of a cookie."""
        found = self._kept.get(cookie)
        if found is None:
            return None
        if self._clock() - found.seen > _IDLE_SECONDS:
            del self._kept[cookie]
            return None
        found.seen = self._clock()
        self._kept.move_to_end(cookie)
        return found

    def put(self, cookie: str, kept: KeptBrowser) -> None:
        """Keep it."""
        kept.seen = self._clock()
        self._kept[cookie] = kept

    def drop(self, cookie: str) -> None:
        """Let go of it."""
        self._kept.pop(cookie, None)

    def make_room(self, most: int) -> None:
        """Let go of some."""
        while len(self._kept) > most:
            token = _of_most(one.token for one in self._kept.values())
            self._kept.pop(next(name for name, one in self._kept.items() if one.token == token))


class OnDisk:
    """A shelf in a folder, for the processes of one server: a file each, sealed, so that no token stands in it.

    Its name is made of digests of the cookie and of the token's id; when the browser was seen is the file's time.
    """

    def __init__(self, folder: Path, secret: bytes) -> None:
        from cryptography.fernet import Fernet

        self._folder = folder
        self._seal = Fernet(urlsafe_b64encode(blake2b(b"browsers", key=secret, digest_size=32).digest()))
        self._secret = secret

    def get(self, cookie: str) -> KeptBrowser | None:
        """The browser of a cookie."""
        from cryptography.fernet import InvalidToken

        found = self._file(cookie)
        if found is None:
            return None
        try:
            if abs(time.time() - found.stat().st_mtime) > _IDLE_SECONDS:  # far ahead: by a clock that was wrong
                found.unlink()
                return None
            said = json.loads(self._seal.decrypt(found.read_bytes()))
            os.utime(found)
        except (OSError, InvalidToken):
            return None  # let go of meanwhile by another process
        browser = Browser(secret=said["secret"], user=said["user"], key=b64decode(said["key"]))
        return KeptBrowser(browser, time.time(), said["token"])

    def put(self, cookie: str, kept: KeptBrowser) -> None:
        """Keep it."""
        browser = kept.browser
        key = b64encode(browser.key).decode("ascii")
        said = {"secret": browser.secret, "user": browser.user, "key": key, "token": kept.token}
        target = self._folder / f"{self._digest(cookie)}.{self._digest(kept.token or '')}"
        fresh = self._folder / f".{self._digest(cookie)}.{os.getpid()}"
        fresh.write_bytes(self._seal.encrypt(json.dumps(said).encode()))
        former = self._file(cookie)
        fresh.replace(target)
        if former is not None and former != target:
            former.unlink(missing_ok=True)

    def drop(self, cookie: str) -> None:
        """Let go of it."""
        found = self._file(cookie)
        if found is not None:
            found.unlink(missing_ok=True)

    def make_room(self, most: int) -> None:
        """Let go of some."""
        kept = [path for path in self._folder.iterdir() if not path.name.startswith(".")]
        if len(kept) <= most:
            return
        nobody = self._digest("")
        while len(kept) > most:
            chosen = _of_most(None if path.suffix == f".{nobody}" else path.suffix for path in kept)
            suffix = f".{nobody}" if chosen is None else chosen
            oldest = min((path for path in kept if path.suffix == suffix), key=_seen)
            oldest.unlink(missing_ok=True)
            kept.remove(oldest)

    def _file(self, cookie: str) -> Path | None:
        return next(self._folder.glob(f"{self._digest(cookie)}.*"), None)

    def _digest(self, text: str) -> str:
        return sha256(self._secret + text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _of_most(tokens: Iterable[str | None]) -> str | None:
    """The token that has most of them; None, which is no token, before any other."""
    many = Counter(tokens)
    # Or one token, asked without its cookie again and again, would put out everybody else.
    return None if None in many else many.most_common(1)[0][0]


def _seen(path: Path) -> float:
    with contextlib.suppress(OSError):
        return path.stat().st_mtime
    return 0.0
