"""The page on context runs, and its figures are the code's."""

import re
from inspect import signature
from pathlib import Path

from memhold.context.render import CORRECTION_TOKENS, LINE_TOKENS
from memhold.messages.fences import NOTICE
from memhold.verbs import context_slots
from memhold.verbs.context_slots import TAIL
from memhold.verbs.scope import AsyncScope

PAGE = (Path(__file__).parents[1] / "docs" / "context.md").read_text(encoding="utf-8")


def test_the_example_runs():
    [program] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(program, {})  # noqa: S102 - our own page


def test_every_argument_and_its_default_is_told():
    told = dict(re.findall(r"^\| `(\w+)` \| ([^|]*) \|", PAGE, re.MULTILINE))
    asked = {name: one.default for name, one in signature(AsyncScope.context).parameters.items() if name != "self"}
    assert told.keys() == asked.keys()
    assert told["budget"].strip() == str(asked["budget"])
    assert told["strategy"].strip().strip("`") == asked["strategy"]
    assert told["tail"].startswith(str(TAIL))
    assert told["crossover_turn_threshold"].strip() == "0"
    # As it is written: the benchmarks set another in their own process, which may be this one.
    [seconds] = re.findall(r"^SLOT_SECONDS = ([\d.]+)$", Path(context_slots.__file__).read_text("utf-8"), re.MULTILINE)
    assert f"a deadline of {float(seconds):g} seconds" in PAGE
    assert NOTICE in PAGE
    assert f"at most {LINE_TOKENS} tokens, corrections at most {CORRECTION_TOKENS}" in PAGE
