"""Which standing instructions a later one ends: the same again, or the contrary about the same thing, and no other."""

from __future__ import annotations

import pytest

from memhold.text.contraries import ends
from memhold.text.instructions import ends_only

PAIRS = [
    ("You may use emojis again.", "Please don't use emojis.", True),
    ("Never suggest running.", "Always suggest running.", True),
    ("Always answer in metric.", "Please always answer in metric.", True),
    ("Always answer in metric.", "Keep your answers brief.", False),
    (
        "Always include docstrings when I ask about Python.",
        "Always include examples when I ask about Python.",
        False,
    ),
    ("I hate phone calls.", "Never suggest running.", False),
    ("I'm no longer vegan.", "I'm vegan.", True),
    ("À partir de maintenant, tu peux utiliser des emojis.", "S'il te plaît, n'utilise jamais d'emojis.", True),
    ("A partir de ahora puedes usar emojis.", "Por favor, nunca uses emojis.", True),
    ("从现在开始可以用表情符号。", "请不要用表情符号。", True),
    # Nobody is answered in two languages; each in its own case both may hold.
    ("From now on always answer in English.", "Always answer in German.", True),
    ("Always answer me in English, not German.", "Always answer in German.", True),
    ("Antworte ab jetzt auf Englisch.", "Bitte antworte immer auf Deutsch.", True),
    ("Always answer in English when I write in English.", "Always answer in German when I write in German.", False),
    ("Always answer in bullet points.", "Always answer in German.", False),
    ("Always answer in German.", "Always write emails in French.", False),
    ("Never suggest places in the USA.", "Always suggest places in Canada.", False),
    ("Never suggest running in the rain.", "Always suggest running.", False),
    ("You can use emojis in headings again.", "Please don't use emojis.", False),
    ("You may use emojis again.", "Please don't use emojis in emails.", True),
    (
        "You can use bullet points again, I find them helpful.",
        "Please don't use bullet points in your answers.",
        True,
    ),
    ("From now on you can add emojis again.", "Please don't use emojis.", True),
    ("Please don't suggest only vegan places.", "I'm vegan.", False),
    ("Please don't suggest vegan restaurants.", "I'm vegan.", False),
    ("I'm no longer allergic to nuts.", "I'm allergic to nuts.", True),
    ("I'm allergic to nuts.", "I'm no longer allergic to penicillin.", False),
    ("앞으로는 이모지 써도 돼.", "앞으로는 이모지 쓰지 말아 주세요.", True),
    ("앞으로는 이모지 써도 돼요.", "이모지를 쓰지 말아 주세요.", True),
    ("이제부터는 이모지 사용해도 괜찮아요.", "이모지 사용하지 말아 주세요.", True),
    ("앞으로 미국 여행지는 추천하지 말아 주세요.", "앞으로 캐나다 여행지를 추천해 주세요.", False),
    ("永远不要推荐美国的地方。", "以后请推荐加拿大的地方。", False),
    ("以后可以推荐海鲜。", "请不要推荐海鲜。", True),
    ("これからは絵文字を使ってもいいです。", "絶対に絵文字を使わないでください。", True),
    ("今後はアメリカの場所を勧めないでください。", "今後はカナダの場所を勧めてください。", False),
    ("Ab jetzt kannst du wieder Fleisch vorschlagen.", "Schlag mir nie Fleisch vor.", True),
    ("Schlag mir nie Orte in den USA vor.", "Schlag mir immer Orte in Kanada vor.", False),
    ("No me recomiendes nunca lugares en Francia.", "De ahora en adelante recomienda lugares en Italia.", False),
    ("À l'avenir, ne me propose jamais de lieux en Italie.", "À l'avenir, propose-moi des lieux en France.", False),
    ("Впредь можешь использовать смайлики.", "Пожалуйста, никогда не используй смайлики.", True),
    ("Vanaf nu mag je weer emoji's gebruiken.", "Alsjeblieft nooit emoji's.", True),
    ("D'ora in poi puoi usare le emoji.", "Per favore, non usare mai le emoji.", True),
    # Taken back in words, and a diet by what is eaten again; a state of health by nothing but another word of it.
    ("Forget my rule about bullet points.", "Always answer in bullet points.", True),
    ("Stop answering in German.", "Always answer in German.", True),
    ("Stop answering in German.", "Always answer in French.", False),
    ("No more emojis, please.", "Use emojis in your answers.", True),
    ("I eat meat again since May.", "I'm vegetarian.", True),
    ("I'm not eating meat again.", "I'm vegetarian.", False),
    ("I don't have nuts.", "I'm allergic to nuts.", False),
    ("You can suggest nuts again.", "I'm allergic to nuts.", False),
    ("Forget what I said about nuts.", "I'm allergic to nuts.", True),
    ("A partir de agora você pode usar emojis.", "Por favor, nunca use emojis.", True),
    ("Give long answers from now on.", "Keep it short.", True),
    ("Keep your answers short.", "Give me long, detailed answers from now on.", True),
    ("Give long answers when I ask about history.", "Keep it short.", False),
    ("Keep your answers brief.", "Always answer in metric.", False),
    ("앞으로는 길게 대답해 주세요.", "앞으로는 짧게 대답해 주세요.", True),
    ("以后请详细回答。", "以后请简短回答。", True),
    ("Call me Alex, please.", "Call me Sam, please.", True),
    ("Call me Alex in emails, please.", "Call me Sam, please.", False),
    (
        "Always suggest cheap vegan family places with parking near the sea in Mexico.",
        "Always suggest cheap vegan family places with parking near the sea in Canada.",
        False,
    ),
    ("Never call me on Mondays.", "Always call me on Fridays.", False),
    (
        "You don't need to remind me of my pills any more.",
        "From now on remind me of my pills in the evening.",
        True,
    ),
    ("Please always use metric units.", "Never use metric units.", True),
    ("Don't recommend horror movies.", "I prefer horror movies.", True),
    (
        "Never include docstrings when I ask about Java.",
        "Always include docstrings when I ask about Python.",
        False,
    ),
    ("I hate cilantro.", "I prefer cilantro in soups.", True),
    ("Never use imperial.", "Always use metric.", False),
    ("Always put code in Python.", "Never put comments in code.", False),
]


@pytest.mark.parametrize(("newer", "older", "over"), PAIRS)
def test_one_ends_another_that_says_the_same_or_the_contrary(newer: str, older: str, *, over: bool) -> None:
    assert ends(newer, older) is over


STANDING = sorted({said for newer, older, _ in PAIRS for said in (newer, older) if not ends_only(said)})


@pytest.mark.parametrize("said", STANDING)
def test_each_that_is_said_again_takes_its_own_place(said: str) -> None:
    assert ends(said, said)
