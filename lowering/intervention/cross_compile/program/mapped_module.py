"""Makes torch.cuda answer for the target, for the program; torch's own code is told that there is no GPU."""

import collections
import sys
import types
from collections.abc import Callable
from typing import Any, Final

import torch

from inspect_compile.lowering.intervention.cross_compile import device
from inspect_compile.lowering.intervention.cross_compile.program import stand_ins
from inspect_compile.lowering.intervention.cross_compile.program.program import GPU, MappedProgram, is_torch
from inspect_compile.torch_compat import mapped as names

QUIET: Final = (
    "synchronize",
    "empty_cache",
    "init",
    "set_device",
    "ipc_collect",
    "manual_seed",
    "manual_seed_all",
    "seed",
    "seed_all",
    "reset_peak_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_accumulated_memory_stats",
    "set_per_process_memory_fraction",
    "set_sync_debug_mode",
)
"""Functions that now do nothing, and need not: there is nothing to wait for, and the generator is the CPU's."""

STATISTICS: Final[dict[str, Callable[[], Any]]] = {
    **dict.fromkeys(
        (
            "memory_allocated",
            "max_memory_allocated",
            "memory_reserved",
            "max_memory_reserved",
            "memory_cached",
            "max_memory_cached",
            "device_memory_used",
            "memory_usage",
            "utilization",
            "temperature",
            "power_draw",
            "clock_rate",
        ),
        int,
    ),
    "memory_stats": lambda: collections.defaultdict(int),
    "memory_stats_as_nested_dict": dict,
    "memory_snapshot": list,
    "memory_summary": str,
    "list_gpu_processes": str,
}
"""Functions whose answer would have to be measured → what they return instead."""

_NVTX: Final = ("range_push", "range_pop", "range_start", "range_end", "mark")
_PROFILER: Final = ("start", "stop")
_MODULES: Final = ("memory", "random")
"""Submodules of torch.cuda whose functions torch.cuda has, too."""


def install(program: MappedProgram) -> None:
    """Replace the functions and classes of torch.cuda and torch.accelerator, until the process ends."""
    cuda: Any = torch.cuda
    original = {name: value for name, value in vars(cuda).items() if callable(value) and not name.startswith("_")}
    answers = {**_asked_by_torch(program), **_answers(program), **_statistics(program)}
    answers |= {name: _plain(lambda: None) for name in QUIET}
    answers |= {name: _plain(lambda: 0) for name in names.EXCHANGE_DEVICE}
    stands = stand_ins.of(program)
    program.classes = {name: original[name] for name in stands if isinstance(original.get(name), type)}
    answers |= stands
    for name, answer in answers.items():
        _place(cuda, name, answer)
    for name, function in original.items():
        if name not in answers and not isinstance(function, type) and _is_of_cuda(function):
            _place(cuda, name, _refused(program, name, function))
    for name in _NVTX:
        _place(cuda.nvtx, name, _noted(program, f"torch.cuda.nvtx.{name}", "it does nothing", int))
    for name in _PROFILER:
        _place(cuda.profiler, name, _noted(program, f"torch.cuda.profiler.{name}", "it does nothing", bool))
    _accelerator(program)


def _asked_by_torch(program: MappedProgram) -> dict[str, Callable[..., Any]]:
    """The functions that torch's own code also calls before it uses the device: it must find none."""

    def for_program(yes: Callable[[], Any], no: Any) -> Callable[..., Any]:
        return lambda *_, **__: no if is_torch(sys._getframe(1)) else yes()

    return {
        "is_available": for_program(lambda: True, False),
        "device_count": for_program(lambda: 1, 0),
        "is_initialized": for_program(lambda: program.uses_gpu, False),
    }


def _answers(program: MappedProgram) -> dict[str, Callable[..., Any]]:
    """Functions of torch.cuda → replacements that know the answer."""
    target = program.target
    recent = target.backend == "hip" or target.capability >= (8, 0)

    known: dict[str, Callable[[], Any]] = {
        "current_device": lambda: 0,
        "get_device_name": lambda: target.gpu,
        "get_device_capability": lambda: target.capability,
        "get_device_properties": lambda: device.properties(target),
        "get_arch_list": lambda: [target.name],
        "is_tf32_supported": lambda: recent,
        "can_device_access_peer": lambda: False,
        "get_rng_state": torch.get_rng_state,
        "get_rng_state_all": lambda: [torch.get_rng_state()],
        "initial_seed": torch.initial_seed,
        "get_allocator_backend": lambda: "native",
        "is_current_stream_capturing": lambda: False,
    }
    found: dict[str, Callable[..., Any]] = {name: _plain(answer) for name, answer in known.items()}
    # An older GPU emulates bfloat16.
    found["is_bf16_supported"] = lambda including_emulation=True: including_emulation or recent
    found["set_rng_state"] = lambda state, *_, **__: torch.set_rng_state(state)
    found["set_rng_state_all"] = lambda states, *_, **__: torch.set_rng_state(states[0])
    return found


def _statistics(program: MappedProgram) -> dict[str, Callable[..., Any]]:
    """Functions of torch.cuda → replacements that write a remark, because nothing is measured."""
    there = {"mem_get_info": lambda: (program.target.memory, program.target.memory)}
    messages = dict.fromkeys(STATISTICS, "nothing is measured without the device: it reports 0")
    messages["mem_get_info"] = "nothing is measured without the device, and it reports all memory as free"
    return {
        name: _noted(program, f"torch.cuda.{name}", messages[name], answer)
        for name, answer in {**STATISTICS, **there}.items()
    }


def _plain(answer: Callable[[], Any]) -> Callable[..., Any]:
    """A function that returns `answer()`, whatever it is called with."""
    return lambda *_, **__: answer()


def _noted(program: MappedProgram, what: str, instead: str, answer: Callable[[], Any]) -> Callable[..., Any]:
    """A function that writes the remark that `what` cannot be mapped, and returns `answer()`."""

    def noted(*_: Any, **__: Any) -> Any:
        program.unmapped(what, instead)
        return answer()

    return noted


def _refused(program: MappedProgram, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """torch's own function, which usually raises; a remark says so first."""

    def refused(*arguments: Any, **named: Any) -> Any:
        if not is_torch(sys._getframe(1)):
            program.unmapped(f"torch.cuda.{name}", "torch behaves as without a GPU")
        return function(*arguments, **named)

    return refused


def _is_of_cuda(function: Any) -> bool:
    """Whether torch.cuda defines it, and does not only import it."""
    return str(getattr(function, "__module__", "")).startswith("torch.cuda")


def _place(module: Any, name: str, value: Any) -> None:
    """Set `value` wherever torch.cuda has its own, and under the same names, so that pickle finds it."""
    original = getattr(module, name, None)
    if original is None:  # this torch has no such function
        return
    for attribute in ("__module__", "__name__", "__qualname__", "__doc__"):
        if hasattr(original, attribute):
            setattr(value, attribute, getattr(original, attribute))
    if isinstance(value, types.FunctionType):  # Dynamo looks at what torch's wrappers set
        vars(value).update(getattr(original, "__dict__", {}))
    for place in (module, *(getattr(module, inner, None) for inner in _MODULES)):
        if getattr(place, name, None) is original:
            setattr(place, name, value)


def _accelerator(program: MappedProgram) -> None:
    """Let torch.accelerator answer for CUDA."""
    accelerator: Any = getattr(torch, "accelerator", None)
    if accelerator is None:
        return

    def answered(yes: Any, no: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given, **named: no(*given, **named) if is_torch(sys._getframe(1)) else yes

    _place(accelerator, "is_available", answered(True, _plain(lambda: False)))
    _place(accelerator, "device_count", answered(1, _plain(lambda: 0)))
    _place(accelerator, "current_accelerator", answered(torch.device(GPU.type), accelerator.current_accelerator))
    _place(accelerator, "current_device_index", answered(0, accelerator.current_device_index))
    for name in ("set_device_index", "synchronize", "empty_cache"):
        _place(accelerator, name, _plain(lambda: None))
