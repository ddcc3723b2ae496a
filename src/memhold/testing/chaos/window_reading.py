"""What the chaos model understands of a conversation: lines with ids, and facts by two dozen patterns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Line", "Said", "facts", "lines", "same_concept"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the conversation: its id as the prompt shows it ("" none), who speaks ("" unknown), what is said."""

    id: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One fact that was said, the sentence that said it, and the ids of the lines it comes from."""

    subject: str
    attribute: str
    value: str
    sentence: str
    ids: tuple[str, ...]
    corrects: bool = False


_ID = (
    r"(?:msg|mem|m|id)[_-][0-9A-Za-z_-]+",
    r"[mMs#]?\d+",
    r"[a-z]{1,4}\d+:\d+",
)
_TAGGED = re.compile(r"""\bid\s*[=:]\s*["']?(?P<id>[\w:.-]+)["']?""")
_REST = r"(?P<rest>(?:[^\])>:.]|(?<=\d):(?=\d\d))*)"
_BRACKETED = re.compile(rf"""^\s*+[-*>]*+\s*+[\[(<#]*+\s*+(?P<id>{"|".join(_ID)})\b{_REST}[\])>:.]*\s*""")
_ROLES = "user|assistant|human|ai|agent|system|tool"
_SPEAKER = re.compile(rf"^\s*+[\[(<*]*+\s*+(?P<who>{_ROLES}|[A-Z][\w.-]{{0,30}})\s*+[\])>*]*+\s*+:\s*+(?=\S)")
_ROLE_WORD = re.compile(rf"\b(?P<who>{_ROLES})\b", re.IGNORECASE)
_STAMP = re.compile(r"^\(\d{4}-\d\d-\d\d[^)]{0,40}\)\s*")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")


def lines(texts: Sequence[tuple[str, str]]) -> list[Line]:
    """The conversation in these (role, text) turns: the lines that carry ids where any do, else each turn as it is.

    Where a prompt shows ids, text without one is instruction unless it follows a line that has one.
    """
    numbered = [line for _, text in texts for line in _numbered(text)]
    if numbered:
        return numbered
    plain: list[Line] = []
    for role, text in texts:
        for raw in text.splitlines():
            spoken = _SPEAKER.match(raw)
            who = spoken["who"].lower() if spoken else role
            said = raw[spoken.end() :] if spoken else raw
            if said.strip():
                plain.append(Line(id="", speaker=who, text=said.strip()))
    return plain


def _numbered(text: str) -> list[Line]:
    found: list[Line] = []
    for raw in text.splitlines():
        line = _one_numbered(raw)
        if line is not None:
            found.append(line)
        elif not raw.strip() or raw.lstrip().startswith(("</", "#", "```")):
            continue
        elif found and raw[:1].isspace():
            last = found[-1]
            found[-1] = Line(id=last.id, speaker=last.speaker, text=f"{last.text} {raw.strip()}".strip())
        elif found and not found[-1].text:
            found[-1] = Line(id=found[-1].id, speaker=found[-1].speaker, text=raw.strip())
    return [line for line in found if line.text]


def _one_numbered(raw: str) -> Line | None:
    if raw.lstrip().startswith("{"):
        return None
    tag = _TAG.match(raw.lstrip())
    inside = _TAGGED.search(tag.group()) if tag else None
    if tag and inside:
        who = _ROLE_WORD.search(tag.group())
        return Line(id=inside["id"], speaker=who["who"].lower() if who else "", text=_TAG.sub("", raw).strip())
    head = _BRACKETED.match(raw)
    if head is None:
        return None
    rest = raw[head.end() :]
    who = _ROLE_WORD.search(head["rest"])
    speaker = who["who"].lower() if who else ""
    spoken = None if speaker else _SPEAKER.match(rest)
    if spoken:
        speaker, rest = spoken["who"].lower(), rest[spoken.end() :]
    return Line(id=head["id"], speaker=speaker, text=_STAMP.sub("", rest.strip()))


# --------------------------------------------------------------------------------------------- facts

_END = r"(?=\s*(?:[.!?;\n。]|,? (?:but|and|so|because|now|these days|anymore|since)\b|,|$))"
_V = rf"(?P<value>[^.!?;,\n。]{{1,200}}?){_END}"
_PATTERNS: tuple[tuple[str, str], ...] = (
    (rf"\bmy (?P<attr>[\w' -]{{2,40}}?)(?:'s name)? (?:is|are|was|will be) (?:now |actually |really )?{_V}", ""),
    (rf"\bmy (?P<attr>\w[\w ]{{1,30}}) (?:is|was) (?:called|named) {_V}", ""),
    (rf"\b(?:i|we) (?:just |recently )?(?:have )?(?:moved|relocated) to {_V}", "home"),
    (rf"\bi (?:now |currently )?live in {_V}", "home"),
    (rf"\bi(?:'m| am) (?:originally )?from {_V}", "origin"),
    (rf"\b(?:i|we) (?:now |currently )?work (?:for|at) {_V}", "employer"),
    (rf"\bi (?:just |recently )?(?:joined|started at) {_V}", "employer"),
    (rf"\bi (?:now |currently )?work as (?:an? )?{_V}", "job"),
    (
        rf"\bi(?:'m| am) (?:now )?(?:an? )(?P<value>[\w -]{{0,60}}?(?:er|or|ist|ian|nurse|chef|pilot|student)){_END}",
        "job",
    ),
    (rf"\bi(?:'m| am) allergic to {_V}", "allergy"),
    (rf"\bi (?:have )?(?:quit|stopped|gave up|given up) {_V}", "quit"),
    (rf"\bi (?:no longer|don't|do not) (?P<attr>eat|drink|like|use|want) {_V}", "not"),
    (rf"\bi (?:really |now )?(?:prefer|like|love|enjoy) {_V}", "likes"),
    (rf"\bi (?:really )?(?:hate|dislike) {_V}", "dislikes"),
    (rf"\b(?:i|we) (?:now )?(?:use|switched to|switched from .{{1,60}}? to) {_V}", "uses"),
    (rf"\bi (?:have|got|adopted) an? (?P<attr>\w+) (?:named|called) {_V}", ""),
    (rf"\bcall me {_V}", "name"),
    (r"\bi(?:'m| am) (?P<value>\d{1,3}) years old", "age"),
    (rf"\bi was born (?:in|on) {_V}", "birthday"),
    (
        (r"(?:제|내|나의|저의)\s*(?P<attr>[가-힣 ]{1,15}?)(?:은|는|이|가)\s*"
        r"(?P<value>[^.!?,\n]{1,200}?)(?:이에요|예요|입니다|이야|야|다)(?=[.!?\s]|$)"),
        "",
    ),
    (r"(?<![가-힣A-Za-z])(?P<value>[가-힣A-Za-z]{1,40}?)(?:으로|로) 이사(?:했|갔|왔)", "home"),
    (r"(?<![가-힣A-Za-z])(?P<value>[가-힣A-Za-z]{1,40})에 (?:살아|살고|삽니다)", "home"),
    (r"(?<![가-힣A-Za-z])(?P<value>[가-힣A-Za-z]{1,40})에서 일(?:해|하고|합니다)", "employer"),
    (r"(?<![가-힣A-Za-z])(?P<value>[가-힣A-Za-z]{1,40})(?:을|를) (?:끊었|그만)", "quit"),
    (r"(?<![가-힣A-Za-z ])(?P<value>[가-힣A-Za-z ]{1,60}?)(?:을|를) (?:좋아해|좋아합니다|좋아하)", "likes"),
    (r"(?<![가-힣A-Za-z ])(?P<value>[가-힣A-Za-z ]{1,60}?)(?:을|를) (?:싫어해|싫어합니다|싫어하)", "dislikes"),
)  # fmt: skip
_COMPILED = tuple((re.compile(pattern, re.IGNORECASE), attribute) for pattern, attribute in _PATTERNS)
_CORRECTION = re.compile(
    r"\b(?:actually|correction|no,|i meant|not anymore|instead|changed my mind)\b|사실|아니라|정정", re.IGNORECASE
)
_SENTENCE = re.compile(r"[^.!?\n。]+[.!?。]?")
_NOT_A_FACT = re.compile(r"^(?:not|just|so|too|very|that|it|this|how|what|why|ok|fine|sure)\b", re.IGNORECASE)
_ASSISTANTS = frozenset({"assistant", "ai", "agent", "system", "tool", "developer"})


def facts(conversation: Sequence[Line]) -> list[Said]:
    """The facts that people (not assistants) say, in order; the same fact once, with every line that says it."""
    found: dict[tuple[str, str], Said] = {}
    for line in conversation:
        if line.speaker in _ASSISTANTS:
            continue
        subject = line.speaker if line.speaker not in {"", "user", "human"} else "user"
        for sentence in _SENTENCE.findall(line.text):
            for said in _of_sentence(sentence.strip(), subject, line.id):
                key = (said.attribute, said.value.casefold())
                ids = found[key].ids if key in found else ()
                merged = (*ids, *(one for one in said.ids if one not in ids))
                found[key] = Said(
                    subject=said.subject, attribute=said.attribute, value=said.value,
                    sentence=said.sentence, ids=merged, corrects=said.corrects,
                )  # fmt: skip
    return list(found.values())


def _of_sentence(sentence: str, subject: str, identity: str) -> list[Said]:
    found: list[Said] = []
    taken: list[tuple[int, int]] = []
    if sentence.endswith("?"):
        return found
    for pattern, name in _COMPILED:
        for match in pattern.finditer(sentence):
            span = match.span("value")
            value = match["value"].strip(" \"'*")
            if not value or _NOT_A_FACT.match(value) or any(a < span[1] and span[0] < b for a, b in taken):
                continue
            groups = match.groupdict()
            attribute = (groups.get("attr") or "").strip().lower()
            attribute = f"{name} {attribute}".strip() if name else attribute
            if name == "" and "named" in pattern.pattern:
                attribute = f"{attribute}'s name"
            taken.append(span)
            found.append(
                Said(
                    subject=subject,
                    attribute=attribute,
                    value=value,
                    sentence=sentence,
                    ids=(identity,) if identity else (),
                    corrects=bool(_CORRECTION.search(sentence)),
                )
            )
    return found


# --------------------------------------------------------------------------------------------- same or different

_WEAK = frozenset((
    "a", "an", "the", "my", "your", "his", "her", "their", "user", "user's", "users", "most", "really",
    "very", "own", "current", "of", "is", "are", "'s", "all-time", "가장", "제일", "나의", "내", "제", "저의",
    "사용자의",
))  # fmt: skip
_ENDING = re.compile(r"(?:'s|s)$")


def same_concept(left: str, right: str) -> bool:
    """Whether two names mean the same by their words: intensifiers, possessives and plurals aside, the same set."""
    return _words(left) == _words(right)


def _words(text: str) -> frozenset[str]:
    words = re.findall(r"[\w'-]+", text.casefold().replace("_", " "))
    kept = [_ENDING.sub("", word) if len(word) > 3 else word for word in words if word not in _WEAK]
    return frozenset({"favourite": "favorite", "colour": "color"}.get(word, word) for word in kept)
