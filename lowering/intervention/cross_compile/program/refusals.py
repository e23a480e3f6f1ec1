"""Lets functions of torch that refuse tensors on the CPU take them for some on a GPU."""

import functools
import inspect
import sys
from typing import Final

from inspect_compile.lowering.intervention.cross_compile.program.program import MappedProgram
from inspect_compile.torch_compat import Name
from inspect_compile.torch_compat import mapped as names

REFUSING: Final = (names.HISTOGRAM_SHAPE, names.FLEX_DEVICE, names.FLEX_OPTIONS)
"""They ask whether a device's type is "cpu", and do what they do for a GPU if it is not."""


def install(program: MappedProgram) -> None:
    """To be called when a module with one of them is imported, which may be after the first tensor is put on a GPU."""
    if program.uses_gpu:
        lift()


def lift() -> None:
    """Let those whose modules are imported refuse nothing, until the process ends."""
    for name in REFUSING:
        if name.module in sys.modules:
            _lift(name)


@functools.cache
def _lift(name: Name) -> None:
    function = inspect.unwrap(name.load())
    code = function.__code__
    function.__code__ = code.replace(co_consts=tuple("meta" if value == "cpu" else value for value in code.co_consts))
