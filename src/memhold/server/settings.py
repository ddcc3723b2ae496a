"""The settings of `memhold serve`: one name in its options, in `[serve]` of `memhold.toml` and in the environment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from memhold.values.errors import InvalidSetting
from memhold.wiring.settings import load_group

__all__ = ["TABLE", "ServeSettings", "load_serve_settings"]

TABLE = "serve"
MOST_WORKERS = 64
_MAY_BE_ZERO = {"port"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeSettings:
    """How a server is reached and what it bears.

    Attributes:
        host: the address it listens on; beyond loopback it needs tokens, and TLS or `behind_proxy`.
        port: its port; 0 takes a free one.
        workers: processes that serve, each on a core of its own; 1 serves without a process above it.
        upkeep: whether due work is done inside the server; without, `memhold worker` processes do it.
        insecure_loopback: whether every account of the machine may ask without a token, where there are none.
        tls_cert: a file with the certificate chain, as PEM.
        tls_key: a file with its key.
        behind_proxy: whether a proxy in front speaks TLS.
        public_url: the address from outside; needed with OAuth.
        allow_hosts: further names that the server goes by, with commas between.
        allow_origins: origins of browsers that are served beside its own, with commas between.
        rate_per_second: requests a second of one token; 200 at once after a pause.
        work_per_second: seconds of processor time a second that one token may take; 30 at once after a pause.
        failed_per_second: tokens that do not count which one address may try a second; 20 at once after a pause.
        stop_seconds: that a stop waits for requests that are running.
        log_format: `text` or `json`.
        compat: `agent-memory-server` for the routes of that server's client beside its own; empty for none.
        mcp_documents: whether `/mcp` offers the tools of documents too.
        telemetry: whether spans go to OpenTelemetry; needs `memhold[telemetry]`.
    """

    host: str = "127.0.0.1"
    port: int = 8484
    workers: int = 1
    upkeep: bool = True
    insecure_loopback: bool = False
    tls_cert: str = ""
    tls_key: str = ""
    behind_proxy: bool = False
    public_url: str = ""
    allow_hosts: str = ""
    allow_origins: str = ""
    rate_per_second: float = 50.0
    work_per_second: float = 0.5
    failed_per_second: float = 1.0
    stop_seconds: float = 30.0
    log_format: str = "text"
    telemetry: bool = False
    compat: str = ""
    mcp_documents: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool | str) or (field.name in _MAY_BE_ZERO and value == 0):
                continue
            if not 0 < value < math.inf:
                raise InvalidSetting(f"{field.name} is {value}; it must be greater than 0, and finite", name=field.name)
        if self.port > 65_535:
            raise InvalidSetting(f"port is {self.port}; it must be 0 to 65535", name="port")
        if self.workers > MOST_WORKERS:
            raise InvalidSetting(f"workers is {self.workers}; it must be 1 to {MOST_WORKERS}", name="workers")
        if bool(self.tls_cert) != bool(self.tls_key):
            raise InvalidSetting("TLS needs both: give tls_cert and tls_key", name="tls_cert")
        if self.log_format not in {"text", "json"}:
            raise InvalidSetting(f"log_format is {self.log_format!r:.40}; use text or json", name="log_format")
        if self.compat not in {"", "agent-memory-server"}:
            raise InvalidSetting(f"compat is {self.compat!r:.40}; agent-memory-server is known", name="compat")

    @property
    def tls(self) -> bool:
        """Whether the server itself speaks TLS."""
        return bool(self.tls_cert)


def load_serve_settings(
    given: Mapping[str, Any], *, environment: Mapping[str, str] | None = None, folder: Path | None = None
) -> ServeSettings:
    """The settings from options, then the environment (`MEMHOLD_<NAME>`), then `[serve]` in `memhold.toml`.

    Raises:
        InvalidSetting: a name is unknown, or a value is of the wrong type or out of range.
    """
    return load_group(ServeSettings(), given, table=TABLE, environment=environment, folder=folder)
