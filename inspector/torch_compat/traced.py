"""Names of what torch tells in its structured trace, for tlparse, where it is at hand without the trace."""

from typing import Final

from inspect_compile.torch_compat import Name

_SHAPES = "torch.fx.experimental.symbolic_shapes"
_SIDE_EFFECTS = "torch._dynamo.side_effects"

AOT_COMPILE = Name(
    "torch._functorch.aot_autograd",
    "aot_stage2_compile",
    "AOTAutograd compiles a graph that it has traced: what it knows of inputs and outputs is complete after it",
)
AOT_CACHED = Name(
    "torch._functorch._aot_autograd.aot_autograd_result",
    "GenericAOTAutogradResult.wrap_post_compile",
    "the same of a graph that was taken from the cache",
)
SUBCLASSES: Final = "maybe_subclass_meta"
"""Attribute of AOTGraphCapture and of GenericAOTAutogradResult: what is known of the graph in which tensor subclasses
are unwrapped, None without any. Seen in 2.11-2.15.
"""
WRAPPER_SOURCE = Name(
    "torch._functorch._aot_autograd.subclass_codegen",
    "_compile_and_exec_source",
    "the source of a function that AOTAutograd puts around a graph; from 2.14 on it is a name of codegen's",
    "2.13-2.15",
)
WRAPPER_SOURCE_OF_CODEGEN = Name(
    "torch._functorch._aot_autograd.codegen", "_compile_and_exec_source", "the same, in its module", "2.14-2.15"
)
SIDE_EFFECT = Name(
    _SIDE_EFFECTS,
    "SideEffects._format_side_effect_message",
    "an object that a frame changes; the code that changes it after the graph is generated",
)
SHAPE_GUARD = Name(_SHAPES, "ShapeEnv._log_guard", "a condition on symbolic sizes was added")
REPLACEMENT = Name(_SHAPES, "ShapeEnv._set_replacement", "a symbol is another expression from now on, or a number")
GUARDED_CODE = Name("torch._dynamo.types", "GuardedCode.__init__", "the bytecode that runs in the place of a frame")
METRICS = Name(
    "torch._dynamo.utils",
    "add_compilation_metrics_to_chromium",
    "what torch counts of a compile, complete, with the settings that it was made with",
)
COMPILER_CONFIG = Name("torch.compiler", "config", "which of its settings have not their default")
