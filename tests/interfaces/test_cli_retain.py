"""Retention from the command line: it lists, and hides only when told to."""

from __future__ import annotations

from .conftest import CommandLine


def test_it_lists_then_hides_and_can_be_undone(run: CommandLine) -> None:
    told = [run("remember", f"note {n} of the {n} kites", "--json").json["memory"]["id"] for n in range(3)]
    fact = run("remember", "--attribute", "city", "--value", "Porto", "--json").json["memory"]["id"]
    listed = run("retain", "--most", "1", "--kind", "note", "--json")
    shown = [(one["id"], one["rule"]) for one in listed.json["retained"]]
    assert (listed.code, shown) == (0, [(told[0], "count"), (told[1], "count")])
    said = run("retain", "--most", "1")
    assert (said.code, said.out.count("\n")) == (0, 3)
    assert "2 memories would be hidden; nothing was changed" in said.out
    assert [one["id"] for one in run("list", "--json").json["items"]] == [*told, fact]
    hidden = run("retain", "--most", "1", "--hide", "--json")
    assert [one["id"] for one in hidden.json["retained"]] == told[:2]
    assert [one["id"] for one in run("list", "--json").json["items"]] == [told[2], fact]
    assert run("undo", hidden.json["retained"][0]["change_id"]).code == 0
    assert [one["id"] for one in run("list", "--json").json["items"]] == [told[0], told[2], fact]


def test_rules_that_cannot_be_meant(run: CommandLine) -> None:
    assert run("remember", "a note").code == 0
    for wrong in ([], ["--most", "-1"], ["--older-than", "0"], ["--older-than", "1e30"], ["--unused-for", "nan"]):
        assert run("retain", *wrong).code == 2, wrong
    for wrong in (["--kind", "summary", "--most", "1"], ["--most", "x"]):
        assert run("retain", *wrong).code == 2, wrong


def test_days_are_days(run: CommandLine) -> None:
    run("remember", "an old note", "--time", "2020-01-01T00:00:00Z")
    assert run("retain", "--older-than", "36500", "--json").json == {"retained": []}
    [old] = run("retain", "--older-than", "30.5", "--json").json["retained"]
    assert old["rule"] == "age"
    assert run("retain", "--unused-for", "30", "--json").json == {"retained": []}
