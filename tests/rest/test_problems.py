"""Every error crosses: as a problem of its own type, and back as the same class with the same attributes."""

from __future__ import annotations

import inspect
import json
from datetime import UTC, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from memhold import errors
from memhold.errors import Attempt, InvalidInput, MemholdError, ModelError
from memhold.faces import problems
from memhold.faces.problems import problem_of
from memhold.faces.remote import wire
from memhold.faces.remote.wire import error_of, zone_name, zone_of

CLASSES = sorted(
    (one for _, one in inspect.getmembers(errors, inspect.isclass) if issubclass(one, MemholdError)),
    key=lambda one: one.__name__,
)
VALUES = {
    "size": 9,
    "id": "mem_1",
    "key": "ключ",
    "blocking": ("chg_1", "chg_2"),
    "line": None,
    "expected": 1,
    "retry_after": 2.5,
}


@pytest.mark.parametrize("error", CLASSES, ids=lambda one: one.__name__)
def test_each_class_crosses(error: type[MemholdError]) -> None:
    made = error("what to do: ünïcode", **VALUES)
    problem = problem_of(made)
    assert problem.type == f"urn:memhold:problem:{error.__name__}"
    assert 400 <= problem.status < 600
    assert problem.title
    assert problem.headers["content-type"] == "application/problem+json"
    back = error_of(json.loads(problem.body()), problem.status)
    assert type(back) is error
    assert back.values == VALUES
    if problem.status < 500 or issubclass(error, ModelError):
        assert str(back) == str(made)


def test_the_statuses_are_those_that_http_has_for_it() -> None:
    wanted = {
        "InvalidInput": 422, "NaiveTime": 422, "TooLarge": 413, "NotFound": 404, "IdempotencyConflict": 409, "RevisionConflict": 412,
        "UndoConflict": 409, "Forgotten": 410, "Unauthenticated": 401, "ScopeDenied": 403, "RateLimited": 429, "StoreBusy": 503,
        "StoreFull": 507, "StoreCorrupt": 503, "ChainFailed": 502, "WrongLoop": 500,
    }  # fmt: skip
    found = {one.__name__: problem_of(one("x")).status for one in CLASSES}
    assert {name: found[name] for name in wanted} == wanted


def test_attempts_of_models_come_back_as_values() -> None:
    attempt = Attempt(model="m", cls="retry", status=503, seconds=1.5)
    made = ModelError("no answer", model="m", cls="retry", attempts=(attempt,))
    back = error_of(json.loads(problem_of(made).body()), 502)
    assert back.values == made.values


def test_what_failed_inside_names_no_file() -> None:
    made = errors.StoreReadOnly("/srv/secret/memory.db cannot be written", path="/srv/secret/memory.db")
    assert b"secret" not in problem_of(made).body()


def test_a_newer_server_may_have_classes_that_this_client_has_not() -> None:
    body = {
        "type": "urn:memhold:problem:Attempt",
        "title": "t",
        "status": 418,
        "detail": "do this",
        "values": {"a": [1]},
    }
    found = error_of(body, 418)
    assert type(found) is MemholdError
    assert (str(found), found.values) == ("do this", {"a": (1,)})
    assert type(error_of({**body, "type": "urn:memhold:problem:New"}, 503)) is errors.StoreError
    assert error_of({"type": "about:blank"}, 404) is None
    assert error_of(["no problem"], 404) is None


def test_both_sides_write_the_same_prefix() -> None:
    assert problems.PREFIX == wire.PREFIX


@pytest.mark.parametrize(
    "zone", [UTC, ZoneInfo("Europe/Lisbon"), timezone(timedelta(hours=9)), timezone(-timedelta(hours=3, minutes=30))]
)
def test_zones_cross(zone: object) -> None:
    from datetime import datetime

    summer = datetime(2026, 7, 1, 12, 0)  # noqa: DTZ001 - the zone is put on
    assert summer.replace(tzinfo=zone_of(zone_name(zone))).utcoffset() == summer.replace(tzinfo=zone).utcoffset()


@pytest.mark.parametrize("text", ["Mars/Base", "", "../../etc/passwd", "+25:00", "/etc/localtime"])
def test_what_is_no_zone_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        zone_of(text)
