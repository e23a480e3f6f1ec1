"""What AOTAutograd knows of a graph's inputs and outputs, and does around the compiled code."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64, Location, Tensor


class AotInput(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One input of the graph that AOTAutograd traced."""

    name: str = ""
    """torch's expression for it, `args[0]`, `self.get_parameter('weight')`; empty where it is not known."""
    requires_grad: bool = False
    """As of the tensor."""
    is_leaf: bool = False
    """As of the tensor."""
    changes: tuple[str, ...] = ()
    """What of it the program changes: `data`, `metadata` (sizes and strides), `storage`, `storage size`."""
    changed: str = ""
    """Where: `mutated_in_graph` (by a kernel) or `mutated_out_graph` (by the runtime wrapper, after the graph); empty
    where it is not.
    """
    hidden_from_autograd: bool = False
    """Its changes are not seen by autograd."""
    without_grad: bool = False
    """Its changes were all made under `no_grad` or `inference_mode`."""
    is_static: bool = False
    """It has the same address in each call: a parameter or a buffer."""


class AotOutput(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One output of the program's function."""

    kind: str
    """torch's name of its `OutputType`: `non_alias`, `alias_of_input`, `is_input`, `alias_of_intermediate`,
    `unsafe_view_alias` …
    """
    base: Int64 | None = None
    """Index of the input, intermediate or output that it is a view of, else None."""
    type: str = ""
    """Class of the value."""
    requires_grad: bool = False
    """It requires a gradient."""
    has_gradient: bool = False
    """It takes part in the backward, as a tangent."""
    dynamic: tuple[Int64, ...] = ()
    """Its dimensions whose size is not fixed."""


class Tangent(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One gradient that the backward is compiled to receive."""

    of: str = ""
    """torch's expression for what it is the gradient of, `output[0]`."""
    tensor: Tensor | None = None
    """What is expected; None where it is not a tensor."""
    where: Location | None = None
    """The line that made the output."""


class AotMetadata(Fact, frozen=True, kw_only=True, tag="aot_metadata"):
    """AOTAutograd's record of one graph (torch's ViewAndMutationMeta); `graph` holds the compile id."""

    table: ClassVar[str] = "aot"
    per_graph: ClassVar[bool] = False

    aot_id: Int64 | None = None
    """AOTAutograd's number of the graph, None where it has none."""
    cached: bool = False
    """The graph was taken from AOTAutograd's cache; where its facts are kept (docs/harmless.md#facts-that-are-kept),
    the record is that of its compile, with all fields, else without names and tangents.
    """
    inputs: tuple[AotInput, ...] = ()
    """One for each input."""
    outputs: tuple[AotOutput, ...] = ()
    """One for each output."""
    tangents: tuple[Tangent, ...] = ()
    """One for each gradient that the backward is compiled to receive; none of a graph from the cache."""
    inner_inputs: tuple[AotInput, ...] = ()
    """Inputs of the graph that is compiled, where tensor subclasses are unwrapped for it: their inner tensors, without
    names; empty without subclasses.
    """
    inner_outputs: tuple[AotOutput, ...] = ()
    """The same of its outputs."""
    settings: dict[str, str] = {}
    """torch's other fields, as Python writes them: `bw_donated_idxs` → `[5, 6]`; of tokens the number."""


class Artifact(Fact, frozen=True, kw_only=True, tag="artifact"):
    """A text that torch made or would print about a compile; none with `--level facts`.

    `graph` holds the compile id.
    """

    table: ClassVar[str] = "artifacts"
    per_graph: ClassVar[bool] = False

    name: str
    """torch's name of it in its structured trace: `runtime_wrapper_orchestration`, `compiled_function_backward` and
    others (the functions that AOTAutograd puts around a graph, from torch 2.13 on), `dynamo_cpp_guards_str` (the tree
    of guards), `…_MODIFIED_BYTECODE` (what runs in the place of a frame), `dynamo_error`, `dynamo_graph_break_reason`
    (with tracebacks), `before_joint_graph`, `after_pre_grad_graph` (only where passes changed the graph).
    """
    text: str
    """The first 400,000 characters."""
    cut: Int64 = 0
    """Number of characters that are left out at its end."""
