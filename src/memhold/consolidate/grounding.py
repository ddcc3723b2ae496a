"""What of a model's reply the lines of the window say: said, only inferred, or nothing that stands there. Pure.

Words alone cannot tell a fair paraphrase from an invention, so hard details decide: numbers and units, names, dates,
polarity, and about whom it is. What has one that no line has is left out. The rest is `said` where its content words
stand in lines, else `inferred`, which needs a line of the user's that it cites. What was shown beside the lines (known
facts, recalled text) is no source. See docs/decisions/0035-grounding.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Final

from memhold.consolidate.contract import Draft, Learned, LeftOut, Noted, Standing
from memhold.consolidate.entry import scripts
from memhold.consolidate.told_of import CLAUSE, SENTENCE, Told, names_in, own_names_in, told_of
from memhold.facts.keys import canonical, compare, nothing, wording
from memhold.facts.keys.key_reading import read
from memhold.facts.quotes import MAX_SENTENCE
from memhold.ports.models import Rejected
from memhold.text.analysis import analyse, language_of
from memhold.text.contrasts import swapped
from memhold.text.details import Detail, content_terms, details, holds
from memhold.text.function_words import EVIDENCE, FUNCTION_WORDS
from memhold.text.kin import kin_in, names_of_kin, other_kin, strangers
from memhold.text.korean import nominalised_in
from memhold.text.negation import negates
from memhold.text.normal_form import normal_form
from memhold.text.quantities import Quantity, quantities
from memhold.text.times import calendar_names, calendar_words
from memhold.text.when import Days, days_of, named_days
from memhold.values.records import Memory

# ruff: noqa: RUF001 - signs of every script end clauses and sentences

__all__ = ["Claim", "Finding", "Line", "find", "ground", "poor"]

SAID: Final = 0.7
"""The share of a statement's content words that stand in its lines from which on it is said."""
SAID_VALUE: Final = 0.8
"""The same of a fact's value, which keeps the words in which it was said."""
SAID_GRAMS: Final = 0.5
"""The same in scripts without spaces, where a particle changes two grams of three."""
MOST_CITED: Final = 12
"""Most lines that are cited anew for one statement."""
_ROLES: Final = frozenset({"user", "assistant", "tool", "system", "ユーザー", "사용자", "用户", "用戶"})
_AGAINST = re.compile(
    r"(?i)\b(?:dislike|hate|avoid|allerg|intoleran|unverträg|refus|against|stop|quit|former|ex-|no longer|least|"
    r"end|gave up|fear|"
    r"cancel|reject|declin|abneig|hass|vermeid|ohne|gegen|déteste|évite|refus|odia|evita|rechaz|contra)"
    r"|싫|못|알레르기|거부|嫌|苦手|アレルギー|讨厌|過敏|过敏|避"
)
"""Words that say no without a word of denial: what they are said of may stand in a clause that denies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the window as the model saw it. `own`: the user speaks; `speaker`: their name, if given."""

    place: int
    text: str
    at: datetime
    own: bool = True
    speaker: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What is checked: `core` must stand in the lines, `about` is whom it is of (empty: the user), `frame` names it.

    `known`: it changes a fact that was known, whose attribute a line need not name again ("pizza now"). `before` are
    the words of the values that are known under its attribute.
    """

    core: str
    frame: str = ""
    about: str = ""
    value: bool = False
    cited: tuple[int, ...] = ()
    language: str = "english"
    known: bool = False
    before: frozenset[str] = frozenset()

    @property
    def told(self) -> str:
        """What it says, without what a model calls the user."""
        return self.core if self.value else _ROLE.sub("", self.core)

    @property
    def whole(self) -> str:
        """All that it says."""
        return " ".join(part for part in (self.about, self.frame, self.core) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """How a claim stands: None where it is left out, for `reason`; else on which lines."""

    standing: Standing | None
    places: tuple[int, ...] = ()
    reason: str = ""


def ground(draft: Draft, lines: Sequence[Line], known: Sequence[Memory] = ()) -> Draft | Rejected:
    """The draft with only what the lines say, each on the lines that say it.

    What was left out stands in `left_out`. Of an entry, sentences are left out; where none is left and facts or notes
    are, it becomes quotations of the user's first and last line. Rejected where nothing is left, or where more was left
    out than kept. The `known` facts that were shown are no source: by them the value that a fact takes the place of is
    known again where a line speaks of it ("yoga was a phase, now it's boxing"), and taken for nobody.
    """
    if draft.nothing is not None:
        return draft
    left: list[LeftOut] = []
    facts = _kept_facts(_aimed(draft.facts), lines, left, known)
    notes = _kept_notes(draft.notes, lines, left)
    kept, total = _kept_sentences(draft.entry, lines, left)
    entry = _entry(draft.entry, kept, total)
    if not facts and not notes and not kept:
        return Rejected(reason="nothing of it stands in a line of the window")
    if not entry:
        entry = _quoted_entry(lines)
    return replace(draft, entry=entry, facts=facts, notes=notes, left_out=(*draft.left_out, *left))


def poor(draft: Draft) -> bool:
    """Whether more than half of a reply was left out: another model may do better."""
    kept = len(draft.facts) + len(draft.notes) + (len(_sentences(draft.entry)) if draft.nothing is None else 1)
    return len(draft.left_out) > kept


# ------------------------------------------------------------------------------------------------ items


def _kept_facts(
    facts: Iterable[Learned], lines: Sequence[Line], left: list[LeftOut], known: Sequence[Memory]
) -> tuple[Learned, ...]:
    found: list[tuple[Learned, Finding]] = []
    dropped: list[Learned] = []
    for fact in facts:
        about = "" if fact.subject == "user" else fact.subject
        before = _before(fact, known)
        claim = Claim(
            core=fact.value,
            frame=fact.attribute,
            about=about,
            value=True,
            cited=fact.sources,
            known=fact.target is not None or (bool(before) and _changes(fact, lines)),
            before=before,
        )
        finding = _ended(fact, lines) if fact.operation == "remove" else find(claim, lines)
        if finding.standing is None:
            left.append(LeftOut(kind="fact", reason=finding.reason, text=_shown(fact)))
            dropped.append(fact)
            continue
        holds_from = fact.holds_from if _dated(fact.holds_from, finding.places, lines) else None
        target = fact.target
        changed = replace(fact, sources=finding.places, standing=finding.standing, holds_from=holds_from, target=target)
        found.append((changed, finding))
    return tuple(fact for fact, _ in _told_apart(found, dropped, lines, left))


def _changes(fact: Learned, lines: Sequence[Line]) -> bool:
    """Whether a line of the user's that a fact cites speaks of a change or a correction."""
    cited = [line.text for line in lines if line.own and line.place in fact.sources]
    return any(wording(text[:MAX_SENTENCE]) in {"replace", "correct", "end"} for text in cited)


def _before(fact: Learned, known: Sequence[Memory]) -> frozenset[str]:
    """The words of the values that are known under the attribute of a fact."""
    key = canonical(fact.subject, fact.attribute)
    same = [one for one in known if compare(key, canonical(one.subject, one.attribute or "")).same == "same"]
    return frozenset(word for one in same for word in (one.value or "").casefold().split())


def _aimed(facts: Sequence[Learned]) -> tuple[Learned, ...]:
    """Facts without a target that several of them name for different attributes: that one was named by default."""
    named: dict[int, set[str]] = {}
    for fact in facts:
        if fact.target is not None:
            named.setdefault(fact.target, set()).add(fact.attribute.casefold())
    return tuple(replace(one, target=None) if len(named.get(one.target or 0, ())) > 1 else one for one in facts)


def _ended(fact: Learned, lines: Sequence[Line]) -> Finding:
    """A value that ends need not be named ("I quit"): a line of the user's that is cited is enough to look at it."""
    own = tuple(line.place for line in lines if line.own and line.place in fact.sources)
    return Finding(standing="said", places=fact.sources) if own else Finding(standing=None, reason="no line says it")


def _kept_notes(notes: Iterable[Noted], lines: Sequence[Line], left: list[LeftOut]) -> tuple[Noted, ...]:
    found: list[Noted] = []
    for note in notes:
        finding = find(Claim(core=note.text, cited=note.sources), lines)
        if finding.standing is None:
            left.append(LeftOut(kind="note", reason=finding.reason, text=note.text))
        else:
            found.append(replace(note, sources=finding.places, standing=finding.standing))
    return tuple(found)


def _told_apart(
    found: Sequence[tuple[Learned, Finding]],
    dropped: Sequence[Learned],
    lines: Sequence[Line],
    left: list[LeftOut],
) -> Iterator[tuple[Learned, Finding]]:
    """Without inferences that share no word with a line that several of them cite: such a line is cited by default."""
    by_place = {line.place: line for line in lines}
    language = language_of(" ".join(line.text[:500] for line in lines))
    bare = [
        (fact, finding)
        for fact, finding in found
        if finding.standing == "inferred"
        and not any(_share(f"{fact.attribute} {fact.value}", [by_place[place]], language) for place in finding.places)
    ]
    often = Counter(place for _, finding in bare for place in finding.places)
    often.update(
        place
        for fact in dropped
        for place in fact.sources
        if place in by_place and not _share(f"{fact.attribute} {fact.value}", [by_place[place]], language)
    )
    for fact, finding in found:
        if (fact, finding) in bare and any(often[place] > 1 for place in finding.places):
            left.append(LeftOut(kind="fact", reason="no line says it", text=_shown(fact)))
        else:
            yield fact, finding


def _kept_sentences(entry: str, lines: Sequence[Line], left: list[LeftOut]) -> tuple[list[str], int]:
    given = _sentences(entry)
    every = tuple(line.place for line in lines)
    # A model that is stuck says one sentence many times: each is looked for once.
    found = {one: find(Claim(core=_STAMP.sub("", one), cited=every), lines) for one in dict.fromkeys(given)}
    kept: list[str] = []
    for sentence in given:
        finding = found[sentence]
        if finding.standing is None:
            left.append(LeftOut(kind="sentence", reason=finding.reason, text=sentence))
        else:
            kept.append(sentence)
    return kept, len(given)


_HEAD = re.compile(r"\A\s*(?:\[[^\]]{1,40}\]\s*)+")


_STAMP = re.compile(r"\A\W*\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?\W*")
"""The time of a line in front of a sentence: the form in which lines are shown, and nobody's claim."""


def _sentences(entry: str) -> list[str]:
    """The sentences of an entry, without the time of its window in front."""
    return [one.strip() for one in SENTENCE.split(_HEAD.sub("", entry)) if any(char.isalnum() for char in one)]


def _entry(entry: str, kept: Sequence[str], total: int) -> str:
    """The entry as it was given where all of it stands; else the sentences that do."""
    return entry if len(kept) == total else " ".join(kept)


QUOTED: Final = 160


def _quoted_entry(lines: Sequence[Line]) -> str:
    """What the user said first and last, in quotation marks: nobody's words but their own."""
    own = [line for line in lines if line.own and line.text.strip()] or [line for line in lines if line.text.strip()]
    texts = [" ".join(line.text.split())[:QUOTED] for line in (own[:1] if len(own) < 2 else (own[0], own[-1]))]
    return " … ".join(f"“{text}”" for text in texts)


def _shown(fact: Learned) -> str:
    return f"{fact.subject} | {fact.attribute} = {fact.value}"


def _dated(moment: datetime | None, places: Sequence[int], lines: Sequence[Line]) -> bool:
    """Whether a line speaks of the day from which a fact is to hold, or of days to come up to it."""
    if moment is None:
        return True
    days = [(line.at, one) for line in lines if line.place in places for one in days_of(line.text, line.at)]
    return any(start <= moment < end or (start > said and said < moment < end) for said, (start, end) in days)


# ------------------------------------------------------------------------------------------------ one claim


def find(claim: Claim, lines: Sequence[Line]) -> Finding:
    """Whether lines say a claim: those it cites, else others of the window, which are then what it stands on."""
    claim = replace(claim, language=language_of(" ".join(line.text[:500] for line in lines)))
    cited = [line for line in lines if line.place in claim.cited]
    if claim.value and nothing(claim.core, claim.frame):
        denied = [line for line in cited if _denies(claim, line)] or [line for line in lines if _denies(claim, line)]
        if denied:
            return _found(denied, "said")
        if not any(_literally(claim.core, line.text) for line in lines):
            return Finding(standing=None, reason="no line says that there is none")
    if (quoted := _quoted(claim, [*cited, *lines])) is not None:
        return _found([quoted], "said")
    if _refused_offer(claim, lines):
        return Finding(standing=None, reason="the user said no to it")
    if claim.value and _of_another_complement(claim, lines):
        return Finding(standing=None, reason="its line says another")
    if _complement_of_nobody(claim, lines):
        return Finding(standing=None, reason="no line says it")
    if claim.value and _points(claim) and all(claim.core != line.text for line in lines):
        return Finding(standing=None, reason="it only points at something")
    chosen = _on(claim, cited)
    if _said(claim, chosen):
        reason = _missing(claim, chosen, lines)
        if reason is None:
            return _found([*chosen, *_confirming(chosen, cited)], _standing(claim, chosen))
    others = _on(claim, lines)
    if _said(claim, others) and not _number_of_another_line(claim, cited, others):
        reason = _missing(claim, others, lines)
        if reason is None:
            return _found(others, _standing(claim, others))
        if reason == _OF_ANOTHER and claim.value and not _any_word(claim, cited):
            return Finding(standing=None, reason=reason)
        if reason == _OF_ANOTHER and _told_about(claim, _own_names(lines), lines)[0]:
            # No conclusion of a third person either, where a line says of whom it is.
            return Finding(standing=None, reason=reason)
    own = [line for line in cited if line.own]
    reason = _missing(claim, cited, lines) or (None if own else "no line says it")
    if reason is not None:
        return Finding(standing=None, reason=reason)
    if claim.value and not claim.known and _names_a_thing(claim.frame) and not _any_word(claim, lines):
        return Finding(standing=None, reason="a name that no line has")
    if claim.value and not claim.known and _says_another(claim, own, lines):
        return Finding(standing=None, reason="its line says another")
    if claim.value and _translated(claim, cited):
        return Finding(standing=None, reason="in another script than it was said in")
    return Finding(standing="inferred", places=tuple(line.place for line in cited[:MOST_CITED]))


_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")


def _quoted(claim: Claim, lines: Sequence[Line]) -> Line | None:
    """The user's line of which a sentence is a whole sentence, or several in a row, word for word."""
    if claim.value or claim.about:
        return None
    wanted = [_plain(one) for one in _SENTENCE.split(claim.core) if _plain(one)]
    for line in lines:
        held = [_plain(one) for one in _SENTENCE.split(line.text) if _plain(one)] if line.own else []
        if wanted and any(held[at : at + len(wanted)] == wanted for at in range(len(held))):
            return line
    return None


def _plain(sentence: str) -> str:
    return " ".join(normal_form("NFKC", sentence).casefold().split()).strip(" .!?…。！？")


_A_NO = re.compile(
    r"(?i)\W*(?:no|nope|nah|not really|nein|nö|non|não|nee|нет)\b(?!\s+(?:problem|worries|doubt))"
    r"|\W*(?:아니[요오,.]|아뇨|いいえ|いや|不是|没有|不[,，。])"
)


def _refused_offer(claim: Claim, lines: Sequence[Line]) -> bool:
    """Whether a value stands only in what somebody else said, and the user's next line refuses or passes it by."""
    if not claim.value:
        return _refused_question(claim, lines)
    if not _terms(claim.core, claim.language):
        return False
    holding = [line for line in lines if _literally(claim.core, line.text)]
    if not holding or any(line.own for line in holding):
        return False
    answers = [(line, next((one for one in lines if one.place > line.place and one.own), None)) for line in holding]
    return all(
        one is not None and (_A_NO.match(one.text) or (_OFFER.search(line.text) and not _A_YES.match(one.text)))
        for line, one in answers
    )


def _refused_question(claim: Claim, lines: Sequence[Line]) -> bool:
    """Whether a sentence has a word that only somebody's question has, to which the user said no."""
    if negates(claim.core) or _ROLE.match(claim.core) is None:
        return False
    own = frozenset(term for line in lines if line.own for term in _terms(line.text, claim.language))
    for line, answer in pairwise(lines):
        if not line.own and answer.own and line.text.rstrip().endswith(("?", "？")) and _A_NO.match(answer.text):
            asked = _terms(line.text, claim.language) - own
            if any(len(term) > 3 for term in asked & _terms(claim.told, claim.language)):
                return True
    return False


_OFFER = re.compile(
    r"(?i)\b(?:could|might|maybe|perhaps|why not|have you (?:considered|tried|thought)|how about|what about"
    r"|would you like"
    r"|you should|consider|vielleicht|könntest|möchtest|wie wäre|pourriez|peut-être|pourquoi pas|podrías"
    r"|quizás?|tal vez"
    r"|potresti|forse|talvez|poderia)\b|어떠세요|어때요|해 보세요|はどう|いかが|试试|要不要"
)
"""What somebody else proposes: it is the user's only where they take it up."""
_A_YES = re.compile(
    r"(?i)\W*(?:yes|yeah|yep|ok(?:ay)?|sure|right|exactly|good idea|sounds? good|please|fine|deal|i (?:will|do"
    r"|have|did)|i['’]ll"
    r"|done|absolutely|great|perfect|ja|gern\w*|genau|gut|stimmt|oui|d['’]accord|bonne idée|volontiers|sí|claro"
    r"|vale|buena idea"
    r"|sì|certo|va bene|sim|boa ideia|네|예|좋아요|はい|ええ|いいですね|好的?|是的?|可以)\b"
)


_COMPLEMENT = re.compile(
    r"(?i)\b(?:allerg\w+|intoleran\w+|unverträglich\w*|alérgic\w+)\s+(?:to|of|gegen|auf|aux?|à|a(?:l(?:la?|le)?"
    r"|i|gli)?|voor|för)\s+"
    r"(?!(?:it|them|that|this|sie|es|das|ça|lo|la|eso|esto)\b)"
    r"(?P<what>(?:[^.,;!?]|,(?!\s*(?:\w{1,4}\s+)?(?:i|he|she|we|they|it|my|ich|er|sie|wir|mein\w*|je|j|il|elle|nous|yo"
    r"|mi|io|mio|eu|meu|which|who|die|der|qui|que|che)\b)){2,120})"
    r"|(?P<wide>[가-힣\u3040-\u30ff\u3400-\u9fff]{1,12})\s?(?:에\s)?(?:の)?(?:알레르기|알러지|アレルギー|过敏"
    r"|過敏)(?P<rest>.{0,8})"
)
"""What somebody is allergic to, where a line names it beside the word."""


def _of_another_complement(claim: Claim, lines: Sequence[Line]) -> bool:
    """Whether an allergy is claimed to something else than lines say it is to."""
    if not _COMPLEMENT_FRAME.search(claim.frame):
        return False
    clauses = [(line, found) for line in lines if line.own for found in _COMPLEMENT.finditer(line.text)]
    if not clauses:
        return False
    wanted = _terms(claim.core, claim.language)
    for line, found in clauses:
        what = found["what"] or found["wide"] or ""
        denied = found["wide"] is not None and re.search("없|ない|ありません|没|不", found["rest"] or "") is not None
        if not denied and (wanted & _terms(what, claim.language) or claim.core.casefold() in what.casefold()):
            return False
        if not denied and not wanted & _terms(line.text, claim.language):
            continue
    return any(claim.core.casefold() in line.text.casefold() for line, _ in clauses)


def _complement_of_nobody(claim: Claim, lines: Sequence[Line]) -> bool:
    """Whether an allergy is claimed to something of which no line speaks: that is nobody's to infer."""
    found = None if claim.value else _COMPLEMENT.search(claim.core)
    what = (found["what"] or found["wide"] or "") if found is not None else ""
    if claim.value and _COMPLEMENT_FRAME.search(claim.frame):
        what = claim.core
    wanted = _terms(what, claim.language)
    held = any(wanted & _terms(line.text, claim.language) or _literally(what, line.text) for line in lines)
    return bool(wanted) and not held and not negates(claim.core)


_COMPLEMENT_FRAME = re.compile(r"(?i)allerg|alérg|alerg|intoleran|unverträglich|알레르기|알러지|アレルギー|过敏|過敏")


def _number_of_another_line(claim: Claim, cited: Sequence[Line], others: Sequence[Line]) -> bool:
    """Whether a value is a number alone that its own lines lack, found in others that do not name its attribute."""
    wanted = quantities(claim.core)
    if not claim.value or claim.known or len(wanted) != 1 or wanted[0].text != claim.core.strip():
        return False
    named = _terms(claim.frame, claim.language)
    return bool(cited) and not any(named & _terms(line.text, claim.language) for line in others)


def _says_another(claim: Claim, cited: Sequence[Line], lines: Sequence[Line]) -> bool:
    """Whether a cited line names the attribute, and no line a word of the value: "allergy: nuts" of one to prawns."""
    value, named = _terms(claim.core, claim.language), _terms(claim.frame, claim.language)
    held = frozenset(term for line in lines for term in _terms(line.text, claim.language))
    return bool(value) and not value & held and any(named & _terms(line.text, claim.language) for line in cited)


_PROPER: Final = frozenset(
    [
        "name",
        "given_name",
        "surname",
        "full_name",
        "nickname",
        "username",
        "maiden_name",
        "middle_name",
        "birthplace",
        "hometown",
        "residence",
        "residence_city",
        "home_address",
        "address",
        "city",
        "country",
        "employer",
        "workplace",
        "company",
        "school",
        "university",
        "email",
        "phone_number",
        "mobile_number",
        "street",
        "brand",
        "model",
        "bank",
    ]
)
"""Concepts of keys whose value is a name or a number that somebody gave: nobody infers one."""


def _names_a_thing(frame: str) -> bool:
    """Whether what an attribute asks for is a name: it stands in a line, or nobody said it."""
    asked = (read(frame, language).tokens[-1:] for language in canonical(None, frame).languages)
    return any(token.id in _PROPER for tokens in asked for token in tokens)


def _any_word(claim: Claim, lines: Sequence[Line]) -> bool:
    """Whether a line has a word of a value, or the value itself; of a script without spaces, that to the letter."""
    if _UNSPACED.search(claim.core):
        words = claim.core.split()
        return any(any(_literally(word, line.text) for line in lines) for word in words)
    wanted = _terms(claim.core, claim.language)
    return any(wanted & _terms(line.text, claim.language) or _literally(claim.core, line.text) for line in lines)


def _points(claim: Claim) -> bool:
    """Whether a value is function words of the window's language alone, several of them: "over there", "for me"."""
    words, function = re.findall(r"\w+", claim.core.casefold()), FUNCTION_WORDS.get(claim.language, EVIDENCE)
    return len(words) > 1 and all(word in function for word in words)


_FAVORITE = re.compile(
    r"(?i)\b(?:favou?rite|preferred|best[- ]loved|liebste[nrs]?|lieblings\w*|bevorzugte[nrs]?|préférée?s?|favoris?"
    r"|favorit[oae]s?|preferid[oa]s?"
    r"|preferit[oaie]|favoriet\w*|lievelings\w*|älsklings\w*|favorit\w*|любим\w+)\b|좋아하는|최애|一番好き"
    r"|最喜欢|最喜歡"
)
_LIKED = re.compile(
    r"(?i)\b(?:favou?rite|prefer\w*|lov(?:e|es|ed|ing)|ador\w*|lik(?:e|es|ed|ing)|enjoy\w*|best|fond|lieb\w*|mag"
    r"|mögen?|gern\w*|bevorzug\w*|am besten|aim\w*"
    r"|préf\w*|meilleure?s?|favori\w*|gust\w*|encant\w*|prefier\w*|mejor\w*|quier\w*|piac\w*|prefer\w*|am[oai]"
    r"|migliore|gosto|adoro|melhor|hou \w*|houdt?"
    r"|lekkerst\w*|leukst\w*|gillar|älskar|bäst\w*|люб\w+|нрав\w+|лучш\w+)\b|좋아|사랑|최고|최애|제일|가장|好き"
    r"|大好|一番|最高|喜欢|喜歡|爱"
    r"|愛|最"
)


def _standing(claim: Claim, lines: Sequence[Line]) -> Standing:
    """Said, but that something is liked best only where a line speaks of liking: else that is a conclusion.

    So is a bare number under an attribute of which its lines do not speak: "age: 3" of "my third term".
    """
    if claim.value and not claim.known and _counts_a_thing(claim, lines):
        return "inferred"
    liked = claim.known or _FAVORITE.search(claim.frame) is None or any(_LIKED.search(line.text) for line in lines)
    return "said" if liked else "inferred"


_AGE = re.compile(r"(?i)\b(?:age|alter|âge|edad|età|idade|leeftijd|ålder|alder|возраст)\b|나이|연세|年齢|年龄|年齡|歳")
_YEARS = re.compile(r"\s*(?:살|세|歳|才|岁|歲)")


def _counts_a_thing(claim: Claim, lines: Sequence[Line]) -> bool:
    """Whether a value is a number alone that counts something else in its lines than its attribute names."""
    wanted = quantities(claim.core)
    if len(wanted) != 1 or wanted[0].unit is not None or wanted[0].text != claim.core.strip():
        return False
    named, age = _terms(claim.frame, claim.language), _AGE.search(claim.frame) is not None
    seen = False
    for line in lines:
        for held in quantities(line.text):
            if not held.values & wanted[0].values:
                continue
            seen = True
            rest = normal_form("NFC", line.text)[held.start + len(held.text) :]
            behind = re.match(r"\s*([^\W\d_]+)", rest)
            counted = frozenset[str]() if behind is None else _terms(behind[1], claim.language)
            if not counted or counted & named or named & _terms(line.text, claim.language):
                return False
            if age and (held.unit == "year" or _YEARS.match(rest)):
                return False
    return seen


def _denies(claim: Claim, line: Line) -> bool:
    """Whether a line of the user's says no of what the claim's attribute names: that there is none."""
    shared = _terms(claim.frame, claim.language) & _terms(line.text, claim.language)
    return line.own and bool(shared) and negates(line.text)


def _confirming(chosen: Sequence[Line], cited: Sequence[Line]) -> list[Line]:
    """Lines of the user's that are cited behind what somebody else said: with them it is the user's later word."""
    if any(line.own for line in chosen):
        return []
    return [line for line in cited if line.own and line.place > chosen[-1].place]


def _found(lines: Sequence[Line], standing: Standing) -> Finding:
    return Finding(standing=standing, places=tuple(line.place for line in lines[:MOST_CITED]))


def _on(claim: Claim, lines: Sequence[Line]) -> list[Line]:
    """The fewest lines that together say the most of a claim: one that says all of it is enough."""
    wanted = _terms(claim.told, claim.language)
    if not wanted:
        return [line for line in lines if _literally(claim.core, line.text)][:1]
    numbers = {value for one in quantities(claim.core) for value in one.values}
    chosen: list[Line] = []
    left, open_numbers = set(wanted), set(numbers)
    pool = list(lines)
    while pool and len(chosen) < MOST_CITED:
        best = max(pool, key=lambda line: _gain(left, open_numbers, line, claim))
        gain = _gain(left, open_numbers, best, claim)
        if gain[0] <= 0 and chosen:
            break
        if gain[0] <= 0:
            return []
        chosen.append(best)
        pool.remove(best)
        left -= _terms(best.text, claim.language)
        open_numbers -= {value for one in quantities(best.text) for value in one.values}
        if not left and not open_numbers:
            break
    return sorted(chosen, key=lambda line: line.place)


def _gain(left: set[str], numbers: set[Decimal], line: Line, claim: Claim) -> tuple[int, int, int, int]:
    held = {value for one in quantities(line.text) for value in one.values}
    frame = len(_terms(claim.frame, claim.language) & _terms(line.text, claim.language))
    return (len(left & _terms(line.text, claim.language)) + len(numbers & held), frame, int(line.own), -line.place)


@lru_cache(maxsize=8192)
def _terms(text: str, language: str) -> frozenset[str]:
    """Content words of a text in the window's language, without the names of the roles, which no line has of itself."""
    function = FUNCTION_WORDS.get(language, EVIDENCE)
    found = {term for term in analyse(text, language).counts if term not in function and term not in _ROLES}
    # A word with hyphens is its parts: counted whole as well, one would weigh more than a verb.
    return frozenset(term for term in found if "-" not in term or not any(part in found for part in term.split("-")))


def _said(claim: Claim, lines: Sequence[Line]) -> bool:
    if not lines:
        return False
    wanted = _terms(claim.told, claim.language)
    if not wanted:
        # Function words, a sign or one letter: they stand there to the letter, or nowhere.
        return any(_literally(claim.core, line.text) for line in lines)
    if claim.value and _UNSPACED.search(claim.core) and all(len(term) == 1 for term in wanted):
        return any(_literally(claim.core, line.text) for line in lines)
    if claim.value and _UNSPACED.search(claim.core) and _names_a_thing(claim.frame) and not _any_word(claim, lines):
        return False
    share = _share(claim.told, lines, claim.language)
    grams = sum(not term.isascii() and len(term) <= 2 for term in wanted) * 2 > len(wanted)
    if share >= (SAID_GRAMS if grams else SAID_VALUE if claim.value else SAID):
        return True
    return claim.value and nominalised_in(claim.told, [line.text for line in lines])


def _literally(wanted: str, text: str) -> bool:
    flat = normal_form("NFKC", " ".join(wanted.split()))
    held = normal_form("NFKC", " ".join(text.split()))
    if len(flat) > 1:
        flat, held = flat.casefold(), held.casefold()
    edges = (r"(?<![^\W_])", r"(?![^\W_])") if flat.isascii() and flat[:1].isalnum() else ("", "")
    pattern = f"{edges[0]}{re.escape(flat)}{edges[1]}"
    return bool(flat) and re.search(pattern, held) is not None


def _share(text: str, lines: Sequence[Line], language: str) -> float:
    wanted = _terms(text, language)
    held = frozenset(term for line in lines for term in _terms(line.text, language))
    numbers = {value for line in lines for one in quantities(line.text) for value in one.values}
    spoken = {one.text.casefold() for one in quantities(text) if one.values & numbers}
    met = sum(term in held or term in spoken for term in wanted)
    return met / len(wanted) if wanted else 0.0


# ------------------------------------------------------------------------------------------------ hard details


def _missing(claim: Claim, lines: Sequence[Line], window: Sequence[Line]) -> str | None:
    """The first kind of hard detail that the lines do not have, in plain words; None where they have all."""
    if not lines:
        return "no line says it"
    said = [span for _, _, span in named_days(claim.core, lines[0].at)]
    if any(
        not _day_stands(days, lines) and not _month_named(normal_form("NFC", claim.core)[start:end], lines)
        for days, _, (start, end) in named_days(claim.core, lines[0].at)
    ):
        return "a date that no line has"
    if not all(_calendar_stands(word, lines) for word in calendar_words(_ON_DAYS.sub(r"\1", claim.core))):
        return "a date that no line has"
    if any(not _number_stands(one, claim.core, lines) for one in _numbers_of(claim.core, said)):
        return "a number that no line has"
    if any(not _place_stands(place, lines) for place in _ordinals(claim.core)):
        return "a number that no line has"
    # A question's words are not the user's: "With your family?", "No, alone".
    if swapped(claim.core, " ".join(line.text for line in lines if line.own) or " ".join(line.text for line in lines)):
        return "the other of two that exclude each other"
    numbers = list(_numbers_of(claim.core, said)) if claim.value else []
    if len(numbers) == 1 and _bound_elsewhere(claim.frame, numbers[0], lines, claim.language):
        return "a number of something else"
    if any(_replaced(one, claim, lines) for one in _numbers_of(claim.core, said)):
        return "a number that another took the place of"
    if not all(_name_stands(detail, lines, window) for detail in _names_of(claim, window)):
        return "a name that no line has"
    if _other_place(claim.core, lines, window):
        return "a place that no line has"
    every = "\n".join(line.text for line in window)
    kin = kin_in(claim.about, claim.language) and not strangers(claim.about, every, claim.language)
    if claim.about and not kin and not _about_stands(claim.about, window):
        return "of somebody of whom no line speaks"
    if strangers(claim.whole, every, claim.language):
        return "of somebody of whom no line speaks"
    if _other_subject(claim, lines, window) or other_kin(claim.core, every, claim.language):
        return _OF_ANOTHER
    if any(_from_for_to(claim.core, line.text) for line in lines):
        return "the other way round"
    if _turned(claim, lines, window):
        return "a yes for a no, or a no for a yes"
    return None


_WENT = re.compile(
    r"(?i)\b(?:from|von|de|da|desde)\s+[€$£]?(?P<old>\d[\d.,]*)[^.;!?\d]{0,20}?\s(?:to|auf|à|a|ad|para"
    r"|naar)\s+[€$£]?(?P<new>\d[\d.,]*)"
)
"""A number that changed: "raised from 35 to 45"."""
_CHANGED = re.compile(
    r"(?i)\b(?:rais|increas|went up|rose|cut|lower|drop|reduc|fell|erhöh|gesenkt|gestiegen|augment|baiss"
    r"|sub[ieí]|baj|aument|alza|ridott)"
)
_PAST = re.compile(
    r"(?i)\b(?:was|were|used to|from|before|previously|formerly|war|von|früher|était|de|avant|era|antes|desde"
    r"|prima|da)\b"
)
_WISHED = re.compile(
    r"(?i)\b(?:wants?|would like|plans?|hopes?|offer(?:s|ed)?|asks?|asked|möchte|verlangt|fordert|veut|voudrait"
    r"|demande|quiere"
    r"|pide|vuole|chiede|quer|pede)\b"
)


def _replaced(number: Quantity, claim: Claim, lines: Sequence[Line]) -> bool:
    """Whether a number is what was before a change, or what somebody wants instead, and the claim does not say so."""
    having = [line.text for line in lines if any(one.values & number.values for one in quantities(line.text))]
    if not having or _PAST.search(claim.told) or _WISHED.search(claim.whole):
        return False
    return all(_only_before(number, text) or _only_wished(number, claim, text) for text in having)


def _only_before(number: Quantity, text: str) -> bool:
    if _CHANGED.search(text) is None:
        return False
    found = [one for one in _WENT.finditer(text) if any(q.values & number.values for q in quantities(one["old"]))]
    return bool(found) and sum(bool(one.values & number.values) for one in quantities(text)) == len(found)


def _only_wished(number: Quantity, claim: Claim, text: str) -> bool:
    """Whether only a clause of what somebody wants has a number, where another clause of the attribute has its own."""
    if not claim.value:
        return False
    named = _terms(claim.frame, claim.language)
    clauses = [one for one in CLAUSE.split(text) if one]
    mine = [one for one in clauses if any(q.values & number.values for q in quantities(one))]
    rest = [one for one in clauses if one not in mine and named & _terms(one, claim.language) and quantities(one)]
    return (
        bool(mine)
        and bool(rest)
        and all(_WISHED.search(one) and not named & _terms(one, claim.language) for one in mine)
    )


_OF_ANOTHER: Final = "said of somebody else"


def _numbers_of(text: str, dates: Sequence[tuple[int, int]]) -> Iterator[Quantity]:
    """Numbers that are a claim: not those of a date, and no "one" in words, which is no number more often than not."""
    plain = normal_form("NFC", text)
    for one in quantities(plain):
        if any(start <= one.start < end for start, end in dates):
            continue
        if not (one.spelled and one.values <= _ONES):
            yield one


_ONES: Final = frozenset(value for one in quantities("0 1") for value in one.values)


_ORDINALS: Final = {
    name: place
    for names in (
        "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth",
        "dritt viert fünft sechst siebt acht neunt zehnt elft zwölft",
        "troisième quatrième cinquième sixième septième huitième neuvième dixième onzième douzième",
        "tercer cuart quint sext séptim octav noven décim",
        "terz quart quint sest settim ottav non decim",
        "derde vierde vijfde zesde zevende achtste negende tiende elfde twaalfde",
    )
    for place, name in enumerate(names.split(), 3)
}
_ORDINAL = re.compile(
    rf"(?i)\b(?P<word>{'|'.join(sorted(_ORDINALS, key=len, reverse=True))})(?:e[nmrs]?|[oa]s?)?\b(?!\s*\d)"
    rf"|\b(?P<digits>\d{{1,3}})(?:st|nd|rd|th|ème|º|ª)\b"
)
"""From the third on: the first and the second are other words as well; bare "acht" and "non" are none."""


def _ordinals(text: str) -> frozenset[int]:
    found = set()
    for match in _ORDINAL.finditer(text):
        word = (match["word"] or "").casefold()
        if match["digits"]:
            found.add(int(match["digits"]))
        elif word not in {"acht", "non", "quart", "sext"} or match[0].casefold() != word:
            found.add(_ORDINALS[word])
    return frozenset(found)


def _place_stands(place: int, lines: Sequence[Line]) -> bool:
    """Whether a line has an ordinal: as one, as a number, or as the day of a date."""
    for line in lines:
        if place in _ordinals(line.text) or any(Decimal(place) in one.values for one in quantities(line.text)):
            return True
        if any(start.day == place for start, end in days_of(line.text, line.at) if (end - start).days == 1):
            return True
    return False


def _number_stands(wanted: Quantity, claim: str, lines: Sequence[Line]) -> bool:
    for line in lines:
        for held in quantities(line.text):
            if held.values & wanted.values and (wanted.unit is None or held.unit in {None, wanted.unit}):
                if wanted.unit is None and not _same_counted(claim, wanted, line, held):
                    continue
                if _scale(claim, wanted) != _scale(line.text, held) != "" != _scale(claim, wanted):
                    continue  # degrees of two scales
                mine, theirs = _after(claim, wanted), _after(line.text, held)
                if mine.rate and theirs.rate and mine.rate != theirs.rate:
                    continue
                if mine.last and theirs.last and mine.last not in line.text.casefold():
                    continue
                # "He pays 410 euros, I pay 390": what is left out is what was said of the number before.
                spoken = {one.unit for one in quantities(line.text) if one.start < held.start}
                return wanted.unit in {None, held.unit, *_COUNTED, *(spoken if held.unit is None else ())}
        for start, end in days_of(line.text, line.at):
            if wanted.unit in {None, "year"} and wanted.values & _calendar(start, end):
                return True
    return False


@dataclass(frozen=True, slots=True)
class _After:
    """What follows a number and its unit: per what it is ("an hour"), and a word with which the clause ends ("net")."""

    rate: str = ""
    last: str = ""


_UNIT_WORD = r"\s?[-‐‑]?\s?(?:%|°[cf]?|[€$£¥₩₹]|[^\W\d_]+)?"
_RATE = re.compile(
    rf"(?i){_UNIT_WORD}\s*(?:(?:an?|per|each|every|je|pro|jede[nmrs]?|im|am|par|chaque|por|cada|al?|à l['’]|alla"
    rf"|all['’]|por|ao|om|i|в|the)\s+|/\s*)"
    r"(?P<unit>[^\W\d_]+)"
)
_ADVERB: Final = {"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "yearly": "year"}
_LAST = re.compile(r"\s?[-‐‑]?\s?(?:[€$£¥₩₹]|[^\W\d_]+)\s+(?P<word>[^\W\d_]{3,})\s*(?:[.,;!?]|\Z)")


def _after(text: str, number: Quantity) -> _After:
    rest = normal_form("NFKC", text)[number.start + len(number.text) :]
    rate, last = _RATE.match(rest), _LAST.match(rest)
    word = last["word"].casefold() if last is not None and number.unit is not None else ""
    if word in EVIDENCE or word in _ADVERB:
        word = ""
    unit = _ADVERB.get(last["word"].casefold(), "") if last is not None else ""
    if rate is not None:
        unit = next((one.unit for one in quantities(f"1 {rate['unit']}") if one.unit in _COUNTED), None) or unit
    return _After(unit, word)


def _same_counted(claim: str, wanted: Quantity, line: Line, held: Quantity) -> bool:
    """Whether a number counts the same thing in a claim as in a line.

    Where it has a unit in the line, the word behind it in the claim stands there too; where both count something square
    or new or other, so do the words behind that.
    """
    if _counts_else(claim, wanted, line.text, held):
        return False
    mine = _BEHIND.match(normal_form("NFC", claim)[wanted.start + len(wanted.text) :])
    if mine is None or mine[1].casefold() in EVIDENCE:
        return True
    if held.unit not in {None, *_COUNTED}:
        word, text = mine[1].casefold(), line.text.casefold()
        counted = [
            one for one in quantities(text) if re.match(rf"\s*{re.escape(word)}", text[one.start + len(one.text) :])
        ]
        return word in text and (not counted or any(one.values & wanted.values for one in counted))
    theirs = _BEHIND.match(normal_form("NFC", line.text)[held.start + len(held.text) :])
    if theirs is None or theirs[1].casefold() != mine[1].casefold() or not (theirs[2] and mine[2]):
        return True
    one, other = mine[2].casefold(), theirs[2].casefold()
    return (
        one in EVIDENCE
        or other in EVIDENCE
        or one[: 2 if _UNSPACED.match(one) else 3] == other[: 2 if _UNSPACED.match(one) else 3]
    )


_BEHIND = re.compile(r"\s*([^\W\d_]{3,})(?:\s+([^\W\d_]{3,}))?")


def _bound_elsewhere(frame: str, wanted: Quantity, lines: Sequence[Line], language: str) -> bool:
    """Whether what an attribute names is counted by another number, in every line that has this one.

    "240 loaves on weekdays and 400 on a Saturday": the loaves on a weekday are not 400. Of two clauses with a number
    each, a later one that names the attribute has its own: "85 a night, 120 in high season".
    """
    named = frozenset(term for term in _terms(frame, language) if len(term) > 1)
    having = [line for line in lines if any(one.values & wanted.values for one in quantities(line.text))]
    return bool(named) and bool(having) and all(_counts_other(named, wanted, line.text, language) for line in having)


def _counts_other(named: frozenset[str], wanted: Quantity, text: str, language: str) -> bool:
    plain = normal_form("NFKC", text)
    mine = behind = False
    for clause in filter(None, CLAUSE.split(plain)):
        held = quantities(clause)
        equal = [one for one in held if one.values & wanted.values]
        shared = named & _terms(clause, language)
        for one in held:
            next_words = re.match(r"\W*(\w+)(?:\W+\w+){0,2}", clause[one.start + len(one.text) :])
            if next_words is None:
                continue
            if one in equal and named & _terms(next_words[0], language):
                return False
            behind |= one not in equal and wanted.unit is None and bool(named & _terms(next_words[1], language))
        if equal and shared and not behind:
            return False
        if not equal and mine and shared and any(one.unit in {None, wanted.unit} for one in held):
            return wanted.unit is not None
        mine |= bool(equal)
    return behind


_PLACES = re.compile(
    r"(?P<noun>[가-힣]{2,6}?)(?P<mark>에서(?![가-힣])|에(?=\s(?:계|살|거주|있|위치)))"
    r"|(?P<ja>[\u3400-\u9fff\u30a0-\u30ff]{2,8})(?P<ja_mark>で|から|へ)"
)


def _other_place(core: str, lines: Sequence[Line], window: Sequence[Line]) -> bool:
    """Whether a noun that is marked as a place stands in no line, where a line has another with the same mark."""
    within = " ".join(line.text for line in window)
    there = {
        (one["noun"] or one["ja"], one["mark"] or one["ja_mark"])
        for line in lines
        for one in _PLACES.finditer(line.text)
    }
    for one in _PLACES.finditer(core):
        noun, mark = one["noun"] or one["ja"], one["mark"] or one["ja_mark"]
        if noun not in within and any(other == mark and held not in core for held, other in there):
            return True
    return False


_SCALE = re.compile(r"\s?(?:°|degrees?|grad|degrés?|grados?)?\s?(?P<letter>[cf])(?:elsius|ahrenheit)?\b", re.IGNORECASE)


def _scale(text: str, number: Quantity) -> str:
    """The scale of degrees behind a number: "c", "f", or none."""
    found = _SCALE.match(normal_form("NFKC", text)[number.start + len(number.text) :]) if number.unit == "°" else None
    return found["letter"].casefold() if found is not None else ""


_SHARES: Final = frozenset("割倍回次번배号층階시時")
"""What a number of Chinese, Japanese or Korean counts when it is no thing: times, tenths, floors."""


def _counts_else(claim: str, wanted: Quantity, text: str, held: Quantity) -> bool:
    """Whether a number counts times or tenths on one side, and something else on the other."""
    mine, theirs = _counter(claim, wanted), _counter(text, held)
    if wanted.unit is None and held.unit not in {None, *_COUNTED} and _UNSPACED.match(mine):
        return True
    return mine != theirs and bool({mine, theirs} & _SHARES) and not mine.isascii() and not theirs.isascii()


def _counter(text: str, number: Quantity) -> str:
    """The character behind a number; a native Korean one is read with its counter."""
    if number.spelled and number.text[-1:] >= "\uac00":
        return number.text.split()[-1][-1:]
    return normal_form("NFKC", text)[number.start + len(number.text) :].lstrip()[:1]


_COUNTED: Final = frozenset({"second", "minute", "hour", "day", "night", "week", "month", "year"})
"""Units that a number may leave out where it is said ("I'm 34"): of money and measures none is supplied."""


def _calendar(start: datetime, end: datetime) -> frozenset[Decimal]:
    """The year of a day, a month or a year; days and months are read as dates where they are meant as such."""
    return frozenset({Decimal(start.year).normalize()}) if (end - start).days <= 366 else frozenset()


def _day_stands(days: Days, lines: Sequence[Line]) -> bool:
    """Whether a line speaks of these days, or of a time within them: a claim may be less exact, never more."""
    return any(days[0] <= start and end <= days[1] for line in lines for start, end in days_of(line.text, line.at))


def _month_named(span: str, lines: Sequence[Line]) -> bool:
    """Whether a span names a month or a weekday and nothing more, and a line has it: "in August" of its second week."""
    names = calendar_words(span)
    if not names or _DIGITS.search(span):
        return False
    return any(names <= calendar_words(clause) and not negates(clause) for _, clause in _clauses(lines))


_DIGITS = re.compile(r"\d")
_ON_DAYS = re.compile(r"(?i)\b(\w+tag|mittwoch|sonnabend)s\b")
"""German says "dienstags" for what happens on Tuesdays."""


def _calendar_stands(word: str, lines: Sequence[Line]) -> bool:
    """Whether a line names that month or weekday, or speaks of a day in it."""
    if any(word in calendar_words(_ON_DAYS.sub(r"\1", line.text)) for line in lines):
        return True
    # The day on which a line was said counts where no line names another month or weekday.
    first = int(any(calendar_words(line.text) for line in lines))
    days = [days for line in lines for days in days_of(line.text, line.at)[first:]]
    return any(word in calendar_names(start) for start, end in days if (end - start).days <= 31)


def _names_of(claim: Claim, window: Sequence[Line]) -> Iterator[Detail]:
    """The names, paths and identifiers that a claim must have from a line.

    A capital at the beginning of a sentence is a name where nothing in the window is that word. A value is no sentence:
    its first capital counts, so that a conclusion in words of the model's own begins with a small letter or goes.
    """
    own = _own_names(window)
    for detail in details(claim.core):
        if detail.kind not in _HARD or detail.text.casefold() in own | _ROLES:
            continue
        if claim.language == "german" and detail.kind == "name" and _noun(detail.text, claim.core, window):
            continue
        if detail.sure or not _begins(detail.text, claim.core) or not _word_of(detail.text, window):
            yield detail
    first = _CAPITAL.match(claim.core.lstrip("\"'“„«([ "))
    begins = first is not None and not claim.value and _subject_first(first[0], claim.language)
    if first is not None and begins and not _word_of(first[0], window) and not _functional(first[0]):
        yield Detail(kind="name", text=first[0])
    if claim.value:
        for match in _CAPITAL.finditer(claim.core):
            if claim.language == "german" and _noun(match[0], claim.core, window):
                continue
            if not _word_of(match[0], window):
                yield Detail(kind="name", text=match[0])
        dated = [span for _, _, span in named_days(claim.core, window[0].at)] if window else []
        for match in _JOINED.finditer(claim.core):
            if any(start <= match.start() < end for start, end in dated):
                continue
            pieces = [piece for piece in re.split(r"[\W_]+", match[0]) if piece]
            if len(pieces) > 1 and not all(_word_of(piece, window) for piece in pieces):
                yield Detail(kind="code", text=match[0])


_GERMAN_ARTICLE = re.compile(
    r"(?i)\b(?:der|die|das|den|dem|des|ein(?:e[nmrs]?)?|kein(?:e[nmrs]?)?|(?:mein|dein|sein|ihr|unser)(?:e[nmrs]?)?"
    r"|im|am|vom|zum|zur|beim|ins"
    r"|jede[nmrs]?|alle[nr]?|viele[nr]?|\d+)\s+(?:\w+e[nmrs]?\s+)?\Z"
)
COMPOUND: Final = 4
"""Letters that two German compounds share at their beginning where they are of one word."""


def _noun(word: str, text: str, window: Sequence[Line]) -> bool:
    """Whether a German capital is a noun's: behind an article, or in a compound with a word that the lines have."""
    place = text.find(word)
    if place > 0 and _GERMAN_ARTICLE.search(text[:place]) is not None:
        return True
    start = word[:COMPOUND].casefold()
    held = (one for line in window for one in re.findall(r"[^\W\d_]{5,}", line.text.casefold()))
    return len(word) > COMPOUND + 2 and any(one.startswith(start) for one in held)


def _functional(word: str) -> bool:
    return word.casefold() in EVIDENCE or negates(word)


def _subject_first(word: str, language: str) -> bool:
    """Whether a sentence's first word is its subject: not in languages that leave it out, nor an English verb form."""
    if language == "english":
        return not word.endswith(("s", "ed", "ing"))
    return language in {"german", "french", "dutch", "swedish", "danish", "norwegian"}


_HARD: Final = frozenset({"name", "code", "path", "address"})
_CAPITAL = re.compile(r"(?<!\w)(?=[^\W\d_])(?:[A-Z\u00c0-\u00de\u0391-\u03ab\u0410-\u042f])\w+")
_JOINED = re.compile(r"(?:\w|(?<=\w)[-./@:](?=\w))+")
"""A word, or words with signs between them; what is joined has one that is no letter and no digit inside."""


def _begins(word: str, text: str) -> bool:
    return text.lstrip("\"'“„«([ ").startswith(word)


def _word_of(word: str, window: Sequence[Line]) -> bool:
    terms = content_terms(word)
    return any(terms <= content_terms(line.text) for line in window)


def _name_stands(detail: Detail, lines: Sequence[Line], window: Sequence[Line]) -> bool:
    """Whether a line has a name; of a person, also as whoever speaks, and as a day of the calendar, by a date."""
    if any(holds(line.text, detail) or _literally(detail.text, line.text) for line in lines):
        return True
    wanted = detail.text.casefold()
    if any(line.speaker and wanted in line.speaker.casefold().split() for line in window):
        return True
    for line in lines:
        if any(
            wanted in calendar_names(start) for start, end in days_of(line.text, line.at) if (end - start).days <= 31
        ):
            return True
    # A name may stand in the line before, of which a cited line speaks on.
    before = {line.place - 1 for line in lines} | {line.place - 2 for line in lines}
    return any(line.place in before and holds(line.text, detail) for line in window)


def _about_stands(about: str, window: Sequence[Line]) -> bool:
    terms = content_terms(about)
    if (
        not terms
        or any(_literally(about, line.text) for line in window)
        or any(line.speaker and about.casefold() in line.speaker.casefold() for line in window)
    ):
        return True
    held = frozenset(term for line in window for term in content_terms(line.text))
    return bool(terms & held)


def _other_subject(claim: Claim, lines: Sequence[Line], window: Sequence[Line]) -> bool:
    """Whether what is told of one is said of another in the only clauses that say it.

    Of the user, where each such clause is of somebody or something else that the claim does not name; of another, where
    each is the speaker's own or of a third.
    """
    names = _own_names(window)
    about, value = _told_about(claim, names, window)
    if about is None or not _terms(value, claim.language):
        return False
    known = names_in(line.text for line in window)
    told = [one for line in lines if line.own for one in told_of(line.text, claim.language, names, known)]
    nearest = max((_overlap(value, one.text, claim.language) for one in told), default=0.0)
    said = [
        one
        for one in told
        if (
            nearest >= (NEAR_GRAMS if _UNSPACED.search(value) else NEAR)
            and _overlap(value, one.text, claim.language) >= nearest
        )
        or (one.first and _TAKEN_UP.search(one.text) and _begun(claim.frame, one.text))
    ]
    if about:
        about |= names_of_kin(about, "\n".join(line.text for line in window), claim.language)
        return bool(said) and (all(_not_of(about, one) for one in said) or _reversed(claim, said))
    if _done_to_the_user(claim, told):
        return True
    whole = claim.whole.casefold()
    spoken = " ".join(line.text for line in lines)

    def of_another(one: Told) -> bool:
        if (claim.value and _named_thing(claim.frame, one.text)) or claim.before & one.who:
            return False
        thing = one.thing and (
            not claim.value
            or _UNSPACED.search(one.text) is not None
            or _begun(claim.frame, spoken)
            or _MONEY.search(claim.core) is not None
        )
        return bool(one.who) and not one.first and not thing and not _named_in(one.who, whole, claim)

    if said and all(of_another(one) for one in said):
        return True
    # What another did in 1978, the user did not, though they took it up later.
    dates = [span for _, _, span in named_days(claim.core, lines[0].at)]
    for number in _numbers_of(claim.core, dates):
        held = [one for one in told if any(number.values & other.values for other in quantities(one.text))]
        if held and not claim.value and all(of_another(one) and not one.thing for one in held):
            return True
    if any(one.first and _TAKEN_UP.search(one.text) for one in said):
        return False
    predicate = _predicate(claim)
    if predicate:
        held = [one for one in told if predicate in _terms(one.text, claim.language)]
        if held and all(of_another(one) and not one.thing for one in held):
            return True
    # A name that is the user's in no clause, beside words that are, is another's all the same.
    for word in _named_words(claim, names, window):
        held = [one for one in told if _literally(word, one.text)]
        if held and all(of_another(one) and not one.thing for one in held):
            return True
    return False


def _named_thing(frame: str, clause: str) -> bool:
    """Whether a clause has what an attribute names as a thing of its own: "my landlord raised the rent to 680"."""
    stems = [word[:5] for word in re.findall(r"\w{4,}", frame.casefold())]
    return any(
        re.search(
            rf"(?i)\w\s+(?:the|my|our|die|der|das|den|meinen?|unsere?|le|la|l['’]|mon|ma|el|mi|il|de|het"
            rf"|mijn)\s+{stem}",
            clause,
        )
        for stem in map(re.escape, stems)
    )


_MONEY = re.compile(r"(?i)[€$£¥₩₹]|\b(?:euros?|dollars?|pounds?|quid|eur|usd|gbp|chf|franken|pesos?|yen|won|kronor)\b")


def _predicate(claim: Claim) -> str:
    """What a sentence says first of the user: "won" of "The user won the show"; empty where that is no content word."""
    if claim.value or _ROLE.match(claim.core) is None:
        return ""
    first = re.match(r"\W*(?:(?:has|have|had|hat|ist|a|est|ha|es|is|was|heeft)\s+)?(\w+)", claim.told)
    terms = _terms(first[1], claim.language) if first is not None else frozenset()
    return next(iter(terms)) if len(terms) == 1 else ""


def _told_about(claim: Claim, names: frozenset[str], window: Sequence[Line]) -> tuple[frozenset[str] | None, str]:
    """Of whom a claim is (empty: the user; None: it does not say), and what it says of them."""
    if claim.value:
        return frozenset(claim.about.casefold().split()) - names if claim.about else frozenset(), claim.core
    if _of_the_user(claim.core, window):
        return frozenset(), claim.told
    kin = _USERS_KIN.match(claim.core)
    if kin is not None and kin_in(kin["kin"] or kin["of"], claim.language):
        words = f"{kin['kin'] or kin['of']} {kin['name'] or kin['named'] or ''}"
        return frozenset(words.casefold().split()), claim.core[kin.end() :]
    known = names_in(line.text for line in window if line.own)
    wide = _WIDE_SUBJECT_NAME.match(claim.core)
    if wide is not None and wide["name"] not in names and _of_whom_they_speak(wide["name"], claim.language, window):
        return frozenset({wide["name"]}), claim.core[wide.end() :]
    first = _SUBJECT_NAME.match(claim.core)
    if first is None or claim.language == "german" or first["name"].casefold() not in known - names:
        return None, ""
    return frozenset({first["name"].casefold()}), claim.core[first.end() :]


def _of_whom_they_speak(name: str, language: str, window: Sequence[Line]) -> bool:
    """Whether a clause of the user's is marked to be about that word."""
    return any(name in one.who for line in window if line.own for one in told_of(line.text, language))


_USERS_KIN = re.compile(
    r"\W*(?:[Tt]he user['’]s (?P<kin>[\w-]+)(?:,? (?P<name>[A-Z\u00c0-\u00de]\w+),?)?(?= )"
    r"|(?:[Dd]er|[Dd]ie|[Ll][ea]|[EeIi]l|[Oo]|[Aa]) (?P<of>[\w-]+) "
    r"(?:de[sr] Nutzer(?:s|in)?|de l['’]utilisat(?:eur|rice)|del usuario|de la usuaria|dell['’]utente|d[oa] usuári[oa])"
    r"(?:,? (?P<named>[A-Z\u00c0-\u00de]\w+),?)?(?= ))"
)
"""A sentence about somebody whom the user has: "The user's wife", "Le frère de l'utilisateur"."""
_WIDE_SUBJECT_NAME = re.compile(r"\W*(?P<name>[^\W\d_]{1,6}?)(?:さん|씨)?(?:이?(?:은|는|가)\s|이\s|は|が)")
_SUBJECT_NAME = re.compile(r"\W*(?P<name>[A-Z\u00c0-\u00de]\w+)\s+(?=[a-zà-ÿ])")


_MY_OBJECT: Final = r"me|us|mir|mich|uns|m['’]|nous|nos|мне|нам"
_OWN_RETURN = re.compile(
    r"(?i)\b(?:sich|se|s['’]|si|zich|sig|was|were|been|got|gets|received|wurde|bek\w+|has been|by|from|von|par|por)\b"
)


def _done_to_the_user(claim: Claim, told: Sequence[Told]) -> bool:
    """Whether the user does in a claim what somebody does to them in the lines: "the bank lent me 60,000"."""
    first = re.match(
        r"\W*(?:(?:has|have|had|hat|a|ha)\s+)?(\w{3,})",
        claim.told if _ROLE.match(claim.core) else claim.core.partition(" ")[2],
    )
    if claim.value or first is None or _OWN_RETURN.search(claim.core):
        return False
    verb = re.escape(first[1][:5])
    held = [one for one in told if re.search(rf"(?i)\b{verb}\w*", one.text)]
    object_of = rf"(?i)\b{verb}\w*\s+(?:{_MY_OBJECT})\b|\b(?:{_MY_OBJECT})\s?{verb}"
    return bool(held) and all(re.search(object_of, one.text) and not _I_DO.match(one.text) for one in held)


def _reversed(claim: Claim, said: Sequence[Told]) -> bool:
    """Whether somebody does to the user what the user does to them in the lines: "I owe Ada", "Ada owes the user"."""
    if claim.value or _USER_OBJECT.search(claim.core) is None:
        return False
    return all(
        not one.who - frozenset(claim.core.casefold().split()) and _I_DO.match(one.text) and not _TO_ME.search(one.text)
        for one in said
    )


_USER_OBJECT = re.compile(
    r"(?i)\w\s+(?:the user|de[nm] nutzer|de[nr] nutzerin|l['’]utilisat\w+|al? usuari[oa])(?!['’]s|\w)"
)
_I_DO = re.compile(r"(?i)\W*(?:i|we|ich|wir|je|nous|yo)\b")
_TO_ME = re.compile(r"(?i)\b(?:me|us|mir|mich|uns|moi|nous|nos|with|from|by|mit|von|avec|con)\b")


def _named_words(claim: Claim, names: frozenset[str], window: Sequence[Line]) -> Iterator[str]:
    """The proper names of a claim of the user's, but for their own."""
    for one in details(claim.core):
        nouns = claim.language == "german" and (_noun(one.text, claim.core, window) or claim.value)
        if one.kind != "name" or nouns or one.text.casefold() in names | _ROLES or calendar_words(one.text):
            continue
        if one.sure or claim.value:
            yield one.text


NEAR_GRAMS: Final = 0.3
"""The same in pairs of characters, of which an ending makes new ones."""
NEAR: Final = 0.5
"""The share of a claim's words that the clause which says it has at least."""
_TAKEN_UP = re.compile(
    r"(?i)\b(?:it|them|him|her|that|this|those|ihn|ihm|sie|es|das|dem|davon|lo|la|los|las|eso|le|les|ça|cela|en|y"
    r"|ne|ci|het|dat|hem)\b"
)
"""A pronoun by which a clause takes up what the one before spoke of."""
_ROLE = re.compile(
    r"(?i)\A\W*(?:(?:the user|der (?:nutzer|benutzer)|die (?:nutzerin|benutzerin)|l['’]utilisat(?:eur|rice)"
    r"|el usuario"
    r"|la usuaria|l['’]utente|o usuário|a usuária|de gebruiker|användaren|brukeren|пользователь(?:ница)?)\b|"
    r"用户|用戶|ユーザーは?|사용자[는가]?)"
)
"""What a model calls the user, in the language of the entry."""


def _own_names(window: Sequence[Line]) -> frozenset[str]:
    return own_names_in((line.text for line in window if line.own), (line.text for line in window if not line.own))


def _of_the_user(core: str, window: Sequence[Line]) -> bool:
    """Whether a sentence is of the user: by that word, or by the name that they gave."""
    if _ROLE.match(core) is not None:
        return re.match(r"['’]s\b", core[_ROLE.match(core).end() :]) is None  # type: ignore[union-attr]
    first = core.split()[:1]
    names = _own_names(window)
    return bool(first) and first[0].casefold().strip(".,") in names


def _not_of(about: frozenset[str], one: Told) -> bool:
    held = one.text.casefold()
    if any(word in held for word in about):
        return False
    return (bool(one.who - _SOMEBODY) and not one.who & about) or (one.first and not one.who)


_SOMEBODY: Final = frozenset({"he", "she", "they", "er", "sie", "il", "elle", "él", "ella", "lui", "lei", "ele", "ela"})
"""A pronoun that no noun of its line explains."""


def _named_in(who: frozenset[str], whole: str, claim: Claim) -> bool:
    """Whether a claim names a subject: by its word, by the beginning that two forms share, or by the same concept."""
    words = [word for word in re.findall(r"\w+", whole) if len(word) > 2]
    for subject in who:
        if any(word == subject or (len(subject) > 4 and word[:5] == subject[:5]) for word in words):
            return True
        if _UNSPACED.search(subject) and subject in whole:
            return True
        if claim.frame and compare(canonical("user", subject), canonical("user", claim.frame)).same == "same":
            return True
    return False


_UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


def _begun(frame: str, clause: str) -> bool:
    """Whether a clause has a word of the claim's attribute, in any form of it: "allergic" of an allergy."""
    held = [word[:5] for word in re.findall(r"\w{4,}", clause.casefold())]
    return any(word[:5] in held for word in re.findall(r"\w{4,}", frame.casefold()))


def _turned(claim: Claim, lines: Sequence[Line], window: Sequence[Line]) -> bool:
    """Whether the claim says yes of what its lines only deny, or no of what none denies."""
    within = " ".join(line.text for line in lines)
    names = frozenset(
        term for detail in details(within) if detail.kind == "name" for term in _terms(detail.text, claim.language)
    )
    wanted = _terms(claim.told, claim.language)
    if claim.language != "german":  # where every noun looks like a name
        wanted = wanted - names or wanted
    clauses = _clauses_of(claim, lines, window)
    near = [(clause, wanted & _terms(clause, claim.language)) for clause in clauses]
    near = [(clause, shared) for clause, shared in near if shared]
    if not near:  # where its lines share names alone with it, these are what is denied or not
        wanted |= _terms(claim.told, claim.language)
        near = [(clause, wanted & _terms(clause, claim.language)) for clause in clauses]
        near = [(clause, shared) for clause, shared in near if shared]
    if negates(claim.whole, within):
        if _not_that_one(claim, clauses, within):
            return True
        own = {word.casefold() for word in _AGAINST.findall(claim.whole)}
        all_of_it = _terms(claim.core, claim.language)
        told = [one for one in clauses if all_of_it & _terms(one, claim.language)]
        told = told or [line.text for line in lines]
        return not any(
            negates(one, within) or any(word.casefold() not in own for word in _AGAINST.findall(one)) for one in told
        )
    if _only_passed_over(claim, lines):
        return True
    if _AGAINST.search(claim.whole) is not None:
        return _against_denied(claim, clauses, within)
    over = _ENDED.search(claim.whole) is not None
    affirmed: set[str] = set()
    denied: set[str] = set()
    for clause, shared in near:
        if not _no(clause, within, over=over):
            affirmed |= shared
        elif clause.rstrip()[-1:] not in "?？":
            denied |= shared
    denied -= affirmed
    # Of pairs of characters an ending makes new ones, which no clause has.
    return len(denied) * (4 if _UNSPACED.search(claim.told) else 3) >= max(1, len(wanted)) and bool(denied)


_NONE_OF = re.compile(
    r"(?i)\b(?:kein(?:e[nmrs]?)?|ning[uú]n[oa]?|aucune?|nessun[oa]?|nenhuma?|geen|ingen|inga)\s+(?P<what>[^\W\d_]{3,})"
)


def _not_that_one(claim: Claim, clauses: Sequence[str], within: str) -> bool:
    """Whether what a claim says there is none of stands only in clauses that say yes: "no meat, but fish I do"."""
    found = _NONE_OF.search(claim.core)
    wanted = _terms(found["what"], claim.language) if found is not None else frozenset()
    held = [one for one in clauses if wanted & _terms(one, claim.language)]
    return bool(held) and not any(negates(one, within) or _AGAINST.search(one) for one in held)


def _against_denied(claim: Claim, clauses: Sequence[str], within: str) -> bool:
    """Whether the word by which a claim says no is itself denied wherever it stands: "I should quit, I won't"."""
    words = {word.casefold() for word in _AGAINST.findall(claim.whole)}
    held = [clause for clause in clauses if any(word in clause.casefold() for word in words)]
    # "No longer allergic to peanuts, but to cats": what is denied is something else.
    core = _terms(claim.core, claim.language) if claim.value else frozenset()
    if any(core & _terms(one, claim.language) and not negates(one, within) for one in clauses):
        return False
    return bool(held) and not negates(claim.whole, within) and all(negates(one, within) for one in held)


_PASSED_OVER = re.compile(
    r"(?i)(?:instead of|rather than|in place of|statt|anstelle(?: von)?|anstatt|au lieu d['’eu]e?|plutôt que"
    r"|en lugar de|en vez de|anziché|invece di|in plaats van|i stället för|вместо)\s+(?:\w+\s+){0,2}?\Z"
)
_NOT_THAT = re.compile(
    r"(?i)(?:,\s*|\b(?:and|but|und|aber|et|mais|y|pero|e|ma|mas|en|maar)\s+)(?:not|never|nicht"
    r"|kein(?:e[nmrs]?)?|pas|no|non"
    r"|não|niet|geen)\s+(?:the |an? |de |d['’]|l['’]|le |la |el |il )?\Z"
)
"""What a line sets against what it says: "Duruflé, not Fauré"."""
_FOR_ANOTHER = re.compile(r"\s*(?:대신|の代わり|而不是)")


def _only_passed_over(claim: Claim, lines: Sequence[Line]) -> bool:
    """Whether a value stands only where something else was taken in its place: "the Skoda instead of the Renault"."""
    places = [
        (line.text, match.start(), match.end())
        for line in lines
        for match in re.finditer(re.escape(claim.core), line.text, re.IGNORECASE)
    ]
    return (
        claim.value
        and bool(places)
        and all(_PASSED_OVER.search(text[:start]) or _FOR_ANOTHER.match(text[end:]) for text, start, end in places)
    ) or any(_only_not(name, lines) for name in _set_against(claim))


def _set_against(claim: Claim) -> list[str]:
    """What of a claim a line may set against what it says: a value, and the names of a sentence."""
    if claim.value:
        return [claim.core]
    return [one.text for one in details(claim.core) if one.kind == "name" and one.sure]


def _only_not(wanted: str, lines: Sequence[Line]) -> bool:
    """Whether something stands in the lines only behind a "not" that sets it against something else."""
    places = [
        (line.text, match.start())
        for line in lines
        for match in re.finditer(rf"(?<![^\W_]){re.escape(wanted)}(?![^\W_])", line.text, re.IGNORECASE)
    ]
    return bool(places) and all(_NOT_THAT.search(text[:start]) for text, start in places)


_WAY = re.compile(
    r"(?<!\w)(?:from|von|aus|de|desde|depuis|da|van|från|fra|из|с)\s+(?P<start>\w+)\s+(?:to|into|nach|ins|à|a"
    r"|hacia|vers"
    r"|naar|till|til|в)\s+(?P<end>\w+)"
)


def _from_for_to(claim: str, text: str) -> bool:
    """Whether a claim goes where a line comes from, or the other way round: "from Passau to Görlitz"."""
    for way in _WAY.finditer(text):
        if not (way["start"][:1].isupper() and way["end"][:1].isupper()):
            continue
        said = re.search(
            rf"(?<!\w)(?:to|into|nach|ins|à|a|hacia|vers|naar|till|til|в)\s+{re.escape(way['start'])}\b"
            rf"|(?<!\w)(?:from|desde|depuis|van|från|fra|из)\s+{re.escape(way['end'])}\b",
            claim,
        )
        if said is not None:
            return True
    return False


_ENDED = re.compile(
    r"(?i)\A\W*(?:antes|prima|avant|davor|zuvor|früher|before (?:that|then)|earlier|eerder|tidigare|раньше)\b"
    r"|\b(?:quit|stopped|gave up|given up|used to|until|former\w*|past|aufgehört|früher\w*|ehemals|arrêté"
    r"|autrefois|ancien\w*"
    r"|dej[éó]|smesso|gestopt|vroeger|slutat"
    r"|бросил[аи]?)\b"
    r"|끊[었은음]|그만[두둠]|그만뒀|やめ[たてま]|辞め[たてま]|戒了|戒掉|不再"
)
"""Words that something is over: as a present thing it is told of nobody."""


def _no(clause: str, within: str, *, over: bool) -> bool:
    """Whether a clause denies, or says that something is over where the claim (`over`) does not."""
    ended = _ENDED.search(clause)
    if ended is not None and ended[0].casefold() == "until" and _IS_SO.search(clause):
        ended = None  # "we are insured until September"
    return negates(clause, within) or (not over and ended is not None)


_IS_SO = re.compile(r"(?i)\b(?:am|is|are|will)\b|['’](?:m|re|ll)\b")


def _clauses_of(claim: Claim, lines: Sequence[Line], window: Sequence[Line]) -> list[str]:
    """The clauses of lines that can say a claim, each once: where it is of the user, those of their lines of them."""
    names = _own_names(window)
    known = names_in(line.text for line in window)
    whole = claim.whole.casefold()
    every: list[Told] = []
    for line in lines:
        told = told_of(line.text, claim.language, names, known)
        for one, behind in zip(told, [*told, Told("")][1:], strict=True):
            refused = line.own and _REFUSED.match(behind.text) and _PROPOSED.search(one.text)
            if refused and not claim.value and not (one.who and _named_in(one.who, whole, claim)):
                every.append(replace(one, text=f"{one.text} {behind.text}", who=frozenset()))
            else:
                every.append(one if line.own else Told(one.text))
    own = [one for one in every if not one.who or _named_in(one.who, whole, claim)]
    return list(dict.fromkeys(one.text for one in (own if own and not claim.about else every)))


_REFUSED = re.compile(
    r"(?i)\W*(?:no (?:chance|way|thanks?)|not (?:a chance|happening|for me)|never|nope|absolutely not|of course not"
    r"|(?:and |but )?i (?:won['’]t|don['’]t|didn['’]t|can['’]t|wouldn['’]t|haven['’]t|will not|do not)"
    r"|kommt nicht in ?frage|auf keinen fall|nie im leben|niemals"
    r"|(?:aber )?ich nicht|pas question|jamais(?: de la vie)?|certainement pas|(?:mais )?(?:moi|pas) (?:non|moi)"
    r"|ni hablar|de ninguna manera|jamás|yo no"
    r"|neanche per sogno|assolutamente no|io no|de jeito nenhum|eu não|geen sprake van|nooit|ik niet|aldrig"
    r"|jag inte|ни за что|никогда|я нет)\W*\Z"
)
"""A clause that does nothing but say no to the one before it."""
_PROPOSED = re.compile(
    r"(?i)\?|\b(?:should|could|might|wants?|wanted|thinks?|says?|said|asks?|asked|suggest\w*|offer\w*|told|soll\w*"
    r"|könn\w+|mein[te]\w*|sag\w+|will|wollte"
    r"|devrai\w+|dit|veut|voulait|debería\w*|dice\w*|quiere\w*|dovre\w+|vuole|deveria|diz|quer|zou|moet|zegt|wil"
    r"|borde|säger|vill|должн\w+|говорит|хочет)\b"
)
"""What somebody proposes or asks: that is what a bare no refuses."""


def _clauses(lines: Sequence[Line]) -> list[tuple[Line, str]]:
    return [
        (line, clause) for line in lines for clause in CLAUSE.split(line.text[:20_000]) if clause and clause.strip()
    ]


def _overlap(text: str, clause: str, language: str) -> float:
    wanted = _terms(text, language)
    if not wanted:
        return float(_literally(text, clause))
    held = _terms(clause, language)
    numbers = {value for one in quantities(clause) for value in one.values}
    spoken = {one.text.casefold() for one in quantities(text) if one.values & numbers}
    return sum(term in held or term in spoken for term in wanted) / len(wanted)


def _translated(claim: Claim, lines: Sequence[Line]) -> bool:
    """Whether a value is in a script in which the lines say nothing."""
    wanted, held = scripts([claim.core]), scripts(line.text for line in lines)
    return bool(wanted) and not any(held[script] for script in wanted)
