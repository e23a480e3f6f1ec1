"""What AOTAutograd knows of a graph's inputs and outputs, and does around the compiled code."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64, Location, Tensor


class AotInput(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One input of the graph that AOTAutograd traced."""

    name: str = ""
    """torch's expression for it, `args[0]`, `self.get_parameter('weight')`; empty if not known."""
    requires_grad: bool = False
    is_leaf: bool = False
    changes: tuple[str, ...] = ()
    """What of it the program changes: data, metadata (sizes and strides), storage, storage size."""
    changed: str = ""
    """Where it is changed: torch's name of its MutationType, mutated_in_graph (by a kernel) or mutated_out_graph (by
    the runtime wrapper, after the graph); empty if it is not.
    """
    hidden_from_autograd: bool = False
    """Its changes are not seen by autograd."""
    without_grad: bool = False
    """Its changes were all made under `no_grad` or `inference_mode`."""
    is_static: bool = False
    """It has the same address in each call: a parameter or buffer."""


class AotOutput(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One output of the program's function."""

    kind: str
    """torch's name of its OutputType: non_alias, alias_of_input, is_input, alias_of_intermediate, …"""
    base: Int64 | None = None
    """Index of the input, intermediate or output that it is a view of."""
    type: str = ""
    """Class of the value."""
    requires_grad: bool = False
    has_gradient: bool = False
    """It takes part in the backward, as a tangent."""
    dynamic: tuple[Int64, ...] = ()
    """Its dimensions whose size is not fixed."""


class Tangent(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One gradient that the backward is compiled to receive."""

    of: str = ""
    """torch's expression for what it is the gradient of, `output[0]`."""
    tensor: Tensor | None = None
    where: Location | None = None
    """The line that made the output."""


class AotMetadata(Fact, frozen=True, kw_only=True, tag="aot_metadata"):
    """AOTAutograd's record of one graph (torch's ViewAndMutationMeta); `graph` holds the compile id."""

    table: ClassVar[str] = "aot"
    per_graph: ClassVar[bool] = False

    aot_id: Int64 | None = None
    """AOTAutograd's number of the graph; None if not known."""
    cached: bool = False
    """It was taken from AOTAutograd's cache."""
    inputs: tuple[AotInput, ...] = ()
    outputs: tuple[AotOutput, ...] = ()
    tangents: tuple[Tangent, ...] = ()
    inner_inputs: tuple[AotInput, ...] = ()
    inner_outputs: tuple[AotOutput, ...] = ()
    """Of the graph that is compiled, where tensor subclasses are unwrapped for it: their inner tensors."""
    settings: dict[str, str] = {}
    """torch's other fields, name → value as Python writes it: `bw_donated_idxs` → `[5, 6]`."""


class Artifact(Fact, frozen=True, kw_only=True, tag="artifact"):
    """A text that torch made or would print about a compile; `graph` holds the compile id."""

    table: ClassVar[str] = "artifacts"
    per_graph: ClassVar[bool] = False

    name: str
    """torch's name of it in its structured trace: `runtime_wrapper_orchestration`, `dynamo_cpp_guards_str`."""
    text: str
    cut: Int64 = 0
    """Number of characters that are left out at its end."""
