"""Questions about measured windows, answered by the model from what each system holds within one budget of tokens."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from benchmarks.measure import Row, log
from benchmarks.worlds import Question, World, fitting
from memhold.fidelity.amounts import amounts
from memhold.fidelity.quotes import plain
from memhold.languages.tables import spoken
from memhold.text.details import content_terms
from memhold.text.token_estimate import estimate_tokens

__all__ = ["BUDGET", "Sheet", "filled", "holds", "ranked", "scored"]

BUDGET = 2_000
"""Tokens, by the estimate, that each system has for what it knows."""
HELD = 0.5
"""The share of an answer's content words that one memory has from which on it holds the answer; numbers all of them."""
SYSTEM = (
    "Answer the question from the notes above it alone, in as few words as possible. If they do not say it, answer: "
    "unknown."
)


@dataclass(slots=True)
class Sheet:
    """What the answers of each system were worth, question after question."""

    exact: dict[str, list[bool]] = field(default_factory=dict)
    shared: dict[str, list[float]] = field(default_factory=dict)

    def ask(self, url: str, system: str, question: Question, notes: str) -> None:
        """Ask the model at a URL one question from a system's notes, and score what it says."""
        said = _answer(url, question.text, notes)
        self.exact.setdefault(system, []).append(holds(said, question.answer))
        self.shared.setdefault(system, []).append(scored(said, question.answer))
        log.info("answers: %s, %d", system, len(self.exact[system]))

    def rows(self) -> Iterator[Row]:
        """A row a system: the share of answers that hold the gold, and the mean token-F1."""
        for system, found in self.exact.items():
            shared = self.shared[system]
            yield Row(
                name=f"answered from {system}, {BUDGET:,} tokens",
                value=f"{sum(found)} of {len(found)} hold the answer",
                against=f"token-F1 {sum(shared) / len(shared):.3f}",
            )


def filled(texts: Iterable[str]) -> str:
    """Texts in their order, as many as the budget holds."""
    left, kept = BUDGET, []
    for text in texts:
        if (cost := estimate_tokens(text)) <= left:
            kept.append(text)
            left -= cost
    return "\n".join(kept)


def ranked(world: World, order: Sequence[str]) -> str:
    """The first messages of an order, as many as the budget holds, as they were said one after the other."""
    said = {one.id: one for one in world.said}
    held = set(fitting(order, said, BUDGET, estimate_tokens))
    return "\n".join(one.text for one in world.said if one.id in held)


def scored(said: str, gold: str) -> float:
    """Token-F1 of an answer by content words, as in SQuAD (Rajpurkar et al., 2016), articles and the like left out."""
    one, other = content_terms(said), content_terms(gold)
    shared = len(one & other)
    return 2 * shared / (len(one) + len(other)) if shared else 0.0


def holds(text: str, gold: str) -> bool:
    """Whether a memory's text has what an answer says: its numbers, and at least half of its content words."""
    if _numbers(gold) - _numbers(text):
        return False
    wanted = content_terms(gold)
    return bool(wanted) and len(wanted & content_terms(text)) >= HELD * len(wanted)


def _numbers(text: str) -> set[Decimal]:
    found = amounts(plain(text), spoken(text))
    return {value for one in found if one.sure or min(one.values) > 1 for value in one.values}


def _answer(url: str, question: str, notes: str) -> str:
    body: Mapping[str, object] = {
        "messages": [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": f"Notes:\n{notes or '(none)'}\n\nQuestion: {question}"},
        ],
        "temperature": 0.0,
        "max_tokens": 60,
    }
    request = urllib.request.Request(  # noqa: S310 - the relay of this run
        f"{url}/chat/completions", data=json.dumps(body).encode(), headers={"content-type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=3_000.0) as answer:  # noqa: S310 - the relay of this run
            return str(json.loads(answer.read())["choices"][0]["message"]["content"] or "")
    except urllib.error.HTTPError:
        return ""
