"""Keys that words alone could not decide: what waits, how alike they are, what a model is asked, and the verdict.

It runs behind every acknowledgement, as due work: the words decide at once, and an embedding or a model only ever
settles a suspicion that stands. So nothing that is told waits for either. Pure decisions and units of work; who calls
the models is `memhold.facts.keys_step`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from memhold.facts.keys import Key, Verdict, compare
from memhold.facts.matching import key_of
from memhold.facts.pairs import pairs
from memhold.facts.remember import Writer
from memhold.facts.suspicions import is_open, settle_suspicion
from memhold.ports.idempotency import keyed_digest
from memhold.ports.models import ChatReply, ChatRequest, ChatTurn, Rejected, Tool
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.values.errors import Conflict, NotFound
from memhold.values.records import Suspicion

__all__ = ["JUDGE_KEYS", "UndecidedPair", "digest_of", "judged", "leave", "likeness", "question", "settle", "waiting"]

PURPOSE: Final = "adjudication"
MAX_ANSWER_TOKENS: Final = 512
MAX_SHOWN: Final = 200

JUDGE_KEYS: Final = Tool(
    name="judge_keys",
    description="Say whether two names of attributes mean the same attribute of the same bearer.",
    parameters={
        "type": "object",
        "properties": {"verdict": {"type": "string", "enum": ["same", "different"]}},
        "required": ["verdict"],
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UndecidedPair:
    """A suspicion about two keys that is still open, with the keys as they were worded."""

    suspicion: Suspicion
    mine: Key
    other: Key


def waiting(tx: ReadTx, *, adjudicates: bool) -> list[UndecidedPair]:
    """The key suspicions that upkeep has not dealt with, oldest first.

    With a model that `adjudicates` also those that an embedding left open. What somebody decided is never among them,
    also where that was undone.
    """
    left = (
        one
        for one in tx.suspicions()
        if one.kind == "key" and one.settled is None and one.looked != "decided" and (adjudicates or one.looked is None)
    )
    return [
        UndecidedPair(suspicion=one, mine=key_of(memory), other=key_of(other))
        for one, memory, other in pairs(tx, left)
        if is_open(one, (memory, other), tx.now)
    ]


def digest_of(secret: bytes, key: Key) -> bytes:
    """What the vector of a key is filed under."""
    return keyed_digest(secret, "key", key.text)


def likeness(undecided: UndecidedPair, vectors: Mapping[str, bytes], threshold: Mapping[str, float] | None) -> Verdict:
    """The verdict with the similarity of the two keys alone, where the words let one lift them.

    `vectors` are by canonical text: little-endian float32 of unit length.
    """
    a, b = undecided.mine, undecided.other
    words = compare(a, b)
    if not words.liftable or threshold is None or a.text not in vectors or b.text not in vectors:
        return words
    import numpy as np

    one, other = (np.frombuffer(vectors[key.text], dtype="<f4") for key in (a, b))
    return compare(a, b, similarity=float(one @ other), threshold=threshold)


def question(undecided: UndecidedPair, system: str) -> ChatRequest:
    """What a model of the adjudication chain is asked: the two names, and nothing else of the facts."""
    shown = [json.dumps(_named(key), ensure_ascii=False) for key in (undecided.other, undecided.mine)]
    return ChatRequest(
        system=system,
        turns=(ChatTurn(role="user", text=f"The first name: {shown[0]}\nThe second name: {shown[1]}"),),
        purpose=PURPOSE,
        tool=JUDGE_KEYS,
        max_tokens=MAX_ANSWER_TOKENS,
        temperature=0.0,
    )


def _named(key: Key) -> dict[str, str]:
    return {"of": key.subject[:MAX_SHOWN] or "user", "attribute": key.attribute[:MAX_SHOWN]}


def judged(reply: ChatReply) -> Literal["same", "different"] | Rejected:
    """The verdict of a reply: exactly one call of the tool with one of the two words, or why it is none."""
    if reply.finish == "refusal":
        return Rejected(reason="refused", refused=True)
    calls = [call for call in reply.tool_calls if call.name == JUDGE_KEYS.name]
    if len(calls) != 1 or len(reply.tool_calls) != 1:
        return Rejected(reason=f"{len(calls)} calls of the tool among {len(reply.tool_calls)}")
    match _arguments(calls[0].arguments):
        case {"verdict": "same"}:
            return "same"
        case {"verdict": "different"}:
            return "different"
        case _:
            return Rejected(reason="no verdict of the two")


def _arguments(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except ValueError:
        return None


def settle(
    tx: WriteTx, undecided: UndecidedPair, verdict: Literal["same", "different"], *, writer: Writer, reason: str
) -> bool:
    """Settle a suspicion as `writer.author`, as one change that can be undone; False where it is gone or settled."""
    try:
        settle_suspicion(tx, undecided.suspicion.id, verdict, writer=writer, reason=reason)
    except (NotFound, Conflict):
        return False
    return True


def leave(tx: WriteTx, undecided: Sequence[UndecidedPair], looked: Literal["likeness", "decided"]) -> None:
    """Note that these were looked at and stay open, for a person or, after an embedding alone, for a model."""
    mine = {one.suspicion.id for one in undecided}
    for one in tx.suspicions():
        if one.id in mine and one.settled is None:
            tx.put_suspicion(replace(one, looked=looked))
