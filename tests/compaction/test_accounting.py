"""The check of a merge on its own: what would be lost, by what a careless judge wrote."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from holdfast.pipeline.compact.check import Accounted, Source, account
from holdfast.pipeline.compact.contract import Dropped
from holdfast.pipeline.compact.details import details, holds

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def checked(texts: list[str], text: str, *dropped: tuple[str, int]) -> Accounted | str:
    sources = [Source(text=one, at=_BEGIN + timedelta(days=n)) for n, one in enumerate(texts)]
    return account(sources, text, [Dropped(what=what, why="", newer=newer) for what, newer in dropped])


@pytest.mark.parametrize(
    ("texts", "text"),
    [
        (["Store it at -5 degrees", "Store it at degrees"], "Store it at 5 degrees"),
        (["Takes 5 mg daily", "Takes it daily"], "Takes 5 g daily"),
        (["Meet at 9 am", "Meet at 9 daily"], "Meet at 9 pm daily"),
        (["Call +49 30 1234567 for Anna", "Call for Anna"], "Call 49 30 1234567 for Anna"),
        (["Uses v1.2.3", "Uses v1.2.3-rc1"], "Uses v1.2.3-rc1"),
        (["the flat has three rooms", "the flat has rooms"], "the flat has rooms"),
        (["Kubernetes runs it", "it runs somewhere"], "it runs somewhere"),
        (["commit deadbeef broke it", "a commit broke it"], "a commit broke it"),
        (["it runs on web-prod-eu", "it runs on the web"], "it runs on the web"),
        (["between 5 and 10 users", "up to 15-20 users"], "between 5 and 10 users up to 15-21"),
    ],
)
def test_what_would_be_lost_is_seen(texts: list[str], text: str) -> None:
    assert isinstance(checked(texts, text), str)


def test_one_new_value_pays_for_one_old_value() -> None:
    both = ["The port is 8080 and the host is db7", "The port is 9090"]
    assert isinstance(checked(both, "The port is 9090", ("8080", 2), ("db7", 2)), str)
    assert checked(both, "The port is 9090 and the host is db7", ("8080", 2)) == Accounted(lost=("8080",))
    moved = ["The port is 8080, the host is db7", "The port is 9090, the host is db9"]
    found = checked(moved, "The port is 9090, the host is db9", ("8080", 2), ("db7", 2))
    assert found == Accounted(lost=("8080", "db7"))
    thrice = ["The port is 8080", "The port is 8081", "The port is 9090"]
    assert checked(thrice, "The port is 9090", ("8080", 3), ("8081", 3)) == Accounted(lost=("8080", "8081"))
    said_twice = ["The port is 8080", "The port is 8080 there", "The port is 9090 there"]
    assert checked(said_twice, "The port is 9090 there", ("8080", 3)) == Accounted(lost=("8080",))


@pytest.mark.parametrize(
    ("texts", "text"),
    [
        (["The server has 5 disks", "The server has 5 disks of 2 TB"], "The server has 5 disks of 2 TB"),
        (["Stays up-to-date by mail", "By mail she stays informed"], "She stays informed by mail, up to date"),
        (["It was 12:30 on 2026-03-04", "on 2026-03-04 it rained"], "It was 12:30 on 2026-03-04 and it rained"),
        (["Reads in room 9, and often", "Reads often in room 9"], "Reads often in room 9"),
    ],
)
def test_what_says_all_is_let_through(texts: list[str], text: str) -> None:
    assert isinstance(checked(texts, text), Accounted), checked(texts, text)


@pytest.mark.parametrize(
    "text", ["at -5 and +7 degrees", "5-10 of 8080-based, v1.2.3-rc1", "9 am, 5 mg, 2.5 kg", "C++11 and #42 and 50%"]
)
def test_a_text_holds_its_own_details(text: str) -> None:
    assert all(holds(text, detail) for detail in details(text)), details(text)
