"""Each time a value is asked to become a buffer: by whom, for which node, and whether it did."""

import sys
from typing import Any

from inspect_compile.facts import Realize
from inspect_compile.knowledge.realize_reasons import reason_of
from inspect_compile.lowering.ir_text import ir_text
from inspect_compile.lowering.scopes import SCOPES, current_graph
from inspect_compile.probe import Probes
from inspect_compile.torch_compat import inductor as names

PROBE = "lowering.realize"


def install(probes: Probes) -> None:
    """Hook StorageBox."""
    sink = probes.sink

    def before(box: Any, args: Any, kwargs: Any) -> tuple[str, bool]:
        data = box.data
        return type(data).__name__, _is_virtual(data)

    def after(state: tuple[str, bool], box: Any, args: Any, kwargs: Any, result: Any) -> None:
        scope = SCOPES.here()
        if scope is None:
            return
        kind, was_virtual = state
        node = getattr(current_graph(), "current_node", None)
        chain, caller = _callers()
        origin = box.data.get_origin_node() if hasattr(box.data, "get_origin_node") else None
        sink.add(
            Realize(
                graph=scope.graph,
                index=scope.lowered,
                node=getattr(node, "name", None),
                buffer=result if isinstance(result, str) else None,
                realized=was_virtual,
                reason=reason_of(chain),
                caller=caller,
                origin=getattr(origin, "name", None),
                ir=kind,
                text=ir_text(scope, box.data, (str(result),)) if was_virtual else "",
            )
        )

    probes.wrap(PROBE, names.REALIZE, before=before, after=after)


def _is_virtual(data: Any) -> bool:
    return any(kind.__name__ == "Loops" for kind in type(data).__mro__)


def _callers() -> tuple[tuple[str, ...], str]:
    """The functions that led here, innermost first, and the place of the innermost that is not a StorageBox's own."""
    frame = sys._getframe(1)
    chain: list[str] = []
    caller = ""
    while frame is not None and len(chain) < 8:
        code = frame.f_code
        file = code.co_filename.replace("\\", "/")
        if "/torch/" in file:
            chain.append(code.co_qualname)
            if not caller and not code.co_qualname.startswith(("StorageBox.", "MutableBox.", "TensorBox.")):
                caller = f"{code.co_qualname} torch/{file.rpartition('/torch/')[2]}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return tuple(chain), caller
