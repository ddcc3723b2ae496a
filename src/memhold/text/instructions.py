"""Standing instructions and preferences in what a user writes: "always", "from now on", "please don't", "I hate". Pure.

Only the user's own short clauses count: not code, not what is quoted or pasted, not a question, not a report ("I always
walk", "she never calls"). What is meant for the answer at hand alone ("keep this one short") is no standing
instruction. On the safe side: one that is missed is still found as a message, one that nobody gave would bend every
answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memhold.text import lazily
from memhold.text.change import word_count
from memhold.text.letter_words import letter_words
from memhold.text.mood import is_asked
from memhold.text.sentences import Span, sentences

# ruff: noqa: RUF001 - letters of every script

__all__ = ["LONGEST", "MOST", "instructions", "own_sentences", "tells_state", "without_quotes"]

LONGEST = 45
"""Words up to which a sentence is a clause of one's own; a longer one is a text about something."""
MOST = 4
"""Instructions that are taken from one message: whoever writes more of them has pasted a document."""
DOCUMENT = 20_000
"""Characters from which on a message is a document."""
OPENING = 60
"""Characters at the beginning of a line that show whether it was pasted."""

_START = (
    r"(?:^|[:;.!–—]\s*"
    r"|(?:^|[,:;.!–—]\s*)(?:and|but|so|also|oh|ok|okay|hey|btw|then|by the way|one thing|please)[,:]?\s+)"
)
"""Where a clause begins that has no subject before it."""
_NOT_A_COMMAND = (
    r"mind|ever|been|seen|had|done|gone|met|heard|knew|known|thought|felt|got|gotten|went|saw|said|told|took|taken|made|came"
    r"|found|left|lost|kept|gave|given|bought|sold|ate|eaten|drove|driven|wrote|written|spoke|spoken|slept|won|ran|fun|nice"
    r"|good|great|happy|sad|tired|busy|late|early|there|here|so|too|very|really|quite|interested|was|were|is|are|am|will"
    r"|would|could|should|has|have|did|does|do i|\w+ed|\w+ing|again|more|less|better|enough|easy|the same|liked|love"
    r"|up|down|on|off|in|at|with|for|full|a|an|give up|say|quit|stop|look back"
    r"|i|you|he|she|we|they|it|my|your|his|her|our|their"
)
"""What stands behind "always" and "never" where somebody reports or exclaims."""
_ANSWERS = (
    r"(?:answers?|repl(?:y|ies)|responses?|explanations?|messages?|suggestions?|recommendations?|summaries|code|emails?"
    r"|drafts?)"
)
_FOR_GOOD = (
    r"\b(?:from now on|from here on|(?<!keep )(?<!keeps )(?<!keeping )(?<!kept )(?<!move )(?<!moving )going forward"
    r"|for the future(?=[,:])|in (?:the )?future(?=,)|from this point on|as a (?:general )?rule"
    r"|for future (?:reference|answers|replies|conversations)|until i (?:say|tell you) otherwise"
    r"|every time i (?:ask|say|send|share|mention)|whenever (?:i|you) (?:ask|say|send|share|mention|answer|give|write"
    r"|suggest|recommend|reply|respond|talk|discuss))\b"
)
_COMMAND = (
    rf"{_START}(?:please\s+)?(?:always|never(?:\s+ever)?)\s+(?!(?:{_NOT_A_COMMAND})\b)[a-z]+"
    r"|\b(?:you (?:should|must|need to)|(?:can|could|would|will) you|i(?:'d| would)? (?:want|like|need|prefer) you to"
    r"|make sure (?:you|to)|remember to|be sure to)\s+(?:please\s+)?(?:always|never)\s+[a-z]+"
    r"|\b(?:please\s+(?:always|never)|,\s*always[.!]?$|please,\s*always)\b"
    r"|\b(?:give|send|write|show|tell) (?:me|us)\b.{0,400},\s*(?:always|never)\b"
    r"|\bwhen(?:ever)? you (?:give|write|make|answer|explain|show|suggest|recommend|send|draft|reply|respond|list|talk"
    r"|do)\b.{0,400}\b(?:please|don't|dont|do not|never|always|use|avoid)\b"
)
_NOT_TO_DO = (
    rf"{_START}(?:please\s+)?(?:don't|do not|dont|stop|avoid|no need to|quit)\s+(?:ever\s+)?(?:calling me|call me"
    r"|suggest(?:ing)?|recommend(?:ing)?|us(?:e|ing) (?:emojis?|jargon|exclamation|bullet|markdown|tables?|the word)"
    r"|apologi[sz](?:e|ing)|remind(?:ing)? me|ask(?:ing)? me (?:about|whether|if)|bring(?:ing)? up|mention(?:ing)?"
    r"|start(?:ing)? (?:your|with)|end(?:ing)? (?:your|with)|repeat(?:ing)? (?:my|the|your)|lectur(?:e|ing))\b"
    r"|\bplease (?:don't|do not|dont) (?!worry|hesitate|get me wrong|take (?:it|this)|forget|let me|mind)[a-z]+"
)
_HOW = (
    rf"(?:{_START}|\b(?:please|to) )(?:keep|make) (?:it|them|things|your {_ANSWERS}|all {_ANSWERS}|{_ANSWERS})"
    r" (?:\w+ )?(?:short|brief|concise|simple|formal|informal|to the point|plain)\b(?! (?:in|for) (?:this|that|the)\b)"
    r"|\b(?:call|address) me (?!back|when|if|later|at|on|in|tomorrow|today|to|again|as soon|a |an |the |for|about|crazy"
    r"|old)[a-z][\w'-]+\b(?=[.,!]|$| (?:please|from|not|and|instead))"
)
_NO_REMARK = (
    r"(?!(?:not|that|this|how|when|it|to (?:say|admit|ask|bother|think)|him|her|them|you|myself"
    r"|the (?:idea|thought|fact))\b)"
)
_TASTE = (
    r"\bi(?:'m| am)? (?:really |absolutely |just |do |also |generally |usually |always )?(?:hate|loathe|detest|despise"
    rf"|dislike|can't stand|cannot stand|cant stand|can't bear|don't like|do not like|dont like)\s+{_NO_REMARK}"
    r"|\bi (?:really |generally |usually |always |much |strongly )?prefer (?!that\b)"
)
_HOW_MUCH = (
    r"(?:(?:severely|mildly|slightly|highly|extremely|seriously|terribly|badly|deathly|deadly|very|quite|really|still"
    r"|also|both) )*"
)
_STATE = (
    r"\bi(?: really| absolutely| just| do| also| generally| usually| always)?"
    rf" (?:don't eat|do not eat|dont eat|don't drink|do not drink|never eat|never drink|avoid eating)\s+{_NO_REMARK}"
    rf"|\bi(?:'m| am) (?:no longer )?{_HOW_MUCH}"
    r"(?:allergic to|intolerant|(?:a )?(?:vegan|vegetarian|pescatarian)(?!')"
    r"|(?:lactose|gluten)[ -]intolerant|colou?r[ -]?blind)\b"
    r"|\bi(?:'ve got| have got| have) (?:an? )?(?:(?!(?:no|with|without|whose|and|about|to|for|on|had)\b)[\w-]+ ){0,2}"
    r"allerg(?:y|ies)\b(?! (?:test|appointment|shot|season|pill|med|doctor|specialist|clinic|relief|check))"
)
"""A state of health or diet: no wish, but what the answers that it governs are as unlike as those to a wish."""
_NO_MORE = (
    r"\byou (?:can|may) (?:[\w']+ ){1,6}again\b"
    r"|\b(?:no need to|you (?:don't|do not) (?:have|need) to) (?:[\w']+ ){1,8}any ?more\b"
)
"""One that ends another."""
_NOT_SO = lazily.compile(
    r"\b(?:if|whether|imagine|imagining|pretend|pretending|suppose|supposing|assume|assuming|wonder|wish|let's say"
    r"|as though|(?:some|people|many) say|thinks?|thought) (?:that )?i(?:'m| am| have)\b",
    re.IGNORECASE,
)
"""A state that is asked about, imagined or doubted."""
_WISH = lazily.compile(f"{_NO_MORE}|{_FOR_GOOD}|{_COMMAND}|{_NOT_TO_DO}|{_HOW}|{_TASTE}", re.IGNORECASE)
_STATES = lazily.compile(_STATE, re.IGNORECASE)
_PAST_REPORT = lazily.compile(
    r"\b(?:he|she|they|we|mum|mom|dad|boss|teacher|doctor|(?:my|his|her|our|their"
    r"|the) [\w'-]+) (?:\w+ )?(?:said|says|told|tells"
    r"|asked|asks|wants|wanted|suggested|keeps? saying|insists?)\b|\b(?:as|when|since|because) i (?:always|never)\b"
    r"|\b(?:i|we)(?:'ll| will|'m going to| am going to|'m gonna| plan to| want to| need to)\b.{0,400}\b(?:from now on"
    r"|going forward|keep it|make it)\b"
    r"|\bwould (?:rather )?prefer\b|\bi'd prefer\b|\bused to (?:hate|love|like|prefer)\b|\bi prefer not to say\b",
    re.IGNORECASE,
)
_ONCE = lazily.compile(
    r"\b(?:this time|for now|today|tonight|right now|this one|just this|in this (?:email|message|case|draft"
    r"|letter|text|version))\b",
    re.IGNORECASE,
)
_LASTING = lazily.compile(r"\b(?:always|never|from now on|going forward|ever)\b", re.IGNORECASE)
_REQUEST = lazily.compile(
    r"\b(?:can|could|would|will) you (?:please )?(?:always|never)\b|\bfrom now on\b|\bgoing forward\b", re.IGNORECASE
)
_OTHERS = lazily.compile(
    # German
    r"\b(?:ab (?:jetzt|sofort|heute)|von (?:jetzt|nun) an|in zukunft|künftig (?:bitte|immer|nie)|merk(?:e)? dir"
    r"|bitte (?:immer|nie(?:mals)?|keine?n?|nicht mehr|ohne|kein)|(?:schlag|empfiehl|gib|nenn|schreib"
    r"|zeig) mir (?:nie|immer)|(?:antworte|schreibe?|sprich)(?: mir| bitte)* (?:immer|stets|nie(?:mals)?)"
    r"|ich (?:hasse|mag kein\w*))\b"
    # French
    r"|\b(?:à partir de maintenant|dorénavant|désormais,? (?:réponds|écris|utilise|évite)|à l'avenir"
    r"|(?:réponds|utilise|écris|propose|donne)[ -]\w* ?(?:toujours|jamais)|ne me \w+ (?:jamais|plus)"
    r"|s'il (?:te|vous) plaît,? n(?:e |')(?:me |m')?\w+(?:-moi)? (?:jamais|plus)"
    r"|n(?:e |')(?:me |m')?\w+ (?:jamais|plus)\b.{0,80}, s'il (?:te|vous) plaît"
    r"|je (?:déteste|ne supporte pas))\b"
    # Spanish
    r"|\b(?:de ahora en adelante|a partir de ahora|en el futuro|no me \w+ (?:nunca|jamás|más)|nunca me \w+"
    r"|siempre (?:responde|contesta|escribe|usa)\w*"
    r"|por favor,? (?:nunca|jamás) \w+|(?:nunca|jamás) \w+\b.{0,80}, por favor"
    r"|tráte(?:me|nme)|trátame de|odio|no soporto)\b"
    # Portuguese, Italian, Dutch, Russian
    r"|\b(?:de agora em diante|a partir de agora|nunca me \w+|sempre responda"
    r"|por favor,? (?:nunca|jamais) \w+|(?:nunca|jamais) \w+\b.{0,80}, por favor"
    r"|(?:odeio|detesto|não suporto)(?! (?:que|quando|dizer|admitir|isso|ter de|ter que)\b)"
    r"|d'ora in (?:poi|avanti)|in futuro|non \w+mi mai|odio"
    r"|per (?:favore|piacere),? non (?:mi )?\w+ (?:mai|più)"
    r"|non (?:mi )?\w+ (?:mai|più)\b.{0,80}, per (?:favore|piacere)"
    r"|vanaf nu|voortaan|in het vervolg|ik haat|(?:alsjeblieft|alstublieft|graag),? nooit"
    r"|пожалуйста,? никогда не \w+"
    r"|с этого момента|впредь|отныне|всегда (?:отвечай|пиши|используй)|никогда не (?:предлагай|пиши|используй)"
    r"|я ненавижу|терпеть не могу)\b"
    # Korean, Chinese, Japanese
    r"|앞으로(?:는)? .{0,400}(?:주세요|줘|말아|마세요|해요|해)|항상 .{0,400}(?:주세요|줘|해)(?:$|[.! ])"
    r"|절대 .{0,400}(?:마세요|말아|마|말고)|지 말아 ?(?:주세요|줘)"
    r"|(?:앞으로|이제)(?:부터)?는? .{1,60}도 (?:돼|되|됩|괜찮)"
    r"|정말 싫어|너무 싫어"
    r"|以后.{0,400}(?:回答|给我|推荐|请|别|不要|都|一律|凡是|先)|从现在开始|从今以后|请?记住[,，:：]|一律(?:不|用)"
    r"|永远(?:不要|别)|(?:请|你)总是|我(?:最)?讨厌"
    r"|请(?:你|您)?(?:再也|绝对|千万)?(?:不要|别)(?:再)?(?:使用|用|推荐|建议|提起|叫我|称呼我)"
    r"|今後は|これからは|いつも.{0,400}(?:ください|して)|絶対に.{0,400}ないで|私は.{1,10}が嫌い"
    r"|^(?:(?:私|僕|俺)は)?[^はもがの、]{1,12}が(?:大)?嫌い(?:です|だ|なんです)?[。.!！]*$",
    re.IGNORECASE,
)
_OTHER_STATES = lazily.compile(
    r"\b(?:ich (?:esse kein\w*|trinke kein\w*|vertrage kein\w*)|ich bin (?:allergisch|vegan|vegetarier\w*)"
    r"|ich bin gegen .{1,40} allergisch(?! gewesen)"
    r"|ich habe eine (?:\w+ )?allergie"
    r"|je ne mange pas|je suis (?:allergique|végan\w*|végétarien\w*)"
    r"|no como (?:carne|pescado|nada)|(?<!no )tengo (?:una )?alergia a"
    r"|(?<!no )soy (?:alérgic[oa]|vegan[oa]|vegetarian[oa])"
    r"|(?<!não )sou (?:alérgic[oa]|vegan[oa]|vegetarian[oa])|(?<!non )sono (?:allergic[oa]|vegan[oa]|vegetarian[oa])"
    r"|ik ben (?:allergisch|vegan|vegetariër)|у меня аллергия)\b"
    r"|^(?!(?:.*\s)?(?:\S*동생|누나|형|언니|오빠|엄마|아빠|어머니|아버지|할머니|할아버지|아내|남편|아들|딸|\S*친구|동료|조카|그|그녀|걔|아이)"
    r"들?[은는이가] )(?!.*(?:어릴|어렸을) )"
    r".*(?:못 먹어요|알레르기가 있(?!었|나|니|냐|는지|을))"
    r"|^(?:나|난|나는|저|전|저는) .{1,12}알레르기 (?:있|심)|我不吃|我(?:对.{1,8})过敏"
    r"|私は.{1,10}アレルギー"
    r"|^(?:(?:私|僕|俺)は)?[^はもがの、]{1,12}アレルギー(?:が(?:あり|ある)|です|なんです|持ち)",
    re.IGNORECASE,
)
_SIGNS = (
    "again anymore always never forward future rule whenever hate loathe detest despise dislike stand bear eat drink "
    "allergic allergy allergies allergie alergia intolerant vegan vegetarian pescatarian blind prefer please dont don "
    "call address concise brief "
    "short formal informal simple plain stop avoid quit jetzt sofort nun künftig zukunft merk merke bitte nie "
    "niemals immer hasse mag esse trinke vertrage allergisch vegetarier dorénavant désormais avenir partir "
    "toujours jamais déteste supporte mange allergique végane végétarien végétarienne adelante ahora futuro "
    "nunca jamás siempre tráteme trátame odio soporto alérgico alérgica vegano vegana vegetariano vegetariana "
    "como agora diante sempre odeio poi avanti mai allergico allergica vanaf voortaan vervolg haat vegetariër "
    "впредь отныне момента всегда никогда ненавижу терпеть аллергия favor jamais odeio detesto suporto favore piacere "
    "alsjeblieft alstublieft graag пожалуйста plaît"
)
_TRIGGERS = frozenset(_SIGNS.split())
"""Words without one of which, a phrase of `_PHRASES` or a script without spaces no instruction stands."""
_PHRASES = ("from now on", "from here on", "this point on", "to the point", "until i ", "every time i ")
_PHRASE_WORDS = frozenset(phrase.split()[0] for phrase in _PHRASES)
"""A text that has none of the phrases' first words has none of them."""
_UNSPACED = lazily.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]")
_QUOTED = lazily.compile(
    r"“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»|「[^「」]*」|『[^『』]*』|(?<!\w)\"[^\"\n]*\"|(?<!\w)'[^'\n]{12,}'(?!\w)|`[^`\n]*`"
)
_PASTED_LINE = lazily.compile(
    r"\s*(?:>|[-*•+]\s|\d{1,2}[.)]\s|#{1,6}\s|\||\w[\w .]{0,30}:\s*$|\*\*|//|/\*|dear\b|hi \w+,$|subject:)",
    re.IGNORECASE,
)


def instructions(text: str) -> list[Span]:
    """The sentences of a user's text that give a standing instruction or preference, at most four, in their order.

    What the user can never eat or bear is among them: `tells_state` parts it from the wishes.

    None where more stand there: a document was pasted.
    """
    if len(text) > DOCUMENT or not _may(text):
        return []
    found = [span for span in own_sentences(text) if _may(span.of(text)) and _stands(span.of(text))]
    return found if len(found) <= MOST else []


def _may(text: str) -> bool:
    """Whether a text has anything of what instructions are told by: most have not, and are looked at no further."""
    low = text.lower()
    words = letter_words(low)
    if not _TRIGGERS.isdisjoint(words):
        return True
    if not _PHRASE_WORDS.isdisjoint(words) and any(phrase in low for phrase in _PHRASES):
        return True
    return not low.isascii() and _UNSPACED.search(low) is not None


def own_sentences(text: str) -> Iterator[Span]:
    """The sentences that a person wrote themselves: no code, no quotations, no pasted lines and nothing below them."""
    pasted = False
    end = line = 0
    for span in sentences(text):
        gap = text[end : span.start]
        end = span.end
        if "\n" in gap:
            line = span.start
        if "\n\n" in gap:
            pasted = False
        if span.code or _PASTED_LINE.match(text, line, line + OPENING):
            pasted = True
        if pasted:
            continue
        yield span
        if span.of(text).endswith((":", "：")) and text[span.end : span.end + 1] == "\n":
            pasted = True


def _stands(said: str) -> bool:
    if word_count(said) > LONGEST:
        return False
    bare = without_quotes(said)
    if _OTHERS.search(bare) is not None or _OTHER_STATES.search(bare) is not None:
        return not is_asked(bare)
    if _WISH.search(bare) is None and (_STATES.search(bare) is None or _NOT_SO.search(bare) is not None):
        return False
    if _PAST_REPORT.search(bare) is not None:
        return False
    if is_asked(bare) and _REQUEST.search(bare) is None:
        return False
    return _ONCE.search(bare) is None or _LASTING.search(bare) is not None


def without_quotes(said: str) -> str:
    """A clause without what it quotes."""
    return _QUOTED.sub(" ", said).replace("’", "'").strip()


def tells_state(clause: str) -> bool:
    """Whether a clause that stands is no wish but a state of health or diet: "I am allergic to penicillin".

    It is kept the same way, in the user's words, since no question is like it; but it tells nobody what to do.
    """
    bare = without_quotes(clause)
    wishes = _OTHERS.search(bare) is not None or _WISH.search(bare) is not None
    return not wishes and (_STATES.search(bare) or _OTHER_STATES.search(bare)) is not None
