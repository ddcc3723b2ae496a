"""A model that says of a window what no line does, so that something is not kept."""

from __future__ import annotations

from dataclasses import replace

from memhold import AsyncMemhold
from memhold.ports.models import ChatReply, ChatRequest
from memhold.testing.scripted import ScriptedChat, sensible_reply
from memhold.values.records import Change

__all__ = ["invents", "left_out", "store_with_what_was_not_kept"]


def invents(request: ChatRequest) -> ChatReply:
    """A sensible reply, and two facts that nobody said."""
    made = sensible_reply(request)
    [call] = made.tool_calls
    facts = [
        {"subject": "user", "attribute": name, "value": value, "sources": ["m1"]}
        for name, value in (("favorite food", "pizza"), ("shoe size", "forty"))
    ]
    return replace(made, tool_calls=(replace(call, arguments={**call.arguments, "facts": facts}),))


async def left_out(mem: AsyncMemhold, session: str = "s", user: str = "alice") -> tuple[str, Change]:
    """A window's summary, and the change that left something out of it."""
    scope = mem.scope(user=user, session=session)
    await scope.add([{"role": "user", "content": "I took the train to Porto, seat 31."}])
    [summary] = (await scope.consolidate()).summaries
    change = (await scope.history(summary))[-1]
    assert {one["value"] for one in change.detail["ungrounded"]} == {"pizza", "forty"}
    return summary, change


async def store_with_what_was_not_kept(location: str, user: str = "alice") -> str:
    """Fill a store with one such window; gives the id of the change."""
    chat = ScriptedChat(otherwise=invents)
    async with AsyncMemhold.open(location, worker=False, consolidation=chat, embedding="none") as mem:
        return (await left_out(mem, user=user))[1].id
