"""Store suite: tokens, which are found by id whoever asks, and revoked for every process at once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memhold.ports.stores import Store
from memhold.values.access_tokens import AccessToken, StoredToken
from memhold.values.errors import Conflict
from memhold.values.records import Scope

__all__ = ["TokenCases"]

START = datetime(2026, 1, 1, tzinfo=UTC)


def stored(token_id: str, **fields: object) -> StoredToken:
    """A token of Acme's Alice."""
    token = AccessToken(id=token_id, namespace="acme", user="alice", created_at=START)
    return StoredToken(token=replace(token, **fields), digest=token_id.encode() * 2)  # type: ignore[arg-type]


class TokenCases:
    """Tokens come back as they were kept, and only what is said to change changes."""

    async def test_a_token_comes_back_as_it_was_kept(self, store: Store) -> None:
        full = stored(
            "full",
            agent="helper",
            rights=("read", "admin"),
            label="laptop of Zoë",
            expires_at=START + timedelta(days=90),
            last_used="2026-01-01",
        )
        bare = stored("bare", user=None, rights=("read",))
        for one in (full, bare):
            await store.tokens.add(one)
        assert await store.tokens.find("full") == full
        assert await store.tokens.find("bare") == bare
        assert await store.tokens.find("ful") is None
        assert await store.tokens.find("FULL") is None

    async def test_an_id_is_taken_once(self, store: Store) -> None:
        await store.tokens.add(stored("one"))
        with pytest.raises(Conflict):
            await store.tokens.add(stored("one", user="mallory"))
        assert await store.tokens.find("one") == stored("one")

    async def test_tokens_are_listed_by_age_and_by_namespace(self, store: Store) -> None:
        late = stored("a_late", created_at=START + timedelta(seconds=1))
        other = stored("other", namespace="umbrella")
        for one in (late, stored("z_early"), other, stored("b_early")):
            await store.tokens.add(one)
        assert [one.token.id for one in await store.tokens.read()] == ["b_early", "other", "z_early", "a_late"]
        assert [one.token.id for one in await store.tokens.read("umbrella")] == ["other"]
        assert await store.tokens.read("nobody") == []

    async def test_a_token_is_revoked_once_and_stays_so(self, store: Store) -> None:
        await store.tokens.add(stored("one"))
        await store.tokens.add(stored("two"))
        revoked = await store.tokens.revoke("one", START + timedelta(hours=1))
        assert revoked == stored("one", revoked_at=START + timedelta(hours=1))
        assert await store.tokens.revoke("one", START + timedelta(hours=2)) == revoked
        assert await store.tokens.find("one") == revoked
        assert await store.tokens.find("two") == stored("two")
        assert await store.tokens.revoke("none", START) is None

    async def test_the_last_use_is_a_day_and_never_goes_back(self, store: Store) -> None:
        await store.tokens.add(stored("one"))
        for day in ("2026-01-02", "2026-01-05", "2026-01-03"):
            await store.tokens.note_use("one", day)
        await store.tokens.note_use("none", "2026-01-05")
        assert await store.tokens.find("one") == stored("one", last_used="2026-01-05")

    async def test_a_token_makes_no_scope(self, store: Store) -> None:
        await store.tokens.add(stored("one"))
        assert Scope(namespace="acme", user="alice") not in await store.upkeep.scopes()
