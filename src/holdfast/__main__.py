"""`python -m holdfast` is the command line."""

import sys

from holdfast.interfaces.cli import main

if __name__ == "__main__":
    sys.exit(main())
