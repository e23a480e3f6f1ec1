"""Each time a value is asked to become a buffer: by whom, for which node, and whether it did."""

import functools
import sys
import weakref
from typing import Any, Final

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
        kind: Any = type(box.data)
        return kind.__name__, _is_virtual(kind)

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
                reason=_reason(chain),
                caller=caller,
                origin=getattr(origin, "name", None),
                ir=kind,
                text=ir_text(scope, box.data, (str(result),)) if was_virtual else "",
            )
        )

    probes.wrap(PROBE, names.REALIZE, before=before, after=after)


@functools.lru_cache(maxsize=256)
def _is_virtual(kind: Any) -> bool:
    return any(base.__name__ == "Loops" for base in kind.__mro__)


def _callers() -> tuple[tuple[str, ...], str]:
    """The functions that led here, innermost first, and the place of the innermost that is not a StorageBox's own."""
    frame = sys._getframe(1)
    chain: list[str] = []
    caller = ""
    while frame is not None and len(chain) < 8:
        code = frame.f_code
        below, is_box = _function(code)
        if below:
            chain.append(code.co_qualname)
            if not caller and not is_box:
                caller = f"{code.co_qualname} {below}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return tuple(chain), caller


def _function(code: Any) -> tuple[str, bool]:
    """The file of a function of torch's, `torch/_inductor/ir.py`, empty for others; and is it a method of a box?"""
    found = _FUNCTIONS.get(id(code))
    if found is None or found[0]() is not code:
        _, slash, below = code.co_filename.replace("\\", "/").rpartition("/torch/")
        is_box = code.co_qualname.startswith(("StorageBox.", "MutableBox.", "TensorBox."))
        found = _FUNCTIONS[id(code)] = weakref.ref(code), (f"torch/{below}" if slash else "", is_box)
    return found[1]


_FUNCTIONS: Final[dict[int, tuple[weakref.ref[Any], tuple[str, bool]]]] = {}
"""By identity: code objects compare, and hash, by all that they hold."""
_reason = functools.lru_cache(maxsize=1024)(reason_of)
