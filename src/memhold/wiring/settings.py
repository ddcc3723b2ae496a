"""Every setting, once: its name, default, bounds and meaning.

A setting has one name everywhere: keyword argument of `open`, key in `memhold.toml`, and `MEMHOLD_<NAME>` in the
environment. Arguments win over the environment, that over the file. `docs/reference/settings.md` is tested against
this.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from memhold.ports.descriptors import refuse_crowd
from memhold.values.errors import InvalidSetting
from memhold.values.hints import did_you_mean

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["FILE_NAME", "GONE", "PREFIX", "Settings", "load_group", "load_settings"]

PREFIX = "MEMHOLD_"
FILE_NAME = "memhold.toml"
_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off"}
_MAY_BE_ZERO = {
    "compact_daily_calls",
    "context_consolidate_share",
    "key_threshold",
    "postgres_hnsw_from",
    "postgres_partitions",
    "retain_days",
    "retain_most",
    "retain_unused_days",
    "unload_retry_count",
    "unload_retry_delay_ms",
}
_CHAINS = frozenset({"consolidation", "adjudication", "compaction", "embedding"})
"""Settings that take a list of models as well as one text with commas."""
GONE = frozenset({
    "analysis_processes", "close_timeout", "compact_calls", "compact_distance", "compact_memories", "compact_minutes",
    "compact_word_distance", "consolidate_keep_messages", "consolidate_part_tokens", "consolidate_tokens",
    "consolidate_tool_chars", "context_slot_timeout", "context_tail", "crossover_turn_threshold", "failed_burst",
    "hang_seconds",
    "header_seconds", "max_batch_messages", "max_body_bytes", "max_import_bytes", "max_merge_input_chars",
    "max_message_bytes", "max_streams", "mib_burst", "mib_per_second", "mid_tier_days", "mirror_summaries",
    "model_backoff_seconds", "rate_burst", "raw_chars", "request_seconds", "work_burst",
})  # fmt: skip
"""Former settings, which are constants now: whoever has one written down is told so."""
_LONGEST_DAYS = 36_500


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one open store.

    Attributes:
        key: what the file is encrypted with (needs `apsw-sqlite3mc` in the place of `apsw`); empty for a plain file.
        busy_timeout: seconds to wait for another process's lock before `StoreBusy`.
        read_timeout: seconds after which a read is stopped, so that no reader holds the log for long.
        idempotency_days: how long an idempotency key is kept, in days.
        context_consolidate_share: share of a context's tokens from which on its window is consolidated, but its last
            turns, before it falls out; 0 for never.
        context_model: the model that contexts are sent to, by whose family tokens are counted; empty for that of your
            own `conversation` chain (`[chains]` in `memhold.toml`), else the estimate for any model.
        worker: whether due work is done in the background while the store is open.
        embedding: what makes vectors: `builtin`, `none`, `minilm`, `mpnet`, `nomic`, a model directory,
            `openai:MODEL`, `ollama:MODEL`, `lmstudio:MODEL`, `http://host:port/v1#MODEL`, or an entry of the catalog.
        cache_mb: MB of indexes and vectors that are kept of the scopes that were asked last; those of the very last
            stay whatever they take.
        recall_timeout: seconds that a recall waits for a signal; after that it answers without it and says so.
        rerank: a server that reads the best 30 hits of a recall's first page with the question and orders them anew:
            the URL of its endpoint, `http://host:port/rerank` or `http://host:port/v1/rerank#MODEL`; empty for none.
        rerank_key_env: the environment variable that holds its key; empty where it wants none.
        poll_seconds: longest time between two looks for due work, 60 at most; a write wakes at once, on a file that of
            another process within a second.
        model_attempts: calls to the first model of a chain while its trouble may pass, after 1, 2, 4 … seconds; each
            further link gets one.
        chain_seconds: how long a whole chain may take, waits included; each call has its catalog entry's time-out.
        unload_retry_count: how often a request is sent again whose model a local server unloaded; 0 for never.
        unload_retry_delay_ms: the constant pause before each of these, in milliseconds.
        drain_seconds: how long `close` lets a running consolidation end before its work is given back.
        consolidation: the model that consolidates: `openai:MODEL`, `anthropic:MODEL`, `ollama:MODEL`, `lmstudio:MODEL`,
            `http://host:port/v1`, `http://host:port/v1#MODEL`, or a chain or model of the catalog; several, between
            commas, are asked in that order; empty or `none` for none.
        adjudication: the chain or model of the catalog that says whether two keys of facts are one; empty or `none`
            for none.
        key_threshold: the similarity at which two keys are one, measured for your embedding; 0 for what is shipped.
        models: a file with `[models.NAME]` and `[chains]` tables over the shipped catalog; empty for `memhold.toml`.
        consolidate_messages: how many messages make a session's window due at once.
        consolidate_idle_seconds: how long a session is silent before what is left of it is due.
        consolidate_skip: sessions that are never consolidated, as patterns with `*`, separated by commas.
        failover_timeout: seconds to ride out a lost connection to PostgreSQL before `StoreUnreachable`.
        postgres_connections: most connections that a process uses for reading, and as many for writing.
        read_urls: standbys of the PostgreSQL store, as locations between spaces: a read goes to one that is as new as
            what this process wrote and read, else to the primary; empty for none.
        postgres_hnsw_from: documents from which on PostgreSQL keeps an HNSW index of a scope's vectors; 0 for never.
        postgres_partitions: parts by hash of the namespace that a new store's tables are made in; 0 for one piece.
        compaction: the chain or model that judges; empty for the larger models of `consolidation`, `none` for none.
        compact_daily_calls: most calls a day (UTC) that compaction makes by itself for all users of a store.
        rollups: whether summaries are told anew when what they say has changed, and rolled up into days, weeks and
            months, by the models of `compaction`.
        retain_days: days after which memories of `retain_kinds` are hidden, by event time; 0 for never.
        retain_unused_days: days without being asked for after which they are; 0 for never.
        retain_most: how many of each kind stay, those that were used last; 0 for all.
        retain_kinds: the kinds that these rules are for, `fact` and `note`, separated by commas.
        mirror: a folder in which `MEMORY.md` and `HISTORY.md` are kept; empty for none.
        redaction: what is done with secrets in what is stored: `off`, `on` (replaced) or `refuse`.
        read_only: whether the file is only read: it is never changed, every write is refused, and nobody works in the
            background. On a mount that cannot be written nobody may write to it meanwhile.
        timezone: whose days "yesterday" and 2026-11-01 are, as `Europe/Paris`; empty for this machine's.
    """

    key: str = field(default="", repr=False)
    busy_timeout: float = 10.0
    read_timeout: float = 5.0
    idempotency_days: int = 30
    context_consolidate_share: float = 0.0
    context_model: str = ""
    worker: bool = True
    embedding: str = "builtin"
    cache_mb: int = 256
    recall_timeout: float = 2.0
    rerank: str = ""
    rerank_key_env: str = ""
    poll_seconds: float = 30.0
    model_attempts: int = 3
    chain_seconds: float = 600.0
    unload_retry_count: int = 3
    unload_retry_delay_ms: int = 500
    drain_seconds: float = 5.0
    consolidation: str = ""
    adjudication: str = ""
    key_threshold: float = 0.0
    models: str = ""
    consolidate_messages: int = 20
    consolidate_idle_seconds: float = 1_800.0
    consolidate_skip: str = "memhold:*,script:*,cron:*"
    failover_timeout: float = 30.0
    postgres_connections: int = 4
    read_urls: str = ""
    postgres_hnsw_from: int = 250_000
    postgres_partitions: int = 0
    compaction: str = ""
    compact_daily_calls: int = 100
    rollups: bool = True
    retain_days: float = 0.0
    retain_unused_days: float = 0.0
    retain_most: int = 0
    retain_kinds: str = "fact,note"
    mirror: str = ""
    redaction: str = "off"
    read_only: bool = False
    timezone: str = ""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name == "embedding" and not value.strip():
                raise InvalidSetting(
                    "embedding is empty; pass none, builtin, a model directory or an entry of the catalog",
                    name=one.name,
                )
            if one.name == "redaction" and value not in {"off", "on", "refuse"}:
                raise InvalidSetting(f"redaction is {value!r:.40}; it must be off, on or refuse", name=one.name)
            if one.name == "retain_kinds" and not {kind.strip() for kind in value.split(",")} <= {"fact", "note"}:
                raise InvalidSetting(f"retain_kinds is {value!r:.40}; name fact, note or both", name=one.name)
            if one.name in {"retain_days", "retain_unused_days"} and _LONGEST_DAYS < value < math.inf:
                raise InvalidSetting(f"{one.name} is {value}; pass {_LONGEST_DAYS} at most, or 0", name=one.name)
            if one.name == "timezone":
                zone_of(value)
            if isinstance(value, bool | str) or (one.name in _MAY_BE_ZERO and value == 0):
                continue
            if not 0 < value < math.inf:
                least = "0 or more" if one.name in _MAY_BE_ZERO else "greater than 0"
                raise InvalidSetting(f"{one.name} is {value}; it must be {least}, and finite", name=one.name)


def zone_of(name: str) -> tzinfo | None:
    """The time zone of that name; None, this machine's, for an empty one.

    Raises:
        InvalidSetting: there is none.
    """
    if not name:
        return None
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        raise InvalidSetting(f"timezone is {name!r:.60}; name one as Europe/Paris", name="timezone") from None


G = TypeVar("G", bound="DataclassInstance")


def load_settings(
    given: Mapping[str, Any], *, environment: Mapping[str, str] | None = None, folder: Path | None = None
) -> Settings:
    """The settings from arguments, then the environment, then `memhold.toml` in the folder (default: the current one).

    Raises:
        InvalidSetting: a name is unknown, or a value is of the wrong type or out of range; the message names where it
        stood.
    """
    return load_group(Settings(), given, environment=environment, folder=folder)


def load_group(
    defaults: G,
    given: Mapping[str, Any],
    *,
    table: str | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> G:
    """A frozen dataclass of settings like `defaults`, by the same rules; `table` is theirs in `memhold.toml`.

    Raises:
        InvalidSetting: as `load_settings`.
    """
    environment = os.environ if environment is None else environment
    path = (folder or Path()) / FILE_NAME
    types = {field.name: type(getattr(defaults, field.name)) for field in fields(defaults)}
    merged = _checked(_from_file(path, table), str(path), types)
    names = {PREFIX + name.upper(): name for name in (*types, *GONE)}
    from_environment = {names[key]: value for key, value in environment.items() if key in names}
    merged |= _checked(from_environment, "the environment", types)
    merged |= _checked(given, "the arguments", types)
    return replace(defaults, **merged)


def _from_file(path: Path, table: str | None) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        refuse_crowd(str(path), error)
        raise InvalidSetting(f"{path} cannot be read: {error}", name=FILE_NAME) from error
    import tomllib

    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidSetting(f"{path} cannot be read: {error}", name=FILE_NAME) from error
    if table is not None:
        data = data.get(table, {})
        if not isinstance(data, dict):
            raise InvalidSetting(f"{path}: {table} must be a table", name=table)
    # Tables belong to others: [models.*] is the catalog's.
    return {name: value for name, value in data.items() if not isinstance(value, dict)}


def _checked(values: Mapping[str, Any], where: str, types: Mapping[str, type]) -> dict[str, Any]:
    found = {}
    for name, value in values.items():
        if name in GONE and name not in types:
            raise InvalidSetting(f"{where}: {name} is no setting any more; remove it", name=name)
        if name not in types:
            near = did_you_mean(name, types) or f"; known are {', '.join(sorted(types))}"
            raise InvalidSetting(f"{where}: unknown setting {name!r}{near}", name=name)
        found[name] = _converted(name, value, types[name], where)
    return found


def _converted(name: str, value: Any, wanted: type, where: str) -> Any:
    if name in _CHAINS and isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    if isinstance(value, str) and wanted is not str:
        text = value.strip().lower()
        if wanted is bool and text in _TRUE | _FALSE:
            return text in _TRUE
        try:
            value = int(text) if wanted is int else float(text)
        except ValueError:
            raise InvalidSetting(
                f"{where}: {name} is {value!r}; pass a value of type {wanted.__name__}", name=name
            ) from None
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not wanted:
        raise InvalidSetting(f"{where}: {name} is {value!r}; pass a value of type {wanted.__name__}", name=name)
    return value
