"""What stands in damaged blocks of the words index, read from the texts: an answer meanwhile lacks nothing of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memhold.index.documents import entry_of
from memhold.index.postings_arrays import decode
from memhold.messages.fences import said
from memhold.ports.postings import Block, append
from memhold.ports.transaction import ReadTx
from memhold.text.analysis import analyse
from memhold.values.errors import CorruptIndex

__all__ = ["MOST", "from_texts"]

MOST = 10_000
"""So many documents are read from their texts for an answer, in about a second; what is beyond stays unfound."""
_PAGE = 500


def from_texts(tx: ReadTx, blocks: Sequence[Block]) -> tuple[list[Block], bool]:
    """The blocks that are sound, and others that hold what no sound one does, by their `first`; whether that is all."""
    sound = _sound(blocks)
    sessions = {session.name: session.number for session in tx.sessions()}
    agents = tx.agents()
    made: list[Block] = []
    left = MOST
    for start, end in _between(sound, tx.document_count()):
        tail: Block | None = None
        after = start - 1
        while left > 0 and (page := tx.documents(after=after, limit=min(_PAGE, left, end - 1 - after))):
            for item, hidden in page:
                if item.number >= end:
                    break
                terms = analyse(said(item))
                tail = append(tail, entry_of(item, hidden=hidden, terms=terms, sessions=sessions, agents=agents))
                if made and made[-1].first == tail.first:
                    made[-1] = tail
                else:
                    made.append(tail)
            left -= len(page)
            after = page[-1][0].number
            if after >= end - 1:
                break
    return sorted([*sound, *made], key=lambda block: block.first), left > 0


def _sound(blocks: Sequence[Block]) -> list[Block]:
    """The blocks that can be read; of two that overlap neither, for nobody knows which one stands where it should."""
    kept: list[Block] = []
    for block in blocks:
        try:
            decode([block])
        except CorruptIndex:
            continue
        if kept and block.first < kept[-1].first + kept[-1].documents:
            kept.pop()
        else:
            kept.append(block)
    return kept


def _between(sound: Sequence[Block], count: int) -> Iterator[tuple[int, int]]:
    """The spans of document numbers that no block holds."""
    start = 0
    for block in sound:
        if start < block.first:
            yield start, block.first
        start = block.first + block.documents
    if start < count:
        yield start, count
