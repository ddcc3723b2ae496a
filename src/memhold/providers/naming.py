"""A model in one line: `openai:gpt-4.1-mini`, `ollama:qwen3`, `http://host:1234/v1#model`; a list of these is a chain.

Pure: text in, a catalog with the entries in it out. Nobody is asked here, and no other vendor is ever added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from types import MappingProxyType
from typing import Final, Literal
from urllib.parse import urldefrag, urlsplit

from memhold.providers.catalog import Catalog
from memhold.providers.entry import Entry, Protocol, guess_protocol, host_of, shown
from memhold.values.errors import InvalidSetting

__all__ = ["VENDORS", "Kind", "chain_of_kind", "entry_in_line", "is_line", "pieces", "with_lines"]

Kind = Literal["chat", "embedding"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Vendor:
    """Where a vendor is, in which protocols, and which variable holds its key (None: a server that needs none)."""

    base_url: str
    chat: Protocol = "openai-chat"
    embedding: Protocol | None = "openai-embeddings"
    key: str | None = None


VENDORS: Final[Mapping[str, _Vendor]] = MappingProxyType(
    {
        "openai": _Vendor(base_url="https://api.openai.com/v1", key="OPENAI_API_KEY"),
        "anthropic": _Vendor(
            base_url="https://api.anthropic.com", chat="anthropic-messages", embedding=None, key="ANTHROPIC_API_KEY"
        ),
        "openrouter": _Vendor(base_url="https://openrouter.ai/api/v1", key="OPENROUTER_API_KEY"),
        "groq": _Vendor(base_url="https://api.groq.com/openai/v1", embedding=None, key="GROQ_API_KEY"),
        "mistral": _Vendor(base_url="https://api.mistral.ai/v1", key="MISTRAL_API_KEY"),
        "deepseek": _Vendor(base_url="https://api.deepseek.com/v1", embedding=None, key="DEEPSEEK_API_KEY"),
        "ollama": _Vendor(base_url="http://127.0.0.1:11434", chat="ollama-chat", embedding="ollama-embeddings"),
        "lmstudio": _Vendor(base_url="http://127.0.0.1:1234/v1"),
        "llamacpp": _Vendor(base_url="http://127.0.0.1:8080/v1"),
        "vllm": _Vendor(base_url="http://127.0.0.1:8000/v1"),
    }
)
"""Vendors by the name in front of a model; their base URLs and variables are those of their own documentation."""
_BASE_URLS: Final = MappingProxyType({"openai": "OPENAI_BASE_URL"})
"""Variables in which a vendor's own clients read another base URL."""


def pieces(setting: str) -> tuple[str, ...]:
    """The links that a setting names, in their order."""
    return tuple(piece.strip() for piece in setting.split(",") if piece.strip())


def is_line(text: str) -> bool:
    """Whether a text names a model in one line; else it is a name of the catalog, or a directory."""
    vendor, colon, model = text.partition(":")
    return text.startswith(("http://", "https://")) or (bool(colon and model) and vendor in VENDORS)


def entry_in_line(text: str, kind: Kind = "chat", *, environment: Mapping[str, str] | None = None) -> Entry:
    """The entry that a line names, called by that line: without what a URL may hold of a password or a key.

    A URL without `#model` takes the model that its server serves. `OPENAI_BASE_URL` is read for `openai:`; a server
    that it names is asked without a key where none is set.

    Raises:
        InvalidSetting: no host, a vendor that makes no vectors, or a variable that holds no URL.
    """
    if text.startswith(("http://", "https://")):
        return _at_url(text, kind)
    name, _, model = text.partition(":")
    vendor = VENDORS[name]
    protocol = vendor.chat if kind == "chat" else vendor.embedding
    if protocol is None:
        raise InvalidSetting(f"{name} has no embedding models; name another for {text!r}", name="embedding")
    here = environment or {}
    given = here.get(_BASE_URLS.get(name, ""), "").strip()
    if given and not given.startswith(("http://", "https://")):
        raise InvalidSetting(
            f"{_BASE_URLS[name]} is {shown(given)!r:.100}; it begins with http:// or https://", name=_BASE_URLS[name]
        )
    key = vendor.key
    if given and host_of(given) != host_of(vendor.base_url) and not here.get(key or "", "").strip():
        key = None  # a server of one's own, as LM Studio is: it is asked without a key, and says where it wants one
    return Entry(name=text, protocol=protocol, model=model, base_url=given or vendor.base_url, api_key_env=key)


def _at_url(text: str, kind: Kind) -> Entry:
    url, model = urldefrag(text)
    name = shown(text)
    try:
        host, _ = urlsplit(url).hostname, urlsplit(url).port
    except ValueError:
        raise InvalidSetting(
            f"{name!r:.100} names no port; write http://host:port/v1, "
            "and in a password %3A %2F %3F %23 %40 for : / ? # @",
            name="models",
        ) from None
    if not host:
        raise InvalidSetting(f"{name!r:.100} names no host; write http://host:port/v1 or …/v1#model", name="models")
    guessed: Protocol = guess_protocol(url, model) or "openai-chat"
    dialect = guessed.partition("-")[0]
    if dialect == "ollama":
        protocol: Protocol = "ollama-chat" if kind == "chat" else "ollama-embeddings"
    elif kind == "embedding":
        protocol = "openai-embeddings"
    else:
        protocol = "anthropic-messages" if dialect == "anthropic" else "openai-chat"
    if not protocol.startswith("openai-") and not model:
        raise InvalidSetting(
            f"{name!r:.100} names no model; write it behind a #, as in {shown(url)}#NAME", name="models"
        )
    keys = {host_of(vendor.base_url): vendor.key for vendor in VENDORS.values()}
    return Entry(name=name, protocol=protocol, model=model or "auto", base_url=url, api_key_env=keys.get(host_of(url)))


def embedding_name(setting: str) -> str:
    """What an embedding is called where its line names a chat model too."""
    return f"{setting} (embedding)"


def chain_of_kind(table: Catalog, setting: str, kind: Kind) -> tuple[Entry, ...]:
    """The links that a setting names, where its line may name a chat model as well.

    Raises:
        InvalidSetting: it names none.
    """
    own = embedding_name(setting)
    return table.chain(own if kind == "embedding" and own in table.lists else setting)


def _names(entry: Entry) -> Iterator[str]:
    """What an entry may be called, where others have its name: of the other kind, or with another secret in the URL."""
    yield entry.name
    if entry.embeds:
        yield embedding_name(entry.name)
    yield from (f"{entry.name} ({place})" for place in count(2))


def with_lines(table: Catalog, settings: Iterable[tuple[str, Kind]], environment: Mapping[str, str]) -> Catalog:
    """The catalog with the entries that settings name in one line, and a chain for each list of links.

    A URL that holds a secret is a list of one: its entry has another name than the setting.

    Raises:
        InvalidSetting: a line cannot be an entry, or a list names what is neither a line nor in the catalog.
    """
    models, lists = dict(table.models), dict(table.lists)
    for setting, kind in settings:
        names: list[str] = []
        for link in pieces(setting):
            name = link
            if link not in table.models and is_line(link):
                entry = entry_in_line(link, kind, environment=environment)
                name = next(one for one in _names(entry) if replace(models.get(one, entry), name=entry.name) == entry)
                models[name] = replace(entry, name=name)
            names.append(name)
        if len(names) > 1:
            for name in names:
                if name not in models:
                    raise InvalidSetting(f"{name!r} is neither a model of the catalog nor a line for one", name=name)
        if len(names) > 1 or (names and names[0] in models and names[0] != setting):
            lists[setting if kind == "chat" else embedding_name(setting)] = tuple(names)
    return replace(table, models=MappingProxyType(models), lists=MappingProxyType(lists))
