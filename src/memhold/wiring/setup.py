"""What `memhold setup` proposes: the models that could be used here."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from memhold.wiring.models import catalog

if TYPE_CHECKING:
    from memhold.providers.discover import Offer

__all__ = ["offers"]


def offers() -> list[Offer]:
    """Models of servers that listen on this machine, then those of vendors whose key is set."""
    from memhold.providers.discover import hosted_offers, local_offers

    return [*asyncio.run(local_offers()), *hosted_offers(catalog(), os.environ)]
