"""The tools that agents reach memory with: what each takes, may do and answers. `mcp_calls` has what it does.

The two are apart so that a server lists its tools before the rest of Memhold is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memhold.faces.mcp import arguments as takes
from memhold.faces.mcp import outputs as gives

if TYPE_CHECKING:
    from memhold.values.principal import Principal, Right
    from memhold.verbs.scope import AsyncScope
    from memhold.verbs.store import AsyncStore

__all__ = ["TOOLS", "Caller", "Refused", "ToolSpec"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks, and the store that is asked. Whose memory it is comes from the principal alone."""

    memhold: AsyncStore
    principal: Principal

    def scope(self, session: str | None = None) -> AsyncScope:
        """The principal's scope, in that session, or in the one that the connection began with.

        Raises:
            InvalidScope: a session that cannot be used as a name.
        """
        bound = self.principal.scope
        return self.memhold.scope(
            namespace=bound.namespace, user=bound.user, agent=bound.agent, session=session or bound.session
        )


class Refused(Exception):
    """A call that is answered with an error that the model can act on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """One tool. `idempotent`: the same call again changes nothing more. `destructive`: what is gone stays gone."""

    name: str
    title: str
    description: str
    takes: type[takes.Arguments]
    gives: Mapping[str, Any]
    right: Right
    destructive: bool = False
    idempotent: bool = False

    @property
    def read_only(self) -> bool:
        """Whether it changes nothing."""
        return self.right == "read"


TOOLS: Mapping[str, ToolSpec] = {
    spec.name: spec
    for spec in (
        ToolSpec(
            name="remember",
            title="Remember",
            description="Save one thing worth knowing later: a fact (attribute and value) or a note (text). Use it when"
            " the user states a preference, a decision or something about themselves, or asks you to remember."
            " A fact replaces the older value of its attribute; the history keeps that.",
            takes=takes.Remember,
            gives=gives.REMEMBERED,
            right="write",
            idempotent=True,
        ),
        ToolSpec(
            name="recall",
            title="Recall",
            description="Search what was said and what is known. Use it before you answer anything that may depend on"
            " earlier conversations, preferences or decisions. Only current values come back, unless you ask for"
            " as_of, known_at or include_superseded.",
            takes=takes.Recall,
            gives=gives.RECALL,
            right="read",
            idempotent=True,
        ),
        ToolSpec(
            name="forget",
            title="Forget",
            description="Erase a memory or message for good, with what was derived from it. Use it only when the user"
            " asks for something to be forgotten; find the id with recall, and try dry_run first. For a wrong value"
            " use correct, for a changed one remember.",
            takes=takes.Forget,
            gives=gives.ERASURE,
            right="write",
            destructive=True,
            idempotent=True,
        ),
        ToolSpec(
            name="correct",
            title="Correct",
            description="Replace a fact or note that was never true. Use it when the user says that something you"
            " recalled is wrong. For something that was true and has changed, use remember.",
            takes=takes.Correct,
            gives=gives.REMEMBERED,
            right="write",
        ),
        ToolSpec(
            name="add_message",
            title="Add a message",
            description="Save one line of text at once, with no model involved. Use it when add_memory fails, and for"
            " single lines. It is found by its words, never by meaning.",
            takes=takes.AddMessage,
            gives=gives.RECEIPT,
            right="write",
        ),
        ToolSpec(
            name="add_memory",
            title="Add a turn",
            description="Save one turn of the conversation: what the user said and what you answered. Use it after each"
            " of your answers. It answers at once, whatever models do.",
            takes=takes.AddMemory,
            gives=gives.RECEIPT,
            right="write",
        ),
        ToolSpec(
            name="get_context",
            title="Get the context",
            description="The conversation so far and what memory knows about the new message, within a budget of"
            " tokens. Use it at the start of a conversation, or to continue one.",
            takes=takes.GetContext,
            gives=gives.CONTEXT,
            right="read",
            idempotent=True,
        ),
        ToolSpec(
            name="memory_history",
            title="History of a memory",
            description="Every value a memory had, from when to when, and who changed it and why. Use it when the user"
            " asks what was true before or where something is known from.",
            takes=takes.MemoryHistory,
            gives=gives.HISTORY,
            right="read",
            idempotent=True,
        ),
        ToolSpec(
            name="end_session",
            title="End the session",
            description="Close the conversation: what was said becomes memory, and the next message begins a new one."
            " Use it when the user is done with a subject or says goodbye.",
            takes=takes.EndSession,
            gives=gives.RECEIPT,
            right="write",
            idempotent=True,
        ),
        ToolSpec(
            name="memory_status",
            title="Status of memory",
            description="What memory holds and whether its background work is well. Use it when saving or recalling"
            " behaves oddly, or the user asks.",
            takes=takes.MemoryStatus,
            gives=gives.STATUS,
            right="read",
            idempotent=True,
        ),
    )
}
"""Every tool by its name."""
