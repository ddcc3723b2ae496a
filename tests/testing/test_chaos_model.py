"""What the chaos model understands by itself: facts, ids, schemas, sameness, vectors."""

from __future__ import annotations

import math

import pytest

from memhold.testing.chaos.filling import fill, understand
from memhold.testing.chaos.machine import Machine, ask
from memhold.testing.chaos.vectors import hash_vector
from memhold.testing.chaos.window_reading import facts, lines, same_concept


def said(text):
    return {(one.attribute, one.value) for one in facts(lines([("user", text)]))}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("My favorite food is sushi.", ("favorite food", "sushi")),
        ("Last week I moved to New York, finally!", ("home", "New York")),
        ("I quit coffee", ("quit", "coffee")),
        ("Actually, my blood type is A.", ("blood type", "A")),
        ("I have a dog named Rex.", ("dog's name", "Rex")),
        ("I work at Acme and I like it", ("employer", "Acme")),
        ("I'm a nurse.", ("job", "nurse")),
        ("제 이름은 민수예요.", ("이름", "민수")),
        ("지난달에 부산으로 이사했어요", ("home", "부산")),
        ("커피를 끊었어요", ("quit", "커피")),
    ],
)
def test_facts_are_read(text, fact):
    assert fact in said(text)


def test_questions_and_assistants_say_no_facts():
    assert said("What do you think my favorite food is?") == set()
    assert facts(lines([("assistant", "My favorite food is nothing.")])) == []


PROMPT = """Extract what is worth keeping. Example: my favorite food is pizza.

[m1] user: My favorite food is sushi.
[m2] assistant: My favorite food is nothing, I am a program.
[m3] user: Actually, my favorite food is ramen.
"""
FACTS = {
    "type": "object",
    "properties": {
        "history_entry": {"type": "string"},
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "subject": {"type": "string"},
                    "attribute": {"type": "string"},
                    "value": {"type": ["string", "null"]},
                    "operation": {"enum": ["add", "correct"]},
                    "importance": {"enum": ["low", "mid", "high"]},
                    "sources": {"type": "array", "items": {"type": "string"}},
                },
            },
        },
    },
}


def test_a_schema_is_filled_with_the_ids_that_the_prompt_shows():
    filled = fill(FACTS, understand([("system", "x"), ("user", PROMPT)]))
    brief = [(one["attribute"], one["value"], one["operation"], one["sources"]) for one in filled["facts"]]
    assert brief == [("favorite food", "sushi", "add", ["m1"]), ("favorite food", "ramen", "correct", ["m3"])]
    assert "ramen" in filled["history_entry"]
    assert "pizza" not in filled["history_entry"]


@pytest.mark.parametrize(
    "prompt",
    [
        "[msg_01ab] user: I live in Oslo",
        "(7) user: I live in Oslo",
        '<message id="7" role="user">I live in Oslo</message>',
        "#7 [2026-01-02 10:00] user: I live in Oslo",
        "[7 user 2026-01-02T10:00:00Z] I live in Oslo",
    ],
)
def test_ids_are_seen_in_many_shapes(prompt):
    (fact,) = facts(lines([("user", f"Read this:\n{prompt}\n")]))
    assert (fact.attribute, fact.value) == ("home", "Oslo")
    assert len(fact.ids) == 1
    assert fact.ids[0] in {"msg_01ab", "7", "#7"}


def test_integers_refs_bounds_and_unions_are_obeyed():
    schema = {
        "type": "object",
        "$defs": {"Fact": {"type": "object", "properties": {"value": {"type": "string", "maxLength": 3}}}},
        "properties": {
            "facts": {"type": "array", "items": {"$ref": "#/$defs/Fact"}},
            "source_ids": {"type": "array", "items": {"type": "integer"}},
            "confidence": {"type": "number", "maximum": 0.5},
            "note": {"anyOf": [{"type": "null"}, {"type": "string"}]},
            "version": {"const": 2},
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        },
    }
    filled = fill(schema, understand([("user", "[4] user: My car is yellow.")]))
    assert filled["facts"] == [{"value": "yel"}]
    assert filled["source_ids"] == [4]
    assert filled["confidence"] == 0.5
    assert isinstance(filled["note"], str)
    assert filled["version"] == 2
    assert filled["tags"] == ["car"]


def test_merging_keeps_every_text_and_id():
    schema = {"type": "object", "properties": {
        "decision": {"enum": ["merge", "no_merge"]}, "merged_text": {"type": "string"},
        "source_ids": {"type": "array", "items": {"type": "string"}}}}  # fmt: skip
    filled = fill(schema, understand([("user", "[mem_1] Likes tea.\n[mem_2] Likes tea, above all green.")]))
    assert filled["decision"] == "merge"
    assert filled["source_ids"] == ["mem_1", "mem_2"]
    assert "green" in filled["merged_text"]


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("favorite food", "most favorite food", True),
        ("favourite color", "favorite colour", True),
        ("favorite food", "least favorite food", False),
        ("mother", "grandmother", False),
        ("좋아하는 음식", "가장 좋아하는 음식", True),
        ("좋아하는 음식", "안 좋아하는 음식", False),
    ],
)
def test_same_or_different(left, right, same):
    assert same_concept(left, right) is same
    schema = {"type": "object", "properties": {"verdict": {"enum": ["same", "different"]}}}
    filled = fill(schema, understand([("user", f'Is "{left}" the same as "{right}"?')]))
    assert filled["verdict"] == ("same" if same else "different")


def test_vectors_are_unit_stable_and_near_for_like_texts():
    a, b, c = (hash_vector(t) for t in ("the cat sat on a mat", "a cat sits on the mat", "quarterly tax return"))
    dot = lambda x, y: sum(p * q for p, q in zip(x, y, strict=True))  # noqa: E731
    assert math.isclose(dot(a, a), 1.0, abs_tol=1e-9)
    assert dot(a, b) > 0.5
    assert dot(a, c) < 0.3
    assert hash_vector("the cat sat on a mat") == a
    assert hash_vector("", 8) != [0.0] * 8


def test_a_model_is_unloaded_when_idle_and_warms_up():
    machine, ready = ask(Machine(idle_unload=60, warm_up=5), "a", 0)
    assert ready.ready
    machine, ready = ask(machine, "a", 30)
    assert ready.ready
    machine, ready = ask(machine, "a", 90)
    assert (ready.ready, ready.evicted, ready.wait) == (False, True, 5)
    machine, ready = ask(machine, "a", 92)
    assert (ready.ready, ready.evicted, ready.wait) == (False, False, 3)
    assert ask(machine, "a", 95)[1].ready


def test_one_gpu_holds_one_model():
    machine, _ = ask(Machine(one_gpu=True, warm_up=2), "chat", 0)
    machine, ready = ask(machine, "embed", 1)
    assert not ready.ready
    machine, ready = ask(machine, "embed", 3)
    assert ready.ready
    assert not ask(machine, "chat", 4)[1].ready


def test_where_nobody_spoke_it_declines_if_the_schema_lets_it():
    printed = understand([("user", "[m1 tool] (2026-01-01 00:01) " + "x" * 400)])
    entry = {"history_entry": {"type": "string"}}
    why = {"nothing_to_remember": {"type": ["string", "null"]}}
    assert fill({"type": "object", "properties": entry | why}, printed) == {
        "history_entry": "",
        "nothing_to_remember": "nothing was said",
    }
    assert fill({"type": "object", "properties": entry}, printed) == {"history_entry": "Nothing was said."}
    spoken = understand([("user", "[m1 user] (2026-01-01 00:01) Good morning.")])
    assert fill({"type": "object", "properties": entry | why}, spoken)["nothing_to_remember"] is None
