"""A model too small for a window in one call judges no notes, unless somebody names it as the judge (decision 0018)."""

from __future__ import annotations

from pathlib import Path

import pytest

from memhold import AsyncMemhold
from memhold.testing import ChaosServer
from tests.compaction.test_failures import SAID
from tests.compaction.test_merging import told

SMALL = '[models.small]\nmodel = "qwen2.5-1.5b"\nbase_url = "{url}/v1"\n{more}\n'
LARGE = '[models.large]\nmodel = "llama-3.3-70b"\nbase_url = "{url}/v1"\n'


@pytest.mark.parametrize(
    ("more", "compaction", "asked"),
    [
        pytest.param("", "", None, id="alone"),
        pytest.param('fallback = "large"', "", "llama-3.3-70b", id="before a larger one"),
        pytest.param("", "small", "qwen2.5-1.5b", id="named as the judge"),
        pytest.param('asked = "whole"', "", "qwen2.5-1.5b", id="said to take a window whole"),
    ],
)
async def test_which_model_is_asked(tmp_path: Path, more: str, compaction: str, asked: str | None) -> None:
    async with ChaosServer() as server:
        tables = (SMALL + LARGE).format(url=server.url, more=more)
        (tmp_path / "models.toml").write_text(tables)
        given = {"consolidation": "small", "compaction": compaction, "models": str(tmp_path / "models.toml")}
        async with AsyncMemhold.open("memory://", worker=False, embedding="none", **given) as mem:
            alice = mem.scope(user="alice")
            await told(alice, *SAID)
            done = await alice.compact()
        models = {one.body["model"] for one in server.requests if "chat" in one.path}
    assert done.judged is (asked is not None)
    assert models == ({asked} if asked is not None else set())
    assert done.merged == (0 if asked is None else 2)
