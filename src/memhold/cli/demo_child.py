"""The process that the demo kills: imports a conversation, and prints each acknowledgement."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from memhold.faces.python.open import Memhold

if TYPE_CHECKING:
    from memhold.verbs.files import Progress

__all__ = ["main"]


def main(db: str, conversation: str, user: str) -> None:
    """Import message by message; after each that is durable, print how many are."""

    def acknowledged(step: Progress) -> None:
        print(step.done, flush=True)  # noqa: T201 - it is what the parent reads

    with Memhold.open(db, worker=False) as mem:
        mem.scope(user=user).import_file(conversation, batch=1, progress=acknowledged)


if __name__ == "__main__":
    main(*sys.argv[1:])
