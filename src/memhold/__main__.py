"""`python -m memhold` is the command line."""

import sys

from memhold.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
