"""How links fare: what calls show, what is written of it, and how it is said."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest
from chain_fakes import Scripted, a_request, failure, run
from hypothesis import given
from hypothesis import strategies as st

from memhold.ports.models import LinkNote
from memhold.providers.chain import Chain, Link
from memhold.providers.entry import Entry
from memhold.providers.failures.classify import classify
from memhold.providers.failures.first_words import _known, first_words
from memhold.providers.link_health import Links, healths
from memhold.providers.naming import entry_in_line
from memhold.providers.wrappers import Backoff
from memhold.testing.clock import FakeClock
from memhold.values.errors import Attempt, ModelError

MINE = Entry(name="mine", protocol="openai-chat", model="m", base_url="http://127.0.0.1:9/v1", api_key_env="MY_KEY")
SET = {"MY_KEY": "x"}


def links(clock: FakeClock) -> Links:
    return Links({"mine": MINE}, clock=clock)


def failed(cls="retry", **values) -> Attempt:
    return Attempt(model="mine", cls=cls, **values)


def test_a_failing_link_is_told_since_its_first_failure_and_no_longer_after_an_answer() -> None:
    clock = FakeClock()
    seen = links(clock)
    begun = clock.now()
    seen.note(failed(reason="no server answers at http://127.0.0.1:9"))
    clock.advance(timedelta(minutes=5))
    seen.note(failed("auth", status=401, reason="the key is wrong", said="incorrect api key"))
    one = healths([MINE], seen.take(), SET)["mine"]
    assert (one.answers, one.since, one.said) == (False, begun, "incorrect api key")
    assert "http://127.0.0.1:9" in one.told
    assert "MY_KEY" in one.told
    assert f"{begun:%Y-%m-%d %H:%M}" in one.told
    seen.note(Attempt(model="mine", cls=None))
    assert healths([MINE], seen.take(), SET)["mine"].answers is True


@pytest.mark.parametrize(
    "attempt", [failed("resample", code="rejected"), failed("shorten", status=413), failed("poison")]
)
def test_a_request_that_a_link_does_not_take_shows_that_it_answers(attempt: Attempt) -> None:
    seen = links(FakeClock())
    seen.note(attempt)
    assert healths([MINE], seen.take(), SET)["mine"].answers is True


def test_a_key_that_is_not_set_is_told_before_anybody_asked() -> None:
    one = healths([MINE], [], {})["mine"]
    assert one.answers is False
    assert "MY_KEY" in one.told
    assert healths([MINE], [], SET)["mine"].answers is None


def test_what_was_seen_of_another_server_under_the_name_says_nothing() -> None:
    clock = FakeClock()
    seen = links(clock)
    seen.note(failed("park", reason="no model"))
    moved = replace(MINE, base_url="http://127.0.0.1:10/v1")
    assert healths([moved], seen.take(), SET)["mine"].answers is None


def test_the_same_again_is_not_written_again_at_once_but_is_after_a_minute() -> None:
    clock = FakeClock()
    seen = links(clock)
    answered = Attempt(model="mine", cls=None)
    seen.note(answered)
    assert len(seen.take()) == 1
    seen.note(answered)
    assert seen.take() == []
    clock.advance(timedelta(seconds=61))
    seen.note(answered)
    assert len(seen.take()) == 1, "another process may have written otherwise meanwhile"


def test_unloads_are_counted_and_what_could_not_be_written_is_not_lost() -> None:
    clock = FakeClock()
    seen = links(clock)
    for _ in range(3):
        seen.note(failed(code="model_unloaded", reason="unloaded"))
    taken = seen.take()
    seen.put_back(taken)
    seen.note(failed(code="model_unloaded", reason="unloaded"))
    assert [one.unloads for one in seen.take()] == [4]


def test_a_form_that_was_found_out_is_known_again_for_that_server_only() -> None:
    clock = FakeClock()
    seen = links(clock)
    seen.learned("mine", "object")
    again = Links({"mine": MINE}, clock=clock, known=seen.take())
    assert again.form(MINE) == "object"
    assert again.form(replace(MINE, base_url="http://127.0.0.1:10")) is None
    assert (
        Links({"mine": MINE}, clock=clock, known=[LinkNote(model="mine", seen_at=clock.now(), form="?")]).form(MINE)
        is None
    )


# ------------------------------------------------------------------------------------------------ the first words


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "Z"]), max_size=80))
def test_no_word_of_a_user_passes_that_is_no_word_of_errors(said: str) -> None:
    masked = first_words(f"invalid value for messages content: {said.lower()}")
    assert set(masked.split()) <= {*_known(), "…"}
    assert not any(character.isdigit() for character in masked)


@pytest.mark.parametrize(
    "secret", ["sk-abc123def456", "lennart", "hunter2", "alice@example.org", "12,400", "/home/mina"]
)
def test_names_keys_and_numbers_in_an_error_are_masked(secret: str) -> None:
    body = f'{{"error": {{"message": "Incorrect API key provided: {secret} is not valid"}}}}'
    verdict = classify("chat", 401, {}, body)
    assert secret not in verdict.said
    assert verdict.said.startswith("incorrect api key provided …")


def test_words_that_no_line_of_the_table_knows_are_not_told() -> None:
    assert classify("chat", 418, {}, '{"error": {"message": "you should not be the model"}}').said == ""


@pytest.mark.parametrize(
    ("status", "said", "cls", "rule"),
    [
        (400, "Invalid schema for function 'save_memory': In context=(), 'x' is not permitted.", "next", "schema"),
        (
            400,
            "The model has crashed without additional information. (Exit code: 18446744072635812000)",
            "retry",
            "crashed",
        ),
    ],
)
def test_a_dialect_that_is_refused_asks_the_next_and_a_crash_passes(status, said, cls, rule) -> None:
    for kind in ({"type": "invalid_request_error"}, {"code": "invalid_function_parameters"}, {}):
        if rule == "crashed" and "code" in kind:
            continue
        verdict = classify("chat", status, {}, {"error": {"message": said, **kind}})
        assert (verdict.cls, verdict.rule) == (cls, rule)


# ------------------------------------------------------------------------------------------------ unloads in a chain


@pytest.mark.parametrize("status", [400, 404, 500])
def test_a_model_that_its_server_has_unloaded_is_asked_again_and_the_user_is_told_what_to_do(status) -> None:
    verdict = classify("chat", status, {}, {"error": "Model is unloaded."})
    assert (verdict.cls, verdict.rule) == ("retry", "unloaded")
    seen = links(FakeClock())
    seen.note(failed(verdict.cls, status=status, code=verdict.code, reason=verdict.reason, said=verdict.said))
    one = healths([MINE], seen.take(), SET)["mine"]
    assert one.unloads == 1
    assert one.said == "model is unloaded"
    assert "load the model at http://127.0.0.1:9" in one.advice
    assert "just in time" in one.advice


async def test_an_unload_on_any_link_of_a_chain_waits_for_the_load() -> None:
    clock = FakeClock()
    gone = failure("park", status=404)
    unloaded = failure("retry", status=400, code="model_unloaded", rule="unload")
    first, second = Scripted("a", gone), Scripted("b", unloaded, unloaded, "fine")
    chain = Chain([Link(model=first), Link(model=second)], clock=clock, dice=Random(1), backoff=Backoff())
    reply = await run(clock, chain.chat(a_request()))
    assert reply.text == "fine"
    assert (len(first.calls), len(second.calls)) == (1, 3)
    assert clock.now() - FakeClock().now() == timedelta(seconds=1), "two constant pauses of half a second"


async def test_a_model_that_stays_unloaded_is_asked_as_often_as_the_setting_says() -> None:
    clock = FakeClock()
    stuck = Scripted("a", failure("retry", status=500, code="model_unloaded", rule="unload"))
    for unloads, calls in ((2, 3), (0, 1)):
        stuck.calls.clear()
        chain = Chain([Link(model=stuck)], clock=clock, dice=Random(1), backoff=Backoff(unloads=unloads))
        with pytest.raises(ModelError):
            await run(clock, chain.chat(a_request()))
        assert len(stuck.calls) == calls


def test_an_embedding_whose_answers_are_no_vectors_does_not_work_and_is_tried_as_one() -> None:
    line = "http://127.0.0.1:9/v1#e"
    entry = Entry(name=line, protocol="openai-embeddings", model="e", base_url="http://127.0.0.1:9/v1")
    seen = Links({line: entry}, clock=FakeClock())
    seen.note(Attempt(model=line, cls="resample", status=200, reason="a vector holds a number that is not finite"))
    one = healths([entry], seen.take(), {})[line]
    assert one.answers is False
    assert "`memhold models test embedding`" in one.advice


@pytest.mark.parametrize("line", ["http://127.0.0.1:9/v1#m", "http://joe:hunter2@127.0.0.1:9/v1#m"])
def test_advice_names_what_can_be_typed_to_try_it(line: str) -> None:
    entry = entry_in_line(line)
    seen = Links({entry.name: entry}, clock=FakeClock())
    seen.note(Attempt(model=entry.name, cls="auth", status=401, reason="the key is refused"))
    advice = healths([entry], seen.take(), {})[entry.name].advice
    assert f"`memhold models test {'consolidation' if '@' in line else line}`" in advice


def test_of_long_words_the_first_are_told_and_that_there_are_more() -> None:
    fourteen = "the request is not valid because the model does not support the tool type"
    assert first_words(fourteen) == fourteen
    assert first_words(f"{fourteen} at all") == f"{fourteen} …"
    assert first_words(f"{fourteen[:-5]} rosebud at all") == f"{fourteen[:-5]} …", "one mask, not two"
