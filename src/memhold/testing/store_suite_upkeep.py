"""Store suite: due work, leases and their fencing tokens, across scopes and on the store's clock."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import date, timedelta

import pytest

from memhold.ports.models import LinkNote, Tally
from memhold.ports.stores import Clock, Ids, Lease, Store
from memhold.ports.transaction import Replay, WriteTx
from memhold.testing.clock import FakeClock
from memhold.testing.store_suite_rows import ALICE, BOB, OTHERS, add_change, add_note, later, need_session, say
from memhold.values.answers import Receipt
from memhold.values.records import Scope

__all__ = ["UpkeepCases"]

_KIND = ("index",)


async def _put(store: Store, scope: Scope, ref: str, at: float = 0, kind: str = "index") -> None:
    await store.write(scope, lambda tx: tx.put_due(kind, ref, later(at)))


async def _claim(store: Store, owner: str = "w1", limit: int = 10, seconds: float = 30) -> list[Lease]:
    return await store.upkeep.claim(owner=owner, kinds=_KIND, limit=limit, seconds=seconds)


async def _refs(store: Store, scope: Scope = ALICE) -> list[str]:
    return [due.ref for due in await store.read(scope, lambda tx: tx.due())]


@pytest.mark.asyncio
class UpkeepCases:
    """Due work is claimed by one holder at a time, and nothing that came meanwhile is lost with it."""

    async def test_due_work_is_listed_soonest_first(self, store: Store) -> None:
        for ref, at in (("late", 20), ("soon", 10), ("first", 0)):
            await _put(store, ALICE, ref, at)
        await _put(store, ALICE, "other kind", 5, kind="consolidate")
        due = await store.read(ALICE, lambda tx: tx.due())
        assert [row.ref for row in due] == ["first", "other kind", "soon", "late"]
        first = due[0]
        assert (first.namespace, first.user, first.kind) == (ALICE.namespace, ALICE.user, "index")
        assert (first.due_at, first.attempts, first.last_error) == (later(0), 0, None)
        await store.write(ALICE, lambda tx: tx.clear_due("index", "soon"))
        await store.write(ALICE, lambda tx: tx.clear_due("index", "not there"))
        assert await _refs(store) == ["first", "other kind", "late"]

    async def test_putting_again_takes_the_earlier_time(self, store: Store) -> None:
        for at, wanted in ((20, 20), (30, 20), (10, 10), (15, 10)):
            await _put(store, ALICE, "one", at)
            [due] = await store.read(ALICE, lambda tx: tx.due())
            assert due.due_at == later(wanted)

    async def test_only_what_is_due_and_of_the_kind_is_claimed(self, store: Store, clock: FakeClock) -> None:
        await _put(store, ALICE, "now", 0)
        await _put(store, ALICE, "later", 10)
        await _put(store, ALICE, "other", 0, kind="consolidate")
        assert [lease.due.ref for lease in await _claim(store)] == ["now"]
        clock.set(later(10) - timedelta(microseconds=1))
        assert await _claim(store) == []
        clock.set(later(10))
        assert [lease.due.ref for lease in await _claim(store)] == ["later"]
        both = await store.upkeep.claim(owner="w", kinds=("consolidate", "index"), limit=10, seconds=1)
        assert [lease.due.ref for lease in both] == ["other"]
        assert await store.upkeep.claim(owner="w", kinds=(), limit=10, seconds=1) == []

    async def test_a_lease_says_whose_and_how_long(self, store: Store, clock: FakeClock) -> None:
        clock.set(later(7))
        await _put(store, ALICE, "one")
        assert await store.read(ALICE, lambda tx: tx.leased()) == 0
        [lease] = await _claim(store, "me", seconds=2.5)
        assert (lease.owner, lease.until, lease.token) == ("me", later(9.5), lease.due.token)
        [due] = await store.read(ALICE, lambda tx: tx.due())
        assert due.token == lease.token, "an apply can check its token"
        one = await store.read(ALICE, lambda tx: tx.due_item(due.kind, "one"))
        assert one == await store.write(ALICE, lambda tx: tx.due_item(due.kind, "one")) == due
        for kind, ref, scope in ((due.kind, "other", ALICE), ("other", "one", ALICE), (due.kind, "one", BOB)):
            assert await store.read(scope, lambda tx, asked=(kind, ref): tx.due_item(*asked)) is None  # type: ignore[misc]
        assert await store.read(ALICE, lambda tx: tx.leased()) == 1
        assert await store.read(BOB, lambda tx: tx.leased()) == 0
        clock.set(later(9.5))
        assert await store.read(ALICE, lambda tx: tx.leased()) == 0

    async def test_a_claim_is_exclusive(self, store: Store) -> None:
        for n in range(20):
            await _put(store, OTHERS[n % 3], f"ref{n}")
        claims = await asyncio.gather(*(_claim(store, f"w{n}", limit=3) for n in range(12)))
        taken = [(lease.due.namespace, lease.due.user, lease.due.ref) for claim in claims for lease in claim]
        assert len(taken) == len(set(taken)) == 20
        assert all(len(claim) <= 3 for claim in claims)
        tokens = [lease.token for claim in claims for lease in claim]
        assert len(set(tokens)) == 20
        assert await _claim(store) == []

    async def test_a_lease_ends_by_the_clock_of_the_store(self, store: Store, clock: FakeClock) -> None:
        await _put(store, ALICE, "one")
        [first] = await _claim(store, "w1", seconds=30)
        clock.set(later(30) - timedelta(microseconds=1))
        assert await _claim(store, "w2") == []
        clock.set(later(30))
        [second] = await _claim(store, "w2", seconds=30)
        assert second.token > first.token
        assert second.due.attempts == 0
        assert not await store.upkeep.finish(first)
        assert not await store.upkeep.renew(first, 100)
        assert not await store.upkeep.put_off(first, at=later(99), error="lost")
        [due] = await store.read(ALICE, lambda tx: tx.due())
        assert (due.due_at, due.attempts, due.last_error, due.token) == (later(0), 0, None, second.token)
        assert await store.upkeep.finish(second)
        assert await _refs(store) == []
        assert not await store.upkeep.finish(second)

    @pytest.mark.parametrize("ahead", [timedelta(hours=2), timedelta(days=365 * 75)])
    async def test_work_goes_by_the_clock_whatever_rows_are_dated(
        self, store: Store, ids: Ids, clock: FakeClock, ahead: timedelta
    ) -> None:
        clock.advance(ahead)
        await store.write(ALICE, lambda tx: say(tx, ids, "a row of the future"))
        clock.advance(-ahead)
        await store.write(ALICE, lambda tx: tx.put_due("index", "one", tx.now))
        assert await store.read(ALICE, lambda tx: tx.overdue("index")) == ["one"]
        assert await store.upkeep.pending(("index",)) == 1
        [first] = await _claim(store, "w1", seconds=30)
        assert first.until == later(30)
        assert await store.read(ALICE, lambda tx: tx.leased()) == 1
        clock.set(later(30))
        assert await store.read(ALICE, lambda tx: tx.leased()) == 0
        assert not await store.upkeep.finish(first)
        [second] = await _claim(store, "w2", seconds=30)
        assert await store.upkeep.put_off(second, at=later(35), error="no")
        assert await _claim(store) == []
        clock.set(later(35))
        [third] = await _claim(store, seconds=30)
        assert await store.upkeep.renew(third, 60)
        clock.set(later(94))
        assert await store.upkeep.finish(third)

    async def test_a_clock_turned_back_holds_a_lease_no_longer_than_it_was_turned(
        self, store: Store, clock: FakeClock
    ) -> None:
        await _put(store, ALICE, "one", -10_000)
        [lease] = await _claim(store, "w1", seconds=30)
        clock.advance(-1800)
        assert await _claim(store, "w2") == []
        assert await store.upkeep.renew(lease, 30), "its holder goes on, and from now on by the new time"
        clock.advance(30)
        assert len(await _claim(store, "w2")) == 1

    async def test_a_lease_of_a_clock_that_was_far_ahead_is_none(self, store: Store, clock: FakeClock) -> None:
        await _put(store, ALICE, "one", -10_000)
        [lease] = await _claim(store, "w1", seconds=30)
        clock.advance(-7200)
        [taken] = await _claim(store, "w2", seconds=30)
        assert not await store.upkeep.finish(lease)
        assert await store.upkeep.finish(taken)

    async def test_only_what_is_due_after_a_time_is_hastened(self, store: Store) -> None:
        await _put(store, ALICE, "soon", 60)
        await _put(store, ALICE, "late", 6000)
        await store.upkeep.hasten(_KIND, failed=False, after=later(600))
        assert [lease.due.ref for lease in await _claim(store)] == ["late"]

    async def test_an_ended_lease_is_lost_also_when_nobody_took_it(self, store: Store, clock: FakeClock) -> None:
        await _put(store, ALICE, "one")
        [lease] = await _claim(store, seconds=30)
        clock.set(later(30))
        assert not await store.upkeep.renew(lease, 30)
        assert not await store.upkeep.put_off(lease, at=later(99), error="lost")
        assert not await store.upkeep.finish(lease)
        assert await _refs(store) == ["one"]

    async def test_a_renewed_lease_holds_longer(self, store: Store, clock: FakeClock) -> None:
        await _put(store, ALICE, "one")
        [lease] = await _claim(store, seconds=30)
        clock.set(later(20))
        assert await store.upkeep.renew(lease, 30)
        clock.set(later(49))
        assert await _claim(store, "w2") == []
        assert await store.upkeep.renew(lease, 1), "renewing counts from now"
        clock.set(later(50))
        assert len(await _claim(store, "w2")) == 1

    async def test_put_off_gives_back_with_the_error(self, store: Store, clock: FakeClock) -> None:
        await _put(store, ALICE, "one")
        for attempt, wanted in ((True, 1), (True, 2), (False, 2)):
            [lease] = await _claim(store)
            now = clock.now()
            error = f"error {wanted}" if attempt else None
            assert await store.upkeep.put_off(lease, at=now + timedelta(seconds=5), error=error, attempt=attempt)
            assert not await store.upkeep.finish(lease), "given back is given back"
            [due] = await store.read(ALICE, lambda tx: tx.due())
            assert (due.attempts, due.last_error, due.due_at) == (wanted, error, now + timedelta(seconds=5))
            assert await store.read(ALICE, lambda tx: tx.leased()) == 0
            assert await _claim(store) == []
            clock.advance(5)
        await _put(store, ALICE, "one", 0)
        [due] = await store.read(ALICE, lambda tx: tx.due())
        assert (due.attempts, due.due_at) == (2, later(0)), "putting again keeps the attempts"

    async def test_what_is_put_while_leased_is_not_finished_with_it(self, store: Store, clock: FakeClock) -> None:
        await _put(store, ALICE, "one")
        [lease] = await _claim(store)
        assert await store.upkeep.put_off(lease, at=later(1), error="first try")
        clock.set(later(1))
        [lease] = await _claim(store)
        await _put(store, ALICE, "one", 60)
        await _put(store, ALICE, "one", 50)
        [due] = await store.read(ALICE, lambda tx: tx.due())
        assert due == lease.due, "the lease stays as it was"
        assert await _claim(store, "w2") == []
        assert await store.upkeep.renew(lease, 30)
        assert await store.upkeep.finish(lease)
        [due] = await store.read(ALICE, lambda tx: tx.due())
        assert (due.due_at, due.attempts, due.last_error) == (later(50), 0, None)
        clock.set(later(50))
        [lease] = await _claim(store)
        assert await store.upkeep.finish(lease)
        assert await _refs(store) == [], "what was put before the claim is done by it"

    async def test_cleared_work_that_is_due_again_is_not_the_holders(self, store: Store) -> None:
        await _put(store, ALICE, "one")
        [old] = await _claim(store, "w1")
        await store.write(ALICE, lambda tx: tx.clear_due("index", "one"))
        assert not await store.upkeep.renew(old, 30)
        await _put(store, ALICE, "one")
        assert not await store.upkeep.finish(old)
        [new] = await _claim(store, "w2")
        assert new.token > old.token, "a token never comes twice"
        assert not await store.upkeep.finish(old)
        assert not await store.upkeep.put_off(old, at=later(99), error="lost")
        assert await store.upkeep.finish(new)

    async def test_a_lease_is_of_one_scope(self, store: Store) -> None:
        await _put(store, ALICE, "same")
        await _put(store, BOB, "same")
        leases = {lease.due.user: lease for lease in await _claim(store)}
        assert set(leases) == {"alice", "bob"}
        assert await store.upkeep.finish(leases["alice"])
        assert (await _refs(store, ALICE), await _refs(store, BOB)) == ([], ["same"])
        forged = replace(leases["bob"], token=leases["alice"].token)
        assert not await store.upkeep.finish(forged)
        assert await _refs(store, BOB) == ["same"]

    async def test_claims_are_fair_over_scopes(self, store: Store, clock: FakeClock) -> None:
        for n in range(6):
            await _put(store, ALICE, f"a{n}", n)
        await _put(store, BOB, "b0", 10)
        await _put(store, BOB, "b1", 11)
        await _put(store, Scope(namespace="other"), "c0", 12)
        clock.set(later(60))
        assert {lease.due.ref for lease in await _claim(store, limit=3)} == {"a0", "b0", "c0"}
        assert {lease.due.ref for lease in await _claim(store, limit=2)} == {"a1", "b1"}
        rest = await _claim(store, limit=2)
        assert [lease.due.ref for lease in rest] == ["a2", "a3"]
        assert await _claim(store, limit=0) == []

    async def test_next_due_is_when_something_can_be_claimed(self, store: Store, clock: FakeClock) -> None:
        upkeep = store.upkeep
        assert await upkeep.next_due(_KIND) is None
        await _put(store, ALICE, "one", 20)
        await _put(store, BOB, "two", 10)
        await _put(store, BOB, "other", 5, kind="consolidate")
        assert await upkeep.next_due(_KIND) == later(10)
        assert await upkeep.next_due(("consolidate", "index")) == later(5)
        assert await upkeep.next_due(()) is None
        clock.set(later(10))
        [lease] = await _claim(store, seconds=5)
        assert await upkeep.next_due(_KIND) == later(15), "a crashed holder's work comes back"
        assert await upkeep.renew(lease, 60)
        assert await upkeep.next_due(_KIND) == later(20)

    async def test_pending_counts_what_is_due_now_leased_or_not(self, store: Store, clock: FakeClock) -> None:
        upkeep = store.upkeep
        assert await upkeep.pending(_KIND) == 0
        await _put(store, ALICE, "one", 0)
        await _put(store, BOB, "two", 10)
        await _put(store, BOB, "other", 0, kind="consolidate")
        assert (await upkeep.pending(_KIND), await upkeep.pending(("index", "consolidate"))) == (1, 2)
        assert await upkeep.pending(()) == 0
        clock.set(later(10))
        assert await upkeep.pending(_KIND) == 2
        [lease] = await _claim(store, limit=1)
        assert await upkeep.pending(_KIND) == 2
        assert await upkeep.finish(lease)
        assert await upkeep.pending(_KIND) == 1

    async def test_claiming_and_counting_can_be_for_one_scope(self, store: Store) -> None:
        for scope in OTHERS:
            await _put(store, scope, "same")
        upkeep = store.upkeep
        for scope in OTHERS:
            assert await upkeep.pending(_KIND, scope=scope) == 1
            leases = await upkeep.claim(owner="w", kinds=_KIND, limit=10, seconds=30, scope=scope)
            assert [(lease.due.namespace, lease.due.user) for lease in leases] == [(scope.namespace, scope.user)]
        assert await upkeep.pending(_KIND) == len(OTHERS)

    async def test_what_is_overdue_is_named_by_kind(self, store: Store) -> None:
        def plan(tx: WriteTx) -> None:
            tx.put_due("expire", "b", tx.now)
            tx.put_due("expire", "a", tx.now)
            tx.put_due("expire", "first", tx.now - timedelta(seconds=5))
            tx.put_due("expire", "later", tx.now + timedelta(days=1))
            tx.put_due("index", "other", tx.now)

        await store.write(ALICE, plan)
        await store.write(BOB, lambda tx: tx.put_due("expire", "theirs", tx.now))
        for look in (store.read, store.write):
            assert await look(ALICE, lambda tx: tx.overdue("expire")) == ["first", "a", "b"]
        await store.upkeep.claim(owner="w", kinds=["expire"], limit=9, seconds=60)
        assert await store.read(ALICE, lambda tx: tx.overdue("expire")) == ["first", "a", "b"]
        assert await store.read(ALICE, lambda tx: tx.overdue("scrub")) == []

    async def test_what_failed_can_be_hastened(self, store: Store) -> None:
        upkeep = store.upkeep
        for scope in (ALICE, BOB):
            await _put(store, scope, "failed")
        for lease in await _claim(store):
            assert await upkeep.put_off(lease, at=later(300), error="no")
        await _put(store, ALICE, "waiting", 300)
        await _put(store, ALICE, "other", 300, kind="consolidate")
        await upkeep.hasten(_KIND, scope=BOB)
        assert [lease.due.user for lease in await _claim(store)] == ["bob"]
        await upkeep.hasten(_KIND)
        [lease] = await _claim(store)
        assert (lease.due.ref, lease.due.attempts, lease.due.last_error) == ("failed", 1, "no")
        await upkeep.hasten(_KIND, scope=BOB, failed=False)
        assert await _claim(store) == []
        await upkeep.hasten(_KIND, failed=False)
        assert "waiting" in {lease.due.ref for lease in await _claim(store)}

    async def test_a_write_that_makes_work_due_wakes(self, store: Store) -> None:
        woken: list[str] = []
        store.on_due(lambda: woken.append("first"))
        store.on_due(lambda: woken.append("second"))
        await store.write(ALICE, lambda tx: tx.clear_due("index", "x"))

        def fail(tx: WriteTx) -> None:
            tx.put_due("index", "x", tx.now)
            raise LookupError

        with pytest.raises(LookupError):
            await store.write(ALICE, fail)
        await asyncio.sleep(0)
        assert woken == []
        await _put(store, ALICE, "x")
        for _ in range(1000):
            if len(woken) == 2:
                break
            await store.read(ALICE, lambda tx: tx.due())
        assert sorted(woken) == ["first", "second"]

    async def test_a_wake_that_raises_harms_nobody(self, store: Store) -> None:
        woken: list[int] = []

        def fail() -> None:
            woken.append(1)
            raise RuntimeError("the loop of this worker is closed")

        store.on_due(fail)
        for ref in ("one", "two"):
            await asyncio.wait_for(_put(store, ALICE, ref), 60)
        assert await asyncio.wait_for(_refs(store), 60) == ["one", "two"]
        assert woken

    async def test_scopes_are_those_that_something_is_kept_of(self, store: Store, ids: Ids) -> None:
        assert await store.upkeep.scopes() == []
        for scope in OTHERS:
            await store.read(scope, lambda tx: tx.sessions())

        def fail(tx: WriteTx) -> None:
            say(tx, ids, "x")
            tx.put_due("index", "x", tx.now)
            raise LookupError

        with pytest.raises(LookupError):
            await store.write(ALICE, fail)
        assert await store.upkeep.scopes() == [], "reading and failing keep nothing"
        key = Replay(fingerprint=b"f", receipt=Receipt(ids=()), expires_at=None)
        kept = {
            "session": lambda tx: need_session(tx, ids),
            "message": lambda tx: say(tx, ids, "x"),
            "memory": lambda tx: add_note(tx, ids, "x"),
            "change": lambda tx: add_change(tx, ids),
            "key": lambda tx: tx.remember_key("add", b"k", key),
            "due": lambda tx: tx.put_due("index", "x", tx.now),
        }
        for name, work in kept.items():
            await store.write(Scope(namespace=name, user="u", agent="a", session="s"), work)
            found = await store.upkeep.scopes()
            assert Scope(namespace=name, user="u") in found, name
        await store.write(Scope(namespace="nobody"), lambda tx: say(tx, ids, "x"))
        found = await store.upkeep.scopes()
        assert Scope(namespace="nobody") in found
        assert len(found) == len(set(found)) == len(kept) + 1

    async def test_the_users_of_a_namespace_are_listed_in_order(self, store: Store, ids: Ids) -> None:
        names = ("bob", "Zoë", "alice", "Émile", "\U0001f600", "\uff21")
        for user in (*names, None):
            await store.write(Scope(namespace="acme", user=user), lambda tx: say(tx, ids, "x"))
        await store.write(Scope(namespace="other", user="mallory"), lambda tx: say(tx, ids, "x"))
        assert await store.upkeep.users("acme", "", 100) == sorted(names)
        assert await store.upkeep.users("acme", "alice", 2) == sorted(names)[2:4]
        assert await store.upkeep.users("nobody", "", 100) == []

    async def test_the_namespaces_below_hold_what_a_user_has_there(self, store: Store, ids: Ids) -> None:
        below = ("acme//a", "acme//shop", "acme//shop//deep", "acme//\U0001f600")
        beside = ("acme", "acme/", "acme/shop", "acme/0", "acmes//shop", "acm//shop", "ACME//shop")
        for namespace in (*below, *beside):
            await store.write(Scope(namespace=namespace, user="alice"), lambda tx: say(tx, ids, "x"))
        await store.write(Scope(namespace="acme//bobs", user="bob"), lambda tx: say(tx, ids, "x"))
        await store.write(Scope(namespace="acme//nobodys"), lambda tx: say(tx, ids, "x"))
        own = Scope(namespace="acme", user="alice", agent="cursor")
        assert await store.upkeep.below(own) == [replace(own, namespace=name) for name in below]
        assert await store.upkeep.below(Scope(namespace="acme")) == [Scope(namespace="acme//nobodys")]
        assert await store.upkeep.users("acme", "", 100) == ["alice", "bob"]
        assert await store.upkeep.users("acme", "alice", 100) == ["bob"]

    async def test_a_forgotten_scope_is_still_listed_and_scrub_says_none(self, store: Store, ids: Ids) -> None:
        [message] = await store.write(ALICE, lambda tx: say(tx, ids, "x"))
        await store.write(ALICE, lambda tx: tx.erase_messages([message.id], "chg_x"))
        assert await store.upkeep.scopes() == [Scope(namespace=ALICE.namespace, user=ALICE.user)]
        assert await store.upkeep.scrub() is None

    async def test_leases_outlive_a_clock_that_goes_back(self, store: Store, clock: Clock) -> None:
        assert isinstance(clock, FakeClock)
        clock.set(later(100))
        await _put(store, ALICE, "one")
        [lease] = await _claim(store, seconds=30)
        clock.set(later(0))
        assert await _claim(store, "w2") == []
        assert await store.upkeep.renew(lease, 30)
        clock.set(later(130))
        assert len(await _claim(store, "w2")) == 1

    async def test_how_a_link_fares_is_what_its_last_call_showed(self, store: Store) -> None:
        first = LinkNote(
            model="m", url="u", seen_at=later(1), failing_since=later(1), cls="auth", reason="no", unloads=2
        )
        again = replace(first, seen_at=later(5), failing_since=later(5), status=401, said="bad key", unloads=1)
        other = LinkNote(model="m", url="elsewhere", seen_at=later(2), form="schema")
        await store.links.put([first, other])
        await store.links.put([again])
        lasting = replace(again, failing_since=later(1), unloads=3)
        assert await store.links.read() == [other, lasting], "since the first of the failures in a row"
        late = replace(
            first, seen_at=later(0), failing_since=None, cls=None, reason="", form="text", asked="turns", unloads=0
        )
        await store.links.put([late])
        assert await store.links.read() == [other, replace(lasting, form="text", asked="turns")], (
            "an older call decides nothing"
        )
        await store.links.put([LinkNote(model="m", url="u", seen_at=later(9))])
        assert await store.links.read() == [
            other,
            LinkNote(model="m", url="u", seen_at=later(9), form="text", asked="turns", unloads=3),
        ]

    async def test_what_is_due_later_is_counted_where_it_is_asked_for(self, store: Store) -> None:
        await _put(store, ALICE, "now", 0)
        await _put(store, ALICE, "later", 10)
        kinds = [due.kind for due in await store.read(ALICE, lambda tx: tx.due())]
        assert (await store.upkeep.pending(kinds), await store.upkeep.pending(kinds, later=True)) == (1, 2)

    async def test_usage_adds_up_by_day_model_and_purpose(self, store: Store) -> None:
        first = Tally(day=date(2026, 1, 1), model="m", purpose="p", calls=2, answered=1, failures={"retry": 1})
        second = Tally(day=date(2026, 1, 2), model="m", purpose="p", calls=1, answered=1, input_tokens=7)
        await store.usage.add([first, second])
        await store.usage.add([first])
        doubled = Tally(day=date(2026, 1, 1), model="m", purpose="p", calls=4, answered=2, failures={"retry": 2})
        assert await store.usage.read() == [doubled, second]
        assert await store.usage.read(date(2026, 1, 2)) == [second]
