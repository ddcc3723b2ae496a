"""What speaks against a fact and ends nothing yet: a note that is told beside it, and what a person should settle."""

from __future__ import annotations

from collections.abc import Sequence

from memhold.facts.keys import cardinality
from memhold.facts.matching import aliases, find
from memhold.facts.remember import Writer
from memhold.facts.revisions import revise
from memhold.facts.statement import Operation
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.text.compare import same_value
from memhold.values.origins import authority, weight
from memhold.values.records import TOGETHER, Effect, Memory, Suspicion

__all__ = ["DOUBTFUL", "stand_beside", "would_end"]

DOUBTFUL = "doubtful"
"""The rule of a suspicion about a doubtful or planned statement and what it would end."""


def stand_beside(
    tx: WriteTx, note: Memory, doubted: Sequence[Memory], *, writer: Writer, change_id: str
) -> tuple[list[Effect], list[Suspicion]]:
    """Tell a note with each fact that it would end, and raise that for a person; each keeps its state and its rank.

    On what the user stated only their own words cast a doubt: a tool's "not allergic" is no word on an allergy.
    """
    effects, raised = [], []
    for one in doubted:
        held = one.metadata.get(TOGETHER, ())
        if note.id in held or (note.trust != "user" and authority(one) >= weight("model", "user")):
            continue
        effects.append(revise(tx, one, metadata={**one.metadata, TOGETHER: [*held, note.id]}))
        suspicion = Suspicion(
            id=writer.ids.new("sus"),
            kind="contradiction",
            memory_id=note.id,
            other_id=one.id,
            rule=DOUBTFUL,
            at=tx.now,
            change_id=change_id,
        )
        tx.put_suspicion(suspicion)
        raised.append(suspicion)
    return effects, raised


def would_end(
    tx: ReadTx, subject: str, attribute: str, value: str, operation: Operation, *, agent: str | None
) -> list[Memory]:
    """What holds now and would end if such a statement came about, where an attribute has one value at a time."""
    suspicions = tx.suspicions()
    where = find(tx, subject, attribute, agent, lambda: aliases(tx, suspicions))
    if not where.known:
        return []
    facts = tx.facts(subject=where.subject, key=where.key, agent=agent)
    same = [(one, same_value(one.value or "", value)) for one in facts if one.state == "active"]
    if operation == "remove":
        return [one for one, is_same in same if is_same]
    single = operation == "set" and cardinality(attribute, subject) != "many"
    return [one for one, is_same in same if single and not is_same]
