"""How a Triton kernel iterates over its elements: the axes that torch gave it, and why."""

from typing import Any

from inspect_compile.facts import Tiling
from inspect_compile.lowering.core.scopes import SCOPES
from inspect_compile.probe import Probes, argument
from inspect_compile.torch_compat import codegen as names

PROBE = "codegen.tiling"


def install_triton(probes: Probes) -> None:
    """Hook the Triton backend."""

    def defined(state: Any, backend: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        scope = SCOPES.here()
        kernel = argument(args, kwargs, 2, "kernel")
        if scope is None or kernel is None:
            return
        parts = getattr(kernel, "sub_kernels", None)
        rows = [
            _tiling(scope.graph, str(result), part, number if parts else None)
            for number, part in enumerate(parts or (kernel,))
        ]
        probes.sink.add_all(rows)

    probes.wrap(PROBE, names.TRITON_DEFINE, after=defined)


def _tiling(graph: str, name: str, kernel: Any, part: int | None) -> Tiling:
    features = getattr(kernel, "features", None)
    analysis = getattr(features, "coalesce_analysis", None)
    scores = getattr(kernel, "tiling_scores", None)
    split = getattr(analysis, "suggested_split", None)
    is_reduction = bool(getattr(kernel, "inside_reduction", False))
    hint = features.get_reduction_hint() if features is not None and is_reduction else None
    apart = analysis.uncoalesced_addrs.values() if analysis is not None else ()
    return Tiling(
        graph=graph,
        kernel=name,
        part=part,
        sizes={str(axis): str(length) for axis, length in getattr(kernel, "numels", {}).items()},
        by=_by(kernel, scores),
        scores={str(axis): int(score) for axis, score in (scores or {}).items() if _is_number(score)},
        uncoalesced=None if analysis is None else sum(int(score) for score in apart if _is_number(score)),
        split="" if split is None else f"{split.var} / {split.tiling_factor}",
        persistent=bool(kernel.persistent_reduction) if is_reduction else None,
        cooperative=bool(kernel.cooperative_reduction) if is_reduction else None,
        hint="" if hint is None else str(getattr(hint, "name", hint)),
    )


def _by(kernel: Any, scores: Any) -> str:
    if hasattr(kernel, "template_mask") or type(kernel).__name__ == "TritonTemplateKernel":
        return "template"
    if getattr(kernel, "is_native_matmul", False):
        return "matmul"
    return "coalescing" if scores else "votes"


def _is_number(score: Any) -> bool:
    return type(score) is int or bool(getattr(score, "is_Integer", False))
