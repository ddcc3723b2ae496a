"""What a clause tells as to come: "I'm moving to Bergen next month", and not "I moved" or "I live". Pure.

By its verb's form ("will", "je vais"), by a verb of change in the present, or by such a verb and a time ahead.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from memhold.text import lazily
from memhold.text.change import changes
from memhold.text.negation import negates
from memhold.text.times import calendar_words

# ruff: noqa: RUF001 - words of every script

__all__ = ["Kind", "changes_later", "coming", "parts_of", "with_beside"]

Kind = Literal["home", "work", "marriage"]


def changes_later(sentence: str) -> bool:
    """Whether a sentence has a word of change, and each part with one tells of what is to come."""
    parts = parts_of(sentence)
    told = [place for place, one in enumerate(parts) if changes(one)]
    return bool(told) and all(coming(parts[place], with_beside(parts, place), None) for place in told)


def parts_of(sentence: str) -> list[str]:
    """The parts of a sentence that each tell one thing."""
    return [one for one in _PART.split(sentence) if one.strip()]


def with_beside(parts: Sequence[str], place: int) -> str:
    """A part with the few words in front of it or behind it that say when: "Next month, we move to Bergen"."""
    beside = [one for one in parts[max(0, place - 1) : place + 2] if len(one.split()) <= FEW]
    return " ".join((*beside, parts[place]))


FEW: Final = 4
"""Words of a part that only says when."""
_PART: Final = lazily.compile(
    r"[;:，；、]|,(?!\d)|\s(?:and|but|und|aber|et|mais|y|pero|e|ma|mas|maar|и|но)\s|(?<=지만)\s|(?<=는데)\s|(?<=고)\s"
)


def coming(part: str, around: str, kind: Kind | None) -> bool:
    """Whether a part of a sentence tells of what is to come, by its verb, or by its verb and a time beside it.

    What it tells as lasting, done or so already is no plan, whatever else it says. With a kind, the very verb that is
    to come must be of it: "I'll be honest, I live in Oslo" is honest and lives.
    """
    if negates(_IN_THE.sub(" ", part)) or _LASTS.search(part) is not None:
        return False
    from_then = _from_then(around)
    if not from_then and _HOLDS.search(part) is not None:
        return False
    of_kind = _ANY if kind is None else _VERBS[kind]
    if of_kind.search(part) is None:
        return False
    ahead = _AHEAD.search(around) is not None or bool(calendar_words(around)) or _MONTH.search(around) is not None
    if (
        from_then
        or _WILL.search(part) is not None
        or any(of_kind.match(part, one.end()) for one in _SHALL.finditer(part))
    ):
        return True
    if _is_of(of_kind, _ABOUT, part):
        return ahead or _TODAY.search(around) is None
    return ahead and _is_of(of_kind, _SIMPLE, part) and _BACK.search(around) is None


def _is_of(kind: re.Pattern[str], verbs: re.Pattern[str], part: str) -> bool:
    """Whether one of the verbs that a part has is of a kind."""
    starts = [one.start() for one in kind.finditer(part)]
    spans = (one.span() for one in verbs.finditer(part))
    return any(bisect_left(starts, start) < bisect_left(starts, end) for start, end in spans)


def _from_then(text: str) -> bool:
    """Whether something is said to hold from a time to come on: "from March", "ab nächstem Monat"."""
    if _UNTIL.search(text) is not None:
        return False
    return any(one["month"] is None or calendar_words(f"in {one['month']}") for one in _FROM.finditer(text))


_IN_THE: Final = lazily.compile(r"(?i)(?<!\w)no (?=próxim|mês|ano|fim|início|dia|verão|outono|inverno)")
"""Portuguese "in the", which denies nothing."""
_VERBS: Final[Mapping[Kind, re.Pattern[str]]] = {
    "home": lazily.compile(
        r"(?i)(?<!\w)(?:mov|relocat|emigrat|liv(?:e|ing)|be (?:in|based)|settl|zieh|umzieh|wohn|leb|übersied|sein"
        r"|déménag|emménag|install|habit|vivr|mud|traslad|viv|mor|trasfer|trasloc|abit|stare|verhuis|won|перее|жить"
        r"|return)"
        r"|이사|살|옮|越|移|住|搬"
    ),
    "work": lazily.compile(
        r"(?i)(?<!\w)(?:(?:start|begin)\w*+(?! (?:an?|the|my|our|this|some) "
        r"(?!(?:new )?(?:job|position|role|post|degree)))|join\w*+(?! (?:an?|my|our) )|work(?:s|ing)?(?= (?:at|for"
        r"|with|as|in)(?!\w)|[^\w\s]"
        r"|\Z)|be (?:at|with|an?)|becom|quit"
        r"|leav|switch|chang\w*+(?= (?:[\w'’]+ ){0,4}(?:to|for|into|pour)(?!\w))|transfer|retir|resign|tak(?:e"
        r"|ing) (?:over|up)"
        r"|study|attend|enrol|arbeit|fang|anfang|beginn|wechs|kündig|verlass|verläss|bei|studier|commenc|début"
        r"|travail|rejoi|quitt|étudi|démission|deviend|empie|empez|comien|comenz|trabaj|incorpor|dej"
        r"|cambi\w*+(?= (?:\w+ ){0,4}(?:al?|alla|para|per)(?!\w))|entr|estud"
        r"|começ|trabalh|deix|inizi|cominci|lavor|lasci|studi|werk|нач|работ|уволь|пере[хй])"
        r"|(?<![를을])(?<![를을] )시작|(?:일|근무)[을를]? ?시작|(?<![내매생요])일(?=[을하해할])|입사|이직|퇴사|다니"
        r"|다닐|다녀|출근|취직|그만|働|入社|転職|退職|辞|(?<!を)始|仕事を始|勤|上班|工作|入职|入職|换"
        r"|[开開]始(?=在|去|到|就|\W|\Z)|调"
    ),
    "marriage": lazily.compile(
        r"(?i)(?<!\w)(?:marr|wedding|(?:ver)?heirat|hochzeit|épous|mari|cas|spos|trouw|жен|замуж|divorc|scheid)|결혼"
        r"|結婚|结婚|이혼"
    ),
}
"""Stems of verbs by which a plan is of a kind."""
_WILL: Final = lazily.compile(
    r"(?i)(?<!\w)(?:werden?|wird|wirst|werdet)\s.{0,120}?(?<!\w)(?:\w{2,30}e[lr]?n|sein)(?!\w)"
    r"|(?<!\w)(?:vais|vas|va|vont|allons|allez)\s(?:\w+\s){0,2}?\w+(?:er|ir|re|oir)(?!\w)"
    r"|(?<!\w)(?:ser|aur|ir|déménager|emménager|habiter|vivr|travailler|commencer|débuter|rejoindr|étudier|épouser"
    r"|marier"
    r"|quitter|changer|deviendr)(?:ai|as|a|ons|ez|ont)(?!\w)"
    r"|(?<!\w)(?:voy|vas|va|vamos|van) a \w+(?:ar|er|ir)(?:me|te|se|nos)?(?!\w)"
    r"|(?<!\w)(?:vou|vai|vamos|vão) (?:me |nos |se )?\w+(?:ar|er|ir|or)(?:-\w+)?(?!\w)"
    r"|(?<!\w)(?:ser|estar|vivir|viver|morar|trabajar|trabalhar|empezar|comenzar|começar|mudar|casar|estudiar|estudar"
    r"|dejar|deixar|cambiar)(?:é|á|án|emos|ei|ão)(?!\w)"
    r"|(?<!\w)(?:st[oa]|stiamo) per \w+|(?<!\w)(?:vado|va|andiamo) a (?:vivere|abitare|stare|lavorare|studiare)"
    r"|(?<!\w)(?:\w{2,}[ei]r(?:ò|emo)|andr(?:ò|emo)|vivr(?:ò|emo)|sar(?:ò|emo))(?!\w)"
    r"|(?<!\w)(?:zal|zullen)(?!\w)|(?<!\w)(?:ga|gaat|gaan)\s.{0,120}?(?<!\w)\w{2,30}en(?!\w)"
    r"|(?<!\w)буд(?:у|ем|ет|ут)\s\w+ть(?!\w)|(?<!\w)(?:перее(?:ду|дем|дет|дут)|начну|уволюсь|перейду|поженимся)(?!\w)"
    r"|(?:할|갈|올|될|살|옮길|다닐|떠날|그만둘|들어갈)\s?(?:거|것|겁|예정|계획)|예정이|기로 (?:했|결정)|려고 (?:해|합)"
    r"|予定|つもり|ことにな(?:る|り|っ)|ことにし|即将|即將|将要|就要|快要|准备|準備|打算|将(?=在|搬|会)|要(?=搬|结婚"
    r"|結婚|入职|换工作|离开)"
    r"|会(?=搬|去.{1,8}工作)"
)
"""Verbs that tell of what is to come, by their form."""
_SHALL: Final = lazily.compile(
    r"(?i)(?<!\w)(?:(?:(?-i:will)|shall|gonna|(?:i|we|he|she|they|you)['’]ll)"
    r"|(?:going|about|set|due|scheduled|plan(?:s|ned|ning)?|intend(?:s|ing)?) to)"
    r"\s(?:(?:\w+ly|be(?! (?:in|at|with|based|an?) )|soon|then|also|all|both|most|have to|get|go) ){0,3}"
)
"""English words of what is to come; the verb that is to come follows them."""
_ANY: Final = lazily.compile(r"")
"""Of every kind."""
_LASTS: Final = lazily.compile(
    r"(?i)(?<!\w)(?:since|been (?:liv|work|study|married|at |in |with )\w*|every|daily|married (?:for )?\w+ years"
    r"|(?:for|all) the rest of|(?<!be )(?<!being )(?:(?:moved|relocated|settled|started|began)(?= (?:to|in|into|at|as"
    r"|back|here|there)"
    r"(?!\w))|joined|became)"
    r"|seit|jede[nrsm]?(?! fall)|täglich|depuis|chaque|tous les|cada|todos (?:los|os)|ogni|sinds|elke|кажд\w+)(?!\w)"
    r"|(?:살|다니|일하|근무하)고(?! 싶)|계속|매일|[한된간온] 지(?!\w)|住んで|働いて|勤めて|通って|ずっと|毎[日朝週]"
    r"|每[天日周]|一直|(?<=班|作|职)的(?:[。！]|\Z)"
)
"""Words of what has begun and lasts, or comes again and again."""
_HOLDS: Final = lazily.compile(
    r"(?i)(?<!\w)(?:i|we) (?:(?:still|now|already|currently) )?(?:live|work|study)(?!\w)"
    r"|(?<!\w)(?:(?-i:wohne|arbeite|studiere)|ich lebe|j['’]habite|je (?:vis|travaille)|nous habitons|vivo|vivimos"
    r"|moro|abito|ik woon|ik werk)(?!\w)"
    r"|[我们們](?:现在|現在)?(?:住在|在.{1,12}(?:上班|工作)(?!了))(?<!开始)"
)
"""Verbs that say how it is, in the present, where no time is said from which on."""
_ABOUT: Final = lazily.compile(
    r"(?i)(?:(?<!\w)(?:am|are|is|be)|['’](?:m|re|s)) (?:\w+ ){0,2}?(?:(?:moving|switching"
    r"|changing)(?= (?:\w+ ){0,4}"
    r"(?:to|into|as|out|away|jobs?|employers?|schools?)(?!\w)|[^\w\s]|\Z)"
    r"|(?:start|beginn)ing(?! to (?!work|study))|relocating|emigrating|joining|leaving(?! for)|quitting|transferring"
    r"|retiring|resigning|marrying|divorcing"
    r"|returning|becoming|getting (?:married|divorced|an?))(?!\w)"
    r"|(?<!\w)(?:ziehe[nt]?|zieht|wechs(?:le|ele|elt|eln)(?=\s(?:\w+ ){0,4}(?:zur?|zum|nach)(?!\w))|(?:fange?n?t?"
    r"|fängt)(?=\s.{0,120}?(?<!\w)an(?!\w))"
    r"|beginn(?:e|t|en)(?! (?:mein|unser))|heirate[nt]?|kündige[nt]?|verlasse|verlässt|übersied(?:le|elt|eln))(?!\w)"
    r"|(?<!\w)(?:(?:dé|em)ménage(?:ons|nt)?|m['’]installe|nous installons|commence|commençons|débute|rejoins"
    r"|rejoint|quitte|quittons|épouse|me marie|nous marions|se marie(?:nt)?|démissionne)(?!\w)"
    r"|(?<!\w)(?:me mudo|mudo-me|se mudan?|me traslado|(?:empiezo|comienzo|começo|inicio|inizio|comincio)(?! (?:mi"
    r"|meu|minha|il mio|la mia)(?!\w))|me incorporo"
    r"|me caso|caso-me|mi trasferisco|ci trasferiamo|trasloco|traslochiamo|mi sposo|ci sposiamo|si sposano)(?!\w)"
    r"|(?<!\w)(?:verhuis|verhuizen|trouw|trouwen)(?!\w)"
    r"|(?<!\w)(?:переезжа(?:ю|ем|ет|ют)|выхожу замуж|женюсь|женимся|увольняюсь|перехожу)(?!\w)"
    r"|(?:이사|결혼|입사|이직|퇴사|취직)\s?(?:해(?!서|야)|하게|합니다|한다|가(?!서|야)|갑니다|간다)"
    r"|(?:引っ?越|転職|入社|結婚|退職|転勤|移住)(?:す(?!る前|れ)|し?ます)|(?:引っ?越|移住|結婚|入社)し?(?:の)?予定"
)
"""Verbs of a change that are said in the present before it is there, or on the day."""
_SIMPLE: Final = lazily.compile(
    r"(?i)(?<!\w)(?:(?:moves?|moving|switch(?:es)?|switching)(?= (?:\w+ ){0,4}(?:to|into|as)(?!\w))|starts?|starting"
    r"|begins?|join(?:s|ing)?|leav(?:e|es|ing)|quit(?:s|ting)?|marry|marries"
    r"|marrying|get married|becomes?|transfers?|relocates?|retires?|returns?|take over"
    r"|starte[tn]?|fahre|gehe[nt]?|trete|übernehme|change|pars|partons|part|passe|intègre"
    r"|nos (?:casamos|mudamos|trasladamos)|empezamos|comenzamos|começamos|casamo-nos|mudamo-nos|mudamos|dejo|deixo"
    r"|lascio|cambio|entro|saio|iniziamo|cominciamo|begin|begint|beginnen|start|starten|начинаю)(?!\w)"
    r"|시작|옮겨|始(?:める|めます|まる|まります)|移(?:る|ります)|辞め(?:る|ます)"
    r"|搬|入职|入職|结婚|結婚|开始|開始|换到|调到|转到"
)
"""Verbs of a change that tell of what is to come where a time is told with them, and no time or form of the past."""
_AHEAD: Final = lazily.compile(
    r"(?i)(?<!\w)(?:next(?! (?:to|door)(?!\w))|tomorrow|soon|shortly|upcoming|coming|in (?:an?|\d+|two|three|four"
    r"|five|six|a few|a couple of)"
    r" (?:days?|weeks?|months?|years?)|end of the (?:month|year)"
    r"|after (?:christmas|easter|new year|the (?:holidays|summer))"
    r"|\d{1,2}(?:st|nd|rd|th|\.)? (?:of )?(?:may|march|mai|mars)|(?:may|march) \d{1,2}"
    r"|this (?:summer|autumn|fall|winter|spring)"
    r"|nächste\w*|kommende\w*|morgen|übermorgen|bald|demnächst|in (?:\w+ )?(?:tagen|wochen|monaten|jahren)"
    r"|diese[nrs]? (?:sommer|herbst|winter|frühling)"
    r"|prochaine?s?|demain|bientôt|dans \w+ (?:jours?|semaines?|mois|ans?)"
    r"|próxim\w+|(?<!la )mañana|pronto|que viene|dentro de|a partir de|amanhã|em breve|que vem|daqui a"
    r"|prossim\w+|domani|presto|[tf]ra \w+ (?:giorni|settimane|settimana|mes[ei]|ann[oi])"
    r"|volgende?|binnenkort|следующ\w+|завтра|скоро|через)(?!\w)"
    r"|다음 ?(?:달|주|해|학기)|내년|내달|내일|모레|이번 (?:여름|가을|겨울|봄)"
    r"|来月|来週|来年|再来|明日|もうすぐ|近々|春から"
    r"|下(?:个|個)?(?:月|周|週|星期|学期)|明年|明天|后天|很快"
)
_MONTH: Final = lazily.compile(r"(?:\d{1,2}|[一二三四五六七八九十]{1,2})\s?(?:月(?!前)|월)")
_FROM: Final = lazily.compile(
    r"(?i)(?<!\w)(?:from|as of|starting(?: in)?|ab|dès|à partir (?:de |du )?|a partir de|a partire da|vanaf|с)"
    r"\s(?:next(?! (?:to|door)(?!\w))|nächst\w*|kommend\w*|le mois prochain|próxim\w+|prossim\w+|volgend\w*"
    r"|(?P<month>[^\W\d_]{3,}))(?!\w)"
    r"|(?:다음 ?(?:달|주)|내년|내달|\d월)\s?부터|(?:来月|来週|来年|\d月|春)から|从(?:下(?:个|個)?月|下周|明年)"
)
_UNTIL: Final = lazily.compile(
    r"(?i)(?<!\w)(?:to|until|till|through|bis|jusqu\w*|à|hasta|a|fino|até|tot|по|до)\s+(?:\w+\s+)?"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun|\d|(?:mai|juni|juli|mars|juin|mayo|junio|marzo)(?!\w))|까지|まで|到"
)
_TODAY: Final = lazily.compile(
    r"(?i)(?<!\w)(?:today|now|already|heute|jetzt|gerade|schon|bereits|aujourd['’]hui|maintenant|déjà|hoy|ahora|ya|oggi"
    r"|adesso|già|hoje|agora|já|vandaag|nu|сегодня|сейчас|уже)(?!\w)|오늘|지금|이미|벌써|今日|今天|现在|現在|已经|已經"
)
_BACK: Final = lazily.compile(
    r"(?i)(?<!\w)(?:last|ago|was|were|had|letzte\w*|vor|dernière?s?|il y a|hace|pasad[oa]|há|passad[oa]|fa|scors[oa]"
    r"|geleden|назад|прошл\w+)(?!\w)|[았었였했갔왔됐겼났]|지난|작년|去年|先月|先週|昨|上个?月|上周|了|过"
    r"|た(?:[。！!、\s]|\Z)|ました"
)
