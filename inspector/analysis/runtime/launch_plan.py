"""The launches of a graph as a profile shows them: names on the CPU and on the GPU, in order."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import msgspec

from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel
from inspect_compile.facts.compile_id import torch_id
from inspect_compile.graph import CompiledGraph, Id
from inspect_compile.graph.kernels.launches import Launch

_DEFINED = re.compile(r"^@triton\.jit\s*\ndef (\w+)\(", re.MULTILINE)
_OF_EXTERN: Final = {"bias_addmm": "addmm"}
"""Functions of Inductor that call an operator of another name."""

ON_GPU: Final = frozenset({"triton", "template", "user_triton"})


class Step(msgspec.Struct, frozen=True):
    """One launch."""

    launch: Launch
    host: str
    """The name torch.profiler gives it on the CPU."""
    function: str
    """The Triton function, as the GPU's events name it; empty for an extern call, whose library chooses its kernels."""


@dataclass(eq=False)
class Plan:
    """The launches of one graph, nested graphs included, in the order of the generated code."""

    dump: Dump
    graph: str
    compile_id: str | None
    kind: str

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The launches in the code."""
        found = [launch for launch in CompiledGraph(self.dump, self.graph).launches if launch.line is not None]
        kernels = {Id(launch.graph, launch.kernel.name): launch.kernel for launch in reversed(found)}
        functions = {key: function_of(self.dump, kernel) for key, kernel in kernels.items()}
        return tuple(
            Step(launch, host_name(launch.kernel), functions[Id(launch.graph, launch.kernel.name)]) for launch in found
        )

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """Their names on the CPU."""
        return tuple(step.host for step in self.steps)

    @cached_property
    def functions(self) -> tuple[str, ...]:
        """The Triton functions; extern calls are left out."""
        return tuple(step.function for step in self.steps if step.function)

    @property
    def region(self) -> str | None:
        """The profile's name for the compile: its id, without the counter that torch adds to an id it gives twice."""
        return None if self.compile_id is None else torch_id(self.compile_id)

    @property
    def is_nested(self) -> bool:
        """True if it has nested graphs, which may run out of order, several times or not at all."""
        return any(step.launch.graph != self.graph for step in self.steps)


def plans(dump: Dump) -> list[Plan]:
    """The plans of the outermost graphs, in order."""
    return [Plan(dump, graph.graph, graph.compile_id, graph.kind) for graph in dump.outermost()]


def function_of(dump: Dump, kernel: Kernel) -> str:
    """Name of a Triton kernel's function: the same `triton_` for many if names are not unique."""
    if kernel.kind not in ON_GPU:
        return ""
    source = dump.text(kernel.graph, kernel.source) if kernel.source else None
    found = _DEFINED.findall(source or "")
    return found[-1] if found else kernel.name


def host_name(kernel: Kernel) -> str:
    """Name of the kernel's event on the CPU: `aten::addmm` for `extern_kernels.addmm`."""
    if kernel.kind != "extern":
        return kernel.name
    parts = kernel.name.removeprefix("torch.ops.").split(".")
    if len(parts) < 2:
        return kernel.name
    namespace = "aten" if parts[0] == "extern_kernels" else parts[0]
    return f"{namespace}::{_OF_EXTERN.get(parts[1], parts[1])}"
