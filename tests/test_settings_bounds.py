"""A setting is a number that something can be done with, wherever it comes from."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from memhold import AsyncMemhold
from memhold.errors import InvalidSetting
from memhold.server.settings import ServeSettings, load_serve_settings
from memhold.wiring.settings import GONE, Settings, load_settings


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "0", "-1"])
def test_a_number_out_of_bounds_is_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(InvalidSetting, match="busy_timeout"):
        load_settings({}, environment={"MEMHOLD_BUSY_TIMEOUT": value}, folder=tmp_path)
    with pytest.raises(InvalidSetting, match="busy_timeout"):
        load_settings({"busy_timeout": float(value)}, environment={}, folder=tmp_path)


def test_a_former_setting_is_called_that_wherever_it_is_written(tmp_path: Path) -> None:
    known = {field.name for group in (Settings, ServeSettings) for field in fields(group)}
    assert GONE
    assert not GONE & known
    for name in GONE:
        with pytest.raises(InvalidSetting, match=f"the environment: {name} is no setting any more"):
            load_settings({}, environment={f"MEMHOLD_{name.upper()}": "1"}, folder=tmp_path)
    with pytest.raises(InvalidSetting, match="the arguments: raw_chars is no setting any more"):
        load_settings({"raw_chars": 100}, environment={}, folder=tmp_path)
    (tmp_path / "memhold.toml").write_text("[serve]\nmax_streams = 3\n", "utf-8")
    with pytest.raises(InvalidSetting, match=r"memhold\.toml: max_streams is no setting any more"):
        load_serve_settings({}, environment={}, folder=tmp_path)


@pytest.mark.asyncio
async def test_an_embedding_that_the_catalog_has_not_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    for name in ("bulitin", "claude-haiku-4-5"):
        with pytest.raises(InvalidSetting, match="builtin, minilm, mpnet, nomic, a model directory"):
            await AsyncMemhold.open(path, worker=False, embedding=name)
    assert not path.exists()


@pytest.mark.asyncio
async def test_a_model_directory_that_is_away_keeps_nobody_from_writing(tmp_path: Path) -> None:
    async with AsyncMemhold.open(
        tmp_path / "m.db", worker=False, embedding=str(tmp_path / "unmounted" / "model")
    ) as memhold:
        alice = memhold.scope(user="alice")
        await alice.remember("kept all the same")
        page = await alice.recall("what was kept")
        assert (len(page.hits), page.degraded) == (1, ("meaning",))
