"""A setting is a number that something can be done with, wherever it comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import InvalidSetting
from holdfast.settings import load_settings


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "0", "-1"])
def test_a_number_out_of_bounds_is_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(InvalidSetting, match="busy_timeout"):
        load_settings({}, environment={"HOLDFAST_BUSY_TIMEOUT": value}, folder=tmp_path)
    with pytest.raises(InvalidSetting, match="busy_timeout"):
        load_settings({"busy_timeout": float(value)}, environment={}, folder=tmp_path)
