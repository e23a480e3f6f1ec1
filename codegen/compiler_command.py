"""In a process of its own: the command with which the torch here compiles a C++ kernel, as JSON on stdout.

It is told of no kernel: what a dump holds never comes here.
"""

import contextlib
import json
import shlex
import sys
from typing import Final

from inspect_compile.torch_compat import compilers as names

SOURCE: Final = "i"
OBJECT: Final = "o"
"""What stands in the command for the files."""


def main() -> None:
    """Write it, and torch's version."""
    with contextlib.redirect_stdout(sys.stderr):
        import torch

        options = names.CPP_OPTIONS.load()(
            vec_isa=names.PICK_VEC_ISA.load()(), compile_only=True, include_pytorch=True, shared=True, device_type="cpu"
        )
        command = names.CPP_BUILDER.load()(name=OBJECT, sources=SOURCE, BuildOption=options).get_command_line()
    sys.stdout.write(json.dumps({"command": shlex.split(command), "torch": torch.__version__}))


if __name__ == "__main__":
    main()
