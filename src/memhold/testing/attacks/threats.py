"""OWASP's two lists of threats to agents, by their ids, and what no server of memory can do about some."""

from __future__ import annotations

from typing import Final

__all__ = ["OUT_OF_REACH", "THREATS"]

THREATS: Final = {
    "T1": "Memory Poisoning", "T2": "Tool Misuse", "T3": "Privilege Compromise", "T4": "Resource Overload",
    "T5": "Cascading Hallucination Attacks", "T6": "Intent Breaking & Goal Manipulation",
    "T7": "Misaligned & Deceptive Behaviors", "T8": "Repudiation & Untraceability",
    "T9": "Identity Spoofing & Impersonation", "T10": "Overwhelming Human in the Loop",
    "T11": "Unexpected RCE and Code Attacks", "T12": "Agent Communication Poisoning",
    "T13": "Rogue Agents in Multi-Agent Systems", "T14": "Human Attacks on Multi-Agent Systems", "T15": "Human Manipulation",
    "ASI01": "Agent Goal Hijack", "ASI02": "Tool Misuse & Exploitation", "ASI03": "Identity & Privilege Abuse",
    "ASI04": "Agentic Supply Chain Vulnerabilities", "ASI05": "Unexpected Code Execution",
    "ASI06": "Memory & Context Poisoning", "ASI07": "Insecure Inter-Agent Communication", "ASI08": "Cascading Failures",
    "ASI09": "Human-Agent Trust Exploitation", "ASI10": "Rogue Agents",
}  # fmt: skip
"""`T`: Agentic AI, Threats and Mitigations. `ASI`: Top 10 for Agentic Applications."""

OUT_OF_REACH: Final = {
    "T7": "what an agent makes of what it was given is its own; of what it writes, who wrote it is known",
    "T14": "between agents the server carries nothing; a person who attacks comes with a token, as in T3 and T9",
}
"""Threats that no attack on a server of memory shows, and why."""
