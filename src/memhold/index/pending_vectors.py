"""The meaning index: what has no vector yet, and putting vectors in. Models are called between transactions.

What is to be done follows from state: a document number without a mark in the generation's blocks. So the step may be
cut short, run twice or be late, and the next one does what is left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from memhold.messages.fences import said, unquoted
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.ports.vector_blocks import (
    UNSEEN,
    CorruptVectors,
    Generation,
    block_of,
    dropped,
    in_floats,
    unseen,
    written,
)
from memhold.ports.vector_records import in_records, join
from memhold.text.sentences import pieces
from memhold.values.errors import StoreError
from memhold.values.records import Memory, Message

__all__ = [
    "DUE_COMPACTION",
    "DUE_INDEX",
    "Batch",
    "begin",
    "complete",
    "convert",
    "drop_retired",
    "due_compaction",
    "due_index",
    "look_again",
    "next_batch",
    "of_before",
    "put_vectors",
    "switch",
    "targets",
    "waits",
]

DUE_INDEX = ("index", "vectors")
"""The kind and ref of the due work."""

DUE_COMPACTION = ("compact", "memories")

BATCH_DOCUMENTS, BATCH_PIECES = 512, 1024
BATCH_CHARS = 400_000
CONVERT_BLOCKS = 8
"""A batch ends at this many documents, sentences or characters (of blocks of before: so many), so that no transaction
is long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Documents of a scope that a generation has not seen: those with sentences to embed, and those with nothing."""

    texts: Mapping[int, Sequence[str]]
    empty: tuple[int, ...]

    @property
    def pieces(self) -> list[str]:
        """Every sentence of the batch, document after document."""
        return [piece for texts in self.texts.values() for piece in texts]

    def by_document(self, vectors: Sequence[bytes | None]) -> dict[int, bytes]:
        """Of each document its vectors, one behind the other; left out where the embedding took nothing of it."""
        given = iter(vectors)
        parts = {number: [one for _ in texts if (one := next(given))] for number, texts in self.texts.items()}
        held = {number: mine for number, mine in parts.items() if mine}
        return dict(zip(held, join([*held.values()]), strict=True))

    @property
    def size(self) -> int:
        """How many documents it settles."""
        return len(self.texts) + len(self.empty)


def due_index(tx: WriteTx) -> None:
    """Make the scope's meaning index due: documents came, or came back."""
    tx.put_due(*DUE_INDEX, tx.now)


def due_compaction(tx: WriteTx) -> None:
    """Have compaction look whether it is time for a run: a note came, or came back."""
    tx.put_due(*DUE_COMPACTION, tx.now)


def targets(generations: Sequence[Generation], fingerprint: str) -> list[Generation]:
    """The generations that a process with this embedding may write: the current or the building one that is its own."""
    return [held for held in generations if held.state != "retired" and held.fingerprint == fingerprint]


def begin(tx: WriteTx, *, fingerprint: str, dimension: int) -> Generation | None:
    """Begin the generation of an embedding: the current one where there is none, else one that builds beside it.

    Returns the generation that this embedding now writes; None where another one is building already. A retired
    generation is never taken up again: its vectors may be gone.
    """
    held = tx.generations()
    mine = targets(held, fingerprint)
    if mine:
        return mine[0]
    states = {generation.state for generation in held}
    if "building" in states:
        return None
    made = Generation(
        number=max((generation.number for generation in held), default=0) + 1,
        fingerprint=fingerprint,
        dimension=dimension,
        state="building" if "current" in states else "current",
        made_at=tx.now,
    )
    tx.put_generation(made)
    return made


def next_batch(tx: ReadTx, generation: Generation) -> Batch:
    """The next documents to embed, in order of number; an empty batch when the scope has none left."""
    numbers = unseen(tx.vector_marks(generation.number), tx.document_count(), BATCH_DOCUMENTS)
    texts: dict[int, list[str]] = {}
    chars = count = 0
    items = {item.number: item for item in tx.find_numbers(numbers)}
    empty = []
    for number in numbers:
        item = items.get(number)
        text = _said(tx, item)
        if not text.strip():
            empty.append(number)
            continue
        parts = [one.of(text) for one in pieces(text)]
        chars += sum(map(len, parts))
        count += len(parts)
        if texts and (chars > BATCH_CHARS or count > BATCH_PIECES):
            break
        texts[number] = parts
    return Batch(texts=texts, empty=tuple(empty))


def _said(tx: ReadTx, item: Message | Memory | None) -> str:
    """What is to be embedded: a text without what it quotes from this store; nothing where there is nothing to find.

    Of a RAW window that is what its messages say that may be embedded: it holds the words of the others too.
    """
    if isinstance(item, Message):
        return unquoted(item) if item.embed else ""
    if item is None or item.kind != "raw":
        return "" if item is None else _as_sentence(item)
    messages = tx.find_messages(item.sources)
    if all(message.embed for message in messages):
        return item.text
    return "\n".join(unquoted(message) for message in messages if message.embed)


def _as_sentence(memory: Memory) -> str:
    """A memory as somebody would say it: "my home town is Porto" is nearer to a question than "home town: Porto"."""
    if memory.kind != "fact" or not memory.attribute:
        return said(memory)
    name = memory.attribute.replace("_", " ")
    whose = "my" if memory.subject in {None, "user"} else f"{memory.subject}'s"
    return f"{whose} {name} is {memory.value}" if name.isascii() else memory.text


def put_vectors(tx: WriteTx, generation: Generation, batch: Batch, vectors: Mapping[int, bytes]) -> bool:
    """Put a batch's vectors in; what was forgotten meanwhile gets none. False when the generation is no longer open.

    A text of the batch without a vector is set aside: the embedding does not take it. `reindex` tries it again. A block
    that is damaged is begun anew.
    """
    if not any(one.number == generation.number and one.state != "retired" for one in tx.generations()):
        return False
    living = {item.number for item in tx.find_numbers(list(vectors))}
    values: dict[int, dict[int, bytes | None]] = defaultdict(dict)
    for number in batch.empty:
        values[block_of(number)][number] = None
    refused = sorted(batch.texts.keys() - vectors.keys())
    for number in refused:
        values[block_of(number)][number] = None
    for number, vector in vectors.items():
        values[block_of(number)][number] = vector if number in living else None
    before = {block.first: block for block in tx.vector_blocks(generation.number, sorted(values))}
    blocks = []
    for first, part in sorted(values.items()):
        try:
            held = before.get(first)
            held = None if held is None else in_records(held, generation.dimension)
            block = written(held, part, first=first, dimension=generation.dimension, refused=refused)
        except CorruptVectors:
            # It is derived: the other documents of the block are looked at again.
            block = written(None, part, first=first, dimension=generation.dimension, refused=refused)
        blocks.append(block)
    tx.put_vectors(generation.number, blocks)
    return True


def look_again(tx: WriteTx, numbers: Sequence[int]) -> None:
    """Have these documents looked at again in every open generation: they were hidden and are shown again."""
    for generation in tx.generations():
        if generation.state == "retired":
            continue
        held = tx.vector_blocks(generation.number, sorted({block_of(number) for number in numbers}))
        blocks = [dropped(block, numbers, mark=UNSEEN) for block in held]
        tx.put_vectors(generation.number, blocks)
    due_index(tx)


def complete(tx: ReadTx, generation: Generation) -> bool:
    """Whether the scope has no document left that this generation has not seen."""
    return not unseen(tx.vector_marks(generation.number), tx.document_count(), 1)


def waits(tx: ReadTx, generation: Generation) -> bool:
    """Whether the scope has a document to embed that this generation has not seen; what is not embedded is none."""
    count = tx.document_count()
    left = unseen(tx.vector_marks(generation.number), count, count)
    pages = (left[at : at + BATCH_DOCUMENTS] for at in range(0, len(left), BATCH_DOCUMENTS))
    return any(_said(tx, item).strip() for page in pages for item in tx.find_numbers(page))


def of_before(tx: ReadTx) -> list[Generation]:
    """The generations of which the scope has blocks in the form of before."""
    return [one for one in tx.generations() if one.state != "retired" and _before(tx, one)]


def _before(tx: ReadTx, generation: Generation) -> list[int]:
    marks = tx.vector_marks(generation.number)
    return [block.first for block in marks if in_floats(block, generation.dimension)]


def convert(tx: WriteTx, generation: Generation) -> bool:
    """Bring a few of the scope's blocks of before into the form of now; False where none is left.

    A damaged one stays as it is, for `doctor` to find.
    """
    before = _before(tx, generation)
    for at in range(0, len(before), CONVERT_BLOCKS):
        made = []
        for block in tx.vector_blocks(generation.number, before[at : at + CONVERT_BLOCKS]):
            with suppress(CorruptVectors):
                made.append(in_records(block, generation.dimension))
        if made:
            tx.put_vectors(generation.number, made)
            return True
    return False


def switch(tx: WriteTx, generation: Generation) -> None:
    """Make a generation that was built current; the one before is retired.

    Raises:
        StoreError: it is not building any more.
    """
    held = {one.number: one for one in tx.generations()}
    if generation.number not in held or held[generation.number].state != "building":
        raise StoreError(f"generation {generation.number} is not building any more; run the work again")
    for one in held.values():
        if one.state == "current":
            tx.put_generation(replace(one, state="retired"))
    tx.put_generation(replace(generation, state="current"))


def drop_retired(tx: WriteTx) -> None:
    """Remove the scope's vectors of retired generations."""
    for generation in tx.generations():
        if generation.state == "retired" and tx.vector_marks(generation.number):
            tx.clear_vectors(generation.number)
