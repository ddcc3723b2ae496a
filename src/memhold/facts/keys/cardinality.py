"""What a new value does to the old one: how many values an attribute holds, what the wording says, and who decides.

The rules are data (`data/cardinality.toml`) over the concepts of the language files, so an attribute has one
cardinality in every language. What is not listed is `unknown`, and then the model and the wording decide.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Literal

from memhold.facts.keys.compare import canonical, compare
from memhold.facts.keys.key_reading import read
from memhold.text.normal_form import normal_form

__all__ = ["Cardinality", "Decision", "Operation", "Wording", "cardinality", "decide", "nothing", "wording"]

Cardinality = Literal["single", "many", "unknown"]
Wording = Literal["add", "replace", "end", "correct", "none"]
Operation = Literal["add", "replace", "end", "correct"]
"""`add` stands beside what held, `replace` supersedes it, `end`: it holds no longer, `correct`: it never did."""

_ORDER: tuple[Operation, ...] = ("correct", "end", "replace", "add")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The operation, the rule that chose it (`model`, `cardinality`, `wording`, `default`), and why, for the Change."""

    operation: Operation
    rule: Literal["model", "cardinality", "wording", "default"]
    reason: str


@lru_cache(maxsize=1)
def _counts() -> Mapping[str, Cardinality]:
    data = tomllib.loads((files(__package__) / "data" / "cardinality.toml").read_text(encoding="utf-8"))
    known: dict[str, Cardinality] = {_id(name): "many" for name in data["many"]}
    return {**known, **{_id(name): "single" for name in data["single"]}}


def _id(name: str) -> str:
    return name.replace(" ", "_")


@lru_cache(maxsize=1)
def _wordings() -> Mapping[Operation, re.Pattern[str]]:
    data = tomllib.loads((files(__package__) / "data" / "cardinality.toml").read_text(encoding="utf-8"))["wording"]
    found: dict[Operation, re.Pattern[str]] = {}
    for operation in _ORDER:
        rules = data[operation]
        words = "|".join(re.escape(_plain(word)) for word in sorted(rules["word"], key=len, reverse=True))
        texts = "|".join(re.escape(_plain(text)) for text in rules["text"])
        patterns = [_plain(pattern) for pattern in rules.get("pattern", ())]
        found[operation] = re.compile("|".join([rf"(?<!\w)(?:{words})(?!\w)", texts, *patterns]))
    return found


def _plain(text: str) -> str:
    return normal_form("NFKC", text.replace("\u2019", "'")).casefold()


@lru_cache(maxsize=16384)
def cardinality(attribute: str, subject: str | None = None) -> Cardinality:
    """How many values of an attribute hold at once.

    A favourite is one ("favorite food"), whatever it is a favourite of; a name is one a bearer. Otherwise the last
    concept of the key decides: "wife's birthday" is a birthday. Never raises for strings.
    """
    key = canonical(subject, attribute)
    for language in key.languages:
        tokens = read(key.full, language).tokens
        if any(token.kind == "not" for token in tokens):
            return "unknown"
        if any(token.id == "favorite" for token in tokens):
            return "single"
        # "home" alone is where one lives; behind what is asked it only says which: "languages (home)".
        named = [token for token in tokens if token.kind != "qualifier"]
        asked = named if any(token.kind != "person" for token in named) else tokens
        found = _counts().get(asked[-1].id) if asked else None
        if found:
            return found
    return "unknown"


def wording(text: str) -> Wording:
    """What a sentence says of what held before: the strongest of correct, end, replace and add that it has words for.

    It reads the sentence and not the fact: "quit coffee, only tea now" is `end`, and which fact ends is for the model's
    operation or the value to say.
    """
    plain = _plain(text)
    for operation, pattern in _wordings().items():
        if pattern.search(plain):
            return operation
    return "none"


@lru_cache(maxsize=1)
def _nothings() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What begins a value that says that there is none, or ends it; and what may stand behind that."""
    data = tomllib.loads((files(__package__) / "data" / "cardinality.toml").read_text(encoding="utf-8"))["nothing"]
    words, texts, still = (
        "|".join(re.escape(_plain(one)) for one in sorted(data[name], key=len, reverse=True))
        for name in ("word", "text", "still")
    )
    return re.compile(rf"^(?:{words})(?:(?!\w)|(?<='))|^(?:{texts})|(?:{texts})$"), re.compile(rf"\s(?:{still})$")


@lru_cache(maxsize=16384)
def nothing(value: str, attribute: str) -> bool:
    """Whether a value says that its attribute has none: "none", "no allergies any more" of allergies, "없음"."""
    begins, behind = _nothings()
    text = behind.sub("", _plain(value).strip(" .!"))
    rest, found = begins.subn("", text, count=1)
    rest = rest.strip(" ,:")
    return bool(found) and (not rest or compare(canonical(None, rest), canonical(None, attribute)).same == "same")


def _by_model(model: Operation, count: Cardinality, said: Wording) -> Decision:
    """A decision where the model named an operation."""
    match model, count:
        case (("end" | "correct"), _):
            return Decision(operation=model, rule="model", reason=f"the model says {model}")
        case "add", "single":
            if said == "add":
                return Decision(
                    operation="add", rule="wording", reason="the attribute holds one value, but the wording adds"
                )
            return Decision(
                operation="replace",
                rule="cardinality",
                reason="the attribute holds one value, so the new one supersedes",
            )
        case "replace", "many":
            if said in {"replace", "correct", "end"}:
                return Decision(
                    operation="replace", rule="wording", reason=f"several values may hold; the wording says {said}"
                )
            return Decision(
                operation="add", rule="cardinality", reason="several values may hold, and nothing says that one ended"
            )
        case _:
            return Decision(
                operation=model, rule="model", reason=f"the model says {model}, and nothing speaks against it"
            )


def decide(operation: Operation | None, count: Cardinality, said: Wording) -> Decision:
    """What a new value does to the fact that is there.

    The model's `end` and `correct` are taken: they name the fact. Its `add` and `replace` are checked against the
    cardinality, which only the wording overrules. Without a model (`operation` is None) the wording comes first, then
    the cardinality; when nothing is known a newer value supersedes, because the old one stays in the history and can
    be brought back.
    """
    if operation is not None:
        return _by_model(operation, count, said)
    if said == "add" and count == "single":
        return Decision(operation="replace", rule="cardinality", reason="the attribute holds one value")
    if said != "none":
        return Decision(operation=said, rule="wording", reason=f"the wording says {said}")
    if count == "many":
        return Decision(operation="add", rule="cardinality", reason="several values may hold")
    if count == "single":
        return Decision(operation="replace", rule="cardinality", reason="the attribute holds one value")
    return Decision(
        operation="replace", rule="default", reason="nothing is known of the attribute; the newer value is current"
    )
