"""`python -m memhold` is the command line."""

import sys

from memhold.interfaces.cli import main

if __name__ == "__main__":
    sys.exit(main())
