from __future__ import annotations

import json
import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memhold.errors import InvalidInput, NaiveTime
from memhold.values import answers
from memhold.values import records as model
from memhold.values.answers import _OF_LISTS, Query
from memhold.values.filters import Filters
from memhold.values.jsonable import body_from_json, body_json, from_jsonable, iso, parse_time, to_jsonable

VALUES = sorted(
    {v for m in (model, answers) for v in vars(m).values() if isinstance(v, type) and is_dataclass(v)},
    key=lambda v: v.__name__,
)
words = st.text("abcXYZ019éñ水한ж", min_size=1, max_size=8)
times = st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


@cache
def strategy(hint: Any) -> st.SearchStrategy[Any]:
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return json_values
    if origin in {Union, types.UnionType}:
        return st.one_of(*(st.none() if arg is type(None) else strategy(arg) for arg in args))
    if origin is Literal:
        return st.sampled_from(args)
    if origin in {tuple, Sequence}:
        return st.lists(strategy(args[0]), max_size=2).map(tuple)
    if origin is Mapping:
        return st.dictionaries(words, strategy(args[1]), max_size=2)
    if hint is datetime:
        return times
    if is_dataclass(hint):
        hints = get_type_hints(hint)
        drawn = {f.name: strategy(hints[f.name]) for f in fields(hint)}
        if hint is model.Scope:
            drawn["actor"] = st.sampled_from(["user", "agent", "tool"]) | words.map("agent:{}".format)
        if issubclass(hint, Filters):  # not beside its prefix; and a question knows no filter of lists
            drawn |= dict.fromkeys(("session", *(_OF_LISTS if hint is Query else ())), st.none())
        return st.builds(hint, **drawn)
    plain = {
        str: words,
        bool: st.booleans(),
        int: st.integers(),
        float: st.floats(allow_nan=False, allow_infinity=False),
    }
    return plain[hint]


def test_there_are_values_to_test():
    assert len(VALUES) >= 18


@pytest.mark.parametrize("cls", VALUES, ids=lambda cls: cls.__name__)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_every_value_comes_back_equal_through_json(cls, data):
    value = data.draw(strategy(cls))
    plain = to_jsonable(value)
    assert list(plain) == [f.name for f in fields(cls)]
    assert from_jsonable(cls, plain) == value
    text = json.dumps(plain)
    assert from_jsonable(cls, json.loads(text)) == value
    assert from_jsonable(cls, body_from_json(body_json(plain))) == value


def test_times_are_utc_with_microseconds():
    assert iso(datetime(2025, 1, 1, 9, tzinfo=timezone(timedelta(hours=9)))) == "2025-01-01T00:00:00.000000Z"
    with pytest.raises(NaiveTime):
        iso(datetime(2025, 1, 1))  # noqa: DTZ001
    with pytest.raises(NaiveTime):
        parse_time("2025-01-01T00:00:00")
    with pytest.raises(InvalidInput):
        parse_time("soon")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ([], "object"),
        ({"namespace": 3}, "namespace"),
        ({"namespace": "a", "colour": "b"}, "colour"),
        ({"namespace": " "}, "namespace"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_field(data, says):
    with pytest.raises(InvalidInput, match=says):
        from_jsonable(model.Scope, data)


def test_missing_wrong_and_bool_as_int_are_refused():
    effect = {"memory_id": "m", "rev_before": 0, "rev_after": 1}
    assert from_jsonable(model.Effect, effect) == model.Effect(memory_id="m", rev_before=0, rev_after=1)
    with pytest.raises(InvalidInput, match="rev_after"):
        from_jsonable(model.Effect, {"memory_id": "m", "rev_before": 0})
    with pytest.raises(InvalidInput, match="rev_before"):
        from_jsonable(model.Effect, {**effect, "rev_before": True})
    with pytest.raises(InvalidInput, match="origin"):
        from_jsonable(model.Author, {"origin": "ghost"})
    with pytest.raises(InvalidInput, match="ids"):
        from_jsonable(answers.Receipt, {"ids": "abc"})
