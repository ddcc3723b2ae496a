"""The two readings of the providers' rules agree: the tests' own strict one, and the one that the chaos server enforces."""

from hypothesis import given
from hypothesis import strategies as st

from memhold.messages.tool_pairs import repair_window
from memhold.testing.chaos.rules import check_anthropic, check_openai
from tests.messages.effort import tried
from tests.messages.histories import VALID, histories
from tests.messages.provider_rules import anthropic_faults, openai_faults

every = tried(200)

OURS = (
    "nothing is said",  # OpenAI takes an empty text, and we send none
    "function_call is null",
    "tool_calls is null",  # OpenAI takes null, not an empty list
    "answers no function_call",  # the legacy pair is not enforced
    "calls [] were not answered",
    "the last call was not answered",
    "thinking at the end",
    "is not unique or not legal",  # across turns; within one turn both refuse it
    "a server tool's result",
    "a system message behind a call",
    "blank text",  # in results
    "a result, or thinking",
)
"""What only we demand, since some server of the shape does."""


def strict(faults):
    return [one for one in faults if not any(mark in one for mark in OURS)]


@every
@given(histories("openai"))
def test_openai_what_the_server_refuses_we_refuse_and_the_other_way_round(history):
    if history:
        ours, theirs = openai_faults(history), check_openai(history)
        assert not theirs or ours, theirs
        assert not strict(ours) or theirs, ours


@every
@given(histories("anthropic"))
def test_anthropic_what_the_server_refuses_we_refuse_and_the_other_way_round(history):
    spoken = [one for one in history if one["role"] != "system"]
    if spoken:
        ours, theirs = anthropic_faults(spoken), check_anthropic(spoken)
        assert not theirs or ours, theirs
        assert not strict(ours) or theirs, ours


@every
@given(st.sampled_from(["openai", "anthropic"]).flatmap(lambda shape: st.tuples(st.just(shape), VALID[shape])))
def test_both_take_what_is_valid_and_what_was_repaired(case):
    shape, history = case
    for messages in (history, repair_window(history[1:], shape).messages):
        spoken = [one for one in messages if shape == "openai" or one["role"] != "system"]
        if spoken:
            ours, check = (openai_faults, check_openai) if shape == "openai" else (anthropic_faults, check_anthropic)
            assert ours(spoken) == check(spoken) == []
