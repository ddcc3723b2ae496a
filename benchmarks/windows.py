"""Windows from made-up histories: valid by the providers' rules, within the budget, with the newest message."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from random import Random
from typing import Any

from benchmarks.measure import Row
from memhold.context.build import build
from memhold.context.gather import WindowRead
from memhold.context.plan import Inputs, Request
from memhold.context.strategies import STRATEGIES
from memhold.errors import TooLarge
from memhold.messages.former import former_passages
from memhold.messages.tool_pairs import repair_window
from memhold.testing.chaos.rules import check_anthropic, check_openai
from memhold.text.token_estimate import estimate_message
from memhold.values.records import Memory, Message, Shape

__all__ = ["any_windows"]

AT = datetime(2026, 1, 1, tzinfo=UTC)
SECRET = b"bench" * 7
SHAPES: tuple[Shape, ...] = ("openai", "anthropic")
Body = Mapping[str, Any]


def words(random: Random) -> str:
    """Some text, now and then very long."""
    count = random.choice([1, 3, 10, 40, 40, 400])
    return " ".join(random.choices(["rain", "42", "비가", "{'a': 1}", "日本", "Lisbon,"], k=count))


def openai_turn(random: Random) -> list[Body]:
    """A call or several, with results that are missing, doubled or of another call, and perhaps a system message."""
    ids = [random.choice(["call_0", "call_0", "call_1"]) for _ in range(random.randint(1, 3))]
    calls = [{"id": one, "type": "function", "function": {"name": "look", "arguments": "{}"}} for one in ids]
    results = [*ids, random.choice(["call_0", "call_9"])][: random.randint(0, len(ids) + 1)]
    random.shuffle(results)
    made: list[Body] = [{"role": "assistant", "content": None, "tool_calls": calls}]
    made += [{"role": "tool", "tool_call_id": one, "content": words(random)} for one in results]
    if random.random() < 0.2:
        made.insert(random.randint(1, len(made)), {"role": "system", "content": "be brief"})
    return made


def anthropic_turn(random: Random) -> list[Body]:
    """The same in the other shape, now and then with thinking."""
    ids = [random.choice(["toolu_0", "toolu_0", "toolu_1"]) for _ in range(random.randint(1, 3))]
    uses: list[Body] = [{"type": "tool_use", "id": one, "name": "look", "input": {}} for one in ids]
    if random.random() < 0.3:
        uses.insert(0, {"type": "thinking", "thinking": "hm", "signature": "s"})
    results: list[Body] = [{"type": "tool_result", "tool_use_id": one, "content": words(random)} for one in ids]
    results = results[: random.randint(0, len(results))]
    if random.random() < 0.3:
        results.append({"type": "text", "text": words(random)})
    made: list[Body] = [{"role": "assistant", "content": uses}]
    return [*made, {"role": "user", "content": results}] if results else made


def history(random: Random, shape: Shape) -> list[Body]:
    """Turns in any order, cut anywhere at both ends."""
    made: list[Body] = []
    for _ in range(random.randint(0, 12)):
        kind = random.random()
        if kind < 0.4:
            made += openai_turn(random) if shape == "openai" else anthropic_turn(random)
        elif kind < 0.7:
            made.append({"role": "user", "content": words(random)})
        elif kind < 0.75 and shape == "openai":
            image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
            made.append({"role": "user", "content": [{"type": "text", "text": words(random)}, image]})
        else:
            made.append({"role": "assistant", "content": words(random)})
    first = random.randint(0, len(made))
    return made[first if random.random() < 0.5 else 0 :]


def remembered(number: int, text: str) -> Memory:
    """A note."""
    return Memory(
        id=f"mem_{number:032x}",
        number=number,
        kind="note",
        text=text,
        event_time=AT,
        valid_from=AT,
        created_at=AT,
        recorded_at=AT,
    )


def gathered(random: Random, shape: Shape) -> Inputs:
    """A journal of either shape, a new message, and some memories."""
    held = random.choice(SHAPES)
    journal = tuple(
        Message(
            id=f"msg_{at:032x}",
            number=at,
            session="s",
            seq=at,
            role=body["role"],
            body=body,
            shape=held,
            text="",
            change_id="",
            event_time=AT,
            recorded_at=AT,
            passages=former_passages(body["role"], body, "", "user"),
        )
        for at, body in enumerate(history(random, held), start=1)
    )

    def memories(first: int) -> list[Memory]:
        return [remembered(at, words(random)) for at in range(first, first + random.randint(0, 5))]

    new: list[Body] = [
        {"role": "system", "content": "be nice"},
        {"role": "user", "content": "and now " + words(random)},
    ]
    return Inputs(
        given=random.choice([new, new[1:], history(random, shape)]),
        window=WindowRead(messages=journal),
        corrections=memories(100)[:2],
        profile=memories(200),
        summaries=memories(300),
        memories=memories(400),
    )


def fault(seed: int) -> str | None:
    """What is wrong with the window of one made-up case; None where nothing is, "refused" where no window fits."""
    random = Random(seed)
    shape = random.choice(SHAPES)
    budget = random.choice([random.randint(200, 1500), random.randint(1500, 20_000)])
    found = gathered(random, shape)
    request = Request(
        budget=budget,
        reserve=random.randint(0, budget // 4),
        strategy=random.choice(sorted(STRATEGIES)),
        shape=shape,
        threshold=random.randint(1, 8),
        tail=random.randint(0, 4),
    )
    try:
        context = build(found, request, secret=SECRET)
    except TooLarge:
        return "refused" if request.available < 1500 else "a budget that holds it was refused"
    messages = list(context.messages)
    broken = check_openai(messages) if shape == "openai" else check_anthropic(messages, context.system)
    if broken:
        return broken[0]
    lead = [{"role": "system", "content": context.system}] if context.system else []
    if sum(map(estimate_message, [*lead, *messages])) > request.available:
        return "over the budget"
    if repair_window(messages, shape).repairs:
        return "repairing again changes it"
    said = found.given[-1].get("content") if found.given and found.given[-1]["role"] == "user" else None
    if isinstance(said, str) and said.strip()[:12] not in context.as_text():
        return "the newest message is not there"
    return None if {one.id for one in found.corrections} <= set(context.shown) else "a correction is not there"


def any_windows(count: int = 20_000) -> Sequence[Row]:
    """Windows of so many made-up cases: histories, cuts, budgets, strategies, both shapes."""
    began = time.perf_counter()
    found = [fault(seed) for seed in range(count)]
    refused = found.count("refused")
    wrong = [one for one in found if one not in {None, "refused"}]
    first = f", first: {wrong[0]}" if wrong else ""
    return [
        Row(
            name=f"context, {count:,} made-up windows",
            value=f"{len(wrong)} not valid{first}; {refused:,} budgets under 1,500 too small, and said so",
            against=f"{(time.perf_counter() - began) / count * 1e3:.1f} ms each",
            ratio=float(len(wrong)),
            bar=0.0,
        )
    ]
