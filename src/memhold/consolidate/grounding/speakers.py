"""Sentences about what whoever answers said or did: they are held against the lines of theirs. Pure."""

from __future__ import annotations

import re
from typing import Final

from memhold.consolidate.grounding.claims import Claim

# ruff: noqa: RUF001 - signs and letters of every script

__all__ = ["of_the_assistant"]

_ASSISTANT: Final = (
    r"(?:the assistant|der assistent|die assistentin|l['’]assistant(?:e)?|el asistente|la asistente|l['’]assistente"
    r"|o assistente|a assistente|de assistent|assistenten|ассистент|помощник)\b"
    r"|助手|助理|アシスタント|어시스턴트|도우미|비서"
)
_IS_TOLD: Final = (
    r"the user (?:is|was|has been) (?:then |also |further )?"
    r"(?:asked|told|advised|informed|reminded|offered|shown|warned|encouraged|recommended|given)\b"
    r"|der nutzer wurde (?:gefragt|gebeten|informiert|beraten|erinnert|gewarnt)\b"
    r"|(?:se le|al usuario se le) (?:preguntó|dijo|aconsejó|recomendó|informó|recordó|ofreció|sugirió)\b"
)
_BEGINS = re.compile(rf"(?i)\A\W*(?:{_ASSISTANT}|{_IS_TOLD})")


def of_the_assistant(claim: Claim) -> bool:
    """Whether a sentence begins with what the assistant did or said, or with what the user was told or asked."""
    return not claim.value and _BEGINS.match(claim.core) is not None
