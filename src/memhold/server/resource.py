"""What a server tells of itself to clients that look for a token: OAuth 2.0 protected-resource metadata (RFC 9728)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from memhold.values.errors import InvalidSetting

__all__ = ["METADATA_PATH", "Resource"]

METADATA_PATH: Final = "/.well-known/oauth-protected-resource"
_MCP: Final = "/mcp"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """The server as a protected resource: its address from outside, and who gives tokens for it.

    The server and its MCP endpoint are two resources with one set of rules: a client asks for the metadata of the URL
    that it uses (RFC 9728, section 3.1).
    """

    url: str
    authorization_servers: tuple[str, ...]
    scopes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in {"https", "http"} or not parts.hostname or parts.path not in {"", "/"} or parts.query:
            message = f"public_url is {self.url!r:.80}; write the address from outside, such as https://memory.example"
            raise InvalidSetting(message, name="public_url")

    @staticmethod
    def is_metadata(path: str) -> bool:
        """Whether a path is one of the two where metadata stands."""
        return path in {METADATA_PATH, METADATA_PATH + _MCP}

    @property
    def identifiers(self) -> frozenset[str]:
        """What an access token may name as its audience (RFC 8707), with and without a slash at the end."""
        base = self.url.rstrip("/")
        return frozenset({base, f"{base}/", base + _MCP, f"{base}{_MCP}/"})

    def metadata(self, path: str) -> dict[str, Any]:
        """The document that stands at one of the two paths."""
        base = self.url.rstrip("/")
        found: dict[str, Any] = {
            "resource": base + _MCP if path.endswith(_MCP) else base,
            "authorization_servers": list(self.authorization_servers),
            "bearer_methods_supported": ["header"],
            "resource_name": "Memhold",
        }
        return found | ({"scopes_supported": list(self.scopes)} if self.scopes else {})

    def metadata_url(self, path: str) -> str:
        """Where the metadata of the resource stands that a request was for."""
        end = _MCP if path == _MCP or path.startswith(f"{_MCP}/") else ""
        return f"{self.url.rstrip('/')}{METADATA_PATH}{end}"
