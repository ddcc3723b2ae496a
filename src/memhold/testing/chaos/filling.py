"""Filling any JSON schema of an object from a conversation, by the names of its properties. Deterministic and total."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memhold.testing.chaos.window_reading import Line, Said, facts, lines, same_concept

__all__ = ["Context", "fill", "understand"]

_MAX_DEPTH = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a schema is filled from: the conversation, its facts, and, inside a list, an item's fact or pair."""

    conversation: tuple[Line, ...]
    facts: tuple[Said, ...]
    pairs: tuple[tuple[str, str], ...] = ()
    fact: Said | None = None
    pair: tuple[str, str] | None = None
    number: int = 0
    purpose: str = ""
    root: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ids(self) -> tuple[str, ...]:
        """Every id that the prompt shows, or the ids of the one fact."""
        if self.fact is not None:
            return self.fact.ids
        return tuple(dict.fromkeys(line.id for line in self.conversation if line.id))

    @property
    def summary(self) -> str:
        """The conversation in a paragraph: what was said, each sentence once."""
        if self.fact is not None:
            return self.fact.sentence
        return " ".join(self._spoken)[:2000] or ("" if self.may_decline else "Nothing was said.")

    @property
    def _spoken(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(line.text for line in self.conversation if line.speaker not in {"system", "tool"}))

    @property
    def silent(self) -> bool:
        """Whether nobody said anything: a window, or a part of one, of what tools printed."""
        return not self._spoken

    @property
    def may_decline(self) -> bool:
        """Whether the schema has a place for "nothing to remember"."""
        return any(_meaning(name) == "nothing" for name in self.root.get("properties", {}))

    @property
    def same(self) -> bool:
        """Whether the two things that are compared are the same."""
        pair = self.pair or (self.pairs[0] if self.pairs else None)
        return pair is not None and same_concept(*pair)


def understand(texts: Sequence[tuple[str, str]], *, purpose: str = "") -> Context:
    """Read (role, text) turns: lines, facts and pairs to compare. System turns count only where there are no others."""
    spoken = [(role, text) for role, text in texts if role not in {"system", "developer"}] or list(texts)
    conversation = lines(spoken)
    pairs = tuple(_pairs("\n".join(text for _, text in spoken)))
    return Context(conversation=tuple(conversation), facts=tuple(facts(conversation)), pairs=pairs, purpose=purpose)


_QUOTED = re.compile(r"""["“«`]([^"”»`\n]{1,200})["”»`]""")
_LABELLED = re.compile(
    r"(?im)^[ \t]*+[-*]?[ \t]*+(?:(?:key|name|attribute|text|first|existing|old|left)[ \t]*+)?(?:A|1)\s*+[:=]\s*+"
    r"(?P<a>.+)\n\s*+[-*]?\s*+(?:(?:key|name|attribute|text|second|new|right)\s*+)?(?:B|2)\s*+[:=]\s*+(?P<b>.+)$"
)
_VERSUS = re.compile(
    r"^[ \t]*+[-*]?[ \t]*+(?:[\[(]?\d++[\]).:]*+[ \t]*+)?(?P<a>[^|\n]{1,100}?)[ \t]*+(?:\||<->|<=>|\bvs\.?)[ \t]*+"
    r"(?P<b>[^|\n]{1,100})[ \t]*$",
    re.MULTILINE,
)


def _pairs(text: str) -> list[tuple[str, str]]:
    quoted = [found for line in text.splitlines() if len(found := _QUOTED.findall(line)) == 2]
    if quoted:
        return [(one[0], one[1]) for one in quoted]
    labelled = [(m["a"].strip(), m["b"].strip()) for m in _LABELLED.finditer(text)]
    if labelled:
        return labelled
    versus = [(m["a"], m["b"]) for m in _VERSUS.finditer(text)]
    if versus:
        return versus
    words = [found[0] for line in text.splitlines() if len(found := _QUOTED.findall(line)) == 1]
    return [(words[0], words[1])] if len(words) == 2 else []


# --------------------------------------------------------------------------------------------- filling

_NAMES: tuple[tuple[str, str], ...] = (
    (r"^nothing", "nothing"),
    (r"source|message_?ids?|evidence_?ids?|^ids?$|_ids?$|refs?$|cites?|supported_by", "ids"),
    (r"subject|^who$|person|owner", "subject"),
    (r"attribute|^key$|property|predicate|^name$|relation|slot|^field$", "attribute"),
    (r"value|object|answer", "value"),
    (r"quote|evidence|sentence|excerpt|statement", "sentence"),
    (r"same|equal|duplicate|equivalent|match|verdict|decision|merge", "same"),
    (r"topic|tag|entit|keyword|categor", "labels"),
    (r"history|summary|entry|text|content|merged|memory|note|body|result|description", "summary"),
    (r"importance|priority|salience", "importance"),
    (r"confidence|probability|score|certainty", "confidence"),
    (r"operation|action|^op$|kind|type|change", "operation"),
    (r"reason|why|rationale|explanation|because", "reason"),
    (r"index|number|^n$|^i$|pair", "number"),
)
_COMPILED = tuple((re.compile(pattern, re.IGNORECASE), meaning) for pattern, meaning in _NAMES)


def fill(schema: Mapping[str, Any], context: Context) -> Any:
    """A value for the schema, as right as the names of its properties allow, and valid for its types in any case."""
    return _value(schema, "", replace(context, root=context.root or schema), _MAX_DEPTH)


def _meaning(name: str) -> str:
    for pattern, meaning in _COMPILED:
        if pattern.search(name):
            return meaning
    return ""


def _value(schema: Any, name: str, context: Context, depth: int) -> Any:
    schema = _resolved(schema, context)
    if "const" in schema:
        return schema["const"]
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return _choice(schema["enum"], name, context)
    kinds = schema.get("type", "object" if "properties" in schema else "array" if "items" in schema else "string")
    options = kinds if isinstance(kinds, list) else [kinds]
    kind = next((one for one in options if one != "null"), "null")
    match kind:
        case "object":
            return _object(schema, name, context, depth)
        case "array":
            return _array(schema, name, context, depth)
        case "boolean":
            return context.same if _meaning(name) == "same" else False
        case "integer" | "number":
            return _number(schema, name, context, whole=kind == "integer")
        case "null":
            return None
        case _:
            return _string(schema, name, context, nullable="null" in options)


def _resolved(schema: Any, context: Context) -> Mapping[str, Any]:
    for _ in range(_MAX_DEPTH):
        if not isinstance(schema, Mapping):
            return {}
        if isinstance(schema.get("$ref"), str):
            target: Any = context.root
            for step in schema["$ref"].lstrip("#/").split("/"):
                target = target.get(step, {}) if isinstance(target, Mapping) else {}
            schema = target
            continue
        branches = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
        if not isinstance(branches, list) or not branches:
            return schema
        schema = next((b for b in branches if isinstance(b, Mapping) and b.get("type") != "null"), branches[0])
    return {}


def _object(schema: Mapping[str, Any], name: str, context: Context, depth: int) -> Any:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or depth == 0:
        if _meaning(name) in {"", "value"} and context.facts:
            return {said.attribute: said.value for said in context.facts}
        return {}
    return {key: _value(inner, key, context, depth - 1) for key, inner in properties.items()}


def _array(schema: Mapping[str, Any], name: str, context: Context, depth: int) -> list[Any]:
    items = _resolved(schema.get("items", {}), context)
    if depth == 0:
        return []
    if items.get("type") == "object" or "properties" in items:
        values = _objects(items, name, context, depth)
    elif _meaning(name) == "ids":
        values = [_as_type(one, items) for one in context.ids]
    elif _meaning(name) == "labels":
        values = _labels(context)
    elif context.fact is None and re.search(r"note", name, re.IGNORECASE):
        values = []
    else:
        values = [said.sentence for said in context.facts] if items.get("type", "string") == "string" else []
    while len(values) < int(schema.get("minItems", 0)):
        values.append(_value(items, name, context, depth - 1))
    return values[: int(schema.get("maxItems", len(values)))]


def _objects(items: Mapping[str, Any], name: str, context: Context, depth: int) -> list[Any]:
    names = set(items.get("properties", {}))
    if context.pairs and any(_meaning(one) == "same" for one in names):
        return [
            _value(items, name, replace(context, pair=pair, number=number), depth - 1)
            for number, pair in enumerate(context.pairs, 1)
        ]
    if {"relation", "ids"} <= names:
        # A partition: all that is shown in one group.
        return [_value(items, name, context, depth - 1)]
    if re.search(r"note", name, re.IGNORECASE):
        return []  # what is said stands in the facts
    if any(_meaning(one) in {"value", "attribute", "sentence"} for one in names) or re.search(
        "fact|memor|operation", name
    ):
        return [
            _value(items, name, replace(context, fact=said, number=number), depth - 1)
            for number, said in enumerate(context.facts, 1)
        ]
    return []


def _as_type(identity: str, items: Mapping[str, Any]) -> Any:
    if items.get("type") in {"integer", "number"}:
        digits = re.sub(r"\D", "", identity)
        return int(digits) if digits else 0
    return identity


def _labels(context: Context) -> list[Any]:
    said = [context.fact] if context.fact else list(context.facts)
    return list(dict.fromkeys(one.attribute for one in said))[:5]


def _choice(options: list[Any], name: str, context: Context) -> Any:
    by_name = {str(option).lower().replace("-", "_"): option for option in options}
    fact = context.fact
    wanted: list[str] = []
    meaning = _meaning(name)
    pair = context.pair or (context.pairs[0] if context.pairs else None)
    if {"same", "different"} <= by_name.keys() or (meaning == "same" and pair is not None):
        wanted = ["same", "yes", "true", "merge"] if context.same else ["different", "no", "false", "no_merge", "keep"]
    elif meaning == "same":
        wanted = ["merge", "merged", "yes"]
    elif meaning == "importance":
        wanted = ["mid", "medium", "normal"]
    elif fact is not None and fact.corrects:
        wanted = ["correct", "correction", "retract", "update", "supersede"]
    wanted += ["add", "set", "fact", "user"]
    for one in wanted:
        if one in by_name:
            return by_name[one]
    return None if None in options else options[0]


def _number(schema: Mapping[str, Any], name: str, context: Context, *, whole: bool) -> float:
    value: float = 0
    if _meaning(name) == "confidence":
        value = 0.9
    elif _meaning(name) == "number":
        value = context.number
    elif _meaning(name) == "ids" and context.ids:
        value = _as_type(context.ids[0], {"type": "integer"})
    low, high = schema.get("minimum"), schema.get("maximum")
    value = max(value, low) if isinstance(low, int | float) else value
    value = min(value, high) if isinstance(high, int | float) else value
    return int(value) if whole else float(value)


def _string(schema: Mapping[str, Any], name: str, context: Context, *, nullable: bool) -> str | None:
    fact = context.fact
    single = fact or (context.facts[0] if context.facts else None)
    match _meaning(name):
        case "nothing":
            text = "nothing was said" if context.silent else ""
        case "ids":
            text = context.ids[0] if context.ids else ""
        case "subject":
            text = single.subject if single else "user"
        case "attribute":
            text = single.attribute if single else ""
        case "value":
            text = single.value if single else ""
        case "sentence":
            text = single.sentence if single else context.summary
        case "reason":
            text = "said in the conversation"
        case "same":
            text = context.summary if "merged" in name else "same" if context.same else "different"
        case "operation":
            text = "correct" if fact and fact.corrects else "add"
        case "importance":
            text = "mid"
        case "labels":
            text = single.attribute if single else ""
        case "summary":
            text = context.summary
        case _:
            text = "" if nullable or schema.get("format") else context.summary
    if not text and nullable:
        return None
    limit = schema.get("maxLength")
    return text[:limit] if isinstance(limit, int) else text
