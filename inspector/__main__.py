"""`python -m inspect_compile`: the same as the command `inspect-compile`."""

import sys

from inspect_compile.commands import main

sys.exit(main())
