"""The check of a merge: everything hard in the sources is in the text, or accounted for as superseded. Pure.

Deterministic, and on the safe side: a merge that is refused here leaves an untidy drawer, one that is let through
wrongly loses what nobody can tell again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from memhold.compact.clauses import left_out, shared, swapped
from memhold.compact.contract import Dropped
from memhold.compact.coverage import Said, misheard, parts, worn
from memhold.consolidate.entry import other_script, untimed
from memhold.text.details import Detail, content_terms, details, holds
from memhold.text.negation import negates

__all__ = ["MAX_LOST", "MAX_MERGED_CHARS", "Accounted", "Source", "account", "unfounded"]

MAX_MERGED_CHARS = 4_000
"""Longest merged text: it fits the windows of small embedders (5,881 characters passed in the field), with room."""
MAX_LOST = 8
"""Details that one lineage may lose whatever it keeps; beyond that at most as many as it keeps."""
LEAST_TOLD = 0.05
"""The share of a part's own words that a roll-up must tell: below it, the part might as well not have been shown."""
FEW = 3
"""Words of its own from which on a part must be told by one of them."""
LEAST_SHARED = 0.3
"""The share of a source's words that must come back, where nothing says that it was superseded."""

_MARKUP: Final = (
    re.compile(r"^\s{0,3}#{1,6}\s", re.MULTILINE),
    re.compile(r"^[^\S\n]*[-*+•]\s", re.MULTILINE),
    re.compile(r"^[^\S\n]*\d+[.)]\s", re.MULTILINE),
    re.compile(r"\*\*|__(?=\w)|(?<!\w)\*(?=\w)"),
    re.compile(r"`"),
    re.compile(r"\]\("),
    re.compile(r"^[^\S\n]*\|", re.MULTILINE),
    re.compile(r"^[^\S\n]*>", re.MULTILINE),
    re.compile(r"</?[a-z][^<>]*>"),
)
_CHANGED = re.compile(
    r"\b(?:switch\w*|chang\w*|mov(?:ed|es|ing)\b|migrat\w*|replac\w*|instead of|no longer|not any ?more|anymore"
    r"|used to|formerly|previously|until|stopped|renam\w*|upgrad\w*|now|nicht mehr|statt|gewechselt|umgezogen|früher"
    r"|jetzt"
    r"|ne \w+ plus|remplac\w*|désormais|au lieu|ya no|ahora|cambi\w*|não mais|agora|mudou|non più|adesso"
    r"|больше не|теперь|вместо|раньше)\b|->|→|⇒|不再|改[为為成用]|换成|換成|现在|現在|以前|もう|ではなく|変更|移行"
    r"|더 ?이상|이제|바꾸|변경|대신",
    re.IGNORECASE,
)
_VALUES: Final = frozenset({"number"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One memory that a merge takes in, as the check sees it.

    `at` is when what it says happened; `labels` are entities that count as names where they stand in the text; `lost`
    is what its lineage has dropped so far; `trust` is the higher the more its words are the user's own.
    """

    text: str
    at: datetime
    labels: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    trust: int = 0

    def outdoes(self, other: Source) -> bool:
        """Whether it is newer than another and may contradict it: a tool does not overrule what the user said."""
        return self.at > other.at and self.trust >= other.trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounted:
    """A merge that stands: what its lineage has lost by now, this time's among it."""

    lost: tuple[str, ...]


def account(sources: Sequence[Source], text: str, dropped: Sequence[Dropped] = ()) -> Accounted | str:
    """Whether a text may take the place of its sources; else the shape of what is wrong, without content.

    Every hard detail of a source stands in the text or is listed as dropped with a newer source that contradicts it;
    none is invented; the text is plain where the sources are, no longer than they are together, and says something of
    each.
    """
    fault = _shape(sources, text)
    if fault is not None:
        return fault
    held = [_details(source) for source in sources]
    lost: dict[str, Detail] = {}
    spent: set[tuple[int, str]] = set()
    for place, found in enumerate(held):
        for detail in found.values():
            if detail.key in lost or holds(text, detail):
                continue
            holders = [at for at, other in enumerate(held) if detail.key in other or holds(sources[at].text, detail)]
            if not _superseded(detail, holders, sources, held, text, dropped, spent):
                return f"a {detail.kind} of s{place + 1} is neither in the text nor superseded"
            lost[detail.key] = detail
    fault = (
        _invented(sources, text)
        or _blended(sources, held, text)
        or _vanished(sources, text, dropped)
        or _clauses(sources, text, dropped)
    )
    if fault is not None:
        return fault
    gone = tuple(dict.fromkeys((*(key for source in sources for key in source.lost), *lost)))
    kept = len({detail.key for detail in details(text)})
    if len(gone) > max(MAX_LOST, kept):
        return f"its lineage would have lost {len(gone)} details"
    return Accounted(lost=gone)


def unfounded(sources: Sequence[Source], text: str, *, known: str = "") -> str | None:
    """What is wrong with a text that tells its sources shorter, beside which they stay; None where it may stand.

    It may leave details out. It invents none (`known` holds what may be said without standing in a source), denies
    nothing that none denies, tells something of each, in their script, and is plain where they are and no longer.
    """
    fault = _shape(sources, text) or _invented((*sources, replace(sources[0], text=known)), text)
    if fault is not None:
        return fault
    within = " ".join(source.text for source in sources)
    if negates(text, within) and not any(negates(source.text, within) for source in sources):
        return "the text says no where no source does"
    terms = [content_terms(untimed(source.text)) for source in sources]
    for place, every in enumerate(terms):
        # What others say too is no sign that this one was told, unless it says little else.
        own = every.difference(*(other for at, other in enumerate(terms) if at != place))
        own = own if len(own) >= FEW else every
        if own and shared(own, text) < max(1, len(own) * LEAST_TOLD):
            return f"nothing of s{place + 1} is in the text"
    if swapped([source.text for source in sources], text):
        return "the text says of one thing what is said of another"
    return other_script(text, [source.text for source in sources])


def _details(source: Source) -> dict[str, Detail]:
    found = {detail.key: detail for detail in details(source.text)}
    for label in source.labels:
        named = Detail(kind="name", text=label)
        if holds(source.text, named):
            found.setdefault(named.key, named)
    return found


def _shape(sources: Sequence[Source], text: str) -> str | None:
    if not text.strip():
        return "the text is empty"
    most = min(MAX_MERGED_CHARS, sum(len(source.text) for source in sources) + len(sources) - 1)
    if len(text) > most:
        return f"the text has {len(text)} characters, over {most}"
    for pattern in _MARKUP:
        if pattern.search(text) and not any(pattern.search(source.text) for source in sources):
            return "the text has markup that no source has"
    return None


def _superseded(
    detail: Detail,
    holders: Sequence[int],
    sources: Sequence[Source],
    held: Sequence[dict[str, Detail]],
    text: str,
    dropped: Sequence[Dropped],
    spent: set[tuple[int, str]],
) -> bool:
    """Whether a detail was dropped for a newer source that says otherwise, and the text says what that one says.

    The newer source is later than all that hold the detail. It may name the old value itself, where it says that it
    changed ("switched from X to Z"). One new value takes the place of one old value of a source: `spent` holds which
    did already, so that a new port does not pay for a lost host.
    """
    for entry in dropped:
        newer = entry.newer - 1
        if not 0 <= newer < len(sources) or not holds(entry.what, detail):
            continue
        older = [place for place in holders if place != newer]
        if not older or not all(sources[newer].outdoes(sources[place]) for place in older):
            continue
        if newer in holders and _CHANGED.search(sources[newer].text) is None:
            continue
        others = [one for one in held[newer].values() if one.key != detail.key and _alike(one, detail)]
        fresh = [one for one in others if not any(one.key in held[place] for place in older)]
        for one in fresh:
            paid = {(place, one.key) for place in older}
            if holds(text, one) and spent.isdisjoint(paid):
                spent |= paid
                return True
        if not fresh and negates(sources[newer].text) and negates(text):
            return True
    return False


def _alike(one: Detail, other: Detail) -> bool:
    """Whether one detail can stand in the place of another: a value for a value, a name for a name."""
    return (one.kind in _VALUES) == (other.kind in _VALUES)


def _invented(sources: Sequence[Source], text: str) -> str | None:
    for detail in details(text):
        if not detail.sure or any(holds(source.text, detail) for source in sources):
            continue
        if detail.kind == "name" and content_terms(detail.text) <= frozenset().union(
            *(content_terms(source.text) for source in sources)
        ):
            continue
        return f"the text has a {detail.kind} that no source has"
    return None


def _blended(sources: Sequence[Source], held: Sequence[dict[str, Detail]], text: str) -> str | None:
    """A newer source says that something changed; the text gives old and new side by side and does not say so."""
    if _CHANGED.search(text):
        return None
    for newer, source in enumerate(sources):
        if not _CHANGED.search(source.text):
            continue
        older = [place for place, other in enumerate(sources) if other.at < source.at]
        both = {key for place in older for key in held[place]} & held[newer].keys()
        fresh = [one for key, one in held[newer].items() if not any(key in held[place] for place in older)]
        for key in both:
            old = held[newer][key]
            named = _names_as_old(source.text, old)
            if named and holds(text, old) and any(_alike(one, old) and holds(text, one) for one in fresh):
                return "an old value stands beside the new one as if both held"
    return None


def _names_as_old(text: str, detail: Detail) -> bool:
    """Whether a text names a detail as what was left: "from X to", "X -> Z", "instead of X", "no longer X"."""
    word = re.escape(detail.text)
    before = r"\bfrom|\bvon|\bde|\binstead of|\bno longer(?: \w+)?|\breplac\w+|\bstatt|\bnot"
    old = rf"(?:{before}) (?:\w+ )?{word}|{word}\s*(?:->|→|⇒|から|에서)"
    return re.search(old, text, re.IGNORECASE) is not None


def _clauses(sources: Sequence[Source], text: str, dropped: Sequence[Dropped]) -> str | None:
    """A clause that is told nowhere and that nothing newer supersedes; one that is denied, or said of another thing."""
    texts = [source.text for source in sources]
    for place, source in enumerate(sources):
        newer = [one.what for one in dropped if sources[one.newer - 1].outdoes(source)]
        if left_out(source.text, text, newer):
            return f"a statement of s{place + 1} is not in the text"
        if worn(source.text, texts, text, newer):
            return f"a word of a statement of s{place + 1} is not in the text"
    within = " ".join(texts)
    said = [
        Said(one, (source.trust, source.at), f"{source.text}\n{within}")
        for source in sources
        for one in parts(source.text)
    ]
    gone = [(one.what, (sources[one.newer - 1].trust, sources[one.newer - 1].at)) for one in dropped]
    fault = misheard(said, text, f"{text}\n{within}", gone)
    if fault is not None:
        return fault
    return "the text says of one thing what is said of another" if swapped(texts, text) else None


def _vanished(sources: Sequence[Source], text: str, dropped: Sequence[Dropped]) -> str | None:
    """A source of which nothing came back, though nothing newer supersedes it; or a "not" that came or went."""
    within = " ".join(source.text for source in sources)
    there = content_terms(text)
    newest = max(source.at for source in sources)
    for place, source in enumerate(sources):
        own = content_terms(source.text)
        least = max(1, len(own) * LEAST_SHARED)
        if not own or len(own & there) >= least or shared(own, text) >= least:
            continue
        if source.at == newest or not any(sources[entry.newer - 1].outdoes(source) for entry in dropped):
            return f"nothing of s{place + 1} is in the text"
    denied = [negates(source.text, within) for source in sources]
    said = negates(text, within)
    if said and not any(denied):
        return "the text says no where no source does"
    if not said and denied[max(range(len(sources)), key=lambda at: sources[at].at)]:
        return "the newest source says no, and the text does not"
    if not said and any(denied) and not dropped:
        return "a source says no, and the text does not"
    return None
