"""Windows are valid for the provider whatever history and cut they come from (issue texts in the test names)."""

import copy
from types import MappingProxyType

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memhold.errors import InvalidInput, InvalidMessage
from memhold.messages.anthropic_pairs import anthropic_starts
from memhold.messages.openai_pairs import _identified, _Taken, openai_starts
from memhold.messages.tool_pairs import cut_window, repair_window
from memhold.messages.window import EMPTY_RESULT, NO_RESULT, OMITTED, entries_of, entry, is_system, owners
from memhold.text.token_estimate import estimate_message
from tests.messages.effort import tried
from tests.messages.histories import IMAGE, VALID, histories, text
from tests.messages.provider_rules import anthropic_faults, openai_faults, parts, says_something

try:  # the chaos server's rules, written by another hand; a second opinion where they are there
    from memhold.testing.chaos import rules
except ModuleNotFoundError:
    rules = None

SHAPES = ("openai", "anthropic")
FAULTS = {"openai": openai_faults, "anthropic": anthropic_faults}
every = tried(100)
any_history = st.sampled_from(SHAPES).flatmap(lambda shape: st.tuples(st.just(shape), histories(shape)))
any_valid = st.sampled_from(SHAPES).flatmap(lambda shape: st.tuples(st.just(shape), VALID[shape]))


def faults(messages, shape, **options):
    found = FAULTS[shape](messages, **options)
    spoken = [one for one in messages if shape == "openai" or one["role"] != "system"]
    if rules is not None and spoken and not options:
        found += rules.check_openai(spoken) if shape == "openai" else rules.check_anthropic(spoken)
    return found


def call(*ids, content=None):
    calls = [{"id": one, "type": "function", "function": {"name": "look", "arguments": "{}"}} for one in ids]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def result(one, content="42"):
    return {"role": "tool", "tool_call_id": one, "content": content}


def use(*ids):
    return {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": one, "name": "look", "input": {}} for one in ids],
    }


def block(one, content="42"):
    return {"type": "tool_result", "tool_use_id": one, "content": content}


def says(role, content):
    return {"role": role, "content": content}


def words_of_person(messages):
    return [
        part["text"]
        for one in messages
        if one["role"] == "user"
        for part in parts(one)
        if part["type"] == "text" and part["text"].strip()
    ]


def legal_starts(messages, shape):
    """Indexes at which a cut may begin, oldest first."""
    spoken = [one for one in entries_of(messages, shape) if not is_system(one.message)]
    found = openai_starts(spoken, user_first=False) if shape == "openai" else anthropic_starts(spoken)
    return tuple(spoken[at].index for at in found)


def system_messages(messages):
    """Those that say something: one that is empty instructs nobody, and providers refuse it."""
    systems = [one for one in messages if one["role"] in {"system", "developer"}]
    return [one for one in systems if says_something(one["content"])]


def newest_message(history):
    """The words of the newest message in which a person says or shows something."""
    own = [{**one, "content": [part for part in parts(one) if part["type"] != "tool_result"]} for one in history]
    said = [one for one in own if one["role"] == "user" and says_something(one["content"])]
    return said[-1:]


def newest_words(history):
    return words_of_person(newest_message(history))


def is_subsequence(small, large):
    rest = iter(large)
    return all(any(one == other for other in rest) for one in small)


# ------------------------------------------------------------------------------------------ properties


SEARCHED = {
    "role": "assistant",
    "content": [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
        text("done "),
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        {"type": "tool_use", "id": "call_0", "name": "look", "input": {}},
    ],
}
"""Found by a long run: with its call removed, its last text ends the window, though a result stands behind that."""


@every
@given(any_history, st.sampled_from(["complete", "remove"]), st.booleans())
@example(("anthropic", [SEARCHED]), "remove", False)
def test_any_history_is_valid_after_repair_and_repairing_again_changes_nothing(case, unanswered, user_first):
    shape, history = case
    before = copy.deepcopy(history)
    window = repair_window(history, shape, unanswered=unanswered, user_first=user_first)
    assert faults(window.messages, shape) == []
    assert history == before
    again = repair_window(window.messages, shape, unanswered=unanswered, user_first=user_first)
    assert again.messages == window.messages
    assert again.repairs == ()
    spoken = [one for one in window.messages if one["role"] not in {"system", "developer"}]
    assert not user_first or not spoken or spoken[0]["role"] == "user"


@every
@given(any_history)
def test_repair_keeps_system_messages_a_persons_words_and_their_order(case):
    shape, history = case
    window = repair_window(history, shape)
    assert system_messages(window.messages) == system_messages(history)
    assert is_subsequence(words_of_person(history), words_of_person(window.messages))
    made = [one for one in words_of_person(window.messages) if one not in words_of_person(history)]
    assert all(one == OMITTED or one.startswith("[Result of an earlier tool call") for one in made)
    assert (window.messages == history) == (window.repairs == ())


@every
@given(any_valid)
def test_a_valid_history_comes_back_as_the_same_objects(case):
    shape, history = case
    assert faults(history, shape) == []
    window = repair_window(history, shape)
    assert window.repairs == ()
    assert [id(one) for one in window.messages] == [id(one) for one in history]
    assert window.messages is not history


@every
@given(any_history, st.booleans())
def test_on_load_a_trailing_call_stays_open_and_nothing_else_does(case, user_first):
    shape, history = case
    loaded = repair_window(history, shape, keep_open=True, user_first=user_first)
    assert faults(loaded.messages, shape, open_end=True) == []
    assert repair_window(loaded.messages, shape, keep_open=True, user_first=user_first).repairs == ()
    assert faults(repair_window(loaded.messages, shape).messages, shape) == []


@every
@given(any_history, st.integers(0, 30))
def test_any_cut_is_valid_keeps_the_newest_and_the_newest_words_of_a_person(case, keep):
    shape, history = case
    window = cut_window(history, keep, shape)
    assert faults(window.messages, shape) == []
    assert repair_window(window.messages, shape).repairs == ()
    assert system_messages(window.messages) == system_messages(history)
    dropped = [one.index for one in window.dropped]
    spoken = [at for at, one in enumerate(history) if one["role"] not in {"system", "developer"}]
    assert dropped == spoken[: len(dropped)]
    assert len(dropped) <= max(0, len(spoken) - keep)
    assert all(one.reason == "cut" for one in window.dropped)
    kept = [one for at, one in enumerate(history) if at not in dropped]
    assert is_subsequence(words_of_person(kept), words_of_person(window.messages))
    assert newest_message(kept) == newest_message(history)


@every
@given(any_valid, st.integers(0, 30))
def test_a_cut_of_a_valid_history_needs_no_repair_and_begins_at_a_legal_place(case, keep):
    shape, history = case
    window = cut_window(history, keep, shape)
    assert window.repairs == ()
    spoken = [one for one in window.messages if one["role"] != "system"]
    assert (
        spoken == [one for one in history if one["role"] not in {"system", "developer"}][len(window.dropped) :]
        or shape == "openai"
    )
    first = next(one for one in window.messages if one["role"] not in {"system", "developer"})
    assert first["role"] == "user" or (shape == "openai" and first.get("tool_calls"))
    start = next(at for at, one in enumerate(history) if one is first)
    assert start in legal_starts(history, shape)


def size(message):
    return len(str(message))


@every
@given(any_history, st.integers(0, 12), st.integers(0, 3000))
def test_a_budget_moves_the_cut_forward_only_as_far_as_it_must(case, keep, budget):
    shape, history = case
    free = cut_window(history, keep, shape)
    window = cut_window(history, keep, shape, budget=budget, cost=size)
    assert faults(window.messages, shape) == []
    assert repair_window(window.messages, shape).repairs == ()
    assert system_messages(window.messages) == system_messages(history)
    newest = newest_words(history)
    assert newest == words_of_person(window.messages)[len(words_of_person(window.messages)) - len(newest) :]
    if sum(map(size, free.messages)) <= budget:
        assert window == free
    elif sum(map(size, window.messages)) > budget:
        kept = {*range(len(history))} - {one.index for one in window.dropped}
        spoken = [at for at in sorted(kept) if history[at]["role"] not in {"system", "developer"}]
        later = [at for at in legal_starts(history, shape) if spoken and at > spoken[0]]
        assert len(spoken) <= 1 or (not newest_message(history) and not later)
    assert {one.index for one in free.dropped} <= {one.index for one in window.dropped}


@every
@given(any_history)
def test_every_repair_names_a_message_that_was_passed_in(case):
    shape, history = case
    for repair in repair_window(history, shape).repairs:
        assert 0 <= repair.index < len(history)
        assert repair.reason


# ------------------------------------------------------------------------------------------ the orphan case


def test_the_orphan_case_exactly_begins_with_the_assistants_call():
    history = []
    for number in range(4):
        history += [
            says("user", f"question {number}"),
            call("call_0"),
            result("call_0"),
            says("assistant", f"answer {number}"),
        ]
    recalled = says("system", "recalled memory")
    request = [says("system", "be kind"), recalled, *history, says("user", "question 4")]
    old_cut = [request[0], recalled, history[-2], history[-1], request[-1]]
    assert openai_faults(old_cut) == ["2: tool message answers no call of the preceding assistant"]
    window = cut_window(request, 3, "openai")
    assert window.messages == [request[0], recalled, history[-3], history[-2], history[-1], request[-1]]
    assert window.repairs == ()
    assert faults(window.messages, "openai") == []


@pytest.mark.parametrize("shape", SHAPES)
def test_a_session_of_200_turns_never_breaks_at_any_cut(shape):
    history = []
    for number in range(200):
        pair = (
            [call("call_0"), result("call_0")]
            if shape == "openai"
            else [use("call_0"), says("user", [block("call_0")])]
        )
        history += [says("user", f"question {number}"), *pair, says("assistant", f"answer {number}")]
    for keep in range(0, len(history), 7):
        assert faults(cut_window(history, keep, shape).messages, shape) == []


# ------------------------------------------------------------------------------------------ lines of FAILURES, 5


def test_ids_that_repeat_in_every_turn_never_pair_strangers():
    history = [says("user", "a"), call("call_0"), says("user", "b"), call("call_0"), result("call_0", "of b")]
    window = repair_window(history, "openai")
    assert window.messages == [history[0], history[1], result("call_0", NO_RESULT), *history[2:]]
    assert [(one.index, one.action) for one in window.repairs] == [(1, "completed")]


def test_ids_that_repeat_become_unique_where_the_provider_wants_them_so():
    history = [
        says("user", "a"),
        use("call_0"),
        says("user", [block("call_0", "1")]),
        use("call_0"),
        says("user", [block("call_0", "2")]),
    ]
    window = repair_window(history, "anthropic")
    assert window.messages[:3] == history[:3]
    assert window.messages[3]["content"][0]["id"] == "call_0_2"
    assert window.messages[4]["content"] == [block("call_0_2", "2")]
    assert {one.action for one in window.repairs} == {"renamed"}


def test_a_system_message_between_call_and_result_moves_behind_the_result():
    note = says("system", "note")
    history = [says("user", "a"), call("x", "y"), note, result("y"), says("developer", "two"), result("x")]
    window = repair_window(history, "openai")
    assert window.messages == [history[0], history[1], history[3], history[5], note, history[4]]
    assert [(one.index, one.action) for one in window.repairs] == [(2, "moved"), (4, "moved")]
    assert (
        repair_window([says("user", "a"), use("x"), note, says("user", [block("x")])], "anthropic").messages[-1] is note
    )


def test_several_results_of_one_call_stay_or_become_one_where_only_one_may_be():
    history = [says("user", "a"), call("x"), result("x", "1"), result("x", "2")]
    assert repair_window(history, "openai").repairs == ()
    history = [says("user", "a"), use("x"), says("user", [block("x", "1"), block("x", "2")])]
    only = repair_window(history, "anthropic").messages[-1]["content"]
    assert only == [{**block("x"), "content": [text("1"), text("2")]}]


@pytest.mark.parametrize("unanswered", ["complete", "remove"])
def test_the_last_call_may_have_no_result_yet(unanswered):
    history = [says("user", "a"), call("x", "y", content="looking"), result("y")]
    window = repair_window(history, "openai", unanswered=unanswered)
    if unanswered == "complete":
        assert window.messages == [*history, result("x", NO_RESULT)]
    else:
        assert window.messages == [history[0], call("y", content="looking"), history[2]]
    assert repair_window(history, "openai", keep_open=True).messages == history


def test_a_result_without_a_call_is_removed_or_is_text_that_is_not_empty_where_it_is_the_only_anchor():
    window = repair_window([result("x", ""), says("assistant", "done")], "openai")
    assert window.messages[0] == says("user", "[Result of an earlier tool call: empty]")
    assert [one.action for one in window.repairs] == ["anchored"]
    window = repair_window(
        [says("user", [block("x", ""), {**block("y"), "content": [IMAGE["anthropic"]]}]), says("assistant", "done")],
        "anthropic",
    )
    assert window.messages[0]["content"][0] == text("[Result of an earlier tool call: empty]")
    assert window.messages[0]["content"][-1] == IMAGE["anthropic"]
    window = repair_window([result("x"), says("user", "hi")], "openai")
    assert window.messages == [says("user", "hi")]
    assert [one.action for one in window.repairs] == ["removed"]


def test_the_window_begins_with_a_user_message_where_the_provider_demands_it():
    history = [says("system", "s"), says("assistant", "hello"), says("user", "hi")]
    assert repair_window(history, "openai").messages == history
    for options in ({"shape": "anthropic"}, {"user_first": True}):
        window = repair_window(history, **options)
        assert window.messages == [history[0], says("user", OMITTED), *history[1:]]
        assert [(one.index, one.action) for one in window.repairs] == [(1, "inserted")]


def test_a_cut_moves_backward_and_in_the_messages_shape_to_a_persons_message():
    history = [
        says("user", "a"),
        use("x"),
        says("user", [block("x")]),
        says("assistant", "b"),
        says("user", "c"),
        use("z"),
        says("user", [block("z")]),
    ]
    assert legal_starts(history, "anthropic") == (0, 4)
    assert cut_window(history, 1, "anthropic").messages == history[4:]
    assert cut_window(history, 4, "anthropic").messages == history
    assert [one.index for one in cut_window(history, 1, "anthropic").dropped] == [0, 1, 2, 3]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_long_loop_behind_the_newest_question_loses_its_oldest_calls_when_the_budget_forces_it(shape):
    pairs = [
        [call(f"c{n}"), result(f"c{n}")] if shape == "openai" else [use(f"c{n}"), says("user", [block(f"c{n}")])]
        for n in range(9)
    ]
    history = [
        says("user", "old"),
        says("assistant", "old"),
        says("user", "question"),
        *(one for pair in pairs for one in pair),
    ]
    assert cut_window(history, 2, shape).messages == history[2:]
    window = cut_window(history, 2, shape, budget=5, cost=lambda _: 1)
    assert window.messages == [history[2], *history[-4:]]
    assert [one.reason for one in window.dropped] == ["cut"] * 2 + ["budget"] * 14


def test_a_system_message_is_never_cut_away_from_the_middle():
    history = [says("user", "a"), says("system", "from now on in Korean"), says("assistant", "b"), says("user", "c")]
    assert cut_window(history, 1).messages == [history[1], history[3]]


# ------------------------------------------------------------------------------------------ shapes


def test_parallel_results_come_in_any_order():
    history = [says("user", "a"), call("x", "y", "z"), result("z"), result("x"), result("y")]
    assert repair_window(history).messages == history
    history = [says("user", "a"), use("x", "y"), says("user", [block("y"), block("x")])]
    assert repair_window(history, "anthropic").repairs == ()


def test_parallel_results_in_several_messages_come_together():
    history = [says("user", "a"), use("x", "y"), says("user", [block("x")]), says("user", [text("stop"), block("y")])]
    window = repair_window(history, "anthropic")
    assert window.messages[2]["content"] == [block("x"), block("y"), text("stop")]
    assert [one.action for one in window.repairs] == ["moved", "merged"]


def test_consecutive_messages_of_one_role_become_one_turn():
    history = [says("user", "a"), says("user", "b"), says("assistant", "c"), says("assistant", "d")]
    assert repair_window(history, "openai").repairs == ()
    window = repair_window(history, "anthropic")
    assert window.messages == [says("user", [text("a"), text("b")]), says("assistant", [text("c"), text("d")])]


def test_a_turn_that_joins_across_a_system_message_leaves_none_between_call_and_result():
    note = says("system", "note")
    history = [
        says("user", "a"),
        says("assistant", "b"),
        says("user", [block("lost")]),
        note,
        use("x"),
        says("user", [block("x")]),
    ]
    window = repair_window(history, "anthropic")
    assert window.messages[-2:] == [history[-1], note]
    assert faults(window.messages, "anthropic") == []


def test_thinking_stays_with_its_call_and_an_interrupted_thought_goes():
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    asked = says("assistant", [thought, *use("x")["content"]])
    history = [says("user", "a"), asked, says("user", [block("x")]), says("assistant", [thought])]
    window = repair_window(history, "anthropic")
    assert window.messages == history[:3]
    assert window.messages[1] is asked


def test_a_server_tools_pair_stays_and_its_halves_go():
    used = {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srv", "content": []}
    whole = [says("user", "a"), says("assistant", [used, found, text("b")])]
    assert repair_window(whole, "anthropic").messages == whole
    cut = [
        says("user", "a"),
        says("assistant", [found, text("b")]),
        says("user", "c"),
        says("assistant", [used, text("d")]),
        says("user", "e"),
    ]
    window = repair_window(cut, "anthropic")
    assert [parts(one) for one in window.messages[1::2]] == [[text("b")], [text("d")]]
    assert [one.index for one in window.repairs] == [1, 3]
    paused = [says("user", "a"), says("assistant", [used])]
    assert repair_window(paused, "anthropic").messages == paused


def test_whitespace_blocks_and_whitespace_at_the_very_end_go():
    history = [
        says("user", [text(" "), text("a ")]),
        says("assistant", "b\n"),
        says("user", "  "),
        says("assistant", "c\n"),
    ]
    window = repair_window(history, "anthropic")
    assert window.messages == [says("user", [text("a ")]), says("assistant", [text("b\n"), text("c")])]


def test_the_legacy_function_role_pairs_by_name():
    asked = {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}}
    answer = {"role": "function", "name": "look", "content": "42"}
    history = [says("user", "a"), asked, answer]
    assert repair_window(history).messages == history
    assert repair_window(history[:2]).messages[-1] == {**answer, "content": NO_RESULT}
    assert repair_window([says("user", "a"), asked, {**answer, "name": "other"}]).messages[-1]["content"] == NO_RESULT


def test_calls_without_ids_and_with_arguments_as_an_object_can_be_sent():
    asked = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"function": {"name": "look", "arguments": {"a": "ü"}}}],
    }
    window = repair_window([says("user", "a"), asked, {"role": "tool", "content": "42"}])
    made = window.messages[1]["tool_calls"][0]
    assert made["function"]["arguments"] == '{"a": "ü"}'
    assert window.messages[2]["tool_call_id"] == made["id"] != ""


def test_empty_results_say_so_and_empty_messages_go():
    history = [says("user", "a"), call("x"), result("x", None), says("assistant", ""), says("user", [])]
    window = repair_window(history)
    assert window.messages == [history[0], history[1], result("x", EMPTY_RESULT)]
    assert not says_something(history[3]["content"])


def test_images_and_mappings_pass_through():
    history = [MappingProxyType(says("user", [IMAGE["openai"]])), says("assistant", "a cat")]
    window = repair_window(tuple(history))
    assert window.messages[0] is history[0]


def test_values_are_frozen():
    window = repair_window([result("x")])
    with pytest.raises(AttributeError):
        window.messages = []
    with pytest.raises(AttributeError):
        window.repairs[0].index = 3


@pytest.mark.parametrize(
    ("messages", "shape", "index"),
    [
        ([says("user", "a"), "junk"], "openai", 1),
        ([says("robot", "a")], "openai", 0),
        ([says("user", "a"), says("tool", "a")], "anthropic", 1),
        ([says("user", 7)], "openai", 0),
        ([says("user", ["a"])], "openai", 0),
        ([says("user", [{"type": "text"}])], "anthropic", 0),
        ([{"role": "assistant", "tool_calls": "x"}], "openai", 0),
        ([{"role": "assistant", "function_call": "x"}], "openai", 0),
        ([result(7)], "openai", 0),
        ([says("user", [block("x", 7)])], "anthropic", 0),
        ([{"content": "a"}], "anthropic", 0),
    ],
)
def test_junk_is_refused_with_its_index(messages, shape, index):
    for verb in (repair_window, lambda m, s: cut_window(m, 1, s)):
        with pytest.raises(InvalidMessage) as raised:
            verb(messages, shape)
        assert raised.value.index == index


@pytest.mark.parametrize("junk", [None, "text", {"role": "user"}, 7, b"x"])
def test_what_is_no_list_is_refused(junk):
    with pytest.raises(InvalidInput):
        repair_window(junk)


def test_unknown_shapes_and_negative_counts_are_refused():
    for verb in (
        lambda: repair_window([], "gemini"),
        lambda: cut_window([], -1),
        lambda: cut_window([], True),
        lambda: cut_window([], 1, budget=-1),
    ):
        with pytest.raises(InvalidInput):
            verb()


@pytest.mark.parametrize("shape", ["openai", "anthropic"])
def test_an_agent_at_work_alone_is_cut_to_its_budget(shape):
    """No person wrote anything: the oldest calls go with their results, and what is left can be sent."""

    def turn(n):
        if shape == "openai":
            call = {"id": f"c{n}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
            return [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": f"c{n}", "content": "rain " * 50},
            ]
        call = {"type": "tool_use", "id": f"t{n}", "name": "look", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": "rain " * 50}
        return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]

    alone = [body for n in range(20) for body in turn(n)]
    each = sum(map(estimate_message, turn(0)))
    window = cut_window(alone, 40, shape, budget=5 * each, cost=estimate_message)
    assert sum(map(estimate_message, window.messages)) <= 5 * each
    assert window.messages[-2:] == turn(19)
    assert len(window.messages) >= 8
    assert not repair_window(window.messages, shape).repairs
    assert {one.reason for one in window.dropped} == {"budget"}


def test_thousands_of_calls_are_matched_by_looking_at_each_once() -> None:
    """Fifteen thousand calls in one message kept a server's thread at work for minutes."""
    compared = [0]

    class Id(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            compared[0] += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    calls = [Id(f"c{number}") for number in range(1000)]
    assert owners(calls, [Id(f"c{number}") for number in reversed(range(1000))]) == [*reversed(range(1000))]
    assert compared[0] < 10_000
    assert owners(["a", "a", "b"], ["a", "a", "a", "x", None, None]) == [0, 1, 1, None, 2, None]
    same = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}} for _ in range(2000)]
    taken = _Taken(())
    kept, keys, _ = _identified(entry(0, {"role": "assistant", "tool_calls": same}), taken, [])
    assert keys == ["c", *(f"c_{number}" for number in range(2, 2001))]
    assert [one["id"] for one in kept.message["tool_calls"]] == keys
    assert taken.numbers == {"c": 2000}
