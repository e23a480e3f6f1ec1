"""In which modules of torch a compile does what: an exception that passes one failed there.

Imports nothing. A module that is gone costs only the name of the stage.
"""

from typing import Final

STAGES: Final = (
    ("torch._inductor.cpp_builder", "compiling the generated code"),
    ("torch._inductor.codecache", "compiling the generated code"),
    ("torch._inductor.async_compile", "compiling the generated code"),
    ("torch._inductor.runtime", "compiling the generated code"),
    ("torch._inductor.codegen", "code generation"),
    ("torch._inductor.scheduler", "scheduling"),
    ("torch._inductor.lowering", "lowering"),
    ("torch._inductor.kernel", "lowering"),
    ("torch._inductor.decomposition", "decomposition"),
    ("torch._inductor.fx_passes", "passes over the graph"),
    ("torch._inductor.pattern_matcher", "passes over the graph"),
    ("torch._inductor.graph", "lowering"),
)
"""Module, and those below it → the stage; the innermost frame that is in one decides."""
INDUCTOR: Final = "torch._inductor"
AT_HAND: Final = ("n", "node", "snode", "match", "m", "self")
"""Variables of Inductor's functions that hold what they work on: an FX node, an IR node, a scheduler node, or the match
of a pattern.
"""
