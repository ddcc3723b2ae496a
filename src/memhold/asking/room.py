"""How many tokens the least of our questions takes of a model's context: prompt, a part of a window, and the answer."""

from __future__ import annotations

from typing import Final

__all__ = ["LEAST_ANSWER_TOKENS", "PROMPT_TOKENS", "SMALLEST_PART", "least_context"]

SMALLEST_PART: Final = 600
"""Tokens below which a part of a window is not made smaller."""
PROMPT_TOKENS: Final = 2_500
"""Tokens of the prompt, the tool and the known facts, beside the window."""
LEAST_ANSWER_TOKENS: Final = 2_000
"""What a memory of a few lines may take; that of a longer window is no longer than the window."""
_BY_TURNS: Final = 2_000
"""The smallest part once more, its prompt (520 with tool and line above) and the answer to one message (600)."""


def least_context(*, by_turns: bool) -> int:
    """Tokens that a context must take, asked for a whole part of a window at once or for one message at a time."""
    return _BY_TURNS if by_turns else PROMPT_TOKENS + SMALLEST_PART + LEAST_ANSWER_TOKENS
