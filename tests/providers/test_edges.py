"""Nothing that a link answers escapes the table of failures: numbers are clamped, and any exception asks the next."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from memhold.ports.models import Accepted, ChatReply, Usage
from memhold.providers.failures.classify import classify
from memhold.providers.failures.delays import MOST_DELAY
from memhold.testing.clock import FakeClock
from memhold.values.errors import ModelError
from tests.providers.chain_fakes import Scripted, a_chain, a_request, run

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Stumbling:
    """A model of the caller's own that raises whatever it was given."""

    name = "stumbling"

    def __init__(self, error: BaseException) -> None:
        self.error = error

    async def chat(self, _: object) -> ChatReply:
        raise self.error


async def asked(first: object, check: Callable[[ChatReply], str]) -> Accepted[str]:
    clock = FakeClock()
    found = await run(clock, a_chain(clock, first, Scripted("second")).ask(a_request(), check))
    assert isinstance(found, Accepted)
    return found


@pytest.mark.parametrize("error", [RecursionError(), OverflowError("x"), KeyError("x"), TypeError(), OSError("gone")])
async def test_any_exception_of_a_link_asks_the_next(error: Exception) -> None:
    found = await asked(Stumbling(error), lambda reply: reply.text)
    assert [one.model for one in found.attempts][-1] == "second"
    assert found.attempts[0].cls is not None


@pytest.mark.parametrize(
    "given",
    [None, "Noted.", {"text": "x"}, ChatReply(model="own", text="x", usage=None)],  # type: ignore[arg-type]
)
async def test_what_is_no_reply_asks_the_next(given: object) -> None:
    class Own:
        name = "own"

        async def chat(self, _: object) -> object:
            return given

    found = await asked(Own(), lambda reply: reply.text)
    assert [(one.model, one.code) for one in found.attempts] == [("own", "unreadable"), ("second", None)]


async def test_a_check_that_stumbles_over_a_reply_asks_the_next() -> None:
    def check(reply: ChatReply) -> str:
        if reply.model == "first":
            raise RecursionError
        return reply.text

    found = await asked(Scripted("first"), check)
    assert [(one.model, one.cls) for one in found.attempts] == [("first", "resample"), ("second", None)]


@pytest.mark.parametrize("delay", [1e308, float("inf"), float("nan"), -5.0])
async def test_a_delay_of_a_foreign_error_is_bounded(delay: float) -> None:
    error = ModelError("busy", model="stumbling", cls="retry", retry_after=delay)
    found = await asked(Stumbling(error), lambda reply: reply.text)
    assert (found.attempts[0].retry_after or 0.0) <= MOST_DELAY


@pytest.mark.parametrize(
    "value", ["1e308", "9" * 400, "inf", "nan", "-5", "100000000000", "Fri, 31 Dec 9999 23:59:59 GMT"]
)
@pytest.mark.parametrize("name", ["retry-after", "retry-after-ms", "x-ratelimit-reset-requests"])
def test_what_a_provider_asks_to_wait_is_bounded(name: str, value: str) -> None:
    verdict = classify("chat", 429, {name: value}, '{"error": {"message": "rate limit"}}', now=NOW)
    assert verdict.delay is None or 0.0 <= verdict.delay <= MOST_DELAY


@pytest.mark.parametrize("count", [10**30, -1, 1.5, "many", True, float("inf"), [1]])
def test_counts_that_are_none_are_not_known(count: object) -> None:
    assert Usage(input_tokens=count, output_tokens=7) == Usage(output_tokens=7)  # type: ignore[arg-type]


@pytest.mark.parametrize("status", [400, 500, 503, 200])
def test_a_local_model_that_crashed_is_passing_trouble(status: int) -> None:
    body = '{"error": "The model has crashed without additional information. (Exit code: 6)"}'
    assert classify("chat", status, None, body).cls == "retry"


def test_a_schema_that_one_provider_refuses_is_for_the_next_and_no_fault_of_the_window() -> None:
    for body in (
        '{"error": {"message": "Invalid schema for function \'save_memory\'", "code": "invalid_function_parameters"}}',
        '{"type": "error", "error": {"type": "invalid_request_error", "message": "tools.0.custom.input_schema: no"}}',
    ):
        assert classify("chat", 400, None, body).cls == "next"


@pytest.mark.parametrize("status", [400, 404, 429, 500, 503])
def test_the_words_of_an_unload_are_retried_under_every_status(status: int) -> None:
    body = '{"error": "Model was unloaded while the request was still in queue.."}'
    assert classify("embedding", status, None, body).cls == "retry"
