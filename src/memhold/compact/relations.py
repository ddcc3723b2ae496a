"""Words that set things in a relation, each with the one that turns it round: before and after, must and may. Pure.

A closed class in every language, as the words that deny are: a paraphrase seldom needs another one, and exchanging one
for its opposite says something else. With and without, always and never are a matter of `negation`.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from functools import lru_cache
from itertools import islice

from memhold.text import lazily
from memhold.text.bounds import denied_bound

# ruff: noqa: RUF001 - words of every script

__all__ = ["turned_round"]


_PLAIN = r"(?!(?:\W+\w+){0,3}\W+(?:not|no|never|\w+n['’]t|nicht|kein\w*|nie|pas|jamais|non|não|niet|geen|не)\b)"
"""A condition that does not deny: "if it does not rain" says what "unless it rains" says."""
_PAIRS: tuple[tuple[str, str], ...] = (
    (  # earlier and later than
        (
            r"before|prior to|vor|bevor|vorher|avant|antes|prima|voor|före|før|przed|до|перед|önce|sebelum"
            r"|înainte|ennen|před|előtt|abans|πριν"
        ),
        (
            r"after|afterwards|following|nach|nachdem|danach|après|después|despues|depois|após|dopo|na|efter"
            r"|etter|po|после|sonra|setelah|sesudah|după|jälkeen|után|després|μετά"
        ),
    ),
    (  # more and less than
        (
            r"more|over|exceeding|mehr|plus (?=de|que|qu)|más|mais|più|meer|mer|mere|więcej|больше|более|свыше"
            r"|fazla|lebih|enemmän|több|més|at least|mindestens|au moins|al menos|por lo menos|pelo menos|almeno"
            r"|minstens|minst|mindst|przynajmniej|минимум|en az"
        ),
        (
            r"less|fewer|under|weniger|moins (?=de|que|qu)|menos|meno|minder|mindre|mniej|меньше|менее|az|kurang"
            r"|vähemmän|kevesebb|menys|at most|höchstens|au plus|como máximo|no máximo|al massimo|hoogstens"
            r"|högst|højst|najwyżej|максимум|en fazla"
        ),
    ),
    (  # up to a point and from it on
        r"until|till|bis|jusqu['’]\w+|hasta|até|fino|tot|tills|indtil|вплоть|kadar|sampai|până|asti|saakka",
        (
            r"since|from|seit|ab|depuis|dès|à partir|desde|a partire|vanaf|sinds|sedan|siden|od|начиная|itibaren"
            r"|sejak"
        ),
    ),
    (  # each time and now and then
        (
            r"always|every time|immer|stets|jedes mal|toujours|siempre|sempre|altijd|alltid|altid|zawsze|всегда"
            r"|hep|daima|selalu|mereu|întotdeauna|aina|mindig|vždy|πάντα"
        ),
        (
            r"sometimes|occasionally|rarely|seldom|manchmal|gelegentlich|selten|parfois|quelquefois|rarement"
            r"|a veces|raramente|às vezes|qualche volta|talvolta|di rado|soms|zelden|ibland|sällan|nogle gange"
            r"|sjældent|czasem|czasami|rzadko|иногда|редко|bazen|nadiren|kadang|jarang|uneori|rareori|joskus"
            r"|harvoin|néha|ritkán|někdy|zřídka|μερικές φορές|σπάνια"
        ),
    ),
    (  # demanded and left free
        (
            r"must|ha(?:s|ve|d) to|needs? to"
            r"|mandatory|required|obligatory|muss|musst|müssen|müsst|pflicht|doit|doivent|obligatoire|debe"
            r"|il faut|tienen? que|hay que"
            r"|deben|obligatori[oa]s?|deve[mn]?|devono|obrigatóri[oa]s?|moet|moeten|verplicht|måste|skal|musi"
            r"|muszą|должн\w+|обязан\w*|zorunlu|wajib|harus|trebuie|pitää|kell|musí|πρέπει"
        ),
        (
            r"may|optional|optionally|voluntary|darf|dürfen|kann|können|freiwillig|peut|peuvent|facultati\w+"
            r"|puede|pueden|opcional\w*|pode|podem|può|possono|facoltativ\w+|mag|mogen|får|kan|może|mogą|можно"
            r"|может|могут|isteğe|boleh|opsional|poate|pot|saa|lehet|může|mohou|μπορεί"
        ),
    ),
    (  # on this side and on that
        (
            r"above|over|on top of|oberhalb|über|au-dessus|encima|acima|sopra|boven|ovanför|nad|над|üstünde"
            r"|di atas"
        ),
        (
            r"below|under|underneath|beneath|unterhalb|unter|au-dessous|sous|debajo|bajo|abaixo|sotto|onder"
            r"|nedanför|pod|под|altında|di bawah"
        ),
    ),
    (  # within and without
        (
            r"inside|indoors|innen|innerhalb|drinnen|à l['’]intérieur|dedans|dentro|all['’]interno|binnen|inuti"
            r"|wewnątrz|внутри|içinde|di dalam"
        ),
        (
            r"outside|outdoors|außen|außerhalb|draußen|à l['’]extérieur|dehors|fuera|fora|fuori|buiten|utanför"
            r"|na zewnątrz|снаружи|dışında|di luar"
        ),
    ),
    (  # all but that, and that alone
        (
            r"except(?: for)?|apart from|other than|but not|außer|ausgenommen|bis auf|sauf|hormis|à part|excepto"
            r"|salvo|menos|exceto|tranne|eccetto|behalve|utom|undtagen|oprócz|кроме"
        ),
        (
            r"only|solely|exclusively|just|nur|ausschließlich|seulement|uniquement|exclusivement|solo|sólo"
            r"|solamente|únicamente|exclusivamente|só|somente|apenas|soltanto|esclusivamente|alleen|uitsluitend"
            r"|bara|endast|kun|tylko|только|исключительно"
        ),
    ),
    (  # where it is so, and where it is not
        (
            rf"(?:if|when|whenever|in case){_PLAIN}|(?:wenn|falls|sofern){_PLAIN}|(?:si|quand|cuando|se|quando){_PLAIN}"
            rf"|(?:als|wanneer){_PLAIN}|(?:если|когда){_PLAIN}"
        ),
        (
            r"unless|except (?:if|when)|außer wenn|es sei denn,?(?: dass)?|sauf (?:si|quand)|à moins qu(?:e|['’])"
            r"|a menos que|a no ser que|salvo (?:si|cuando)|excepto (?:si|cuando)|a meno che|a não ser que"
            r"|tenzij|если не"
        ),
    ),
    (  # by its side
        (
            r"left|links|linke[nrsm]?|gauche|izquierd[oa]s?|esquerd[oa]s?|sinistr[oaie]|vänster|venstre|lewo"
            r"|lewy|lewa|слева|лев\w{2,3}|sol|sola|kiri"
        ),
        (
            r"right|rechts|rechte[nrsm]?|droite?s?|derech[oa]s?|direit[oa]s?|destr[oaie]|höger|højre|høyre|prawo"
            r"|prawy|prawa|справа|прав\w{2,3}|sağ|sağa|kanan"
        ),
    ),
)
_UNSPACED: tuple[tuple[str, str], ...] = (
    (
        r"以前|之前|(?<=[饭飯餐睡课課会會])前|の前|する前|る前|前に|(?<=\s)전(?:에|까지)",
        r"以后|以後|之后|之後|(?<=[饭飯餐睡课課会會])[后後]|の後|た後|後に|(?<=\s)후(?:에|부터)",
    ),
    (
        r"以上|超过|超過|多于|多於|至少|少なくとも|이상|최소|적어도|より多",
        r"以下|不到|少于|少於|至多|多くても|이하|미만|최대|より少",
    ),
    (
        r"直到|为止|為止|まで|까지",
        r"(?:自)?从|自從|から|부터",
    ),
    (
        r"总是|總是|一直|每次|いつも|常に|항상|언제나|늘",
        r"有时|有時|偶尔|偶爾|很少|时不时|時々|たまに|まれに|가끔|때때로|드물게",
    ),
    (
        r"必须|必須|一定要|しなければ|べき|해야|필수",
        r"可以|可选|可選|てもよい|てもいい|任意|해도|선택",
    ),
    (
        r"上面|上方|の上|위에",
        r"下面|下方|の下|아래에|밑에",
    ),
    (
        r"里面|裡面|室内|室內|の中|안에",
        r"外面|室外|の外|밖에",
    ),
    (
        r"左",
        r"右",
    ),
    (
        r"왼쪽",
        r"오른쪽",
    ),
)


def _compiled() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    spaced = [
        (lazily.compile(rf"\b(?:{one})\b", re.IGNORECASE), lazily.compile(rf"\b(?:{other})\b", re.IGNORECASE))
        for one, other in _PAIRS
    ]
    return (*spaced, *((lazily.compile(one), lazily.compile(other)) for one, other in _UNSPACED))


_BOTH = _compiled()


_NEXT = lazily.compile(r"\w+(?:['’]\w+)?")
BEHIND = 3
"""Words behind a relation in which what it holds for is looked for."""


@lru_cache(maxsize=4096)
def _related(text: str) -> frozenset[tuple[int, int, str]]:
    """The relations that a text names: the place and side of each, and a word that it holds for, as it stands there."""
    found = set()
    for place, sides in enumerate(_BOTH):
        for side, words in enumerate(sides):
            for match in words.finditer(text):
                if place < len(_PAIRS):
                    beside = [one[0].casefold() for one in islice(_NEXT.finditer(text, match.end()), BEHIND)]
                else:  # behind the word, in scripts without spaces
                    beside = [text[max(0, match.start() - 2) : match.start()].strip()]
                told = 1 - side if denied_bound(text, match.start(), match.end()) else side
                found |= {(place, told, word) for word in beside if len(word) > 1}
    return frozenset(found)


def turned_round(text: str, sources: Iterable[str], empty: Container[str]) -> bool:
    """Whether a text sets a word in a relation in which the sources have it only the other way round.

    `empty` are words that say nothing on their own.
    """
    held = frozenset[tuple[int, int, str]]().union(*(_related(one) for one in sources))
    return any(
        word not in empty and (place, 1 - side, word) in held and (place, side, word) not in held
        for place, side, word in _related(text)
    )
