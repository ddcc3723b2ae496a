"""The classifier: the table of rows, and what it must never do with anything."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memhold.providers.failures.classify import classify, classify_rows, is_unload
from memhold.providers.failures.rules import RULES, read_rules

ROWS = [json.loads(line) for line in Path(__file__).with_name("errors.jsonl").read_text(encoding="utf-8").splitlines()]
POISONS = [row for row in ROWS if row["class"] == "poison" and row["body"]]
CLASSES = {"retry", "resample", "next", "park", "shorten", "poison", "auth"}


def judged(row, **changes):
    row = {**row, **changes}
    return classify(row["kind"], row["status"], row["headers"], row["body"], row.get("error"))


def test_each_row_gets_its_class_and_delay():
    """One test for all, which names each that is wrong: hundreds of tests cost more than what they look at."""
    wrong = []
    for row in ROWS:
        verdict = judged(row)
        if verdict.cls != row["class"] or ("delay" in row and verdict.delay != pytest.approx(row["delay"])):
            wrong.append((row["origin"], row["status"], str(row["body"])[-40:], verdict))
    assert wrong == []


def test_the_table_of_rows_is_wide():
    assert len(ROWS) >= 120
    assert {row["class"] for row in ROWS} == CLASSES
    assert len({row["origin"] for row in ROWS}) >= 25


def test_every_rule_has_its_own_name_and_is_reached_by_a_row():
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    reached = {judged(row).rule for row in ROWS}
    assert set(names) - reached <= {"invalid-request-inside", "not-a-number"}


# ------------------------------------------------------------------------------------------------ forms of one error


def forms(body: str):
    """The same error in every form in which gateways hand it on."""
    value = json.loads(body)
    yield json.dumps([value])
    yield json.dumps({"error": body})
    yield json.dumps({"error": {"message": body, "code": 429}})
    yield json.dumps({"error": {"message": "Provider returned error", "code": 429, "metadata": {"raw": body}}})
    yield json.dumps({"error": {"message": f"litellm.RateLimitError: XException - {body}", "code": "429"}})
    yield json.dumps({"detail": [{"msg": body}]})
    yield json.dumps(body)
    yield f"event: error\ndata: {json.dumps(value)}\n\n"
    yield json.dumps(json.dumps({"error": body}))


def named_by_a_header(row) -> bool:
    """A wrapper drops it."""
    return any("amzn" in key.lower() for key in row["headers"])


@pytest.mark.parametrize("status", [200, 400, 429, 500, 502, 503])
def test_a_poison_is_never_retried_however_it_is_wrapped(status):
    documents = [row for row in POISONS if row["body"].startswith(("{", "[")) and not named_by_a_header(row)]
    assert len(documents) >= 50
    assert [
        (row["origin"], body)
        for row in documents
        for body in forms(row["body"])
        if judged(row, status=status, body=body).cls in {"retry", "resample"}
    ] == []


@given(
    row=st.sampled_from(POISONS),
    cut=st.integers(0, 12),
    before=st.text(max_size=20),
    status=st.sampled_from([400, 422]),
)
@settings(max_examples=300, deadline=None)
def test_a_mutated_poison_is_never_retried(row, cut, before, status):
    body = before + row["body"][: len(row["body"]) - cut]
    assert judged(row, status=status, body=body).cls != "retry"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(["error", "message", "code", "type", "detail", "errors", "status", "choices", "retryDelay"])
        | st.text(max_size=8),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip
bodies = st.none() | st.text(max_size=200) | st.binary(max_size=200) | json_values | json_values.map(json.dumps)
statuses = st.none() | st.integers(-5, 1000) | st.text(max_size=4) | st.sampled_from([200, 400, 401, 429, 500, "429"])
headers = (
    st.none()
    | st.dictionaries(
        st.sampled_from(["Retry-After", "date", "x-ratelimit-reset", "Content-Type"]), st.text(max_size=30)
    )
    | st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)))
    | st.integers()
)


@given(kind=st.sampled_from(["chat", "embedding", ""]), status=statuses, headers=headers, body=bodies)
@settings(max_examples=250, deadline=None)
@example(kind="chat", status=200, headers=None, body="[" * 100_000)
@example(kind="chat", status=500, headers=None, body='{"error":' * 5_000)
@example(kind="chat", status=429, headers={"retry-after": "1e400"}, body="{}")
@example(kind="chat", status=429, headers={"retry-after": "nan", "date": "nonsense"}, body=None)
@example(kind="chat", status=429, headers={"retry-after": "Sun, 00 Jan 99999 00:00:00 GMT"}, body="")
def test_never_raises_and_always_answers(kind, status, headers, body):
    verdict = classify(kind, status, headers, body)
    assert verdict.cls in CLASSES
    assert verdict.delay is None or 0 <= verdict.delay < float("inf")


@given(row=st.sampled_from(ROWS), position=st.integers(0, 400), put=st.text(max_size=6), drop=st.integers(0, 6))
@settings(max_examples=250, deadline=None)
def test_never_raises_on_mutated_rows_and_a_400_is_not_retried(row, position, put, drop):
    body = row["body"] or ""
    mutated = body[:position] + put + body[position + drop :]
    verdict = judged(row, body=mutated)
    assert verdict.cls in CLASSES
    if row["status"] == 400:
        assert verdict.cls != "retry" or is_unload(mutated) or verdict.rule in {"crashed", "unloaded"}


class _Hostile:
    def __str__(self):
        raise RuntimeError("no words")

    @property
    def items(self):
        return 3


def test_hostile_values_do_not_raise():
    assert classify("chat", _Hostile, _Hostile(), _Hostile(), _Hostile()).cls in CLASSES  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------ rulings


@pytest.mark.parametrize(
    "said",
    [
        "Model was unloaded while the request was still in queue..",
        'Failed to load model "q". Error: Operation canceled.',
    ],
)
def test_an_unload_is_the_only_400_that_is_retried(said):
    for body in (json.dumps({"error": said}), json.dumps({"error": {"message": said}}), said, said.encode()):
        verdict = classify("embedding", 400, {}, body)
        assert (verdict.cls, verdict.rule) == ("retry", "unload")
    assert classify("embedding", 400, {}, json.dumps({"error": "Failed to load model"})).cls == "park"
    assert classify("chat", 400, {}, json.dumps({"error": "rate limit exceeded, try again later"})).cls != "retry"


@pytest.mark.parametrize(
    ("status", "slow"), [(504, True), (524, True), (522, True), (408, True), (500, False), (529, False)]
)
def test_time_outs_are_marked(status, slow):
    assert classify("chat", status, {}, "").slow is slow
    assert classify("chat", None, None, None, TimeoutError()).slow


def test_refusals_are_marked():
    assert classify("chat", 400, {}, '{"error": {"code": "content_filter"}}').refused
    assert not classify("chat", 400, {}, '{"error": {"code": "unsupported_parameter"}}').refused


def test_an_error_after_the_200_is_resampled_but_a_stream_of_another_class_keeps_it():
    def stream(error):
        return f'data: {{"choices":[]}}\n\ndata: {{"error": {json.dumps(error)}}}\n\n'

    kind = {"content-type": "text/event-stream"}
    assert classify("chat", 200, kind, stream({"code": 503})).cls == "resample"
    assert classify("chat", 200, kind, stream({"code": "insufficient_quota"})).cls == "park"
    assert classify("chat", 200, kind, stream({"code": "context_length_exceeded"})).cls == "shorten"


def test_what_a_model_wrote_is_not_read():
    for field in ("failed_generation", "content", "arguments", "input"):
        body = {"error": {"message": "oops", field: "invalid api key; prompt is too long; insufficient credits"}}
        assert classify("chat", 500, {}, json.dumps(body)).cls == "retry"


def test_no_word_of_the_provider_is_in_a_verdict():
    word = "Zanzibar-7731"
    body = json.dumps({"error": {"message": f"prompt is too long: {word}", "type": f"{word} is odd", "code": None}})
    verdict = classify("chat", 400, {}, body)
    assert verdict.cls == "shorten"
    assert word not in repr(verdict)


# ------------------------------------------------------------------------------------------------ delays


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"Retry-After": "7"}, "", 7),
        ({"retry-after": "0.5"}, "", 0.5),
        ({"retry-after-ms": "352", "retry-after": "1"}, "", 0.352),
        ({"x-ms-retry-after-ms": "1500"}, "", 1.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, "", 30),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT", "date": "Wed, 21 Oct 2015 07:29:00 GMT"}, "", 0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, "", None),
        ({}, "Please try again in 7.66s.", 7.66),
        ({}, "Please try again in 1m30s", 90),
        ({}, "try again in 1h2m3.5s", 3723.5),
        ({}, "Please retry after 6 seconds.", 6),
        ({}, "try again in 250ms", 0.25),
        ({}, "Please wait 2 minutes and 10 seconds", 130),
        ({}, '{"error": {"details": [{"retryDelay": "28s"}]}}', 28),
        ({}, '{"estimated_time": 20.0, "error": "loading"}', 20),
        ({"retry-after": "3"}, "try again in 9s", 3),
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s"}, "", 1),
        (
            {
                "x-ratelimit-reset-tokens": "6m0s",
                "x-ratelimit-remaining-tokens": "0",
                "x-ratelimit-reset-requests": "1s",
            },
            "",
            360,
        ),
        ({"x-ratelimit-reset": "1445412510000", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, "", 30),
        ({"x-ratelimit-reset": "1445412510", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, "", 30),
        (
            {"anthropic-ratelimit-tokens-reset": "2015-10-21T07:28:20Z", "date": "Wed, 21 Oct 2015 07:28:00 GMT"},
            "",
            20,
        ),
        ({"retry-after": "soon"}, "", None),
        ({}, "try again later", None),
    ],
)
def test_the_delay_that_the_provider_asked_for(headers, body, seconds):
    delay = classify("chat", 429, headers, body).delay
    assert delay == (None if seconds is None else pytest.approx(seconds))


# ------------------------------------------------------------------------------------------------ rows in, rows out


def test_rows_keep_what_they_had_and_gain_what_was_found():
    lines = [
        '{"status": 429, "headers": {"retry-after": "2"}, "body": "", "x": 1}',
        "",
        "not json",
        '{"error": "ReadTimeout"}',
    ]
    first, broken, transport = classify_rows(lines)
    assert first == {**json.loads(lines[0]), "got": "retry", "delay": 2.0, "code": None, "rule": "status"}
    assert broken == {"line": 3, "got": None, "problem": "not a JSON object"}
    assert (transport["got"], transport["rule"]) == ("retry", "timeout")


@pytest.mark.parametrize("part", ["<script ", "<style>", "<", "{", "<!--", "data: {\n\n", "retry 1 s ", "tool_choice "])
def test_a_body_of_one_thing_over_and_over_is_read_once(part):
    body = "<html>" + part * (600_000 // len(part))
    begun = time.process_time()
    classify("chat", 502, {"content-type": "text/html"}, body)
    assert time.process_time() - begun < 30


def test_scripts_and_styles_of_a_page_are_no_words_of_it():
    page = "<html><script>var code = 429; // invalid api key</script><h1>502 Bad Gateway</h1><style>x{}</style></html>"
    assert classify("chat", 502, {}, page).cls == "retry"


# ------------------------------------------------------------------------------------------------ the table is data

RULE = """
spoken_for = [401]
[[rule]]
name = "busy"
class = "retry"
why = "it is busy"
codes = "busy verybusy"
words = ['too busy', ['so ', 'busy']]
not_statuses = ["spoken_for", 404]
slow = true
"""


def test_a_rule_is_read_as_it_is_written():
    (rule,) = read_rules(RULE)
    assert (rule.name, rule.cls, rule.why, rule.slow, rule.refused) == ("busy", "retry", "it is busy", True, False)
    assert rule.codes == {"busy", "verybusy"}
    assert rule.words.pattern == "too busy|so busy"
    assert (rule.statuses, rule.not_statuses, rule.kind) == (None, {401, 404}, None)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('class = "retry"', 'class = "retries"', "no such class"),
        ("slow = true", 'kind = "video"', "no such class or kind"),
        ("slow = true", "slow = 1", "'slow' is unknown or not a bool"),
        ("slow = true", "slwo = true", "'slwo' is unknown"),
        ('why = "it is busy"', "", "why must be given"),
        ('codes = "busy verybusy"', 'codes = "VeryBusy"', "VeryBusy"),
        ("'too busy'", "'too (busy'", "a pattern cannot be read"),
        ("'too busy'", "7", "words are patterns"),
        ("'too busy'", "''", "none of them empty"),
        ("404]", '"later"]', "not statuses of HTTP"),
        ("404]", "4040]", "not statuses of HTTP"),
        ("spoken_for = [401]", "spokenfor = [401]", "spokenfor"),
    ],
)
def test_a_rule_that_cannot_be_used_is_refused_by_name(before, after, said):
    assert before in RULE
    with pytest.raises(ValueError, match=r".") as refused:
        read_rules(RULE.replace(before, after))
    assert said in str(refused.value)
    assert "busy" in str(refused.value) or "spoken" in str(refused.value)


def test_a_rule_that_looks_for_nothing_or_stands_twice_is_refused():
    with pytest.raises(ValueError, match="looks for nothing"):
        read_rules('[[rule]]\nname = "a"\nclass = "retry"\nwhy = "b"')
    with pytest.raises(ValueError, match="twice"):
        read_rules(RULE + RULE.partition("[401]")[2])


@pytest.mark.parametrize(
    "key",
    [
        "gsk_Zz9yZz9yZz9yZz9yZz9yZz9yZz9yZz9yZz9yZz9y",
        "sk-0c251bec1d1bfadde07682d7d40a1b2c",
        "Sh80UQ24HYyQgUuKIgZLTaEjpXycHfKg",
        "sk-ZGrBOUTp7tBqHtJvaYALT3BlbkFJubyNLOidO4d3",
        "sk-or-v1-0c251bec1d1bfadde07682d7d40a1b2c",
    ],
)
def test_a_key_in_the_place_of_a_code_is_none(key: str) -> None:
    found = classify("chat", 400, {}, {"error": {"message": "no", "code": key, "type": "invalid_request_error"}})
    assert found.code == "invalid_request_error"


@pytest.mark.parametrize(
    "code", ["1302", "AADSTS50034", "model_not_found", "InvalidParameterValue", "E0001", "http_429"]
)
def test_a_code_of_words_and_numbers_is_one(code: str) -> None:
    assert classify("chat", 400, {}, {"error": {"message": "no", "code": code}}).code == code


def test_a_code_that_a_message_quotes_is_told_only_where_it_is_one_of_errors() -> None:
    """Some servers quote the request in their message, and what a user wrote may look like a code."""
    quoted = {
        "error": {"message": 'cannot handle: my locker {"code": "Rosebud77", "pin": 4711}', "type": "server_error"}
    }
    assert classify("chat", 500, {}, quoted).code == "server_error"
    numbered = {"error": {"message": 'cannot handle: {"code": 4711}'}}
    assert classify("chat", 500, {}, numbered).code is None
    wrapped = {"error": {"message": 'upstream: {"error": {"code": "model_not_found"}}', "code": 502}}
    assert classify("chat", 502, {}, wrapped).code == "model_not_found"
