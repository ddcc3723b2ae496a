"""What a call through the chain costs, and what waiting calls weigh: python -m benchmarks.model_calls."""

from __future__ import annotations

from benchmarks.models import run

if __name__ == "__main__":
    for row in run():
        print(f"{row.name:36} {row.value:24} {row.against}")
