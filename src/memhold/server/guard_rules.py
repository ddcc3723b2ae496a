"""What the guard decides, without a request to hold: where a server may listen, and which requests are well addressed.

Pure; time and randomness are arguments.
"""

from __future__ import annotations

import ipaddress
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

__all__ = [
    "LOOPBACK_NAMES",
    "Rate",
    "RateLimits",
    "allowed_hosts",
    "bearer_of",
    "host_fault",
    "is_loopback",
    "may_bind",
    "origin_fault",
    "request_id_of",
]

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>\d{1,5}))?")
_ORIGIN = re.compile(r"https?://(?P<host>[^/?#@\s]+)", re.IGNORECASE)


def is_loopback(host: str) -> bool:
    """Whether an address, or the name `localhost`, is this machine's own; an empty host means every address."""
    if host.lower() == "localhost":
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


def request_id_of(headers: Sequence[str], new: Callable[[], str]) -> str:
    """The id of a request: the caller's, where it is one of 1 to 128 harmless characters, else a new one."""
    given = headers[0].strip() if len(headers) == 1 else ""
    return given if _REQUEST_ID.fullmatch(given) else new()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How much one caller may ask: so many requests a second, and so many at once after a pause."""

    per_second: float = 50.0
    burst: int = 200


class RateLimits:
    """A token bucket for each caller, in one process; `clock` gives seconds that never go back.

    It remembers at most `most` callers and drops whoever has been quiet the longest: a bucket that is dropped is full
    again, which is what a quiet one is.
    """

    def __init__(self, rate: Rate, clock: Callable[[], float], *, most: int = 10_000) -> None:
        self._rate = rate
        self._clock = clock
        self._most = most
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str) -> float:
        """Take one request out of the caller's bucket: 0.0 where there was one, else the seconds until there is."""
        now, rate = self._clock(), self._rate
        left, since = self._buckets.pop(caller, (float(rate.burst), now))
        left = min(float(rate.burst), left + (now - since) * rate.per_second)
        wait = 0.0 if left >= 1.0 else (1.0 - left) / rate.per_second
        self._buckets[caller] = (left if wait else left - 1.0, now)
        while len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
        return wait
