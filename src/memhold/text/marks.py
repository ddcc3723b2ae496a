"""Small closed classes of words, in one form for all languages: weekdays, months, parts of the day, colours, kin. Pure.

They are hard details without a digit or a capital: another one of the same class is another claim. Names of days and
months after CLDR.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from memhold.text import lazily
from memhold.text.bounds import denied_bound
from memhold.text.normal_form import normal_form

# ruff: noqa: RUF001 - letters of every script

__all__ = ["marks", "opposed"]

_DAYS: Final = (
    "mondays?|(?-i:Mon)|montags?|lundis?|lunes|luned[iì]|segundas?(?:-feiras?)|maandags?|понедельник\\w*",
    "tuesdays?|(?-i:Tue)|dienstags?|mardis?|martes|marted[iì]|terças?(?:-feiras?)?|dinsdags?|вторник\\w*",
    "wednesdays?|(?-i:Wed)|mittwochs?|mercredis?|miércoles|mercoled[iì]|quartas?(?:-feiras?)|woensdags?|сред[аыуе]",
    "thursdays?|(?-i:Thu)|donnerstags?|jeudis?|jueves|gioved[iì]|quintas?(?:-feiras?)|donderdags?|четверг\\w*",
    "fridays?|(?-i:Fri)|freitags?|vendredis?|viernes|venerd[iì]|sextas?(?:-feiras?)|vrijdags?|пятниц\\w*",
    "saturdays?|samstags?|sonnabends?|samedis?|sábados?|sabat[oi]|zaterdags?|суббот\\w*",
    "sundays?|sonntags?|dimanches?|domingos?|domenic(?:a|he)|zondags?|воскресень\\w*",
)
_DAYS_CJK: Final = (
    "월요일|月曜|[周期]一|礼拜一",
    "화요일|火曜|[周期]二|礼拜二",
    "수요일|水曜|[周期]三|礼拜三",
    "목요일|木曜|[周期]四|礼拜四",
    "금요일|金曜|[周期]五|礼拜五",
    "토요일|土曜|[周期]六|礼拜六",
    "일요일|日曜|[周期][日天]|礼拜[日天]",
)
_MONTHS: Final = (
    "january|januar|janvier|enero|gennaio|janeiro|januari|январ\\w*",
    "february|februar|février|febrero|febbraio|fevereiro|februari|феврал\\w*",
    "(?-i:March)|märz|(?-i:mars)|marzo|março|maart|март\\w*",
    "april|avril|abril|aprile|апрел\\w*",
    "(?-i:May)|(?-i:Mai)|(?<=de )mayo|maggio|maio|(?-i:mei)|ма[йяе]",
    "june|juni|juin|junio|giugno|junho|июн\\w*",
    "july|juli|juillet|julio|luglio|julho|июл\\w*",
    "august|août|agosto|augustus|август\\w*",
    "september|septembre|septiembre|settembre|setembro|сентябр\\w*",
    "october|oktober|octobre|octubre|ottobre|outubro|октябр\\w*",
    "november|novembre|noviembre|novembro|ноябр\\w*",
    "december|dezember|décembre|diciembre|dicembre|dezembro|декабр\\w*",
)
_PARTS: Final = {
    "morning": (
        "mornings?|morgens|vormittags?|am morgen|jeden morgen|matin(?:s|ée)?|(?:por|de) la mañana|mattin[aoe]|manhãs?"
        "|'s ochtends|ochtend|утр[оаеу]м?"
    ),
    "noon": "noon|midday|mittags?|midi|mediodía|mezzogiorno|meio-dia|полдень",
    "afternoon": "afternoons?|nachmittags?|après-midi|(?:por|de) la tarde|pomeriggio|à tarde|de tarde|middags?|днём",
    "evening": "evenings?|abends?|soirs?|soirée|seras?|sere|avonds?|вечер\\w*",
    "night": "nights?|nachts?|nächtlich\\w*|nuits?|noches?|nott[ei]|noites?|ноч\\w*",
    "midnight": "midnight|mitternacht|minuit|medianoche|mezzanotte|meia-noite|полноч\\w*",
}
_PARTS_CJK: Final = {
    "morning": "아침|오전|朝|午前|早上|上午|早晨",
    "noon": "정오|正午|中午|昼",
    "afternoon": "오후|午後|下午",
    "evening": "저녁|夕方|晩|晚上|傍晚",
    "night": "밤|새벽|夜|深夜|半夜",
    "midnight": "자정|零時|零点|午夜",
}
_COLOURS: Final = {
    "red": "red|rode?|rot\\w{0,2}|rouges?|roj[oa]s?|ross[oaie]|vermelh[oa]s?|красн\\w+",
    "green": "green|groene?|grün\\w{0,2}|verts?|vertes?|verdes?|verd[ei]|зел[её]н\\w+",
    "blue": "blue|blauwe?|blau\\w{0,2}|bleue?s?|azul(?:es)?|blu|azuis|син\\w{2,3}|голуб\\w+",
    "yellow": "yellow|gele?|gelb\\w{0,2}|jaunes?|amarill[oa]s?|giall[oaie]|amarel[oa]s?|ж[её]лт\\w+",
    "black": "black|zwarte?|schwarz\\w{0,2}|noire?s?|negr[oa]s?|ner[oaie]|pret[oa]s?|ч[её]рн\\w+",
    "white": "white|witte?|weiß\\w{0,2}|blanc(?:he)?s?|blanc[oa]s?|bianc[oaie]|bianchi|branc[oa]s?|бел(?:ый|ая|ое|ые)",
    "brown": "brown|braun\\w{0,2}|marron|marrón|marrone|marrom|коричнев\\w+",
    "grey": "gr[ae]y|grau\\w{0,2}|grise?s?|grig[ioae]|cinzent[oa]s?|сер(?:ый|ая|ое|ые)",
}
_COLOURS_CJK: Final = {
    "red": "빨[간강]|赤い|红色|紅色",
    "green": "초록|녹색|緑|绿色",
    "blue": "파란|파랑|青い|蓝色",
    "yellow": "노란|노랑|黄色",
    "black": "검은|검정|黒い|黑色",
    "white": "하얀|흰|白い|白色",
}
_FREQUENCIES: Final = {
    "daily": (
        "daily|every day|each day|täglich|jeden tag|chaque jour|tous les jours|quotidien\\w*|cada día|todos los días"
        "|ogni giorno|tutti i giorni|todos os dias|cada dia|diariamente|elke dag|dagelijks|каждый день|ежедневно"
    ),
    "weekly": (
        "weekly|every week|each week|once a week|wöchentlich|jede woche|chaque semaine|toutes les semaines|cada semana"
        "|todas las semanas|ogni settimana|toda semana|elke week|wekelijks|каждую неделю|еженедельно"
    ),
    "fortnightly": (
        "every (?:other|second) week|every two weeks|fortnightly|jede zweite woche|alle zwei wochen|vierzehntägig"
        "|une semaine sur deux|toutes les deux semaines|cada dos semanas|quincenal(?:mente)?|ogni due settimane"
        "|a cada duas semanas|om de week|om de andere week|раз в две недели"
    ),
    "every other day": (
        "every (?:other|second) day|every two days|jeden zweiten tag|alle zwei tage|un jour sur deux"
        "|tous les deux jours|cada dos días|un día sí y otro no|ogni due giorni|un giorno sì e uno no"
        "|dia sim,? dia não|om de dag|через день"
    ),
    "weekends": (
        "weekends?|every weekend|wochenenden?|week-ends?|fin(?:es)? de semana|fine settimana|fins? de semana|weekenden"
        "|выходн\\w+"
    ),
    "monthly": (
        "monthly|every month|each month|monatlich|jeden monat|chaque mois|tous les mois|mensuel\\w*|cada mes"
        "|todos los meses|ogni mese|mensilmente|todo mês|elke maand|maandelijks|каждый месяц|ежемесячно"
    ),
    "yearly": (
        "yearly|annual(?:ly)?|every year|each year|jährlich|jedes jahr|chaque année|tous les ans|cada año|ogni anno"
        "|todo ano|todos os anos|elk jaar|jaarlijks|каждый год|ежегодно"
    ),
}
_FREQUENCIES_CJK: Final = {
    "daily": "매일|날마다|毎日|每天|天天",
    "weekly": "매주(?! ?[월화수목금토일]요일)|毎週(?![月火水木金土日])|每周(?![一二三四五六日天])|每個星期|每星期",
    "fortnightly": "격주|2주(?:에 한 번|마다)|隔週|二週間ごと|隔周|每两周|每隔一周",
    "every other day": "격일|이틀에 한 번|이틀마다|隔日|一日おき|隔天|每两天",
    "weekends": "주말|週末|周末",
    "monthly": "매달|매월|毎月|每月|每个月",
    "yearly": "매년|해마다|毎年|每年",
}
_KIN: Final = {
    "mother": "mothers?|mum|mom|mutter|mère|madre|mamá|mamma|mãe|moeder|мат(?:ь|ери)|мам[аыуе]",
    "father": "fathers?|dad|vater|père|padre|papá|papà|pai|vader|от(?:ец|ца)|пап[аыуе]",
    "sister": "sisters?|schwester|sœur|soeur|hermanas?|sorella|irmã|zus|сестр\\w+",
    "brother": "brothers?|bruder|frères?|hermanos?|fratello|irmão|broer|брат\\w*",
    "daughter": "daughters?|tochter|filles?|hijas?|figlia|filha|dochter|доч\\w+",
    "son": "sons?|sohn|fils|hijos?|figlio|filho|zoon|сын\\w*",
    "wife": "wife|ehefrau|épouse|esposa|moglie|жен[аыуе]",
    "husband": "husband|ehemann|mari|marido|esposo|marito|муж\\w*",
    "cousin": "cousins?|cousine|prim[oa]s?|cugin[oa]",
    "aunt": "aunts?|tante|tía|zia|tia|т[её]т[яи]",
    "uncle": "uncles?|onkel|oncle|tío|zio|tio|дяд[яи]",
    "grandson": "grandsons?|enkel|petit-fils|nieto|nipote|neto|внук\\w*",
    "boss": "boss|chef(?:in)?|patron(?:ne)?|jef[ea]|capo|начальник\\w*",
}
_KIN_CJK: Final = {
    "mother": "어머니|엄마|母|妈妈|母亲",
    "father": "아버지|아빠|父|爸爸|父亲",
    "sister": "언니|누나|여동생|姉|妹|姐姐|妹妹",
    "brother": "오빠|남동생|兄|弟|哥哥|弟弟",
    "daughter": "딸|娘|女儿",
    "son": "아들|息子|儿子",
    "wife": "아내|妻",
    "husband": "남편|夫|丈夫",
}


def _compiled() -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    found: list[tuple[str, str, re.Pattern[str]]] = []
    spaced = (
        ("weekday", dict(zip("0123456", _DAYS, strict=True))),
        ("month", {str(at): names for at, names in enumerate(_MONTHS, 1)}),
        ("part of the day", _PARTS),
        ("colour", _COLOURS),
        ("relative", _KIN),
        ("frequency", _FREQUENCIES),
    )
    for kind, names in spaced:
        found += [
            (kind, one, lazily.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)) for one, words in names.items()
        ]
    unspaced = (
        ("weekday", dict(zip("0123456", _DAYS_CJK, strict=True))),
        ("part of the day", _PARTS_CJK),
        ("colour", _COLOURS_CJK),
        ("relative", _KIN_CJK),
        ("frequency", _FREQUENCIES_CJK),
    )
    for kind, names in unspaced:
        found += [(kind, one, lazily.compile(words)) for one, words in names.items()]
    return tuple(found)


_ALL: Final = _compiled()
_MONTH_NUMBER: Final = lazily.compile(
    r"(?<![\w.])(?:(?:19|20)\d\d-(?P<iso>1[0-2]|0?[1-9])(?!\d)|[0-3]?\d(?:/(?P<dm>1[0-2]|0?[1-9])(?![\d/])"
    r"|\.(?P<dotted>1[0-2]|0?[1-9])\.))|(?<![\d.])(?P<cjk>1[0-2]|[1-9])\s?[월月]"
    r"|(?P<kanji>十[一二]?|(?<!十)[一二三四五六七八九])月"
)
_KANJI: Final = {
    one: at for at, one in enumerate(["一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二"], 1)
}
_KANJI_DAYS: Final = lazily.compile(
    r"(?<![月火水木金土日])[月火水木金土日]{2,}+(?![曜本])(?=が|は|に|の|、|。|・|と|\Z)"
)


@lru_cache(maxsize=4096)
def marks(text: str) -> frozenset[tuple[str, str]]:
    """The members of those classes that a text names: pairs of the class and the member."""
    plain = normal_form("NFKC", text)
    found = {(kind, one) for kind, one, pattern in _ALL if pattern.search(plain) is not None}
    for match in _MONTH_NUMBER.finditer(plain):
        kanji = _KANJI.get(match["kanji"] or "")
        found.add(("month", str(kanji or int(match["iso"] or match["dm"] or match["dotted"] or match["cjk"]))))
    for match in _KANJI_DAYS.finditer(plain):
        found |= {("weekday", str("月火水木金土日".index(char))) for char in match[0]}
    return frozenset(found)


_OPPOSITES: Final = (
    (  # at least that much, and at most
        (r"at least|no (?:less|fewer) than|minimum|min\.|or more|mindestens|au moins|au minimum|al menos"
        r"|por lo menos|almeno|pelo menos"
        r"|no mínimo|minstens|не менее|минимум"),
        (r"at (?:the )?most|no more than|never more than|maximum|max\.|up to|höchstens|maximal|au plus(?! t)"
        r"|au maximum|como máximo|al massimo"
        r"|no máximo|hoogstens|не более|максимум"),
    ),
    (  # not before, and not after
        r"no earlier than|at the earliest|frühestens|au plus tôt|no antes de|no más pronto|non prima|не раньше",
        r"no later than|at the latest|spätestens|au plus tard|a más tardar|al più tardi|o mais tardar|не позже",
    ),
    (  # where it begins, and where it ends
        (r"(?:at|in|from|to) the (?:start|beginning)|begin(?:s|ning)?|began|begun|start(?:s|ed)?|am anfang|beginnt"
        r"|beginnen|begonnen|angefangen|commenc\w*"
        r"|début|empez\w*|empieza\w*|comien\w*"
        r"|inizi\w+|começ\w+|начина\w+"),
        (r"(?:at|in|from|to) the end|ends?|ended|finish(?:es|ed)?|stop(?:s|ped)?|quit|gave up|last|aufgehört|beendet|"
        r"am ende|endet|enden|zuletzt|fini\w*|termina\w*"
        r"|dej[óéa]\w* de|arrêté\w*|final\w*|finisc\w+|оканч\w+|конц\w+"),
    ),
    (  # by its side
        (r"left(?=[ -](?:\w+ )?(?:eye|ear|hand|arm|leg|foot|knee|side|hip|shoulder|lane|door))|links|linke[nrsm]?"
        r"|à gauche|izquierd[oa]s?"
        r"|esquerd[oa]s?|sinistr[oaie]|слева|лев\w{2,3}"),
        (r"right(?=[ -](?:\w+ )?(?:eye|ear|hand|arm|leg|foot|knee|side|hip|shoulder|lane|door))|rechts|rechte[nrsm]?"
        r"|à droite|derech[oa]s?"
        r"|direit[oa]s?|destr[oaie]|справа|прав\w{2,3}"),
    ),
    (r"upload\w*|uplink|outgoing|export\w*", r"download\w*|downlink|incoming|import(?:s|ed|ing)?"),
    (r"indoors?|inside|drinnen|innen|dentro|внутри", r"outdoors?|outside|draußen|außen|fuera|fuori|fora|снаружи"),
    (r"always|every time|immer|stets|toujours|siempre|sempre|altijd|всегда",
     (r"sometimes|occasionally|rarely|seldom|manchmal|selten|parfois|rarement|a veces|raramente|às vezes|a volte"
     r"|soms|иногда|редко")),
    (r"likes?|loves?|enjoys?|mag|liebt|aime\w*|gusta\w*|piace|gosta|любит",
     r"hates?|dislikes?|loathes?|can't stand|cannot stand|hasst|déteste\w*|odia|detesta|ненавидит"),
    (  # open and shut; "open until 8" and "closes at 8" say the same
        (r"open(?:s|ed)?(?! (?:until|till|to|from|between|question))|geöffnet"
        r"|ouvert[es]{0,2}(?! jusqu)|abiert[oa]s?(?! hasta)"
        r"|abren?(?! de)|apert[oaie](?! fino)|abert[oa]s?(?! até)|открыт\w*"),
        (r"closed|shut|clos(?:es|e)(?= (?:on|for|in|during|every|all))|geschlossen|fermée?s?(?! à)|cerrad[oa]s?"
        r"|cierran?(?! a)|chius[oaie]|fechad[oa]s?|закрыт\w*"),
    ),
    (r"above|upstairs|oben|oberhalb|au-dessus|encima|arriba|sopra|acima", (r"below|downstairs|unten|unterhalb"
    r"|au-dessous|abajo|sotto|abaixo")),
)  # fmt: skip
_OPPOSITES_CJK: Final = (
    (r"至少|以上|少なくとも|最低|적어도|최소|이상", r"最多|至多|以下|多くても|최대|이하|까지"),
    (r"左|왼쪽", r"右|오른쪽"),
    (
        r"문을 ?(?:연|열)|영업(?!을 안|하지)|営業(?!しな)|営業中|开门|開門",
        r"문을 ?닫|휴무|휴업|쉰다|定休|休業|閉[まめ店]|关门|關門",
    ),
)


def _sides() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    spaced = [tuple(lazily.compile(rf"(?<!\w)(?:{one})(?!\w)", re.IGNORECASE) for one in pair) for pair in _OPPOSITES]
    plain = [tuple(lazily.compile(one) for one in pair) for pair in _OPPOSITES_CJK]
    return tuple((one, other) for one, other in (*spaced, *plain))


_SIDES: Final = _sides()


@lru_cache(maxsize=4096)
def _held(text: str) -> frozenset[tuple[int, int]]:
    plain = normal_form("NFKC", text)
    return frozenset(
        (place, 1 - side if denied_bound(plain, match.start(), match.end()) else side)
        for place, pair in enumerate(_SIDES)
        for side, words in enumerate(pair)
        for match in words.finditer(plain)
    )


def opposed(text: str, within: str) -> bool:
    """Whether a text has one side of a pair of opposites of which another text has only the other one."""
    there = _held(within)
    return any((place, 1 - side) in there and (place, side) not in there for place, side in _held(text))
