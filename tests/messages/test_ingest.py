from __future__ import annotations

import json
import pickle
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memhold.errors import InvalidInput, InvalidMessage, NaiveTime, TooLarge
from memhold.messages.ingest import body_from_json, body_json, parse_messages
from memhold.messages.limits import Limits

NOW = datetime(2025, 6, 1, 12, tzinfo=UTC)


def one(message, **options):
    (draft,) = parse_messages([message], now=NOW, **options)
    return draft


# ------------------------------------------------------------------------------------------ what comes in comes out

anything = st.text(st.characters(codec=None, exclude_categories=()), max_size=20).filter(
    lambda s: not any("\ud800" <= a <= "\udbff" and "\udc00" <= b <= "\udfff" for a, b in pairwise(s))
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | anything,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(anything, inner, max_size=3),
    max_leaves=8,
)
said = anything.map(lambda s: f"said {s}")
openai_parts = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": said}),
    st.fixed_dictionaries({"type": st.just("image_url"), "image_url": st.fixed_dictionaries({"url": anything})}),
    st.fixed_dictionaries({"type": st.sampled_from(["input_audio", "file", "a_type_of_tomorrow"])}),
)
calls = st.lists(
    st.fixed_dictionaries(
        {
            "id": said,
            "type": st.just("function"),
            "function": st.fixed_dictionaries({"name": said, "arguments": anything | json_values}),
        }
    ),
    min_size=1,
    max_size=3,
)
openai_messages = st.one_of(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "developer", "user", "assistant"]), "content": said},
        optional={"name": said},
    ),
    st.fixed_dictionaries({"content": st.lists(openai_parts, min_size=1, max_size=3), "role": st.just("user")}),
    st.fixed_dictionaries({"role": st.just("assistant"), "content": st.none() | anything, "tool_calls": calls}),
    st.fixed_dictionaries({"role": st.just("tool"), "tool_call_id": said, "content": anything}),
)
blocks = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": said}, optional={"citations": json_values}),
    st.fixed_dictionaries({"type": st.just("thinking"), "thinking": anything, "signature": anything}),
    st.fixed_dictionaries({"type": st.just("image"), "source": json_values}),
    st.fixed_dictionaries({"type": st.just("web_search_tool_result"), "tool_use_id": said, "content": json_values}),
)
uses = st.fixed_dictionaries({"type": st.just("tool_use"), "id": said, "name": said, "input": json_values})
results = st.fixed_dictionaries(
    {"type": st.just("tool_result"), "tool_use_id": said, "content": anything | st.lists(blocks, max_size=2)},
    optional={"is_error": st.booleans()},
)
anthropic_messages = st.one_of(
    st.fixed_dictionaries({"role": st.just("assistant"), "content": st.lists(uses | blocks, min_size=1, max_size=4)}),
    st.fixed_dictionaries({"role": st.just("user"), "content": st.lists(results, min_size=1, max_size=3)}),
)
extras = st.dictionaries(
    anything.filter(
        lambda k: k not in {"role", "content", "name", "id", "audio", "refusal", "metadata", "embed", "event_time"}
    ),
    json_values,
    max_size=2,
).map(lambda d: {f"x{k}": v for k, v in d.items()})


@settings(deadline=None)
@given(st.one_of(openai_messages, anthropic_messages), extras)
def test_a_message_comes_back_equal(message, extra):
    message = {**message, **extra}
    draft = one(message)
    assert draft.body == message
    assert list(draft.body) == list(message)
    stored = body_json(draft.body)
    stored.encode("utf-8")
    assert "\x00" not in stored
    again = body_from_json(stored)
    assert again == message
    assert repr(again) == repr(json_like(message))
    assert body_json(again) == stored
    draft.text.encode("utf-8")
    assert "\x00" not in draft.text


def json_like(value):
    if isinstance(value, dict):
        return {k: json_like(v) for k, v in value.items()}
    return [json_like(v) for v in value] if isinstance(value, list | tuple) else value


@settings(deadline=None)
@given(openai_messages)
def test_openai_messages_are_told_apart(message):
    assert one(message).shape == "openai"


@settings(deadline=None)
@given(uses, st.lists(blocks, max_size=2))
def test_anthropic_messages_are_told_apart(use, others):
    assert one({"role": "assistant", "content": [*others, use]}).shape == "anthropic"


@settings(deadline=None)
@given(st.dictionaries(anything, json_values))
def test_body_json_is_exact(body):
    text = body_json(body)
    text.encode()
    assert body_from_json(text) == body
    assert body_json(body_from_json(text)) == text


def test_numbers_and_key_order_are_kept():
    body = {"z": 1.0, "a": 10**300, "m": -0.0, "f": 0.1 + 0.2, "e": 1e-320}
    again = body_from_json(body_json(body))
    assert repr(again) == repr(body)


def test_the_callers_dict_is_copied_and_own_keys_are_taken_off():
    inner = {"type": "text", "text": "before"}
    metadata = {"a": [1]}
    message = {"event_time": NOW, "role": "user", "content": [inner], "metadata": metadata, "embed": False}
    draft = one(message)
    inner["text"] = "after"
    metadata["a"].append(2)
    assert draft.body == {"role": "user", "content": [{"type": "text", "text": "before"}]}
    assert draft.metadata == {"a": [1]}
    assert draft.embed is False
    assert draft.event_time == NOW
    assert "event_time" in message


def test_any_mapping_and_a_single_message_are_accepted():
    assert one(MappingProxyType({"role": "user", "content": "hi"})).body == {"role": "user", "content": "hi"}
    assert len(parse_messages({"role": "user", "content": "hi"}, now=NOW)) == 1
    assert parse_messages([], now=NOW) == ()
    assert len(parse_messages(({"role": "user", "content": str(i)} for i in range(3)), now=NOW)) == 3


# ------------------------------------------------------------------------------------------ what is read in it

PNG = "iVBORw0KGgoAAAANSUhEUgAA" * 20


@pytest.mark.parametrize(
    ("message", "shape", "text"),
    [
        ({"role": "user", "content": "hi"}, "openai", "hi"),
        ({"role": "user", "name": "Ann", "content": "hi"}, "openai", "Ann: hi"),
        ({"role": "developer", "content": [{"type": "text", "text": "be kind"}]}, "openai", "be kind"),
        (
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}],
            },
            "openai",
            'f({"a":1})',
        ),
        ({"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}, "openai", "f({})"),
        ({"role": "assistant", "content": None, "refusal": "I will not"}, "openai", "I will not"),
        ({"role": "assistant", "content": None, "audio": {"id": "a1"}}, "openai", "[audio]"),
        ({"role": "assistant", "content": "", "audio": {"id": "a1", "transcript": "yes"}}, "openai", "yes"),
        ({"role": "tool", "tool_call_id": "c", "content": "42"}, "openai", "42"),
        ({"role": "tool", "tool_call_id": "c", "content": ""}, "openai", ""),
        ({"role": "function", "name": "f", "content": "42"}, "openai", "f: 42"),
        (
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}],
            },
            "openai",
            "[image]",
        ),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a.example.org/x?y=z"}}]},
            "openai",
            "[image: a.example.org]",
        ),
        ({"role": "user", "content": f"see data:image/png;base64,{PNG}"}, "openai", "see [data: image/png]"),
        ({"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]}, "anthropic", ""),
        (
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "secret plan"},
                    {"type": "text", "text": "I look"},
                    {"type": "tool_use", "id": "t", "name": "grep", "input": {"q": "다리"}},
                ],
            },
            "anthropic",
            'I look\ngrep({"q": "다리"})',
        ),
        (
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "t",
                        "is_error": True,
                        "content": [
                            {"type": "text", "text": "boom"},
                            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                        ],
                    }
                ],
            },
            "anthropic",
            "[error] boom\n[image: image/png]",
        ),
        (
            {
                "role": "user",
                "content": [
                    {"type": "document", "title": "T", "source": {"type": "text", "data": "inside", "media_type": "t"}}
                ],
            },
            "anthropic",
            "[document: T]\ninside",
        ),
        (
            {
                "role": "assistant",
                "content": [
                    {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
                    {
                        "type": "web_search_tool_result",
                        "tool_use_id": "s",
                        "content": [{"type": "web_search_result", "title": "Found", "url": "https://e.org/"}],
                    },
                ],
            },
            "anthropic",
            'web_search({"query": "x"})\nFound',
        ),
        ({"role": "user", "content": [{"type": "hologram", "url": "https://e.org/h"}]}, "openai", "[hologram: e.org]"),
    ],
)
def test_text_and_shape(message, shape, text):
    draft = one(message)
    assert (draft.shape, draft.text) == (shape, text)
    assert draft.body == message


def test_shapes_may_be_mixed_in_a_batch():
    batch = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
        {"role": "tool", "tool_call_id": "t", "content": "x"},
    ]
    assert [d.shape for d in parse_messages(batch, now=NOW)] == ["anthropic", "openai"]


def test_nul_and_lone_surrogates_are_kept_in_the_body_and_shown_as_replacement():
    draft = one({"role": "user", "content": "a\x00b\ud800c"})
    assert draft.body["content"] == "a\x00b\ud800c"
    assert draft.text == "a\ufffdb\ufffdc"
    assert body_from_json(body_json(draft.body)) == draft.body
    assert "\\u0000" in body_json(draft.body)


# ------------------------------------------------------------------------------------------ what is refused

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
DEEP: dict = {}
for _ in range(200):
    DEEP = {"d": DEEP}


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("hi", "str"),
        (None, "NoneType"),
        ({}, "role"),
        ({"content": "hi"}, "role"),
        ({"role": "narrator", "content": "hi"}, "narrator"),
        ({"role": ["user"], "content": "hi"}, "role"),
        ({"role": "user"}, "nothing in it"),
        ({"role": "user", "content": ""}, "nothing in it"),
        ({"role": "user", "content": " \n\t\u3000"}, "nothing in it"),
        ({"role": "user", "content": []}, "nothing in it"),
        ({"role": "user", "content": [{"type": "text", "text": " "}]}, "nothing in it"),
        ({"role": "user", "content": 3}, "int"),
        ({"role": "user", "content": {"type": "text"}}, "dict"),
        ({"role": "user", "content": ["hi"]}, "content[0]"),
        ({"role": "user", "content": [{"text": "hi"}]}, "content[0]"),
        ({"role": "user", "content": [{"type": "text"}]}, "`text`"),
        ({"role": "tool", "content": "42"}, "tool_call_id"),
        ({"role": "tool", "tool_call_id": " ", "content": "42"}, "tool_call_id"),
        ({"role": "tool", "tool_call_id": "c"}, "nothing in it"),
        ({"role": "function", "content": "42"}, "name"),
        ({"role": "assistant", "tool_calls": {"id": "c"}}, "tool_calls"),
        ({"role": "assistant", "tool_calls": ["c"]}, "tool_calls[0]"),
        ({"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]}, "`id`"),
        ({"role": "assistant", "tool_calls": [{"id": "c"}]}, "function"),
        ({"role": "assistant", "tool_calls": [{"id": "c", "function": {}}]}, "name"),
        (
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f"}], "tool_calls": [CALL]},
            "both",
        ),
        ({"role": "assistant", "content": [{"type": "tool_use", "name": "f"}]}, "`id`"),
        ({"role": "user", "content": [{"type": "tool_use", "id": "t", "name": "f"}]}, "only the assistant"),
        ({"role": "assistant", "content": [{"type": "tool_result", "tool_use_id": "t"}]}, "user messages"),
        ({"role": "user", "content": [{"type": "tool_result"}]}, "tool_use_id"),
        ({"role": "user", "content": "x", "n": float("nan")}, "nan"),
        ({"role": "user", "content": "x", "n": float("inf")}, "inf"),
        ({"role": "user", "content": "x", "n": 10**5000}, "bits"),
        ({"role": "user", "content": "x", "n": {1}}, "set"),
        ({"role": "user", "content": "x", "n": b"1"}, "bytes"),
        ({"role": "user", "content": "x", "n": {1: 2}}, "key"),
        ({"role": "user", "content": "x", "n": DEEP}, "levels"),
        ({"role": "user", "content": "\ud83d\ude00"}, "surrogate pair"),
        ({"role": "user", "content": "x", "metadata": []}, "metadata"),
        ({"role": "user", "content": "x", "metadata": {"at": NOW}}, "datetime"),
        ({"role": "user", "content": "x", "embed": "no"}, "embed"),
        ({"role": "user", "content": "x", "event_time": "yesterday"}, "yesterday"),
        ({"role": "user", "content": "x", "event_time": 1700000000}, "int"),
        ({"role": "user", "content": "x", "event_time": "0001-01-01T00:00:00+10:00"}, "years"),
        ({"role": "user", "content": "x", "event_time": NOW + timedelta(days=1, seconds=1)}, "after now"),
    ],
)
def test_bad_messages_are_refused_with_their_place_and_why(message, says):
    good = {"role": "user", "content": "fine"}
    with pytest.raises(InvalidMessage) as caught:
        parse_messages([good, message], now=NOW)
    assert caught.value.index == 1
    assert says in str(caught.value)
    assert "message 1" in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).index == 1  # noqa: S301


@pytest.mark.parametrize("raw", ["hi", b"hi", 3, None])
def test_what_is_no_list_is_refused(raw):
    with pytest.raises(InvalidMessage):
        parse_messages(raw, now=NOW)


def test_an_empty_message_can_be_told_from_a_malformed_one():
    for message, empty in (({"role": "user", "content": " "}, True), ({"role": "ghost", "content": "x"}, None)):
        with pytest.raises(InvalidMessage) as caught:
            one(message)
        assert caught.value.values.get("empty") is empty


def test_a_result_without_its_call_is_accepted():
    assert one({"role": "tool", "tool_call_id": "gone", "content": "42"}).text == "42"
    block = {"type": "tool_result", "tool_use_id": "gone", "content": ""}
    assert one({"role": "user", "content": [block]}).shape == "anthropic"


def test_a_time_without_a_zone_is_refused():
    for naive in (datetime(2025, 1, 1), "2025-01-01T00:00:00"):  # noqa: DTZ001
        with pytest.raises(NaiveTime) as caught:
            one({"role": "user", "content": "x", "event_time": naive})
        assert caught.value.index == 0


def test_times_are_read_with_their_zone_and_a_day_ahead_is_accepted():
    seoul = timezone(timedelta(hours=9))
    assert one({"role": "user", "content": "x", "event_time": datetime(2025, 1, 1, 9, tzinfo=seoul)}).event_time == (
        datetime(2025, 1, 1, tzinfo=UTC)
    )
    draft = one({"role": "user", "content": "x", "event_time": "2025-01-01T09:00:00.1234567+09:00"})
    assert draft.event_time == datetime(2025, 1, 1, 0, 0, 0, 123456, tzinfo=UTC)
    assert draft.event_time.tzinfo is UTC
    late = NOW + timedelta(days=1)
    assert one({"role": "user", "content": "x", "event_time": late}).event_time == late


def test_ids_must_differ_within_a_batch():
    twice = [{"role": "user", "content": "a", "id": "m1"}, {"role": "user", "content": "b", "id": "m1"}]
    with pytest.raises(InvalidMessage) as caught:
        parse_messages(twice, now=NOW)
    assert caught.value.index == 1
    assert one(twice[0]).caller_id == "m1"
    assert one(twice[0]).body["id"] == "m1"


def test_fifty_megabytes_are_refused_with_size_and_limit():
    with pytest.raises(TooLarge) as caught:
        one({"role": "user", "content": "x" * 50_000_000})
    assert caught.value.size > 50_000_000
    assert caught.value.limit == Limits().message_bytes
    assert caught.value.index == 0


def test_an_image_of_five_megabytes_passes_and_a_text_of_two_does_not():
    url = "data:image/png;base64," + "A" * 7_000_000
    assert one({"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}).text == "[image]"
    with pytest.raises(TooLarge) as caught:
        one({"role": "user", "content": "가" * 700_000})
    assert caught.value.size == 2_100_000
    assert caught.value.limit == Limits().text_bytes


def test_limits_are_inclusive_and_count_bytes():
    message = {"role": "user", "content": "é"}
    size = len(json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode())
    assert one(message, limits=Limits(message_bytes=size)).size == size
    with pytest.raises(TooLarge):
        one(message, limits=Limits(message_bytes=size - 1))
    with pytest.raises(TooLarge):
        one({**message, "metadata": {"k": "v"}}, limits=Limits(message_bytes=size))
    with pytest.raises(TooLarge):
        parse_messages([message] * 3, now=NOW, limits=Limits(batch_bytes=2 * size))


def test_ten_thousand_messages_pass_and_one_more_does_not():
    batch = [{"role": "user", "content": f"line {i}"} for i in range(10_001)]
    assert len(parse_messages(batch[:10_000], now=NOW)) == 10_000
    with pytest.raises(TooLarge) as caught:
        parse_messages(batch, now=NOW)
    assert caught.value.limit == 10_000


def test_every_refusal_is_invalid_input():
    assert issubclass(InvalidMessage, InvalidInput)
    assert issubclass(InvalidInput, ValueError)
