"""The classifier's table: what providers answer when they fail, in the order in which the rules are asked.

The rules are data: `rules.toml` beside this says them, and how a line of it is read. A rule matches a document by one
of its `codes` (structured fields, in normal form: see `provider_answer.normal`), or by its `words` (a pattern over the
lower-case words), where `statuses` and `kind` allow it. The first rule that matches the innermost document decides;
only then come the documents around it. Specific rules stand before general ones: what a provider says of this request
before what it says of itself.
"""

from __future__ import annotations

import pkgutil
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from memhold.values.errors import FailureClass

__all__ = ["RULES", "Rule", "read_rules"]

Kind = Literal["chat", "embedding"]

_KEYS: Final = {
    "name": str,
    "class": str,
    "why": str,
    "codes": str,
    "words": list,
    "statuses": list,
    "not_statuses": list,
    "kind": str,
    "slow": bool,
    "refused": bool,
}
_NEEDED: Final = ("name", "class", "why")
_CODE: Final = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of the table: what it looks for, where it holds, and the class that follows."""

    name: str
    cls: FailureClass
    why: str
    codes: frozenset[str] = frozenset()
    words: re.Pattern[str] | None = None
    statuses: frozenset[int] | None = None
    not_statuses: frozenset[int] = frozenset()
    kind: Kind | None = None
    slow: bool = False
    refused: bool = False


def read_rules(text: str) -> tuple[Rule, ...]:
    """The rules of a table in TOML, in its order.

    Raises:
        ValueError: the table is not TOML, or a rule of it cannot be used; it names the rule and what is wrong.
    """
    table = tomllib.loads(text)
    if unknown := table.keys() - {"spoken_for", "rule"}:
        raise ValueError(f"the table of failures has unknown entries: {sorted(unknown)}")
    spoken_for = _statuses(table.get("spoken_for", []), frozenset(), "spoken_for")
    rules = tuple(_rule(entry, spoken_for) for entry in table.get("rule", []))
    names = [rule.name for rule in rules]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"rules stand twice in the table of failures: {sorted(twice)}")
    return rules


def _rule(entry: Mapping[str, Any], spoken_for: frozenset[int]) -> Rule:
    where = f"the rule {entry.get('name', '?')!r}"
    for key, value in entry.items():
        if key not in _KEYS or not isinstance(value, _KEYS[key]):
            raise ValueError(f"{where}: {key!r} is unknown or not a {_KEYS.get(key, str).__name__}")
    if absent := [key for key in _NEEDED if not entry.get(key)]:
        raise ValueError(f"{where}: {', '.join(absent)} must be given")
    if entry["class"] not in get_args(FailureClass) or entry.get("kind", "chat") not in get_args(Kind):
        raise ValueError(f"{where}: no such class or kind")
    if not entry.get("codes") and not entry.get("words"):
        raise ValueError(f"{where}: it looks for nothing; give codes or words")
    codes = frozenset(entry.get("codes", "").split())
    if odd := sorted(code for code in codes if not _CODE.fullmatch(code)):
        raise ValueError(f"{where}: codes are lower-case letters and digits, not {odd}")
    return Rule(
        name=entry["name"],
        cls=entry["class"],
        why=entry["why"],
        codes=codes,
        words=_pattern(entry["words"], where) if "words" in entry else None,
        statuses=_statuses(entry["statuses"], spoken_for, where) if "statuses" in entry else None,
        not_statuses=_statuses(entry.get("not_statuses", []), spoken_for, where),
        kind=entry.get("kind"),
        slow=entry.get("slow", False),
        refused=entry.get("refused", False),
    )


def _statuses(entries: list[Any], spoken_for: frozenset[int], where: str) -> frozenset[int]:
    found = {status for entry in entries for status in (spoken_for if entry == "spoken_for" else [entry])}
    if odd := [status for status in found if type(status) is not int or not 100 <= status <= 599]:
        raise ValueError(f"{where}: not statuses of HTTP: {odd}")
    return frozenset(found)


def _pattern(entries: list[Any], where: str) -> re.Pattern[str]:
    """One pattern that finds any of these in lower-case words; a long one stands as a list of its parts."""
    parts = ["".join(entry) if isinstance(entry, list) else entry for entry in entries]
    if not all(isinstance(part, str) and part for part in parts):
        raise ValueError(f"{where}: words are patterns or lists of their parts, none of them empty")
    try:
        return re.compile("|".join(parts), re.DOTALL)
    except re.error as error:
        raise ValueError(f"{where}: a pattern cannot be read: {error}") from error


def _shipped() -> tuple[Rule, ...]:
    data = pkgutil.get_data(__package__, "rules.toml")
    if data is None:
        raise FileNotFoundError("the table of failures was not installed; install Memhold again")
    return read_rules(data.decode())


RULES: Final = _shipped()
"""What is shipped."""
