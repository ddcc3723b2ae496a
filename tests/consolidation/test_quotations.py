"""What of a message is quoted for a sentence of it: nothing that reads as the user's where it is somebody else's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhold.consolidate.quotations import quotations

# ruff: noqa: RUF001 - letters and punctuation of every script

LONG = "I walk and I walk along, " * 20 + "with fourteen goats, if the weather holds, but only if Oda comes along."

QUOTED = [
    # the message, a piece of the sentence that is asked for, how it is quoted
    ("I bake at night. I fly on Monday, with Oda.", "Monday", "I fly on Monday, with Oda."),
    ("Tom wrote:\nI moved to Bonn.\nWhat do I say?", "Bonn", "Tom wrote: I moved to Bonn."),
    ("Tom wrote:\nHi there, old friend.\nI moved to Bonn.", "Bonn", "Tom wrote: … I moved to Bonn."),
    ("Please correct:\n\nDear Sir,\n\nI work at a mill.", "mill", "Please correct: … I work at a mill."),
    ("We need:\n- two goats\n- a fence\n\nI moved to Bonn.", "Bonn", "I moved to Bonn."),
    ("We need:\n- two goats\n- a fence\n\nI moved to Bonn.", "fence", "We need: … - a fence"),
    ("> I moved to Bonn. I like the mill.\nNo idea.", "mill", "> I like the mill."),
    ('Oda said "I moved away. I like the mill." Good.', "mill", 'Oda said "I moved away. I like the mill."'),
    ('Oda said "I moved away." I like the mill.', "mill", "I like the mill."),
    ("Oda sagt: „Ich zog weg. Die Mühle mag ich.“", "Mühle", "Oda sagt: „Ich zog weg. Die Mühle mag ich.“"),
    (
        "Oda a dit « Je pars bien loin. J'aime le moulin. »",
        "moulin",
        "Oda a dit « Je pars bien loin. J'aime le moulin.",
    ),
    (
        "小田说：“我搬家了，很开心的。我喜欢这个磨坊，真的。”",
        "磨坊",
        "小田说：“我搬家了，很开心的。 我喜欢这个磨坊，真的。”",
    ),
    ("友達からのメール：\n私はヤギを飼っています。", "ヤギ", "友達からのメール： 私はヤギを飼っています。"),
    ("Друг пишет:\nЯ держу коз в горах.", "коз", "Друг пишет: Я держу коз в горах."),
    ("كتب لي صديقي:\nأنا أربي ماعزًا في الجبل.", "ماعز", "كتب لي صديقي: أنا أربي ماعزًا في الجبل."),
    ("My colleague came by. He has a mill.", "mill", "My colleague came by. He has a mill."),
    ("My colleague came by.\nHe has a mill.", "mill", "My colleague came by. He has a mill."),
    (
        "My colleague came by. He has a mill. He sells flour. He walks home.",
        "walks",
        "He has a mill. He sells flour. He walks home.",
    ),
    ('My screen is 27" wide.\n\nI moved to Bonn.', "Bonn", "I moved to Bonn."),
    ("We live at number 14.\nI moved to Bonn.", "Bonn", "I moved to Bonn."),
    ("Mein Kollege war da. Er hat eine Mühle.", "Mühle", "Mein Kollege war da. Er hat eine Mühle."),
    ("민수가 어제 놀러 왔어요. 그는 방앗간을 해요.", "방앗간", "민수가 어제 놀러 왔어요. 그는 방앗간을 해요."),
    ("小田昨天来我家玩了。他有一个磨坊。", "磨坊", "小田昨天来我家玩了。 他有一个磨坊。"),
    ("We bought a mill. It cost nine thousand.", "nine", "We bought a mill. It cost nine thousand."),
    ("Ich fliege am 14. Mai nach Oslo. Gut.", "Oslo", "Ich fliege am 14. Mai nach Oslo."),
    ("I met with Dr. Huber at the clinic.", "Huber", "I met with Dr. Huber at the clinic."),
]


@pytest.mark.parametrize(("message", "piece", "quoted"), QUOTED)
def test_a_sentence_is_quoted_with_what_says_whose_it_is_and_of_whom(message: str, piece: str, quoted: str) -> None:
    assert next(one.text for one in quotations(message) if piece in one.sentence) == quoted


def test_what_is_cut_since_it_is_very_long_says_so() -> None:
    texts = [one.text for one in quotations(LONG)]
    assert len(texts) > 1
    assert texts[0].endswith(" …")
    assert not texts[0].startswith("…")
    assert texts[-1].startswith("… ")
    assert texts[-1].endswith("comes along.")


@pytest.mark.parametrize(
    "asked", ["Can I keep a goat?", "山羊可以养吗？", "هل أستطيع أن أربي ماعزًا؟", 'Oda asks "goats?"']
)
def test_a_question_is_not_quoted(asked: str) -> None:
    assert quotations(asked) == []


def test_code_is_not_quoted() -> None:
    assert [one.text for one in quotations("```\nI keep goats.\n```\nFix the text above.")] == ["Fix the text above."]


@given(st.text(max_size=200))
def test_every_word_of_a_quotation_stands_in_the_message_in_its_order(message: str) -> None:
    for one in quotations(message):
        rest = iter(message.split())
        parts = [word for word in one.text.split() if word not in {"…", ">"}]
        assert all(part in rest for part in parts)
