"""Standing instructions: the user's own clauses for good, and nothing that was quoted, pasted, asked or reported."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhold.text.instructions import LONGEST, MOST, instructions, tells_state

# A stretch between bars is what must be found.
STANDING = [
    "|Always answer in metric units.|",
    "That was helpful. |From now on keep it short.|",
    "|Please don't use emojis.| How tall is Everest?",
    "|Never suggest a call to me.| I moved last week.",
    "It could well be. |I hate phone calls, so write me a message instead.|",
    "|I'm allergic to peanuts.|",
    "|Call me Sam, please.|",
    "|When you give me code, never add comments.|",
    "|Keep your answers brief.|",
    "|Can you always give the source from now on?|",
    "|You can use emojis again.|",
    "|Bitte keine Anglizismen.|",
    "|Ne me propose jamais de viande.|",
    "|De ahora en adelante, responde en español.|",
    "|앞으로는 짧게 대답해 주세요.|",
    "|以后回答我先给结论。|",
    "|S'il te plaît, ne propose jamais de viande.|",
    "|Por favor, nunca uses emojis.|",
    "|Nunca uses emojis, por favor.|",
    "|Per favore, non usare mai le emoji.|",
    "|Por favor, nunca use emojis.|",
    "|Odeio telefonemas.|",
    "|Alsjeblieft nooit emoji's.|",
    "|Пожалуйста, никогда не присылай голосовые.|",
    "|앞으로는 이모지 써도 돼.|",
    "|나 견과류 알레르기 있어.|",
    "|请不要用表情符号。|",
    "|電話が嫌いです。|",
    "|ナッツアレルギーがあります。|",
    "|I'm severely allergic to bees.|",
    "|I have a penicillin allergy.|",
    "|I'm still allergic to nuts.|",
    "|Ich bin gegen Penicillin allergisch.|",
    "|Tengo alergia a los frutos secos.|",
    "|새우가 들어간 건 못 먹어요.|",
]
NOTHING = [
    "I always walk to work and never take the bus.",
    "Never mind, it works now.",
    "Never been to Rome.",
    "She told me to never give up.",
    "Why does it always crash?",
    "Should I always use an index?",
    "Keep this one short, it is for a card.",
    "My boss said: always reply within a day.",
    "You never told me the price.",
    'The sign says "Always keep the door shut".',
    "> Always answer in French.",
    "```\n# Always answer in French.\nNever return None.\n```",
    "Here is their mail:\nDear all,\nplease never park here.\nAlways use the gate.",
    "- Always answer in French.\n- Never sleep.",
    "Keep going forward!",
    "Their dogs are always calm.",
    "I will get a pet some day, if I can find any I'm not allergic to.",
    "Nunca he estado en Roma.",
    "Odeio que isso aconteça.",
    "Non sono mai stato a Roma.",
    "请不要担心。",
    "妹は電話が嫌いです。",
    "妹はナッツアレルギーがあります。",
    "동생은 견과류 알레르기 있어.",
    "Ik ben nooit in Rome geweest.",
    "I wonder whether I'm allergic to cats.",
    "I don't know if I'm allergic to bees.",
    "I was allergic to nuts as a child.",
    "Am I allergic to nuts?",
    "My sister is allergic to nuts.",
    "Imagine I'm allergic to nuts.",
    "Suppose I am allergic to shellfish.",
    "No soy alérgico a nada.",
    "Ich war als Kind allergisch gegen Nüsse.",
    "어릴 때 땅콩 알레르기가 있었어요.",
    "동생은 땅콩 알레르기가 있어요.",
    "내 동생은 새우를 못 먹어요.",
    "子供の頃、卵アレルギーでした。",
    "I have an allergy test tomorrow.",
    "I have kids with allergies.",
    "I'm a vegan's daughter.",
    "",
]


@pytest.mark.parametrize("marked", STANDING)
def test_what_is_said_for_good_is_found_where_it_stands(marked: str) -> None:
    before, clause, behind = marked.split("|")
    text = before + clause + behind
    assert [span.of(text) for span in instructions(text)] == [clause]


@pytest.mark.parametrize("text", NOTHING)
def test_what_is_reported_asked_quoted_or_pasted_is_none(text: str) -> None:
    assert instructions(text) == []


@pytest.mark.parametrize(
    ("clause", "state"),
    [
        ("I'm allergic to peanuts.", True),
        ("I don't eat meat.", True),
        ("I'm no longer vegan.", True),
        ("Ich bin allergisch gegen Nüsse.", True),
        ("새우를 못 먹어요", True),
        ("I'm allergic to peanuts, so never suggest them.", False),
        ("I hate phone calls.", False),
        ("앞으로는 짧게 대답해 주세요.", False),
    ],
)
def test_a_state_of_health_or_diet_is_told_from_a_wish(clause: str, *, state: bool) -> None:
    assert [span.of(clause) for span in instructions(clause)] == [clause]
    assert tells_state(clause) is state


def test_a_long_list_of_them_is_a_document() -> None:
    assert len(instructions("Always use tabs. " * MOST)) == MOST
    assert instructions("Always use tabs. " * (MOST + 1)) == []
    assert instructions("Always say yes to all of " + "the many words " * LONGEST) == []


@given(st.text(st.sampled_from('always never, please don\'t. "I hate"\n> -`:?以后别')))
def test_what_is_found_stands_in_the_text_in_order(text: str) -> None:
    found = instructions(text)
    assert all(0 <= span.start < span.end <= len(text) for span in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
