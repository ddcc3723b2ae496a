"""What arrays hold, for the type checker alone: NumPy is loaded where it is used first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Mask", "Rows"]

Mask = NDArray[np.bool_]
Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
