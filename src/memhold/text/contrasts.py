"""Words of which one thing has one at most: sides, the compass, sexes, seasons, times of day, colours. Pure.

Where a statement has one of them, and what it stands on has another, it says something else, however alike the rest is.
Closed sets, as weekdays and months are; a language that is missing is judged as before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

# ruff: noqa: RUF001 - letters of every script

__all__ = ["swapped"]

_BODY: Final = "(?=[- ](?:hand|side|leg|arm|knee|foot|eye|ear|shoulder|wrist|ankle|hip|elbow))"
_SETS: Final = (
    (
        f"left{_BODY}|links|linke[nrsm]?|gauche|izquierd[oa]|sinistr[oa]|лев(?:ый|ая|ое|ую|ой|ом) ~ 왼쪽|왼손|左",
        f"right{_BODY}|rechts|rechte[nrsm]|droite?|derech[oa]|destr[oa]|прав(?:ый|ая|ую|ой) ~ 오른쪽|오른손|右",
    ),
    (
        "north\\w*|nord\\w*|norte ~ 북쪽|북부|北",
        "south\\w*|süd\\w*|sud ~ 남쪽|남부|南",
        "east\\w*|osten|östlich\\w* ~ 동쪽|동부|東|东",
        "west\\w*|ouest|oeste ~ 서쪽|서부|西",
    ),
    (
        "boys?|jungen?|garçons?|niño|мальчик\\w* ~ 사내아이|男の子|男孩",
        "girls?|mädchen|filles?|niña|девочк\\w* ~ 여자아이|女の子|女孩",
    ),
    (
        "brothers?|bruders?|brüder|frères?|hermano|fratello|брат\\w*",
        "sisters?|schwestern?|sœurs?|hermana|sorella|сестр\\w+",
    ),
    (
        "sons?|sohn(?:es)?|söhne|fils|hijo|figlio|сын\\w* ~ 아들|息子|儿子",
        "daughters?|tochter|töchter|hija|figlia|доч\\w+ ~ 딸|娘|女儿",
    ),
    (
        "mother|mom|mum|mutter|mère|madre|мать|матери|мам[аыеу] ~ 엄마|어머니|母|妈妈",
        "father|dad|vater|père|padre|отец|отца|пап[аыеу] ~ 아빠|아버지|父|爸爸",
    ),
    ("uncle|onkel|oncle|tío|zio|дяд\\w+ ~ 삼촌", "aunt|tante|tía|zia|тёт\\w+ ~ 이모|고모"),
    ("niece|nichte|nièce|sobrina ~ 姪", "nephew|neffen?|neveu|sobrino ~ 甥"),
    (
        (
            "springtime|(?:in|in the|next|last|this|coming|early|late|since|until) spring|frühling\\w*|frühjahr\\w*"
            "|printemps|primavera|весн\\w+ ~ 봄|春"
        ),
        "summer\\w*|sommer\\w*|(?:en |l['’]|cet )été|verano|estate|лето|летом ~ 여름|夏",
        (
            "autumn|(?:in|in the|next|last|this|coming|early|late|since|until) fall|herbst\\w*|automne|otoño"
            "|autunno|осен\\w+ ~ 가을|秋"
        ),
        "winter\\w*|hiver|invierno|inverno|зим\\w+ ~ 겨울|冬",
    ),
    (
        "mornings?|morgens|vormittags?|matins?|mattin[ao]|утр\\w+ ~ 아침|오전|朝|午前|早上|上午",
        "afternoons?|nachmittags?|après-midi|pomeriggio ~ 오후|午後|下午",
        "evenings?|abends?|soirs?|вечер\\w* ~ 저녁|夕方|傍晚|晚上",
    ),
    (
        "arms?|bras|brazos?|braccio|рук[аиеу] ~ 팔|腕",
        "legs?|beine?n?|jambes?|piernas?|gamb[ae]|ног[аиеу] ~ 다리|脚",
        "knees?|knien?|genoux?|rodillas?|ginocchi[oa]|колен[оаие] ~ 무릎|膝",
        "shoulders?|schultern?|épaules?|hombros?|spall[ae]|плеч[оаие] ~ 어깨|肩",
        "hips?|hüften?|hanches?|caderas? ~ 골반|髋",
        "wrists?|handgelenke?s?|poignets?|muñecas?|pols[io] ~ 손목|手首|手腕",
        "ankles?|knöcheln?|chevilles?|tobillos?|cavigli[ae] ~ 발목|足首|脚踝",
        (
            "(?:my|the|his|her|user['’]s|lower|bad|sore) back(?! (?:to|from|in|home|then))|rücken|dos|espalda"
            "|schiena|costas ~ 허리|腰|背中"
        ),
        "necks?|nacken|cou|cuello|collo|pescoço ~ 목이|首が|脖子",
        "elbows?|ellbogens?|coudes?|codos?|gomit[io] ~ 팔꿈치|肘",
    ),
    (
        "married|verheiratet\\w*|mariée?s?|casad[oa]s?|sposat[oa] ~ 기혼|既婚|已婚",
        "divorced|geschieden\\w*|divorcée?s?|divorciad[oa]s?|divorziat[oa] ~ 이혼|離婚|离婚",
        "widow(?:er|ed)?|verwitwet|witwer?|veufs?|veuve|viud[oa]|vedov[oa]|viúv[oa] ~ 사별|寡妇|丧偶",
    ),
    (
        "alone|on (?:my|his|her|their) own|allein|toute? seule?|sol[oa]|sozinh[oa] ~ 혼자|一人で|独居|一个人",
        "together with|live[sd]? with|living with|zusammen mit|vi[ts] avec|vive con|vivo con ~ 함께|같이|一緒に|一起",
    ),
    (
        (
            "full[- ]time|vollzeit|(?:temps plein|plein temps)|(?:tiempo|jornada) complet[oa]|tempo pieno"
            "|tempo integral ~ 풀타임|フルタイム|全职"
        ),
        (
            "(?:part|half)[- ]time|teilzeit|halbtags|temps partiel|mi-temps|tiempo parcial|media jornada"
            "|part-time|meio período"
            " ~ 파트타임|パートタイム|兼职"
        ),
    ),
    (
        (
            "(?:pa(?:y|ys|id|ying)|own(?:s|ed)?|do(?:es)?|eats?|ate|get(?:s)?) half|half of|die hälfte"
            "|la moitié|la mitad|la metà"
            "|metade ~ 절반|半分|一半"
        ),
        (
            "all (?:of )?(?:the|it|that)|the (?:whole|entire)|entirely|in full|de[rn] ganzen?|toute? l[ea]"
            "|tod[oa] [el]l?a?|tutt[oa]"
            " ~ 전부|전액|全部|全額|全额"
        ),
    ),
    (
        "left-handed|lefty|linkshänder(?:in)?|gauch(?:er|ère)|zurd[oa]|mancin[oa]|canhot[oa] ~ 왼손잡이|左利き|左撇子",
        (
            "right-handed|rechtshänder(?:in)?|droiti(?:er|ère)|diestr[oa]|destrors[oa]|destr[oa] ~ 오른손잡이"
            "|右利き|右撇子"
        ),
    ),
    (
        "nights?[- ]shifts?|nachtschicht\\w*|nachtdienst\\w*|(?:équipe|poste) de nuit|turno de noche ~ 야간|夜勤|夜班",
        "days?[- ]shifts?|tagschicht\\w*|tagdienst\\w*|(?:équipe|poste) de jour|turno de día ~ 주간|日勤|白班",
    ),
    (
        (
            "cycl(?:e|es|ed|ing)|by bike|bikes?|radelt?|mit dem (?:fahr)?rad|à vélo|en bici(?:cleta)?"
            "|in bici ~ 자전거|自転車|自行车"
        ),
        "driv(?:es?|ing)|drove|by car|mit dem auto|en voiture|en coche|in macchina ~ 운전|車で|开车",
        "on foot|walks? to|walking to|zu fuß|à pied|a pie|a piedi ~ 걸어|歩いて|徒歩|走路",
        "by bus|takes? the bus|mit dem bus|en bus|en autobús|in autobus ~ 버스로|バスで|坐公交",
        (
            "by (?:train|tram|tube|metro|underground)|mit (?:dem|der) (?:zug|bahn|s-bahn|u-bahn)|en (?:train|métro"
            "|tren|metro)"
            " ~ 지하철|電車|地铁"
        ),
    ),
    (
        "vegan\\w*|végétalien\\w*|veganer\\w* ~ 비건|ヴィーガン|纯素",
        "vegetari\\w*|végétari\\w* ~ 채식주의|ベジタリアン|素食",
    ),
    (
        "second-hand|secondhand|pre-owned|gebraucht\\w*|d['’]occasion|de segunda mano|usat[oa] ~ 중고|中古|二手",
        "(?:brand[- ])?new|neue[nmrs]?|neu|neufs?|neuve|nuev[oa]s?|nuov[oa]|nov[oa] ~ 새것|신품|新品|全新",
    ),
    (
        "ground floor|erdgeschoss|rez-de-chaussée|planta baja|piano terra|térreo",
        "top floor|attic|loft|dachgeschoss|dernier étage|ático|ultimo piano",
        "basement|cellar|keller|souterrain|sous-sol|sótano|seminterrato ~ 지하|地下",
    ),
    (
        "(?:primary|elementary|grade) school|grundschule|école primaire|primaria ~ 초등학교|小学校|小学",
        "(?:middle|junior high) school|collège ~ 중학교|中学校|初中",
        "(?<!junior )(?:high|secondary) school|gymnasium|lycée|bachillerato ~ 고등학교|高校|高中",
    ),
    (
        "more than|mehr als|plus de|más de|più di|mais de ~ 이상|以上",
        "(?:less|fewer) than|weniger als|moins de|menos de|meno di ~ 이하|미만|以下|未満",
    ),
    (
        "on weekdays|weekdays|werktags|en semaine|entre semana|nei giorni feriali ~ 평일|平日|工作日",
        (
            "(?:at|on|the) weekends?|weekends|am wochenende|wochenends|le week-end|fin(?:es)? de semana"
            "|nel fine settimana"
            " ~ 주말|週末|周末"
        ),
    ),
    (
        "temporary|befristet\\w*|temporaire|cdd|temporal ~ 임시|臨時|临时",
        "permanent\\w*|unbefristet\\w*|cdi|indefinid[oa] ~ 정규직|正社員|永久",
    ),
    (
        "diesel",
        "petrol|gasoline|benzin\\w*|essence|gasolina|benzina ~ 휘발유|ガソリン|汽油",
        "electric\\w*|elektrisch\\w*|elektro\\w*|électrique|eléctric[oa]|elettric[oa] ~ 전기|電気|电动",
    ),
    ("sopran\\w*", "alto|altistin", "tenor\\w*|ténor|tenore", "bass|bariton\\w*|baritone|basso"),
    (
        "window seats?|fensterplatz|côté hublot|ventanilla|finestrino|janela ~ 창가|窓側|靠窗",
        "aisle seats?|gangplatz|côté couloir|pasillo|corridoio|corredor ~ 통로|通路側|过道",
    ),
    (
        "bought|buys?|buying|kauf(?:en|te|t)|gekauft|achète|acheté|compr[oóa]r?|comprato ~ 샀|구입|買っ|购买|买了",
        "sold|sells?|selling|verkauf(?:en|te|t)|vend(?:re|u|ió|uto|eu|o|e)? ~ 팔았|売っ|卖了|卖掉",
    ),
    (
        "daily|every day|each day|täglich\\w*|tous les jours|quotidien\\w*|todos los días|ogni giorno ~ 매일|毎日|每天",
        (
            "weekly|(?:once|twice) a week|every week|wöchentlich\\w*|toutes les semaines|hebdomadaire"
            "|ogni settimana ~ 매주|毎週|每周"
        ),
        (
            "monthly|(?:once|twice) a month|every month|monatlich\\w*|tous les mois|mensuel\\w*|ogni mese ~ 매달"
            "|매월|毎月|每月"
        ),
        "yearly|annual\\w*|once a year|every year|jährlich\\w*|tous les ans|annuel\\w*|ogni anno ~ 매년|毎年|每年",
    ),
    (
        (
            "before (?:work|lunch|dinner|breakfast|school|bed|meals?|eating)|vor dem|avant l[ea]|antes de"
            "|prima d ~ 식전|食前|饭前"
        ),
        (
            "after (?:work|lunch|dinner|breakfast|school|bed|meals?|eating)|nach dem|après l[ea]|después de"
            "|dopo ~ 식후|食後|饭后"
        ),
    ),
    (
        "at least|minimum|mindestens|au moins|al menos ~ 최소|少なくとも|至少",
        "at most|maximum|up to|no more than|höchstens|au plus|como máximo ~ 최대|最大|最多",
    ),
    (
        "red|rote?[nrsm]?|rouges?|roj[oa]s?|ross[oa]|красн\\w+ ~ 빨간|빨강|赤い|赤色|红色",
        "blue|blaue?[nrsm]?|bleue?s?|azul(?:es)?|blu|син(?:ий|яя|ее|его|юю) ~ 파란|파랑|青い|青色|蓝色",
        "green|grüne?[nrsm]?|verte?s?|verdes?|зел[её]н\\w+ ~ 초록|녹색|緑|绿色",
        "yellow|gelbe?[nrsm]?|jaunes?|amarill[oa]s?|giall[oa]|ж[её]лт\\w+ ~ 노란|노랑|黄色",
        "black|schwarze?[nrsm]?|noire?s?|negr[oa]s?|nero|ч[её]рн\\w+ ~ 검은|검정|黒い|黒色|黑色",
        "white|weiße?[nrsm]?|blanch?e?s?|blanc[oa]s?|bianc[oa]|бел(?:ый|ая|ое|ую|ого) ~ 흰|하얀|白い|白色",
        "gr[ae]y|graue?[nrsm]?|grise?s?|сер(?:ый|ая|ое) ~ 회색|灰色",
        "brown|braune?[nrsm]?|brune?s?|marr[oó]n(?:es)?|коричнев\\w+ ~ 갈색|茶色|棕色",
    ),
)


def _pattern(words: str) -> re.Pattern[str]:
    """One pattern of a member's words; those behind the sign are of scripts without spaces, and have no edges."""
    edged, _, wide = words.partition(" ~ ")
    return re.compile(rf"(?<![^\W\d_])(?:{edged})(?![^\W\d_])" + (f"|{wide}" if wide else ""), re.IGNORECASE)


_PATTERNS: Final = tuple(tuple(map(_pattern, members)) for members in _SETS)


def swapped(claim: str, said: str) -> bool:
    """Whether a claim has a word of a set where `said` has another of that set.

    That is so where `said` lacks the claim's and has one that the claim lacks, and where it has another of the set
    before the word that stands behind the claim's, and that one never: the "left hip" of a left knee and a right hip.
    """
    for members in _PATTERNS:
        mine = {place for place, pattern in enumerate(members) if pattern.search(claim)}
        if mine:
            theirs = {place for place, pattern in enumerate(members) if pattern.search(said)}
            if mine - theirs and theirs - mine:
                return True
            if theirs - mine and any(_beside_another(members, place, claim, said) for place in mine):
                return True
    return False


def _beside_another(members: Sequence[re.Pattern[str]], place: int, claim: str, said: str) -> bool:
    """Whether a word beside this member of a set stands beside others of it alone in what was said."""
    beside = [_neighbours(pattern, said) for pattern in members]
    others = frozenset[str]().union(*(words for other, words in enumerate(beside) if other != place))
    return bool(_neighbours(members[place], claim) & (others - beside[place]))


def _neighbours(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    """The words behind what a pattern finds, in lower case; of scripts with spaces."""
    behind = (_BEHIND.match(text, found.end()) for found in pattern.finditer(text))
    return frozenset(one[1].casefold() for one in behind if one is not None)


_BEHIND: Final = re.compile(r"\s([^\W\d_]{3,})")
