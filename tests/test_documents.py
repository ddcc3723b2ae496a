"""The reader of the documents can fail: a wrong output, a failing command, a dead anchor."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.documents import anchors, blocks, links, run_blocks


def page(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "page.md"
    path.write_text(text)
    return path


def test_blocks_run_in_order_and_share_their_variables(tmp_path: Path) -> None:
    text = "```python\nx = 1\nprint(x)\n```\n```text\n1\n```\n```python\nassert x == 1\n```\n"
    assert run_blocks(page(tmp_path, text), tmp_path) == 2


@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint(1)\n```\n```text\n2\n```\n",
        "```python\nassert 1 == 2\n```\n",
        "```console\n$ false\n```\n",
        "```console\n$ true  # exit 3\n```\n",
        "```console\n$ echo one\ntwo\n```\n",
        "```console\n$ make no-such-target\n```\n",
    ],
)
def test_what_is_not_true_is_noticed(tmp_path: Path, text: str) -> None:
    with pytest.raises(AssertionError):
        run_blocks(page(tmp_path, text), tmp_path)


def test_a_console_block_compares_what_comes_out(tmp_path: Path) -> None:
    text = "```console\n$ echo one two \\\n  three\none ... three\n$ exit 3  # exit 3\n$ make test\n```\n"
    assert run_blocks(page(tmp_path, text), tmp_path) == 1


def test_only_a_reason_skips_a_block(tmp_path: Path) -> None:
    text = "<!-- skip: it needs a phone line -->\n```python\nassert False\n```\n<!-- skip: -->\n```python\n1\n```\n"
    assert [block.skipped for block in blocks(page(tmp_path, text))] == ["it needs a phone line", None]


def test_links_and_anchors(tmp_path: Path) -> None:
    path = page(tmp_path, "# Two words, here\n[a](b.md#c) [d](https://example.org)\n```\n[no](no.md)\n```\n")
    assert links(path) == ["b.md#c"]
    assert anchors(path) == {"two-words-here"}


def test_it_needs_nothing_that_is_ours_or_installed() -> None:
    """`make reality` runs pages in environments that hold a framework and the wheel, and none of our tests."""
    alone = f"import sys; sys.path.append({str(Path(__file__).parent)!r}); import documents"
    subprocess.run([sys.executable, "-I", "-S", "-c", alone], check=True)
