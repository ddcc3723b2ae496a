"""Whose relative somebody is: kin of whom no line speaks, and names that a line gives to other kin. Pure.

Closed sets of words, as weekdays and months are; a language that is missing is judged as before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

# ruff: noqa: RUF001 - letters of every script

__all__ = ["hyphened", "kin_in", "names_of_kin", "other_kin", "strangers"]

_WORDS: Final[Mapping[str, str]] = {
    "english": "mother=mothers? mom mum mommy mummy mama; father=fathers? dad daddy papa; parents=parents?"
    "; grandmother=grandmothers? grandma granny nan nana; grandfather=grandfathers? grandpa grandad granddad"
    "; grandparents=grandparents?; brother=(?:step|half-?)?brothers?; sister=(?:step|half-?)?sisters?"
    "; sibling=siblings?"
    "; son=(?:step)?sons?; daughter=(?:step)?daughters?; child=child(?:ren)? kids? boys? girls? baby toddlers? twins?"
    "; wife=wife wives; husband=husbands?; spouse=spouses? partners?; aunt=aunts? auntie; uncle=uncles?; niece=nieces?"
    "; nephew=nephews?; cousin=cousins?; grandson=grandsons?; granddaughter=granddaughters?"
    "; grandchild=grandchild(?:ren)? grandkids?; mother-in-law=mother-in-law; father-in-law=father-in-law"
    "; brother-in-law=brothers?-in-law; sister-in-law=sisters?-in-law",
    "german": "mother=mutter mama mami mutti; father=vaters? papa papi; parents=eltern; grandmother=großmutter oma omi"
    "; grandfather=großvaters? opa opi; grandparents=großeltern; brother=(?:halb|stief)?(?:bruders?|brüder)"
    "; sister=(?:halb|stief)?schwestern?; sibling=geschwister; son=(?:stief)?(?:sohn(?:e?s)?|söhne)"
    "; daughter=(?:stief)?(?:tochter|töchter); child=kind(?:e[rs]|ern)? jungen? mädchen baby zwillinge"
    "; wife=frau ehefrau gattin; husband=mann mannes ehemann gatte; spouse=ehepartner(?:in)? partner(?:in)?"
    "; aunt=tanten?"
    "; uncle=onkels?; niece=nichten?; nephew=neffen?; cousin=cousin(?:en?)?; grandson=enkel; granddaughter=enkelin"
    "; grandchild=enkelkind(?:er)?; mother-in-law=schwiegermutter; father-in-law=schwiegervater"
    "; brother-in-law=schwager"
    "; sister-in-law=schwägerin",
    "french": "mother=mère maman; father=père papa; parents=parents?; grandmother=grands?-mères? mamie mémé"
    "; grandfather=grands?-pères? papi papy pépé; grandparents=grands-parents; brother=(?:demi-)?frères?"
    "; sister=(?:demi-)?s(?:œ|oe)urs?; son=fils; daughter=filles?; child=enfants? garçons? bébé; wife=femme épouse"
    "; husband=mari époux; spouse=conjointe? compagnon compagne; aunt=tantes?; uncle=oncles?; niece=nièces?"
    "; nephew=neveux?; cousin=cousine?s?; grandson=petits?-fils; granddaughter=petites?-filles?"
    "; grandchild=petits-enfants; mother-in-law=belle-mère; father-in-law=beau-père; brother-in-law=beau-frère"
    "; sister-in-law=belle-s(?:œ|oe)ur",
    "spanish": "mother=madre mamá; father=padre papá; parents=padres; grandmother=abuela; grandfather=abuelo"
    "; grandparents=abuelos; brother=herman(?:o|astro); sister=herman(?:a|astra)s?; sibling=hermanos; son=hijo"
    "; daughter=hijas?; child=hijos niñ[oa]s? bebé; wife=esposa mujer; husband=esposo marido; spouse=cónyuge pareja"
    "; aunt=tías?; uncle=tíos?; niece=sobrinas?; nephew=sobrinos?; grandson=nieto; granddaughter=nietas?"
    "; grandchild=nietos; mother-in-law=suegra; father-in-law=suegro; brother-in-law=cuñado; sister-in-law=cuñada",
    "italian": "mother=madre mamma; father=padre papà babbo; parents=genitori; grandmother=nonna; grandfather=nonno"
    "; grandparents=nonni; brother=fratell(?:o|astro); sister=sorell[ae]; sibling=fratelli; son=figlio; daughter=figlia"
    "; child=figl[ie] bambin[oaie] neonat[oa]; wife=moglie; husband=marito; spouse=coniuge compagn[oa]; aunt=zia"
    "; uncle=zio; mother-in-law=suocera; father-in-law=suocero; brother-in-law=cognato; sister-in-law=cognata",
    "portuguese": "mother=mãe mamãe; father=pai papai; parents=pais; grandmother=avó vovó; grandfather=avô vovô"
    "; brother=irmão; sister=irmãs?; sibling=irmãos; son=filho; daughter=filhas?"
    "; child=filhos crianças? menin[oa]s? bebê"
    "; wife=esposa mulher; husband=marido esposo; spouse=cônjuge parceir[oa] companheir[oa]; aunt=tias?; uncle=tios?"
    "; niece=sobrinhas?; nephew=sobrinhos?; grandson=neto; granddaughter=netas?; grandchild=netos; mother-in-law=sogra"
    "; father-in-law=sogro; brother-in-law=cunhado; sister-in-law=cunhada",
    "wide": "mother=어머니 어머님 엄마 お母さん 母親 母さん 妈妈 母亲 媽媽"
    "; father=아버지 아버님 아빠 お父さん 父親 父さん 爸爸 父亲"
    "; parents=부모 両親 父母; grandmother=할머니 외할머니 祖母 おばあちゃん おばあさん 奶奶 外婆 姥姥"
    "; grandfather=할아버지 외할아버지 祖父 おじいちゃん おじいさん 爷爷 外公 姥爷"
    "; brother=오빠 형님 (?<![가-힣])형(?=[은이의을과도](?![가-힣])|에게|한테|이랑|님) 남동생 お兄さん 哥哥 弟弟 弟 兄"
    "; sister=언니 누나 여동생 お姉さん 姐姐 妹妹 妹 姉; sibling=동생 兄弟 姉妹; son=아들 息子 儿子 兒子"
    "; daughter=딸(?!기) 娘 女儿 女兒; child=아이 아기 자녀 애들 子供 子ども 赤ちゃん 孩子 宝宝"
    "; wife=아내 와이프 집사람 奥さん 妻 老婆 太太"
    "; husband=남편 旦那 老公 (?<!大)丈夫(?!な); aunt=이모 고모 叔母 伯母 阿姨 姑姑"
    "; uncle=삼촌 외삼촌 叔父 伯父 叔叔 舅舅"
    "; nephew=조카 甥 姪 侄子 侄女; cousin=사촌 いとこ 従兄弟 表哥 表弟 表姐 表妹; grandchild=손자 손녀 孫 孙子 孙女"
    "; mother-in-law=시어머니 장모 義母 岳母 婆婆; father-in-law=시아버지 장인어른 義父 岳父 公公",
}
_IMPLIED: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(words.split())
    for name, words in {
        "parents": "mother father",
        "grandparents": "grandmother grandfather",
        "sibling": "brother sister",
        "child": "son daughter",
        "spouse": "wife husband",
        "grandchild": "grandson granddaughter",
        "brother": "sibling",
        "sister": "sibling",
        "son": "child",
        "daughter": "child",
        "wife": "spouse",
        "husband": "spouse",
        "mother": "parents",
        "father": "parents",
        "grandmother": "grandparents",
        "grandfather": "grandparents",
        "grandson": "grandchild",
        "granddaughter": "grandchild",
    }.items()
}
"""Of whom one may speak where a line has one of these: who has a daughter has a child, and a child may be a son."""
_BOND: Final = frozenset({"wife", "husband", "spouse"})
"""Of these one is told as another: a partner as a husband."""
_WIDE: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


_BEGINNING: Final = re.compile(r"(?:\(\?<![^)]*\))?(.)")


def _compiled(language: str, table: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """One pattern of a language's words, the longest first, and the kin of each of its groups."""
    every = [
        (word, kin.strip())
        for kin, _, words in (entry.partition("=") for entry in table.split(";"))
        for word in words.split()
    ]
    every.sort(key=lambda one: -len(one[0]))
    groups = "|".join(f"({word})" for word, _ in every)
    # Where words are not set apart each character may begin one: those that begin none are passed over at once.
    begins = {found[1] for word, _ in every if (found := _BEGINNING.match(word))}
    ahead = f"(?=[{''.join(sorted(begins))}])" if language == "wide" else ""
    return re.compile(f"{ahead}(?:{groups})", re.IGNORECASE), tuple(kin for _, kin in every)


_PATTERNS: Final = {language: _compiled(language, table) for language, table in _WORDS.items()}
_RUN: Final = re.compile(r"[\w-]+")
_IN_LAW: Final = re.compile(
    r"(?i)\b((?:mother|father|parent|brother|sister|son|daughter)s?) in law\b"
    r"(?! (?:school|college|enforcement|firms?|practice|studies|offices?|departments?)\b)"
)
_LONGEST_RUN: Final = 40
_MOST_READ: Final = 20_000
"""Characters of a text that are read for kin."""


def _found(text: str, language: str) -> list[tuple[str, int, int]]:
    """The kin that a text names, with where each stands."""
    text = hyphened(text[:_MOST_READ])
    if _WIDE.search(text):
        pattern, kins = _PATTERNS["wide"]
        return [(kins[one.lastindex - 1], one.start(), one.end()) for one in pattern.finditer(text) if one.lastindex]
    if language not in _PATTERNS:
        return []
    return [
        (kin, one.start(), one.end())
        for one in _RUN.finditer(text)
        if len(one[0]) <= _LONGEST_RUN and (kin := _kin_of(one[0].casefold(), language)) is not None
    ]


@lru_cache(maxsize=4096)
def _kin_of(word: str, language: str) -> str | None:
    pattern, kins = _PATTERNS[language]
    found = pattern.fullmatch(word)
    return None if found is None or found.lastindex is None else kins[found.lastindex - 1]


def hyphened(text: str) -> str:
    """A text in which "sister in law" is one word, as it is in "sister-in-law"; no place in it moves."""
    return _IN_LAW.sub(r"\1-in-law", text)


def kin_in(text: str, language: str) -> frozenset[str]:
    """Whose kin a text names, by their English words."""
    return frozenset(kin for kin, _, _ in _found(text, language))


def strangers(claim: str, said: str, language: str) -> frozenset[str]:
    """Kin of whom a claim speaks, and `said` does not, nor of anybody who is one as well."""
    held = kin_in(said, language)
    return frozenset(kin for kin in kin_in(claim, language) if kin not in held and not _IMPLIED.get(kin, set()) & held)


_NAMED_BEHIND = re.compile(
    r",?\s(?:(?:is |was )?(?:named|called) |namens |heißt |s['’]appelle |se llama |si chiama )?"
    r"(?P<name>[A-Z\u00c0-\u00de][^\W\d_]+)"
)
_NAMED_BEFORE = re.compile(
    r"(?<![^\W\d_])(?P<name>[A-Z\u00c0-\u00de][^\W\d_]+)(?:,\s|\s(?:is|was|ist|est|es|è|é)\s)"
    r"(?:(?:my|our|the|the user['’]s|der|die|das|le|la|l['’]|el|il|o|a|mein|meine|mon|ma|mi|mio|mia|meu"
    r"|minha)\s?){1,2}\Z"
)


def _named(text: str, language: str) -> dict[str, frozenset[str]]:
    """The kin that a text says each name is: "my sister Petra", "Bastien est le frère"."""
    found: dict[str, frozenset[str]] = {}
    for kin, start, end in _found(text, language):
        behind = _NAMED_BEHIND.match(text, end)
        before = _NAMED_BEFORE.search(text[max(0, start - 60) : start])
        for name in (one["name"].casefold() for one in (behind, before) if one is not None):
            found[name] = found.get(name, frozenset()) | {kin}
    return found


def names_of_kin(words: frozenset[str], said: str, language: str) -> frozenset[str]:
    """The names that `said` gives to the kin that these words name: of "wife", "orla"."""
    wanted = kin_in(" ".join(sorted(words)), language)
    return frozenset(name for name, kin in _named(said, language).items() if kin & wanted) if wanted else frozenset()


def other_kin(claim: str, said: str, language: str) -> bool:
    """Whether a claim makes somebody kin whom `said` names as other kin: the companion a brother, the aunt a mother."""
    told = _named(said, language)
    for name, kin in _named(claim, language).items():
        held = told.get(name, frozenset())
        near = kin | frozenset[str]().union(*(_IMPLIED.get(one, frozenset()) for one in kin))
        if held and not held & near and not (held & _BOND and kin & _BOND):
            return True
    return False
