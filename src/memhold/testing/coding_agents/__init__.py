"""Doubles of coding agents: what Claude Code, Codex and opencode tell a hook, and what they make of its answer.

See docs/agent-doubles.md for how to test a hook of your own with them. Nothing of Memhold's own is used here.
"""

from memhold.testing.coding_agents.doubles import CodingAgent, Session
from memhold.testing.coding_agents.protocols import AGENTS, EVENTS, Answer, Client, Told, answer_of, told_at
from memhold.testing.coding_agents.running import Hook, Ran

__all__ = [
    "AGENTS",
    "EVENTS",
    "Answer",
    "Client",
    "CodingAgent",
    "Hook",
    "Ran",
    "Session",
    "Told",
    "answer_of",
    "told_at",
]
