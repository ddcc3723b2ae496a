"""The write side of a transaction that has entered its scope and holds the lock of its namespace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memhold.ports.vector_blocks import UNSEEN, VECTOR_DOCUMENTS, VectorBlock, block_of
from memhold.storage.postgres.connection import Reals
from memhold.storage.postgres.near import covered, row_changes
from memhold.storage.sql import rows
from memhold.storage.sql.writes import SqlWrite
from memhold.values.answers import Due

__all__ = ["PostgresWrite"]


class PostgresWrite(SqlWrite):
    """`WriteTx`; `woke` says whether work was made due."""

    def due_item(self, kind: str, ref: str) -> Due | None:
        """Locked: until this transaction ends nobody claims it, so a lease that holds goes on holding."""
        row = self._first("lock_due_item", kind=kind, ref=ref)
        return None if row is None else rows.to_due(row)

    def put_vectors(self, generation: int, blocks: Sequence[VectorBlock]) -> None:
        near = self.near(generation) if blocks else None
        upto = 0 if near is None else near[0]
        firsts = [block.first for block in blocks if block.first < upto]
        before = {block.first: block for block in self.vector_blocks(generation, firsts)}
        super().put_vectors(generation, blocks)
        dimension = self._dimension(generation) if firsts else 0
        for block in blocks:
            if block.first < upto:
                self._put_rows(generation, row_changes(before.get(block.first), block, upto, dimension))

    def clear_vectors(self, generation: int) -> None:
        super().clear_vectors(generation)
        if self.near(generation) is not None:
            self._run("clear_near_vectors", generation=generation)
            self._run("delete_near", generation=generation)

    def near(self, generation: int) -> tuple[int, bool] | None:
        """Up to which document the scope's vectors stand in rows, and whether an index serves them."""
        return covered(self._first("read_near", generation=generation))

    def extend_near(self, generation: int, most: int) -> bool:
        """Put the next vectors in rows, at most so many; False where all are but those of blocks that still fill."""
        upto, ready = self.near(generation) or (0, False)
        found = self.vector_blocks(generation, list(range(block_of(upto), upto + most, VECTOR_DOCUMENTS)))
        end, dimension = upto, self._dimension(generation)
        values: dict[int, list[bytes]] = {}
        for block in found:
            if block.first > end or len(block.marks) < VECTOR_DOCUMENTS or UNSEEN in block.marks:
                break
            until = min(block.first + VECTOR_DOCUMENTS, upto + most)
            values |= {n: one for n, one in row_changes(None, block, until, dimension).items() if n >= upto}
            end = until
        self._put_rows(generation, values)
        self._run("put_near", generation=generation, upto=end, ready=int(ready))
        return end == upto + most

    def _dimension(self, generation: int) -> int:
        return next(one.dimension for one in self.generations() if one.number == generation)

    def near_is_ready(self, generation: int) -> None:
        """Have the index serve the scope from now on."""
        near = self.near(generation)
        if near is not None:
            self._run("put_near", generation=generation, upto=near[0], ready=1)

    def _put_rows(self, generation: int, values: Mapping[int, Sequence[bytes]]) -> None:
        self._many("delete_near_vector", [{"generation": generation, "number": number} for number in values])
        made = [
            {"generation": generation, "number": number, "part": part, "vector": Reals(vector)}
            for number, vectors in values.items()
            for part, vector in enumerate(vectors)
        ]
        self._many("put_near_vector", made)
