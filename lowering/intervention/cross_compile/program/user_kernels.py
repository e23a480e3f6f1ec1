"""Handles launches of the program's Triton kernels, which no CPU can run, in a program whose CUDA is mapped to the CPU.

The program ends at such a launch, or goes on with zeros in what the kernel would write. The kernel is compiled for the
targets in any case.
"""

import functools
import sys
import threading
from importlib.util import find_spec
from types import FrameType
from typing import Any, Final, NamedTuple

import torch

from inspect_compile.lowering.core import values
from inspect_compile.lowering.intervention.cross_compile import device
from inspect_compile.lowering.intervention.cross_compile.program.program import MappedProgram, frame_summary, line
from inspect_compile.probe import let_pass
from inspect_compile.torch_compat import user_kernels as names
from inspect_compile.torch_compat.frames import LAUNCH

_CODE: Final = "target-user-kernel"


def install(program: MappedProgram) -> None:
    """Replace the functions that launch kernels; to be called when Triton's autotuner has been imported."""
    device.drive(program.target)
    run, tuned = names.RUN.load(), names.RUN_TUNED.load()
    has_triton, has_descriptors = names.HAS_TRITON.load(), names.HAS_DESCRIPTORS.load()
    outer = _Outer()
    copies_in_bulk = program.target.backend == "cuda" and program.target.capability >= (9, 0)

    @functools.wraps(has_triton)
    def has(*arguments: Any, **named: Any) -> bool:
        """torch's `has_triton`, which is True for Dynamo, so that it recognises kernels."""
        return sys._getframe(1).f_globals.get("__name__") == names.DYNAMO or has_triton(*arguments, **named)

    @functools.wraps(has_descriptors)
    def describes() -> bool:
        """torch's question for descriptors of bulk copies, answered for Dynamo as on the target."""
        is_asked = copies_in_bulk and sys._getframe(1).f_globals.get("__name__") == names.DYNAMO
        return bool(is_asked and find_spec("triton.tools.tensor_descriptor")) or has_descriptors()

    @functools.wraps(run)
    def stopped(kernel: Any, *arguments: Any, grid: Any = None, warmup: bool = False, **named: Any) -> Any:
        """Instead of a launch: send the kernel, then end the program or write zeros."""
        if warmup:
            return run(kernel, *arguments, grid=grid, warmup=warmup, **named)
        given = {**dict(zip(kernel.arg_names, arguments, strict=False)), **named}
        where, is_of_graph = _line(sys._getframe(1))
        if not is_of_graph and not outer.is_tuned:
            _send(program, kernel, grid, given)
        if not program.fake_kernels:
            _stop(program, kernel.__name__, where)
        asked = {name: given[name] for name in kernel.arg_names if name in given}
        written = _written(kernel, asked)
        tensors, _ = plain(asked)
        for name in written:
            tensors[name].zero_()
        into = ", ".join(written) or "nothing, because torch does not find what it writes"
        message = f"the Triton kernel {kernel.__name__} did not run without a GPU: zeros were written to {into}"
        program.remark(_CODE, message, where)
        return None

    @functools.wraps(tuned)
    def untimed(tuner: Any, *arguments: Any, grid: Any = None, **named: Any) -> Any:
        """Instead of a launch with autotuning: one with the first configuration, since nothing can be timed."""
        if not _line(sys._getframe(1)).is_of_graph:
            _send(program, tuner, grid, {**dict(zip(tuner.arg_names, arguments, strict=False)), **named})
        outer.is_tuned = True
        try:
            return tuner.fn.run(*arguments, grid=grid, **{**named, **tuner.configs[0].all_kwargs()})
        finally:
            outer.is_tuned = False

    names.HAS_TRITON.put(has)
    names.HAS_DESCRIPTORS.put(describes)
    names.RUN.put(stopped)
    names.RUN_TUNED.put(untimed)


class _Outer(threading.local):
    """State of a launch on this thread."""

    is_tuned = False
    """Whether it is inside of a launch with autotuning, whose configurations have been sent."""


class _Launch(NamedTuple):
    """Where a launch comes from."""

    where: str | None
    """The program's line, `file.py:12`."""
    is_of_graph: bool
    """Whether a node of a graph made it: the graph is sent, and its kernel with it."""


_writes: Final[dict[tuple[Any, ...], list[str]]] = {}
"""Kernel and types of its arguments → those that it writes to."""
_sent: Final[set[tuple[Any, ...]]] = set()
"""Kernels and types of arguments that were sent."""


def _send(program: MappedProgram, kernel: Any, grid: Any, given: dict[str, Any]) -> None:
    """Have the kernel of a launch that is in no graph compiled, once for each combination of argument types."""
    from inspect_compile.lowering.intervention.cross_compile.program import launches, sender

    kinds = tuple((name, getattr(value, "dtype", type(value))) for name, value in given.items())
    if (id(kernel), kinds) in _sent:
        return
    _sent.add((id(kernel), kinds))
    try:
        given, described = plain(given)
        settings, frame = sender.settings({}), frame_summary(sys._getframe(1))
        data = launches.packed_launch(kernel, grid, given, described, settings, frame)
    except Exception as error:  # something of the program's that cannot be pickled
        let_pass(error)
        name = getattr(kernel, "__name__", None) or kernel.fn.__name__
        reason = f"the Triton kernel {name} can't be sent to another process ({type(error).__name__}: {error})"
        program.remark("target-not-sent", reason)
    else:
        program.deliver(data)


def plain(arguments: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A kernel's arguments as a graph holds them: a descriptor for bulk copies (TMA) as the tensor that it describes.

    Also returns what else each descriptor says, by the argument's name, in the form that torch's node for a launch has.
    """
    descriptor = getattr(sys.modules.get("triton.tools.tensor_descriptor"), "TensorDescriptor", ())
    found = {name: value for name, value in arguments.items() if isinstance(value, descriptor)}
    described = {name: ("stable", (list(value.block_shape),)) for name, value in found.items()}
    return {**arguments, **{name: value.base for name, value in found.items()}}, described


def _stop(program: MappedProgram, name: str, where: str | None) -> None:
    """End the program with one line on stderr, by SystemExit; RuntimeError on other threads."""
    reason = f"the Triton kernel {name} can't run on the CPU, and the program ended there"
    program.remark(_CODE, reason, where)
    message = (
        f"inspect-compile: {where}: the Triton kernel {name} cannot run without the GPU, and the program ends"
        f" here; to continue with zeros as its result: inspect-compile run --fake-kernels --target "
        f"{' --target '.join(program.targets)} …"
    )
    if threading.current_thread() is not threading.main_thread():  # SystemExit ends a thread without a word
        raise RuntimeError(message)
    raise SystemExit(message)


def _written(kernel: Any, arguments: dict[str, Any]) -> list[str]:
    """Names of the tensors that a kernel writes to: torch finds them in Triton's IR."""
    kinds = tuple((name, getattr(value, "dtype", str(value))) for name, value in arguments.items())
    if (known := _writes.get((id(kernel), kinds))) is None:
        given, described = plain(arguments)
        found = names.WRITTEN.load()(names.SIDE_TABLE.load().add_kernel(kernel), _no_constants(), given, described)
        known = [name for name in found if isinstance(given.get(name), torch.Tensor)]
        _writes[id(kernel), kinds] = known
    return known


@functools.cache
def _no_constants() -> int:
    """The number of an empty set of constants in torch's table."""
    return int(names.SIDE_TABLE.load().add_constant_args({}))


def _line(frame: FrameType | None) -> _Launch:
    """Where the launch below this frame comes from: for one in a graph, the line of the node that runs."""
    launch: dict[str, Any] | None = None
    outer = frame
    while outer is not None:
        if values.is_frame(outer, LAUNCH):
            launch = {key: outer.f_locals.get(key) for key in LAUNCH.variables}
        module = outer.f_locals.get("self") if launch is not None and outer.f_code.co_name == "forward" else None
        if isinstance(module, torch.fx.GraphModule) and launch is not None:
            for node in module.graph.nodes:
                if launch.items() <= node.kwargs.items() and node.stack_trace:
                    place = values.user_line(values.locations(node.stack_trace))
                    return _Launch(None if place is None else f"{place.file}:{place.line}", is_of_graph=True)
        outer = outer.f_back
    return _Launch(line(frame), is_of_graph=launch is not None)
