"""`memhold.wrap` with the newest SDKs of OpenAI and Anthropic: every way to ask, with memory and without."""

from __future__ import annotations

from pathlib import Path

from reality.outside import run
from reality.test_integrations import command


def test_every_way_of_asking_is_remembered_and_none_is_ended(
    wheel: Path, tmp_path: Path, clean: dict[str, str]
) -> None:
    done = run(command("wrap", wheel, "checks", tmp_path), seconds=600, env=clean)
    assert done.code == 0, done.out + done.err
