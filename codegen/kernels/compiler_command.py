"""In a separate process: prints the command with which this torch compiles a C++ kernel, as JSON on stdout.

It knows no kernel: nothing from a dump comes here.
"""

import contextlib
import json
import shlex
import sys
from typing import Final

from inspect_compile.torch_compat import compilers as names

SOURCE: Final = "i"
OBJECT: Final = "o"
"""The placeholder for files in the command."""


def main() -> None:
    """Print the command, and torch's version."""
    with contextlib.redirect_stdout(sys.stderr):
        import torch

        options = names.CPP_OPTIONS.load()(
            vec_isa=names.PICK_VEC_ISA.load()(), compile_only=True, include_pytorch=True, shared=True, device_type="cpu"
        )
        command = names.CPP_BUILDER.load()(name=OBJECT, sources=SOURCE, BuildOption=options).get_command_line()
    sys.stdout.write(json.dumps({"command": shlex.split(command), "torch": torch.__version__}))


if __name__ == "__main__":
    main()
