"""For which GPU a graph of a log is compiled again."""

import re
from typing import Final

from inspect_compile.dump import paths
from inspect_compile.graph import CompiledGraph
from inspect_compile.knowledge.targets.targets import TARGETS

_CAPABILITY: Final = re.compile(r"DeviceProperties\(type='(cuda|hip)'[^)]{0,200}\bcc='?(gfx\w{1,8}|\d{2,3})")
"""What the code of a Triton kernel says of its GPU."""


def architecture(graph: CompiledGraph) -> str | None:
    """The GPU that the graph's generated code is for, if `--target` knows it; None for a CPU, or if it does not say."""
    code = graph.dump.text(graph.name, f"{paths.OUTPUT_CODE}.py") or ""
    found = _CAPABILITY.search(code)
    if found is None:
        return None
    name = found[2] if found[1] == "hip" else f"sm_{found[2]}"
    return name if name in TARGETS else None
