"""The stages of each Triton kernel down to machine code, and the resources that it needs.

For a kernel that torch compiled in a worker process, or launches with a launcher of its own, they are read from
Triton's cache, which keeps all of them.
"""

import os
import weakref
from collections.abc import Mapping
from typing import Any, Final

from inspect_compile.at_start import AtStart
from inspect_compile.codegen.kernels.kernel_caches import tell_chosen
from inspect_compile.dump import paths
from inspect_compile.facts import Binary, Stage
from inspect_compile.knowledge.kernels.resources import Resources, of_amdgcn, of_cubin
from inspect_compile.lowering.core.scopes import SCOPES, torch_object
from inspect_compile.lowering.core.undecided import UNDECIDED
from inspect_compile.probe import Probes, let_pass
from inspect_compile.torch_compat import codegen as names

PROBE = "codegen.stages"

STAGES: Final = ("ttir", "ttgir", "llir", "ptx", "amdgcn", "cubin", "hsaco")
"""In the order in which they are made."""

_ASKS: Final = ("amdgcn", "cubin")
"""The stages that record a kernel's resources."""

_WORDS: Final = ("True", "False", "None")
"""Values of a configuration that are not numbers; other texts could differ only in case."""

Stages = Mapping[str, str | bytes]

KERNELS: Final[weakref.WeakKeyDictionary[Any, dict[str, str]]] = weakref.WeakKeyDictionary()
"""Autotuner → the graphs that call its kernel, and the kernel's name."""


def install(probes: Probes) -> None:
    """Hook the autotuner that holds a Triton kernel."""
    sink = probes.sink
    recorded: weakref.WeakKeyDictionary[Any, set[str]] = weakref.WeakKeyDictionary()
    """Result of a compile → the graphs for which it is in the dump: graphs share equal kernels."""

    def tell(autotuner: Any, result: Any, seconds: float | None) -> None:
        scope = SCOPES.here()
        kernel = str(autotuner.inductor_meta.get("kernel_name", ""))
        if scope is not None and kernel in scope.kernels:
            KERNELS.setdefault(autotuner, {})[scope.graph] = kernel
            tell_graph(scope.graph, kernel, autotuner, result, seconds)
            return
        # The graph is already running: torch tries configurations close to the best one.
        for graph, name in KERNELS.get(autotuner, {}).items():
            tell_graph(graph, name, autotuner, result, seconds)

    def tell_graph(graph: str, kernel: str, autotuner: Any, result: Any, seconds: float | None) -> None:
        if graph in recorded.get(result, ()):
            return
        recorded.setdefault(result, set()).add(graph)
        stages, left_out = _stages(autotuner, result)
        folder = paths.kernel_folder(graph, kernel)
        stem = f"{folder}/{label_of(result.config)}/{folder.rpartition('/')[2]}"
        written = []
        for name, stage in stages.items():
            data = stage if isinstance(stage, bytes) else stage.encode("utf-8", "backslashreplace")
            written.append(Stage(name, f"{stem}.{name}", len(data)))
            sink.file(f"{paths.graph_folder(graph)}/{written[-1].path}", data)
        cached = getattr(autotuner, "autotune_cache_info", None) or {}
        sink.add(
            Binary(
                graph=graph,
                kernel=kernel,
                label=label_of(result.config),
                **configuration_of(result.config),
                **_asked(result.kernel, stages),
                num_warps=_number(result.kernel, "num_warps"),
                target=_target(autotuner.device_props),
                is_remembered=cached.get("autotune_cache_state") == "hit",
                stages=tuple(written),
                seconds=seconds,
                left_out=left_out,
            )
        )

    def begun(autotuner: Any, args: Any, kwargs: Any) -> float:
        return AtStart.perf_counter()

    def compiled(state: float, autotuner: Any, args: Any, kwargs: Any, result: Any) -> None:
        tell(autotuner, result, round(AtStart.perf_counter() - state, 6))

    def precompiled(state: Any, autotuner: Any, args: Any, kwargs: Any, result: Any) -> None:
        for found in autotuner.compile_results:
            tell(autotuner, found, None)
        for kernel in dict.fromkeys(KERNELS.get(autotuner, {}).values()):
            tell_chosen(probes, kernel, autotuner)
        if len(autotuner.launchers or autotuner.compile_results) > 1 or autotuner.inductor_meta.get(
            "coordinate_descent_tuning"
        ):
            for graph, kernel in KERNELS.get(autotuner, {}).items():
                UNDECIDED.add(graph, kernel)

    probes.wrap(PROBE, names.AUTOTUNER_COMPILE, before=begun, after=compiled)
    probes.wrap(PROBE, names.AUTOTUNER_PRECOMPILE, after=precompiled)


def label_of(config: Any) -> str:
    """`XBLOCK8-w4-s1`: a Triton Config as the name of a folder."""
    known = configuration_of(config)
    words = [
        f"{name}{paths.cased_name(value) if type(value) is str and value not in _WORDS else value}"
        for name, value in known["config"].items()
    ]
    words += [f"w{config.num_warps}", f"s{known['num_stages']}"]
    words += [f"c{known['num_ctas']}"] if (known["num_ctas"] or 1) > 1 else []
    return paths.safe_name("-".join(words))


def configuration_of(config: Any) -> dict[str, Any]:
    """The fields of a Binary for a Triton Config."""
    values = dict(config.kwargs)
    if getattr(config, "maxnreg", None) is not None:
        values["maxnreg"] = config.maxnreg
    return {
        "config": {str(name): value if type(value) is int else str(value) for name, value in values.items()},
        "num_stages": getattr(config, "num_stages", None),
        "num_ctas": getattr(config, "num_ctas", None),
    }


def _target(device: Any) -> str:
    """Name of the architecture in a DeviceProperties."""
    capability = getattr(device, "cc", None)
    return f"sm_{capability}" if type(capability) is int else str(capability or "").partition(":")[0]


def asked_of(autotuner: Any, result: Any) -> dict[str, Any]:
    """The resources of a kernel of which nothing else is kept, as fields of a Binary."""
    return _asked(result.kernel, _stages(autotuner, result, _ASKS)[0])


def _stages(autotuner: Any, result: Any, wanted: tuple[str, ...] = STAGES) -> tuple[Stages, str]:
    """Stage → its text or data, and why there are none."""
    kernel = result.kernel
    kept = getattr(kernel, "asm", None)
    if kept:
        return {name: kept[name] for name in wanted if name in kept}, ""
    folder, key = torch_object(names.TRITON_CACHE), torch_object(names.TRITON_CACHE_KEY)
    if folder is None or key is None or not getattr(kernel, "hash", None):
        return {}, "torch kept only the launcher of this kernel"
    where = os.path.join(folder(autotuner.triton_meta.get("device", 0)), key(kernel.hash))
    found: dict[str, str | bytes] = {}
    for name in wanted:
        try:
            with AtStart.open(os.path.join(where, f"{kernel.name}.{name}"), "rb") as file:
                data = file.read()
        except OSError as error:
            let_pass(error)
            continue
        found[name] = data if name in ("cubin", "hsaco") else data.decode("utf-8", "replace")
    return found, "" if found else f"torch kept its launcher alone, and Triton's cache has it no more: {where}"


def _asked(kernel: Any, stages: Stages) -> dict[str, Any]:
    """Registers, spills and shared memory: from the machine code, else from the driver that loaded it."""
    cubin, amdgcn = stages.get("cubin"), stages.get("amdgcn")
    found = Resources()
    if isinstance(cubin, bytes):
        found = of_cubin(cubin)
    elif isinstance(amdgcn, str):
        found = of_amdgcn(amdgcn)
    words = getattr(kernel, "n_spills", None)
    shared = _number(kernel, "shared")
    return {
        "registers": getattr(kernel, "n_regs", None) if found.registers is None else found.registers,
        "allocated_registers": found.allocated_registers,
        "scalar_registers": found.scalar_registers,
        "spills": (None if words is None else 4 * words) if found.stack is None else found.stack,
        "shared": None if shared is None else shared + found.shared,
    }


def _number(kernel: Any, name: str) -> int | None:
    """A number that Triton keeps beside the machine code; torch's own launchers hold it themselves."""
    found = getattr(getattr(kernel, "metadata", None), name, getattr(kernel, name, None))
    return found if type(found) is int else None
