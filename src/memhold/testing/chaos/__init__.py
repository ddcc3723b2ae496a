"""A model server that answers sensibly by itself and fails as real ones do; and the providers' message rules as checks.

See docs/chaos.md for how to test your own agent with it.
"""

from memhold.testing.chaos.answers import Character
from memhold.testing.chaos.faults import (
    FAULTS,
    OK,
    Act,
    Answer,
    Cable,
    Damage,
    Fault,
    Fine,
    Misbind,
    Row,
    Spoil,
    answer,
    fault,
    fault_names,
    rows,
    rows_of,
)
from memhold.testing.chaos.machine import Machine
from memhold.testing.chaos.replies import Asked, Call, Offer, Reply
from memhold.testing.chaos.rules import (
    Violation,
    anthropic_violations,
    check_anthropic,
    check_openai,
    openai_violations,
)
from memhold.testing.chaos.running import serve_chaos
from memhold.testing.chaos.scripts import calling
from memhold.testing.chaos.server import ChaosServer, Request

__all__ = [
    "FAULTS",
    "OK",
    "Act",
    "Answer",
    "Asked",
    "Cable",
    "Call",
    "ChaosServer",
    "Character",
    "Damage",
    "Fault",
    "Fine",
    "Machine",
    "Misbind",
    "Offer",
    "Reply",
    "Request",
    "Row",
    "Spoil",
    "Violation",
    "answer",
    "anthropic_violations",
    "calling",
    "check_anthropic",
    "check_openai",
    "fault",
    "fault_names",
    "openai_violations",
    "rows",
    "rows_of",
    "serve_chaos",
]
