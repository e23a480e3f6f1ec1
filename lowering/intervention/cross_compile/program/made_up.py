"""Lets a program go on behind an operator that a GPU has and the CPU has not: the numbers of its results are made up.

One rule: where torch finds no kernel for the CPU, the operator's own shape function says what the results look like,
and they are filled with zeros. Each operator is told once, and so is each line that reads a number afterwards.
"""

import contextlib
import functools
import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import torch
from torch.fx.node import map_aggregate

from inspect_compile.lowering.core.muted_logging import muted
from inspect_compile.lowering.intervention.cross_compile.aten_kernels import override
from inspect_compile.lowering.intervention.cross_compile.native_functions import keys_of_kernels
from inspect_compile.lowering.intervention.cross_compile.program.program import CPU, GPU, MappedProgram
from inspect_compile.torch_compat import by_device, compilers
from inspect_compile.torch_compat import mapped as names

PARTLY: Final = ("_scaled_mm", "_scaled_mm_v2")
"""ATen operators that have a kernel for the CPU, which refuses what a GPU's computes: float8 with scales for rows or
blocks. Theirs is asked first.
"""
_ALL: Final[Any] = torch.library.Library("_", "IMPL")  # type: ignore[no-untyped-call]
"""torch removes what is registered for all operators when this object is gone."""
READING: Final = (
    "_local_scalar_dense",  # item(), bool(), int() and float()
    "equal",
    "nonzero",  # a mask as an index, too
    "masked_select",
    "_unique",
    "_unique2",
    "unique_dim",
    "unique_consecutive",
    "unique_dim_consecutive",
    "bincount",
    "repeat_interleave",
)
"""ATen operators from whose numbers a program gets a number of Python's, or a size."""


def install(program: MappedProgram) -> None:
    """Stand in for the kernels that the CPU lacks, until the process ends."""

    def stand_in(operator: Any, *arguments: Any, **named: Any) -> Any:
        if not _is_of_gpu(operator):
            raise _refusal(operator)
        try:
            results = _made_up(operator, arguments, named)
        except tuple(name.load() for name in names.NO_SHAPE) as error:
            raise _refusal(operator) from error
        program.makes_up(operator.name())
        _watch_reads(program)
        return results

    def partly(operator: Any) -> Any:
        """A kernel that goes on with zeros where the CPU's refuses its arguments and the shape function does not."""
        plain = torch.library.get_kernel(operator, "CPU")

        def called(keys: Any, *arguments: Any, **named: Any) -> Any:
            try:
                return plain.call_boxed(keys, *arguments, **named)
            except (RuntimeError, ValueError) as error:
                try:
                    return stand_in(operator, *arguments, **named)
                except Exception:
                    raise error from None

        return called

    _ALL.fallback(stand_in, "CPU")
    _replace((one for name in PARTLY if (one := getattr(torch.ops.aten, name, None)) is not None), partly)


def _replace(packets: Iterable[Any], kernel: Callable[[Any], Any]) -> None:
    """Give the overloads that have a kernel for the CPU another one, which `kernel` makes of each."""
    operators = [getattr(packet, overload) for packet in packets for overload in packet.overloads()]
    own = [one for one in operators if one.has_kernel_for_dispatch_key(names.CPU_KEY.load())]
    override(((operator, kernel(operator)) for operator in own), "CPU", with_keyset=True)


def _is_of_gpu(operator: Any) -> bool:
    """Whether a GPU has a kernel for it."""
    if operator.namespace != "aten":  # the program's own, or a library's
        return bool(operator.has_kernel_for_dispatch_key(names.CUDA_KEY.load()))
    known = keys_of_kernels()
    return not known or "CUDA" in known.get(operator.name(), ())


def _refusal(operator: Any) -> NotImplementedError:
    """torch's error for an operator without a kernel, in short."""
    return NotImplementedError(f"Could not run '{operator.name()}' with arguments from the 'CPU' backend.")


def _made_up(operator: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """What the operator returns, as its shape function says, with zeros; what it writes to is filled with zeros, too.

    Raises what the shape function raises: for arguments that a GPU refuses it is the GPU's error.
    """
    mode = compilers.FAKE_TENSOR_MODE.load()(allow_fallback_kernels=False)
    given: dict[int, tuple[Any, torch.Tensor]] = {}
    """For each tensor without contents that stands for an argument: itself, and the argument."""

    def shape_of(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        shape = torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device=value.device)
        given[id(shape)] = shape, value
        return shape

    def with_zeros(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) in given:
            return given[id(value)][1]
        return torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device=CPU).zero_()

    with mode, _as_on_gpu():
        shapes, shapes_named = map_aggregate(arguments, shape_of), map_aggregate(named, shape_of)
        results = operator(*shapes, **shapes_named)
    schema = operator._schema.arguments
    for position, argument in enumerate(schema):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = arguments[position] if position < len(arguments) else named.get(argument.name)
            for written in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(written, torch.Tensor):
                    shape = next(shape for shape, real in given.values() if real is written)
                    written.resize_(shape.shape).zero_()
    if isinstance(results, list):
        return [with_zeros(value) for value in results]
    return tuple(map(with_zeros, results)) if isinstance(results, tuple) else with_zeros(results)


@contextlib.contextmanager
def _as_on_gpu() -> Iterator[None]:
    """A context in which shape functions check and lay out what they are given as on a GPU, and log no refusal."""
    hint = by_device.DEVICE_HINT.load()
    by_device.DEVICE_HINT.put(lambda tensor: GPU.type)
    try:
        with muted(logging.getLogger(names.NO_SHAPE[0].module)):
            yield
    finally:
        by_device.DEVICE_HINT.put(hint)


@functools.cache
def _watch_reads(program: MappedProgram) -> None:
    """Tell each line that reads a number from now on."""

    def reading(operator: Any) -> Any:
        plain = torch.library.get_kernel(operator, "CPU")

        def read(keys: Any, *arguments: Any, **named: Any) -> Any:
            if not torch.compiler.is_compiling():
                program.reads()
            return plain.call_boxed(keys, *arguments, **named)

        return read

    _replace((getattr(torch.ops.aten, name) for name in READING), reading)
