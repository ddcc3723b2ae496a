"""Sentences about what whoever answers said or did: they are held against the lines of theirs. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memhold.consolidate.grounding.claims import Claim, Line

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
_BEGINS = re.compile(rf"(?i)\A\W*(?:{_ASSISTANT}|(?P<told>{_IS_TOLD}))")
_BY_OTHERS = re.compile(
    r"(?i)\b(?:i|we)(?:['’]ve| have)? (?:was|were|got|been) (?:\w+ )?"
    r"(?:asked|told|advised|informed|reminded|offered|shown|warned|encouraged|recommended|given)\b"
    r"|(?<!\byou )\b(?:asked|told|advised|informed|reminded|offered|showed|warned|encouraged|gave) (?:me|us)\b"
    r"|\bich wurde\b.{0,100}\b(?:gefragt|gebeten|informiert|beraten|erinnert|gewarnt)\b"
    r"|\bme (?:preguntaron|preguntó|dijeron|dijo|aconsejaron|aconsejó|recomendaron|recomendó|informaron|informó"
    r"|recordaron|recordó|ofrecieron|ofreció|sugirieron|sugirió)\b"
)
"""What a user says of others who told or asked them something."""


def of_the_assistant(claim: Claim, lines: Sequence[Line]) -> bool:
    """Whether a sentence begins with what the assistant did or said, or with what the user was told or asked.

    Not where the user says that somebody told or asked them: "I was told by my doctor to avoid salt".
    """
    found = None if claim.value else _BEGINS.match(claim.core)
    if found is None or found["told"] is None:
        return found is not None
    return not any(line.own and _BY_OTHERS.search(line.text) for line in lines)
