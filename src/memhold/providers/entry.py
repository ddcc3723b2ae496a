"""One entry of the catalog, and what its URL and model tell: the protocol, the endpoint, whether it is local."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args
from urllib.parse import urlsplit

__all__ = [
    "ASKED",
    "FORMS",
    "PROTOCOLS",
    "Asked",
    "Entry",
    "Protocol",
    "Structured",
    "endpoint",
    "guess_protocol",
    "host_of",
    "is_local",
    "key_header",
    "looks_embedding",
    "looks_small",
    "origin_of",
    "prefixes_of",
    "server_of",
    "shown",
]

Protocol = Literal[
    "openai-chat",
    "anthropic-messages",
    "ollama-chat",
    "pydantic-ai",
    "rules",
    "openai-embeddings",
    "ollama-embeddings",
    "local-embeddings",
    "builtin-embeddings",
]
PROTOCOLS: Final[tuple[str, ...]] = get_args(Protocol)

Asked = Literal["whole", "turns"]
ASKED: Final[tuple[Asked, ...]] = get_args(Asked)
"""How a link is asked about a window: in one call, or in one for each message of the user's."""

Structured = Literal["tool", "schema", "object", "text"]
FORMS: Final[tuple[Structured, ...]] = get_args(Structured)
"""How a link is asked for arguments, from the best form down; see `memhold.providers.chat.forms`."""

_ACCOUNT = re.compile(r"(?<=://)[^/?#\s,]+@|(?<=://)[^/?#\s,@\[]*:(?!\d*(?:[/?#,\s]|\Z))(?:\S*@|\S*)")
"""A name and password; where a colon is followed by no port, all to the last @: a password with a / or # in it."""
_QUERY = re.compile(r"(?<=://)(?P<before>[^?#\s,]*)\?[^#\s,]+")
_VERSION = re.compile(r"/v\d[a-z0-9]*+(?=/|$)")
_EMBEDDING_MODEL = re.compile(r"embed|\bbge\b|bge-|\be5-|\bgte-|minilm|nomic|jina-e|arctic-e", re.IGNORECASE)
# The cards of these models: nomic-ai/nomic-embed-text-v1.5 and -v2-moe, intfloat/e5-base-v2 and multilingual-e5-base.
# Those of E5 that end in `instruct` take a sentence about the task instead.
_TRAINED_WITH = (
    (re.compile(r"nomic-embed-text", re.IGNORECASE), ("search_query: ", "search_document: ")),
    (
        re.compile(r"(?<![a-z0-9])e5-(?:small|base|large)(?!.{0,40}instruct)", re.IGNORECASE),
        ("query: ", "passage: "),
    ),
)
_SIZE = re.compile(r"(?<![a-z0-9.])(\d{1,4}(?:\.\d{1,2})?)([bm])(?![a-z0-9])", re.IGNORECASE)
_PATHS = ("/chat/completions", "/embeddings")
"""What a URL that was copied from somewhere ends in, whatever is asked of that server."""
_SMALL_BILLIONS: Final = 4.0  # Qwen 1.5B kept a fifth of a whole window, and nearly all of it line by line
_HOSTED_SECONDS: Final = 30.0  # a hosted model that takes longer is stuck
_OLLAMA_CONTEXT: Final = 16_384  # holds a window of 10,000 tokens; half a GB for a 1.5B model, 2 GB for 8B
_LOCAL_SECONDS: Final = 180.0  # a local one may be loading: 5 to 19 s for 8B, minutes for larger


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One model as the catalog describes it. Prices are USD per million tokens, `speed` tokens a second, times seconds.

    `structured` is the form in which it is asked for arguments, `asked` how much at a time; None leaves it to the kind
    of server and to the size that the model's name tells. `options` are
    further fields of the request's body; `headers` go with every request to this link and to no other.

    Of an embedding, `query_prefix` and `document_prefix` stand before each text; None leaves it to what the model's
    name tells. `max_chars` is the longest text that is sent in one piece, the prefix apart.
    """

    name: str
    protocol: Protocol
    model: str
    label: str = ""
    description: str = ""
    base_url: str | None = field(default=None, repr=False)  # it may hold a password, as a header may a key
    api_key_env: str | None = None
    fallback: str | None = None
    hidden: bool = False
    tier: str = "standard"
    context_window: int | None = None
    price_in: float | None = None
    price_out: float | None = None
    speed: float | None = None
    timeout: float | None = None
    local: bool | None = None
    stream: bool = True
    structured: Structured | None = None
    asked: Asked | None = None
    query_prefix: str | None = None
    document_prefix: str | None = None
    max_chars: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def embeds(self) -> bool:
        """Whether the entry is an embedding model."""
        return self.protocol.endswith("-embeddings")

    @property
    def served_locally(self) -> bool:
        """Whether the server is on this machine or network: slow to load, and one answer at a time."""
        return self.local if self.local is not None else is_local(self.base_url)

    @property
    def form(self) -> Structured:
        """The form in which it is asked first: a local server by a schema, which it turns into a grammar."""
        return self.structured or ("schema" if self.served_locally else "tool")

    @property
    def by_turns(self) -> bool:
        """Whether it is asked turn by turn: as its entry says, else where its name says that it is a small model."""
        return self.asked == "turns" or (self.asked is None and looks_small(self.model))

    @property
    def window(self) -> int | None:
        """Tokens that its context takes, as far as the entry tells; None where it does not.

        Ollama is told the tokens with each call: by itself it takes 4,096, and cuts a longer prompt without a word.
        """
        if self.protocol != "ollama-chat":
            return self.context_window
        asked = self.options.get("num_ctx")
        return asked if type(asked) is int and asked > 0 else self.context_window or _OLLAMA_CONTEXT

    @property
    def deadline(self) -> float:
        """How many seconds one call may take: the entry's own, else 180 for a local server and 30 for a hosted one."""
        if self.timeout is not None:
            return self.timeout
        return _LOCAL_SECONDS if self.served_locally else _HOSTED_SECONDS

    def cost(self, input_tokens: int | None, output_tokens: int | None) -> float | None:
        """USD for a number of tokens; None where a needed price is not known."""
        if (input_tokens and self.price_in is None) or (output_tokens and self.price_out is None):
            return None
        return ((input_tokens or 0) * (self.price_in or 0.0) + (output_tokens or 0) * (self.price_out or 0.0)) / 1e6


def host_of(base_url: str | None) -> str:
    """Host and port of a base URL, lower case; "" for none. Calls to one host share its limit."""
    try:
        parts = urlsplit(base_url or "")
        port = f":{parts.port}" if parts.port else ""
        return f"{(parts.hostname or '').lower()}{port}"
    except ValueError:
        return ""


def origin_of(base_url: str | None) -> str:
    """Scheme, host and port of a base URL, for people: without a path, a query, or a name and password in it."""
    scheme = (base_url or "").partition("://")[0].lower()
    return f"{scheme}://{host_of(base_url)}" if host_of(base_url) else "its URL"


def shown(text: str) -> str:
    """A URL, or text with URLs in it, as people may read it: a name and password, and a query, are `…`."""
    return _QUERY.sub(r"\g<before>?…", _ACCOUNT.sub("…@", text))


def server_of(base_url: str | None) -> str:
    """Which server a base URL means, however it is written: `localhost` is 127.0.0.1, no port is the default one."""
    host = host_of(base_url)
    name, _, port = host.rpartition(":") if re.search(r":\d+$", host) else (host, "", "")
    scheme = (base_url or "").partition(":")[0].lower()
    port = port or {"http": "80", "https": "443"}.get(scheme, "")
    loopback = name in {"localhost", "::1", "0.0.0.0"} or name.startswith("127.")  # noqa: S104 - compared, not bound
    return f"{'localhost' if loopback else name}:{port}" if name else ""


def key_header(base_url: str | None, key: str | None) -> dict[str, str]:
    """The header that carries a key to an OpenAI-compatible API: Azure has one of its own. Empty without a key."""
    if key is None:
        return {}
    parts = urlsplit(base_url or "")
    if (parts.hostname or "").endswith(".openai.azure.com"):
        return {"api-key": key}
    return {"authorization": f"Bearer {key}"}


def is_local(base_url: str | None) -> bool:
    """Whether a URL names this machine or a private network (RFC 1918, RFC 4193, `.local`)."""
    try:
        name = (urlsplit(base_url or "").hostname or "").lower()
    except ValueError:
        return False
    if name == "localhost" or name.endswith((".local", ".localhost", ".internal", ".lan")):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or address.is_private


def looks_embedding(model: str) -> bool:
    """Whether a model's name is that of an embedding model, as far as names tell."""
    return _EMBEDDING_MODEL.search(model) is not None


def prefixes_of(model: str) -> tuple[str, str]:
    """What stands before a question and before a text, where a model's name tells that it was trained with it."""
    return next((given for name, given in _TRAINED_WITH if name.search(model)), ("", ""))


def looks_small(model: str) -> bool:
    """Whether a model's name says that it has at most four thousand million parameters ("1.5b", "135M")."""
    sizes = [float(size) * (1 if unit in "bB" else 0.001) for size, unit in _SIZE.findall(model)]
    return bool(sizes) and max(sizes) <= _SMALL_BILLIONS


def guess_protocol(base_url: str | None, model: str) -> Protocol | None:
    """The protocol that a URL and a model point to; None where nothing does."""
    embeds = looks_embedding(model)
    if not base_url:
        return "anthropic-messages" if model.startswith("claude") else None
    host = host_of(base_url)
    if host.endswith("anthropic.com") or "/anthropic" in urlsplit(base_url).path:
        return "anthropic-messages"
    if host.endswith(":11434") and not _VERSION.search(urlsplit(base_url).path):
        return "ollama-embeddings" if embeds else "ollama-chat"
    return "openai-embeddings" if embeds else "openai-chat"


def endpoint(base_url: str, path: str, *, version: str = "/v1") -> str:
    """The URL of `path` (such as `/chat/completions`) at a base URL that may or may not end in its version.

    `https://x`, `https://x/v1`, `https://x/v1/` and `https://x/v1/chat/completions` give the same for any path; a base
    URL that has another version (`/v1beta/openai`, `/api/v3`) or names an Azure deployment is taken as it is. A query
    is kept.
    """
    parts = urlsplit(base_url.strip())
    base = parts.path.rstrip("/")
    base = base.removesuffix(next((one for one in (path.rstrip("/"), *_PATHS) if base.endswith(one)), ""))
    if version and not _VERSION.search(base) and "/deployments/" not in base:
        base += version
    if not version:
        base = re.sub(r"/(?:v1|api)$", "", base)
    return parts._replace(path=base + path).geturl()
