"""What a person is told where something cannot be done: what happened, what to do, and no word of the interface."""

from __future__ import annotations

import inspect
import re

import pytest

from memhold.faces.problems import Problem, problem_of
from memhold.faces.ui.refusals import SAID, in_words, problem_told
from memhold.values import errors
from memhold.values.errors import MemholdError
from tests.ui.person import Person, Seen, Served, of

KINDS = [one for _, one in inspect.getmembers(errors, inspect.isclass) if issubclass(one, MemholdError)]
OURS = re.compile(r"`|_|\b(call|calls|scope|id|ids|key|cascade|revision|(mem|chg|sus|msg)_\w+)\b")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_kind_has_words_that_a_person_knows(kind: type[MemholdError]) -> None:
    error = kind.__new__(kind)
    Exception.__init__(error, "what the verb says of it")
    told, plain = problem_told(error), problem_of(error)
    assert (told.status, told.type) == (plain.status, plain.type)
    assert told.title != plain.title
    assert not OURS.search(told.title)
    assert told.detail
    own = next(SAID[one] for one in kind.__mro__ if one in SAID)[1]
    assert own is None or not OURS.search(own)
    assert in_words(plain).title == told.title


def test_what_is_of_no_kind_stays_as_it_is() -> None:
    other = Problem(type="about:blank", title="It was refused.", status=400, detail="why")
    assert in_words(other) == other


async def test_what_was_decided_meanwhile_is_said_in_plain_words(server: Served, alice: Person) -> None:
    await of(server).remember(attribute="home city", value="Lisbon")
    server.clock.advance(86_400)
    await of(server, actor="agent:cursor").remember(attribute="home city", value="Paris")
    await alice.get("/ui/settle")
    [doubt] = await of(server).suspicions()
    where, fields = f"/ui/settle/{doubt.suspicion.id}", {"verdict": "different", "kind": "contradiction"}
    assert (await alice.post(where, **fields)).status_code == 200
    second = await alice.post(where, **fields)
    assert second.status_code == 409
    said = Seen(second.text).text
    assert "has changed since this page was made" in said
    assert "Load the page again" in said
    assert not OURS.search(said)
    change = (await of(server).changes()).items[-1].id
    assert (
        await alice.post("/ui/taken-back", change=change, group="suspicions", id=doubt.suspicion.id)
    ).status_code == 200
    again = await alice.post("/ui/taken-back", change=change, group="suspicions", id=doubt.suspicion.id)
    assert again.status_code == 409
    assert "taken back already" in Seen(again.text).text
    assert not OURS.search(Seen(again.text).text)
    sent = {"value": "Likes tea", "key": "once"}
    assert (await alice.post("/ui/remember", **sent)).status_code == 200
    other = await alice.post("/ui/remember", **{**sent, "value": "Likes coffee"})
    assert (other.status_code, "This form was sent before" in other.text) == (409, True)
