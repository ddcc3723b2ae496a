"""Which standing instructions a later one ends: what says the same again, or the contrary about the same thing. Pure.

On the safe side: of two that may both hold both stand, the newest first; one that is ended in error is a lost word of
the user's. So where each names something that the other does not ("places in Canada", "places in the USA") neither ends
the other, nor does an exception ("not in the rain") end what it is an exception to, nor a wish a state of health.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memhold.text import lazily
from memhold.text.analysis import QueryWord, analyse_query
from memhold.text.function_words import FUNCTION_WORDS
from memhold.text.instructions import tells_state, without_quotes
from memhold.text.letter_words import letter_words
from memhold.text.negation import negates

# ruff: noqa: RUF001 - letters of every script

__all__ = ["ends"]

SAME = 0.8
"""Share of the words of two that say the same."""
_WORDS_OF_ASKING = (
    "always never please ask give use make want prefer hate like stand avoid stop keep now forward future again need"
    " remember when whenever every time anything may can don dont anymore more longer user weer mag ora poi"
)
_OTHERS_OF_ASKING = (
    "immer nie niemals bitte jetzt sofort künftig zukunft wieder darfst kannst dürfen können verwende verwenden"
    " benutze benutzen toujours jamais plaît dorénavant désormais partir maintenant peux pouvez utilise utiliser"
    " utilisez siempre nunca jamás favor ahora adelante puedes puede usar uses sempre favore avanti puoi può usare"
    " usate agora diante pode podes altijd nooit alsjeblieft vanaf voortaan kunt gebruik gebruiken всегда никогда"
    " пожалуйста впредь отныне момента этого можешь можно используй использовать"
)
_LITTLE = frozenset(_WORDS_OF_ASKING.split()) | frozenset(_OTHERS_OF_ASKING.split())
_LANGUAGES = (
    "english|german|french|spanish|italian|portuguese|dutch|russian|korean|japanese|chinese|mandarin|cantonese|arabic"
    "|hebrew|hindi|bengali|urdu|turkish|polish|czech|slovak|hungarian|romanian|bulgarian|greek|swedish|norwegian|danish|finnish|icelandic"
    "|ukrainian|serbian|croatian|slovenian|catalan|basque|galician|welsh|irish|vietnamese|thai|indonesian|malay|tagalog|persian"
    "|farsi|swahili|latin"
)
_IN_A_LANGUAGE = lazily.compile(
    r"\b(?:answer|reply|respond|write|speak|talk)\b(?: (?:to )?(?:me|us))?(?: only)? in "
    rf"(?:{_LANGUAGES})\b(?:,? (?:and )?not (?:in )?(?:{_LANGUAGES})\b| instead of (?:{_LANGUAGES})\b| only\b)?"
    r"|\b(?:antworten?|schreiben?|rede|sprich)\b(?: (?:mir|bitte|immer|nur|ab jetzt))* auf"
    r" (?:deutsch|englisch|französisch|spanisch|italienisch|portugiesisch|niederländisch|russisch|koreanisch"
    r"|japanisch|chinesisch|türkisch|polnisch|arabisch)\b"
    r"|\b(?:réponds|répondez|écris|écrivez|parle)(?:-moi)?(?: toujours)? en"
    r" (?:français|anglais|allemand|espagnol|italien|portugais|néerlandais|russe|coréen|japonais|chinois|arabe)\b"
    r"|\b(?:responde(?:me)?|contesta(?:me)?|escribe(?:me)?|responda|escreva|rispondi(?:mi)?|scrivi(?:mi)?)"
    r"(?: siempre| sempre)? (?:en|em|in) (?:español|inglés|alemán|francés|italiano|portugués|português|inglês|alemão"
    r"|francês|espanhol|inglese|tedesco|francese|spagnolo|portoghese)\b",
    re.IGNORECASE,
)
"""Which language to answer in; nobody is answered in two."""
_AGAINST = lazily.compile(
    r"\b(?:avoid|stop|hate|loathe|detest|dislike|quit|no need|nie|ohne|nunca|jamais)\b", re.IGNORECASE
)
_ANSWER = (
    "answer answers answering reply replies replying response responses respond write writing explain explanation"
    " explanations speak talk way style tone very bit little rather quite much be being go it them everything"
    " antwort antworten antworte schreib schreibe réponse réponses réponds répondez respuesta respuestas responde"
    " contesta resposta respostas responda risposta risposte rispondi antwoord antwoorden отвечай ответы пиши"
)
_LONG_OR_SHORT = (
    "short shorter brief briefly briefer concise concisely terse long longer lengthy detailed detail details thorough"
    " thoroughly depth kurz kurze kürzer knapp knappe lang lange länger ausführlich ausführliche court courte courtes"
    " bref brève brèves brièvement long longue longues détaillé détaillées corto corta cortas breve breves brevemente"
    " largo larga largas detallado detalladas curto curta curtas longo longa longas lungo lunga lunghe dettagliate"
    " kort korte lang lange uitgebreid uitgebreide коротко кратко подробно"
)
_FORMAL_OR_NOT = (
    "formal formally informal informally casual casually formell informell formel informel formeel informeel"
)
_EITHER_WAY = tuple(frozenset(words.split()) for words in (_LONG_OR_SHORT, _FORMAL_OR_NOT))
_SPEAKING_OF_ANSWERS = frozenset(_ANSWER.split())
_LONG_OR_SHORT_UNSPACED = lazily.compile(
    r"짧게|짧은|간단(?:히|하게|한)|간결(?:히|하게|한)|길게|긴(?= )|자세(?:히|하게|한)|상세(?:히|하게|한)"
    r"|简短|简洁|简要|详细|长一点|短一点|短く|簡潔に?|手短に|長く|詳しく|詳細に?"
)
_ANSWER_UNSPACED = lazily.compile(
    r"(?:대답|답변|설명)(?:을|를)?|(?<!\w)답(?:을|해)?|回答|回复|说明|解释|答え|返事|説明|答える"
)
_CALLED = lazily.compile(r"\b(?:call|address) me (?:as )?(?-i:[A-Z])[\w'-]+", re.IGNORECASE)
_ASKING_UNSPACED = lazily.compile(
    # Korean
    r"앞으로(?:는|도)?|이제(?:는|부터)?|지금부터(?:는)?|항상|언제나|절대(?:로)?|제발|다시(?:는)?|더 ?이상|계속"
    r"|(?:나|저)(?:에게|한테)|(?:써|사용해|이용해)도(?!\w)|(?:쓰|사용하|이용하)지(?:는)?(?!\w)|(?:사용|이용)(?:해|하)?(?!\w)"
    r"|하지(?:는)?(?!\w)|해도(?!\w)|해(?!\w)|말아|말고|마세요|마십시오|마라|주세요|줘요?|돼요?|됩니다|되요|괜찮(?:아요?|습니다)"
    # Chinese
    r"|从现在开始|从今以后|以后|今后|现在|可以|不要|不用|不必|不许|永远|再也|总是|一直|一律|使用|再用|再次|又|记住|请你|请给|给我|请"
    # Japanese
    r"|これから(?:は)?|今後(?:は)?|絶対に?|いつも|二度と|必ず|使って(?:も)?|使わないで|使わ|ください|下さい|いいです(?:よ)?"
    r"|(?:し)?ないで|して(?:も)?|です(?:よ)?|ます|構いません"
)
_RUN = lazily.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]+")
_FUNCTION_WORDS = frozenset().union(*FUNCTION_WORDS.values())
_NARROWING_WORDS = (
    "in on at for with without when whenever while if unless except during about after before from"
    " im bei beim für mit ohne wenn während über auf nach vor außer"
    " en dans pour avec sans quand si sur chez pendant sauf con sin para cuando sobre durante salvo"
    " em com sem quando per se nel nella nei nelle su senza op met zonder als voor bij tijdens behalve"
    " в во на с со без для когда если про о об при кроме"
)
_NARROWING = frozenset(_NARROWING_WORDS.split())
"""Words behind which stands where, when or of what something is meant."""


def ends(newer: str, older: str) -> bool:
    """Whether an instruction ends an earlier one: it says the same again, or the contrary about the same thing.

    So does one for another language to answer in, another length or tone of the answers, or another name to be called
    by, where neither says when or of what. What the user can never eat or bear ends with another word of that alone.
    """
    if tells_state(older) and not tells_state(newer):
        return False
    if _one_of_its_kind(newer, older):
        return True
    new, old = _Things(newer), _Things(older)
    if not new.shares(old):
        return False
    more, less = new.beside(old), old.beside(new)
    if more and less:
        return False
    if _denies(newer) == _denies(older):
        content, before = new.terms, old.terms
        return len(content & before) >= SAME * len(content | before)
    return not _narrows(newer, more)


class _Things:
    """What an instruction is about: words and stretches without spaces, but no function words and none of asking."""

    def __init__(self, text: str) -> None:
        bare = _ASKING_UNSPACED.sub(" ", text)
        words = [word for word in analyse_query(bare) if not word.weak and _says(word)]
        self.terms = frozenset(term for word in words for term in word.terms)
        self.words = [word for word in words if _tells_apart(word)]
        self.runs: list[str] = _RUN.findall(bare)
        self.pairs = frozenset(run[at : at + 2] for run in self.runs for at in range(len(run) - 1))

    def shares(self, other: _Things) -> bool:
        """Whether something of it is in another too."""
        return not self.terms.isdisjoint(other.terms) or not self.pairs.isdisjoint(other.pairs)

    def beside(self, other: _Things) -> frozenset[str]:
        """What of it is not in another: words, and stretches of at least two letters without spaces."""
        words = {word.word.lower() for word in self.words if other.terms.isdisjoint(word.terms)}
        return frozenset(words | {left for run in self.runs for left in _left_of(run, other.pairs)})


def _left_of(run: str, pairs: frozenset[str]) -> Iterator[str]:
    """The stretches of a run that no pair of letters covers; one letter alone is an ending."""
    held = [False] * len(run)
    for at in range(len(run) - 1):
        if run[at : at + 2] in pairs:
            held[at] = held[at + 1] = True
    rest = "".join(" " if covered else letter for letter, covered in zip(run, held, strict=True))
    return (left for left in rest.split() if len(left) > 1)


def _says(word: QueryWord) -> bool:
    low = word.word.lower()
    return low not in _LITTLE and low not in _FUNCTION_WORDS


def _tells_apart(word: QueryWord) -> bool:
    """Whether a word may be what tells two instructions apart: one with spaces that says more than "answers".

    Not a joined one ("n'utilise"), whose parts stand for themselves.
    """
    low = word.word.lower()
    joined = "'" in low or "’" in low
    return not joined and low not in _SPEAKING_OF_ANSWERS and _RUN.search(low) is None


def _narrows(text: str, own: frozenset[str]) -> bool:
    """Whether what a text has of its own says where, when or of what it is meant: an exception, no end."""
    behind = False
    for word in letter_words(text.lower()):
        if word in _NARROWING:
            behind = True
        elif word in own:
            if behind:
                return True
        elif word not in _FUNCTION_WORDS or word in _LITTLE:
            behind = False
    return False


def _one_of_its_kind(newer: str, older: str) -> bool:
    """Whether both say only the same one thing of which nobody wants two: a language, a length, a tone, a name."""
    if _only_language(newer) and _only_language(older):
        return True
    if _only_name(newer) and _only_name(older):
        return True
    return any(_only(newer, kind) and _only(older, kind) for kind in _EITHER_WAY)


def _only_language(text: str) -> bool:
    """Whether a clause says in which language to answer, and nothing else: not when, nor of what."""
    rest, count = _IN_A_LANGUAGE.subn(" ", text)
    return count == 1 and _empty(rest)


def _only_name(text: str) -> bool:
    rest, count = _CALLED.subn(" ", text)
    return count == 1 and not _denies(text) and _empty(rest)


def _only(text: str, kind: frozenset[str]) -> bool:
    """Whether a clause says nothing but how long, or how formal, answers should be."""
    rest, count = text, 0
    if "short" in kind:
        rest, count = _LONG_OR_SHORT_UNSPACED.subn(" ", text)
    words = letter_words(rest.lower())
    if not count and kind.isdisjoint(words):
        return False
    return _empty(" ".join(word for word in words if word not in kind))


def _empty(rest: str) -> bool:
    """Whether what is left of a clause says nothing more than that answers are meant."""
    things = _Things(_ANSWER_UNSPACED.sub(" ", rest))
    return not things.words and not any(len(run) > 1 for run in things.runs)


def _denies(text: str) -> bool:
    bare = without_quotes(text)
    return negates(bare) or _AGAINST.search(bare) is not None
