"""docs/chaos.md: its code runs, and its table is the table of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memhold.testing.chaos import FAULTS

TEXT = (Path(__file__).parents[2] / "docs" / "chaos.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL))
def test_the_code_runs(code):
    exec(compile(code, "docs/chaos.md", "exec"), {})  # noqa: S102 - the page's own code


def test_the_table_names_every_fault():
    table = TEXT.partition("<!-- faults -->\n")[2].partition("<!-- end -->")[0]
    assert table == "".join(f"| `{one.name}` | {one.about} |\n" for one in FAULTS.values())
