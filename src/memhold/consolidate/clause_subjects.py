"""Of whom each clause of a line is: the speaker, or somebody else of whom they speak. Pure.

By grammar, not by a list of people. A clause that holds the speaker's own pronoun ("I", "ich", "yo" or a verb form that
says it) is of the speaker. Else its subject is what stands at its beginning: a noun that the speaker possesses ("my
landlady"), a name ("Marek"), a noun with its article, or a pronoun of the third person, which takes up whoever was
spoken of last. A clause without a subject goes on with that of the clause before it in the sentence. What is told of
such a subject is told of the user only where the claim names the subject too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from memhold.facts.keys.lexicon import LANGUAGES, lexicon
from memhold.text.details import capitalises_nouns, details
from memhold.text.function_words import EVIDENCE, FUNCTION_WORDS
from memhold.text.kin import hyphened, kin_in
from memhold.text.negation import negates
from memhold.text.person import first_words_of
from memhold.text.quantities import quantities
from memhold.text.times import calendar_words

# ruff: noqa: RUF001 - signs of every script end clauses and sentences

__all__ = [
    "CLAUSE",
    "FAVORITE",
    "KIN",
    "MINE",
    "SENTENCE",
    "THIRD",
    "Clause",
    "names_in",
    "own_names_in",
    "people",
    "whose_clauses",
]

_TITLE: Final = r"(?<!\b(?:[MD]r|Ms|St)\.)(?<!\b(?:Mrs|Sra)\.)(?<!\bProf\.)"
"""No sentence ends behind the short form of a title: "Mr. Adeyemi"."""
CLAUSE = re.compile(
    rf"{_TITLE}(?<=[.!?;:…])\s+|[。！？；、，]|,(?!\d)|\s[-–—]\s|\n+"
    r"|\s(?:and|but|although|though|whereas|because|since(?!\s+\d)|when|while|which|who|so|und|aber|sondern|obwohl|weil|wenn"
    r"|dass"
    r"|och|og|et|mais|parce|quand|y|pero|aunque|sino|porque|cuando|e|però|perché|mas|и|но|а|потому|когда|maar"
    r"|omdat"
    r"|(?:that|que)(?=\s+(?:he|she|they|his|her|their|my|our|él|ella|ellos|ellas|mis?)\b)"
    # "ma" is also French for "my", "en" also French and Spanish for "in"
    r"|ma(?=\s+(?:non|che|io|lui|lei|noi|il|la|è|poi|anche|ora|solo)\b)"
    r"|en(?=\s+(?:ik|hij|zij|ze|we|wij|mijn|zijn|haar|onze|de|het|een|is|heeft|dat|die|daar|toen|nu|dan|ook|niet)\b))\s"
    # Korean joins clauses by the ending of the verb
    r"|(?<=고)\s(?=[가-힣]{1,6}(?:은|는|이|가)\s)|(?<=인데|는데|은데|한데|지만|면서|니까|아서|어서|해서|라서|와서|려서|하고|이고|되고|있고|없고|았고|었고|했고|였고|개고|쓰고)\s",
    re.IGNORECASE,
)
"""Where one statement of a line ends and another begins, in the languages whose conjunctions are known."""
SENTENCE = re.compile(rf"{_TITLE}(?<=[.!?…])[\"'”’)\]]*\s+(?=\S)|(?<=[。！？])|\n+")
MINE: Final = (
    r"my|our|(?:mein|unser)(?:e[nmrs]?)?|mon|ma|mes|notre|nos|mi|mis|nuestr[oa]s?"
    r"|(?:il |la |i |le )?(?:mio|mia|miei|mie|nostr[oaie])"
    r"|(?:o |a )?(?:meu|minha|nosso|nossa)|mijn|onze|ons|min|mitt|mina|vår|vårt|мой|моя|наш|наша"
)
"""Words by which the speaker says that something is theirs, before it."""
_POSSESSED = re.compile(rf"(?i)(?<!\w)(?:{MINE})\s+(?P<noun>\w+(?:\s+\w+)?)")
_POSSESSIVE = re.compile(rf"(?i)(?:{MINE}|mine|meus|minhas|nos|ons|våra|моего|моей|моё|мое|мои)\Z")
"""A word of the first person that says whose something is, and not who does it."""
_OBJECTS: Final = frozenset(
    [
        "me",
        "us",
        "myself",
        "mir",
        "mich",
        "uns",
        "m'",
        "moi",
        "nous",
        "nos",
        "mí",
        "mi",
        "conmigo",
        "ci",
        "mim",
        "mij",
        "ons",
        "mig",
        "oss",
        "meg",
        "мне",
        "меня",
        "мной",
        "нам",
        "нас",
    ]
)
"""Words of the first person that say to whom or for whom something is, where somebody else does it."""
_PREPOSED: Final = frozenset(
    [
        "grand",
        "grande",
        "petit",
        "petite",
        "vieux",
        "vieille",
        "jeune",
        "meilleur",
        "meilleure",
        "ancien",
        "ancienne",
        "futur",
        "future",
        "beau",
        "belle",
        "mejor",
        "antiguo",
        "antigua",
        "nuevo",
        "nueva",
        "viejo",
        "vieja",
        "gran",
        "futuro",
        "vecchio",
        "vecchia",
        "migliore",
        "nuovo",
        "nuova",
        "ex",
        "melhor",
        "antigo",
        "antiga",
        "oude",
        "beste",
        "kleine",
        "grote",
        "jongste",
        "oudste",
        "nieuwe",
        "gamla",
        "bästa",
        "nya",
    ]
)
"""Adjectives that stand before their noun, where most stand behind it: the second word is the noun then."""
_ARTICLE = re.compile(
    r"(?i)\W*(?:the|der|die|das|le|la|les|el|los|las|il|lo|gli|o|os|as|het|de)\s+(?P<noun>[^\W\d_]{3,}(?:\s+\w+\b(?!['’]))?)"
)
_SOMEBODY = re.compile(
    r"(?i)\W*(?:an?|one|some|another|eine?|une?|una|uno?|um|uma|een|en|ett)\s+(?P<noun>[^\W\d_]{3,})\s"
)
"""Somebody who is spoken of for the first time: "one girl has an allergy"."""
_BARE = re.compile(r"\W*(?P<noun>[^\W\d_]{3,})(?=\s)")
"""A word with nothing before it: of kin it needs nothing, "mum fell apart"."""
_OF_MINE = re.compile(rf"(?i)\s*(?:of|von|de|di)\s+(?:{MINE})\s+(?P<noun>\w+)")
"""Whose something is, behind it: "el gato de mi vecina" is of her."""
_ONE_OF_THEM = re.compile(
    r"(?i)last|first|other|one|next|letzte[nrs]?|erste[nrs]?|andere[nrs]?|dernière?|premi(?:er|ère)|autre|últim[oa]|primer[oa]"
    r"|otr[oa]|ultim[oa]|prim[oa]|altr[oa]|laatste|eerste|andere|sista|första|andra"
)
"""Behind an article, one of what was just spoken of, and no subject of its own."""
THIRD = re.compile(
    r"(?i)\W*+(?:(?:he|she|they|his|her|their|er|sie|sein(?:e[nmrs]?)?|ihr(?:e[nmrs]?)?|il|elle|ils|elles|son|sa"
    r"|leur|él|ella|su|sus"
    r"|lui|lei|ele|ela|hij|zij|zijn|haar|dessen|deren|hon|han|он|она|они)(?:['’]\w+)?\b"
    r"|c['’](?:est|était)\s+(?:elles?|lui|eux)\b"
    r"|(?:che|qui|som|que(?=\s+(?:es|está|tiene|era|fue|trabaja|vive))|котор\w+)\b"
    r"|(?:der|die|das|dat)(?=\s+(?:ist|is|hat|hatte|heeft|had|war|was|wird|kann|will|muss|soll|darf|mag"
    r"|(?-i:[a-zäöüß]{2,}t))\b))"
)
_THEIRS = re.compile(
    r"\W*(?i:his|her|their|sein(?:e[nmrs]?)?|ihr(?:e[nmrs]?)?|son|sa|ses|leurs?|su|sus|zijn|haar|hun|hans|hennes)"
    r"\s+(?P<noun>[^\W\d_]{3,})(?:\s(?P<called>[A-Z\u00c0-\u00de]\w+))?"
)
"""Somebody who is theirs of whom was spoken: "Dr Okafor runs it, her husband does the books"."""
_NAME = re.compile(
    r"\W*(?:(?i:herr|frau|mr|mrs|ms|dr|prof|señora?|monsieur|madame|signora?|meneer"
    r"|mevrouw)\.?\s+)?(?P<name>[^\W\d_]\w+(?:\s+[^\W\d_]\w+)?)"
)
_CAPITALISED = re.compile(r"[A-Z\u00c0-\u00de\u0391-\u03ab\u0410-\u042f]\w*")
_BEING = re.compile(
    r"(?i)^\W*(?:is|was|are|were|'s|ist|war|est|était|es|era|è|é|is)\s++(?:at|on|in|from|by|near|um|am|im|an|ab|à"
    r"|au|dans|en|a|al|alle|om|op)?\s*+\d"
)
"""What follows a subject that is dated or measured rather than described: "my flight is at 9"."""
FAVORITE = re.compile(
    r"(?i)\b(?:favou?rite|preferred|best[- ]loved|liebste[nrs]?|lieblings\w*|bevorzugte[nrs]?|préférée?s?|favoris?"
    r"|favorit[oae]s?|preferid[oa]s?"
    r"|preferit[oaie]|favoriet\w*|lievelings\w*|älsklings\w*|favorit\w*|любим\w+)\b|좋아하는|최애|一番好き"
    r"|最喜欢|最喜歡"
)
"""What an attribute of liking, or a thing that somebody likes best, begins with."""
_DESCRIBED = re.compile(r"(?i)\W*(?:\w+\s+)?(?:is|was|ist|war|est|était|es|era|è|foi|é)\s")
"""What follows the subject of a description: other clauses with an article are often of a thing of the speaker's."""
_SELF = re.compile(
    r"(?i:\b(?:i['’]?m|i am|my name is|this is|call me|ich bin|ich hei(?:ß|ss)e|je suis|je m['’]appelle|soy|me llamo"
    r"|sono|mi chiamo|ik ben|ik heet|eu sou|jag heter|меня зовут|я|name['’]?s|mein name ist|mi nombre es)\s+)"
    r"(?P<name>[A-Z\u00c0-\u00de\u0410-\u042f]\w+(?:\s[A-Z\u00c0-\u00de\u0410-\u042f]\w+)?)"
    r"|^\W*(?P<here>[A-Z\u00c0-\u00de]\w+) here\b"
)
_WHEN = re.compile(
    r"(?i)\W*(?:(?:on|at|the|am|im|le|el|il|op|på)\s+)?(?:(?:last|next|this|every|letzten?|nächsten?|diesen?|jeden?"
    r"|afgelopen|volgende|förra|nästa)\s+)?"
    r"(?:the day before yesterday|yesterday|today|tonight|tomorrow|(?:vor)?gestern|heute|(?:über)?morgen"
    r"|(?:avant-)?hier|aujourd['’]hui"
    r"|demain|(?:ante)?ayer|hoy|mañana|ieri|oggi|domani|ontem|hoje|amanhã|gisteren|vandaag|igår|idag|week|month"
    r"|year|woche|monat|jahr"
    r"|(?P<name>[^\W\d_]{3,}))\s+"
)
"""When something was, at the beginning of a clause: behind it stands the subject."""
_HE_HAS = re.compile(r"(?:ist|hat|hatte|war|wird|kann|will|muss|soll|darf|kommt|macht|geht)", re.IGNORECASE)
"""A German verb of the third person: a nominative behind it is its subject."""
_GERMAN_NOUN = re.compile(
    r"(?i)\b(?:der|die|das|den|dem|des|(?:k?ein|mein|dein|sein|ihr|unser)(?:e[nmrs]?)?|im|am|vom|zum|zur|beim|ins"
    r"|jede[nmrs]?|alle[nr]?"
    r"|viele[nr]?|je|\d+)\s+(?:\w+e[nmrs]?\s+)?\Z"
)
"""What stands before a noun and never before a name, in a language that writes both with a capital."""
_HELLO = re.compile(
    r"(?i:\A\W*(?:hello|hi|hey|welcome|thanks|thank you|good (?:morning|afternoon|evening|day)|morning|evening"
    r"|nice to meet you|hallo|moin|servus"
    r"|guten (?:morgen|tag|abend)|bonjour|bonsoir|salut|hola|buen[oa]s (?:días|tardes|noches)|ciao|buongiorno|olá"
    r"|hoi|hej|привет|здравствуйте),?)"
    r"\s+(?P<name>[^\W\d_]\w+)\s*[!.,?]"
)
"""How whoever answers greets the speaker by their name."""
_VOCATIVE = re.compile(r",\s+(?P<name>[A-Z\u00c0-\u00de]\w+)\s*[.!]")
_THAT = re.compile(r"(?i)\W*(?:is|was|ist|war|est|était|es|era|è)\s+(?:that|dass|que|qu['’]|che)\b")
"""What follows a noun that only introduces a statement: "the truth is that I miss it"."""
_PERSON = re.compile(r"(?i)\b(?:he|she|him|her|his|who)\b")
"""English says of a person alone what it does not say of a thing."""
_CLEFT = re.compile(r"(?i)\W*it(?:['’]s| is| was) .*\bthat\b|\W*c['’](?:est|était) .*\bqu[ie]\b")
"""A clause that points at what it speaks of has no subject: "it's the hip that is weak"."""
_BESIDE = re.compile(r"\W*(?:to|from|in|at|of|for|with|on|by)\b")
_ASIDE: Final = 4
"""Words up to which a clause without a verb of its own may describe the one before: "Marek, the caretaker, …"."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause and the words that name of whom it is; none for the speaker. `first`: it says so by a pronoun.

    `thing`: the subject is a noun with an article, which is as often a thing of the speaker's as a person.
    """

    text: str
    who: frozenset[str] = frozenset()
    first: bool = False
    thing: bool = False


@lru_cache(maxsize=2048)
def whose_clauses(
    text: str, language: str, own_names: frozenset[str] = frozenset(), known: frozenset[str] = frozenset()
) -> tuple[Clause, ...]:
    """Each clause of a line of the speaker's with of whom it is. What one person is called by is one.

    `own_names` are the speaker's own, `known` what is a name for certain elsewhere in the conversation.
    """
    if language == "english" and _NO_ENGLISH.match(text) and not _NAMED_MINE.match(text):
        language = "swedish"  # or Danish or Norwegian: in a short line "i" alone looks like English
    found = list(_clauses(hyphened(text), language, own_names, known))
    groups = _joined((one.who for one in found), known)
    return tuple(
        Clause(
            one.text, next((group for group in groups if one.who and one.who <= group), one.who), one.first, one.thing
        )
        for one in found
    )


def own_names_in(texts: Iterable[str], answers: Iterable[str] = ()) -> frozenset[str]:
    """What the speaker is called, where they say so, or where they are greeted by a name that they gave."""
    return _called(tuple(text[:20_000] for text in texts), tuple(answers))


@lru_cache(maxsize=16)  # each claim of a reply asks for its whole window
def _called(said: tuple[str, ...], answers: tuple[str, ...]) -> frozenset[str]:
    found = frozenset[str]().union(*map(_own_names, said))
    others: frozenset[str] | None = None
    for place, answer in enumerate(answers):
        greeted = _HELLO.match(answer) or (_VOCATIVE.search(answer[:1_000]) if place == 0 else None)
        if greeted is not None and any(re.search(rf"(?<!\w){re.escape(greeted['name'])}(?!\w)", one) for one in said):
            if others is None:
                others = frozenset(match["name"].casefold() for one in said for match in _THEIR_NAME.finditer(one))
            found |= {greeted["name"].casefold()} - others  # "Her name is Bori." "Welcome, Bori!"
    return found


_THEIR_NAME = re.compile(
    r"(?i)\b(?:his|her|its|their|sein|ihr|son|su|suo)\s(?:name|nom|nombre|nome)\W+(?:(?:is|was|ist|war|est|es|è)\W+)?"
    r"(?P<name>[^\W\d_]\w+)"
)
"""What somebody else is called."""


@lru_cache(maxsize=1024)
def _own_names(text: str) -> frozenset[str]:
    called = (match["name"] or match["here"] for match in _SELF.finditer(text))
    found = frozenset(word for one in called for word in one.casefold().split())
    return found | {match[1] for match in _WIDE_SELF.finditer(text)}


_WIDE_SELF = re.compile(r"(?:我叫|我是)([^\W\d_]{2,3})(?=[，,。])")


def names_in(texts: Iterable[str]) -> frozenset[str]:
    """What is a name for certain: a capital within a sentence, in languages that write nouns small."""
    return _names_of(tuple(text[:20_000] for text in texts))


@lru_cache(maxsize=16)  # each claim of a reply asks for its whole window
def _names_of(texts: tuple[str, ...]) -> frozenset[str]:
    return frozenset[str]().union(_recurring(texts), *map(_names, texts))


def _recurring(texts: tuple[str, ...]) -> frozenset[str]:
    """Words that stand with a capital more than once and never without, where nouns are written small."""
    whole = " ".join(texts)
    if capitalises_nouns(whole):
        return frozenset()
    counts = Counter(match[0] for match in _CAPITALISED.finditer(whole) if len(match[0]) > 2)
    small = {*re.findall(r"\w+", whole), *EVIDENCE}
    often = {word.casefold() for word, count in counts.items() if count > 1}
    return frozenset(word for word in often if word not in small and not calendar_words(word))


@lru_cache(maxsize=1024)
def _names(text: str) -> frozenset[str]:
    # Within a Korean line a whole sentence may be English: Latin words are names only beside others.
    parts = SENTENCE.split(text) if _HANGUL.search(text) or _HAN.search(text) else [text]
    found = {one.text.casefold() for part in parts for one in details(part) if one.kind == "name" and one.sure}
    found |= {match["name"].casefold() for match in _GERMAN_NAMED.finditer(text)}
    if _HANGUL.search(text) or _HAN.search(text):
        near = (_WIDE_SUBJECT.match(_WIDE_WHEN.sub("", clause)) for _, clause in _split(text))
        found |= {one[name] for one in near if one is not None for name in ("ko_name", "ja_name") if one[name]}
    return frozenset(found)


_APPOSED = re.compile(
    r"((?:\A|(?<=[.!?]\s))(?:[Tt]he|[Mm]y|[Oo]ur|[DdMm]eine?|[Uu]nsere?|[Dd]er|[Dd]ie|[Ll]es?|[Ll]a|[Mm]on|[Mm]a|[Mm]es|[EeIi]l|[Mm]i)\s"
    r"[^\W\d_]{1,20}),\s((?:(?:the|die|les?|los|las|gli|i)\s)?[A-Z\u00c0-\u00de][^\W\d_]{1,20}),\s(?=[a-zà-ÿ])"
)
"""A name beside its noun, between commas: "The neighbours, the Okafors, keep bees" is one clause."""


def _clauses(text: str, language: str, own_names: frozenset[str], known: frozenset[str]) -> Iterator[Clause]:
    last: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()
    things = False
    for sentence in SENTENCE.split(_APPOSED.sub(r"\1 \2 ", text[:20_000])):
        current: frozenset[str] = frozenset()
        bare = mine = person = False  # the clause before was a subject alone
        every = list(_split(sentence))
        for (_, label), (sign, clause), (_, following) in zip(
            [("", ""), *every], every, [*every[1:], ("", "")], strict=False
        ):
            subject, rest = _subject(clause, last, language, own_names, bare=bare, known=known, following=following)
            if label.rstrip().endswith((";", "；")):
                current = frozenset()
            if label.rstrip().endswith((":", "：")) and not rest.strip():
                subject = None  # "blood type: AB": a name alone behind a label is its value
            if _CLEFT.match(clause):
                current = frozenset()
            if mine and subject and _listed(subject, rest, label, language, known):
                subject = None
            if subject is None and sign.strip().casefold() in {"who", "which"}:
                subject = _named(label, own_names, language) or None
            spoken = first_words_of(rest, language)
            whose = frozenset(
                word for word in spoken if _POSSESSIVE.match(word) and (word, language) != ("mi", "italian")
            )
            told_to = _told_to(clause, spoken - whose, subject, current, known)
            first = bool(spoken - whose) or (bool(spoken) and subject is None and not current)
            first = first or _WIDE_FIRST.match(clause) is not None
            # "I'm a midwife in Ghent, nights mostly": what goes on without a subject is of the speaker still.
            mine_before = mine
            mine = first or (mine and subject is None and not current and not _named(clause, own_names, language))
            thing = _of_a_thing(clause, known)
            thing = thing or (_article(clause, language) is not None and _DESCRIBED.match(rest) is None and not bare)
            if subject is not None and mine_before and _BESIDE.match(rest):
                subject, mine = None, True  # "I translate manuals, Finnish to English": no sentence of its own
            if first and not told_to:
                current, bare = frozenset(), False
            elif subject is not None:
                two = bool(subject & known) and bool(current & known)  # two names are two people
                aside = bare and not two and len(clause.split()) <= _ASIDE
                # "健太は手伝うが、農家は継がない": a later topic of the sentence is what the person does it with.
                aside = aside or (person and _of_a_thing(clause, known))
                person = person if aside else _WIDE_SUBJECT.match(clause) is not None
                current = current | subject if aside else subject
                bare = aside or not rest.strip()
            thing = (
                thing
                and not (language == "english" and _PERSON.search(sentence))
                and not (subject or frozenset()) & people()
            )
            things = thing if subject is not None else things and bool(current)
            yield Clause(clause, current, mine, things)
            last = _named(clause, own_names, language) if first or not current else current
            if _named(clause, own_names, language) & people() and not current & (known | people()):
                last = _named(clause, own_names, language)  # "sourdough is my wife's thing, she …"
            last = last or before or _met(clause, language)
            if (owner := _RELATIVE.match(clause)) is not None:
                last |= {owner["name"].casefold()}  # "Ada's wife had a baby, so she is off": either of the two
            before = last


def _told_to(
    clause: str, spoken: frozenset[str], subject: frozenset[str] | None, current: frozenset[str], known: frozenset[str]
) -> bool:
    """Whether somebody else does it to the speaker: "she has been with us since 2018" is of her all the same.

    So it is of what goes on of them: "my dad sold the house and lives with us".
    """
    goes_on = subject is None and bool(current)
    named = THIRD.match(clause) is not None or bool((subject or frozenset()) & known) or goes_on
    return bool(spoken) and spoken <= _OBJECTS and named


def _listed(subject: frozenset[str], rest: str, label: str, language: str, known: frozenset[str]) -> bool:
    """Whether names stand alone and are of what stands before them: "I keep two goats, Pia and Bo"."""
    return subject <= known and not rest.strip() and not _met(label, language) & people()


@lru_cache(maxsize=1)
def people() -> frozenset[str]:
    """Words for people in the languages of the key lexicons: what does something under one of these is no thing."""
    phrases = (one for language in LANGUAGES for one in lexicon(language).phrases.items())
    words = {form[0] for form, sense in phrases if sense.kind == "person" and len(form) == 1 and len(form[0]) > 3}
    return frozenset(words | {f"{word}s" for word in words})


def _of_a_thing(clause: str, known: frozenset[str]) -> bool:
    """Whether what a clause is about is no person for certain, in a script without capitals."""
    if _WIDE.match(clause) is None or _WIDE_SUBJECT.match(clause) is not None or _WIDE_THIRD.match(clause) is not None:
        return False
    topic = _WIDE_TOPIC.match(clause)
    return topic is None or (topic[1] or topic[2]) not in known


def _split(sentence: str) -> Iterator[tuple[str, str]]:
    """The clauses of a sentence, each with what stands between it and the one before."""
    place, sign = 0, ""
    for match in CLAUSE.finditer(sentence):
        if _is_with(sentence[place : match.start()], match[0], sentence[match.end() :]):
            continue
        if sentence[place : match.start()].strip():
            yield sign, sentence[place : match.start()]
        place, sign = match.end(), match[0]
    if sentence[place:].strip():
        yield sign, sentence[place:]


_WITH = re.compile(rf"(?i)\b(?:with|mit|avec|con|com|met|med)\s+(?:{MINE})\s")
_ANOTHER = re.compile(
    rf"(?i)(?:{MINE})\s+[^\W\d_]+(?:\s+(?-i:[A-Z\u00c0-\u00de])[^\W\d_]+)?"
    r"(?:\s+(?P<where>in|at|near|im|am|bei|en|a|à|dans|chez|na|no|em|bij|i|på)\s|\W*\Z)"
)


def _is_with(before: str, sign: str, after: str) -> bool:
    """Whether a conjunction only adds to whom somebody is with: "with my wife Ana and our dog Toby in Rome".

    Not where the place was said before it: "with my wife in Oslo, and my son in Rome".
    """
    if sign.strip().casefold() not in {"and", "und", "et", "y", "e", "en", "och", "og"} or not _WITH.search(before):
        return False
    found = _ANOTHER.match(after)
    return found is not None and (found["where"] is None or re.search(rf"(?i)\b{found['where']}\b", before) is None)


def _subject(
    clause: str,
    last: frozenset[str],
    language: str,
    own_names: frozenset[str],
    *,
    bare: bool,
    known: frozenset[str],
    following: str,
) -> tuple[frozenset[str] | None, str]:
    """The words that name the subject at the beginning of a clause (None: there is none), and what follows it."""
    if (behind := _WHEN.match(clause)) is not None and (behind["name"] is None or calendar_words(behind["name"])):
        found, rest = _subject(
            clause[behind.end() :], last, language, own_names, bare=bare, known=known, following=following
        )
        return (found, rest) if found is not None else (None, clause)
    if _WIDE.match(clause) is not None:
        found, rest = _wide_subject(clause)
        return (last or found, rest) if _WIDE_THIRD.match(clause) is not None else (found, rest)
    if (name := _NAMED_MINE.match(clause)) is not None and language not in _SCANDINAVIAN:
        return frozenset({name["name"].casefold()}), clause[name.end() :]
    if (match := _possessor(clause, language)) is not None:
        rest = clause[match.start("noun") :]
        words = _of_noun(rest, language)
        # "my number is 7" is of the speaker, whoever's the clause before was; so is what they like best
        speakers = _BEING.match(rest[len(words[0]) :]) or FAVORITE.match(rest)
        return (frozenset() if speakers else _words(words, language)), rest[len(words[0]) :]
    if (match := _THEIRS.match(clause)) is not None and match["noun"].casefold() in people():
        return _words(filter(None, (match["noun"], match["called"])), language), clause[match.end() :]
    if (match := THIRD.match(clause)) is not None:
        return last or frozenset({re.findall(r"\w+", match[0])[0].casefold()}), clause[match.end() :]
    if language in _NAMES_WITH_ARTICLES:
        clause = re.sub(r"\A\W*(?:[oO]|[aA]|[lL]a|[iI]l)\s+(?=[A-Z\u00c0-\u00de])", "", clause)
    if (match := _RELATIVE.match(clause)) is not None and match["noun"].casefold() in people():
        return _words(filter(None, (match["noun"], match["called"])), language), clause[match.end() :]
    name = _NAME.match(clause)
    if name is not None and _is_name(name["name"], clause, language, own_names, known=known, after=following):
        words = name["name"].split()
        kept = [words[0], *(word for word in words[1:] if word[:1].isupper())]
        rest = clause[name.start("name") + len(kept[0]) :]
        return frozenset(word.casefold() for word in kept), rest
    if (match := _BARE.match(clause)) is not None and kin_in(match["noun"], language):
        return frozenset({match["noun"].casefold()}), clause[match.end() :]
    if (match := _SOMEBODY.match(clause)) is not None and match["noun"].casefold() in people():
        return frozenset({match["noun"].casefold()}), clause[match.end() :]
    if (match := _article(clause, language)) is not None:
        words = _of_noun(match["noun"], language)  # "der Hund verträgt": no verb is of the subject
        after = clause[match.start("noun") + len(words[0]) :]
        if (owner := _OF_MINE.match(after)) is not None and owner["noun"].casefold() in people():
            return frozenset({owner["noun"].casefold()}), after[owner.end() :]
        if _ONE_OF_THEM.fullmatch(words[0]):
            return None, clause  # "my brother runs marathons, the last in 3:40"
        if (bare or after.strip()) and not _BEING.match(after) and not _THAT.match(after):
            return _words(words, language), after
    return None, clause


def _article(clause: str, language: str) -> re.Match[str] | None:
    """A noun with its article at the beginning of a clause; "de" is one in Dutch alone, "as" in Portuguese."""
    found = _ARTICLE.match(clause)
    if found is not None and language != "portuguese" and re.match(r"(?i)\W*(?:os?|as)\s", clause):
        return None  # "as always"
    return None if found is not None and language != "dutch" and re.match(r"(?i)\W*de\s", clause) else found


def _wide_subject(clause: str) -> tuple[frozenset[str] | None, str]:
    """The same in a script without capitals: somebody's kin, or whatever is marked as what the clause is about."""
    clause = clause[_WIDE_WHEN.match(clause).end() :]  # type: ignore[union-attr]
    if (match := _WIDE_FIRST.match(clause)) is not None:
        return frozenset(), clause[match.end() :]
    if (match := _WIDE_THIRD.match(clause)) is not None:
        return frozenset(filter(None, match.groups())), clause[match.end() :]
    if (match := _WIDE_SUBJECT.match(clause)) is not None:
        words = (match[name] for name in ("ko", "ko_name", "ja", "ja_name", "zh"))
        return frozenset(word for word in words if word), clause[match.end() :]
    match = _WIDE_TOPIC.match(clause)
    return (frozenset({match[1] or match[2]}), clause[match.end() :]) if match is not None else (None, clause)


def _of_noun(text: str, language: str) -> list[str]:
    """The words of the noun at the beginning of a text: with the adjective before it, and the names behind it."""
    words = re.findall(r"\w+(?:-\w+)*|[^\w\s]+", text)
    found, behind = words[:1], words[1:4]
    noun = behind[0] if behind else ""
    adjective = found[0].casefold() in _PREPOSED or (
        language not in _NOUN_FIRST and not re.search(r"[^s]s\Z|ed\Z", noun) and language != "german"
    )
    if noun[:1].islower() and adjective:
        found.append(noun)
        behind = behind[1:]
    elif language == "german" and noun[:1].islower():
        behind = [word for word in behind[1:2] if re.search(r"e[nmrs]?\Z", found[0])]  # "mein alter Chef"
    for word in behind:
        if not word[:1].isupper():
            break
        found.append(word)
    return found


_NOS: Final = frozenset({"spanish", "portuguese", "catalan"})
_NAMES_TOO: Final = {
    "Mia": ("italian",),
    "Mio": ("italian",),
    "Min": ("swedish", "norwegian", "danish"),
    "Mina": ("swedish", "norwegian"),
}
"""Possessives that are also names of people, with the languages in which they are possessives."""
_PRO_DROP: Final = frozenset({"italian", "spanish", "portuguese"})
_VERB_OF_MINE = re.compile(
    r"(?i)[^\W\d_]+[oò]\s+(?:(?:a|ad|al|alla|in|nel|nella|come|en|como|no|na|num|numa|em|ao|à)\s"
    rf"|(?:con|com)\s(?:{MINE})\s)"
)
"""In languages that leave the pronoun out, a verb of the first person before what follows a verb: "abito a Torino"."""
_NAMES_WITH_ARTICLES: Final = frozenset({"italian", "portuguese"})
_RELATIVE = re.compile(
    r"\W*(?P<name>[A-Z\u00c0-\u00de]\w+)['’]s\s+(?P<noun>[a-z]+)(?:\s(?P<called>[A-Z\u00c0-\u00de]\w+))?"
)
"""Somebody who is another's: "Ada's brother" is not Ada."""
_NOUN_FIRST: Final = frozenset({"french", "spanish", "italian", "portuguese", "catalan", "dutch", "swedish", "danish"})


_I = re.compile(r"(?i)\W*(?:i|we)(?:['’]\w+)?\b")
_DID = re.compile(
    r"(?i)\w{2,30}(?:ed|ing)|(?:lost|sold|got|broke|bought|found|made|quit|left|took|gave|saw|met|had|sent|wrote|forgot|hurt|cut"
    r"|put|did|won|paid|built|brought|caught|chose|hit|kept|read|spent|taught)"
)
"""An English verb of the past, or a participle."""
_BEGINS_WITH_A_VERB = re.compile(
    rf"(?i)\W*(?:(?:just|finally|already|also|recently|then|even)\s)?(?:{_DID.pattern.removeprefix('(?i)')})"
)
"""A sentence up to what is done, without anybody who does it."""
_VERB = re.compile(
    r"(?i)(?:is|was|are|were|had|will|would|can|could|should|might|may|must|does|did|\w{0,30}[^s\W]s|\w{1,30}ed)\b"
)
_NAMED_MINE = re.compile(
    rf"\W*(?P<name>{'|'.join(_NAMES_TOO)})\s+(?={_VERB.pattern}|{_DID.pattern}\b)".replace("(?i)", "")
)
"""A name at the beginning of a clause, which is a possessive elsewhere, before an English verb: "Mia is six"."""
_SCANDINAVIAN: Final = frozenset({"swedish", "norwegian", "danish"})
_NO_ENGLISH = re.compile(r"(?i)\W*(?:min|mitt|mina|vår|vårt|våra|våre)\s+(?-i:[a-zà-ÿ])")


def _possessor(clause: str, language: str) -> re.Match[str] | None:
    """The first noun of the speaker's that is no object: nothing or a word of content stands before it.

    In German also behind a verb of the third person ("gestern hat mein Nachbar").
    """
    for match in _POSSESSED.finditer(clause):
        if language in _NOS and match[0].casefold().startswith("nos "):
            continue  # "nos mudamos": there it is no possessive
        before = clause[: match.start()].split()
        if before and language not in _NAMES_TOO.get(match[0].split()[0], language):
            continue  # "my husband loves Mia dearly"
        if not before or before[-1].casefold().strip("'\"(") not in EVIDENCE:
            if language == "english" and before and _I.match(clause):
                # "I owe my sister 20": an object, unless a verb stands behind it ("I think my sister owes me 20").
                behind = clause[match.start("noun") :].split()[len(_of_noun(clause[match.start("noun") :], language)) :]
                if not behind or not _VERB.match(behind[0]):
                    continue
            if language == "english" and before and _BEGINS_WITH_A_VERB.fullmatch(" ".join(before).strip()):
                continue  # "Just passed my driving test", without the speaker's own pronoun
            return match
        inverted = language == "german" and re.match(r"(?i)(?:mein|unser)e?\s", match[0]) is not None
        if inverted and _HE_HAS.fullmatch(before[-1]) and not first_words_of(clause[: match.start()], language):
            return match
    return None


def _is_name(
    word: str, clause: str, language: str, own_names: frozenset[str], *, known: frozenset[str], after: str
) -> bool:
    first = word.split(maxsplit=1)[0]
    folded = first.casefold()
    if folded not in known and _BEFORE_A_TITLE.match(clause):
        return False  # "Saw Dr. Amari today"
    if folded not in known and language in _PRO_DROP and _VERB_OF_MINE.match(clause.lstrip()):
        return False
    if not first[:1].isupper() or folded in own_names or negates(first) or (folded in EVIDENCE and folded not in known):
        return False
    if any(calendar_words(one) for one in word.split()) or quantities(first):
        return False
    if _HANGUL.search(first):
        return _KOREAN_SUBJECT.search(first) is not None  # "AB형이야" says what something is
    if language == "german":
        return first.casefold() in known or clause.strip().split()[0].casefold() in _TITLES
    if first.casefold() in known:
        return True
    if after and all(one[:1].isupper() for one in clause.split()) and len(clause.split()) <= 2:
        # a subject that stands alone, before what is said of it between commas
        return _ARTICLE.match(after) is not None or _possessor(after, language) is not None
    return any(one.kind == "name" and first.startswith(one.text) for one in details(clause))


_BEFORE_A_TITLE = re.compile(r"\W*[^\W\d_]+\s+(?:[MD]rs?|Ms|Prof|Sra?|Mme|Herrn?|Frau)\b")
_GERMAN_NAMED = re.compile(
    r"\b(?:[Mm]ein|[Uu]nser)e?[nmrs]?\s+[A-ZÄÖÜ]\w+\s+(?!Herr|Frau|Anfang|Mitte|Ende)(?P<name>[A-ZÄÖÜ][a-zäöüß]+)\b"
)
"""A name behind a noun that the speaker possesses, in a language where every noun has a capital."""
_HANGUL = re.compile("[\uac00-\ud7a3]")
_HAN = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_KOREAN_SUBJECT = re.compile(r"(?:은|는|이|가|도|께서)\Z")
"""The particles of what a Korean clause is about."""
KIN: Final = (
    "남편|아내|와이프|집사람|엄마|어머니|어머님|아빠|아버지|아버님|딸|아들|누나|언니|오빠|형님|형|여동생|남동생|동생|할머니|할아버지|장모님|장인어른|시어머니|시아버지"
    "|이모|고모|삼촌|조카|사촌|친구|동료|상사|이웃|룸메이트|여자친구|남자친구|사장님|팀장님"
    "|妻|夫|旦那|主人|嫁|娘|息子|母|父|祖母|祖父|兄|姉|弟|妹|叔父|叔母|いとこ|甥|姪|友人|友達|同僚|上司|部下|彼女|彼氏|隣人|義母|義父|相棒|先輩|後輩"
    "|太太|老婆|妻子|先生|丈夫|老公|妈妈|母亲|爸爸|父亲|女儿|儿子|哥哥|弟弟|姐姐|妹妹|奶奶|爷爷|外婆|外公|叔叔|阿姨|朋友|同事|老板|邻居|室友|男朋友|女朋友"
)
"""Who is somebody else's, in scripts without capitals: there no sign tells a person from a thing."""
_WIDE_SUBJECT = re.compile(
    rf"\W*(?:우리\s?|제\s|내\s|저희\s?)?(?P<ko>{KIN})(?:인|\s)?\s?(?P<ko_name>[가-힣]{{1,4}}?)?이?(?:은|는|가|께서|도|이)(?=\s)"
    rf"|\W*(?:私の|僕の|俺の|うちの)?(?P<ja>{KIN})(?:の(?P<ja_name>[^\W\d_]{{1,6}}?))?(?:さん|ちゃん|くん)?(?:は|が|も)"
    rf"|\W*(?:我的?|我们的?|我家)?(?P<zh>{KIN})"
)
"""A clause of Korean, Japanese or Chinese about somebody whom the speaker has, with the name that stands there."""
_WIDE_TOPIC = re.compile(r"\W*(?:([가-힣]{1,6}?)이?(?:은|는|께서)(?=\s)|([^\W\d_]{1,6}?)(?:さん|ちゃん|くん)?は)")
"""Whatever a clause is marked to be about."""
_WIDE_WHEN = re.compile(r"\A(?:\W*[가-힣]{1,6}(?:에서|에|부터|까지)[는도]?\s(?=\S))?")
"""When or where something is, before the subject of a Korean clause: "주말에는 동생이"."""
_WIDE_FIRST = re.compile(
    r"\W*(?:저는|나는|난|전|제가|내가|저도|나도|저희는|우리는|私[はがもた]|僕[はがも]|俺[はがも]|うちは|我们?(?!的?(?:{KIN})))".replace(
        "{KIN}", KIN
    )
)
"""The speaker's own pronoun at the beginning of a clause."""
_WIDE_THIRD = re.compile(r"\W*(?:([她他]们?)(?![的们])|(彼女?ら?)[はがも]|(그녀?|걔)[는가도]\s)")
"""A pronoun of the third person at the beginning of a clause, but no possessive: "她不喝咖啡"."""
_WIDE = re.compile("\\W*[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_TITLES: Final = frozenset({"herr", "frau", "dr", "dr.", "prof", "prof."})


def _words(words: Iterable[str], language: str) -> frozenset[str]:
    """Words of content in lower case; "dog" is one in English, though it is a function word in Danish."""
    function = FUNCTION_WORDS.get(language, EVIDENCE)
    found = (word.casefold() for word in words)
    return frozenset(word for word in found if word not in (function if len(word) > 2 else EVIDENCE))


def _named(clause: str, own_names: frozenset[str], language: str) -> frozenset[str]:
    """Whom a clause names last, for the pronoun that takes them up: a name, else a noun that the speaker possesses."""
    if language == "german":
        names = [
            match[0].casefold()
            for match in _CAPITALISED.finditer(clause)
            if match.start() > 0 and not _GERMAN_NOUN.search(clause[: match.start()])
        ]
    else:
        names = [one.text.casefold() for one in details(clause) if one.kind == "name" and one.sure]
    names = [name for name in names if name not in own_names and not calendar_words(name)]
    possessed = [_words(match["noun"].split()[:1], language) for match in _POSSESSED.finditer(clause)]
    return frozenset(names[-1:]).union(*possessed[-1:])


def _met(clause: str, language: str) -> frozenset[str]:
    """Somebody of whom a clause speaks for the first time: "we adopted a dog", whose name is "her name"."""
    return _words((match["noun"] for match in _MET.finditer(clause)), language)


_MET = re.compile(r"(?i)\b(?:an?|eine?n?|une?|una?|um|uma|een|en|ett)\s+(?P<noun>[^\W\d_]{3,})")


def _joined(sets: Iterable[frozenset[str]], known: frozenset[str]) -> list[frozenset[str]]:
    """Sets that share a word, as one: somebody is first "my brother Joost", then "Joost"; but two names are two."""
    groups: list[frozenset[str]] = []
    for one in sets:
        if one:
            near = [group for group in groups if group & one and not (group - one & known and one - group & known)]
            groups = [group for group in groups if group not in near] + [one.union(*near)]
    return groups
