"""The words index, looked at entry by entry: what a checkup does and no question."""

from __future__ import annotations

import zlib

from memhold.index.postings_arrays import decode
from memhold.ports.postings import Block, corrupt_index, read_record, removed_record

__all__ = ["verify"]


def verify(block: Block) -> None:
    """Check a block entry by entry, checksums included; what `doctor` runs.

    Raises:
        CorruptIndex: with the first thing that does not fit.
    """
    import numpy as np

    index = decode([block])
    values = np.frombuffer(block.entries, dtype="<u8")
    places = (values >> np.uint64(8)) & np.uint64(255)
    for offset in range(block.documents):
        number = block.first + offset
        record = read_record(block, number)
        if record.removed and record != removed_record(record.kind):
            raise corrupt_index(block.first, f"removed document {number} still has content")
        if zlib.crc32(values[places == offset].tobytes()) != int(index.columns["checksum"][offset]):
            raise corrupt_index(block.first, f"the entries of document {number} do not match their checksum")
    if bool((places >= block.documents).any()) or bool((values & np.uint64(255) == 0).any()):
        raise corrupt_index(block.first, "an entry points outside its block")
