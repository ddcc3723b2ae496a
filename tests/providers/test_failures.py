"""Every SDK's exceptions become our plain error, with class, status, code and cause, and survive a job row.

The SDKs are no dependencies: each test is skipped where its SDK is not installed. Shapes of them are always tested.
"""

from __future__ import annotations

import inspect
import pickle
import threading
import warnings

import cloudpickle
import pytest

from memhold.errors import ModelError
from memhold.providers.failures.errors import plain_error

CLASSES = {"retry", "resample", "next", "park", "shorten", "poison", "auth"}
BODY = {
    "error": {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": "insufficient_quota"}
}


def survives(error):
    assert type(error) is ModelError
    for copy in (pickle.loads(pickle.dumps(error)), cloudpickle.loads(cloudpickle.dumps(error))):  # noqa: S301
        assert (str(copy), copy.values) == (str(error), error.values)
    return error


def sdk(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name)


def a_response(status=429, body=BODY, headers=None):
    httpx = sdk("httpx")
    request = httpx.Request("POST", "https://api.example.com/v1")
    return httpx.Response(status, json=body, headers=headers or {}, request=request)


# ------------------------------------------------------------------------------------------------ shapes


class LikeOpenAI(Exception):
    def __init__(self, message, *, response, body):
        super().__init__(message)
        self.response, self.body, self.status_code = response, body, response.status_code
        self.lock = threading.RLock()


class Response:
    def __init__(self, status, headers, text):
        self.status_code, self.headers, self.text = status, headers, text


class LikeBoto(Exception):
    def __init__(self):
        super().__init__("An error occurred (ThrottlingException)")
        self.response = {
            "Error": {"Code": "ThrottlingException", "Message": "Too many tokens, please wait before trying again."},
            "ResponseMetadata": {"HTTPStatusCode": 429, "HTTPHeaders": {"retry-after": "4"}},
        }


class LikeGoogle(Exception):
    code = 400
    status = "INVALID_ARGUMENT"
    details = {"error": {"message": "API key not valid.", "details": [{"reason": "API_KEY_INVALID"}]}}  # noqa: RUF012


class LikeOllama(Exception):
    status_code = 404
    error = "model 'x' not found"


class Nasty(Exception):
    @property
    def status_code(self):
        raise RuntimeError("never")

    @property
    def response(self):
        raise RuntimeError("never")

    def __str__(self):
        raise RuntimeError("never")


def wrapped(inner):
    error = RuntimeError("the framework's own")
    error.__cause__ = inner
    return error


@pytest.mark.parametrize(
    ("error", "cls", "status", "delay"),
    [
        (LikeOpenAI("x", response=Response(429, {"retry-after": "9"}, ""), body=BODY["error"]), "park", 429, 9.0),
        (LikeBoto(), "retry", 429, 4.0),
        (LikeGoogle(), "auth", 400, None),
        (LikeOllama(), "park", 404, None),
        (wrapped(LikeOllama()), "park", 404, None),
        (TimeoutError(), "retry", None, None),
        (ConnectionResetError(104, "Connection reset by peer"), "retry", None, None),
        (Nasty(), "retry", None, None),
        (ValueError("secret words of a user"), "retry", None, None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_the_shapes_of_sdk_exceptions(error, cls, status, delay):
    plain = survives(plain_error(error, model="link"))
    assert (plain.cls, plain.status, plain.retry_after, plain.model) == (cls, status, delay, "link")
    assert type(error).__name__ in plain.cause
    assert "secret" not in str(plain) + repr(plain.values)


def test_our_own_error_stays_itself():
    error = ModelError("x", model="a", cls="park")
    assert plain_error(error, model="b") is error


# ------------------------------------------------------------------------------------------------ SDKs


@pytest.mark.parametrize("name", ["openai", "anthropic", "groq"])
def test_every_status_error_of_the_generated_sdks(name):
    module = sdk(name)
    seen = 0
    for kind in list(vars(module).values()):
        if not (inspect.isclass(kind) and issubclass(kind, module.APIStatusError)):
            continue
        status = getattr(kind, "status_code", None)
        status = status if isinstance(status, int) else 500
        try:
            error = kind("said", response=a_response(status), body=BODY["error"])
        except TypeError:
            continue  # made of other arguments, and of no chat request
        plain = survives(plain_error(error, model="link"))
        assert (plain.status, plain.code) == (status, "insufficient_quota")
        seen += 1
    assert seen >= 8
    request = a_response().request
    late = survives(plain_error(module.APITimeoutError(request=request), model="link"))
    assert (late.cls, late.slow) == ("retry", True)
    assert survives(plain_error(module.APIConnectionError(request=request), model="link")).cls == "retry"


def test_botocore():
    exceptions = sdk("botocore.exceptions")
    response = {"Error": {"Code": "ValidationException", "Message": "Input is too long for requested model."}}
    response["ResponseMetadata"] = {"HTTPStatusCode": 400, "HTTPHeaders": {}}
    assert survives(plain_error(exceptions.ClientError(response, "Converse"), model="link")).cls == "shorten"
    late = exceptions.ReadTimeoutError(endpoint_url="https://x")
    assert survives(plain_error(late, model="link")).slow


def test_google_genai():
    errors = sdk("google.genai.errors")
    body = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}
    assert survives(plain_error(errors.ServerError(503, body), model="link")).cls == "retry"


def test_ollama():
    module = sdk("ollama")
    assert survives(plain_error(module.ResponseError("model 'x' not found", 404), model="link")).cls == "park"


def test_cohere():
    errors = sdk("cohere.errors")
    for kind in (errors.TooManyRequestsError, errors.UnauthorizedError, errors.InternalServerError):
        assert survives(plain_error(kind(body={"message": "x"}), model="link")).status in {401, 429, 500}


def test_huggingface_hub():
    errors = sdk("huggingface_hub.errors")
    response = a_response(402, {"error": "You have exceeded your monthly included credits"})
    assert survives(plain_error(errors.HfHubHTTPError("said", response=response), model="link")).cls == "park"


def test_every_exception_class_of_litellm():
    module = sdk("litellm.exceptions")
    offered = {
        "message": "AnthropicException - said", "model": "m", "llm_provider": "anthropic", "status_code": 500,
        "request": None, "original_exception": ValueError("x"), "current_cost": 2.0, "max_budget": 1.0,
        "guardrail_name": "g",
    }  # fmt: skip
    expected = {
        "AuthenticationError": "auth", "RateLimitError": "retry", "ContextWindowExceededError": "shorten",
        "ContentPolicyViolationError": "next", "BadRequestError": "poison", "NotFoundError": "park", "Timeout": "retry",
        "ServiceUnavailableError": "retry", "InternalServerError": "retry", "UnsupportedParamsError": "next",
        "BudgetExceededError": "park", "PermissionDeniedError": "auth",
    }  # fmt: skip
    seen = {}
    for name, kind in list(vars(module).items()):
        if not (inspect.isclass(kind) and issubclass(kind, Exception)) or name.startswith("Mock"):
            continue
        wanted = inspect.signature(kind.__init__).parameters
        values = {key: value for key, value in offered.items() if key in wanted}
        if "response" in wanted:
            values["response"] = a_response(400, {"error": {"message": "said"}})
        try:
            error = kind(**values)
        except TypeError:
            continue
        plain = survives(plain_error(error, model="link"))
        assert plain.cls in CLASSES
        assert name in plain.cause or "litellm" in plain.cause
        seen[name] = plain.cls
    assert len(seen) >= 15
    assert {name: seen[name] for name in expected if name in seen} == {n: c for n, c in expected.items() if n in seen}
