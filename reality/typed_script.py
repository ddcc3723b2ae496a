"""A user's script: ten verbs and the types of what comes back. Checked by mypy and pyright, and run."""

import sys
from datetime import UTC, datetime

from memhold import Change, Context, Erasure, Hit, Memhold, Memory, Message, Recall, Receipt, Remembered, Status, errors
from memhold.errors import NotFound

with Memhold.open(sys.argv[1]) as mem:
    alice = mem.scope(user="alice", session="s1")
    receipt: Receipt = alice.add([{"role": "user", "content": "I moved to Lisbon."}], idempotency_key="turn-1")
    food: Remembered = alice.remember(attribute="favorite food", value="sushi", event_time=datetime.now(UTC))
    assert food.memory is not None
    right: Remembered = alice.correct(food.memory.id, "ramen")
    assert right.memory is not None
    pinned: Remembered = alice.pin(right.memory.id)
    found: Recall = alice.recall("favorite food", limit=3, kinds=["fact"])
    hits = found.hits
    first: Hit = hits[0]
    words: str = first.text
    score: float = first.score
    one: Memory | Message = alice.get(first.id)
    context: Context = alice.context([{"role": "user", "content": "What shall we cook?"}], budget=2000)
    past: tuple[Change, ...] = alice.history(first.id)
    listed: tuple[Memory, ...] = alice.list(kinds=["fact"]).items
    undone: Receipt = alice.undo(pinned.receipt.change_ids[0])
    status: Status = alice.status()
    gone: Erasure = alice.forget(first.id)
    try:
        alice.get(first.id)
    except NotFound as error:
        why: errors.MemholdError = error
    print(words, round(score), len(past), len(listed), status.messages, gone.erased, len(context.messages))
