"""What a process keeps of scopes stays within its bytes, whoever is asked and whatever it is of."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memhold import AsyncMemhold
from memhold.index.kept_scopes import ENTRY_BYTES, Kept, KeptScopes
from memhold.index.vector_cache import VectorCache
from memhold.ports.vector_blocks import Generation, VectorBlock, held_mark
from memhold.values.records import Scope

KINDS = 3
NOW = datetime(2026, 11, 26, tzinfo=UTC)
STEPS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, KINDS - 1), st.none() | st.integers(0, 5 * ENTRY_BYTES)), max_size=60
)


@given(st.integers(1, 12 * ENTRY_BYTES), STEPS)
def test_what_was_asked_longest_ago_goes_and_no_more_than_that(most: int, steps: list[Any]) -> None:
    kept = KeptScopes(most)
    kinds = [Kept[int](kept, lambda size: size) for _ in range(KINDS)]
    plain: dict[int, dict[int, int]] = {}
    for user, kind, size in steps:
        scope = Scope(user=f"u{user}")
        if size is None:
            assert kinds[kind].get(scope) == plain.get(user, {}).get(kind)
            if user in plain:
                plain[user] = plain.pop(user)
            continue
        kinds[kind].put(scope, size)
        plain[user] = {**plain.pop(user, {}), kind: size}
        while sum(map(bytes_of, plain.values())) > most and len(plain) > 1:
            del plain[next(iter(plain))]
        assert kept.nbytes == sum(map(bytes_of, plain.values()))
        assert len(kept) == len(plain)


def bytes_of(held: dict[int, int]) -> int:
    return sum(size + ENTRY_BYTES for size in held.values())


def test_scopes_of_other_namespaces_are_others() -> None:
    kept: Kept[int] = Kept(KeptScopes(), lambda _: 0)
    kept.put(Scope(namespace="a", user="x"), 1)
    assert kept.get(Scope(namespace="b", user="x")) is kept.get(Scope(namespace="a")) is None
    # An agent and a session are parts of one scope, whose index is one.
    assert kept.get(Scope(namespace="a", user="x", agent="other", session="s")) == 1


async def test_users_in_turn_take_no_more_than_the_setting_and_answers_are_the_same() -> None:
    """Of users with something and users with nothing; what is kept of nothing takes room too."""
    said = [f"My {thing} is in Lisbon, since {year}." for year in range(2000, 2020) for thing in ("car", "sister")]
    users = [f"user {number}" for number in range(20)]
    answers = {}
    for megabytes in (1, 256):
        async with AsyncMemhold.open("memory://", worker=False, cache_mb=megabytes) as mem:
            for user in users:
                scope = mem.scope(user=user, session="s")
                await scope.add([{"role": "user", "content": f"{user}: {text}"} for text in said])
            await mem.settle()
            found, most, kept = [], 0, 0
            for user in (*users, *(f"nobody {number}" for number in range(60)), *users):
                answer = await mem.scope(user=user).recall("Where is the car?")
                found.append([hit.text for hit in answer.hits])
                kept = (await mem.admin.ready()).cached_bytes
                most = max(most, kept)
            answers[megabytes] = found
        assert ENTRY_BYTES < most <= megabytes * 1024 * 1024
        if megabytes == 1:
            assert kept > most / 2  # it is used
    assert answers[1] == answers[256]
    assert all(answers[1][: len(users)])


class _Vectors:
    """A transaction in a scope that has one vector of each generation."""

    scope = Scope(user="alice")

    def vector_rev(self) -> int:
        return 1

    def vector_marks(self, generation: int) -> list[VectorBlock]:
        del generation
        return [VectorBlock(first=0, rev=1, marks=bytes([held_mark(1)]))]

    def vector_blocks(self, generation: int, firsts: list[int]) -> list[VectorBlock]:
        del firsts
        vector = np.zeros(4, dtype="<f4")
        vector[generation] = 1
        return [VectorBlock(first=0, rev=1, marks=bytes([held_mark(1)]), vectors=vector.tobytes())]


def test_vectors_of_one_generation_are_kept_and_never_taken_for_those_of_another() -> None:
    scopes, tx = KeptScopes(), _Vectors()
    cache, sizes = VectorCache(scopes), set()
    for number in (1, 2, 1):
        generation = Generation(number=number, fingerprint=f"f{number}", dimension=4, state="current", made_at=NOW)
        held = cache.vectors(tx, generation)  # type: ignore[arg-type]
        assert cache.vectors(tx, generation) is held  # type: ignore[arg-type]
        found = held.vector(0)
        assert found is not None
        assert int(found.argmax()) == number
        sizes.add(scopes.nbytes)
    assert len(sizes) == 1
