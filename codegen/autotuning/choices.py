"""One choice of torch's autotuning as plain values."""

import re
from typing import Any, Final

from inspect_compile.codegen.autotuning.template_binaries import asked_by, awaited
from inspect_compile.facts import Choice
from inspect_compile.probe import let_pass

KINDS: Final = {
    "TritonTemplateCaller": "triton template",
    "ExternKernelCaller": "extern",
    "CppTemplateCaller": "cpp template",
    "CUTLASSTemplateCaller": "cutlass template",
    "CUDATemplateCaller": "cutlass template",
    "ROCmTemplateCaller": "ck template",
    "CuteDSLTemplateCaller": "cutedsl template",
    "NVUniversalGemmCaller": "nvgemm",
    "SubgraphChoiceCaller": "subgraph",
}
"""torch's class → kind of choice."""

_PAIR: Final = re.compile(r"\b(\w++)=('[^']*'|\"[^\"]*\"|\[(?:(?!=\[)[^\]])*\]|\((?:(?!=\()[^)])*\)|[^,]+)")
_OF_CPP: Final = ("num_threads", "register_blocking", "thread_blocking", "cache_blocking")
_LONGEST: Final = 300


class Option:
    """A choice while torch decides; holds nothing of the compiler's."""

    def __init__(self, label: str, choice: Any) -> None:
        own = getattr(choice, "_wrapped", choice)
        name = type(own).__name__
        self.label, self.kind = label, KINDS.get(name, name)
        self.config = _config(own)
        self.file = awaited(own)
        """The module of a template's kernel; empty for other choices."""
        self.milliseconds: float | None = None
        self.is_measured = False
        self.why = ""

    def fact(self, graph: str, tuning: int, step: str = "") -> Choice:
        """Its current state as a fact."""
        is_known = self.milliseconds is not None
        if self.is_measured and (is_known or self.why):
            source = "measured"
        else:
            source = "cached" if is_known else "not measured"
        return Choice(
            graph=graph,
            tuning=tuning,
            label=self.label,
            kind=self.kind,
            step=step,
            config=self.config,
            milliseconds=self.milliseconds,
            source=source,
            why="" if is_known else self.why,
            **asked_by(self.file),
        )


def said(error: BaseException) -> str:
    """An error on one line."""
    return f"{type(error).__name__}: {error}".partition("\n")[0][:_LONGEST]


def shape_of(node: Any) -> str:
    """`float32[128, s0]` for an IR node."""
    try:
        size = ", ".join(map(str, node.get_size()))
        return f"{str(node.get_dtype()).removeprefix('torch.')}[{size}]"
    except (AttributeError, NotImplementedError) as error:
        let_pass(error)
        return type(node).__name__


def buffer_of(node: Any) -> Any:
    """The buffer inside a TensorBox."""
    return getattr(getattr(node, "data", None), "data", None)


def _config(choice: Any) -> dict[str, int | str]:
    """Block sizes and other parameters of a choice that torch knows."""
    found = {name: value.strip() for name, value in _PAIR.findall(str(getattr(choice, "description", "") or ""))}
    template = getattr(choice, "template", None)
    for name in _OF_CPP:
        value = getattr(template, name, None)
        if value is not None and not callable(value):
            found[name] = str(tuple(value)) if isinstance(value, tuple) else str(value)
    return {name: int(value) if value.lstrip("-").isdecimal() else value.strip("'\"") for name, value in found.items()}
