"""What a check of numerics found: the errors of each launch's results, and which calls were checked."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64


class Checked(Fact, frozen=True, kw_only=True, tag="checked"):
    """One buffer that a launch wrote in a checked call, beside eager's value and the exact one.

    The launch ran with the reference's values in its inputs, so that the errors are its alone. Errors are absolute
    differences from the exact value, over the elements where all three values are finite.
    """

    table: ClassVar[str] = "numerics"
    per_graph: ClassVar[bool] = False

    call: Int64
    """Which call of the graph, from 1."""
    index: Int64
    """Position of the launch in the call; -1 for a result of the graph."""
    level: str = ""
    """Not of a launch: a result of the graph that is lowered, beside that of the graph before Inductor's passes. The
    pass that made it wrong, or all passes.
    """
    kernel: str = ""
    line: Int64 | None = None
    """Line number of the launch in output_code.py."""
    buffer: str = ""
    node: str = ""
    """The FX node that it holds the value of; empty if no node has that value."""
    reason: str = ""
    """Why it could not be compared; empty if it was."""
    no_exact: str = ""
    """Why there is no exact value, so that it was compared with eager's only; empty if there is one."""
    unforced: tuple[str, ...] = ()
    """Inputs that kept what the compiled code had written, because no node has their value."""
    dtype: str = ""
    size: tuple[Int64, ...] = ()
    elements: Int64 = 0
    is_equal: bool = False
    """Every element is the same as eager's; nothing else was measured then."""
    unstable: Int64 = 0
    """Number of elements that were not the same to the bit when the launch ran again on the same inputs."""
    differing: Int64 = 0
    """Number of elements that differ from eager's."""
    untied: Int64 = 0
    """For integers and truth values: differing elements that neither the exact reference nor rounding noise gives."""
    compiled_nonfinite: Int64 = 0
    eager_nonfinite: Int64 = 0
    exact_nonfinite: Int64 = 0
    """Number of exact values that are no numbers of the dtype."""
    nonfinite_wrong: Int64 = 0
    """NaN or Inf where eager and the exact value are finite, or the other way round."""
    rmse: float | None = None
    """Root of the mean square error of the compiled value."""
    eager_rmse: float | None = None
    noise_rmse: float | None = None
    """The same of the exact reference with noise: every value off by one rounding in its dtype. None where the verdict
    is the same without.
    """
    exact_rms: float | None = None
    """Root of the mean square of the exact value itself."""
    worst_error: float | None = None
    eager_worst_error: float | None = None
    noise_worst: float | None = None
    ulp_median: float | None = None
    """Error of the compiled value in units in the last place of its dtype, here and below."""
    ulp_99: float | None = None
    ulp_worst: float | None = None
    worst: tuple[Int64, ...] = ()
    """Index of the element with the largest error."""
    compiled: float | None = None
    """Its value, here and below."""
    eager: float | None = None
    exact: float | None = None


class NumericsCall(Fact, frozen=True, kw_only=True, tag="numerics_call"):
    """One checked call of a graph, or a graph that could not be checked."""

    table: ClassVar[str] = "numerics"
    per_graph: ClassVar[bool] = False

    call: Int64 = 0
    launches: Int64 = 0
    """Number of launches that ran in it."""
    repeated: bool = False
    """It was made again on the same inputs."""
    unstable_results: Int64 = 0
    """Number of the call's results that were not the same to the bit then."""
    reference_seconds: float = 0.0
    """Time for the FX graph node by node in its dtypes."""
    forced_seconds: float = 0.0
    """Time for the forced launches with everything compared, fp64 included."""
    reason: str = ""
    """Why the call, or a part of it, was not checked; empty if it was."""


class Operand(msgspec.Struct, frozen=True, kw_only=True):
    """A tensor that an FX node was computed from. Numbers are texts: JSON has no NaN."""

    node: str
    dtype: str
    size: tuple[Int64, ...] = ()
    value: str = ""
    """The element that a certain element of the result is made of; empty if it is not made of a single one."""
    smallest: str = ""
    """Of its finite elements; empty if it has none, or they have no order. Here and below."""
    largest: str = ""
    has_nan: bool = False
    has_inf: bool = False


class NonFinite(Fact, frozen=True, kw_only=True, tag="non_finite"):
    """What made the first NaN, or the first Inf, that reached a result of a graph."""

    table: ClassVar[str] = "nonfinite"
    per_graph: ClassVar[bool] = False

    call: Int64
    """The call in which one reached a result, from 1."""
    kind: str
    """NaN or Inf."""
    output: Int64
    """Which result of the graph has it, from 0."""
    came_in: str = ""
    """The graph's input that had it already; empty if it was made in the graph."""
    index: Int64 | None = None
    """Position of the launch that wrote the first one, in the call."""
    kernel: str = ""
    line: Int64 | None = None
    """Line number of that launch in output_code.py."""
    buffer: str = ""
    in_eager: bool = False
    """The graph run node by node makes it too; if not, the compiled code alone does."""
    node: str = ""
    """The FX node that makes it there; empty if none does."""
    from_inf: str = ""
    """For NaN, an operand of that node that has Inf; empty if none has."""
    operands: tuple[Operand, ...] = ()
    """The tensors that the node was computed from."""
    element: tuple[Int64, ...] = ()
    """The first element that has it: of the node's value; of the buffer if `in_eager` is false."""
    value: str = ""
    """nan, inf or -inf."""
    count: Int64 = 0
    """Number of elements that have it."""
    elements: Int64 = 0
    dtype: str = ""
