"""A model that calls tools as a script says, whatever client stands between it and the tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memhold.testing.chaos.replies import Asked, Call, Offer, Reply

__all__ = ["calling"]


def calling(
    calls: Sequence[tuple[str, Mapping[str, Any]]], *, server: str = "", then: str = "It is done."
) -> Callable[[Asked], Reply]:
    """A model for `ChaosServer.say` that calls these tools in each turn, one after the other, and then says `then`.

    A tool of an MCP server is found by its own name, however the client offers it: `mcp__notes__find` (Claude Code),
    `find` in a group (Codex), `notes_find` (opencode). `server` is a part of the server's name there, for names that
    more than one has. A tool that is not offered is said to be missing, and ends the turn.
    """

    def said(asked: Asked) -> Reply:
        roles = [role for role, _ in asked.texts]
        turn = len(roles) - roles[::-1].index("user") if "user" in roles else 0
        place = sum(role == "tool" for role in roles[turn:])
        if place >= len(calls):
            return Reply(text=then)
        name, arguments = calls[place]
        offer = next((one for one in asked.offers if _is(one, name, server)), None)
        if offer is None:
            return Reply(text=f"I was offered no tool {name}.")
        call = Call(name=offer.name, arguments=dict(arguments), namespace=offer.namespace)
        return Reply(text="I look.", calls=(call,), finish="tool")

    return said


def _is(offer: Offer, name: str, server: str) -> bool:
    before, _, _ = offer.name.rpartition(name)
    whole = offer.name == name or (offer.name.endswith(name) and before.endswith("_"))
    return whole and server in f"{offer.namespace or ''}{before}"
