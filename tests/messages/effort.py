"""How many examples a property is tried with: a few, always the same; or MEMHOLD_EXAMPLES, drawn anew each time."""

import os
import sys
import time
from functools import wraps

from hypothesis import HealthCheck, settings

WANTED = os.environ.get("MEMHOLD_EXAMPLES")
STEP = 1000


def tried(usual):
    """The settings of a property; a long run says how far it is (`pytest -s`), and `--hypothesis-seed` repeats it."""
    wanted = settings(
        max_examples=int(WANTED or usual),
        deadline=None,
        derandomize=WANTED is None,
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )

    def property_of(test):
        if WANTED is not None:
            test.hypothesis.inner_test = told(test.hypothesis.inner_test)
        return wanted(test)

    return property_of


def told(test):
    """The test, and a line for each thousand examples."""
    count, began = 0, time.monotonic()

    @wraps(test)
    def counted(*args, **given):
        nonlocal count
        test(*args, **given)
        count += 1
        if count % STEP == 0:
            took = time.monotonic() - began
            print(f"{test.__name__}: {count:,} examples, {took:.0f} s", file=sys.stderr, flush=True)

    return counted
