"""Notes of one text and other metadata are notes of their own, and nothing of either is lost."""

from __future__ import annotations

import pytest

from memhold import Memhold


@pytest.fixture
def scope():
    with Memhold.open("memory://", worker=False, embedding="none") as mem:
        yield mem.scope(user="alice")


def found(scope, **metadata) -> list[str]:
    return [hit.id for hit in scope.recall("", metadata=metadata).hits]


def test_one_text_under_two_keys_is_two_notes(scope) -> None:
    first = scope.remember('{"x": 1}', metadata={"ns": "a/b", "key": "k1"}).memory
    second = scope.remember('{"x": 1}', metadata={"ns": "a/c", "key": "k2"}).memory
    assert first.id != second.id
    assert (found(scope, key="k1"), found(scope, key="k2")) == ([first.id], [second.id])
    assert scope.remember('{"x": 1}', metadata={"key": "k1", "ns": "a/b"}).memory.id == first.id, "the order of keys"
    assert scope.remember('{"x": 1}').memory.id not in {first.id, second.id}
    assert len(scope.list(kinds=["note"]).items) == 3


def test_compaction_keeps_both_metadata_and_never_joins_what_differs(scope) -> None:
    for metadata in ({"a": 1}, {"b": 2}, {"a": 3}):
        scope.remember("buys oat milk", metadata=metadata)
    while scope.compact().more:
        pass
    left = [{k: v for k, v in memory.metadata.items() if k in "ab"} for memory in scope.list(kinds=["note"]).items]
    assert sorted(left, key=str) == [{"a": 1, "b": 2}, {"a": 3}]


def test_what_was_forgotten_under_a_key_stays_forgotten(scope) -> None:
    first = scope.remember("buys oat milk", metadata={"key": "k1"}).memory
    second = scope.remember("buys oat milk", metadata={"key": "k2"}).memory
    scope.forget(first.id)
    assert [memory.id for memory in scope.list(kinds=["note"]).items] == [second.id]
    assert found(scope, key="k1") == []


def test_an_export_brings_both_back(scope, tmp_path) -> None:
    for key in ("k1", "k2"):
        scope.remember("buys oat milk", metadata={"key": key})
    path = tmp_path / "all.jsonl"
    scope.export(path)
    with Memhold.open("memory://", worker=False, embedding="none") as mem:
        other = mem.scope(user="alice")
        other.import_file(path)
        assert sorted(memory.metadata["key"] for memory in other.list(kinds=["note"]).items) == ["k1", "k2"]
