"""What the guard decides, without a request to hold: where a server may listen, and which requests are well addressed.

Pure; time and randomness are arguments.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from memhold.faces.remote.wire import MAX_BODY
from memhold.server.expiry_table import ExpiryTable

__all__ = [
    "LOOPBACK_NAMES",
    "WHOLE",
    "BodyLimits",
    "Failures",
    "Rate",
    "RateLimits",
    "address_of",
    "allowed_hosts",
    "bearer_of",
    "host_fault",
    "is_loopback",
    "may_bind",
    "origin_fault",
    "request_id_of",
]

WHOLE = "memhold.whole"
"""The key of the ASGI scope under which a connection leaves a question: whether all of the request has come."""

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_ROUNDED = 0.001
_GOOD_SECONDS = 24 * 3600.0
_ALONE_ENTRIES = 32 * 1024
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>\d{1,5}))?")
_ORIGIN = re.compile(r"https?://(?P<host>[^/?#@\s]+)", re.IGNORECASE)


def is_loopback(host: str) -> bool:
    """Whether an address, or the name `localhost`, is this machine's own; an empty host means every address."""
    if host.lower() in LOOPBACK_NAMES:
        return True
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return address.is_loopback or (mapped is not None and mapped.is_loopback)


def may_bind(host: str, *, tokens: bool, tls: bool, behind_proxy: bool) -> str | None:
    """Why a server must not listen there; None where it may.

    `tokens` says whether every caller has to bring one (a token or a JWT), `tls` whether the server itself speaks TLS,
    `behind_proxy` whether the operator said that a proxy in front does. Beyond loopback, or behind a proxy, which makes
    a loopback address reachable, callers must bring tokens; beyond loopback tokens must not cross in the clear.
    """
    where = "behind a proxy" if is_loopback(host) else f"on {host or 'every address'}"
    if is_loopback(host) and not behind_proxy:
        return None
    if not tokens:
        return f"others can reach a server {where}: make a token first ('memhold token create'), or set up OAuth"
    if not is_loopback(host) and not tls and not behind_proxy:
        return (
            f"tokens would cross the network in the clear {where}: give a certificate, or say that a proxy in front "
            "speaks TLS (--behind-proxy)"
        )
    return None


def allowed_hosts(bind: str, given: Iterable[str] = ()) -> frozenset[str]:
    """The names that a `Host` header may have: this machine's own, the address it listens on, and those given."""
    names = {name.strip().strip("[]").lower().rstrip(".") for name in (*given, bind)}
    try:
        everywhere = ipaddress.ip_address(bind.strip("[]")).is_unspecified
    except ValueError:
        everywhere = not bind
    if everywhere:
        names.discard(bind.strip("[]").lower())
    return frozenset({*LOOPBACK_NAMES, *names} - {""})


def host_fault(headers: Sequence[str], hosts: frozenset[str]) -> str | None:
    """What is wrong with a request's `Host` headers: a page that rebinds a name to this address names that name."""
    if len(headers) != 1:
        return "there must be one Host header"
    found = _HOST.fullmatch(headers[0].strip())
    if found is None:
        return "the Host header is malformed"
    name = found["name"].strip("[]").lower().rstrip(".")
    return None if name in hosts else "this server does not go by that name; it can be told to (--allow-host)"


def origin_fault(
    origins: Sequence[str], *, host: str, allowed: frozenset[str], site: str | None = None, navigates: bool = False
) -> str | None:
    """What is wrong with where a browser says that a request comes from; None for what is no browser's.

    Accepted are an origin that is the server's own (the same host and port as the checked `Host`), and those allowed.
    `site` is `Sec-Fetch-Site`, which browsers send where they send no `Origin`; following a link (`navigates`) is fine.
    """
    if len(origins) > 1:
        return "there must be one Origin header"
    if not origins:
        foreign = site in {"cross-site", "same-site"} and not navigates
        return "requests of other sites' pages are not served" if foreign else None
    origin = origins[0].strip()
    if origin.lower().rstrip("/") in allowed:
        return None
    found = _ORIGIN.fullmatch(origin)
    if found is not None and found["host"].lower() == host.strip().lower():
        return None
    return "requests of other sites' pages are not served"


def bearer_of(headers: Sequence[str]) -> str | None:
    """The bearer token (RFC 6750) of the `Authorization` headers; None where there is none.

    Raises:
        ValueError: two headers, another scheme, or no token behind the scheme.
    """
    if not headers:
        return None
    if len(headers) > 1:
        raise ValueError("there must be one Authorization header")
    scheme, _, token = headers[0].strip().partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token or not token.isascii() or any(c.isspace() for c in token):
        raise ValueError("Authorization must be 'Bearer' and a token")
    return token


def address_of(client: str | None, forwarded: Sequence[str], *, behind_proxy: bool) -> str:
    """Whom failed attempts are counted for: the client's address, of IPv6 the network of 64 bits that one site has.

    Behind a proxy it is the last that `X-Forwarded-For` names, which that proxy wrote; whatever stands before it the
    client can choose. Without a proxy the header says nothing.
    """
    text = client or ""
    if behind_proxy and forwarded:
        text = forwarded[-1].rpartition(",")[2].strip()
    try:
        address = ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return "unknown"
    if isinstance(address, ipaddress.IPv6Address):
        mapped = address.ipv4_mapped
        return str(mapped) if mapped else str(ipaddress.ip_network((int(address), 64), strict=False).network_address)
    return str(address)


def request_id_of(headers: Sequence[str], new: Callable[[], str]) -> str:
    """The id of a request: the caller's, where it is one of 1 to 128 harmless characters, else a new one."""
    given = headers[0].strip() if len(headers) == 1 else ""
    return given if _REQUEST_ID.fullmatch(given) else new()


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyLimits:
    """The largest body, in bytes, that a request may bring, by its path and method.

    Attributes:
        others: of every path that is not named.
        paths: of these; one that ends with `/` holds for what is below it, the longest that fits counts.
        without: of the methods that need none.
        files: paths whose body is a file, of which the number of JSON values is not counted.
    """

    others: int = MAX_BODY
    paths: Mapping[str, int] = field(default_factory=dict)
    without: int = 64 * 1024
    files: frozenset[str] = frozenset()

    def of(self, method: str, path: str) -> int:
        """The largest body of such a request."""
        if method in {"GET", "HEAD", "OPTIONS", "DELETE"}:
            return min(self.without, self.others)
        if path in self.paths:
            return self.paths[path]
        fitting = [known for known in self.paths if known.endswith("/") and path.startswith(known)]
        return self.paths[max(fitting, key=len)] if fitting else self.others


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How much one caller may ask: so many requests a second, and so many at once after a pause."""

    per_second: float = 50.0
    burst: int = 200


class RateLimits:
    """A token bucket for each caller; `clock` gives seconds that never go back.

    What is kept of a bucket is when it will be full again (the generic cell rate algorithm, ITU-T I.371): one that is
    full is forgotten, which is what a quiet caller's is. Processes that share the table share the buckets.
    """

    def __init__(self, rate: Rate, clock: Callable[[], float], table: ExpiryTable | None = None) -> None:
        self._rate = rate
        self._clock = clock
        self._full = _alone(clock) if table is None else table

    def take(self, caller: str) -> float:
        """Take one request out of the caller's bucket: 0.0 where there was one, else the seconds until there is."""
        wait = 0.0

        def taken(full: float) -> float:
            nonlocal wait
            wait = self._until_one(full)
            return full if wait else full + 1.0 / self._rate.per_second

        self._full.change(_name(caller), taken)
        return wait

    def wait(self, caller: str) -> float:
        """Seconds until the caller may ask again; 0.0 where it may now. Takes nothing."""
        return self._until_one(self._full.get(_name(caller)))

    def charge(self, caller: str, cost: float) -> None:
        """Take what something has cost out of the caller's bucket, which may then be owed more than it holds."""
        self._full.change(_name(caller), lambda full: full + cost / self._rate.per_second)

    def _until_one(self, full: float) -> float:
        left = self._rate.burst - (full - self._clock()) * self._rate.per_second
        # Sums of moments are rounded: a thousandth of a request is nobody's.
        return 0.0 if left >= 1.0 - _ROUNDED else (1.0 - left) / self._rate.per_second


class Failures:
    """Tokens that do not count, by the address that tried them; those that counted lately are let through all the same.

    So nobody can lock out the others behind one address: only who is new there waits with whoever guesses.
    """

    def __init__(
        self, rate: Rate, clock: Callable[[], float], table: ExpiryTable | None = None, good: ExpiryTable | None = None
    ) -> None:
        self._clock = clock
        self._limits = RateLimits(rate, clock, table)
        self._good = _alone(clock) if good is None else good

    def wait(self, address: str, token: str) -> float:
        """Seconds until the address may try this token; 0.0 where it may now."""
        return 0.0 if self._good.get(_digest(token)) > self._clock() else self._limits.wait(address)

    def failed(self, address: str, token: str) -> None:
        """Note that a token did not count (any more)."""
        digest = _digest(token)
        if self._good.get(digest) > self._clock():
            self._good.drop(digest)
        self._limits.charge(address, 1.0)

    def counted(self, token: str) -> None:
        """Note that a token counted. What is kept of it is a digest, for a day."""
        digest, now = _digest(token), self._clock()
        if self._good.get(digest) < now + _GOOD_SECONDS / 2:
            self._good.change(digest, lambda _: now + _GOOD_SECONDS)


def _alone(clock: Callable[[], float]) -> ExpiryTable:
    return ExpiryTable(memoryview(bytearray(ExpiryTable.size(_ALONE_ENTRIES))), clock)


def _name(caller: str) -> bytes:
    return caller.encode("utf-8", "surrogatepass")


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()
