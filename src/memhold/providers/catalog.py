"""The catalog: one table of models and the chains that begin in it. Loading is pure; `shipped` reads the one file.

Text in, values out: `load_catalog` lays a user's table over the shipped one entry by entry, checks everything, raises
one error with every fault, and returns what is only worth knowing as notes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final, Literal, cast

from memhold.providers.entry import ASKED, FORMS, PROTOCOLS, Entry, Protocol, guess_protocol, is_local, shown
from memhold.values.errors import InvalidSetting
from memhold.values.hints import did_you_mean

__all__ = ["CHAINS", "Catalog", "Note", "load_catalog", "shipped"]

CHAINS: Final = ("conversation", "consolidation", "adjudication", "embeddings")
_FIELDS: Final = {one.name: str(one.type) for one in fields(Entry)} | {"api_key": "str"}
_NO_URL: Final = frozenset({"rules", "pydantic-ai", "builtin-embeddings", "local-embeddings"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something about the catalog that a person should know; `model` is the entry, `code` is stable."""

    level: Literal["error", "warning", "info"]
    model: str
    code: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """Every model and the first link of every chain. `lists` are chains of exactly the links that somebody wrote."""

    models: Mapping[str, Entry]
    chains: Mapping[str, str]
    notes: tuple[Note, ...] = ()
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def visible(self) -> tuple[Entry, ...]:
        """The entries that are not hidden, in the order of the file."""
        return tuple(entry for entry in self.models.values() if not entry.hidden)

    def chain(self, start: str) -> tuple[Entry, ...]:
        """The links from a chain's name (`consolidation`) or a model's, each once: a cycle ends where it comes back.

        Raises:
            InvalidSetting: neither a chain nor a model has that name.
        """
        if start in self.lists:
            return tuple(self.models[name] for name in dict.fromkeys(self.lists[start]))
        name: str | None = self.chains.get(start, start)
        if name not in self.models:
            raise InvalidSetting(self._unknown(start), name=shown(start))
        links: dict[str, Entry] = {}
        while name is not None and name not in links:
            links[name] = self.models[name]
            name = self.models[name].fallback
        return tuple(links.values())

    def _unknown(self, name: str) -> str:
        if name.endswith((".gguf", ".safetensors", ".bin")):
            return (
                f"{name!r:.100} is a file: serve it (llama.cpp, LM Studio, Ollama) and name the server, such as"
                " http://127.0.0.1:8080/v1"
            )
        near = get_close_matches(name, (*CHAINS, *self.models), n=3)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        return (
            f"no chain or model is called {shown(name)!r:.100}; {hint}write openai:MODEL, anthropic:MODEL, "
            "ollama:MODEL, lmstudio:MODEL, or http://host:port/v1 (`memhold models` lists the catalog)"
        )


def shipped() -> str:
    """The text of the shipped table."""
    return files("memhold.providers").joinpath("catalog.toml").read_text(encoding="utf-8")


def load_catalog(
    base: str | None = None, user: str | None = None, *, environment: Mapping[str, str] | None = None
) -> Catalog:
    """The catalog of two texts in TOML: `base` (the shipped table if None) with `user` laid over it, entry by entry.

    A field that the user's entry does not name keeps the shipped value; `fallback = ""` ends a chain. With an
    `environment`, a key variable that is not set is noted.

    Raises:
        InvalidSetting: a text is not TOML, or an entry cannot be used; the message lists every fault.
    """
    own = _parse(user or "", "the models file")
    table = _merge(_parse(shipped() if base is None else base, "the base table"), own)
    notes: list[Note] = []
    models: dict[str, Entry] = {}
    for name, raw in table["models"].items():
        entry = _entry(name, raw, notes)
        if entry is not None:
            models[name] = entry
    for entry in models.values():
        notes += _entry_notes(entry, models, table["models"], environment, own=entry.name in own.get("models", {}))
    notes += _chain_notes(table["chains"], models, table["models"])
    notes += _cycles(models)
    faults = [note for note in notes if note.level == "error"]
    if faults:
        raise InvalidSetting("; ".join(f"{note.model}: {note.text}" for note in faults), name=faults[0].model)
    return Catalog(models=MappingProxyType(models), chains=MappingProxyType(table["chains"]), notes=tuple(notes))


def _parse(text: str, what: str) -> dict[str, Any]:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidSetting(f"{what} is not valid TOML: {error}", name="models") from None
    if not all(isinstance(table.get(key, {}), dict) for key in ("models", "chains")):
        raise InvalidSetting(f"{what} needs tables called [models.NAME] and [chains]", name="models")
    return table


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    models = dict(base.get("models", {}))
    for name, raw in over.get("models", {}).items():
        models[name] = {**models.get(name, {}), **raw} if isinstance(raw, dict) else raw
    return {"models": models, "chains": {**base.get("chains", {}), **over.get("chains", {})}}


# ------------------------------------------------------------------------------------------------ one entry


def _entry(name: str, raw: object, notes: list[Note]) -> Entry | None:
    def fault(code: str, text: str) -> None:
        notes.append(Note(level="error", model=name, code=code, text=text))

    if not isinstance(raw, dict):
        fault("not-a-table", "an entry is a table")
        return None
    before = len(notes)
    values = {key: _typed(key, value, fault) for key, value in raw.items() if key in _FIELDS and key != "name"}
    for key in raw.keys() - _FIELDS.keys():
        hint = did_you_mean(key, _FIELDS)
        notes.append(Note(level="warning", model=name, code="unknown-field", text=f"no field is called {key!r}{hint}"))
    if values.pop("api_key", None) is not None:
        fault("key-in-file", "a key does not belong in a file: put it in a variable and name that in `api_key_env`")
    for key in ("fallback", "base_url", "api_key_env"):
        values[key] = values.get(key) or None
    if not values.get("model"):
        fault("no-model", "`model` is missing: the name that the provider knows")
        return None
    protocol = values.get("protocol") or guess_protocol(values["base_url"], str(values["model"]))
    if protocol is None:
        fault("no-url", "`base_url` is missing, and nothing else tells the protocol")
        return None
    if protocol not in PROTOCOLS:
        fault("unknown-protocol", f"no protocol is called {protocol!r}; there are {', '.join(PROTOCOLS)}")
        return None
    if values["base_url"] is None and protocol not in _NO_URL:
        fault("no-url", "`base_url` is missing")
    values["protocol"] = protocol
    for key, allowed in (("structured", FORMS), ("asked", ASKED)):
        if values.get(key) is not None and values[key] not in allowed:
            fault("bad-value", f"`{key}` is one of {', '.join(allowed)}")
    fresh = notes[before:]
    return None if any(note.level == "error" for note in fresh) else Entry(name=name, **values)


def _typed(key: str, value: object, fault: Any) -> Any:
    """The value if it has the field's type; numbers are positive or zero."""
    declared = _FIELDS[key]
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if declared.startswith("float"):
        if number and cast("float", value) >= 0:
            return float(cast("float", value))
        fault("bad-value", f"`{key}` is a number of 0 or more")
    elif declared.startswith("int"):
        if isinstance(value, int) and number and value > 0:
            return value
        fault("bad-value", f"`{key}` is a whole number over 0")
    elif declared.startswith("bool"):
        if isinstance(value, bool):
            return value
        fault("bad-value", f"`{key}` is true or false")
    elif declared.startswith("Mapping"):
        if isinstance(value, dict):
            return value
        fault("bad-value", f"`{key}` is a table")
    elif isinstance(value, str):
        return value
    else:
        fault("bad-value", f"`{key}` is a text")
    return None


def _entry_notes(
    entry: Entry,
    models: Mapping[str, Entry],
    raw: Mapping[str, Any],
    environment: Mapping[str, str] | None,
    *,
    own: bool,
) -> Iterator[Note]:
    if entry.fallback is not None and entry.fallback not in raw:
        text = f"`fallback` names {entry.fallback!r}, which is not in the catalog"
        yield Note(level="error", model=entry.name, code="unknown-fallback", text=text)
    elif entry.fallback is not None and entry.fallback in models and models[entry.fallback].embeds != entry.embeds:
        text = f"`fallback` names {entry.fallback!r}: a chain is of chat models or of embedding models, not of both"
        yield Note(level="error", model=entry.name, code="mixed-chain", text=text)
    likely = guess_protocol(entry.base_url, entry.model)
    if likely is not None and entry.base_url and _family(likely) != _family(entry.protocol):
        text = f"the protocol is {entry.protocol}, but the URL and the model point to {likely}"
        yield Note(level="warning", model=entry.name, code="protocol-disagrees", text=text)
    if environment is not None and entry.api_key_env and not environment.get(entry.api_key_env):
        text = f"the variable {entry.api_key_env} is not set; until it is, this link is passed over"
        yield Note(level="warning", model=entry.name, code="key-not-set", text=text)
    if own and entry.base_url and not entry.api_key_env and not is_local(entry.base_url):
        text = "a hosted provider without `api_key_env`: requests go out without a key"
        yield Note(level="info", model=entry.name, code="no-key", text=text)
    if entry.base_url and not entry.base_url.startswith(("http://", "https://")):
        text = "`base_url` begins with http:// or https://"
        yield Note(level="error", model=entry.name, code="bad-url", text=text)


def _family(protocol: Protocol) -> str:
    """Whether a chat or an embedding model is meant cannot be told surely from its name, so only the dialect counts."""
    return protocol.split("-", maxsplit=1)[0]


def _chain_notes(chains: Mapping[str, Any], models: Mapping[str, Entry], raw: Mapping[str, Any]) -> Iterator[Note]:
    for chain, first in chains.items():
        if not isinstance(first, str) or first not in raw:
            text = f"the chain begins with {first!r}, which is not in the catalog"
            yield Note(level="error", model=chain, code="unknown-chain-start", text=text)
        elif chain not in CHAINS:
            text = f"no part of Memhold asks a chain of this name; there are {', '.join(CHAINS)}"
            yield Note(level="warning", model=chain, code="unknown-chain", text=text)
        elif first in models and models[first].embeds != (chain == "embeddings"):
            text = f"the chain begins with {first!r}, a model of the other kind"
            yield Note(level="error", model=chain, code="wrong-kind", text=text)


def _cycles(models: Mapping[str, Entry]) -> Iterator[Note]:
    """One note a cycle. It is legal: every model of it is asked once."""
    done: set[str] = set()
    for start in models:
        path: list[str] = []
        name: str | None = start
        while name is not None and name in models and name not in done and name not in path:
            path.append(name)
            name = models[name].fallback
        if name in path:
            ring = path[path.index(name) :]
            text = f"{' -> '.join((*ring, ring[0]))} is a cycle; each of its models is asked once"
            yield Note(level="info", model=ring[0], code="cycle", text=text)
        done.update(path)
