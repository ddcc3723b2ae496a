"""A fact that was told anew very often: what followed each value, found by looking at each once."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from memhold.facts.outdated import _after
from memhold.values.records import Memory, State

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


def _fact(name: str, by: str | None, state: State) -> Memory:
    return Memory(
        id=name,
        number=0,
        kind="fact",
        text=name,
        value=name,
        state=state,
        superseded_by=by,
        event_time=EPOCH,
        valid_from=EPOCH,
        created_at=EPOCH,
        recorded_at=EPOCH,
    )


@given(
    st.lists(
        st.tuples(st.none() | st.integers(0, 11), st.sampled_from(["superseded", "superseded", "retracted", "active"])),
        min_size=1,
        max_size=12,
    )
)
def test_what_followed_is_what_the_chain_says_step_by_step(rows: list[tuple[int | None, State]]) -> None:
    known = {str(at): _fact(str(at), None if by is None or by <= at else str(by), s) for at, (by, s) in enumerate(rows)}
    after = _after(known.values(), known)
    for memory in known.values():
        chain: list[Memory] = []
        while (one := known.get((chain[-1] if chain else memory).superseded_by or "")) is not None:
            chain.append(one)
        first = next((one for one in chain if one.state != "retracted"), None)
        assert after[memory.id] == (first, chain[-1] if chain else None)


def test_each_of_a_thousand_values_is_looked_at_once() -> None:
    """Recall in a scope where one fact was told anew 800 times took a minute: each value walked all that followed."""
    asked = []

    class Asked(dict[str, Memory]):
        def get(self, name: str, /, default: None = None) -> Memory | None:  # type: ignore[override]
            asked.append(name)
            return super().get(name, default)

    many = 1000
    known = Asked({str(at): _fact(str(at), str(at + 1), "superseded") for at in range(many)})
    after = _after(known.values(), known)
    assert after["0"] == (known["1"], known[str(many - 1)])
    assert len(asked) <= 3 * many


def test_a_circle_of_damaged_rows_ends() -> None:
    known = {str(at): _fact(str(at), str((at + 1) % 3), "superseded") for at in range(3)}
    assert _after(known.values(), known).keys() == known.keys()
