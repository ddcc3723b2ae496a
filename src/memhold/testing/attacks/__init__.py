"""Attacks on a running server: what has been tried on Memhold, carried out against yours, told as held or not held.

    python -m memhold.testing.attacks http://127.0.0.1:8484 --token mh_…

The token has the rights `read`, `write`, `admin` and `act` and no user (`memhold token create --can
read,write,admin,act`). Users with names that nobody has are made for the attacks, and erased at the end. Without an
address a server is started, in a folder of its own.
"""

from __future__ import annotations

from types import ModuleType

from memhold.testing.attacks import bodies, identity, loopback, mcp, oauth, page, poisoning, services
from memhold.testing.attacks.attack import Attack, NotHeld, NotTried, Outcome, try_one
from memhold.testing.attacks.target import Target

__all__ = ["ATTACKS", "Attack", "NotHeld", "NotTried", "Outcome", "Target", "try_one"]


def _of(module: ModuleType) -> dict[str, Attack]:
    return {found.name: found for found in vars(module).values() if isinstance(found, Attack)}


ATTACKS: dict[str, Attack] = {
    name: found
    # The last two spend what one address may try and one token may ask: nothing comes after them.
    for module in (poisoning, mcp, page, services, oauth, loopback, bodies, identity)
    for name, found in _of(module).items()
}
"""Every attack by its name, in the order in which they are carried out."""
